package poll

import (
	"errors"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"

	"weir/internal/base/buf"
	"weir/internal/rt/sys"
)

// A completion names its file and operation: file number << 8 | part << 6 | operation. Number 0 is the poller itself;
// the part tells the accepts of a listener apart.
const (
	udIgnore = 0
	udWake   = 1
)

type uring struct {
	table
	ring    *sys.Ring
	cfg     Config
	pool    *buf.Pool
	groups  [buf.Classes]group
	vecs    []*sys.Vec      // by submission entry
	addrs   []*sys.SockAddr // by submission entry
	accepts map[*File]*accepting
	peer    sys.SockAddr
	batch   []batched
	owed    int // completions to come, the wake-up descriptor's not counted
	ev      int
	evBuf   []byte
	nudge   bool
	started bool
	stopped bool
	stats   Stats
}

// batched is a send that completes when its submission has been consumed, unless a failure was reported.
type batched struct {
	f    *File
	mark uint32
}

func newUring(cfg Config) (*uring, error) {
	size := cfg.Ring
	if size <= 0 {
		size = 1024
	}
	r, err := sys.NewRing(uint32(size), uint32(size)*4)
	if err != nil {
		return nil, err
	}
	if err := probeRing(r); err != nil {
		r.Close()
		return nil, err
	}
	ev, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	n := int(r.Slots())
	return &uring{ring: r, cfg: cfg, pool: cfg.Pool, ev: ev, evBuf: make([]byte, 8),
		vecs: make([]*sys.Vec, n), addrs: make([]*sys.SockAddr, n), accepts: map[*File]*accepting{}}, nil
}

// probeRing checks for the operations that the poller uses, and for rings of provided buffers.
func probeRing(r *sys.Ring) error {
	if err := r.Probe(sys.OpPollAdd, sys.OpSendmsg, sys.OpAccept, sys.OpAsyncCancel, sys.OpConnect, sys.OpClose, sys.OpRead, sys.OpSend, sys.OpRecv); err != nil {
		return err
	}
	b, err := r.NewBufRing(1000, 1)
	if err != nil {
		return err
	}
	b.Close()
	return nil
}

func (u *uring) Kind() Kind               { return Uring }
func (u *uring) Stats() *Stats            { return &u.stats }
func (u *uring) Attached() int            { return u.n }
func (u *uring) Nudge()                   { u.nudge = true }
func (u *uring) Wake()                    { wakeFd(u.ev) }
func (u *uring) Accepted() netip.AddrPort { return u.peer.IP() }
func (u *uring) Shutdown(f *File) int     { return sys.RawShutdown(int(f.Fd), unix.SHUT_WR) }

func (u *uring) Idle() bool {
	return u.ring.Ready() == 0 && u.ring.Pending() == 0 && !u.ring.Work() && !u.nudge
}

func (u *uring) Start() error {
	if err := u.ring.Enable(); err != nil {
		return err
	}
	u.started = true
	u.armWake()
	u.startAccepts()
	return nil
}

// armWake keeps a read on the wake-up descriptor under way.
func (u *uring) armWake() {
	s := u.sqe()
	s.Op, s.Fd, s.Addr, s.Len, s.UserData = sys.OpRead, int32(u.ev), sys.Addr(u.evBuf), 8, udWake
}

// sqe hands out a submission entry, submitting first when the queue is full.
func (u *uring) sqe() *sys.SQE {
	for try := 0; ; try++ {
		if s := u.ring.Next(); s != nil {
			return s
		}
		u.stats.QueueFull.Inc()
		if try > 100 {
			panic("io_uring: the kernel takes no submissions")
		}
		u.Submit()
	}
}

func (f *File) ud(op Ops) uint64 { return uint64(f.slot)<<8 | uint64(op) }

// arm fills in what all armed operations have in common.
func (u *uring) arm(f *File, op Ops, code uint8) *sys.SQE {
	s := u.sqe()
	s.Op, s.Fd, s.UserData = code, f.Fd, f.ud(op)
	f.pend |= op
	u.owed++
	return s
}

