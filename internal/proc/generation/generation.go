// Package generation turns a checked configuration into a running object
// graph, and switches from one to the next: built whole, switched to at once,
// the older one drained. Two generations can live side by side in a process;
// what they share is the keeper's.
package generation

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"weir/internal/engine/backend"
	"weir/internal/engine/frontend"
	"weir/internal/engine/listen"
	"weir/internal/engine/server"
	"weir/internal/engine/session"
	"weir/internal/engine/statcol"
	"weir/internal/feat/logs"
	"weir/internal/model"
	"weir/internal/proc/keeper"
	"weir/internal/rt/loop"
)

// Generation is one configuration at run time.
type Generation struct {
	Config    *model.Config
	Frontends []*frontend.Frontend
	Backends  map[string]*backend.Backend

	keeper  *keeper.Keeper
	limits  map[*frontend.Frontend]*listen.Limit // maxconn of each
	maxConn int
	n       int // loops
	binds   []*bound
	lines   map[*model.Bind]*statcol.BindLine
	cli     []*cliSocket
	logger  *logs.Logger

	sets      []*session.Set       // by loop
	logs      []*logs.Emitters     // by loop
	listeners [][]*listen.Listener // by loop
	running   atomic.Int32         // loops on which sessions may remain
	drained   chan struct{}
	once      sync.Once
	stopping  atomic.Bool
}

// bound is one listening socket of a bind line.
type bound struct {
	name  string // the keeper's name for it
	fd    int
	front *frontend.Frontend
	conf  *model.Bind
	limit *listen.Limit // shared by the sockets of the line
	line  *statcol.BindLine
	gate  listen.Gate
	loops []int // on which loops it accepts
	unix  bool

	backlog int
}

// start begins to accept on all loops. It runs on no loop itself and returns once every loop has switched.
// before, if there is one, stops accepting in the same moment, and hands its sessions over.
func (g *Generation) start(loops []*loop.Loop, before *Generation) {
	g.sets = make([]*session.Set, len(loops))
	g.logs = make([]*logs.Emitters, len(loops))
	g.listeners = make([][]*listen.Listener, len(loops))
	g.running.Store(int32(len(loops)))
	onEach(loops, func(l *loop.Loop) {
		id := l.ID()
		set := session.NewSet(l, &g.keeper.Conns, &g.keeper.Loops[id])
		set.Emptied = func() { g.loopDrained(l) }
		g.sets[id] = set
		set.Homes = g.homes()
		set.CountTLS(g.keeper.TLS.Try, g.keeper.TLS.Give, &g.keeper.FrontKeys, &g.keeper.BackKeys)
		set.Configure(g.Config)
		out := g.logger.Loop(l)
		g.logs[id] = out
		for _, f := range g.Frontends {
			if e := out.For(&f.Conf.Log); e != nil {
				f.Logs[id] = e
			}
		}
		if before != nil {
			before.drainLoop(l, set, before.spread())
		}
		for _, b := range g.binds {
			for _, want := range b.loops {
				if want == id {
					g.listeners[id] = append(g.listeners[id], listen.New(l, b.fd, listen.Options{
						Front: b.front, Bind: b.conf, BindName: bindName(b.conf), Unix: b.unix, UnixID: b.conf.ID, Nice: b.conf.Nice, Gate: b.gate, Sessions: set,
						State: &listenerState{b.conf, b.limit}, Stats: b.line.Stats,
					}))
				}
			}
		}
	})
}

func bindName(b *model.Bind) string {
	if b.Name != "" {
		return b.Name
	}
	return fmt.Sprint(b.ID)
}

// homes are the frontends to which sessions of the generation before can come over.
func (g *Generation) homes() map[string]session.Home {
	m := make(map[string]session.Home, len(g.Frontends))
	for _, f := range g.Frontends {
		m[f.Name] = session.Home{Front: f,
			Enter: func() { g.keeper.Conns.Inc(); f.Cur.Inc() },
			Leave: func() { g.limits[f].Give(); g.keeper.Process.Give() },
		}
	}
	return m
}

