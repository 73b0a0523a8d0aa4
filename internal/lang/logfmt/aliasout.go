package logfmt

import (
	"weir/internal/base/ascii"
	"weir/internal/model"
)

// value writes what an alias gave.
func (w *out) value(p *part, v *value) {
	switch v.form {
	case formNone:
		w.none()
	case formStr:
		str(w, v.s)
	case formBytes:
		str(w, v.b)
	case formCookie:
		w.cookie(v.b)
	case formPieces:
		w.open()
		chunk(w, v.s)
		if v.more {
			chunk(w, "~")
		}
		w.end()
	case formURI:
		w.open()
		w.encoded(v.b, escapeText)
		w.end()
	case formRequest:
		w.requestLine()
	case formInt:
		w.int(v.n, p.typ)
	case formPlus:
		if v.more && w.enc == plain {
			w.dst = append(w.dst, '+')
		}
		w.int(v.n, p.typ)
	case formMS, formHex, formPort:
		w.number(v, p.typ)
	case formIP:
		w.address(source{f: w.f, tx: w.tx, r: w.r}.at(v.n).Addr())
	case formDate:
		w.date(v.n, false, true)
	case formDateUTC:
		w.date(v.n, true, false)
	case formDateLocal:
		w.date(v.n, false, false)
	case formTerm:
		w.unquoted(w.r.Termination[:v.n])
	case formBraces, formList:
		w.captures(v)
	}
}

// captures writes captured fields.
func (w *out) captures(v *value) {
	list, declared := w.r.CapturedReqHeaders, w.r.CaptureReq
	if v.n == ofResponse {
		list, declared = w.r.CapturedResHeaders, w.r.CaptureRes
	}
	switch {
	case !declared || len(list) == 0:
		w.null()
	case v.form == formBraces:
		w.braces(list)
	default:
		w.list(list)
	}
}

// number writes numbers that the flag X changes.
func (w *out) number(v *value, typ model.Type) {
	switch {
	case w.flags&flagX != 0 && v.form == formMS:
		w.hex(uint64(v.n), 2)
	case w.flags&flagX != 0:
		w.hex(uint64(v.n), 4)
	case w.enc == plain && v.form == formMS:
		w.dst = ascii.AppendPadded(w.dst, uint64(v.n), 3)
	default:
		w.int(v.n, typ)
	}
}

// cookie writes a captured cookie. In a line its bytes are encoded like those of the request line, unless the item's own
// encoding keeps them apart from what surrounds them.
func (w *out) cookie(b []byte) {
	if w.f.use == ForLog && w.enc == plain && w.flags&flagE == 0 {
		w.open()
		w.encoded(b, escapeText)
		w.end()
		return
	}
	str(w, b)
}

// requestLine writes the line in one run: the pieces of its encoded form end where an encoded byte stands, not between the
// words. The line is put together behind the text first.
func (w *out) requestLine() {
	s := source{f: w.f, r: w.r}
	n := len(w.dst)
	w.dst = append(w.dst, w.r.Method...)
	w.dst = append(w.dst, ' ')
	w.dst = append(w.dst, s.uri()...)
	w.dst = append(w.dst, ' ')
	w.dst = append(w.dst, s.cutVersion()...)
	w.dst = w.dst[:min(len(w.dst), n+w.f.room())]
	m := len(w.dst)
	line := w.dst[n:m:m]
	w.open()
	w.encoded(line, escapeText)
	w.end()
	w.dst = append(w.dst[:n], w.dst[m:]...)
}
