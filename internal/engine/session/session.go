// Package session is the life of a client connection: it begins streams when
// something arrives and costs no fiber and no buffer in between.
package session

import (
	"net/netip"
	"time"

	"weir/internal/base/buf"
	"weir/internal/engine/backend"
	"weir/internal/engine/frontend"
	"weir/internal/engine/stats"
	"weir/internal/engine/stream"
	"weir/internal/lang/rule"
	"weir/internal/link/conn"
	"weir/internal/link/h1mux"
	"weir/internal/link/mux"
	"weir/internal/link/tcpmux"
	"weir/internal/model"
	"weir/internal/rt/loop"
	"weir/internal/rt/sock"
)

// Set are the sessions of one generation on one loop.
type Set struct {
	l      *loop.Loop
	shared stream.Shared
	h1     h1mux.Pool
	free   []*Session
	head   *Session // all open sessions
	n      int
	// Homes are the frontends of the generation by name, for sessions that come over from the one before.
	Homes map[string]Home
	// heir is the set of the next generation; nil while there is none.
	heir *Set
	// Emptied is called when the last session has closed while the set is draining.
	Emptied   func()
	draining  bool
	idleTimer int64 // nanoseconds
	frontKeys *stats.Rate
}

// NewSet makes the set for loop l; active counts the connections of the process, totals what the loop serves.
func NewSet(l *loop.Loop, active *stats.Gauge, totals *stats.Loop) *Set {
	s := &Set{l: l}
	s.shared = stream.Shared{Loop: l, Active: active, Totals: totals}
	s.shared.NewServerEnd = s.serverEnd
	return s
}

// CountTLS gives the sessions their share of the TLS connections that the process may have: take counts one to a server in, give
// counts it out. front and back count handshakes that resumed no session.
func (t *Set) CountTLS(take func() bool, give func(), front, back *stats.Rate) {
	t.frontKeys = front
	t.shared.TakeTLS, t.shared.GiveTLS, t.shared.Keys = take, give, back
}

// Configure tells what the sessions run under.
func (t *Set) Configure(cfg *model.Config) {
	t.shared.Configure(cfg)
	t.idleTimer = idleTimer(&cfg.Global.Tune)
}

func (t *Set) serverEnd(be *backend.Backend, c conn.Conn) mux.End {
	if be.Conf.Mode == model.ModeHTTP {
		h := new(h1mux.Conn)
		h.Init(t.l, c, h1mux.Client, be.H1, &t.h1)
		return h
	}
	p := new(tcpmux.Conn)
	p.Init(c)
	return p
}

// Home is a frontend that takes over sessions: Enter counts one in, Leave counts it out.
type Home struct {
	Front        *frontend.Frontend
	Enter, Leave func()
}

// Session is one client connection.
type Session struct {
	stream.Client
	set        *Set
	end        mux.End
	h1         h1mux.Conn
	tcp        tcpmux.Conn
	timer      loop.Timer
	wake       func()
	closed     func()
	prev, next *Session
	panicked   func(any)
	tls        *model.TLSListener
	tlsClosed  func()
	idle       bool
	cut        bool // it ends with a reset
	nice       int
}

// Accepted is what a listener knows of a new connection.
type Accepted struct {
	FD       int
	Peer     netip.AddrPort
	Front    *frontend.Frontend
	Bind     *model.Bind
	BindName string
	Unix     bool
	UnixID   int
	Nice     int // above 0: the requests of others go first
	State    model.ListenerState
	Stats    *stats.Proxy // of the bind line on this loop; nil: not counted
	Closed   func()       // called once, when the session is over
	// TLSClosed is called then too, wherever the session has moved; nil for clear text.
	TLSClosed func()
}

// Open begins a session.
func (t *Set) Open(a *Accepted) {
	s := t.get()
	vars := s.Vars // keeps its memory
	s.Client = stream.Client{
		Vars: vars, Front: a.Front, Listener: a.State, BindName: a.BindName, Unix: a.Unix, UnixID: a.UnixID,
		Accepted: t.l.Now(), AcceptDate: t.l.Wall(), Upgrade: s.Upgrade, Broken: s.Broken, BindStats: a.Stats,
	}
	s.Since = s.Accepted
	s.closed, s.nice, s.tlsClosed = a.Closed, a.Nice, a.TLSClosed
	s.Sock = sock.Adopt(t.l, a.FD, a.Peer)
	s.Link = s.Sock
	t.link(s)
	if a.Front.Logs[t.l.ID()] != nil { // asked once the client has left, the kernel does not know any more
		s.Sock.Peer()
		if a.Front.LogNeeds&(model.LogLocal|model.LogExpr) != 0 {
			s.Sock.Local()
		}
	}
	if s.HTTP = a.Front.Conf.Mode == model.ModeHTTP; s.HTTP && a.Bind.TLS == nil && a.Front.Conf.Has(model.OptTCPSmartAccept) {
		s.Sock.DelayAck()
	}
	s.greet(a.Bind)
	s.begin()
}

