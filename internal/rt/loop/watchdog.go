package loop

import (
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"weir/internal/base/assert"
	"weir/internal/rt/clock"
)

func threadID() int { return unix.Gettid() }

// checkThread holds law 1 in assertion builds: a loop that runs is touched by its own thread only.
func (l *Loop) checkThread() {
	if t := l.thread.Load(); t != 0 && l.state.Load() == stateRunning {
		assert.Always(int(t) == threadID(), "the loop was touched by another thread")
	}
}

func stack() []byte { return debug.Stack() }

// A Watchdog looks at loops from a goroutine of its own and reports the ones that have not turned for too long.
type Watchdog struct {
	Loops []*Loop
	After time.Duration // a turn longer than this is reported, once for each turn
	// Report gets the loop, how long the turn has taken so far, and the stacks of all goroutines of the program, among
	// which the loop's is found by its Run frame.
	Report func(l *Loop, late time.Duration, stacks string)
	stop   chan struct{}
	done   chan struct{}
}

// Start begins watching.
func (w *Watchdog) Start() {
	w.stop, w.done = make(chan struct{}), make(chan struct{})
	go w.run()
}

// Stop ends the watching.
func (w *Watchdog) Stop() {
	close(w.stop)
	<-w.done
}

func (w *Watchdog) run() {
	defer close(w.done)
	told := make([]int64, len(w.Loops))
	tick := time.NewTicker(max(w.After/4, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-tick.C:
		}
		for i, l := range w.Loops {
			beat := l.Beat()
			late := time.Duration(clock.Nanos() - beat)
			if beat == 0 || late < w.After || told[i] == beat {
				continue
			}
			told[i] = beat
			w.Report(l, late, stacks())
		}
	}
}

// Beat is when the current turn began (clock.Nanos for a loop on the machine's clock), 0 while the loop waits for
// events. Any thread.
func (l *Loop) Beat() int64 { return l.beat.Load() }

// Thread is the number of the thread that runs the loop, 0 before. Any thread.
func (l *Loop) Thread() int { return int(l.thread.Load()) }

// stacks is the stacks of the goroutines that have to do with loops.
func stacks() string {
	b := make([]byte, 1<<20)
	b = b[:runtime.Stack(b, true)]
	var out strings.Builder
	for g := range strings.SplitSeq(string(b), "\n\n") {
		if strings.Contains(g, "(*Loop).") || strings.Contains(g, "(*Fiber).") {
			out.WriteString(g)
			out.WriteString("\n\n")
		}
	}
	return out.String()
}
