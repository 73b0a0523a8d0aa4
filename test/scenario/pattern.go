package scenario

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A Pattern is literal text with placeholders in braces. It matches a whole string.
type Pattern struct {
	Source string
	re     *regexp.Regexp
	ranges []numRange // one per capture group
}

// numRange is the pair of bounds of a {lo..hi} placeholder.
type numRange struct{ lo, hi int64 }

// placeholders are the named ones; README.md documents each.
var placeholders = map[string]string{
	"*":      `[\s\S]*`,
	"word":   `\S+`,
	"n":      `\d+`,
	"ms":     `[+-]?\d+`,
	"ip":     `127\.0\.0\.\d+`,
	"client": `127\.0\.0\.\d+:\d+`,
	"date":   `\[\d\d/[A-Z][a-z][a-z]/\d{4}:\d\d:\d\d:\d\d\.\d{3}\]`,
}

// CompilePattern compiles literal text with placeholders: {n} a number, {ms} a time that may be
// -1 or start with '+', {lo..hi} a number within bounds, {~RE} a regular expression, {*} anything.
func CompilePattern(src string) (*Pattern, error) {
	p := &Pattern{Source: src}
	var b strings.Builder
	b.WriteString("^(?s:")
	for rest := src; rest != ""; {
		i := indexUnescaped(rest, '{')
		lit := rest
		if i >= 0 {
			lit = rest[:i]
		}
		text, err := Unescape(lit)
		if err != nil {
			return nil, err
		}
		b.WriteString(regexp.QuoteMeta(text))
		if i < 0 {
			break
		}
		end := closingBrace(rest[i:])
		if end < 0 {
			return nil, fmt.Errorf("pattern %q: brace is not closed (write \\{ for a literal one)", src)
		}
		if err := p.placeholder(&b, rest[i+1:i+end]); err != nil {
			return nil, err
		}
		rest = rest[i+end+1:]
	}
	b.WriteString(")$")
	re, err := regexp.Compile(b.String())
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %v", src, err)
	}
	p.re = re
	return p, nil
}

// placeholder writes the expression for one name between braces.
func (p *Pattern) placeholder(b *strings.Builder, name string) error {
	if re, ok := strings.CutPrefix(name, "~"); ok {
		b.WriteString("(?:" + re + ")")
		return nil
	}
	if re, ok := placeholders[name]; ok {
		b.WriteString("(?:" + re + ")")
		return nil
	}
	lo, hi, ok := strings.Cut(name, "..")
	if !ok {
		return fmt.Errorf("pattern %q: unknown placeholder {%s} (write \\{ for a literal brace)", p.Source, name)
	}
	l, err1 := strconv.ParseInt(lo, 10, 64)
	h, err2 := strconv.ParseInt(hi, 10, 64)
	if err1 != nil || err2 != nil || l > h {
		return fmt.Errorf("pattern %q: bad range {%s}", p.Source, name)
	}
	p.ranges = append(p.ranges, numRange{l, h})
	b.WriteString(`([+-]?\d+)`)
	return nil
}

// Match reports whether the whole of s fits the pattern.
func (p *Pattern) Match(s string) bool {
	m := p.re.FindStringSubmatch(s)
	if m == nil {
		return false
	}
	// Regular expressions given by {~RE} may not capture, so that group i is range i.
	if len(m)-1 != len(p.ranges) {
		return false
	}
	for i, r := range p.ranges {
		n, err := strconv.ParseInt(strings.TrimPrefix(m[i+1], "+"), 10, 64)
		if err != nil || n < r.lo || n > r.hi {
			return false
		}
	}
	return true
}

// indexUnescaped finds the first c that no backslash precedes.
func indexUnescaped(s string, c byte) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case c:
			return i
		}
	}
	return -1
}

// closingBrace finds the brace that closes the one at s[0]; pairs inside are skipped.
func closingBrace(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			depth--
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}
