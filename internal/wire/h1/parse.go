package h1

import (
	"bytes"

	"weir/internal/base/ascii"
	"weir/internal/wire/msg"
)

// fixedCost is what a head costs towards MaxHead besides its texts; each field
// costs fieldCost more.
const (
	fixedCost = 77
	fieldCost = 8
	maxName   = 255 // bytes of a field name, as in the reference
)

func (p *Parser) parse(buf []byte, m *msg.Message, method msg.Method, o *Options) (int, *Error) {
	if p.scan > 0 {
		whole, err := p.advance(buf, o)
		if err != nil || !whole {
			return 0, err
		}
	}
	m.Reset()
	m.IsResponse = p.resp
	n, err := p.head(buf, m, o)
	switch {
	case err != nil:
		return 0, err
	case n == 0:
		return 0, p.suspend(buf, o)
	}
	p.restart()
	if p.resp {
		err = p.finishResponse(m, method, o)
	} else {
		err = p.finishRequest(m, o)
	}
	if err != nil {
		return 0, err
	}
	return n, nil
}

// head reads the whole head in one pass. It returns 0 when it is incomplete.
func (p *Parser) head(buf []byte, m *msg.Message, o *Options) (int, *Error) {
	p.fields, p.host = 0, -1
	i := SkipEmpty(buf)
	eol := bytes.IndexByte(buf[i:], '\n')
	if eol < 0 {
		return 0, nil
	}
	line := buf[i : i+eol]
	if err := p.startLine(line, i, m, o); err != nil {
		return 0, err
	}
	i += eol + 1
	if i > o.maxRaw() {
		return 0, p.failWith(ErrTooLarge, i, 414, "request line too long")
	}
	if m.HTTP09 {
		return i, nil
	}
	cost := fixedCost + len("HTTP/1.1") + len(m.MethodName) + len(m.Target) + len(m.Reason)
	maxFields := o.maxFields() - 1
	var f rawField
	for {
		if i >= len(buf) {
			return 0, nil
		}
		switch buf[i] {
		case '\n':
			return i + 1, p.checkCost(cost, i+1, o)
		case '\r':
			if i+1 >= len(buf) {
				return 0, nil
			}
			if buf[i+1] != '\n' {
				return 0, p.fail(ErrName, i, "carriage return without line feed")
			}
			return i + 2, p.checkCost(cost, i+2, o)
		}
		if err := p.field(&f, buf, i, o); err != nil {
			return 0, err
		}
		if f.next == 0 {
			return 0, nil
		}
		if p.fields++; p.fields > maxFields {
			return 0, p.fail(ErrTooManyFields, i, "too many header lines")
		}
		i = f.next
		if f.drop {
			m.UnsafeParsed = true
			continue
		}
		value := buf[f.value:f.end]
		if f.folded {
			value = unfold(m, value)
		}
		if f.nul {
			m.UnsafeParsed = true
		}
		cost += len(f.name) + len(value) + fieldCost
		if err := p.addField(m, f.name, value, f.at, o); err != nil {
			return 0, err
		}
	}
}

func (p *Parser) checkCost(cost, end int, o *Options) *Error {
	if cost > o.maxHead() || end > o.maxRaw() {
		return p.failWith(ErrTooLarge, end, 431, "header too large")
	}
	return nil
}

// SkipEmpty returns the length of the empty lines at the start of buf. Between
// two messages they may be dropped; the parser must then be Reset.
func SkipEmpty(buf []byte) int {
	i := 0
	for i < len(buf) {
		switch {
		case buf[i] == '\n':
			i++
		case buf[i] == '\r' && i+1 < len(buf) && buf[i+1] == '\n':
			i += 2
		default:
			return i
		}
	}
	return i
}

// rawField is one field as found in the input.
type rawField struct {
	name       []byte
	at         int // offset of the name
	value, end int // bounds of the value, blanks around it left out
	next       int // offset of the next line; 0: the field is not complete
	folded     bool
	drop       bool // name tolerated by Unsafe only: the field is left out
	nul        bool // NUL in the value, tolerated by Unsafe only
}

