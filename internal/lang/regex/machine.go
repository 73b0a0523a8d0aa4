package regex

import (
	"bytes"
	"errors"
	"math"

	"weir/internal/base/budget"
)

// ErrBudget says that a match took more steps, or more memory, than allowed. Nothing is known about the outcome.
var ErrBudget = errors.New("the match takes too many steps")

// ErrLoop says that a subroutine called itself at the same place without end.
var ErrLoop = errors.New("a subroutine of the pattern calls itself without end")

// DefaultSteps is the number of steps after which a match is given up.
const DefaultSteps = budget.Full

const (
	maxFrames = 1 << 20   // entries of the stack, 20 bytes each
	maxSaved  = 1 << 20   // registers kept for calls
	maxMemo   = 128 << 20 // bits of memory for states seen
	keptStack = 4096      // entries that a machine keeps for the next match
	keptMemo  = 8192      // words, likewise
)

// frameKind is the kind of an entry of the backtracking stack.
type frameKind uint8

const (
	fWay    frameKind = iota // another way: pc, at a
	fReg                     // register pc was a
	fGreedy                  // a repetition that may give back: at a, not below b; it began at c
	fLazy                    // a repetition that may take more: at a, not above b
	fBar                     // a group or look-around that is left as a whole: pc began it at a; b is the bar before
	fCall                    // the call was a; the calls up to b, and the registers kept up to c, are in use
	fVerb                    // verb pc was passed at a
)

type frame struct {
	kind frameKind
	pc   int32
	a, b int32
	c    int32
}

// call is an active or left call of a subroutine.
type call struct {
	ret    int32
	group  int32
	parent int
	pos    int
	saved  int // begin of the registers that the caller gets back
}

// stretch is what an unlimited repetition of one byte has seen of the text: all bytes from from to end are of its set. For
// one that takes much first, end is as far as it can go, and it has gone on at all places from seen to end; for one that
// takes little first end is where it has gone on last, and it has at all places before. Where it has gone on once it
// need not again: it was, or will be, in vain.
type stretch struct{ from, end, seen int }

func (s *stretch) holds(pos int) bool { return s.from <= pos && pos <= s.end }

// machine runs a program: a backtracking matcher with its stack on the heap.
type machine struct {
	p      *prog
	in     []byte
	from   int
	notBOL bool
	start  int // of this attempt
	steps  int // left
	given  int // at the start
	err    error
	regs   []int
	stack  []frame
	bar    int // innermost fBar, -1: none
	call   int // active call, -1: none
	calls  []call
	saved  []int
	memo   []uint64
	memoOn bool
	memoAt int // steps left at which the memory is used
	runs   []stretch
	skipTo int  // a verb's next start, -1: the next byte
	giveUp bool // a verb ended the search
}

func newMachine(p *prog) *machine {
	return &machine{p: p, regs: make([]int, p.regs), runs: make([]stretch, p.runs), stack: make([]frame, 0, 32)}
}

// find looks for the first match at or after from. The result is in regs.
func (m *machine) find(in []byte, from int, notBOL bool, steps int) bool {
	p := m.p
	m.in, m.from, m.notBOL, m.err, m.giveUp = in, from, notBOL, nil, false
	if p.limit > 0 {
		steps = min(steps, p.limit)
	}
	m.steps, m.given = steps, steps
	m.memoOn = false
	m.memoAt = math.MinInt
	if p.memo && p.memos > 0 && (p.memos+1)*(len(in)+1) <= maxMemo {
		m.memoAt = steps - p.patience*(1+(len(in)-from)/64)
	}
	for i := range m.runs {
		m.runs[i] = stretch{0, -1, 0}
	}
	for i := range m.regs {
		m.regs[i] = -1
	}
	if p.need != nil && !bytes.Contains(in[from:], p.need) {
		return false
	}
	for start := from; ; start++ {
		if start = m.candidate(start); start < 0 {
			return false
		}
		m.skipTo = -1
		if m.attempt(start) {
			return true
		}
		if m.err != nil || m.giveUp || p.anchored || p.fromOnly {
			return false
		}
		if m.skipTo > start {
			start = m.skipTo - 1
		}
	}
}

