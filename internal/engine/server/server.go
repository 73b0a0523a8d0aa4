// Package server holds what weir knows of one server at run time: whether it
// takes traffic, how many requests it serves, who waits for it, and its idle
// connections, which belong to the loop that opened them.
package server

import (
	"crypto/tls"
	"net/netip"
	"sync/atomic"
	"time"

	"weir/internal/engine/queue"
	"weir/internal/engine/stats"
	"weir/internal/link/conn"
	"weir/internal/link/mux"
	"weir/internal/model"
	"weir/internal/rt/loop"
	"weir/internal/rt/sock"
)

// Server is one server of a backend, shared by all loops.
type Server struct {
	Conf    *model.Server
	Name    string
	Connect sock.ConnectOptions // address and options of its connections
	// MapAddr: the server's address is the one that the client connected to.
	MapAddr bool
	// MapPorts: the server has no port of its own; PortOffset is added to the one the client connected to.
	MapPorts   bool
	PortOffset int

	UseSrc UseSrc

	Cur   stats.Gauge  // requests being served
	Conns stats.Gauge  // connections established
	Idle  atomic.Int64 // connections at rest
	Safe  atomic.Int64 // of which have carried more than one request
	Queue queue.Queue[Server]
	Stats []stats.Proxy // by loop
	Busy  stats.Peak    // most requests at once for which a connection was wanted

	// Load and FullConn are the backend's streams and at how many of them minconn has grown to maxconn.
	Load     *stats.Gauge
	FullConn int64

	// Freed is called after a slot was given back, to serve the backend's queue; set by the backend.
	Freed func(*Server)
	// Changed is called after the state or the weight has changed; set by the backend.
	Changed func()

	cookie   atomic.Pointer[string]
	disabled atomic.Bool
	drained  atomic.Bool
	maxConn  atomic.Int64
	moved    atomic.Pointer[netip.AddrPort] // the address that a command has given; nil: that of Connect
	epoch    atomic.Uint32                  // how often it has moved
	weight   atomic.Int32
	loops    []idleList // by loop
	tls      *tls.Config
	names    []named // by loop
}

// UseSrc tells how the source address of a connection depends on the client ("source ... usesrc").
type UseSrc uint8

// Where the source address comes from.
const (
	SrcSystem   UseSrc = iota // Connect.Source, or the system's choice
	SrcClient                 // the client's address and port
	SrcClientIP               // the client's address
)

// New makes the run-time side of conf for n loops.
func New(conf *model.Server, n int) *Server {
	s := &Server{Conf: conf, Name: conf.Name, Stats: make([]stats.Proxy, n), loops: make([]idleList, n)}
	s.weight.Store(int32(conf.Weight))
	s.disabled.Store(conf.Disabled)
	s.maxConn.Store(int64(conf.MaxConn))
	s.cookie.Store(&conf.Cookie)
	for i := range s.loops {
		s.loops[i].srv = s
	}
	s.initTLS(n)
	return s
}

// Usable reports whether balancing may choose s.
func (s *Server) Usable() bool { return !s.disabled.Load() && !s.drained.Load() && s.weight.Load() > 0 }

// Enabled reports whether s may carry traffic at all (a weight of 0 still serves persistent clients).
func (s *Server) Enabled() bool { return !s.disabled.Load() }

// SetDisabled puts s in or out of maintenance.
func (s *Server) SetDisabled(v bool) {
	s.disabled.Store(v)
	s.changed()
}

// changed tells the backend.
func (s *Server) changed() {
	if s.Changed != nil {
		s.Changed()
	}
}

// SetWeight changes the weight, 0 to 256.
func (s *Server) SetWeight(n int) {
	s.weight.Store(int32(n))
	s.changed()
}

// MaxConn is how many requests s may serve at once, 0: any number.
func (s *Server) MaxConn() int64 { return s.maxConn.Load() }

// SetMaxConn changes it, and serves whoever waits for room.
func (s *Server) SetMaxConn(n int) {
	s.maxConn.Store(int64(n))
	if s.Freed != nil {
		s.Freed(s)
	}
}

// Addr is where connections go; not valid for a server of the unix domain.
func (s *Server) Addr() netip.AddrPort {
	if a := s.moved.Load(); a != nil {
		return *a
	}
	return s.Connect.Addr
}

