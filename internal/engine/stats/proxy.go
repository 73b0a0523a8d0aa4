package stats

import (
	"time"

	"weir/internal/base/counter"
)

// Counter is a count that grows; one loop writes it with plain instructions, any goroutine reads it.
type Counter struct{ v counter.Counter }

// Add adds n. Only the owning loop may call it.
func (c *Counter) Add(n int64) { c.v.Add(uint64(n)) }

// Load is the value.
func (c *Counter) Load() int64 { return int64(c.v.Load()) }

// Proxy are the counters of one side of a proxy, of a server or of a bind line, on one loop.
type Proxy struct {
	Conns, Sessions, Requests       Counter
	ReqIn, ReqOut, ResIn, ResOut    Counter    // bytes of requests and responses, received and sent
	Responses                       [6]Counter // 1xx..5xx, other at 0
	DeniedConns, DeniedSessions     Counter
	DeniedRequests, DeniedResponses Counter
	FailedRewrites                  Counter // header edits that did not fit
	FailedRequests                  Counter // malformed or timed out before being complete
	FailedConnects, FailedResponses Counter
	Retries, Redispatches           Counter
	ClientAborts, ServerAborts      Counter
	Connects, Reuses                Counter
	Chosen                          Counter // times that balancing chose it
	Intercepted                     Counter // requests answered by rules
	InternalErrors                  Counter
	HTTPSessions, OtherSessions     Counter

	SessRate, ReqRate, ConnRate LoopRate
	// Times in milliseconds.
	QueueTime, ConnectTime, ResponseTime, TotalTime Mean
	LastSession                                     counter.Gauge // monotonic nanoseconds, 0: none

	_ [64]byte // keeps shards of two loops off one cache line
}

// Loop are the counters of the process on one loop; no configuration resets them.
type Loop struct {
	Streams counter.Counter // since the start
	Active  counter.Gauge   // now

	_ [48]byte
}

// counters are all counters of p.
func (p *Proxy) counters() []*Counter {
	list := []*Counter{
		&p.Conns, &p.Sessions, &p.Requests, &p.ReqIn, &p.ReqOut, &p.ResIn, &p.ResOut, &p.DeniedConns, &p.DeniedSessions,
		&p.DeniedRequests, &p.DeniedResponses, &p.FailedRewrites, &p.FailedRequests, &p.FailedConnects, &p.FailedResponses,
		&p.Retries, &p.Redispatches, &p.ClientAborts, &p.ServerAborts, &p.Connects, &p.Reuses, &p.Chosen, &p.Intercepted,
		&p.InternalErrors, &p.HTTPSessions, &p.OtherSessions,
	}
	for i := range p.Responses {
		list = append(list, &p.Responses[i])
	}
	return list
}

// Clear sets the counters back to zero, and the maxima. Only the owning loop may call it.
func (p *Proxy) Clear() {
	for _, c := range p.counters() {
		c.v.Reset()
	}
	p.LastSession.Set(0)
	p.ClearPeaks()
}

// ClearPeaks forgets the maxima. Only the owning loop may call it.
func (p *Proxy) ClearPeaks() {
	for _, r := range []*LoopRate{&p.SessRate, &p.ReqRate, &p.ConnRate} {
		r.own.Reset()
		r.peak.Reset()
	}
	for _, m := range []*Mean{&p.QueueTime, &p.ConnectTime, &p.ResponseTime, &p.TotalTime} {
		m.most.Reset()
	}
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

// Last is when the last session began, in monotonic nanoseconds; 0 for none.
func Last(shards []Proxy) (at int64) {
	for i := range shards {
		at = max(at, shards[i].LastSession.Load())
	}
	return at
}

// SumRate adds up one rate over the shards, in events a second at now.
func SumRate(shards []Proxy, now int64, f func(*Proxy) *LoopRate) (n int64) {
	for i := range shards {
		n += f(&shards[i]).Read(now)
	}
	return n
}

// PeakRate is the highest sum over the shards that any of them has seen.
func PeakRate(shards []Proxy, f func(*Proxy) *LoopRate) (n int64) {
	for i := range shards {
		n = max(n, f(&shards[i]).peak.Load())
	}
	return n
}

// NoteRate counts one event of loop id at now. The sum over all loops is looked at when the loop itself has never been
// faster, which is rare: others write to their shards all the time.
func NoteRate(shards []Proxy, id int, now int64, f func(*Proxy) *LoopRate) {
	r := f(&shards[id])
	n := r.Add(now)
	if n <= r.own.Load() {
		return
	}
	r.own.Note(n)
	if len(shards) > 1 {
		n = SumRate(shards, now, f)
	}
	r.peak.Note(n)
}

// SessRate is the rate of sessions.
func SessRate(p *Proxy) *LoopRate { return &p.SessRate }

// ReqRate is the rate of requests.
func ReqRate(p *Proxy) *LoopRate { return &p.ReqRate }

// ConnRate is the rate of connections.
func ConnRate(p *Proxy) *LoopRate { return &p.ConnRate }

// LoopRate measures events a second as Rate does, for one loop that writes it.
type LoopRate struct {
	slot, curr, prev counter.Gauge
	own, peak        counter.Peak
}

// Add counts one event at now and returns the loop's rate.
func (r *LoopRate) Add(now int64) int64 {
	sec := now / int64(time.Second)
	if old := r.slot.Load(); old != sec {
		last := int64(0)
		if sec-old == 1 {
			last = r.curr.Load()
		}
		r.prev.Set(last)
		r.curr.Set(0)
		r.slot.Set(sec)
	}
	r.curr.Inc()
	return r.Read(now)
}

// Read returns events a second at now.
func (r *LoopRate) Read(now int64) int64 {
	left := int64(time.Second) - now%int64(time.Second)
	switch now/int64(time.Second) - r.slot.Load() {
	case 0:
		return r.curr.Load() + r.prev.Load()*left/int64(time.Second)
	case 1:
		return r.curr.Load() * left / int64(time.Second)
	}
	return 0
}

// samples is over how many events a Mean goes.
const samples = 1024

// Mean is a sliding mean over the last 1024 values, and the largest one; one loop writes it.
type Mean struct {
	sum, n counter.Gauge
	most   counter.Peak
}

// Note adds a value.
func (m *Mean) Note(v int64) {
	sum, n := m.sum.Load(), m.n.Load()
	if n < samples {
		m.n.Set(n + 1)
	} else {
		sum -= (sum + samples - 1) / samples
	}
	m.sum.Set(sum + v)
	m.most.Note(v)
}

// MeanOf is the mean over the shards, rounded up, and the largest value.
func MeanOf(shards []Proxy, f func(*Proxy) *Mean) (mean, most int64) {
	var sum, n int64
	for i := range shards {
		m := f(&shards[i])
		sum, n = sum+m.sum.Load(), n+m.n.Load()
		most = max(most, m.most.Load())
	}
	if n == 0 {
		return 0, most
	}
	return (sum + n - 1) / n, most
}
