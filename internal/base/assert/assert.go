// Package assert holds the program's own checks, in three grades.
//
// That is for invariants that are costly or in hot paths: it compiles to nothing unless the build tag weirdebug is
// given. Always is for cheap checks that guard memory or other people's data: it is compiled in every build and
// panics, which ends the fiber that tripped it and nothing else. A Tally counts what should not happen but can be
// survived.
package assert

import "sync/atomic"

// That panics with msg when ok is false and the build tag weirdebug is set. Without the tag it is removed by the
// compiler, so ok should be cheap or be guarded by `if assert.On`.
func That(ok bool, msg string) {
	if On && !ok {
		panic("assertion failed: " + msg)
	}
}

// Always panics with msg when ok is false, in every build.
func Always(ok bool, msg string) {
	if !ok {
		fail(msg)
	}
}

//go:noinline
func fail(msg string) { panic("assertion failed: " + msg) }

// A Tally counts violated expectations that the program survives. The zero value is ready. Safe for concurrent use.
type Tally struct{ n atomic.Uint64 }

// Expect counts one violation when ok is false and reports ok.
func (t *Tally) Expect(ok bool) bool {
	if !ok {
		t.n.Add(1)
	}
	return ok
}

// Count is the number of violations so far.
func (t *Tally) Count() uint64 { return t.n.Load() }
