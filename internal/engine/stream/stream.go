// Package stream carries one exchange between a client and a server: a request
// and its response, or a TCP session. It is straight-line code in one fiber;
// Serve shows the whole trip. It reads and writes through mux.End and knows no
// protocol version.
package stream

import (
	"net/netip"
	"time"

	"weir/internal/base/buf"
	"weir/internal/engine/backend"
	"weir/internal/engine/frontend"
	"weir/internal/engine/queue"
	"weir/internal/engine/server"
	"weir/internal/engine/stats"
	"weir/internal/lang/rule"
	"weir/internal/link/conn"
	"weir/internal/link/mux"
	"weir/internal/model"
	"weir/internal/rt/loop"
	"weir/internal/rt/sock"
	"weir/internal/wire/msg"
)

// Client is what a stream knows of its client connection. The session owns it.
type Client struct {
	Front    *frontend.Frontend
	BindName string
	Sock     *sock.Conn // for its addresses: the kernel is asked when somebody wants them
	Link     conn.Conn  // what carries the bytes
	Unix     bool
	UnixID   int

	Accepted   int64     // monotonic nanoseconds
	AcceptDate time.Time // wall clock
	Since      int64     // when the current exchange could begin: accept, or the end of the previous exchange
	Handshake  int64     // how long what came before the first exchange took; 0 in later ones
	Exchanges  int       // streams begun on the connection

	// LastServer is the server of the previous exchange (option prefer-last-server, HTTP authentication).
	LastServer *server.Server
	stick      bool // the last response asked for authentication: the next request belongs to the same server
	// Private are the server connections kept for this session alone (http-reuse never).
	Private server.PrivateConns
	// HTTP: the connection speaks HTTP. A TCP connection starts to when its backend is in HTTP mode (Upgrade).
	HTTP bool
	// Upgrade gets the input that was received already, nil for none.
	Upgrade func(in *buf.Buf) mux.End
	// Broken closes the client connection after a fault in the stream's code, which ended its fiber.
	Broken func()
	// Killed: the connection was cut from inside (hard-stop-after).
	Killed bool
	// TimedOut: no byte came in time, the stream only has to answer and to log.
	TimedOut bool

	Listener model.ListenerState // nil without one
	// BindStats are the counters of the bind line on this loop, nil unless they are wanted (option socket-stats).
	BindStats *stats.Proxy
	Vars      model.Vars // of the session scope
	Moved     *Moved     // what rules and headers say the addresses are; nil: the true ones
	Greeting  Greeting
}

// Ready is since when the client could send its present request.
func (c *Client) Ready() int64 { return c.Since + c.Handshake }

// Greeting is what came with a connection before its data.
type Greeting struct {
	// Expect are the headers that must come first, as the bind line and the rules want it.
	Expect HeaderKind
	Magic  uint32 // of NetScaler's header
	// Received tells that there was a PROXY header; Values are those of its second version.
	Received bool
	Values   []byte
	Secure   *model.TLSListener // what TLS runs under; nil: clear text
	TLS      model.TLSConn      // nil: clear text, or not yet
	Err      model.ConnError
}

// HeaderKind is a set of headers that a connection may begin with.
type HeaderKind uint8

// Headers.
const (
	HeaderProxy HeaderKind = 1 << iota
	HeaderNetScaler
)

// Moved are the addresses that replace those of a client: of the connection, as its own rules set them, and of the session,
// as a header and the rules after it do.
type Moved struct{ Conn, Session Addresses }

// Addresses replace those of a connection (set-src, set-dst); the one that is not valid does not.
type Addresses struct{ Src, Dst netip.AddrPort }

// Shared is what the streams of one loop have in common.
type Shared struct {
	Loop   *loop.Loop
	Active *stats.Gauge // connections of the process, for logs
	Totals *stats.Loop  // of the process on this loop
	// NewServerEnd puts the backend's protocol on a connection to a server.
	NewServerEnd func(be *backend.Backend, c conn.Conn) mux.End
	NoSplice     bool // nosplice in the global section
	// TakeTLS counts a TLS connection to a server in, GiveTLS counts it out.
	TakeTLS func() bool
	GiveTLS func()
	Keys    *stats.Rate // handshakes with servers that resumed no session
	// Config is the configuration that the streams run under.
	Config  *model.Config
	limits  *model.VarLimits
	free    []*Stream
	extras  []*extra
	pieces  [][]byte // memory of applets' pieces
	scratch model.ScratchPool
	serial  uint32
}

// Configure tells the streams what they run under.
func (sh *Shared) Configure(cfg *model.Config) {
	sh.Config, sh.NoSplice = cfg, cfg.Global.NoSplice
	sh.limits = &cfg.Global.Tune.Vars
	sh.serial = uint32(sh.Loop.ID())
}

