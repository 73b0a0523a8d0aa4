// Package tlsconn is TLS as a transport: crypto/tls as it is, over a socket of a loop, in either role.
//
// The handshake is straight-line code in a fiber, which parks while it waits for the other side and while an RSA key
// signs elsewhere. From then on nothing waits any more: crypto/tls is called when there is something to decipher and
// told that reading would block when there is not, which it takes as a temporary error that changes nothing. Records
// that are deciphered go to pool buffers, and so do those that are sent, which leave with whatever else the turn
// produced.
//
// An idle connection has no fiber and no buffer of a pool. What it keeps is the state of crypto/tls: keys of both
// directions, certificates of the other side, and two buffers that crypto/tls does not give back: one that held the
// handshake messages, one as large as the largest record received so far: together 3.5 KB of 6 KB after
// small requests, up to 20 KB after bulk data.
package tlsconn

import (
	"crypto/tls"
	"errors"
	"io"
	"net/netip"
	"time"

	"weir/internal/base/buf"
	"weir/internal/link/conn"
	"weir/internal/rt/loop"
	"weir/internal/rt/sock"
)

// Conn is a connection through TLS whose handshake is over. All methods belong to its loop.
type Conn struct {
	s     *sock.Conn
	t     *tls.Conn
	n     wire
	rx    buf.Queue // deciphered, not taken yet
	idle  func(user any)
	user  any
	err   error
	facts *facts // nil: nothing was kept
	rec   Records
	sent  int   // plaintext bytes since the connection was idle, up to earlyBytes
	when  int64 // of the last record sent
	fl    flags
}

type flags uint8

const (
	flMore   flags = 1 << iota // crypto/tls may hold input that can be deciphered without receiving
	flEOF                      // the other side sends no more
	flNotice                   // and said so with close_notify
	flShut                     // Shutdown was called
	flClosed                   // Close or Abort was called
	flOpen                     // the handshake is over
)

var _ conn.Conn = (*Conn)(nil)

// Options are settings of one connection.
type Options struct {
	// Deadline ends the handshake, in the loop's clock; 0: none.
	Deadline int64
	// Capture is how many bytes of the client's hello are kept, 0: none.
	Capture int
	// Reply: the beginning of what each side says is kept, as far as its random and its session id.
	Reply bool
	// KeyLog: the secrets are kept too, for those who are to decipher what passes.
	KeyLog  bool
	Records Records
	// Check is called whenever the handshake has waited; an error ends it. nil: never.
	Check func() error
}

// Records bounds the plaintext in one record, in bytes; 0: no bound but the protocol's.
type Records struct {
	Max int // tune.ssl.hard-maxrecord
	// Early holds for the first data of a connection, and again after it was idle for Idle nanoseconds (tune.ssl.maxrecord,
	// tune.idletimer).
	Early int
	Idle  int64
}

// earlyBytes is how much data counts as early: what a client gets in the first two round trips.
const earlyBytes = 64 << 10

// replyKept is how much of a server's hello is kept, which is enough for its random and session id.
const replyKept = 5 + 4 + 2 + 32 + 1 + 32

// Errors of handshakes that do not come from crypto/tls.
var (
	// ErrTimeout says that the deadline of a handshake has passed.
	ErrTimeout = errors.New("timeout during the TLS handshake")
	// ErrClosed says that the other side closed in the middle of a handshake.
	ErrClosed = errors.New("connection closed during the TLS handshake")
)

// Server runs the handshake of a client's connection in fiber f. After an error the socket is still open and not usable;
// what crypto/tls wanted to tell the client is queued. The Conn is returned in both cases: it has what is known.
func Server(f *loop.Fiber, s *sock.Conn, cfg *tls.Config, o *Options) (*Conn, error) {
	c := prepare(s, o)
	c.t = tls.Server(&c.n, c.logged(cfg, o))
	return c, c.handshake(f, o, true)
}

// Client runs the handshake of a connection to a server in fiber f; see Server.
func Client(f *loop.Fiber, s *sock.Conn, cfg *tls.Config, o *Options) (*Conn, error) {
	c := prepare(s, o)
	c.t = tls.Client(&c.n, c.logged(c.clientConfig(cfg), o))
	return c, c.handshake(f, o, false)
}

func prepare(s *sock.Conn, o *Options) *Conn {
	c := &Conn{s: s, rec: o.Records}
	c.n.Init(s)
	c.n.SetUser(c)
	return c
}

