package limits

import (
	"errors"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"weir/internal/base/addr"
	"weir/internal/model"
)

// config makes a configuration with one listener per entry of binds.
func config(t *testing.T, change func(*model.Global, *model.Proxy), binds ...string) *model.Config {
	t.Helper()
	p := &model.Proxy{Name: "a", Sides: model.SideFrontend | model.SideBackend}
	for _, b := range binds {
		a, err := addr.Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		p.Binds = append(p.Binds, &model.Bind{Addrs: []addr.Addr{a}})
	}
	g := new(model.Global)
	if change != nil {
		change(g, p)
	}
	return &model.Config{Global: g, Proxies: []*model.Proxy{p}}
}

// TestComputeMatchesReference holds the figures that HAProxy 3.5 announces for
// the same input, but for one: there a ulimit-n does not bound an automatic
// maxconn, which then cannot be reached.
func TestComputeMatchesReference(t *testing.T) {
	type global = func(*model.Global, *model.Proxy)
	set := func(f func(g *model.Global)) global { return func(g *model.Global, _ *model.Proxy) { f(g) } }
	for _, c := range []struct {
		name            string
		change          global
		maxconn, memory int // -n, -m
		threads         int
		binds           []string
		rlimit          uint64
		conn, sock      int
		files, pipes    int
	}{
		{name: "one listener", threads: 2, binds: []string{":80"}, rlimit: 20000, conn: 9991, sock: 19999},
		{name: "none", threads: 2, rlimit: 20000, conn: 9992, sock: 20000},
		{name: "8 threads", threads: 8, binds: []string{":80"}, rlimit: 20000, conn: 9982, sock: 19999},
		{name: "port range", threads: 2, binds: []string{":80-81", ":90"}, rlimit: 20000, conn: 9990, sock: 19999},
		{name: "fd-hard-limit", change: set(func(g *model.Global) { g.FDHardLimit = 500 }), threads: 2, binds: []string{":80"}, rlimit: 20000, conn: 241, sock: 499},
		{name: "tiny fd-hard-limit", change: set(func(g *model.Global) { g.FDHardLimit = 50 }), threads: 2, binds: []string{":80"}, rlimit: 20000, conn: 100, sock: 217},
		{name: "huge rlimit", threads: 2, binds: []string{":80"}, rlimit: 1 << 40, conn: 524279, sock: 1048575},
		{name: "maxconn", change: set(func(g *model.Global) { g.MaxConn = 1000000 }), threads: 2, binds: []string{":80"}, rlimit: 20000, conn: 1000000, sock: 2000017},
		{name: "-n wins", change: set(func(g *model.Global) { g.MaxConn = 1000 }), maxconn: 50, threads: 2, binds: []string{":80"}, rlimit: 20000, conn: 50, sock: 117},
		{name: "ulimit-n", change: set(func(g *model.Global) { g.MaxConn, g.UlimitN = 1000, 5000 }), threads: 2, binds: []string{":80"}, rlimit: 20000, conn: 1000, sock: 2017, files: 5000},
		{name: "ulimit-n bounds maxconn", change: set(func(g *model.Global) { g.UlimitN = 5000 }), threads: 2, binds: []string{":80"}, rlimit: 20000, conn: 2491, sock: 4999, files: 5000},
		{name: "splice", change: func(g *model.Global, p *model.Proxy) { g.MaxConn, p.Opt = 1000, model.OptSpliceAuto }, threads: 2, binds: []string{":80"}, rlimit: 20000, conn: 1000, sock: 2517, pipes: 250},
		{name: "splice, automatic", change: func(_ *model.Global, p *model.Proxy) { p.Opt = model.OptSpliceAuto }, threads: 2, binds: []string{":80"}, rlimit: 20000, conn: 7993, sock: 19999, pipes: 1998},
		{name: "nosplice", change: func(g *model.Global, p *model.Proxy) { g.MaxConn, g.NoSplice, p.Opt = 1000, true, model.OptSpliceAuto }, threads: 2, binds: []string{":80"}, rlimit: 20000, conn: 1000, sock: 2017},
		{name: "maxpipes", change: set(func(g *model.Global) { g.MaxConn, g.MaxPipes = 1000, 50 }), threads: 2, binds: []string{":80"}, rlimit: 20000, conn: 1000, sock: 2117, pipes: 50},
		{name: "-m 28", memory: 28, threads: 2, rlimit: 20000, conn: 790, sock: 1596},
		{name: "-m 100", memory: 100, threads: 2, rlimit: 20000, conn: 2800, sock: 5616},
		{name: "-m 256", memory: 256, threads: 2, rlimit: 20000, conn: 7200, sock: 14416},
		{name: "-m 331", memory: 331, threads: 2, rlimit: 20000, conn: 9400, sock: 18816},
		{name: "-m 333", memory: 333, threads: 2, rlimit: 20000, conn: 9400, sock: 18816},
		{name: "-m 334", memory: 334, threads: 2, rlimit: 20000, conn: 9500, sock: 19016},
		{name: "-m 384", memory: 384, threads: 2, rlimit: 20000, conn: 9900, sock: 19816},
		{name: "-m 1024", memory: 1024, threads: 2, rlimit: 1 << 20, conn: 29000, sock: 58016},
		{name: "-m 50, bufsize", change: set(func(g *model.Global) { g.Tune.BufSize = 32768 }), memory: 50, threads: 2, rlimit: 20000, conn: 740, sock: 1496},
		{name: "-m 300, bufsize", change: set(func(g *model.Global) { g.Tune.BufSize = 32768 }), memory: 300, threads: 2, rlimit: 20000, conn: 4400, sock: 8816},
		{name: "-m and maxconn", change: set(func(g *model.Global) { g.MaxConn = 50 }), memory: 1024, threads: 2, rlimit: 20000, conn: 50, sock: 116},
	} {
		p := Compute(Input{Config: config(t, c.change, c.binds...), MaxConn: c.maxconn, MemoryMB: c.memory, Threads: c.threads, Rlimit: Rlimit{Soft: 1024, Hard: c.rlimit}})
		if c.files == 0 {
			c.files = c.sock
		}
		if p.MaxConn != c.conn || p.MaxSock != c.sock || p.Files != c.files || p.MaxPipes != c.pipes {
			t.Errorf("%s: maxconn %d, maxsock %d, files %d, pipes %d; want %d, %d, %d, %d", c.name, p.MaxConn, p.MaxSock, p.Files, p.MaxPipes, c.conn, c.sock, c.files, c.pipes)
		}
		if p.MemoryBytes != int64(c.memory)<<20 {
			t.Errorf("%s: memory %d", c.name, p.MemoryBytes)
		}
	}
}

