package convdata

import (
	"math"
	"strconv"

	"weir/internal/base/ascii"
)

// jsonNumberEnd returns where the number at s[i] ends; i itself when there is none, as for a lone sign. lame reports a decimal point with
// nothing behind it, which does not belong to the number.
func jsonNumberEnd(s []byte, i int) (end int, lame bool) {
	end = i
	if s[i] == '-' || s[i] == '+' {
		i++
	}
	if n := digitsEnd(s, i); n > i {
		i, end = n, n
	} else if i == len(s) || s[i] != '.' {
		return end, false
	}
	if i < len(s) && s[i] == '.' {
		i++
		if n := digitsEnd(s, i); n > i {
			i, end = n, n
		} else {
			lame = true
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		lame = false
		if i++; i < len(s) && s[i] == '-' {
			i++
		}
		if i < len(s) && s[i] == '+' {
			i++
		}
		end = digitsEnd(s, i)
	}
	return end, lame
}

func digitsEnd(s []byte, i int) int {
	for i < len(s) && ascii.IsDigit(s[i]) {
		i++
	}
	return i
}

// parseJSONNumber computes the number at s[i] the way that the reference does, rounding errors included.
func parseJSONNumber(s []byte, i int) (v float64, lame bool) {
	if i >= len(s) {
		return 0, false
	}
	end, lame := jsonNumberEnd(s, i)
	sign := 1.0
	if s[i] == '-' || s[i] == '+' {
		if s[i] == '-' {
			sign = -1
		}
		i++
	}
	if i >= len(s) || !ascii.IsDigit(s[i]) && s[i] != '.' {
		return 0, false
	}
	for ; i < len(s) && ascii.IsDigit(s[i]); i++ {
		v = v*10 + float64(s[i]-'0')
	}
	v *= sign
	if i < len(s) && s[i] == '.' {
		fraction, base := 0.0, 0.1
		for i++; i < len(s) && ascii.IsDigit(s[i]); i++ {
			fraction += base * float64(s[i]-'0')
			base /= 10
		}
		v += fraction * sign
	}
	if i < end {
		v = scale(v, s[i+1:end])
	}
	return v, lame
}

// scale multiplies v with a power of ten; exp is signs and digits. The exponent wraps around at 32 bits.
func scale(v float64, exp []byte) float64 {
	negative := false
	var n int32
	for i, c := range exp {
		switch c {
		case '-':
			negative = i == 0
		case '+':
		default:
			n = n*10 + int32(c-'0')
		}
	}
	power := 1.0
	for square := 10.0; n > 0; n >>= 1 {
		if n&1 != 0 {
			power *= square
		}
		square *= square
	}
	if negative {
		return v / power
	}
	return v * power
}

// appendFloat writes v with up to six digits, as C's %g.
func appendFloat(dst []byte, v float64) []byte {
	switch {
	case math.IsInf(v, 1):
		return append(dst, "inf"...)
	case math.IsInf(v, -1):
		return append(dst, "-inf"...)
	case v != v: // zero times infinity is a negative "not a number" on the reference's processor
		return append(dst, "-nan"...)
	}
	return strconv.AppendFloat(dst, v, 'g', 6, 64)
}

// maxJSONInt is the largest integer that JSON carries safely (RFC 7493, 2.2).
const maxJSONInt = 1<<53 - 1

// parseJSONInt reads the integer at the start of s: an optional sign, and decimal digits, or octal ones after 0, or hexadecimal ones after
// 0x. What follows does not count, no digits are zero. It reports false for a number that JSON cannot carry safely.
func parseJSONInt(s []byte) (int64, bool) {
	negative := false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		negative, s = s[0] == '-', s[1:]
	}
	base := int64(10)
	switch {
	case len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' && ascii.IsHex(s[2]):
		base, s = 16, s[2:]
	case len(s) > 0 && s[0] == '0':
		base = 8
	}
	var n int64
	for _, c := range s {
		if !ascii.IsHex(c) || int64(ascii.HexVal(c)) >= base {
			break
		}
		if n = n*base + int64(ascii.HexVal(c)); n > maxJSONInt {
			return 0, false
		}
	}
	if negative {
		n = -n
	}
	return n, true
}
