package fetchhttp

import (
	"weir/internal/base/ascii"
	"weir/internal/lang/sample"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

func init() {
	const s, i = model.TypeStr, model.TypeSint
	row := func(n []string, out model.Type, places, help string, g get, nx next) {
		add(fetch{names: n, args: nameArgs, out: out, places: places, help: help, get: g, next: nx})
	}
	for _, d := range []struct {
		of                     side1
		places                 string
		text, count, val, list []string
	}{
		{request, reqPlaces, names("req.cook", "cook"), names("req.cook_cnt", "cook_cnt"), names("req.cook_val", "cook_val"), names("req.cook_names")},
		{response, resPlaces, names("res.cook", "scook"), names("res.cook_cnt", "scook_cnt"), names("res.cook_val", "scook_val"), names("res.cook_names")},
	} {
		c := cookies{d.of}
		row(d.text, s, d.places, "last cookie of a name, or the first of all", c.text, c.nextText)
		row(d.count, i, d.places, "number of cookies of a name, or of all", c.count, nil)
		row(d.val, i, d.places, "a cookie as an integer", c.integer, c.nextInteger)
		row(d.list, s, d.places, "names of the cookies", withMessage(d.of, s, appendCookieNames), nil)
	}
	row(names("cookie"), s, dirPlaces, "last cookie of a name, or the first of all", cookies{side}.text, cookies{side}.nextText)
}

// jar walks the cookies of a message as the reference does: the values of the
// fields (what stands between commas outside quotes) are cut at semicolons, a
// name ends at '=', a value at ';' or ',' outside quotes. In answers only the
// name that a value starts with counts, the rest are attributes - which
// nevertheless turn up where no name is asked for.
type jar struct {
	values
	answer bool
	name   string
	rest   int // where in the current value the next cookie starts; above its length: there is none
	value  []byte
}

func newJar(m *msg.Message, name string) jar {
	j := jar{answer: m.IsResponse, name: name}
	j.m = m
	j.values.name = "cookie"
	if j.answer {
		j.values.name = "set-cookie"
	}
	return j
}

// next moves to the next cookie of the name.
func (j *jar) next() bool {
	for {
		for j.v != nil && len(j.v)-j.rest > len(j.name)+1 {
			name, value, after, ok := cutCookie(j.v, j.rest)
			j.rest = after
			switch {
			case !ok || len(name) > 0 && name[0] == '$':
			case j.name == "" || string(name) == j.name:
				j.value = value
				return true
			case j.answer:
				j.rest = len(j.v)
			}
		}
		if !j.values.next() {
			return false
		}
		j.rest = 0
	}
}

// cutCookie reads the cookie at b[from:]; ok is false without an equal sign. after is where the next one starts.
func cutCookie(b []byte, from int) (name, value []byte, after int, ok bool) {
	i := from
	for i < len(b) && b[i] != '=' && b[i] != ';' {
		i++
	}
	if i == len(b) || b[i] == ';' {
		return nil, nil, i + 1, false
	}
	end := i + 1 + valueLen(b[i+1:])
	return ascii.Trim(b[from:i]), ascii.Trim(b[i+1 : end]), end + 1, true
}

// valueLen is the length of a cookie's value: up to a semicolon or comma outside quotes.
func valueLen(b []byte) int {
	quoted := false
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			quoted = !quoted
		case '\\':
			if quoted {
				i++
			}
		case ';', ',':
			if !quoted {
				return i
			}
		}
	}
	return len(b)
}

// mark is the state of an iteration: the field, the value in it and the cookie in that, each counted by bytes.
func (j *jar) mark() int {
	return j.field<<48 | j.start<<24 | j.rest + 1
}

// resume goes on from a mark.
func (j *jar) resume(state int) {
	if state == 0 {
		return
	}
	const low = 1<<24 - 1
	j.field = state >> 48
	if j.field == 0 || j.field > len(j.m.Fields) {
		return
	}
	j.line, j.off = j.m.Fields[j.field-1].Value, state>>24&low
	if j.values.next() {
		j.rest = state&low - 1
	}
}

// cookies are the fetches of one side.
type cookies struct{ of side1 }

// find returns the last cookie of the name that the argument has, the first one of all without.
func (c cookies) find(tx *model.Txn, a []sample.Arg) (value []byte, ok bool) {
	m := c.of(tx)
	if m == nil {
		return nil, false
	}
	j := newJar(m, first(a))
	for j.next() {
		value, ok = j.value, true
		if j.name == "" {
			break
		}
	}
	return value, ok
}

func (c cookies) step(tx *model.Txn, a []sample.Arg, state *int) ([]byte, bool) {
	m := c.of(tx)
	if m == nil || *state < 0 {
		return nil, false
	}
	j := newJar(m, first(a))
	j.resume(*state)
	if !j.next() {
		*state = -1
		return nil, false
	}
	*state = j.mark()
	return j.value, true
}

func (c cookies) text(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	b, ok := c.find(tx, a)
	v.SetStr(b)
	return ok
}

func (c cookies) nextText(tx *model.Txn, a []sample.Arg, v *model.Value, state *int) bool {
	b, ok := c.step(tx, a, state)
	v.SetStr(b)
	return ok
}

func (c cookies) integer(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	b, ok := c.find(tx, a)
	v.SetInt(int32Of(b))
	return ok
}

func (c cookies) nextInteger(tx *model.Txn, a []sample.Arg, v *model.Value, state *int) bool {
	b, ok := c.step(tx, a, state)
	v.SetInt(int32Of(b))
	return ok
}

func (c cookies) count(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	m := c.of(tx)
	if m == nil {
		return false
	}
	n := int64(0)
	for j := newJar(m, first(a)); j.next(); {
		n++
	}
	v.SetInt(n)
	return true
}

// appendCookieNames lists the names of all cookies: of an answer, one a field.
func appendCookieNames(dst []byte, m *msg.Message, a []sample.Arg) []byte {
	n, sep := len(dst), delimiter(a)
	w := values{m: m, name: "cookie"}
	if m.IsResponse {
		w.name, w.whole = "set-cookie", true
	}
	for w.next() {
		for rest := 0; len(w.v)-rest > 1; {
			name, _, after, ok := cutCookie(w.v, rest)
			if rest = after; !ok || len(name) > 0 && name[0] == '$' {
				continue
			}
			if len(dst) > n {
				dst = append(dst, sep)
			}
			dst = append(dst, name...)
			if m.IsResponse {
				break
			}
		}
	}
	return dst
}
