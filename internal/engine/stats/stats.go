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
	if n > g.peak.Load() {
		g.peak.Store(n)
	}
	return n
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
			if n+1 > g.peak.Load() {
				g.peak.Store(n + 1)
			}
			return true
		}
	}
}

// Cur is the current value, Total how many there have been, Peak the most at once.
func (g *Gauge) Cur() int64   { return g.cur.Load() }
func (g *Gauge) Total() int64 { return g.total.Load() }
func (g *Gauge) Peak() int64  { return g.peak.Load() }

// Counter is a count that grows; one loop writes it, any goroutine reads it.
type Counter struct{ v atomic.Int64 }

// Add adds n. Only the owning loop may call it.
func (c *Counter) Add(n int64) { c.v.Store(c.v.Load() + n) }

// Load is the value.
func (c *Counter) Load() int64 { return c.v.Load() }

// Proxy are the counters of one side of a proxy, or of a server, on one loop.
type Proxy struct {
	Sessions, Requests              Counter
	BytesIn, BytesOut               Counter
	Responses                       [6]Counter // 1xx..5xx, other at 0
	DeniedConns, DeniedSessions     Counter
	DeniedRequests, DeniedResponses Counter
	FailedRewrites                  Counter // header edits that did not fit
	FailedRequests                  Counter // malformed or timed out before being complete
	FailedConnects, FailedResponses Counter
	Retries, Redispatches           Counter
	ClientAborts, ServerAborts      Counter
	Connects, Reuses                Counter
	InternalErrors                  Counter
	SessRate, ReqRate               Rate
	_                               [64]byte // keeps shards of two loops off one cache line
}

// Response counts a response by its status class.
func (p *Proxy) Response(status int) {
	if k := status / 100; k >= 1 && k <= 5 {
		p.Responses[k].Add(1)
	} else {
		p.Responses[0].Add(1)
	}
}

// Sum adds up one counter over the shards.
func Sum(shards []Proxy, f func(*Proxy) *Counter) (n int64) {
	for i := range shards {
		n += f(&shards[i]).Load()
	}
	return n
}

// SumRate adds up one rate over the shards, in events a second at now.
func SumRate(shards []Proxy, now int64, f func(*Proxy) *Rate) (n int64) {
	for i := range shards {
		n += f(&shards[i]).Read(now)
	}
	return n
}

// Rate measures events a second over a sliding window of one second, shared by all loops.
type Rate struct {
	slot       atomic.Int64 // the current second
	curr, prev atomic.Int64
}

// Add counts one event at now (monotonic nanoseconds) and returns the rate.
func (r *Rate) Add(now int64) int64 {
	r.roll(now)
	r.curr.Add(1)
	return r.read(now)
}

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
