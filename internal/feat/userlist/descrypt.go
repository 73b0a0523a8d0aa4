package userlist

// desCrypt is the traditional algorithm: 25 times DES of a block of zeros, whose
// expansion the salt disturbs (FIPS 46-3 for DES itself).
type desCrypt struct {
	salt uint32 // 12 bits
	text string // both characters of the salt and the hash
}

func parseDES(s string) (hash, error) {
	if !digits64(s, 13) {
		return nil, errFormat
	}
	return &desCrypt{salt: value64(s[0]) | value64(s[1])<<6, text: s}, nil
}

func value64(c byte) uint32 {
	for i := range len(itoa64) {
		if itoa64[i] == c {
			return uint32(i)
		}
	}
	return 0
}

func (h *desCrypt) cost() int { return 1 }

// Tables of DES, bits counted from 1 at the most significant one.
var (
	desIP = [64]byte{
		58, 50, 42, 34, 26, 18, 10, 2, 60, 52, 44, 36, 28, 20, 12, 4, 62, 54, 46, 38, 30, 22, 14, 6, 64, 56, 48, 40, 32, 24, 16, 8,
		57, 49, 41, 33, 25, 17, 9, 1, 59, 51, 43, 35, 27, 19, 11, 3, 61, 53, 45, 37, 29, 21, 13, 5, 63, 55, 47, 39, 31, 23, 15, 7,
	}
	desFP = [64]byte{
		40, 8, 48, 16, 56, 24, 64, 32, 39, 7, 47, 15, 55, 23, 63, 31, 38, 6, 46, 14, 54, 22, 62, 30, 37, 5, 45, 13, 53, 21, 61, 29,
		36, 4, 44, 12, 52, 20, 60, 28, 35, 3, 43, 11, 51, 19, 59, 27, 34, 2, 42, 10, 50, 18, 58, 26, 33, 1, 41, 9, 49, 17, 57, 25,
	}
	desP   = [32]byte{16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10, 2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11, 4, 25}
	desPC1 = [56]byte{
		57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18, 10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60, 52, 44, 36,
		63, 55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22, 14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20, 12, 4,
	}
	desPC2 = [48]byte{
		14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2,
		41, 52, 31, 37, 47, 55, 30, 40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32,
	}
	desShifts = [16]uint{1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1}
	desS      = [8][64]byte{
		{14, 4, 13, 1, 2, 15, 11, 8, 3, 10, 6, 12, 5, 9, 0, 7, 0, 15, 7, 4, 14, 2, 13, 1, 10, 6, 12, 11, 9, 5, 3, 8, 4, 1, 14, 8, 13, 6, 2, 11, 15, 12, 9, 7, 3, 10, 5, 0, 15, 12, 8, 2, 4, 9, 1, 7, 5, 11, 3, 14, 10, 0, 6, 13},
		{15, 1, 8, 14, 6, 11, 3, 4, 9, 7, 2, 13, 12, 0, 5, 10, 3, 13, 4, 7, 15, 2, 8, 14, 12, 0, 1, 10, 6, 9, 11, 5, 0, 14, 7, 11, 10, 4, 13, 1, 5, 8, 12, 6, 9, 3, 2, 15, 13, 8, 10, 1, 3, 15, 4, 2, 11, 6, 7, 12, 0, 5, 14, 9},
		{10, 0, 9, 14, 6, 3, 15, 5, 1, 13, 12, 7, 11, 4, 2, 8, 13, 7, 0, 9, 3, 4, 6, 10, 2, 8, 5, 14, 12, 11, 15, 1, 13, 6, 4, 9, 8, 15, 3, 0, 11, 1, 2, 12, 5, 10, 14, 7, 1, 10, 13, 0, 6, 9, 8, 7, 4, 15, 14, 3, 11, 5, 2, 12},
		{7, 13, 14, 3, 0, 6, 9, 10, 1, 2, 8, 5, 11, 12, 4, 15, 13, 8, 11, 5, 6, 15, 0, 3, 4, 7, 2, 12, 1, 10, 14, 9, 10, 6, 9, 0, 12, 11, 7, 13, 15, 1, 3, 14, 5, 2, 8, 4, 3, 15, 0, 6, 10, 1, 13, 8, 9, 4, 5, 11, 12, 7, 2, 14},
		{2, 12, 4, 1, 7, 10, 11, 6, 8, 5, 3, 15, 13, 0, 14, 9, 14, 11, 2, 12, 4, 7, 13, 1, 5, 0, 15, 10, 3, 9, 8, 6, 4, 2, 1, 11, 10, 13, 7, 8, 15, 9, 12, 5, 6, 3, 0, 14, 11, 8, 12, 7, 1, 14, 2, 13, 6, 15, 0, 9, 10, 4, 5, 3},
		{12, 1, 10, 15, 9, 2, 6, 8, 0, 13, 3, 4, 14, 7, 5, 11, 10, 15, 4, 2, 7, 12, 9, 5, 6, 1, 13, 14, 0, 11, 3, 8, 9, 14, 15, 5, 2, 8, 12, 3, 7, 0, 4, 10, 1, 13, 11, 6, 4, 3, 2, 12, 9, 5, 15, 10, 11, 14, 1, 7, 6, 0, 8, 13},
		{4, 11, 2, 14, 15, 0, 8, 13, 3, 12, 9, 7, 5, 10, 6, 1, 13, 0, 11, 7, 4, 9, 1, 10, 14, 3, 5, 12, 2, 15, 8, 6, 1, 4, 11, 13, 12, 3, 7, 14, 10, 15, 6, 8, 0, 5, 9, 2, 6, 11, 13, 8, 1, 4, 10, 7, 9, 5, 0, 15, 14, 2, 3, 12},
		{13, 2, 8, 4, 6, 15, 11, 1, 10, 9, 3, 14, 5, 0, 12, 7, 1, 15, 13, 8, 10, 3, 7, 4, 12, 5, 6, 11, 0, 14, 9, 2, 7, 11, 4, 1, 9, 12, 14, 2, 0, 6, 10, 13, 15, 3, 5, 8, 2, 1, 14, 7, 4, 10, 8, 13, 15, 12, 9, 0, 3, 5, 6, 11},
	}
)

