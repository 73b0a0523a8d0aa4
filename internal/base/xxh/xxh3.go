package xxh

import (
	"encoding/binary"
	"math/bits"
)

// XXH3, the 64-bit variant with a seed (Yann Collet, xxHash specification).

const (
	mxA = 0x165667919e3779f9
	mxB = 0x9fb21c651e98df25

	secretSize = 192
	stripe     = 64
	block      = (secretSize - stripe) / 8 * stripe // each stripe starts 8 bytes further in the secret
)

// xxSecret is the key that the specification gives.
var xxSecret = [secretSize]byte{
	0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c, 0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb,
	0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f, 0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
	0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c, 0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb,
	0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3, 0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8, 0xa8,
	0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d, 0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8,
	0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64, 0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb, 0x17,
	0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e, 0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f,
	0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce, 0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
}

func secret64(at int) uint64 { return le64(xxSecret[at:]) }

// fold multiplies to 128 bits and joins the halves.
func fold(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	return hi ^ lo
}

func finish3(h uint64) uint64 {
	h = (h ^ h>>37) * mxA
	return h ^ h>>32
}

// Sum3 is the 64-bit variant of XXH3.
func Sum3(b []byte, seed uint64) uint64 {
	switch n := len(b); {
	case n <= 16:
		return short(b, seed)
	case n <= 128:
		acc := uint64(n) * p64a
		for i := (n - 1) / 32; i >= 0; i-- {
			acc += mix16(b[16*i:], 32*i, seed) + mix16(b[n-16*(i+1):], 32*i+16, seed)
		}
		return finish3(acc)
	case n <= 240:
		acc := uint64(n) * p64a
		for i := range 8 {
			acc += mix16(b[16*i:], 16*i, seed)
		}
		acc = finish3(acc)
		for i := 8; i < n/16; i++ {
			acc += mix16(b[16*i:], 16*(i-8)+3, seed)
		}
		return finish3(acc + mix16(b[n-16:], 136-17, seed))
	}
	return long(b, seed)
}

// mix16 takes in 16 bytes with the secret from an offset on.
func mix16(b []byte, at int, seed uint64) uint64 {
	return fold(le64(b)^(secret64(at)+seed), le64(b[8:])^(secret64(at+8)-seed))
}

func short(b []byte, seed uint64) uint64 {
	n := len(b)
	switch {
	case n > 8:
		lo := le64(b) ^ ((secret64(24) ^ secret64(32)) + seed)
		hi := le64(b[n-8:]) ^ ((secret64(40) ^ secret64(48)) - seed)
		return finish3(uint64(n) + bits.ReverseBytes64(lo) + hi + fold(lo, hi))
	case n >= 4:
		seed ^= uint64(bits.ReverseBytes32(uint32(seed))) << 32
		h := uint64(le32(b))<<32 + uint64(le32(b[n-4:]))
		h ^= (secret64(8) ^ secret64(16)) - seed
		h ^= bits.RotateLeft64(h, 49) ^ bits.RotateLeft64(h, 24)
		h *= mxB
		h = (h ^ (h>>35 + uint64(n))) * mxB
		return h ^ h>>28
	case n > 0:
		h := uint32(b[0])<<16 | uint32(b[n/2])<<24 | uint32(b[n-1]) | uint32(n)<<8
		return finish64(uint64(h) ^ (uint64(le32(xxSecret[:])^le32(xxSecret[4:])) + seed))
	}
	return finish64(seed ^ secret64(56) ^ secret64(64))
}

func long(b []byte, seed uint64) uint64 {
	secret := xxSecret
	if seed != 0 {
		for i := 0; i < secretSize; i += 16 {
			binary.LittleEndian.PutUint64(secret[i:], secret64(i)+seed)
			binary.LittleEndian.PutUint64(secret[i+8:], secret64(i+8)-seed)
		}
	}
	acc := [8]uint64{p32c, p64a, p64b, p64c, p64d, p32b, p64e, p32a}
	rest := b
	for ; len(rest) > block; rest = rest[block:] {
		for i := range block / stripe {
			accumulate(&acc, rest[stripe*i:], secret[8*i:])
		}
		for i := range acc {
			acc[i] = (acc[i] ^ acc[i]>>47 ^ le64(secret[secretSize-stripe+8*i:])) * p32a
		}
	}
	for i := range (len(rest) - 1) / stripe {
		accumulate(&acc, rest[stripe*i:], secret[8*i:])
	}
	accumulate(&acc, b[len(b)-stripe:], secret[secretSize-stripe-7:])
	h := uint64(len(b)) * p64a
	for i := 0; i < len(acc); i += 2 {
		h += fold(acc[i]^le64(secret[11+8*i:]), acc[i+1]^le64(secret[19+8*i:]))
	}
	return finish3(h)
}

// accumulate takes in one stripe.
func accumulate(acc *[8]uint64, b, secret []byte) {
	b, secret = b[:stripe], secret[:stripe]
	for i := range acc {
		data := le64(b[8*i:])
		key := data ^ le64(secret[8*i:])
		acc[i^1] += data
		acc[i] += (key & 0xffffffff) * (key >> 32)
	}
}
