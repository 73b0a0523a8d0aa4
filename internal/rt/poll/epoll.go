package poll

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"

	"weir/internal/base/buf"
	"weir/internal/rt/sys"
)

// epollEvents is what every descriptor is registered for when it first has to wait; output is added when a send does
// not fit for the first time. Edge-triggered: an event says that something has changed, and what is thought ready is
// tried.
const epollEvents = unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLET

// Whether a new connection has input already depends on the load: receiving at once saves a registration when it has,
// and costs a call when it has not. The luck of the last tries decides, with a try once in a while.
const (
	luckMost  = 16
	luckProbe = 32
)

// acceptBatch is how many connections are accepted from a listener before other work gets its turn.
const acceptBatch = 4

// starveWait bounds a sleep while receives wait for buffers.
const starveWait = 2_000_000

type epoll struct {
	table
	ep, ev  int
	cfg     Config
	pool    *buf.Pool
	events  []unix.EpollEvent
	vec     *sys.Vec
	starved fileList
	ready   fileList // listeners that have more, files to be completed at the next Poll
	nudge   bool
	noNap   bool // the kernel has no epoll_pwait2
	luck    int  // of receiving from new connections at once, -luckMost to luckMost
	skipped int  // new connections since the last try
	peer    sys.SockAddr
	hasPeer bool
	stats   Stats
}

func newEpoll(cfg Config) (*epoll, error) {
	ep, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll_create1: %w", err)
	}
	ev, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		unix.Close(ep)
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	if r := sys.RawEpollAdd(ep, ev, unix.EPOLLIN|unix.EPOLLET, 0); r < 0 {
		unix.Close(ep)
		unix.Close(ev)
		return nil, fmt.Errorf("epoll_ctl: %w", sys.Errno(r))
	}
	return &epoll{ep: ep, ev: ev, cfg: cfg, pool: cfg.Pool, events: make([]unix.EpollEvent, 256), vec: new(sys.Vec)}, nil
}

func (e *epoll) Kind() Kind           { return Epoll }
func (e *epoll) Start() error         { return nil }
func (e *epoll) Stats() *Stats        { return &e.stats }
func (e *epoll) Attached() int        { return e.n }
func (e *epoll) Submit()              {}
func (e *epoll) Nudge()               { e.nudge = true }
func (e *epoll) Shutdown(f *File) int { return sys.RawShutdown(int(f.Fd), unix.SHUT_WR) }
func (e *epoll) Idle() bool           { return e.ready.head == nil && !e.nudge }
func (e *epoll) Wake()                { wakeFd(e.ev) }
func (e *epoll) Accepted() netip.AddrPort {
	if !e.hasPeer {
		return netip.AddrPort{}
	}
	return e.peer.IP()
}

// wakeFd adds to an eventfd. A full counter means that a wake-up is under way already.
func wakeFd(fd int) {
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	for sys.RawWrite(fd, one[:]) == -int(unix.EINTR) {
	}
}

func (e *epoll) Attach(f *File, fresh bool) error {
	if !fresh {
		if r := sys.RawNonblock(int(f.Fd), true); r < 0 {
			return sys.Errno(r)
		}
	}
	f.pend, f.st = 0, stRead|stWrite|stGuess
	e.add(f)
	return nil
}

// guess decides whether to receive from a connection of which nothing is known.
func (e *epoll) guess(f *File) {
	f.st &^= stGuess
	if e.skipped++; e.luck < 0 && e.skipped < luckProbe {
		f.st &^= stRead
		return
	}
	e.skipped = 0
}

// guessed remembers whether there was input.
func (e *epoll) guessed(there bool) {
	if there {
		e.luck = min(e.luck+1, luckMost)
	} else {
		e.luck = max(e.luck-1, -luckMost)
	}
}

func (e *epoll) Detach(f *File) {
	if f.st&stAdded != 0 && f.Fd >= 0 {
		sys.RawEpollDel(e.ep, int(f.Fd))
	}
	e.forget(f)
	e.remove(f)
}

func (e *epoll) forget(f *File) {
	e.starved.drop(f)
	e.ready.drop(f)
	f.pend, f.st = 0, 0
}

// wait arms op on f, registering the descriptor on first use; a negated errno means that this failed.
func (e *epoll) wait(f *File, op Ops) int {
	f.pend |= op
	need, ev := stAdded, uint32(epollEvents)
	if op&(OpSend|OpConnect|OpPollOut) != 0 {
		need, ev = stAdded|stOut, epollEvents|unix.EPOLLOUT
	}
	if f.st&need == need {
		return Pending
	}
	r := 0
	if f.st&stAdded == 0 {
		r = sys.RawEpollAdd(e.ep, int(f.Fd), ev, f.slot)
	} else {
		r = sys.RawEpollMod(e.ep, int(f.Fd), ev, f.slot)
	}
	if r < 0 {
		f.pend &^= op
		return r
	}
	f.st |= need
	return Pending
}