// permute picks bits of v, which has width of them, in the order of the table.
func permute(v uint64, width int, table []byte) (out uint64) {
	for _, i := range table {
		out = out<<1 | v>>(width-int(i))&1
	}
	return out
}

// expand is the expansion of DES: eight groups of six bits that overlap.
func expand(r uint32) (out uint64) {
	v := uint64(r)
	v = v<<1 | v>>31 | v&1<<33 // bit 32, bits 1 to 32, bit 1
	for i := range 8 {
		out = out<<6 | v>>(28-4*i)&63
	}
	return out
}

func (h *desCrypt) match(password []byte) bool {
	key := uint64(0)
	for i := range 8 {
		key <<= 8
		if i < len(password) {
			key |= uint64(password[i]) << 1 & 0xff
		}
	}
	var keys [16]uint64
	cd := permute(key, 64, desPC1[:])
	c, d := cd>>28, cd&(1<<28-1)
	for i, n := range desShifts {
		c, d = (c<<n|c>>(28-n))&(1<<28-1), (d<<n|d>>(28-n))&(1<<28-1)
		keys[i] = permute(c<<28|d, 56, desPC2[:])
	}
	// Bit i of the salt swaps bits i+1 and i+25 of the expansion, counted from the left.
	swap := uint64(0)
	for i := range 12 {
		swap |= uint64(h.salt>>i&1) << (23 - i)
	}
	block := uint64(0)
	for range 25 {
		block = desBlock(block, &keys, swap)
	}
	out := append([]byte(nil), h.text[:2]...)
	for i := range 11 { // 64 bits and two zeros, the highest ones first
		shift := 58 - 6*i
		if shift >= 0 {
			out = append(out, itoa64[block>>shift&63])
		} else {
			out = append(out, itoa64[block<<-shift&63])
		}
	}
	return same(out, h.text)
}

func desBlock(block uint64, keys *[16]uint64, swap uint64) uint64 {
	v := permute(block, 64, desIP[:])
	l, r := uint32(v>>32), uint32(v)
	for _, k := range keys {
		e := expand(r)
		x := (e>>24 ^ e) & swap
		e ^= x | x<<24
		e ^= k
		var s uint64
		for i := range 8 {
			six := e >> (42 - 6*i) & 63
			s = s<<4 | uint64(desS[i][six&0x20|six&1<<4|six>>1&15])
		}
		l, r = r, l^uint32(permute(s, 32, desP[:]))
	}
	return permute(uint64(r)<<32|uint64(l), 64, desFP[:])
}
