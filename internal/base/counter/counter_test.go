package counter

import (
	"sync"
	"testing"
)

func TestCounters(t *testing.T) {
	var c Counter
	var g Gauge
	var p Peak
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		last := uint64(0)
		for last < 1000 {
			v := c.Load()
			if v < last {
				t.Error("counter went back")
				return
			}
			last = v
		}
	}()
	for range 1000 {
		c.Inc()
		g.Inc()
		p.Note(g.Load())
	}
	wg.Wait()
	g.Add(-999)
	if c.Load() != 1000 || g.Load() != 1 || p.Load() != 1000 {
		t.Fatal(c.Load(), g.Load(), p.Load())
	}
	g.Dec()
	g.Dec()
	if g.Load() != -1 {
		t.Fatal(g.Load())
	}
	c.Add(5)
	c.Reset()
	p.Reset()
	g.Set(7)
	if c.Load() != 0 || p.Load() != 0 || g.Load() != 7 {
		t.Fatal("reset")
	}
}
