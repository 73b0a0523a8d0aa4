// Package loop is the event loop of one thread and the fibers that run on it.
//
// A loop owns its sockets, fibers, timers and buffers: nothing else touches them, so none of it takes a lock. Each turn
// collects completions, runs timers and posted functions, resumes the fibers that became runnable, and hands the work
// they left to the kernel in one system call. Fibers are coroutines: straight-line code that parks where it must wait.
//
// The rules for fibers are listed at type Fiber.
package loop

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"weir/internal/base/buf"
	"weir/internal/base/counter"
	"weir/internal/rt/clock"
	"weir/internal/rt/poll"
)

// Options sets up a loop. The zero value works: a loop of its own with its own buffers.
type Options struct {
	ID      int
	Poller  poll.Kind   // Auto: io_uring, else epoll with a warning
	Custom  poll.Maker  // makes the poller instead, when not nil
	Clock   clock.Clock // the machine's by default
	Buffers *buf.Shared // behind the loop's pool
	Warn    func(string)
	// OnPanic is told, on the loop, when a fiber, a callback or a timer panicked; f is nil for the latter two.
	OnPanic func(f *Fiber, v any, stack []byte)

	Ring   int // io_uring: size of the submission queue, default 1024
	Events int // completions handled per turn, default 256
	Runs   int // fibers resumed per turn, default 256

	// Workers are for computations of fibers that would hold up the loop; nil makes one of the loop's own.
	Workers *Workers

	SendHigh, SendLow int           // marks of a connection's send queue in bytes, default 128 KiB and 32 KiB
	CloseTimeout      time.Duration // how long a closed connection may take to send its queue, default 30 s
}

// Counters are those of one loop, readable from any thread.
type Counters struct {
	Turns   counter.Counter
	Wakeups counter.Counter // posted functions that ended a sleep
	Posted  counter.Counter
	Started counter.Counter // fibers started
	Resumed counter.Counter
	Panics  counter.Counter
	Pauses  counter.Counter // send queues that reached the high mark while their owner waited
	Resumes counter.Counter // of which went below the low mark again
	Timers  counter.Counter // timers that fired
	Fibers  counter.Gauge   // alive
	Conns   counter.Gauge   // connections
	Sent    counter.Counter // bytes that connections have handed to the kernel
	Spliced counter.Counter // of which went through pipes
	Offload counter.Gauge   // functions running elsewhere
}

// submitEvery is how much work may go by, in nanoseconds, before what is pending is handed to the kernel.
const submitEvery = 50_000

// wallEvery is how long the wall time is extrapolated from the monotonic clock, in nanoseconds.
const wallEvery = 250_000_000

// Loop is one event loop. Its methods are for its own thread, except those that say otherwise.
type Loop struct {
	Counters Counters
	// Ext is the socket layer's state.
	Ext any

	opt    Options
	poller poll.Poller
	pool   *buf.Pool
	clk    clock.Clock
	real   bool

	now       int64
	submitted int64 // when work was last handed to the kernel
	wallAt    int64
	wallTime  time.Time

	runq   runQueue
	idle   *Fiber // cached
	all    []*Fiber
	cur    *Fiber
	live   int
	timers heap
	hooks  *TurnHook
	hookT  *TurnHook

	state    atomic.Int32
	sleeping atomic.Bool
	beat     atomic.Int64 // when the turn began; 0 while sleeping
	thread   atomic.Int32

	mu     sync.Mutex
	posted []func()
	spare  []func()
	havePo atomic.Bool
	done   chan struct{}
	atEnd  []func()
}

// AtEnd has fn called when the loop has ended its fibers and frees what it owns.
func (l *Loop) AtEnd(fn func()) { l.atEnd = append(l.atEnd, fn) }

// Workers are where fibers of the loop compute what takes long.
func (l *Loop) Workers() *Workers { return l.opt.Workers }

const (
	stateNew int32 = iota
	stateRunning
	stateStopping
	stateDone
)

