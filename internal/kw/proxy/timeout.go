package proxy

import (
	"math"
	"strings"
	"time"

	"weir/internal/base/units"
	"weir/internal/lang/config"
	"weir/internal/model"
)

func init() {
	for _, t := range []struct {
		name  string
		in    config.Sections
		field func(t *model.Timeouts) *time.Duration
		help  string
	}{
		{"client", frontend, func(t *model.Timeouts) *time.Duration { return &t.Client }, "inactivity of the client"},
		{"client-fin", frontend, func(t *model.Timeouts) *time.Duration { return &t.ClientFin }, "inactivity of a client connection that is half closed"},
		{"client-hs", frontend, func(t *model.Timeouts) *time.Duration { return &t.ClientHS }, "time for the handshakes of a client connection"},
		{"server", backend, func(t *model.Timeouts) *time.Duration { return &t.Server }, "inactivity of the server"},
		{"server-fin", backend, func(t *model.Timeouts) *time.Duration { return &t.ServerFin }, "inactivity of a server connection that is half closed"},
		{"connect", backend, func(t *model.Timeouts) *time.Duration { return &t.Connect }, "time for a connection to a server"},
		{"queue", backend, func(t *model.Timeouts) *time.Duration { return &t.Queue }, "time that a request waits for a server"},
		{"tunnel", backend, func(t *model.Timeouts) *time.Duration { return &t.Tunnel }, "inactivity of a tunnel, both directions"},
		{"check", backend, func(t *model.Timeouts) *time.Duration { return &t.Check }, "time for the answer to a health check"},
		{"http-request", anywhere, func(t *model.Timeouts) *time.Duration { return &t.HTTPRequest }, "time for a complete request"},
		{"http-keep-alive", anywhere, func(t *model.Timeouts) *time.Duration { return &t.HTTPKeepAlive }, "time between two requests"},
		{"tarpit", anywhere, func(t *model.Timeouts) *time.Duration { return &t.Tarpit }, "time that a tarpitted request waits"},
	} {
		config.Proxy.Add(config.Keyword{
			Name: "timeout " + t.name, In: t.in, Args: "<timeout>", Help: t.help,
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				if d, ok := timeout(l, units.Millisecond); ok {
					again(l, p)
					*t.field(&p.Timeout) = d
				}
			}),
		})
	}
	for _, t := range []struct {
		name  string
		in    config.Sections
		field func(p *model.Proxy) *model.Keepalive
		side  string
	}{
		{"clitcpka", frontend, func(p *model.Proxy) *model.Keepalive { return &p.ClientKA }, "client"},
		{"srvtcpka", backend, func(p *model.Proxy) *model.Keepalive { return &p.ServerKA }, "server"},
	} {
		config.Proxy.Add(
			config.Keyword{
				Name: t.name + "-cnt", In: t.in, Args: "<count>",
				Help:  "lost TCP keepalive probes after which a " + t.side + " connection is dead",
				Parse: number(0, math.MaxInt32, func(p *model.Proxy, n int) { t.field(p).Count = n }),
			},
			config.Keyword{
				Name: t.name + "-idle", In: t.in, Args: "<timeout>",
				Help: "silence after which TCP keepalive probes start on the " + t.side + " side",
				Parse: config.On(func(l *config.Line, p *model.Proxy) {
					if d, ok := timeout(l, units.Second); ok {
						t.field(p).Idle = d
					}
				}),
			},
			config.Keyword{
				Name: t.name + "-intvl", In: t.in, Args: "<timeout>",
				Help: "time between two TCP keepalive probes on the " + t.side + " side",
				Parse: config.On(func(l *config.Line, p *model.Proxy) {
					if d, ok := timeout(l, units.Second); ok {
						t.field(p).Interval = d
					}
				}),
			},
		)
	}
}

// timeout reads the only argument, a time. A number below 100 without a unit
// where milliseconds are meant is a likely slip.
func timeout(l *config.Line, unit units.Unit) (time.Duration, bool) {
	if !l.NeedArgs(1, 1) {
		return 0, false
	}
	d, ok := l.Duration(0, unit)
	if ok && unit == units.Millisecond && d > 0 && d < 100*time.Millisecond && isDigits(l.Arg(0)) {
		l.Warnf(0, "'%s %s' is very short for a number of milliseconds; write '%sms' if that is meant.", l.Name(), l.Arg(0), l.Arg(0))
	}
	return d, ok
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }
