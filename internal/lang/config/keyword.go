package config

import (
	"fmt"
	"strings"

	"weir/internal/base/registry"
)

// Sections is a set of section types. It says where a keyword may stand.
type Sections uint32

const (
	// InGlobal is the "global" section.
	InGlobal Sections = 1 << iota
	// InDefaults is any "defaults" section, InNamedDefaults only one that has
	// a name (marked (!) in the manual's matrix, section 4.1).
	InDefaults
	InNamedDefaults
	// InFrontend and InBackend are the two capabilities of a proxy. A
	// "listen" section has both, so it takes what either of them takes.
	InFrontend
	InBackend
	// InOther is any section that is neither global nor a proxy.
	InOther

	// InListen is the type of a "listen" section.
	InListen = InFrontend | InBackend
	// InProxy is every proxy section and every defaults section.
	InProxy = InDefaults | InNamedDefaults | InFrontend | InBackend
)

// String names the sections as the manual does.
func (s Sections) String() string {
	var names []string
	for _, n := range []struct {
		bit  Sections
		name string
	}{
		{InGlobal, "global"}, {InDefaults, "defaults"}, {InNamedDefaults, "named defaults"},
		{InFrontend, "frontend"}, {InBackend, "backend"},
	} {
		if s&n.bit != 0 && !(n.bit == InNamedDefaults && s&InDefaults != 0) {
			names = append(names, n.name)
		}
	}
	if s&InListen != 0 {
		names = append(names, "listen")
	}
	return strings.Join(names, ", ")
}

// Keyword describes one directive of a section, or one option of a "bind" or
// "server" line.
type Keyword struct {
	// Name is one or several words: "mode", "timeout client". Of several
	// matches the one with most words wins.
	Name string
	// In lists the section types that take the keyword; 0 means every section
	// that uses the table.
	In Sections
	// Args sketches the arguments, Help says in one line what the keyword is
	// for; both are shown to users.
	Args, Help string
	// No allows "no <keyword>", Default allows "default <keyword>".
	No, Default bool
	// Strict makes the keyword an error in a proxy that lacks the capability;
	// without it the line is ignored with a warning, as the reference does.
	Strict bool
	// Experimental asks for expose-experimental-directives, Deprecated for
	// expose-deprecated-directives in the global section.
	Experimental, Deprecated bool
	// Paren: the name is followed by a text in parentheses, in the same word; see [Line.Paren].
	Paren bool
	// Params is the number of words that follow the option in a table of line
	// options (see [Line.Options]); negative: Parse calls [Line.Take].
	Params int
	// Parse applies the line to the target of the section. It reports what is
	// wrong through the line and has no side effects outside of the target
	// and the parser.
	Parse func(l *Line, target any)

	words []string
}

// On adapts a parse function that wants the target's own type.
func On[T any](parse func(l *Line, target T)) func(*Line, any) {
	return func(l *Line, target any) {
		t, ok := target.(T)
		if !ok {
			panic(fmt.Sprintf("config: keyword %q wants a target of type %T, its section gives %T", l.Name(), t, target))
		}
		parse(l, t)
	}
}

// Table holds the keywords of one section, or of several that share them.
type Table struct {
	kind  string
	reg   *registry.Table[*Keyword]
	first map[string][]*Keyword // by first word, most words first
}

// NewTable returns an empty table. kind is the name of the table in the
// inventory of HAProxy's names (package compat): "global", "proxy", "bind",
// "server", or the name of another section.
func NewTable(kind string) *Table {
	return &Table{kind: kind, reg: registry.New[*Keyword](kind + " keyword"), first: make(map[string][]*Keyword)}
}

// Kind returns the name of the table in the inventory.
func (t *Table) Kind() string { return t.kind }

// Add registers keywords. It panics on an unusable descriptor and on a
// duplicate, naming both places; it is called from init functions only.
func (t *Table) Add(kws ...Keyword) {
	for _, k := range kws {
		t.add(k, 1)
	}
}

func (t *Table) add(k Keyword, skip int) {
	k.words = strings.Fields(k.Name)
	if k.Parse == nil || len(k.words) == 0 || strings.Join(k.words, " ") != k.Name {
		panic(fmt.Sprintf("config: unusable descriptor of %s keyword %q", t.kind, k.Name))
	}
	t.reg.Register(k.Name, &k, skip+1)
	list := append(t.first[k.words[0]], &k)
	for i := len(list) - 1; i > 0 && len(list[i].words) > len(list[i-1].words); i-- {
		list[i], list[i-1] = list[i-1], list[i]
	}
	t.first[k.words[0]] = list
}

