// Package h1mux is the HTTP/1 multiplexer: it runs one exchange at a time over
// a connection, in either role, and keeps the connection between exchanges
// when both sides agree to (RFC 9112, section 9).
//
// Between two exchanges a Conn holds no buffer and no exchange state. What it
// needs while a message travels (parser, chunk decoder, head buffer) is an
// exchange object lent by the loop's Pool.
package h1mux

import (
	"errors"
	"io"
	"net/netip"

	"weir/internal/base/buf"
	"weir/internal/link/conn"
	"weir/internal/link/mux"
	"weir/internal/rt/loop"
	"weir/internal/wire/h1"
	"weir/internal/wire/msg"
)

// Role tells which side of HTTP this end of the connection plays.
type Role uint8

// Roles.
const (
	Server Role = iota // receives requests: the connection of a client
	Client             // sends requests: the connection to a server
)

// Options are the settings of one side of a proxy; shared by its connections.
type Options struct {
	Parse h1.Options
	Chunk h1.ChunkLimits
	Case  *h1.CaseMap
	// Close makes every exchange the last one of its connection (option httpclose).
	Close bool
	// KeepOnBothLengths keeps the connection after a message with Content-Length and Transfer-Encoding
	// (h1-do-not-close-on-insecure-transfer-encoding).
	KeepOnBothLengths bool
	// ProxyHeader: requests for a forward proxy say in Proxy-Connection whether they go on (option http-use-proxy-header).
	ProxyHeader bool
}

// Pool keeps exchange objects of one loop for reuse.
type Pool struct{ free []*exchange }

// exchange is the state of one message each way.
type exchange struct {
	parser h1.Parser
	chunks h1.ChunkDecoder

	head *buf.Buf     // the storage that the received head's views point into
	msg  *msg.Message // the message being received: trailers go there
	pend *buf.Buf     // encoded bytes not handed to the socket yet

	inLeft, outLeft int64 // Length framing: bytes to come
	in, out         msg.Framing
	inDone, outDone bool
	headIn          bool // the final head was received
	headOut         bool // the final head was sent

	method    msg.Method // of the request
	proxied   bool       // the request asks a forward proxy and uses Proxy-Connection
	peer10    bool       // the client speaks HTTP/1.0
	keepAlive bool       // the peer is willing to go on
}

// Conn is one HTTP/1 connection. Its zero value is made ready by Init.
type Conn struct {
	c    conn.Conn
	l    *loop.Loop
	opt  *Options
	pool *Pool
	x    *exchange // nil between exchanges
	in   *buf.Buf  // received, not consumed
	more *buf.Buf  // follows in, when in had no room for it
	idle func()

	role  Role
	close bool // no further exchange
	eof   bool // the peer has closed its side
	full  bool // the last receive filled its buffer
	// unread: the last exchange ended before its incoming message did.
	unread bool
}

var _ mux.End = (*Conn)(nil)

// Init takes over the connection c for the given role.
func (h *Conn) Init(l *loop.Loop, c conn.Conn, role Role, opt *Options, pool *Pool) {
	*h = Conn{c: c, l: l, opt: opt, pool: pool, role: role, close: opt.Close}
}

// SetOptions changes the settings between two exchanges.
func (h *Conn) SetOptions(opt *Options) { h.opt, h.close = opt, opt.Close }

// Feed hands over input that another protocol received before the connection
// was upgraded to HTTP/1.
func (h *Conn) Feed(b *buf.Buf) { h.in = b }

// SetOwner names the fiber to wake.
func (h *Conn) SetOwner(f *loop.Fiber) { h.c.SetOwner(f) }

// SetIdle names what to call, once, when something arrives while nobody owns h.
func (h *Conn) SetIdle(fn func()) {
	h.idle = fn
	h.c.SetOwner(nil)
	h.c.SetUser(h)
	h.c.SetIdle(wakeIdle)
}

func wakeIdle(user any) {
	if h := user.(*Conn); h.idle != nil {
		h.idle()
	}
}

// Err is the failure of the connection, or nil.
func (h *Conn) Err() error { return h.c.Err() }

