package regex

import (
	"errors"

	"weir/internal/base/budget"
)

// ErrTemplate says that a replacement ends within an escape.
var ErrTemplate = errors.New("the replacement ends in the middle of an escape")

// Template is a replacement text, read once: see Expand for its language.
type Template struct {
	parts []part
}

// part is a literal, or a capture group.
type part struct {
	lit   []byte
	group int // -1: a literal
}

// ParseTemplate reads a replacement text. The only error is ErrTemplate; groups that a pattern does not have are empty.
func ParseTemplate(text string) (*Template, error) {
	t := &Template{}
	var lit []byte
	flush := func() {
		if len(lit) > 0 {
			t.parts = append(t.parts, part{lit, -1})
			lit = nil
		}
	}
	for i := 0; i < len(text); {
		c, group, size := escaped(text[i:])
		switch {
		case size == 0:
			return nil, ErrTemplate
		case group >= 0:
			flush()
			t.parts = append(t.parts, part{nil, group})
		default:
			lit = append(lit, c)
		}
		i += size
	}
	flush()
	return t, nil
}

// Append appends the replacement for a match in b: loc is what FindSubmatchIndex returned for it.
func (t *Template) Append(dst, b []byte, loc []int) []byte {
	for i := range t.parts {
		if p := &t.parts[i]; p.group < 0 {
			dst = append(dst, p.lit...)
		} else {
			dst = appendGroup(dst, b, loc, p.group)
		}
	}
	return dst
}

// Expand appends the replacement for a match in b, as regsub and replace-header make it: \0 to \9 stand for the match
// and its groups, empty when there is no such group; \xHH for a byte; a backslash before anything else for that. Of
// "digits" after \x that are none something is made too, as the reference does. When the text ends within an escape
// there is no replacement, and the result is nil.
func Expand(dst []byte, template string, b []byte, loc []int) []byte {
	return ExpandMax(dst, template, b, loc, int(^uint(0)>>1))
}

// ExpandMax is Expand with a limit: the result is nil, too, when dst would become longer than max bytes.
func ExpandMax(dst []byte, template string, b []byte, loc []int, max int) []byte {
	dst, ok := expand(dst, template, b, loc, max)
	if !ok || len(dst) > max {
		return nil
	}
	if dst == nil {
		return []byte{}
	}
	return dst
}

// expand appends the replacement, and stops when dst is longer than max. ok is false when the text ends in an escape.
func expand(dst []byte, template string, b []byte, loc []int, max int) (_ []byte, ok bool) {
	for i := 0; i < len(template) && len(dst) <= max; {
		c, group, size := escaped(template[i:])
		switch {
		case size == 0:
			return dst, false
		case group >= 0:
			dst = appendGroup(dst, b, loc, group)
		default:
			dst = append(dst, c)
		}
		i += size
	}
	return dst, true
}

// escaped reads one byte or escape: a byte, or a group from 0 on. size is 0 when the text ends too early.
func escaped(s string) (c byte, group, size int) {
	if s[0] != '\\' {
		return s[0], -1, 1
	}
	if len(s) < 2 {
		return 0, -1, 0
	}
	switch c = s[1]; {
	case c >= '0' && c <= '9':
		return 0, int(c - '0'), 2
	case c == 'x' && len(s) < 4:
		return 0, -1, 0
	case c == 'x':
		return looseHex(s[2])<<4 + looseHex(s[3]), -1, 4
	}
	return c, -1, 2
}

// looseHex is the value of a hexadecimal digit; of any other byte it is what the reference makes of it.
func looseHex(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'z':
		c -= 32
	}
	return c - 'A' + 10
}

func appendGroup(dst, b []byte, loc []int, g int) []byte {
	if 2*g+1 >= len(loc) || loc[2*g] < 0 {
		return dst
	}
	return append(dst, b[loc[2*g]:loc[2*g+1]]...)
}

// Replace appends b with its first match, or with all replaced, and stops when dst would be longer than max. It is the
// work of regsub: matches after the first are looked for in what remains, where ^ does not match and look-behinds
// see nothing, and after an empty match one byte is passed over. A template that ends within an escape ends the result
// before the match.
func (r *Regex) Replace(dst []byte, template string, b []byte, all bool, max int, left *budget.Steps) ([]byte, error) {
	var fixed [20]int
	loc := fixed[:0]
	for first := true; ; first = false {
		next, err := r.search(loc, b, 0, !first, left)
		if err != nil {
			return dst, err
		}
		if next == nil {
			break
		}
		loc = next
		dst = append(dst, b[:loc[0]]...)
		before := len(dst)
		out, ok := expand(dst, template, b, loc, max)
		if !ok {
			return clip(out[:before], max), nil
		}
		if dst = out; len(dst) > max {
			return clip(dst, max), nil
		}
		end := loc[1]
		if end == 0 && len(b) > 0 { // an empty match at the start
			dst = append(dst, b[0])
			end = 1
		} else if end == 0 {
			return dst, nil
		}
		b = b[end:]
		if !all {
			break
		}
	}
	return clip(append(dst, b...), max), nil
}

func clip(b []byte, max int) []byte { return b[:min(len(b), max)] }