func (u *uring) Attach(f *File, fresh bool) error {
	// io_uring fails operations on non-blocking descriptors instead of waiting for readiness.
	if !fresh {
		if r := sys.RawNonblock(int(f.Fd), false); r < 0 {
			return sys.Errno(r)
		}
	}
	f.pend, f.st = 0, 0
	u.add(f)
	return nil
}

func (u *uring) Detach(f *File) {
	if f.pend != 0 {
		panic("poll: detached with operations under way")
	}
	u.remove(f)
	delete(u.accepts, f)
	f.st = 0
}

func (u *uring) Recv(f *File, c buf.Class) (*buf.Buf, int) {
	if f.st&stRead != 0 {
		// The last completion said that there is more: one system call now is cheaper than waiting for a turn.
		if b, n := u.recvNow(f, c); n != Pending {
			return b, n
		}
	}
	u.armRecv(f, c)
	return nil, Pending
}

func (u *uring) recvNow(f *File, c buf.Class) (*buf.Buf, int) {
	b := u.pool.Get(c)
	if b == nil {
		return nil, Pending
	}
	for {
		n := sys.RawRecv(int(f.Fd), b.Space(), 0)
		u.stats.Recvs.Inc()
		switch {
		case n > 0:
			b.W = n
			if n < b.Cap() {
				f.st = f.st&^stRead | stEmpty
			}
			return b, n
		case n == -int(unix.EINTR):
			continue
		case n == -int(unix.EAGAIN):
			f.st = f.st&^stRead | stEmpty
			n = Pending
		}
		b.Release()
		return nil, n
	}
}

func (u *uring) armRecv(f *File, c buf.Class) {
	u.group(c)
	s := u.arm(f, OpRecv, sys.OpRecv)
	s.Flags = sys.SqeBufferSelect
	s.BufGroup = uint16(c)
	if f.st&stEmpty != 0 {
		s.Prio = sys.RecvPollFirst
	}
	f.want = c
}

func (u *uring) Send(f *File, b *buf.Buf, notify bool) int {
	var s *sys.SQE
	if b.Next() == nil {
		s = u.sqe()
		s.Op, s.Addr, s.Len = sys.OpSend, sys.Addr(b.Bytes()), uint32(b.Len())
		f.len = int32(b.Len())
	} else {
		s = u.sqe()
		v := u.vec()
		_, n := v.Fill(b)
		s.Op, s.Addr, s.Len = sys.OpSendmsg, v.Addr(), 1
		f.len = int32(n)
	}
	s.Fd, s.UserData = f.Fd, f.ud(OpSend)
	s.OpFlags = unix.MSG_NOSIGNAL | unix.MSG_WAITALL
	if f.Last {
		s.OpFlags |= unix.MSG_MORE
	}
	f.pend |= OpSend
	f.st &^= stBatch
	if f.st&stFull != 0 {
		// The peer reads slowly: what it takes is reported as it takes it, so that it does not look dead.
		s.OpFlags &^= unix.MSG_WAITALL
		u.owed++
		return Pending
	}
	// The usual send fits into the socket's buffer: it is done when its submission has been consumed, and only a
	// failure or a short count is reported. That saves a completion for each, and lets one call submit and sleep.
	s.OpFlags |= unix.MSG_DONTWAIT
	s.Flags = sys.SqeCqeSkipSuccess
	f.st |= stBatch
	f.mark = u.ring.Mark() - 1
	u.batch = append(u.batch, batched{f, f.mark})
	if notify {
		u.nudge = true
	}
	return Pending
}

// vec is the message header that belongs to the submission entry handed out last.
func (u *uring) vec() *sys.Vec {
	i := (u.ring.Mark() - 1) & (u.ring.Slots() - 1)
	if u.vecs[i] == nil {
		u.vecs[i] = new(sys.Vec)
	}
	return u.vecs[i]
}

func (u *uring) Connect(f *File, a *sys.SockAddr) int {
	s := u.arm(f, OpConnect, sys.OpConnect)
	s.Addr, s.Off = a.Addr(), uint64(a.Len())
	u.addrs[(u.ring.Mark()-1)&(u.ring.Slots()-1)] = a
	f.st |= stEmpty
	return Pending
}

