package config

import (
	"fmt"
	"slices"
	"strings"

	"weir/docs/compat"
	"weir/internal/base/diag"
	"weir/internal/base/registry"
)

// Arg is one word of a line, after quoting and expansion.
type Arg struct {
	Text     string
	Col, End int  // bytes of the raw line that gave the word; End is exclusive
	Quoted   bool // some part of it was quoted or escaped
}

// Line is one statement, given to the keyword's parse function. Arguments are
// counted from 0, the first word after the keyword's own words.
type Line struct {
	p     *Parser
	pos   diag.Position
	words []Arg // whole line, prefix and keyword included
	kw    *Keyword
	at    int // index in words of the keyword's first word
	nkw   int // words of the keyword
	no    bool
	deflt bool
	taken int // words taken by the current option, see Take
}

// KeywordArg is the index that stands for the keyword itself in the methods that
// report about an argument.
const KeywordArg = -1

// Parser returns the parser that reads the line.
func (l *Line) Parser() *Parser { return l.p }

// Pos returns the place of the line.
func (l *Line) Pos() diag.Position { return l.pos }

// Name returns the keyword as registered: "timeout client".
func (l *Line) Name() string {
	if l.kw != nil {
		return l.kw.Name
	}
	return l.word(l.at)
}

// No tells whether the line starts with "no", Default whether it starts with
// "default".
func (l *Line) No() bool { return l.no }

// Default tells whether the line starts with "default".
func (l *Line) Default() bool { return l.deflt }

// Len returns the number of arguments.
func (l *Line) Len() int { return max(0, len(l.words)-l.at-l.nkw) }

// Has tells whether argument i is present; an empty quoted word is.
func (l *Line) Has(i int) bool { return i >= 0 && i < l.Len() }

// Arg returns argument i, "" when it is absent.
func (l *Line) Arg(i int) string {
	if !l.Has(i) {
		return ""
	}
	return l.words[l.at+l.nkw+i].Text
}

// Args returns the arguments from i on.
func (l *Line) Args(i int) []string {
	var out []string
	for ; i < l.Len(); i++ {
		out = append(out, l.Arg(i))
	}
	return out
}

// Join returns the arguments from i on, with one space between them.
func (l *Line) Join(i int) string { return strings.Join(l.Args(i), " ") }

// Quoted tells whether argument i was quoted or escaped in part.
func (l *Line) Quoted(i int) bool { return l.Has(i) && l.words[l.at+l.nkw+i].Quoted }

func (l *Line) word(i int) string {
	if i < len(l.words) {
		return l.words[i].Text
	}
	return ""
}

// ArgPos returns the place of argument i, or of the keyword for KeywordArg.
// For an absent argument it is the end of the line.
func (l *Line) ArgPos(i int) diag.Position {
	pos := l.pos
	switch w := l.at + l.nkw + i; {
	case len(l.words) == 0:
	case i < 0:
		last := min(max(l.at, l.at+l.nkw-1), len(l.words)-1)
		pos.Col, pos.End = l.words[min(l.at, last)].Col, l.words[last].End
	case w < len(l.words):
		pos.Col, pos.End = l.words[w].Col, l.words[w].End
	default:
		pos.Col = l.words[len(l.words)-1].End
		pos.End = pos.Col
	}
	return pos
}

// Errorf reports an error about argument i (KeywordArg: the keyword).
func (l *Line) Errorf(i int, format string, args ...any) {
	l.p.diags.Alertf(l.ArgPos(i), format, args...)
}

// Warnf reports a warning about argument i.
func (l *Line) Warnf(i int, format string, args ...any) {
	l.p.diags.Warnf(l.ArgPos(i), format, args...)
}

// Noticef reports a notice about argument i.
func (l *Line) Noticef(i int, format string, args ...any) {
	l.p.diags.Noticef(l.ArgPos(i), format, args...)
}

// Diagf reports a hint that is shown in diagnostic mode only.
func (l *Line) Diagf(i int, format string, args ...any) {
	l.p.diags.Diagf(l.ArgPos(i), format, args...)
}

