// Package acl compiles conditions (manual, chapter 7): "if" and "unless" with
// named and anonymous ACLs, "or" and negation. A term is a sample expression
// and patterns to hold it against.
package acl

import (
	"fmt"
	"slices"
	"strings"

	"weir/internal/lang/config"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

// maxTerms bounds the terms of one condition.
const maxTerms = 1024

// ACLs are the named ACLs of one section. The zero value is empty; a nil
// pointer is empty too, but takes no additions.
type ACLs struct {
	list []*acl
	// outer are those of the defaults section that this one inherits, nil for none.
	outer *ACLs
}

// acl is a named ACL. Conditions keep a pointer to it: a line that widens it
// widens the rules above that line too, as in the reference.
type acl struct {
	name  string
	lines []*line
	valid bool
	uses  []*acl // those that its lines ask for, by acl()
	seen  *walk  // the last one that came by
}

// walk is one search for a circle of ACLs.
type walk struct{ _ byte }

// line is one "acl" line: it is compiled for each kind of place that uses it.
type line struct {
	term  *term
	words []string
}

// Key is the slot of a proxy in which its named ACLs are kept.
var Key = &model.SlotKey[*ACLs]{Name: "acl"}

// Of returns the named ACLs of a proxy, never nil.
func Of(p *model.Proxy) *ACLs {
	a := Key.Get(&p.Slots)
	if a == nil {
		a = new(ACLs)
		Key.Set(&p.Slots, a)
	}
	return a
}

// Inherit makes the ACLs of a named defaults section visible to the rules that p takes over from it, without making them
// p's own: the reference lets a section use its own names only.
func Inherit(p, from *model.Proxy) {
	Key.Set(&p.Slots, &ACLs{outer: Key.Get(&from.Slots)})
}

// Add reads "<name> <criterion> [flags] [values]" from argument 0 on. A name
// that exists already is widened by the line.
func (a *ACLs) Add(l *config.Line, sc *sample.Scope) {
	if !l.Has(0) {
		l.Errorf(0, "'acl' expects a name, a criterion and the values to match: acl <name> <criterion> [flags] [operator] <value> ...")
		return
	}
	name := l.Arg(0)
	if isOr(name) {
		l.Errorf(0, "'%s' cannot be the name of an ACL: conditions read it as the operator.", name)
		return
	}
	if !l.CheckName(0, "ACL") {
		return
	}
	if !l.Has(1) {
		l.Errorf(1, "ACL '%s' needs a criterion, such as 'path_beg' or 'src'.", name)
		return
	}
	e := a.own(name)
	if e == nil {
		e = &acl{name: name, valid: true}
		a.list = append(a.list, e)
	}
	sc.Within = e
	t := parseCriterion(&words{l: l, at: 1, list: l.Args(1)}, sc)
	// A bad ACL is remembered, so that its uses are not reported again.
	e.valid = e.valid && t != nil
	if t != nil {
		e.lines = append(e.lines, &line{term: t, words: l.Args(1)})
	}
}

func (a *ACLs) own(name string) *acl {
	if a == nil {
		return nil
	}
	for _, e := range a.list {
		if e.name == name {
			return e
		}
	}
	return nil
}

func (a *ACLs) get(name string) *acl {
	for ; a != nil; a = a.outer {
		if e := a.own(name); e != nil {
			return e
		}
	}
	return nil
}

// maxDepth is how many ACLs may refer to each other in a row.
const maxDepth = 4096

// use notes that a line of e asks for other. It refuses what would never come to an end.
func (e *acl) use(other *acl) error {
	path, deep := other.pathTo(e, maxDepth, new(walk))
	switch {
	case path != "":
		return fmt.Errorf("ACL '%s' refers to itself (%s -> %s)", e.name, e.name, path)
	case deep:
		return fmt.Errorf("ACL '%s' refers to more than %d others in a row", e.name, maxDepth)
	}
	e.uses = append(e.uses, other)
	return nil
}

// pathTo tells how a leads to e, "" when it does not; deep: it could not be followed to its end.
func (a *acl) pathTo(e *acl, left int, w *walk) (path string, deep bool) {
	if a == e {
		return a.name, false
	}
	if left == 0 {
		return "", true
	}
	a.seen = w
	for _, u := range a.uses {
		if u.seen == w {
			continue
		}
		p, d := u.pathTo(e, left-1, w)
		if p != "" {
			return a.name + " -> " + p, false
		}
		deep = deep || d
	}
	return "", deep
}

// names lists what a condition can refer to, for suggestions.
func (a *ACLs) names() []string {
	var names []string
	for ; a != nil; a = a.outer {
		for _, e := range a.list {
			names = append(names, e.name)
		}
	}
	for n := range predefined {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Match holds when one of the lines does.
func (a *acl) Match(tx *model.Txn) model.Verdict {
	v := model.Fail
	for _, l := range a.lines {
		if v |= l.term.Match(tx); v == model.Pass {
			break
		}
	}
	return v
}

// places is where all lines of the ACL have data.
func (a *acl) places() sample.Places {
	p := sample.Always
	for _, l := range a.lines {
		p &= l.term.expr.Valid()
	}
	return p
}

// Parse compiles a condition that starts with "if" or "unless" at argument i
// and goes on to the end of the line. After an error, which it reports, it
// returns nil. In a place where a term can never have data it warns.
func Parse(l *config.Line, i int, sc *sample.Scope) *model.Condition {
	c := &model.Condition{Pos: l.ArgPos(i)}
	switch l.Arg(i) {
	case "if":
	case "unless":
		c.Unless = true
	default:
		l.Errorf(i, "'if' or 'unless' with a condition is expected here, found '%s'.", l.Arg(i))
		return nil
	}
	if !l.Has(i + 1) {
		l.Errorf(i+1, "'%s' needs a condition after it.", l.Arg(i))
		return nil
	}
	test, ok := parseTest(l, i+1, sc)
	if !ok {
		return nil
	}
	c.Test = test
	return c
}

// parseTest reads terms up to the end of the line. It goes on after a bad
// term, so that all errors of the condition are found.
func parseTest(l *config.Line, i int, sc *sample.Scope) (model.Test, bool) {
	var (
		alternatives anyOf
		terms        allOf
		ok           = true
		count        int
	)
	for i < l.Len() {
		word := l.Arg(i)
		if isOr(word) {
			if len(terms) == 0 && ok {
				l.Errorf(i, "'%s' stands between two conditions; there is none before it.", word)
				ok = false
			}
			alternatives, terms = append(alternatives, terms), nil
			if i++; i >= l.Len() {
				l.Errorf(i, "'%s' needs a condition after it.", word)
				ok = false
			}
			continue
		}
		if count++; count > maxTerms {
			l.Errorf(i, "a condition has at most %d terms.", maxTerms)
			return nil, false
		}
		term, next, good := parseTerm(l, i, sc)
		ok = ok && good
		terms = append(terms, term)
		i = next
	}
	if !ok {
		return nil, false
	}
	return simplify(append(alternatives, terms)), true
}

func isOr(word string) bool { return word == "||" || strings.EqualFold(word, "or") }

// parseTerm reads "[!]name" or "[!]{ criterion ... }" at i and returns the
// index of the word after it.
func parseTerm(l *config.Line, i int, sc *sample.Scope) (model.Test, int, bool) {
	negate, at, word := false, i, l.Arg(i)
	for strings.HasPrefix(word, "!") {
		negate = !negate
		if word = word[1:]; word == "" {
			at++
			word = l.Arg(at)
		}
	}
	switch {
	case word == "" && !l.Has(at):
		l.Errorf(at, "'!' needs a condition after it.")
		return nil, at, false
	case isOr(word):
		l.Errorf(at, "'!' needs a condition after it, not '%s'.", word)
		return nil, at + 1, false
	case word == "{":
		end := at + 1
		for end < l.Len() && l.Arg(end) != "}" {
			end++
		}
		if end == l.Len() {
			l.Errorf(at, "the brace opened here is not closed: '}' must stand as a word of its own.")
			return nil, end, false
		}
		list := l.Args(at + 1)[:end-at-1]
		t := parseCriterion(&words{l: l, at: at + 1, list: list}, sc)
		if t == nil {
			return nil, end + 1, false
		}
		checkPlace(l, at+1, "'"+list[0]+"'", t.expr.Valid(), sc)
		return maybeNot(t, negate), end + 1, true
	}
	t, ok := lookup(l, at, word, sc)
	return maybeNot(t, negate), at + 1, ok
}

func maybeNot(t model.Test, negate bool) model.Test {
	if negate {
		return not{t}
	}
	return t
}

// checkPlace warns of a term that never has data where it is used.
func checkPlace(l *config.Line, i int, what string, valid sample.Places, sc *sample.Scope) {
	if sc.Valid != 0 && valid&sc.Valid == 0 {
		l.Warnf(i, "%s has no data here (%s) and never matches; it can be used in: %s.", what, sc.Valid, valid)
	}
}

// lookup finds an ACL by its name: the section's own first, then the
// predefined ones.
func lookup(l *config.Line, i int, name string, sc *sample.Scope) (model.Test, bool) {
	var acls *ACLs
	if sc.Proxy != nil {
		acls = Key.Get(&sc.Proxy.Slots)
	}
	if a := acls.get(name); a != nil {
		if a.valid {
			// Lines further down may still widen the ACL.
			l.Check(func(l *config.Line) { checkPlace(l, i, "ACL '"+name+"'", a.places(), sc) })
		}
		return a, a.valid
	}
	if list, ok := predefined[name]; ok {
		t := parseCriterion(&words{l: l, at: i, fixed: true, list: list}, sc)
		if t == nil {
			return nil, false
		}
		checkPlace(l, i, "ACL '"+name+"'", t.expr.Valid(), sc)
		return t, true
	}
	l.UnknownName(i, "ACL", name, acls.names())
	return nil, false
}

// simplify drops the levels that have one member only.
func simplify(alternatives anyOf) model.Test {
	for i, p := range alternatives {
		if terms := p.(allOf); len(terms) == 1 {
			alternatives[i] = terms[0]
		}
	}
	if len(alternatives) == 1 {
		return alternatives[0]
	}
	return alternatives
}

type (
	anyOf []model.Test
	allOf []model.Test
	not   struct{ t model.Test }
)

// Match evaluates the alternatives in order until one passes.
func (a anyOf) Match(tx *model.Txn) model.Verdict {
	v := model.Fail
	for _, t := range a {
		if v |= t.Match(tx); v == model.Pass {
			break
		}
	}
	return v
}

// Match evaluates the terms in order until one fails.
func (a allOf) Match(tx *model.Txn) model.Verdict {
	v := model.Pass
	for _, t := range a {
		if v &= t.Match(tx); v == model.Fail {
			break
		}
	}
	return v
}

// Match inverts a term.
func (n not) Match(tx *model.Txn) model.Verdict { return n.t.Match(tx).Not() }

// predefined are the ACLs of manual section 7.4.
var predefined = map[string][]string{
	"FALSE": {"always_false"}, "TRUE": {"always_true"}, "HTTP": {"req.proto_http"},
	"HTTP_1.0": {"req.ver", "-m", "str", "1.0"}, "HTTP_1.1": {"req.ver", "-m", "str", "1.1"},
	"HTTP_2.0": {"req.ver", "-m", "str", "2.0"}, "HTTP_3.0": {"req.ver", "-m", "str", "3.0"},
	"HTTP_CONTENT": {"req.hdr_val(content-length)", "gt", "0"}, "HTTP_URL_ABS": {"url_reg", "^[^/:]*://"},
	"HTTP_URL_SLASH": {"url_beg", "/"}, "HTTP_URL_STAR": {"url", "*"}, "LOCALHOST": {"src", "127.0.0.1/8", "::1"},
	"METH_CONNECT": {"method", "CONNECT"}, "METH_DELETE": {"method", "DELETE"}, "METH_GET": {"method", "GET", "HEAD"},
	"METH_HEAD": {"method", "HEAD"}, "METH_OPTIONS": {"method", "OPTIONS"}, "METH_POST": {"method", "POST"},
	"METH_PUT": {"method", "PUT"}, "METH_TRACE": {"method", "TRACE"}, "RDP_COOKIE": {"req.rdp_cookie_cnt", "gt", "0"},
	"REQ_CONTENT": {"req.len", "gt", "0"}, "WAIT_END": {"wait_end"},
}
