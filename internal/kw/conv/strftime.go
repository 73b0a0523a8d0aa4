package conv

import (
	"math"
	"strings"

	"weir/internal/base/ascii"
)

// formatter writes a moment by a format of strftime(3), as the C library does it in the C locale.
type formatter struct {
	m    moment
	dst  []byte
	most int // longest result in bytes
	full bool
}

// item is one conversion: %[flags][width][E or O]letter.
type item struct {
	pad          byte // 0, '_', '-' or '0'
	upper, lower bool
	swap         bool // flag '#'
	width        int
	modifier     byte
	text         []byte // all of it
}

// Letters that take a modifier; '%' takes both.
const (
	withE = "cnprstuxyzCPRTXYZ%"
	withO = "bdeghjklmnprstuwyzBCGHIMPRSTUVWZ%"
)

// format appends; it sets full when the result is too long.
func (f *formatter) format(format []byte, upper bool) {
	for i := 0; i < len(format) && !f.full; {
		if format[i] != '%' {
			f.add(&item{}, format[i:i+1])
			i++
			continue
		}
		it := item{upper: upper}
		start := i
		i = it.parse(format, i+1)
		if i == len(format) {
			it.text = format[start:]
			f.add(&it, it.text)
			return
		}
		i++
		it.text = format[start:i]
		f.convert(&it, format[i-1])
	}
}

// parse reads what stands between the percent sign and the letter, and returns where the letter is.
func (it *item) parse(b []byte, i int) int {
	for ; i < len(b); i++ {
		switch c := b[i]; c {
		case '_', '-', '0':
			it.pad = c
			continue
		case '^':
			it.upper = true
			continue
		case '#':
			it.swap = true
			continue
		}
		break
	}
	for ; i < len(b) && ascii.IsDigit(b[i]); i++ {
		if it.width = it.width*10 + int(b[i]-'0'); it.width > math.MaxInt32 {
			it.width = math.MaxInt32
		}
	}
	if i < len(b) && (b[i] == 'E' || b[i] == 'O') {
		it.modifier = b[i]
		i++
	}
	return i
}

// room makes place for n bytes and for what fills them up to the width.
func (f *formatter) room(it *item, n int) bool {
	fill := max(it.width-n, 0)
	if n+fill > f.most-len(f.dst) {
		f.full = true
		return false
	}
	c := byte(' ')
	if it.pad == '0' {
		c = '0'
	}
	f.fill(c, fill)
	return true
}

func (f *formatter) fill(c byte, n int) {
	for range n {
		f.dst = append(f.dst, c)
	}
}

// add appends text at the right of the field.
func (f *formatter) add(it *item, text []byte) {
	if f.room(it, len(text)) {
		from := len(f.dst)
		f.dst = append(f.dst, text...)
		it.fold(f.dst[from:])
	}
}

func (f *formatter) addString(it *item, text string) {
	if f.room(it, len(text)) {
		from := len(f.dst)
		f.dst = append(f.dst, text...)
		it.fold(f.dst[from:])
	}
}

// fold applies the case that flags ask for.
func (it *item) fold(b []byte) {
	switch {
	case it.lower:
		ascii.ToLower(b)
	case it.upper:
		for i, c := range b {
			if c-'a' <= 'z'-'a' {
				b[i] = c - 'a' + 'A'
			}
		}
	}
}

// number appends a number of at least some digits, filled with zeros unless flags say otherwise.
func (f *formatter) number(it *item, n int64, digits int) { f.padded(it, n, max(digits, it.width)) }

func (f *formatter) padded(it *item, n int64, digits int) {
	var buf [24]byte
	text := ascii.AppendInt(buf[:0], n)
	missing := digits - len(text)
	if missing <= 0 || it.pad == '-' {
		f.add(it, text)
		return
	}
	if missing > f.most-len(f.dst) {
		f.full = true
		return
	}
	inner := *it
	if it.pad == '_' {
		f.fill(' ', missing)
		inner.width = max(it.width-missing, 0)
		f.add(&inner, text)
		return
	}
	if text[0] == '-' {
		f.dst = append(f.dst, '-')
		text = text[1:]
	}
	f.fill('0', missing)
	inner.width = 0
	f.add(&inner, text)
}

// spaced is a number that is filled with spaces unless flags say otherwise.
func (f *formatter) spaced(it *item, n int) {
	if it.pad == 0 {
		it.pad = '_'
	}
	f.number(it, int64(n), 2)
}

