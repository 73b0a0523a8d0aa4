package sock

import (
	"io"
	"net/netip"

	"golang.org/x/sys/unix"

	"weir/internal/base/buf"
	"weir/internal/rt/loop"
	"weir/internal/rt/poll"
)

// Conn is a stream connection. It belongs to its loop. It is not reused: a reference to a closed one is harmless.
type Conn struct {
	file   poll.File
	e      *env
	owner  *loop.Fiber
	sender *loop.Fiber // woken for the sending direction, nil = the owner
	idle   func(user any)
	user   any
	rx     buf.Queue
	tx     buf.Queue
	next   *Conn // in env.dirty
	before *Conn // in env.conns, as after
	after  *Conn
	nm     *names
	errno  int32
	fl     flags
}

type flags uint32

const (
	flEOF        flags = 1 << iota // the other side sends no more
	flReadErr                      // receiving failed
	flWriteErr                     // sending failed
	flConnecting                   // connect under way
	flReadable                     // there is input to be fetched by Recv
	flWaitRoom                     // the owner waits for the send queue to go below the low mark
	flWaitSent                     // the owner waits for the send queue to be empty
	flShut                         // Shutdown was asked for
	flShutDone                     // and done
	flClosing                      // Close was called
	flAbort                        // with a reset
	flClosed                       // the descriptor is closed
	flDirty                        // in env.dirty
	flLater                        // in env.later
	flSpliced                      // the descriptor's blocking mode was changed for splice
)

// Adopt takes charge of a connected descriptor from a Listener of the same kind of loop. peer may be the zero value: it
// is then asked for when needed.
func Adopt(l *loop.Loop, fd int, peer netip.AddrPort) *Conn {
	c := newConn(envOf(l), fd)
	if peer.IsValid() {
		c.names().peer.set(peer)
	}
	// Attaching a descriptor that is in the right mode cannot fail.
	if err := c.e.p.Attach(&c.file, true); err != nil {
		panic("sock: " + err.Error())
	}
	return c
}

// AdoptForeign is Adopt for descriptors from elsewhere, whose blocking mode is put right first.
func AdoptForeign(l *loop.Loop, fd int, peer netip.AddrPort) (*Conn, error) {
	c := newConn(envOf(l), fd)
	if peer.IsValid() {
		c.names().peer.set(peer)
	}
	if err := c.e.p.Attach(&c.file, false); err != nil {
		c.e.leave(c)
		return nil, err
	}
	return c, nil
}

func newConn(e *env, fd int) *Conn {
	c := &Conn{e: e}
	c.file.Fd = int32(fd)
	c.file.H = c
	e.enter(c)
	return c
}

// Sock is the connection itself, which is its own transport.
func (c *Conn) Sock() *Conn { return c }

// enter puts a connection on the list of its loop.
func (e *env) enter(c *Conn) {
	if c.after = e.conns; c.after != nil {
		c.after.before = c
	}
	e.conns = c
	e.l.Counters.Conns.Inc()
}

// leave takes it off.
func (e *env) leave(c *Conn) {
	if c.before != nil {
		c.before.after = c.after
	} else {
		e.conns = c.after
	}
	if c.after != nil {
		c.after.before = c.before
	}
	c.before, c.after = nil, nil
	e.l.Counters.Conns.Dec()
}

// Each calls fn for every connection of l, until it returns false. On the loop.
func Each(l *loop.Loop, fn func(c *Conn) bool) {
	for c := envOf(l).conns; c != nil && fn(c); {
		c = c.after
	}
}

// Loop is the loop that the connection belongs to.
func (c *Conn) Loop() *loop.Loop { return c.e.l }

// Fd is the descriptor, -1 once it is closed. It stays the connection's: nobody else may receive from it or close it.
func (c *Conn) Fd() int { return int(c.file.Fd) }

// SetUser attaches the value that functions given to SetIdle are called with.
func (c *Conn) SetUser(u any) { c.user = u }

// User is the value given to SetUser.
func (c *Conn) User() any { return c.user }

// SetOwner names the fiber to wake when there is input, the end of the stream or an error, when the send queue has
// drained for somebody who waits for that, and when connecting is done. nil = nobody. It replaces a function given to
// SetIdle.
func (c *Conn) SetOwner(f *loop.Fiber) {
	c.owner = f
	c.idle = nil
}

