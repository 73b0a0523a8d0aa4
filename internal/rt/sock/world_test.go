package sock

import (
	"errors"
	"io"
	"math/rand/v2"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"weir/internal/base/buf"
	"weir/internal/rt/loop"
	"weir/internal/rt/poll"
)

// A world is a loop with everything around it that a test needs. The same tests run in each kind of world.
type world struct {
	t        testing.TB
	l        *loop.Loop
	rng      *rand.Rand
	sim      *poll.Sim
	mu       sync.Mutex
	warns    []string
	left     int // fibers of the test that still run
	settling bool
	after    func() // at the end
	fds      int
}

var errLate = errors.New("test: nothing happened for too long")

// patience is how long a fiber of a test waits for one thing.
const patience = int64(20 * time.Second)

type setup struct {
	buffers buf.Config
	opt     loop.Options
	faults  poll.Faults
}

// worlds runs fn in each kind of world: it starts fibers with w.fiber and returns; the world ends when they have.
func worlds(t *testing.T, s setup, fn func(w *world)) {
	for _, k := range []poll.Kind{poll.Epoll, poll.Uring, poll.Simulated} {
		if s.faults != (poll.Faults{}) && k != poll.Simulated {
			continue
		}
		t.Run(k.String(), func(t *testing.T) {
			if k == poll.Uring {
				if err := poll.Probe(); err != nil {
					t.Skip(err)
				}
			}
			w := newWorld(t, k, s)
			fn(w)
			w.run()
		})
	}
}

func newWorld(t testing.TB, k poll.Kind, s setup) *world {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return newWorldSeeded(t, k, s, seed)
}

func newWorldSeeded(t testing.TB, k poll.Kind, s setup, seed uint64) *world {
	w := &world{t: t, rng: rand.New(rand.NewPCG(seed, 2)), fds: openFds()}
	o := s.opt
	o.Poller = k
	o.Buffers = buf.NewShared(s.buffers)
	o.Warn = func(m string) {
		w.mu.Lock()
		w.warns = append(w.warns, m)
		w.mu.Unlock()
	}
	o.OnPanic = func(f *loop.Fiber, v any, stack []byte) { t.Errorf("panic: %v\n%s", v, stack) }
	if k == poll.Simulated {
		w.sim = poll.NewSim(seed, s.faults)
		o.Custom, o.Clock = w.sim.Maker(), w.sim.Clock()
	}
	l, err := loop.New(o)
	if err != nil {
		t.Fatal(err)
	}
	w.l = l
	return w
}

// fiber starts a fiber of the test; the world ends with the last one.
func (w *world) fiber(name string, fn func(f *loop.Fiber)) {
	w.left++
	w.l.Go(func(f *loop.Fiber) {
		f.SetLabel(name)
		defer func() {
			if w.left--; w.left == 0 && !w.settling {
				w.settle(f)
			}
		}()
		fn(f)
	})
}

// settle waits for closed connections to be gone, and ends the loop.
func (w *world) settle(f *loop.Fiber) {
	w.settling = true
	end := w.l.Now() + patience
	for (w.l.Counters.Conns.Load() > 0 || w.left > 0) && w.l.Now() < end {
		f.Park(w.l.Now() + int64(time.Millisecond))
	}
	w.l.Stop()
}

