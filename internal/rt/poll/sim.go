package poll

import (
	"errors"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"weir/internal/base/buf"
	"weir/internal/rt/sys"
)

// simPoller is a poller on a Sim. It behaves by turns like the others: results at once, readiness, or completions.
type simPoller struct {
	table
	*Sim
	pool  *buf.Pool
	wake  chan struct{}
	woke  func()
	nudge bool
	peer  netip.AddrPort
	stats Stats
	ops   []*simSock // attached, in order of attachment
}

// simSend is a send under way.
type simSend struct {
	b      *buf.Buf
	want   int // bytes that were queued when it began
	after  int64
	silent bool // does not end a sleep when all is sent
	sent   int
	done   bool
}

// Maker makes the poller of a loop on this network.
func (n *Sim) Maker() Maker {
	return func(cfg Config) (Poller, error) {
		if cfg.Woke == nil {
			cfg.Woke = func() {}
		}
		return &simPoller{Sim: n, pool: cfg.Pool, woke: cfg.Woke, wake: make(chan struct{}, 1)}, nil
	}
}

func (s *simPoller) Kind() Kind               { return Simulated }
func (s *simPoller) Start() error             { return nil }
func (s *simPoller) Stats() *Stats            { return &s.stats }
func (s *simPoller) Attached() int            { return s.table.n }
func (s *simPoller) Nudge()                   { s.nudge = true }
func (s *simPoller) Idle() bool               { return false }
func (s *simPoller) Accepted() netip.AddrPort { return s.peer }

func (s *simPoller) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Socket, Name and CloseFd make it a Net.
func (s *simPoller) Socket(from netip.AddrPort) (int, error) {
	x := s.make()
	if from.IsValid() {
		if from.Port() == 0 {
			from = netip.AddrPortFrom(from.Addr(), x.local.Port())
		}
		x.local = from
	}
	return x.fd, nil
}

func (s *simPoller) Name(fd int, peer bool) netip.AddrPort {
	x := s.socks[fd]
	switch {
	case x == nil:
		return netip.AddrPort{}
	case peer:
		return x.remote
	}
	return x.local
}

func (s *simPoller) CloseFd(fd int) {
	if x := s.socks[fd]; x != nil {
		x.close(false)
	}
}

var errBadFd = errors.New("poll: not a simulated descriptor")

func (s *simPoller) Attach(f *File, _ bool) error {
	x := s.socks[int(f.Fd)]
	if x == nil || x.f != nil {
		return errBadFd
	}
	f.pend, f.st = 0, 0
	x.f = f
	s.add(f)
	s.ops = append(s.ops, x)
	return nil
}

func (s *simPoller) Detach(f *File) {
	if f.pend != 0 {
		panic("poll: detached with operations under way")
	}
	i := slices.IndexFunc(s.ops, func(x *simSock) bool { return x.f == f })
	s.ops[i].f = nil
	s.ops = slices.Delete(s.ops, i, i+1)
	s.remove(f)
}

func (s *simPoller) sock(f *File) *simSock { return s.socks[int(f.Fd)] }

// delay arms an operation that could be done now, to be looked at a little later.
func (s *simPoller) delay() int64 { return s.clk.Now() + 1 + s.rng.Int64N(50_000) }

func (s *simPoller) Recv(f *File, c buf.Class) (*buf.Buf, int) {
	x := s.sock(f)
	f.want = c
	if s.hit(s.faults.Again) || s.hit(s.faults.Full) {
		x.recvAfter = s.delay()
	} else if at := x.readableAt(); at != 0 && at <= s.clk.Now() && s.rng.IntN(2) == 0 {
		if b, n := s.receive(x, c); n != Pending {
			return b, n
		}
	}
	f.pend |= OpRecv
	return nil, Pending
}

// receive is the receive itself.
func (s *simPoller) receive(x *simSock, c buf.Class) (*buf.Buf, int) {
	if s.hit(s.faults.NoBuf) {
		s.stats.NoBuffer.Inc()
		x.recvAfter = s.delay()
		return nil, Pending
	}
	if s.reset() {
		s.breakDown(x)
	}
	b := s.pool.Get(c)
	if b == nil {
		s.stats.NoBuffer.Inc()
		x.recvAfter = s.clk.Now() + 100_000
		return nil, Pending
	}
	room := b.Space()
	if s.hit(s.faults.Short) {
		room = room[:1+s.rng.IntN(min(len(room), 100))]
	}
	n := x.pull(room)
	if n > 0 {
		b.W = n
		return b, n
	}
	b.Release()
	return nil, n
}