// Owner is the fiber given to SetOwner.
func (c *Conn) Owner() *loop.Fiber { return c.owner }

// SetSender names a second fiber, for connections with one fiber for each direction: it is woken instead of the owner
// for what concerns sending, and like the owner when the connection fails. nil = the owner does both.
func (c *Conn) SetSender(f *loop.Fiber) { c.sender = f }

// SetIdle leaves the connection without an owner: fn is called once with the value given to SetUser, on the loop and
// outside of fibers, when there is input, the end of the stream or an error. It usually starts a fiber.
func (c *Conn) SetIdle(fn func(user any)) {
	c.owner, c.sender = nil, nil
	c.idle = fn
	c.Watch()
}

// Watch makes sure that input, the end of the stream or an error wakes the owner or calls the idle function, now if it
// is there already.
func (c *Conn) Watch() {
	if c.rx.Len() == 0 && c.fl&(flReadable|flEOF|flReadErr|flConnecting|flClosed) == 0 && c.file.Pending()&poll.OpRecv == 0 {
		c.fill()
	}
	if c.rx.Len() > 0 || c.fl&(flReadable|flEOF|flReadErr) != 0 {
		c.e.setLater(c)
	}
}

// Tell wakes the owner or calls the idle function at the end of the turn, for a layer above that has something to tell.
func (c *Conn) Tell() {
	if c.fl&flClosing == 0 {
		c.e.setLater(c)
	}
}

// notify tells whoever is interested.
func (c *Conn) notify() {
	if f := c.owner; f != nil {
		f.Wake()
		return
	}
	if fn := c.idle; fn != nil {
		c.idle = nil
		c.callIdle(fn)
	}
}

func (c *Conn) callIdle(fn func(user any)) {
	defer c.e.l.Guard()
	fn(c.user)
}

// Recv returns input, without waiting: (b, nil) with at least one byte, which the caller owns; (nil, nil) when there is
// none: the owner will be told; (nil, io.EOF) at the end of the stream; (nil, err) after a failure. class is the size
// of buffer to receive into, as far as this has not begun yet.
func (c *Conn) Recv(class buf.Class) (*buf.Buf, error) {
	if b := c.rx.Pop(); b != nil {
		return b, nil
	}
	if c.fl&(flEOF|flReadErr|flClosing|flConnecting) != 0 {
		return nil, c.recvState()
	}
	if c.file.Pending()&poll.OpRecv != 0 {
		return nil, nil
	}
	e := c.e
	if n := e.l.Counters.Resumed.Load(); n != e.epoch {
		e.epoch, e.reads = n, 0
	}
	if e.reads >= readsPerRun {
		e.setLater(c)
		return nil, nil
	}
	b, n := e.p.Recv(&c.file, class)
	c.fl &^= flReadable
	switch {
	case n > 0:
		e.reads++
		return b, nil
	case n == poll.Pending:
		return nil, nil
	}
	c.inputEnd(n)
	return nil, c.recvState()
}

// recvState is what Recv says when it cannot receive.
func (c *Conn) recvState() error {
	switch {
	case c.fl&flClosing != 0:
		return ErrClosed
	case c.fl&flReadErr != 0:
		return c.Err()
	case c.fl&flEOF != 0:
		return io.EOF
	}
	return nil
}

// inputEnd records the end of the stream (0) or a failure.
func (c *Conn) inputEnd(n int) {
	if n == 0 {
		c.fl |= flEOF
		return
	}
	c.fl |= flReadErr
	if c.errno == 0 {
		c.errno = int32(-n)
	}
}

// fill fetches input into the connection, where the poller knows of some.
func (c *Conn) fill() {
	b, n := c.e.p.Recv(&c.file, buf.Std)
	c.fl &^= flReadable
	switch {
	case n > 0:
		c.rx.Push(b)
	case n != poll.Pending:
		c.inputEnd(n)
	}
}

// Unread puts b back in front of the input.
func (c *Conn) Unread(b *buf.Buf) {
	if b.Len() == 0 || c.fl&flClosing != 0 {
		b.Release()
		return
	}
	c.rx.PushFront(b)
}