// run runs the world to its end and checks that nothing is left over.
func (w *world) run() {
	w.t.Helper()
	errs := make(chan error, 1)
	go func() { errs <- w.l.Run() }()
	select {
	case err := <-errs:
		if err != nil {
			w.t.Error(err)
		}
	case <-time.After(60 * time.Second):
		w.l.Stop()
		w.t.Fatalf("the loop does not end; fibers wait for %v", w.l.Waiting())
	}
	if w.after != nil {
		w.after()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := w.l.Fibers(); n != 0 {
		w.t.Errorf("%d fibers left", n)
	}
	if n := w.l.Counters.Conns.Load(); n != 0 {
		w.t.Errorf("%d connections left", n)
	}
	if n := w.l.Pool().InUse(); n != 0 {
		w.t.Errorf("%d buffers left", n)
	}
	if n := w.l.Poller().Attached(); n != 0 {
		w.t.Errorf("%d descriptors left in the poller", n)
	}
	if len(w.warns) > 0 {
		w.t.Errorf("warnings: %s", strings.Join(w.warns, "\n"))
	}
	if w.sim != nil {
		if n := w.sim.Open(); n != 0 {
			w.t.Errorf("%d simulated sockets left", n)
		}
	} else if n := openFds(); n > w.fds {
		w.t.Errorf("%d descriptors open, %d before", n, w.fds)
	}
}

// TestMain has the Go runtime open its own descriptors before any are counted.
func TestMain(m *testing.M) {
	if r, w, err := os.Pipe(); err == nil {
		r.Close()
		w.Close()
	}
	os.Exit(m.Run())
}

func openFds() int {
	d, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(d)
}

// listen opens a listener of this world and has accept called with its connections.
func (w *world) listen(accept func(c *Conn)) (*Listener, netip.AddrPort) {
	w.t.Helper()
	var fd int
	var err error
	at := netip.MustParseAddrPort("127.0.0.1:0")
	if w.sim != nil {
		fd, at = w.sim.Listen()
	} else {
		if fd, err = OpenListener(ListenOptions{Addr: at}); err != nil {
			w.t.Fatal(err)
		}
		at = boundTo(fd)
	}
	return Listen(w.l, fd, func(fd int, peer netip.AddrPort) { accept(Adopt(w.l, fd, peer)) }), at
}

// dial connects and waits for the connection.
func (w *world) dial(f *loop.Fiber, at netip.AddrPort) (*Conn, error) {
	c, err := Connect(w.l, ConnectOptions{Addr: at})
	if err != nil {
		return nil, err
	}
	c.SetOwner(f)
	for c.Connecting() {
		if !f.Park(w.l.Now() + patience) {
			c.Abort()
			return nil, errLate
		}
	}
	if err := c.Err(); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (w *world) mustDial(f *loop.Fiber, at netip.AddrPort) *Conn {
	c, err := w.dial(f, at)
	if err != nil {
		w.t.Errorf("connect: %v", err)
		panic(loop.ErrEnded)
	}
	return c
}

// recv waits for input.
func recv(f *loop.Fiber, c *Conn, class buf.Class) (*buf.Buf, error) {
	for {
		b, err := c.Recv(class)
		if b != nil || err != nil {
			return b, err
		}
		if !f.Park(f.Loop().Now() + patience) {
			return nil, errLate
		}
	}
}

// recvN receives exactly n bytes.
func recvN(f *loop.Fiber, c *Conn, n int) ([]byte, error) {
	var out []byte
	for len(out) < n {
		b, err := recv(f, c, buf.Std)
		if err != nil {
			return out, err
		}
		if k := n - len(out); b.Len() > k {
			head := b.Split(k)
			c.Unread(b)
			b = head
		}
		out = append(out, b.Bytes()...)
		b.Release()
	}
	return out, nil
}

// send queues p, waiting for room.
func send(f *loop.Fiber, c *Conn, p []byte) error {
	for len(p) > 0 {
		if err := c.Err(); err != nil {
			return err
		}
		if !c.SendRoom() {
			if !f.Park(f.Loop().Now() + patience) {
				return errLate
			}
			continue
		}
		b := f.Loop().Pool().Get(buf.Std)
		if b == nil {
			f.Park(f.Loop().Now() + int64(time.Millisecond))
			continue
		}
		n := b.Append(p)
		p = p[n:]
		c.Send(b)
	}
	return nil
}

// echo serves one connection: it sends back what it gets until the end of the stream, then closes.
func echo(f *loop.Fiber, c *Conn) error {
	defer c.Close()
	for {
		b, err := recv(f, c, buf.Std)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		c.Send(b)
		for !c.SendRoom() {
			if !f.Park(f.Loop().Now() + patience) {
				return errLate
			}
		}
	}
}

// listenEcho listens with a fiber for each connection.
func (w *world) listenEcho(onErr func(error)) (*Listener, netip.AddrPort) {
	return w.listen(func(c *Conn) {
		w.fiber("echo", func(f *loop.Fiber) {
			c.SetOwner(f)
			if err := echo(f, c); err != nil && onErr != nil {
				onErr(err)
			}
		})
	})
}
