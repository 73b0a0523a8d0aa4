package generation

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"

	"weir/internal/base/addr"
	"weir/internal/engine/backend"
	"weir/internal/engine/frontend"
	"weir/internal/engine/listen"
	"weir/internal/engine/server"
	"weir/internal/engine/statcol"
	"weir/internal/engine/stats"
	"weir/internal/feat/errorpages"
	"weir/internal/feat/logs"
	"weir/internal/lang/rule"
	"weir/internal/link/h1mux"
	"weir/internal/model"
	"weir/internal/proc/keeper"
	"weir/internal/rt/sock"
	"weir/internal/wire/h1"
)

// Options are what a generation needs to know of its process.
type Options struct {
	Loops   int
	MaxConn int // client connections of the process; 0: no limit
}

// Build makes the object graph of a checked configuration. It has no effect outside of what it returns.
func Build(cfg *model.Config, k *keeper.Keeper, o Options) (*Generation, error) {
	g := &Generation{
		Config: cfg, keeper: k, n: o.Loops, maxConn: o.MaxConn,
		Backends: make(map[string]*backend.Backend),
		limits:   make(map[*frontend.Frontend]*listen.Limit),
		lines:    make(map[*model.Bind]*statcol.BindLine),
		drained:  make(chan struct{}),
	}
	var err error
	if g.logger, err = logs.New(logs.Options{Config: cfg, Resolve: resolve}); err != nil {
		return nil, err
	}
	for _, p := range cfg.Proxies {
		if p.IsBackend() {
			b, err := g.backend(p)
			if err != nil {
				return nil, err
			}
			g.Backends[p.Name] = b
		}
	}
	for _, p := range cfg.Proxies {
		if p.IsFrontend() && !p.Disabled {
			f, err := g.frontend(p)
			if err != nil {
				return nil, err
			}
			g.Frontends = append(g.Frontends, f)
			g.limits[f] = listen.NewLimit(&f.Cur, f.MaxConn)
		}
	}
	g.setFullConn()
	g.setRun()
	return g, nil
}

// setFullConn gives backends without fullconn a tenth of the connections of the frontends that may use them.
func (g *Generation) setFullConn() {
	for _, b := range g.Backends {
		if b.Conf.FullConn > 0 {
			continue
		}
		sum := 0
		for _, f := range g.Frontends {
			if f.MayUse(b) {
				sum += cmp.Or(f.MaxConn, g.maxConn)
			}
		}
		b.FullConn = int64(max(sum/10, 1))
		for _, s := range b.Servers {
			s.FullConn = b.FullConn
		}
	}
}

// resolve finds the address of a log target given by name.
func resolve(host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(context.Background(), "ip", host)
}

func (g *Generation) backend(p *model.Proxy) (*backend.Backend, error) {
	var servers []*server.Server
	for _, c := range p.Servers {
		s, err := g.server(p, c)
		if err != nil {
			return nil, err
		}
		servers = append(servers, s)
	}
	b := backend.New(p, servers, g.n)
	b.Pages = errorpages.Backend(p, g.Config)
	b.Rules = rule.Of(p)
	var err error
	if b.H1, err = g.h1Options(p, p.Has(model.OptAcceptUnsafeResponse), p.Has(model.OptH1CaseAdjustServer)); err != nil {
		return nil, err
	}
	if b.ForwardFor, err = forward(p.ForwardFor, "x-forwarded-for"); err != nil {
		return nil, err
	}
	if b.OriginalTo, err = forward(p.OriginalTo, "x-original-to"); err != nil {
		return nil, err
	}
	return b, nil
}

func (g *Generation) server(p *model.Proxy, c *model.Server) (*server.Server, error) {
	s := server.New(c, g.n)
	if p.Disabled || c.NoAddr {
		s.SetDisabled(true)
	}
	o := &s.Connect
	switch c.Addr.Family {
	case addr.Unix:
		o.Unix = c.Addr.Path
	case addr.Abstract:
		o.Unix = "@" + c.Addr.Path
	case addr.IP, addr.IPv4, addr.IPv6:
		o.Addr = netip.AddrPortFrom(c.Addr.IP, uint16(c.Addr.Port))
		s.MapAddr = c.Addr.Any || c.Addr.IP.IsUnspecified()
		switch c.Addr.PortKind {
		case addr.NoPort:
			s.MapPorts = true
		case addr.FixedPort:
			s.MapPorts = c.Addr.Port == 0
		case addr.PortPlus:
			s.MapPorts, s.PortOffset = true, c.Addr.Port
		case addr.PortMinus:
			s.MapPorts, s.PortOffset = true, -c.Addr.Port
		}
		o.MPTCP = c.Addr.Proto == addr.MPTCP
	default:
		return nil, fmt.Errorf("server %s/%s: no connection can be made to '%s'", p.Name, c.Name, c.Text)
	}
	o.FastOpen, o.UserTimeout = c.TFO, c.TCPUserTimeout
	o.Control = serverSocket(p, c, &g.Config.Global.Tune)
	if p.Has(model.OptSrvtcpka) {
		o.KeepAlive = keepAlive(p.ServerKA)
	}
	src := c.Source
	if src == nil {
		src = p.Source
	}
	if src != nil {
		if src.Addr.IP.IsValid() && !src.Addr.IP.IsUnspecified() || src.Addr.Port != 0 {
			o.Source = netip.AddrPortFrom(src.Addr.IP, uint16(src.Addr.Port))
		}
		o.Interface = src.Interface
		switch src.UseSrc {
		case "client":
			s.UseSrc = server.SrcClient
		case "clientip":
			s.UseSrc = server.SrcClientIP
		}
	}
	return s, nil
}

