package regex

import (
	"strconv"
	"strings"
)

// conditional reads (?(condition)yes|no); the place is behind the second parenthesis.
func (p *parser) conditional(start int) (*node, error) {
	n := &node{op: opCond, pos: start}
	question, err := p.condition(n)
	if err != nil {
		return nil, err
	}
	var parts []*node
	err = p.inside(start, func() error {
		parts, err = p.branches()
		return err
	})
	if err != nil {
		return nil, err
	}
	switch {
	case len(parts) > 2:
		return nil, p.fail(start, "a conditional group with more than two branches")
	case len(parts) == 2 && n.cond == condDefine:
		return nil, p.fail(start, "a group (?(DEFINE) with more than one branch")
	case len(parts) == 1:
		parts = append(parts, &node{op: opEmpty, pos: p.pos})
	}
	n.subs = append(parts, question...)
	return n, nil
}

// condition reads the condition and its closing parenthesis.
func (p *parser) condition(n *node) ([]*node, error) {
	if p.has("?") || p.has("*") {
		return p.assertionCondition(n)
	}
	at := p.pos
	if !p.more() {
		return nil, p.fail(p.pos, "a condition without its closing parenthesis")
	}
	c := p.src[p.pos]
	switch {
	case c >= '0' && c <= '9' || c == '+' || c == '-':
		num, err := p.groupNumber()
		if err != nil {
			return nil, err
		}
		p.refer(n, num, "", at)
		return nil, p.closeCondition()
	case c == '<' || c == '\'':
		p.pos++
		name, err := p.groupName(closer(c))
		if err != nil {
			return nil, err
		}
		n.named = true
		p.refer(n, 0, name, at)
		return nil, p.closeCondition()
	case p.take("R&"):
		n.cond = condRecurse
		p.hasCalls = true
		name, err := p.groupName(')')
		p.refer(n, 0, name, at)
		return nil, err
	case p.has("VERSION") && p.pos+7 < len(p.src) && strings.IndexByte("=>", p.src[p.pos+7]) >= 0:
		return nil, p.version(n)
	}
	name, err := p.groupName(')')
	if err != nil {
		return nil, err
	}
	if name == "DEFINE" {
		n.cond = condDefine
		return nil, nil
	}
	p.refer(n, 0, name, at)
	return nil, nil
}

// refer notes that a condition is about a group.
func (p *parser) refer(n *node, num int, name string, pos int) {
	p.hasRefs = true
	p.pending = append(p.pending, pending{n: n, num: num, name: name, pos: pos})
}

func (p *parser) closeCondition() error {
	if !p.take(")") {
		return p.fail(p.pos, "a condition without its closing parenthesis")
	}
	return nil
}

// assertionCondition reads a look-around as a condition.
func (p *parser) assertionCondition(n *node) ([]*node, error) {
	p.pos-- // the look-around begins with the condition's parenthesis
	at := p.pos
	if p.has("(?C") {
		return nil, p.fail(at, "callouts in conditions are not supported")
	}
	opts := p.opts
	q, _, err := p.paren()
	if err != nil {
		return nil, err
	}
	p.opts = opts
	if q == nil || q.op != opLook {
		return nil, p.fail(at, "a condition that is no look-around")
	}
	n.cond = condLook
	return []*node{q}, nil
}

// version reads VERSION>=n.m: the language is that of version 10.42.
func (p *parser) version(n *node) error {
	p.pos += len("VERSION")
	atLeast := p.take(">")
	if !p.take("=") {
		return p.fail(p.pos, "a VERSION condition that is malformed")
	}
	from := p.pos
	for p.more() && p.src[p.pos] != ')' {
		p.pos++
	}
	major, minor, _ := strings.Cut(p.src[from:p.pos], ".")
	if len(minor) == 1 {
		minor += "0"
	}
	if minor == "" {
		minor = "0"
	}
	a, err1 := strconv.ParseUint(major, 10, 10)
	b, err2 := strconv.ParseUint(minor, 10, 10)
	if err1 != nil || err2 != nil || len(minor) > 2 {
		return p.fail(p.pos, "a VERSION condition that is malformed")
	}
	n.cond = condNever
	v := a*100 + b
	if v == 1042 || atLeast && v < 1042 {
		n.cond = condAlways
	}
	return p.closeCondition()
}

