package config

import (
	"slices"
	"strconv"
	"strings"

	"weir/docs/compat"
	"weir/internal/base/diag"
	"weir/internal/base/registry"
)

// Parser is the state of one load. Keyword functions reach it through
// [Line.Parser].
type Parser struct {
	opts  Options
	reg   *Registry
	diags *diag.List
	env   *Env
	files []string

	file    string // being parsed
	line    int
	text    string
	section *Section // nil before the first section of a file
	target  any
	kind    Sections // of the open section
	// sectionName is the name of the open section, "" without one.
	sectionName string
	// unserved is set inside a section that HAProxy knows and weir does not:
	// its lines are passed over, one message is enough.
	unserved bool
	opened   []Opened

	proxies        map[string]*proxyEntry
	defaultsByName map[string]*proxyEntry
	lastDefaults   *proxyEntry

	conds    []condLevel
	tooDeep  int // .if levels beyond MaxDepth
	deferred []deferredCheck
	paths    pathPolicy
	dump     *dumper

	zeroWarning  bool
	experimental bool
	deprecated   bool
}

type deferredCheck struct {
	line *Line
	fn   func(l *Line)
}

func newParser(o Options) *Parser {
	p := &Parser{
		opts: o, reg: o.Registry, diags: new(diag.List), env: NewEnv(o.Environ),
		proxies:        make(map[string]*proxyEntry),
		defaultsByName: make(map[string]*proxyEntry),
		zeroWarning:    o.ZeroWarning,
	}
	p.env.Set("HAPROXY_STARTUP_VERSION", Version)
	p.env.Set("HAPROXY_BRANCH", Branch)
	if o.Facts.LocalPeer != "" {
		p.env.Set("HAPROXY_LOCALPEER", o.Facts.LocalPeer)
	}
	for name, format := range o.Facts.LogFormats {
		p.env.Set(name, format)
	}
	if o.Dump != nil {
		p.dump = &dumper{w: o.Dump, key: o.DumpKey, lines: o.DumpLines, reg: o.Registry}
	}
	return p
}

// Root returns the object that the load fills, from Options.Root.
func (p *Parser) Root() any { return p.opts.Root }

// Env returns the environment as the current line sees it.
func (p *Parser) Env() *Env { return p.env }

// Diags returns the list that all messages go to.
func (p *Parser) Diags() *diag.List { return p.diags }

// Facts returns what conditions may ask about the program.
func (p *Parser) Facts() *Facts { return &p.opts.Facts }

// Pos returns the place of the line being parsed.
func (p *Parser) Pos() diag.Position {
	return diag.Position{File: p.file, Line: p.line, Section: p.where(), Text: p.text}
}

// Sections returns the sections opened so far, in order.
func (p *Parser) Sections() []Opened { return p.opened }

// where returns the value of .SECTION: the name of the section, or its type.
func (p *Parser) where() string {
	switch {
	case p.section == nil:
		return ""
	case p.sectionName != "":
		return p.sectionName
	}
	return p.section.Name
}

// lookup resolves environment and pseudo-variables.
func (p *Parser) lookup(name string) (string, bool) {
	switch name {
	case ".FILE":
		return p.file, true
	case ".LINE":
		return strconv.Itoa(p.line), true
	case ".SECTION":
		return p.where(), true
	}
	return p.env.Get(name)
}

// parseData parses one file.
func (p *Parser) parseData(name, data string) {
	p.file, p.line = name, 0
	p.section, p.target, p.sectionName, p.kind, p.unserved = nil, nil, "", 0, false
	p.conds, p.tooDeep = p.conds[:0], 0
	errors := p.diags.Errors()
	for len(data) > 0 {
		p.line++
		raw, rest, ended := strings.Cut(data, "\n")
		data = rest
		raw = strings.TrimSuffix(raw, "\r")
		p.text = raw
		if !ended {
			pos := p.Pos()
			pos.Col = len(raw)
			p.diags.Alertf(pos, "the last line does not end with a line feed; the file may be truncated.")
		}
		if i := strings.IndexByte(raw, 0); i >= 0 {
			pos := p.Pos()
			pos.Col, pos.End = i, i+1
			p.diags.Alertf(pos, "the line contains a NUL byte at position %d; is this a text file?", i+1)
			continue
		}
		p.parseLine(raw)
	}
	p.endConds()
	p.closeSection()
	if p.diags.Errors() > errors {
		p.diags.Alertf(diag.Position{}, "errors were found in the configuration file %s.", name)
	}
	p.text = ""
}

