// Package budget bounds work whose length a peer can choose. A transaction has one stock of steps for everything that
// runs on its event loop, so that many values of one request cost the others no more than a single one may.
package budget

// Full is the stock of a transaction: as much as PCRE2 allows a single match, about 0.4 s.
const Full = 10_000_000

// Steps is a stock of steps. The zero value is full; a nil one never shrinks. It belongs to one goroutine or fiber.
type Steps struct {
	used  int
	spent bool
}

// Left is how many steps remain, at least 0.
func (s *Steps) Left() int {
	if s == nil {
		return Full
	}
	return max(0, Full-s.used)
}

// Take removes n steps.
func (s *Steps) Take(n int) {
	if s != nil {
		s.used += n
	}
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
func (s *Steps) Refill() { *s = Steps{} }
