package convdata

import (
	"encoding/binary"

	"weir/internal/lang/sample"
	"weir/internal/model"
)

// tcpMinimum is the size of a TCP header without options.
const tcpMinimum = 20

// Kinds of TCP options.
const (
	tcpEnd       = 0
	tcpNop       = 1
	tcpMSS       = 2
	tcpWScale    = 3
	tcpSACK      = 4
	tcpTimestamp = 8
)

func init() {
	field := func(name, help string, at, size int) sample.Conv {
		return number(name, help, func(b []byte) (int64, bool) {
			if len(b) < tcpMinimum {
				return 0, false
			}
			return bigEndian(b, at, size)
		})
	}
	option := func(name, help string, kind uint8, size int) sample.Conv {
		return number(name, help, func(b []byte) (int64, bool) { return tcpOption(b, kind, size) })
	}
	sample.AddConv(
		field("tcp.src", "source port in a TCP header", 0, 2),
		field("tcp.dst", "destination port in a TCP header", 2, 2),
		field("tcp.seq", "sequence number in a TCP header", 4, 4),
		field("tcp.flags", "flags in a TCP header", 13, 1),
		field("tcp.win", "window in a TCP header", 14, 2),
		option("tcp.options.mss", "maximum segment size in a TCP header, 0 without", tcpMSS, 2),
		option("tcp.options.wscale", "window scale in a TCP header, 0 without", tcpWScale, 1),
		option("tcp.options.tsval", "time stamp in a TCP header, 0 without", tcpTimestamp, 4),
		option("tcp.options.wsopt", "1 when a TCP header has a window scale", tcpWScale, 0),
		option("tcp.options.sack", "1 when a TCP header permits selective acknowledgements", tcpSACK, 0),
		option("tcp.options.tsopt", "1 when a TCP header has a time stamp", tcpTimestamp, 0),
		sample.Conv{Name: "tcp.options_list", In: model.TypeBin, Out: model.TypeBin,
			Help: "kinds of the options in a TCP header", Run: runTCPOptions},
		sample.Conv{Name: "ip.fp", Args: "[integer]", In: model.TypeBin, Out: model.TypeBin,
			Help: "fingerprint of IP and TCP headers", Run: runFingerprint},
	)
}

// tcpHeader returns the size of the header; false when it is not there whole.
func tcpHeader(b []byte) (n int, ok bool) {
	if len(b) < tcpMinimum {
		return 0, false
	}
	n = int(b[12]>>4) * 4
	return n, n >= tcpMinimum && n <= len(b)
}

// nextOption returns the size of the option that o begins with, which is not the end: 0 when its length is wrong.
func nextOption(o []byte) int {
	if o[0] == tcpNop {
		return 1
	}
	if len(o) < 2 || o[1] < 2 || int(o[1]) > len(o) {
		return 0
	}
	return int(o[1])
}

// tcpOption finds the first option of a kind and returns the number of so many bytes in it, 1 for size 0. Without the option the number is
// 0; ok is false without a whole header.
func tcpOption(b []byte, kind uint8, size int) (n int64, ok bool) {
	end, ok := tcpHeader(b)
	if !ok {
		return 0, false
	}
	for at := tcpMinimum; at < end && b[at] != tcpEnd; {
		step := nextOption(b[at:end])
		if step == 0 {
			break
		}
		if b[at] == kind && kind != tcpNop {
			if size == 0 {
				return 1, true
			}
			// Like the reference, the length of the option is not compared with what its kind needs. What is not there is zero.
			for i := range size {
				n <<= 8
				if j := at + 2 + i; j < len(b) {
					n |= int64(b[j])
				}
			}
			return n, true
		}
		at += step
	}
	return 0, true
}

func runTCPOptions(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	end, ok := tcpHeader(v.B)
	if !ok {
		return false
	}
	list := tx.Scratch.Grab()
	for o := v.B[tcpMinimum:end]; len(o) > 0 && o[0] != tcpEnd; {
		list = append(list, o[0]) // also when its length is wrong
		step := nextOption(o)
		if step == 0 {
			break
		}
		o = o[step:]
	}
	if list, ok = tx.Scratch.Keep(list); ok {
		v.SetBin(list)
	}
	return ok
}

// What the argument of ip.fp appends.
const (
	fpTTL     = 1
	fpOptions = 2
	fpSource  = 4
)

func runFingerprint(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	mode := int64(0)
	if len(a) > 0 {
		mode = a[0].Int
	}
	f, ok := appendFingerprint(tx.Scratch.Grab(), v.B, mode)
	if !ok {
		return false
	}
	if f, ok = tx.Scratch.Keep(f); ok {
		v.SetBin(f)
	}
	return ok
}

// appendFingerprint describes what is the same in all packets of a host (manual, converter ip.fp).
func appendFingerprint(dst, b []byte, mode int64) ([]byte, bool) {
	n, _, ok := ipHeader(b)
	if !ok {
		return nil, false
	}
	tos, _ := ipTOS(b)
	ttl, _ := ipTTL(b)
	df, _ := ipDF(b)
	flags := byte(df<<6) | ttlClass(ttl)<<4
	total, plain := 0, 0
	if ipVersion(b) == 4 {
		total, plain = int(binary.BigEndian.Uint16(b[2:])), ip4Minimum
	} else {
		flags |= 0x80
		total, plain = int(binary.BigEndian.Uint16(b[4:])+ip6Size), ip6Size // wraps around
	}
	if n != plain {
		flags |= 0x08
	}
	tcp := b[n:]
	end, ok := tcpHeader(tcp)
	if !ok || n+end > total {
		return nil, false
	}
	if total > n+end {
		flags |= 0x04
	}
	flags |= tcp[13] >> 6 // CWR and ECE

	var mss [2]byte
	var wscale, kinds byte
	dst = append(dst, byte(tos), flags, 0, tcp[14], tcp[15], 0, 0, 0)
	head := len(dst) - 8
	if mode&fpTTL != 0 {
		dst = append(dst, byte(ttl))
	}
	for o := tcp[tcpMinimum:end]; len(o) > 0 && o[0] != tcpEnd; {
		step := nextOption(o)
		if step == 0 {
			break
		}
		switch kind := o[0]; {
		case kind > 8:
			kinds |= 0x80
		case kind > tcpNop:
			kinds |= 1 << (kind - 2)
		}
		if o[0] == tcpMSS && len(o) >= 4 {
			copy(mss[:], o[2:])
		}
		if o[0] == tcpWScale && len(o) >= 3 {
			wscale = min(o[2], 14) + 1
		}
		if mode&fpOptions != 0 {
			dst = append(dst, o[0])
		}
		o = o[step:]
	}
	dst[head+2] = byte(end/4)<<4 | wscale
	dst[head+5], dst[head+6], dst[head+7] = mss[0], mss[1], kinds
	if mode&fpSource != 0 {
		src, _ := ipAddress(b, 12, 8)
		dst = append(dst, src...)
	}
	return dst, true
}

// ttlClass tells which of the usual initial values a time to live comes from: 32, 64, 128 or 255.
func ttlClass(ttl int64) byte {
	switch {
	case ttl <= 32:
		return 0
	case ttl <= 64:
		return 1
	case ttl <= 128:
		return 2
	}
	return 3
}
