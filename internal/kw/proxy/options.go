package proxy

import (
	"math"

	"weir/internal/lang/config"
	"weir/internal/model"
)

// flag is an option that is on or off.
type flag struct {
	name string
	bit  model.Option
	in   config.Sections
	http bool // needs mode http: elsewhere it is ignored with a warning
	help string
}

var flags = []flag{
	{"abortonclose", model.OptAbortOnClose, anywhere, false, "gives up requests that wait when their client leaves"},
	{"allbackups", model.OptAllBackups, backend, false, "uses all backup servers at once, not the first only"},
	{"accept-unsafe-violations-in-http-request", model.OptAcceptUnsafeRequest, frontend, true, "tolerates some malformed requests"},
	{"accept-unsafe-violations-in-http-response", model.OptAcceptUnsafeResponse, backend, true, "tolerates some malformed responses"},
	{"checkcache", model.OptCheckCache, backend, true, "refuses responses that caches may keep together with a cookie"},
	{"clitcpka", model.OptClitcpka, frontend, false, "TCP keepalives towards clients"},
	{"srvtcpka", model.OptSrvtcpka, backend, false, "TCP keepalives towards servers"},
	{"contstats", model.OptContStats, frontend, false, "updates counters while streams run"},
	{"dontlog-normal", model.OptDontLogNormal, frontend, false, "logs only what went wrong"},
	{"dontlognull", model.OptDontLogNull, frontend, false, "does not log connections without data"},
	{"disable-h2-upgrade", model.OptDisableH2Upgrade, frontend, true, "takes no HTTP/2 preface on HTTP/1 connections"},
	{"h1-case-adjust-bogus-client", model.OptH1CaseAdjustClient, frontend, false, "sends header names to clients in the case of h1-case-adjust"},
	{"h1-case-adjust-bogus-server", model.OptH1CaseAdjustServer, backend, false, "sends header names to servers in the case of h1-case-adjust"},
	{"http-buffer-request", model.OptHTTPBufferRequest, anywhere, true, "waits for the body of a request"},
	{"http-drop-request-trailers", model.OptHTTPDropRequestTrailers, backend, true, "drops trailers of requests"},
	{"http-drop-response-trailers", model.OptHTTPDropResponseTrailers, frontend, true, "drops trailers of responses"},
	{"http-ignore-probes", model.OptHTTPIgnoreProbes, frontend, true, "neither logs nor answers connections without a request"},
	{"http-no-delay", model.OptHTTPNoDelay, anywhere, true, "forwards every piece of data at once"},
	{"http-pretend-keepalive", model.OptHTTPPretendKeepalive, backend, true, "does not tell servers that the connection will be closed"},
	{"http-use-proxy-header", model.OptHTTPUseProxyHeader, frontend, true, "speaks to clients as a forward proxy does"},
	{"idle-close-on-response", model.OptIdleCloseOnResponse, frontend, true, "keeps idle client connections open on a soft stop until their next response"},
	{"independent-streams", model.OptIndependentStreams, anywhere, false, "writes do not refresh the read timeout"},
	{"logasap", model.OptLogASAP, frontend, false, "logs as soon as possible, not at the end"},
	{"log-separate-errors", model.OptLogSeparateErrors, frontend, false, "logs failed streams at level err"},
	{"persist", model.OptPersist, backend, false, "keeps persistence with servers that are down"},
	{"prefer-last-server", model.OptPreferLastServer, backend, false, "sends a connection's next request to the same server"},
	{"socket-stats", model.OptSocketStats, frontend, false, "counts each listening socket apart"},
	{"splice-auto", model.OptSpliceAuto, anywhere, false, "lets the kernel forward data where it pays"},
	{"splice-request", model.OptSpliceRequest, anywhere, false, "lets the kernel forward requests"},
	{"splice-response", model.OptSpliceResponse, anywhere, false, "lets the kernel forward responses"},
	{"tcp-smart-accept", model.OptTCPSmartAccept, frontend, false, "saves an ACK when a connection is accepted"},
	{"tcp-smart-connect", model.OptTCPSmartConnect, backend, false, "saves an ACK when a connection is made"},
}

// removed are options of older versions.
var removed = []struct{ name, instead string }{
	{"forceclose", "remove it, or use 'option httpclose' if closing is really needed"},
	{"http-tunnel", "remove it: tunnels follow an accepted upgrade or CONNECT by themselves"},
	{"transparent", "a 'server' line with the address * or 0.0.0.0 reaches the address that the client connected to"},
}

