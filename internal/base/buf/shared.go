package buf

import (
	"sync"
)

// Config sets up a Shared pool. Zero values mean the defaults.
type Config struct {
	SmallSize   int // tune.bufsize.small: bytes, default 1024
	StdSize     int // tune.bufsize: bytes, default 16384
	LargeSize   int // bytes, default 65536
	Limit       int // tune.buffers.limit: how many Std buffers' worth of storage may exist; 0 = no limit
	Reserve     int // tune.buffers.reserve: Std buffers set aside for each loop, beyond the limit
	FailPercent int // fault injection: percentage of Get calls that fail, 0 to 100
	FailSeed    uint64
	Poison      bool // overwrite storage when it comes back (-dMpoison)
}

func (c *Config) size(k Class) int {
	switch k {
	case Small:
		return c.SmallSize
	case Std:
		return c.StdSize
	}
	return c.LargeSize
}

// Shared is the pool behind the loops' pools: slabs of storage, limits, accounting. Safe for concurrent use.
type Shared struct {
	cfg Config

	mu    sync.Mutex
	class [Classes]depot
	bytes int64 // storage in existence, reserves not counted
	limit int64 // bytes, 0 = none
	pools []*Pool
	gone  [Classes]Stat // counters of pools that were closed
}

type depot struct {
	free   *store
	n      int
	total  int // pieces in existence
	next   int // pieces in the next slab
	needed float64
}

// slab is one allocation that is cut into pieces.
type slab struct {
	mem  []byte
	n    int // pieces
	free int // of which in the depot
}

// slabBytes is how large slabs grow.
const slabBytes = 1 << 20

// NewShared makes a pool. Sizes are taken as given, limits as described in Config.
func NewShared(cfg Config) *Shared {
	if cfg.SmallSize <= 0 {
		cfg.SmallSize = 1024
	}
	if cfg.StdSize <= 0 {
		cfg.StdSize = 16384
	}
	if cfg.LargeSize <= 0 {
		cfg.LargeSize = max(65536, cfg.StdSize)
	}
	if cfg.FailSeed == 0 {
		cfg.FailSeed = 0x9E3779B97F4A7C15
	}
	s := &Shared{cfg: cfg, limit: int64(cfg.Limit) * int64(cfg.StdSize)}
	for c := range Classes {
		s.class[c].next = max(1, min(8, slabBytes/4/cfg.size(c)))
	}
	return s
}

// Config is the configuration in use, defaults filled in.
func (s *Shared) Config() Config { return s.cfg }

