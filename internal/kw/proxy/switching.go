package proxy

import (
	"strings"

	"weir/internal/lang/cond"
	"weir/internal/lang/config"
	"weir/internal/model"
)

func init() {
	config.Proxy.Add(
		config.Keyword{
			Name: "acl", In: config.InNamedDefaults | config.InListen,
			Args: "<name> <criterion> [flags] [operator] <value> ...",
			Help: "gives a condition a name, or widens it",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				acls := cond.ACLsOf.Get(&p.Slots)
				if acls == nil {
					acls = new(cond.ACLs)
					cond.ACLsOf.Set(&p.Slots, acls)
				}
				acls.Add(l, scope(p))
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
				if !l.Has(0) {
					l.Errorf(0, "'monitor fail' needs 'if' or 'unless' and a condition.")
					return
				}
				if len(p.Switch) > 0 {
					l.Warnf(config.KeywordArg, "'monitor fail' after 'use_backend' is nevertheless applied before it.")
				}
				if c := cond.Parse(l, 0, scope(p)); c != nil {
					p.MonitorFail = append(p.MonitorFail, c)
				}
			}),
		},
	)
}

func scope(p *model.Proxy) cond.Scope {
	return cond.Scope{Proxy: p.Name, Backend: p.IsBackend(), ACLs: cond.ACLsOf.Get(&p.Slots)}
}

func parseUseBackend(l *config.Line, p *model.Proxy) {
	if !l.Has(0) {
		l.Errorf(0, "'use_backend' expects the name of a backend.")
		return
	}
	if strings.Contains(l.Arg(0), "%") {
		l.NotYet(0, "log format in place of a backend", l.Arg(0))
		return
	}
	rule := &model.SwitchRule{Pos: l.ArgPos(0), Backend: l.Arg(0)}
	if l.Has(1) {
		if w := l.Arg(1); w != "if" && w != "unless" {
			l.Errorf(1, "'%s' after the name of the backend: only 'if' or 'unless' with a condition may follow.", w)
			return
		}
		if rule.Cond = cond.Parse(l, 1, scope(p)); rule.Cond == nil {
			return
		}
	}
	p.Switch = append(p.Switch, rule)
}
