package proxyproto

import (
	"encoding/binary"
	"net/netip"
)

// Faults of NetScaler headers have the names above: NotHeader is another magic number.

const protTCP = 6

// ParseCIP reads a client-IP header of NetScaler in its older or its present form: a magic number, lengths, and the IP and
// TCP headers of the client's last packet. n is its length.
func ParseCIP(b []byte, magic uint32, h *Header) (n int, f Fault) {
	*h = Header{}
	if len(b) < 12 {
		return 0, Truncated
	}
	if binary.BigEndian.Uint32(b) != magic {
		return 0, NotHeader
	}
	size, rest := uint64(binary.BigEndian.Uint32(b[4:])), b[8:]
	if rest[0]>>4 == 0 { // no IP version: a type and another length
		size, rest = uint64(binary.BigEndian.Uint16(b[10:])), b[12:]
	}
	if uint64(len(rest)) < size || len(rest) < 20 {
		return 0, Truncated
	}
	ip, transport, f := ipHeader(rest, h)
	switch {
	case f != None:
		return 0, f
	case len(ip)+4 > len(rest):
		return 0, Truncated
	case transport != protTCP:
		return 0, BadProto
	case uint64(len(ip)+4) > size: // the reference reads ports from beyond the header then
		return 0, Bad
	}
	ports := rest[len(ip):]
	h.Src = netip.AddrPortFrom(h.Src.Addr(), binary.BigEndian.Uint16(ports))
	h.Dst = netip.AddrPortFrom(h.Dst.Addr(), binary.BigEndian.Uint16(ports[2:]))
	return len(b) - len(rest) + int(size), None
}

// ipHeader reads the addresses of an IP header and returns it.
func ipHeader(b []byte, h *Header) (ip []byte, transport byte, f Fault) {
	switch b[0] >> 4 {
	case 4:
		n := 4 * int(b[0]&15)
		if n < 20 {
			return nil, 0, Bad
		}
		if len(b) < n {
			return nil, 0, Truncated
		}
		h.Src, h.Dst = addr4(b[12:], zeros[:]), addr4(b[16:], zeros[:])
		return b[:n], b[9], None
	case 6:
		if len(b) < 40 {
			return nil, 0, Truncated
		}
		h.Src, h.Dst = addr6(b[8:], zeros[:]), addr6(b[24:], zeros[:])
		return b[:40], b[6], None
	}
	return nil, 0, BadProto
}
