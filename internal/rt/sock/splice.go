package sock

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"weir/internal/base/buf"
	"weir/internal/rt/loop"
	"weir/internal/rt/poll"
	"weir/internal/rt/sys"
)

// Pipe carries spliced data inside the kernel. Pipes are kept by the loop and used again.
type Pipe struct {
	r, w int
	n    int // bytes in it
}

// pipeSize is what pipes are enlarged to, as far as the system allows.
const pipeSize = 1 << 18

// pipeCache is how many unused pipes a loop keeps.
const pipeCache = 32

// ErrBuffered is returned by SpliceIn when received input must be taken with Recv first.
var ErrBuffered = errors.New("sock: input is buffered")

// ErrNoSplice is returned where there is nothing to splice with: on a simulated network.
var ErrNoSplice = errors.New("sock: no splice here")

// GetPipe takes an empty pipe.
func GetPipe(l *loop.Loop) (*Pipe, error) {
	e := envOf(l)
	if e.nets != nil {
		return nil, ErrNoSplice
	}
	if n := len(e.pipes); n > 0 {
		p := e.pipes[n-1]
		e.pipes = e.pipes[:n-1]
		return p, nil
	}
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_NONBLOCK|unix.O_CLOEXEC); err != nil {
		return nil, os.NewSyscallError("pipe2", err)
	}
	_, _ = unix.FcntlInt(uintptr(fds[1]), unix.F_SETPIPE_SZ, pipeSize)
	return &Pipe{r: fds[0], w: fds[1]}, nil
}

// PutPipe gives a pipe back. One with data in it is closed.
func PutPipe(l *loop.Loop, p *Pipe) {
	e := envOf(l)
	if p.n == 0 && len(e.pipes) < pipeCache {
		e.pipes = append(e.pipes, p)
		return
	}
	p.close()
}

func (p *Pipe) close() {
	sys.RawClose(p.r)
	sys.RawClose(p.w)
}

// Len is the number of bytes in the pipe.
func (p *Pipe) Len() int { return p.n }

func (e *env) closePipes() {
	for _, p := range e.pipes {
		p.close()
	}
	e.pipes = nil
}

// SpliceIn moves up to max bytes of input into the pipe without waiting: (n, nil); (0, nil) when there is none or the
// pipe is full (see Len): for the former the owner will be told; (0, io.EOF) at the end of the stream; ErrBuffered.
func (c *Conn) SpliceIn(p *Pipe, max int) (int, error) {
	switch {
	case c.rx.Len() > 0:
		return 0, ErrBuffered
	case c.fl&(flEOF|flReadErr|flClosing) != 0:
		return 0, c.recvState()
	case c.file.Pending()&(poll.OpPollIn|poll.OpConnect) != 0:
		return 0, nil
	}
	if c.file.Pending()&poll.OpRecv != 0 && c.e.p.Cancel(&c.file, poll.OpRecv) != 0 {
		return 0, nil // its completion wakes the owner
	}
	if c.fl&flSpliced == 0 {
		// A socket in blocking mode would make splice wait.
		c.fl |= flSpliced
		if c.e.p.Kind() == poll.Uring {
			sys.RawNonblock(int(c.file.Fd), true)
		}
	}
	n := sys.RawSplice(int(c.file.Fd), p.w, max)
	c.fl &^= flReadable
	switch {
	case n > 0:
		p.n += n
		return n, nil
	case n == -int(unix.EAGAIN):
		if p.n == 0 {
			c.e.p.Await(&c.file, poll.OpPollIn)
		}
		return 0, nil
	case n == -int(unix.EINTR):
		c.e.setLater(c)
		return 0, nil
	}
	c.inputEnd(n)
	return 0, c.recvState()
}

// SpliceOut sends what is in the pipe without waiting: (n, nil); (0, nil) when the connection takes nothing now: the
// owner will be told; (0, err) when sending failed.
func (c *Conn) SpliceOut(p *Pipe) (int, error) {
	switch {
	case c.fl&flClosing != 0:
		return 0, ErrClosed
	case c.fl&flWriteErr != 0:
		return 0, c.Err()
	case !c.WaitSent(), c.file.Pending()&(poll.OpPollOut|poll.OpConnect) != 0:
		return 0, nil
	}
	n := sys.RawSplice(p.r, int(c.file.Fd), p.n)
	switch {
	case n >= 0:
		p.n -= n
		c.e.l.Counters.Sent.Add(uint64(n))
		c.e.l.Counters.Spliced.Add(uint64(n))
		return n, nil
	case n == -int(unix.EAGAIN):
		c.e.p.Await(&c.file, poll.OpPollOut)
		return 0, nil
	case n == -int(unix.EINTR):
		c.e.setLater(c)
		return 0, nil
	}
	c.sendFailed(n)
	return 0, c.Err()
}

// EndSplice goes back to Recv on a connection used with SpliceIn: it reports false while a wait is still being taken
// back, after which the owner is woken.
func (c *Conn) EndSplice() bool {
	if c.fl&flSpliced == 0 || c.fl&flClosed != 0 {
		return true
	}
	if c.e.p.Cancel(&c.file, poll.OpPollIn) != 0 {
		return false
	}
	c.fl &^= flSpliced
	if c.e.p.Kind() == poll.Uring {
		sys.RawNonblock(int(c.file.Fd), false)
	}
	return true
}

// SpliceTo moves input to dst inside the kernel, parking fiber f, until limit bytes are moved (limit < 0: until the end
// of the stream) or until nothing has moved for idle nanoseconds (0 = no limit). f becomes the owner of c and the sender
// of dst. It returns the bytes moved, and io.EOF at the end of the stream when limit was not reached.
func (c *Conn) SpliceTo(f *loop.Fiber, dst *Conn, limit, idle int64) (moved int64, err error) {
	l := c.e.l
	p, err := GetPipe(l)
	if err != nil {
		return 0, err
	}
	c.SetOwner(f)
	dst.SetSender(f)
	defer func() {
		PutPipe(l, p)
		for !c.EndSplice() {
			f.Park(0)
		}
	}()
	for limit < 0 || moved < limit {
		step := int64(0)
		if p.n == 0 {
			if b, e := c.takeBuffered(limit, moved); b != nil {
				step = int64(b.Len())
				dst.Send(b)
			} else if e != nil {
				return moved, e
			} else {
				want := int64(pipeSize)
				if limit >= 0 {
					want = min(want, limit-moved)
				}
				if _, err = c.SpliceIn(p, int(want)); err != nil && err != ErrBuffered {
					if p.n == 0 {
						return moved, err
					}
				}
			}
		}
		if p.n > 0 {
			n, e := dst.SpliceOut(p)
			if e != nil {
				return moved, e
			}
			step = int64(n)
		}
		moved += step
		if step > 0 {
			continue
		}
		deadline := int64(0)
		if idle > 0 {
			deadline = l.Now() + idle
		}
		if !f.Park(deadline) {
			return moved, os.ErrDeadlineExceeded
		}
	}
	return moved, nil
}

// takeBuffered takes input that was received before splicing began.
func (c *Conn) takeBuffered(limit, moved int64) (*buf.Buf, error) {
	b := c.rx.Pop()
	if b == nil {
		if c.fl&flEOF != 0 {
			return nil, io.EOF
		}
		return nil, nil
	}
	if left := limit - moved; limit >= 0 && int64(b.Len()) > left {
		head := b.Split(int(left))
		c.rx.PushFront(b)
		return head, nil
	}
	return b, nil
}