// NotYet reports that HAProxy knows argument i (KeywordArg: the keyword) and
// weir does not serve it yet. what names the kind of thing: "option".
func (l *Line) NotYet(i int, what, name string) {
	l.p.diags.Add(diag.Message{
		Severity: diag.Alert, Kind: diag.NotYet, Pos: l.ArgPos(i),
		Text: fmt.Sprintf("%s '%s' is known to HAProxy, not in weir yet.", what, name),
	})
}

// Unknown reports that argument i is none of the valid names of its kind. It
// suggests the nearest one; a name that the inventory lists under one of the
// kinds given is reported by [Line.NotYet] instead.
func (l *Line) Unknown(i int, what string, valid []string, inventory ...string) {
	name := l.Arg(i)
	if i < 0 {
		name = l.word(l.at)
	}
	l.UnknownName(i, what, name, valid, inventory...)
}

// UnknownName is Unknown for a name that is only a part of the argument.
func (l *Line) UnknownName(i int, what, name string, valid []string, inventory ...string) {
	for _, kind := range inventory {
		if compat.Known(kind, name) {
			l.NotYet(i, what, name)
			return
		}
	}
	hint := "."
	if near := registry.Nearest(name, valid); near != "" {
		hint = fmt.Sprintf("; did you mean '%s'?", near)
	} else if len(valid) > 0 && len(valid) <= 12 {
		hint = "; expected one of: " + quoteList(valid) + "."
	}
	l.p.diags.Add(diag.Message{
		Severity: diag.Alert, Kind: diag.Unknown, Pos: l.ArgPos(i),
		Text: fmt.Sprintf("unknown %s '%s'%s", what, name, hint),
	})
}

func quoteList(names []string) string {
	q := make([]string, len(names))
	for i, n := range names {
		q[i] = "'" + n + "'"
	}
	return strings.Join(q, ", ")
}

// NeedArgs checks that the line has between lo and hi arguments (hi < 0: no
// upper bound) and reports what is missing or superfluous.
func (l *Line) NeedArgs(lo, hi int) bool {
	n := l.Len()
	switch {
	case n < lo:
		l.Errorf(n, "'%s' expects %s, %s.", l.Name(), arity(lo, hi, l.usage()), given(n))
	case hi >= 0 && n > hi:
		if hi == 0 {
			l.Errorf(0, "'%s' takes no argument, found '%s'.", l.Name(), l.Arg(0))
		} else {
			l.Errorf(hi, "'%s' expects %s; '%s' is too much.", l.Name(), arity(lo, hi, l.usage()), l.Arg(hi))
		}
	default:
		return true
	}
	return false
}

func (l *Line) usage() string {
	if l.kw != nil {
		return l.kw.Args
	}
	return ""
}

func arity(lo, hi int, usage string) string {
	var s string
	switch {
	case lo == hi:
		s = plural(lo, "argument")
	case hi < 0:
		s = "at least " + plural(lo, "argument")
	case lo == 0:
		s = "at most " + plural(hi, "argument")
	default:
		s = fmt.Sprintf("%d to %d arguments", lo, hi)
	}
	if usage != "" {
		s += " (" + usage + ")"
	}
	return s
}

func given(n int) string {
	if n == 0 {
		return "none is given"
	}
	return fmt.Sprintf("only %d given", n)
}

func plural(n int, what string) string {
	switch n {
	case 0:
		return "no " + what
	case 1:
		return "one " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Check runs fn in the check stage, when all files are parsed: for references
// to objects that may be declared further down.
func (l *Line) Check(fn func(l *Line)) {
	l.p.deferred = append(l.p.deferred, deferredCheck{l, fn})
}

// OneOf checks that argument i is one of the names and returns its index, or
// -1 after an error.
func (l *Line) OneOf(i int, what string, names ...string) int {
	n := slices.Index(names, l.Arg(i))
	if n < 0 {
		if l.Arg(i) == "" {
			l.Errorf(i, "'%s' expects a %s: %s.", l.Name(), what, quoteList(names))
		} else {
			l.Unknown(i, what, names)
		}
	}
	return n
}
