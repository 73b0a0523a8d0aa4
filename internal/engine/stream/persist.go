package stream

import (
	"weir/internal/engine/cookie"
	"weir/internal/engine/server"
	"weir/internal/model"
)

// persist is what keeps a client on its server, for one exchange.
type persist struct {
	state  cookie.State  // of the request's cookie; 0: the backend has none, or it was not looked at
	change cookie.Change // in the response; 0 likewise
	pinned bool          // the cookie has chosen the server
	stale  bool          // the cookie must be set again
	apart  bool          // a rule has chosen the server, or cookies are ignored
	first  int64         // when the cookie was set first, in seconds of the epoch; 0: unknown
}

// letters are the last two of the termination state (manual 8.5).
func (p *persist) letters() (request, response byte) {
	request, response = '-', '-'
	if p.state != 0 {
		request, response = byte(p.state), byte(cookie.None)
	}
	if p.change != 0 {
		response = byte(p.change)
	}
	return request, response
}

// pinned is the server that a rule or the client's cookie names; nil when none does, or it cannot be used.
func (s *Stream) pinned() *server.Server {
	force, ignore := s.be.Conf.Has(model.OptPersist), false
	for _, r := range s.be.Conf.PersistRules {
		s.tx.Dir, s.tx.Final = model.DirReq, true
		if r.Cond.Match(&s.tx) == model.Pass {
			force, ignore = force || !r.Ignore, r.Ignore
			break
		}
	}
	srv := s.byRule(force)
	s.per.apart = srv != nil || ignore
	if !s.keepsCookie() {
		return srv
	}
	by := s.readCookie(force)
	switch p := s.be.Conf.Persist; {
	case p.Mode == model.PersistPrefix:
		cookie.Unprefix(&s.req, p.Name)
	case p.Mode == model.PersistInsert && p.Indirect:
		cookie.Strip(&s.req, p.Name)
	}
	if srv == nil {
		srv = by
	}
	return srv
}

// keepsCookie reports whether the backend keeps clients on their servers by a cookie.
func (s *Stream) keepsCookie() bool { return s.be.Conf.Persist.Active() && s.reqIn }

// readCookie looks at the cookies of the request and returns the server that the first usable one stands for, if nothing
// else chooses. With force, one that is down is used.
func (s *Stream) readCookie(force bool) *server.Server {
	p := s.be.Conf.Persist
	s.per.state = cookie.Absent
	now := s.l.Wall().Unix()
	for it := cookie.Of(&s.req, p.Name); it.Next(); {
		if s.per.apart {
			s.per.state = cookie.Unused
			return nil
		}
		value, last, first := cookie.Server(p, it.Value)
		if age := cookie.Age(p, last, first, now); age != cookie.Valid {
			s.per.state = age
			continue
		}
		srv := s.be.ByCookie(value)
		switch {
		case srv == nil:
			if s.per.state == cookie.Absent {
				s.per.state = cookie.Invalid
			}
		case srv.Enabled() || force:
			s.per.state, s.per.pinned = cookie.Valid, true
			if !srv.Enabled() {
				s.per.state = cookie.Down
			}
			s.per.first, s.per.stale = first, cookie.Stale(p, last, first, now)
			return srv
		default:
			s.per.state = cookie.Down
		}
	}
	return nil
}

// unpin gives up the server that the cookie has chosen: it cannot be used after all.
func (s *Stream) unpin() {
	if s.per.pinned {
		s.per.pinned, s.per.stale, s.per.state = false, false, cookie.Down
	}
}

// setCookie edits the cookie in the response.
func (s *Stream) setCookie() {
	if !s.keepsCookie() {
		return
	}
	s.per.change = cookie.Respond(s.be.Conf.Persist, &s.res, &cookie.Given{
		Server: s.srv.Cookie(), State: s.per.state, Pinned: s.per.pinned, Stale: s.per.stale, Apart: s.per.apart,
		First: s.per.first, Now: s.l.Wall().Unix(), Method: s.req.Method,
	})
}

// noteCookie looks at the cookie of a request for which no server was chosen, for the log.
func (s *Stream) noteCookie() {
	if s.be != nil && s.per.state == 0 && s.keepsCookie() {
		s.readCookie(false)
	}
}
