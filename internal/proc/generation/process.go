package generation

import (
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"weir/internal/base/buf"
	"weir/internal/base/diag"
	"weir/internal/engine/backend"
	"weir/internal/engine/server"
	"weir/internal/engine/statcol"
	"weir/internal/engine/stats"
	"weir/internal/model"
	"weir/internal/proc/keeper"
	"weir/internal/rt/loop"
	"weir/internal/rt/poll"
)

// ProcessOptions are decided once, when the process starts.
type ProcessOptions struct {
	Threads int
	Poller  poll.Kind // poll.Epoll forces epoll
	MaxConn int
	Buffers *buf.Shared
	// Pin binds the calling thread to the CPUs of loop number thread, counted from 1.
	Pin  func(thread int) error
	Warn func(text string)
	// Version, Released and StartupLogs are what runtime commands tell about the program.
	Version, Released string
	StartupLogs       func() string
	// BootIDs are the user and the group that the process began with.
	BootIDs [2]int
	// Reload reads the configuration again and switches to it; nil: it cannot be done.
	Reload func() (text string, ok bool)
}

// Process runs generations on its loops.
type Process struct {
	opt     ProcessOptions
	keeper  *keeper.Keeper
	workers *loop.Workers // one: the runtime has a processor more than there are loops

	mu       sync.Mutex
	loops    []*loop.Loop
	current  *Generation
	old      []*Generation // draining
	stopping bool
	done     chan struct{}
	dog      *loop.Watchdog
	once     sync.Once
	exited   sync.WaitGroup
	cli      *runtimeAPI
}

// NewProcess makes a process without loops and configuration.
func NewProcess(o ProcessOptions) *Process {
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	p := &Process{opt: o, keeper: keeper.New(), workers: loop.NewWorkers(1, loop.DefaultQueue), done: make(chan struct{})}
	p.keeper.Loops = make([]stats.Loop, o.Threads)
	p.cli = newRuntimeAPI(p)
	return p
}

// Keeper is what outlives the generations.
func (p *Process) Keeper() *keeper.Keeper { return p.keeper }

// Build makes a generation for this process.
func (p *Process) Build(cfg *model.Config) (*Generation, error) {
	statcol.Attach(cfg, p.cli)
	return Build(cfg, p.keeper, Options{Loops: p.opt.Threads, MaxConn: p.opt.MaxConn})
}

// Start runs the loops and makes g, whose sockets are bound, the current generation.
func (p *Process) Start(g *Generation) error {
	for id := range p.opt.Threads {
		l, err := p.startLoop(id)
		if err != nil {
			return err
		}
		p.loops = append(p.loops, l)
	}
	p.Switch(g)
	p.watch(g.Config.Global.WarnBlockedAfter)
	return nil
}

// watch reports loops that do not turn (warn-blocked-traffic-after).
func (p *Process) watch(after time.Duration) {
	if after <= 0 {
		after = defaultBlocked
	}
	p.dog = &loop.Watchdog{Loops: p.loops, After: after, Report: func(l *loop.Loop, late time.Duration, stacks string) {
		text := fmt.Sprintf("thread %d has been busy with one thing for %d ms; everything else it serves waits.\n%.4096s", l.ID()+1, late.Milliseconds(), stacks)
		p.cli.blocked.add(text)
		p.opt.Warn(text)
	}}
	p.dog.Start()
}

// defaultBlocked is warn-blocked-traffic-after where the configuration has none.
const defaultBlocked = 100 * time.Millisecond

// startLoop makes a loop on a goroutine of its own, for the poller belongs to the thread that made it.
func (p *Process) startLoop(id int) (*loop.Loop, error) {
	type result struct {
		l   *loop.Loop
		err error
	}
	ready := make(chan result)
	p.exited.Add(1)
	go func() {
		defer p.exited.Done()
		runtime.LockOSThread()
		if p.opt.Pin != nil {
			if err := p.opt.Pin(id + 1); err != nil {
				p.opt.Warn(err.Error())
			}
		}
		l, err := loop.New(loop.Options{ID: id, Poller: p.opt.Poller, Buffers: p.opt.Buffers, Warn: p.warnOnce(id), OnPanic: p.panicked, Workers: p.workers})
		ready <- result{l, err}
		if err == nil {
			l.Run()
		}
	}()
	r := <-ready
	return r.l, r.err
}

// warnOnce lets the first loop speak for all.
func (p *Process) warnOnce(id int) func(string) {
	if id == 0 {
		return p.opt.Warn
	}
	return func(string) {}
}

