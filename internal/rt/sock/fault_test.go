package sock

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"weir/internal/base/buf"
	"weir/internal/rt/loop"
	"weir/internal/rt/poll"
)

// traffic is the load of the fault tests: clients that exchange messages with an echo server and half of which hang up
// in the middle. With resets, only what arrives is checked.
func traffic(w *world, resets bool) {
	onErr := func(err error) {
		if !resets && err != unix.ECONNRESET { // clients that abort
			w.t.Errorf("echo: %v", err)
		}
	}
	s, at := w.listenEcho(onErr)
	left := 20
	for i := range left {
		w.fiber("client", func(f *loop.Fiber) {
			defer func() {
				if left--; left == 0 {
					s.Close()
				}
			}()
			c, err := w.dial(f, at)
			if err != nil {
				if !resets {
					w.t.Errorf("connect: %v", err)
				}
				return
			}
			defer c.Close()
			for r := range 15 {
				p := pattern(1+w.rng.IntN(20000), byte(i+r))
				err := send(f, c, p)
				if err == nil && i%2 == 0 && r == 10 {
					c.Abort()
					return
				}
				var got []byte
				if err == nil {
					got, err = recvN(f, c, len(p))
				}
				if !bytes.Equal(got, p[:len(got)]) {
					w.t.Errorf("client %d round %d: wrong bytes", i, r)
				}
				if err != nil {
					if !resets {
						w.t.Errorf("client %d round %d: %v", i, r, err)
					}
					return
				}
			}
		})
	}
}

func TestFaults(t *testing.T) {
	for _, percent := range []int{1, 10} {
		for round := range 10 {
			t.Run(fmt.Sprintf("%d/%d", percent, round), func(t *testing.T) {
				worlds(t, setup{faults: poll.AllFaults(percent)}, func(w *world) { traffic(w, false) })
				f := poll.AllFaults(percent)
				f.ResetPM, f.Refuse = 20*percent, percent
				worlds(t, setup{faults: f, buffers: buf.Config{FailPercent: percent, Poison: true}}, func(w *world) { traffic(w, true) })
			})
		}
	}
}

// TestSimulationRepeats runs one seed twice: what happens must be the same to the nanosecond.
func TestSimulationRepeats(t *testing.T) {
	var ends []string
	for range 2 {
		w := newWorldSeeded(t, poll.Simulated, setup{faults: poll.AllFaults(5)}, 12345)
		traffic(w, false)
		w.run()
		k := &w.l.Counters
		ends = append(ends, fmt.Sprint(w.sim.Clock().Now(), k.Turns.Load(), k.Resumed.Load(), k.Started.Load()))
	}
	if ends[0] != ends[1] {
		t.Fatalf("same seed, different runs: %s and %s", ends[0], ends[1])
	}
}

// TestTinyRing makes io_uring's queues so small that both overflow all the time.
func TestTinyRing(t *testing.T) {
	worlds(t, setup{opt: loop.Options{Ring: 2, Events: 3, Runs: 5}}, func(w *world) {
		traffic(w, false)
		w.after = func() {
			if w.l.Kind() == poll.Uring && w.l.Poller().Stats().QueueFull.Load() == 0 {
				w.t.Error("the submission queue was never full")
			}
		}
	})
}

func TestNoDescriptorsLeft(t *testing.T) {
	worlds(t, setup{}, func(w *world) {
		if w.sim != nil { // has it as a fault
			w.fiber("nothing", func(*loop.Fiber) {})
			return
		}
		s, at := w.listenEcho(failOn(w.t))
		w.fiber("client", func(f *loop.Fiber) {
			defer s.Close()
			s.Pause()
			f.Park(w.l.Now() + int64(time.Millisecond))
			c := w.mustDial(f, at)
			defer c.Close()
			var was unix.Rlimit
			if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
				w.t.Error(err)
				return
			}
			// With the limit at the number of open descriptors, no further one can be made.
			low := was
			low.Cur = uint64(highestFd() + 1)
			for low.Cur > 0 {
				if fd, err := unix.Dup(0); err == nil && fd < int(low.Cur) {
					defer unix.Close(fd)
					continue
				} else if err == nil {
					unix.Close(fd)
				}
				break
			}
			if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &low); err != nil {
				w.t.Error(err)
				return
			}
			s.Resume()
			for end := w.l.Now() + patience; s.Errors() == 0 && w.l.Now() < end; {
				f.Park(w.l.Now() + int64(time.Millisecond))
			}
			if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
				w.t.Error(err)
			}
			if s.Errors() == 0 {
				w.t.Error("accepting does not fail without descriptors")
			}
			// It tries again by itself.
			_ = send(f, c, []byte("late"))
			if p, err := recvN(f, c, 4); err != nil {
				w.t.Error(p, err)
			}
		})
	})
}

// TestSignals interrupts every system call of the loop as often as it can.
func TestSignals(t *testing.T) {
	worlds(t, setup{}, func(w *world) {
		stop := make(chan struct{})
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for {
				select {
				case <-stop:
					return
				default:
				}
				if tid := w.l.Thread(); tid != 0 {
					_ = unix.Tgkill(unix.Getpid(), tid, unix.SIGURG) // the Go runtime uses and tolerates it
				}
				runtime.Gosched()
			}
		}()
		traffic(w, false)
		w.after = func() {
			close(stop)
			<-ended
		}
	})
}