// HasInput tells whether Recv would return a buffer now.
func (c *Conn) HasInput() bool {
	if c.fl&flReadable != 0 && c.rx.Len() == 0 && c.fl&flClosing == 0 {
		c.fill()
	}
	return c.rx.Len() > 0
}

// EOF tells whether the other side has ended its stream and all of it has been received.
func (c *Conn) EOF() bool { return !c.HasInput() && c.fl&flEOF != 0 }

// Err is the failure of the connection, of either direction: a unix.Errno, or nil.
func (c *Conn) Err() error {
	if c.errno != 0 {
		return unix.Errno(c.errno)
	}
	return nil
}

// Connecting tells whether connecting is still under way.
func (c *Conn) Connecting() bool { return c.fl&flConnecting != 0 }

// Closed tells whether Close or Abort was called.
func (c *Conn) Closed() bool { return c.fl&flClosing != 0 }

// Complete is for the poller.
func (c *Conn) Complete(_ *poll.File, op poll.Ops, res int, b *buf.Buf) {
	if c.fl&flClosed != 0 {
		if b != nil {
			b.Release()
		}
		c.detach()
		return
	}
	switch op {
	case poll.OpRecv:
		c.received(res, b)
	case poll.OpSend:
		c.sent(res)
	case poll.OpConnect:
		c.connected(res)
	case poll.OpPollIn:
		c.notify()
	case poll.OpPollOut:
		c.wakeSender()
	}
}

func (c *Conn) received(res int, b *buf.Buf) {
	switch {
	case c.fl&flClosing != 0:
		if b != nil {
			b.Release()
		}
		return
	case res > 0:
		c.rx.Push(b)
	case res == poll.Readable:
		c.fl |= flReadable
	case res == -int(unix.ECANCELED):
		// The receive was taken back, for splice.
	default:
		c.inputEnd(res)
	}
	c.notify()
}

// Send queues b, which now belongs to the connection. It is handed to the kernel at the end of the turn, together with
// what else is queued then. After a failure, Shutdown or Close it is dropped.
func (c *Conn) Send(b *buf.Buf) {
	if b.Len() == 0 || c.fl&(flWriteErr|flShut|flClosing) != 0 {
		b.Release()
		return
	}
	c.tx.Push(b)
	c.e.setDirty(c)
}

// Flush hands what is queued to the kernel now.
func (c *Conn) Flush() {
	if c.tx.Len() > 0 && c.fl&flClosed == 0 {
		c.flush()
	}
}

// flush sends what is queued, unless something is under way; then it is called again at the completion.
func (c *Conn) flush() {
	if c.fl&(flConnecting|flClosed) != 0 || c.file.Pending()&poll.OpSend != 0 {
		return
	}
	c.file.Last = c.fl&(flShut|flClosing) != 0
	for c.tx.Len() > 0 {
		n := c.e.p.Send(&c.file, c.tx.Front(), c.fl&(flWaitRoom|flWaitSent|flShut|flClosing) != 0)
		if n == poll.Pending {
			if c.fl&flClosing != 0 && c.file.Blocked() {
				c.stuck()
			}
			return
		}
		if n < 0 {
			c.sendFailed(n)
			return
		}
		c.tx.Discard(n)
	}
	c.progress()
}

// sent is the completion of a send.
func (c *Conn) sent(res int) {
	if res < 0 {
		if c.fl&flAbort != 0 {
			c.doClose()
			return
		}
		c.sendFailed(res)
		return
	}
	c.tx.Discard(res)
	c.e.l.Counters.Sent.Add(uint64(res))
	if c.fl&flAbort != 0 {
		c.doClose()
		return
	}
	if c.tx.Len() > 0 {
		c.flush()
		if c.fl&flClosed != 0 {
			return
		}
	}
	c.progress()
}

// progress acts on the send queue having become shorter.
func (c *Conn) progress() {
	wake := false
	if c.fl&flWaitRoom != 0 && c.tx.Bytes() <= c.e.low {
		c.fl &^= flWaitRoom
		c.e.l.Counters.Resumes.Inc()
		wake = true
	}
	if c.tx.Len() == 0 {
		if c.fl&flWaitSent != 0 {
			c.fl &^= flWaitSent
			wake = true
		}
		if c.fl&(flShut|flShutDone|flClosed) == flShut {
			c.fl |= flShutDone
			c.e.p.Shutdown(&c.file)
		}
		if c.fl&(flClosing|flClosed) == flClosing {
			c.doClose()
			return
		}
	}
	if wake {
		c.wakeSender()
	}
}

