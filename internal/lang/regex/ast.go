package regex

// op is the kind of a node.
type op uint8

const (
	opEmpty  op = iota
	opFail      // never matches
	opLit       // lit, without regard to ASCII case when fold is set
	opSet       // one byte of set
	opCat       // subs one after the other
	opAlt       // the first of subs that works
	opRep       // subs[0], min to max times (max -1: no limit)
	opCap       // capture group n
	opAtomic    // subs[0], never entered again
	opLook      // look-around: behind, neg
	opRef       // what a group matched: the first set one of groups
	opCond      // cond decides between subs[0] and subs[1]; with condLook subs[2] is the question
	opCall      // group n as a subroutine, 0 is the whole pattern
	opAssert    // a simple assertion
	opKeep      // \K
	opVerb      // a backtracking verb
)

// mode says in which order a repetition tries.
type mode uint8

const (
	greedy mode = iota
	lazy
	possessive
)

// assertion is a simple assertion.
type assertion uint8

const (
	atStart      assertion = iota // \A
	atLineStart                   // ^
	atAnyLine                     // ^ in multi-line mode
	atEnd                         // \z
	atLastLine                    // \Z and $
	atAnyLineEnd                  // $ in multi-line mode
	atFrom                        // \G
	atWord                        // \b
	notAtWord                     // \B
)

// cond is the kind of a condition.
type cond uint8

const (
	condGroup   cond = iota // one of groups is set
	condRecurse             // inside a call of group n; -1: of any
	condLook                // a look-around
	condDefine              // never: the group only defines subroutines
	condAlways
	condNever
)

// verb is a backtracking verb.
type verb uint8

const (
	verbAccept verb = iota
	verbCommit
	verbPrune
	verbSkip
)

// node is a node of the syntax tree.
type node struct {
	op       op
	mode     mode
	assert   assertion
	cond     cond
	verb     verb
	fold     bool
	neg      bool
	behind   bool
	min, max int
	n        int
	pos      int // offset in the pattern
	groups   []int
	lit      []byte
	set      *set
	subs     []*node
	named    bool // a condition's name is a group's for sure
	lenSeen  bool // guards against endless recursion
}

const infinite = -1

// fixed returns the length that every match of n has.
func (t *tree) fixed(n *node) (length int, ok bool) {
	switch n.op {
	case opLit:
		return len(n.lit), true
	case opSet:
		return 1, true
	case opCat:
		for _, s := range n.subs {
			l, ok := t.fixed(s)
			if !ok {
				return 0, false
			}
			length += l
		}
		return length, true
	case opAlt:
		return t.same(n.subs)
	case opRep:
		l, ok := t.fixed(n.subs[0])
		return l * n.min, ok && n.min == n.max || n.max == 0
	case opCap, opAtomic:
		return t.fixed(n.subs[0])
	case opCond:
		if n.cond == condDefine {
			return 0, true
		}
		return t.same(n.subs[:2])
	case opRef:
		if len(n.groups) != 1 {
			return 0, false
		}
		return t.fixedGroup(n.groups[0])
	case opCall:
		return t.fixedGroup(n.n)
	case opVerb:
		return 0, n.verb != verbAccept
	}
	return 0, true
}

func (t *tree) same(subs []*node) (length int, ok bool) {
	for i, s := range subs {
		l, ok := t.fixed(s)
		if !ok || i > 0 && l != length {
			return 0, false
		}
		length = l
	}
	return length, true
}

func (t *tree) fixedGroup(g int) (int, bool) {
	n := t.group[g]
	if n == nil || n.lenSeen {
		return 0, false
	}
	n.lenSeen = true
	defer func() { n.lenSeen = false }()
	return t.fixed(n)
}

// minLen returns a lower bound of the length of what n matches. Subroutines and back-references count as empty.
func minLen(n *node) int {
	const enough = 1 << 20
	l := 0
	switch n.op {
	case opLit:
		return len(n.lit)
	case opSet:
		return 1
	case opCat:
		for _, s := range n.subs {
			l = min(l+minLen(s), enough)
		}
	case opAlt:
		return leastLen(n.subs)
	case opRep:
		if n.min == 0 {
			return 0
		}
		return min(minLen(n.subs[0])*n.min, enough)
	case opCap, opAtomic:
		return minLen(n.subs[0])
	case opCond:
		if n.cond != condDefine {
			return leastLen(n.subs[:2])
		}
	}
	return l
}

func leastLen(subs []*node) int {
	l := minLen(subs[0])
	for _, s := range subs[1:] {
		l = min(l, minLen(s))
	}
	return l
}

// walk visits n and what is below it.
func walk(n *node, visit func(*node)) {
	visit(n)
	for _, s := range n.subs {
		walk(s, visit)
	}
}

// litSet is the set of bytes that match byte i of a literal.
func (n *node) litSet(i int) (s set) {
	s.add(n.lit[i])
	if n.fold {
		s.fold()
	}
	return s
}

// begin is what a match may begin with.
type begin struct {
	set      set  // bytes
	nullable bool // nothing: what comes after decides
	end      bool // the end of the text, or what is not known
}

func (a begin) or(b begin) begin {
	a.set.union(b.set)
	return begin{a.set, a.nullable || b.nullable, a.end || b.end}
}

// first returns what a match of n may begin with. With ends an assertion of the end is taken for what has to follow:
// the end, or a line feed; without, for nothing.
func first(n *node, ends bool) begin {
	switch n.op {
	case opEmpty, opLook, opKeep:
		return begin{nullable: true}
	case opFail:
		return begin{}
	case opLit:
		return begin{set: n.litSet(0)}
	case opSet:
		return begin{set: *n.set}
	case opAssert:
		b := begin{end: true}
		switch {
		case ends && n.assert == atEnd:
			return b
		case ends && (n.assert == atLastLine || n.assert == atAnyLineEnd):
			b.set.add('\n')
			return b
		}
		return begin{nullable: true}
	case opCat:
		return firstOf(n.subs, ends)
	case opAlt:
		b := begin{}
		for _, sub := range n.subs {
			b = b.or(first(sub, ends))
		}
		return b
	case opRep:
		b := begin{}
		if n.max != 0 {
			b = first(n.subs[0], ends)
		}
		b.nullable = b.nullable || n.min == 0
		return b
	case opCap, opAtomic:
		return first(n.subs[0], ends)
	case opVerb:
		if n.verb != verbAccept && !ends { // to reach a verb is an effect of its own: what comes before must not skip it
			return begin{nullable: true}
		}
	}
	return begin{allBytes(), true, true}
}

// firstOf is first of a sequence.
func firstOf(subs []*node, ends bool) begin {
	all := begin{nullable: true}
	for _, sub := range subs {
		b := first(sub, ends)
		all = all.or(b)
		if !b.nullable {
			all.nullable = false
			return all
		}
	}
	return all
}
