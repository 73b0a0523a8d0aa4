package regex

import "slices"

// opcode is what an instruction does.
type opcode uint8

const (
	iFail    opcode = iota
	iByte           // b
	iSet            // a byte of set
	iLit            // lit
	iLitFold        // lit, lower case, without regard to ASCII case
	iSplit          // x, and if that fails y
	iJump           // x
	iSave           // register x = place
	iClose          // group x ends: registers 2x and 2x+1 from x's own and the place
	iGreedy         // min to max bytes of set, as many as possible
	iLazy           // min to max bytes of set, as few as possible
	iAll            // min to max bytes of set, all there are
	iCheck          // to x when nothing was matched since register y was set
	iAssert         // assertion b
	iRef            // what one of groups matched
	iAtomic         // a group that is not entered again begins
	iAtomicEnd
	iLook    // a look-around begins: when its body matches on at x, else at y; negative when b is 1
	iLookEnd // its body has matched
	iScan    // a look-around of a linear engine: on at x or at y
	iBack    // x bytes back
	iCond    // to x when none of groups is set
	iRecurse // to x when not inside a call of group y (infinite: of any)
	iCall    // subroutine y, that begins at x
	iReturn  // the end of subroutine x
	iKeep
	iVerb  // verb b
	iMatch // the end
)

// inst is an instruction. memo, where positive, numbers the places where the same state may come again.
type inst struct {
	op       opcode
	b        byte
	hasNext  bool // the byte after a repetition must be next
	next     byte
	x, y     int32
	min, max int
	memo     int32
	run      int32 // number of an unlimited repetition, for its stretch; -1: none
	set      *[256]bool
	lit      []byte
	groups   []int
	fold     bool
	scan     *dfa
}

// prog is a program of the backtracking matcher.
type prog struct {
	code      []inst
	groups    int
	regs      int // registers: ends of groups, begins of open groups, places of loops
	memos     int
	runs      int
	memo      bool // the outcome depends on the instruction and the place alone
	anchored  bool // matches begin at the start of the text only
	fromOnly  bool // matches begin where the search begins only
	least     int  // length
	starts    *[256]bool
	startByte int    // the only byte that matches begin with, or -1
	prefix    []byte // bytes that matches begin with
	need      []byte // bytes that matches contain
	loops     int    // repetitions of one byte that may give back: the exponent of the worst case
	nested    bool   // repetitions of more, or recursion: the worst case is exponential
	wildLoops int    // loops where states are not remembered: in atomic groups and look-arounds
	wild      bool   // nested there
	limit     int
	patience  int // steps, per 64 bytes of text, before states are remembered

	notEmpty, notAtStart bool
}

const maxProg = 100_000

// compiler makes a program.
type compiler struct {
	prog
	t        *tree
	entries  map[int]int32 // where a subroutine begins
	calls    []int32       // iCall instructions to complete
	called   map[int]bool
	sets     map[set]*[256]bool
	loopReg  int
	noMemo   int // inside of atomic groups and look-arounds, where a state that was in vain once may lead out another time
	atomics  int // open atomic groups
	looks    []lookScope
	tooLarge bool
	open     []int // open groups
}

// compile makes the program of a tree.
func compile(t *tree) (*prog, error) {
	c := &compiler{t: t, entries: map[int]int32{}, called: map[int]bool{}, sets: map[set]*[256]bool{}}
	c.groups, c.limit, c.patience, c.notEmpty, c.notAtStart = t.groups, t.limit, 256, t.notEmpty, t.notAtStart
	walk(t.root, func(n *node) {
		if n.op == opCall {
			c.called[n.n] = true
		}
	})
	c.loopReg = 2 * (t.groups + 1)
	if c.temps() {
		c.loopReg += t.groups + 1
	}
	c.regs = c.loopReg
	c.memo = !t.hasRefs && !t.hasCalls && !t.hasVerbs && !t.hasAccept && !t.notEmpty && !t.notAtStart
	c.entries[0] = 0
	c.node(t.root, follow{any: true})
	c.emit(inst{op: iMatch})
	if c.tooLarge {
		return nil, &Error{0, "the pattern is too large"}
	}
	for _, pc := range c.calls {
		c.code[pc].x = c.entries[int(c.code[pc].y)]
	}
	if !c.memo {
		c.memos, c.runs = 0, 0
	}
	c.analyse()
	p := c.prog
	p.code = slices.Clone(p.code)
	return &p, nil
}

// temps reports whether the begin of a group is kept apart until the group ends.
func (c *compiler) temps() bool { return c.t.hasRefs || c.t.hasCalls }

