package act

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"

	"weir/internal/base/ascii"
	"weir/internal/lang/regex"
	"weir/internal/lang/rule"
	"weir/internal/lang/sample"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

func init() {
	rule.Add(
		rule.Action{
			Name: "add-header", In: rule.AnyHTTP, Args: "<name> <fmt>", Help: "adds a header field",
			Parse: func(p *rule.Parser) rule.Runner { return parseHeader(p, (*msg.Message).Add) },
		},
		rule.Action{
			Name: "set-header", In: rule.AnyHTTP, Args: "<name> <fmt>", Help: "replaces a header field",
			Parse: func(p *rule.Parser) rule.Runner { return parseHeader(p, (*msg.Message).Set) },
		},
		rule.Action{Name: "del-header", In: rule.AnyHTTP, Args: "<name> [ -m <meth> ]", Help: "removes header fields", Parse: parseDelHeader},
		rule.Action{
			Name: "replace-header", In: rule.AnyHTTP, Args: "<name> <match-regex> <replace-fmt>", Help: "rewrites whole header fields that match",
			Parse: func(p *rule.Parser) rule.Runner { return parseReplaceHeader(p, false) },
		},
		rule.Action{
			Name: "replace-value", In: rule.AnyHTTP, Args: "<name> <match-regex> <replace-fmt>", Help: "rewrites the elements of comma lists that match",
			Parse: func(p *rule.Parser) rule.Runner { return parseReplaceHeader(p, true) },
		},
		rule.Action{Name: "early-hint", In: 1 << rule.HTTPRequest, Args: "<name> <fmt>", Help: "tells the client a header field ahead of the response", Parse: parseEarlyHint},
		rule.Action{
			Name: "add-headers-bin", In: rule.AnyHTTP, Args: "<expr> [ prefix <str> ]", Help: "adds the header fields of an encoded list",
			Parse: func(p *rule.Parser) rule.Runner { return parseHeadersBin(p, (*msg.Message).Add) },
		},
		rule.Action{
			Name: "set-headers-bin", In: rule.AnyHTTP, Args: "<expr> [ prefix <str> ]", Help: "replaces the header fields of an encoded list",
			Parse: func(p *rule.Parser) rule.Runner { return parseHeadersBin(p, (*msg.Message).Set) },
		},
		rule.Action{Name: "del-headers-bin", In: rule.AnyHTTP, Args: "<expr> [ -m <meth> ]", Help: "removes the header fields that an encoded list names", Parse: parseDelHeadersBin},
	)
}

// message is the message that rules of a kind work on.
func message(tx *model.Txn, k rule.Kind) *msg.Message {
	if k.Dir() == model.DirRes {
		return tx.Res
	}
	return tx.Req
}

// fieldName takes the name of a header field.
func fieldName(p *rule.Parser) (string, bool) {
	w, i, ok := p.Word("the name of a header field")
	if ok && !ascii.IsTokenBytes([]byte(w)) {
		p.L.Errorf(i, "'%s' is no name of a header field.", w)
		return "", false
	}
	return w, ok
}

// text evaluates a format into the scratch memory; false when it is too long.
func text(f model.Format, tx *model.Txn) ([]byte, bool) {
	return tx.Scratch.Keep(f.Append(tx.Scratch.Grab(), tx))
}

// roomFor reports whether n more bytes may be added to m: edits share what tune.maxrewrite and the buffer leave.
func roomFor(tx *model.Txn, c rule.Control, m *msg.Message, n int) bool {
	dir := model.DirReq
	if m.IsResponse {
		dir = model.DirRes
	}
	size := n + int(c.Buffered(dir))
	for i := range m.Fields {
		size += len(m.Fields[i].Name) + len(m.Fields[i].Value) + 4
	}
	return size+len(m.Target)+len(m.MethodName)+16 <= tx.Scratch.Limit()
}

// badValue reports bytes that would change the framing of the message.
func badValue(b []byte) bool {
	return bytes.IndexByte(b, '\n') >= 0 || bytes.IndexByte(b, '\r') >= 0 || bytes.IndexByte(b, 0) >= 0
}

func parseHeader(p *rule.Parser, edit func(*msg.Message, string, []byte)) rule.Runner {
	name, ok := fieldName(p)
	if !ok {
		return nil
	}
	f := p.Format("a value: <name> <fmt>")
	if f == nil {
		return nil
	}
	kind := p.Kind
	return rule.RunFunc(func(tx *model.Txn, c rule.Control) rule.Outcome {
		m := message(tx, kind)
		v, ok := text(f, tx)
		if !ok || badValue(v) || !roomFor(tx, c, m, len(name)+len(v)+4) {
			return rule.Failed
		}
		edit(m, name, v)
		return rule.Next
	})
}

// matcher says whether a header field's name is meant.
type matcher func(name []byte) bool

