package regex

import (
	"strings"
)

// escape reads what a backslash begins, outside a class.
func (p *parser) escape() (n *node, repeatable bool, err error) {
	start := p.pos
	p.pos++
	if !p.more() {
		return nil, false, p.fail(p.pos, "a backslash at the end of the pattern")
	}
	c := p.src[p.pos]
	if s, ok := escapeSet(c); ok {
		if c == 'N' && p.has("N{") && !quantifier(p.src[p.pos+1:]) {
			return nil, false, p.fail(p.pos+1, `\N{...} is not supported: it needs Unicode`)
		}
		p.pos++
		return p.setNode(s), true, nil
	}
	if a, ok := simple(c); ok {
		p.pos++
		return p.assertNode(a), false, nil
	}
	switch c {
	case 'R':
		p.pos++
		return p.newline(), true, nil
	case 'C':
		p.pos++
		return p.setNode(allBytes()), true, nil
	case 'X':
		return nil, false, p.fail(p.pos+1, `\X (grapheme clusters) is not supported`)
	case 'p', 'P':
		s, err := p.property()
		return p.setNode(s), true, err
	case 'K':
		p.pos++
		if p.looks > 0 {
			return nil, false, p.fail(p.pos, `\K is not allowed in a look-around`)
		}
		p.hasKeep = true
		return &node{op: opKeep, pos: start}, false, nil
	case 'g', 'k':
		n, err = p.reference(c)
		return n, true, err
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if n := p.numbered(); n != nil {
			return n, true, nil
		}
	}
	b, err := p.char()
	return p.literal(b), true, err
}

// simple is the assertion that an escape stands for.
func simple(c byte) (assertion, bool) {
	switch c {
	case 'A':
		return atStart, true
	case 'Z':
		return atLastLine, true
	case 'z':
		return atEnd, true
	case 'G':
		return atFrom, true
	case 'b':
		return atWord, true
	case 'B':
		return notAtWord, true
	}
	return 0, false
}

// newline is what \R stands for.
func (p *parser) newline() *node {
	s := setOf("\n\r\x85\x85")
	if p.anyCRLF {
		s = setOf("\n\n\r\r")
	}
	alt := &node{op: opAlt, subs: []*node{{op: opLit, lit: []byte("\r\n")}, p.setNode(s)}}
	return &node{op: opAtomic, subs: []*node{alt}, pos: p.pos}
}

// numbered reads \1 and its like; nil when the digits are an octal number instead.
func (p *parser) numbered() *node {
	i, v := p.pos, 0
	for ; i < len(p.src) && p.src[i] >= '0' && p.src[i] <= '9'; i++ {
		if v = v*10 + int(p.src[i]-'0'); v > maxGroup {
			break
		}
	}
	if v > 9 && p.src[p.pos] < '8' && v > p.count {
		return nil
	}
	p.pos = i
	return p.groupRef(v, p.pos-1)
}

// groupRef is a back-reference to a group by its number.
func (p *parser) groupRef(num, pos int) *node {
	n := &node{op: opRef, groups: []int{num}, fold: p.opts&optFold != 0, pos: pos}
	p.hasRefs = true
	p.pending = append(p.pending, pending{n: n, num: num, pos: pos})
	return n
}

// nameRef is a back-reference by name.
func (p *parser) nameRef(name string, pos int) *node {
	n := &node{op: opRef, fold: p.opts&optFold != 0, pos: pos}
	p.hasRefs = true
	p.pending = append(p.pending, pending{n: n, name: name, pos: pos})
	return n
}

// closers are the ends of names by their beginnings.
func closer(open byte) byte {
	switch open {
	case '<':
		return '>'
	case '{':
		return '}'
	}
	return open
}

// reference reads \g and \k: back-references, and with \g<...> subroutine calls.
func (p *parser) reference(kind byte) (*node, error) {
	p.pos++
	if !p.more() {
		return nil, p.fail(p.pos, `\%c without the name or number of a group`, kind)
	}
	open := p.src[p.pos]
	switch {
	case open == '<' || open == '\'' || open == '{':
		p.pos++
	case kind == 'g' && (open == '+' || open == '-' || open >= '0' && open <= '9'):
		open = 0
	default:
		return nil, p.fail(p.pos, `\%c without the name or number of a group`, kind)
	}
	if kind == 'g' && p.more() && strings.IndexByte("+-0123456789", p.src[p.pos]) >= 0 {
		at := p.pos
		num, err := p.groupNumber()
		if err != nil {
			return nil, err
		}
		if open != 0 && !p.take(string(closer(open))) {
			return nil, p.fail(p.pos, `\g without the end of its number`)
		}
		if open == '<' || open == '\'' {
			return p.call(num, "", at), nil
		}
		if num == 0 {
			return nil, p.fail(p.pos, "a reference to group 0")
		}
		return p.groupRef(num, at), nil
	}
	at := p.pos
	name, err := p.groupName(closer(open))
	if err != nil {
		return nil, err
	}
	if kind == 'g' && open != '{' {
		return p.call(-1, name, at), nil
	}
	return p.nameRef(name, at), nil
}