func keepAlive(k model.Keepalive) sock.KeepAlive {
	return sock.KeepAlive{On: true, Idle: k.Idle, Interval: k.Interval, Count: k.Count}
}

func (g *Generation) frontend(p *model.Proxy) (*frontend.Frontend, error) {
	f := &frontend.Frontend{
		Conf: p, Name: p.Name, MaxConn: p.MaxConn,
		Stats:  make([]stats.Proxy, g.n),
		Logs:   make([]model.LogEmitter, g.n),
		Pages:  errorpages.Resolve(p, g.Config),
		Rules:  rule.Of(p),
		LogURI: g.Config.Global.Tune.HTTPLogURI,
		Backends: func(name string) *backend.Backend {
			return g.Backends[name]
		},
	}
	var err error
	if f.H1, err = g.h1Options(p, p.Has(model.OptAcceptUnsafeRequest), p.Has(model.OptH1CaseAdjustClient)); err != nil {
		return nil, err
	}
	f.LogNeeds = logNeeds(&p.Log)
	f.H1.ProxyHeader = p.Has(model.OptHTTPUseProxyHeader)
	if f.ForwardFor, err = forward(p.ForwardFor, "x-forwarded-for"); err != nil {
		return nil, err
	}
	if f.OriginalTo, err = forward(p.OriginalTo, "x-original-to"); err != nil {
		return nil, err
	}
	for _, r := range p.Switch {
		f.Switch = append(f.Switch, frontend.SwitchRule{Cond: r.Cond, To: g.Backends[r.Backend], Name: r.Name})
	}
	if p.DefaultBackend != "" {
		f.Default = g.Backends[p.DefaultBackend]
	}
	if p.IsBackend() {
		f.Own = g.Backends[p.Name]
	}
	return f, nil
}

// logNeeds is what the formats of a proxy, and of the profiles that its targets may use, ask of the engine.
func logNeeds(c *model.LogConfig) (n model.LogNeeds) {
	add := func(f model.LineFormat) {
		if f != nil {
			n |= f.Needs()
		}
	}
	if c.Format == model.LogDefault {
		n |= model.LogLocal
	}
	add(c.Custom)
	add(c.SD)
	add(c.Error)
	for _, t := range c.Targets {
		if t.Profile == nil {
			continue
		}
		for _, o := range t.Profile.On {
			if o != nil {
				add(o.Text)
				add(o.SD)
			}
		}
	}
	return n
}

// h1Options are the codec settings of one side of a proxy.
func (g *Generation) h1Options(p *model.Proxy, unsafe, adjust bool) (*h1mux.Options, error) {
	t := &g.Config.Global.Tune
	size, rewrite := t.BufSize, t.MaxRewrite
	if size == 0 {
		size = model.DefaultBufSize
	}
	if rewrite == 0 {
		rewrite = model.DefaultMaxRewrite
	}
	maxHdr := t.HTTPMaxHdr
	if maxHdr == 0 {
		maxHdr = model.DefaultMaxHdr
	}
	o := &h1mux.Options{Parse: h1.Options{
		Unsafe: unsafe, MaxFields: maxHdr, MaxHead: size - rewrite, MaxRaw: size, AnyMethodBody: g.Config.Global.H1PayloadAnyMethod,
	}}
	o.Chunk.Unsafe = unsafe
	o.KeepOnBothLengths = g.Config.Global.H1KeepOnInsecureTE
	if adjust && len(g.Config.Global.H1CaseAdjust) > 0 {
		o.Case = new(h1.CaseMap)
		for from, to := range g.Config.Global.H1CaseAdjust {
			if err := o.Case.Add(from, to); err != nil {
				return nil, fmt.Errorf("h1-case-adjust: %w", err)
			}
		}
	}
	return o, nil
}

func forward(c model.ForwardFor, name string) (w backend.Forward, err error) {
	w = backend.Forward{Enabled: c.Enabled, Header: c.Header, IfNone: c.IfNone}
	if w.Header == "" {
		w.Header = name
	}
	if c.Except != "" {
		if w.Except, err = netip.ParsePrefix(c.Except); err != nil {
			return w, fmt.Errorf("except network '%s': %w", c.Except, err)
		}
	}
	return w, nil
}
