package sock

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"time"

	"weir/internal/base/buf"
	"weir/internal/rt/loop"
)

// NetConn is a connection as net.Conn, for libraries that want one (crypto/tls). Its methods park the fiber it is
// bound to, so only that fiber may call them; SetFiber binds it to another one. Bound to none it never waits: Read
// returns ErrWouldBlock when there is no input, Write queues whatever the marks say.
type NetConn struct {
	c      *Conn
	f      *loop.Fiber
	in     *buf.Buf
	out    *buf.Buf // written, not handed to the connection yet; only while nothing waits
	tap    *Tap
	user   any
	readBy int64
	sendBy int64
	ended  bool // Read has returned the end of the stream
}

// Tap keeps the beginning of what is read and written through a NetConn.
type Tap struct {
	In, Out       []byte
	MaxIn, MaxOut int // bytes to keep
	// Check is called whenever Read has waited; an error ends the wait. nil: never.
	Check func() error
}

func keep(to *[]byte, most int, p []byte) {
	if n := min(most-len(*to), len(p)); n > 0 {
		*to = append(*to, p[:n]...)
	}
}

// wouldBlock is a temporary net.Error.
type wouldBlock struct{}

func (wouldBlock) Error() string   { return "sock: no input yet" }
func (wouldBlock) Timeout() bool   { return false }
func (wouldBlock) Temporary() bool { return true }

// ErrWouldBlock is what Read of a NetConn without a fiber returns when there is no input: a net.Error that is temporary.
var ErrWouldBlock error = wouldBlock{}

// NetConn makes the connection a net.Conn for fiber f, which becomes the owner.
func (c *Conn) NetConn(f *loop.Fiber) net.Conn { return c.StreamFor(f) }

// StreamFor is NetConn with its own type.
func (c *Conn) StreamFor(f *loop.Fiber) *NetConn {
	n := &NetConn{c: c}
	n.SetFiber(f)
	return n
}

// Init makes n the net.Conn of c, bound to no fiber.
func (n *NetConn) Init(c *Conn) { *n = NetConn{c: c} }

// SetFiber binds n to another fiber, which becomes the owner of the connection.
func (n *NetConn) SetFiber(f *loop.Fiber) {
	n.f = f
	n.c.SetOwner(f)
}

// Release binds n to no fiber any more; the owner of the connection stays.
func (n *NetConn) Release() { n.f, n.tap, n.readBy, n.sendBy = nil, nil, 0, 0 }

// SetUser attaches a value for those who meet n as a net.Conn.
func (n *NetConn) SetUser(u any) { n.user = u }

// User is the value given to SetUser.
func (n *NetConn) User() any { return n.user }

// Ended tells whether Read has returned the end of the stream.
func (n *NetConn) Ended() bool { return n.ended }

// Fiber is the fiber that n is bound to, nil for none.
func (n *NetConn) Fiber() *loop.Fiber { return n.f }

// SetTap has the beginning of what passes kept in t.
func (n *NetConn) SetTap(t *Tap) { n.tap = t }

// Expire sets both deadlines, in the loop's clock; 0 means none.
func (n *NetConn) Expire(when int64) { n.readBy, n.sendBy = when, when }

// Conn is the connection underneath.
func (n *NetConn) Conn() *Conn { return n.c }

// Read parks until there is input.
func (n *NetConn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if _, err := n.Peek(); err != nil {
		return 0, err
	}
	k := copy(p, n.in.Bytes())
	if n.tap != nil {
		keep(&n.tap.In, n.tap.MaxIn, p[:k])
	}
	n.in.R += k
	if n.in.Len() == 0 {
		n.in.Release()
		n.in = nil
	}
	return k, nil
}

// Peek is Read without taking: the input that is there, at least one byte.
func (n *NetConn) Peek() ([]byte, error) {
	for n.in == nil {
		b, err := n.c.Recv(buf.Std)
		if err != nil {
			n.ended = err == io.EOF
			return nil, err
		}
		if b != nil {
			n.in = b
			break
		}
		if n.f == nil {
			return nil, ErrWouldBlock
		}
		if err := n.wait(); err != nil {
			return nil, err
		}
	}
	return n.in.Bytes(), nil
}

// wait parks until something happens.
func (n *NetConn) wait() error {
	if !n.f.Park(n.readBy) {
		return os.ErrDeadlineExceeded
	}
	if n.tap != nil && n.tap.Check != nil {
		return n.tap.Check()
	}
	return nil
}

// Buffered takes the input that was received and not read yet, nil if there is none.
func (n *NetConn) Buffered() *buf.Buf {
	b := n.in
	n.in = nil
	return b
}

