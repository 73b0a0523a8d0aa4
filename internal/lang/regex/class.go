package regex

import "strings"

// classItem is what stands in a class: a byte, or a set, which is no end of a range.
type classItem struct {
	b     byte
	set   set
	isSet bool
}

// class reads a character class; the place is at its bracket.
func (p *parser) class() (*node, error) {
	start := p.pos
	if name, end := posixAt(p.src[start:]); end > 0 && name[0] == ':' {
		return nil, p.fail(start, "a named class such as [:alpha:] stands only within a class")
	} else if end > 0 {
		return nil, p.fail(start, "collating elements such as [.a.] are not supported")
	}
	p.pos++
	negate := p.take("^")
	var s set
	quoted := false
	for first := true; ; first = false {
		var err error
		if quoted, err = p.classSkip(quoted); err != nil {
			return nil, err
		}
		if p.src[p.pos] == ']' && !first && !quoted {
			p.pos++
			break
		}
		if quoted, err = p.classRange(&s, quoted); err != nil {
			return nil, err
		}
	}
	if negate {
		s.negate()
	}
	return p.setNode(s), nil
}

// classSkip passes over quoting marks, and blanks in (?xx) mode. The class must not end here.
func (p *parser) classSkip(quoted bool) (bool, error) {
	for p.more() {
		switch {
		case p.has(`\E`):
			quoted = false
		case !quoted && p.has(`\Q`):
			quoted = true
		case !quoted && p.opts&optExtendedMore != 0 && (p.has(" ") || p.has("\t")):
			p.pos++
			continue
		default:
			return quoted, nil
		}
		p.pos += 2
	}
	return false, p.fail(p.pos, "a class without its closing bracket")
}

// classRange reads one item, or a range, into s.
func (p *parser) classRange(s *set, quoted bool) (bool, error) {
	lo, err := p.classItem(quoted)
	if err != nil {
		return false, err
	}
	if quoted, err = p.classSkip(quoted); err != nil {
		return false, err
	}
	from := p.pos
	hyphen := !quoted && p.src[p.pos] == '-'
	if !hyphen {
		p.addItem(s, lo)
		return quoted, nil
	}
	p.pos++
	after := false
	if after, err = p.classSkip(false); err != nil {
		return false, err
	}
	if !after && p.src[p.pos] == ']' { // a hyphen at the end is one
		p.addItem(s, lo)
		s.add('-')
		return false, nil
	}
	if lo.isSet {
		return false, p.fail(from+1, "a range that begins with a class")
	}
	hi, err := p.classItem(after)
	switch {
	case err != nil:
		return false, err
	case hi.isSet:
		return false, p.fail(p.pos, "a range that ends in a class")
	case hi.b < lo.b:
		return false, p.fail(p.pos, "the ends of the range are in the wrong order")
	}
	var r set
	r.addRange(lo.b, hi.b)
	if p.opts&optFold != 0 {
		r.fold()
	}
	s.union(r)
	return after, nil
}

func (p *parser) addItem(s *set, it classItem) {
	if !it.isSet {
		it.set.add(it.b)
		if p.opts&optFold != 0 {
			it.set.fold()
		}
	}
	s.union(it.set)
}

// classItem reads one character, escape or named class.
func (p *parser) classItem(quoted bool) (it classItem, err error) {
	c := p.src[p.pos]
	switch {
	case quoted:
	case c == '[':
		if name, end := posixAt(p.src[p.pos:]); end > 0 {
			return p.posix(name, end)
		}
	case c == '\\':
		return p.classEscape()
	}
	p.pos++
	return classItem{b: c}, nil
}

// posix makes the set of a named class that ends end bytes further on.
func (p *parser) posix(name string, end int) (it classItem, err error) {
	if name[0] != ':' {
		return it, p.fail(p.pos, "collating elements such as [.a.] are not supported")
	}
	name, negate := strings.CutPrefix(name[1:], "^")
	if p.opts&optFold != 0 && (name == "upper" || name == "lower") {
		name = "alpha"
	}
	ranges, ok := posixRanges[name]
	if !ok {
		return it, p.fail(p.pos, "the named class [:%s:] is not known", name)
	}
	p.pos += end
	it = classItem{set: setOf(ranges), isSet: true}
	if negate {
		it.set.negate()
	}
	return it, nil
}

// posixAt finds [:name:], [.name.] or [=name=] at the beginning of s: its name with the mark before it, and its length.
func posixAt(s string) (name string, end int) {
	if len(s) < 2 || strings.IndexByte(":.=", s[1]) < 0 {
		return "", 0
	}
	mark := s[1]
	for i := 2; i+1 < len(s); i++ {
		switch {
		case s[i] == '\\' && (s[i+1] == ']' || s[i+1] == '\\'):
			i++
		case s[i] == '[' && s[i+1] == mark, s[i] == ']':
			return "", 0
		case s[i] == mark && s[i+1] == ']':
			return s[1:i], i + 2
		}
	}
	return "", 0
}

// classEscape reads an escape in a class.
func (p *parser) classEscape() (it classItem, err error) {
	p.pos++
	if !p.more() {
		return it, p.fail(p.pos, "a backslash at the end of the pattern")
	}
	c := p.src[p.pos]
	switch c {
	case 'b':
		p.pos++
		return classItem{b: 8}, nil
	case 'g', '8', '9':
		p.pos++
		return classItem{b: c}, nil
	case 'N', 'R', 'X', 'B':
		return it, p.fail(p.pos, `\%c is not allowed in a class`, c)
	case 'p', 'P':
		s, err := p.property()
		return classItem{set: s, isSet: true}, err
	}
	if s, ok := escapeSet(c); ok {
		p.pos++
		return classItem{set: s, isSet: true}, nil
	}
	it.b, err = p.char()
	return it, err
}
