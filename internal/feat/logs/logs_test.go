package logs

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"weir/internal/base/addr"
	"weir/internal/model"
	"weir/internal/rt/loop"
	"weir/internal/rt/poll"
	"weir/internal/wire/syslog"
)

// turn stands in for a loop whose turns end when the test says so.
type turn struct {
	now   time.Time
	hooks []*loop.TurnHook
}

func (t *turn) Wall() time.Time            { return t.now }
func (t *turn) AtTurnEnd(h *loop.TurnHook) { t.hooks = append(t.hooks, h) }
func (t *turn) end() {
	for _, h := range t.hooks {
		h.Fn()
	}
	t.hooks = t.hooks[:0]
}

// setup is a configuration of one frontend, its logger, and one fake loop.
type setup struct {
	*testing.T
	cfg *model.Config
	fe  *model.Proxy
	g   *Logger
	turn
	set *Emitters
	*Emitter
}

func build(t *testing.T, fe model.LogConfig, global model.LogConfig) *setup {
	t.Helper()
	s := &setup{T: t, fe: &model.Proxy{Name: "f", Log: fe}}
	s.now = time.Now()
	s.cfg = &model.Config{Global: &model.Global{Log: global}, Proxies: []*model.Proxy{s.fe}}
	var err error
	if s.g, err = New(Options{Config: s.cfg, Tag: "weir", PID: 42, Hostname: "node1"}); err != nil {
		t.Fatal(err)
	}
	s.set = s.g.attach(&s.turn)
	t.Cleanup(s.set.Close)
	s.Emitter = s.set.For(&s.fe.Log)
	return s
}

func aim(a addr.Addr, edit ...func(*model.LogTarget)) *model.LogTarget {
	m := &model.LogTarget{Addr: a, Format: "raw", Facility: 16, Level: 7}
	for _, e := range edit {
		e(m)
	}
	return m
}

func to(targets ...*model.LogTarget) model.LogConfig {
	return model.LogConfig{Targets: targets, Format: model.LogHTTP}
}

func record(uri string) *model.LogRecord {
	return &model.LogRecord{
		Client: netip.MustParseAddrPort("192.0.2.1:1024"), Accept: time.Unix(1e9, 0), Request: time.Unix(1e9, 0),
		Frontend: "f", Backend: "b", ServerName: "s", HTTP: true, Status: 200,
		Termination: [4]byte{'-', '-', '-', '-'}, Method: []byte("GET"), URI: []byte(uri), Version: [2]uint8{1, 1}, Level: syslog.Info,
	}
}

func udp(t *testing.T, network, at string) (*net.UDPConn, addr.Addr) {
	t.Helper()
	c, err := net.ListenPacket(network, at)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { c.Close() })
	ap := c.LocalAddr().(*net.UDPAddr).AddrPort()
	return c.(*net.UDPConn), addr.Addr{IP: ap.Addr().Unmap(), Port: int(ap.Port()), PortKind: addr.FixedPort}
}

// next receives one datagram.
func next(t *testing.T, c net.PacketConn) string {
	t.Helper()
	b := make([]byte, 1<<16)
	if err := c.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	n, _, err := c.ReadFrom(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(b[:n])
}

// none makes sure that no datagram waits.
func none(t *testing.T, c net.PacketConn) {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 1<<16)
	if n, _, err := c.ReadFrom(b); err == nil {
		t.Fatalf("unexpected line %q", b[:n])
	}
}

const tail = ` f b/s 0/0/0/0/0 200 0 - - ---- 0/0/0/0/0 0/0 "GET `

func TestUDP(t *testing.T) {
	for _, at := range [][2]string{{"udp4", "127.0.0.1:0"}, {"udp6", "[::1]:0"}} {
		c, a := udp(t, at[0], at[1])
		s := build(t, to(aim(a)), model.LogConfig{})
		s.Emit(record("/1"))
		s.Emit(record("/2"))
		s.Message(syslog.Notice, "Proxy f\nstarted.")
		none(t, c)
		if len(s.hooks) != 1 {
			t.Fatalf("%d hooks for one turn", len(s.hooks))
		}
		s.end()
		for _, want := range []string{tail + "/1 HTTP/1.1\"\n", tail + "/2 HTTP/1.1\"\n", "Proxy f?started.\n"} {
			if got := next(t, c); !strings.HasSuffix(got, want) || strings.Count(got, "\n") != 1 {
				t.Errorf("got %q, want ...%q", got, want)
			}
		}
		s.Emit(record("/3"))
		s.end()
		if got := next(t, c); !strings.Contains(got, "/3") {
			t.Errorf("second turn: %q", got)
		}
		if n := s.g.Dropped(); n != 0 {
			t.Errorf("%d dropped", n)
		}
	}
}

