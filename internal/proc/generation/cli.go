package generation

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"weir/internal/base/addr"
	"weir/internal/base/diag"
	"weir/internal/engine/backend"
	"weir/internal/engine/frontend"
	"weir/internal/engine/listen"
	"weir/internal/engine/server"
	"weir/internal/engine/stats"
	"weir/internal/feat/cli"
	"weir/internal/model"
	"weir/internal/proc/keeper"
	"weir/internal/rt/clock"
	"weir/internal/rt/loop"
	"weir/internal/rt/sock"
)

// runtimeAPI are the stats sockets of a process and what their commands reach. A session that outlives a generation
// works on the one that follows.
type runtimeAPI struct {
	p     *Process
	start time.Time
	ready atomic.Int64 // when the process began to accept, monotonic nanoseconds
	// maxConn is the limit on connections that a command has set, 0 for none.
	maxConn atomic.Int64

	mu sync.Mutex
	// sent and sentAt are the bytes that were sent when sentRate was worked out.
	sent, sentAt, sentRate int64
	gen                    *Generation // the last one that was started
	server                 *cli.Server // of gen
	sockets                []*cliSocket
	states                 map[*server.Server]*adminState
	accept                 map[*frontend.Frontend]cli.Accepting
	// anon is the key of anonymised answers that a command has set.
	anon    atomic.Uint32
	blocked blockedLog
	// handed is set once another process has taken the listening sockets over: the paths of unix sockets are its own then.
	handed atomic.Bool
	// frontMax are limits on the connections of frontends that commands have set.
	frontMax map[*frontend.Frontend]int
}

// cliSocket is one bound stats socket.
type cliSocket struct {
	conf *cli.Socket
	name string // the keeper's name for it
	fd   int
	path string      // of a unix socket
	file os.FileInfo // what stood at path when it was bound
}

// adminState is what was asked of a server at run time.
type adminState struct {
	state cli.State
	since int64 // monotonic nanoseconds
}

func newRuntimeAPI(p *Process) *runtimeAPI {
	return &runtimeAPI{
		p: p, start: time.Now(), states: make(map[*server.Server]*adminState), accept: make(map[*frontend.Frontend]cli.Accepting),
		frontMax: make(map[*frontend.Frontend]int),
	}
}

// bindCLI opens the stats sockets of g, or takes them over from the generation before.
func (g *Generation) bindCLI(errs *diag.List) {
	for _, conf := range cli.Of(g.Config.Global).Sockets {
		s, err := g.openCLI(conf)
		if err != nil {
			errs.Alertf(conf.Pos, "Starting stats socket: %v", err)
			continue
		}
		g.cli = append(g.cli, s)
	}
}

func (g *Generation) openCLI(conf *cli.Socket) (s *cliSocket, err error) {
	b := conf.Bind
	b.UID, b.GID, b.PermMode, b.Backlog, b.Interface = conf.UID, conf.GID, conf.Mode, cmp.Or(conf.Backlog, 1024), conf.Interface
	o := listenOptions(&b, new(model.Proxy), 0)
	s = &cliSocket{conf: conf}
	what := conf.Text
	switch a := conf.Addr; a.Family {
	case addr.IP, addr.IPv4, addr.IPv6:
		o.Addr = netip.AddrPortFrom(a.IP, uint16(a.Port))
		o.V6Only = conf.V6Only && !conf.V4V6
		what = o.Addr.String()
	case addr.Unix:
		o.Unix, s.path, what = a.Path, a.Path, a.Path
	case addr.Abstract:
		o.Unix = "@" + a.Path
	case addr.FD:
	default:
		return nil, fmt.Errorf("cannot listen on a %s", a.Family)
	}
	s.name = "cli " + what
	if s.path != "" { // another owner or mode needs another socket, which takes the place of the old one
		s.name += fmt.Sprintf(" mode=%o uid=%d gid=%d", o.Mode, o.UID, o.GID)
	}
	s.fd, err = g.keeper.Borrow(s.name, keeper.Want{Addr: o.Addr, Unix: o.Unix, Interface: o.Interface, V6Only: o.V6Only}, func() (int, error) {
		if conf.Addr.Family == addr.FD {
			return adopt(conf.Addr.FD)
		}
		return sock.OpenListener(o)
	})
	if err != nil {
		return nil, fmt.Errorf("cannot bind socket (%w) for [%s]", err, what)
	}
	if s.path != "" {
		s.file, _ = os.Lstat(s.path)
	}
	if s.path == "" && conf.Addr.Family != addr.Abstract {
		conf.Bound = boundName(s.fd)
	}
	return s, clientSocket(s.fd, &b, new(model.Tune))
}