// tokenByte tells which bytes a field name is made of.
var tokenByte = func() (t [256]bool) {
	for c := range t {
		t[c] = ascii.IsToken(byte(c))
	}
	return t
}()

// field reads the field that starts at buf[i], continuation lines included,
// into f. It is complete only once the first byte of the next line is there.
func (p *Parser) field(f *rawField, buf []byte, i int, o *Options) *Error {
	*f = rawField{at: i}
	j := i
	for j < len(buf) && tokenByte[buf[j]] {
		j++
	}
	if j == len(buf) {
		return nil
	}
	if buf[j] != ':' || j == i {
		var err *Error
		if j, err = p.oddName(buf, i, j, o); err != nil || j == 0 {
			return err
		}
		f.drop = true
	}
	f.name = buf[i:j]
	if len(f.name) > maxName {
		return p.fail(ErrName, i, "header name too long")
	}
	k := j + 1
	for k < len(buf) && ascii.IsBlank(buf[k]) {
		k++
	}
	f.value = k
	return p.value(f, buf, k, o)
}

// value reads the rest of a field from buf[k].
func (p *Parser) value(f *rawField, buf []byte, k int, o *Options) *Error {
	for {
		t := ascii.IndexBelow(buf[k:], 0x20)
		if t < 0 {
			return nil
		}
		k += t
		switch buf[k] {
		case 0:
			if !o.unsafe() {
				return p.fail(ErrValue, k, "NUL in a header value")
			}
			f.nul = true
			k++
			continue
		case '\r':
			if k+1 >= len(buf) {
				return nil
			}
			if buf[k+1] != '\n' {
				return p.fail(ErrValue, k, "carriage return without line feed in a header value")
			}
			f.end = k
			k += 2
		case '\n':
			f.end = k
			k++
		default:
			k++
			continue
		}
		if k >= len(buf) {
			return nil
		}
		if !ascii.IsBlank(buf[k]) {
			break
		}
		f.folded = true
	}
	for f.end > f.value && ascii.IsBlank(buf[f.end-1]) {
		f.end--
	}
	f.value = min(f.value, f.end)
	f.next = k
	return nil
}

// oddName handles a name that is not a token followed by a colon: an error, or
// the offset of the colon under Unsafe (0: not there yet).
func (p *Parser) oddName(buf []byte, i, j int, o *Options) (int, *Error) {
	if !o.unsafe() || buf[j] == ':' {
		text := "forbidden byte in a header name"
		switch c := buf[j]; {
		case c == ':':
			text = "empty header name"
		case c == '\n' || c == '\r':
			text = "header line without colon"
		case ascii.IsBlank(c) && j > i:
			text = "blank before the colon of a header"
		case ascii.IsBlank(c):
			text = "continuation line before the first header"
		}
		return 0, p.fail(ErrName, j, text)
	}
	for ; j < len(buf); j++ {
		switch buf[j] {
		case ':':
			return j, nil
		case '\n':
			return 0, p.fail(ErrName, j, "header line without colon")
		}
	}
	return 0, nil
}

// unfold copies a value that spans lines, with its line breaks as spaces.
func unfold(m *msg.Message, value []byte) []byte {
	v := m.Copy(value)
	for i, c := range v {
		if c == '\r' || c == '\n' {
			v[i] = ' '
		}
	}
	return ascii.Trim(v)
}

// suspend notes how far an incomplete head has been looked at.
func (p *Parser) suspend(buf []byte, o *Options) *Error {
	_, err := p.advance(buf, o)
	return err
}