// breakDown resets both ends.
func (s *simPoller) breakDown(x *simSock) {
	now := s.clk.Now()
	for _, y := range []*simSock{x, x.other} {
		if y != nil && !y.closed {
			y.in, y.inLen, y.rstAt = nil, 0, now
		}
	}
}

func (s *simPoller) Send(f *File, b *buf.Buf, notify bool) int {
	x := s.sock(f)
	o := &x.out
	*o = simSend{b: b}
	n := 0
	for k := b; k != nil && n < sys.MaxVec; k = k.Next() {
		o.want += k.Len()
		n++
	}
	o.silent = !notify
	switch {
	case s.hit(s.faults.Again) || s.hit(s.faults.Full):
		o.after = s.delay()
		o.silent = false
	case s.rng.IntN(2) == 0:
		if r := s.transmit(x); r != Pending {
			o.b = nil
			return r
		}
		o.silent = false
	}
	f.pend |= OpSend
	return Pending
}

// transmit moves what the window allows: bytes, a negated errno, or Pending.
func (s *simPoller) transmit(x *simSock) int {
	if s.reset() {
		s.breakDown(x)
	}
	n := x.room()
	if n < 0 {
		return n
	}
	n = min(n, x.out.want)
	if n > 1 && s.hit(s.faults.Short) {
		n = 1 + s.rng.IntN(n)
	}
	if n == 0 {
		return Pending
	}
	left := n
	for b := x.out.b; left > 0; b = b.Next() {
		p := b.Bytes()
		p = p[:min(len(p), left)]
		x.push(p)
		left -= len(p)
	}
	return n
}

func (s *simPoller) Connect(f *File, a *sys.SockAddr) int {
	x := s.sock(f)
	to := s.ports[a.IP()]
	x.refused = to == nil || s.hit(s.faults.Refuse)
	x.remote = a.IP()
	if s.rng.IntN(3) == 0 {
		if x.refused {
			return -int(unix.ECONNREFUSED)
		}
		s.pair(x, to)
		return 0
	}
	x.connectTo, x.connectAt = to, s.clk.Now()+s.latency()
	f.pend |= OpConnect
	return Pending
}

func (s *simPoller) Accept(f *File)        { f.pend |= OpAccept }
func (s *simPoller) Await(f *File, op Ops) { f.pend |= op }
func (s *simPoller) Submit()               { s.transmitAll() }

func (s *simPoller) Shutdown(f *File) int { return s.sock(f).shutdown() }

func (s *simPoller) Cancel(f *File, ops Ops) Ops {
	ops &= f.pend
	if ops == 0 {
		return 0
	}
	x := s.sock(f)
	if ops&OpSend != 0 && x.out.done {
		return ops // its completion is on the way
	}
	if s.rng.IntN(2) == 0 {
		f.pend &^= ops
		if ops&OpSend != 0 {
			x.out = simSend{}
		}
		return 0
	}
	x.cancelled |= ops
	return ops
}

func (s *simPoller) Close(f *File, abort bool) Ops {
	x := s.sock(f)
	owed := s.Cancel(f, f.pend)
	x.close(abort)
	f.Fd = -1
	return owed
}

func (s *simPoller) Poll(timeout int64, budget int) int {
	s.settle()
	s.stats.Enters.Inc()
	s.transmitAll()
	if s.nudge {
		s.nudge, timeout = false, 0
	}
	end := s.clk.Now() + max(timeout, 0)
	for {
		s.woke()
		if n := s.deliver(budget, false); n > 0 {
			n += s.deliver(budget-n, true)
			s.stats.Events.Add(uint64(n))
			return n
		}
		select {
		case <-s.wake:
			timeout = 0
		default:
		}
		if timeout == 0 || timeout > 0 && s.clk.Now() >= end {
			return s.deliver(budget, true)
		}
		next := s.nextEvent()
		if timeout > 0 && (next == 0 || next > end) {
			next = end
		}
		if next == 0 {
			<-s.wake
			timeout = 0
			continue
		}
		if next-s.clk.Now() > longLeap {
			// Nothing is under way on the network; another thread may be at work for the loop.
			select {
			case <-s.wake:
				timeout = 0
				continue
			case <-time.After(leapWait):
			}
		}
		s.clk.AdvanceTo(next)
	}
}

// Before time leaps by more than longLeap, other threads get leapWait of real time to end the sleep.
const (
	longLeap = int64(time.Second)
	leapWait = 100 * time.Millisecond
)

