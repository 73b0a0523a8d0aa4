package regex

import "slices"

// nkind is the kind of an NFA state.
type nkind uint8

const (
	nByte   nkind = iota // a byte of set, then x
	nSplit               // x and y
	nAssert              // an assertion, then x
	nMatch
	nFail
)

type nstate struct {
	kind   nkind
	assert assertion
	x, y   int32
	set    int32
}

// nfa is a machine of sets of states: linear in the text, without captures.
type nfa struct {
	states   []nstate
	sets     []set
	setIndex map[set]int32
	start    int32
	end      int32 // the state that matches at the end of the text
	anchored bool
	prefix   []byte // matches begin with it, and nothing asks for what is before
	tooLarge bool
	words    bool // \b or \B
}

const maxNFA = 60_000

// regular reports whether n is of a regular language: nothing in it depends on how something else was matched.
func regular(n *node) bool {
	switch n.op {
	case opAtomic, opLook, opRef, opCond, opCall, opKeep, opVerb:
		return false
	case opRep:
		if n.mode == possessive {
			return false
		}
	case opAssert:
		if n.assert == atFrom {
			return false
		}
	}
	for _, s := range n.subs {
		if !regular(s) {
			return false
		}
	}
	return true
}

// buildNFA makes the machine for a regular pattern; nil when it is too large, or asks for what is behind a $.
func buildNFA(n *node, anchored bool) *nfa {
	a := &nfa{setIndex: map[set]int32{}, anchored: anchored}
	match := a.add(nstate{kind: nMatch})
	a.end = a.add(nstate{kind: nAssert, assert: atEnd, x: match})
	start := a.build(n, match)
	if !anchored {
		loop := a.add(nstate{kind: nSplit, x: start})
		any := a.byteState(allBytes(), loop)
		a.states[loop].y = any
		start = loop
	}
	a.start = start
	if a.tooLarge || !a.dollarsLast() {
		return nil
	}
	a.states, a.setIndex = slices.Clone(a.states), nil
	return a
}

func (a *nfa) add(s nstate) int32 {
	if len(a.states) >= maxNFA {
		a.tooLarge = true
		return 0
	}
	a.states = append(a.states, s)
	return int32(len(a.states) - 1)
}

func (a *nfa) byteState(s set, next int32) int32 {
	i, ok := a.setIndex[s]
	if !ok {
		i = int32(len(a.sets))
		a.sets = append(a.sets, s)
		a.setIndex[s] = i
	}
	return a.add(nstate{kind: nByte, set: i, x: next})
}

// build makes the states of n, before next.
func (a *nfa) build(n *node, next int32) int32 {
	if a.tooLarge {
		return 0
	}
	switch n.op {
	case opFail:
		return a.add(nstate{kind: nFail})
	case opLit:
		for i := len(n.lit) - 1; i >= 0; i-- {
			next = a.byteState(n.litSet(i), next)
		}
	case opSet:
		return a.byteState(*n.set, next)
	case opCat:
		for _, s := range slices.Backward(n.subs) {
			next = a.build(s, next)
		}
	case opAlt:
		return a.alt(n, next)
	case opRep:
		return a.repeat(n, next)
	case opCap:
		return a.build(n.subs[0], next)
	case opAssert:
		if n.assert == atWord || n.assert == notAtWord {
			a.words = true
		}
		return a.add(nstate{kind: nAssert, assert: n.assert, x: next})
	}
	return next
}

func (a *nfa) alt(n *node, next int32) int32 {
	var words []*node
	var rest int32 = -1
	for _, s := range slices.Backward(n.subs) {
		if s.op == opLit && len(n.subs) > 3 {
			words = append(words, s)
			continue
		}
		b := a.build(s, next)
		if rest < 0 {
			rest = b
		} else {
			rest = a.add(nstate{kind: nSplit, x: b, y: rest})
		}
	}
	if len(words) == 0 {
		return rest
	}
	slices.SortFunc(words, func(x, y *node) int { return slices.Compare(fold(x), fold(y)) })
	w := a.trie(words, 0, next)
	if rest < 0 {
		return w
	}
	return a.add(nstate{kind: nSplit, x: w, y: rest})
}

// fold is a literal in lower case when case does not count.
func fold(n *node) []byte {
	if n.fold {
		return lower(n.lit)
	}
	return n.lit
}

// trie makes the states of sorted literals that are the same up to depth. The order of branches does not count here.
func (a *nfa) trie(words []*node, depth int, next int32) int32 {
	var entry int32 = -1
	join := func(s int32) {
		if entry < 0 {
			entry = s
		} else {
			entry = a.add(nstate{kind: nSplit, x: s, y: entry})
		}
	}
	for i := 0; i < len(words) && !a.tooLarge; {
		if len(words[i].lit) == depth {
			join(next)
			i++
			continue
		}
		s := words[i].litSet(depth)
		j := i + 1
		for j < len(words) && len(words[j].lit) > depth && words[j].litSet(depth) == s && words[j].fold == words[i].fold {
			j++
		}
		if j == i+1 {
			t := next
			for k := len(words[i].lit) - 1; k >= depth; k-- {
				t = a.byteState(words[i].litSet(k), t)
			}
			join(t)
		} else {
			join(a.byteState(s, a.trie(words[i:j], depth+1, next)))
		}
		i = j
	}
	return entry
}

func (a *nfa) repeat(n *node, next int32) int32 {
	sub := n.subs[0]
	entry := next
	switch {
	case n.max == infinite:
		loop := a.add(nstate{kind: nSplit, y: next})
		body := a.build(sub, loop)
		if a.tooLarge {
			return 0
		}
		a.states[loop].x = body
		entry = loop
		if n.min > 0 {
			entry = body
		}
	default:
		for range n.max - n.min {
			if a.tooLarge {
				return 0
			}
			entry = a.add(nstate{kind: nSplit, x: a.build(sub, entry), y: next})
		}
	}
	copies := n.min
	if n.max == infinite {
		copies--
	}
	for range max(copies, 0) {
		if a.tooLarge {
			return 0
		}
		entry = a.build(sub, entry)
	}
	return entry
}

// dollarsLast reports whether nothing but the end comes after every $ and \Z: a machine that reads one byte at a time
// cannot look at the byte after a line feed.
func (a *nfa) dollarsLast() bool {
	seen := make([]bool, len(a.states))
	var onlyEnd func(s int32) bool
	onlyEnd = func(s int32) bool {
		if seen[s] {
			return true
		}
		seen[s] = true
		st := &a.states[s]
		switch st.kind {
		case nByte:
			return false
		case nSplit:
			return onlyEnd(st.x) && onlyEnd(st.y)
		case nAssert:
			return (st.assert == atEnd || st.assert == atLastLine) && onlyEnd(st.x)
		}
		return true
	}
	for i := range a.states {
		if a.states[i].kind == nAssert && a.states[i].assert == atLastLine {
			clear(seen)
			if !onlyEnd(a.states[i].x) {
				return false
			}
		}
	}
	return true
}
