package conv

import (
	"hash/crc32"

	"weir/internal/base/hash"
	"weir/internal/base/xxh"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	// hashes of 32 bits; an argument other than 0 asks for the avalanche.
	add := func(name, help string, fn func([]byte) uint32) {
		sample.AddConv(sample.Conv{Name: name, Args: "[integer]", In: model.TypeBin, Out: model.TypeSint, Help: help,
			Run: func(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
				h := fn(v.B)
				if intArg(a, 0) != 0 {
					h = hash.Avalanche(h)
				}
				v.SetInt(int64(h))
				return true
			}})
	}
	add("crc32", "the CRC-32 of Ethernet, gzip and PNG; 1 for an avalanche of its bits", crc32.ChecksumIEEE)
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	add("crc32c", "the CRC-32C of iSCSI and SCTP; 1 for an avalanche of its bits", func(b []byte) uint32 { return crc32.Checksum(b, castagnoli) })
	add("djb2", "the hash DJB2; 1 for an avalanche of its bits", hash.DJB2)
	add("sdbm", "the hash SDBM; 1 for an avalanche of its bits", func(b []byte) uint32 { return hash.SDBM(0, b) })
	add("wt6", "the hash WT6; 1 for an avalanche of its bits", hash.WT6)

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
