package loop

import (
	"errors"
	"iter"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"weir/internal/base/assert"
)

// The fiber laws rest on how the Go runtime treats coroutines; these tests hold the runtime to it. Cases that end the
// process run in a copy of the test binary.

func inChild(t *testing.T, name string, fn func()) (out string, err error) {
	t.Helper()
	if os.Getenv("WEIR_LAW") == name {
		fn()
		os.Exit(0)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "WEIR_LAW="+name)
	b, err := cmd.CombinedOutput()
	return string(b), err
}

// onOwn runs fn on a goroutine of its own, so that it can play with its thread.
func onOwn(fn func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		fn()
	}()
	<-done
}

func count(yield func(int) bool) {
	for i := 0; yield(i); i++ {
	}
}

func TestLawLockedThread(t *testing.T) {
	onOwn(func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		tid := threadID()
		var inside []int
		next, stop := iter.Pull(func(yield func(int) bool) {
			for i := 0; ; i++ {
				inside = append(inside, threadID())
				if !yield(i) {
					return
				}
			}
		})
		defer stop()
		for i := range 100 {
			if v, ok := next(); !ok || v != i {
				t.Errorf("resume %d gave %d, %v", i, v, ok)
			}
		}
		for _, x := range inside {
			if x != tid {
				t.Errorf("coroutine ran on thread %d, its loop on %d", x, tid)
				return
			}
		}
	})
}

func TestLawLockStateMustMatch(t *testing.T) {
	out, err := inChild(t, "lock", func() {
		onOwn(func() {
			next, _ := iter.Pull(count)
			next()
			runtime.LockOSThread()
			next()
		})
	})
	if err == nil || !strings.Contains(out, "fatal error: coro") {
		t.Fatalf("locking between creation and resume: %v\n%s", err, out)
	}
}

func TestLawOtherGoroutineMayNotResume(t *testing.T) {
	out, err := inChild(t, "other", func() {
		var next func() (int, bool)
		onOwn(func() {
			runtime.LockOSThread()
			next, _ = iter.Pull(count)
			next()
			onOwn(func() {
				runtime.LockOSThread()
				next()
			})
		})
	})
	if err == nil || !strings.Contains(out, "fatal error: coro") {
		t.Fatalf("resuming from another goroutine: %v\n%s", err, out)
	}
}

func TestLawPanicSurfacesAtResume(t *testing.T) {
	onOwn(func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		boom := errors.New("boom")
		next, _ := iter.Pull(func(yield func(int) bool) {
			yield(1)
			panic(boom)
		})
		next()
		func() {
			defer func() {
				if v := recover(); v != any(boom) {
					t.Errorf("recovered %v at the resume", v)
				}
			}()
			next()
			t.Error("resume returned")
		}()
		if _, ok := next(); ok {
			t.Error("a coroutine that panicked goes on")
		}
		other, stop := iter.Pull(count)
		defer stop()
		if v, ok := other(); !ok || v != 0 {
			t.Error("no new coroutine after a panic")
		}
	})
}

func TestLawPanicEndsOneFiber(t *testing.T) {
	var seen []string
	var cleaned any
	l := newTestLoop(t, Options{OnPanic: func(f *Fiber, v any, stack []byte) {
		seen = append(seen, v.(string)+"\n"+string(stack))
	}})
	var order []string
	l.Go(func(f *Fiber) {
		f.OnPanic(func(v any) { cleaned = v })
		f.Yield()
		explode()
	})
	l.Go(func(f *Fiber) {
		for range 3 {
			f.Yield()
			order = append(order, "good")
		}
		l.Stop()
	})
	l.run(t)
	if len(seen) != 1 || !strings.HasPrefix(seen[0], "kaboom\n") || !strings.Contains(seen[0], "explode") {
		t.Fatalf("panic report: %q", seen)
	}
	if cleaned != "kaboom" || len(order) != 3 || l.Fibers() != 0 || l.Counters.Panics.Load() != 1 {
		t.Fatal(cleaned, order, l.Fibers(), l.Counters.Panics.Load())
	}
}

//go:noinline
func explode() { panic("kaboom") }

func TestLawStackMayMove(t *testing.T) {
	l := newTestLoop(t, Options{})
	sum := 0
	l.Go(func(f *Fiber) {
		sum = deep(f, 2000)
		l.Stop()
	})
	l.run(t)
	if sum != 2000*2001/2 {
		t.Fatal(sum)
	}
}

// deep grows the fiber's stack, and parks at the bottom of it.
func deep(f *Fiber, n int) int {
	var pad [64]int
	pad[n%64] = n
	if n == 0 {
		f.Yield()
		return 0
	}
	return pad[n%64] + deep(f, n-1)
}

func TestLawThreadIsChecked(t *testing.T) {
	if !assert.On {
		t.Skip("only in assertion builds")
	}
	l := newTestLoop(t, Options{})
	l.Go(func(f *Fiber) {
		f.Offload(func() {
			defer func() {
				if recover() == nil {
					t.Error("a wake-up from another thread is not noticed")
				}
			}()
			f.Wake()
		})
		l.Stop()
	})
	l.run(t)
}
