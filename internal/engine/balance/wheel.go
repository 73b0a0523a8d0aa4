package balance

import (
	"cmp"
	"slices"
	"sync/atomic"

	"weir/internal/engine/server"
	"weir/internal/model"
)

// wheel goes through a sequence in which each server stands as often as its weight says.
type wheel struct {
	servers []*server.Server
	arrange func([]*server.Server) []*server.Server
	seq     atomic.Pointer[[]*server.Server]
	next    atomic.Uint64
}

func (w *wheel) Update() {
	seq := w.arrange(w.servers)
	w.seq.Store(&seq)
}

func (w *wheel) Pick(c Choice) (s *server.Server, full bool) {
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
		case s == c.Avoid:
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

// spread lays the turns of each server out evenly over one round.
func spread(servers []*server.Server) []*server.Server {
	type turn struct {
		at  float64
		idx int
	}
	div := divisor(servers)
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

// layout is the map of the reference: at each position all usable servers gain credit worth their weight and the one
// chosen pays for a whole round. The first that has credit for a round gets the position; without such a one, the first
// that is not in debt.
func layout(servers []*server.Server) []*server.Server {
	div, total := divisor(servers), 0
	for _, s := range servers {
		if s.Usable() {
			total += s.Weight() / div
		}
	}
	credit := make([]int, len(servers))
	seq := make([]*server.Server, total)
	for at := range seq {
		best, rich := -1, -1
		for i, s := range servers {
			if !s.Usable() {
				continue
			}
			credit[i] += s.Weight() / div
			if worth := (credit[i] + total) / total; worth > rich {
				best, rich = i, worth
			}
		}
		credit[best] -= total
		seq[at] = servers[best]
	}
	return seq
}

// divisor is what all weights can be divided by; 1 without any.
func divisor(servers []*server.Server) int {
	div := 0
	for _, s := range servers {
		for w := s.Weight(); w != 0; {
			div, w = w, div%w
		}
	}
	return max(div, 1)
}

// hashMap maps a hash to a position of the layout; requests without one take turns.
type hashMap struct {
	wheel
	affinity model.Affinity
}

func (m *hashMap) Pick(c Choice) (*server.Server, bool) {
	if !c.Keyed {
		return m.wheel.Pick(c)
	}
	seq := *m.seq.Load()
	n := uint32(len(seq))
	if n == 0 {
		return nil, false
	}
	// A server that is to be left gives way to those after it; the one before it, seen last, takes what none has room for.
	var last *server.Server
	for i := range n {
		s := seq[(c.Hash%n+i)%n]
		if !s.Usable() { // the map is about to be made anew
			continue
		}
		if s != c.Avoid && !saturated(s, m.affinity) {
			return s, !s.HasRoom()
		}
		if s != c.Avoid || last == nil {
			last = s
		}
	}
	if last == nil {
		return nil, false
	}
	return last, !last.HasRoom()
}