// advance looks at the bytes behind p.scan and reports whether the head is
// complete now. It checks each line once, so that errors show early and the
// total cost stays linear.
func (p *Parser) advance(buf []byte, o *Options) (whole bool, err *Error) {
	for {
		t := bytes.IndexByte(buf[p.scan:], '\n')
		if t < 0 {
			break
		}
		eol := p.scan + t
		line := buf[p.line:eol]
		if len(line) > 0 && line[len(line)-1] == '\r' {
			line = line[:len(line)-1]
		}
		switch {
		case len(line) == 0 && p.started:
			return true, nil
		case len(line) == 0:
		case !p.started:
			var m msg.Message
			if err := p.startLine(buf[p.line:eol], p.line, &m, o); err != nil {
				return false, err
			}
			if m.HTTP09 {
				return true, nil
			}
			p.started = true
		default:
			if ascii.IsBlank(line[0]) && p.any {
				if err := p.continuation(line, o); err != nil {
					return false, err
				}
				break
			}
			p.any = true
			// The line only, so that it is found incomplete unless wrong.
			var f rawField
			if err := p.field(&f, buf[:eol+1], p.line, o); err != nil {
				return false, err
			}
		}
		p.line, p.scan, p.colon = eol+1, eol+1, false
	}
	if err := p.partialLine(buf, o); err != nil {
		return false, err
	}
	p.scan = len(buf)
	if len(buf) >= o.maxRaw() {
		if !p.started {
			return false, p.failWith(ErrTooLarge, len(buf), 414, "request line too long")
		}
		return false, p.failWith(ErrTooLarge, len(buf), 431, "header too large")
	}
	return false, nil
}

// continuation checks a line that continues a value.
func (p *Parser) continuation(line []byte, o *Options) *Error {
	if i := bytes.IndexByte(line, '\r'); i >= 0 {
		return p.fail(ErrValue, p.line+i, "carriage return without line feed in a header value")
	}
	if i := bytes.IndexByte(line, 0); i >= 0 && !o.unsafe() {
		return p.fail(ErrValue, p.line+i, "NUL in a header value")
	}
	return nil
}

// partialLine looks at the new bytes of the last, incomplete line.
func (p *Parser) partialLine(buf []byte, o *Options) *Error {
	line := buf[p.line:]
	if len(line) == 0 {
		return nil
	}
	if !p.started {
		if line[0] == '\r' && len(line) == 1 {
			return nil
		}
		return p.partialStart(buf, o)
	}
	var f rawField
	fresh := max(p.scan, p.line)
	switch {
	case line[0] == '\r' && len(line) > 1:
		return p.field(&f, buf, p.line, o)
	case ascii.IsBlank(line[0]) && p.any:
		p.colon = true
	}
	for i := fresh; i < len(buf) && !p.colon; i++ {
		switch c := buf[i]; {
		case c == ':':
			p.colon = true
			fresh = i
		case c == '\r' && i == p.line && i+1 == len(buf):
			return nil
		case !ascii.IsToken(c) && !o.unsafe():
			return p.field(&f, buf[:i+1], p.line, o)
		}
	}
	if !p.colon || o.unsafe() {
		return nil
	}
	if t := bytes.IndexByte(buf[fresh:], 0); t >= 0 {
		return p.fail(ErrValue, fresh+t, "NUL in a header value")
	}
	return nil
}

// partialStart refuses what cannot become a start line: the first bytes decide
// (a TLS hello, another protocol).
func (p *Parser) partialStart(buf []byte, o *Options) *Error {
	line := buf[p.line:]
	if line[0] == '\r' {
		return p.fail(ErrStartLine, p.line, "carriage return before the first line")
	}
	if !p.resp {
		n := ascii.TokenLen(line[:min(len(line), 32)])
		if n < len(line) && n < 32 && (n == 0 || !ascii.IsBlank(line[n])) && line[n] != '\r' {
			return p.fail(ErrStartLine, p.line+n, "forbidden byte in the method")
		}
	}
	for i := max(p.scan, p.line); i < len(buf); i++ {
		if c := buf[i]; c < 0x20 && c != '\t' && !(c == '\r' && i+1 == len(buf)) && !p.resp {
			return p.fail(ErrStartLine, i, "control byte in the request line")
		}
	}
	return nil
}
