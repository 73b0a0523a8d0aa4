package convdata

import (
	"bytes"
	"math"

	"weir/internal/base/ascii"
)

// jsonKind is what a query has found.
type jsonKind uint8

const (
	jsonNone jsonKind = iota // nothing, or text that is no JSON up to where the value would be
	jsonString
	jsonNumber
	jsonTrue
	jsonFalse
	jsonNull
	jsonArray
	jsonObject
)

// maxJSONDepth is how many arrays and objects may contain each other, as in the reference.
const maxJSONDepth = 20

// jsonStep is one step of a path: into a member or into an element.
type jsonStep struct {
	key   string // as the member's name is written in the text, escapes included
	index int
	kind  uint8
}

const (
	stepKey uint8 = iota
	stepIndex
	stepNever // cannot match anything
)

// jsonPath is a compiled path such as $.a.b[0].
type jsonPath struct {
	steps []jsonStep
	never bool // does not begin with '$'
}

// compilePath compiles a path. A backslash takes the meaning away from the byte after it. Like the reference it accepts any text;
// what makes no sense matches nothing.
func compilePath(path string) *jsonPath {
	p := new(jsonPath)
	if path == "" || path[0] != '$' {
		p.never = true
		return p
	}
	for rest := path[1:]; rest != ""; {
		var s jsonStep
		switch rest[0] {
		case '.':
			s.key, rest = cutKey(rest[1:])
		case '[':
			s, rest = cutIndex(rest)
		default:
			s.kind, rest = stepNever, ""
		}
		p.steps = append(p.steps, s)
	}
	return p
}

// cutKey splits the name of a member off.
func cutKey(s string) (key, rest string) {
	var b []byte
	i := 0
	for ; i < len(s) && s[i] != '.' && s[i] != '['; i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b = append(b, s[i])
	}
	return string(b), s[i:]
}

// cutIndex splits an index in brackets off. The reference reads it as a floating-point number, takes what is no number for zero, and
// expects zero to be one byte long.
func cutIndex(s string) (step jsonStep, rest string) {
	n, _ := parseJSONNumber([]byte(s), 1)
	step.kind = stepIndex
	if n >= 1 && n <= math.MaxInt32 {
		step.index = int(n)
	} else if math.Abs(n) >= 1 || n != n {
		step.index = -1
	}
	if step.index == 0 {
		return step, s[min(3, len(s)):]
	}
	for i := range len(s) {
		if s[i] == ']' {
			return step, s[i+1:]
		}
	}
	step.kind = stepNever
	return step, ""
}

// jsonCursor is where a query stands. It follows the events of the text (a name, a comma, the begin or end of a container, a value) and
// keeps two depths, that of the text and that to which the path has matched.
type jsonCursor struct {
	steps          []jsonStep // those that have not matched yet
	depth, matched int
	count, want    int // elements passed in the array at hand, and the index to find
	start          int // where the container begins that the whole path leads to; -1: none
}

// What a scanner expects next.
const (
	wantValue uint8 = iota
	wantKey
	wantColon
	wantComma
)

// jsonScanner reads a text token by token.
type jsonScanner struct {
	jsonCursor
	text  []byte
	at    int // the token
	want  uint8
	nest  [maxJSONDepth]byte // the brackets that are open
	kind  jsonKind           // what was found
	found []byte
}

// find looks the path up in text and returns the kind of the value and its bytes: the contents of a string between the
// quotes, a number with all that follows it, an array or object whole.
//
// It does not check the text behind the value, and reports the first match. It takes the reference's liberties: when the
// element that an index names does not have what the path asks for, those after it are tried as well.
func (p *jsonPath) find(text []byte) (jsonKind, []byte) {
	if p.never {
		return jsonNone, nil
	}
	s := jsonScanner{text: text}
	s.steps, s.start = p.steps, -1
	for ; s.at < len(text); s.at++ {
		switch b := text[s.at]; b {
		case ' ', '\t', '\n', '\r':
		default:
			if !s.token(b) {
				return s.kind, s.found
			}
		}
	}
	return jsonNone, nil
}

// token takes the token that begins with b and leaves s.at at its last byte; false: the search is over.
func (s *jsonScanner) token(b byte) bool {
	switch s.want {
	case wantValue:
		switch b {
		case '{', '[':
			return s.begin(b)
		case ']': // of an empty array, or behind a comma
			return s.end(b)
		}
		return s.value()
	case wantKey:
		if b == '}' {
			return s.end(b)
		}
		end := jsonStringEnd(s.text, s.at)
		if b != '"' || end < 0 || !s.name(s.text[s.at+1:end]) {
			return false
		}
		s.at, s.want = end, wantColon
		return true
	case wantColon:
		s.want = wantValue
		return b == ':'
	}
	switch b {
	case ',':
		s.comma()
		if s.want = wantValue; s.nest[s.depth-1] == '{' {
			s.want = wantKey
		}
		return true
	case '}', ']':
		return s.end(b)
	}
	return false
}

