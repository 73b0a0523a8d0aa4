package convdata

import (
	"encoding/binary"
	"math/bits"
)

// The digests of this file are not in Go's standard library. Each takes its whole input at once.

// tail pads the last, incomplete block of a message of total bytes as the MD4 family does: a one bit, zeros, and the length in
// bits in the last 8 bytes. It returns one or two blocks of 64 bytes.
func tail(last *[128]byte, p []byte, total int, bigEndian bool) []byte {
	n := copy(last[:], p)
	last[n] = 0x80
	end := 64
	if n >= 56 {
		end = 128
	}
	if bigEndian {
		binary.BigEndian.PutUint64(last[end-8:], uint64(total)*8)
	} else {
		binary.LittleEndian.PutUint64(last[end-8:], uint64(total)*8)
	}
	return last[:end]
}

// RIPEMD-160: the order of the message words and the rotations, for the left and the right line.
var (
	ripemdWordsL = [80]uint8{
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		7, 4, 13, 1, 10, 6, 15, 3, 12, 0, 9, 5, 2, 14, 11, 8,
		3, 10, 14, 4, 9, 15, 8, 1, 2, 7, 0, 6, 13, 11, 5, 12,
		1, 9, 11, 10, 0, 8, 12, 4, 13, 3, 7, 15, 14, 5, 6, 2,
		4, 0, 5, 9, 7, 12, 2, 10, 14, 1, 3, 8, 11, 6, 15, 13,
	}
	ripemdWordsR = [80]uint8{
		5, 14, 7, 0, 9, 2, 11, 4, 13, 6, 15, 8, 1, 10, 3, 12,
		6, 11, 3, 7, 0, 13, 5, 10, 14, 15, 8, 12, 4, 9, 1, 2,
		15, 5, 1, 3, 7, 14, 6, 9, 11, 8, 12, 2, 10, 0, 4, 13,
		8, 6, 4, 1, 3, 11, 15, 0, 5, 12, 2, 13, 9, 7, 10, 14,
		12, 15, 10, 4, 1, 5, 8, 7, 6, 2, 13, 14, 0, 3, 9, 11,
	}
	ripemdTurnsL = [80]uint8{
		11, 14, 15, 12, 5, 8, 7, 9, 11, 13, 14, 15, 6, 7, 9, 8,
		7, 6, 8, 13, 11, 9, 7, 15, 7, 12, 15, 9, 11, 7, 13, 12,
		11, 13, 6, 7, 14, 9, 13, 15, 14, 8, 13, 6, 5, 12, 7, 5,
		11, 12, 14, 15, 14, 15, 9, 8, 9, 14, 5, 6, 8, 6, 5, 12,
		9, 15, 5, 11, 6, 8, 13, 12, 5, 12, 13, 14, 11, 8, 5, 6,
	}
	ripemdTurnsR = [80]uint8{
		8, 9, 9, 11, 13, 15, 15, 5, 7, 7, 8, 11, 14, 14, 12, 6,
		9, 13, 15, 7, 12, 8, 9, 11, 7, 7, 12, 7, 6, 15, 13, 11,
		9, 7, 15, 11, 8, 6, 6, 14, 12, 13, 5, 14, 13, 13, 7, 5,
		15, 5, 8, 11, 14, 14, 6, 14, 6, 9, 12, 9, 12, 5, 15, 8,
		8, 5, 12, 9, 12, 5, 14, 6, 8, 13, 6, 5, 15, 13, 11, 11,
	}
	ripemdAddL = [5]uint32{0, 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xa953fd4e}
	ripemdAddR = [5]uint32{0x50a28be6, 0x5c4dd124, 0x6d703ef3, 0x7a6d76e9, 0}
)

// ripemdMix is the function of round 0 to 4 of the left line, 4 to 0 of the right.
func ripemdMix(round int, x, y, z uint32) uint32 {
	switch round {
	case 0:
		return x ^ y ^ z
	case 1:
		return x&y | ^x&z
	case 2:
		return (x | ^y) ^ z
	case 3:
		return x&z | y&^z
	}
	return x ^ (y | ^z)
}

