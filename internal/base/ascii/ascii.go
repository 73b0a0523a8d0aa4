// Package ascii holds the byte helpers that every text protocol of this
// program needs: character classes as tables, case-insensitive comparison,
// decimal and hexadecimal numbers, trimming. Only bytes 0x41-0x5A and
// 0x61-0x7A have a case here; nothing depends on a locale or on Unicode.
//
// No function allocates, except Append* when the destination is too small.
package ascii

import (
	"encoding/binary"
	"math/bits"
)

// Class is a set of character classes of one byte, as given by Classes.
type Class uint8

// Character classes. A byte may belong to several.
const (
	Token Class = 1 << iota // tchar of RFC 9110 5.6.2
	Digit                   // 0-9
	Alpha                   // A-Z a-z
	Hex                     // 0-9 A-F a-f
	Ctl                     // 0x00-0x1F, 0x7F
	Blank                   // space, tab
	Upper                   // A-Z
)

var (
	classes [256]Class
	lower   [256]byte
	hexval  [256]uint8
)

func init() {
	for i := 0; i < 256; i++ {
		c := byte(i)
		lower[i] = c
		hexval[i] = 0xff
		var k Class
		switch {
		case c >= '0' && c <= '9':
			k = Token | Digit | Hex
			hexval[i] = c - '0'
		case c >= 'A' && c <= 'Z':
			k = Token | Alpha | Upper
			lower[i] = c + 'a' - 'A'
		case c >= 'a' && c <= 'z':
			k = Token | Alpha
		case c == ' ' || c == '\t':
			k = Blank
		}
		if c >= 'A' && c <= 'F' || c >= 'a' && c <= 'f' {
			k |= Hex
			hexval[i] = lower[i] - 'a' + 10
		}
		if c < 0x20 || c == 0x7f {
			k |= Ctl
		}
		classes[i] = k
	}
	for _, c := range []byte("!#$%&'*+-.^_`|~") {
		classes[c] |= Token
	}
}

// Classes returns the classes of c.
func Classes(c byte) Class { return classes[c] }

// IsToken reports whether c may appear in a token (RFC 9110 5.6.2).
func IsToken(c byte) bool { return classes[c]&Token != 0 }

// IsDigit reports whether c is 0-9.
func IsDigit(c byte) bool { return c-'0' <= 9 }

// IsAlpha reports whether c is a letter.
func IsAlpha(c byte) bool { return classes[c]&Alpha != 0 }

// IsAlnum reports whether c is a letter or a digit.
func IsAlnum(c byte) bool { return classes[c]&(Alpha|Digit) != 0 }

// IsHex reports whether c is a hexadecimal digit.
func IsHex(c byte) bool { return classes[c]&Hex != 0 }

// IsCtl reports whether c is a control character (0x00-0x1F, 0x7F).
func IsCtl(c byte) bool { return classes[c]&Ctl != 0 }

// IsBlank reports whether c is a space or a tab.
func IsBlank(c byte) bool { return c == ' ' || c == '\t' }

// Lower returns c, in lower case when it is a capital.
func Lower(c byte) byte { return lower[c] }

// HexVal returns the value of a hexadecimal digit, or a number above 15.
func HexVal(c byte) uint8 { return hexval[c] }

// TokenLen returns the length of the longest prefix of b made of token bytes.
func TokenLen(b []byte) int {
	for i, c := range b {
		if classes[c]&Token == 0 {
			return i
		}
	}
	return len(b)
}

// IsTokenBytes reports whether b is a valid, non-empty token.
func IsTokenBytes(b []byte) bool { return len(b) > 0 && TokenLen(b) == len(b) }

// TrimLeft returns b without its leading spaces and tabs.
func TrimLeft(b []byte) []byte {
	for len(b) > 0 && IsBlank(b[0]) {
		b = b[1:]
	}
	return b
}

// TrimRight returns b without its trailing spaces and tabs.
func TrimRight(b []byte) []byte {
	for len(b) > 0 && IsBlank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// Trim returns b without the spaces and tabs around it.
func Trim(b []byte) []byte { return TrimRight(TrimLeft(b)) }

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// IndexBelow returns the index of the first byte of b lower than limit, which
// must be at most 128, or -1. It looks at eight bytes at a time.
func IndexBelow(b []byte, limit byte) int {
	i := 0
	l := ones * uint64(limit)
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		// The lowest set bit is exact: borrows only travel upwards.
		if t := (x - l) & ^x & highs; t != 0 {
			return i + bits.TrailingZeros64(t)>>3
		}
	}
	for ; i < len(b); i++ {
		if b[i] < limit {
			return i
		}
	}
	return -1
}

// IndexCtl returns the index of the first control character of b (0x00-0x1F,
// 0x7F), or -1.
func IndexCtl(b []byte) int {
	for i, c := range b {
		if classes[c]&Ctl != 0 {
			return i
		}
	}
	return -1
}