// New makes a loop. It may be used from the calling goroutine until Run is called.
func New(o Options) (*Loop, error) {
	if o.Buffers == nil {
		o.Buffers = buf.NewShared(buf.Config{})
	}
	l := &Loop{clk: o.Clock, pool: o.Buffers.NewPool(), done: make(chan struct{})}
	if l.clk == nil {
		l.clk = clock.Real()
	}
	l.real = l.clk == clock.Real()
	setDefault(&o.Events, 256)
	setDefault(&o.Runs, 256)
	setDefault(&o.SendHigh, 128<<10)
	if o.SendLow <= 0 || o.SendLow >= o.SendHigh {
		o.SendLow = o.SendHigh / 4
	}
	if o.CloseTimeout <= 0 {
		o.CloseTimeout = 30 * time.Second
	}
	cfg := poll.Config{Pool: l.pool, Clock: l.clk, Woke: l.tick, Ring: o.Ring}
	var err error
	if o.Custom != nil {
		l.poller, err = o.Custom(cfg)
	} else {
		l.poller, err = poll.New(o.Poller, cfg, o.Warn)
	}
	if err != nil {
		l.pool.Close()
		return nil, err
	}
	if o.Workers == nil {
		o.Workers = NewWorkers(1, DefaultQueue)
	}
	l.opt = o
	l.tick()
	return l, nil
}

func setDefault(p *int, v int) {
	if *p <= 0 {
		*p = v
	}
}

// ErrRan is returned by Run when the loop has run before.
var ErrRan = errors.New("loop: a loop runs once")