// NewPool makes the pool of one loop, with its emergency reserve.
func (s *Shared) NewPool() *Pool {
	p := &Pool{shared: s, debug: s.cfg.FailPercent > 0}
	for c := range Classes {
		k := &p.class[c]
		k.max = max(4, cacheBytes/s.cfg.size(c))
		k.batch = max(1, min(8, k.max/2))
		if s.limit > 0 {
			// Free storage in one loop's cache is lost to the others: with a limit none is kept.
			k.max, k.batch = 0, 1
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pools = append(s.pools, p)
	p.rng = s.cfg.FailSeed + uint64(len(s.pools))*0xD1B54A32D192ED03
	for range s.cfg.Reserve {
		st := s.cut(Std, 1, true)
		st.next = p.spare
		p.spare = st
		p.spares++
	}
	return p
}

// cut makes a slab of n pieces of class c and returns them as a list.
func (s *Shared) cut(c Class, n int, spare bool) *store {
	size := s.cfg.size(c)
	sl := &slab{mem: make([]byte, n*size), n: n, free: n}
	if spare {
		sl.free = 0
	}
	sts := make([]store, n)
	var head *store
	for i := n - 1; i >= 0; i-- {
		st := &sts[i]
		st.whole = sl.mem[i*size : (i+1)*size : (i+1)*size]
		st.slab, st.class, st.spare = sl, c, spare
		st.next = head
		head = st
	}
	d := &s.class[c]
	d.total += n
	return head
}

// take returns up to n free pieces of class c as a list, making new ones within the limit.
func (s *Shared) take(c Class, n int) (*store, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := &s.class[c]
	if d.n == 0 {
		s.grow(c)
	}
	if d.n == 0 {
		return nil, 0
	}
	head := d.free
	last := head
	got := 1
	last.slab.free--
	for got < n && last.next != nil {
		last = last.next
		last.slab.free--
		got++
	}
	d.free = last.next
	last.next = nil
	d.n -= got
	d.needed += (float64(d.total-d.n) - d.needed) / 64
	return head, got
}

// grow adds a slab to class c, as large as the limit lets it.
func (s *Shared) grow(c Class) {
	d := &s.class[c]
	size := int64(s.cfg.size(c))
	n := int64(d.next)
	if s.limit > 0 {
		if s.limit-s.bytes < size {
			s.shrink(c)
		}
		n = min(n, (s.limit-s.bytes)/size)
		if n <= 0 {
			return
		}
		n = 1
	}
	d.free = s.cut(c, int(n), false)
	d.n = int(n)
	s.bytes += n * size
	if int64(d.next)*2*size <= slabBytes {
		d.next *= 2
	}
}

// shrink frees unused slabs of classes other than c.
func (s *Shared) shrink(c Class) {
	for k := range Classes {
		if k != c {
			s.free(k)
		}
	}
}

// free drops the slabs of class c that nobody uses.
func (s *Shared) free(c Class) {
	d := &s.class[c]
	var keep *store
	size := int64(s.cfg.size(c))
	for st := d.free; st != nil; {
		next := st.next
		if sl := st.slab; sl.free == sl.n {
			d.n--
			d.total--
			s.bytes -= size
			st.next = nil
		} else {
			st.next = keep
			keep = st
		}
		st = next
	}
	d.free = keep
}

// Trim gives slabs that are wholly unused back to the garbage collector.
func (s *Shared) Trim() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range Classes {
		s.free(c)
	}
}

// give takes back a list of n pieces.
func (s *Shared) give(c Class, head *store, n int) {
	s.mu.Lock()
	d := &s.class[c]
	last := head
	for {
		last.slab.free++
		last.pool = nil
		if last.next == nil {
			break
		}
		last = last.next
	}
	last.next = d.free
	d.free = head
	d.n += n
	d.needed += (float64(d.total-d.n) - d.needed) / 64
	s.mu.Unlock()
}

// drop forgets a closed pool but keeps its counts.
func (s *Shared) drop(p *Pool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, x := range s.pools {
		if x == p {
			s.pools = append(s.pools[:i], s.pools[i+1:]...)
			for c := range Classes {
				s.gone[c].Failed += p.class[c].failed.Load()
				s.gone[c].Emergency += p.class[c].emerg.Load()
			}
			return
		}
	}
}

// A Stat is the account of one class, for "show pools".
type Stat struct {
	Class     Class
	Name      string
	Size      int    // bytes of one piece
	Allocated int    // pieces in existence, reserves included
	Used      int    // lent out
	Peak      int    // sum over the loops of the most that each had lent out at once
	Needed    int    // moving average of the pieces outside of the shared pool
	Failed    uint64 // Get calls that returned nil
	Emergency uint64 // buffers taken from a reserve
}

// Stats is the account of every class. Safe from any thread; counts of running loops may lag a little.
func (s *Shared) Stats() [Classes]Stat {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.gone
	names := [Classes]string{"small_buffer", "buffer", "large_buffer"}
	for c := range Classes {
		d, o := &s.class[c], &out[c]
		o.Class, o.Name, o.Size = c, names[c], s.cfg.size(c)
		o.Allocated, o.Needed = d.total, int(d.needed+0.5)
		for _, p := range s.pools {
			k := &p.class[c]
			o.Used += int(k.used.Load())
			o.Peak += int(k.peak.Load())
			o.Failed += k.failed.Load()
			o.Emergency += k.emerg.Load()
		}
	}
	return out
}
