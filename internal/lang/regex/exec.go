package regex

// exec executes the instructions that are not in run's own list.
func (m *machine) exec(i *inst, pc int32, pos int) (int32, int, bool) {
	switch i.op {
	case iLitFold:
		return pc + 1, pos + len(i.lit), hasFold(m.in[pos:], i.lit)
	case iGreedy, iLazy, iAll:
		pos, ok := m.repeat(i, pc, pos)
		return pc + 1, pos, ok
	case iCheck:
		if m.regs[i.y] == pos {
			return i.x, pos, true
		}
		return pc + 1, pos, m.step(1)
	case iAssert:
		return pc + 1, pos, m.holds(assertion(i.b), pos)
	case iRef:
		n, ok := m.reference(i, pos)
		return pc + 1, pos + n, ok
	case iClose:
		m.set(int(2*i.x), m.regs[2*(m.p.groups+1)+int(i.x)])
		m.set(int(2*i.x+1), pos)
		return pc + 1, pos, true
	case iAtomic, iLook:
		m.push(frame{kind: fBar, pc: pc, a: int32(pos), b: int32(m.bar)})
		m.bar = len(m.stack) - 1
		return pc + 1, pos, m.err == nil
	case iAtomicEnd:
		m.cut(m.bar)
		return pc + 1, pos, true
	case iLookEnd:
		return m.lookEnd()
	case iScan:
		return m.scan(i, pos)
	case iBack:
		return pc + 1, pos - int(i.x), pos >= int(i.x)
	case iCond:
		if m.isSet(i.groups) < 0 {
			return i.x, pos, true
		}
		return pc + 1, pos, true
	case iRecurse:
		if m.call < 0 || i.y != infinite && m.calls[m.call].group != i.y {
			return i.x, pos, true
		}
		return pc + 1, pos, true
	case iCall:
		return i.x, pos, m.enter(i.y, pc+1, pos)
	case iReturn:
		if m.call >= 0 && m.calls[m.call].group == i.x {
			return m.ret(), pos, true
		}
		return pc + 1, pos, true
	case iKeep:
		m.set(0, pos)
		return pc + 1, pos, true
	case iVerb:
		m.push(frame{kind: fVerb, pc: int32(i.b), a: int32(pos)})
		return pc + 1, pos, true
	}
	return pc, pos, false // iFail
}

// hasFold reports whether b begins with lit, which is lower case, without regard to ASCII case.
func hasFold(b, lit []byte) bool {
	if len(b) < len(lit) {
		return false
	}
	for i, c := range lit {
		if lowerTable[b[i]] != c {
			return false
		}
	}
	return true
}

// repeat matches a repetition of one byte.
func (m *machine) repeat(i *inst, pc int32, pos int) (int, bool) {
	if m.memoOn && i.op != iAll && i.memo > 0 && !m.fresh(i.memo, pos) {
		return pos, false
	}
	most := len(m.in)
	if i.max < most-pos {
		most = pos + i.max
	}
	if i.op == iLazy {
		return m.repeatLazy(i, pc, pos, most)
	}
	run := m.stretch(i)
	end, again := m.extent(i, run, pos, most)
	least := pos + i.min
	if end < least {
		return pos, false
	}
	if i.op == iAll {
		return end, !again
	}
	if end == least && !i.hasNext && run == nil {
		return end, m.freshNext(i, end)
	}
	f := frame{kind: fGreedy, pc: pc, a: int32(end + 1), b: int32(least), c: int32(end)}
	at, ok := m.giveBack(&f)
	if ok && at > least {
		m.push(f)
	}
	return at, ok
}

// extent is how far the bytes of a repetition go, up to most, and whether that is the end of the stretch seen last.
func (m *machine) extent(i *inst, run *stretch, pos, most int) (end int, again bool) {
	if run != nil && run.holds(pos) {
		return run.end, true
	}
	end = pos
	for end < most && i.set[m.in[end]] {
		end++
	}
	m.steps -= (end - pos) >> 5
	switch {
	case run == nil, end < pos+i.min:
	case run.end == end: // from further left
		run.from = pos
		return end, true
	default:
		*run = stretch{pos, end, end + 1}
	}
	return end, false
}

// repeatLazy matches as few bytes as possible, up to most.
func (m *machine) repeatLazy(i *inst, pc int32, pos, most int) (int, bool) {
	at := pos
	for ; at < pos+i.min; at++ {
		if at >= most || !i.set[m.in[at]] {
			return pos, false
		}
	}
	f := frame{kind: fLazy, pc: pc, a: int32(at), b: int32(most)}
	gone := false
	if run := m.stretch(i); run != nil {
		if gone = run.holds(at); !gone {
			*run = stretch{at, at, 0}
		}
	}
	if gone || i.hasNext && (at >= len(m.in) || m.in[at] != i.next) || !m.freshNext(i, at) {
		next, ok := m.takeMore(&f)
		if ok && next < most {
			m.push(f)
		}
		return next, ok
	}
	if at < most {
		m.push(f)
	}
	return at, true
}

// holds reports whether an assertion is true at pos.
func (m *machine) holds(a assertion, pos int) bool {
	in := m.in
	switch a {
	case atStart:
		return pos == 0
	case atLineStart:
		return pos == 0 && !m.notBOL
	case atAnyLine:
		if pos == 0 {
			return !m.notBOL
		}
		return in[pos-1] == '\n' && pos < len(in)
	case atEnd:
		return pos == len(in)
	case atLastLine:
		return pos == len(in) || pos == len(in)-1 && in[pos] == '\n'
	case atAnyLineEnd:
		return pos == len(in) || in[pos] == '\n'
	case atFrom:
		return pos == m.from
	}
	before := pos > 0 && isWord(in[pos-1])
	after := pos < len(in) && isWord(in[pos])
	return (before != after) == (a == atWord)
}