// SetAddr lets connections go elsewhere from now on. Those that rest are not used any more.
func (s *Server) SetAddr(a netip.AddrPort) {
	s.moved.Store(&a)
	s.epoch.Add(1)
	s.changed()
}

// current reports whether c leads to where s is now.
func (c *Conn) current() bool { return c.epoch == c.Srv.epoch.Load() }

// SetDrained keeps new sessions away from s, except those that belong to it.
func (s *Server) SetDrained(v bool) {
	s.drained.Store(v)
	s.changed()
}

// Weight is the current weight, 0 to 256.
func (s *Server) Weight() int { return int(s.weight.Load()) }

// Cookie is the value that a persistence cookie has for s, "" for none.
func (s *Server) Cookie() string { return *s.cookie.Load() }

// SetCookie changes it.
func (s *Server) SetCookie(value string) { s.cookie.Store(&value) }

// SessRate is how many streams a second s gets, at a time of the loops.
func (s *Server) SessRate(now int64) int64 {
	return stats.SumRate(s.Stats, now, func(p *stats.Proxy) *stats.LoopRate { return &p.SessRate })
}

// Limit is how many requests s may serve at once: maxconn, or with minconn a value between both that follows the load of
// the backend up to fullconn; 0: no limit.
func (s *Server) Limit() int64 {
	most, least := s.MaxConn(), int64(s.Conf.MinConn)
	if least == 0 || least >= most || s.FullConn <= 0 {
		return most
	}
	return min(max(least, most*s.Load.Cur()/s.FullConn), most)
}

// HasRoom reports whether s is below its limit.
func (s *Server) HasRoom() bool { m := s.Limit(); return m == 0 || s.Cur.Cur() < m }

// Serve takes a slot for one request; false when the server is full.
func (s *Server) Serve() bool { return s.Cur.IncBelow(s.Limit()) }

// NoteBusy notes that connections are wanted for all requests that are being served.
func (s *Server) NoteBusy() { s.Busy.Note(s.Cur.Cur()) }

// ClearPeaks forgets the maxima.
func (s *Server) ClearPeaks() {
	s.Busy.Reset(s.Cur.Cur())
	s.Cur.ResetPeak()
	s.Queue.ResetPeak()
	s.Conns.ResetPeak()
}

// Needed estimates how many connections the server's traffic takes: the most there were at once.
func (s *Server) Needed() int64 { return s.Conns.Peak() }

// Unserve gives a slot back that was taken on behalf of a waiting stream which was not there.
func (s *Server) Unserve() { s.Cur.Dec() }

// Release gives a slot back and serves whoever waits for it.
func (s *Server) Release() {
	s.Cur.Dec()
	if s.MaxConn() > 0 && s.Freed != nil {
		s.Freed(s)
	}
}

// Conn is one connection to a server.
type Conn struct {
	mux.End
	Link   conn.Conn // what carries the bytes
	Srv    *Server
	Source netip.AddrPort // the source address it was opened with; zero when the system chose
	// Dest is the address it was opened to when the stream decides that (MapAddr, MapPorts); zero for all other servers.
	Dest netip.AddrPort
	Uses int // exchanges started on it
	// Key tells what was said on it before its protocol began: the name that TLS asked for, the PROXY header.
	Key string
	// Closed is called when the connection is closed; nil: nobody wants to know.
	Closed func()
	// Private connections are reused by one client session only (http-reuse never).
	Private bool

	safe       bool // counted in Server.Safe
	epoch      uint32
	l          *loop.Loop
	prev, next *Conn
	list       *idleList
	onGone     func()
	private    *PrivateConns
}

// Opened notes that c is established on loop l.
func (c *Conn) Opened(l *loop.Loop, s *Server) {
	c.l, c.Srv, c.onGone = l, s, c.gone
	c.epoch = s.epoch.Load()
	s.Conns.Inc()
}

// CloseConn closes c and takes it out of the counts.
func (c *Conn) CloseConn(abort bool) {
	c.Srv.Conns.Dec()
	if c.Closed != nil {
		c.Closed()
	}
	if abort {
		c.Abort()
	} else {
		c.Close()
	}
}

// idleList are the idle connections of one server on one loop, the most recently used first.
type idleList struct {
	srv        *Server
	head, tail *Conn
	n          int
	low        int // fewest idle connections since the last purge: so many were not needed
	purge      loop.Timer
	purging    bool
	_          [40]byte
}