// parseMatch takes "[ -m <meth> ]" and makes a matcher for a name.
func parseMatch(p *rule.Parser, what string, regexes bool) (method string, ok bool) {
	if !p.Take("-m") {
		return "str", true
	}
	w, i, ok := p.Word("a match method: -m <method>")
	if !ok {
		return "", false
	}
	switch w {
	case "str", "beg", "end", "sub":
		return w, true
	case "reg":
		if regexes {
			return w, true
		}
	}
	list := "str, beg, end and sub"
	if regexes {
		list = "str, beg, end, sub and reg"
	}
	p.L.Errorf(i, "'%s' is no match method for %s; %s are.", w, what, list)
	return "", false
}

func nameMatcher(method, want string) matcher {
	switch method {
	case "beg":
		return func(n []byte) bool { return ascii.HasPrefixFold(n, want) }
	case "end":
		return func(n []byte) bool { return ascii.HasSuffixFold(n, want) }
	case "sub":
		b := []byte(want)
		return func(n []byte) bool { return ascii.IndexFold(n, b) >= 0 }
	}
	return func(n []byte) bool { return ascii.EqualFoldString(n, want) }
}

func parseDelHeader(p *rule.Parser) rule.Runner {
	w, i, ok := p.Word("the name of a header field")
	if !ok {
		return nil
	}
	method, ok := parseMatch(p, "names of header fields", true)
	if !ok {
		return nil
	}
	kind := p.Kind
	if method == "reg" {
		r, err := regex.Compile(w, regex.IgnoreCase)
		if err != nil {
			return p.Errorf(i, "'%s': %s.", w, err)
		}
		return rule.RunFunc(func(tx *model.Txn, _ rule.Control) rule.Outcome {
			message(tx, kind).DelFunc(func(f *msg.Field) bool { return r.MatchWithin(f.Name, &tx.Steps) })
			return rule.Next
		})
	}
	match := nameMatcher(method, w)
	drop := func(f *msg.Field) bool { return match(f.Name) }
	return rule.RunFunc(func(tx *model.Txn, _ rule.Control) rule.Outcome {
		message(tx, kind).DelFunc(drop)
		return rule.Next
	})
}

func parseReplaceHeader(p *rule.Parser, list bool) rule.Runner {
	name, ok := fieldName(p)
	if !ok {
		return nil
	}
	r, f := parseReplacement(p)
	if r == nil {
		return nil
	}
	return &replaceHeader{kind: p.Kind, name: name, re: r, with: f, list: list}
}

// parseReplacement takes "<match-regex> <replace-fmt>".
func parseReplacement(p *rule.Parser) (*regex.Regex, model.Format) {
	w, i, ok := p.Word("a regular expression")
	if !ok {
		return nil, nil
	}
	r, err := regex.Compile(w, 0)
	if err != nil {
		p.L.Errorf(i, "'%s': %s.", w, err)
		return nil, nil
	}
	f := p.Format("a replacement")
	if f == nil {
		return nil, nil
	}
	return r, f
}

// replaceHeader is replace-header, and with list replace-value.
type replaceHeader struct {
	kind rule.Kind
	name string
	re   *regex.Regex
	with model.Format
	list bool
}

// Run rewrites all fields of the name.
func (a *replaceHeader) Run(tx *model.Txn, c rule.Control) rule.Outcome {
	m := message(tx, a.kind)
	for i := m.Find(a.name, 0); i >= 0; i = m.Find(a.name, i+1) {
		v, changed, ok := a.rewrite(tx, c, m.Fields[i].Value)
		if !ok || changed && (badValue(v) || !roomFor(tx, c, m, len(v)-len(m.Fields[i].Value))) {
			return rule.Failed
		}
		if changed {
			m.Replace(i, v)
		}
	}
	return rule.Next
}

// rewrite makes the new value of one field.
func (a *replaceHeader) rewrite(tx *model.Txn, c rule.Control, v []byte) (out []byte, changed, ok bool) {
	if !a.list {
		return replace(tx, c, a.re, a.with, v)
	}
	var parts [][2][]byte // what stands before an element, and what it becomes
	var last, from int
	for it := msg.ListOf(v); it.Next(); {
		at := from + bytes.Index(v[from:], it.Value)
		from = at + len(it.Value)
		for at > last && ascii.IsBlank(v[at-1]) { // the blanks before an element go with it, as in the reference
			at--
		}
		n, did, fits := replace(tx, c, a.re, a.with, it.Value)
		if !fits {
			return nil, false, false
		}
		if did {
			parts = append(parts, [2][]byte{v[last:at], n})
			changed = true
			last = from
		}
	}
	if !changed {
		return v, false, true
	}
	b := tx.Scratch.Grab()
	for _, p := range parts {
		b = append(append(b, p[0]...), p[1]...)
	}
	out, ok = tx.Scratch.Keep(append(b, v[last:]...))
	return out, true, ok
}