// nested appends what another format gives.
func (f *formatter) nested(it *item, format []byte) {
	from := len(f.dst)
	f.format(format, it.upper)
	n := len(f.dst) - from
	fill := max(it.width-n, 0)
	if f.full || fill > f.most-len(f.dst) {
		f.full = true
		return
	}
	// The text is there already, at the left: it moves to the right of the field.
	f.fill(' ', fill)
	copy(f.dst[from+fill:], f.dst[from:from+n])
	for i := range fill {
		f.dst[from+i] = ' '
		if it.pad == '0' {
			f.dst[from+i] = '0'
		}
	}
}

// Formats that conversions stand for.
var (
	formatC = []byte("%a %b %e %H:%M:%S %Y")
	formatD = []byte("%m/%d/%y")
	formatF = []byte("%Y-%m-%d")
	formatR = []byte("%H:%M")
	formatI = []byte("%I:%M:%S %p")
	formatT = []byte("%H:%M:%S")
)

func (f *formatter) convert(it *item, c byte) {
	if it.swap && (c == 'b' || c == 'h') { // even in a conversion that does not exist
		it.upper = true
	}
	if it.modifier == 'E' && strings.IndexByte(withE, c) < 0 || it.modifier == 'O' && strings.IndexByte(withO, c) < 0 {
		f.add(it, it.text)
		return
	}
	if !f.name(it, c) && !f.clock(it, c) && !f.calendar(it, c) {
		f.add(it, it.text)
	}
}

// name converts to names and to other formats.
func (f *formatter) name(it *item, c byte) bool {
	m := &f.m
	switch c {
	case 'a', 'A', 'B':
		it.upper = it.upper || it.swap
	case 'p', 'P', 'Z':
		it.lower = it.swap || c == 'P'
	}
	switch c {
	case 'a':
		f.addString(it, shortDays[m.wday])
	case 'A':
		f.addString(it, longDays[m.wday])
	case 'b', 'h':
		f.addString(it, shortMonths[m.mon-1])
	case 'B':
		f.addString(it, longMonths[m.mon-1])
	case 'p', 'P':
		if m.hour < 12 {
			f.addString(it, "AM")
		} else {
			f.addString(it, "PM")
		}
	case 'Z':
		f.addString(it, m.zone)
	case '%':
		f.addString(it, "%")
	case 'n':
		f.addString(it, "\n")
	case 't':
		f.addString(it, "\t")
	case 'c':
		f.nested(it, formatC)
	case 'D', 'x':
		f.nested(it, formatD)
	case 'F':
		f.nested(it, formatF)
	case 'r':
		f.nested(it, formatI)
	case 'R':
		f.nested(it, formatR)
	case 'T', 'X':
		f.nested(it, formatT)
	default:
		return false
	}
	return true
}

// clock converts to times of the day.
func (f *formatter) clock(it *item, c byte) bool {
	m := &f.m
	twelve := (m.hour+11)%12 + 1
	switch c {
	case 'H':
		f.number(it, int64(m.hour), 2)
	case 'I':
		f.number(it, int64(twelve), 2)
	case 'k':
		f.spaced(it, m.hour)
	case 'l':
		f.spaced(it, twelve)
	case 'M':
		f.number(it, int64(m.min), 2)
	case 'S':
		f.number(it, int64(m.s), 2)
	case 's':
		f.padded(it, m.ifLocal, 1)
	case 'z':
		offset := m.offset
		sign := "+"
		if offset < 0 {
			offset, sign = -offset, "-"
		}
		f.addString(it, sign)
		f.number(it, offset/3600*100+offset/60%60, 4)
	default:
		return false
	}
	return true
}

// calendar converts to parts of dates.
func (f *formatter) calendar(it *item, c byte) bool {
	m := &f.m
	switch c {
	case 'd':
		f.number(it, int64(m.day), 2)
	case 'e':
		f.spaced(it, m.day)
	case 'j':
		f.number(it, int64(m.yday+1), 3)
	case 'm':
		f.number(it, int64(m.mon), 2)
	case 'u':
		f.number(it, int64((m.wday+6)%7+1), 1)
	case 'w':
		f.number(it, int64(m.wday), 1)
	case 'U':
		f.number(it, int64((m.yday-m.wday+7)/7), 2)
	case 'W':
		f.number(it, int64((m.yday-(m.wday+6)%7+7)/7), 2)
	case 'V':
		_, week := m.isoWeek()
		f.number(it, int64(week), 2)
	case 'G':
		year, _ := m.isoWeek()
		f.number(it, year, 1)
	case 'g':
		year, _ := m.isoWeek()
		_, n := floorDiv(year, 100)
		f.number(it, n, 2)
	case 'Y':
		f.number(it, m.year, 1)
	case 'y':
		_, n := floorDiv(m.year, 100)
		f.number(it, n, 2)
	case 'C':
		n, _ := floorDiv(m.year, 100)
		f.number(it, n, 1)
	default:
		return false
	}
	return true
}