// appendRIPEMD160 appends the RIPEMD-160 digest of p (20 bytes).
func appendRIPEMD160(dst, p []byte) []byte {
	h := [5]uint32{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}
	total := len(p)
	for ; len(p) >= 64; p = p[64:] {
		ripemdBlock(&h, p)
	}
	var last [128]byte
	for p = tail(&last, p, total, false); len(p) > 0; p = p[64:] {
		ripemdBlock(&h, p)
	}
	for _, w := range h {
		dst = binary.LittleEndian.AppendUint32(dst, w)
	}
	return dst
}

func ripemdBlock(h *[5]uint32, block []byte) {
	var x [16]uint32
	for i := range x {
		x[i] = binary.LittleEndian.Uint32(block[4*i:])
	}
	l, r := *h, *h
	for i := range 80 {
		round := i / 16
		t := l[0] + ripemdMix(round, l[1], l[2], l[3]) + x[ripemdWordsL[i]] + ripemdAddL[round]
		t = bits.RotateLeft32(t, int(ripemdTurnsL[i])) + l[4]
		l = [5]uint32{l[4], t, l[1], bits.RotateLeft32(l[2], 10), l[3]}
		t = r[0] + ripemdMix(4-round, r[1], r[2], r[3]) + x[ripemdWordsR[i]] + ripemdAddR[round]
		t = bits.RotateLeft32(t, int(ripemdTurnsR[i])) + r[4]
		r = [5]uint32{r[4], t, r[1], bits.RotateLeft32(r[2], 10), r[3]}
	}
	*h = [5]uint32{h[1] + l[2] + r[3], h[2] + l[3] + r[4], h[3] + l[4] + r[0], h[4] + l[0] + r[1], h[0] + l[1] + r[2]}
}

// appendSM3 appends the SM3 digest of p (32 bytes; GB/T 32905).
func appendSM3(dst, p []byte) []byte {
	h := [8]uint32{0x7380166f, 0x4914b2b9, 0x172442d7, 0xda8a0600, 0xa96f30bc, 0x163138aa, 0xe38dee4d, 0xb0fb0e4e}
	total := len(p)
	for ; len(p) >= 64; p = p[64:] {
		sm3Block(&h, p)
	}
	var last [128]byte
	for p = tail(&last, p, total, true); len(p) > 0; p = p[64:] {
		sm3Block(&h, p)
	}
	for _, w := range h {
		dst = binary.BigEndian.AppendUint32(dst, w)
	}
	return dst
}

func sm3Block(h *[8]uint32, block []byte) {
	var w [68]uint32
	for i := range 16 {
		w[i] = binary.BigEndian.Uint32(block[4*i:])
	}
	for i := 16; i < 68; i++ {
		x := w[i-16] ^ w[i-9] ^ bits.RotateLeft32(w[i-3], 15)
		x ^= bits.RotateLeft32(x, 15) ^ bits.RotateLeft32(x, 23)
		w[i] = x ^ bits.RotateLeft32(w[i-13], 7) ^ w[i-6]
	}
	s := *h
	for i := range 64 {
		k := uint32(0x79cc4519)
		if i >= 16 {
			k = 0x7a879d8a
		}
		a12 := bits.RotateLeft32(s[0], 12)
		ss1 := bits.RotateLeft32(a12+s[4]+bits.RotateLeft32(k, i), 7)
		var ff, gg uint32
		if i < 16 {
			ff, gg = s[0]^s[1]^s[2], s[4]^s[5]^s[6]
		} else {
			ff, gg = s[0]&s[1]|s[0]&s[2]|s[1]&s[2], s[4]&s[5]|^s[4]&s[6]
		}
		t1 := ff + s[3] + (ss1 ^ a12) + (w[i] ^ w[i+4])
		t2 := gg + s[7] + ss1 + w[i]
		s = [8]uint32{t1, s[0], bits.RotateLeft32(s[1], 9), s[2], t2 ^ bits.RotateLeft32(t2, 9) ^ bits.RotateLeft32(t2, 17), s[4],
			bits.RotateLeft32(s[5], 19), s[6]}
	}
	for i := range h {
		h[i] ^= s[i]
	}
}
