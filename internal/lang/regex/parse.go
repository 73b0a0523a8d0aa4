package regex

import (
	"fmt"
	"strings"
)

// Limits of patterns, those of PCRE2.
const (
	maxDepth   = 250   // nested groups
	maxRepeat  = 65535 // a number in a quantifier
	maxGroup   = 65535 // capture groups
	maxName    = 32    // bytes of a group's name
	maxPattern = 1 << 20
)

// Error tells what is wrong with a pattern.
type Error struct {
	Offset int    // byte of the pattern at which the reading stopped
	Msg    string // what is wrong
}

func (e *Error) Error() string { return fmt.Sprintf("%s (at offset %d)", e.Msg, e.Offset) }

// options are the settings that (?i) and its like change.
type options uint8

const (
	optFold options = 1 << iota
	optMulti
	optDotAll
	optExtended
	optExtendedMore
	optUngreedy
	optNoCapture
	optDupNames
)

// tree is a parsed pattern.
type tree struct {
	root       *node
	groups     int      // number of capture groups
	group      []*node  // by number: the group's node, the first of several
	names      []string // by number
	byName     map[string][]int
	anyCRLF    bool // \R takes only CR, LF and CRLF
	notEmpty   bool
	notAtStart bool // not empty at the start
	limit      int  // of steps, 0: the caller's
	hasRefs    bool // back-references, or conditions on groups
	hasCalls   bool // subroutines, or conditions on them
	hasVerbs   bool
	hasAccept  bool
	hasKeep    bool
}

// pending is a reference to be checked when all groups are known.
type pending struct {
	n    *node
	name string
	num  int
	pos  int
}

type parser struct {
	tree
	src     string
	pos     int
	opts    options
	depth   int
	looks   int // look-arounds around
	quoting bool
	count   int // groups opened so far
	pending []pending
	behinds []*node
}

func (p *parser) fail(pos int, format string, args ...any) error {
	return &Error{pos, fmt.Sprintf(format, args...)}
}

// parse reads a whole pattern.
func parse(src string, f Flags) (*tree, error) {
	p := &parser{src: src}
	p.byName = map[string][]int{}
	p.group = []*node{nil}
	p.names = []string{""}
	if f&IgnoreCase != 0 {
		p.opts |= optFold
	}
	if f&NoCapture != 0 {
		p.opts |= optNoCapture
	}
	if len(src) > maxPattern {
		return nil, p.fail(maxPattern, "the pattern is too long")
	}
	if err := p.startVerbs(); err != nil {
		return nil, err
	}
	root, err := p.alternation()
	if err != nil {
		return nil, err
	}
	if p.pos < len(src) {
		return nil, p.fail(p.pos, "a closing parenthesis without an opening one")
	}
	p.root = root
	if err := p.resolve(); err != nil {
		return nil, err
	}
	if err := p.checkBehinds(); err != nil {
		return nil, err
	}
	if p.hasAccept && p.hasCalls {
		return nil, p.fail(0, "(*ACCEPT) together with subroutine calls is not supported")
	}
	return &p.tree, nil
}

func (p *parser) more() bool { return p.pos < len(p.src) }

// has reports whether the rest begins with s.
func (p *parser) has(s string) bool { return strings.HasPrefix(p.src[p.pos:], s) }

// take skips s when it comes next.
func (p *parser) take(s string) bool {
	if p.has(s) {
		p.pos += len(s)
		return true
	}
	return false
}

// alternation reads branches up to the end or a closing parenthesis, which is left.
func (p *parser) alternation() (*node, error) {
	start := p.pos
	subs, err := p.branches()
	if err != nil {
		return nil, err
	}
	if len(subs) == 1 {
		return subs[0], nil
	}
	return alternatives(&node{op: opAlt, subs: subs, pos: start}), nil
}

// branches reads the branches of an alternation.
func (p *parser) branches() (subs []*node, err error) {
	for {
		n, err := p.sequence()
		if err != nil {
			return nil, err
		}
		subs = append(subs, n)
		if !p.take("|") {
			return subs, nil
		}
	}
}