// Write queues p, and parks while the queue is above its high mark. Without a fiber it gathers: what small writes add
// up to is handed over by Push.
func (n *NetConn) Write(p []byte) (int, error) {
	if n.tap != nil {
		keep(&n.tap.Out, n.tap.MaxOut, p)
	}
	if n.f == nil {
		return n.gather(p)
	}
	done := 0
	for len(p) > 0 {
		if n.c.fl&(flWriteErr|flShut|flClosing) != 0 {
			return done, n.writeErr()
		}
		if !n.c.SendRoom() {
			if !n.f.Park(n.sendBy) {
				return done, os.ErrDeadlineExceeded
			}
			continue
		}
		class := buf.Std
		if len(p) > 2*n.c.e.l.Pool().Size(buf.Std) {
			class = buf.Large
		}
		b := n.c.e.l.Pool().GetReserve(class)
		if b == nil {
			if err := n.noBuffer(); err != nil {
				return done, err
			}
			continue
		}
		k := b.Append(p)
		p = p[k:]
		done += k
		n.c.Send(b)
	}
	return done, nil
}

// gather appends p to what is to be handed over.
func (n *NetConn) gather(p []byte) (int, error) {
	size := len(p)
	for {
		if n.out != nil {
			p = p[n.out.Append(p):]
			if len(p) == 0 {
				return size, nil
			}
			n.Push()
		}
		if n.c.fl&(flWriteErr|flShut|flClosing) != 0 {
			return 0, n.writeErr()
		}
		if n.out = n.c.e.l.Pool().Get(n.class(len(p))); n.out == nil {
			if n.out = n.c.e.l.Pool().GetReserve(buf.Std); n.out == nil {
				return 0, ErrNoBuffer
			}
		}
	}
}

// class is the size of buffer that size bytes are gathered in.
func (n *NetConn) class(size int) buf.Class {
	switch p := n.c.e.l.Pool(); {
	case size <= p.Size(buf.Small):
		return buf.Small
	case size <= p.Size(buf.Std):
		return buf.Std
	}
	return buf.Large
}

// Push hands what was gathered to the connection.
func (n *NetConn) Push() {
	if b := n.out; b != nil {
		n.out = nil
		n.c.Send(b)
	}
}

// Drop releases what n holds.
func (n *NetConn) Drop() {
	if n.in != nil {
		n.in.Release()
		n.in = nil
	}
	if n.out != nil {
		n.out.Release()
		n.out = nil
	}
}

// ErrNoBuffer is returned where output cannot be kept because the limit on buffers is reached.
var ErrNoBuffer = errors.New("sock: no buffer left")

func (n *NetConn) writeErr() error {
	if err := n.c.Err(); err != nil {
		return err
	}
	return io.ErrClosedPipe
}

// noBuffer waits a little for buffers to come back.
func (n *NetConn) noBuffer() error {
	now := n.c.e.l.Now()
	if n.sendBy != 0 && n.sendBy <= now {
		return os.ErrDeadlineExceeded
	}
	n.f.Park(now + int64(time.Millisecond))
	return nil
}

// Close closes the connection after what is queued.
func (n *NetConn) Close() error {
	n.Drop()
	n.c.Close()
	return nil
}

// CloseWrite ends the sending direction after what is queued.
func (n *NetConn) CloseWrite() error {
	n.c.Shutdown()
	return nil
}

// LocalAddr is the connection's own address.
func (n *NetConn) LocalAddr() net.Addr { return netAddr(n.c.Local()) }

// RemoteAddr is the other side's address.
func (n *NetConn) RemoteAddr() net.Addr { return netAddr(n.c.Peer()) }

func netAddr(ap netip.AddrPort) net.Addr {
	if !ap.IsValid() {
		return &net.UnixAddr{Net: "unix"}
	}
	return net.TCPAddrFromAddrPort(ap)
}

// SetDeadline sets both deadlines; the zero time means none.
func (n *NetConn) SetDeadline(t time.Time) error {
	n.readBy = n.deadline(t)
	n.sendBy = n.readBy
	return nil
}

// SetReadDeadline sets the deadline of Read.
func (n *NetConn) SetReadDeadline(t time.Time) error {
	n.readBy = n.deadline(t)
	return nil
}

// SetWriteDeadline sets the deadline of Write.
func (n *NetConn) SetWriteDeadline(t time.Time) error {
	n.sendBy = n.deadline(t)
	return nil
}

// deadline converts a point of wall time into one of the loop's clock.
func (n *NetConn) deadline(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	l := n.c.e.l
	return max(l.Now()+int64(t.Sub(l.Wall())), 1)
}