// boundName is the address of an open socket as "show cli sockets" has it; empty when it has none to tell.
func boundName(fd int) string {
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return ""
	}
	switch a := sa.(type) {
	case *unix.SockaddrInet4:
		return "ipv4@" + netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port)).String()
	case *unix.SockaddrInet6:
		return "ipv6@" + netip.AddrPortFrom(netip.AddrFrom16(a.Addr), uint16(a.Port)).String()
	case *unix.SockaddrUnix:
		if name, ok := strings.CutPrefix(a.Name, "@"); ok {
			return "abns@" + name
		}
		return "unix@" + a.Name
	}
	return ""
}

// unbindCLI gives the stats sockets back.
func (g *Generation) unbindCLI() {
	for _, s := range g.cli {
		g.keeper.Return(s.name)
	}
	g.cli = nil
}

// listener makes a listener of its own for the socket, which keeps its descriptor.
func (s *cliSocket) listener() (net.Listener, error) {
	fd, err := unix.FcntlInt(uintptr(s.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), s.name)
	defer f.Close()
	ln, err := net.FileListener(f)
	if u, ok := ln.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false) // release does it
	}
	return ln, err
}

// enter makes g what is looked at from now on: its streams may ask for statistics as soon as it accepts.
func (a *runtimeAPI) enter(g *Generation) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ready.CompareAndSwap(0, clock.Nanos())
	a.gen = g
	clear(a.states)
	clear(a.accept)
	clear(a.frontMax)
	a.maxConn.Store(0)
	a.anon.Store(g.Config.Global.AnonKey)
}

// serve answers on the sockets of g from now on.
func (a *runtimeAPI) serve(g *Generation) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.server != nil {
		a.server.Close(true)
	}
	a.server = cli.NewServer(a, cli.Of(g.Config.Global), g.Config.Global.Tune.BufSize)
	a.server.Guard = a.guard
	a.server.Failed = func(s *cli.Socket, err error) {
		a.p.opt.Warn(fmt.Sprintf("stats socket %s: %v", s.Text, err))
	}
	for _, old := range a.sockets {
		if !slices.ContainsFunc(g.cli, func(s *cliSocket) bool { return s.name == old.name }) {
			old.remove()
		}
	}
	a.sockets = slices.Clone(g.cli)
	for _, s := range g.cli {
		ln, err := s.listener()
		if err != nil {
			a.p.opt.Warn(fmt.Sprintf("stats socket %s: %v", s.conf.Text, err))
			continue
		}
		a.server.Serve(ln, s.conf)
	}
}

// guard runs a session. A fault in a command ends that session and nothing else.
func (a *runtimeAPI) guard(session func()) {
	defer func() {
		if v := recover(); v != nil {
			a.p.opt.Warn(fmt.Sprintf("internal error, the session of a stats socket was closed: %v\n%s", v, debug.Stack()))
		}
	}()
	session()
}

// release stops accepting, and removes the paths of unix sockets unless another process has put its own there.
func (a *runtimeAPI) release(let bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.server != nil {
		a.server.Close(let)
	}
	for _, s := range a.sockets {
		if !a.handed.Load() {
			s.remove()
		}
	}
	a.sockets = nil
}

// remove takes the path of a unix socket away, unless it is not this socket any more.
func (s *cliSocket) remove() {
	if s.file == nil {
		return
	}
	if now, err := os.Lstat(s.path); err == nil && os.SameFile(now, s.file) {
		_ = os.Remove(s.path) // it may be out of reach by now: the next start replaces it
	}
}

// generation is what commands work on.
func (a *runtimeAPI) generation() *Generation {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.gen
}

// Sockets are the stats sockets.
func (a *runtimeAPI) Sockets() []*cli.Socket {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := make([]*cli.Socket, len(a.sockets))
	for i, s := range a.sockets {
		out[i] = s.conf
	}
	return out
}

// Accepting tells how a frontend takes connections.
func (a *runtimeAPI) Accepting(f *frontend.Frontend) cli.Accepting {
	a.mu.Lock()
	defer a.mu.Unlock()
	if f.Draining.Load() {
		return cli.Stopped
	}
	return a.accept[f]
}

func (a *runtimeAPI) setAccepting(f *frontend.Frontend, to cli.Accepting) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.accept[f] = to
}

// Pause ends the accepting of a frontend until Resume.
func (a *runtimeAPI) Pause(f *frontend.Frontend) error {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	g := a.generation()
	a.onListeners(g, f, func(w *listen.Listener) { w.Suspend() })
	err := g.listenFront(f, false)
	a.setAccepting(f, cli.Paused)
	return err
}

// Resume undoes Pause.
func (a *runtimeAPI) Resume(f *frontend.Frontend) error {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	g := a.generation()
	if err := g.listenFront(f, true); err != nil {
		return err
	}
	a.onListeners(g, f, func(w *listen.Listener) { w.Unsuspend() })
	a.setAccepting(f, cli.Open)
	return nil
}

