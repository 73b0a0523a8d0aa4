package ascii

import "math"

// ParseUint reads b as a decimal number made of digits only. It fails on an
// empty b, on any other byte and above the largest uint64. Leading zeros are
// accepted.
func ParseUint(b []byte) (v uint64, ok bool) {
	if len(b) == 0 {
		return 0, false
	}
	for _, c := range b {
		d := uint64(c - '0')
		if d > 9 || v > math.MaxUint64/10 {
			return 0, false
		}
		v *= 10
		if v > math.MaxUint64-d {
			return 0, false
		}
		v += d
	}
	return v, true
}

// ParseHex reads b as a hexadecimal number without prefix, in either case. It
// fails like ParseUint.
func ParseHex(b []byte) (v uint64, ok bool) {
	if len(b) == 0 {
		return 0, false
	}
	for _, c := range b {
		d := hexval[c]
		if d > 15 || v > math.MaxUint64>>4 {
			return 0, false
		}
		v = v<<4 | uint64(d)
	}
	return v, true
}

// AppendUint appends v in decimal.
func AppendUint(dst []byte, v uint64) []byte {
	var b [20]byte
	i := len(b)
	for v >= 10 {
		i--
		b[i] = byte('0' + v%10)
		v /= 10
	}
	i--
	b[i] = byte('0' + v)
	return append(dst, b[i:]...)
}

// AppendInt appends v in decimal.
func AppendInt(dst []byte, v int64) []byte {
	if v < 0 {
		return AppendUint(append(dst, '-'), uint64(-v))
	}
	return AppendUint(dst, uint64(v))
}

// AppendHex appends v in lower case hexadecimal without leading zeros.
func AppendHex(dst []byte, v uint64) []byte {
	const digits = "0123456789abcdef"
	var b [16]byte
	i := len(b)
	for {
		i--
		b[i] = digits[v&15]
		v >>= 4
		if v == 0 {
			return append(dst, b[i:]...)
		}
	}
}

// AppendPadded appends v in decimal, left-padded with zeros to width digits
// (at most 20); longer numbers are not cut.
func AppendPadded(dst []byte, v uint64, width int) []byte {
	n := 1
	for x := v; x >= 10; x /= 10 {
		n++
	}
	for ; n < width && n < 20; n++ {
		dst = append(dst, '0')
	}
	return AppendUint(dst, v)
}
