package loop

import (
	"errors"
	"iter"
	"runtime/debug"

	"weir/internal/base/assert"
)

// A Fiber is straight-line code on a loop. The rules:
//
//  1. Fibers are created and resumed by their loop only, whose goroutine is locked to its thread from the first one on.
//  2. A panic in a fiber ends that fiber: the loop recovers it, counts it and tells OnPanic; others go on.
//  3. A fiber never blocks in Go (channel, contended mutex, sleep, file, system resolver): Offload does.
//  4. Nothing parks while it holds a lock.
//  5. Scratch memory of the loop does not live across a park.
//  6. Every fiber ends. At the end of the loop the ones still alive are named with what they wait for.
//  7. Memory handed to the kernel is never on a fiber's stack, which moves when it grows.
type Fiber struct {
	l      *Loop
	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
	fn     func(*Fiber)
	fnArg  func(*Fiber, any)
	arg    any
	next   *Fiber // in the run queue or in the cache
	timer  Timer
	label  string
	clean  func(v any)
	stk    []byte // of a panic
	off    offload
	idx    int // in Loop.all
	st     fiberState
	woken  bool // a wake-up came while the fiber was not parked
	late   bool // the deadline of the park has passed
	dead   bool
}

type fiberState uint8

const (
	fiberIdle     fiberState = iota // cached
	fiberQueued                     // runnable, will look at its conditions when it runs
	fiberYielding                   // runnable, in the middle of something
	fiberRunning
	fiberParked
)

// ErrEnded is what Park panics with in a fiber whose loop ends.
var ErrEnded = errors.New("loop: the loop ends")

type runQueue struct {
	head, tail *Fiber
	n          int
}

func (q *runQueue) push(f *Fiber) {
	f.next = nil
	if q.tail == nil {
		q.head = f
	} else {
		q.tail.next = f
	}
	q.tail = f
	q.n++
}

func (q *runQueue) pop() *Fiber {
	f := q.head
	if f == nil {
		return nil
	}
	q.head = f.next
	if q.head == nil {
		q.tail = nil
	}
	f.next = nil
	q.n--
	return f
}

// Go starts a fiber that runs fn, in this turn if the budget allows. Loop thread only, or before Run.
func (l *Loop) Go(fn func(f *Fiber)) {
	f := l.fiber()
	f.fn = fn
	l.launch(f)
}

// Start is Go for a function with an argument: with a pointer as argument and a function that is not a closure it
// allocates nothing.
func (l *Loop) Start(fn func(f *Fiber, arg any), arg any) {
	f := l.fiber()
	f.fnArg, f.arg = fn, arg
	l.launch(f)
}

func (l *Loop) launch(f *Fiber) {
	if assert.On {
		l.checkThread()
	}
	f.st = fiberYielding
	f.woken = false
	f.label = ""
	l.live++
	l.Counters.Started.Inc()
	l.Counters.Fibers.Set(int64(l.live))
	l.runq.push(f)
}

func (l *Loop) fiber() *Fiber {
	if f := l.idle; f != nil {
		l.idle = f.next
		f.next = nil
		return f
	}
	f := &Fiber{l: l, idx: len(l.all)}
	f.timer.Fn = f.expired
	l.all = append(l.all, f)
	return f
}

// body is the coroutine of a fiber: it runs one function after the other.
func (f *Fiber) body(yield func(struct{}) bool) {
	f.yield = yield
	ok := false
	defer func() {
		if !ok && f.st == fiberRunning {
			f.stk = debug.Stack() // still the stack of the panic
		}
	}()
	for {
		if fn := f.fn; fn != nil {
			f.fn = nil
			fn(f)
		} else {
			fn, arg := f.fnArg, f.arg
			f.fnArg, f.arg = nil, nil
			fn(f, arg)
		}
		f.ended()
		if !yield(struct{}{}) {
			ok = true
			return
		}
	}
}

// ended puts a fiber whose function has returned into the cache.
func (f *Fiber) ended() {
	l := f.l
	f.st = fiberIdle
	f.clean = nil
	f.timer.when = 0
	f.next = l.idle
	l.idle = f
	l.live--
	l.Counters.Fibers.Set(int64(l.live))
}

// runFibers resumes what is runnable, a bounded number of fibers. Those that were runnable when the turn began come
// first; ones that they wake, and ones that yield, follow in the same turn as long as little time has gone by.
func (l *Loop) runFibers() {
	began := l.now
	first := l.runq.n
	for budget := l.opt.Runs; budget > 0 && l.runq.head != nil; {
		if first <= 0 && l.now-began >= submitEvery {
			return
		}
		n := min(l.runq.n, budget)
		if first > 0 {
			n = min(first, budget)
		}
		left := l.runSome(n)
		first -= n - left
		budget -= n - left
	}
}