func (c *Conn) wakeSender() {
	if f := c.sender; f != nil {
		f.Wake()
	} else if f := c.owner; f != nil {
		f.Wake()
	}
}

func (c *Conn) sendFailed(res int) {
	c.fl |= flWriteErr
	if c.errno == 0 {
		c.errno = int32(-res)
	}
	c.tx.Clear()
	if c.fl&flClosing != 0 {
		c.doClose()
		return
	}
	c.fl &^= flWaitRoom | flWaitSent
	if c.sender != nil {
		c.sender.Wake()
	}
	c.notify()
}

// Queued is the number of bytes that the kernel has not taken yet.
func (c *Conn) Queued() int { return c.tx.Bytes() }

// SendRoom tells whether the send queue is below the high mark. If it is not, the owner is woken when it has gone
// below the low mark.
func (c *Conn) SendRoom() bool {
	if c.tx.Bytes() < c.e.high {
		return true
	}
	if c.fl&flWaitRoom == 0 {
		c.fl |= flWaitRoom
		c.e.l.Counters.Pauses.Inc()
	}
	c.hurry()
	return false
}

// WaitSent reports whether all is sent; if not, the owner is woken when it is, or when sending failed.
func (c *Conn) WaitSent() bool {
	if c.tx.Len() == 0 {
		return true
	}
	c.fl |= flWaitSent
	c.hurry()
	return false
}

// hurry makes sure that the completion of a send under way is looked at before the loop sleeps.
func (c *Conn) hurry() {
	if c.file.Pending()&poll.OpSend != 0 {
		c.e.p.Nudge()
	}
}

// Shutdown ends the sending direction after what is queued.
func (c *Conn) Shutdown() {
	if c.fl&(flShut|flClosing) != 0 {
		return
	}
	c.fl |= flShut
	if c.fl&flConnecting != 0 {
		return
	}
	if c.tx.Len() == 0 {
		c.progress()
		return
	}
	c.hurry()
}

// Close ends the connection after what is queued has been sent, for which the other side gets Options.CloseTimeout.
// The owner is told nothing any more.
func (c *Conn) Close() {
	if c.fl&flClosing != 0 {
		return
	}
	c.leave()
	if c.fl&(flConnecting|flWriteErr) != 0 {
		c.tx.Clear()
	}
	if c.tx.Len() == 0 {
		c.doClose()
		return
	}
	if c.file.Blocked() {
		c.stuck()
	}
	c.hurry()
}

// Abort ends the connection at once, with a reset; what is queued is dropped.
func (c *Conn) Abort() {
	if c.fl&(flAbort|flClosed) != 0 {
		return
	}
	c.leave()
	c.fl |= flAbort
	if c.e.p.Cancel(&c.file, poll.OpSend)&poll.OpSend != 0 {
		c.e.p.Nudge() // the kernel has the buffers
		return
	}
	c.doClose()
}

func (c *Conn) leave() {
	c.fl |= flClosing
	c.owner, c.sender, c.idle = nil, nil, nil
	c.rx.Clear()
}

// doClose closes the descriptor; no send is under way.
func (c *Conn) doClose() {
	c.fl |= flClosed
	if t := c.e.stuck[c]; t != nil {
		c.e.l.Forget(t)
		delete(c.e.stuck, c)
	}
	c.tx.Clear()
	if c.fl&flSpliced != 0 {
		c.fl &^= flSpliced
	}
	if c.e.p.Close(&c.file, c.fl&flAbort != 0) == 0 {
		c.detach()
	}
}

// detach leaves the poller when the kernel owes nothing any more.
func (c *Conn) detach() {
	if c.file.Pending() == 0 {
		c.e.p.Detach(&c.file)
		c.e.leave(c)
	}
}

// stuck gives a closed connection whose queue is not taken a limited time.
func (c *Conn) stuck() {
	if c.e.stuck[c] != nil {
		return
	}
	t := &loop.Timer{Fn: c.Abort}
	c.e.stuck[c] = t
	c.e.l.Arm(t, c.e.l.Now()+int64(c.e.l.Options().CloseTimeout))
}
