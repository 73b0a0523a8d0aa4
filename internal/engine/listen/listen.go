// Package listen accepts connections: one Listener for each bound address and
// loop. Limits (maxconn of the process, the frontend and the bind line, rates)
// are applied before a session begins; what is over a limit stays in the
// kernel's queue.
package listen

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"weir/internal/engine/frontend"
	"weir/internal/engine/session"
	"weir/internal/engine/stats"
	"weir/internal/model"
	"weir/internal/rt/loop"
	"weir/internal/rt/sock"
)

// Limit is a number of connections that may exist at once, and the listeners that wait for it.
type Limit struct {
	Gauge   *stats.Gauge
	max     atomic.Int64 // 0: none
	waiting atomic.Bool
	reached atomic.Int64
	mu      sync.Mutex
	list    []*Listener
}

// NewLimit makes a limit of most (0: none) on what gauge counts.
func NewLimit(gauge *stats.Gauge, most int) *Limit {
	m := &Limit{Gauge: gauge}
	m.max.Store(int64(most))
	return m
}

// SetMax changes the limit; those who wait try again.
func (m *Limit) SetMax(most int) {
	m.max.Store(int64(most))
	m.tell()
}

// take counts one connection in; false when the limit is reached, and then w is told when that changes.
func (m *Limit) take(w *Listener) bool {
	if m.Gauge.IncBelow(m.max.Load()) {
		return true
	}
	m.reached.Add(1)
	m.mu.Lock()
	m.list = append(m.list, w)
	m.waiting.Store(true)
	m.mu.Unlock()
	if most := m.max.Load(); most == 0 || m.Gauge.Cur() < most { // freed between the refusal and the note
		m.tell()
	}
	return false
}

// Reached is how often a connection had to wait for the limit.
func (m *Limit) Reached() int64 { return m.reached.Load() }

// Try counts one connection in that nobody waits for; false when the limit is reached.
func (m *Limit) Try() bool { return m.Gauge.IncBelow(m.max.Load()) }

// Give counts one connection out.
func (m *Limit) Give() {
	m.Gauge.Dec()
	if m.waiting.Load() {
		m.tell()
	}
}

func (m *Limit) tell() {
	m.mu.Lock()
	list := m.list
	m.list = nil
	m.waiting.Store(false)
	m.mu.Unlock()
	for _, w := range list {
		w.l.Post(w.retry)
	}
}

// Rate is a limit on new connections a second.
type Rate struct {
	Rate *stats.Rate
	Max  int64 // 0: none
}

// Gate are the limits that apply to one frontend's connections.
type Gate struct {
	Process *Limit
	Front   *Limit
	Bind    *Limit
	TLS     *Limit // nil for clear text
	Rates   []Rate
}

// Options describe a listener.
type Options struct {
	Front    *frontend.Frontend
	Bind     *model.Bind
	BindName string
	Unix     bool
	UnixID   int
	Nice     int
	Gate     Gate
	Sessions *session.Set
	State    model.ListenerState
	Stats    []stats.Proxy // of the bind line, by loop; nil: not counted (option socket-stats)
}

// Listener accepts on one socket for one loop.
type Listener struct {
	Options
	l       *loop.Loop
	s       *sock.Listener
	held    []held // accepted by the kernel's batch, over a limit here
	timer   loop.Timer
	retry   func()
	closed  func()
	endTLS  func()
	stopped bool
	paused  bool // by a limit
}

type held struct {
	fd   int
	peer netip.AddrPort
}

// New starts accepting on fd, which the caller keeps.
func New(l *loop.Loop, fd int, o Options) *Listener {
	w := &Listener{Options: o, l: l}
	w.retry = w.resume
	w.closed = w.sessionClosed
	if o.Gate.TLS != nil {
		w.endTLS = o.Gate.TLS.Give
	}
	w.timer.Fn = w.resume
	w.s = sock.Listen(l, fd, w.accept)
	return w
}

func (w *Listener) accept(fd int, peer netip.AddrPort) {
	if len(w.held) == 0 && w.admit() {
		w.open(fd, peer)
		return
	}
	w.held = append(w.held, held{fd, peer})
	w.pause()
}

// admit takes all limits for one connection, or none of them.
func (w *Listener) admit() bool {
	now := w.l.Now()
	for _, r := range w.Gate.Rates {
		if d := r.Rate.Wait(now, r.Max); d > 0 {
			w.l.Arm(&w.timer, now+int64(max(d, time.Millisecond)))
			return false
		}
	}
	g := &w.Gate
	switch {
	case !g.Process.take(w):
		return false
	case !g.Front.take(w):
		g.Process.Give()
		return false
	case !g.Bind.take(w):
		g.Front.Give()
		g.Process.Give()
		return false
	case g.TLS != nil && !g.TLS.take(w):
		w.sessionClosed()
		return false
	}
	for _, r := range g.Rates {
		r.Rate.Add(now)
	}
	return true
}

func (w *Listener) open(fd int, peer netip.AddrPort) {
	id := w.l.ID()
	w.Front.Stats[id].Conns.Add(1)
	stats.NoteRate(w.Front.Stats, id, w.l.Now(), stats.ConnRate)
	var own *stats.Proxy
	if w.Stats != nil {
		own = &w.Stats[id]
		own.Conns.Add(1)
	}
	w.Sessions.Open(&session.Accepted{TLSClosed: w.endTLS, Stats: own, FD: fd, Peer: peer, Front: w.Front, Bind: w.Bind, BindName: w.BindName, Unix: w.Unix, UnixID: w.UnixID, Nice: w.Nice, State: w.State, Closed: w.closed})
}

func (w *Listener) sessionClosed() {
	w.Gate.Bind.Give()
	w.Gate.Front.Give()
	w.Gate.Process.Give()
}

func (w *Listener) pause() {
	if !w.paused {
		w.paused = true
		w.s.Pause()
	}
}

// resume tries again after a limit has moved.
func (w *Listener) resume() {
	for len(w.held) > 0 {
		if !w.admit() {
			return
		}
		h := w.held[0]
		w.held = w.held[1:]
		w.open(h.fd, h.peer)
	}
	if w.paused && !w.stopped {
		w.paused = false
		w.s.Resume()
	}
}

// Suspend stops accepting until Unsuspend (SIGTTOU).
func (w *Listener) Suspend() { w.s.Pause() }

// Unsuspend accepts again (SIGTTIN).
func (w *Listener) Unsuspend() {
	if !w.paused && !w.stopped {
		w.s.Resume()
	}
}

// Close stops accepting for good. The socket itself belongs to the keeper. Connections that the kernel handed over
// already are served.
func (w *Listener) Close() {
	w.stopped = true
	w.s.Release()
	for _, h := range w.held {
		if !w.admit() {
			w.Gate.Process.Gauge.Inc()
			w.Gate.Front.Gauge.Inc()
			w.Gate.Bind.Gauge.Inc()
			if g := w.Gate.TLS; g != nil {
				g.Gauge.Inc()
			}
		}
		w.open(h.fd, h.peer)
	}
	w.held = nil
	w.l.Forget(&w.timer)
}
