package units

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for _, c := range []struct {
		in   string
		def  Unit
		want time.Duration
		kind Kind
	}{
		{"0", Millisecond, 0, 0},
		{"5", Millisecond, 5 * time.Millisecond, 0},
		{"08", Millisecond, 8 * time.Millisecond, 0},
		{"5", Second, 5 * time.Second, 0},
		{"5ms", Millisecond, 5 * time.Millisecond, 0},
		{"5s", Millisecond, 5 * time.Second, 0},
		{"5m", Millisecond, 5 * time.Minute, 0},
		{"5h", Millisecond, 5 * time.Hour, 0},
		{"5d", Millisecond, 120 * time.Hour, 0},
		{"1500us", Millisecond, 2 * time.Millisecond, 0},
		{"1000us", Millisecond, time.Millisecond, 0},
		{"1500us", Microsecond, 1500 * time.Microsecond, 0},
		{"0us", Millisecond, 0, 0},
		{"999us", Millisecond, 0, Underflow},
		{"999ms", Second, 0, Underflow},
		{"1500ms", Second, 2 * time.Second, 0},
		{"2147483647", Millisecond, MaxTimer, 0},
		{"2147483648", Millisecond, 0, Overflow},
		{"2147483647000us", Millisecond, MaxTimer, 0},
		{"2147483647001us", Millisecond, 0, Overflow},
		{"24d", Millisecond, 24 * 24 * time.Hour, 0},
		{"25d", Millisecond, 0, Overflow},
		{"596h", Millisecond, 596 * time.Hour, 0},
		{"597h", Millisecond, 0, Overflow},
		{"2147483647", Second, math.MaxInt32 * time.Second, 0},
		{"2147483648", Second, 0, Overflow},
		{"36500d", Second, 0, Overflow},
		{"99999999999999999999", Millisecond, 0, Overflow},
		{"18446744073709551616d", Second, 0, Overflow},
		{"1h30m", Millisecond, time.Hour, Trailing},
		{"5s,", Millisecond, 5 * time.Second, Trailing},
		{"", Millisecond, 0, Empty},
		{"-5", Millisecond, 0, NotNumber},
		{"+5", Millisecond, 0, NotNumber},
		{"s", Millisecond, 0, NotNumber},
		{" 5", Millisecond, 0, NotNumber},
		{"5x", Millisecond, 0, BadUnit},
		{"5 ", Millisecond, 0, BadUnit},
		{"5S", Millisecond, 0, BadUnit},
		{"5.5s", Millisecond, 0, BadUnit},
		{"5u", Millisecond, 0, BadUnit},
		{"0x10", Millisecond, 0, BadUnit},
	} {
		got, err := Duration(c.in, c.def)
		kind := Kind(0)
		if err != nil {
			kind = err.Kind
		}
		if got != c.want || kind != c.kind {
			t.Errorf("Duration(%q, %v) = %v, %v; want %v, kind %d", c.in, time.Duration(c.def), got, err, c.want, c.kind)
		}
	}
}

func TestSize(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int64
		kind Kind
	}{
		{"0", 0, 0}, {"16384", 16384, 0}, {"16k", 16384, 0}, {"16K", 16384, 0}, {"2m", 2 << 20, 0}, {"3G", 3 << 30, 0},
		{"9223372036854775807", math.MaxInt64, 0}, {"9223372036854775808", 0, Overflow},
		{"8589934591g", 8589934591 << 30, 0}, {"8589934592g", 0, Overflow}, {"99999999999999999999k", 0, Overflow},
		{"", 0, Empty}, {"k", 0, NotNumber}, {"-1", 0, NotNumber}, {"16kb", 0, BadUnit}, {"1.5k", 0, BadUnit},
		{"1t", 0, BadUnit}, {"16k5", 0, BadUnit}, {"0x10", 0, BadUnit},
	} {
		got, err := Size(c.in)
		kind := Kind(0)
		if err != nil {
			kind = err.Kind
		}
		if got != c.want || kind != c.kind {
			t.Errorf("Size(%q) = %v, %v; want %v, kind %d", c.in, got, err, c.want, c.kind)
		}
	}
}

func TestIntAndPercent(t *testing.T) {
	for _, c := range []struct {
		in     string
		lo, hi int64
		want   int64
		kind   Kind
	}{
		{"5", 0, 10, 5, 0}, {"+5", 0, 10, 5, 0}, {"-5", -10, 10, -5, 0}, {"010", 0, 10, 10, 0},
		{"11", 0, 10, 0, Range}, {"-1", 0, 10, 0, Range}, {"", 0, 10, 0, Empty}, {"-", 0, 10, 0, NotNumber},
		{"x", 0, 10, 0, NotNumber}, {"5x", 0, 10, 0, BadUnit}, {"1-", 0, 10, 0, BadUnit},
		{"9223372036854775807", math.MinInt64, math.MaxInt64, math.MaxInt64, 0},
		{"9223372036854775808", math.MinInt64, math.MaxInt64, 0, Range},
		{"-9223372036854775807", math.MinInt64, math.MaxInt64, -math.MaxInt64, 0},
	} {
		got, err := Int(c.in, c.lo, c.hi)
		kind := Kind(0)
		if err != nil {
			kind = err.Kind
		}
		if got != c.want || kind != c.kind {
			t.Errorf("Int(%q) = %v, %v; want %v, kind %d", c.in, got, err, c.want, c.kind)
		}
	}
	if v, err := Percent("50%", 0, 100); v != 50 || err != nil {
		t.Errorf("Percent(50%%) = %v, %v", v, err)
	}
	if _, err := Percent("5%%", 0, 100); err == nil || err.Text != "5%%" {
		t.Errorf("Percent(5%%%%): %v", err)
	}
}

func TestErrorTexts(t *testing.T) {
	_, e := Duration("5x", Millisecond)
	_, f := Duration("25d", Millisecond)
	_, g := Int("\x01", 0, 1)
	_, h := Int("7", 0, math.MaxInt64)
	if h != nil {
		t.Errorf("Int(7): %v", h)
	}
	for _, c := range []struct {
		err  *Error
		want string
	}{
		{e, "unexpected character 'x' in '5x'"},
		{f, "the maximum is 2147483647 ms"},
		{g, "0x01"},
		{&Error{Kind: Empty}, "missing"},
		{&Error{Kind: Trailing, Text: "5s,", At: 2}, "',' after the value"},
	} {
		if !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%q does not contain %q", c.err, c.want)
		}
	}
}