// candidate is the next place, from start on, where a match may begin; -1: none.
func (m *machine) candidate(start int) int {
	p := m.p
	if len(m.in)-start < p.least || p.anchored && start > 0 {
		return -1
	}
	if p.fromOnly {
		return start
	}
	i := 0
	switch {
	case p.starts == nil:
		return start
	case p.prefix != nil:
		i = bytes.Index(m.in[start:], p.prefix)
	case p.startByte >= 0:
		i = bytes.IndexByte(m.in[start:], byte(p.startByte))
	default:
		for ; start < len(m.in); start++ {
			if p.starts[m.in[start]] {
				return start
			}
		}
		return -1
	}
	if i < 0 || p.anchored && i > 0 {
		return -1
	}
	return start + i
}

// attempt looks for a match that begins at start.
func (m *machine) attempt(start int) bool {
	m.start = start
	m.stack = m.stack[:0]
	m.calls, m.saved = m.calls[:0], m.saved[:0]
	m.bar, m.call = -1, -1
	m.regs[0] = start
	return m.run(start)
}

// run executes the program from its first instruction.
func (m *machine) run(pos int) bool {
	pc, ok := int32(0), true
	in, code := m.in, m.p.code
	for {
		i := &code[pc]
		switch i.op {
		case iByte:
			if ok = pos < len(in) && in[pos] == i.b; ok {
				pos++
				pc++
				continue
			}
		case iSet:
			if ok = pos < len(in) && i.set[in[pos]]; ok {
				pos++
				pc++
				continue
			}
		case iLit:
			if ok = len(in)-pos >= len(i.lit) && string(in[pos:pos+len(i.lit)]) == string(i.lit); ok {
				pos += len(i.lit)
				pc++
				continue
			}
		case iSplit:
			if ok = !m.memoOn || m.fresh(i.memo, pos); ok {
				m.push(frame{kind: fWay, pc: i.y, a: int32(pos)})
				pc = i.x
				continue
			}
		case iJump:
			pc = i.x
			continue
		case iSave:
			m.set(int(i.x), pos)
			pc++
			continue
		case iMatch:
			if m.call >= 0 && m.err == nil {
				pc = m.ret()
				continue
			}
			if m.matched(pos) {
				return true
			}
		default:
			pc, pos, ok = m.exec(i, pc, pos)
			if ok {
				continue
			}
		}
		if pc, pos, ok = m.back(); !ok {
			return false
		}
	}
}

// findWithin is find with a stock of steps. What it takes is taken from there; a match given up is noted. A match that takes
// long is made again elsewhere, if the stock knows where.
func (m *machine) findWithin(in []byte, from int, notBOL bool, left *budget.Steps) bool {
	all, here := left.Left(), left.Here()
	ok := m.find(in, from, notBOL, here)
	left.Take(m.took())
	if here < all && m.given == here && errors.Is(m.err, ErrBudget) { // not a limit of the pattern's own
		ok = m.elsewhere(in, from, notBOL, left)
	}
	if errors.Is(m.err, ErrBudget) {
		left.Fail()
	}
	return ok
}

func (m *machine) elsewhere(in []byte, from int, notBOL bool, left *budget.Steps) (ok bool) {
	steps := left.Left()
	if !left.Aside(func() int { ok = m.find(in, from, notBOL, steps); return m.took() }) {
		m.err = ErrBudget
	}
	return ok
}

// took is the number of steps that the last find has taken.
func (m *machine) took() int { return m.given - m.steps }

// push adds an entry to the stack. Too many of them end the match.
func (m *machine) push(f frame) {
	if len(m.stack) >= maxFrames {
		m.err = ErrBudget
		return
	}
	m.stack = append(m.stack, f)
}

// set changes a register.
func (m *machine) set(r, v int) {
	if m.regs[r] != v {
		m.push(frame{kind: fReg, pc: int32(r), a: int32(m.regs[r])})
		m.regs[r] = v
	}
}

// fresh marks a state as seen. It reports false when it was.
func (m *machine) fresh(memo int32, pos int) bool {
	if memo == 0 {
		return true
	}
	bit := int(memo)*(len(m.in)+1) + pos
	w, b := bit>>6, uint64(1)<<(bit&63)
	if m.memo[w]&b != 0 {
		return false
	}
	m.memo[w] |= b
	return true
}