// count counts a session that may go on.
func (s *Session) count() {
	id := s.set.l.ID()
	st := &s.Front.Stats[id]
	st.Sessions.Add(1)
	stats.NoteRate(s.Front.Stats, id, s.set.l.Now(), stats.SessRate)
	if s.HTTP {
		st.HTTPSessions.Add(1)
	} else {
		st.OtherSessions.Add(1)
	}
	if s.BindStats != nil {
		s.BindStats.Sessions.Add(1)
	}
}

// greet notes what must come before the session's data.
func (s *Session) greet(b *model.Bind) {
	s.tls, s.cut = b.TLS, false
	s.Greeting.Secure = b.TLS
	if b.AcceptProxy {
		s.Greeting.Expect |= stream.HeaderProxy
	}
	if s.Greeting.Magic = b.NetScaler; b.NetScaler != 0 {
		s.Greeting.Expect |= stream.HeaderNetScaler
	}
}

// begin serves the session, in a fiber at once where something comes before its first data.
func (s *Session) begin() {
	r := s.Front.Rules
	switch {
	case len(r.Of[rule.TCPConnection]) > 0 || len(r.Of[rule.TCPSession]) > 0 || s.Greeting.Expect != 0 || s.tls != nil:
		s.tcp.Init(s.Link) // until it is known what follows
		s.end = &s.tcp
		s.set.l.Start(admit, s)
		return
	}
	s.speak()
	s.count()
	if s.HTTP {
		s.rest()
		return
	}
	s.set.l.Start(run, s)
}

func (t *Set) get() *Session {
	if n := len(t.free); n > 0 {
		s := t.free[n-1]
		t.free = t.free[:n-1]
		return s
	}
	s := &Session{set: t}
	s.timer.Fn = s.late
	s.wake = s.input
	s.Upgrade = s.upgrade
	s.Broken = s.broken
	s.panicked = func(any) { s.broken() }
	return s
}

// maxFree bounds how many closed sessions a loop keeps for reuse.
const maxFree = 256

func (t *Set) link(s *Session) {
	s.prev, s.next = nil, t.head
	if t.head != nil {
		t.head.prev = s
	}
	t.head = s
	t.n++
}

func (t *Set) unlink(s *Session) {
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		t.head = s.next
	}
	if s.next != nil {
		s.next.prev = s.prev
	}
	s.prev, s.next = nil, nil
	t.n--
	t.checkEmpty()
}

// moveTo hands a session that is between two exchanges over to the next generation, where its frontend still exists: a
// reload closes no connection. It reports false when there is nowhere to go.
func (s *Session) move() bool {
	t := s.set
	if t.heir == nil {
		return false
	}
	h, ok := t.heir.Homes[s.Front.Name]
	if !ok || h.Front.Conf.Mode != s.Front.Conf.Mode {
		return false
	}
	h.Enter()
	s.closed()
	s.closed, s.Front, s.LastServer = h.Leave, h.Front, nil
	s.Private.Close() // their servers belong to the old generation
	s.h1.SetOptions(h.Front.H1)
	t.unlink(s)
	s.set = t.heir
	s.set.link(s)
	return true
}

// Len is the number of open sessions.
func (t *Set) Len() int { return t.n }

// upgrade turns a TCP session into an HTTP one; nothing of the input has been consumed.
func (s *Session) upgrade(in *buf.Buf) mux.End {
	s.h1.Init(s.set.l, s.Link, h1mux.Server, s.Front.H1, &s.set.h1)
	if in != nil {
		s.h1.Feed(in)
	}
	s.end, s.HTTP = &s.h1, true
	return s.end
}

// rest lets the session wait for its next request without a fiber.
func (s *Session) rest() {
	s.idle = true
	if d := s.idleDeadline(); d != 0 {
		s.set.l.Arm(&s.timer, d)
	}
	s.end.SetIdle(s.wake)
}

// idleDeadline is until when the first byte of the next request must come.
func (s *Session) idleDeadline() int64 {
	t := &s.Front.Conf.Timeout
	d := t.HTTPRequest
	if s.Exchanges > 0 && t.HTTPKeepAlive > 0 {
		d = t.HTTPKeepAlive
	}
	if d == 0 {
		d = t.Client
	}
	if d == 0 {
		return 0
	}
	return s.Ready() + int64(d)
}

