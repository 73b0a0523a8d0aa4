package config

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// condError is a condition that cannot be parsed or evaluated.
type condError struct {
	col  int // byte of the condition
	text string
}

func (e *condError) Error() string { return e.text }

// maxParens bounds nested parentheses and negations in one condition.
const maxParens = 1024

// condParser evaluates a condition while it parses it. All of the condition is
// parsed, also what short-circuiting leaves out.
type condParser struct {
	s      string
	i      int
	depth  int
	lookup func(string) (string, bool)
	facts  *Facts
}

// evalCondition evaluates the text of a condition: quotes resolved, words
// joined by single spaces. An empty condition is false.
func evalCondition(s string, lookup func(string) (string, bool), facts *Facts) (bool, *condError) {
	c := &condParser{s: s, lookup: lookup, facts: facts}
	c.blank()
	if c.i == len(s) {
		return false, nil
	}
	v, err := c.or()
	if err != nil {
		return false, err
	}
	c.blank()
	if c.i < len(s) {
		return false, c.errorf("unexpected %s after the end of the expression '%s'", showByte(s[c.i]), clip(s))
	}
	return v, nil
}

func (c *condParser) errorf(format string, args ...any) *condError {
	return &condError{c.i, fmt.Sprintf(format, args...)}
}

// clip shortens what messages quote.
func clip(s string) string {
	if len(s) > 120 {
		return s[:120] + "..."
	}
	return s
}

func (c *condParser) blank() {
	for c.i < len(c.s) && (c.s[c.i] == ' ' || c.s[c.i] == '\t') {
		c.i++
	}
}

func (c *condParser) accept(op string) bool {
	c.blank()
	if strings.HasPrefix(c.s[c.i:], op) {
		c.i += len(op)
		return true
	}
	return false
}

func (c *condParser) or() (bool, *condError) {
	v, err := c.and()
	for err == nil && c.accept("||") {
		var w bool
		w, err = c.and()
		v = v || w
	}
	return v, err
}

func (c *condParser) and() (bool, *condError) {
	v, err := c.term()
	for err == nil && c.accept("&&") {
		var w bool
		w, err = c.term()
		v = v && w
	}
	return v, err
}

func (c *condParser) term() (bool, *condError) {
	not := false
	for c.accept("!") {
		not = !not
	}
	c.blank()
	start := c.i
	if c.accept("(") {
		c.depth++
		if c.depth > maxParens {
			return false, c.errorf("more than %d nested parentheses", maxParens)
		}
		v, err := c.or()
		if err != nil {
			return false, err
		}
		if !c.accept(")") {
			c.i = start
			return false, c.errorf("the parenthesis that opens '%s' is not closed", clip(c.s[start:]))
		}
		c.depth--
		return v != not, nil
	}
	if v, n := number(c.s[c.i:]); n > 0 {
		c.i += n
		return v != not, nil
	}
	v, err := c.predicate()
	return v != not, err
}

// number reads a C integer and tells whether it is other than zero.
func number(s string) (nonzero bool, n int) {
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	digits := i
	switch {
	case i+2 < len(s) && s[i] == '0' && (s[i+1] == 'x' || s[i+1] == 'X') && isHex(s[i+2]):
		for i += 2; i < len(s) && isHex(s[i]); i++ {
			nonzero = nonzero || s[i] != '0'
		}
	default:
		octal := i < len(s) && s[i] == '0'
		for ; i < len(s) && isDigit(s[i]) && !(octal && s[i] > '7'); i++ {
			nonzero = nonzero || s[i] != '0'
		}
	}
	if i == digits {
		return false, 0
	}
	return nonzero, i
}

// predicate describes one test; args is how many arguments it needs.
type predicate struct {
	name string
	args int
	eval func(c *condParser, a []string) (bool, error)
}

