package ascii

import "encoding/binary"

// lower8 lowers the capitals among eight packed bytes.
func lower8(x uint64) uint64 {
	low7 := x & ^uint64(highs)
	ge := low7 + ones*(0x80-'A')
	gt := low7 + ones*(0x80-'Z'-1)
	return x | (ge & ^gt & ^x & highs)>>2
}

// EqualFold reports whether a and b are the same, letter case aside.
func EqualFold(a, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	i := 0
	for ; i+8 <= len(a); i += 8 {
		x, y := binary.LittleEndian.Uint64(a[i:]), binary.LittleEndian.Uint64(b[i:])
		if x != y && lower8(x) != lower8(y) {
			return false
		}
	}
	for ; i < len(a); i++ {
		if lower[a[i]] != lower[b[i]] {
			return false
		}
	}
	return true
}

// EqualFoldString is EqualFold against a string.
func EqualFoldString(a []byte, s string) bool {
	if len(a) != len(s) {
		return false
	}
	for i := 0; i < len(a); i++ {
		if a[i] != s[i] && lower[a[i]] != lower[s[i]] {
			return false
		}
	}
	return true
}

// HasPrefixFold reports whether b starts with prefix, letter case aside.
func HasPrefixFold(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && EqualFoldString(b[:len(prefix)], prefix)
}

// HasSuffixFold reports whether b ends with suffix, letter case aside.
func HasSuffixFold(b []byte, suffix string) bool {
	return len(b) >= len(suffix) && EqualFoldString(b[len(b)-len(suffix):], suffix)
}

// CompareFold orders a and b bytewise with capitals taken as lower case: -1, 0
// or 1.
func CompareFold(a, b []byte) int {
	n := min(len(a), len(b))
	for i := 0; i < n; i++ {
		if x, y := lower[a[i]], lower[b[i]]; x != y {
			if x < y {
				return -1
			}
			return 1
		}
	}
	switch {
	case len(a) < len(b):
		return -1
	case len(a) > len(b):
		return 1
	}
	return 0
}

// IndexFold returns where sep first occurs in b, letter case aside, or -1.
func IndexFold(b, sep []byte) int {
	if len(sep) == 0 {
		return 0
	}
	first := lower[sep[0]]
	for i := 0; i+len(sep) <= len(b); i++ {
		if lower[b[i]] == first && EqualFold(b[i:i+len(sep)], sep) {
			return i
		}
	}
	return -1
}

// AppendLower appends src in lower case.
func AppendLower(dst, src []byte) []byte {
	n := len(dst)
	dst = append(dst, src...)
	ToLower(dst[n:])
	return dst
}

// ToLower lowers b in place.
func ToLower(b []byte) {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		binary.LittleEndian.PutUint64(b[i:], lower8(binary.LittleEndian.Uint64(b[i:])))
	}
	for ; i < len(b); i++ {
		b[i] = lower[b[i]]
	}
}
