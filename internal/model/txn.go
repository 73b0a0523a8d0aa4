package model

import (
	"net/netip"
	"time"

	"weir/internal/base/budget"
	"weir/internal/wire/msg"
)

// Dir is the side of a stream on which something runs or is looked at.
type Dir uint8

// The directions of a stream.
const (
	DirReq Dir = iota
	DirRes
)

// Txn is where an expression, a condition or an action runs: a stream, a
// session without one yet, or nothing but the configuration. One fiber uses it
// at a time.
type Txn struct {
	S        Stream       // never nil
	Req, Res *msg.Message // nil while there is none: TCP, or not received yet
	Dir      Dir          // the side whose rules run
	// Final: no more data will come before the evaluation must decide. What is
	// not there is absent then. While it is false, a fetch whose result more
	// data could change sets Wait and returns false (or a first result that may
	// still change, with Wait set as well).
	Final bool
	Wait  bool

	Scratch Scratch
	Vars    VarScopes
	// Steps is what regular expressions may still cost on the loop. When it is spent, the outcome of a match is unknown:
	// whoever evaluates for a decision asks Steps.Spent and fails the transaction.
	Steps budget.Steps

	vals  [4]Value
	iters [4]int
	depth int
}

// Value lends a value for the time of an evaluation, which may hold others; Done gives the last one back. Values of the
// caller's own would move to the heap.
func (t *Txn) Value() *Value {
	t.depth++
	if t.depth <= len(t.vals) {
		v := &t.vals[t.depth-1]
		*v = Value{}
		return v
	}
	return new(Value)
}

// Iter lends the state of an iteration that gives the value lent last, at its beginning; for as long as the value.
func (t *Txn) Iter() *int {
	if i := t.depth - 1; i < len(t.iters) {
		t.iters[i] = 0
		return &t.iters[i]
	}
	return new(int)
}

// Done gives the last value back that Value lent.
func (t *Txn) Done() { t.depth-- }

// Stream is what the expression language may ask of the engine. Where the
// thing asked for does not exist (no server chosen, no response yet), zero
// values, nil or -1 are returned as noted.
type Stream interface {
	// Now is the loop's monotonic time in nanoseconds, Wall its wall clock.
	Now() int64
	Wall() time.Time
	// Record fills the log record with the present state and returns it.
	Record() *LogRecord

	// Client and ClientLocal are the client's address and the one it connected
	// to, as rules may have changed them (set-src, set-dst); zero for unix.
	Client() netip.AddrPort
	ClientLocal() netip.AddrPort
	// FrontConn and BackConn describe the two connections, nil without one.
	FrontConn() ConnState
	BackConn() ConnState

	// Frontend, Backend and Server are what serves the stream; Backend and
	// Server are nil until chosen.
	Frontend() *Proxy
	Backend() *Proxy
	Server() *Server

	// Peek returns the bytes of a direction that have arrived and were not
	// forwarded, as one view, and whether the sender has finished. In TCP mode
	// they are raw; in HTTP mode they are of the body.
	Peek(d Dir) (data []byte, closed bool)
	// Body returns what has arrived of a message's body, as one view, and
	// whether that is all of it.
	Body(d Dir) (data []byte, complete bool)
	// BodySize is the size that the message announces, or what has arrived.
	BodySize(d Dir) int64

	// Captures are the capture slots of a side; nil entries hold nothing.
	Captures(d Dir) [][]byte
	// SetCapture fills a slot, cut to its declared length; false without it.
	SetCapture(d Dir, slot int, value []byte) bool

	// UniqueID is the stream's unique ID, made when it is first asked for; nil
	// without a unique-id-format.
	UniqueID() []byte
	// LastRule tells the last rule whose action ended a rule set: its file and
	// line, ok false without one.
	LastRule(d Dir) (pos Position, ok bool)
	// Timeout is a timeout in force, 0 for none.
	Timeout(k TimeoutKind) time.Duration
	// Retries is how many attempts to connect were repeated.
	Retries() (n int, redispatched bool)
	// Priority is the stream's class and offset in a queue.
	Priority() (class, offset int)
	// Bytes counts the bytes of a direction: received from its sender, and sent on to its receiver.
	Bytes(d Dir) (in, out int64)

	// Process is what the stream runs in, never nil.
	Process() Runner
	// Listener is the socket that the client came through, nil without one.
	Listener() ListenerState
	// Thread numbers the loop that runs the stream, from 0, and its group.
	Thread() (thread, group int)
	// Serial numbers the streams of the process from 0 on; it may wrap.
	Serial() uint32
	// MaxRetries is how many attempts to connect may be repeated, 0 while the stream has no backend with servers.
	MaxRetries() int
	// WaitingRule tells the rule that was waiting for data or time when an error or a timeout ended its set.
	WaitingRule() (pos Position, ok bool)
	// Aborted: the sender of a direction went away before its message was complete.
	Aborted(d Dir) bool
}