// PutIdle keeps c for later requests of its loop; false when the pool is full and c must be closed.
func (s *Server) PutIdle(c *Conn) bool {
	if !c.current() {
		return false
	}
	if limit := s.Conf.PoolMaxConn; limit >= 0 && s.Idle.Load() >= int64(limit) {
		return false
	}
	if r := s.Conf.MaxReuse; r >= 0 && c.Uses > r {
		return false
	}
	li := &s.loops[c.l.ID()]
	c.list, c.prev, c.next = li, nil, li.head
	if li.head != nil {
		li.head.prev = c
	} else {
		li.tail = c
	}
	li.head = c
	li.n++
	s.Idle.Add(1)
	if c.safe = c.Uses > 1; c.safe {
		s.Safe.Add(1)
	}
	c.SetIdle(c.onGone)
	if !li.purging {
		li.armPurge(c.l)
	}
	return true
}

// TakeIdle returns the most recently used idle connection of loop l between source and dest that began with key, or nil.
// With onlyReused, connections that carried a single request are passed over (http-reuse aggressive).
func (s *Server) TakeIdle(l *loop.Loop, source, dest netip.AddrPort, key []byte, onlyReused bool) *Conn {
	li := &s.loops[l.ID()]
	for c := li.head; c != nil; {
		next := c.next
		if c.Source == source && c.Dest == dest && c.Key == string(key) && !(onlyReused && c.Uses < 2) {
			c.unlink()
			if c.InputClosed() || c.HeadStarted() || !c.current() {
				c.CloseConn(false)
			} else {
				return c
			}
		}
		c = next
	}
	return nil
}

// MayOpen reports whether another connection may be established: with strict-maxconn the limit counts those that rest too,
// and one of this loop makes room.
func (s *Server) MayOpen(l *loop.Loop) bool {
	if !s.Conf.StrictMaxConn || s.MaxConn() == 0 || s.Conns.Cur() < s.MaxConn() {
		return true
	}
	if c := s.loops[l.ID()].tail; c != nil {
		c.unlink()
		c.CloseConn(false)
	}
	return s.Conns.Cur() < s.MaxConn()
}

// gone is called when the server closes an idle connection or sends what nobody asked for.
func (c *Conn) gone() {
	switch {
	case c.private != nil:
		c.private.remove(c)
	case c.list != nil:
		c.unlink()
	default:
		return
	}
	c.CloseConn(false)
}

func (c *Conn) unlink() {
	li := c.list
	if c.prev != nil {
		c.prev.next = c.next
	} else {
		li.head = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	} else {
		li.tail = c.prev
	}
	c.prev, c.next, c.list = nil, nil, nil
	li.n--
	if li.n < li.low {
		li.low = li.n
	}
	li.srv.Idle.Add(-1)
	if c.safe {
		li.srv.Safe.Add(-1)
	}
}

// armPurge starts the periodic release of connections that were not needed (pool-purge-delay).
func (li *idleList) armPurge(l *loop.Loop) {
	delay := li.srv.Conf.PoolPurgeDelay
	if delay <= 0 {
		return
	}
	if li.purge.Fn == nil {
		li.purge.Fn = func() { li.purgeNow(l) }
	}
	li.purging, li.low = true, li.n
	l.Arm(&li.purge, l.Now()+int64(delay))
}

// purgeNow closes half of the connections that no request needed since the last time, oldest first.
func (li *idleList) purgeNow(l *loop.Loop) {
	excess := (li.low + 1) / 2
	if keep := li.srv.Conf.PoolLowConn; keep > 0 {
		excess = min(excess, li.n-keep)
	}
	for range max(excess, 0) {
		c := li.tail
		if c == nil {
			break
		}
		c.unlink()
		c.CloseConn(false)
	}
	li.purging = false
	if li.n > 0 {
		li.armPurge(l)
	}
}

// CloseIdle closes all idle connections of loop l and stops their timer; for the end of a generation.
func (s *Server) CloseIdle(l *loop.Loop) {
	li := &s.loops[l.ID()]
	for li.head != nil {
		c := li.head
		c.unlink()
		c.CloseConn(false)
	}
	if li.purging {
		li.purging = false
		l.Forget(&li.purge)
	}
}

// PurgeDelay is the default of pool-purge-delay.
const PurgeDelay = 5 * time.Second
