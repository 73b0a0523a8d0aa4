package proxyproto

import (
	"encoding/binary"
	"net/netip"
)

// AppendLine appends a version 1 header. IPv4 is told as IPv6 where the other address is of that family.
func AppendLine(dst []byte, from, to netip.AddrPort) []byte {
	a, b := from.Addr().WithZone(""), to.Addr().WithZone("")
	switch {
	case !a.IsValid() || !b.IsValid():
		return append(dst, "PROXY UNKNOWN\r\n"...)
	case a.Is4() && b.Is4():
		dst = append(dst, "PROXY TCP4 "...)
	default:
		dst = append(dst, "PROXY TCP6 "...)
		a, b = netip.AddrFrom16(a.As16()), netip.AddrFrom16(b.As16())
	}
	dst = append(a.AppendTo(dst), ' ')
	dst = append(b.AppendTo(dst), ' ')
	dst = append(decimal(dst, from.Port()), ' ')
	return append(decimal(dst, to.Port()), "\r\n"...)
}

func decimal(dst []byte, n uint16) []byte {
	if n >= 10 {
		dst = decimal(dst, n/10)
	}
	return append(dst, '0'+byte(n%10))
}

// Begin appends the start of a version 2 header. IPv4 is told as IPv6 where the other address is of that family; without two
// addresses the sender speaks for itself.
func Begin(dst []byte, from, to netip.AddrPort) []byte {
	dst = append(dst, signature...)
	a, b := from.Addr(), to.Addr()
	switch {
	case !a.IsValid() || !b.IsValid():
		return append(dst, cmdLocal, 0, 0, 0)
	case a.Is4() && b.Is4():
		dst = append(dst, cmdProxy, tcp4, 0, 0)
		a4, b4 := a.As4(), b.As4()
		dst = append(append(dst, a4[:]...), b4[:]...)
	default:
		dst = append(dst, cmdProxy, tcp6, 0, 0)
		a16, b16 := a.As16(), b.As16()
		dst = append(append(dst, a16[:]...), b16[:]...)
	}
	dst = binary.BigEndian.AppendUint16(dst, from.Port())
	return binary.BigEndian.AppendUint16(dst, to.Port())
}

// AppendTLV appends a value, which is cut to what its length can tell.
func AppendTLV(dst []byte, id byte, value []byte) []byte {
	value = value[:min(len(value), 65535)]
	return append(binary.BigEndian.AppendUint16(append(dst, id), uint16(len(value))), value...)
}

// AppendText is AppendTLV of a text.
func AppendText(dst []byte, id byte, value string) []byte {
	value = value[:min(len(value), 65535)]
	return append(binary.BigEndian.AppendUint16(append(dst, id), uint16(len(value))), value...)
}

// Finish completes the version 2 header that begins at a place of dst. sum is where its checksum goes, 0 for none. ok is false when it
// has become longer than its length can tell.
func Finish(dst []byte, at, sum int) (_ []byte, ok bool) {
	h := dst[at:]
	n := len(h) - fixed
	if n > 65535 {
		return dst, false
	}
	binary.BigEndian.PutUint16(h[14:], uint16(n))
	if sum > 0 {
		binary.BigEndian.PutUint32(dst[sum:], crc(h, sum-at))
	}
	return dst, true
}
