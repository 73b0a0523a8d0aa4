package loop

import (
	"runtime/debug"
	"sync/atomic"
)

// Workers bound the processors that work off the loops may occupy, so that loops never wait for one. They are shared by the
// loops of a process.
type Workers struct {
	slots chan struct{}
	count atomic.Int64
	most  int64
}

// DefaultQueue is how many functions may wait for a worker: what they wait for is a share of a second each.
const DefaultQueue = 64

// NewWorkers lets n functions run at once and queue others wait; all more are refused.
func NewWorkers(n, queue int) *Workers {
	return &Workers{slots: make(chan struct{}, n), most: int64(n + queue)}
}

// OffloadTo is Offload for what keeps a processor busy: the function runs when one of the workers is free. It reports
// false, at once, when too many wait for that.
func (f *Fiber) OffloadTo(w *Workers, fn func()) bool {
	if w.count.Add(1) > w.most {
		w.count.Add(-1)
		return false
	}
	f.Offload(func() {
		w.slots <- struct{}{}
		defer func() {
			<-w.slots
			w.count.Add(-1)
		}()
		fn()
	})
	return true
}

// offload is a function that runs elsewhere for a fiber.
type offload struct {
	done  bool
	panic any
	stack []byte
}

// offloadPanic is a panic of an offloaded function, raised again in the fiber with the stack of where it happened.
type offloadPanic struct {
	Value any
	Stack []byte
}

// Offload runs fn on another goroutine while the fiber is parked, for work that blocks or that takes more than some
// hundred microseconds. fn must not touch anything of the loop. A panic in fn comes up in the fiber.
func (f *Fiber) Offload(fn func()) {
	l := f.l
	f.off = offload{}
	l.Counters.Offload.Inc()
	label := f.label
	f.label = "offloaded work"
	go f.elsewhere(fn)
	for !f.off.done {
		f.Park(0)
	}
	f.label = label
	if v := f.off.panic; v != nil {
		panic(offloadPanic{v, f.off.stack})
	}
}

func (f *Fiber) elsewhere(fn func()) {
	var v any
	var st []byte
	defer func() {
		f.l.Post(func() {
			f.l.Counters.Offload.Dec()
			f.off.done, f.off.panic, f.off.stack = true, v, st
			f.Wake()
		})
	}()
	defer func() {
		if v = recover(); v != nil {
			st = debug.Stack()
		}
	}()
	fn()
}