// Stream is the state of one exchange. It is reused; see Shared.
type Stream struct {
	sh  *Shared
	l   *loop.Loop
	f   *loop.Fiber
	c   *Client
	fe  *frontend.Frontend
	be  *backend.Backend
	srv *server.Server

	front mux.End
	back  *server.Conn

	req, res msg.Message
	up, down flow

	fault                   fault
	sentAt                  int64 // when the request went to the server
	lastC, lastS            int64 // last activity of the client and of the server
	frontDrain, backDrain   drain
	heads, told             traffic // bytes of heads and ends of messages; what of all bytes was counted
	settled                 int64   // when contstats counted last
	serverPeer, serverLocal netip.AddrPort

	firstByte int64 // when the request's first byte came
	took      int64 // from then to its complete head
	t         model.Timers
	rec       model.LogRecord
	term      [2]byte
	status    int // sent to the client; -1: none

	served            bool // a slot of srv is held
	entered           bool // be counts the stream
	void              bool // nothing has happened: the stream does not count
	unwantedBody      bool // the client expects no body of the response that the server sends with one
	reused            bool // back carried exchanges before
	headSent          bool // the response head went to the client
	logged            bool
	tunnel            bool
	retries           int // left
	attempts          int // retries done
	redispatch        bool
	reqIn             bool   // a request was received whole
	method, uri       []byte // of the request as it was received
	srvQueue, beQueue int64

	pending     queue.Pending[server.Server]
	wakePending func()
	onPanic     func(any)
	aside       func(fn func()) bool // long matches of regular expressions
	keep        []*buf.Buf           // request data sent so far, for a retry; nil once it cannot be repeated
	replayable  bool

	tx                    model.Txn
	txn, flow             model.Vars
	x                     *extra        // what rules have changed; nil: nothing
	held                  [2][]*buf.Buf // data received but not forwarded yet, for rules that look at it
	bodyIn                [2]bool       // held has all that will come
	bodyErr               [2]error      // why no more will come; EOF at the end of a message
	holdMax               [2]int        // how much held may have, in bytes
	admitting             bool          // the session's own rules run,
	early                 bool          // those of the connection, before any header
	asap                  bool          // the log line is written before the end
	switched              bool          // switch-mode http was asked for
	noReplay              bool          // disable-l7-retry
	per                   persist
	serial                uint32
	waiting               *rule.Rule // the rule that waited when the time was over
	frontState, backState connState
	applet                string // name in logs of what answers in place of a server
	// gone is the connection to the server that the stream has no more, or could not establish.
	gone connState
	// key tells connections to the server apart that have begun differently; the first name bytes of it are not sent. sni is
	// the name that TLS asks for.
	key, sni []byte
	name     int
}

// Serve runs one exchange in the fiber f. It reports whether the client
// connection can carry another one; if not, the caller closes it.
func (sh *Shared) Serve(f *loop.Fiber, c *Client, end mux.End) (again bool) {
	s := sh.get()
	s.begin(f, c, end)
	f.OnPanic(s.onPanic)
	if c.Exchanges == 1 {
		s.logStep(model.StepAccept)
	}
	if c.HTTP {
		if s.receiveRequest() && s.frontendRules() && s.chooseBackend() && s.backendRules() {
			s.exchange()
		}
	} else if s.inspect(s.fe.Rules) && (s.switched || s.chooseBackend()) {
		if s.switched || s.be.Conf.Mode == model.ModeHTTP {
			s.upgrade()
		} else if s.fe.Conf == s.be.Conf || s.inspect(s.be.Rules) {
			s.passThrough()
		}
	}
	again = s.finish()
	f.OnPanic(nil)
	sh.put(s)
	return again
}

// exchange carries a complete request head to a server and the response back.
func (s *Stream) exchange() {
	if s.be.Conf.Balance.Body && s.req.Method == msg.POST && !s.bufferRequest() { // it may say where the request goes
		return
	}
	s.editRequest()
	for s.assignServer() && !s.redirected() && s.connect() && s.sendRequest() {
		if s.receiveResponse() {
			if s.responseRules() {
				s.forwardResponse()
			}
			return
		}
		if !s.retry() {
			return
		}
	}
}

// passThrough joins a client and a server in TCP mode.
func (s *Stream) passThrough() {
	if s.assignServer() && s.connect() {
		s.join()
	}
}

// upgrade serves a connection accepted in TCP mode whose backend speaks HTTP.
func (s *Stream) upgrade() {
	s.front = s.c.Upgrade(s.takeHeld())
	fs := s.feStats()
	fs.OtherSessions.Add(-1)
	fs.HTTPSessions.Add(1)
	s.front.SetOwner(s.f)
	if !s.receiveRequest() {
		return
	}
	s.countRequest()
	if (s.be != nil || s.chooseBackend()) && s.backendRules() {
		s.exchange()
	}
}

func (sh *Shared) get() *Stream {
	if n := len(sh.free); n > 0 {
		s := sh.free[n-1]
		sh.free = sh.free[:n-1]
		return s
	}
	s := &Stream{sh: sh, l: sh.Loop}
	s.onPanic = s.panicked
	s.tx.S = s
	s.tx.Scratch.Init(&sh.scratch, sh.Config.Global.Tune.BufSize)
	s.flow.Up = &s.txn
	s.wakePending = func() {
		f := s.f
		if f != nil {
			f.Wake()
		}
	}
	s.aside = func(fn func()) bool { return s.f.OffloadTo(s.l.Workers(), fn) }
	s.pending.Wake = func() { s.l.Post(s.wakePending) }
	return s
}