func TestShardsAndDisabledProxies(t *testing.T) {
	for _, c := range []struct{ shards, want int }{{0, 1}, {3, 3}, {9, 4}, {-1, 4}, {-2, 1}} {
		cfg := config(t, func(_ *model.Global, p *model.Proxy) {}, ":80")
		cfg.Proxies[0].Binds[0].Shards = c.shards
		if got := reserved(cfg, 4) - reserved(config(t, nil), 4); got != c.want {
			t.Errorf("shards %d: %d listeners, want %d", c.shards, got, c.want)
		}
		cfg.Proxies[0].Disabled = true
		if got := reserved(cfg, 4) - reserved(config(t, nil), 4); got != 0 {
			t.Errorf("a disabled proxy counts for %d descriptors", got)
		}
	}
}

func TestApply(t *testing.T) {
	refuse := errors.New("refused")
	for _, c := range []struct {
		name                   string
		maxconn, ulimit, fdcap int
		hard                   uint64
		strict                 bool
		alerts, warnings       int
		files                  uint64 // set last
	}{
		{name: "fits", maxconn: 1000, hard: 20000, strict: true, files: 2017},
		{name: "strict", maxconn: 1000, hard: 1500, strict: true, alerts: 1, files: 0},
		{name: "strict, fd-hard-limit", maxconn: 1000, hard: 20000, fdcap: 500, strict: true, alerts: 1},
		{name: "not strict", maxconn: 1000, hard: 1500, warnings: 2, files: 1500},
		{name: "not strict, ulimit-n", maxconn: 100, ulimit: 5000, hard: 1500, warnings: 1, files: 1500},
		{name: "not strict, fd-hard-limit", maxconn: 1000, hard: 20000, fdcap: 500, warnings: 2, files: 500},
	} {
		cfg := config(t, func(g *model.Global, _ *model.Proxy) {
			g.MaxConn, g.UlimitN, g.FDHardLimit = c.maxconn, c.ulimit, c.fdcap
		}, ":80")
		p := Compute(Input{Config: cfg, Threads: 2, Rlimit: Rlimit{Soft: c.hard, Hard: c.hard}})
		last := uint64(0)
		l := p.Apply(c.strict, "weir", func(files uint64) (Rlimit, error) {
			if files > c.hard {
				return Rlimit{c.hard, c.hard}, refuse
			}
			last = files
			return Rlimit{files, c.hard}, nil
		})
		if l.Errors() != c.alerts || l.Warnings() != c.warnings || last != c.files {
			t.Errorf("%s: %d alerts, %d warnings, set %d; want %d, %d, %d\n%s", c.name, l.Errors(), l.Warnings(), last, c.alerts, c.warnings, c.files, l)
		}
		if c.alerts > 0 && !strings.Contains(l.String(), "maxconn' of about") {
			t.Errorf("%s: no advice: %s", c.name, l)
		}
	}
}

