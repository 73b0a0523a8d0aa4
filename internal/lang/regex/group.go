package regex

import "strings"

// paren reads what an opening parenthesis begins. A nil node is nothing: an option setting, for one.
func (p *parser) paren() (n *node, repeatable bool, err error) {
	start := p.pos
	switch {
	case p.has("(*"):
		return p.star()
	case !p.has("(?"):
		p.pos++
		if p.opts&optNoCapture != 0 {
			n, err = p.body(start)
		} else {
			n, err = p.capture("", start)
		}
		return n, true, err
	}
	p.pos += 2
	if !p.more() {
		return nil, false, p.fail(p.pos, "a group without its closing parenthesis")
	}
	c := p.src[p.pos]
	p.pos++
	switch c {
	case ':':
		n, err = p.body(start)
	case '|':
		n, err = p.branchReset(start)
	case '>':
		n, err = p.atomic(start)
	case '=', '!':
		n, err = p.look(start, c == '!', false)
	case '*':
		return nil, false, p.fail(start, "a look-around that can be entered again, (?*, is not supported")
	case '<':
		n, err = p.angle(start)
	case '\'':
		n, err = p.named(start, '\'')
	case 'P':
		n, err = p.python(start)
	case '(':
		n, err = p.conditional(start)
	case 'C':
		err = p.callout(start)
		return nil, false, err
	case 'R', '&', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '+':
		n, err = p.subroutine(c)
	case '-':
		if p.more() && p.src[p.pos] >= '0' && p.src[p.pos] <= '9' {
			n, err = p.subroutine(c)
			break
		}
		return p.setting(start)
	default:
		return p.setting(start)
	}
	return n, true, err
}

// angle reads what (?< begins: a look-behind or a name.
func (p *parser) angle(start int) (*node, error) {
	switch {
	case p.take("="):
		return p.look(start, false, true)
	case p.take("!"):
		return p.look(start, true, true)
	case p.take("*"):
		return nil, p.fail(start, "a look-around that can be entered again, (?<*, is not supported")
	}
	return p.named(start, '>')
}

// python reads what (?P begins.
func (p *parser) python(start int) (*node, error) {
	switch {
	case p.take("<"):
		return p.named(start, '>')
	case p.take("="):
		at := p.pos
		name, err := p.groupName(')')
		return p.nameRef(name, at), err
	case p.take(">"):
		at := p.pos
		name, err := p.groupName(')')
		return p.call(-1, name, at), err
	}
	return nil, p.fail(p.pos, "(?P needs <, = or > next")
}

// body reads the inside of a group and its end.
func (p *parser) body(start int) (n *node, err error) {
	err = p.inside(start, func() error {
		n, err = p.alternation()
		return err
	})
	return n, err
}

// inside reads the inside of a group and its end. Options are back as they were.
func (p *parser) inside(start int, read func() error) error {
	opts := p.opts
	if p.depth++; p.depth > maxDepth {
		return p.fail(start, "groups are nested more than %d deep", maxDepth)
	}
	if err := read(); err != nil {
		return err
	}
	if !p.take(")") {
		return p.fail(p.pos, "a group without its closing parenthesis")
	}
	p.depth--
	p.opts = opts
	return nil
}

func (p *parser) atomic(start int) (*node, error) {
	n, err := p.body(start)
	return &node{op: opAtomic, subs: []*node{n}, pos: start}, err
}

// look reads the inside of a look-around.
func (p *parser) look(start int, neg, behind bool) (*node, error) {
	p.looks++
	n, err := p.body(start)
	p.looks--
	if err != nil {
		return nil, err
	}
	l := &node{op: opLook, neg: neg, behind: behind, subs: []*node{n}, pos: start}
	if behind {
		p.behinds = append(p.behinds, l)
	}
	return l, nil
}

// named reads a capture group with a name.
func (p *parser) named(start int, end byte) (*node, error) {
	name, err := p.groupName(end)
	if err != nil {
		return nil, err
	}
	return p.capture(name, start)
}

// capture reads the inside of a capture group.
func (p *parser) capture(name string, start int) (*node, error) {
	p.count++
	num := p.count
	if num > maxGroup {
		return nil, p.fail(start, "more than %d capture groups", maxGroup)
	}
	p.groups = max(p.groups, num)
	n := &node{op: opCap, n: num, pos: start}
	for len(p.group) <= num {
		p.group = append(p.group, nil)
		p.names = append(p.names, "")
	}
	if p.group[num] == nil {
		p.group[num] = n
	}
	if err := p.enterName(name, num); err != nil {
		return nil, err
	}
	sub, err := p.body(start)
	n.subs = []*node{sub}
	return n, err
}

// enterName gives a group its name.
func (p *parser) enterName(name string, num int) error {
	if name == "" {
		return nil
	}
	if p.names[num] != "" && p.names[num] != name {
		return p.fail(p.pos, "groups of the same number have different names, %q and %q", p.names[num], name)
	}
	for _, g := range p.byName[name] {
		if g == num {
			return nil
		}
		if p.opts&optDupNames == 0 {
			return p.fail(p.pos, "two groups have the name %q", name)
		}
	}
	p.names[num] = name
	p.byName[name] = append(p.byName[name], num)
	return nil
}

// branchReset reads (?|...: the numbers of groups begin anew in each branch.
func (p *parser) branchReset(start int) (*node, error) {
	alt := &node{op: opAlt, pos: start}
	first, most := p.count, p.count
	err := p.inside(start, func() error {
		for {
			p.count = first
			n, err := p.sequence()
			if err != nil {
				return err
			}
			alt.subs = append(alt.subs, n)
			most = max(most, p.count)
			if !p.take("|") {
				return nil
			}
		}
	})
	p.count = most
	return alt, err
}

