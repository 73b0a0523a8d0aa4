// Package cookie reads and edits the cookie that keeps a client on its server (manual 4.2, "cookie"). It knows messages
// and times; which server a value stands for is the caller's business.
package cookie

import (
	"weir/internal/base/ascii"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

// piece is one part of a Cookie value: "name=value" between separators.
type piece struct {
	name, nameEnd int // without the blanks around it
	val, valEnd   int // likewise; only with an equal sign
	eq            bool
	sep           int // the separator after it, or the end of the whole
}

// cut reads the piece of v that begins at from. Semicolons and commas separate, quotes in a value protect them.
func cut(v []byte, from int) (p piece) {
	i := from
	for i < len(v) && v[i] != '=' && v[i] != ';' && v[i] != ',' {
		i++
	}
	p.name, p.nameEnd = blanks(v, from, i)
	if i == len(v) || v[i] != '=' {
		p.sep = i
		return p
	}
	p.eq = true
	from = i + 1
	quoted := false
	for i = from; i < len(v) && (quoted || v[i] != ';' && v[i] != ','); i++ {
		switch v[i] {
		case '"':
			quoted = !quoted
		case '\\':
			if quoted && i+1 < len(v) {
				i++
			}
		}
	}
	p.val, p.valEnd = blanks(v, from, i)
	p.sep = i
	return p
}

// blanks narrows a range to what is left without blanks at both ends.
func blanks(v []byte, from, to int) (int, int) {
	for from < to && ascii.IsBlank(v[from]) {
		from++
	}
	for from < to && ascii.IsBlank(v[to-1]) {
		to--
	}
	return from, to
}

func (p *piece) is(v []byte, name string) bool {
	return p.eq && string(v[p.name:p.nameEnd]) == name
}

// Iter walks the cookies of one name in a request.
type Iter struct {
	Value []byte // of the present one, quotes included

	m     *msg.Message
	name  string
	field int
	v     []byte
	at    int // where the next piece of v begins; beyond its end: nowhere
}

// Of returns an iterator over the cookies of that name, as written, in the order of the request.
func Of(req *msg.Message, name string) Iter { return Iter{m: req, name: name, field: -1, at: 1} }

// Next moves to the next cookie and reports whether there is one.
func (it *Iter) Next() bool {
	for {
		for it.at <= len(it.v) {
			p := cut(it.v, it.at)
			it.at = p.sep + 1
			if p.is(it.v, it.name) {
				it.Value = it.v[p.val:p.valEnd]
				return true
			}
		}
		if it.field = it.m.Find("cookie", it.field+1); it.field < 0 {
			return false
		}
		it.v, it.at = it.m.Fields[it.field].Value, 0
	}
}

// Strip takes all cookies of that name out of a request, with the attributes that follow them; fields that hold nothing
// else go too.
func Strip(req *msg.Message, name string) {
	for i := req.Find("cookie", 0); i >= 0; i = req.Find("cookie", i) {
		v, changed, kept := strip(req, req.Fields[i].Value, name)
		switch {
		case !changed:
			i++
		case !kept || len(v) == 0:
			req.DelAt(i)
		default:
			req.Fields[i].Value = v
			i++
		}
	}
}

// strip returns v without the cookies of that name, in memory of m when it changed; kept reports that cookies are left.
func strip(m *msg.Message, v []byte, name string) (left []byte, changed, kept bool) {
	prev := -1       // the separator before the present piece
	follows := false // the piece before was taken out
	for at := 0; at <= len(v); {
		p := cut(v, at)
		attribute := p.name < p.nameEnd && v[p.name] == '$'
		if !p.is(v, name) && !(attribute && follows) {
			follows = false
			kept = kept || !attribute
			prev, at = p.sep, p.sep+1
			continue
		}
		if !changed {
			v, changed = m.Copy(v), true
		}
		follows = true
		switch {
		case p.sep == len(v):
			return ascii.TrimRight(v[:max(prev, 0)]), true, kept
		case prev < 0:
			v = ascii.TrimLeft(v[p.sep+1:])
			at = 0
		default:
			sep := v[prev]
			prev = len(ascii.TrimRight(v[:prev]))
			v = append(append(v[:prev], sep, ' '), ascii.TrimLeft(v[p.sep+1:])...) // shorter than what it replaces
			at = prev + 1
		}
	}
	return v, changed, kept
}

// prefixEnd is the mark between the server's name and the server's own value in prefix mode.
const prefixEnd = '~'

// Unprefix takes the server's name off all cookies of that name in a request.
func Unprefix(req *msg.Message, name string) {
	for i := req.Find("cookie", 0); i >= 0; i = req.Find("cookie", i+1) {
		v, changed := req.Fields[i].Value, false
		for at := 0; at <= len(v); {
			p := cut(v, at)
			at = p.sep + 1
			if !p.is(v, name) {
				continue
			}
			n := index(v[p.val:p.valEnd], prefixEnd)
			if n < 0 {
				continue
			}
			if !changed {
				v, changed = req.Copy(v), true
			}
			tail := v[p.val+n+1:]
			v[p.nameEnd] = '='
			v = append(v[:p.nameEnd+1], tail...)
			at -= p.val + n + 1 - (p.nameEnd + 1)
		}
		req.Fields[i].Value = v
	}
}

func index(b []byte, c byte) int {
	for i := range b {
		if b[i] == c {
			return i
		}
	}
	return -1
}

// Server returns the part of a cookie's value that stands for the server, and the dates that follow it: when the cookie
// was last set, and when it was first; 0 for none. Empty: the value names no server.
func Server(p *model.Persistence, value []byte) (server []byte, last, first int64) {
	if p.Mode == model.PersistPrefix {
		n := index(value, prefixEnd)
		return value[:max(n, 0)], 0, 0
	}
	n := index(value, dateMark)
	if n < 0 {
		return value, 0, 0
	}
	server, value = value[:n], value[n+1:]
	last = parseDate(value)
	if n = index(value, dateMark); n >= 0 {
		first = parseDate(value[n+1:])
	}
	return server, last, first
}
