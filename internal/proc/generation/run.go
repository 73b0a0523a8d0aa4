package generation

import (
	"net"
	"net/netip"
	"os"
	"slices"
	"time"

	"weir/internal/engine/backend"
	"weir/internal/engine/frontend"
	"weir/internal/engine/listen"
	"weir/internal/engine/server"
	"weir/internal/engine/stats"
	"weir/internal/model"
	"weir/internal/rt/clock"
)

// What expressions and runtime commands may ask of a running generation: the Run fields of its configuration.

// proxyState is the run-time side of a proxy; a listen section has both parts.
type proxyState struct {
	fe *frontend.Frontend
	be *backend.Backend
}

func (p *proxyState) FrontConns() int64 {
	if p.fe == nil {
		return 0
	}
	return p.fe.Cur.Cur()
}

func (p *proxyState) FrontRate() int64 {
	if p.fe == nil {
		return 0
	}
	return p.fe.Rate.Read(clock.Nanos())
}

func (p *proxyState) FrontReqRate() int64 {
	if p.fe == nil {
		return 0
	}
	return stats.SumRate(p.fe.Stats, clock.Nanos(), stats.ReqRate)
}

func (p *proxyState) BackConns() int64 {
	if p.be == nil {
		return 0
	}
	return p.be.Cur.Cur()
}

func (p *proxyState) BackRate() int64 {
	if p.be == nil {
		return 0
	}
	return stats.SumRate(p.be.Stats, clock.Nanos(), stats.SessRate)
}

func (p *proxyState) Queued() int64 {
	if p.be == nil {
		return 0
	}
	n := p.be.Queue.Len()
	for _, s := range p.be.Servers {
		n += s.Queue.Len()
	}
	return n
}

func (p *proxyState) Usable() int {
	if p.be == nil {
		return 0
	}
	return p.be.Usable()
}

// serverState is the run-time side of a server.
type serverState struct{ s *server.Server }

func (v serverState) Conns() int64    { return v.s.Cur.Cur() }
func (v serverState) Queued() int64   { return v.s.Queue.Len() }
func (v serverState) Usable() bool    { return v.s.Usable() }
func (v serverState) Up() bool        { return v.s.Enabled() }
func (v serverState) MaxConn() int64  { return v.s.Limit() }
func (v serverState) UserWeight() int { return v.s.Weight() }

func (v serverState) Rate() int64 {
	return stats.SumRate(v.s.Stats, clock.Nanos(), stats.SessRate)
}

func (v serverState) Weight() (current, initial int) { return v.s.Weight(), v.s.Conf.Weight }

func (v serverState) Idle() (used, idle int64) {
	idle = v.s.Idle.Load()
	return max(v.s.Conns.Cur()-idle, 0), idle
}

// listenerState is the run-time side of a bind line.
type listenerState struct {
	conf  *model.Bind
	limit *listen.Limit
}

func (l *listenerState) ID() int      { return l.conf.ID }
func (l *listenerState) Name() string { return l.conf.Name }

func (l *listenerState) Conns() int64 {
	if l.limit == nil {
		return 0
	}
	return l.limit.Gauge.Cur()
}

// runner is the process as one generation sees it.
type runner struct {
	g        *Generation
	hostname string
}

func newRunner(g *Generation) *runner {
	name, _ := os.Hostname()
	return &runner{g: g, hostname: name}
}

func (r *runner) ActConn() int64 { return r.g.keeper.Conns.Cur() }
func (r *runner) Stopping() bool { return r.g.stopping.Load() }

// Config is the configuration that the generation runs.
func (r *runner) Config() *model.Config { return r.g.Config }

func (r *runner) NbThread() int         { return r.g.n }
func (r *runner) Hostname() string      { return r.hostname }
func (r *runner) Uptime() time.Duration { return time.Duration(clock.Nanos()) - time.Second }

// IsLocal asks the system whether an address is one of its own.
func (r *runner) IsLocal(a netip.Addr) bool {
	if a.IsLoopback() {
		return true
	}
	addrs, err := net.InterfaceAddrs()
	return err == nil && slices.ContainsFunc(addrs, func(n net.Addr) bool {
		p, ok := n.(*net.IPNet)
		if !ok {
			return false
		}
		own, valid := netip.AddrFromSlice(p.IP)
		return valid && own.Unmap() == a.Unmap()
	})
}

// setRun makes the running objects known to the configuration.
func (g *Generation) setRun() {
	g.Config.Run = newRunner(g)
	states := make(map[*model.Proxy]*proxyState)
	for _, p := range g.Config.Proxies {
		states[p] = new(proxyState)
		p.Run = states[p]
	}
	for _, f := range g.Frontends {
		states[f.Conf].fe = f
	}
	for _, b := range g.Backends {
		states[b.Conf].be = b
		for _, s := range b.Servers {
			s.Conf.Run, s.Conf.Proxy = serverState{s}, b.Conf
		}
	}
}
