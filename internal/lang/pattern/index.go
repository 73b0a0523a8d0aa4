package pattern

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"weir/internal/base/ascii"
	"weir/internal/base/budget"
	"weir/internal/lang/regex"
	"weir/internal/model"
)

// Match is what a lookup found.
type Match struct {
	Key   []byte       // the pattern as written; nil for one of addresses, which Net holds
	Net   netip.Prefix // an address or a network that matched
	Value []byte       // of a map; nil in ACLs
	Re    *regex.Regex // a regular expression that matched
	rank  int          // of two matches the one of higher rank is the better one
}

// AppendKey writes the pattern that matched.
func (m *Match) AppendKey(dst []byte) []byte {
	switch {
	case !m.Net.IsValid():
		return append(dst, m.Key...)
	case m.Net.IsSingleIP():
		return m.Net.Addr().AppendTo(dst)
	}
	return m.Net.AppendTo(dst)
}

// index finds the pattern that a value fits. It never changes.
type index interface {
	// find reports whether v fits, and what it fitted. Regular expressions draw on left.
	find(v *model.Value, left *budget.Steps) (Match, bool)
	// each calls fn for all entries until it returns false. key and value are valid during the call.
	each(fn func(key, value []byte) bool)
	len() int
}

// builder collects patterns and makes an index of them.
type builder interface {
	method() Method
	// add adds a pattern; both slices are copied.
	add(text, value []byte, noResolve bool) error
	build() index
}

func newBuilder(m Method, fold bool) builder {
	switch m {
	case IP:
		return newIPBuilder()
	case Str:
		return newStrBuilder(fold)
	case Beg:
		return &begBuilder{linearBuilder{m: m, fold: fold}}
	}
	return &linearBuilder{m: m, fold: fold}
}

// linear tries its patterns in the order in which they were added: the first that fits decides.
type linear struct {
	m       Method
	fold    bool
	entries []entry
}

type entry struct {
	key, value []byte
	lo, hi     int64  // int, len
	text       []byte // the bytes to compare with; folded when letter case does not matter
	re         *regex.Regex
}

type linearBuilder struct {
	m       Method
	fold    bool
	entries []entry
}

func (b *linearBuilder) method() Method { return b.m }

func (b *linearBuilder) add(text, value []byte, _ bool) error {
	e, err := parseEntry(b.m, b.fold, text, value)
	if err == nil {
		b.entries = append(b.entries, e)
	}
	return err
}

func (b *linearBuilder) build() index { return &linear{b.m, b.fold, b.entries} }

// parseEntry reads one pattern.
func parseEntry(m Method, fold bool, key, value []byte) (e entry, err error) {
	e = entry{key: bytes.Clone(key), value: bytes.Clone(value)}
	text := string(key)
	switch m {
	case Int, Len:
		e.lo, e.hi, err = parseRange(text)
	case Bin:
		if e.text, err = hex.DecodeString(text); err != nil {
			err = fmt.Errorf("'%s' is no even number of hexadecimal digits", text)
		}
	case Reg:
		var f regex.Flags
		if fold {
			f = regex.IgnoreCase
		}
		if e.re, err = regex.Compile(text, f); err != nil {
			err = fmt.Errorf("'%s': %w", text, err)
		}
	default:
		e.text = []byte(text)
		if m == Dir || m == Dom {
			e.text = trimDelims(e.text, delims[m])
		}
		if fold {
			ascii.ToLower(e.text)
		}
	}
	return e, err
}

func (x *linear) len() int { return len(x.entries) }

func (x *linear) each(fn func(key, value []byte) bool) {
	for i := range x.entries {
		if !fn(x.entries[i].key, x.entries[i].value) {
			return
		}
	}
}

func (x *linear) find(v *model.Value, left *budget.Steps) (Match, bool) {
	for i := range x.entries {
		if e := &x.entries[i]; x.fits(e, v, left) {
			return e.match(), true
		}
	}
	return Match{}, false
}

func (e *entry) match() Match {
	return Match{Key: e.key, Value: e.value, Re: e.re, rank: len(e.key)}
}

func (x *linear) fits(e *entry, v *model.Value, left *budget.Steps) bool {
	switch x.m {
	case Int:
		return v.Num >= e.lo && v.Num <= e.hi
	case Len:
		n := int64(len(v.B))
		return n >= e.lo && n <= e.hi
	case Bin:
		return bytes.Equal(v.B, e.text)
	case Reg:
		return e.re.MatchWithin(v.B, left)
	case Beg:
		return len(v.B) >= len(e.text) && x.equal(v.B[:len(e.text)], e.text)
	case End:
		return len(v.B) >= len(e.text) && x.equal(v.B[len(v.B)-len(e.text):], e.text)
	case Sub:
		return x.index(v.B, e.text) >= 0
	case Dir, Dom:
		return x.delimited(v.B, e.text, delims[x.m])
	}
	return x.equal(v.B, e.text)
}

// equal compares with a pattern that is folded when letter case does not matter.
func (x *linear) equal(b, pattern []byte) bool {
	if x.fold {
		return ascii.EqualFold(b, pattern)
	}
	return bytes.Equal(b, pattern)
}

func (x *linear) index(b, pattern []byte) int {
	if x.fold {
		return ascii.IndexFold(b, pattern)
	}
	return bytes.Index(b, pattern)
}

// delims are what bounds a part of a path or of a domain name.
var delims = map[Method]string{Dir: "/?", Dom: "/?.:"}

func trimDelims(b []byte, set string) []byte { return bytes.Trim(b, set) }

