package loop

import "runtime/debug"

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
