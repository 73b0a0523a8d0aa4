package sample

import (
	"errors"
	"fmt"
	"strings"

	"weir/docs/compat"
	"weir/internal/lang/config"
	"weir/internal/model"
)

// Scope is where an expression stands: it resolves names and says what is
// valid. The zero Scope serves expressions without a configuration.
type Scope struct {
	Line  *config.Line  // nil outside a configuration file
	Arg   int           // the argument of Line that errors of the check stage point at
	Proxy *model.Proxy  // the section; nil outside one
	Conf  *model.Config // the configuration; nil without one
	// Valid are the places where the expression may be evaluated; 0: anywhere.
	Valid  Places
	Failed *bool // set when a deferred check reports an error; may be nil
	// Within is the named definition that the expression is a part of; nil: none. What refers to others looks for circles.
	Within any
}

// Config returns the configuration that the scope belongs to.
func (sc *Scope) Config() *model.Config {
	if sc.Conf == nil && sc.Line != nil {
		sc.Conf, _ = sc.Line.Parser().Root().(*model.Config)
	}
	return sc.Conf
}

// Defer runs fn when all of the configuration is parsed, at once when there is none to wait for; its error is reported at
// the expression.
func (sc *Scope) Defer(fn func(cfg *model.Config) error) error {
	if sc.Line == nil {
		return fn(sc.Config())
	}
	arg, failed := sc.Arg, sc.Failed
	sc.Line.Check(func(l *config.Line) {
		cfg, _ := l.Parser().Root().(*model.Config)
		if err := fn(cfg); err != nil {
			l.Errorf(arg, "%s.", err)
			if failed != nil {
				*failed = true
			}
		}
	})
	return nil
}

// Path resolves the name of a file (default-path).
func (sc *Scope) Path(name string) string {
	if sc.Line == nil {
		return name
	}
	return sc.Line.Path(name)
}

var errNoSection = errors.New("it must be named here, for there is no section that it could stand for")

// resolve finds the proxy or server that an argument names; an empty one stands for the section itself.
func (sc *Scope) resolve(a *Arg) error {
	name, server, kind := a.Str, "", a.Kind
	if kind == KindServer {
		if i := strings.LastIndexByte(name, '/'); i >= 0 {
			name, server = name[:i], name[i+1:]
		} else {
			name, server = "", name
		}
	}
	if name == "" && sc.Proxy == nil {
		return errNoSection
	}
	own := sc.Proxy
	return sc.Defer(func(cfg *model.Config) error {
		p := own
		if name != "" {
			if cfg == nil {
				return fmt.Errorf("there is no configuration in which '%s' could be", name)
			}
			if kind == KindFrontend {
				p = cfg.Frontend(name)
			} else {
				p = cfg.Backend(name)
			}
		} else if p.Sides&model.SideDefaults != 0 {
			return nil // stands for the sections that inherit the line
		}
		switch {
		case p == nil && kind == KindFrontend:
			return fmt.Errorf("there is no frontend '%s'", name)
		case p == nil:
			return fmt.Errorf("there is no backend '%s'", name)
		case kind == KindFrontend && !p.IsFrontend():
			return fmt.Errorf("'%s' has no frontend side", p.Name)
		case kind != KindFrontend && !p.IsBackend():
			return fmt.Errorf("'%s' has no backend side", p.Name)
		}
		a.Ref = p
		if kind != KindServer {
			return nil
		}
		for _, s := range p.Servers {
			if s.Name == server {
				a.Server = s
				return nil
			}
		}
		return fmt.Errorf("there is no server '%s' in backend '%s'", server, p.Name)
	})
}

// step is a converter applied to what came before.
type step struct {
	conv *Conv
	args []Arg
	in   model.Type // what the value is cast to first; TypeAny: nothing
}

// Expr is a compiled expression. It is read-only after the check stage and may be used by several loops.
type Expr struct {
	Text  string
	Fetch *Fetch
	Args  []Arg
	// Out is the type of the result; TypeAny when it is known at run time only.
	Out   model.Type
	steps []step
}

// Valid is where the expression can find its data.
func (e *Expr) Valid() Places { return e.Fetch.Valid }

// Converters is how many converters the expression has.
func (e *Expr) Converters() int { return len(e.steps) }

