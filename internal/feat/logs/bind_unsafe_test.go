package logs

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// bindUnix binds a socket to a name that may fill the whole room.
func bindUnix(fd int, name string) error {
	var a unixAddr
	a.set(name)
	if _, _, e := unix.Syscall(unix.SYS_BIND, uintptr(fd), uintptr(unsafe.Pointer(&a.raw)), a.len); e != 0 {
		return e
	}
	return nil
}
