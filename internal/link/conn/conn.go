// Package conn holds the contract between a protocol and the transport below it: a Conn carries bytes both ways,
// on a plain socket or through TLS. Multiplexers are written against it and know neither.
//
// Nothing here blocks: what cannot proceed says so, and the owner is woken when it may be worth trying again. Wake-ups
// can be spurious.
package conn

import (
	"net/netip"

	"weir/internal/base/buf"
	"weir/internal/rt/loop"
	"weir/internal/rt/sock"
)

// Conn is a stream connection that is established. All methods belong to its loop.
type Conn interface {
	// Sock is the socket at the bottom: its options and addresses. Nobody sends to it or receives from it.
	Sock() *sock.Conn

	// SetOwner names the fiber to wake when there is input, the end of the stream or an error, and when the send queue
	// has drained for somebody who waits for that. nil = nobody. It replaces a function given to SetIdle.
	SetOwner(f *loop.Fiber)
	// Owner is the fiber given to SetOwner.
	Owner() *loop.Fiber
	// SetUser attaches the value that functions given to SetIdle are called with.
	SetUser(u any)
	// SetIdle leaves the connection without an owner: fn is called once, on the loop and outside of fibers, when there
	// is input, the end of the stream or an error.
	SetIdle(fn func(user any))
	// Watch makes sure that input, the end of the stream or an error wakes the owner or calls the idle function, now if
	// it is there already.
	Watch()

	// Recv returns input, without waiting: (b, nil) with at least one byte, which the caller owns; (nil, nil) when there
	// is none: the owner will be told; (nil, io.EOF) at the end of the stream; (nil, err) after a failure. class is the
	// size of buffer to receive into, as far as this has not begun yet.
	Recv(class buf.Class) (*buf.Buf, error)
	// Unread puts b back in front of the input.
	Unread(b *buf.Buf)
	// HasInput tells whether Recv would return a buffer now.
	HasInput() bool
	// EOF tells whether the other side has ended its stream and all of it has been received.
	EOF() bool
	// Err is the failure of the connection, of either direction, or nil.
	Err() error

	// Send queues b, which now belongs to the connection. It goes to the kernel at the end of the turn, together with what
	// else is queued then. After a failure, Shutdown or Close it is dropped.
	Send(b *buf.Buf)
	// Flush hands what is queued to the kernel now.
	Flush()
	// Queued is the number of bytes that the kernel has not taken yet.
	Queued() int
	// SendRoom tells whether the send queue is below the high mark. If it is not, the owner is woken when it has gone
	// below the low mark.
	SendRoom() bool
	// WaitSent reports whether all is sent; if not, the owner is woken when it is, or when sending failed.
	WaitSent() bool
	// Acked is how much of what was sent the other side has acknowledged, in bytes; 0 where that is not known. It costs a
	// system call.
	Acked() uint64

	// Shutdown ends the sending direction after what is queued.
	Shutdown()
	// Close ends the connection after what is queued has been sent, for a limited time. The owner is told nothing any
	// more.
	Close()
	// Abort ends the connection at once, with a reset; what is queued is dropped.
	Abort()
	// Closed tells whether Close or Abort was called.
	Closed() bool

	// Local and Peer are the addresses of both sides as the kernel tells them, zero on unix sockets.
	Local() netip.AddrPort
	Peer() netip.AddrPort
}

var _ Conn = (*sock.Conn)(nil)

// Plain is the socket when c carries its bytes as they are, so that they can be spliced; nil otherwise.
func Plain(c Conn) *sock.Conn {
	s, _ := c.(*sock.Conn)
	return s
}