func TestCPUsOf(t *testing.T) {
	m := []model.CPUMap{
		{Group: 1, CPUs: []int{0, 1, 2, 3}},
		{Group: 1, ThreadLow: 2, ThreadHigh: 3, CPUs: []int{7, 5, 6, 5}},
		{Group: 1, Auto: true, ThreadLow: 4, ThreadHigh: 6, CPUs: []int{12, 10, 11}},
		{Group: 2, CPUs: []int{99}},
	}
	for thread, want := range map[int]string{1: "0-3", 2: "5-7", 3: "5-7", 4: "10", 5: "11", 6: "12", 7: "0-3"} {
		if got := FormatCPUs(CPUsOf(m, thread)); got != want {
			t.Errorf("thread %d: CPUs %s, want %s", thread, got, want)
		}
	}
	if got := CPUsOf(nil, 1); got != nil {
		t.Errorf("without cpu-map: %v", got)
	}
	if s := FormatCPUs([]int{0, 2, 3, 9}); s != "0,2-3,9" {
		t.Errorf("ranges: %s", s)
	}
	for _, c := range []struct {
		m       []model.CPUMap
		threads int
		cpus    int
		crowded bool
	}{
		{nil, 64, 0, false},
		{[]model.CPUMap{{CPUs: []int{0, 1}}}, 2, 2, false},
		{[]model.CPUMap{{CPUs: []int{0, 1}}}, 3, 2, true},
		{[]model.CPUMap{{ThreadLow: 1, ThreadHigh: 1, CPUs: []int{0}}}, 8, 0, false},
	} {
		if cpus, crowded := Crowded(c.m, c.threads); cpus != c.cpus || crowded != c.crowded {
			t.Errorf("Crowded(%v, %d) = %d, %v", c.m, c.threads, cpus, crowded)
		}
	}
}

func TestPinThread(t *testing.T) {
	allowed := AllowedCPUs()
	if len(allowed) == 0 {
		t.Skip("the system does not tell the CPUs of a thread")
	}
	last := allowed[len(allowed)-1]
	got := make(chan []int)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if err := PinThread([]model.CPUMap{{CPUs: []int{last}}}, 3); err != nil {
			t.Error(err)
		}
		got <- AllowedCPUs()
	}()
	if cpus := <-got; !reflect.DeepEqual(cpus, []int{last}) {
		t.Errorf("the thread runs on %v, want %d", cpus, last)
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		done <- PinThread([]model.CPUMap{{CPUs: []int{1000}}}, 1)
	}()
	if err := <-done; err == nil || !strings.Contains(err.Error(), "CPU 1000") {
		t.Errorf("a CPU that is not there: %v", err)
	}
	if err := PinThread(nil, 1); err != nil {
		t.Error(err)
	}
}

func TestThreads(t *testing.T) {
	if n := Threads(&model.Global{NbThread: 7}); n != 7 {
		t.Errorf("nbthread 7: %d", n)
	}
	if n := Threads(&model.Global{}); n < 1 || n > runtime.NumCPU() {
		t.Errorf("%d threads on %d CPUs", n, runtime.NumCPU())
	}
}

func TestApplyRuntime(t *testing.T) {
	before := ApplyRuntime(Runtime{Procs: 3, GCPercent: 123, MemoryBytes: 1 << 40})
	defer ApplyRuntime(before)
	if now := ApplyRuntime(Runtime{GCPercent: 123, MemoryBytes: 1 << 40}); now.Procs != 3 || now.GCPercent != 123 || now.MemoryBytes != 1<<40 {
		t.Errorf("now %+v", now)
	}
}

// TestSetFiles changes limits of a process of its own: this test binary again.
func TestSetFiles(t *testing.T) {
	if os.Getenv("LIMITS_CHILD") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSetFiles$", "-test.v")
		cmd.Env = append(os.Environ(), "LIMITS_CHILD=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	was, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	if now, err := SetFiles(100); err != nil || now.Soft != 100 || now.Hard != was.Hard {
		t.Errorf("lowered: %+v, %v", now, err)
	}
	if now, err := SetFiles(was.Hard); err != nil || now.Soft != was.Hard {
		t.Errorf("raised to the hard limit: %+v, %v", now, err)
	}
	if now, err := SetFiles(1 << 50); err == nil || now.Soft != was.Hard {
		t.Errorf("more than the kernel allows: %+v, %v", now, err)
	}
	if err := EnableCore(); err != nil {
		t.Error(err)
	}
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &r); err != nil || r.Cur != r.Max {
		t.Errorf("core limit %+v, %v", r, err)
	}
}
