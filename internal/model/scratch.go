package model

// Scratch is the memory of values that exist only while a rule or a format is
// evaluated. It belongs to one transaction, so it may live across a park; its
// chunks come from a pool of the loop and go back when everything is released.
type Scratch struct {
	pool   *ScratchPool
	limit  int
	chunks [][]byte // all of chunkSize bytes, or more for one large piece
	off    int      // used bytes of the last chunk
}

// ScratchPool keeps unused chunks of one loop.
type ScratchPool struct{ free [][]byte }

const (
	chunkSize     = 64 << 10
	maxFreeChunks = 64
)

// NewScratch returns scratch memory whose pieces are at most limit bytes long (tune.bufsize). A nil pool is allowed.
func NewScratch(pool *ScratchPool, limit int) *Scratch {
	s := new(Scratch)
	s.Init(pool, limit)
	return s
}

// Init prepares a Scratch that is a part of something else.
func (s *Scratch) Init(pool *ScratchPool, limit int) { s.pool, s.limit = pool, limit }

// Limit is the longest piece in bytes.
func (s *Scratch) Limit() int {
	if s.limit == 0 {
		return DefaultBufSize
	}
	return s.limit
}

// ScratchMark is a moment to go back to with Release.
type ScratchMark struct{ chunks, off int }

// Mark notes the present state.
func (s *Scratch) Mark() ScratchMark { return ScratchMark{len(s.chunks), s.off} }

// Release frees everything that was taken since m. Values made since then are no longer valid.
func (s *Scratch) Release(m ScratchMark) {
	for n := len(s.chunks); n > m.chunks; n-- {
		c := s.chunks[n-1]
		s.chunks[n-1] = nil
		s.chunks = s.chunks[:n-1]
		if s.pool != nil && len(c) == chunkSize && len(s.pool.free) < maxFreeChunks {
			s.pool.free = append(s.pool.free, c)
		}
	}
	s.off = m.off
}

func (s *Scratch) room(n int) {
	if k := len(s.chunks); k > 0 && len(s.chunks[k-1])-s.off >= n {
		return
	}
	var c []byte
	switch {
	case n > chunkSize:
		c = make([]byte, n)
	case s.pool != nil && len(s.pool.free) > 0:
		k := len(s.pool.free) - 1
		c = s.pool.free[k]
		s.pool.free = s.pool.free[:k]
	default:
		c = make([]byte, chunkSize)
	}
	s.chunks = append(s.chunks, c)
	s.off = 0
}

// Alloc returns n bytes with any content, or nil when n is above the limit.
func (s *Scratch) Alloc(n int) []byte {
	if n > s.Limit() {
		return nil
	}
	s.room(n)
	c := s.chunks[len(s.chunks)-1]
	b := c[s.off : s.off+n : s.off+n]
	s.off += n
	return b
}

// Grab returns an empty slice with room for Limit bytes to append to, and reserves that room: other pieces may be taken, and
// released, until Keep says how much of it is wanted.
func (s *Scratch) Grab() []byte {
	n := s.Limit()
	s.room(n)
	c := s.chunks[len(s.chunks)-1]
	b := c[s.off : s.off : s.off+n]
	s.off += n
	return b
}

// Keep takes back what Grab lent, with what was appended, and frees the rest of the room when nothing was taken after it. It
// reports false when more was appended than fits: the value does not exist then.
func (s *Scratch) Keep(b []byte) ([]byte, bool) {
	n := s.Limit()
	k := len(s.chunks)
	if k > 0 && s.off >= n && cap(b) > 0 {
		if c := s.chunks[k-1]; &c[s.off-n] == &b[:1][0] { // still the last piece
			s.off += len(b) - n
		}
	}
	if len(b) > n {
		return nil, false
	}
	return b[:len(b):len(b)], true
}

// Copy copies p, nil when it is above the limit.
func (s *Scratch) Copy(p []byte) []byte {
	b := s.Alloc(len(p))
	copy(b, p)
	return b
}