func (p *Parser) parseLine(raw string) {
	words, err := lex(raw, true, p.lookup)
	if err != nil {
		pos := p.Pos()
		pos.Col, pos.End = err.col, err.col+1
		p.diags.Add(diag.Message{
			Severity: diag.Alert, Pos: pos, Caret: true,
			Text: err.text + ", at position " + strconv.Itoa(err.col+1) + ":",
		})
		return
	}
	if p.dump != nil {
		p.dump.line(p, words)
	}
	if len(words) == 0 || words[0].Text == "" {
		return
	}
	l := &Line{p: p, pos: p.Pos(), words: words}
	if words[0].Text[0] == '.' && !words[0].Quoted {
		p.directive(l)
		return
	}
	if p.skipping() {
		return
	}
	for i := range words {
		if words[i].Text == "" {
			l.Errorf(i-1, "word %d of the line is empty and would end it; a variable that expands to nothing gives no word when it is written as \"${NAME[*]}\".", i+1)
			if _, isSection := p.reg.Sections.Lookup(words[0].Text); !isSection {
				return
			}
		}
	}
	p.statement(l)
}

// statement hands a line to its section or keyword.
func (p *Parser) statement(l *Line) {
	l.nkw = 1
	first := l.word(0)
	if s, ok := p.reg.Sections.Lookup(first); ok {
		p.openSection(l, s)
		return
	}
	if p.isUnserved(first) {
		l.NotYet(KeywordArg, "section", first)
		p.closeSection()
		p.unserved = true
		return
	}
	if p.unserved {
		return
	}
	if p.section == nil {
		p.outOfSection(l)
		return
	}
	if (first == "no" || first == "default") && p.section.Keywords.first[first] == nil {
		l.no, l.deflt = first == "no", first == "default"
		l.at = 1
		if l.word(1) == "" {
			l.Errorf(KeywordArg, "'%s' stands alone; a keyword that it applies to must follow.", first)
			return
		}
	}
	kw := p.section.Keywords.match(func(i int) (string, bool) {
		return l.word(l.at + i), l.at+i < len(l.words)
	})
	if kw == nil {
		p.unknownKeyword(l)
		return
	}
	l.kw, l.nkw = kw, len(kw.words)
	if p.admit(l) && p.target != nil {
		kw.Parse(l, p.target)
	}
}

// isUnserved tells whether a word opens a section that HAProxy knows and this
// program does not have.
func (p *Parser) isUnserved(word string) bool {
	if p.section != nil && p.section.Keywords.first[word] != nil {
		return false
	}
	return compat.Known(compat.Section, word)
}

// admit checks whether the keyword may stand here.
func (p *Parser) admit(l *Line) bool {
	kw, ok := l.kw, true
	if (l.no && !kw.No) || (l.deflt && !kw.Default) {
		l.Errorf(KeywordArg, "'%s' cannot be put in front of '%s'.", l.word(0), kw.Name)
		ok = false
	}
	if kw.In != 0 && kw.In&p.kind == 0 {
		p.misplaced(l)
		return false
	}
	if kw.Experimental && !p.experimental {
		l.Errorf(KeywordArg, "'%s' is experimental: it needs 'expose-experimental-directives' in the global section.", kw.Name)
		ok = false
	}
	if kw.Deprecated && !p.deprecated {
		l.Warnf(KeywordArg, "'%s' is deprecated and will be removed in a future version; 'expose-deprecated-directives' in the global section silences this.", kw.Name)
	}
	return ok
}

// misplaced reports a keyword that its section type does not take. A proxy
// without the matching capability ignores most keywords with a warning, as the
// reference does.
func (p *Parser) misplaced(l *Line) {
	kw := l.kw
	switch {
	case p.kind&InDefaults != 0 && kw.In&InNamedDefaults != 0:
		l.Errorf(KeywordArg, "'%s' is not allowed in a defaults section without a name; give the section a name.", kw.Name)
	case p.kind&InDefaults != 0:
		l.Errorf(KeywordArg, "'%s' is not allowed in a defaults section; it belongs in: %s.", kw.Name, kw.In)
	case kw.Strict:
		l.Errorf(KeywordArg, "'%s' is not allowed in %s '%s'; it belongs in: %s.", kw.Name, p.section.Name, p.sectionName, kw.In)
	default:
		l.Warnf(KeywordArg, "'%s' is ignored in %s '%s'; it belongs in: %s.", kw.Name, p.section.Name, p.sectionName, kw.In)
	}
}

// outOfSection reports a line before the first section.
func (p *Parser) outOfSection(l *Line) {
	first := l.word(0)
	for _, t := range []*Table{p.reg.Global, p.reg.Proxy} {
		if t.first[first] != nil || compat.Known(t.kind, first) {
			l.Errorf(KeywordArg, "'%s' stands outside of any section; a section such as 'global' or 'defaults' must come first.", first)
			return
		}
	}
	l.UnknownName(KeywordArg, "section", first, p.reg.Sections.Names())
}