func (e *epoll) Recv(f *File, c buf.Class) (*buf.Buf, int) {
	f.want = c
	fresh := f.st&stGuess != 0
	if fresh {
		e.guess(f)
	}
	if f.st&stRead == 0 {
		return nil, e.wait(f, OpRecv)
	}
	b := e.pool.Get(c)
	if b == nil {
		e.stats.NoBuffer.Inc()
		f.pend |= OpRecv
		e.starved.push(f)
		return nil, Pending
	}
	for {
		n := sys.RawRecv(int(f.Fd), b.Space(), 0)
		e.stats.Recvs.Inc()
		if fresh {
			e.guessed(n != -int(unix.EAGAIN))
		}
		switch {
		case n > 0:
			b.W = n
			if n < b.Cap() && f.st&stHup == 0 {
				f.st &^= stRead
			}
			return b, n
		case n == -int(unix.EINTR):
			continue
		case n == -int(unix.EAGAIN):
			b.Release()
			f.st &^= stRead
			return nil, e.wait(f, OpRecv)
		}
		b.Release()
		return nil, n
	}
}

func (e *epoll) Send(f *File, b *buf.Buf, notify bool) int {
	if f.st&stWrite == 0 {
		return e.wait(f, OpSend)
	}
	want, n, flags := 0, 0, 0
	if f.Last {
		flags = unix.MSG_MORE
	}
	for {
		if b.Next() == nil {
			want = b.Len()
			n = sys.RawSend(int(f.Fd), b.Bytes(), flags)
		} else {
			_, want = e.vec.Fill(b)
			n = sys.RawSendVec(int(f.Fd), e.vec, flags)
		}
		e.stats.Sends.Inc()
		if n != -int(unix.EINTR) {
			break
		}
	}
	if n == -int(unix.EAGAIN) {
		f.st &^= stWrite
		return e.wait(f, OpSend)
	}
	if n >= 0 && n < want {
		f.st &^= stWrite
	}
	return n
}

func (e *epoll) Connect(f *File, a *sys.SockAddr) int {
	r := sys.RawConnect(int(f.Fd), a)
	f.st &^= stRead | stGuess // the other side answers later
	if r == -int(unix.EINPROGRESS) || r == -int(unix.EINTR) {
		f.st &^= stWrite
		return e.wait(f, OpConnect)
	}
	return r
}

func (e *epoll) Accept(f *File) {
	f.pend |= OpAccept
	if f.st&stAdded == 0 {
		// Level-triggered, because a batch may leave connections behind; exclusive, because loops may share it.
		if sys.RawEpollAdd(e.ep, int(f.Fd), unix.EPOLLIN|unix.EPOLLEXCLUSIVE, f.slot) >= 0 {
			f.st |= stAdded
		} else {
			e.ready.push(f)
		}
	}
}

func (e *epoll) Await(f *File, op Ops) {
	if op == OpPollIn {
		f.st &^= stRead
	} else {
		f.st &^= stWrite
	}
	if r := e.wait(f, op); r != Pending {
		f.pend |= op
		e.ready.push(f)
	}
}

func (e *epoll) Cancel(f *File, ops Ops) Ops {
	f.pend &^= ops
	if ops&OpAccept != 0 && f.st&stAdded != 0 {
		sys.RawEpollDel(e.ep, int(f.Fd))
		f.st &^= stAdded
		e.ready.drop(f)
	}
	if ops&OpRecv != 0 {
		e.starved.drop(f)
	}
	return 0
}

func (e *epoll) Close(f *File, abort bool) Ops {
	if abort {
		sys.RawLingerZero(int(f.Fd))
	}
	sys.RawClose(int(f.Fd))
	f.Fd = -1
	e.forget(f)
	return 0
}

func (e *epoll) Poll(timeout int64, budget int) int {
	e.settle()
	if e.nudge || e.ready.head != nil {
		e.nudge, timeout = false, 0
	}
	if e.starved.head != nil && (timeout < 0 || timeout > starveWait) {
		timeout = starveWait
	}
	evs := e.events[:min(len(e.events), max(budget, 1))]
	n := e.look(evs, timeout)
	e.cfg.Woke()
	done := 0
	for last := e.ready.tail; last != nil; {
		f := e.ready.pop()
		e.event(f, unix.EPOLLIN|unix.EPOLLOUT)
		done++
		if f == last {
			break
		}
	}
	for i := 0; i < n; i++ {
		if slot := evs[i].Fd; slot != 0 {
			if f := e.files[slot]; f != nil {
				e.event(f, evs[i].Events)
				done++
			}
		}
	}
	if e.starved.head != nil {
		e.feed()
	}
	e.stats.Events.Add(uint64(done))
	return done
}

