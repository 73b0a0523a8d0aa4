package proxy

import (
	"strings"

	"weir/internal/lang/acl"
	"weir/internal/lang/config"
	"weir/internal/lang/logfmt"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	config.Proxy.Add(
		config.Keyword{
			Name: "acl", In: config.InNamedDefaults | config.InListen,
			Args: "<name> <criterion> [flags] [operator] <value> ...",
			Help: "gives a condition a name, or widens it",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				add := func(p *model.Proxy) { acl.Of(p).Add(l, scope(l, p, 1, 0)) }
				add(p)
				if p.Sides&model.SideDefaults != 0 {
					p.Inherit = append(p.Inherit, add)
				}
			}),
		},
		config.Keyword{
			Name: "default_backend", In: frontend, Args: "<backend>",
			Help: "backend for what no use_backend rule takes",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				if l.NeedArgs(1, 1) {
					p.DefaultBackend, p.DefaultBackendPos = l.Arg(0), l.ArgPos(0)
				}
			}),
		},
		config.Keyword{
			Name: "use_backend", In: config.InFrontend, Args: "<backend> [{ if | unless } <condition>]",
			Help:  "sends requests to a backend",
			Parse: config.On(parseUseBackend),
		},
		config.Keyword{
			Name: "use-server", In: config.InBackend, Args: "<server> [{ if | unless } <condition>]",
			Help:  "sends requests to a server",
			Parse: config.On(parseUseServer),
		},
		config.Keyword{
			Name: "force-persist", In: config.InBackend, Args: "{ if | unless } <condition>",
			Help:  "uses the server that persistence names even when it is down",
			Parse: config.On(func(l *config.Line, p *model.Proxy) { parsePersist(l, p, false) }),
		},
		config.Keyword{
			Name: "ignore-persist", In: config.InBackend, Args: "{ if | unless } <condition>",
			Help:  "balances although persistence names a server",
			Parse: config.On(func(l *config.Line, p *model.Proxy) { parsePersist(l, p, true) }),
		},
		config.Keyword{
			Name: "force-be-switch", In: config.InFrontend, Strict: true, Args: "{ if | unless } <condition>",
			Help: "chooses backends even when they are disabled or unpublished",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				if c := condition(l, p, sample.FrontUseBackend); c != nil {
					p.ForceSwitch = append(p.ForceSwitch, c)
				}
			}),
		},
		config.Keyword{
			Name: "be-unpublished", In: config.InBackend, Strict: true, Help: "no rule chooses the backend until it is published",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				if l.NeedArgs(0, 0) {
					p.Unpublished = true
				}
			}),
		},
		config.Keyword{
			Name: "monitor-uri", In: frontend, Args: "<uri>",
			Help: "URI of requests that ask for the health of the proxy itself",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				if l.NeedArgs(1, 1) {
					p.MonitorURI = l.Arg(0)
				}
			}),
		},
		config.Keyword{
			Name: "monitor fail", In: config.InFrontend, Args: "{ if | unless } <condition>",
			Help: "condition under which monitor-uri answers 503",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				if l.Has(0) && len(p.Switch) > 0 {
					l.Warnf(config.KeywordArg, "'monitor fail' after 'use_backend' is nevertheless applied before it.")
				}
				if c := condition(l, p, sample.FrontHTTPRequest); c != nil {
					p.MonitorFail = append(p.MonitorFail, c)
				}
			}),
		},
	)
}

// scope is where an expression of the line stands.
func scope(l *config.Line, p *model.Proxy, arg int, valid sample.Places) *sample.Scope {
	return &sample.Scope{Line: l, Arg: arg, Proxy: p, Valid: valid}
}

func parseUseBackend(l *config.Line, p *model.Proxy) {
	if !l.Has(0) {
		l.Errorf(0, "'use_backend' expects the name of a backend.")
		return
	}
	r := &model.SwitchRule{Pos: l.ArgPos(0), Backend: l.Arg(0)}
	name, cond, ok := parseTarget(l, p, "the name of the backend", sample.FrontUseBackend)
	if ok {
		r.Name, r.Cond = name, cond
		p.Switch = append(p.Switch, r)
	}
}

func parseUseServer(l *config.Line, p *model.Proxy) {
	if !l.Has(0) {
		l.Errorf(0, "'use-server' expects the name of a server.")
		return
	}
	r := &model.ServerRule{Pos: l.ArgPos(0), Text: l.Arg(0)}
	name, cond, ok := parseTarget(l, p, "the name of the server", sample.BackUseServer)
	if !ok {
		return
	}
	r.Name, r.Cond = name, cond
	p.UseServer = append(p.UseServer, r)
	if name != nil {
		return
	}
	l.Check(func(l *config.Line) {
		names := make([]string, 0, len(p.Servers))
		for _, s := range p.Servers {
			if s.Name == r.Text {
				r.Server = s
			}
			names = append(names, s.Name)
		}
		if r.Server == nil {
			l.Unknown(0, "server", names)
		}
	})
}

// parseTarget reads a name, or a format that makes one, and a condition.
func parseTarget(l *config.Line, p *model.Proxy, what string, valid sample.Places) (name model.Format, cond *model.Condition, ok bool) {
	if strings.Contains(l.Arg(0), "%") {
		f, err := logfmt.Parse(scope(l, p, 0, valid), l.Arg(0), logfmt.Options{})
		if err != nil {
			l.Errorf(0, "%s.", err)
			return nil, nil, false
		}
		name = f
	}
	if !l.Has(1) {
		return name, nil, true
	}
	if w := l.Arg(1); w != "if" && w != "unless" {
		l.Errorf(1, "'%s' after %s: only 'if' or 'unless' with a condition may follow.", w, what)
		return nil, nil, false
	}
	cond = acl.Parse(l, 1, scope(l, p, 1, valid))
	return name, cond, cond != nil
}

// parsePersist reads force-persist and ignore-persist.
func parsePersist(l *config.Line, p *model.Proxy, ignore bool) {
	if c := condition(l, p, sample.BackHTTPRequest|sample.FrontHTTPRequest); c != nil {
		p.PersistRules = append(p.PersistRules, model.PersistRule{Cond: c, Ignore: ignore})
	}
}

// condition reads a line that is nothing but "if ..." or "unless ...".
func condition(l *config.Line, p *model.Proxy, valid sample.Places) *model.Condition {
	if !l.Has(0) {
		l.Errorf(0, "'%s' needs 'if' or 'unless' and a condition.", l.Name())
		return nil
	}
	return acl.Parse(l, 0, scope(l, p, 0, valid))
}
