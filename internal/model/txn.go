package model

import (
	"net/netip"
	"time"

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
}

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
	// Bytes counts data received from the client (DirReq) or the server.
	Bytes(d Dir) (in, out int64)
}

// ConnState describes a connection.
type ConnState interface {
	Local() netip.AddrPort
	Peer() netip.AddrPort
	// HTTPMajor is 1, 2 or 3; 1 for TCP as well.
	HTTPMajor() int
	// Streams is how many streams the connection has carried at once.
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
	// Queued counts streams that wait for any server of the backend.
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
	Weight() (current, initial int)
	Idle() (used, idle int64) // connections in use and at rest
}

// Runner is what a generation knows of itself: Config.Run.
type Runner interface {
	ActConn() int64
	Stopping() bool
	NbThread() int
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
