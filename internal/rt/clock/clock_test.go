package clock

import (
	"testing"
	"time"
)

func TestReal(t *testing.T) {
	c := Real()
	a := c.Now()
	b := Nanos()
	if a <= 0 || b < a || b-a > int64(10*time.Second) {
		t.Fatal(a, b)
	}
	if d := time.Since(c.Wall()); d < 0 || d > 10*time.Second {
		t.Fatal(d)
	}
}

func TestSim(t *testing.T) {
	base := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	s := NewSim(base)
	n := s.Now()
	if n <= 0 || !s.Wall().Equal(base) {
		t.Fatal(n, s.Wall())
	}
	s.Advance(time.Minute)
	s.AdvanceTo(n) // the past
	if s.Now() != n+int64(time.Minute) || !s.Wall().Equal(base.Add(time.Minute)) {
		t.Fatal(s.Now(), s.Wall())
	}
	s.AdvanceTo(n + int64(time.Hour))
	if s.Now() != n+int64(time.Hour) {
		t.Fatal(s.Now())
	}
}
