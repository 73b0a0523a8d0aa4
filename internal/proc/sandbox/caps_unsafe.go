package sandbox

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// setCaps makes mask the permitted and effective capabilities of every thread.
func setCaps(mask uint64) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	data := [2]unix.CapUserData{
		{Effective: uint32(mask), Permitted: uint32(mask)},
		{Effective: uint32(mask >> 32), Permitted: uint32(mask >> 32)},
	}
	_, _, errno := syscall.AllThreadsSyscall(syscall.SYS_CAPSET,
		uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&data[0])), 0)
	runtime.KeepAlive(&header)
	runtime.KeepAlive(&data)
	if errno == syscall.ENOTSUP { // built with cgo: the calling thread alone
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		return unix.Capset(&header, &data[0])
	}
	if errno != 0 {
		return errno
	}
	return nil
}
