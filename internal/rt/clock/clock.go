// Package clock tells the time, real or simulated.
//
// Deadlines are monotonic nanoseconds since a point before the program's first loop, the same point for every loop of
// the process; wall time is only for people and protocols.
package clock

import (
	"sync/atomic"
	"time"
)

// A Clock tells monotonic and wall time. Safe for concurrent use.
type Clock interface {
	Now() int64      // monotonic nanoseconds, more than 0, never going back
	Wall() time.Time // time of day
}

// start is when the program started, one second early so that Now is never 0.
var start = time.Now().Add(-time.Second)

type realClock struct{}

// Real is the machine's clock.
func Real() Clock { return realClock{} }

func (realClock) Now() int64      { return int64(time.Since(start)) }
func (realClock) Wall() time.Time { return time.Now() }

// Nanos is the monotonic time of the real clock, without the indirection.
func Nanos() int64 { return int64(time.Since(start)) }

// Sim is a clock that stands still until it is moved.
type Sim struct {
	ns   atomic.Int64
	base time.Time
}

// NewSim makes a clock whose wall time starts at base; its monotonic time starts at one second.
func NewSim(base time.Time) *Sim {
	s := &Sim{base: base}
	s.ns.Store(int64(time.Second))
	return s
}

// Now is the simulated monotonic time.
func (s *Sim) Now() int64 { return s.ns.Load() }

// Wall is the simulated time of day.
func (s *Sim) Wall() time.Time { return s.base.Add(time.Duration(s.ns.Load()) - time.Second) }

// Advance moves the clock forward by d.
func (s *Sim) Advance(d time.Duration) { s.ns.Add(int64(d)) }

// AdvanceTo moves the clock forward to monotonic time t; a time in the past changes nothing.
func (s *Sim) AdvanceTo(t int64) {
	for {
		now := s.ns.Load()
		if t <= now || s.ns.CompareAndSwap(now, t) {
			return
		}
	}
}