func (u *uring) Await(f *File, op Ops) {
	s := u.arm(f, op, sys.OpPollAdd)
	if op == OpPollIn {
		s.OpFlags = unix.POLLIN | unix.POLLRDHUP
	} else {
		s.OpFlags = unix.POLLOUT
	}
}

func (u *uring) Cancel(f *File, ops Ops) Ops {
	ops &= f.pend
	if ops&OpRecv != 0 && f.st&stQueued != 0 {
		u.groups[f.want].starved.drop(f)
		f.pend &^= OpRecv
		ops &^= OpRecv
	}
	for op := OpRecv; op <= OpPollOut; op <<= 1 {
		switch {
		case ops&op == 0 || op == OpSend && f.st&stBatch != 0:
		case op == OpAccept:
			u.stopAccept(f)
		default:
			u.cancel(f.ud(op))
		}
	}
	return ops & f.pend
}

func (u *uring) cancel(ud uint64) {
	s := u.sqe()
	s.Op, s.Fd, s.Addr, s.UserData = sys.OpAsyncCancel, -1, ud, udIgnore
	s.Flags = sys.SqeCqeSkipSuccess
}

func (u *uring) Close(f *File, abort bool) Ops {
	if abort {
		sys.RawLingerZero(int(f.Fd))
	}
	owed := Ops(0)
	if f.pend != 0 {
		owed = u.Cancel(f, f.pend)
	}
	s := u.sqe()
	s.Op, s.Fd, s.UserData = sys.OpClose, f.Fd, udIgnore
	s.Flags = sys.SqeCqeSkipSuccess
	f.Fd = -1
	return owed
}

func (u *uring) Submit() {
	if u.ring.Pending() == 0 {
		return
	}
	u.stats.Submits.Inc()
	if r := u.ring.Submit(); r == -int(unix.EBUSY) || r == -int(unix.EAGAIN) {
		// Completions must be collected before the kernel takes more: Enter brings them into the queue.
		u.ring.Enter()
	}
}

func (u *uring) Poll(timeout int64, budget int) int {
	u.settle()
	for c := range u.groups {
		if u.groups[c].starved.head != nil && (timeout < 0 || timeout > starveWait) {
			timeout = starveWait
		}
	}
	if u.nudge {
		u.nudge, timeout = false, 0
	}
	if u.ring.Ready() > 0 {
		timeout = 0
	}
	u.enter(timeout)
	u.cfg.Woke()
	done := u.reap(budget)
	u.stats.Events.Add(uint64(done))
	return done
}

// enter is the one system call of a turn: it submits, runs the kernel's completion work, and sleeps.
func (u *uring) enter(timeout int64) {
	switch {
	case timeout == 0:
		if u.ring.Pending() == 0 && !u.ring.Work() {
			return
		}
		u.stats.Enters.Inc()
		u.ring.Enter()
	case timeout > 0 && timeout <= napTime:
		u.stats.Enters.Inc()
		u.stats.Sleeps.Inc()
		u.ring.Nap(timeout)
	default:
		u.stats.Enters.Inc()
		u.stats.Sleeps.Inc()
		if r := u.ring.Nap(napTime); r == -int(unix.ETIME) {
			if timeout > 0 {
				timeout -= napTime
			}
			u.stats.Enters.Inc()
			u.stats.Deep.Inc()
			u.ring.Wait(timeout)
		}
	}
}

// reap delivers completions, then finishes the sends that were consumed without a report.
func (u *uring) reap(budget int) int {
	done := 0
	for ; done < budget && u.ring.Ready() > 0; done++ {
		c := u.ring.CQE(0)
		u.ring.Seen(1)
		u.complete(c)
	}
	if u.ring.Overflown() {
		u.stats.Overflow.Inc()
		u.nudge = true
	} else if len(u.batch) > 0 && u.ring.Ready() == 0 {
		u.finishBatch()
	}
	for c := range u.groups {
		g := &u.groups[c]
		if g.ring != nil && (g.dirty || g.starved.head != nil) {
			u.feed(buf.Class(c))
		}
	}
	return done
}

