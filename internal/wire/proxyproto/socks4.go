package proxyproto

import (
	"encoding/binary"
	"net/netip"
)

// Socks4Answer is the length of the answer to a SOCKS4 request, in bytes.
const Socks4Answer = 8

// AppendSocks4 appends the request to be connected to an address. ok is false for one that is not of IPv4, which SOCKS4
// cannot name.
func AppendSocks4(dst []byte, to netip.AddrPort, user string) (_ []byte, ok bool) {
	if !to.Addr().Is4() {
		return dst, false
	}
	dst = binary.BigEndian.AppendUint16(append(dst, 4, 1), to.Port())
	a := to.Addr().As4()
	return append(append(append(dst, a[:]...), user...), 0), true
}

// Socks4Granted reads an answer.
func Socks4Granted(b []byte) bool {
	return len(b) >= Socks4Answer && b[0] == 0 && b[1] == 90
}