// freshNext is fresh for the place at which a repetition of one byte ends.
func (m *machine) freshNext(i *inst, pos int) bool {
	return !m.memoOn || i.memo == 0 || m.fresh(i.memo+1, pos)
}

// step counts work. It reports false when there was too much.
func (m *machine) step(n int) bool {
	m.steps -= n
	if m.steps < m.memoAt && !m.memoOn {
		m.memoOn = true
		words := ((m.p.memos+1)*(len(m.in)+1))>>6 + 1
		if cap(m.memo) < words {
			m.memo = make([]uint64, words)
		} else {
			m.memo = m.memo[:words]
			clear(m.memo)
		}
	}
	if m.steps < 0 {
		m.err = ErrBudget
		return false
	}
	return true
}

// back returns to the last state with another way.
func (m *machine) back() (pc int32, pos int, ok bool) {
	if !m.step(1) {
		return 0, 0, false
	}
	for m.err == nil && len(m.stack) > 0 {
		top := len(m.stack) - 1
		f := &m.stack[top]
		switch f.kind {
		case fReg:
			m.regs[f.pc] = int(f.a)
			m.stack = m.stack[:top]
		case fWay:
			m.stack = m.stack[:top]
			return f.pc, int(f.a), true
		case fGreedy:
			if pos, ok := m.giveBack(f); ok {
				return f.pc + 1, pos, true
			}
			m.stack = m.stack[:top]
		case fLazy:
			if pos, ok := m.takeMore(f); ok {
				return f.pc + 1, pos, true
			}
			m.stack = m.stack[:top]
		case fBar:
			m.stack = m.stack[:top]
			m.bar = int(f.b)
			if i := &m.p.code[f.pc]; i.op == iLook && i.y >= 0 {
				return i.y, int(f.a), true
			}
		case fCall:
			m.call, m.calls, m.saved = int(f.a), m.calls[:f.b], m.saved[:f.c]
			m.stack = m.stack[:top]
		case fVerb:
			m.unwind(verb(f.pc), int(f.a))
		}
	}
	return 0, 0, false
}

// stretch is what a repetition has seen; nil when that says nothing about what is to come.
func (m *machine) stretch(i *inst) *stretch {
	if i.run < 0 || !m.p.memo {
		return nil
	}
	return &m.runs[i.run]
}

// giveBack shortens a repetition.
func (m *machine) giveBack(f *frame) (pos int, ok bool) {
	i := &m.p.code[f.pc]
	at, least := int(f.a), int(f.b)
	run := m.stretch(i)
	if run != nil && run.end != int(f.c) {
		run = nil
	}
	for at > least {
		at--
		if run != nil && at >= run.seen {
			if at = run.seen - 1; at < least {
				break
			}
		}
		if i.hasNext {
			k := bytes.LastIndexByte(m.in[least:min(at+1, len(m.in))], i.next)
			m.steps -= (at - least - max(k, 0)) >> 5
			if k < 0 {
				break
			}
			at = least + k
		}
		if run != nil {
			run.seen = at
		} else if !m.freshNext(i, at) {
			if !m.step(1) {
				break
			}
			continue
		}
		f.a = int32(at)
		return at, true
	}
	if run != nil {
		run.seen = min(run.seen, least)
	}
	return 0, false
}

// takeMore lengthens a repetition.
func (m *machine) takeMore(f *frame) (pos int, ok bool) {
	i := &m.p.code[f.pc]
	at, most := int(f.a), int(f.b)
	run := m.stretch(i)
	if run != nil && run.holds(at) {
		at = run.end
	}
	for at < most && at < len(m.in) && i.set[m.in[at]] {
		at++
		if at&31 == 0 && !m.step(1) {
			return 0, false
		}
		if run != nil && run.holds(at-1) {
			run.end = at
		}
		if i.hasNext && (at >= len(m.in) || m.in[at] != i.next) {
			continue
		}
		if m.freshNext(i, at) {
			f.a = int32(at)
			return at, true
		}
		if !m.step(1) {
			return 0, false
		}
	}
	return 0, false
}
