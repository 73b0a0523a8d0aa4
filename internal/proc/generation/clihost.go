package generation

import (
	"os"
	"time"

	"golang.org/x/sys/unix"

	"weir/internal/engine/backend"
	"weir/internal/engine/frontend"
	"weir/internal/feat/cli"
	"weir/internal/model"
	"weir/internal/rt/clock"
)

// The parts of cli.Host that only read.

// Config is the configuration in use.
func (a *runtimeAPI) Config() *model.Config { return a.generation().Config }

// Frontends are those of the configuration in use.
func (a *runtimeAPI) Frontends() []*frontend.Frontend { return a.generation().Frontends }

// Backends are those of the configuration in use, in the order of their declaration.
func (a *runtimeAPI) Backends() (list []*backend.Backend) {
	g := a.generation()
	for _, p := range g.Config.Proxies {
		if b := g.Backends[p.Name]; b != nil && b.Conf == p {
			list = append(list, b)
		}
	}
	return list
}

// Uptime is how long the process has run.
func (a *runtimeAPI) Uptime() time.Duration { return time.Since(a.start) }

// StartupLogs are the messages of the start.
func (a *runtimeAPI) StartupLogs() string {
	if a.p.opt.StartupLogs == nil {
		return ""
	}
	return a.p.opt.StartupLogs()
}

// Environ is the environment as the configuration left it.
func (a *runtimeAPI) Environ() []string { return a.generation().Config.Env }

// Version of the program.
func (a *runtimeAPI) Version() string { return a.p.opt.Version }

// Anon is the key of sessions that have none of their own.
func (a *runtimeAPI) Anon() uint32 { return a.anon.Load() }

// SetAnon changes it until the next configuration.
func (a *runtimeAPI) SetAnon(key uint32) { a.anon.Store(key) }

// Reload reads the configuration again and switches to it.
func (a *runtimeAPI) Reload(bool) (text string, ok bool) {
	if a.p.opt.Reload == nil {
		return "This process cannot read its configuration again.\n", false
	}
	return a.p.opt.Reload()
}

// MaxConn is the limit on client connections of the process.
func (a *runtimeAPI) MaxConn() int {
	if n := a.maxConn.Load(); n > 0 {
		return int(n)
	}
	return a.generation().maxConn
}

// SetMaxConn changes the limit until the next configuration.
func (a *runtimeAPI) SetMaxConn(n int) {
	a.maxConn.Store(int64(n))
	a.p.keeper.Process.SetMax(n)
}

// FrontMaxConn is the limit of a frontend.
func (a *runtimeAPI) FrontMaxConn(f *frontend.Frontend) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n, ok := a.frontMax[f]; ok {
		return n
	}
	return f.MaxConn
}

// SetFrontMaxConn changes it.
func (a *runtimeAPI) SetFrontMaxConn(f *frontend.Frontend, n int) {
	a.mu.Lock()
	a.frontMax[f] = n
	limit := a.gen.limits[f]
	a.mu.Unlock()
	if limit != nil {
		limit.SetMax(n)
	}
}

// BindLine is what runs a bind line.
func (a *runtimeAPI) BindLine(b *model.Bind) *cli.BindLine { return a.generation().lines[b] }

// outRate is how many bytes a second were sent since it was last asked for, at least a second ago.
func (a *runtimeAPI) outRate(sent, now int64) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if d := now - a.sentAt; d >= int64(time.Second) {
		a.sentRate = (sent - a.sent) * 1000 / max(d/int64(time.Millisecond), 1)
		a.sent, a.sentAt = sent, now
	}
	return a.sentRate
}

// Info are the numbers of the process.
func (a *runtimeAPI) Info() cli.Info {
	g, k, now := a.generation(), a.p.keeper, clock.Nanos()
	i := cli.Info{
		Version: a.p.opt.Version, Released: a.p.opt.Released, PID: os.Getpid(), Threads: g.n,
		Start: a.start, Boot: time.Duration(a.ready.Load() - int64(time.Second)),
		MaxConn: a.MaxConn(), HardMax: a.p.opt.MaxConn,
		Conns: k.Conns.Cur(), CumConns: k.Conns.Total(), ConnRate: k.ConnRate.Read(now), SessRate: k.SessRate.Read(now),
		ConnMax: k.ConnRate.Peak(), SessMax: k.SessRate.Peak(), Reached: k.Process.Reached(),
		TLSConns: k.TLS.Gauge.Cur(), CumTLS: k.TLS.Gauge.Total(), TLSRate: k.TLSRate.Read(now), TLSRateMax: k.TLSRate.Peak(),
		FrontKeys: k.FrontKeys.Read(now), FrontKeysMax: k.FrontKeys.Peak(), BackKeys: k.BackKeys.Read(now), BackKeysMax: k.BackKeys.Peak(),
		Listeners: k.Sockets(), Stopping: g.stopping.Load(),
	}
	for n := range k.Loops {
		i.CumStreams += int64(k.Loops[n].Streams.Load())
		i.Streams += k.Loops[n].Active.Load()
	}
	for _, l := range a.p.loops {
		i.BytesOut += int64(l.Counters.Sent.Load())
		i.SplicedOut += int64(l.Counters.Spliced.Load())
	}
	i.OutRate = a.outRate(i.BytesOut, now)
	var files unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) == nil {
		i.Files = int(min(files.Cur, 1<<30))
	}
	a.mu.Lock()
	s := a.server
	a.mu.Unlock()
	if s != nil {
		now, total := s.Sessions()
		i.Conns += int64(now)
		i.Streams += int64(now)
		i.CumConns += total
		i.CumStreams += total
		i.BytesOut += s.Sent()
	}
	for _, s := range a.p.opt.Buffers.Stats() {
		size := int64(s.Size)
		i.Pools = append(i.Pools, cli.Pool{Name: s.Name, Size: s.Size, Allocated: int64(s.Allocated), Used: int64(s.Used), Failed: int64(s.Failed)})
		i.PoolBytes += int64(s.Allocated) * size
		i.PoolUsed += int64(s.Used) * size
		i.PoolFailed += int64(s.Failed)
	}
	return i
}
