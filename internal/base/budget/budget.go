// Package budget bounds work whose length a peer can choose. A transaction has one stock of steps for everything that
// runs on its event loop, so that many values of one request cost the others no more than a single one may.
package budget

// Full is the stock of a transaction: as much as PCRE2 allows a single match, about 0.4 s.
const Full = 10_000_000

// What one piece of work may take before it must move off the loop: Long while the transaction has taken less than Fair in
// place, Short after that. Long is about 2 ms.
const (
	Long  = 50_000
	Short = 2_000
	Fair  = 4 * Long
)

// Steps is a stock of steps. The zero value is full; a nil one never shrinks. It belongs to one goroutine or fiber.
type Steps struct {
	used  int
	here  int // of them in place, on the loop
	spent bool
	aside func(fn func()) bool
}

// Left is how many steps remain, at least 0.
func (s *Steps) Left() int {
	if s == nil {
		return Full
	}
	return max(0, Full-s.used)
}

// Here is how many of them may be taken in place by the next piece of work. Less than Left means that Aside can do the
// rest.
func (s *Steps) Here() int {
	switch {
	case s == nil || s.aside == nil:
		return s.Left()
	case s.here < Fair:
		return min(s.Left(), Long)
	}
	return min(s.Left(), Short)
}

// Take removes n steps that were taken in place.
func (s *Steps) Take(n int) {
	if s != nil {
		s.used += n
		s.here += n
	}
}

// Aside runs fn, which takes the steps that it returns, elsewhere while the transaction waits. It reports false when that is
// not possible now: too many wait already.
func (s *Steps) Aside(fn func() int) bool {
	n := 0
	if !s.aside(func() { n = fn() }) {
		return false
	}
	s.used += n
	return true
}

// Do runs fn, which takes milliseconds, elsewhere if there is such a place, else at once. It reports false, and notes a
// failure, when fn did not run because too many wait already.
func (s *Steps) Do(fn func()) bool {
	if s == nil || s.aside == nil {
		fn()
		return true
	}
	if !s.aside(fn) {
		s.spent = true
		return false
	}
	return true
}

// SetAside tells how work is done elsewhere; nil: not at all, all of it is done in place. It returns what was told before.
func (s *Steps) SetAside(fn func(fn func()) bool) (before func(fn func()) bool) {
	before, s.aside = s.aside, fn
	return before
}

// Fail notes that something could not be finished: its outcome is unknown, and nothing may be decided by it.
func (s *Steps) Fail() {
	if s != nil {
		s.spent = true
	}
}

// Spent reports whether Fail was called since the last Refill.
func (s *Steps) Spent() bool { return s != nil && s.spent }

// Refill makes the stock full again.
func (s *Steps) Refill() { *s = Steps{aside: s.aside} }