func (sh *Shared) put(s *Stream) {
	s.req.Reset()
	s.res.Reset()
	s.f, s.c, s.fe, s.be, s.srv, s.front, s.back = nil, nil, nil, nil, nil, nil, nil
	s.gone, s.frontState, s.backState = connState{}, connState{}, connState{}
	if len(sh.free) < maxFree {
		sh.free = append(sh.free, s)
	}
}

// maxFree bounds how many unused stream objects a loop keeps.
const maxFree = 1024

func (s *Stream) begin(f *loop.Fiber, c *Client, end mux.End) {
	s.f, s.c, s.fe, s.front = f, c, c.Front, end
	s.be, s.srv, s.back = nil, nil, nil
	s.up, s.down = flow{}, flow{}
	s.firstByte, s.took = 0, 0
	s.t = model.Timers{Handshake: c.Handshake, Idle: -1, Request: -1, Queue: -1, Connect: -1, Response: -1}
	s.term = [2]byte{'-', '-'}
	s.status = -1
	s.served, s.reused, s.headSent, s.logged, s.tunnel, s.redispatch, s.reqIn = false, false, false, false, false, false, false
	s.bodyIn, s.bodyErr = [2]bool{}, [2]error{}
	s.holdMax = [2]int{s.fe.H1.Parse.MaxHead, s.fe.H1.Parse.MaxHead}
	s.switched, s.noReplay, s.waiting = false, false, nil
	s.applet = ""
	s.per = persist{}
	s.serial = s.sh.serial
	s.sh.serial += uint32(len(s.fe.Stats)) // loops count side by side
	s.txn.Up = &c.Vars
	s.tx.Req, s.tx.Res, s.tx.Dir = nil, nil, model.DirReq
	s.tx.Steps.Refill()
	s.tx.Steps.SetAside(s.aside)
	s.tx.Vars = model.VarScopes{Proc: s.sh.Config.ProcVars, Sess: &c.Vars, Txn: &s.txn, Flow: &s.flow, Limits: s.sh.limits}
	s.retries, s.attempts, s.srvQueue, s.beQueue = 0, 0, 0, 0
	s.replayable, s.unwantedBody = false, false
	s.sentAt, s.lastC, s.lastS = 0, 0, 0
	s.heads, s.told, s.settled = traffic{}, traffic{}, s.l.Now()
	s.entered, s.void = false, false
	s.serverPeer, s.serverLocal = netip.AddrPort{}, netip.AddrPort{}
	s.frontDrain, s.backDrain = drain{}, drain{}
	s.gone = connState{}
	s.pending.Reset()
	s.sh.Totals.Streams.Inc()
	s.sh.Totals.Active.Inc()
	c.Exchanges++
	end.SetOwner(f)
	f.SetLabel("stream")
}

// finish gives everything back, in the order in which it was taken.
func (s *Stream) finish() (again bool) {
	s.noteServer()
	if s.fe.LogNeeds&(model.LogServer|model.LogExpr) != 0 {
		s.recordServer(&s.rec, s.fe.LogNeeds)
	}
	s.releaseServer()
	s.dropReplay()
	s.noteCookie()
	again = s.front.Reusable() && !s.fe.Draining.Load() && s.term[0] != 'C'
	if s.be != nil {
		s.be.Cur.Dec()
	}
	s.log()
	s.countEnd()
	s.sh.Totals.Active.Dec()
	s.reset()
	s.front.Finish()
	return again
}

// reset gives up what the stream holds besides its connections.
func (s *Stream) reset() {
	s.releaseHeld(model.DirReq)
	s.releaseHeld(model.DirRes)
	s.dropExtra()
	s.flow.Reset()
	s.txn.Reset()
	s.tx.Scratch.Release(model.ScratchMark{})
}

// panicked cleans up after a fault in the stream's own code: the connections are cut, everything else goes on.
func (s *Stream) panicked(v any) {
	if v == loop.ErrEnded { // the process ends
		s.logged = true
	} else {
		s.term = [2]byte{'I', '-'}
		s.countInternal()
	}
	if s.back != nil {
		s.back.CloseConn(true)
		s.back = nil
	}
	s.releaseServer()
	s.dropReplay()
	s.log()
	s.reset()
	s.sh.Totals.Active.Dec()
	if s.be != nil {
		s.be.Cur.Dec()
	}
	s.c.Broken() // s itself is not reused: its state is not to be trusted
}

// since is the milliseconds-resolution duration of an event that began at t0.
func (s *Stream) since(t0 int64) int64 { return max(s.l.Now()-t0, 0) }

// ended notes why the stream ends, once.
func (s *Stream) ended(who, when byte) {
	if s.term[0] == '-' {
		s.term = [2]byte{who, when}
	}
}

// earliest returns the earlier of two deadlines, 0 meaning none.
func earliest(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// after is the deadline d after t0; 0 when d is 0.
func after(t0 int64, d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return t0 + int64(d)
}
