// Package balance chooses servers (manual 4.2, "balance"). An Algorithm is
// shared by all loops of the process and takes no lock.
package balance

import (
	"cmp"
	"slices"
	"sync/atomic"

	"weir/internal/engine/server"
)

// Algorithm chooses a server among those that are usable.
type Algorithm interface {
	// Pick returns a usable server with room, other than avoid where there is
	// another. full reports that usable servers exist but none has room.
	Pick(avoid *server.Server) (s *server.Server, full bool)
	// Update follows changes of weights and states.
	Update()
}

// New returns the algorithm of that name for the given servers, which the caller does not change afterwards;
// nil for a name that is not known.
func New(name string, servers []*server.Server) Algorithm {
	switch name {
	case "", "roundrobin", "static-rr":
		w := &wheel{servers: servers}
		w.Update()
		return w
	case "first":
		return &first{servers: servers}
	}
	return nil
}

// wheel turns over a fixed sequence in which every server stands as often as its weight says, evenly spread. The
// position is one atomic counter, so that the order is exact whatever loop asks.
type wheel struct {
	servers []*server.Server
	seq     atomic.Pointer[[]*server.Server]
	next    atomic.Uint64
}

func (w *wheel) Update() {
	seq := spread(w.servers)
	w.seq.Store(&seq)
}

func (w *wheel) Pick(avoid *server.Server) (s *server.Server, full bool) {
	seq := *w.seq.Load()
	n := uint64(len(seq))
	if n == 0 {
		return nil, false
	}
	var avoided *server.Server
	for range n {
		s := seq[(w.next.Add(1)-1)%n]
		switch {
		case !s.Usable():
		case !s.HasRoom():
			full = true
		case s == avoid:
			avoided = s
		default:
			return s, false
		}
	}
	if avoided != nil {
		return avoided, false
	}
	return nil, full
}

// spread places the k-th turn of a server of weight w at (k+1/2)/w of the round, and sorts.
func spread(servers []*server.Server) []*server.Server {
	type turn struct {
		at  float64
		idx int
	}
	div := 0
	for _, s := range servers {
		div = gcd(div, s.Weight())
	}
	var turns []turn
	for i, s := range servers {
		if s.Weight() == 0 {
			continue
		}
		w := s.Weight() / div
		for k := range w {
			turns = append(turns, turn{(float64(k) + 0.5) / float64(w), i})
		}
	}
	slices.SortStableFunc(turns, func(a, b turn) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.idx, b.idx))
	})
	seq := make([]*server.Server, len(turns))
	for i, t := range turns {
		seq[i] = servers[t.idx]
	}
	return seq
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// first fills the servers one after the other, in the order of their ids.
type first struct{ servers []*server.Server }

func (f *first) Update() {}

func (f *first) Pick(avoid *server.Server) (s *server.Server, full bool) {
	var avoided *server.Server
	for _, s := range f.servers {
		switch {
		case !s.Usable():
		case !s.HasRoom():
			full = true
		case s == avoid:
			avoided = s
		default:
			return s, false
		}
	}
	return avoided, full && avoided == nil
}