// runSome resumes up to n fibers; it returns how many are left, which happens when one panicked.
func (l *Loop) runSome(n int) (left int) {
	defer func() {
		if f := l.cur; f != nil {
			l.buried(f, recover())
		}
	}()
	for left = n; left > 0; {
		f := l.runq.pop()
		if f == nil {
			return left
		}
		left--
		f.st = fiberRunning
		l.cur = f
		l.Counters.Resumed.Inc()
		if f.resume == nil {
			f.resume, f.stop = iter.Pull(f.body)
		}
		f.resume()
		l.cur = nil
		l.tick()
		if l.now-l.submitted >= submitEvery && left > 0 {
			l.hand()
		}
	}
	return left
}

// buried deals with a fiber that panicked: its coroutine is gone.
func (l *Loop) buried(f *Fiber, v any) {
	l.cur = nil
	f.dead = true
	f.st = fiberIdle
	l.live--
	l.Counters.Fibers.Set(int64(l.live))
	l.unlist(f)
	st := f.stk
	f.stk = nil
	if clean := f.clean; clean != nil {
		f.clean = nil
		l.call(func() { clean(v) })
	}
	if v != nil && v != any(ErrEnded) {
		l.call(func() { l.panicked(f, v, st) })
	}
	f.fn, f.fnArg, f.arg = nil, nil, nil
}

func (l *Loop) unlist(f *Fiber) {
	l.Forget(&f.timer)
	last := len(l.all) - 1
	l.all[f.idx] = l.all[last]
	l.all[f.idx].idx = f.idx
	l.all[last] = nil
	l.all = l.all[:last]
}

// Current is the fiber that runs now, nil between fibers.
func (l *Loop) Current() *Fiber { return l.cur }

// Fibers is the number of fibers alive.
func (l *Loop) Fibers() int { return l.live }

// Waiting names what each living fiber waits for, as it said with SetLabel.
func (l *Loop) Waiting() []string {
	var out []string
	for _, f := range l.all {
		if f.st == fiberIdle {
			continue
		}
		s := f.label
		if s == "" {
			s = "something it did not name"
		}
		out = append(out, s)
	}
	return out
}

// endFibers ends the coroutines: cached ones return, living ones panic out of their Park with ErrEnded.
func (l *Loop) endFibers() {
	for n := len(l.all); n > 0 && len(l.all) > 0; n-- {
		f := l.all[len(l.all)-1]
		if f.st == fiberIdle {
			if f.stop != nil {
				f.stop()
			}
			l.unlist(f)
			continue
		}
		l.endOne(f)
	}
	l.idle = nil
	l.runq = runQueue{}
}

func (l *Loop) endOne(f *Fiber) {
	defer func() {
		v := recover()
		l.cur = nil
		if f.st == fiberIdle { // it chose to return
			l.unlist(f)
			return
		}
		l.buried(f, v)
	}()
	l.cur = f
	f.dead = true
	f.st = fiberRunning
	if f.stop != nil {
		f.stop()
	}
}

// Loop is the fiber's loop.
func (f *Fiber) Loop() *Loop { return f.l }

// SetLabel says what the fiber is doing, for the report at the end and for diagnostics. It costs a store.
func (f *Fiber) SetLabel(what string) { f.label = what }

// Label is what was said with SetLabel.
func (f *Fiber) Label() string { return f.label }

// OnPanic has fn called on the loop, outside of the fiber, if the fiber panics or is ended with its loop, so that its
// owner can close what it held. It is forgotten when the fiber's function returns.
func (f *Fiber) OnPanic(fn func(v any)) { f.clean = fn }

// Park waits until the fiber is woken, and reports true, or until the deadline (nanoseconds of Now, 0 = none) has
// passed, and reports false. It may also report true without a cause: callers check their condition in a loop.
func (f *Fiber) Park(deadline int64) bool {
	if f.woken {
		f.woken = false
		return true
	}
	l := f.l
	if deadline != 0 {
		if deadline <= l.now {
			return false
		}
		l.Arm(&f.timer, deadline)
	}
	f.late = false
	f.st = fiberParked
	f.swap()
	f.timer.when = 0
	return !f.late
}

// swap goes back to the loop until the fiber is resumed.
func (f *Fiber) swap() {
	if f.l.cur != f {
		panic("loop: Park or Yield outside of the running fiber")
	}
	if f.dead || !f.yield(struct{}{}) {
		f.dead = true
		f.st = fiberRunning
		panic(ErrEnded)
	}
}

// expired is the function of the fiber's timer.
func (f *Fiber) expired() {
	if f.st == fiberParked {
		f.late = true
		f.st = fiberQueued
		f.l.runq.push(f)
	}
}

// Wake makes a parked fiber runnable. A fiber that is not parked remembers it: its next Park returns at once. Loop
// thread only; waking twice is waking once.
func (f *Fiber) Wake() {
	if assert.On {
		f.l.checkThread()
	}
	switch f.st {
	case fiberParked:
		f.st = fiberQueued
		f.l.runq.push(f)
	case fiberQueued:
		f.late = false
	case fiberRunning, fiberYielding:
		f.woken = true
	}
}

// Yield lets other runnable fibers go first.
func (f *Fiber) Yield() {
	f.st = fiberYielding
	f.l.runq.push(f)
	f.swap()
}
