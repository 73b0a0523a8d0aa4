package fetchhttp

import (
	"bytes"

	"weir/internal/base/ascii"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	const paramArgs = "[string,string,string]"
	const s, i, b = model.TypeStr, model.TypeSint, model.TypeBin
	q, body := params{url: true}, params{}
	add(
		fetch{names: names("url_param", "urlp"), args: paramArgs, out: s, places: reqPlaces, help: "a parameter of the query string", get: q.text, next: q.nextText},
		fetch{names: names("urlp_val"), args: paramArgs, out: i, places: reqPlaces, help: "a parameter of the query string, as an integer", get: q.integer, next: q.nextInteger},
		fetch{names: names("req.body_param"), args: "[string,string]", out: b, places: reqPlaces, help: "a parameter of a form in the body", get: body.text, next: body.nextText},
	)
}

// params are the fetches of "name=value" lists: of the target or of the body.
type params struct{ url bool }

// list returns the text to look through, the byte that separates parameters besides '&' and ';', and how names compare.
func (p params) list(tx *model.Txn, a []sample.Arg) (text []byte, sep byte, fold, ok bool) {
	m := request(tx)
	if m == nil {
		return nil, 0, false, false
	}
	if !p.url {
		if tx.Req == nil {
			return nil, 0, false, false
		}
		text, _ = tx.S.Body(model.DirReq)
		return text, '&', len(a) > 1 && a[1].Str == "i", true
	}
	sep = '?'
	if len(a) > 1 && a[1].Str != "" {
		sep = a[1].Str[0]
	}
	i := bytes.IndexByte(m.Target, sep)
	return m.Target[i+1:], sep, len(a) > 2 && a[2].Str == "i", i >= 0
}

// nextParam returns the value of the first parameter of that name in b at or behind off, of any with an empty name, and where
// the text behind it starts.
func nextParam(b []byte, off int, sep byte, name string, fold bool) (value []byte, after int, ok bool) {
	for off < len(b) {
		end, eq := off, -1
		for end < len(b) && b[end] != '&' && b[end] != ';' && b[end] != sep {
			if b[end] == '=' && eq < 0 {
				eq = end
			}
			end++
		}
		if eq >= 0 && (name == "" || string(b[off:eq]) == name || fold && ascii.EqualFoldString(b[off:eq], name)) {
			return b[eq+1 : end], end + 1, true
		}
		off = end + 1
	}
	return nil, len(b), false
}

func (p params) find(tx *model.Txn, a []sample.Arg) ([]byte, bool) {
	text, sep, fold, ok := p.list(tx, a)
	if !ok {
		return nil, false
	}
	v, _, ok := nextParam(text, 0, sep, first(a), fold)
	return v, ok
}

func (p params) step(tx *model.Txn, a []sample.Arg, state *int) ([]byte, bool) {
	text, sep, fold, ok := p.list(tx, a)
	if !ok {
		return nil, false
	}
	v, after, ok := nextParam(text, *state, sep, first(a), fold)
	*state = after
	return v, ok
}

func (p params) text(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	b, ok := p.find(tx, a)
	v.SetStr(b)
	return ok
}

func (p params) nextText(tx *model.Txn, a []sample.Arg, v *model.Value, state *int) bool {
	b, ok := p.step(tx, a, state)
	v.SetStr(b)
	return ok
}

func (p params) integer(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	b, ok := p.find(tx, a)
	v.SetInt(int32Of(b))
	return ok
}

func (p params) nextInteger(tx *model.Txn, a []sample.Arg, v *model.Value, state *int) bool {
	b, ok := p.step(tx, a, state)
	v.SetInt(int32Of(b))
	return ok
}