// predicates is sorted by name.
var predicates = []predicate{
	{"awslc_api_atleast", 1, func(c *condParser, a []string) (bool, error) { return c.awslc(a[0], true) }},
	{"awslc_api_before", 1, func(c *condParser, a []string) (bool, error) { return c.awslc(a[0], false) }},
	{"defined", 1, func(c *condParser, a []string) (bool, error) {
		if strings.HasPrefix(a[0], ".") {
			return false, nil
		}
		_, ok := c.lookup(a[0])
		return ok, nil
	}},
	{"enabled", 1, func(c *condParser, a []string) (bool, error) { return c.facts.Enabled[a[0]], nil }},
	{"feature", 1, func(c *condParser, a []string) (bool, error) {
		return slices.Contains(c.facts.Features, a[0]), nil
	}},
	{"fips_mode", 0, func(c *condParser, _ []string) (bool, error) { return c.facts.FIPS, nil }},
	{"openssl_version_atleast", 1, func(c *condParser, a []string) (bool, error) { return c.openssl(a[0], true) }},
	{"openssl_version_before", 1, func(c *condParser, a []string) (bool, error) { return c.openssl(a[0], false) }},
	{"ssllib_name_startswith", 1, func(c *condParser, a []string) (bool, error) {
		return strings.HasPrefix(c.facts.SSLLib, a[0]), nil
	}},
	{"streq", 2, func(_ *condParser, a []string) (bool, error) { return a[0] == a[1], nil }},
	{"strneq", 2, func(_ *condParser, a []string) (bool, error) { return a[0] != a[1], nil }},
	{"strstr", 2, func(_ *condParser, a []string) (bool, error) { return strings.Contains(a[0], a[1]), nil }},
	{"version_atleast", 1, func(_ *condParser, a []string) (bool, error) {
		return compareVersions(parseVersion(Version), parseVersion(a[0])) >= 0, nil
	}},
	{"version_before", 1, func(_ *condParser, a []string) (bool, error) {
		return compareVersions(parseVersion(Version), parseVersion(a[0])) < 0, nil
	}},
}

func predicateNames() []string {
	names := make([]string, len(predicates))
	for i, p := range predicates {
		names[i] = p.name
	}
	return names
}

func (c *condParser) predicate() (bool, *condError) {
	start := c.i
	i := c.i
	for i < len(c.s) && (isNameByte(c.s[i])) {
		i++
	}
	name := c.s[start:i]
	n := slices.IndexFunc(predicates, func(p predicate) bool { return p.name == name })
	switch {
	case n < 0 && start == len(c.s):
		return false, c.errorf("a test is missing at the end of '%s'", clip(c.s))
	case n < 0:
		return false, c.errorf("no test is known that starts like '%s'%s", clip(c.s[start:]), suggestion(name, predicateNames()))
	}
	c.i = i
	p := predicates[n]
	args := make([]string, p.args)
	got := 0
	if c.i < len(c.s) && c.s[c.i] == '(' {
		var err *condError
		if got, err = c.arguments(p, args); err != nil {
			return false, err
		}
	}
	if p.args == 2 && got < 2 {
		c.i = start
		return false, c.errorf("predicate '%s' needs %s, %d given", name, plural(p.args, "argument"), got)
	}
	v, err := p.eval(c, args)
	if err != nil {
		c.i = start
		return false, c.errorf("invalid argument of predicate '%s': %v", name, err)
	}
	return v, nil
}

// arguments reads "(a,b)" into args and returns how many it found. Quotes and
// backslashes protect, as everywhere in expressions.
func (c *condParser) arguments(p predicate, args []string) (int, *condError) {
	open := c.i
	c.i++
	got := 0
	if p.args == 0 {
		if c.i < len(c.s) && c.s[c.i] == ')' {
			c.i++
			return 0, nil
		}
		return 0, c.errorf("predicate '%s' takes no argument", p.name)
	}
	for {
		text, err := c.argument(open)
		if err != nil {
			return got, err
		}
		args[got] = text
		got++
		switch {
		case c.i >= len(c.s):
			return got, c.errorf("the arguments of predicate '%s' are not closed by ')'", p.name)
		case c.s[c.i] == ')':
			c.i++
			if got == 1 && text == "" && p.args == 2 {
				got = 0
			}
			return got, nil
		case got == len(args):
			return got, c.errorf("'%s' is too much: predicate '%s' takes %s", clip(c.s[c.i:]), p.name, plural(p.args, "argument"))
		}
		c.i++ // the comma
	}
}

