// Package regex matches regular expressions with the syntax and the semantics of PCRE2 on bytes.
//
// It is what the reference uses through its library: Perl's syntax, the leftmost match with alternatives tried in their
// order, bytes instead of characters, $ also before a final line feed, a dot for all but the line feed, ASCII case. See
// manual sections 7.1.4 (regex matching), 4.4 (replace-header and its like) and 7.3.1 (regsub).
//
// Three engines share the work, and Engine tells which one took a pattern:
//
//   - "literal": a literal, perhaps bound to the start or the end, or a choice of literals.
//   - "re2": a regular pattern. Whether it matches is asked from a table that is built while it is used (dfa.go): time
//     linear in the text, whatever the pattern.
//   - "backtrack": all else, such as back-references, look-around, atomic groups and recursion. A backtracking
//     matcher (machine.go) with its stack on the heap, a limit of steps, and, where the outcome depends on nothing but
//     the place in pattern and text, a memory of states that were in vain, which makes it linear too.
//
// Capture groups always come from the backtracking matcher. A construct that is not supported is an error of Compile
// that names it: UTF and UCP mode, \X, newline conventions other than line feed, verbs with names, (*THEN), verbs in
// look-arounds, (*ACCEPT) beside subroutines, callouts with text, look-arounds that can be entered again, script runs,
// (*LIMIT_DEPTH) and (*LIMIT_HEAP).
//
// Where PCRE2 10.42 contradicts its own documentation there is a difference on purpose: groups that a subroutine
// call set are unset after it, always; a group with {0} that has ^ in a branch does not bind the rest to the start; the least
// length of a match counts no back-reference. Where PCRE2 gives up after its limit of ten million steps a linear engine
// here still knows the answer.
//
// A Regex may be used by several threads at once, and allocates nothing once it is warm.
package regex

import (
	"sync"

	"weir/internal/base/budget"
)

// Flags change how a pattern is read.
type Flags uint8

const (
	// IgnoreCase makes ASCII letters equal to their other case.
	IgnoreCase Flags = 1 << iota

	// NoCapture makes plain parentheses group without capturing; those with a name still capture. The reference compiles
	// patterns of ACLs and maps so, where a reference such as \1 to a plain group is an error.
	NoCapture
)

// Regex is a compiled pattern.
type Regex struct {
	pattern string
	prog    *prog
	lit     *literal
	dfa     *dfa
	words   bool
	names   []string
	pool    sync.Pool // *machine
}

// Compile reads a pattern. Its error is an *Error, which tells the place and what is wrong.
func Compile(pattern string, f Flags) (*Regex, error) {
	t, err := parse(pattern, f)
	if err != nil {
		return nil, err
	}
	p, err := compile(t)
	if err != nil {
		return nil, err
	}
	r := &Regex{pattern: pattern, prog: p, names: t.names}
	if !t.notEmpty && !t.notAtStart {
		if r.lit = literalOf(t.root); r.lit == nil && regular(t.root) {
			if n := buildNFA(t.root, p.anchored); n != nil {
				if !p.anchored {
					n.prefix = p.prefix
				}
				r.dfa, r.words = newDFA(n), words(t.root)
			}
		}
	}
	r.pool.New = func() any { return newMachine(p) }
	return r, nil
}

// String returns the pattern.
func (r *Regex) String() string { return r.pattern }

// Groups returns the number of capture groups, without the whole match.
func (r *Regex) Groups() int { return r.prog.groups }

// Name returns the name of a capture group, from 0 to Groups; empty when it has none.
func (r *Regex) Name(i int) string { return r.names[i] }

// Engine names the engine that Match uses: "literal", "re2" or "backtrack".
func (r *Regex) Engine() string {
	switch {
	case r.lit != nil || r.words:
		return "literal"
	case r.dfa != nil:
		return "re2"
	}
	return "backtrack"
}

// Match reports whether the pattern matches somewhere in b. A match that takes too many steps is none, as it is for the
// reference.
func (r *Regex) Match(b []byte) bool {
	ok, _ := r.MatchBudget(b, DefaultSteps)
	return ok
}

// MatchBudget is Match with a limit of steps: ErrBudget tells that it was hit, ErrLoop that a subroutine calls
// itself without end. Engines that are linear need no limit and heed none.
func (r *Regex) MatchBudget(b []byte, steps int) (ok bool, err error) {
	switch {
	case r.lit != nil:
		return r.lit.find(b, 0, false) >= 0, nil
	case r.dfa != nil:
		ok, _ = r.dfa.match(b, 0, false)
		return ok, nil
	}
	m := r.pool.Get().(*machine)
	ok = m.find(b, 0, false, steps)
	err = m.err
	r.put(m)
	return ok, err
}