func init() {
	for _, f := range flags {
		config.Proxy.Add(config.Keyword{
			Name: "option " + f.name, In: f.in, No: true, Default: true, Help: f.help,
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				if l.NeedArgs(0, 0) {
					setBits(l, p, f.bit)
				}
			}),
		})
	}
	for _, r := range removed {
		config.Proxy.Add(config.Keyword{
			Name: "option " + r.name, No: true, Help: "no longer exists",
			Parse: func(l *config.Line, _ any) {
				l.Errorf(config.KeywordArg, "'%s' no longer exists: %s.", l.Name(), r.instead)
			},
		})
	}
	for old, name := range map[string]string{
		"accept-invalid-http-request":  "accept-unsafe-violations-in-http-request",
		"accept-invalid-http-response": "accept-unsafe-violations-in-http-response",
	} {
		bit, in := model.OptAcceptUnsafeRequest, frontend
		if old == "accept-invalid-http-response" {
			bit, in = model.OptAcceptUnsafeResponse, backend
		}
		config.Proxy.Add(config.Keyword{
			Name: "option " + old, In: in, No: true, Default: true, Help: "former name of option " + name,
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				if l.NeedArgs(0, 0) {
					l.Warnf(config.KeywordArg, "'%s' is deprecated; its name is now 'option %s'.", l.Name(), name)
					setBits(l, p, bit)
				}
			}),
		})
	}
	config.Proxy.Add(
		config.Keyword{
			Name: "option nolinger", In: anywhere, No: true, Default: true,
			Help: "resets connections instead of closing them in order",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				if l.NeedArgs(0, 0) {
					setBits(l, p, bySide(p, model.OptNoLingerFrontend, model.OptNoLingerBackend))
				}
			}),
		},
		config.Keyword{
			Name: "option tcpka", In: anywhere, Help: "TCP keepalives on both sides",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				if l.NeedArgs(0, 0) {
					setBits(l, p, bySide(p, model.OptClitcpka, model.OptSrvtcpka))
				}
			}),
		},
		config.Keyword{
			Name: "option use-small-buffers", In: backend, No: true, Args: "[ queue | l7-retries | check ]*",
			Help: "keeps waiting requests in small buffers",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				for i := range l.Len() {
					if l.OneOf(i, "use of small buffers", "queue", "l7-retries", "check") < 0 {
						return
					}
				}
				setBits(l, p, model.OptUseSmallBuffers)
			}),
		},
		config.Keyword{
			Name: "option redispatch", In: backend, No: true, Default: true, Args: "[<interval>]",
			Help:  "retries may go to another server",
			Parse: config.On(parseRedispatch),
		},
		config.Keyword{
			Name: "option http-restrict-req-hdr-names", In: anywhere, Args: "{ preserve | delete | reject }",
			Help: "what happens to header names with unusual characters",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				if !l.NeedArgs(1, 1) {
					return
				}
				if n := l.OneOf(0, "policy", "preserve", "delete", "reject"); n >= 0 {
					p.HdrNames = model.HdrNamesPreserve + model.HdrNames(n)
				}
			}),
		},
	)
	addCloseModes()
}

// setBits switches options on, off (no) or back to their default.
func setBits(l *config.Line, p *model.Proxy, bits model.Option) {
	switch {
	case l.Default():
		p.Opt &^= bits
		p.OptSet &^= bits
	case l.No():
		p.Opt &^= bits
		p.OptSet |= bits
	default:
		p.Opt |= bits
		p.OptSet |= bits
	}
}

// bySide returns the bits for the sides that the section has; a defaults
// section speaks for both.
func bySide(p *model.Proxy, fe, be model.Option) (bits model.Option) {
	if p.Sides&(model.SideFrontend|model.SideDefaults) != 0 {
		bits |= fe
	}
	if p.Sides&(model.SideBackend|model.SideDefaults) != 0 {
		bits |= be
	}
	return bits
}

// addCloseModes adds the three options that choose one connection mode.
func addCloseModes() {
	for _, m := range []struct {
		name string
		mode model.HTTPClose
		help string
	}{
		{"http-keep-alive", model.KeepAlive, "keeps connections open on both sides"},
		{"http-server-close", model.ServerClose, "closes server connections after each response"},
		{"httpclose", model.Close, "closes both connections after each response"},
	} {
		config.Proxy.Add(config.Keyword{
			Name: "option " + m.name, In: anywhere, No: true, Default: true, Help: m.help,
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				switch {
				case !l.NeedArgs(0, 0):
				case !l.No() && !l.Default():
					p.Close = m.mode
				case p.Close == m.mode:
					p.Close = model.KeepAlive
				}
			}),
		})
	}
}

func parseRedispatch(l *config.Line, p *model.Proxy) {
	if l.No() || l.Default() {
		if l.NeedArgs(0, 0) {
			p.Redispatch = 0
		}
		return
	}
	if !l.NeedArgs(0, 1) {
		return
	}
	interval := int64(-1)
	if l.Has(0) {
		var ok bool
		if interval, ok = l.Int(0, math.MinInt32, math.MaxInt32); !ok {
			return
		}
	}
	p.Redispatch = int(interval)
}
