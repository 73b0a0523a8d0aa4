package act

import (
	"bytes"
	"slices"

	"weir/internal/base/ascii"
	"weir/internal/lang/rule"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

func init() {
	rule.Add(rule.Action{
		Name: "normalize-uri", In: 1 << rule.HTTPRequest, Args: "<normalizer> [ full | strict ]",
		Help: "brings the target of the request into a normal form", Parse: parseNormalize,
	})
}

// normalizer rewrites a part of the target: it appends the normal form of p to dst; false for one that has none.
type normalizer struct {
	whole  bool   // works on path and query, else on the path
	query  bool   // works on the query
	option string // the word that may follow
	apply  func(dst, p []byte, option bool) ([]byte, bool)
}

var normalizers = map[string]normalizer{
	"fragment-encode":           {whole: true, apply: fragmentEncode},
	"fragment-strip":            {whole: true, apply: fragmentStrip},
	"path-merge-slashes":        {apply: mergeSlashes},
	"path-strip-dot":            {apply: stripDot},
	"path-strip-dotdot":         {apply: stripDotDot, option: "full"},
	"percent-decode-unreserved": {whole: true, apply: decodeUnreserved, option: "strict"},
	"percent-to-uppercase":      {whole: true, apply: upperPercent, option: "strict"},
	"query-sort-by-name":        {query: true, apply: sortQuery},
}

func parseNormalize(p *rule.Parser) rule.Runner {
	names := make([]string, 0, len(normalizers))
	for n := range normalizers {
		names = append(names, n)
	}
	slices.Sort(names)
	w, i, ok := p.Word("the name of a normalizer")
	if !ok {
		return nil
	}
	n, ok := normalizers[w]
	if !ok {
		p.L.UnknownName(i, "normalizer", w, names)
		return nil
	}
	option := n.option != "" && p.Take(n.option)
	return rule.RunFunc(func(tx *model.Txn, c rule.Control) rule.Outcome { return n.run(tx, c, option) })
}

// run applies the normalizer; a target that has no normal form is answered with 400.
func (n *normalizer) run(tx *model.Txn, c rule.Control, option bool) rule.Outcome {
	m := tx.Req
	u := m.URI()
	if u.Form == msg.FormAsterisk || u.Form == msg.FormAuthority {
		return rule.Next
	}
	old, set := u.Path, (*msg.Message).SetPath
	switch {
	case n.whole:
		old, set = u.PathQuery, (*msg.Message).SetPathQuery
	case n.query:
		old, set = u.Query, (*msg.Message).SetQuery
	}
	if len(old) == 0 {
		return rule.Next
	}
	out, ok := n.apply(tx.Scratch.Grab(), old, option)
	if !ok {
		return rule.Invalid
	}
	out, ok = tx.Scratch.Keep(out)
	if !ok || !roomFor(tx, c, m, len(out)-len(old)) {
		return rule.Failed
	}
	if !bytes.Equal(out, old) {
		set(m, out)
	}
	return rule.Next
}

func fragmentEncode(dst, p []byte, _ bool) ([]byte, bool) {
	for _, c := range p {
		if c == '#' {
			dst = append(dst, "%23"...)
		} else {
			dst = append(dst, c)
		}
	}
	return dst, true
}

func fragmentStrip(dst, p []byte, _ bool) ([]byte, bool) {
	if i := bytes.IndexByte(p, '#'); i >= 0 {
		p = p[:i]
	}
	return append(dst, p...), true
}

func mergeSlashes(dst, p []byte, _ bool) ([]byte, bool) {
	for i, c := range p {
		if c != '/' || i == 0 || p[i-1] != '/' {
			dst = append(dst, c)
		}
	}
	return dst, true
}

// segments calls fn for each segment of a path, without the slash before it; last tells the one that ends the path.
func segments(p []byte, fn func(s []byte, last bool)) {
	for {
		i := bytes.IndexByte(p, '/')
		if i < 0 {
			fn(p, true)
			return
		}
		fn(p[:i], false)
		p = p[i+1:]
	}
}

func stripDot(dst, p []byte, _ bool) ([]byte, bool) {
	if p[0] != '/' {
		return append(dst, p...), true
	}
	dst = append(dst, '/')
	segments(p[1:], func(s []byte, last bool) {
		if string(s) == "." {
			return // with the slash after it
		}
		dst = append(dst, s...)
		if !last {
			dst = append(dst, '/')
		}
	})
	return dst, true
}

func stripDotDot(dst, p []byte, full bool) ([]byte, bool) {
	if p[0] != '/' {
		return append(dst, p...), true
	}
	start := len(dst)
	dst = append(dst, '/')
	floor := len(dst) // what "../" at the beginning has left stays
	segments(p[1:], func(s []byte, last bool) {
		if string(s) == ".." {
			if len(dst) > floor { // drop the segment before, which ends with a slash
				cut := bytes.LastIndexByte(dst[start:len(dst)-1], '/')
				dst = dst[:start+cut+1]
				return
			}
			if full {
				return
			}
			dst = append(dst, "../"...)
			floor = len(dst)
			return
		}
		dst = append(dst, s...)
		if !last {
			dst = append(dst, '/')
		}
	})
	return dst, true
}

// unreserved are the characters that need no encoding (RFC 3986, 2.3).
func unreserved(c byte) bool {
	return ascii.IsAlnum(c) || c == '-' || c == '.' || c == '_' || c == '~'
}

// percent reads the encoded byte at the start of p; false when there is none.
func percent(p []byte) (byte, bool) {
	if len(p) < 3 || p[0] != '%' || !ascii.IsHex(p[1]) || !ascii.IsHex(p[2]) {
		return 0, false
	}
	return ascii.HexVal(p[1])<<4 | ascii.HexVal(p[2]), true
}

func decodeUnreserved(dst, p []byte, strict bool) ([]byte, bool) {
	for i := 0; i < len(p); i++ {
		if p[i] != '%' {
			dst = append(dst, p[i])
			continue
		}
		c, ok := percent(p[i:])
		switch {
		case !ok && strict:
			return nil, false
		case ok && unreserved(c):
			dst = append(dst, c)
			i += 2
		case ok:
			dst = append(dst, p[i:i+3]...)
			i += 2
		default:
			dst = append(dst, '%')
		}
	}
	return dst, true
}

func upperPercent(dst, p []byte, strict bool) ([]byte, bool) {
	for i := 0; i < len(p); i++ {
		if p[i] != '%' {
			dst = append(dst, p[i])
			continue
		}
		if _, ok := percent(p[i:]); !ok {
			if strict {
				return nil, false
			}
			dst = append(dst, '%')
			continue
		}
		dst = append(dst, '%', upper(p[i+1]), upper(p[i+2]))
		i += 2
	}
	return dst, true
}

func upper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

// maxParams bounds the parameters that are sorted; a query with more of them has no normal form.
const maxParams = 512

// sortQuery orders parameters by name; those of one name keep their order.
func sortQuery(dst, p []byte, _ bool) ([]byte, bool) {
	params := bytes.SplitN(p, []byte("&"), maxParams+1)
	if len(params) > maxParams {
		return nil, false
	}
	slices.SortStableFunc(params, func(a, b []byte) int {
		return bytes.Compare(paramName(a), paramName(b))
	})
	for i, s := range params {
		if i > 0 {
			dst = append(dst, '&')
		}
		dst = append(dst, s...)
	}
	return dst, true
}

func paramName(p []byte) []byte {
	name, _, _ := bytes.Cut(p, []byte("="))
	return name
}
