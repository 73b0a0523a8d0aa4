package sock

import (
	"io"
	"net"
	"net/netip"
	"os"
	"time"

	"weir/internal/base/buf"
	"weir/internal/rt/loop"
)

// NetConn is a connection as net.Conn, for libraries that want one (crypto/tls). Its methods park the fiber it is
// bound to, so only that fiber may call them; SetFiber binds it to another one.
type NetConn struct {
	c      *Conn
	f      *loop.Fiber
	in     *buf.Buf
	readBy int64
	sendBy int64
}

// NetConn makes the connection a net.Conn for fiber f, which becomes the owner.
func (c *Conn) NetConn(f *loop.Fiber) net.Conn { return c.StreamFor(f) }

// StreamFor is NetConn with its own type.
func (c *Conn) StreamFor(f *loop.Fiber) *NetConn {
	n := &NetConn{c: c}
	n.SetFiber(f)
	return n
}

// SetFiber binds n to another fiber, which becomes the owner of the connection.
func (n *NetConn) SetFiber(f *loop.Fiber) {
	n.f = f
	n.c.SetOwner(f)
}

// Conn is the connection underneath.
func (n *NetConn) Conn() *Conn { return n.c }

// Read parks until there is input.
func (n *NetConn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for n.in == nil {
		b, err := n.c.Recv(buf.Std)
		if err != nil {
			return 0, err
		}
		if b != nil {
			n.in = b
			break
		}
		if !n.f.Park(n.readBy) {
			return 0, os.ErrDeadlineExceeded
		}
	}
	k := copy(p, n.in.Bytes())
	n.in.R += k
	if n.in.Len() == 0 {
		n.in.Release()
		n.in = nil
	}
	return k, nil
}

// Buffered takes the input that was received and not read yet, nil if there is none.
func (n *NetConn) Buffered() *buf.Buf {
	b := n.in
	n.in = nil
	return b
}

// Write queues p, and parks while the queue is above its high mark.
func (n *NetConn) Write(p []byte) (int, error) {
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
	if n.in != nil {
		n.in.Release()
		n.in = nil
	}
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
