package stream

import (
	"net/netip"

	"weir/internal/model"
)

// log writes the stream's line, once.
func (s *Stream) log() {
	if s.logged {
		return
	}
	s.logged = true
	out := s.fe.Logs[s.l.ID()]
	if out == nil || s.unwanted() {
		return
	}
	s.emit(out, false)
}

// logNow writes the line before the exchange is complete: option logasap, and the default format, which tells of the
// connection only.
func (s *Stream) logNow() {
	if out := s.fe.Logs[s.l.ID()]; out != nil && !s.logged {
		s.logged = true
		s.emit(out, true)
	}
}

// unwanted applies dontlognull and dontlog-normal.
func (s *Stream) unwanted() bool {
	c := s.fe.Conf
	if c.Has(model.OptDontLogNull) && s.up.bytes == 0 && s.firstByte == 0 && s.down.bytes == 0 && s.status <= 0 {
		return true
	}
	return c.Has(model.OptDontLogNormal) && s.normal()
}

func (s *Stream) normal() bool {
	return s.term == [2]byte{'-', '-'} && s.attempts == 0 && !s.redispatch && s.status < 500
}

func (s *Stream) emit(out model.LogEmitter, asap bool) {
	r := &s.rec
	c := s.c
	r.Client, r.UnixClient, r.UnixID = c.Sock.Peer(), c.Unix, c.UnixID
	if s.fe.Conf.Log.Format == model.LogDefault {
		r.ClientLocal = c.Sock.Local()
	}
	r.Accept = c.AcceptDate
	if s.firstByte == 0 {
		r.Request = s.l.Wall()
	}
	r.Frontend, r.BindName = s.fe.Name, c.BindName
	r.Backend, r.ServerName = s.fe.Name, "<NOSRV>"
	r.BeConn, r.SrvConn = 0, 0
	if s.be != nil {
		r.Backend = s.be.Name
		r.BeConn = s.be.Cur.Cur()
	}
	if s.srv != nil {
		r.ServerName = s.srv.Name
		r.SrvConn = s.srv.Cur.Cur()
	}
	r.ActConn, r.FeConn = s.sh.Active.Cur(), s.fe.Cur.Cur()
	r.HTTP, r.ASAP = c.HTTP, asap
	r.Timers = s.t
	start := c.Since
	r.Timers.Total = s.since(start)
	r.Status = s.status
	r.BytesToClient, r.BytesToServer = s.down.bytes+s.headOut, s.up.bytes
	r.Termination = [4]byte{s.term[0], s.term[1], '-', '-'}
	r.Retries, r.Redispatched = s.attempts, s.redispatch
	r.SrvQueue, r.BeQueue = s.srvQueue, s.beQueue
	r.BadRequest = !s.reqIn
	r.Method, r.URI = s.req.MethodName, s.req.Target
	r.Version = [2]uint8{s.req.Major, s.req.Minor}
	r.Level = 6
	if s.fe.Conf.Has(model.OptLogSeparateErrors) && !s.normal() {
		r.Level = 3
	}
	out.Emit(r)
}

// Method, Path, Header, ClientAddr and UsableServers make the stream a model.Transaction.
func (s *Stream) Method() []byte { return s.req.MethodName }

// Path is the path of the request's target.
func (s *Stream) Path() []byte { return s.req.URI().Path }

// Header is the value of the first request field of that name.
func (s *Stream) Header(name string) []byte {
	v, _ := s.req.Get(name)
	return v
}

// ClientAddr is the client's address.
func (s *Stream) ClientAddr() netip.AddrPort { return s.c.Sock.Peer() }

// UsableServers counts the servers of a backend that can take traffic; -1 for a backend that is not known.
func (s *Stream) UsableServers(name string) int {
	if b := s.fe.Backends(name); b != nil {
		return b.Usable()
	}
	return -1
}

var _ model.Transaction = (*Stream)(nil)
