package balance

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"weir/internal/base/hash"
	"weir/internal/base/xxh"
	"weir/internal/engine/server"
	"weir/internal/model"
)

// perWeight is how many points of the ring a server has for each unit of its weight.
const perWeight = 16

// point is a place on the ring.
type point struct {
	at  uint32
	srv *server.Server
}

// ring maps a hash to the server whose point is nearest (consistent hashing).
type ring struct {
	servers  []*server.Server
	factor   int
	affinity model.Affinity
	points   atomic.Pointer[[]point]
	turns    wheel // for requests without a key
}

func (r *ring) Update() {
	var points []point
	for _, s := range r.servers {
		first := firstPoint(s)
		for i := range uint32(s.Weight() * perWeight) {
			points = append(points, point{hash.Avalanche(first + i), s})
		}
	}
	slices.SortStableFunc(points, func(a, b point) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	r.points.Store(&points)
	r.turns.servers, r.turns.arrange = r.servers, spread
	r.turns.Update()
}

// firstPoint is what the points of a server are counted from (manual 5.2, "hash-key").
func firstPoint(s *server.Server) uint32 {
	const rangeOfID = 256 * perWeight
	byID := uint32(s.Conf.ID) * rangeOfID
	switch s.Conf.HashKey {
	case "id32":
		return xxh.Sum32(binary.BigEndian.AppendUint32(nil, uint32(s.Conf.ID)), 0)
	case "guid":
		if s.Conf.GUID != "" {
			return xxh.Sum32([]byte(s.Conf.GUID), 0)
		}
	case "addr", "addr-port":
		a := s.Addr()
		if !a.IsValid() {
			break
		}
		b := a.Addr().Unmap().AsSlice()
		if s.Conf.HashKey == "addr-port" {
			b = binary.BigEndian.AppendUint16(b, a.Port())
		}
		return xxh.Sum32(b, 0)
	}
	return byID
}

func (r *ring) Pick(c Choice) (*server.Server, bool) {
	if !c.Keyed {
		return r.turns.Pick(c)
	}
	return r.at(c.Hash, c.Avoid)
}

// at returns the server for a place on the ring. Usable servers that are overloaded or to be left give way to those
// further on; full tells that the one returned has no room.
func (r *ring) at(h uint32, avoid *server.Server) (s *server.Server, full bool) {
	points := *r.points.Load()
	n := len(points)
	if n == 0 {
		return nil, false
	}
	right, _ := slices.BinarySearchFunc(points, h, func(p point, h uint32) int {
		if p.at < h {
			return -1
		}
		return 1 // the first of equals
	})
	next, okNext := usable(points, right, 1)
	prev, _ := usable(points, right-1, -1)
	if !okNext {
		return nil, false
	}
	i := next
	if points[next].at-h > h-points[prev].at {
		i = prev
	}
	bound := r.bound()
	var last *server.Server
	for range n {
		s := points[i].srv
		if s != last && s.Usable() {
			if s != avoid && !saturated(s, r.affinity) && bound.allows(s) {
				return s, !s.HasRoom()
			}
			if s != avoid || last == nil {
				last = s
			}
		}
		if i++; i == n {
			i = 0
		}
	}
	return last, !last.HasRoom()
}

// usable finds the nearest point of a usable server from i on, in a direction.
func usable(points []point, i, step int) (int, bool) {
	n := len(points)
	for range n {
		i = (i + n) % n
		if points[i].srv.Usable() {
			return i, true
		}
		i += step
	}
	return 0, false
}

// loadBound is how much load "hash-balance-factor" allows.
type loadBound struct {
	factor, load, weight int64
}

func (r *ring) bound() (b loadBound) {
	if b.factor = int64(r.factor); b.factor == 0 {
		return b
	}
	for _, s := range r.servers {
		if s.Usable() {
			b.load += s.Cur.Cur()
			b.weight += int64(s.Weight())
		}
	}
	return b
}

// allows reports whether one request more keeps s within its share of the average.
func (b *loadBound) allows(s *server.Server) bool {
	if b.factor == 0 {
		return true
	}
	most := ((b.load+1)*int64(s.Weight())*b.factor + 100*b.weight - 1) / (100 * b.weight)
	return s.Cur.Cur() < most
}

// random draws places on the ring and takes the least loaded of the servers there.
type random struct {
	ring
	draws int
}

func (r *random) Pick(c Choice) (best *server.Server, full bool) {
	draws := r.draws
	if draws == 0 {
		draws = 2
	}
	for range draws {
		s, f := r.at(rand.Uint32(), c.Avoid)
		if s == nil {
			return nil, false
		}
		if best == nil || full && !f || f == full && less(s, best, c.Now) {
			best, full = s, f
		}
	}
	if full { // none drawn has room: any that has is better than waiting
		return r.turns.Pick(c)
	}
	return best, false
}

// less reports whether a has less to do than b for its weight, or the same and fewer sessions of late.
func less(a, b *server.Server, now int64) bool {
	if a == b {
		return false
	}
	x, y := loadOf(a)*int64(b.Weight()), loadOf(b)*int64(a.Weight())
	if x == y {
		return a.SessRate(now) < b.SessRate(now)
	}
	return x < y
}
