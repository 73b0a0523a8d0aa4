// Package balance chooses servers (manual 4.2, "balance").
//
// The reference maps each key and each weight to the same server: hashes, maps and rings are laid out alike, so that a
// cache behind weir stays warm when the program changes.
package balance

import (
	"weir/internal/engine/server"
	"weir/internal/model"
)

// Choice is what the choice for one request depends on.
type Choice struct {
	Avoid *server.Server // not this one where there is another
	Hash  uint32         // of what the request is balanced by
	Keyed bool           // Hash is there
	Now   int64          // the loop's time in nanoseconds
}

// Algorithm chooses among the servers of a backend. Its methods may be called by all loops at once.
type Algorithm interface {
	// Pick returns a usable server. With full it has no room: the request waits for it. Without a server, full tells that
	// usable ones exist and that the request waits for any of them.
	Pick(c Choice) (s *server.Server, full bool)
	// Update follows changes of weights and states.
	Update()
}

// New returns the algorithm of a backend for the given servers.
func New(conf *model.Balance, servers []*server.Server) Algorithm {
	var a Algorithm
	switch conf.Algorithm {
	case "", "roundrobin":
		a = &wheel{servers: servers, arrange: spread}
	case "static-rr":
		a = &wheel{servers: servers, arrange: layout}
	case "first", "sticky":
		a = &first{servers: servers}
	case "leastconn":
		a = &leastConn{servers: servers}
	case "random":
		a = &random{ring: ring{servers: servers, factor: conf.Factor}, draws: conf.Draws}
	default:
		if conf.Consistent {
			a = &ring{servers: servers, factor: conf.Factor, affinity: conf.Affinity}
		} else {
			a = &hashMap{wheel{servers: servers, arrange: layout}, conf.Affinity}
		}
	}
	a.Update()
	return a
}

// first fills the servers in the order of their numbers.
type first struct{ servers []*server.Server }

func (f *first) Update() {}

func (f *first) Pick(c Choice) (s *server.Server, full bool) {
	var avoided *server.Server
	for _, s := range f.servers {
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
	return avoided, full && avoided == nil
}

// saturated reports whether a request is to leave the server that its key means.
func saturated(s *server.Server, a model.Affinity) bool {
	switch a {
	case model.AffinityMaxConn:
		return !s.HasRoom()
	case model.AffinityMaxQueue:
		limit := s.Conf.MaxQueue
		return limit > 0 && !s.HasRoom() && s.Queue.Len() >= int64(limit)
	}
	return false
}
