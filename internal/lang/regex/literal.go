package regex

import "bytes"

// literal is a pattern that is one literal, perhaps bound to the start or the end.
type literal struct {
	lit      []byte
	fold     bool
	start    bool // ^ or \A
	noLine   bool // it is ^
	end      bool // $, \Z or \z
	lineFeed bool // a line feed may come before the end
}

// literalOf takes a pattern for a literal; nil when it is more than that. Capture groups around all of it do not count.
func literalOf(n *node) *literal {
	for n.op == opCap {
		n = n.subs[0]
	}
	subs := []*node{n}
	if n.op == opCat {
		subs = n.subs
	}
	l := &literal{}
	if n := subs[0]; n.op == opAssert && (n.assert == atStart || n.assert == atLineStart) {
		l.start, l.noLine = true, n.assert == atLineStart
		subs = subs[1:]
	}
	if len(subs) > 0 {
		if n := subs[len(subs)-1]; n.op == opAssert && (n.assert == atEnd || n.assert == atLastLine) {
			l.end, l.lineFeed = true, n.assert == atLastLine
			subs = subs[:len(subs)-1]
		}
	}
	switch {
	case len(subs) == 1 && subs[0].op == opLit:
		l.lit, l.fold = subs[0].lit, subs[0].fold
	case len(subs) > 0:
		return nil
	}
	if l.fold {
		if !l.start && !l.end {
			return nil
		}
		l.lit = lower(l.lit)
	}
	return l
}

// find returns the begin of the first match at or after from, or -1.
func (l *literal) find(b []byte, from int, notBOL bool) int {
	if l.start && (from > 0 || notBOL && l.noLine) {
		return -1
	}
	if !l.start && !l.end {
		if i := bytes.Index(b[from:], l.lit); i >= 0 {
			return from + i
		}
		return -1
	}
	n := len(b)
	if l.lineFeed && n > from && b[n-1] == '\n' {
		if i := l.at(b[:n-1], from); i >= 0 {
			return i
		}
	}
	return l.at(b, from)
}

// at compares the literal with the start or the end of b.
func (l *literal) at(b []byte, from int) int {
	n := len(b) - from - len(l.lit)
	switch {
	case n < 0 || l.start && l.end && n > 0:
		return -1
	case l.start:
		n = 0
	}
	part := b[from+n : from+n+len(l.lit)]
	if l.fold && hasFold(part, l.lit) || !l.fold && bytes.Equal(part, l.lit) {
		return from + n
	}
	return -1
}

// words reports whether a pattern is a choice of literals.
func words(n *node) bool {
	for n.op == opCap {
		n = n.subs[0]
	}
	if n.op == opLit || n.op == opSet {
		return true
	}
	if n.op != opAlt {
		return false
	}
	for _, s := range n.subs {
		if s.op != opLit && s.op != opSet {
			return false
		}
	}
	return true
}
