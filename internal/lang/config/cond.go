package config

import (
	"strings"

	"weir/internal/base/diag"
)

// condLevel is one open .if block.
type condLevel struct {
	state condState
	elsed bool // .else was seen
	pos   diag.Position
}

type condState uint8

const (
	condTake condState = iota // this branch is read
	condSeek                  // no branch was taken yet
	condDone                  // a branch was taken, or the parent is skipped
)

// skipping tells whether lines are being ignored.
func (p *Parser) skipping() bool {
	return p.tooDeep > 0 || len(p.conds) > 0 && p.conds[len(p.conds)-1].state != condTake
}

// directive handles a line that starts with a dot (manual section 2.4).
func (p *Parser) directive(l *Line) {
	l.nkw = 1
	switch name := l.word(0); name {
	case ".if":
		p.condIf(l)
	case ".elif", ".else":
		p.condElse(l, name == ".elif")
	case ".endif":
		if l.Len() > 0 {
			l.Errorf(0, "unexpected argument '%s' after '.endif'.", l.Arg(0))
		}
		switch {
		case p.tooDeep > 0:
			p.tooDeep--
		case len(p.conds) == 0:
			l.Errorf(KeywordArg, "'.endif' without a matching '.if'.")
		default:
			p.conds = p.conds[:len(p.conds)-1]
		}
	case ".diag", ".notice", ".warning", ".alert":
		if !p.skipping() {
			p.message(l, name)
		}
	default:
		if !p.skipping() {
			l.Unknown(KeywordArg, "directive", []string{".alert", ".diag", ".elif", ".else", ".endif", ".if", ".notice", ".warning"})
		}
	}
}

func (p *Parser) condIf(l *Line) {
	if len(p.conds) >= MaxDepth || p.tooDeep > 0 {
		if p.tooDeep == 0 {
			l.Errorf(KeywordArg, "too many nested '.if' blocks; the limit is %d.", MaxDepth)
		}
		p.tooDeep++
		return
	}
	state := condDone
	if !p.skipping() {
		if p.evalLine(l) {
			state = condTake
		} else {
			state = condSeek
		}
	}
	pos := l.ArgPos(KeywordArg)
	p.conds = append(p.conds, condLevel{state: state, pos: pos})
}

func (p *Parser) condElse(l *Line, elif bool) {
	name := l.word(0)
	if !elif && l.Len() > 0 {
		l.Errorf(0, "unexpected argument '%s' after '.else'.", l.Arg(0))
	}
	if p.tooDeep > 0 {
		return
	}
	if len(p.conds) == 0 {
		l.Errorf(KeywordArg, "'%s' without a matching '.if'.", name)
		return
	}
	c := &p.conds[len(p.conds)-1]
	if c.elsed {
		l.Errorf(KeywordArg, "'%s' after '.else' is not possible: the '.if' of line %d has its '.else' already.", name, c.pos.Line)
		c.state = condDone
		return
	}
	c.elsed = !elif
	switch {
	case c.state != condSeek:
		c.state = condDone
	case !elif || p.evalLine(l):
		c.state = condTake
	}
}

// endConds reports the blocks that a file leaves open.
func (p *Parser) endConds() {
	for i := len(p.conds) - 1; i >= 0; i-- {
		p.diags.Alertf(p.conds[i].pos, "the '.if' of this line has no '.endif' in the file.")
	}
	p.conds, p.tooDeep = p.conds[:0], 0
}

// evalLine evaluates the condition of a line; an error counts as false.
func (p *Parser) evalLine(l *Line) bool {
	text := l.Join(0)
	ok, err := evalCondition(text, p.lookup, &p.opts.Facts)
	if err == nil {
		return ok
	}
	pos := l.pos
	pos.Text = l.word(0) + " " + text
	pos.Col = len(l.word(0)) + 1 + err.col
	pos.End = pos.Col + 1
	end := ":"
	if strings.HasSuffix(err.text, "?") {
		end = ""
	}
	p.diags.Add(diag.Message{
		Severity: diag.Alert, Pos: pos, Caret: true,
		Text: "bad condition of '" + l.word(0) + "': " + err.text + end,
	})
	return false
}

// message handles .diag, .notice, .warning and .alert.
func (p *Parser) message(l *Line, name string) {
	if l.Len() > 1 {
		l.Errorf(1, "unexpected argument '%s' after the message of '%s'; put quotes around a message with spaces.", l.Arg(1), name)
		return
	}
	sev := diag.Diag
	switch name {
	case ".notice":
		sev = diag.Notice
	case ".warning":
		sev = diag.Warning
	case ".alert":
		sev = diag.Alert
	}
	p.diags.Add(diag.Message{Severity: sev, Pos: l.ArgPos(KeywordArg), Text: "'" + l.Arg(0) + "'."})
}

// EvalCondition evaluates a condition as -cc takes it: quotes, escapes and
// variables are resolved first. The caller exits with 0 for true, 1 for
// false, 2 for an error.
func EvalCondition(text string, environ []string, facts Facts) (bool, error) {
	env := NewEnv(environ)
	env.Set("HAPROXY_STARTUP_VERSION", Version)
	env.Set("HAPROXY_BRANCH", Branch)
	words, lerr := lex(text, false, env.Get)
	if lerr != nil {
		return false, lerr
	}
	parts := make([]string, len(words))
	for i, w := range words {
		parts[i] = w.Text
	}
	ok, cerr := evalCondition(strings.Join(parts, " "), env.Get, &facts)
	if cerr != nil {
		return false, cerr
	}
	return ok, nil
}