// transmitAll sends what was submitted, as the kernel does before it sleeps.
func (s *simPoller) transmitAll() {
	for _, x := range s.ops {
		o := &x.out
		if o.b == nil || o.done || x.closed || x.cancelled&OpSend != 0 || o.after > s.clk.Now() {
			continue
		}
		r := s.transmit(x)
		if r == Pending {
			o.silent = false
			continue
		}
		o.done, o.sent = true, r
		o.silent = o.silent && r == o.want
	}
}

// nextEvent is the next time at which something happens, 0 = never.
func (s *simPoller) nextEvent() int64 {
	at := int64(0)
	now := s.clk.Now()
	early := func(t int64) {
		if t != 0 && (at == 0 || t < at) {
			at = max(t, now)
		}
	}
	for _, x := range s.ops {
		p := x.f.pend
		if x.cancelled != 0 {
			early(now)
		}
		if x.closed {
			continue
		}
		if p&(OpRecv|OpPollIn) != 0 {
			early(x.readableAt())
		}
		if p&OpConnect != 0 {
			early(x.connectAt)
		}
		if p&OpSend != 0 && !x.out.silent {
			if r := x.room(); r != 0 || x.out.done {
				early(max(x.out.after, now))
			}
		}
		if p&OpAccept != 0 && len(x.backlog) > 0 || p&OpPollOut != 0 && x.room() != 0 {
			early(now)
		}
	}
	return at
}

// deliver completes what is ready, in random order; silent sends only when asked for.
func (s *simPoller) deliver(budget int, silent bool) int {
	s.transmitAll()
	done := 0
	xs := slices.Clone(s.ops)
	s.rng.Shuffle(len(xs), func(i, j int) { xs[i], xs[j] = xs[j], xs[i] })
	for _, x := range xs {
		for op := OpRecv; op <= OpPollOut && done < budget; op <<= 1 {
			if f := x.f; f != nil && f.pend&op != 0 && s.one(x, f, op, silent) {
				done++
			}
		}
	}
	return done
}

// one completes op on x if it is ready.
func (s *simPoller) one(x *simSock, f *File, op Ops, silent bool) bool {
	now := s.clk.Now()
	if x.cancelled&op != 0 {
		x.cancelled &^= op
		f.pend &^= op
		if op == OpSend {
			x.out = simSend{}
		}
		f.H.Complete(f, op, -int(unix.ECANCELED), nil)
		return true
	}
	switch op {
	case OpSend:
		o := x.out
		if !o.done || o.silent && !silent {
			return false
		}
		x.out = simSend{}
		f.pend &^= op
		f.H.Complete(f, op, o.sent, nil)
		return true
	case OpAccept:
		return !x.closed && s.acceptOne(x, f)
	}
	if x.closed {
		return false
	}
	switch op {
	case OpRecv:
		return s.recvOne(x, f, now)
	case OpConnect:
		if x.connectAt > now {
			return false
		}
		f.pend &^= op
		r := 0
		if x.refused || x.connectTo.closed {
			r = -int(unix.ECONNREFUSED)
		} else {
			s.pair(x, x.connectTo)
		}
		f.H.Complete(f, op, r, nil)
		return true
	case OpPollIn:
		if at := x.readableAt(); at == 0 || at > now {
			return false
		}
	case OpPollOut:
		if x.room() == 0 {
			return false
		}
	}
	f.pend &^= op
	f.H.Complete(f, op, 1, nil)
	return true
}

func (s *simPoller) recvOne(x *simSock, f *File, now int64) bool {
	if at := x.readableAt(); at == 0 || at > now {
		return false
	}
	if s.rng.IntN(3) == 0 {
		f.pend &^= OpRecv
		f.H.Complete(f, OpRecv, Readable, nil)
		return true
	}
	b, n := s.receive(x, f.want)
	if n == Pending {
		return false
	}
	f.pend &^= OpRecv
	f.H.Complete(f, OpRecv, n, b)
	return true
}

func (s *simPoller) acceptOne(x *simSock, f *File) bool {
	if len(x.backlog) == 0 {
		return false
	}
	if s.hit(s.faults.Accept) {
		f.pend &^= OpAccept
		f.H.Complete(f, OpAccept, -int(unix.EMFILE), nil)
		return true
	}
	b := x.backlog[0]
	x.backlog = x.backlog[1:]
	s.peer = b.remote
	f.H.Complete(f, OpAccept, b.fd, nil)
	s.peer = netip.AddrPort{}
	return true
}

func (s *simPoller) Destroy() error {
	for _, x := range slices.Clone(s.ops) {
		for op := OpRecv; op <= OpPollOut; op <<= 1 {
			if f := x.f; f != nil && f.pend&op != 0 {
				f.pend &^= op
				f.H.Complete(f, op, -int(unix.ECANCELED), nil)
			}
		}
	}
	return nil
}
