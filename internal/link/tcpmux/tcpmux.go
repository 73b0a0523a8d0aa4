// Package tcpmux is the multiplexer of plain byte streams: one connection is
// one exchange, everything received is data, and the end of the data is the
// peer's half-close.
package tcpmux

import (
	"errors"
	"io"
	"net/netip"

	"weir/internal/base/buf"
	"weir/internal/link/conn"
	"weir/internal/link/mux"
	"weir/internal/rt/loop"
	"weir/internal/wire/msg"
)

// ErrNoHead is returned where a message head is asked of a byte stream.
var ErrNoHead = errors.New("a byte stream has no message heads")

// Conn is one connection. Its zero value is made ready by Init.
type Conn struct {
	c    conn.Conn
	idle func()
	eof  bool // the peer has half-closed
	fin  bool // our side has
	full bool // the last receive filled its buffer: the next one asks for a large one
}

var _ mux.End = (*Conn)(nil)

// Init takes over the connection c.
func (t *Conn) Init(c conn.Conn) { *t = Conn{c: c} }

// SetOwner names the fiber to wake.
func (t *Conn) SetOwner(f *loop.Fiber) { t.c.SetOwner(f) }

// SetIdle names what to call, once, when something arrives while nobody owns t.
func (t *Conn) SetIdle(fn func()) {
	t.idle = fn
	t.c.SetOwner(nil)
	t.c.SetUser(t)
	t.c.SetIdle(wakeIdle)
}

func wakeIdle(user any) {
	if t := user.(*Conn); t.idle != nil {
		t.idle()
	}
}

// RecvHead always fails: a byte stream has no heads.
func (t *Conn) RecvHead(*msg.Message) (bool, error) { return false, ErrNoHead }

// HeadStarted reports whether input is waiting.
func (t *Conn) HeadStarted() bool { return t.c.HasInput() }

// RecvData returns the next bytes; EOF after the peer's half-close.
func (t *Conn) RecvData() (*buf.Buf, error) {
	class := buf.Std
	if t.full {
		class = buf.Large
	}
	b, err := t.c.Recv(class)
	if b != nil {
		t.full = len(b.Space()) == 0
	} else if err == io.EOF {
		t.eof = true
	}
	return b, err
}

// Watch asks for a wake-up on the next input.
func (t *Conn) Watch() { t.c.Watch() }

// SendHead always fails.
func (t *Conn) SendHead(*msg.Message) error { return ErrNoHead }

// Reject has nothing to say on a byte stream.
func (t *Conn) Reject([]byte) {}

// SendData queues b.
func (t *Conn) SendData(b *buf.Buf) { t.c.Send(b) }

// SendEnd closes the sending side once everything is sent.
func (t *Conn) SendEnd(*msg.Message) {
	if !t.fin {
		t.fin = true
		t.c.Shutdown()
	}
}

// SetClose has nothing to do: the connection ends with its exchange.
func (t *Conn) SetClose() {}

// SendDone reports whether the sending side was ended.
func (t *Conn) SendDone() bool { return t.fin }

// SendRoom reports whether the send queue is below its high mark.
func (t *Conn) SendRoom() bool { return t.c.SendRoom() }

// Queued is what the kernel has not taken yet, in bytes.
func (t *Conn) Queued() int { return t.c.Queued() }

// Drained reports whether everything queued was sent; if not, the owner is woken when it is.
func (t *Conn) Drained() bool { return t.c.WaitSent() }

// Acked is how much the peer has acknowledged, in bytes.
func (t *Conn) Acked() uint64 { return t.c.Acked() }

// Flush has nothing to do: the socket sends at the end of the loop's turn.
func (t *Conn) Flush() {}

// Err is the failure of the connection, or nil.
func (t *Conn) Err() error { return t.c.Err() }

// InputClosed reports that the peer has half-closed or the connection failed.
func (t *Conn) InputClosed() bool { return t.eof || t.c.EOF() || t.c.Err() != nil }

// Tunnel has nothing to do.
func (t *Conn) Tunnel() {}

// Reusable is always false: the connection is the exchange.
func (t *Conn) Reusable() bool { return false }

// Finish forgets the owner.
func (t *Conn) Finish() { t.c.SetOwner(nil) }

// Close closes once everything is sent.
func (t *Conn) Close() { t.c.Close() }

// Abort resets the connection.
func (t *Conn) Abort() { t.c.Abort() }

// Addrs are the local and remote addresses.
func (t *Conn) Addrs() (local, remote netip.AddrPort) { return t.c.Local(), t.c.Peer() }
