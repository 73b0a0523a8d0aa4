package convdata

import (
	"encoding/binary"
	"math/bits"
)

// blake2Order is the order of the message words in each round (RFC 7693, 2.7).
var blake2Order = [10][16]uint8{
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
	{14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
	{11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
	{7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
	{9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
	{2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
	{12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
	{13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
	{6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
	{10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
}

// blake2Lanes are the four words that each of the eight mixings of a round works on.
var blake2Lanes = [8][4]uint8{{0, 4, 8, 12}, {1, 5, 9, 13}, {2, 6, 10, 14}, {3, 7, 11, 15}, {0, 5, 10, 15}, {1, 6, 11, 12}, {2, 7, 8, 13}, {3, 4, 9, 14}}

var blake2bStart = [8]uint64{
	0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
	0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
}

// appendBLAKE2b appends the BLAKE2b digest of p (64 bytes; RFC 7693).
func appendBLAKE2b(dst, p []byte) []byte {
	h := blake2bStart
	h[0] ^= 0x01010040 // 64 bytes of result, no key
	var done uint64
	for len(p) > 128 {
		done += 128
		blake2bBlock(&h, p[:128], done, 0)
		p = p[128:]
	}
	var last [128]byte
	copy(last[:], p)
	blake2bBlock(&h, last[:], done+uint64(len(p)), ^uint64(0))
	for _, w := range h {
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	return dst
}

func blake2bBlock(h *[8]uint64, block []byte, done, final uint64) {
	var m, v [16]uint64
	for i := range m {
		m[i] = binary.LittleEndian.Uint64(block[8*i:])
	}
	copy(v[:8], h[:])
	copy(v[8:], blake2bStart[:])
	v[12] ^= done
	v[14] ^= final
	for round := range 12 {
		order := blake2Order[round%10]
		for i, l := range blake2Lanes {
			a, b, c, d := v[l[0]], v[l[1]], v[l[2]], v[l[3]]
			a += b + m[order[2*i]]
			d = bits.RotateLeft64(d^a, -32)
			c += d
			b = bits.RotateLeft64(b^c, -24)
			a += b + m[order[2*i+1]]
			d = bits.RotateLeft64(d^a, -16)
			c += d
			b = bits.RotateLeft64(b^c, -63)
			v[l[0]], v[l[1]], v[l[2]], v[l[3]] = a, b, c, d
		}
	}
	for i := range h {
		h[i] ^= v[i] ^ v[i+8]
	}
}

var blake2sStart = [8]uint32{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}

// appendBLAKE2s appends the BLAKE2s digest of p (32 bytes; RFC 7693).
func appendBLAKE2s(dst, p []byte) []byte {
	h := blake2sStart
	h[0] ^= 0x01010020 // 32 bytes of result, no key
	var done uint64
	for len(p) > 64 {
		done += 64
		blake2sBlock(&h, p[:64], done, 0)
		p = p[64:]
	}
	var last [64]byte
	copy(last[:], p)
	blake2sBlock(&h, last[:], done+uint64(len(p)), ^uint32(0))
	for _, w := range h {
		dst = binary.LittleEndian.AppendUint32(dst, w)
	}
	return dst
}

func blake2sBlock(h *[8]uint32, block []byte, done uint64, final uint32) {
	var m, v [16]uint32
	for i := range m {
		m[i] = binary.LittleEndian.Uint32(block[4*i:])
	}
	copy(v[:8], h[:])
	copy(v[8:], blake2sStart[:])
	v[12] ^= uint32(done)
	v[13] ^= uint32(done >> 32)
	v[14] ^= final
	for round := range 10 {
		order := blake2Order[round]
		for i, l := range blake2Lanes {
			a, b, c, d := v[l[0]], v[l[1]], v[l[2]], v[l[3]]
			a += b + m[order[2*i]]
			d = bits.RotateLeft32(d^a, -16)
			c += d
			b = bits.RotateLeft32(b^c, -12)
			a += b + m[order[2*i+1]]
			d = bits.RotateLeft32(d^a, -8)
			c += d
			b = bits.RotateLeft32(b^c, -7)
			v[l[0]], v[l[1]], v[l[2]], v[l[3]] = a, b, c, d
		}
	}
	for i := range h {
		h[i] ^= v[i] ^ v[i+8]
	}
}