// alternatives makes one set of neighbouring branches of one byte each.
func alternatives(alt *node) *node {
	var subs []*node
	for _, s := range alt.subs {
		one, ok := oneByte(s)
		if ok && len(subs) > 0 {
			if last, ok := oneByte(subs[len(subs)-1]); ok {
				last.union(one)
				subs[len(subs)-1] = &node{op: opSet, set: &last, pos: s.pos}
				continue
			}
		}
		subs = append(subs, s)
	}
	if len(subs) == 1 {
		return subs[0]
	}
	alt.subs = subs
	return alt
}

// oneByte is the set of what n matches when that is always one byte.
func oneByte(n *node) (set, bool) {
	switch {
	case n.op == opSet:
		return *n.set, true
	case n.op == opLit && len(n.lit) == 1:
		return n.litSet(0), true
	}
	return set{}, false
}

// sequence reads one branch.
func (p *parser) sequence() (*node, error) {
	cat := &node{op: opCat, pos: p.pos}
	for {
		if err := p.skip(); err != nil {
			return nil, err
		}
		if !p.more() || !p.quoting && (p.src[p.pos] == '|' || p.src[p.pos] == ')') {
			break
		}
		n, repeatable, err := p.atom()
		if err != nil {
			return nil, err
		}
		if err := p.skip(); err != nil {
			return nil, err
		}
		n, err = p.quantified(n, repeatable)
		if err != nil {
			return nil, err
		}
		cat.join(n)
	}
	switch len(cat.subs) {
	case 0:
		return &node{op: opEmpty, pos: cat.pos}, nil
	case 1:
		return cat.subs[0], nil
	}
	return cat, nil
}

// join appends a node to a sequence; neighbouring literals become one. A literal with fold set has letters.
func (n *node) join(next *node) {
	if next == nil || next.op == opEmpty {
		return
	}
	if next.op == opCat {
		for _, s := range next.subs {
			n.join(s)
		}
		return
	}
	if len(n.subs) > 0 && next.op == opLit {
		last := n.subs[len(n.subs)-1]
		if last.op == opLit && (last.fold == next.fold || !next.fold && !letters(next.lit) || !last.fold && !letters(last.lit)) {
			last.fold = last.fold || next.fold
			last.lit = append(last.lit, next.lit...)
			return
		}
	}
	n.subs = append(n.subs, next)
}

func letters(b []byte) bool {
	for _, c := range b {
		if c |= 0x20; c >= 'a' && c <= 'z' {
			return true
		}
	}
	return false
}

// skip passes over what matches nothing: comments, quoting marks, and white space in extended mode.
func (p *parser) skip() error {
	for p.more() {
		switch {
		case p.quoting:
			if !p.take(`\E`) {
				return nil
			}
			p.quoting = false
		case p.take(`\Q`):
			p.quoting = true
		case p.take(`\E`):
		case p.take("(?#"):
			i := strings.IndexByte(p.src[p.pos:], ')')
			if i < 0 {
				return p.fail(len(p.src), "a comment without its closing parenthesis")
			}
			p.pos += i + 1
		default:
			if !p.skipSpace() {
				return nil
			}
		}
	}
	return nil
}