func TestRealLoop(t *testing.T) {
	c, a := udp(t, "udp4", "127.0.0.1:0")
	s := build(t, to(aim(a)), model.LogConfig{})
	l, err := loop.New(loop.Options{Poller: poll.Epoll})
	if err != nil {
		t.Fatal(err)
	}
	set := s.g.Loop(l)
	em := set.For(&s.fe.Log)
	done := make(chan struct{})
	go func() { defer close(done); l.Run() }()
	for i := range 3 {
		l.Post(func() { em.Emit(record(fmt.Sprint("/", i))) })
		if got := next(t, c); !strings.Contains(got, fmt.Sprintf(`"GET /%d HTTP/1.1"`, i)) {
			t.Errorf("got %q", got)
		}
	}
	l.Post(func() { set.Close(); l.Stop() })
	<-done
}

func TestMoreLinesThanOneBatch(t *testing.T) {
	c, a := udp(t, "udp4", "127.0.0.1:0")
	if err := c.SetReadBuffer(4 << 20); err != nil {
		t.Fatal(err)
	}
	s := build(t, to(aim(a)), model.LogConfig{})
	const lines = 3*batchSize + 7
	seen := 0
	for i := range lines {
		s.Emit(record(fmt.Sprint("/", i)))
		if i%batchSize == batchSize-1 { // the receiver keeps up
			for ; seen < i-batchSize; seen++ {
				if got := next(t, c); !strings.Contains(got, fmt.Sprintf("/%d ", seen)) {
					t.Fatalf("line %d: %q", seen, got)
				}
			}
		}
	}
	s.end()
	for ; seen < lines; seen++ {
		if got := next(t, c); !strings.Contains(got, fmt.Sprintf("/%d ", seen)) {
			t.Fatalf("line %d: %q", seen, got)
		}
	}
}

func TestClosedUDPReceiver(t *testing.T) {
	c, a := udp(t, "udp4", "127.0.0.1:0")
	s := build(t, to(aim(a)), model.LogConfig{})
	at := c.LocalAddr().String()
	c.Close()
	for range 100 {
		s.Emit(record("/"))
		s.end()
	}
	c2, err := net.ListenPacket("udp4", at)
	if err != nil {
		t.Skip(err) // somebody took the port
	}
	defer c2.Close()
	s.Emit(record("/back"))
	s.end()
	if got := next(t, c2); !strings.Contains(got, "/back") {
		t.Errorf("after the receiver came back: %q", got)
	}
}

func TestUnixReceiverRestarts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	s := build(t, to(aim(addr.Addr{Family: addr.Unix, Path: path})), model.LogConfig{})
	s.Emit(record("/too-early"))
	s.end()
	if n := s.g.Dropped(); n != 1 {
		t.Errorf("nobody there: %d dropped, want 1", n)
	}
	for round := range 3 {
		c, err := net.ListenPacket("unixgram", path)
		if err != nil {
			t.Fatal(err)
		}
		s.Emit(record("/a"))
		s.Emit(record("/b"))
		s.end()
		for _, want := range []string{"/a ", "/b "} {
			if got := next(t, c); !strings.Contains(got, want) {
				t.Errorf("round %d: got %q, want %q", round, got, want)
			}
		}
		c.Close()
		os.Remove(path)
		before := s.g.Dropped()
		s.Emit(record("/lost"))
		s.Emit(record("/lost"))
		s.end()
		if n := s.g.Dropped() - before; n != 2 {
			t.Errorf("round %d: %d dropped while closed, want 2", round, n)
		}
	}
}

func TestAbstractSockets(t *testing.T) {
	name := fmt.Sprintf("weir-logs-%d", os.Getpid())
	for _, family := range []addr.Family{addr.Abstract, addr.AbstractZ} {
		a := addr.Addr{Family: family, Path: name}
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		bound := "@" + name
		if family == addr.Abstract { // padded to the whole address
			bound += strings.Repeat("\x00", 108-len(bound))
		}
		if err := bindUnix(fd, bound); err != nil {
			t.Fatal(err)
		}
		s := build(t, to(aim(a)), model.LogConfig{})
		s.Emit(record("/abs"))
		s.end()
		b := make([]byte, 4096)
		n, err := unix.Read(fd, b)
		if err != nil || !strings.Contains(string(b[:n]), "/abs ") {
			t.Errorf("%v: %q, %v", family, b[:max(n, 0)], err)
		}
	}
}

