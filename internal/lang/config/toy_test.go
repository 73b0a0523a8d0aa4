package config

import (
	"fmt"
	"strings"
	"time"

	"weir/internal/base/addr"
	"weir/internal/base/units"
)

// toy is the root of the tests' registry: it records what the keywords saw.
type toy struct {
	log     []string
	proxies []*toyProxy
	maxconn int64
}

type toyProxy struct {
	kind    Sections
	name    string
	mode    string
	client  time.Duration
	servers []string
}

func (t *toy) add(format string, args ...any) { t.log = append(t.log, fmt.Sprintf(format, args...)) }

// newToy returns a registry with a few keywords of every sort.
func newToy() *Registry {
	r := NewRegistry()
	r.AddGlobalSection(func(p *Parser) any { return p.Root().(*toy) })
	r.AddProxySections(ProxyHooks{
		Open: func(p *Parser, h *ProxyHeader) any {
			px := &toyProxy{kind: h.Kind, name: h.Name}
			if from, ok := h.From.(*toyProxy); ok {
				px.mode, px.client = from.mode, from.client
			}
			if h.Valid {
				t := p.Root().(*toy)
				t.proxies = append(t.proxies, px)
			}
			return px
		},
		Close: func(p *Parser, target any) {
			p.Root().(*toy).add("close %s", target.(*toyProxy).name)
		},
	})
	r.Global.Add(
		Keyword{Name: "maxconn", Args: "<number>", Parse: On(func(l *Line, t *toy) {
			if l.NeedArgs(1, 1) {
				if n, ok := l.Int(0, 0, 1<<31-1); ok {
					t.maxconn = n
				}
			}
		})},
		Keyword{Name: "daemon", Parse: On(func(l *Line, _ *toy) { l.NeedArgs(0, 0) })},
		Keyword{Name: "strict-limits", No: true, Parse: On(func(l *Line, t *toy) { t.add("strict %v", !l.No()) })},
		Keyword{Name: "trick", Experimental: true, Parse: On(func(l *Line, t *toy) { t.add("trick") })},
		Keyword{Name: "old-trick", Deprecated: true, Parse: On(func(l *Line, t *toy) { t.add("old-trick") })},
		Keyword{Name: "words", Parse: On(func(l *Line, t *toy) { t.add("%q", l.Args(0)) })},
		Keyword{Name: "size", Parse: On(func(l *Line, t *toy) {
			if n, ok := l.Size(0, 1, 1<<31); ok {
				t.add("size %d", n)
			}
		})},
		Keyword{Name: "share", Parse: On(func(l *Line, t *toy) {
			if n, ok := l.Percent(0, 0, 100); ok {
				t.add("share %d", n)
			}
		})},
		Keyword{Name: "file", Parse: On(func(l *Line, t *toy) { t.add("file %s", l.Path(l.Arg(0))) })},
	)
	addToyProxy(r)
	r.Bind.Add(
		Keyword{Name: "name", Params: 1, Args: "<name>", Parse: On(func(l *Line, t *toy) { t.add("bind name %s", l.Arg(0)) })},
		Keyword{Name: "ssl", Parse: On(func(l *Line, t *toy) { t.add("bind ssl %d", l.Len()) })},
		Keyword{Name: "many", Params: -1, Parse: On(func(l *Line, t *toy) {
			l.Take(2)
			t.add("bind many %s %s", l.Arg(0), l.Arg(1))
		})},
	)
	r.AddSection(Section{
		Name: "userlist", Kind: InOther, Args: "<name>", Keywords: userTable(),
		Open: func(l *Line) any {
			l.NeedArgs(1, 1)
			l.CheckName(0, "userlist")
			return l.Parser().Root()
		},
	})
	return r
}

func userTable() *Table {
	t := NewTable("userlist")
	t.Add(Keyword{Name: "group", Parse: On(func(l *Line, t *toy) { t.add("group %s", l.Arg(0)) })})
	return t
}

