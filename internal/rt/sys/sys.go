// Package sys is the part of the program that talks to the kernel: system calls without the Go scheduler's help, the
// io_uring interface, and socket addresses in the kernel's form. All unsafe code of the runtime floor is here, in the
// files named *_unsafe.go; nothing outside needs it.
//
// Functions named Raw… use raw system calls, which keep the Go processor: they must not block. Results are the
// kernel's: a count of zero or more, or a negated errno.
package sys

import (
	"net/netip"

	"golang.org/x/sys/unix"
)

// Errno is the error for a negative result of a Raw function or of a completion.
func Errno(res int) error { return unix.Errno(-res) }

// SockAddr is a socket address as the kernel wants it. It may be passed to the kernel by address, so it must live in
// the heap or in mapped memory.
type SockAddr struct {
	b   [112]byte
	len uint32
}

// Family is the address family, AF_UNSPEC when the address is empty.
func (s *SockAddr) Family() int {
	if s.len < 2 {
		return unix.AF_UNSPEC
	}
	return int(nativeU16(s.b[:]))
}

// SetIP makes s the given address. An IPv4 address mapped into IPv6 stays IPv6. Zones are taken as interface numbers.
func (s *SockAddr) SetIP(ap netip.AddrPort) {
	a := ap.Addr()
	*s = SockAddr{}
	s.b[2], s.b[3] = byte(ap.Port()>>8), byte(ap.Port())
	if a.Is4() {
		putNativeU16(s.b[:], unix.AF_INET)
		v := a.As4()
		copy(s.b[4:], v[:])
		s.len = 16
		return
	}
	putNativeU16(s.b[:], unix.AF_INET6)
	v := a.As16()
	copy(s.b[8:], v[:])
	s.len = 28
	if z := a.Zone(); z != "" {
		n := uint32(0)
		for i := 0; i < len(z) && z[i] >= '0' && z[i] <= '9'; i++ {
			n = n*10 + uint32(z[i]-'0')
		}
		putNativeU32(s.b[24:], n)
	}
}

// SetUnix makes s a unix socket address; a name that starts with '@' is abstract. It reports false when the name is
// empty or too long (107 bytes).
func (s *SockAddr) SetUnix(name string) bool {
	*s = SockAddr{}
	if name == "" || len(name) > 107 {
		return false
	}
	putNativeU16(s.b[:], unix.AF_UNIX)
	copy(s.b[2:], name)
	s.len = uint32(2 + len(name))
	if name[0] == '@' {
		s.b[2] = 0
	} else {
		s.len++
	}
	return true
}

// Unix is the name of a unix socket address, "" when it has none or is not one.
func (s *SockAddr) Unix() string {
	if s.Family() != unix.AF_UNIX || s.len <= 2 {
		return ""
	}
	n := s.b[2:min(int(s.len), len(s.b))]
	if n[0] == 0 {
		return "@" + string(n[1:])
	}
	for i, c := range n {
		if c == 0 {
			return string(n[:i])
		}
	}
	return string(n)
}

// IP is the address as Go has it; not valid when s is not an IP address.
func (s *SockAddr) IP() netip.AddrPort {
	port := uint16(s.b[2])<<8 | uint16(s.b[3])
	switch s.Family() {
	case unix.AF_INET:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(s.b[4:8])), port)
	case unix.AF_INET6:
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(s.b[8:24])), port)
	}
	return netip.AddrPort{}
}