// isSet is the first of groups that has matched, or -1.
func (m *machine) isSet(groups []int) int {
	for _, g := range groups {
		if m.regs[2*g+1] >= 0 {
			return g
		}
	}
	return -1
}

// reference compares with what a group has matched. A group that has not matched is never equal.
func (m *machine) reference(i *inst, pos int) (int, bool) {
	g := m.isSet(i.groups)
	if g < 0 {
		return 0, false
	}
	a := m.in[m.regs[2*g]:m.regs[2*g+1]]
	b := m.in[pos:]
	if len(b) < len(a) {
		return 0, false
	}
	m.steps -= len(a) >> 5
	if !i.fold {
		return len(a), string(a) == string(b[:len(a)])
	}
	for k, c := range a {
		if lowerTable[c] != lowerTable[b[k]] {
			return 0, false
		}
	}
	return len(a), true
}

// cut forgets the other ways, and the verbs, since a group or look-around began, and its bar. Changes of registers are
// kept, to be undone.
func (m *machine) cut(bar int) {
	m.bar = int(m.stack[bar].b)
	kept := m.stack[:bar]
	for _, f := range m.stack[bar+1:] {
		if f.kind == fReg || f.kind == fCall {
			kept = append(kept, f)
		}
	}
	m.stack = kept
}

// lookEnd leaves a look-around whose body has matched.
func (m *machine) lookEnd() (pc int32, pos int, ok bool) {
	bar := m.bar
	f := m.stack[bar]
	i := &m.p.code[f.pc]
	if i.b == 0 || i.x >= 0 { // a negative condition that is not met keeps what was captured, too
		m.cut(bar)
		return i.x, int(f.a), i.x >= 0
	}
	for len(m.stack) > bar+1 { // nothing of a negative look-around stays
		top := m.stack[len(m.stack)-1]
		switch top.kind {
		case fReg:
			m.regs[top.pc] = int(top.a)
		case fCall:
			m.call, m.calls, m.saved = int(top.a), m.calls[:top.b], m.saved[:top.c]
		}
		m.stack = m.stack[:len(m.stack)-1]
	}
	m.stack = m.stack[:bar]
	m.bar = int(f.b)
	return i.x, int(f.a), i.x >= 0
}

// scan asks a linear engine about a look-around.
func (m *machine) scan(i *inst, pos int) (int32, int, bool) {
	ok, read := i.scan.match(m.in, pos, m.notBOL)
	if !m.step(read >> 5) {
		return 0, 0, false
	}
	if ok {
		return i.x, pos, i.x >= 0
	}
	return i.y, pos, i.y >= 0
}

// enter calls a subroutine. The registers are given back when it returns.
func (m *machine) enter(group, ret int32, pos int) bool {
	for c := m.call; c >= 0 && m.calls[c].pos == pos; c = m.calls[c].parent {
		if m.calls[c].group == group {
			m.err = ErrLoop
			return false
		}
		if !m.step(1) {
			return false
		}
	}
	if len(m.saved)+len(m.regs) > maxSaved {
		m.err = ErrBudget
		return false
	}
	m.push(frame{kind: fCall, a: int32(m.call), b: int32(len(m.calls)), c: int32(len(m.saved))})
	m.calls = append(m.calls, call{ret: ret, group: group, parent: m.call, pos: pos, saved: len(m.saved)})
	m.saved = append(m.saved, m.regs...)
	m.call = len(m.calls) - 1
	return m.err == nil && m.step(1+len(m.regs)>>3)
}

// ret leaves a subroutine.
func (m *machine) ret() int32 {
	c := m.calls[m.call]
	m.push(frame{kind: fCall, a: int32(m.call), b: int32(len(m.calls)), c: int32(len(m.saved))})
	for r := range m.regs {
		if r != 0 {
			m.set(r, m.saved[c.saved+r])
		}
	}
	m.call = c.parent
	return c.ret
}

// matched takes the end of the pattern for a match, unless empty ones are unwanted.
func (m *machine) matched(pos int) bool {
	if m.err != nil {
		return false
	}
	if p := m.p; pos == m.start && (p.notEmpty || p.notAtStart && pos == m.from) {
		return false
	}
	m.regs[1] = pos
	return true
}

// unwind is what a verb does when it is backtracked onto: the look-around or subroutine around it fails, or else the attempt.
func (m *machine) unwind(v verb, pos int) {
	within := m.call
	for len(m.stack) > 0 {
		top := len(m.stack) - 1
		f := m.stack[top]
		switch f.kind {
		case fReg:
			m.regs[f.pc] = int(f.a)
		case fBar:
			if m.p.code[f.pc].op == iLook {
				return
			}
			m.bar = int(f.b)
		case fCall:
			entered := within >= 0 && int(f.b) == within
			m.call, m.calls, m.saved = int(f.a), m.calls[:f.b], m.saved[:f.c]
			if entered {
				m.stack = m.stack[:top]
				return
			}
		}
		m.stack = m.stack[:top]
	}
	switch v {
	case verbCommit:
		m.giveUp = true
	case verbSkip:
		m.skipTo = pos
	}
}
