// Package generation turns a checked configuration into a running object
// graph, and switches from one to the next: built whole, switched to at once,
// the older one drained. Two generations can live side by side in a process;
// what they share is the keeper's.
package generation

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"weir/internal/engine/backend"
	"weir/internal/engine/frontend"
	"weir/internal/engine/listen"
	"weir/internal/engine/server"
	"weir/internal/engine/session"
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
	maxConn int
	n       int // loops
	binds   []*bound
	logger  *logs.Logger

	sets      []*session.Set       // by loop
	logs      []*logs.Emitters     // by loop
	listeners [][]*listen.Listener // by loop
	running   atomic.Int32         // loops on which sessions may remain
	drained   chan struct{}
	once      sync.Once
}

// bound is one listening socket of a bind line.
type bound struct {
	name  string // the keeper's name for it
	fd    int
	front *frontend.Frontend
	conf  *model.Bind
	limit *listen.Limit // shared by the sockets of the line
	gate  listen.Gate
	loops []int // on which loops it accepts
	unix  bool
}

// start begins to accept on all loops. It runs on no loop itself and returns once every loop has switched.
func (g *Generation) start(loops []*loop.Loop) {
	g.sets = make([]*session.Set, len(loops))
	g.logs = make([]*logs.Emitters, len(loops))
	g.listeners = make([][]*listen.Listener, len(loops))
	g.running.Store(int32(len(loops)))
	onEach(loops, func(l *loop.Loop) {
		id := l.ID()
		set := session.NewSet(l, &g.keeper.Conns)
		set.Emptied = func() { g.loopDrained(l) }
		g.sets[id] = set
		out := g.logger.Loop(l)
		g.logs[id] = out
		for _, f := range g.Frontends {
			if e := out.For(&f.Conf.Log); e != nil {
				f.Logs[id] = e
			}
		}
		for _, b := range g.binds {
			for _, want := range b.loops {
				if want == id {
					g.listeners[id] = append(g.listeners[id], listen.New(l, b.fd, listen.Options{
						Front: b.front, BindName: bindName(b.conf), Unix: b.unix, UnixID: b.conf.ID, Gate: b.gate, Sessions: set,
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

// drain stops accepting, closes resting connections over the given time and lets the others end with their exchange.
func (g *Generation) drain(loops []*loop.Loop, spread time.Duration) {
	for _, f := range g.Frontends {
		f.Draining.Store(true)
	}
	onEach(loops, func(l *loop.Loop) {
		for _, w := range g.listeners[l.ID()] {
			w.Close()
		}
		g.listeners[l.ID()] = nil
		g.sets[l.ID()].Drain(spread)
	})
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

// release gives back what was borrowed.
func (g *Generation) release() {
	for _, b := range g.binds {
		g.keeper.Return(b.name)
	}
	g.binds = nil
	close(g.drained)
}

// kill cuts what has not drained.
func (g *Generation) kill(loops []*loop.Loop) {
	onEach(loops, func(l *loop.Loop) { g.sets[l.ID()].Kill() })
}

// suspend stops or resumes accepting (SIGTTOU, SIGTTIN).
func (g *Generation) suspend(loops []*loop.Loop, stop bool) {
	onEach(loops, func(l *loop.Loop) {
		for _, w := range g.listeners[l.ID()] {
			if stop {
				w.Suspend()
			} else {
				w.Unsuspend()
			}
		}
	})
}

// sessions counts open client connections, loop by loop.
func (g *Generation) sessions() (n int64) {
	for _, f := range g.Frontends {
		n += f.Cur.Cur()
	}
	return n
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

// onEach runs fn on every loop and waits for all.
func onEach(loops []*loop.Loop, fn func(l *loop.Loop)) {
	var wg sync.WaitGroup
	for _, l := range loops {
		wg.Add(1)
		l.Post(func() {
			defer wg.Done()
			fn(l)
		})
	}
	wg.Wait()
}
