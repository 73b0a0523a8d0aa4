package loop

import (
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"weir/internal/base/buf"
	"weir/internal/rt/clock"
	"weir/internal/rt/poll"
)

// testLoop is a loop with its warnings recorded, and a bound on how long it may run.
type testLoop struct {
	*Loop
	mu    sync.Mutex
	warns []string
}

func newTestLoop(t testing.TB, o Options) *testLoop {
	t.Helper()
	if o.Poller == poll.Auto && o.Custom == nil {
		o.Poller = poll.Epoll
		if os.Getenv("WEIR_TEST_POLLER") == "io_uring" {
			o.Poller = poll.Uring
		}
	}
	tl := &testLoop{}
	o.Warn = func(s string) {
		tl.mu.Lock()
		tl.warns = append(tl.warns, s)
		tl.mu.Unlock()
	}
	l, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	tl.Loop = l
	return tl
}

// run runs the loop to its end, within ten seconds.
func (l *testLoop) run(t testing.TB) {
	t.Helper()
	errs := make(chan error, 1)
	go func() { errs <- l.Run() }()
	select {
	case err := <-errs:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(10 * time.Second):
		l.Stop()
		t.Fatalf("loop does not end; fibers wait for %v", l.Waiting())
	}
}

func bothKinds(t *testing.T, fn func(t *testing.T, k poll.Kind)) {
	for _, k := range []poll.Kind{poll.Epoll, poll.Uring} {
		t.Run(k.String(), func(t *testing.T) {
			if k == poll.Uring {
				if err := poll.Probe(); err != nil {
					t.Skip(err)
				}
			}
			fn(t, k)
		})
	}
}

func TestTimers(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	l := newTestLoop(t, Options{})
	now := l.Now()
	type probe struct {
		Timer
		want  int64
		fired int
	}
	ps := make([]*probe, 500)
	for i := range ps {
		p := &probe{}
		p.Fn = func() { p.fired++ }
		ps[i] = p
	}
	for range 20000 {
		p := ps[rng.IntN(len(ps))]
		switch rng.IntN(10) {
		case 0:
			l.Disarm(&p.Timer)
			p.want = 0
		case 1:
			l.Forget(&p.Timer)
			p.want = 0
		case 2, 3:
			now += rng.Int64N(50)
			l.now = now
			for l.timers.due(now) {
				l.runTimers()
			}
			for i, p := range ps {
				switch {
				case p.want != 0 && p.want <= now:
					if p.fired != 1 {
						t.Fatalf("timer %d for %d fired %d times at %d", i, p.want, p.fired, now)
					}
					p.want, p.fired = 0, 0
				case p.fired != 0:
					t.Fatalf("timer %d fired early or without being armed (%d, now %d)", i, p.want, now)
				}
			}
		default:
			p.want = now + 1 + rng.Int64N(1000)
			l.Arm(&p.Timer, p.want)
		}
		if p.want != 0 && (!p.Armed() || p.Deadline() != p.want) {
			t.Fatal("armed timer does not say so")
		}
	}
	l.Stop()
	l.run(t)
}

func TestLazyTimerCostsNoHeapWork(t *testing.T) {
	l := newTestLoop(t, Options{})
	tm := Timer{Fn: func() {}}
	l.Arm(&tm, 1000)
	for i := range int64(100) {
		l.Disarm(&tm)
		l.Arm(&tm, 2000+i)
		if tm.at != 1000 || len(l.timers.e) != 1 {
			t.Fatal("moving a deadline back touched the heap")
		}
	}
	l.Stop()
	l.run(t)
}

func TestParkWakeDeadline(t *testing.T) {
	bothKinds(t, func(t *testing.T, k poll.Kind) {
		l := newTestLoop(t, Options{Poller: k})
		var log []string
		var sleeper *Fiber
		l.Go(func(f *Fiber) {
			sleeper = f
			if !f.Park(0) {
				t.Error("woken fiber says deadline")
			}
			log = append(log, "woken")
			start := clock.Nanos()
			if f.Park(l.Now() + int64(5*time.Millisecond)) {
				t.Error("deadline not reported")
			}
			if d := clock.Nanos() - start; d < int64(4*time.Millisecond) {
				t.Errorf("deadline after %d ns", d)
			}
			log = append(log, "late")
			f.Wake() // remembered
			if !f.Park(l.Now() + int64(time.Hour)) {
				t.Error("remembered wake-up lost")
			}
			if f.Park(l.Now() - 1) {
				t.Error("deadline in the past")
			}
			log = append(log, "end")
			l.Stop()
		})
		l.Go(func(f *Fiber) {
			f.Yield()
			log = append(log, "waking")
			sleeper.Wake()
			sleeper.Wake()
		})
		l.run(t)
		if s := strings.Join(log, " "); s != "waking woken late end" {
			t.Fatal(s)
		}
		if l.Fibers() != 0 || len(l.warns) != 0 {
			t.Fatal(l.Fibers(), l.warns)
		}
	})
}