// handshake runs it in f. Nobody else may use the connection meanwhile.
func (c *Conn) handshake(f *loop.Fiber, o *Options, server bool) error {
	c.n.SetFiber(f)
	c.n.Expire(o.Deadline)
	tap := sock.Tap{MaxIn: o.Capture, Check: o.Check}
	if o.Reply {
		tap.MaxIn, tap.MaxOut = max(tap.MaxIn, replyKept), replyKept
	}
	if o.Capture > 0 || o.Reply || o.Check != nil {
		c.n.SetTap(&tap)
	}
	err := c.t.Handshake()
	c.n.Release()
	if len(tap.In) > 0 || len(tap.Out) > 0 {
		f := c.keep()
		f.hello, f.reply = tap.In, tap.Out
		if !server {
			f.hello, f.reply = f.reply, f.hello
		}
	}
	if err != nil {
		err = plain(err)
		c.err = err
		c.keep().failure = err
		return err
	}
	c.fl |= flOpen | flMore
	c.n.counted, c.n.useless = true, 0
	return nil
}

// plain names the ends of a handshake that are no fault of the protocol.
func plain(err error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return ErrClosed
	case timedOut(err):
		return ErrTimeout
	}
	return err
}

func timedOut(err error) bool {
	var e interface{ Timeout() bool }
	return errors.As(err, &e) && e.Timeout()
}

// Sock is the socket below.
func (c *Conn) Sock() *sock.Conn { return c.s }

// SetOwner names the fiber to wake.
func (c *Conn) SetOwner(f *loop.Fiber) {
	c.idle = nil
	c.s.SetOwner(f)
}

// Owner is the fiber given to SetOwner.
func (c *Conn) Owner() *loop.Fiber { return c.s.Owner() }

// SetUser attaches the value that functions given to SetIdle are called with.
func (c *Conn) SetUser(u any) { c.user = u }

// SetIdle has fn called once when there is input, the end of the stream or an error. Records that carry no data (session
// tickets, new keys) call nobody.
func (c *Conn) SetIdle(fn func(user any)) {
	c.idle = fn
	c.s.SetUser(c)
	c.s.SetIdle(woken)
	if c.rx.Len() > 0 || c.fl&(flMore|flEOF) != 0 || c.err != nil {
		c.s.Tell()
	}
}

// woken is called when something happened on the socket of an idle connection.
func woken(user any) {
	c := user.(*Conn)
	fn := c.idle
	if fn == nil || c.fl&flClosed != 0 {
		return
	}
	if !c.HasInput() && c.fl&flEOF == 0 && c.Err() == nil {
		c.s.SetIdle(woken)
		return
	}
	c.idle = nil
	fn(c.user)
}

// Watch makes sure that input, the end of the stream or an error wakes the owner or calls the idle function.
func (c *Conn) Watch() {
	if c.rx.Len() > 0 || c.fl&(flMore|flEOF) != 0 || c.err != nil {
		c.s.Tell()
		return
	}
	c.s.Watch()
}

// HasInput tells whether Recv would return a buffer now.
func (c *Conn) HasInput() bool {
	if c.rx.Len() > 0 {
		return true
	}
	if c.fl&(flEOF|flClosed) != 0 || c.err != nil || c.fl&flMore == 0 && !c.s.HasInput() && !c.s.EOF() && c.s.Err() == nil {
		return false
	}
	if b, _ := c.decipher(buf.Std); b != nil {
		c.rx.Push(b)
	}
	return c.rx.Len() > 0
}

// EOF tells whether the other side has ended its stream and all of it has been received.
func (c *Conn) EOF() bool { return !c.HasInput() && c.fl&flEOF != 0 }

// Truncated tells whether the stream ended without the notice that TLS asks for: whoever sits between could have cut it.
func (c *Conn) Truncated() bool { return c.fl&(flEOF|flNotice) == flEOF }

// Err is the failure of the connection, or nil.
func (c *Conn) Err() error {
	if c.err != nil {
		return c.err
	}
	return c.s.Err()
}

// Unread puts b back in front of the input.
func (c *Conn) Unread(b *buf.Buf) {
	if b.Len() == 0 || c.fl&flClosed != 0 {
		b.Release()
		return
	}
	c.rx.PushFront(b)
}

// Recv returns input, without waiting; see conn.Conn.
func (c *Conn) Recv(class buf.Class) (*buf.Buf, error) {
	if b := c.rx.Pop(); b != nil {
		return b, nil
	}
	switch {
	case c.fl&flClosed != 0:
		return nil, sock.ErrClosed
	case c.fl&flEOF != 0:
		return nil, io.EOF
	case c.err != nil:
		return nil, c.err
	}
	return c.decipher(class)
}

