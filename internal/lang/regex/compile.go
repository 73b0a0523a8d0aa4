package regex

// lookScope is what was open when a look-around began.
type lookScope struct{ open, atomics int }

// look makes a look-around that goes on behind itself, or fails. It returns the instruction that decides.
func (c *compiler) look(n *node) int32 {
	sub := n.subs[0]
	begin := c.here()
	if !n.behind && regular(sub) && !captures(sub) {
		if nfa := buildNFA(sub, true); nfa != nil {
			pc := c.emit(inst{op: iScan, scan: newDFA(nfa), x: begin + 1, y: -1})
			c.negate(n, pc)
			return pc
		}
	}
	pc := c.emit(inst{op: iLook})
	if n.neg && !c.tooLarge {
		c.code[pc].b = 1
	}
	c.noMemo++
	c.looks = append(c.looks, lookScope{len(c.open), c.atomics})
	if n.behind {
		c.behind(sub)
	} else {
		c.node(sub, follow{any: true})
	}
	c.looks = c.looks[:len(c.looks)-1]
	c.noMemo--
	c.emit(inst{op: iLookEnd})
	if !c.tooLarge {
		c.code[pc].x, c.code[pc].y = c.here(), -1
		c.negate(n, pc)
	}
	return pc
}

// negate exchanges the ways of a negative look-around.
func (c *compiler) negate(n *node, pc int32) {
	if n.neg && !c.tooLarge {
		in := &c.code[pc]
		in.x, in.y = in.y, in.x
	}
}

// behind makes the branches of a look-behind.
func (c *compiler) behind(sub *node) {
	subs := branches(sub)
	var ends []int32
	for i, s := range subs {
		split := int32(-1)
		if i < len(subs)-1 {
			split = c.emit(inst{op: iSplit, x: c.here() + 1})
		}
		if n, _ := c.t.fixed(s); n > 0 {
			c.emit(inst{op: iBack, x: int32(n)})
		}
		c.node(s, follow{any: true})
		if split >= 0 {
			ends = append(ends, c.emit(inst{op: iJump}))
			c.code[split].y = c.here()
		}
	}
	for _, e := range ends {
		c.code[e].x = c.here()
	}
}

// cond makes a conditional group.
func (c *compiler) cond(n *node, f follow) {
	yes, no := n.subs[0], n.subs[1]
	pc := int32(-1)
	switch n.cond {
	case condGroup:
		pc = c.emit(inst{op: iCond, groups: n.groups})
	case condRecurse:
		pc = c.emit(inst{op: iRecurse, y: int32(n.n)})
	case condLook:
		pc = c.look(n.subs[2])
	case condNever:
		c.node(no, f)
		return
	case condAlways:
		c.node(yes, f)
		return
	case condDefine:
		pc = c.emit(inst{op: iJump})
		f = follow{any: true}
	}
	begin := c.here()
	c.node(yes, f)
	end := int32(-1)
	if n.cond != condDefine {
		end = c.emit(inst{op: iJump})
	}
	if c.tooLarge {
		return
	}
	c.decide(n, pc, begin, c.here())
	if end >= 0 {
		c.node(no, f)
		c.code[end].x = c.here()
	}
}

// decide tells the instruction of a condition its two ways.
func (c *compiler) decide(n *node, pc, yes, no int32) {
	in := &c.code[pc]
	if n.cond != condLook {
		in.x = no
		return
	}
	in.x, in.y = yes, no
	if n.subs[2].neg {
		in.x, in.y = no, yes
	}
}

func (c *compiler) verb(n *node) {
	if n.verb != verbAccept {
		c.emit(inst{op: iVerb, b: byte(n.verb)})
		return
	}
	scope := lookScope{}
	if len(c.looks) > 0 {
		scope = c.looks[len(c.looks)-1]
	}
	for i := len(c.open) - 1; i >= scope.open; i-- {
		if c.temps() {
			c.emit(inst{op: iClose, x: int32(c.open[i])})
		} else {
			c.emit(inst{op: iSave, x: int32(2*c.open[i] + 1)})
		}
	}
	if len(c.looks) == 0 {
		c.emit(inst{op: iMatch})
		return
	}
	for range c.atomics - scope.atomics {
		c.emit(inst{op: iAtomicEnd})
	}
	c.emit(inst{op: iLookEnd})
}

// captures reports whether there are capture groups below n.
func captures(n *node) bool {
	found := false
	walk(n, func(n *node) { found = found || n.op == opCap })
	return found
}

// analyse finds what makes a search short.
func (c *compiler) analyse() {
	root := c.t.root
	c.startByte = -1
	c.anchored = begins(root, atStart, atLineStart)
	c.fromOnly = begins(root, atFrom, atFrom)
	c.nested = c.nested || c.t.hasCalls
	if c.t.hasAccept {
		return
	}
	c.least = minLen(root)
	c.need = need(root)
	if s := first(root, false); !s.nullable && s.set.len() < 256 && (!c.t.hasVerbs || lone(s.set) && !asserts(root)) {
		c.starts = c.table(s.set)
		if b, ok := s.set.single(); ok {
			c.startByte = int(b)
		}
	}
	if p := prefix(root); len(p) > 1 && !c.t.hasVerbs {
		c.prefix = p
	}
}

// lone reports whether s is one byte, or one letter in both cases: with verbs in a pattern it shows where a search begins,
// and only such a first byte makes PCRE2 begin later.
func lone(s set) bool {
	f := s
	f.fold()
	return s.len() == 1 || s.len() == 2 && f == s
}

func asserts(n *node) (found bool) {
	walk(n, func(n *node) { found = found || n.op == opAssert || n.op == opLook })
	return found
}

// begins reports whether every match of n begins with one of two assertions.
func begins(n *node, a, b assertion) bool {
	switch n.op {
	case opAssert:
		return n.assert == a || n.assert == b
	case opCat:
		for _, s := range n.subs {
			if begins(s, a, b) {
				return true
			}
			if s.op != opAssert && s.op != opLook && s.op != opKeep {
				return false
			}
		}
	case opAlt:
		for _, s := range n.subs {
			if !begins(s, a, b) {
				return false
			}
		}
		return true
	case opCap, opAtomic:
		return begins(n.subs[0], a, b)
	case opRep:
		return n.min > 0 && begins(n.subs[0], a, b)
	}
	return false
}

// prefix returns the bytes with which every match of n begins, as far as they are one literal.
func prefix(n *node) []byte {
	switch n.op {
	case opLit:
		if !n.fold {
			return n.lit
		}
	case opCat:
		for _, s := range n.subs {
			if s.op != opAssert && s.op != opLook && s.op != opKeep {
				return prefix(s)
			}
		}
	case opCap, opAtomic:
		return prefix(n.subs[0])
	case opRep:
		if n.min > 0 {
			return prefix(n.subs[0])
		}
	}
	return nil
}

// need returns the longest literal that every match of n contains.
func need(n *node) (lit []byte) {
	switch n.op {
	case opLit:
		if !n.fold {
			return n.lit
		}
	case opCat:
		for _, s := range n.subs {
			if l := need(s); len(l) > len(lit) {
				lit = l
			}
		}
	case opCap, opAtomic:
		return need(n.subs[0])
	case opRep:
		if n.min > 0 {
			return need(n.subs[0])
		}
	}
	return lit
}
