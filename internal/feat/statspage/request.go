package statspage

import (
	"bytes"
	"strings"

	"weir/internal/engine/statcol"
	"weir/internal/lang/rule"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

// options is what a URI asks for behind the prefix.
type options struct {
	html      bool
	schema    bool
	form      statcol.Form // of an export
	noRefresh bool
	up        bool   // servers that are down are left out
	noMaint   bool   // servers in maintenance are left out
	outcome   string // of the action that led here: st=
	scope     string // only proxies whose name contains it
}

// maxScope is how much of a scope counts, in bytes.
const maxScope = 20

// parseOptions reads a URI. Words begin at a semicolon and may stand in any order.
func parseOptions(uri []byte) (o options) {
	o.html = true
	has := func(word string) bool { return bytes.Contains(uri, []byte(word)) }
	switch {
	case has(";json-schema"):
		o.html, o.schema = false, true
	case has(";json"):
		o.html, o.form = false, statcol.JSON
	case has(";typed"):
		o.html, o.form = false, statcol.Typed
	case has(";csv"):
		o.html = false
	}
	o.noRefresh, o.up, o.noMaint = has(";norefresh"), has(";up"), has(";no-maint")
	if _, v, ok := bytes.Cut(uri, []byte(";st=")); ok {
		o.outcome = string(v[:min(len(v), len(outcomes[0].code))])
	}
	o.scope = scopeOf(uri)
	return o
}

// scopeOf is the value of scope=, "" when there is none or it has bytes that no name has.
func scopeOf(uri []byte) string {
	_, v, ok := bytes.Cut(uri, []byte("scope="))
	if !ok {
		return ""
	}
	if i := bytes.IndexAny(v, "&;? "); i >= 0 {
		v = v[:i]
	}
	v = v[:min(len(v), maxScope)]
	for _, c := range v {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.:", c) >= 0) {
			return ""
		}
	}
	return string(v)
}

// Open answers a request for the page; see rule.Applet.
func (x *page) Open(tx *model.Txn, c rule.Control, head *msg.Message) (rule.Source, bool) {
	host := statcol.Of(c.Config())
	if host == nil {
		c.Respond(c.Page(503), rule.EndLocal)
		return nil, false
	}
	if tx.Req.Method == msg.POST {
		return nil, x.post(tx, c, host, head)
	}
	o := parseOptions(uriOf(tx.Req))
	head.AddString("cache-control", "no-cache")
	switch {
	case o.html:
		head.AddString("content-type", "text/html; charset=utf-8")
		head.AddString("content-security-policy", policy)
		head.AddString("x-content-type-options", "nosniff")
		head.AddString("referrer-policy", "same-origin")
	case o.schema || o.form == statcol.JSON:
		head.AddString("content-type", "application/json")
	default:
		head.AddString("content-type", "text/plain")
	}
	if x.Refresh > 0 && !o.noRefresh {
		head.AddString("refresh", seconds(x.Refresh))
	}
	if o.schema {
		return &fixed{text: statcol.Schema() + "\n"}, true
	}
	s := &rows{page: x, options: o, host: host, cursor: statcol.NewCursor(host)}
	if o.html {
		return &report{rows: s, admin: x.isAdmin(tx)}, true
	}
	return s, true
}

// isAdmin reports whether a request may change servers.
func (x *page) isAdmin(tx *model.Txn) bool {
	tx.Dir, tx.Final = model.DirReq, true
	for _, cond := range x.Admin {
		if cond.Match(tx) == model.Pass && !tx.Steps.Spent() {
			return true
		}
	}
	return false
}

// fixed is a body that is there whole.
type fixed struct{ text string }

// Append gives the text.
func (f *fixed) Append(dst []byte) ([]byte, bool) { return append(dst, f.text...), false }

// rows are the rows that a request asks for, as an export.
type rows struct {
	*page
	options
	host   statcol.Host
	cursor *statcol.Cursor
	begun  bool
	some   bool // a row was written
}

// next makes the next row that is to be shown; again is true when others have to be looked at first.
func (s *rows) next() (r *statcol.Row, again bool) {
	for range 64 { // passing over a proxy costs next to nothing, a row some microseconds
		p := s.cursor.Proxy()
		if p == nil {
			return nil, false
		}
		if !s.shows(p) {
			s.cursor.SkipProxy()
			continue
		}
		if r = s.cursor.Next(); r == nil || !s.hides(r) {
			return r, false
		}
		return nil, true
	}
	return nil, true
}

// shows reports whether a proxy is in the scope of the configuration and of the request.
func (s *rows) shows(p *model.Proxy) bool {
	return s.inScope(p.Name) && (s.scope == "" || containsFold(p.Name, s.scope))
}

// inScope applies "stats scope".
func (x *page) inScope(name string) bool {
	if len(x.Scope) == 0 {
		return true
	}
	for _, s := range x.Scope {
		if s == name || s == "." && name == x.px.Name {
			return true
		}
	}
	return false
}

func containsFold(s, part string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(part))
}

// hides reports whether a row is left out: of servers those that are not wanted.
func (s *rows) hides(r *statcol.Row) bool {
	return r.Kind == statcol.Server && (s.up && !r.Up || s.noMaint && r.Maint)
}

// Append writes the next row; see rule.Source.
func (s *rows) Append(dst []byte) ([]byte, bool) {
	if !s.begun {
		s.begun = true
		return s.form.Begin(dst), true
	}
	r, again := s.next()
	if r != nil {
		dst = s.form.Row(dst, r, !s.some, false)
		s.some = true
		return dst, true
	}
	if again {
		return dst, true
	}
	return s.form.End(dst), false
}
