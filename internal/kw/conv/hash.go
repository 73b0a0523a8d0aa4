package conv

import (
	"hash/crc32"
	"math/bits"

	"weir/internal/base/xxh"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	// hashes of 32 bits; an argument other than 0 asks for the avalanche.
	hash := func(name, help string, fn func([]byte) uint32) {
		sample.AddConv(sample.Conv{Name: name, Args: "[integer]", In: model.TypeBin, Out: model.TypeSint, Help: help,
			Run: func(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
				h := fn(v.B)
				if intArg(a, 0) != 0 {
					h = avalanche(h)
				}
				v.SetInt(int64(h))
				return true
			}})
	}
	hash("crc32", "the CRC-32 of Ethernet, gzip and PNG; 1 for an avalanche of its bits", crc32.ChecksumIEEE)
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	hash("crc32c", "the CRC-32C of iSCSI and SCTP; 1 for an avalanche of its bits", func(b []byte) uint32 { return crc32.Checksum(b, castagnoli) })
	hash("djb2", "the hash DJB2; 1 for an avalanche of its bits", djb2)
	hash("sdbm", "the hash SDBM; 1 for an avalanche of its bits", sdbm)
	hash("wt6", "the hash WT6; 1 for an avalanche of its bits", wt6)

	seeded := func(name, help string, fn func(b []byte, seed int64) int64) {
		sample.AddConv(sample.Conv{Name: name, Args: "[integer]", In: model.TypeBin, Out: model.TypeSint, Help: help,
			Run: func(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
				v.SetInt(fn(v.B, intArg(a, 0)))
				return true
			}})
	}
	seeded("xxh32", "the hash XXH32 with a seed, 0 by default", func(b []byte, seed int64) int64 { return int64(xxh.Sum32(b, uint32(seed))) })
	seeded("xxh64", "the hash XXH64 with a seed, 0 by default, as a signed number", func(b []byte, seed int64) int64 { return int64(xxh.Sum64(b, uint64(seed))) })
	seeded("xxh3", "the 64-bit hash XXH3 with a seed, 0 by default, as a signed number", func(b []byte, seed int64) int64 { return int64(xxh.Sum3(b, uint64(seed))) })
}

func djb2(b []byte) uint32 {
	h := uint32(5381)
	for _, c := range b {
		h = h*33 + uint32(c)
	}
	return h
}

func sdbm(b []byte) uint32 {
	h := uint32(0)
	for _, c := range b {
		h = h*65599 + uint32(c)
	}
	return h
}

// wt6 keeps two words that each byte inverts and changes, and that then are rotated into each other's place by amounts
// taken from themselves.
func wt6(b []byte) uint32 {
	x, y := uint32(0xa53c965a), uint32(0x5ca6953a)
	left, right := 6, 18
	for _, c := range b {
		x, y = ^(x ^ uint32(c)), ^(y + uint32(c))
		x, y = bits.RotateLeft32(y, left), bits.RotateLeft32(x, right)
		mix := x>>16 ^ y&0xffff
		left, right = int(mix&31), int(mix>>11)
	}
	return x ^ y
}

// avalanche is Bob Jenkins' hash of an integer in six shifts, spread further by a factor near three quarters of 2^32.
func avalanche(h uint32) uint32 {
	h += 0x7ed55d16 + h<<12
	h ^= 0xc761c23c ^ h>>19
	h += 0x165667b1 + h<<5
	h = (h + 0xd3a2646c) ^ h<<9
	h += 0xfd7046c5 + h<<3
	h ^= 0xb55a4f09 ^ h>>16
	return h * 0xc0000001
}
