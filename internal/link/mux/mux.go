// Package mux holds the contract between a stream and the protocols: an End is
// one side of an exchange, whatever the protocol version. The stream reads and
// writes heads, data and ends through it and knows nothing else; each protocol
// (tcp, h1, later h2 and h3) implements it in a package of its own.
//
// Nothing here blocks: a call that cannot proceed says so, and the fiber that
// owns the End is woken when it may be worth trying again. Wake-ups can be
// spurious; callers re-check in a loop around Fiber.Park.
package mux

import (
	"errors"
	"io"
	"net/netip"

	"weir/internal/base/buf"
	"weir/internal/rt/loop"
	"weir/internal/rt/sock"
	"weir/internal/wire/msg"
)

// Errors of an End besides those of the codec and of the socket.
var (
	// ErrTruncated says that the peer closed in the middle of a message.
	ErrTruncated = errors.New("message cut short by the peer")
	// ErrNoBuffer says that a buffer was needed and the limit is reached.
	ErrNoBuffer = errors.New("no buffer left")
	// EOF ends a message's data; before any byte of a head it says that the peer closed properly.
	EOF = io.EOF
)

// Splicer is an End whose data may be moved inside the kernel while it is sent and received as it is.
type Splicer interface {
	// SpliceLeft is how much of the incoming message can be moved that way: 0
	// for none, a large number when only the peer knows.
	SpliceLeft() int64
	// SpliceReady reports whether outgoing data needs no framing.
	SpliceReady() bool
	// SpliceIn moves input into p: (0, nil) when there is none or p is full,
	// EOF at the end of the message, sock.ErrBuffered when RecvData must take it.
	SpliceIn(p *sock.Pipe) (int, error)
	// SpliceOut moves what p has to the peer: (0, nil) when it takes none now.
	SpliceOut(p *sock.Pipe) (int, error)
	// EndSplice makes RecvData usable again; false: wait and call again.
	EndSplice() bool
}

// End is one side of an exchange. All methods belong to the loop of its connection.
type End interface {
	// SetOwner names the fiber to wake when data, room, an end or an error
	// arrives; nil names none.
	SetOwner(f *loop.Fiber)

	// SetIdle names what to call, once, when input, an end or an error arrives
	// while nobody owns the End; it arms the receive that finds out.
	SetIdle(fn func())

	// RecvHead reads a message head into m. It returns false with no error
	// while the head is incomplete. EOF: the peer closed before its first
	// byte; ErrTruncated: in the middle; *h1.Error and its like: the bytes are
	// not a message. What m holds is valid until Finish.
	RecvHead(m *msg.Message) (bool, error)
	// HeadStarted reports whether a byte of the next head has arrived.
	HeadStarted() bool
	// RecvData returns the next data of the message, nil when there is none
	// yet (the owner will be woken), or EOF at its end. The caller owns the
	// buffer.
	RecvData() (*buf.Buf, error)
	// Watch asks for a wake-up on the next input, end or error, without
	// taking input.
	Watch()

	// Reject answers input that is not a message; raw is a whole HTTP/1
	// response. The connection ends after it.
	Reject(raw []byte)
	// SendHead encodes and queues a head. It fills in what the protocol owns
	// (framing, connection fields).
	SendHead(m *msg.Message) error
	// SendData queues data and takes the buffer.
	SendData(b *buf.Buf)
	// SendEnd ends the message; the trailers of m are sent where the protocol
	// can, m may be nil.
	SendEnd(m *msg.Message)
	// SetClose makes this exchange the last one of the connection; before
	// SendHead, so that the peer is told.
	SetClose()
	// SendRoom reports whether more data may be queued: false at the high
	// mark, and then the owner is woken at the low mark.
	SendRoom() bool
	// Queued is the number of bytes that the kernel has not taken yet.
	Queued() int
	// Drained reports whether the kernel has taken everything; if not, the
	// owner is woken when it has.
	Drained() bool
	// Acked is how much the peer has acknowledged since the connection began,
	// in bytes; 0 where that is not known. It costs a system call.
	Acked() uint64
	// Flush hands what is queued to the socket; it goes out at the end of the
	// loop's turn at the latest.
	Flush()

	// Err is the failure of the connection, nil while it works. Data that
	// arrived before it can still be received.
	Err() error
	// InputClosed reports that the peer has closed its sending side or the
	// connection failed: nothing more will arrive after what is buffered.
	InputClosed() bool
	// Tunnel turns both directions into raw data, after CONNECT or 101.
	Tunnel()

	// SendDone reports whether everything of the outgoing message was queued.
	SendDone() bool
	// Reusable reports whether the connection can carry another exchange,
	// now that this one has ended on both directions.
	Reusable() bool
	// Finish ends the exchange, releases its memory and forgets the owner.
	Finish()
	// Close closes the connection once everything queued is sent.
	Close()
	// Abort resets the connection at once.
	Abort()

	// Addrs are the local and the remote address; zero on unix sockets.
	Addrs() (local, remote netip.AddrPort)
}