// follow is what may come after a node: bytes, the end of the text, or anything (any).
type follow struct {
	set set
	end bool
	any bool
}

// before is what may come at a sequence when f comes after it.
func (f follow) before(subs []*node) follow {
	b := firstOf(subs, true)
	if !b.nullable {
		return follow{b.set, b.end, false}
	}
	b.set.union(f.set)
	return follow{b.set, b.end || f.end, f.any}
}

func (c *compiler) emit(in inst) int32 {
	if len(c.code) >= maxProg {
		c.tooLarge = true
		return 0
	}
	in.run = -1
	c.code = append(c.code, in)
	return int32(len(c.code) - 1)
}

func (c *compiler) here() int32 { return int32(len(c.code)) }

// newMemo numbers a choice.
func (c *compiler) newMemo() int32 {
	if c.noMemo > 0 {
		return 0
	}
	c.memos++
	return int32(c.memos)
}

func (c *compiler) table(s set) *[256]bool {
	t := c.sets[s]
	if t == nil {
		t = s.table()
		c.sets[s] = t
	}
	return t
}

func (c *compiler) node(n *node, f follow) {
	if c.tooLarge {
		return
	}
	switch n.op {
	case opFail:
		c.emit(inst{op: iFail})
	case opLit:
		c.literal(n)
	case opSet:
		c.set(*n.set)
	case opCat:
		for i, s := range n.subs {
			c.node(s, f.before(n.subs[i+1:]))
		}
	case opAlt:
		c.alt(n, f)
	case opRep:
		c.repeat(n, f)
	case opCap:
		c.capture(n, f)
	case opAtomic:
		c.atomic(n.subs[0])
	case opLook:
		c.look(n)
	case opRef:
		c.emit(inst{op: iRef, groups: n.groups, fold: n.fold})
	case opCond:
		c.cond(n, f)
	case opCall:
		if n.n == 0 { // the whole pattern is not entered again, unlike groups
			c.emit(inst{op: iAtomic})
		}
		c.calls = append(c.calls, c.emit(inst{op: iCall, y: int32(n.n)}))
		if n.n == 0 {
			c.emit(inst{op: iAtomicEnd})
		}
	case opAssert:
		c.emit(inst{op: iAssert, b: byte(n.assert)})
	case opKeep:
		c.emit(inst{op: iKeep})
	case opVerb:
		c.verb(n)
	}
}

func (c *compiler) literal(n *node) {
	switch {
	case n.fold:
		c.emit(inst{op: iLitFold, lit: lower(n.lit)})
	case len(n.lit) == 1:
		c.emit(inst{op: iByte, b: n.lit[0]})
	default:
		c.emit(inst{op: iLit, lit: n.lit})
	}
}

func lower(b []byte) []byte {
	l := make([]byte, len(b))
	for i, c := range b {
		l[i] = lowerTable[c]
	}
	return l
}

func (c *compiler) set(s set) {
	if b, ok := s.single(); ok {
		c.emit(inst{op: iByte, b: b})
		return
	}
	c.emit(inst{op: iSet, set: c.table(s)})
}

// atomic makes a group that is not entered again. What comes after it must not decide how it matches.
func (c *compiler) atomic(sub *node) {
	if sub.op == opRep && sub.mode == greedy {
		if s, ok := oneByte(sub.subs[0]); ok {
			rep := *sub
			rep.mode = possessive
			c.repeatByte(&rep, s, follow{any: true})
			return
		}
	}
	c.emit(inst{op: iAtomic})
	c.atomics++
	c.noMemo++
	c.node(sub, follow{any: true})
	c.noMemo--
	c.atomics--
	c.emit(inst{op: iAtomicEnd})
}

func (c *compiler) alt(n *node, f follow) {
	var ends []int32
	for i, s := range n.subs {
		if i == len(n.subs)-1 {
			c.node(s, f)
			break
		}
		split := c.emit(inst{op: iSplit, memo: c.newMemo()})
		if c.tooLarge {
			return
		}
		c.code[split].x = c.here()
		c.node(s, f)
		ends = append(ends, c.emit(inst{op: iJump}))
		c.code[split].y = c.here()
	}
	for _, e := range ends {
		c.code[e].x = c.here()
	}
}