// skipSpace passes over one piece of white space, or one comment, in extended mode.
func (p *parser) skipSpace() bool {
	if p.opts&optExtended == 0 {
		return false
	}
	switch c := p.src[p.pos]; {
	case isSpace(c):
		p.pos++
	case c == '#':
		i := strings.IndexByte(p.src[p.pos:], '\n')
		if i < 0 {
			i = len(p.src) - p.pos - 1
		}
		p.pos += i + 1
	default:
		return false
	}
	return true
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// literal makes a node of one byte.
func (p *parser) literal(c byte) *node {
	b := []byte{c}
	return &node{op: opLit, lit: b, fold: p.opts&optFold != 0 && letters(b), pos: p.pos}
}

func (p *parser) setNode(s set) *node { return &node{op: opSet, set: &s, pos: p.pos} }

// assertNode makes a simple assertion.
func (p *parser) assertNode(a assertion) *node { return &node{op: opAssert, assert: a, pos: p.pos} }

// atom reads one item. repeatable says that a quantifier may follow.
func (p *parser) atom() (n *node, repeatable bool, err error) {
	c := p.src[p.pos]
	if p.quoting {
		p.pos++
		return p.literal(c), true, nil
	}
	switch c {
	case '\\':
		return p.escape()
	case '[':
		n, err = p.class()
		return n, true, err
	case '(':
		return p.paren()
	case '*', '+', '?':
		return nil, false, p.fail(p.pos, "a quantifier without something to repeat")
	case '{':
		if _, _, end, ok, err := p.braces(); err != nil {
			return nil, false, err
		} else if ok {
			return nil, false, p.fail(end-1, "a quantifier without something to repeat")
		}
	}
	p.pos++
	switch c {
	case '.':
		s := allBytes()
		if p.opts&optDotAll == 0 {
			s, _ = escapeSet('N')
		}
		return p.setNode(s), true, nil
	case '^':
		if p.opts&optMulti != 0 {
			return p.assertNode(atAnyLine), false, nil
		}
		return p.assertNode(atLineStart), false, nil
	case '$':
		if p.opts&optMulti != 0 {
			return p.assertNode(atAnyLineEnd), false, nil
		}
		return p.assertNode(atLastLine), false, nil
	}
	return p.literal(c), true, nil
}

// braces reads {n}, {n,} or {n,m} at the current place, without taking it. Anything else is no quantifier.
func (p *parser) braces() (lo, hi, end int, ok bool, err error) {
	i := p.pos + 1
	number := func() (v int, ok bool, err error) {
		for ; i < len(p.src) && p.src[i] >= '0' && p.src[i] <= '9'; i++ {
			ok = true
			if v = v*10 + int(p.src[i]-'0'); v > maxRepeat {
				return 0, false, p.fail(i+1, "a quantifier above %d", maxRepeat)
			}
		}
		return v, ok, nil
	}
	if !quantifier(p.src[p.pos:]) {
		return 0, 0, 0, false, nil
	}
	if lo, _, err = number(); err != nil {
		return 0, 0, 0, false, err
	}
	hi = lo
	if p.src[i] == ',' {
		i++
		hi = infinite
		v, some, err := number()
		if err != nil {
			return 0, 0, 0, false, err
		}
		if some {
			if hi = v; hi < lo {
				return 0, 0, 0, false, p.fail(i, "the numbers of the quantifier are in the wrong order")
			}
		}
	}
	return lo, hi, i + 1, true, nil
}

// quantifier reports whether s begins with a quantifier in braces.
func quantifier(s string) bool {
	i := 1
	digits := func() int {
		from := i
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i - from
	}
	if digits() == 0 {
		return false
	}
	if i < len(s) && s[i] == ',' {
		i++
		digits()
	}
	return i < len(s) && s[i] == '}'
}

// quantified reads the quantifier behind n, if any.
func (p *parser) quantified(n *node, repeatable bool) (*node, error) {
	if !p.more() || p.quoting {
		return n, nil
	}
	lo, hi := 0, infinite
	switch p.src[p.pos] {
	case '*':
	case '+':
		lo = 1
	case '?':
		hi = 1
	case '{':
		l, h, end, ok, err := p.braces()
		if err != nil || !ok {
			return n, err
		}
		lo, hi, p.pos = l, h, end-1
	default:
		return n, nil
	}
	if !repeatable {
		return nil, p.fail(p.pos, "a quantifier without something to repeat")
	}
	p.pos++
	m := greedy
	if p.opts&optUngreedy != 0 {
		m = lazy
	}
	if err := p.skip(); err != nil {
		return nil, err
	}
	switch {
	case p.quoting:
	case p.take("?"):
		m = lazy + greedy - m
	case p.take("+"):
		m = possessive
	}
	return repeat(n, lo, hi, m), nil
}

// repeat makes a repetition of n. What is repeated of a look-around is at most one.
func repeat(n *node, lo, hi int, m mode) *node {
	if n.op == opLook {
		lo = min(lo, 1)
		if hi != 0 {
			hi = 1
		}
	}
	if lo == 1 && hi == 1 && m != possessive {
		return n
	}
	r := &node{op: opRep, subs: []*node{n}, min: lo, max: hi, mode: m, pos: n.pos}
	if _, ok := oneByte(n); !ok && m == possessive {
		r.mode = greedy
		return &node{op: opAtomic, subs: []*node{r}, pos: n.pos}
	}
	return r
}