// unknownKeyword reports a line whose first words are no keyword of the
// section.
func (p *Parser) unknownKeyword(l *Line) {
	t := p.section.Keywords
	first := l.word(l.at)
	subs := secondWords(t, first)
	if n, name := inventoryMatch(t.kind, l); n > 1 || n == 1 && len(subs) == 0 {
		l.nkw = n
		l.NotYet(KeywordArg, "keyword", name)
		return
	}
	// A known first word: the choice is among its second words.
	if len(subs) > 0 {
		p.unknownSecond(l, first, subs)
		return
	}
	if other := p.elsewhere(first); other != "" {
		l.Errorf(KeywordArg, "keyword '%s' is not allowed in a %s section; it belongs in %s.", first, p.section.Name, other)
		return
	}
	names := append(firstWords(t), p.reg.Sections.Names()...)
	near := registry.Nearest(first, names)
	if near == "" {
		near = registry.Nearest(first, compat.Names(t.kind))
	}
	hint := "."
	if near != "" {
		hint = "; did you mean '" + near + "'?"
	}
	l.p.diags.Add(diag.Message{
		Severity: diag.Alert, Kind: diag.Unknown, Pos: l.ArgPos(KeywordArg),
		Text: "unknown keyword '" + first + "' in a " + p.section.Name + " section" + hint,
	})
}

// unknownSecond reports a line whose first word starts keywords of several
// words, none of which the line continues to.
func (p *Parser) unknownSecond(l *Line, first string, subs []string) {
	l.nkw = 1
	if !l.Has(0) {
		l.Errorf(KeywordArg, "'%s' needs a second word, such as '%s'.", first, subs[0])
		return
	}
	for _, name := range compat.Names(p.section.Keywords.kind) {
		if second, ok := strings.CutPrefix(name, first+" "); ok {
			subs = append(subs, second)
		}
	}
	subs = slices.Compact(sorted(subs))
	l.nkw = 2
	l.UnknownName(KeywordArg, "'"+first+"' keyword", l.word(l.at+1), subs)
}

// elsewhere names the kind of section that knows the keyword, "" for none.
func (p *Parser) elsewhere(first string) string {
	t := p.section.Keywords
	if t != p.reg.Global && p.reg.Global.first[first] != nil {
		return "the global section"
	}
	if t != p.reg.Proxy && p.reg.Proxy.first[first] != nil {
		return "proxy sections"
	}
	if t != p.reg.Global && compat.Known(compat.Global, first) {
		return "the global section"
	}
	if t != p.reg.Proxy && compat.Known(compat.Proxy, first) {
		return "proxy sections"
	}
	return ""
}

// inventoryMatch finds the longest name of the inventory that the line starts
// with: its number of words and the name.
func inventoryMatch(kind string, l *Line) (int, string) {
	for n := min(3, len(l.words)-l.at); n > 0; n-- {
		var parts []string
		for i := range n {
			parts = append(parts, l.word(l.at+i))
		}
		if name := strings.Join(parts, " "); compat.Known(kind, name) {
			return n, name
		}
	}
	return 0, ""
}

// firstWords returns the distinct first words of a table.
func firstWords(t *Table) []string {
	names := make([]string, 0, len(t.first))
	for w := range t.first {
		names = append(names, w)
	}
	return sorted(names)
}

// secondWords returns the second words of the keywords that start with first.
func secondWords(t *Table, first string) []string {
	var out []string
	for _, k := range t.first[first] {
		if len(k.words) > 1 {
			out = append(out, k.words[1])
		}
	}
	return sorted(out)
}

// openSection closes the open section and opens the next one.
func (p *Parser) openSection(l *Line, s *Section) {
	p.closeSection()
	l.kw = &Keyword{Name: s.Name, Args: s.Args, words: []string{s.Name}}
	p.section, p.kind, p.sectionName = s, s.Kind, ""
	if s.Kind == InOther {
		p.sectionName = l.Arg(0)
	}
	p.target = s.Open(l)
	p.opened = append(p.opened, Opened{Section: s, Kind: p.kind, Name: p.sectionName, Target: p.target, Pos: l.pos})
}

func (p *Parser) closeSection() {
	if p.section != nil && p.section.Close != nil && p.target != nil {
		p.section.Close(p, p.target)
	}
	p.section, p.target, p.sectionName, p.kind, p.unserved = nil, nil, "", 0, false
}
