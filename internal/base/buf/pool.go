package buf

import (
	"weir/internal/base/assert"
	"weir/internal/base/counter"
)

// poison fills released storage where that is asked for.
const poison = 0xDB

// cacheBytes is how much free storage a loop keeps to itself in each class.
const cacheBytes = 512 << 10

// Pool is the buffer pool of one loop: a cache in front of a Shared pool. Only its loop may call its methods, except
// where noted.
type Pool struct {
	shared *Shared
	class  [Classes]cache
	hdr    *Buf
	hdrs   int
	spare  *store
	spares int
	rng    uint64
	debug  bool
}

type cache struct {
	free   *store
	n      int
	max    int // more than this is given back
	batch  int // moved from and to the shared pool at once
	used   counter.Gauge
	peak   counter.Peak
	failed counter.Counter
	emerg  counter.Counter
}

// Get returns an empty buffer of class c, or nil when the limit is reached or a failure is injected. The caller then
// tries again later or, when it must make progress, calls GetReserve.
func (p *Pool) Get(c Class) *Buf {
	k := &p.class[c]
	s := k.free
	if s == nil || p.debug {
		if s = p.slow(c); s == nil {
			return nil
		}
	}
	k.free = s.next
	k.n--
	return p.lend(k, s)
}

func (p *Pool) lend(k *cache, s *store) *Buf {
	s.next = nil
	s.refs = 1
	s.pool = p
	b := &s.first
	b.R, b.W, b.data, b.st = 0, 0, s.whole, s
	k.used.Inc()
	k.peak.Note(k.used.Load())
	return b
}

// slow refills the cache of class c and returns its head, which stays in the list; nil when there is none.
func (p *Pool) slow(c Class) *store {
	k := &p.class[c]
	if rate := p.shared.cfg.FailPercent; rate > 0 {
		p.rng ^= p.rng << 13
		p.rng ^= p.rng >> 7
		p.rng ^= p.rng << 17
		if p.rng>>11%100 < uint64(rate) {
			k.failed.Inc()
			return nil
		}
	}
	if k.free == nil {
		k.free, k.n = p.shared.take(c, k.batch)
		if k.free == nil {
			k.failed.Inc()
			return nil
		}
	}
	return k.free
}

// GetReserve is Get for those who must make progress to free memory: when the limit is reached it takes from the
// loop's emergency reserve (tune.buffers.reserve), which holds Std buffers only. nil when that is empty too.
func (p *Pool) GetReserve(c Class) *Buf {
	if b := p.Get(c); b != nil {
		return b
	}
	if c > Std || p.spare == nil {
		return nil
	}
	s := p.spare
	p.spare = s.next
	p.spares--
	k := &p.class[Std]
	k.emerg.Inc()
	return p.lend(k, s)
}

// put takes storage back whose last view was released.
func (p *Pool) put(s *store) {
	k := &p.class[s.class]
	k.used.Dec()
	if p.shared.cfg.Poison || assert.On {
		for i := range s.whole {
			s.whole[i] = poison
		}
	}
	if s.spare {
		s.next = p.spare
		p.spare = s
		p.spares++
		return
	}
	s.next = k.free
	k.free = s
	k.n++
	if k.n > k.max {
		p.trim(s.class, k.max-k.batch)
	}
}

// trim gives cached storage back to the shared pool until keep pieces are left.
func (p *Pool) trim(c Class, keep int) {
	k := &p.class[c]
	keep = max(keep, 0)
	if k.n <= keep {
		return
	}
	head := k.free
	last := head
	for n := k.n - 1; n > keep; n-- {
		last = last.next
	}
	k.free = last.next
	last.next = nil
	p.shared.give(c, head, k.n-keep)
	k.n = keep
}

// Trim gives all cached free storage back to the shared pool, as a loop does before it stops or when memory is short.
func (p *Pool) Trim() {
	for c := range Classes {
		p.trim(c, 0)
	}
}

// Close gives everything back, the reserve included. It reports how many buffers are still lent out: more than zero
// means a leak.
func (p *Pool) Close() int {
	p.Trim()
	for p.spare != nil {
		s := p.spare
		p.spare = s.next
		s.next, s.spare = nil, false
		p.spares--
		p.shared.give(Std, s, 1)
	}
	p.shared.drop(p)
	return p.InUse()
}

// InUse is the number of buffers lent out, over all classes. Safe from any thread.
func (p *Pool) InUse() int {
	n := int64(0)
	for i := range p.class {
		n += p.class[i].used.Load()
	}
	return int(n)
}

// Size is the storage size of class c in bytes.
func (p *Pool) Size(c Class) int { return p.shared.cfg.size(c) }

// Share is how many buffers of class c this loop could have if the limit were shared out evenly over the loops' pools
// that exist; 0 = no limit.
func (p *Pool) Share(c Class) int {
	s := p.shared
	if s.limit == 0 {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(1, int(s.limit)/max(len(s.pools), 1)/s.cfg.size(c))
}

// Origin is the shared pool behind this one.
func (p *Pool) Origin() *Shared { return p.shared }

func (p *Pool) header() *Buf {
	h := p.hdr
	if h == nil {
		return p.growHeaders()
	}
	p.hdr = h.next
	h.next = nil
	p.hdrs--
	return h
}

func (p *Pool) growHeaders() *Buf {
	hs := make([]Buf, 32)
	for i := 1; i < len(hs); i++ {
		p.putHeader(&hs[i])
	}
	return &hs[0]
}

func (p *Pool) putHeader(b *Buf) {
	b.next = p.hdr
	p.hdr = b
	p.hdrs++
}
