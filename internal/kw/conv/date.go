package conv

import (
	"fmt"

	"weir/internal/base/ascii"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	sample.AddConv(
		sample.Conv{Name: "date", In: model.TypeStr, Out: model.TypeSint, Help: "the seconds since the epoch of a date of an HTTP header", Run: plain(parseDate)},
		sample.Conv{Name: "http_date", Args: "[integer,string]", In: model.TypeSint, Out: model.TypeStr, Check: checkHTTPDate, Run: httpDate,
			Help: "the date of HTTP headers for seconds ('s'), 'ms' or 'us' since the epoch, with an offset in the same unit"},
	)
	for _, c := range []struct {
		name, unit string
		perSecond  int64
		local      bool
	}{
		{"ltime", "seconds", 1, true}, {"utime", "seconds", 1, false},
		{"ms_ltime", "milliseconds", 1000, true}, {"ms_utime", "milliseconds", 1000, false},
		{"us_ltime", "microseconds", 1e6, true}, {"us_utime", "microseconds", 1e6, false},
	} {
		zone := "UTC"
		if c.local {
			zone = "local time"
		}
		sample.AddConv(sample.Conv{Name: c.name, Args: "string[,integer]", In: model.TypeSint, Out: model.TypeStr, Check: checkFormat(c.perSecond > 1),
			Help: fmt.Sprintf("the date in %s of %s since the epoch, as a format of strftime(3); with an offset in seconds", zone, c.unit),
			Run: func(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
				return formatDate(tx, a, v, c.perSecond, c.local)
			}})
	}
}

// timeFormat is a prepared format.
type timeFormat struct {
	text     []byte
	fraction int // bytes that the fractions of %N add at most; 0: there are none
}

func checkFormat(fraction bool) func(*sample.ArgCheck, []sample.Arg) error {
	return func(_ *sample.ArgCheck, a []sample.Arg) error {
		f := &timeFormat{text: []byte(a[0].Str)}
		if fraction {
			for b := f.text; ; f.fraction += nanoDigits {
				i, end, _ := nextFraction(b)
				if i < 0 {
					break
				}
				b = b[end:]
			}
		}
		a[0].Data = f
		return nil
	}
}

const nanoDigits = 9

// nextFraction finds %N or %<width>N, wherever it stands: -1 when there is none.
func nextFraction(b []byte) (start, end, width int) {
	for i := 0; i < len(b); i++ {
		if b[i] != '%' {
			continue
		}
		n, w := i+1, 0
		for n < len(b) && ascii.IsDigit(b[n]) {
			w = min(w*10+int(b[n]-'0'), nanoDigits)
			n++
		}
		if n < len(b) && b[n] == 'N' {
			if n == i+1 {
				w = nanoDigits
			}
			return i, n + 1, w
		}
	}
	return -1, 0, 0
}

// formatDate puts digits in the place of %N first, then formats: that is how the reference reads "%%N". Its offset
// counts seconds whatever the unit, although the manual says otherwise.
func formatDate(tx *model.Txn, a []sample.Arg, v *model.Value, perSecond int64, local bool) bool {
	f, _ := a[0].Data.(*timeFormat)
	text, sec := f.text, v.Num
	if perSecond == 1 {
		sec = (sec + intArg(a, 1)) & wide
	} else {
		nano := uint64(sec % perSecond * (1e9 / perSecond))
		sec = sec/perSecond + intArg(a, 1)
		if f.fraction > 0 {
			if text = expand(tx, f, nano); text == nil {
				return setConst(v, nil)
			}
		}
	}
	w := formatter{m: newMoment(sec, local), dst: tx.Scratch.Grab(), most: tx.Scratch.Limit() - 1}
	w.format(text, false)
	if w.full {
		return setConst(v, nil)
	}
	return keep(tx, v, w.dst)
}

// expand replaces %N; nil when the result is too long.
func expand(tx *model.Txn, f *timeFormat, nano uint64) []byte {
	b := tx.Scratch.Alloc(len(f.text) + f.fraction)
	if b == nil {
		return nil
	}
	b = b[:0]
	var buf [24]byte
	digits := ascii.AppendPadded(buf[:0], nano, nanoDigits)
	for rest := f.text; ; {
		start, end, width := nextFraction(rest)
		if start < 0 {
			return append(b, rest...)
		}
		b = append(append(b, rest[:start]...), digits[:width]...)
		rest = rest[end:]
	}
}

// Units of http_date: how many make a second.
var dateUnits = map[string]int64{"s": 1, "ms": 1000, "us": 1e6}

