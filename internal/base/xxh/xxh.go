// Package xxh is the family of hashes xxHash as its specification describes it (Yann Collet, "xxHash fast digest
// algorithm"): XXH32, XXH64 and the 64-bit variant of XXH3.
package xxh

import (
	"encoding/binary"
	"math/bits"
)

const (
	p32a = 0x9e3779b1
	p32b = 0x85ebca77
	p32c = 0xc2b2ae3d
	p32d = 0x27d4eb2f
	p32e = 0x165667b1

	p64a = 0x9e3779b185ebca87
	p64b = 0xc2b2ae3d27d4eb4f
	p64c = 0x165667b19e3779f9
	p64d = 0x85ebca77c2b2ae63
	p64e = 0x27d4eb2f165667c5
)

func le32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }
func le64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

func round32(acc, lane uint32) uint32 { return bits.RotateLeft32(acc+lane*p32b, 13) * p32a }

// Sum32 is XXH32.
func Sum32(b []byte, seed uint32) uint32 {
	n := uint32(len(b))
	var h uint32
	if len(b) >= 16 {
		v := [4]uint32{seed + p32b, seed + p32b, seed, seed - p32a}
		v[0] += p32a
		for ; len(b) >= 16; b = b[16:] {
			for i := range v {
				v[i] = round32(v[i], le32(b[4*i:]))
			}
		}
		h = bits.RotateLeft32(v[0], 1) + bits.RotateLeft32(v[1], 7) + bits.RotateLeft32(v[2], 12) + bits.RotateLeft32(v[3], 18)
	} else {
		h = seed + p32e
	}
	h += n
	for ; len(b) >= 4; b = b[4:] {
		h = bits.RotateLeft32(h+le32(b)*p32c, 17) * p32d
	}
	for _, c := range b {
		h = bits.RotateLeft32(h+uint32(c)*p32e, 11) * p32a
	}
	h = (h ^ h>>15) * p32b
	h = (h ^ h>>13) * p32c
	return h ^ h>>16
}

func round64(acc, lane uint64) uint64 { return bits.RotateLeft64(acc+lane*p64b, 31) * p64a }

// Sum64 is XXH64.
func Sum64(b []byte, seed uint64) uint64 {
	n := uint64(len(b))
	var h uint64
	if len(b) >= 32 {
		v := [4]uint64{seed + p64b, seed + p64b, seed, seed - p64a}
		v[0] += p64a
		for ; len(b) >= 32; b = b[32:] {
			for i := range v {
				v[i] = round64(v[i], le64(b[8*i:]))
			}
		}
		h = bits.RotateLeft64(v[0], 1) + bits.RotateLeft64(v[1], 7) + bits.RotateLeft64(v[2], 12) + bits.RotateLeft64(v[3], 18)
		for _, lane := range v {
			h = (h^round64(0, lane))*p64a + p64d
		}
	} else {
		h = seed + p64e
	}
	h += n
	for ; len(b) >= 8; b = b[8:] {
		h = bits.RotateLeft64(h^round64(0, le64(b)), 27)*p64a + p64d
	}
	if len(b) >= 4 {
		h = bits.RotateLeft64(h^uint64(le32(b))*p64a, 23)*p64b + p64c
		b = b[4:]
	}
	for _, c := range b {
		h = bits.RotateLeft64(h^uint64(c)*p64e, 11) * p64a
	}
	return finish64(h)
}

// finish64 mixes the bits of a finished XXH64; XXH3 uses it for short input.
func finish64(h uint64) uint64 {
	h = (h ^ h>>33) * p64b
	h = (h ^ h>>29) * p64c
	return h ^ h>>32
}
