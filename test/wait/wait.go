// Package wait holds the one place where tests let time pass.
//
// A test never sleeps for a fixed time and hopes: it names the condition that it waits for and
// the longest time that this may take. The lint test forbids every other way.
package wait

import "time"

// Step is how often a condition is looked at.
const Step = 2 * time.Millisecond

// Until looks at cond every Step until it is true or bound has passed. It reports whether the
// condition came true; cond is looked at once more after the bound.
func Until(bound time.Duration, cond func() bool) bool {
	if cond() {
		return true
	}
	tick := time.NewTicker(Step)
	defer tick.Stop()
	end := time.NewTimer(bound)
	defer end.Stop()
	for {
		select {
		case <-tick.C:
			if cond() {
				return true
			}
		case <-end.C:
			return cond()
		}
	}
}
