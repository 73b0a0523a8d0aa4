package wait

import (
	"testing"
	"time"
)

func TestUntilReportsWhatCameTrue(t *testing.T) {
	n := 0
	if !Until(10*time.Second, func() bool { n++; return n == 3 }) {
		t.Fatal("a condition that came true was reported as missed")
	}
	if Until(5*time.Millisecond, func() bool { return false }) {
		t.Fatal("a condition that never came true was reported as met")
	}
}
