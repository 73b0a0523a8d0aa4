package fetchcore

import (
	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	sample.AddFetch(
		frontend("fe_conn", "connections of a frontend", model.ProxyState.FrontConns),
		frontend("fe_req_rate", "HTTP requests a second of a frontend", model.ProxyState.FrontReqRate),
		frontend("fe_sess_rate", "new sessions a second of a frontend", model.ProxyState.FrontRate),

		backend("be_conn", "streams of a backend", func(p *model.Proxy) int64 { return p.Run.BackConns() }),
		backend("be_sess_rate", "new sessions a second of a backend", func(p *model.Proxy) int64 { return p.Run.BackRate() }),
		backend("nbsrv", "usable servers of a backend", func(p *model.Proxy) int64 { return int64(p.Run.Usable()) }),
		backend("queue", "streams that wait for a backend, or for one of its servers", func(p *model.Proxy) int64 { return p.Run.Queued() }),
		backend("avg_queue", "waiting streams for each usable server of a backend", averageQueue),
		backend("be_conn_free", "connections that the usable servers of a backend may still have; -1: no limit", freeConns),
		backend("connslots", "connections and queue places that the servers of a backend still have; -1: no limit", freeSlots),

		server("srv_conn", "streams of a server", func(s *model.Server) int64 { return s.Run.Conns() }),
		server("srv_conn_free", "connections that a server may still have; -1: no limit", freeOf),
		server("srv_queue", "streams that wait for a server", func(s *model.Server) int64 { return s.Run.Queued() }),
		server("srv_sess_rate", "new sessions a second of a server", func(s *model.Server) int64 { return s.Run.Rate() }),
		server("srv_weight", "weight of a server as it counts now", func(s *model.Server) int64 {
			now, _ := s.Run.Weight()
			return int64(now)
		}),
		server("srv_iweight", "weight of a server in the configuration", func(s *model.Server) int64 {
			_, first := s.Run.Weight()
			return int64(first)
		}),
		server("srv_uweight", "weight of a server as set by a user", func(s *model.Server) int64 { return int64(s.Run.UserWeight()) }),
		sample.Fetch{Name: "srv_is_up", Args: "server", Out: model.TypeBool, Valid: running, Help: "a server is up",
			Get: func(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
				s := serverOf(tx, &a[0])
				if s == nil {
					return false
				}
				v.SetBool(s.Run.Up())
				return true
			}},
	)
}

// frontend makes a fetch of a number of a frontend, the current one by default.
func frontend(name, help string, get func(model.ProxyState) int64) sample.Fetch {
	return sample.Fetch{Name: name, Args: "frontend", Out: model.TypeSint, Valid: running, Help: help,
		Get: func(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
			p := tx.S.Frontend()
			if len(a) > 0 && a[0].Ref != nil {
				p = a[0].Ref
			}
			if p == nil || p.Run == nil {
				return false
			}
			v.SetInt(get(p.Run))
			return true
		}}
}

// backend makes a fetch of a number of a backend, the current one by default.
func backend(name, help string, get func(*model.Proxy) int64) sample.Fetch {
	return sample.Fetch{Name: name, Args: "backend", Out: model.TypeSint, Valid: running, Help: help,
		Get: func(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
			var p *model.Proxy
			if len(a) > 0 {
				p = a[0].Ref
			}
			if p == nil { // a line of a defaults section
				p = servedBy(tx)
			}
			if p == nil || p.Run == nil {
				return false
			}
			v.SetInt(get(p))
			return true
		}}
}

// server makes a fetch of a number of a server.
func server(name, help string, get func(*model.Server) int64) sample.Fetch {
	return sample.Fetch{Name: name, Args: "server", Out: model.TypeSint, Valid: running, Help: help,
		Get: func(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
			s := serverOf(tx, &a[0])
			if s == nil {
				return false
			}
			v.SetInt(get(s))
			return true
		}}
}

// servedBy is the backend that serves the stream; until one is chosen it is the frontend, as in the reference.
func servedBy(tx *model.Txn) *model.Proxy {
	if p := tx.S.Backend(); p != nil {
		return p
	}
	return tx.S.Frontend()
}

// serverOf is the server that an argument names, nil without one that runs. In a line of a defaults section the name is one
// of the current backend's.
func serverOf(tx *model.Txn, a *sample.Arg) *model.Server {
	if s := a.Server; s != nil {
		if s.Run == nil {
			return nil
		}
		return s
	}
	p := servedBy(tx)
	if p == nil {
		return nil
	}
	for _, s := range p.Servers {
		if s.Name == a.Str && s.Run != nil {
			return s
		}
	}
	return nil
}

// averageQueue rounds up. Without a usable server the length counts twice: one will be back soon, but not at once.
func averageQueue(p *model.Proxy) int64 {
	n, usable := p.Run.Queued(), int64(p.Run.Usable())
	if usable <= 0 {
		return n * 2
	}
	return (n + usable - 1) / usable
}

// freeOf is how many more streams a server may serve now.
func freeOf(s *model.Server) int64 {
	if s.MaxConn == 0 {
		return -1
	}
	return max(s.Run.MaxConn()-s.Run.Conns(), 0)
}

// freeConns leaves backup servers out while there are others; then the first of them counts, or all with "option
// allbackups".
func freeConns(p *model.Proxy) int64 {
	active := false
	for _, s := range p.Servers {
		active = active || !s.Backup && s.Run != nil && s.Run.Usable()
	}
	var sum int64
	for _, s := range p.Servers {
		if s.Run == nil || !s.Run.Usable() || s.Backup && active {
			continue
		}
		n := freeOf(s)
		if n < 0 {
			return -1
		}
		sum += n
		if s.Backup && !p.Has(model.OptAllBackups) {
			break
		}
	}
	return sum
}

// freeSlots counts the servers that are up, backup ones and those without weight too.
func freeSlots(p *model.Proxy) int64 {
	var sum int64
	for _, s := range p.Servers {
		if s.Run == nil || !s.Run.Up() {
			continue
		}
		if s.MaxConn == 0 || s.MaxQueue == 0 {
			return -1
		}
		sum += int64(s.MaxConn) - s.Run.Conns() + int64(s.MaxQueue) - s.Run.Queued()
	}
	return sum
}
