// Package stats holds the engine's counters. A counter that only its own loop
// writes lies in that loop's shard, and readers add the shards; a gauge that
// decides something (connections against maxconn) is one shared atomic.
package stats

import (
	"sync/atomic"
	"time"
)

// Gauge counts things that exist now, their total and their peak.
type Gauge struct {
	cur, total, peak atomic.Int64
}

// Inc adds one and returns the new value.
func (g *Gauge) Inc() int64 {
	g.total.Add(1)
	n := g.cur.Add(1)
	raise(&g.peak, n)
	return n
}

// raise makes p at least n.
func raise(p *atomic.Int64, n int64) {
	for {
		old := p.Load()
		if n <= old || p.CompareAndSwap(old, n) {
			return
		}
	}
}

// Dec takes one away.
func (g *Gauge) Dec() int64 { return g.cur.Add(-1) }

// IncBelow adds one unless that would pass limit (0: no limit); false then.
func (g *Gauge) IncBelow(limit int64) bool {
	if limit <= 0 {
		g.Inc()
		return true
	}
	for {
		n := g.cur.Load()
		if n >= limit {
			return false
		}
		if g.cur.CompareAndSwap(n, n+1) {
			g.total.Add(1)
			raise(&g.peak, n+1)
			return true
		}
	}
}

// Cur is the current value, Total how many there have been, Peak the most at once.
func (g *Gauge) Cur() int64   { return g.cur.Load() }
func (g *Gauge) Total() int64 { return g.total.Load() }
func (g *Gauge) Peak() int64  { return g.peak.Load() }

// ResetPeak lets the peak begin anew with what is there now.
func (g *Gauge) ResetPeak() { g.peak.Store(g.cur.Load()) }

// Peak is the largest of the values that were noted; any goroutine may.
type Peak struct{ v atomic.Int64 }

// Note raises the peak to n.
func (p *Peak) Note(n int64) {
	if n > p.v.Load() {
		raise(&p.v, n)
	}
}

// Load is the peak.
func (p *Peak) Load() int64 { return p.v.Load() }

// Reset begins anew with n.
func (p *Peak) Reset(n int64) { p.v.Store(n) }

// Rate measures events a second over a sliding window of one second, shared by all loops.
type Rate struct {
	slot       atomic.Int64 // the current second
	curr, prev atomic.Int64
	peak       Peak
}

// Add counts one event at now (monotonic nanoseconds) and returns the rate.
func (r *Rate) Add(now int64) int64 {
	r.roll(now)
	r.curr.Add(1)
	n := r.read(now)
	r.peak.Note(n)
	return n
}

// Peak is the highest rate so far, ResetPeak forgets it.
func (r *Rate) Peak() int64 { return r.peak.Load() }

// ResetPeak forgets the highest rate.
func (r *Rate) ResetPeak() { r.peak.Reset(0) }

// Read returns events a second at now.
func (r *Rate) Read(now int64) int64 {
	r.roll(now)
	return r.read(now)
}

// Wait returns how long to hold back so that one more event keeps the rate
// at or below limit; 0 when it may happen now.
func (r *Rate) Wait(now, limit int64) time.Duration {
	if limit <= 0 || r.Read(now) < limit {
		return 0
	}
	if curr := r.curr.Load(); curr >= limit {
		return time.Duration(int64(time.Second) - now%int64(time.Second))
	}
	return time.Duration(int64(time.Second) / limit)
}

func (r *Rate) roll(now int64) {
	sec := now / int64(time.Second)
	for {
		old := r.slot.Load()
		if old == sec {
			return
		}
		if !r.slot.CompareAndSwap(old, sec) {
			continue
		}
		last := r.curr.Swap(0)
		if sec-old != 1 {
			last = 0
		}
		r.prev.Store(last)
		return
	}
}

func (r *Rate) read(now int64) int64 {
	left := int64(time.Second) - now%int64(time.Second)
	return r.curr.Load() + r.prev.Load()*left/int64(time.Second)
}
