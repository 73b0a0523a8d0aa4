package ascii

import (
	"bytes"
	"math"
	"math/rand"
	"strconv"
	"strings"
	"testing"
)

func TestClassesMatchTheirDefinition(t *testing.T) {
	for i := 0; i < 256; i++ {
		c := byte(i)
		want := map[string]bool{
			"token": strings.IndexByte("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", c) >= 0,
			"digit": c >= '0' && c <= '9',
			"hex":   strings.IndexByte("0123456789abcdefABCDEF", c) >= 0,
			"ctl":   c < 32 || c == 127,
			"blank": c == ' ' || c == 9,
			"alpha": c|0x20 >= 'a' && c|0x20 <= 'z',
		}
		got := map[string]bool{"token": IsToken(c), "digit": IsDigit(c), "hex": IsHex(c), "ctl": IsCtl(c),
			"blank": IsBlank(c), "alpha": IsAlpha(c)}
		for k, w := range want {
			if got[k] != w {
				t.Errorf("byte %#x: %s = %v, want %v", c, k, got[k], w)
			}
		}
		if v, err := strconv.ParseUint(string(rune(c)), 16, 8); c < 128 && (err == nil) != (HexVal(c) < 16) ||
			err == nil && c < 128 && uint8(v) != HexVal(c) {
			t.Errorf("HexVal(%#x) = %d", c, HexVal(c))
		}
	}
}

func asciiLower(b []byte) []byte {
	out := bytes.Clone(b)
	for i, c := range out {
		if c >= 'A' && c <= 'Z' {
			out[i] = c + 32
		}
	}
	return out
}

func TestFoldAgainstBytewise(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for n := 0; n < 20000; n++ {
		a := make([]byte, r.Intn(30))
		for i := range a {
			a[i] = byte(r.Intn(256))
			if r.Intn(2) == 0 {
				a[i] = "AaZz@[`{"[r.Intn(8)]
			}
		}
		b := bytes.Clone(a)
		for i := range b {
			if r.Intn(4) == 0 {
				b[i] ^= 0x20
			}
		}
		want := bytes.Equal(asciiLower(a), asciiLower(b))
		if EqualFold(a, b) != want || EqualFoldString(a, string(b)) != want {
			t.Fatalf("EqualFold(%q, %q) != %v", a, b, want)
		}
		if got := CompareFold(a, b); got != bytes.Compare(asciiLower(a), asciiLower(b)) {
			t.Fatalf("CompareFold(%q, %q) = %d", a, b, got)
		}
		if got := AppendLower([]byte("X"), a); !bytes.Equal(got[1:], asciiLower(a)) || got[0] != 'X' {
			t.Fatalf("AppendLower(%q) = %q", a, got)
		}
		if len(a) > 3 {
			if got, want := IndexFold(a, b[1:3]), bytes.Index(asciiLower(a), asciiLower(b[1:3])); got != want {
				t.Fatalf("IndexFold(%q, %q) = %d, want %d", a, b[1:3], got, want)
			}
		}
		lim := byte(r.Intn(129))
		if got, want := IndexBelow(a, lim), bytes.IndexFunc(latin1(a), func(x rune) bool { return x < rune(lim) }); got != pos(a, want) {
			t.Fatalf("IndexBelow(%q, %d) = %d", a, lim, got)
		}
	}
}

// latin1 widens bytes to runes so that IndexFunc sees one rune a byte.
func latin1(b []byte) []byte {
	var out []byte
	for _, c := range b {
		out = append(out, string(rune(c))...)
	}
	return out
}

// pos converts an index in latin1(b) to one in b.
func pos(b []byte, i int) int {
	if i < 0 {
		return i
	}
	n := 0
	for k, c := range b {
		if n == i {
			return k
		}
		n += len(string(rune(c)))
	}
	return len(b)
}

func TestNumbers(t *testing.T) {
	for _, v := range []uint64{0, 1, 9, 10, 255, 4096, math.MaxInt64, math.MaxUint64 - 1, math.MaxUint64} {
		if got, ok := ParseUint(AppendUint(nil, v)); !ok || got != v {
			t.Errorf("decimal %d: %d %v", v, got, ok)
		}
		if got, ok := ParseHex(AppendHex(nil, v)); !ok || got != v {
			t.Errorf("hex %x: %x %v", v, got, ok)
		}
		if got := string(AppendHex(nil, v)); got != strconv.FormatUint(v, 16) {
			t.Errorf("AppendHex(%d) = %s", v, got)
		}
	}
	for _, s := range []string{"", "-1", "+1", " 1", "1 ", "0x1", "18446744073709551616", "99999999999999999999999", "1a"} {
		if v, ok := ParseUint([]byte(s)); ok {
			t.Errorf("ParseUint(%q) = %d", s, v)
		}
	}
	for _, s := range []string{"", "-1", "g", "10000000000000000", "0x1"} {
		if v, ok := ParseHex([]byte(s)); ok {
			t.Errorf("ParseHex(%q) = %d", s, v)
		}
	}
	if got := string(AppendInt(nil, math.MinInt64)); got != "-9223372036854775808" {
		t.Errorf("AppendInt(min) = %s", got)
	}
	if got := string(AppendPadded(nil, 42, 5)) + string(AppendPadded(nil, 123456, 3)); got != "00042123456" {
		t.Errorf("AppendPadded = %s", got)
	}
}

func TestTrimAndToken(t *testing.T) {
	if got := string(Trim([]byte(" \t a b\t "))); got != "a b" {
		t.Errorf("Trim = %q", got)
	}
	if TokenLen([]byte("abc:d")) != 3 || IsTokenBytes(nil) || IsTokenBytes([]byte("a b")) || !IsTokenBytes([]byte("a-b")) {
		t.Error("token lengths")
	}
	if IndexCtl([]byte("abc")) != -1 || IndexCtl([]byte("ab\x7f")) != 2 {
		t.Error("IndexCtl")
	}
	if !HasPrefixFold([]byte("Basic x"), "basic ") || HasPrefixFold([]byte("b"), "basic") || !HasSuffixFold([]byte("a.COM"), ".com") {
		t.Error("prefix and suffix")
	}
}

func TestNoAllocations(t *testing.T) {
	a, b := []byte("Content-Length-Of-Something"), []byte("content-length-of-something")
	dst := make([]byte, 0, 128)
	if n := testing.AllocsPerRun(100, func() {
		_ = EqualFold(a, b)
		_ = IndexBelow(a, 32)
		dst = AppendHex(AppendUint(AppendLower(dst[:0], a), 12345), 0xabc)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