// argument reads up to an unprotected comma or parenthesis.
func (c *condParser) argument(open int) (string, *condError) {
	var b []byte
	quote := byte(0)
	for c.i < len(c.s) {
		ch := c.s[c.i]
		switch {
		case quote == 0 && (ch == ',' || ch == ')'):
			return string(b), nil
		case quote == 0 && (ch == '"' || ch == '\''):
			quote = ch
		case quote != 0 && ch == quote:
			quote = 0
		case ch == '\\' && quote != '\'' && c.i+1 < len(c.s):
			c.i++
			switch e := c.s[c.i]; e {
			case 'n':
				b = append(b, '\n')
			case 'r':
				b = append(b, '\r')
			case 't':
				b = append(b, '\t')
			case '\\', '"', '\'', ' ', ',', '(', ')':
				b = append(b, e)
			default:
				b = append(b, '\\', e)
			}
		default:
			b = append(b, ch)
		}
		c.i++
	}
	if quote != 0 {
		c.i = open
		return "", c.errorf("a quote is not closed in the arguments '%s'", clip(c.s[open:]))
	}
	return string(b), nil
}

// version holds major, minor, stage (see stages), number, commit.
type version [5]uint64

// A release is later than its candidates.
var stages = []struct {
	prefix string
	rank   uint64
}{{"-dev", 1}, {"-pre", 2}, {"-rc", 3}, {".", 4}}

const released = 4

// parseVersion reads "3.5", "3.5.2", "3.5-dev5-12ab" as far as it makes sense;
// missing parts are zero.
func parseVersion(s string) version {
	var v version
	v[0], s = leadingNumber(s)
	if strings.HasPrefix(s, ".") {
		v[1], s = leadingNumber(s[1:])
	}
	v[2] = released
	for _, st := range stages {
		if strings.HasPrefix(s, st.prefix) {
			v[2] = st.rank
			v[3], s = leadingNumber(s[len(st.prefix):])
			break
		}
	}
	// "-<commit>-<n>": the number of commits follows the abbreviated hash.
	if _, rest, ok := strings.Cut(s, "-"); ok {
		if _, n, ok := strings.Cut(rest, "-"); ok {
			v[4], _ = leadingNumber(n)
		}
	}
	return v
}

func compareVersions(a, b version) int { return slices.Compare(a[:], b[:]) }

func leadingNumber(s string) (uint64, string) {
	var n uint64
	i := 0
	for ; i < len(s) && isDigit(s[i]); i++ {
		if n < math.MaxUint32 {
			n = n*10 + uint64(s[i]-'0')
		}
	}
	return n, s[i:]
}

// openssl compares with an OpenSSL version such as 1.1.1, 1.1.1a or 3.5.0-alpha1.
func (c *condParser) openssl(want string, atLeast bool) (bool, error) {
	w, ok := parseOpenSSL(want)
	if !ok {
		return false, fmt.Errorf("'%s' is no OpenSSL version", clip(want))
	}
	have, _ := parseOpenSSL(c.facts.SSLVersion)
	return (slices.Compare(have[:], w[:]) >= 0) == atLeast, nil
}

// parseOpenSSL reads major.minor.patch with an optional letter or stage.
func parseOpenSSL(s string) (v [5]uint64, ok bool) {
	for i := range 3 {
		n, rest := leadingNumber(s)
		if len(rest) == len(s) {
			return v, false
		}
		v[i], s = n, rest
		if i < 2 {
			if !strings.HasPrefix(s, ".") {
				return v, false
			}
			s = s[1:]
		}
	}
	v[3] = 0xf // a release
	for rank, name := range []string{"-dev", "-alpha", "-beta"} {
		if strings.HasPrefix(s, name) {
			v[3] = uint64(rank)
			v[4], s = leadingNumber(s[len(name):])
			return v, s == ""
		}
	}
	if len(s) == 1 && s[0] >= 'a' && s[0] <= 'z' {
		v[4] = uint64(s[0]-'a') + 1
		s = ""
	}
	return v, s == ""
}

func (c *condParser) awslc(want string, atLeast bool) (bool, error) {
	n, rest := leadingNumber(want)
	if want == "" || rest != "" {
		return false, fmt.Errorf("'%s' is no API number", clip(want))
	}
	return (uint64(max(c.facts.AWSLCAPI, 0)) >= n) == atLeast, nil
}