// input is called when something arrives on a resting session.
func (s *Session) input() {
	if !s.idle {
		return
	}
	s.idle = false
	s.set.l.Disarm(&s.timer)
	if s.Exchanges > 0 && !s.end.HeadStarted() {
		s.close() // the client is done
		return
	}
	s.set.l.Start(run, s)
}

// late is called when a resting session has waited long enough.
func (s *Session) late() {
	if !s.idle {
		return
	}
	s.idle = false
	if s.Exchanges > 0 {
		s.close()
		return
	}
	s.TimedOut = true
	s.set.l.Start(run, s)
}

// run is the fiber of a session while streams are served.
func run(f *loop.Fiber, arg any) {
	s := arg.(*Session)
	if s.nice > 0 {
		f.Yield()
	}
	for s.set.shared.Serve(f, &s.Client, s.end) {
		s.Since, s.Handshake = s.set.l.Now(), 0
		if s.set.draining && !s.move() {
			break
		}
		if !s.end.HeadStarted() {
			s.rest()
			return
		}
		f.Yield()
	}
	s.linger(f)
	s.close()
}

// Bounds of the wait for a client that is still sending when its answer has gone out: without it, the reset that closing
// provokes could overtake the answer.
const (
	lingerTime  = time.Second
	lingerBytes = 1 << 20
)

func (s *Session) linger(f *loop.Fiber) {
	if s.end != mux.End(&s.h1) || !s.h1.Unread() || s.end.Err() != nil || s.end.InputClosed() {
		return
	}
	if s.Front.Conf.Has(model.OptNoLingerFrontend) {
		return
	}
	f.SetLabel("linger")
	s.end.SetOwner(f)
	s.h1.Shutdown()
	limit := lingerTime
	if t := s.Front.Conf.Timeout.ClientFin; t > 0 {
		limit = t
	}
	deadline := s.set.l.Now() + int64(limit)
	for left := lingerBytes; left > 0; {
		n, more := s.h1.Drain()
		left -= n
		if !more || !f.Park(deadline) && s.set.l.Now() >= deadline {
			break
		}
	}
	s.end.SetOwner(nil)
}

func (s *Session) close() {
	t := s.set
	t.l.Forget(&s.timer)
	s.Private.Close()
	if s.cut || s.Front.Conf.Has(model.OptNoLingerFrontend) && s.end.Queued() == 0 {
		s.end.Abort()
	} else {
		s.end.Close()
	}
	closed, tlsClosed := s.closed, s.tlsClosed
	s.end, s.Sock, s.Link, s.closed, s.idle, s.tls = nil, nil, nil, nil, false, nil
	s.Vars.Reset()
	t.unlink(s)
	if len(t.free) < maxFree {
		t.free = append(t.free, s)
	}
	closed()
	if tlsClosed != nil {
		tlsClosed()
	}
}

// broken cuts a session whose fiber is gone.
func (s *Session) broken() {
	s.end.Abort()
	s.close()
}

// Drain hands resting sessions over to heir. Those that find no home there, or all when heir is nil, are closed, spread
// over the given time (close-spread-time). The others follow after their exchange.
func (t *Set) Drain(heir *Set, spread time.Duration) {
	t.draining, t.heir = true, heir
	i, n := int64(0), int64(max(t.n, 1))
	for s := t.head; s != nil; {
		next := s.next
		if s.idle && s.HTTP && s.move() {
			s = next
			continue
		}
		if s.idle && !s.end.HeadStarted() && !s.Front.Conf.Has(model.OptIdleCloseOnResponse) {
			switch {
			case spread < 0: // close-spread-time infinite: they end by themselves
			case spread == 0:
				s.idle = false
				s.close()
			default:
				s.Exchanges = max(s.Exchanges, 1) // late then closes without an answer
				t.l.Arm(&s.timer, t.l.Now()+int64(spread)*i/n)
			}
			i++
		}
		s = next
	}
	t.checkEmpty()
}

func (t *Set) checkEmpty() {
	if fn := t.Emptied; fn != nil && t.n == 0 && t.draining {
		t.Emptied = nil
		fn()
	}
}

// Kill cuts all sessions: the end of hard-stop-after.
func (t *Set) Kill() {
	for s := t.head; s != nil; {
		next := s.next
		if s.idle {
			s.idle = false
			s.close()
		} else {
			s.Killed = true
			owner := s.Link.Owner()
			s.Link.Abort()
			if owner != nil {
				owner.Wake()
			}
		}
		s = next
	}
}
