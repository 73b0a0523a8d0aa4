// Package buf has the buffers that carry all data: fixed-size storage from pools, seen through small views.
//
// A Buf is a view [R:W) over storage of one of three classes. Views may share storage (Split, Retain): it goes back to
// the pool when the last view is released. A Pool belongs to one event loop and needs no lock; behind it a Shared pool
// serves all loops, holds the limits and does the accounting. Storage is cut from large slabs without pointers, so
// the garbage collector neither walks it nor moves it, and a steady data path allocates nothing.
package buf

import "weir/internal/base/assert"

// A Class is a storage size.
type Class uint8

// The classes, smallest first.
const (
	Small Class = iota // tune.bufsize.small, 1024 bytes by default
	Std                // tune.bufsize, 16384 bytes by default
	Large              // 64 KiB, for bulk transfers
	Classes
)

// A Buf is a view over pooled storage: the bytes [R:W) are unread, those after W are free room. It belongs to one loop
// and is not safe for concurrent use.
type Buf struct {
	R, W int
	data []byte
	st   *store
	next *Buf
}

// store is one piece of storage with its reference count. The view that Get returns lives inside it.
type store struct {
	first Buf
	whole []byte
	pool  *Pool
	slab  *slab
	next  *store
	refs  int32
	class Class
	spare bool // belongs to a loop's emergency reserve
}

// Bytes is the unread part. It is valid until the buffer is written to, compacted or released.
func (b *Buf) Bytes() []byte { return b.data[b.R:b.W] }

// Len is the number of unread bytes.
func (b *Buf) Len() int { return b.W - b.R }

// Space is the free room after W: write there, then advance W.
func (b *Buf) Space() []byte { return b.data[b.W:] }

// Append copies as much of p as fits after W and returns how many bytes that was.
func (b *Buf) Append(p []byte) int {
	n := copy(b.data[b.W:], p)
	b.W += n
	return n
}

// Cap is the size of the storage that this view may use.
func (b *Buf) Cap() int { return len(b.data) }

// Data is the whole storage that this view may use, read and unread.
func (b *Buf) Data() []byte { return b.data }

// Class tells from which class the storage came.
func (b *Buf) Class() Class { return b.st.class }

// Shared tells whether another view uses the same storage.
func (b *Buf) Shared() bool { return b.st.refs > 1 }

// Reset empties the view.
func (b *Buf) Reset() { b.R, b.W = 0, 0 }

// Compact moves the unread bytes to the start of the storage to make room, unless another view shares the storage,
// which would see its bytes move. It reports whether the bytes now start at 0.
func (b *Buf) Compact() bool {
	if b.R == 0 {
		return true
	}
	if b.R == b.W {
		if b.st.refs > 1 {
			return false
		}
		b.R, b.W = 0, 0
		return true
	}
	if b.st.refs > 1 {
		return false
	}
	b.W = copy(b.data, b.data[b.R:b.W])
	b.R = 0
	return true
}

// Split takes the first n unread bytes off as a new view on the same storage; b keeps the rest. The new view has no
// free room. n may be 0 to Len().
func (b *Buf) Split(n int) *Buf {
	assert.Always(n >= 0 && n <= b.W-b.R, "buf: split outside of the unread bytes")
	s := b.st
	h := s.pool.header()
	s.refs++
	h.st = s
	h.data = b.data[:b.R+n]
	h.R, h.W = b.R, b.R+n
	b.R += n
	return h
}

// Retain returns a second view of the same unread bytes. The new view has no free room: only b may still append.
func (b *Buf) Retain() *Buf {
	s := b.st
	h := s.pool.header()
	s.refs++
	h.st = s
	h.data = b.data[:b.W]
	h.R, h.W = b.R, b.W
	return h
}

// Release gives the view back, exactly once for each Get, Split and Retain. The storage returns to its pool with the
// last view.
func (b *Buf) Release() {
	s := b.st
	if s == nil {
		assert.Always(false, "buf: released twice")
	}
	b.st = nil
	b.data = nil
	b.next = nil
	if b != &s.first {
		s.pool.putHeader(b)
	}
	s.refs--
	if s.refs == 0 {
		s.pool.put(s)
	}
}

// A Queue is a first-in first-out list of buffers, linked through them. The zero value is empty. A Buf is in at most
// one queue at a time.
type Queue struct {
	head, tail *Buf
	n          int32
	bytes      int32
}

// Push appends b; the queue owns it from then on.
func (q *Queue) Push(b *Buf) {
	assert.That(b.next == nil && q.tail != b, "buf: already queued")
	if q.tail == nil {
		q.head = b
	} else {
		q.tail.next = b
	}
	q.tail = b
	q.n++
	q.bytes += int32(b.W - b.R)
}

// PushFront puts b before all others.
func (q *Queue) PushFront(b *Buf) {
	b.next = q.head
	q.head = b
	if q.tail == nil {
		q.tail = b
	}
	q.n++
	q.bytes += int32(b.W - b.R)
}

// Pop takes the oldest buffer out, or returns nil.
func (q *Queue) Pop() *Buf {
	b := q.head
	if b == nil {
		return nil
	}
	q.head = b.next
	if q.head == nil {
		q.tail = nil
	}
	b.next = nil
	q.n--
	q.bytes -= int32(b.W - b.R)
	return b
}

// Front is the oldest buffer, still in the queue, or nil.
func (q *Queue) Front() *Buf { return q.head }

// Next is the buffer queued after b, or nil.
func (b *Buf) Next() *Buf { return b.next }

// Len is the number of queued buffers.
func (q *Queue) Len() int { return int(q.n) }

// Bytes is the number of unread bytes in the queue. Views must not be read from while they are queued, except through
// Discard.
func (q *Queue) Bytes() int { return int(q.bytes) }

// Discard drops the first n bytes, releasing the buffers that become empty, and empty ones that follow. n is at most
// Bytes().
func (q *Queue) Discard(n int) {
	for b := q.head; b != nil; b = q.head {
		l := b.W - b.R
		if n < l {
			b.R += n
			q.bytes -= int32(n)
			return
		}
		n -= l
		q.Pop().Release()
	}
	assert.Always(n == 0, "buf: discarded more than was queued")
}

// Clear releases everything.
func (q *Queue) Clear() {
	for b := q.Pop(); b != nil; b = q.Pop() {
		b.Release()
	}
}
