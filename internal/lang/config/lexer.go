package config

import (
	"fmt"
	"strings"
)

// lexError is a line that cannot be cut into words.
type lexError struct {
	col  int // byte of the raw line
	text string
}

func (e *lexError) Error() string { return e.text }

// lexer cuts one line into words (manual section 2.2).
type lexer struct {
	raw    string
	i      int
	lookup func(name string) (string, bool) // environment and pseudo-variables

	words  []Arg
	buf    []byte // current word
	start  int    // where it begins in raw
	inWord bool
	quoted bool
	list   bool // a [*] expansion took part: an empty word vanishes
	total  int  // bytes of all words so far
	dquote int  // index of the open double quote, or -1

	comments bool // '#' starts a comment
}

// lex cuts a line into words. The line has no end-of-line characters. With
// comments unset a '#' is an ordinary character (conditions of -cc).
func lex(raw string, comments bool, lookup func(string) (string, bool)) ([]Arg, *lexError) {
	x := &lexer{raw: raw, lookup: lookup, dquote: -1, comments: comments}
	for x.i < len(raw) {
		if err := x.step(); err != nil {
			return nil, err
		}
		if x.total+len(x.buf) > MaxLine {
			return nil, x.errorf(x.start, "the line is longer than %d bytes after expansion", MaxLine)
		}
		if len(x.words) > MaxWords {
			// Report the first word that is too much.
			return nil, x.errorf(x.words[MaxWords].Col, "the line has more than %d words", MaxWords)
		}
	}
	if x.dquote >= 0 {
		return nil, x.errorf(x.dquote, "the double quote that opens here is not closed on this line")
	}
	x.endWord(len(raw))
	if len(x.words) > MaxWords {
		return nil, x.errorf(x.words[MaxWords].Col, "the line has more than %d words", MaxWords)
	}
	return x.words, nil
}

func (x *lexer) errorf(col int, format string, args ...any) *lexError {
	return &lexError{col, fmt.Sprintf(format, args...)}
}

func (x *lexer) begin() {
	if !x.inWord {
		x.inWord, x.start = true, x.i
	}
}

func (x *lexer) put(c byte) { x.buf = append(x.buf, c) }

// endWord closes the current word, if any, before the byte at end.
func (x *lexer) endWord(end int) {
	if x.inWord && (len(x.buf) > 0 || !x.list) {
		x.words = append(x.words, Arg{Text: string(x.buf), Col: x.start, End: end, Quoted: x.quoted})
		x.total += len(x.buf)
	}
	x.buf = x.buf[:0]
	x.inWord, x.quoted, x.list = false, false, false
}

// step consumes at least one byte.
func (x *lexer) step() *lexError {
	c := x.raw[x.i]
	switch {
	case x.dquote < 0 && (c == ' ' || c == '\t'):
		x.endWord(x.i)
		x.i++
	case x.dquote < 0 && c == '#' && x.comments:
		x.endWord(x.i)
		x.i = len(x.raw)
	case x.dquote < 0 && c == '\'':
		x.begin()
		end := strings.IndexByte(x.raw[x.i+1:], '\'')
		if end < 0 {
			return x.errorf(x.i, "the single quote that opens here is not closed on this line")
		}
		x.buf = append(x.buf, x.raw[x.i+1:x.i+1+end]...)
		x.quoted = true
		x.i += end + 2
	case c == '"':
		x.begin()
		x.quoted = true
		if x.dquote < 0 {
			x.dquote = x.i
		} else {
			x.dquote = -1
		}
		x.i++
	case c == '\\':
		x.begin()
		return x.escape()
	case c == '$' && x.dquote >= 0:
		return x.expand()
	default:
		x.begin()
		x.put(c)
		x.i++
	}
	return nil
}

// escape consumes a backslash and what it stands for. A backslash that
// precedes nothing special, or ends the line, stays.
func (x *lexer) escape() *lexError {
	x.quoted = true
	if x.i+1 >= len(x.raw) {
		x.put('\\')
		x.i++
		return nil
	}
	c := x.raw[x.i+1]
	switch c {
	case ' ', '\t', '\\', '"', '#':
		x.put(c)
	case '\'':
		x.put(c)
	case '$':
		if x.dquote < 0 {
			x.put('\\')
		}
		x.put(c)
	case 'n':
		x.put('\n')
	case 'r':
		x.put('\r')
	case 't':
		x.put('\t')
	case 'x':
		if x.i+3 >= len(x.raw) || !isHex(x.raw[x.i+2]) || !isHex(x.raw[x.i+3]) {
			return x.errorf(x.i, "two hexadecimal digits must follow \\x")
		}
		v := hexVal(x.raw[x.i+2])<<4 | hexVal(x.raw[x.i+3])
		if v == 0 {
			return x.errorf(x.i, "a word cannot contain the byte zero (\\x00)")
		}
		x.put(v)
		x.i += 2
	default:
		x.put('\\')
		x.put(c)
	}
	x.i += 2
	return nil
}

// expand consumes $NAME, ${NAME}, ${NAME-default}, ${NAME[*]} or
// ${NAME[*]-default}.
func (x *lexer) expand() *lexError {
	dollar := x.i
	i := x.i + 1
	brace := i < len(x.raw) && x.raw[i] == '{'
	if brace {
		i++
	}
	name := i
	if i < len(x.raw) && x.raw[i] == '.' {
		i++
	}
	first := i
	for i < len(x.raw) && isNameByte(x.raw[i]) && (i > first || !isDigit(x.raw[i])) {
		i++
	}
	if i == first {
		return x.errorf(name, "no variable can have a name that starts like this; write \\$ for a dollar sign")
	}
	varName := x.raw[name:i]
	value, ok := x.lookup(varName)
	if varName[0] == '.' && !ok {
		return x.errorf(name, "unknown pseudo-variable '%s'; there are .FILE, .LINE and .SECTION", varName)
	}
	list := false
	if brace {
		if i < len(x.raw) && x.raw[i] == '[' {
			if !strings.HasPrefix(x.raw[i:], "[*]") {
				return x.errorf(i, "only [*] may stand between brackets after a variable's name")
			}
			list = true
			i += 3
		}
		if i < len(x.raw) && x.raw[i] == '-' {
			end := strings.IndexByte(x.raw[i:], '}')
			if end < 0 {
				return x.errorf(dollar+1, "the brace around variable '%s' is not closed after its name", varName)
			}
			if !ok {
				value = x.raw[i+1 : i+end]
			}
			i += end
		}
		if i >= len(x.raw) || x.raw[i] != '}' {
			return x.errorf(dollar+1, "the brace around variable '%s' is not closed after its name", varName)
		}
		i++
	}
	x.insert(value, list, i)
	x.i = i
	return nil
}

// insert adds the value of a variable; a list is cut at its spaces.
func (x *lexer) insert(value string, list bool, end int) {
	if len(value) > MaxLine {
		value = value[:MaxLine+1] // the caller's bound reports it
	}
	if !list {
		x.buf = append(x.buf, value...)
		return
	}
	x.list = true
	for k := 0; k < len(value); k++ {
		if value[k] != ' ' && value[k] != '\t' {
			x.buf = append(x.buf, value[k])
			continue
		}
		if len(x.buf) > 0 && len(x.words) <= MaxWords {
			start := x.start
			x.endWord(end)
			x.inWord, x.start = true, start
		}
		x.quoted, x.list = true, true
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func hexVal(c byte) byte {
	switch {
	case isDigit(c):
		return c - '0'
	case c >= 'a':
		return c - 'a' + 10
	}
	return c - 'A' + 10
}

func isNameByte(c byte) bool {
	return c == '_' || isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