// Stop ends the accepting of a frontend for good and gives its sockets back.
func (a *runtimeAPI) Stop(f *frontend.Frontend) error {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	g := a.generation()
	onEach(a.p.loops, func(l *loop.Loop) {
		id := l.ID()
		g.listeners[id] = slices.DeleteFunc(g.listeners[id], func(w *listen.Listener) bool {
			if w.Front == f {
				w.Close()
			}
			return w.Front == f
		})
	})
	a.setAccepting(f, cli.Stopped)
	g.binds = slices.DeleteFunc(g.binds, func(b *bound) bool {
		if b.front == f {
			g.keeper.Return(b.name)
		}
		return b.front == f
	})
	return nil
}

func (a *runtimeAPI) onListeners(g *Generation, f *frontend.Frontend, fn func(w *listen.Listener)) {
	onEach(a.p.loops, func(l *loop.Loop) {
		for _, w := range g.listeners[l.ID()] {
			if w.Front == f {
				fn(w)
			}
		}
	})
}

// listenFront makes the sockets of a frontend listen, or not.
func (g *Generation) listenFront(f *frontend.Frontend, on bool) error {
	var errs []error
	for _, b := range g.binds {
		if b.front == f {
			errs = append(errs, b.listen(on))
		}
	}
	return errors.Join(errs...)
}

// AdminState is what was asked of a server, and how long ago its state changed.
func (a *runtimeAPI) AdminState(s *server.Server) (cli.State, time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if st := a.states[s]; st != nil {
		return st.state, time.Duration(clock.Nanos() - st.since)
	}
	since := time.Duration(clock.Nanos() - a.ready.Load())
	if !s.Enabled() {
		return cli.MaintConfig, since
	}
	return cli.Ready, since
}

// SetAdminState puts a server in maintenance, drains it or makes it ready.
func (a *runtimeAPI) SetAdminState(s *server.Server, st cli.State) error {
	if now, _ := a.AdminState(s); now == st || st == cli.Maint && now == cli.MaintConfig {
		return nil
	}
	s.SetDisabled(st == cli.Maint)
	s.SetDrained(st == cli.Drain)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.states[s] = &adminState{st, clock.Nanos()}
	return nil
}

// SetWeight changes the weight of a server.
func (a *runtimeAPI) SetWeight(b *backend.Backend, s *server.Server, weight int) error {
	if b.Static() && weight != 0 && weight != s.Conf.Weight {
		return errors.New("Backend is using a static LB algorithm and only accepts weights '0%' and '100%'.")
	}
	s.SetWeight(weight)
	return nil
}

// SetServerMaxConn changes the limit of a server.
func (a *runtimeAPI) SetServerMaxConn(s *server.Server, n int) error {
	s.SetMaxConn(n)
	return nil
}

// ClearCounters sets the counters of events back to zero, those of one server or all for nil. Each loop does it for its own.
func (a *runtimeAPI) ClearCounters(only *server.Server) {
	g := a.generation()
	onEach(a.p.loops, func(l *loop.Loop) {
		if only != nil {
			only.Stats[l.ID()].Clear()
			return
		}
		g.eachStats(l.ID(), (*stats.Proxy).Clear)
	})
	if only != nil {
		only.ClearPeaks()
		return
	}
	a.clearPeaks(g)
}

// ClearPeaks forgets the maxima and keeps the counters.
func (a *runtimeAPI) ClearPeaks() {
	g := a.generation()
	onEach(a.p.loops, func(l *loop.Loop) { g.eachStats(l.ID(), (*stats.Proxy).ClearPeaks) })
	a.clearPeaks(g)
}

// eachStats calls fn with all counters of loop id.
func (g *Generation) eachStats(id int, fn func(p *stats.Proxy)) {
	for _, f := range g.Frontends {
		fn(&f.Stats[id])
	}
	for _, line := range g.lines {
		if line.Stats != nil {
			fn(&line.Stats[id])
		}
	}
	for _, b := range g.Backends {
		fn(&b.Stats[id])
		for _, s := range b.Servers {
			fn(&s.Stats[id])
		}
	}
}

// clearPeaks forgets the maxima that belong to no loop.
func (a *runtimeAPI) clearPeaks(g *Generation) {
	for _, f := range g.Frontends {
		f.Cur.ResetPeak()
		f.Rate.ResetPeak()
	}
	for _, line := range g.lines {
		line.Conns.ResetPeak()
	}
	for _, b := range g.Backends {
		b.Cur.ResetPeak()
		b.Queue.ResetPeak()
		for _, s := range b.Servers {
			s.ClearPeaks()
		}
	}
	a.p.keeper.ConnRate.ResetPeak()
	a.p.keeper.SessRate.ResetPeak()
	a.p.keeper.TLSRate.ResetPeak()
	a.p.keeper.FrontKeys.ResetPeak()
	a.p.keeper.BackKeys.ResetPeak()
}
