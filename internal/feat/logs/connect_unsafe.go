package logs

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// unixAddr is the address of a unix socket, in the kernel's form.
type unixAddr struct {
	raw unix.RawSockaddrUnix
	len uintptr
}

// set makes a the address of name; '@' stands before an abstract one, which
// may fill the whole room. It reports false for a name that does not fit.
func (a *unixAddr) set(name string) bool {
	a.raw = unix.RawSockaddrUnix{Family: unix.AF_UNIX}
	abstract := name != "" && name[0] == '@'
	end := len(name)
	if !abstract {
		end++ // the zero byte after a path
	}
	if name == "" || end > len(a.raw.Path) {
		a.len = 0
		return false
	}
	for i := range len(name) {
		a.raw.Path[i] = int8(name[i])
	}
	if abstract {
		a.raw.Path[0] = 0
	}
	a.len = unsafe.Offsetof(a.raw.Path) + uintptr(end)
	return true
}

// connect is connect(2) on a datagram socket, which does not wait.
func (a *unixAddr) connect(fd int) bool {
	if a.len == 0 {
		return false
	}
	_, _, e := unix.Syscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&a.raw)), a.len)
	return e == 0
}
