// Package rules has the keywords that begin rules: tcp-request, tcp-response,
// http-request, http-response and http-after-response (manual 4.2). The
// actions register themselves with package rule.
package rules

import (
	"time"

	"weir/internal/base/units"
	"weir/internal/lang/config"
	"weir/internal/lang/rule"
	"weir/internal/model"
)

func init() {
	const (
		frontend = config.InNamedDefaults | config.InFrontend
		both     = config.InNamedDefaults | config.InFrontend | config.InBackend
	)
	for _, k := range []struct {
		kind rule.Kind
		in   config.Sections
		help string
	}{
		{rule.TCPConnection, frontend, "a rule for new connections, before anything is read"},
		{rule.TCPSession, frontend, "a rule for new sessions, after the handshakes"},
		{rule.TCPContent, both, "a rule for what clients send"},
		{rule.TCPResponse, both, "a rule for what servers send"},
		{rule.HTTPRequest, both, "a rule for requests"},
		{rule.HTTPResponse, both, "a rule for responses of servers"},
		{rule.HTTPAfterResponse, both, "a rule for all responses, those made here included"},
	} {
		config.Proxy.Add(config.Keyword{
			Name: k.kind.String(), In: k.in, Args: "<action> [arguments] [{ if | unless } <condition>]", Help: k.help,
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				p.HasRules = true
				p.ForFronts = p.ForFronts || k.kind == rule.TCPConnection || k.kind == rule.TCPSession
				p.ForBacks = p.ForBacks || k.kind == rule.TCPResponse
				Add(p, func(p *model.Proxy) { rule.Parse(l, 0, k.kind, p) })
			}),
		})
	}
	config.Proxy.Add(
		config.Keyword{
			Name: "tcp-request inspect-delay", In: config.InDefaults | both, Args: "<timeout>",
			Help: "how long content rules wait for data",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				Add(p, func(p *model.Proxy) { delay(l, &rule.Of(p).InspectDelay) })
			}),
		},
		config.Keyword{
			Name: "tcp-response inspect-delay", In: config.InDefaults | both, Args: "<timeout>",
			Help: "how long content rules wait for data of the server",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				Add(p, func(p *model.Proxy) { delay(l, &rule.Of(p).ResponseInspectDelay) })
			}),
		},
	)
}

// Add applies a line to a proxy, and to those that inherit it when the proxy is a defaults section.
func Add(p *model.Proxy, apply func(*model.Proxy)) {
	apply(p)
	if p.Sides&model.SideDefaults != 0 {
		p.Inherit = append(p.Inherit, apply)
	}
}

func delay(l *config.Line, d *time.Duration) {
	if l.NeedArgs(1, 1) {
		if v, ok := l.Duration(0, units.Millisecond); ok {
			*d = v
		}
	}
}