// look asks the kernel for events, waiting for at most timeout nanoseconds, without end if it is negative.
func (e *epoll) look(evs []unix.EpollEvent, timeout int64) int {
	e.stats.Enters.Inc()
	if timeout == 0 {
		return sys.RawEpollWait(e.ep, evs)
	}
	e.stats.Sleeps.Inc()
	if !e.noNap {
		nap := int64(napTime)
		if timeout > 0 {
			nap = min(nap, timeout)
		}
		n := sys.EpollNap(e.ep, evs, nap)
		e.noNap = n == -int(unix.ENOSYS)
		if n != 0 && !e.noNap || nap == timeout {
			return n
		}
		if timeout > 0 {
			timeout -= nap
		}
		e.stats.Enters.Inc()
	}
	e.stats.Deep.Inc()
	ms := -1
	if timeout > 0 {
		ms = int(min((timeout+999_999)/1_000_000, 1<<30))
	}
	return sys.EpollWait(e.ep, evs, ms)
}

// event records what is ready and completes the operations that waited for it.
func (e *epoll) event(f *File, ev uint32) {
	if f.pend&OpAccept != 0 {
		e.acceptSome(f)
		return
	}
	if ev&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
		f.st |= stRead | stHup
	}
	if ev&unix.EPOLLIN != 0 {
		f.st |= stRead
	}
	if ev&(unix.EPOLLOUT|unix.EPOLLERR|unix.EPOLLHUP) != 0 {
		f.st |= stWrite
	}
	slot := f.slot
	if f.pend&OpConnect != 0 && f.st&stWrite != 0 {
		f.pend &^= OpConnect
		v, r := sys.RawGetInt(int(f.Fd), unix.SOL_SOCKET, unix.SO_ERROR)
		if r == 0 {
			r = -v
		}
		f.H.Complete(f, OpConnect, r, nil)
	}
	if f.slot == slot && f.pend&OpRecv != 0 && f.st&(stRead|stQueued) == stRead {
		f.pend &^= OpRecv
		f.H.Complete(f, OpRecv, Readable, nil)
	}
	if f.slot == slot && f.pend&OpSend != 0 && f.st&stWrite != 0 {
		f.pend &^= OpSend
		f.H.Complete(f, OpSend, 0, nil)
	}
	if f.slot == slot && f.pend&OpPollIn != 0 && f.st&stRead != 0 {
		f.pend &^= OpPollIn
		f.H.Complete(f, OpPollIn, int(ev), nil)
	}
	if f.slot == slot && f.pend&OpPollOut != 0 && f.st&stWrite != 0 {
		f.pend &^= OpPollOut
		f.H.Complete(f, OpPollOut, int(ev), nil)
	}
}

func (e *epoll) acceptSome(f *File) {
	slot := f.slot
	for range acceptBatch {
		r := sys.RawAccept(int(f.Fd), &e.peer, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		switch {
		case r == -int(unix.EAGAIN):
			return
		case r == -int(unix.EINTR) || r == -int(unix.ECONNABORTED):
			continue
		case r < 0:
			f.pend &^= OpAccept
			if f.st&stAdded != 0 {
				sys.RawEpollDel(e.ep, int(f.Fd))
				f.st &^= stAdded
			}
			f.H.Complete(f, OpAccept, r, nil)
			return
		}
		e.hasPeer = true
		f.H.Complete(f, OpAccept, r, nil)
		e.hasPeer = false
		if f.slot != slot || f.pend&OpAccept == 0 {
			return
		}
	}
}

// feed lets receives that found no buffer try again, as many as there are buffers.
func (e *epoll) feed() {
	for last := e.starved.tail; last != nil; {
		b := e.pool.Get(e.starved.head.want)
		if b == nil {
			return
		}
		b.Release()
		f := e.starved.pop()
		if f == last {
			last = nil
		}
		if f.pend&OpRecv != 0 {
			f.pend &^= OpRecv
			f.H.Complete(f, OpRecv, Readable, nil)
		}
	}
}

func (e *epoll) Destroy() error {
	for _, f := range e.files {
		if f == nil {
			continue
		}
		for op := OpRecv; op <= OpPollOut; op <<= 1 {
			if f.slot != 0 && f.pend&op != 0 {
				f.pend &^= op
				f.H.Complete(f, op, -int(unix.ECANCELED), nil)
			}
		}
	}
	r1, r2 := unix.Close(e.ep), unix.Close(e.ev)
	if r1 != nil {
		return r1
	}
	return r2
}
