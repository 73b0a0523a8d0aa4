package logfmt

import (
	"math/bits"
	"net/netip"
	"time"

	"weir/internal/base/ascii"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

// out writes one text.
type out struct {
	dst    []byte
	f      *Format
	tx     *model.Txn
	r      *model.LogRecord
	origin string
	enc    encoding // of the present item
	flags  uint8
}

// all writes the parts.
func (w *out) all() {
	f := w.f
	space, some := f.merge, false
	switch f.enc {
	case asJSON:
		w.dst = append(w.dst, '{')
	case asCBOR:
		w.byte(cborMap)
	}
	for i := range f.parts {
		p := &f.parts[i]
		w.enc, w.flags = p.enc, p.flags
		if f.enc != plain {
			if p.name == "" || p.kind < partExpr {
				continue
			}
			w.key(p.name, some)
			some = true
		}
		switch p.kind {
		case partText:
			w.dst = append(w.dst, p.text...)
			space = false
		case partSpace:
			if !space {
				w.dst = append(w.dst, ' ')
				space = true
			}
		case partExpr:
			w.expr(p)
			space = false
		case partAlias:
			n := len(w.dst)
			v := p.alias.value(w.f, w.tx, w.r, w.origin)
			w.value(p, &v)
			space = space && len(w.dst) == n
		}
	}
	switch f.enc {
	case asJSON:
		w.dst = append(w.dst, '}')
	case asCBOR:
		w.byte(cborBreak)
	}
}

func (w *out) key(name string, more bool) {
	if w.f.enc == asCBOR {
		w.head(cborText, uint64(len(name)))
		w.raw([]byte(name))
		return
	}
	if more {
		w.dst = append(w.dst, ", "...)
	}
	w.dst = append(w.dst, '"')
	w.dst = append(w.dst, name...)
	w.dst = append(w.dst, `": `...)
}

// Major types and values of CBOR (RFC 8949).
const (
	cborUint      = 0 << 5
	cborNegative  = 1 << 5
	cborBytes     = 2 << 5
	cborText      = 3 << 5
	cborBytesOpen = 0x5F // of unknown length
	cborTextOpen  = 0x7F
	cborArray     = 0x9F
	cborMap       = 0xBF
	cborFalse     = 0xF4
	cborTrue      = 0xF5
	cborNull      = 0xF6
	cborBreak     = 0xFF
)

// raw appends bytes of CBOR: two digits each unless the format keeps binary data.
func (w *out) raw(b []byte) {
	if w.f.bin {
		w.dst = append(w.dst, b...)
		return
	}
	for _, c := range b {
		w.dst = append(w.dst, upperDigits[c>>4], upperDigits[c&15])
	}
}

func (w *out) byte(c byte) {
	b := [1]byte{c}
	w.raw(b[:])
}

// head appends the beginning of a CBOR item: its type, and its value or length.
func (w *out) head(major byte, n uint64) {
	if n < 24 {
		w.byte(major | byte(n))
		return
	}
	size, extra := 0, byte(0) // bytes that follow
	switch l := bits.Len64(n); {
	case l > 32:
		size, extra = 8, 27
	case l > 16:
		size, extra = 4, 26
	case l > 8:
		size, extra = 2, 25
	default:
		size, extra = 1, 24
	}
	w.byte(major | extra)
	for i := size - 1; i >= 0; i-- {
		w.byte(byte(n >> (8 * i)))
	}
}

// none writes what stands for an absent value.
func (w *out) none() {
	switch {
	case w.enc == asCBOR:
		w.byte(cborNull)
	case w.enc == asJSON, w.flags&flagQ != 0:
		w.dst = append(w.dst, `""`...)
	case w.flags&flagM != 0:
		w.dst = append(w.dst, '-')
	}
}

// null is none for lists.
func (w *out) null() {
	switch w.enc {
	case asCBOR:
		w.byte(cborNull)
	case asJSON:
		w.dst = append(w.dst, "null"...)
	}
}

// open, chunk and end write a string in pieces.
func (w *out) open() {
	switch {
	case w.enc == asCBOR:
		w.byte(cborTextOpen)
	case w.enc == asJSON, w.flags&flagQ != 0:
		w.dst = append(w.dst, '"')
	}
}

func (w *out) end() {
	switch {
	case w.enc == asCBOR:
		w.byte(cborBreak)
	case w.enc == asJSON, w.flags&flagQ != 0:
		w.dst = append(w.dst, '"')
	}
}

// mark says how control bytes of values are encoded: see appendEscaped.
func (w *out) mark() byte {
	switch {
	case w.f.use == ForHTTP, w.f.use == ForID:
		return '%'
	case w.f.use != ForLog || w.f.bin || w.enc == asCBOR:
		return 0
	case w.enc == asJSON:
		return 'u'
	}
	return '#'
}

func chunk[T string | []byte](w *out, s T) {
	switch {
	case len(s) == 0:
	case w.enc == asCBOR:
		w.head(cborText, uint64(len(s)))
		if w.f.bin {
			w.dst = append(w.dst, s...)
			return
		}
		for i := 0; i < len(s); i++ {
			w.dst = append(w.dst, upperDigits[s[i]>>4], upperDigits[s[i]&15])
		}
	case w.enc == asJSON:
		w.dst = appendEscaped(w.dst, s, escapeJSON, w.mark())
	case w.flags&flagE != 0:
		w.dst = appendEscaped(w.dst, s, escapeSD, w.mark())
	case w.mark() != 0:
		w.dst = appendEscaped(w.dst, s, 0, w.mark())
	default:
		w.dst = append(w.dst, s...)
	}
}

// encoded writes a piece with the bytes of a place as '#' and two digits; each of them and what lies between is a piece of its
// own in CBOR.
func (w *out) encoded(s []byte, place byte) {
	if w.enc == plain && w.flags&flagE == 0 {
		w.dst = appendEncoded(w.dst, s, place)
		return
	}
	clean := 0
	for i, c := range s {
		if escapes[c]&place == 0 {
			continue
		}
		if clean == i && w.enc == asCBOR { // as the reference
			w.head(cborText, 0)
		}
		chunk(w, s[clean:i])
		hex := [3]byte{'#', upperDigits[c>>4], upperDigits[c&15]}
		chunk(w, hex[:])
		clean = i + 1
	}
	chunk(w, s[clean:])
}

// str writes a whole string.
func str[T string | []byte](w *out, s T) {
	if w.enc == asCBOR {
		if len(s) == 0 {
			w.head(cborText, 0)
		}
		chunk(w, s)
		return
	}
	w.open()
	chunk(w, s)
	w.end()
}

// int writes a number under the type that the format asks for.
func (w *out) int(n int64, typ model.Type) {
	switch w.enc {
	case asCBOR:
		switch {
		case typ == model.TypeBool:
			w.bool(n != 0)
		case n < 0:
			w.head(cborNegative, uint64(-1-n))
		default:
			w.head(cborUint, uint64(n))
		}
		return
	case asJSON:
		switch typ {
		case model.TypeBool:
			w.bool(n != 0)
			return
		case model.TypeStr:
			w.dst = append(w.dst, '"')
			w.dst = append(ascii.AppendInt(w.dst, n), '"')
			return
		}
	}
	w.dst = ascii.AppendInt(w.dst, n)
}

func (w *out) bool(b bool) {
	switch {
	case w.enc == asCBOR && b:
		w.byte(cborTrue)
	case w.enc == asCBOR:
		w.byte(cborFalse)
	case b:
		w.dst = append(w.dst, "true"...)
	default:
		w.dst = append(w.dst, "false"...)
	}
}

// hex writes n in digits, at least width of them.
func (w *out) hex(n uint64, width int) {
	var b [16]byte
	i := len(b)
	for ; n != 0 || len(b)-i < width; n >>= 4 {
		i--
		b[i] = upperDigits[n&15]
	}
	w.unquoted(b[i:])
}

// unquoted writes a string that the flag Q does not quote.
func (w *out) unquoted(b []byte) {
	if w.enc == plain {
		w.dst = append(w.dst, b...)
		return
	}
	str(w, b)
}

// address writes an address; its text is at most 45 bytes long.
func (w *out) address(a netip.Addr) {
	var b [48]byte
	if w.flags&flagX == 0 {
		str(w, appendIP(b[:0], a))
		return
	}
	hex := b[:0]
	if a.Is4() {
		for _, c := range a.As4() {
			hex = append(hex, upperDigits[c>>4], upperDigits[c&15])
		}
	} else {
		for _, c := range a.As16() {
			hex = append(hex, upperDigits[c>>4], upperDigits[c&15])
		}
	}
	w.unquoted(hex)
}

// date writes a date with milliseconds, or with the offset of its zone.
func (w *out) date(which int64, utc, ms bool) {
	var d date
	var b [32]byte
	t, zone := w.r.Accept, time.Local
	if which == atRequest {
		t = requestDate(w.r)
	}
	if utc {
		zone = time.UTC
	}
	d.set(t, zone)
	text := append(b[:0], d.text[:]...)
	if ms {
		text = append(text, '.')
		w.unquoted(ascii.AppendPadded(text, uint64(t.Nanosecond()/1e6), 3))
		return
	}
	_, offset := t.In(zone).Zone()
	sign := byte('+')
	if offset < 0 {
		sign, offset = '-', -offset
	}
	text = append(text, ' ', sign)
	text = ascii.AppendPadded(text, uint64(offset/3600), 2)
	w.unquoted(ascii.AppendPadded(text, uint64(offset/60%60), 2))
}

// list writes captured fields one by one.
func (w *out) list(values [][]byte) {
	sep := " "
	switch w.enc {
	case asCBOR:
		w.byte(cborArray)
		sep = ""
	case asJSON:
		w.dst = append(w.dst, '[')
		sep = ", "
	}
	for i, v := range values {
		if i > 0 {
			w.dst = append(w.dst, sep...)
		}
		w.open()
		switch {
		case len(v) > 0:
			w.encoded(v, escapeHeader)
		case w.flags&flagQ == 0:
			chunk(w, "-")
		}
		w.end()
	}
	switch w.enc {
	case asCBOR:
		w.byte(cborBreak)
	case asJSON:
		w.dst = append(w.dst, ']')
	}
}

// braces writes captured fields in the default style.
func (w *out) braces(values [][]byte) {
	w.open()
	chunk(w, "{")
	for i, v := range values {
		if i > 0 {
			chunk(w, "|")
		}
		w.encoded(v, escapeHeader)
	}
	chunk(w, "}")
	w.end()
}

// expr writes the value of an expression.
func (w *out) expr(p *part) {
	if w.tx == nil {
		w.noValue(p)
		return
	}
	var v model.Value
	m := w.tx.Scratch.Mark()
	if !p.expr.Eval(w.tx, transient(&v)) || !w.typed(p, &v) {
		w.noValue(p)
	}
	w.tx.Scratch.Release(m)
}

func (w *out) noValue(p *part) {
	if w.enc != plain && p.typ == model.TypeBin {
		return
	}
	w.none()
}

// typed writes a value; false when it has no form under the type asked for, or is empty.
func (w *out) typed(p *part, v *model.Value) bool {
	typ := model.TypeAny
	if w.enc != plain {
		typ = p.typ
	}
	if typ != model.TypeAny && !sample.Cast(w.tx, v, typ) {
		return false
	}
	switch {
	case typ == model.TypeBin: // "raw"
		w.dst = append(w.dst, v.B...)
	case w.enc != plain && v.Type == model.TypeBool:
		w.bool(v.Num != 0)
	case w.enc != plain && v.Type == model.TypeSint:
		w.int(v.Num, model.TypeAny)
	case v.Type == model.TypeBin && (w.enc == asCBOR || w.f.bin):
		return w.binary(v.B)
	default:
		return w.text(v)
	}
	return true
}

func (w *out) binary(b []byte) bool {
	switch {
	case len(b) == 0:
		return false
	case w.enc == asCBOR:
		w.byte(cborBytesOpen)
		w.head(cborBytes, uint64(len(b)))
		w.raw(b)
		w.byte(cborBreak)
	case w.f.use == ForHTTP, w.f.use == ForID:
		w.dst = appendEscaped(w.dst, b, 0, '%')
	default:
		w.dst = append(w.dst, b...)
	}
	return true
}

func (w *out) text(v *model.Value) bool {
	if (v.Type == model.TypeBool || v.Type == model.TypeSint) && w.flags&flagQ == 0 {
		w.dst = ascii.AppendInt(w.dst, v.Num) // encodings do not come here
		return true
	}
	if !sample.Cast(w.tx, v, model.TypeStr) || len(v.B) == 0 {
		return false
	}
	str(w, v.B)
	return true
}
