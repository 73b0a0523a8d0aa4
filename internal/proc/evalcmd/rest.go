package evalcmd

import "weir/internal/model"

// rest gives the proxies and servers of a configuration the state that they have when nothing runs through them: servers
// are up unless they are disabled or have no address.
func rest(cfg *model.Config) {
	for _, p := range cfg.Proxies {
		p.Run = &proxyAtRest{p}
		for _, s := range p.Servers {
			s.Run = &serverAtRest{s}
		}
	}
}

type proxyAtRest struct{ p *model.Proxy }

func (r *proxyAtRest) FrontConns() int64   { return 0 }
func (r *proxyAtRest) FrontRate() int64    { return 0 }
func (r *proxyAtRest) FrontReqRate() int64 { return 0 }
func (r *proxyAtRest) BackConns() int64    { return 0 }
func (r *proxyAtRest) BackRate() int64     { return 0 }
func (r *proxyAtRest) Queued() int64       { return 0 }

// Usable counts active servers; without one a backup server, or all of them with "option allbackups".
func (r *proxyAtRest) Usable() int {
	active, backup := 0, 0
	for _, s := range r.p.Servers {
		switch {
		case !s.Run.Usable():
		case s.Backup:
			backup++
		default:
			active++
		}
	}
	switch {
	case active > 0:
		return active
	case backup > 1 && !r.p.Has(model.OptAllBackups):
		return 1
	}
	return backup
}

type serverAtRest struct{ s *model.Server }

func (r *serverAtRest) Conns() int64  { return 0 }
func (r *serverAtRest) Queued() int64 { return 0 }
func (r *serverAtRest) Rate() int64   { return 0 }
func (r *serverAtRest) Up() bool      { return !r.s.Disabled && !r.s.NoAddr }
func (r *serverAtRest) Usable() bool  { return r.Up() && r.s.Weight > 0 }

func (r *serverAtRest) Weight() (current, initial int) { return r.s.Weight, r.s.Weight }
func (r *serverAtRest) UserWeight() int                { return r.s.Weight }
func (r *serverAtRest) Idle() (used, idle int64)       { return 0, 0 }

// MaxConn is minconn, if there is one: it grows with traffic only.
func (r *serverAtRest) MaxConn() int64 {
	if r.s.MinConn > 0 {
		return int64(min(r.s.MinConn, r.s.MaxConn))
	}
	return int64(r.s.MaxConn)
}