// looksByName are the spelt-out look-arounds: neg, behind.
var looksByName = map[string][2]bool{
	"pla": {false, false}, "positive_lookahead": {false, false}, "nla": {true, false}, "negative_lookahead": {true, false},
	"plb": {false, true}, "positive_lookbehind": {false, true}, "nlb": {true, true}, "negative_lookbehind": {true, true},
}

// star reads what (* begins: a verb or a group with a name in words.
func (p *parser) star() (n *node, repeatable bool, err error) {
	start := p.pos
	i := p.pos + 2
	for i < len(p.src) && isWord(p.src[i]) {
		i++
	}
	name := p.src[p.pos+2 : i]
	switch {
	case i == len(p.src) || name == "" && p.src[i] != ':':
		return nil, false, p.fail(p.pos+1, "a quantifier without something to repeat")
	case name != "" && name[0] >= 'a' && name[0] <= 'z':
		if p.src[i] != ':' {
			return nil, false, p.fail(i, "(*%s is not known", name)
		}
		p.pos = i + 1
		if l, ok := looksByName[name]; ok {
			n, err = p.look(start, l[0], l[1])
			return n, true, err
		}
		if name == "atomic" {
			n, err = p.atomic(start)
			return n, true, err
		}
		return nil, false, p.fail(start, "(*%s: is not supported", name)
	case p.src[i] == ':':
		return nil, false, p.fail(start, "the verb (*%s:...), with a name, is not supported", name)
	case p.src[i] != ')':
		return nil, false, p.fail(i, "the verb (*%s is malformed", name)
	}
	p.pos = i + 1
	v := &node{op: opVerb, pos: start}
	switch name {
	case "FAIL", "F":
		return &node{op: opFail, pos: start}, false, nil
	case "ACCEPT":
		v.verb = verbAccept
		p.hasAccept = true
		return v, true, nil
	case "COMMIT":
		v.verb = verbCommit
	case "PRUNE":
		v.verb = verbPrune
	case "SKIP":
		v.verb = verbSkip
	default:
		return nil, false, p.fail(start, "the verb (*%s) is not supported", name)
	}
	p.hasVerbs = true
	if p.looks > 0 {
		return nil, false, p.fail(start, "the verb (*%s) is not supported in a look-around", name)
	}
	return v, false, nil
}

// startVerbs reads the settings that stand before a pattern.
func (p *parser) startVerbs() error {
	for p.has("(*") {
		i := strings.IndexByte(p.src[p.pos:], ')')
		if i < 0 {
			return nil
		}
		name, value, valued := strings.Cut(p.src[p.pos+2:p.pos+i], "=")
		switch name {
		case "NO_AUTO_POSSESS", "NO_DOTSTAR_ANCHOR", "NO_JIT", "NO_START_OPT", "LF", "BSR_UNICODE":
		case "BSR_ANYCRLF":
			p.anyCRLF = true
		case "NOTEMPTY":
			p.notEmpty = true
		case "NOTEMPTY_ATSTART":
			p.notAtStart = true
		case "LIMIT_MATCH":
			n, err := strconv.ParseUint(value, 10, 32)
			if err != nil {
				return p.fail(p.pos+i, "a limit that is no number")
			}
			valued = false
			p.limit = max(1, int(n))
		case "UTF", "UTF8", "UCP":
			return p.fail(p.pos, "(*%s) is not supported: patterns match bytes", name)
		case "CR", "CRLF", "ANYCRLF", "ANY", "NUL":
			return p.fail(p.pos, "(*%s) is not supported: lines end in line feed", name)
		case "LIMIT_DEPTH", "LIMIT_HEAP", "LIMIT_RECURSION":
			return p.fail(p.pos, "(*%s) is not supported", name)
		default:
			return nil
		}
		if valued {
			return p.fail(p.pos, "(*%s) takes no value", name)
		}
		p.pos += i + 1
	}
	return nil
}