// Const reports whether the expression gives the same value always.
func (e *Expr) Const() bool { return e.Fetch.Valid&ConfigParser != 0 && constFetches[e.Fetch.Name] }

var constFetches = map[string]bool{"str": true, "int": true, "bool": true, "bin": true, "ipv4": true, "ipv6": true, "meth": true}

// Parse compiles an expression that is the whole of text.
func Parse(sc *Scope, text string) (*Expr, error) {
	name, rest := cutName(text)
	if name == "" {
		return nil, errors.New("a sample fetch is missing")
	}
	f, ok := Fetches.Lookup(name)
	if !ok {
		return nil, unknown("sample fetch", name, Fetches.Suggest(name))
	}
	e := &Expr{Text: text, Fetch: f, Out: f.Out}
	args, rest, err := parseCall(sc, &f.sig, "sample fetch '"+name+"'", rest)
	if err != nil {
		return nil, err
	}
	e.Args = args
	if f.Check != nil {
		if err := f.Check(&ArgCheck{sc, "sample fetch '" + name + "'"}, e.Args); err != nil {
			return nil, fmt.Errorf("sample fetch '%s': %w", name, err)
		}
	}
	if sc.Valid != 0 && f.Valid&sc.Valid == 0 {
		return nil, fmt.Errorf("sample fetch '%s' has no data here (%s); it can be used in: %s", name, sc.Valid, f.Valid)
	}
	return e, e.parseSteps(sc, rest)
}

func (e *Expr) parseSteps(sc *Scope, rest string) error {
	for rest != "" {
		if rest[0] != ',' {
			return fmt.Errorf("a comma is expected before '%s'", rest)
		}
		name, after := cutName(rest[1:])
		if name == "" {
			if after == "" { // a comma at the end
				return fmt.Errorf("a converter is missing after the last comma of '%s'", e.Text)
			}
			return fmt.Errorf("a converter is missing before '%s'", after)
		}
		c, ok := Convs.Lookup(name)
		if !ok {
			return unknown("converter", name, Convs.Suggest(name))
		}
		args, left, err := parseCall(sc, &c.sig, "converter '"+name+"'", after)
		if err != nil {
			return err
		}
		if c.Check != nil {
			if err := c.Check(&ArgCheck{sc, "converter '" + name + "'"}, args); err != nil {
				return fmt.Errorf("converter '%s': %w", name, err)
			}
		}
		if !Castable(e.Out, c.In) {
			return fmt.Errorf("converter '%s' takes %s, which %s cannot become", name, c.In, e.Out)
		}
		e.steps = append(e.steps, step{c, args, c.In})
		if !c.Same {
			e.Out = c.Out
		}
		rest = left
	}
	return nil
}

// unknown is the error for a name; known to the reference or not.
func unknown(what, name, nearest string) error {
	return &UnknownError{What: what, Name: name, Nearest: nearest}
}

// UnknownError names a fetch or converter that does not exist here.
type UnknownError struct{ What, Name, Nearest string }

func (e *UnknownError) Error() string {
	kind := compat.Fetch
	if e.What == "converter" {
		kind = compat.Converter
	}
	if compat.Known(kind, e.Name) {
		return fmt.Sprintf("%s '%s' is known to HAProxy, not in weir yet", e.What, e.Name)
	}
	if e.Nearest != "" {
		return fmt.Sprintf("unknown %s '%s'; did you mean '%s'?", e.What, e.Name, e.Nearest)
	}
	return fmt.Sprintf("unknown %s '%s'", e.What, e.Name)
}

// cutName splits the leading name off.
func cutName(s string) (name, rest string) {
	i := strings.IndexAny(s, "(,")
	if i < 0 {
		return s, ""
	}
	return s[:i], s[i:]
}

// parseCall reads the arguments of a keyword when rest starts with them, and returns what follows.
func parseCall(sc *Scope, sig *signature, what, rest string) ([]Arg, string, error) {
	text, given := "", strings.HasPrefix(what, "converter")
	if strings.HasPrefix(rest, "(") {
		end := argsEnd(rest)
		if end < 0 {
			return nil, "", fmt.Errorf("the parenthesis after %s is not closed", what)
		}
		text, rest, given = rest[1:end], rest[end+1:], true
	}
	args, err := sig.parse(sc, what, text, given)
	return args, rest, err
}