func (p *Process) panicked(f *loop.Fiber, v any, stack []byte) {
	p.opt.Warn(fmt.Sprintf("internal error, the stream was closed: %v\n%s", v, stack))
}

// Switch makes g, whose sockets are bound, the current generation and drains the one before.
func (p *Process) Switch(g *Generation) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keeper.Process.SetMax(g.maxConn)
	p.keeper.TLS.SetMax(g.Config.Global.MaxSSLConn)
	before := p.current
	p.current = g
	if before != nil {
		before.markGone(g)
		p.retire(before)
	}
	p.cli.enter(g)
	g.start(p.loops, before)
	p.cli.serve(g)
	if before != nil {
		before.unbind()
	}
}

func (p *Process) retire(g *Generation) {
	p.old = append(p.old, g)
	go func() {
		<-g.drained
		p.mu.Lock()
		defer p.mu.Unlock()
		for i := range p.old {
			if p.old[i] == g {
				p.old = append(p.old[:i], p.old[i+1:]...)
				break
			}
		}
		p.endIfIdle()
	}()
}

// endIfIdle ends the process once it is stopping and nothing is left; called with mu held.
func (p *Process) endIfIdle() {
	if p.stopping && len(p.old) == 0 && p.current == nil {
		p.once.Do(func() {
			p.end()
		})
	}
}

// end stops the loops.
func (p *Process) end() {
	p.cli.release(false)
	if p.dog != nil {
		p.dog.Stop()
	}
	for _, l := range p.loops {
		l.Stop()
	}
	go func() { // what the last streams have queued goes out before the process may end
		ended := make(chan struct{})
		go func() { p.exited.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-time.After(lastWords):
		}
		close(p.done)
	}()
}

// lastWords bounds the wait for loops that are told to end.
const lastWords = 2 * time.Second

// Bind opens the sockets of g.
func (p *Process) Bind(g *Generation) *diag.List { return g.Bind() }

// SoftStop stops accepting and ends once the last connection is over (SIGUSR1), or after hard-stop-after.
func (p *Process) SoftStop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopping || p.current == nil {
		return
	}
	p.stopping = true
	g := p.current
	p.current = nil
	p.retire(g)
	g.drain(p.loops)
	g.unbind() // another process may listen there from now on
	p.cli.release(true)
	if d := g.Config.Global.HardStopAfter; d > 0 {
		time.AfterFunc(d, p.cut)
	}
}

// cut ends the connections that a soft stop is still waiting for.
func (p *Process) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, g := range p.old {
		g.kill(p.loops)
	}
}

// Stop ends at once (SIGTERM): connections are cut.
func (p *Process) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopping = true
	p.once.Do(func() {
		p.end()
	})
}

// Pause stops accepting until Resume (SIGTTOU, SIGTTIN).
func (p *Process) Pause() error { return p.suspend(true) }

// Resume accepts again.
func (p *Process) Resume() error { return p.suspend(false) }

func (p *Process) suspend(stop bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current == nil {
		return fmt.Errorf("the process is stopping")
	}
	return p.current.suspend(p.loops, stop)
}

// Done is closed when the process has nothing left to do.
func (p *Process) Done() <-chan struct{} { return p.done }

// Jobs is the number of client connections.
func (p *Process) Jobs() int { return int(p.keeper.Conns.Cur()) }

// Draining is the number of generations that have not ended yet besides the current one.
func (p *Process) Draining() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.old)
}

// DumpServers writes the state of every server (SIGHUP).
func (p *Process) DumpServers(w io.Writer) {
	p.mu.Lock()
	g := p.current
	p.mu.Unlock()
	if g == nil {
		return
	}
	g.servers(func(b *backend.Backend, s *server.Server) {
		state := "UP"
		if !s.Enabled() {
			state = "DOWN"
		}
		fmt.Fprintf(w, "Server %s/%s is %s. Conn: %d act, %d pend, %d tot.\n", b.Name, s.Name, state, s.Cur.Cur(), s.Queue.Len(), s.Cur.Total())
	})
	for _, f := range g.Frontends {
		fmt.Fprintf(w, "Proxy %s. Conn: %d act, %d tot.\n", f.Name, f.Cur.Cur(), f.Cur.Total())
	}
}

// DumpPools writes how the buffers are used (SIGQUIT).
func (p *Process) DumpPools(w io.Writer) {
	s := p.opt.Buffers.Stats()
	fmt.Fprintf(w, "%+v\n", s)
}