// InputClosed reports that nothing more will arrive after what is buffered.
func (h *Conn) InputClosed() bool { return h.eof || h.c.EOF() || h.c.Err() != nil }

// Watch asks for a wake-up on the next input.
func (h *Conn) Watch() { h.c.Watch() }

// Addrs are the local and remote addresses.
func (h *Conn) Addrs() (local, remote netip.AddrPort) { return h.c.Local(), h.c.Peer() }

// SetClose makes the current exchange the last one.
func (h *Conn) SetClose() { h.close = true }

// Tunnel turns both directions into raw data.
func (h *Conn) Tunnel() {
	x := h.begin()
	x.in, x.out = msg.Tunnel, msg.Tunnel
	x.inDone, x.outDone = false, false
	h.close = true
}

// SendDone reports whether the outgoing message is complete.
func (h *Conn) SendDone() bool { return h.x != nil && h.x.outDone }

// Reusable reports whether another exchange may follow.
func (h *Conn) Reusable() bool {
	x := h.x
	if x == nil || h.close || h.c.Err() != nil || !x.inDone || !x.outDone || !x.keepAlive {
		return false
	}
	if h.role == Client {
		// Bytes that nobody asked for must never become somebody's answer.
		return h.in == nil && !h.c.HasInput() && !h.eof && !h.c.EOF()
	}
	return true
}

// Finish ends the exchange: memory goes back, the owner is forgotten.
func (h *Conn) Finish() {
	h.c.SetOwner(nil)
	x := h.x
	if x == nil {
		return
	}
	h.Flush()
	h.x, h.unread = nil, !x.inDone
	x.release()
	h.pool.free = append(h.pool.free, x)
}

// Close closes the connection once everything queued is sent.
func (h *Conn) Close() {
	h.Finish()
	h.drop()
	h.c.Close()
}

// Abort resets the connection.
func (h *Conn) Abort() {
	if x := h.x; x != nil && x.pend != nil {
		x.pend.Release()
		x.pend = nil
	}
	h.Finish()
	h.drop()
	h.c.Abort()
}

// Shutdown closes the sending side once everything queued is sent; input can
// still be drained.
func (h *Conn) Shutdown() {
	h.Flush()
	h.c.Shutdown()
}

// Unread reports that the peer may still be sending a message which nobody will read: closing now could destroy the
// answer on its way.
func (h *Conn) Unread() bool { return h.unread || h.in != nil }

// Drain throws received bytes away and returns how many; false once nothing
// more can come.
func (h *Conn) Drain() (n int, more bool) {
	for {
		b, err := h.take(buf.Std)
		if b == nil {
			return n, err == nil
		}
		n += b.Len()
		b.Release()
	}
}

func (h *Conn) drop() {
	if h.in != nil {
		h.in.Release()
		h.in = nil
	}
	if h.more != nil {
		h.more.Release()
		h.more = nil
	}
}

// begin returns the exchange in progress, starting one if there is none.
func (h *Conn) begin() *exchange {
	if h.x != nil {
		return h.x
	}
	var x *exchange
	if n := len(h.pool.free); n > 0 {
		x = h.pool.free[n-1]
		h.pool.free = h.pool.free[:n-1]
	} else {
		x = new(exchange)
	}
	x.keepAlive = true
	h.x = x
	return x
}

func (x *exchange) release() {
	if x.head != nil {
		x.head.Release()
	}
	if x.pend != nil {
		x.pend.Release()
	}
	x.parser.Reset()
	*x = exchange{parser: x.parser, chunks: x.chunks}
}

// take returns the next received bytes.
func (h *Conn) take(class buf.Class) (*buf.Buf, error) {
	if b := h.in; b != nil {
		h.in, h.more = h.more, nil
		return b, nil
	}
	b, err := h.c.Recv(class)
	if b != nil {
		h.full = len(b.Space()) == 0
	} else if err == io.EOF {
		h.eof = true
	}
	return b, err
}

// ErrHeadTooLarge says that an edited head does not fit a buffer any more (tune.bufsize).
var ErrHeadTooLarge = errors.New("message head larger than a buffer")