func checkHTTPDate(_ *sample.ArgCheck, a []sample.Arg) error {
	if len(a) > 1 {
		perSecond, ok := dateUnits[a[1].Str]
		if !ok {
			return fmt.Errorf("the unit must be 's', 'ms' or 'us', not '%s'", a[1].Str)
		}
		a[1].Int = perSecond
	}
	return nil
}

func httpDate(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	perSecond := max(intArg(a, 1), 1)
	n := v.Num + intArg(a, 0)
	m := newMoment(n/perSecond&wide, false)
	b := tx.Scratch.Grab()
	b = append(b, shortDays[m.wday]...)
	b = ascii.AppendPadded(append(b, ", "...), uint64(m.day), 2)
	b = append(append(append(b, ' '), shortMonths[m.mon-1]...), ' ')
	b = ascii.AppendPadded(b, uint64(m.year), 4)
	b = ascii.AppendPadded(append(b, ' '), uint64(m.hour), 2)
	b = ascii.AppendPadded(append(b, ':'), uint64(m.min), 2)
	b = ascii.AppendPadded(append(b, ':'), uint64(m.s), 2)
	if perSecond > 1 {
		b = ascii.AppendInt(append(b, '.'), n%perSecond) // no leading zeros, as in the reference
	}
	return keep(tx, v, append(b, " GMT"...))
}

// dateReader takes a date apart.
type dateReader struct {
	b  []byte
	ok bool
}

// text takes one of some words.
func (r *dateReader) text(words ...string) (index int) {
	for i, w := range words {
		if r.ok && len(r.b) >= len(w) && string(r.b[:len(w)]) == w {
			r.b = r.b[len(w):]
			return i
		}
	}
	r.ok = false
	return 0
}

// number takes n digits; the first may be a space when blank is set.
func (r *dateReader) number(n int, blank bool) (v int64) {
	if !r.ok || len(r.b) < n {
		r.ok = false
		return 0
	}
	for i, c := range r.b[:n] {
		if i == 0 && blank && c == ' ' {
			continue
		}
		if !ascii.IsDigit(c) {
			r.ok = false
			return 0
		}
		v = v*10 + int64(c-'0')
	}
	r.b = r.b[n:]
	return v
}

func (r *dateReader) month() int { return r.text(shortMonths[:]...) + 1 }

func (r *dateReader) time() int64 {
	h := r.number(2, false)
	r.text(":")
	m := r.number(2, false)
	r.text(":")
	return h*3600 + m*60 + r.number(2, false)
}

// parseDate reads the three forms of RFC 9110, section 5.6.7. Days and times out of range run over, what follows the
// date is not looked at, and days before the epoch wrap as unsigned numbers of 32 bits, all as in the reference.
func parseDate(_ *model.Txn, v *model.Value) bool {
	var year, clock int64
	var month, day int
	r := dateReader{b: v.B, ok: true}
	if len(v.B) < 4 {
		return false
	}
	switch v.B[3] {
	case ',': // Sun, 06 Nov 1994 08:49:37 GMT
		r.text(shortDays[:]...)
		r.text(", ")
		day = int(r.number(2, false))
		r.text(" ")
		month = r.month()
		r.text(" ")
		year = r.number(4, false)
		r.text(" ")
		clock = r.time()
		r.text(" GMT")
	default: // Sunday, 06-Nov-94 08:49:37 GMT
		r.text(longDays[:]...)
		r.text(", ")
		day = int(r.number(2, false))
		r.text("-")
		month = r.month()
		r.text("-")
		year = r.shortYear()
		r.text(" ")
		clock = r.time()
		r.text(" GMT")
	case ' ': // Sun Nov  6 08:49:37 1994
		r.text(shortDays[:]...)
		r.text(" ")
		month = r.month()
		r.text(" ")
		day = int(r.number(2, true))
		r.text(" ")
		clock = r.time()
		r.text(" ")
		year = r.number(4, false)
	}
	if !r.ok {
		return false
	}
	v.SetInt(int64(uint32(daysOf(year, month, day)))*daySeconds + clock)
	return true
}

// shortYear takes a year of four digits, or of two, which are those of 1961 to 2060.
func (r *dateReader) shortYear() int64 {
	if r.ok && len(r.b) > 3 && ascii.IsDigit(r.b[2]) {
		return r.number(4, false)
	}
	year := r.number(2, false) + 1900
	if year <= 1960 {
		year += 100
	}
	return year
}