// begin opens an array or object.
func (s *jsonScanner) begin(b byte) bool {
	if s.depth == maxJSONDepth {
		return false
	}
	s.nest[s.depth] = b
	s.open(b, s.at)
	if b == '{' {
		s.want = wantKey
	}
	return true
}

// end closes an array or object.
func (s *jsonScanner) end(b byte) bool {
	if s.depth == 0 || s.nest[s.depth-1] != b-2 { // '[' and ']', '{' and '}' are two apart
		return false
	}
	s.want = wantComma
	if s.close() {
		s.kind, s.found = jsonObject, s.text[s.start:s.at+1]
		if b == ']' {
			s.kind = jsonArray
		}
		return false
	}
	return s.depth > 0
}

// value takes a value that is neither array nor object.
func (s *jsonScanner) value() bool {
	kind, from, end := jsonValue(s.text, s.at)
	if s.depth == s.matched && len(s.steps) == 0 {
		s.kind, s.found = kind, s.text[from:end]
		return false
	}
	s.want = wantComma
	switch kind {
	case jsonString:
		s.at = end // the quote
	case jsonNumber:
		end, _ = jsonNumberEnd(s.text, s.at)
		s.at = end - 1 // a sign without number is found again, which ends the search
	default:
		s.at = end - 1
	}
	return kind != jsonNone && s.depth > 0
}

func (c *jsonCursor) open(b byte, at int) {
	if b == '[' && c.depth == c.matched && len(c.steps) > 0 && c.steps[0].kind == stepIndex {
		c.count, c.want = 0, c.steps[0].index
		if c.want == 0 {
			c.step()
		}
	}
	if c.depth == c.matched && len(c.steps) == 0 {
		c.start = at
	}
	c.depth++
}

func (c *jsonCursor) step() {
	c.steps = c.steps[1:]
	c.matched++
}

func (c *jsonCursor) comma() {
	if c.depth != c.matched+1 {
		return
	}
	if c.count++; c.count == c.want && len(c.steps) > 0 {
		c.step()
	}
}

// name takes the name of a member; false: the object that the path leads through has ended, there will be no match.
func (c *jsonCursor) name(key []byte) bool {
	if c.depth == c.matched+1 {
		if len(c.steps) > 0 && c.steps[0].kind == stepKey && string(key) == c.steps[0].key {
			c.step()
		}
		return true
	}
	return c.depth != c.matched
}

// close reports whether the container that ends is the one to find.
func (c *jsonCursor) close() bool {
	c.depth--
	return c.depth == c.matched && len(c.steps) == 0 && c.start >= 0
}

// jsonValue reads the value that is neither array nor object at text[i]. For a string, from and end are what stands between the quotes; for
// a number, end is the end of the text.
func jsonValue(text []byte, i int) (kind jsonKind, from, end int) {
	switch b := text[i]; {
	case b == '"':
		if end := jsonStringEnd(text, i); end >= 0 {
			return jsonString, i + 1, end
		}
	case b == '-' || ascii.IsDigit(b):
		return jsonNumber, i, len(text)
	case bytes.HasPrefix(text[i:], []byte("true")):
		return jsonTrue, i, i + 4
	case bytes.HasPrefix(text[i:], []byte("false")):
		return jsonFalse, i, i + 5
	case bytes.HasPrefix(text[i:], []byte("null")):
		return jsonNull, i, i + 4
	}
	return jsonNone, 0, 0
}

// jsonStringEnd returns where the string that begins at text[i] has its closing quote, -1 without one.
func jsonStringEnd(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i
		case 0:
			return -1
		case '\\':
			if i+1 < len(text) && jsonEscape(text[i+1]) != 0 {
				i++
			}
		}
	}
	return -1
}

// jsonEscape returns what a backslash and c stand for, 0 for nothing.
func jsonEscape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case '\\', '"':
		return c
	}
	return 0
}

// appendJSONString resolves the escapes of a string. Those of characters above U+00FF are not supported, as in the reference; below, \u gives
// one byte. It reports false for an escape that does not exist.
func appendJSONString(dst, s []byte) ([]byte, bool) {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '\\':
			dst = append(dst, s[i])
		case i+5 < len(s) && s[i+1] == 'u':
			if s[i+2] != '0' || s[i+3] != '0' {
				return nil, false
			}
			dst = append(dst, looseHex(s[i+4])<<4|looseHex(s[i+5]))
			i += 5
		default:
			if i++; i == len(s) || jsonEscape(s[i]) == 0 {
				return nil, false
			}
			dst = append(dst, jsonEscape(s[i]))
		}
	}
	return dst, true
}

// looseHex is the value of a hexadecimal digit, and for other bytes what the reference computes for them.
func looseHex(c byte) byte {
	switch {
	case ascii.IsDigit(c):
		return c - '0'
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	}
	return c - 'a' + 10
}