// finishBatch completes sends of which the kernel reported nothing, which means that all went out.
func (u *uring) finishBatch() {
	keep := 0
	for i := 0; i < len(u.batch); i++ {
		e := u.batch[i]
		if !u.ring.Consumed(e.mark) {
			u.batch[keep] = e
			keep++
			continue
		}
		f := e.f
		if f.st&stBatch == 0 || f.mark != e.mark {
			continue // a failure was reported
		}
		f.st &^= stBatch
		f.pend &^= OpSend
		f.H.Complete(f, OpSend, int(f.len), nil)
	}
	clear(u.batch[keep:])
	u.batch = u.batch[:keep]
}

func (u *uring) complete(c sys.CQE) {
	slot := c.UserData >> 8
	if slot == 0 {
		if c.UserData == udWake && !u.stopped {
			u.armWake()
		}
		return
	}
	f := u.files[slot]
	op := Ops(c.UserData & 0x3f)
	res := int(c.Res)
	switch op {
	case OpRecv:
		u.owed--
		f.pend &^= OpRecv
		u.received(f, res, c.Flags)
		return
	case OpSend:
		u.sent(f, res)
		return
	case OpAccept:
		u.accepted(f, int(c.UserData>>6&3), res)
		return
	}
	u.owed--
	f.pend &^= op
	f.H.Complete(f, op, res, nil)
}

// sent handles the report of a send: of a batched one that failed or was short, or of one that waited for room.
func (u *uring) sent(f *File, res int) {
	if f.st&stBatch != 0 {
		f.st &^= stBatch
	} else {
		u.owed--
	}
	f.pend &^= OpSend
	switch {
	case res == int(f.len):
		f.st &^= stFull
	case res >= 0 || res == -int(unix.EAGAIN):
		f.st |= stFull
		res = max(res, 0)
	case res == -int(unix.EINTR):
		res = 0
	}
	f.H.Complete(f, OpSend, res, nil)
}

func (u *uring) received(f *File, res int, flags uint32) {
	var b *buf.Buf
	if flags&sys.CqeBuffer != 0 {
		b = u.groups[f.want].take(u.pool, f.want, uint16(flags>>sys.CqeBufferShift))
		if res > 0 {
			b.W = res
		} else {
			b.Release()
			b = nil
		}
	}
	if flags&sys.CqeSockNonempty != 0 {
		f.st = f.st&^stEmpty | stRead
	} else {
		f.st = f.st&^stRead | stEmpty
	}
	switch res {
	case -int(unix.ENOBUFS):
		u.stats.NoBuffer.Inc()
		f.st &^= stEmpty
		f.pend |= OpRecv
		g := &u.groups[f.want]
		g.grow()
		g.starved.push(f)
		return
	case -int(unix.EINTR), -int(unix.EAGAIN):
		u.armRecv(f, f.want)
		return
	}
	f.H.Complete(f, OpRecv, res, b)
}

// Destroy cancels everything, waits for the kernel to let go of all memory, and frees the ring.
func (u *uring) Destroy() error {
	u.stopped = true
	for c := range u.groups {
		for f := u.groups[c].starved.pop(); f != nil; f = u.groups[c].starved.pop() {
			f.pend &^= OpRecv
			f.H.Complete(f, OpRecv, -int(unix.ECANCELED), nil)
		}
	}
	s := u.sqe()
	s.Op, s.Fd, s.UserData = sys.OpAsyncCancel, -1, udIgnore
	s.OpFlags = sys.CancelAll | sys.CancelAny
	for tries := 0; u.owed > 0 || u.ring.Pending() > 0 || len(u.batch) > 0; tries++ {
		if tries > 1000 {
			// Giving the memory up is the safe end: the kernel may still write to it.
			leaked := u
			go func() { <-make(chan struct{}); _ = leaked.owed }()
			return fmt.Errorf("io_uring: %d operations do not end (%d not submitted, %d sends): their memory is given up", u.owed, u.ring.Pending(), len(u.batch))
		}
		u.ring.Wait(1_000_000)
		u.reap(1 << 20)
	}
	for c := range u.groups {
		u.groups[c].close()
	}
	return errors.Join(u.ring.Close(), unix.Close(u.ev))
}