// setting reads option letters: (?i) for the rest of the group, (?i:...) for a group of its own.
func (p *parser) setting(start int) (n *node, repeatable bool, err error) {
	p.pos = start + 2
	outer := p.opts
	opts, err := p.letters()
	if err != nil {
		return nil, false, err
	}
	p.opts = opts
	if p.take(")") {
		return nil, false, nil
	}
	p.pos++ // the colon
	n, err = p.body(start)
	p.opts = outer
	return n, true, err
}

// letters reads option letters up to a colon or a closing parenthesis, which is left.
func (p *parser) letters() (options, error) {
	opts := p.opts
	hyphen, caret := false, false
	if p.take("^") {
		caret = true
		opts &^= optFold | optMulti | optNoCapture | optDotAll | optExtended | optExtendedMore
	}
	for ; p.more(); p.pos++ {
		var o options
		switch p.src[p.pos] {
		case ')', ':':
			return opts, nil
		case '-':
			if hyphen || caret {
				return 0, p.fail(p.pos+1, "a hyphen too many in the options of a group")
			}
			hyphen = true
			continue
		case 'i':
			o = optFold
		case 'm':
			o = optMulti
		case 's':
			o = optDotAll
		case 'n':
			o = optNoCapture
		case 'J':
			o = optDupNames
		case 'U':
			o = optUngreedy
		case 'x':
			o = optExtended
			if p.has("xx") {
				p.pos++
				o |= optExtendedMore
			}
			opts &^= optExtended | optExtendedMore
		default:
			return 0, p.fail(p.pos, "(?%c is not known", p.src[p.pos])
		}
		if hyphen {
			opts &^= o
		} else {
			opts |= o
		}
	}
	return 0, p.fail(p.pos, "a group without its closing parenthesis")
}

// callout passes over (?C...): nothing is called.
func (p *parser) callout(start int) error {
	v := 0
	for ; p.more() && p.src[p.pos] >= '0' && p.src[p.pos] <= '9'; p.pos++ {
		if v = v*10 + int(p.src[p.pos]-'0'); v > 255 {
			return p.fail(p.pos, "the number of a callout is above 255")
		}
	}
	if p.take(")") {
		return nil
	}
	return p.fail(start, "callouts with text are not supported")
}

// subroutine reads (?R), (?1), (?+1), (?-1) and (?&name).
func (p *parser) subroutine(c byte) (*node, error) {
	at := p.pos
	switch c {
	case 'R':
		if !p.take(")") {
			return nil, p.fail(p.pos, "(?R needs a closing parenthesis next")
		}
		return p.call(0, "", at), nil
	case '&':
		name, err := p.groupName(')')
		return p.call(-1, name, at), err
	}
	p.pos--
	num, err := p.groupNumber()
	if err != nil {
		return nil, err
	}
	if !p.take(")") {
		return nil, p.fail(p.pos, "a group without its closing parenthesis")
	}
	return p.call(num, "", at), nil
}

// call makes a subroutine call by number, or by name when there is one.
func (p *parser) call(num int, name string, pos int) *node {
	n := &node{op: opCall, n: num, pos: pos}
	p.hasCalls = true
	if num != 0 {
		p.pending = append(p.pending, pending{n: n, num: num, name: name, pos: pos})
	}
	return n
}

// resolve gives references their groups.
func (p *parser) resolve() error {
	for _, r := range p.pending {
		groups := []int{r.num}
		if r.name != "" {
			groups = p.byName[r.name]
		}
		if r.n.op == opCond && !r.n.named && r.name != "" && len(groups) == 0 {
			if done, err := p.recursionTest(r); done || err != nil {
				if err != nil {
					return err
				}
				continue
			}
		}
		if len(groups) == 0 || groups[0] < 1 || groups[0] > p.groups {
			return p.fail(r.pos, "a reference to a group that does not exist")
		}
		r.n.groups = groups
		if r.n.op == opCall || r.n.op == opCond && r.n.cond == condRecurse {
			r.n.n = groups[0]
		}
	}
	return nil
}

// recursionTest takes the names R and R1 of a condition for what they are when no group has that name.
func (p *parser) recursionTest(r pending) (bool, error) {
	digits, ok := strings.CutPrefix(r.name, "R")
	if !ok || r.n.cond != condGroup {
		return false, nil
	}
	n := infinite
	if digits != "" {
		n = 0
		for i := range len(digits) {
			if digits[i] < '0' || digits[i] > '9' {
				return false, nil
			}
			n = n*10 + int(digits[i]-'0')
			if n > p.groups {
				return false, nil
			}
		}
	}
	r.n.cond, r.n.n = condRecurse, n
	p.hasCalls = true
	return true, nil
}

// checkBehinds looks for look-behinds of no fixed length.
func (p *parser) checkBehinds() error {
	for _, l := range p.behinds {
		for _, branch := range branches(l.subs[0]) {
			n, ok := p.fixed(branch)
			if !ok {
				return p.fail(l.pos, "a look-behind whose length is not fixed")
			}
			if n > maxRepeat {
				return p.fail(l.pos, "a look-behind longer than %d bytes", maxRepeat)
			}
		}
	}
	return nil
}

func branches(n *node) []*node {
	if n.op == opAlt {
		return n.subs
	}
	return []*node{n}
}
