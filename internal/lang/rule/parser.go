package rule

import (
	"strings"
	"time"

	"weir/internal/base/units"
	"weir/internal/lang/acl"
	"weir/internal/lang/config"
	"weir/internal/lang/logfmt"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

// Parser reads the arguments of one action.
type Parser struct {
	L         *config.Line
	I         int // index of the next word of L
	Kind      Kind
	Proxy     *model.Proxy
	Name      string // the action's name
	Directive bool   // the line is a keyword of its own, not a rule
	Paren     string // what stood between the parentheses after the name
	at        int    // index of the action's word
}

// isCond reports whether a word begins a condition.
func isCond(word string) bool { return word == "if" || word == "unless" }

// More reports whether another argument of the action follows: a word that begins no condition.
func (p *Parser) More() bool { return p.L.Has(p.I) && (!isCond(p.L.Arg(p.I)) || p.L.Quoted(p.I)) }

// Peek returns the next argument without taking it, "" at the end.
func (p *Parser) Peek() string {
	if p.More() {
		return p.L.Arg(p.I)
	}
	return ""
}

// Word takes the next argument; what says in an error what is missing. The index is that of the word.
func (p *Parser) Word(what string) (word string, index int, ok bool) {
	if !p.More() {
		p.L.Errorf(p.I, "'%s' needs %s.", p.title(), what)
		return "", p.I, false
	}
	p.I++
	return p.L.Arg(p.I - 1), p.I - 1, true
}

// title is what messages call the action.
func (p *Parser) title() string {
	if p.Directive {
		return p.Name
	}
	return p.Kind.String() + " " + p.Name
}

// Take takes the next argument when it is the given word.
func (p *Parser) Take(word string) bool {
	if p.More() && p.L.Arg(p.I) == word {
		p.I++
		return true
	}
	return false
}

// Errorf reports an error about argument i.
func (p *Parser) Errorf(i int, format string, args ...any) Runner {
	p.L.Errorf(i, format, args...)
	return nil
}

// Scope is where expressions of the action at argument i stand.
func (p *Parser) Scope(i int) *sample.Scope {
	return &sample.Scope{Line: p.L, Arg: i, Proxy: p.Proxy, Valid: p.Kind.Places(p.Proxy.Sides)}
}

// Expr takes an expression: one word. nil after an error.
func (p *Parser) Expr(what string) *sample.Expr {
	w, i, ok := p.Word(what)
	if !ok {
		return nil
	}
	e, err := sample.Parse(p.Scope(i), w)
	if err != nil {
		p.L.Errorf(i, "%s.", err)
		return nil
	}
	return e
}

// Int takes an integer from lo to hi.
func (p *Parser) Int(what string, lo, hi int64) (int64, bool) {
	if _, _, ok := p.Word(what); !ok {
		return 0, false
	}
	return p.L.Int(p.I-1, lo, hi)
}

// Duration takes a time, in milliseconds when no unit is written.
func (p *Parser) Duration(what string) (time.Duration, bool) {
	if _, _, ok := p.Word(what); !ok {
		return 0, false
	}
	return p.L.Duration(p.I-1, units.Millisecond)
}

// IsExpr reports whether a word looks like a sample expression rather than a constant.
func IsExpr(word string) bool {
	name := word
	if i := strings.IndexAny(word, "(,"); i >= 0 {
		name = word[:i]
	}
	_, ok := sample.Fetches.Lookup(name)
	return ok
}

// Parse reads "<action> [arguments] [{ if | unless } <condition>]" from argument i on and adds the rule to the proxy's set
// of the kind. Errors are reported; nothing is added then.
func Parse(l *config.Line, i int, kind Kind, px *model.Proxy) {
	ParseInto(l, i, kind, px, &Of(px).Of[kind])
}

// ParseInto is Parse for a set that is not one of the proxy's own.
func ParseInto(l *config.Line, i int, kind Kind, px *model.Proxy, set *Set) {
	if !l.Has(i) {
		l.Errorf(i, "'%s' needs an action; one of: %s.", kind, strings.Join(names(kind), ", "))
		return
	}
	word := l.Arg(i)
	name, paren, closed := cut(word)
	a, ok := Actions.Lookup(kind.String() + " " + name)
	if !ok {
		l.UnknownName(i, "action", name, names(kind), kind.String())
		return
	}
	switch {
	case a.Paren && paren == "" && !closed:
		l.Errorf(i, "'%s' needs parentheses after it: %s%s.", name, name, a.Args)
		return
	case !a.Paren && (closed || paren != ""):
		l.Errorf(i, "'%s' takes no parentheses.", name)
		return
	case a.Paren && !closed:
		l.Errorf(i, "the parenthesis after '%s' is not closed.", name)
		return
	}
	p := &Parser{L: l, I: i + 1, Kind: kind, Proxy: px, Name: name, Paren: paren, at: i}
	r := a.Parse(p)
	if r == nil {
		return
	}
	u := Rule{Pos: l.Pos(), Action: name, Run: r}
	if l.Has(p.I) {
		if !isCond(l.Arg(p.I)) {
			l.Errorf(p.I, "'%s %s' is complete before '%s'; only 'if' or 'unless' with a condition may follow.", kind, name, l.Arg(p.I))
			return
		}
		if u.Cond = acl.Parse(l, p.I, p.Scope(p.I)); u.Cond == nil {
			return
		}
	}
	if n := len(*set); n > 0 {
		last := &(*set)[n-1]
		if b, ok := Actions.Lookup(kind.String() + " " + last.Action); ok && b.Final && !mayPass(last.Run) && last.Cond == nil && last.Pos.Section == u.Pos.Section {
			l.Warnf(i, "this rule is never reached: '%s' at line %d has no condition and ends the set.", last.Action, last.Pos.Line)
		}
	}
	*set = append(*set, u)
}

// strictMode is the strict-mode action: it says what a failing edit means in the rules after it, until the set ends.
type strictMode bool

// Run does nothing: Set.Run knows the action.
func (strictMode) Run(*model.Txn, Control) Outcome { return Next }

func init() {
	Add(Action{
		Name: "strict-mode", In: AnyHTTP, Args: "{ on | off }", Help: "whether edits that fail are internal errors",
		Parse: func(p *Parser) Runner {
			if _, _, ok := p.Word("'on' or 'off'"); !ok {
				return nil
			}
			on, ok := p.L.OnOff(p.I - 1)
			if !ok {
				return nil
			}
			return strictMode(on)
		},
	})
}

// mayPass reports whether an action that usually ends its set may let it go on.
func mayPass(r Runner) bool {
	p, ok := r.(interface{ MayPass() bool })
	return ok && p.MayPass()
}

// cut splits "name(text)"; closed tells that the parenthesis is.
func cut(word string) (name, paren string, closed bool) {
	i := strings.IndexByte(word, '(')
	if i < 0 {
		return word, "", false
	}
	name, paren = word[:i], word[i+1:]
	if strings.HasSuffix(paren, ")") {
		return name, paren[:len(paren)-1], true
	}
	if paren == "" {
		paren = "("
	}
	return name, paren, false
}

// names lists the actions of a kind.
func names(kind Kind) []string {
	var list []string
	prefix := kind.String() + " "
	Actions.All(func(n string, _ *Action) bool {
		if rest, ok := strings.CutPrefix(n, prefix); ok {
			list = append(list, rest)
		}
		return true
	})
	return list
}

// Format takes a log format: one word. nil after an error.
func (p *Parser) Format(what string) model.Format {
	w, i, ok := p.Word(what)
	if !ok {
		return nil
	}
	return p.FormatText(i, w)
}

// FormatText compiles a log format that is, or is a part of, argument i. nil after an error.
func (p *Parser) FormatText(i int, text string) model.Format {
	return p.format(i, text, logfmt.ForHTTP)
}

// ValueText compiles a log format whose result is a value of its own: bytes stay as they are. nil after an error.
func (p *Parser) ValueText(i int, text string) model.Format {
	return p.format(i, text, logfmt.ForText)
}

func (p *Parser) format(i int, text string, use logfmt.Use) model.Format {
	f, err := logfmt.Parse(p.Scope(i), text, logfmt.Options{Use: use})
	if err != nil {
		p.L.Errorf(i, "%s.", err)
		return nil
	}
	return f
}
