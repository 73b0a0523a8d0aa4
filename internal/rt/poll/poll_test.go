package poll

import (
	"net/netip"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"weir/internal/base/buf"
	"weir/internal/rt/sys"
)

// The pollers are tested with the connections on top of them, in package sock; here is what does not show there.

func TestTable(t *testing.T) {
	var tb table
	a, b, c := &File{}, &File{}, &File{}
	tb.add(a)
	tb.add(b)
	if a.slot == 0 || a.slot == b.slot || tb.files[a.slot] != a {
		t.Fatal(a.slot, b.slot)
	}
	was := a.slot
	tb.remove(a)
	tb.add(c)
	if c.slot == was {
		t.Fatal("a number was given out again before the next round")
	}
	tb.settle()
	tb.add(a)
	if a.slot != was || tb.n != 3 {
		t.Fatal(a.slot, tb.n)
	}
}

func TestFileList(t *testing.T) {
	var l fileList
	fs := make([]File, 5)
	for i := range fs {
		l.push(&fs[i])
		l.push(&fs[i]) // once is enough
	}
	l.drop(&fs[0])
	l.drop(&fs[2])
	l.drop(&fs[4])
	l.drop(&fs[4])
	l.push(&fs[2])
	for _, want := range []int{1, 3, 2} {
		if f := l.pop(); f != &fs[want] {
			t.Fatalf("not number %d", want)
		}
	}
	if l.pop() != nil || l.tail != nil {
		t.Fatal("not empty")
	}
}

func TestKinds(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cfg := Config{Pool: buf.NewShared(buf.Config{}).NewPool()}
	warned := ""
	p, err := New(Auto, cfg, func(s string) { warned = s })
	if err != nil {
		t.Fatal(err)
	}
	if err := Probe(); (err == nil) != (p.Kind() == Uring) || (err == nil) == (warned != "") {
		t.Fatalf("probe says %v, poller is %v, warning is %q", err, p.Kind(), warned)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	if err := p.Destroy(); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Simulated, cfg, nil); err == nil {
		t.Fatal("a simulated poller without a network")
	}
	for k, want := range map[Kind]string{Auto: "auto", Uring: "io_uring", Epoll: "epoll", Simulated: "simulated"} {
		if k.String() != want {
			t.Errorf("%d is %q", k, k)
		}
	}
}

// recorder keeps what it is told.
type recorder struct {
	got []Ops
	res []int
}

func (r *recorder) Complete(_ *File, op Ops, res int, b *buf.Buf) {
	if b != nil {
		b.Release()
	}
	r.got = append(r.got, op)
	r.res = append(r.res, res)
}

// TestAwaitForeign waits for readiness of descriptors that are no sockets, as splice needs it.
func TestAwaitForeign(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, k := range []Kind{Epoll, Uring} {
		pool := buf.NewShared(buf.Config{}).NewPool()
		p, err := New(k, Config{Pool: pool}, nil)
		if err != nil {
			t.Logf("%v: %v", k, err)
			continue
		}
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		var fds [2]int
		if err := unix.Pipe2(fds[:], unix.O_NONBLOCK|unix.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
		r := &recorder{}
		f := &File{Fd: int32(fds[0]), H: r}
		if err := p.Attach(f, true); err != nil {
			t.Fatal(err)
		}
		p.Await(f, OpPollIn)
		p.Poll(0, 10)
		if len(r.got) != 0 || f.Pending() != OpPollIn {
			t.Fatalf("%v: readable too early", k)
		}
		if sys.RawWrite(fds[1], []byte("x")) != 1 {
			t.Fatal("write")
		}
		for i := 0; i < 100 && len(r.got) == 0; i++ {
			p.Poll(10_000_000, 10)
		}
		if len(r.got) != 1 || r.got[0] != OpPollIn || r.res[0] <= 0 {
			t.Fatalf("%v: %v %v", k, r.got, r.res)
		}
		if owed := p.Close(f, false); owed != 0 {
			t.Fatal(owed)
		}
		p.Detach(f)
		p.Poll(0, 10)
		unix.Close(fds[1])
		if err := p.Destroy(); err != nil || pool.Close() != 0 {
			t.Fatal(err)
		}
	}
}

// TestWakeEndsASleep wakes before and during a sleep.
func TestWakeEndsASleep(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, k := range []Kind{Epoll, Uring} {
		p, err := New(k, Config{Pool: buf.NewShared(buf.Config{}).NewPool()}, nil)
		if err != nil {
			continue
		}
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			p.Wake()
			p.Poll(-1, 10)
			go p.Wake()
			p.Poll(-1, 10)
		}
		p.Nudge()
		p.Poll(-1, 10)
		if err := p.Destroy(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSimNames(t *testing.T) {
	n := NewSim(1, Faults{})
	p, err := n.Maker()(Config{Pool: buf.NewShared(buf.Config{}).NewPool()})
	if err != nil {
		t.Fatal(err)
	}
	net := p.(Net)
	fd, err := net.Socket(netip.MustParseAddrPort("10.0.0.1:0"))
	if err != nil || net.Name(fd, false).Addr() != netip.MustParseAddr("10.0.0.1") || net.Name(fd, true).IsValid() {
		t.Fatal(fd, err)
	}
	net.CloseFd(fd)
	if n.Open() != 0 || net.Name(fd, false).IsValid() {
		t.Fatal("still there")
	}
}
