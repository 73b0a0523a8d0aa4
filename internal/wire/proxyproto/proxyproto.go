// Package proxyproto is the codec of what proxies say to each other before the data of a connection: the PROXY protocol in
// both versions, the client-IP header of NetScaler and SOCKS4. Bytes in, values out, nothing allocated.
//
// Headers are expected whole in what was received first, as the reference expects them: those who send them do so at
// once, and one that is cut is refused rather than waited for.
package proxyproto

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"net/netip"
)

// Fault says what is wrong with a header.
type Fault uint8

// Faults.
const (
	None      Fault = iota
	Truncated       // it is not complete
	NotHeader       // something else was received
	Bad             // it is not well formed
	BadProto        // it speaks of a protocol that is not served
)

// Header is what a header says. TLVs are views of what was parsed.
type Header struct {
	// Src and Dst are the addresses of the connection that the sender speaks for; not valid when it speaks for itself or does
	// not know. They are set even when something after them is wrong.
	Src, Dst netip.AddrPort
	// TLVs are the values that follow in version 2.
	TLVs TLVs
}

const (
	signature  = "\r\n\r\n\x00\r\nQUIT\n"
	fixed      = 16  // bytes of a version 2 header before the addresses
	maxLine    = 107 // bytes of a version 1 header, line end included
	v4Size     = 12
	v6Size     = 36
	maxTLV     = 1024
	maxName    = 255
	maxID      = 128
	cmdLocal   = 0x20
	cmdProxy   = 0x21
	tcp4, tcp6 = 0x11, 0x21
)

// Parse reads a header of either version from the bytes received first. n is its length.
func Parse(b []byte, h *Header) (n int, f Fault) {
	*h = Header{}
	switch {
	case len(b) > len("PROXY ") && string(b[:6]) == "PROXY ":
		return parse1(b, h)
	case len(b) < fixed:
		return 0, Truncated
	case string(b[:12]) != signature || b[12]&0xf0 != 0x20:
		return 0, NotHeader
	}
	return parse2(b, h)
}

// parse1 reads a version 1 line.
func parse1(b []byte, h *Header) (int, Fault) {
	rest := b[6:]
	if bytes.HasPrefix(rest, []byte("UNKNOWN\r\n")) {
		return len("PROXY UNKNOWN\r\n"), None
	}
	six := false
	switch {
	case bytes.HasPrefix(rest, []byte("TCP4 ")):
	case bytes.HasPrefix(rest, []byte("TCP6 ")):
		six = true
	default:
		return 0, BadProto
	}
	line, _, whole := bytes.Cut(b[:min(len(b), maxLine)], []byte("\n"))
	switch {
	case !whole && len(b) < maxLine:
		return 0, Truncated
	case !whole, len(line) == 0, line[len(line)-1] != '\r':
		return 0, Bad
	}
	words := line[len("PROXY TCPx ") : len(line)-1]
	var part [4][]byte
	for i := range part {
		var more bool
		part[i], words, more = bytes.Cut(words, []byte(" "))
		if more != (i < len(part)-1) {
			return 0, Bad
		}
	}
	src, ok1 := host(part[0], six)
	dst, ok2 := host(part[1], six)
	sport, ok3 := port(part[2])
	dport, ok4 := port(part[3])
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return 0, Bad
	}
	h.Src, h.Dst = netip.AddrPortFrom(src, sport), netip.AddrPortFrom(dst, dport)
	return len(line) + 1, None
}

// host reads an address of the family that the line has announced.
func host(b []byte, six bool) (netip.Addr, bool) {
	if len(b) > 45 || bytes.IndexByte(b, '%') >= 0 {
		return netip.Addr{}, false
	}
	a, err := netip.ParseAddr(string(b))
	return a, err == nil && six == a.Is6()
}

func port(b []byte) (uint16, bool) {
	if len(b) == 0 || len(b) > 5 || b[0] == '0' && len(b) > 1 {
		return 0, false
	}
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return uint16(n), n <= 65535
}

// parse2 reads a version 2 header, whose signature has been seen.
func parse2(b []byte, h *Header) (int, Fault) {
	n := fixed + int(binary.BigEndian.Uint16(b[14:]))
	if len(b) < n {
		return 0, Truncated
	}
	rest := b[fixed:n]
	switch b[12] {
	case cmdLocal: // whatever follows is read as values, as the reference does
	case cmdProxy:
		switch b[13] {
		case tcp4:
			if len(rest) < v4Size {
				return 0, Bad
			}
			h.Src, h.Dst = addr4(rest, rest[8:]), addr4(rest[4:], rest[10:])
			rest = rest[v4Size:]
		case tcp6:
			if len(rest) < v6Size {
				return 0, Bad
			}
			h.Src, h.Dst = addr6(rest, rest[32:]), addr6(rest[16:], rest[34:])
			rest = rest[v6Size:]
		default:
			return 0, Bad
		}
	default:
		return 0, Bad
	}
	if !check(TLVs(rest), b[:n]) {
		return 0, Bad
	}
	h.TLVs = TLVs(rest)
	return n, None
}

func addr4(ip, port []byte) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte(ip)), binary.BigEndian.Uint16(port))
}

func addr6(ip, port []byte) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom16([16]byte(ip)), binary.BigEndian.Uint16(port))
}

// TLVs are the values of a version 2 header.
type TLVs []byte

// Types of values.
const (
	ALPN      = 0x01
	Authority = 0x02
	CRC32C    = 0x03
	Noop      = 0x04
	UniqueID  = 0x05
	SSL       = 0x20
	Version   = 0x21
	CN        = 0x22
	Cipher    = 0x23
	SigAlg    = 0x24
	KeyAlg    = 0x25
	NetNS     = 0x30
)

// Next cuts the first value off; ok is false when there is none, or none that is whole.
func (t TLVs) Next() (id byte, value []byte, rest TLVs, ok bool) {
	if len(t) < 3 {
		return 0, nil, nil, false
	}
	n := 3 + int(binary.BigEndian.Uint16(t[1:]))
	if len(t) < n {
		return 0, nil, nil, false
	}
	return t[0], t[3:n], t[n:], true
}

// Find returns the first value of a type, and what follows it.
func (t TLVs) Find(id byte) (value []byte, rest TLVs, ok bool) {
	for {
		var at byte
		if at, value, t, ok = t.Next(); !ok || at == id {
			return value, t, ok
		}
	}
}

// check reports whether all values are whole, none is larger than it may be, and the checksum is right if there is one.
func check(t TLVs, header []byte) bool {
	for len(t) > 0 {
		id, v, rest, ok := t.Next()
		if !ok || len(v) > maxTLV {
			return false
		}
		switch id {
		case CRC32C:
			if len(v) != 4 || crc(header, len(header)-len(rest)-4) != binary.BigEndian.Uint32(v) {
				return false
			}
		case Authority:
			if len(v) > maxName {
				return false
			}
		case UniqueID:
			if len(v) > maxID {
				return false
			}
		}
		t = rest
	}
	return true
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// crc is the checksum of a header in which the four bytes at a place count as zero.
func crc(header []byte, at int) uint32 {
	c := crc32.Update(0, castagnoli, header[:at])
	c = crc32.Update(c, castagnoli, zeros[:])
	return crc32.Update(c, castagnoli, header[at+4:])
}

var zeros [4]byte