// decipher fills a buffer with what can be deciphered now.
func (c *Conn) decipher(class buf.Class) (*buf.Buf, error) {
	b := c.room(class)
	if b == nil {
		return nil, nil
	}
	for len(b.Space()) > 0 {
		n, err := c.t.Read(b.Space())
		b.W += n
		if n > 0 {
			c.n.useful()
		}
		if err != nil {
			c.ended(err)
			break
		}
		c.fl |= flMore
	}
	c.n.Push() // alerts, new keys
	if b.Len() > 0 {
		return b, nil
	}
	b.Release()
	switch {
	case c.fl&flEOF != 0:
		return nil, io.EOF
	case c.err != nil:
		return nil, c.err
	}
	return nil, nil
}

// ended notes why crypto/tls returned no more.
func (c *Conn) ended(err error) {
	c.fl &^= flMore
	switch {
	case err == sock.ErrWouldBlock:
	case err == io.EOF && !c.n.Ended():
		c.fl |= flEOF | flNotice
	case err == io.EOF, err == io.ErrUnexpectedEOF:
		c.fl |= flEOF
	default:
		c.err = err
	}
}

// room takes a buffer to decipher into. When there is none, the owner is woken a little later.
func (c *Conn) room(class buf.Class) *buf.Buf {
	p := c.s.Loop().Pool()
	b := p.Get(class)
	if b == nil {
		b = p.GetReserve(buf.Std)
	}
	if b == nil {
		c.fl |= flMore
		l := c.s.Loop()
		l.Arm(&loop.Timer{Fn: c.s.Tell}, l.Now()+int64(time.Millisecond))
	}
	return b
}

// Send queues b, which now belongs to the connection.
func (c *Conn) Send(b *buf.Buf) {
	if b.Len() == 0 || c.fl&(flShut|flClosed) != 0 || c.err != nil {
		b.Release()
		return
	}
	p := b.Bytes()
	for len(p) > 0 {
		k := c.recordSize(len(p))
		if _, err := c.t.Write(p[:k]); err != nil {
			// Some of a record may be missing: nothing can follow it.
			c.err = err
			c.s.Tell()
			break
		}
		p = p[k:]
	}
	b.Release()
	c.n.Push()
}

// recordSize is how many of n bytes go into the next record.
func (c *Conn) recordSize(n int) int {
	if c.rec.Max > 0 {
		n = min(n, c.rec.Max)
	}
	if c.rec.Early <= 0 {
		return n
	}
	now := c.s.Loop().Now()
	if now-c.when > c.rec.Idle {
		c.sent = 0
	}
	c.when = now
	if c.sent < earlyBytes {
		n = min(n, c.rec.Early)
		c.sent += n
	}
	return n
}

// Flush hands what is queued to the kernel now.
func (c *Conn) Flush() { c.s.Flush() }

// Queued is the number of bytes that the kernel has not taken yet, those of TLS included.
func (c *Conn) Queued() int { return c.s.Queued() }

// SendRoom tells whether the send queue is below the high mark.
func (c *Conn) SendRoom() bool { return c.s.SendRoom() }

// WaitSent reports whether all is sent; if not, the owner is woken when it is.
func (c *Conn) WaitSent() bool { return c.s.WaitSent() }

// Acked is how much the other side has acknowledged, in bytes, those of TLS included.
func (c *Conn) Acked() uint64 { return c.s.Acked() }

// notify tells the other side that nothing follows.
func (c *Conn) notify() {
	if c.fl&(flShut|flOpen) == flOpen && c.err == nil {
		_ = c.t.CloseWrite() // it fails only where nobody listens any more
		c.n.Push()
	}
	c.fl |= flShut
}

// Shutdown ends the sending direction after what is queued.
func (c *Conn) Shutdown() {
	if c.fl&(flShut|flClosed) != 0 {
		return
	}
	c.notify()
	c.s.Shutdown()
}

// Close ends the connection after what is queued has been sent.
func (c *Conn) Close() {
	if c.fl&flClosed != 0 {
		return
	}
	c.notify()
	c.leave()
	c.s.Close()
}

// Abort ends the connection at once.
func (c *Conn) Abort() {
	if c.fl&flClosed == 0 {
		c.leave()
	}
	c.s.Abort()
}

func (c *Conn) leave() {
	c.fl |= flClosed
	c.idle = nil
	c.n.Push()
	c.n.Drop()
	c.rx.Clear()
}

// Closed tells whether Close or Abort was called.
func (c *Conn) Closed() bool { return c.fl&flClosed != 0 }

// Local is the connection's own address.
func (c *Conn) Local() netip.AddrPort { return c.s.Local() }

// Peer is the other side's address.
func (c *Conn) Peer() netip.AddrPort { return c.s.Peer() }
