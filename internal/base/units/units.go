// Package units reads the numbers of a configuration: integers, times, sizes
// and percentages (Configuration Manual sections 2.5 and 2.6).
package units

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Kind says what is wrong with a number.
type Kind uint8

const (
	// Empty: there are no digits because there is nothing at all.
	Empty Kind = iota + 1
	// NotNumber: the text does not start with a digit.
	NotNumber
	// BadUnit: the digits are followed by something that is no unit.
	BadUnit
	// Trailing: something follows a complete time; the value is usable and
	// the reference only warns.
	Trailing
	// Overflow: the value is beyond the largest one.
	Overflow
	// Underflow: the value is not zero but less than the resolution.
	Underflow
	// Range: the value is outside of what the caller allows.
	Range
)

// Error tells why a text is no acceptable number.
type Error struct {
	Kind  Kind
	Text  string // the whole text
	At    int    // byte of Text where reading stopped
	Limit string // for Overflow, Underflow and Range: what is allowed
	want  string // kinds of units, for BadUnit
}

// Error formats a sentence without the name of the keyword.
func (e *Error) Error() string {
	switch e.Kind {
	case Empty:
		return "a number is missing"
	case NotNumber:
		return fmt.Sprintf("'%s' is not a number: unexpected character %s", e.Text, e.char())
	case BadUnit:
		return fmt.Sprintf("unexpected character %s in '%s'%s", e.char(), e.Text, e.want)
	case Trailing:
		return fmt.Sprintf("unexpected character %s after the value in '%s'%s", e.char(), e.Text, e.want)
	case Overflow:
		return fmt.Sprintf("'%s' is too large; the maximum is %s", e.Text, e.Limit)
	case Underflow:
		return fmt.Sprintf("'%s' is too small; the minimum other than 0 is %s", e.Text, e.Limit)
	}
	return fmt.Sprintf("'%s' is out of range; it must be %s", e.Text, e.Limit)
}

func (e *Error) char() string {
	if e.At >= len(e.Text) {
		return "at the end"
	}
	if c := e.Text[e.At]; c < 0x20 || c >= 0x7f {
		return fmt.Sprintf("0x%02x", c)
	}
	return "'" + e.Text[e.At:e.At+1] + "'"
}

// Unit is a unit of time.
type Unit int64

// The units of times, in nanoseconds.
const (
	Microsecond = Unit(time.Microsecond)
	Millisecond = Unit(time.Millisecond)
	Second      = Unit(time.Second)
	Minute      = Unit(time.Minute)
	Hour        = Unit(time.Hour)
	Day         = 24 * Unit(time.Hour)
)

// MaxTimer is the longest time that keywords accept: 2147483647 ms, about
// 24.8 days.
const MaxTimer = math.MaxInt32 * time.Millisecond

const timeUnits = "; the units are us, ms, s, m, h, d"

// Duration reads a time. Without unit the number counts def units, which is
// also the resolution: finer times are rounded up to it, and a time other than
// zero that is below one such unit is an Underflow. The result is at most
// [MaxTimer] (for def up to Millisecond) or MaxInt32 units of def. With kind
// Trailing the value is valid.
func Duration(s string, def Unit) (time.Duration, *Error) {
	n, i, err := digits(s)
	if err != nil {
		return 0, err
	}
	unit, used := def, 0
	switch rest := s[i:]; {
	case rest == "":
	case strings.HasPrefix(rest, "us"):
		unit, used = Microsecond, 2
	case strings.HasPrefix(rest, "ms"):
		unit, used = Millisecond, 2
	case rest[0] == 's':
		unit, used = Second, 1
	case rest[0] == 'm':
		unit, used = Minute, 1
	case rest[0] == 'h':
		unit, used = Hour, 1
	case rest[0] == 'd':
		unit, used = Day, 1
	default:
		return 0, &Error{Kind: BadUnit, Text: s, At: i, want: timeUnits}
	}
	limit, name := uint64(MaxTimer), "2147483647 ms (about 24.8 days)"
	if def > Millisecond {
		limit, name = math.MaxInt32*uint64(def), fmt.Sprintf("2147483647 (%s)", unitName(def))
	}
	if n > limit/uint64(unit) {
		return 0, &Error{Kind: Overflow, Text: s, Limit: name}
	}
	ns := n * uint64(unit)
	res := uint64(def)
	if ns > 0 && ns < res {
		return 0, &Error{Kind: Underflow, Text: s, Limit: "1 " + unitName(def)}
	}
	d := time.Duration((ns + res - 1) / res * res)
	if i += used; i < len(s) {
		return d, &Error{Kind: Trailing, Text: s, At: i, want: timeUnits}
	}
	return d, nil
}

func unitName(u Unit) string {
	switch u {
	case Microsecond:
		return "us"
	case Millisecond:
		return "ms"
	case Second:
		return "s"
	case Minute:
		return "m"
	case Hour:
		return "h"
	}
	return "d"
}

// Size reads a number of bytes with an optional unit k, m or g, of powers of
// 1024, in either case.
func Size(s string) (int64, *Error) {
	n, i, err := digits(s)
	if err != nil {
		return 0, err
	}
	shift := 0
	if i < len(s) {
		switch s[i] | 0x20 {
		case 'k':
			shift = 10
		case 'm':
			shift = 20
		case 'g':
			shift = 30
		}
		if shift == 0 || i+1 < len(s) {
			if shift != 0 {
				i++
			}
			return 0, &Error{Kind: BadUnit, Text: s, At: i, want: "; the units are k, m, g"}
		}
	}
	if n > math.MaxInt64>>shift {
		return 0, &Error{Kind: Overflow, Text: s, Limit: "9223372036854775807 bytes"}
	}
	return int64(n << shift), nil
}

// Int reads a decimal integer between lo and hi, with an optional sign.
func Int(s string, lo, hi int64) (int64, *Error) {
	body := s
	neg := false
	if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
		neg, body = s[0] == '-', s[1:]
	}
	n, i, err := digits(body)
	if err != nil {
		err.Text = s
		err.At += len(s) - len(body)
		if err.Kind == Empty && s != "" {
			err.Kind = NotNumber
		}
		return 0, err
	}
	if i < len(body) {
		return 0, &Error{Kind: BadUnit, Text: s, At: i + len(s) - len(body)}
	}
	v := int64(min(n, math.MaxInt64))
	if neg {
		v = -v
	}
	if v < lo || v > hi || n > math.MaxInt64 {
		return 0, &Error{Kind: Range, Text: s, Limit: bounds(lo, hi)}
	}
	return v, nil
}

func bounds(lo, hi int64) string {
	switch {
	case hi == math.MaxInt64:
		return fmt.Sprintf("at least %d", lo)
	case lo == math.MinInt64:
		return fmt.Sprintf("at most %d", hi)
	}
	return fmt.Sprintf("between %d and %d", lo, hi)
}

// Percent reads an integer from lo to hi that may be followed by '%'.
func Percent(s string, lo, hi int64) (int64, *Error) {
	v, err := Int(strings.TrimSuffix(s, "%"), lo, hi)
	if err != nil {
		err.Text = s
	}
	return v, err
}

// digits reads the digits that s starts with; the value saturates.
func digits(s string) (n uint64, i int, err *Error) {
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		d := uint64(s[i] - '0')
		if n > (math.MaxUint64-d)/10 {
			n = math.MaxUint64
			continue
		}
		n = n*10 + d
	}
	switch {
	case s == "":
		return 0, 0, &Error{Kind: Empty, Text: s}
	case i == 0:
		return 0, 0, &Error{Kind: NotNumber, Text: s}
	}
	return n, i, nil
}
