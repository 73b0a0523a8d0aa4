package config

import (
	"fmt"

	"weir/internal/base/diag"
)

// ProxyHeader is the first line of a proxy section, checked.
type ProxyHeader struct {
	// Kind is InDefaults (with InNamedDefaults when it has a name),
	// InFrontend, InBackend or InListen.
	Kind Sections
	// Name is the section's name, "" for an anonymous defaults section.
	Name string
	// From is the target of the defaults section that gives the initial
	// settings, nil when there is none; FromName is its name.
	From     any
	FromName string
	// Valid is false when the line has errors: the target will be thrown
	// away, and must not be reachable from other objects.
	Valid bool
	Line  *Line
}

// ProxyHooks make and finish the targets of the four proxy sections.
type ProxyHooks struct {
	Open  func(p *Parser, h *ProxyHeader) any
	Close func(p *Parser, target any)
}

// AddProxySections registers defaults, frontend, backend and listen with the
// program. The language checks names, duplicates and "from"; hooks make the
// objects.
func AddProxySections(h ProxyHooks) { Std.AddProxySections(h) }

// AddGlobalSection registers the global section with the program. open
// returns its target, the same one for each global section of a load.
func AddGlobalSection(open func(p *Parser) any) { Std.AddGlobalSection(open) }

// AddGlobalSection registers the global section.
func (r *Registry) AddGlobalSection(open func(p *Parser) any) {
	r.addSection(Section{
		Name: "global", Kind: InGlobal, Keywords: r.Global,
		Help: "settings of the process",
		Open: func(l *Line) any {
			l.NeedArgs(0, 0)
			return open(l.p)
		},
	}, 2)
}

// AddProxySections registers defaults, frontend, backend and listen.
func (r *Registry) AddProxySections(h ProxyHooks) {
	for _, s := range []Section{
		{Name: "defaults", Kind: InDefaults, Args: "[<name>] [from <defaults>]", Help: "settings that the proxies after it start with"},
		{Name: "frontend", Kind: InFrontend, Args: "<name> [from <defaults>]", Help: "accepts connections of clients"},
		{Name: "backend", Kind: InBackend, Args: "<name> [from <defaults>]", Help: "servers that requests are sent to"},
		{Name: "listen", Kind: InListen, Args: "<name> [from <defaults>]", Help: "a frontend and a backend in one"},
	} {
		kind := s.Kind
		s.Keywords = r.Proxy
		s.Close = h.Close
		s.Open = func(l *Line) any { return l.p.openProxy(l, kind, h) }
		r.addSection(s, 2)
	}
}

// proxyEntry is what the parser remembers of a proxy section.
type proxyEntry struct {
	kind   Sections
	name   string
	pos    diag.Position
	target any
	// For defaults sections: how later sections refer to it.
	explicit, implicit diag.Position // first use of each sort
	dup                *proxyEntry   // an earlier defaults section of that name
	warned             bool
}

func (p *Parser) openProxy(l *Line, kind Sections, h ProxyHooks) any {
	hdr := &ProxyHeader{Kind: kind, Line: l, Valid: true}
	fromAt := p.proxyArgs(l, hdr)
	entry := &proxyEntry{kind: kind, name: hdr.Name, pos: l.ArgPos(0)}
	if kind == InDefaults {
		if hdr.Name != "" {
			hdr.Kind |= InNamedDefaults
		}
		entry.dup = p.defaultsByName[hdr.Name]
	} else if hdr.Name != "" {
		if old := p.proxies[hdr.Name]; old != nil {
			l.Errorf(0, "%s '%s' has the same name as the %s declared at %s; each proxy needs its own name.",
				sectionWord(kind), hdr.Name, sectionWord(old.kind), old.pos.Where())
			hdr.Valid = false
		} else {
			p.proxies[hdr.Name] = entry
		}
	}
	if from := p.defaultsFor(l, hdr, fromAt); from != nil {
		hdr.From, hdr.FromName = from.target, from.name
	}
	entry.target = h.Open(p, hdr)
	if kind == InDefaults {
		p.lastDefaults = entry
		if hdr.Name != "" {
			p.defaultsByName[hdr.Name] = entry
		}
	}
	p.kind = hdr.Kind
	p.sectionName = hdr.Name
	return entry.target
}