// A receiver that never reads costs lines, never time: manual 4.2.
func TestNeverReadingUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	c, err := net.ListenPacket("unixgram", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ok, a := udp(t, "udp4", "127.0.0.1:0")
	s := build(t, to(aim(addr.Addr{Family: addr.Unix, Path: path}), aim(a)), model.LogConfig{})
	const lines = 5000
	start := time.Now()
	for i := range lines {
		s.Emit(record("/"))
		if i%10 == 9 {
			s.end()
		}
	}
	s.end()
	if d := time.Since(start); d > 3*time.Second {
		t.Errorf("%d lines took %v", lines, d)
	}
	n := s.g.Dropped()
	if n == 0 || n >= lines {
		t.Errorf("%d of %d lines dropped", n, lines)
	}
	if got := next(t, ok); !strings.Contains(got, "GET / ") {
		t.Errorf("the other destination: %q", got)
	}
}

func TestLevels(t *testing.T) {
	c, a := udp(t, "udp4", "127.0.0.1:0")
	s := build(t, to(aim(a, func(m *model.LogTarget) { m.Format, m.Level, m.MinLevel = "short", syslog.Info, syslog.Notice })), model.LogConfig{})
	for level := syslog.Emerg; level <= syslog.Debug; level++ {
		s.Message(level, fmt.Sprint("m", level))
	}
	s.end()
	for level := syslog.Emerg; level <= syslog.Info; level++ {
		want := fmt.Sprintf("<%d>m%d\n", max(level, syslog.Notice), level)
		if got := next(t, c); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	none(t, c)
}

func TestLength(t *testing.T) {
	c, a := udp(t, "udp4", "127.0.0.1:0")
	s := build(t, to(
		aim(a, func(m *model.LogTarget) { m.Length = 80 }),
		aim(a, func(m *model.LogTarget) { m.Format = "rfc5424" }),
		aim(a, func(m *model.LogTarget) { m.Length = 65535 }),
	), model.LogConfig{})
	s.Message(syslog.Info, strings.Repeat("x", 60000))
	s.end()
	for _, want := range []int{80, 1024, 60001} {
		if got := next(t, c); len(got) != want || got[len(got)-1] != '\n' {
			t.Errorf("%d bytes, want %d", len(got), want)
		}
	}
}

func TestGlobalTargetsTagsAndHost(t *testing.T) {
	c, a := udp(t, "udp4", "127.0.0.1:0")
	global := model.LogConfig{Targets: []*model.LogTarget{aim(a, func(m *model.LogTarget) { m.Format = "" })}, Tag: "gtag", SendHostname: "-"}
	s := build(t, model.LogConfig{Global: true, Tag: "ptag", Format: model.LogHTTP}, global)
	s.Message(syslog.Info, "m")
	s.set.For(&s.cfg.Global.Log).Message(syslog.Warning, "g")
	s.end()
	stamp := s.now.Format("Jan _2 15:04:05")
	for _, want := range []string{"<134>" + stamp + " node1 ptag[42]: m\n", "<132>" + stamp + " node1 gtag[42]: g\n"} {
		if got := next(t, c); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	s = build(t, model.LogConfig{Global: true}, model.LogConfig{Targets: global.Targets})
	s.Message(syslog.Info, "m")
	s.end()
	if got, want := next(t, c), "<134>"+s.now.Format("Jan _2 15:04:05")+" weir[42]: m\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSectionWithoutTargets(t *testing.T) {
	s := build(t, model.LogConfig{None: true}, model.LogConfig{})
	if s.Emitter != nil {
		t.Error("an emitter without targets")
	}
	s.Emit(record("/"))
	s.Message(syslog.Info, "m")
	if s.set.For(&model.LogConfig{}) != nil {
		t.Error("an emitter for a section that is not of this configuration")
	}
}

// The default format has no line for what failed before it was a request.
func TestDefaultFormatSkipsFailures(t *testing.T) {
	c, a := udp(t, "udp4", "127.0.0.1:0")
	lc := to(aim(a))
	lc.Format = model.LogDefault
	s := build(t, lc, model.LogConfig{})
	r := record("/")
	r.BadRequest = true
	s.Emit(r)
	r = record("/")
	r.ErrorMessage = "Connection closed"
	s.Emit(r)
	s.Emit(record("/"))
	s.end()
	if got := next(t, c); !strings.HasPrefix(got, "Connect from 192.0.2.1:1024 to ") {
		t.Errorf("got %q", got)
	}
	none(t, c)
}

// Sampling counts the lines of all loops and proxies of a target together.
func TestSampling(t *testing.T) {
	c, a := udp(t, "udp4", "127.0.0.1:0")
	s := build(t, to(aim(a, func(m *model.LogTarget) {
		m.SampleRanges, m.SampleSize = []model.SampleRange{{Low: 1, High: 1}, {Low: 3, High: 4}}, 5
	})), model.LogConfig{})
	other := s.g.attach(&s.turn)
	defer other.Close()
	emitters := [2]*Emitter{s.Emitter, other.For(&s.fe.Log)}
	for i := range 14 {
		emitters[i%2].Message(syslog.Info, fmt.Sprint(i))
		s.end()
	}
	for _, want := range []string{"0", "2", "3", "5", "7", "8", "10", "12", "13"} {
		if got := next(t, c); got != want+"\n" {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	none(t, c)
}

func TestTargetsNotServed(t *testing.T) {
	for want, m := range map[string]*model.LogTarget{
		"ring@r":           {Ring: "r"},
		"a stream address": {Addr: addr.Addr{Proto: addr.Stream, IP: netip.MustParseAddr("127.0.0.1"), Port: 514}},
		"a socket pair":    {Addr: addr.Addr{Family: addr.SockPair}},
		"cannot resolve":   {Addr: addr.Addr{Host: "nowhere", IsName: true}},
		"unknown log":      {Addr: addr.Addr{Family: addr.FD, FD: 1}, Format: "rfc1"},
	} {
		m.Pos = model.Position{File: "a.cfg", Line: 7}
		cfg := &model.Config{Global: &model.Global{Log: to(m)}}
		_, err := New(Options{Config: cfg, Resolve: func(string) ([]netip.Addr, error) { return nil, os.ErrNotExist }})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "a.cfg:7: ") {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestDirectFromManyGoroutines(t *testing.T) {
	c, a := udp(t, "udp4", "127.0.0.1:0")
	s := build(t, to(aim(a)), model.LogConfig{})
	d := s.g.Direct()
	defer d.Close()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				d.For(&s.fe.Log).Message(syslog.Notice, "started")
			}
		})
	}
	wg.Wait()
	for range 80 - int(s.g.Dropped()) {
		if got := next(t, c); got != "started\n" {
			t.Fatalf("got %q", got)
		}
	}
}

func TestDroppedOutlivesEmitters(t *testing.T) {
	s := build(t, to(fdTarget(1<<20)), model.LogConfig{})
	set := s.g.attach(&s.turn)
	set.For(&s.fe.Log).Emit(record("/"))
	set.Close()
	if n := s.g.Dropped(); n != 1 {
		t.Errorf("%d dropped, want 1", n)
	}
}

func TestEmitAllocatesNothing(t *testing.T) {
	_, a := udp(t, "udp4", "127.0.0.1:0")
	null, err := os.OpenFile("/dev/null", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	path := filepath.Join(t.TempDir(), "log")
	c, err := net.ListenPacket("unixgram", path) // fills up: drops allocate nothing either
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s := build(t, to(aim(a), fdTarget(int(null.Fd())), aim(addr.Addr{Family: addr.Unix, Path: path}),
		aim(addr.Addr{Family: addr.FD, FD: 1 << 20})), model.LogConfig{})
	r := record("/")
	one := func() {
		s.now = s.now.Add(100 * time.Millisecond)
		for range 5 {
			s.Emit(r)
		}
		s.end()
	}
	for range 100 {
		one()
	}
	if n := testing.AllocsPerRun(200, one); n != 0 {
		t.Errorf("%v allocations a turn", n)
	}
}

func BenchmarkEmitUDP(b *testing.B) {
	c, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	ap := c.LocalAddr().(*net.UDPAddr).AddrPort()
	fe := &model.Proxy{Log: to(aim(addr.Addr{IP: ap.Addr().Unmap(), Port: int(ap.Port())}, func(m *model.LogTarget) { m.Format = "" }))}
	g, err := New(Options{Config: &model.Config{Global: &model.Global{}, Proxies: []*model.Proxy{fe}}})
	if err != nil {
		b.Fatal(err)
	}
	t := &turn{now: time.Now()}
	e := g.attach(t).For(&fe.Log)
	r := record("/index.html")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e.Emit(r)
		if i%16 == 15 {
			t.end()
		}
	}
}