// groupNumber reads the number of a group, which may count from here with + or -.
func (p *parser) groupNumber() (int, error) {
	at, sign := p.pos, byte(0)
	if c := p.src[p.pos]; c == '+' || c == '-' {
		sign = c
		p.pos++
	}
	from, v := p.pos, 0
	for ; p.more() && p.src[p.pos] >= '0' && p.src[p.pos] <= '9'; p.pos++ {
		if v = v*10 + int(p.src[p.pos]-'0'); v > maxGroup {
			return 0, p.fail(p.pos, "the number of the group is too big")
		}
	}
	if p.pos == from {
		return 0, p.fail(p.pos, "a sign without a number")
	}
	switch sign {
	case '+':
		if v == 0 {
			return 0, p.fail(p.pos, "a relative reference of 0")
		}
		return p.count + v, nil
	case '-':
		if v == 0 || v > p.count {
			return 0, p.fail(at, "a reference to a group that does not exist")
		}
		return p.count - v + 1, nil
	}
	return v, nil
}

// groupName reads a name and its end.
func (p *parser) groupName(end byte) (string, error) {
	from := p.pos
	for p.more() && isWord(p.src[p.pos]) {
		p.pos++
	}
	name := p.src[from:p.pos]
	switch {
	case name != "" && name[0] >= '0' && name[0] <= '9':
		return "", p.fail(from, "the name of a group begins with a digit")
	case name == "":
		return "", p.fail(p.pos, "the name of a group is missing")
	case len(name) > maxName:
		return "", p.fail(p.pos, "the name of a group is longer than %d characters", maxName)
	case !p.more() || p.src[p.pos] != end:
		return "", p.fail(p.pos, "the name of a group does not end in %q", end)
	}
	p.pos++
	return name, nil
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

// property reads \p or \P; the place is at the letter.
func (p *parser) property() (s set, err error) {
	negate := p.src[p.pos] == 'P'
	p.pos++
	if !p.more() {
		return s, p.fail(p.pos, `a property without its name`)
	}
	name := p.src[p.pos : p.pos+1]
	p.pos++
	if name == "{" {
		if p.take("^") {
			negate = !negate
		}
		i := strings.IndexByte(p.src[p.pos:], '}')
		if i < 0 {
			return s, p.fail(len(p.src), "a property without its closing brace")
		}
		name = p.src[p.pos : p.pos+i]
		p.pos += i + 1
	}
	s, ok := property(name)
	if !ok {
		return s, p.fail(p.pos, "the property %q is not known", name)
	}
	if negate {
		s.negate()
	}
	return s, nil
}

// char reads the byte that an escape stands for; the place is behind the backslash.
func (p *parser) char() (byte, error) {
	c := p.src[p.pos]
	switch c {
	case 'a':
		c = 7
	case 'e':
		c = 27
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'c':
		p.pos++
		return p.control()
	case 'x':
		p.pos++
		return p.hex()
	case 'o':
		p.pos++
		if !p.take("{") {
			return 0, p.fail(p.pos, `\o without its opening brace`)
		}
		return p.braced(8)
	case '0', '1', '2', '3', '4', '5', '6', '7':
		return p.octal()
	default:
		if c != '_' && isWord(c) {
			return 0, p.fail(p.pos, `\%c is not known`, c)
		}
	}
	p.pos++
	return c, nil
}

// control reads the character of \c.
func (p *parser) control() (byte, error) {
	if !p.more() {
		return 0, p.fail(p.pos, `\c at the end of the pattern`)
	}
	c := p.src[p.pos]
	if c < ' ' || c > '~' {
		return 0, p.fail(p.pos, `\c with something else than a printable ASCII character`)
	}
	p.pos++
	if c >= 'a' && c <= 'z' {
		c -= 32
	}
	return c ^ 0x40, nil
}

// octal reads up to three octal digits.
func (p *parser) octal() (byte, error) {
	v := 0
	for i := 0; i < 3 && p.more() && p.src[p.pos] >= '0' && p.src[p.pos] <= '7'; i++ {
		v = v*8 + int(p.src[p.pos]-'0')
		p.pos++
	}
	if v > 0xff {
		return 0, p.fail(p.pos, "an octal number above 377")
	}
	return byte(v), nil
}

// hex reads \xhh and \x{hh}.
func (p *parser) hex() (byte, error) {
	if p.take("{") {
		return p.braced(16)
	}
	v := 0
	for i := 0; i < 2 && p.more(); i++ {
		d, ok := digit(p.src[p.pos], 16)
		if !ok {
			break
		}
		v = v*16 + d
		p.pos++
	}
	return byte(v), nil
}

// braced reads a number up to its closing brace.
func (p *parser) braced(base int) (byte, error) {
	v := 0
	for i := 0; ; i++ {
		if p.more() && p.src[p.pos] == '}' && i > 0 {
			p.pos++
			return byte(v), nil
		}
		if p.has("}") {
			return 0, p.fail(p.pos, "no digits between the braces")
		}
		if !p.more() {
			return 0, p.fail(p.pos, "a number without its closing brace")
		}
		d, ok := digit(p.src[p.pos], base)
		if !ok {
			return 0, p.fail(p.pos, "%q is no digit of base %d", p.src[p.pos], base)
		}
		if v = v*base + d; v > 0xff {
			return 0, p.fail(p.pos, "a character above 255: patterns match bytes")
		}
		p.pos++
	}
}

// digit is the value of a digit.
func digit(c byte, base int) (int, bool) {
	v := 99
	switch {
	case c >= '0' && c <= '9':
		v = int(c - '0')
	case c >= 'a' && c <= 'f':
		v = int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		v = int(c-'A') + 10
	}
	return v, v < base
}