// ConnState describes a connection.
type ConnState interface {
	Local() netip.AddrPort
	Peer() netip.AddrPort
	// HTTPMajor is 1, 2 or 3; 0 when the connection does not carry HTTP.
	HTTPMajor() int
	// Streams is how many streams are on the connection; 0 while its protocol is not known yet.
	Streams() int
	// Reused: the connection served other requests before.
	Reused() bool
	// TCPInfo asks the kernel; false when it does not say.
	TCPInfo() (TCPInfo, bool)
	// ErrCode, ErrName are the reference's number and name of what went wrong
	// with the connection; 0 and "" for nothing.
	ErrCode() int
	ErrText() string
	Accepted() time.Time
	// Glitches counts small anomalies of the protocol.
	Glitches() int
	// StreamLimit is how many streams the connection may carry at once; 1 for TCP and HTTP/1, 0 while its protocol is not
	// known yet.
	StreamLimit() int
	// SavedSYN is the packet that began the connection, as the kernel has kept it (bind option tcp-ss): empty when it kept
	// none, false for another protocol than TCP.
	SavedSYN() ([]byte, bool)
}

// NumberedStream is what the ConnState of a protocol with numbered streams offers besides, for the stream that asks.
type NumberedStream interface {
	StreamID() int64
	// ResetCode is the reason that the peer gave when it reset the stream; false while it did not.
	ResetCode() (int64, bool)
}

// ListenerState is the run-time side of a listening socket.
type ListenerState interface {
	ID() int      // "id", or the one given automatically
	Name() string // "name", "" without
	Conns() int64 // connections
}

// TCPInfo is what the kernel knows of a TCP connection.
type TCPInfo struct {
	RTT, RTTVar                                         int64 // microseconds
	Unacked, Sacked, Lost, Retrans, Fackets, Reordering int64
}

// TimeoutKind names a timeout that a rule may read or change.
type TimeoutKind uint8

// Timeouts of a stream.
const (
	TimeoutClient TimeoutKind = iota
	TimeoutServer
	TimeoutTunnel
	TimeoutConnect
	TimeoutQueue
	TimeoutTarpit
	TimeoutHTTPRequest
	TimeoutHTTPKeepAlive
	TimeoutClientFin
	TimeoutServerFin
	NumTimeouts
)

// ProxyState is the run-time side of a proxy: Proxy.Run.
type ProxyState interface {
	// FrontConns, FrontRate and FrontReqRate count connections, sessions and
	// requests a second of the frontend side; BackConns and so on streams of
	// the backend side.
	FrontConns() int64
	FrontRate() int64
	FrontReqRate() int64
	BackConns() int64
	BackRate() int64
	// Queued counts streams that wait for the backend, in its own queue or in that of a server.
	Queued() int64
	// Usable counts servers that can take traffic.
	Usable() int
}

// ServerState is the run-time side of a server: Server.Run.
type ServerState interface {
	Conns() int64  // streams served
	Queued() int64 // streams that wait for this server
	Rate() int64   // sessions a second
	Usable() bool  // it can take traffic
	// Up: it is neither down nor in maintenance; it may be drained or have no weight.
	Up() bool
	// MaxConn is how many streams it may serve now, with minconn taken into account; 0: no limit.
	MaxConn() int64
	Weight() (current, initial int)
	UserWeight() int          // as last set by a user, before a slow start
	Idle() (used, idle int64) // connections in use and at rest
}

// Runner is what a generation knows of itself: Config.Run.
type Runner interface {
	ActConn() int64
	Stopping() bool
	NbThread() int
	Hostname() string
	Uptime() time.Duration
	// IsLocal asks the system whether an address is one of its own.
	IsLocal(a netip.Addr) bool
}

// Verdict is the outcome of a condition.
type Verdict uint8

// Outcomes. With Missing, more data can change the result: the caller waits, or evaluates again with Txn.Final. The bits
// are chosen so that & and | combine terms.
const (
	Fail    Verdict = 0
	Missing Verdict = 1
	Pass    Verdict = 3
)

// Not inverts a verdict.
func (v Verdict) Not() Verdict { return 3 >> v }

// Test is a compiled condition.
type Test interface {
	// Match evaluates the test on a transaction.
	Match(t *Txn) Verdict
}
