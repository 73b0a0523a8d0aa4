package balance

import (
	"sync/atomic"

	"weir/internal/engine/server"
)

// leastConn chooses the server with the least load for its weight; equals take turns. It looks at all servers each time,
// which costs two loads of memory each and no lock.
type leastConn struct {
	servers []*server.Server
	next    atomic.Uint32 // where the search begins
}

func (a *leastConn) Update() {}

func (a *leastConn) Pick(c Choice) (s *server.Server, full bool) {
	n := uint32(len(a.servers))
	if n == 0 {
		return nil, false
	}
	start, at := a.next.Load()%n, uint32(0)
	var load, weight int64
	for i := range n {
		k := start + i
		if k >= n {
			k -= n
		}
		o := a.servers[k]
		switch {
		case !o.Usable() || o == c.Avoid:
			continue
		case !o.HasRoom():
			full = true
			continue
		}
		l, w := loadOf(o), int64(o.Weight())
		if s == nil || l*weight < load*w {
			s, load, weight, at = o, l, w, k
		}
	}
	if s == nil {
		if o := c.Avoid; o != nil && !full && o.Usable() {
			if o.HasRoom() && a.owns(o) {
				return o, false
			}
			return nil, a.owns(o)
		}
		return nil, full
	}
	a.next.Store(at + 1)
	return s, false
}

func (a *leastConn) owns(s *server.Server) bool {
	for _, o := range a.servers {
		if o == s {
			return true
		}
	}
	return false
}

// loadOf is how much s would have to do with one request more; an idle server has nothing to do.
func loadOf(s *server.Server) int64 {
	l := s.Cur.Cur() + s.Queue.Len()
	if l == 0 {
		return 0
	}
	return l + 1
}