// MatchWithin is MatchBudget with a stock that several matches share. A match that cannot be finished is noted there.
func (r *Regex) MatchWithin(b []byte, left *budget.Steps) bool {
	switch {
	case r.lit != nil:
		return r.lit.find(b, 0, false) >= 0
	case r.dfa != nil:
		ok, _ := r.dfa.match(b, 0, false)
		return ok
	}
	m := r.pool.Get().(*machine)
	ok := m.findWithin(b, 0, false, left)
	r.put(m)
	return ok
}

// FindSubmatchIndex finds the first match at or after from, which ranges from 0 to len(b). The result, which reuses the
// memory of dst, holds the begin and the end of the match and of every capture group, -1 for a group without part in
// the match; nil means no match. What is before from is seen by \b, ^ and look-behinds. Errors are those of MatchBudget,
// for DefaultSteps.
func (r *Regex) FindSubmatchIndex(dst []int, b []byte, from int) ([]int, error) {
	return r.search(dst, b, from, false, nil)
}

// FindWithin is FindSubmatchIndex with a stock that several matches share; see MatchWithin.
func (r *Regex) FindWithin(dst []int, b []byte, from int, left *budget.Steps) ([]int, error) {
	return r.search(dst, b, from, false, left)
}

// FindRest is FindSubmatchIndex for what remains of a text when its begin is dealt with: b begins at its own first
// byte, but ^ does not match there. The reference looks so for the second match of regsub and those after it.
func (r *Regex) FindRest(dst []int, b []byte) ([]int, error) {
	return r.search(dst, b, 0, true, nil)
}

func (r *Regex) search(dst []int, b []byte, from int, notBOL bool, left *budget.Steps) ([]int, error) {
	if from < 0 || from > len(b) {
		return nil, nil
	}
	if r.lit != nil {
		i := r.lit.find(b, from, notBOL)
		if i < 0 {
			return nil, nil
		}
		if dst = append(dst[:0], i, i+len(r.lit.lit)); r.prog.groups == 0 {
			return dst, nil
		}
	} else if r.dfa != nil && !(r.prog.anchored && r.prog.memo) {
		if ok, _ := r.dfa.match(b, from, notBOL); !ok {
			return nil, nil
		}
	}
	m := r.pool.Get().(*machine)
	defer r.put(m)
	if !m.findWithin(b, from, notBOL, left) {
		return nil, m.err
	}
	return append(dst[:0], m.regs[:2*(r.prog.groups+1)]...), nil
}

// put keeps a machine for the next match, without memory that is out of proportion.
func (r *Regex) put(m *machine) {
	m.in = nil
	if cap(m.stack) > keptStack {
		m.stack = make([]frame, 0, 32)
	}
	if cap(m.saved) > keptStack {
		m.saved, m.calls = nil, nil
	}
	if cap(m.memo) > keptMemo {
		m.memo = nil
	}
	r.pool.Put(m)
}

// heavy is the number of steps from which a match is better made off the event loop: about a millisecond.
const heavy = 100_000

// Cost is an estimate of the steps, of about ten nanoseconds, that FindSubmatchIndex or Replace takes at worst in a text
// of n bytes.
func (r *Regex) Cost(n int) int {
	p := r.prog
	switch {
	case r.lit != nil && p.groups == 0:
		return 1 + n/256
	case p.memo:
		return worst((n+1)*(p.memos+p.runs+1), n, p.wildLoops, p.wild)
	case p.anchored:
		return worst(1, n, p.loops, p.nested)
	}
	return worst(n+1, n, p.loops, p.nested)
}

// worst multiplies a cost by what loops, and nested ones, make of a text of n bytes. Heavy costs need not be exact.
func worst(cost, n, loops int, nested bool) int {
	if nested && n >= 23 {
		return DefaultSteps
	}
	if nested {
		cost <<= n
	}
	for range loops {
		if cost > DefaultSteps {
			break
		}
		cost *= n + 1
	}
	return min(cost, DefaultSteps)
}

// Heavy reports whether FindSubmatchIndex or Replace in a text of n bytes may take so long that others should not wait
// for it.
func (r *Regex) Heavy(n int) bool { return r.Cost(n) > heavy }

// MatchHeavy is Heavy for Match, which has linear engines for more patterns.
func (r *Regex) MatchHeavy(n int) bool {
	if r.lit != nil || r.dfa != nil {
		return n/8 > heavy
	}
	return r.Heavy(n)
}