func TestFibersAreReused(t *testing.T) {
	l := newTestLoop(t, Options{})
	n := 0
	var next func()
	next = func() {
		l.Start(func(f *Fiber, arg any) {
			if n++; n < 1000 {
				f.Yield()
				next()
			} else {
				l.Stop()
			}
		}, nil)
	}
	next()
	l.run(t)
	if n != 1000 || l.Counters.Started.Load() != 1000 {
		t.Fatal(n)
	}
}

func TestFifoAndBudget(t *testing.T) {
	l := newTestLoop(t, Options{Runs: 10})
	var order []int
	for i := range 100 {
		l.Go(func(f *Fiber) { order = append(order, i) })
	}
	l.Go(func(f *Fiber) { l.Stop() })
	l.run(t)
	for i, v := range order {
		if i != v {
			t.Fatal(order)
		}
	}
	if turns := l.Counters.Turns.Load(); len(order) != 100 || turns < 10 {
		t.Fatal(len(order), turns)
	}
}

func TestPostFromThreads(t *testing.T) {
	bothKinds(t, func(t *testing.T, k poll.Kind) {
		l := newTestLoop(t, Options{Poller: k})
		const threads, each = 8, 2000
		last := make([]int, threads)
		n := 0
		for th := range threads {
			go func() {
				for i := range each {
					l.Post(func() {
						if last[th] != i {
							t.Errorf("thread %d: %d after %d", th, i, last[th])
						}
						last[th]++
						if n++; n == threads*each {
							l.Stop()
						}
					})
				}
			}()
		}
		l.run(t)
		if n != threads*each {
			t.Fatal(n)
		}
		if l.Post(func() {}) {
			t.Fatal("an ended loop took a function")
		}
	})
}

func TestPostEndsASleep(t *testing.T) {
	bothKinds(t, func(t *testing.T, k poll.Kind) {
		l := newTestLoop(t, Options{Poller: k})
		var hops atomic.Int32
		var hop func()
		hop = func() {
			if hops.Add(1) == 50 {
				l.Stop()
				return
			}
			go l.Post(hop) // the loop is asleep by then, mostly
		}
		l.Post(hop)
		l.run(t)
	})
}

// TestWorkers: no more functions at once than there are workers, no more waiting than allowed, and the rest is refused at once.
func TestWorkers(t *testing.T) {
	bothKinds(t, func(t *testing.T, k poll.Kind) {
		w := NewWorkers(2, 3)
		l := newTestLoop(t, Options{Poller: k, Workers: w})
		var running, most atomic.Int32
		gate := make(chan struct{})
		ran, refused := 0, 0
		for range 10 {
			l.Go(func(f *Fiber) {
				ok := f.OffloadTo(l.Workers(), func() {
					most.Store(max(most.Load(), running.Add(1)))
					<-gate
					running.Add(-1)
				})
				if ok {
					ran++
					return
				}
				if refused++; refused == 5 {
					close(gate)
				}
			})
		}
		l.Go(func(f *Fiber) {
			for l.Fibers() > 1 {
				f.Park(l.Now() + int64(time.Millisecond))
			}
			if !f.OffloadTo(w, func() {}) {
				t.Error("all are free again, but refused")
			}
			l.Stop()
		})
		l.run(t)
		if ran != 5 || refused != 5 || most.Load() > 2 {
			t.Fatal(ran, refused, most.Load())
		}
	})
}

func TestOffload(t *testing.T) {
	bothKinds(t, func(t *testing.T, k poll.Kind) {
		var panics []string
		l := newTestLoop(t, Options{Poller: k, OnPanic: func(f *Fiber, v any, _ []byte) {
			panics = append(panics, v.(offloadPanic).Value.(string))
		}})
		sum := 0
		for i := range 100 {
			l.Go(func(f *Fiber) {
				x := 0
				f.Offload(func() { x = i })
				sum += x
			})
		}
		l.Go(func(f *Fiber) {
			f.Offload(func() { panic("elsewhere") })
			t.Error("a panic elsewhere was lost")
		})
		l.Go(func(f *Fiber) {
			for l.Fibers() > 1 {
				f.Park(l.Now() + int64(time.Millisecond))
			}
			l.Stop()
		})
		l.run(t)
		if sum != 4950 || len(panics) != 1 || panics[0] != "elsewhere" || l.Counters.Offload.Load() != 0 {
			t.Fatal(sum, panics, l.Counters.Offload.Load())
		}
	})
}