func (c *compiler) capture(n *node, f follow) {
	if _, ok := c.entries[n.n]; !ok {
		c.entries[n.n] = c.here()
	}
	if c.called[n.n] {
		f = follow{any: true}
	}
	c.open = append(c.open, n.n)
	if c.temps() {
		c.emit(inst{op: iSave, x: int32(2*(c.groups+1) + n.n)})
		c.node(n.subs[0], f)
		c.emit(inst{op: iClose, x: int32(n.n)})
	} else {
		c.emit(inst{op: iSave, x: int32(2 * n.n)})
		c.node(n.subs[0], f)
		c.emit(inst{op: iSave, x: int32(2*n.n + 1)})
	}
	c.open = c.open[:len(c.open)-1]
	if c.called[n.n] {
		c.emit(inst{op: iReturn, x: int32(n.n)})
	}
}

// repeat makes a repetition: of one byte in one instruction, of anything else by copies and a loop.
func (c *compiler) repeat(n *node, f follow) {
	sub := n.subs[0]
	if s, ok := oneByte(sub); ok {
		c.repeatByte(n, s, f)
		return
	}
	if n.max == 0 {
		if c.t.hasCalls { // it may still be called
			jump := c.emit(inst{op: iJump})
			c.node(sub, follow{any: true})
			c.code[jump].x = c.here()
		}
		return
	}
	many := n.max == infinite || n.max-n.min > 8
	c.nested = c.nested || many
	c.wild = c.wild || many && c.noMemo > 0
	again := f.before([]*node{sub})
	again.set.union(f.set)
	again.end, again.any = again.end || f.end, again.any || f.any
	if n.max == infinite {
		for range n.min - 1 {
			c.node(sub, again)
		}
		c.loop(n, again)
		return
	}
	for i := range n.min {
		if i < n.max-1 {
			c.node(sub, again)
		} else {
			c.node(sub, f)
		}
	}
	var splits []int32
	for range n.max - n.min {
		if c.tooLarge {
			return
		}
		splits = append(splits, c.emit(inst{op: iSplit, memo: c.newMemo(), x: c.here() + 1, b: byte(n.mode)}))
		c.node(sub, again)
	}
	for _, s := range splits {
		c.code[s].y = c.here()
		c.code[s].turn()
	}
}

// turn exchanges the ways of a split that is lazy.
func (in *inst) turn() {
	if mode(in.b) == lazy {
		in.x, in.y = in.y, in.x
	}
}

// loop makes an unlimited repetition, of at least one when n.min is not 0. An iteration that matched nothing ends it.
func (c *compiler) loop(n *node, f follow) {
	sub := n.subs[0]
	enter := int32(-1)
	if n.min == 0 {
		enter = c.emit(inst{op: iSplit, memo: c.newMemo(), x: c.here() + 1, b: byte(n.mode)})
	}
	if c.tooLarge {
		return
	}
	begin := c.here()
	check := int32(-1)
	empty := minLen(sub) == 0
	if empty {
		reg := c.regs
		c.regs++
		c.memo = false
		c.emit(inst{op: iSave, x: int32(reg)})
		c.node(sub, f)
		check = c.emit(inst{op: iCheck, y: int32(reg)})
	} else {
		c.node(sub, f)
	}
	again := c.emit(inst{op: iSplit, memo: c.newMemo(), x: begin, y: c.here() + 1, b: byte(n.mode)})
	if c.tooLarge {
		return
	}
	c.code[again].turn()
	if empty {
		c.code[check].x = c.here()
	}
	if enter >= 0 {
		c.code[enter].y = c.here()
		c.code[enter].turn()
	}
}

// repeatByte makes a repetition of one byte.
func (c *compiler) repeatByte(n *node, s set, f follow) {
	if n.max == 0 {
		return
	}
	in := inst{op: iGreedy, set: c.table(s), min: n.min, max: n.max}
	if n.max == infinite {
		in.max = int(^uint(0) >> 1)
	}
	switch {
	case n.mode == possessive || n.min == n.max || n.mode == greedy && !f.any && !f.set.overlaps(s):
		in.op = iAll
	case n.mode == lazy:
		in.op = iLazy
	}
	if b, ok := f.set.single(); ok && !f.end && !f.any && in.op != iAll {
		in.hasNext, in.next = true, b
	}
	if in.op != iAll {
		in.memo = c.newMemo()
		c.newMemo()
	}
	if in.op != iAll && in.max > 64 {
		c.loops++
		if c.noMemo > 0 {
			c.wildLoops++
		}
	}
	pc := c.emit(in)
	if n.max == infinite && c.noMemo == 0 && !c.tooLarge {
		c.code[pc].run = int32(c.runs)
		c.runs++
	}
}

// lowerTable folds ASCII letters.
var lowerTable = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
		if i >= 'A' && i <= 'Z' {
			t[i] += 32
		}
	}
	return t
}()
