// Package cond compiles the conditions of "use_backend" and "monitor fail":
// "if" or "unless" followed by ACLs with and, or and negation (manual,
// chapter 7.2).
//
// It knows a handful of criteria: always_true, always_false, path, path_beg,
// path_end, method, hdr, hdr_beg, src and nbsrv, with the flags -i and --. A
// criterion, flag or predefined ACL of the reference beyond these is reported
// as known but not served. A compiled condition is a [model.Predicate]: it
// allocates nothing when it is evaluated and may be shared between threads.
package cond

import (
	"strings"

	"weir/internal/lang/config"
	"weir/internal/model"
)

// maxTerms bounds the terms of one condition, which is flat: an "or" of
// "and"s.
const maxTerms = 4096

// Scope is what a condition is compiled in: the ACLs and the proxy around it.
type Scope struct {
	// Proxy is the name of the section; Backend tells whether it has servers:
	// nbsrv without argument means the section itself.
	Proxy   string
	Backend bool
	// ACLs are the named ACLs declared so far.
	ACLs *ACLs
}

// Parse compiles a condition that starts with "if" or "unless" at argument i
// and goes on to the end of the line. After an error, which it reports, it
// returns nil.
func Parse(l *config.Line, i int, sc Scope) *model.Condition {
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
	expr, ok := parseExpr(l, i+1, sc)
	if !ok {
		return nil
	}
	c.Expr = expr
	return c
}

// parseExpr reads terms up to the end of the line. It goes on after a bad
// term, so that all errors of the condition are found.
func parseExpr(l *config.Line, i int, sc Scope) (model.Predicate, bool) {
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
func parseTerm(l *config.Line, i int, sc Scope) (model.Predicate, int, bool) {
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
		p, ok := parseCriterion(l, at+1, end, sc)
		return maybeNot(p, negate), end + 1, ok
	}
	p, ok := lookup(l, at, word, sc)
	return maybeNot(p, negate), at + 1, ok
}

func maybeNot(p model.Predicate, negate bool) model.Predicate {
	if negate {
		return not{p}
	}
	return p
}

// lookup finds an ACL by its name: the section's own first, then the
// predefined ones.
func lookup(l *config.Line, i int, name string, sc Scope) (model.Predicate, bool) {
	if a := sc.ACLs.get(name); a != nil {
		return a, a.valid
	}
	if p, ok := predefined[name]; ok {
		return p, true
	}
	if _, later := predefinedLater[name]; later {
		l.NotYet(i, "predefined ACL", name)
		return nil, false
	}
	l.UnknownName(i, "ACL", name, sc.ACLs.names())
	return nil, false
}

// simplify drops the levels that have one member only.
func simplify(alternatives anyOf) model.Predicate {
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
	anyOf    []model.Predicate
	allOf    []model.Predicate
	not      struct{ p model.Predicate }
	constant bool
)

func (a anyOf) Match(t model.Transaction) bool {
	for _, p := range a {
		if p.Match(t) {
			return true
		}
	}
	return false
}

func (a allOf) Match(t model.Transaction) bool {
	for _, p := range a {
		if !p.Match(t) {
			return false
		}
	}
	return true
}

func (n not) Match(t model.Transaction) bool    { return !n.p.Match(t) }
func (c constant) Match(model.Transaction) bool { return bool(c) }
