// Package proxy holds the directives of frontend, backend, listen and
// defaults sections that need no file of their own family: mode, limits,
// timeouts, options, switching, balancing, retries (manual, chapter 4.2).
package proxy

import (
	"math"

	"weir/internal/kw/guid"
	"weir/internal/lang/config"
	"weir/internal/model"
)

const (
	anywhere = config.InDefaults | config.InFrontend | config.InBackend
	frontend = config.InDefaults | config.InFrontend
	backend  = config.InDefaults | config.InBackend
)

// number returns the parse function of a keyword with one integer argument.
func number(lo, hi int64, set func(p *model.Proxy, n int)) func(*config.Line, any) {
	return config.On(func(l *config.Line, p *model.Proxy) {
		if !l.NeedArgs(1, 1) {
			return
		}
		if n, ok := l.Int(0, lo, hi); ok {
			set(p, int(n))
		}
	})
}

func init() {
	config.Proxy.Add(
		config.Keyword{
			Name: "mode", In: anywhere, Args: "{ tcp | http }",
			Help:  "protocol of the proxy",
			Parse: config.On(parseMode),
		},
		config.Keyword{
			Name: "maxconn", In: frontend, Args: "<conns>",
			Help:  "connections that the frontend serves at once; 0: the global limit",
			Parse: number(0, math.MaxInt32, func(p *model.Proxy, n int) { p.MaxConn = n }),
		},
		config.Keyword{
			Name: "backlog", In: frontend, Args: "<conns>",
			Help:  "length of the system's queue of connections to accept",
			Parse: number(0, math.MaxInt32, func(p *model.Proxy, n int) { p.Backlog = n }),
		},
		config.Keyword{
			Name: "fullconn", In: backend, Args: "<conns>",
			Help:  "load at which servers reach their maxconn",
			Parse: number(0, math.MaxInt32, func(p *model.Proxy, n int) { p.FullConn = n }),
		},
		config.Keyword{
			Name: "retries", In: backend, Args: "<value>",
			Help:  "attempts after a failed one",
			Parse: number(0, math.MaxInt32, func(p *model.Proxy, n int) { p.Retries = n }),
		},
		config.Keyword{
			Name: "max-keep-alive-queue", In: backend, Args: "<value>",
			Help:  "queue length up to which a request waits for the server of its connection; -1: any",
			Parse: number(-1, math.MaxInt32, func(p *model.Proxy, n int) { p.MaxKeepAliveQueue = n }),
		},
		config.Keyword{
			Name: "rate-limit sessions", In: frontend, Args: "<rate>",
			Help: "sessions accepted per second; 0: any number",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				if !l.NeedArgs(1, 1) {
					return
				}
				if n, ok := l.Int(0, 0, math.MaxInt32); ok {
					again(l, p)
					p.RateLimitSessions = int(n)
				}
			}),
		},
		config.Keyword{
			Name: "disabled", In: anywhere, Help: "the proxy does not start",
			Parse: config.On(func(l *config.Line, p *model.Proxy) { setDisabled(l, p, true) }),
		},
		config.Keyword{
			Name: "enabled", In: anywhere, Help: "cancels 'disabled'",
			Parse: config.On(func(l *config.Line, p *model.Proxy) { setDisabled(l, p, false) }),
		},
		config.Keyword{
			Name: "id", In: config.InListen, Args: "<value>",
			Help:  "number of the proxy in statistics",
			Parse: number(1, math.MaxInt32, func(p *model.Proxy, n int) { p.ID = n }),
		},
		config.Keyword{
			Name: "guid", In: config.InListen, Args: "<string>",
			Help: "unique name among all objects",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				if l.NeedArgs(1, 1) && guid.Claim(l, 0, p.Kind+" '"+p.Name+"'") {
					p.GUID = l.Arg(0)
				}
			}),
		},
		config.Keyword{
			Name: "description", In: config.InListen, Args: "<string>",
			Help: "text shown in statistics",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				if l.NeedArgs(1, -1) {
					p.Description = l.Join(0)
				}
			}),
		},
	)
}

func setDisabled(l *config.Line, p *model.Proxy, off bool) {
	if l.NeedArgs(0, 0) {
		p.Disabled = off
	}
}

func parseMode(l *config.Line, p *model.Proxy) {
	if !l.NeedArgs(1, 1) {
		return
	}
	switch l.Arg(0) {
	case "tcp":
		p.Mode = model.ModeTCP
	case "http":
		p.Mode = model.ModeHTTP
	case "log", "spop", "haterm":
		l.NotYet(0, "mode", l.Arg(0))
	case "health":
		l.Errorf(0, "'mode health' no longer exists; 'monitor-uri' answers the requests of a monitor.")
	default:
		l.Unknown(0, "mode", []string{"tcp", "http"})
	}
}

// given remembers which keywords the lines of one section have set.
type given struct {
	owner *model.Proxy
	names map[string]bool
}

var givenOf = &model.SlotKey[*given]{Name: "keywords given"}

// again warns when the keyword was given before in the same section. Values
// inherited from a defaults section, and defaults sections themselves, do not
// count.
func again(l *config.Line, p *model.Proxy) {
	if p.Sides == model.SideDefaults {
		return
	}
	g := givenOf.Get(&p.Slots)
	if g == nil || g.owner != p {
		g = &given{owner: p, names: make(map[string]bool)}
		givenOf.Set(&p.Slots, g)
	}
	if g.names[l.Name()] {
		l.Warnf(config.KeywordArg, "'%s' was given before in this section; the later value counts.", l.Name())
	}
	g.names[l.Name()] = true
}
