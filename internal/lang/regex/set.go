package regex

import (
	"math/bits"
	"slices"
	"strings"
	"unicode"
)

// set is a set of bytes.
type set [4]uint64

func (s *set) has(b byte) bool { return s[b>>6]&(1<<(b&63)) != 0 }
func (s *set) add(b byte)      { s[b>>6] |= 1 << (b & 63) }

func (s *set) addRange(lo, hi byte) {
	for c := int(lo); c <= int(hi); c++ {
		s.add(byte(c))
	}
}

func (s *set) addString(list string) {
	for i := range len(list) {
		s.add(list[i])
	}
}

func (s *set) union(o set) {
	for i := range s {
		s[i] |= o[i]
	}
}

func (s *set) negate() {
	for i := range s {
		s[i] = ^s[i]
	}
}

// fold adds the other case of every ASCII letter.
func (s *set) fold() {
	for c := byte('a'); c <= 'z'; c++ {
		if s.has(c) || s.has(c-32) {
			s.add(c)
			s.add(c - 32)
		}
	}
}

func (s *set) len() int {
	return bits.OnesCount64(s[0]) + bits.OnesCount64(s[1]) + bits.OnesCount64(s[2]) + bits.OnesCount64(s[3])
}

func (s *set) overlaps(o set) bool {
	return s[0]&o[0]|s[1]&o[1]|s[2]&o[2]|s[3]&o[3] != 0
}

// single returns the only member of a set of one.
func (s *set) single() (byte, bool) {
	if s.len() != 1 {
		return 0, false
	}
	for i, w := range s {
		if w != 0 {
			return byte(i<<6 + bits.TrailingZeros64(w)), true
		}
	}
	return 0, false
}

// table is the set as a look-up table.
func (s *set) table() *[256]bool {
	t := new([256]bool)
	for i := range t {
		t[i] = s.has(byte(i))
	}
	return t
}

// allBytes is the set of all bytes.
func allBytes() set { return set{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)} }

// setOf makes a set of ranges: two bytes each.
func setOf(ranges string) (s set) {
	for i := 0; i+1 < len(ranges); i += 2 {
		s.addRange(ranges[i], ranges[i+1])
	}
	return s
}

// escapeSet is the set of a type escape: \d \D \w \W \s \S \h \H \v \V, and \N for all but line feed.
func escapeSet(c byte) (s set, ok bool) {
	switch c {
	case 'd', 'D':
		s = setOf("09")
	case 'w', 'W':
		s = setOf("09AZaz__")
	case 's', 'S':
		s = setOf("\t\r  ")
	case 'h', 'H':
		s = setOf("\t\t  \xa0\xa0")
	case 'v', 'V', 'N':
		s = setOf("\n\r\x85\x85")
		if c == 'N' {
			s = setOf("\n\n")
		}
	default:
		return s, false
	}
	if c < 'a' {
		s.negate()
	}
	return s, true
}

// posixRanges are the named classes of the C locale.
var posixRanges = map[string]string{
	"alnum": "09AZaz", "alpha": "AZaz", "ascii": "\x00\x7f", "blank": "\t\t  ", "cntrl": "\x00\x1f\x7f\x7f", "digit": "09", "graph": "!~",
	"lower": "az", "print": " ~", "punct": "!/:@[`{~", "space": "\t\r  ", "upper": "AZ", "word": "09AZaz__", "xdigit": "09AFaf",
}

// property returns the bytes whose Latin-1 character has a Unicode property: a category, a script, or one of the
// special names. Case, spaces, hyphens and underscores of the name do not count.
func property(name string) (s set, ok bool) {
	name = loose(name)
	switch name {
	case "any":
		return allBytes(), true
	case "l&", "lc":
		return latin(unicode.Lu, unicode.Ll, unicode.Lt), true
	case "xan":
		return latin(unicode.L, unicode.N), true
	case "xwd":
		s = latin(unicode.L, unicode.N)
		s.add('_')
		return s, true
	case "xsp", "xps":
		s = latin(unicode.Z)
		s.addRange('\t', '\r')
		return s, true
	case "xuc":
		s.addString("$@`")
		s.addRange(0xa0, 0xff)
		return s, true
	case "cn", "cs", "co":
		return set{}, true
	}
	for _, tables := range []map[string]*unicode.RangeTable{unicode.Categories, unicode.Scripts} {
		for key, table := range tables {
			if loose(key) == name && (len(name) <= 2 || tables[key] != unicode.Categories[key]) {
				return latin(table), true
			}
		}
	}
	return s, false
}

// loose is a property's name without what does not count.
func loose(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if strings.ContainsRune(" _-\t\n\v\f\r", r) {
			return -1
		}
		return r
	}, name))
}

func latin(tables ...*unicode.RangeTable) (s set) {
	for c := range 256 {
		if slices.ContainsFunc(tables, func(t *unicode.RangeTable) bool { return unicode.Is(t, rune(c)) }) {
			s.add(byte(c))
		}
	}
	return s
}