func addToyProxy(r *Registry) {
	r.Proxy.Add(
		Keyword{Name: "mode", In: InProxy, Args: "{ tcp | http }", Parse: On(func(l *Line, p *toyProxy) {
			if l.NeedArgs(1, 1) && l.OneOf(0, "mode", "tcp", "http") >= 0 {
				p.mode = l.Arg(0)
			}
		})},
		Keyword{Name: "timeout client", In: InDefaults | InFrontend, Args: "<timeout>", Parse: On(func(l *Line, p *toyProxy) {
			if l.NeedArgs(1, 1) {
				if d, ok := l.Duration(0, units.Millisecond); ok {
					p.client = d
				}
			}
		})},
		Keyword{Name: "timeout server", In: InDefaults | InBackend, Args: "<timeout>", Parse: On(func(l *Line, p *toyProxy) {
			l.Duration(0, units.Millisecond)
		})},
		Keyword{Name: "option nolinger", In: InProxy, No: true, Default: true, Parse: On(func(l *Line, p *toyProxy) { l.NeedArgs(0, 0) })},
		Keyword{Name: "option httplog", In: InDefaults | InFrontend, Parse: On(func(l *Line, p *toyProxy) { l.NeedArgs(0, 1) })},
		Keyword{Name: "acl", In: InNamedDefaults | InListen, Parse: On(func(l *Line, p *toyProxy) { l.NeedArgs(2, -1) })},
		Keyword{Name: "bind", In: InFrontend, Args: "<address> [options]", Parse: On(func(l *Line, p *toyProxy) {
			if !l.Has(0) {
				l.NeedArgs(1, -1)
				return
			}
			for _, s := range addr.SplitList(l.Arg(0)) {
				if a, ok := l.AddrText(0, s, addr.Bind); ok {
					l.Parser().Root().(*toy).add("bind %v", a)
				}
			}
			l.Options(1, l.Parser().reg.Bind, l.Parser().Root())
		})},
		Keyword{Name: "server", In: InBackend, Strict: true, Args: "<name> <address> [options]", Parse: On(func(l *Line, p *toyProxy) {
			if !l.NeedArgs(2, -1) || !l.CheckName(0, "server") {
				return
			}
			if a, ok := l.Addr(1, addr.Connect); ok {
				p.servers = append(p.servers, a.String())
			}
		})},
		Keyword{Name: "default_backend", In: InDefaults | InFrontend, Parse: On(func(l *Line, p *toyProxy) {
			l.Check(func(l *Line) {
				var names []string
				for _, px := range l.Parser().Root().(*toy).proxies {
					if px.kind&InBackend != 0 {
						names = append(names, px.name)
					}
				}
				for _, n := range names {
					if n == l.Arg(0) {
						return
					}
				}
				l.Unknown(0, "backend", names)
			})
		})},
		Keyword{Name: "hint", In: InProxy, Parse: On(func(l *Line, p *toyProxy) {
			l.Diagf(0, "'%s' is suspicious.", l.Arg(0))
			l.Noticef(0, "noticed '%s'.", strings.ToUpper(l.Arg(0)))
		})},
	)
}

// toyOptions are the options of a load of one file given as text.
func toyOptions(files map[string]string, names ...string) (Options, *toy) {
	t := new(toy)
	return Options{
		Files: names, Root: t, Registry: newToy(),
		Environ: []string{"HOME=/root", "LIST= a  b c ", "EMPTY=", "ONE=one", "QUOTED=\"x y\" #z"},
		Facts: Facts{
			Features: []string{"OPENSSL", "THREAD"}, Enabled: map[string]bool{"EPOLL": true},
			SSLLib: "OpenSSL", SSLVersion: "3.5.0",
			LogFormats: map[string]string{"HAPROXY_TCP_LOG_FMT": "%ci"}, LocalPeer: "me",
		},
		ReadFile: func(path string) ([]byte, error) {
			if s, ok := files[path]; ok {
				return []byte(s), nil
			}
			return nil, fmt.Errorf("no such file")
		},
		ReadDir: func(path string) ([]string, bool, error) {
			var in []string
			for f := range files {
				if rest, ok := strings.CutPrefix(f, strings.TrimSuffix(path, "/")+"/"); ok {
					in = append(in, rest)
				}
			}
			return in, len(in) > 0 && files[path] == "", nil
		},
	}, t
}