// delimited looks for pattern between two delimiters or ends. An empty pattern fits nothing.
func (x *linear) delimited(b, pattern []byte, set string) bool {
	if len(pattern) == 0 {
		return false
	}
	for from := 0; from+len(pattern) <= len(b); {
		i := x.index(b[from:], pattern)
		if i < 0 {
			return false
		}
		at, end := from+i, from+i+len(pattern)
		if (at == 0 || strings.IndexByte(set, b[at-1]) >= 0) && (end == len(b) || strings.IndexByte(set, b[end]) >= 0) {
			return true
		}
		from = at + 1
	}
	return false
}

var operators = []string{"eq", "ge", "gt", "le", "lt"}

// withOperator puts an operator of a line into the text of a pattern.
func withOperator(op, v string) string {
	if op == "" || op == "eq" {
		return v
	}
	return op + " " + v
}

// parseRange reads an integer, a range LO:HI, which may be written LO-HI, with either bound left out, or an operator and an
// integer. A dot joins two 16-bit numbers, as in versions.
func parseRange(text string) (lo, hi int64, err error) {
	const least, most = -1 << 63, 1<<63 - 1
	op, num, hasOp := strings.Cut(text, " ")
	if hasOp && len(op) == 2 {
		n, err := parseNumber(num)
		if err != nil {
			return 0, 0, err
		}
		switch op {
		case "ge":
			return n, most, nil
		case "gt":
			if n == most {
				return 1, 0, nil
			}
			return n + 1, most, nil
		case "le":
			return least, n, nil
		case "lt":
			if n == least {
				return 1, 0, nil
			}
			return least, n - 1, nil
		case "eq":
			return n, n, nil
		}
	}
	low, high, isRange := strings.Cut(text, ":")
	if i := strings.IndexByte(text, '-'); i > 0 && !isRange {
		low, high, isRange = text[:i], text[i+1:], true
	}
	lo, hi = least, most
	if low != "" || !isRange {
		if lo, err = parseNumber(low); err != nil {
			return 0, 0, fmt.Errorf("'%s' is neither a number, a range such as 2:5, nor one of the operators eq, ge, gt, le, lt", text)
		}
	}
	if !isRange {
		return lo, lo, nil
	}
	if high != "" {
		if hi, err = parseNumber(high); err != nil {
			return 0, 0, err
		}
	}
	if lo > hi {
		return 0, 0, fmt.Errorf("the range '%s' is empty", text)
	}
	return lo, hi, nil
}

func parseNumber(s string) (int64, error) {
	major, minor, dotted := strings.Cut(s, ".")
	n, err := strconv.ParseInt(major, 10, 64)
	if err != nil || !dotted {
		if err != nil {
			err = fmt.Errorf("'%s' is no number", s)
		}
		return n, err
	}
	m, err := strconv.ParseUint(minor, 10, 16)
	if err != nil || n < 0 || n > 1<<15 {
		return 0, fmt.Errorf("'%s' is no number", s)
	}
	return n<<16 + int64(m), nil
}

// beg is a list of prefixes: the longest that fits decides, of equal ones the first.
type beg struct {
	linear
	buckets map[uint64][]int32
	lens    []int // distinct lengths, longest first
}

type begBuilder struct{ linearBuilder }

// many is from how many prefixes on they are found by hashing.
const many = 16

func (b *begBuilder) build() index {
	x := &beg{linear: linear{b.m, b.fold, b.entries}}
	seen := make(map[int]bool)
	x.buckets = make(map[uint64][]int32, len(x.entries))
	for i := range x.entries {
		t := x.entries[i].text
		h := hashBytes(t, false)
		x.buckets[h] = append(x.buckets[h], int32(i))
		if !seen[len(t)] {
			seen[len(t)] = true
			x.lens = append(x.lens, len(t))
		}
	}
	sortDesc(x.lens)
	return x
}

func (x *beg) find(v *model.Value, left *budget.Steps) (Match, bool) {
	if len(x.entries) <= many {
		best := -1
		for i := range x.entries {
			if e := &x.entries[i]; (best < 0 || len(e.text) > len(x.entries[best].text)) && x.fits(e, v, left) {
				best = i
			}
		}
		if best < 0 {
			return Match{}, false
		}
		return x.entries[best].match(), true
	}
	for _, n := range x.lens {
		if n > len(v.B) {
			continue
		}
		p := v.B[:n]
		for _, i := range x.buckets[hashBytes(p, x.fold)] {
			if e := &x.entries[i]; len(e.text) == n && x.equal(p, e.text) {
				return e.match(), true
			}
		}
	}
	return Match{}, false
}

func sortDesc(a []int) {
	for i := 1; i < len(a); i++ {
		for j := i; j > 0 && a[j] > a[j-1]; j-- {
			a[j], a[j-1] = a[j-1], a[j]
		}
	}
}

// hashBytes hashes b; folded when letter case does not matter.
func hashBytes(b []byte, fold bool) uint64 {
	const prime = 0x9E3779B97F4A7C15
	h := uint64(len(b)) * prime
	if fold {
		for _, c := range b {
			h = (h ^ uint64(ascii.Lower(c))) * prime
			h ^= h >> 29
		}
		return h
	}
	for len(b) >= 8 {
		w := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 | uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		h = (h ^ w) * prime
		h ^= h >> 32
		b = b[8:]
	}
	for _, c := range b {
		h = (h ^ uint64(c)) * prime
		h ^= h >> 29
	}
	return h
}
