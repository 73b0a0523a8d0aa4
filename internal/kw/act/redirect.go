package act

import (
	"bytes"
	"slices"

	"weir/internal/base/ascii"
	"weir/internal/lang/acl"
	"weir/internal/lang/config"
	"weir/internal/lang/rule"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

func init() {
	rule.Add(rule.Action{
		Name: "redirect", In: 1<<rule.HTTPRequest | 1<<rule.HTTPResponse, Final: true,
		Args: "{ location <loc> | prefix <pfx> | scheme <sch> } [ code <code> ] <option>", Help: "sends the client elsewhere",
		Parse: func(p *rule.Parser) rule.Runner {
			if r := parseRedirect(p, true); r != nil {
				return r
			}
			return nil
		},
	})
	config.Proxy.Add(config.Keyword{
		Name: "redirect", In: config.InFrontend | config.InBackend,
		Args: "{ location <loc> | prefix <pfx> | scheme <sch> } [ code <code> ] <option> [{ if | unless } <condition>]",
		Help: "sends clients elsewhere",
		Parse: config.On(func(l *config.Line, px *model.Proxy) {
			p := &rule.Parser{L: l, Kind: rule.HTTPRequest, Proxy: px, Name: "redirect", Directive: true}
			r := parseRedirect(p, false)
			if r == nil {
				return
			}
			u := rule.Rule{Pos: l.Pos(), Action: "redirect", Run: r}
			if l.Has(p.I) {
				if u.Cond = acl.Parse(l, p.I, p.Scope(p.I)); u.Cond == nil {
					return
				}
			}
			sets := rule.Of(px)
			sets.Redirect = append(sets.Redirect, u)
		}),
	})
}

// redirect is a compiled redirection.
type redirect struct {
	kind      string // location, prefix, scheme
	to        []byte // a constant
	format    model.Format
	code      int
	dropQuery bool
	keepQuery bool
	slash     bool
	skipEmpty bool
	cookie    []byte // a whole Set-Cookie value
	cookieFmt model.Format
	page      model.ErrorPage
}

// parseRedirect reads the arguments; with formats the target may hold expressions.
func parseRedirect(p *rule.Parser, formats bool) *redirect {
	r := &redirect{code: 302}
	for p.More() {
		w, i, _ := p.Word("")
		switch w {
		case "location", "prefix", "scheme":
			to, at, ok := p.Word("a text: " + w + " <text>")
			if !ok {
				return nil
			}
			r.kind, r.to, r.format = w, []byte(to), nil
			if formats && bytes.IndexByte(r.to, '%') >= 0 {
				if r.format = p.FormatText(at, to); r.format == nil {
					return nil
				}
			}
		case "code":
			n, ok := p.Int("a status: code <code>", 300, 399)
			if !ok {
				return nil
			}
			if !slices.Contains([]int64{301, 302, 303, 307, 308}, n) {
				p.Errorf(p.I-1, "%d is no code of a redirection; 301, 302, 303, 307 and 308 are.", n)
				return nil
			}
			r.code = int(n)
		case "drop-query":
			r.dropQuery = true
		case "keep-query":
			r.keepQuery = true
		case "append-slash":
			r.slash = true
		case "ignore-empty":
			r.skipEmpty = true
		case "set-cookie", "clear-cookie", "set-cookie-fmt":
			if !r.parseCookie(p, w) {
				return nil
			}
		default:
			p.L.Unknown(i, "argument of redirect", []string{"append-slash", "clear-cookie", "code", "drop-query", "ignore-empty", "keep-query", "location",
				"prefix", "scheme", "set-cookie", "set-cookie-fmt"})
			return nil
		}
	}
	if r.kind == "" {
		p.Errorf(p.I, "'redirect' needs to know where to: location, prefix or scheme.")
		return nil
	}
	if p.Kind == rule.HTTPResponse && r.kind != "location" {
		p.Errorf(p.I-1, "a redirection of a response needs a 'location'; the request that '%s' would be put before is over.", r.kind)
		return nil
	}
	r.page = model.ErrorPage{Pos: p.L.Pos(), Status: r.code, Code: r.code, Fill: r, FillAfter: true}
	return r
}

func (r *redirect) parseCookie(p *rule.Parser, w string) bool {
	c, i, ok := p.Word("a cookie: " + w + " <name>[=<value>]")
	if !ok {
		return false
	}
	switch w {
	case "set-cookie-fmt":
		r.cookieFmt = p.FormatText(i, c)
		return r.cookieFmt != nil
	case "clear-cookie":
		c += "; path=/; Max-Age=0;"
	default:
		c += "; path=/;"
	}
	if ascii.IndexCtl([]byte(c)) >= 0 {
		p.Errorf(i, "the cookie contains a control character.")
		return false
	}
	r.cookie = []byte(c)
	return true
}

// MayPass: without a target the rules after this one decide (ignore-empty).
func (r *redirect) MayPass() bool { return r.skipEmpty && r.format != nil }

// Run answers with the redirection.
func (r *redirect) Run(tx *model.Txn, c rule.Control) rule.Outcome {
	if r.skipEmpty && r.format != nil {
		if v, ok := text(r.format, tx); ok && len(v) == 0 {
			return rule.Next
		}
	}
	c.Respond(&r.page, rule.EndLocal)
	return rule.Done
}

// Fill adds the Location and Set-Cookie fields.
func (r *redirect) Fill(tx *model.Txn, m *msg.Message) ([]byte, bool) {
	loc, ok := r.location(tx)
	if !ok || badValue(loc) {
		return nil, false
	}
	m.Add("location", loc)
	if r.code == 302 || r.code == 303 || r.code == 307 {
		m.AddString("cache-control", "no-cache")
	}
	switch {
	case r.cookieFmt != nil:
		v, ok := text(r.cookieFmt, tx)
		if !ok || badValue(v) {
			return nil, false
		}
		m.Add("set-cookie", v)
	case r.cookie != nil:
		m.Add("set-cookie", r.cookie)
	}
	return nil, true
}

// location makes the value of the Location field.
func (r *redirect) location(tx *model.Txn) ([]byte, bool) {
	to := r.to
	if r.format != nil {
		v, ok := text(r.format, tx)
		if !ok {
			return nil, false
		}
		to = v
	}
	b := tx.Scratch.Grab()
	switch r.kind {
	case "scheme":
		b = append(append(b, to...), "://"...)
		b = append(b, tx.Req.Host()...)
		b = r.appendPath(b, tx.Req)
	case "prefix":
		if string(to) != "/" {
			b = append(b, to...)
		}
		b = r.appendPath(b, tx.Req)
	default:
		b = append(b, to...)
		if u := queryOf(tx.Req); r.keepQuery && len(u) > 0 {
			sep := byte('?')
			if bytes.IndexByte(to, '?') >= 0 {
				sep = '&'
			}
			b = append(append(b, sep), u...)
		}
	}
	return tx.Scratch.Keep(b)
}

func queryOf(m *msg.Message) []byte {
	if m == nil {
		return nil
	}
	return m.URI().Query
}

// appendPath writes the request's path and, unless it is dropped, its query.
func (r *redirect) appendPath(b []byte, m *msg.Message) []byte {
	u := m.URI()
	path, query := u.Path, u.PathQuery[len(u.Path):]
	if len(path) == 0 || path[0] != '/' {
		path, query = []byte("/"), nil
	}
	if r.dropQuery {
		query = nil
	}
	b = append(b, path...)
	if r.dropQuery && r.slash && path[len(path)-1] != '/' {
		b = append(b, '/')
	}
	return append(b, query...)
}
