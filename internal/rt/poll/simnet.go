package poll

import (
	"math/rand/v2"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"weir/internal/rt/clock"
)

// Faults is what goes wrong on a simulated network, each in percent of the operations it applies to.
type Faults struct {
	Short   int // receives and sends that move only a part
	Again   int // operations that find nothing although something is there, and have to wait
	NoBuf   int // receives that find no buffer at first
	Full    int // submissions that have to wait because the queue is full
	Accept  int // accepts that fail for lack of descriptors
	Refuse  int // connects that are refused
	ResetPM int // receives and sends that find the connection reset, per ten thousand
}

// AllFaults has every fault that leaves connections alive at the same rate.
func AllFaults(percent int) Faults {
	return Faults{Short: percent, Again: percent, NoBuf: percent, Full: percent, Accept: percent}
}

// Sim is a simulated network with its clock, for one loop: with the same seed the same things happen in the same order,
// as long as no other thread has a part in it. Time passes only when the loop has nothing to do.
type Sim struct {
	rng    *rand.Rand
	clk    *clock.Sim
	faults Faults
	socks  map[int]*simSock
	ports  map[netip.AddrPort]*simSock
	nextFd int
	port   uint16
}

// simSock is one end of a simulated connection, or a listener.
type simSock struct {
	net    *Sim
	fd     int
	f      *File
	other  *simSock
	local  netip.AddrPort
	remote netip.AddrPort

	in     []packet
	inLen  int
	window int // how much the other side may have under way to this end
	finAt  int64
	rstAt  int64
	shut   bool
	closed bool

	listening bool
	backlog   []*simSock
	connectAt int64 // when connecting completes
	connectTo *simSock
	refused   bool
	out       simSend
	cancelled Ops // to be completed with ECANCELED
	recvAfter int64
}

// packet is data under way.
type packet struct {
	at int64
	p  []byte
}

// NewSim makes a network.
func NewSim(seed uint64, f Faults) *Sim {
	return &Sim{
		rng: rand.New(rand.NewPCG(seed, 0x5eed)), faults: f,
		clk:   clock.NewSim(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)),
		socks: map[int]*simSock{}, ports: map[netip.AddrPort]*simSock{},
		nextFd: 100_000, port: 20000,
	}
}

// Clock is the network's time.
func (n *Sim) Clock() *clock.Sim { return n.clk }

// Open is the number of sockets that exist.
func (n *Sim) Open() int { return len(n.socks) }

func (n *Sim) hit(percent int) bool { return percent > 0 && n.rng.IntN(100) < percent }

func (n *Sim) reset() bool { return n.faults.ResetPM > 0 && n.rng.IntN(10000) < n.faults.ResetPM }

// latency is how long something takes to get to the other side.
func (n *Sim) latency() int64 { return n.rng.Int64N(200_000) }

func (n *Sim) make() *simSock {
	n.nextFd++
	n.port++
	s := &simSock{net: n, fd: n.nextFd, window: 1 << (12 + n.rng.IntN(7))}
	s.local = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), n.port)
	n.socks[s.fd] = s
	return s
}

// Listen makes a listening socket.
func (n *Sim) Listen() (fd int, at netip.AddrPort) {
	s := n.make()
	s.listening = true
	n.ports[s.local] = s
	return s.fd, s.local
}

// pair connects a to a new socket in the backlog of listener to.
func (n *Sim) pair(a, to *simSock) {
	b := n.make()
	b.local, b.remote = to.local, a.local
	a.remote = to.local
	a.other, b.other = b, a
	to.backlog = append(to.backlog, b)
}

// close ends s: the other side sees the end of the stream, or a reset if input was left or if it is asked for.
func (s *simSock) close(abort bool) {
	if s.closed {
		return
	}
	s.closed = true
	delete(s.net.socks, s.fd)
	if s.listening {
		delete(s.net.ports, s.local)
		for _, b := range s.backlog {
			b.close(true)
		}
		s.backlog = nil
		return
	}
	if o := s.other; o != nil && !o.closed {
		at := s.lastArrival()
		if abort || s.inLen > 0 {
			if o.rstAt == 0 {
				o.rstAt = at
			}
		} else if !s.shut {
			o.finAt = at
		}
	}
	s.in, s.inLen = nil, 0
}

// lastArrival is a time at which what is sent now can arrive, after everything that was sent before.
func (s *simSock) lastArrival() int64 {
	at := s.net.clk.Now() + s.net.latency()
	if o := s.other; o != nil && len(o.in) > 0 {
		at = max(at, o.in[len(o.in)-1].at)
	}
	return at
}

// shutdown ends the sending direction.
func (s *simSock) shutdown() int {
	if s.other == nil {
		return -int(unix.ENOTCONN)
	}
	if !s.shut {
		s.shut = true
		if !s.other.closed {
			s.other.finAt = s.lastArrival()
		}
	}
	return 0
}

// room is how many bytes can be sent now, or a negated errno.
func (s *simSock) room() int {
	o := s.other
	switch {
	case o == nil:
		return -int(unix.ENOTCONN)
	case s.rstAt != 0 && s.rstAt <= s.net.clk.Now():
		return -int(unix.ECONNRESET)
	case s.shut:
		return -int(unix.EPIPE)
	case o.closed:
		// The other side is gone: what arrives there makes it answer with a reset.
		if s.rstAt == 0 {
			s.rstAt = s.net.clk.Now() + s.net.latency()
		}
		return 1 << 20
	}
	return max(o.window-o.inLen, 0)
}

// push sends p.
func (s *simSock) push(p []byte) {
	o := s.other
	if o.closed {
		return
	}
	o.in = append(o.in, packet{s.lastArrival(), append([]byte(nil), p...)})
	o.inLen += len(p)
}

// pull receives into p: bytes, 0 at the end, Pending, or a negated errno.
func (s *simSock) pull(p []byte) int {
	now := s.net.clk.Now()
	n := 0
	for len(s.in) > 0 && s.in[0].at <= now && n < len(p) {
		k := copy(p[n:], s.in[0].p)
		n += k
		s.inLen -= k
		if k == len(s.in[0].p) {
			s.in = s.in[1:]
		} else {
			s.in[0].p = s.in[0].p[k:]
		}
	}
	switch {
	case n > 0:
		return n
	case s.rstAt != 0 && s.rstAt <= now:
		return -int(unix.ECONNRESET)
	case len(s.in) == 0 && s.finAt != 0 && s.finAt <= now:
		return 0
	}
	return Pending
}

// readableAt is when input, the end or a reset is there: 0 = never.
func (s *simSock) readableAt() int64 {
	at := int64(0)
	early := func(t int64) {
		if t != 0 && (at == 0 || t < at) {
			at = t
		}
	}
	if len(s.in) > 0 {
		early(s.in[0].at)
	} else {
		early(s.finAt)
	}
	early(s.rstAt)
	if at != 0 {
		at = max(at, s.recvAfter)
	}
	return at
}