// markGone tells the frontends that next does not have: their connections are not kept.
func (g *Generation) markGone(next *Generation) {
	for _, f := range g.Frontends {
		stays := false
		for _, n := range next.Frontends {
			stays = stays || n.Name == f.Name && n.Conf.Mode == f.Conf.Mode
		}
		if !stays {
			f.Draining.Store(true)
		}
	}
}

// drain ends the generation without a next one.
func (g *Generation) drain(loops []*loop.Loop) {
	g.stopping.Store(true)
	for _, f := range g.Frontends {
		f.Draining.Store(true)
	}
	onEach(loops, func(l *loop.Loop) { g.drainLoop(l, nil, g.spread()) })
}

// drainLoop stops accepting on one loop; sessions move to heir, or end: resting ones over the given time, the others with
// their exchange.
func (g *Generation) drainLoop(l *loop.Loop, heir *session.Set, spread time.Duration) {
	for _, w := range g.listeners[l.ID()] {
		w.Close()
	}
	g.listeners[l.ID()] = nil
	g.sets[l.ID()].Drain(heir, spread)
}

// spread is over which time resting connections are closed.
func (g *Generation) spread() time.Duration {
	if g.Config.Global.CloseSpreadForever {
		return -1
	}
	return g.Config.Global.CloseSpreadTime
}

// loopDrained is called on a loop when the generation's last session there is over.
func (g *Generation) loopDrained(l *loop.Loop) {
	for _, b := range g.Backends {
		for _, s := range b.Servers {
			s.CloseIdle(l)
		}
	}
	g.logs[l.ID()].Close()
	if g.running.Add(-1) == 0 {
		g.once.Do(g.release)
	}
}

// release tells that nothing of the generation is left.
func (g *Generation) release() { close(g.drained) }

// unbind gives the listening sockets back, once no loop accepts on them any more.
func (g *Generation) unbind() {
	for _, b := range g.binds {
		g.keeper.Return(b.name)
	}
	g.binds = nil
	g.unbindCLI()
}

// kill cuts what has not drained.
func (g *Generation) kill(loops []*loop.Loop) {
	onEach(loops, func(l *loop.Loop) { g.sets[l.ID()].Kill() })
}

// suspend stops or resumes accepting (SIGTTOU, SIGTTIN). A suspended TCP socket does not listen, so that another process
// can.
func (g *Generation) suspend(loops []*loop.Loop, stop bool) error {
	if stop {
		onEach(loops, func(l *loop.Loop) {
			for _, w := range g.listeners[l.ID()] {
				w.Suspend()
			}
		})
	}
	var errs []error
	for _, b := range g.binds {
		if err := b.listen(!stop); err != nil {
			errs = append(errs, err)
		}
	}
	if !stop {
		onEach(loops, func(l *loop.Loop) {
			for _, w := range g.listeners[l.ID()] {
				w.Unsuspend()
			}
		})
	}
	return errors.Join(errs...)
}

// servers calls fn for each server.
func (g *Generation) servers(fn func(b *backend.Backend, s *server.Server)) {
	for _, p := range g.Config.Proxies {
		if b := g.Backends[p.Name]; b != nil && b.Conf == p {
			for _, s := range b.Servers {
				fn(b, s)
			}
		}
	}
}

// onEach runs fn on every loop that has not ended, and waits for all.
func onEach(loops []*loop.Loop, fn func(l *loop.Loop)) {
	ran := make([]chan struct{}, len(loops))
	for i, l := range loops {
		done := make(chan struct{})
		ran[i] = done
		l.Post(func() {
			defer close(done)
			fn(l)
		})
	}
	for i, l := range loops {
		select {
		case <-ran[i]:
		case <-l.Done(): // it dropped what was posted, or ended before it came to it
		}
	}
}
