package balance

import (
	"encoding/binary"
	"hash/crc32"
	"math"

	"weir/internal/base/hash"
	"weir/internal/model"
)

// Hasher turns what a request is balanced by into a hash, as "hash-type" says.
type Hasher struct {
	fn        func([]byte) uint32
	avalanche bool
}

// NewHasher returns the hasher of a backend.
func NewHasher(conf *model.Balance) Hasher {
	h := Hasher{avalanche: conf.Avalanche}
	switch conf.Hash {
	case "djb2":
		h.fn = hash.DJB2
	case "wt6":
		h.fn = hash.WT6
	case "crc32":
		h.fn = crc32.ChecksumIEEE
	case "none":
		h.fn = number
	case "sdbm":
		h.fn = sdbm
	default:
		h.fn, h.avalanche = sdbm, h.avalanche || conf.Consistent
	}
	return h
}

// Sum hashes a text; a raw one of four bytes is a hash already.
func (h Hasher) Sum(text []byte, raw bool) uint32 {
	var n uint32
	if raw {
		n = binary.BigEndian.Uint32(text)
	} else {
		n = h.fn(text)
	}
	if h.avalanche {
		n = hash.Avalanche(n)
	}
	return n
}

func sdbm(b []byte) uint32 { return hash.SDBM(0, b) }

// number reads the digits that a text begins with, after a sign perhaps, as 64 bits; the lower half counts.
func number(b []byte) uint32 {
	negative := len(b) > 0 && b[0] == '-'
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		b = b[1:]
	}
	var n int64
	for _, c := range b {
		if c < '0' || c > '9' {
			break
		}
		if n > (math.MaxInt64-int64(c-'0'))/10 {
			if negative {
				return 0 // the lower half of the smallest number
			}
			return math.MaxUint32
		}
		n = n*10 + int64(c-'0')
	}
	if negative {
		n = -n
	}
	return uint32(n)
}