// Run turns the loop on the calling goroutine until Stop, and then frees it. The goroutine is locked to its thread.
// Fibers that are alive at that point are ended: they are reported through Options.Warn, their next Park panics.
func (l *Loop) Run() error {
	if !l.state.CompareAndSwap(stateNew, stateRunning) && l.state.Load() != stateStopping {
		return ErrRan
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(l.done)
	defer l.state.Store(stateDone)
	l.thread.Store(int32(threadID()))
	if err := l.poller.Start(); err != nil {
		return errors.Join(err, l.tearDown())
	}
	l.tick()
	for l.state.Load() == stateRunning {
		l.turn()
	}
	return l.tearDown()
}

// turn is one round of the loop.
func (l *Loop) turn() {
	l.Counters.Turns.Inc()
	l.beat.Store(0)
	l.poll()
	l.tick()
	l.submitted = l.now
	l.beat.Store(l.now)
	if l.havePo.Load() {
		l.runPosted()
	}
	if l.timers.due(l.now) {
		l.runTimers()
	}
	l.runFibers()
	l.runHooks()
}

// poll sleeps until there is something to do.
func (l *Loop) poll() {
	defer l.guard()
	timeout := l.timers.wait(l.now)
	if l.runq.head != nil || l.havePo.Load() || l.state.Load() != stateRunning {
		timeout = 0
	}
	if timeout == 0 {
		l.poller.Poll(0, l.opt.Events)
		return
	}
	l.sleeping.Store(true)
	if l.havePo.Load() || l.state.Load() != stateRunning {
		timeout = 0
	}
	l.poller.Poll(timeout, l.opt.Events)
	if !l.sleeping.Swap(false) {
		l.Counters.Wakeups.Inc()
	}
}

// guard keeps a panic in a callback from ending the process. What the callback had left undone stays undone.
func (l *Loop) guard() {
	if v := recover(); v != nil {
		l.sleeping.Store(false)
		l.panicked(nil, v, stack())
	}
}

func (l *Loop) panicked(f *Fiber, v any, st []byte) {
	l.Counters.Panics.Inc()
	if l.opt.OnPanic != nil {
		l.opt.OnPanic(f, v, st)
	} else {
		l.warn(fmt.Sprintf("panic: %v\n%s", v, st))
	}
}

func (l *Loop) warn(s string) {
	if l.opt.Warn != nil {
		l.opt.Warn(s)
	}
}

func (l *Loop) tick() {
	if l.real {
		l.now = clock.Nanos()
	} else {
		l.now = l.clk.Now()
	}
}

// Now is the monotonic time in nanoseconds, as of the start of the turn or of the last submission.
func (l *Loop) Now() int64 { return l.now }

// Wall is the time of day that belongs to Now, within the granularity of a quarter of a second for clock changes.
func (l *Loop) Wall() time.Time {
	if d := l.now - l.wallAt; d < wallEvery && l.wallAt != 0 && l.real {
		return l.wallTime.Add(time.Duration(d))
	}
	l.wallTime = l.clk.Wall()
	l.wallAt = l.clk.Now()
	return l.wallTime
}

// Pool is the loop's buffer pool.
func (l *Loop) Pool() *buf.Pool { return l.pool }

// Poller is the loop's I/O side, for the socket layer.
func (l *Loop) Poller() poll.Poller { return l.poller }

// Kind tells how the loop does I/O.
func (l *Loop) Kind() poll.Kind { return l.poller.Kind() }

// Options are those the loop was made with, defaults filled in.
func (l *Loop) Options() *Options { return &l.opt }

// ID is the number given in Options.
func (l *Loop) ID() int { return l.opt.ID }

// Stop ends the loop after the current turn. Any thread; more than once is fine. Done tells when it has ended.
func (l *Loop) Stop() {
	for {
		s := l.state.Load()
		if s != stateNew && s != stateRunning {
			return
		}
		if l.state.CompareAndSwap(s, stateStopping) {
			l.poller.Wake()
			return
		}
	}
}

// Done is closed when Run has returned.
func (l *Loop) Done() <-chan struct{} { return l.done }

// Post has fn run on the loop, soon and in the order of posting. Any thread. A loop that has ended drops it: Post then
// reports false.
func (l *Loop) Post(fn func()) bool {
	l.mu.Lock()
	if l.state.Load() == stateDone {
		l.mu.Unlock()
		return false
	}
	l.posted = append(l.posted, fn)
	l.havePo.Store(true)
	l.mu.Unlock()
	if l.sleeping.Load() && l.sleeping.CompareAndSwap(true, false) {
		l.poller.Wake()
	}
	return true
}

func (l *Loop) runPosted() {
	l.mu.Lock()
	fns := l.posted
	l.posted = l.spare[:0]
	l.havePo.Store(false)
	l.mu.Unlock()
	l.Counters.Posted.Add(uint64(len(fns)))
	for i, fn := range fns {
		fns[i] = nil
		l.call(fn)
	}
	l.spare = fns[:0]
}

// call runs a callback and survives its panic.
func (l *Loop) call(fn func()) {
	defer l.guard()
	fn()
}

// Guard is for `defer l.Guard()` around callbacks that the socket layer makes: it recovers and reports their panics.
func (l *Loop) Guard() {
	if v := recover(); v != nil {
		l.panicked(nil, v, stack())
	}
}

// A TurnHook is a function to be called once at the end of a turn. It lives inside the object it serves.
type TurnHook struct {
	Fn   func()
	next *TurnHook
	on   bool
}

// AtTurnEnd has t.Fn called before the loop hands its work to the kernel: at the end of the turn, or earlier when much
// work has gone by. Asking again before that changes nothing.
func (l *Loop) AtTurnEnd(t *TurnHook) {
	if t.on {
		return
	}
	t.on, t.next = true, nil
	if l.hookT == nil {
		l.hooks = t
	} else {
		l.hookT.next = t
	}
	l.hookT = t
}

// runHooks calls hooks until none is left; hooks may ask for further ones, a bounded number of times.
func (l *Loop) runHooks() {
	for round := 0; l.hooks != nil && round < 8; round++ {
		t := l.hooks
		l.hooks, l.hookT = nil, nil
		for t != nil {
			next := t.next
			t.on, t.next = false, nil
			l.call(t.Fn)
			t = next
		}
	}
}

// hand gives what is pending to the kernel in the middle of a turn.
func (l *Loop) hand() {
	l.runHooks()
	l.poller.Submit()
	l.submitted = l.now
}

// tearDown ends fibers and frees what the loop owns.
func (l *Loop) tearDown() error {
	l.beat.Store(0)
	for range 4 {
		// What was posted last, closing connections perhaps, still runs.
		l.runPosted()
		l.runFibers()
		l.runHooks()
		l.poller.Poll(0, l.opt.Events)
	}
	for _, w := range l.Waiting() {
		l.warn(fmt.Sprintf("loop %d: a fiber is still alive at the end, waiting for %s", l.opt.ID, w))
	}
	l.endFibers()
	l.runHooks()
	for _, fn := range l.atEnd {
		l.call(fn)
	}
	err := l.poller.Destroy()
	if err != nil {
		l.warn(fmt.Sprintf("loop %d: %v", l.opt.ID, err))
	}
	l.mu.Lock()
	l.state.Store(stateDone)
	l.posted = nil
	l.mu.Unlock()
	if n := l.pool.Close(); n > 0 {
		l.warn(fmt.Sprintf("loop %d: %d buffers were not given back", l.opt.ID, n))
	}
	return err
}