// replace gives the replacement of v when the expression matches it.
func replace(tx *model.Txn, c rule.Control, re *regex.Regex, with model.Format, v []byte) (out []byte, changed, ok bool) {
	var fixed [20]int
	loc, err := re.FindWithin(fixed[:0], v, 0, &tx.Steps)
	if err != nil {
		return nil, false, false
	}
	if loc == nil {
		return v, false, true
	}
	template, fits := text(with, tx)
	if !fits {
		return nil, false, false
	}
	out, ok = tx.Scratch.Keep(regex.Expand(tx.Scratch.Grab(), string(template), v, loc))
	return out, true, ok
}

func parseEarlyHint(p *rule.Parser) rule.Runner {
	name, ok := fieldName(p)
	if !ok {
		return nil
	}
	f := p.Format("a value: <name> <fmt>")
	if f == nil {
		return nil
	}
	return rule.RunFunc(func(tx *model.Txn, c rule.Control) rule.Outcome {
		v, ok := text(f, tx)
		if !ok || badValue(v) {
			return rule.Failed
		}
		c.Interim(103, name, v)
		return rule.Next
	})
}

var errEncoding = errors.New("not an encoded list of fields")

// encodedString takes one string of the encoding of req.hdrs_bin: its length as a variable-length integer, then its bytes.
func encodedString(b []byte) (s, rest []byte, err error) {
	n, k := varint(b)
	if k <= 0 || uint64(len(b)-k) < n {
		return nil, nil, errEncoding
	}
	return b[k : k+int(n)], b[k+int(n):], nil
}

// varint reads the reference's variable-length integer: below 240 one byte, else seven more bits a byte, the first of which
// adds to 240.
func varint(b []byte) (n uint64, size int) {
	if len(b) == 0 {
		return 0, 0
	}
	if b[0] < 240 {
		return uint64(b[0]), 1
	}
	n = uint64(b[0])
	shift := 4
	for i := 1; i < len(b) && i < binary.MaxVarintLen64; i++ {
		n += uint64(b[i]) << shift
		shift += 7
		if b[i] < 128 {
			return n, i + 1
		}
	}
	return 0, 0
}

func parseHeadersBin(p *rule.Parser, edit func(*msg.Message, string, []byte)) rule.Runner {
	e := exprAs(p, "an expression that gives an encoded list", model.TypeBin)
	if e == nil {
		return nil
	}
	prefix := ""
	if p.Take("prefix") {
		var ok bool
		if prefix, _, ok = p.Word("the beginning of the names that are meant: prefix <str>"); !ok {
			return nil
		}
	}
	kind := p.Kind
	return rule.RunFunc(func(tx *model.Txn, c rule.Control) rule.Outcome {
		m := message(tx, kind)
		return failed(eachEncoded(tx, e, func(name, value []byte) bool {
			if !ascii.HasPrefixFold(name, prefix) {
				return true
			}
			if !ascii.IsTokenBytes(name) || badValue(value) || !roomFor(tx, c, m, len(name)+len(value)+4) {
				return false
			}
			edit(m, string(name), value)
			return true
		}))
	})
}

// eachEncoded calls fn for each name and value of an encoded list.
func eachEncoded(tx *model.Txn, e *sample.Expr, fn func(name, value []byte) bool) bool {
	v := tx.Value()
	defer tx.Done()
	if !e.EvalAs(tx, model.TypeBin, v) {
		return false
	}
	for b := v.B; len(b) > 0; {
		name, rest, err := encodedString(b)
		if err != nil {
			return false
		}
		value, rest, err := encodedString(rest)
		if err != nil {
			return false
		}
		if len(name) == 0 && len(value) == 0 {
			return true // the end mark
		}
		if !fn(name, value) {
			return false
		}
		b = rest
	}
	return true
}

func parseDelHeadersBin(p *rule.Parser) rule.Runner {
	e := exprAs(p, "an expression that gives an encoded list of names", model.TypeBin)
	if e == nil {
		return nil
	}
	method, ok := parseMatch(p, "names of header fields", false)
	if !ok {
		return nil
	}
	kind := p.Kind
	return rule.RunFunc(func(tx *model.Txn, _ rule.Control) rule.Outcome {
		v := tx.Value()
		defer tx.Done()
		if !e.EvalAs(tx, model.TypeBin, v) {
			return rule.Failed
		}
		m := message(tx, kind)
		for b := v.B; len(b) > 0; {
			name, rest, err := encodedString(b)
			if err != nil {
				return rule.Failed
			}
			if b = rest; len(name) == 0 {
				break
			}
			match := nameMatcher(method, strings.Clone(string(name)))
			m.DelFunc(func(f *msg.Field) bool { return match(f.Name) })
		}
		return rule.Next
	})
}