// Lookup returns the keyword of that exact name.
func (t *Table) Lookup(name string) (*Keyword, bool) { return t.reg.Lookup(name) }

// Names returns the names of all keywords in byte order.
func (t *Table) Names() []string { return t.reg.Names() }

// Where returns the place that registered a name.
func (t *Table) Where(name string) string { return t.reg.Where(name) }

// All calls fn for each keyword in the order of Names.
func (t *Table) All(fn func(k *Keyword) bool) {
	t.reg.All(func(_ string, k *Keyword) bool { return fn(k) })
}

// match finds the keyword that the words of a line start with, the longest
// one. Case matters.
func (t *Table) match(word func(i int) (string, bool)) *Keyword {
	w, _ := word(0)
	if name, _, found := strings.Cut(w, "("); found {
		for _, k := range t.first[name] {
			if k.Paren {
				return k
			}
		}
	}
	for _, k := range t.first[w] {
		ok := true
		for i := 1; i < len(k.words) && ok; i++ {
			var have string
			have, ok = word(i)
			ok = ok && have == k.words[i]
		}
		if ok {
			return k
		}
	}
	return nil
}

// Section describes a section type.
type Section struct {
	// Name is the word that opens the section.
	Name string
	// Kind is checked against Keyword.In. Sections other than global and the
	// proxies use InOther.
	Kind Sections
	// Args and Help document the section line.
	Args, Help string
	// Keywords are the directives of the section.
	Keywords *Table
	// Open checks the section line and returns the target that the keywords
	// fill. After an error it still returns a target, one to throw away, so
	// that the errors of the body are found too; with nil the body is only
	// checked for unknown keywords.
	Open func(l *Line) any
	// Close is called at the end of the section, unless it is nil.
	Close func(p *Parser, target any)
}

// Check is a step of the check stage: it runs once, after all files are
// parsed without regard to errors, and reports through the parser.
type Check struct {
	// Name tells checks apart; Order sorts them, equal orders by name.
	Name  string
	Order int
	Run   func(p *Parser)
}

// Registry is what a parser knows: its sections, keywords and checks.
type Registry struct {
	Sections *registry.Table[*Section]
	Checks   *registry.Table[*Check]
	// Global, Proxy, Bind and Server are the four tables that many packages
	// add to. Proxy is shared by defaults, frontend, backend and listen.
	Global, Proxy, Bind, Server *Table
}

// NewRegistry returns a registry that knows only the keywords of the language
// itself (setenv, default-path, ...) and no section. Programs use [Std]; other
// registries are for tests.
func NewRegistry() *Registry {
	r := &Registry{
		Sections: registry.New[*Section]("section"),
		Checks:   registry.New[*Check]("configuration check"),
		Global:   NewTable("global"),
		Proxy:    NewTable("proxy"),
		Bind:     NewTable("bind"),
		Server:   NewTable("server"),
	}
	for _, k := range builtins {
		r.Global.add(k, 0)
	}
	return r
}

// Std is the registry of the program.
var Std = NewRegistry()

// Global, Proxy, Bind and Server are the tables of [Std]; packages add their
// keywords to them in init.
var (
	Global = Std.Global
	Proxy  = Std.Proxy
	Bind   = Std.Bind
	Server = Std.Server
)

// AddSection registers a section type; it panics when the word is taken.
func (r *Registry) AddSection(s Section) { r.addSection(s, 1) }

func (r *Registry) addSection(s Section, skip int) {
	if s.Open == nil || s.Keywords == nil || s.Kind == 0 {
		panic(fmt.Sprintf("config: unusable descriptor of section %q", s.Name))
	}
	r.Sections.Register(s.Name, &s, skip+1)
}

// AddCheck registers a step of the check stage.
func (r *Registry) AddCheck(c Check) { r.Checks.Register(c.Name, &c, 1) }

// AddSection registers a section type of the program.
func AddSection(s Section) { Std.addSection(s, 1) }

// AddCheck registers a step of the program's check stage.
func AddCheck(c Check) { Std.Checks.Register(c.Name, &c, 1) }

// Freeze ends registration: all tables become read only.
func (r *Registry) Freeze() {
	r.Sections.Freeze()
	r.Checks.Freeze()
	for _, t := range []*Table{r.Global, r.Proxy, r.Bind, r.Server} {
		t.reg.Freeze()
	}
	r.Sections.All(func(_ string, s *Section) bool {
		s.Keywords.reg.Freeze()
		return true
	})
}