func TestTurnHooks(t *testing.T) {
	l := newTestLoop(t, Options{})
	n, again := 0, 0
	var h, h2 TurnHook
	h2.Fn = func() { again++ }
	h.Fn = func() {
		n++
		l.AtTurnEnd(&h2)
	}
	l.Go(func(f *Fiber) {
		l.AtTurnEnd(&h)
		l.AtTurnEnd(&h)
		f.Park(l.Now() + int64(time.Millisecond))
		if n != 1 || again != 1 {
			t.Errorf("hooks ran %d and %d times", n, again)
		}
		l.Stop()
	})
	l.run(t)
}

func TestCallbackPanics(t *testing.T) {
	var seen []any
	l := newTestLoop(t, Options{OnPanic: func(f *Fiber, v any, _ []byte) { seen = append(seen, v) }})
	tm := Timer{Fn: func() { panic("timer") }}
	l.Arm(&tm, l.Now())
	l.Post(func() { panic("post") })
	h := TurnHook{Fn: func() { panic("hook") }}
	l.AtTurnEnd(&h)
	stop := Timer{Fn: l.Stop}
	l.Arm(&stop, l.Now()+int64(5*time.Millisecond))
	l.run(t)
	if len(seen) != 3 {
		t.Fatal(seen)
	}
}

func TestEndNamesFibers(t *testing.T) {
	bothKinds(t, func(t *testing.T, k poll.Kind) {
		l := newTestLoop(t, Options{Poller: k})
		deferred, cleaned := 0, 0
		for range 3 {
			l.Go(func(f *Fiber) {
				defer func() { deferred++ }()
				f.OnPanic(func(any) { cleaned++ })
				f.SetLabel("Godot")
				for {
					f.Park(0)
				}
			})
		}
		l.Go(func(f *Fiber) {
			f.Yield()
			l.Stop()
		})
		l.run(t)
		n := 0
		for _, w := range l.warns {
			if strings.Contains(w, "Godot") {
				n++
			}
		}
		if n != 3 || deferred != 3 || cleaned != 3 || l.Fibers() != 0 {
			t.Fatal(l.warns, deferred, cleaned, l.Fibers())
		}
	})
}

func TestWatchdog(t *testing.T) {
	l := newTestLoop(t, Options{})
	var reports atomic.Int32
	var first atomic.Pointer[string]
	w := Watchdog{Loops: []*Loop{l.Loop}, After: 100 * time.Millisecond, Report: func(_ *Loop, _ time.Duration, s string) {
		first.CompareAndSwap(nil, &s)
		reports.Add(1)
	}}
	w.Start()
	l.Go(func(f *Fiber) {
		f.Park(l.Now() + int64(200*time.Millisecond)) // sleeping is not hanging
		if n := reports.Load(); n != 0 {
			t.Errorf("%d reports of a sleeping loop: %s", n, *first.Load())
		}
		hog(func() bool { return reports.Load() > 0 })
		l.Stop()
	})
	l.run(t)
	w.Stop()
	if s := first.Load(); s == nil || !strings.Contains(*s, "hog") {
		t.Fatal("no report, or the stack does not show the culprit")
	}
}

// hog keeps its loop busy until cond, five seconds at most.
//
//go:noinline
func hog(cond func() bool) {
	for end := clock.Nanos() + int64(5*time.Second); clock.Nanos() < end && !cond(); {
	}
}

func TestWall(t *testing.T) {
	l := newTestLoop(t, Options{})
	l.Go(func(f *Fiber) {
		for range 5 {
			if d := time.Since(l.Wall()); d < -50*time.Millisecond || d > time.Second {
				t.Errorf("wall time is off by %v", d)
			}
			f.Park(l.Now() + int64(time.Millisecond))
		}
		l.Stop()
	})
	l.run(t)
}

func TestRunOnce(t *testing.T) {
	l := newTestLoop(t, Options{Buffers: buf.NewShared(buf.Config{Reserve: 4})})
	l.Stop()
	l.run(t)
	if err := l.Run(); err != ErrRan {
		t.Fatal(err)
	}
	l.Stop()
}

func BenchmarkFiberSwitch(b *testing.B) {
	l := newTestLoop(b, Options{})
	b.ReportAllocs()
	l.Go(func(f *Fiber) {
		f.Yield()
		b.ResetTimer()
		for range b.N {
			f.Yield()
		}
		b.StopTimer()
		l.Stop()
	})
	l.run2(b)
}

func (l *testLoop) run2(t testing.TB) {
	done := make(chan error, 1)
	go func() { done <- l.Run() }()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func BenchmarkFiberPingPong(b *testing.B) {
	l := newTestLoop(b, Options{})
	b.ReportAllocs()
	var other *Fiber
	n := 0
	l.Go(func(f *Fiber) {
		other = f
		for n < b.N {
			f.Park(0)
		}
	})
	l.Go(func(f *Fiber) {
		b.ResetTimer()
		for n = 0; n < b.N; n++ {
			other.Wake()
			f.Yield()
		}
		other.Wake()
		l.Stop()
	})
	l.run2(b)
}
