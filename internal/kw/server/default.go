package server

import (
	"strings"

	"weir/internal/lang/config"
	"weir/internal/model"
)

// templatesOf holds the named default-servers of a proxy. The map of a
// defaults section is never changed by the proxies that start from it: see
// templates.
var templatesOf = &model.SlotKey[map[string]*model.Server]{Name: "named default-servers"}

// templates returns a map of named default-servers that p may change.
func templates(p *model.Proxy) map[string]*model.Server {
	own := make(map[string]*model.Server)
	for n, s := range templatesOf.Get(&p.Slots) {
		own[n] = s
	}
	templatesOf.Set(&p.Slots, own)
	return own
}

func parseDefault(l *config.Line, p *model.Proxy) {
	i, name := 0, ""
	if l.Arg(0) == "name" {
		if !l.Has(1) {
			l.Errorf(1, "'name' needs the name of the default-server.")
			return
		}
		name, i = l.Arg(1), 2
		for _, s := range p.Servers {
			if s.Name == name {
				l.Errorf(1, "%s '%s' has a server named '%s', at %s; a default-server needs another name.", p.Kind, p.Name, name, s.Pos.Where())
				return
			}
		}
	}
	current := p.DefaultServer
	if name != "" {
		if current = templatesOf.Get(&p.Slots)[name]; current == nil {
			current = New()
		}
	}
	s := current.Clone()
	if l.Arg(i) == "from" {
		var ok bool
		if s, ok = origin(l, i+1, p); !ok {
			return
		}
		i += 2
	}
	s.Pos, s.Name = l.Pos(), name
	errors := l.Parser().Diags().Errors()
	l.Options(i, config.Server, &line{s, p})
	switch {
	case l.Parser().Diags().Errors() > errors:
	case name != "":
		templates(p)[name] = s
	default:
		p.DefaultServer = s
	}
}

// start returns what the options of a server line start from: the section's
// default-server, or what "from" names at argument i. It returns the index of
// the first option.
func start(l *config.Line, i int, p *model.Proxy) (*model.Server, int) {
	if l.Arg(i) != "from" {
		return p.DefaultServer.Clone(), i
	}
	if s, ok := origin(l, i+1, p); ok {
		return s, i + 2
	}
	return p.DefaultServer.Clone(), i + 2
}

// origin resolves the argument of "from": none, be:[backend] or
// srv:[backend/]name (manual 5.2). The copy has the settings only: no name,
// address or id.
func origin(l *config.Line, i int, p *model.Proxy) (*model.Server, bool) {
	if !l.Has(i) {
		l.Errorf(i, "'from' needs an origin: none, be:[<backend>] or srv:[<backend>/]<server>.")
		return nil, false
	}
	word := l.Arg(i)
	if word == "none" {
		return New(), true
	}
	kind, name, found := strings.Cut(word, ":")
	backend := ""
	switch {
	case found && kind == "be":
		backend = name
	case found && kind == "srv":
		if b, s, qualified := strings.Cut(name, "/"); qualified {
			backend, name = b, s
		}
	default:
		l.Errorf(i, "'%s' is no origin for 'from': none, be:[<backend>] and srv:[<backend>/]<server> are.", word)
		return nil, false
	}
	from := p
	if backend != "" && backend != p.Name {
		if from = l.Parser().Root().(*model.Config).Backend(backend); from == nil {
			l.Errorf(i, "'from': there is no backend '%s' above this line.", backend)
			return nil, false
		}
	}
	if kind == "be" {
		return from.DefaultServer.Clone(), true
	}
	if s := templatesOf.Get(&from.Slots)[name]; s != nil {
		return settings(s), true
	}
	for _, s := range from.Servers {
		if s.Name == name {
			return settings(s), true
		}
	}
	l.Errorf(i, "'from': %s '%s' has no server or default-server named '%s' above this line.", from.Kind, from.Name, name)
	return nil, false
}

// settings copies what is not particular to one server.
func settings(s *model.Server) *model.Server {
	n := s.Clone()
	n.Name, n.Text, n.Host, n.GUID, n.ID, n.NoAddr = "", "", "", "", 0, false
	n.Addr = New().Addr
	return n
}
