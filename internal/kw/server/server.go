// Package server holds "server", "default-server" and "server-template" lines
// with their options, and "source" (manual, chapters 4.2 and 5.2).
package server

import (
	"strconv"
	"strings"
	"time"

	"weir/internal/base/addr"
	"weir/internal/lang/config"
	"weir/internal/model"
)

// maxTemplate bounds the servers of one server-template line.
const maxTemplate = 65536

func init() {
	config.Proxy.Add(
		config.Keyword{
			Name: "server", In: config.InBackend, Strict: true,
			Args:  "<name> <address>[:[<port>]] [from <origin>] [option ...]",
			Help:  "a server of the backend",
			Parse: config.On(parseServer),
		},
		config.Keyword{
			Name: "default-server", In: config.InDefaults | config.InBackend, Strict: true,
			Args:  "[name <name>] [from <origin>] [option ...]",
			Help:  "options that the servers after it start with",
			Parse: config.On(parseDefault),
		},
		config.Keyword{
			Name: "server-template", In: config.InBackend, Strict: true,
			Args:  "<prefix> { <number> | <low>-<high> } <address>[:<port>] [from <origin>] [option ...]",
			Help:  "several servers with numbered names",
			Parse: config.On(parseTemplate),
		},
	)
}

// New returns a server with the documented defaults.
func New() *model.Server {
	return &model.Server{
		Weight:         1,
		PoolMaxConn:    -1,
		MaxReuse:       -1,
		PoolPurgeDelay: 5 * time.Second,
	}
}

// line is what the options of a server line fill.
type line struct {
	*model.Server
	proxy *model.Proxy
}

// Object returns what an option of another package fills.
func (s *line) Object() (*model.Server, *model.Proxy) { return s.Server, s.proxy }

func parseServer(l *config.Line, p *model.Proxy) {
	if !l.Has(1) {
		l.Errorf(l.Len(), "'server' expects a name and an address: server <name> <address>[:<port>] [option ...]")
		return
	}
	errors := l.Parser().Diags().Errors()
	nameOK := l.CheckName(0, "server") && free(l, p, l.Arg(0))
	a, addrOK := serverAddr(l, 1)
	s, next := start(l, 2, p)
	s.Pos, s.Name, s.Text, s.Addr = l.Pos(), l.Arg(0), l.Arg(1), a
	if a.IsName {
		s.Host = a.Host
	}
	l.Options(next, config.Server, &line{s, p})
	if nameOK && addrOK && l.Parser().Diags().Errors() == errors {
		normalise(s)
	}
	if nameOK {
		p.Servers = append(p.Servers, s)
	}
}

// serverAddr reads the address of a server. Without a port the client's one
// is used; "", "*" and 0.0.0.0 stand for the address the client connected to.
func serverAddr(l *config.Line, i int) (addr.Addr, bool) {
	a, ok := l.Addr(i, addr.Connect)
	if ok && (a.Family == addr.SockPair || a.Family == addr.AbstractZ) {
		l.NotYet(i, "address form", l.Arg(i)[:strings.IndexByte(l.Arg(i), '@')+1])
		return a, false
	}
	return a, ok
}

// normalise settles limits that contradict each other: a minimum that is not
// below the maximum leaves nothing to vary.
func normalise(s *model.Server) {
	if s.MinConn > 0 && s.MinConn >= s.MaxConn {
		s.MaxConn, s.MinConn = s.MinConn, 0
	}
}

// free reports argument 0 when the proxy has a server or a named
// default-server of that name.
func free(l *config.Line, p *model.Proxy, name string) bool {
	for _, s := range p.Servers {
		if s.Name == name {
			l.Errorf(0, "%s '%s' has a server named '%s' already, at %s; each server needs its own name.", p.Kind, p.Name, name, s.Pos.Where())
			return false
		}
	}
	if d := templatesOf.Get(&p.Slots)[name]; d != nil {
		l.Errorf(0, "%s '%s' has a default-server named '%s', at %s; a server needs another name.", p.Kind, p.Name, name, d.Pos.Where())
		return false
	}
	return true
}

func parseTemplate(l *config.Line, p *model.Proxy) {
	if !l.Has(2) {
		l.Errorf(l.Len(), "'server-template' expects a prefix, a number or range, and an address: server-template <prefix> { <number> | <low>-<high> } <address>[:<port>] [option ...]")
		return
	}
	errors := l.Parser().Diags().Errors()
	nameOK := l.CheckName(0, "server")
	low, high, rangeOK := templateRange(l, 1)
	a, addrOK := serverAddr(l, 2)
	base, next := start(l, 3, p)
	base.Pos, base.Text, base.Addr = l.Pos(), l.Arg(2), a
	if a.IsName {
		base.Host = a.Host
	}
	l.Options(next, config.Server, &line{base, p})
	if !nameOK || !rangeOK || !addrOK || l.Parser().Diags().Errors() > errors {
		return
	}
	normalise(base)
	for n := low; n <= high; n++ {
		s := base.Clone()
		s.Name = l.Arg(0) + strconv.Itoa(n)
		if s.ID != 0 {
			s.ID += n - low
		}
		if n > low {
			s.GUID = ""
		}
		if !free(l, p, s.Name) {
			return
		}
		p.Servers = append(p.Servers, s)
	}
}

// templateRange reads "<number>" (1 to number) or "<low>-<high>".
func templateRange(l *config.Line, i int) (low, high int, ok bool) {
	first, last, isRange := strings.Cut(l.Arg(i), "-")
	if !isRange {
		first, last = "1", first
	}
	low, err1 := strconv.Atoi(first)
	high, err2 := strconv.Atoi(last)
	switch {
	case err1 != nil || err2 != nil || low < 0 || high < 1 || high < low:
		l.Errorf(i, "'%s' is neither a number of servers nor a range such as 1-5.", l.Arg(i))
		return 0, 0, false
	case high-low >= maxTemplate:
		l.Errorf(i, "'%s' asks for more than %d servers.", l.Arg(i), maxTemplate)
		return 0, 0, false
	}
	return low, high, true
}