// proxyArgs reads "[name] [from name]". It returns the index of the argument
// after "from", or -1.
func (p *Parser) proxyArgs(l *Line, hdr *ProxyHeader) int {
	word, i, fromAt := sectionWord(hdr.Kind), 0, -1
	bad := func(i int, format string, args ...any) {
		l.Errorf(i, format, args...)
		hdr.Valid = false
	}
	// "defaults from x" has no name, "defaults from" and "defaults from from x"
	// have the name "from".
	anonymous := hdr.Kind == InDefaults && l.Arg(0) == "from" && l.Len() == 2
	if l.Has(0) && !anonymous {
		hdr.Name = l.Arg(0)
		i = 1
	}
	if hdr.Kind != InDefaults {
		if hdr.Name == "" {
			bad(0, "'%s' needs a name: %s <name> [from <defaults>].", word, word)
		} else if c, ok := badNameByte(hdr.Name); ok {
			bad(0, "character %s is not allowed in the name '%s' of a %s; letters, digits, '-', '_', '.' and ':' are.",
				showByte(c), hdr.Name, word)
		}
	}
	if l.Has(i) && l.Arg(i) == "from" {
		fromAt = i + 1
		i += 2
		if !l.Has(fromAt) {
			bad(fromAt, "'from' needs the name of a defaults section.")
			return -1
		}
	}
	if l.Has(i) {
		if hdr.Kind == InDefaults && fromAt < 0 {
			l.Warnf(i, "'%s' is ignored on the line of a defaults section.", l.Arg(i))
		} else if fromAt < 0 {
			bad(i, "'%s' after the name of a %s: addresses belong on 'bind' lines, and only 'from <defaults>' may follow the name.", l.Arg(i), word)
		} else {
			bad(i, "'%s' is too much on the line of a %s section.", l.Arg(i), word)
		}
	}
	return fromAt
}

// defaultsFor finds the defaults section that a new section starts from.
func (p *Parser) defaultsFor(l *Line, hdr *ProxyHeader, fromAt int) *proxyEntry {
	if fromAt < 0 {
		if hdr.Kind&InDefaults != 0 || p.lastDefaults == nil {
			return nil // a defaults section without "from" starts afresh
		}
		d := p.lastDefaults
		if d.implicit.IsZero() {
			d.implicit = l.pos
		}
		p.mixedUse(l, d, KeywordArg)
		return d
	}
	name := l.Arg(fromAt)
	d := p.defaultsByName[name]
	switch {
	case d == nil || name == "":
		names := make([]string, 0, len(p.defaultsByName))
		for n := range p.defaultsByName {
			names = append(names, n)
		}
		l.Unknown(fromAt, "defaults section", sorted(names))
		hdr.Valid = false
		return nil
	case d.dup != nil:
		// The reference complains loudly but goes on with the latest one.
		l.Warnf(fromAt, "defaults section '%s' is ambiguous: it is declared at %s and at %s; the latter is used.", name, d.dup.pos.Where(), d.pos.Where())
	}
	if c, bad := badNameByte(name); bad {
		l.Warnf(fromAt, "character %s is not allowed in the name '%s' of a defaults section that others refer to.", showByte(c), name)
	}
	if d.explicit.IsZero() {
		d.explicit = l.pos
	}
	if hdr.Kind&InDefaults == 0 {
		p.mixedUse(l, d, fromAt)
	}
	return d
}

// mixedUse warns once about a named defaults section that some proxies use by
// name and others because it is the latest.
func (p *Parser) mixedUse(l *Line, d *proxyEntry, arg int) {
	if d.warned || d.explicit.IsZero() || d.implicit.IsZero() {
		return
	}
	d.warned = true
	l.Warnf(arg, "defaults section '%s' is used by name (at %s) and also implicitly (at %s); use 'from' everywhere, or end with a defaults section of its own for implicit uses.",
		d.name, d.explicit.Where(), d.implicit.Where())
}

// sectionWord returns the keyword of a proxy section type.
func sectionWord(kind Sections) string {
	switch {
	case kind&InDefaults != 0:
		return "defaults"
	case kind&InListen == InListen:
		return "listen"
	case kind&InFrontend != 0:
		return "frontend"
	case kind&InBackend != 0:
		return "backend"
	}
	return "global"
}

// badNameByte returns the first byte that names of proxies, servers and the
// like may not contain.
func badNameByte(name string) (byte, bool) {
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9',
			c == '-', c == '_', c == '.', c == ':':
		default:
			return c, true
		}
	}
	return 0, false
}

func showByte(c byte) string {
	if c < 0x20 || c >= 0x7f {
		return fmt.Sprintf("0x%02x", c)
	}
	return "'" + string(c) + "'"
}

// CheckName reports argument i when it is no valid name for a proxy, server
// or similar object; what says which.
func (l *Line) CheckName(i int, what string) bool {
	name := l.Arg(i)
	if name == "" {
		l.Errorf(i, "a %s needs a name.", what)
		return false
	}
	if c, bad := badNameByte(name); bad {
		l.Errorf(i, "character %s is not allowed in the name '%s' of a %s; letters, digits, '-', '_', '.' and ':' are.", showByte(c), name, what)
		return false
	}
	return true
}
