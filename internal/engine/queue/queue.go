// Package queue holds streams that wait for a server slot (manual 4.2,
// "timeout queue", and 5.2, "maxconn"). A queue is shared by the loops of the
// process; it is touched only when a server is full, and then under a lock
// that nobody holds while parked.
package queue

import (
	"sync"
	"sync/atomic"
)

// Pending is a stream's place in a queue. It is embedded in the stream and
// reused; a Pending is in one queue at most.
type Pending[S any] struct {
	// Wake is called, from any loop, after the server has been assigned.
	Wake func()

	prev, next *Pending[S]
	q          *Queue[S]
	server     atomic.Pointer[S]
}

// Server returns what was assigned, or nil.
func (p *Pending[S]) Server() *S { return p.server.Load() }

// Reset forgets an assignment before the next use.
func (p *Pending[S]) Reset() { p.server.Store(nil) }

// Queue is a first-in first-out queue of streams.
type Queue[S any] struct {
	mu         sync.Mutex
	head, tail *Pending[S]
	n          atomic.Int64
	peak       atomic.Int64
}

// Len is the number of waiting streams.
func (q *Queue[S]) Len() int64 { return q.n.Load() }

// Peak is the largest length seen.
func (q *Queue[S]) Peak() int64 { return q.peak.Load() }

// ResetPeak lets the peak begin anew with what waits now.
func (q *Queue[S]) ResetPeak() { q.peak.Store(q.n.Load()) }

// Push appends p and returns how many were waiting before it.
func (q *Queue[S]) Push(p *Pending[S]) int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	p.q, p.prev, p.next = q, q.tail, nil
	if q.tail != nil {
		q.tail.next = p
	} else {
		q.head = p
	}
	q.tail = p
	n := q.n.Add(1)
	if n > q.peak.Load() {
		q.peak.Store(n)
	}
	return n - 1
}

// Remove takes p out; false when it was not waiting any more, because a
// server was assigned meanwhile.
func (q *Queue[S]) Remove(p *Pending[S]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if p.q != q {
		return false
	}
	q.unlink(p)
	return true
}

// Assign hands s to the stream that has waited longest and wakes it; false
// when nobody waits.
func (q *Queue[S]) Assign(s *S) bool {
	if q.n.Load() == 0 {
		return false
	}
	q.mu.Lock()
	p := q.head
	if p == nil {
		q.mu.Unlock()
		return false
	}
	q.unlink(p)
	p.server.Store(s)
	wake := p.Wake
	q.mu.Unlock()
	wake()
	return true
}

func (q *Queue[S]) unlink(p *Pending[S]) {
	if p.prev != nil {
		p.prev.next = p.next
	} else {
		q.head = p.next
	}
	if p.next != nil {
		p.next.prev = p.prev
	} else {
		q.tail = p.prev
	}
	p.prev, p.next, p.q = nil, nil, nil
	q.n.Add(-1)
}
