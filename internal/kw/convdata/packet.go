package convdata

import (
	"encoding/binary"
	"net/netip"

	"weir/internal/lang/sample"
	"weir/internal/model"
)

// part is a converter that returns some of the bytes that go in.
func part(name, help string, get func(b []byte) ([]byte, bool)) sample.Conv {
	return sample.Conv{Name: name, In: model.TypeBin, Out: model.TypeBin, Help: help,
		Run: func(_ *model.Txn, _ []sample.Arg, v *model.Value) bool {
			b, ok := get(v.B)
			if ok {
				v.SetBin(b)
			}
			return ok
		}}
}

// number is a converter that returns an integer.
func number(name, help string, get func(b []byte) (int64, bool)) sample.Conv {
	return sample.Conv{Name: name, In: model.TypeBin, Out: model.TypeSint, Help: help,
		Run: func(_ *model.Txn, _ []sample.Arg, v *model.Value) bool {
			n, ok := get(v.B)
			if ok {
				v.SetInt(n)
			}
			return ok
		}}
}

// address is a converter that returns the address at one offset of an IPv4 header or the other of an IPv6 one.
func address(name, help string, at4, at6 int) sample.Conv {
	return sample.Conv{Name: name, In: model.TypeBin, Out: model.TypeAddr, Help: help,
		Run: func(_ *model.Txn, _ []sample.Arg, v *model.Value) bool {
			b, ok := ipAddress(v.B, at4, at6)
			if !ok {
				return false
			}
			ip, ok := netip.AddrFromSlice(b)
			return ok && v.SetIP(ip)
		}}
}

func init() {
	sample.AddConv(
		part("eth.data", "what follows an Ethernet header", func(b []byte) ([]byte, bool) {
			n, ok := ethHeader(b)
			return b[n:], ok
		}),
		part("eth.hdr", "Ethernet header with its VLANs", func(b []byte) ([]byte, bool) {
			n, ok := ethHeader(b)
			return b[:n:n], ok
		}),
		part("eth.dst", "destination of an Ethernet frame", func(b []byte) ([]byte, bool) { return view(b, 0, 6) }),
		part("eth.src", "source of an Ethernet frame", func(b []byte) ([]byte, bool) { return view(b, 6, 6) }),
		number("eth.proto", "protocol in an Ethernet frame", func(b []byte) (int64, bool) {
			n, ok := ethHeader(b)
			if !ok {
				return 0, false
			}
			return bigEndian(b, n-2, 2)
		}),
		number("eth.vlan", "last VLAN of an Ethernet frame", ethVLAN),
	)
	sample.AddConv(
		part("ip.data", "what follows an IP header", func(b []byte) ([]byte, bool) {
			n, _, ok := ipHeader(b)
			return b[n:], ok
		}),
		part("ip.hdr", "IP header with its options or extensions", func(b []byte) ([]byte, bool) {
			n, _, ok := ipHeader(b)
			return b[:n:n], ok
		}),
		number("ip.df", "1 when an IP packet must not be fragmented", ipDF),
		number("ip.proto", "transport protocol in an IP header", ipProto),
		number("ip.tos", "type of service or traffic class in an IP header", ipTOS),
		number("ip.ttl", "time to live or hop limit in an IP header", ipTTL),
		number("ip.ver", "version in an IP header", func(b []byte) (int64, bool) {
			n, ok := bigEndian(b, 0, 1)
			return n >> 4, ok
		}),
		address("ip.src", "source in an IP header", 12, 8),
		address("ip.dst", "destination in an IP header", 16, 24),
	)
}

// view returns size bytes at an offset; false when they are not there.
func view(b []byte, at, size int) ([]byte, bool) {
	if len(b) < at+size {
		return nil, false
	}
	return b[at : at+size : at+size], true
}

// bigEndian reads size bytes at an offset as a number; false when they are not there.
func bigEndian(b []byte, at, size int) (n int64, ok bool) {
	p, ok := view(b, at, size)
	for _, c := range p {
		n = n<<8 | int64(c)
	}
	return n, ok
}

// ethHeaderSize is the size of an Ethernet header without VLANs; each adds vlanSize.
const (
	ethHeaderSize = 14
	vlanSize      = 4
	vlanType      = 0x8100
)

// ethHeader returns the size of the header, VLANs included. There must be something behind it.
func ethHeader(b []byte) (n int, ok bool) {
	for n = ethHeaderSize; n < len(b); n += vlanSize {
		if binary.BigEndian.Uint16(b[n-2:]) != vlanType {
			return n, true
		}
	}
	return 0, false
}

func ethVLAN(b []byte) (int64, bool) {
	n, ok := ethHeader(b)
	if !ok || n == ethHeaderSize {
		return 0, false
	}
	vlan := binary.BigEndian.Uint16(b[n-4:]) & 0x0fff
	return int64(vlan), vlan != 0 // 0 means: in none
}

// Sizes of IP headers without options and extensions, and protocols.
const (
	ip4Minimum = 20
	ip6Size    = 40
	protoTCP   = 6
	protoUDP   = 17
)

func ipVersion(b []byte) byte {
	if len(b) == 0 {
		return 0
	}
	return b[0] >> 4
}

// ipHeader returns the size of the header, options and extensions included, and the protocol behind it.
func ipHeader(b []byte) (n int, proto byte, ok bool) {
	switch ipVersion(b) {
	case 4:
		n = int(b[0]&15) * 4
		if n == 0 || n > len(b) || len(b) < ip4Minimum {
			return 0, 0, false
		}
		return n, b[9], true
	case 6:
		if len(b) < ip6Size {
			return 0, 0, false
		}
		// Whatever is not TCP or UDP is read as an extension, as in the reference.
		n, proto = ip6Size, b[6]
		for proto != protoTCP && proto != protoUDP {
			if len(b) < n+2 {
				return 0, 0, false
			}
			proto, n = b[n], n+(int(b[n+1])+1)*8
			if n > len(b) {
				return 0, 0, false
			}
		}
		return n, proto, true
	}
	return 0, 0, false
}

func ipDF(b []byte) (int64, bool) {
	switch ipVersion(b) {
	case 4:
		if len(b) < 7 { // with 6 bytes the reference answers 0
			return 0, len(b) == 6
		}
		return int64(b[6] >> 6 & 1), true
	case 6:
		return 1, true
	}
	return 0, false
}

func ipProto(b []byte) (int64, bool) {
	if ipVersion(b) == 4 {
		return bigEndian(b, 9, 1)
	}
	_, proto, ok := ipHeader(b)
	return int64(proto), ok
}

func ipTOS(b []byte) (int64, bool) {
	n, ok := bigEndian(b, 0, 2)
	switch ipVersion(b) {
	case 4:
		return n & 0xff, ok
	case 6:
		return n >> 4 & 0xff, ok
	}
	return 0, false
}

func ipTTL(b []byte) (int64, bool) {
	switch v := ipVersion(b); {
	case v == 4 && len(b) >= ip4Minimum:
		return int64(b[8]), true
	case v == 6 && len(b) >= ip6Size:
		return int64(b[7]), true
	}
	return 0, false
}

// ipAddress returns the address at one offset or the other.
func ipAddress(b []byte, at4, at6 int) ([]byte, bool) {
	switch v := ipVersion(b); {
	case v == 4 && len(b) >= ip4Minimum:
		return view(b, at4, 4)
	case v == 6 && len(b) >= ip6Size:
		return view(b, at6, 16)
	}
	return nil, false
}
