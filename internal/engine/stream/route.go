package stream

import (
	"net/netip"
	"time"

	"weir/internal/engine/queue"
	"weir/internal/engine/server"
	"weir/internal/model"
)

// turnAround is the pause before another attempt on the same server (manual 4.2, "retries").
const turnAround = time.Second

// assignServer chooses a server and takes a slot of it, waiting in the queue while all are full.
func (s *Stream) assignServer() bool {
	if s.served {
		s.countAttempt() // another one on the same server
		return true
	}
	began := s.l.Now()
	avoid := s.srv
	var named *server.Server
	if avoid == nil {
		named = s.pinned()
		if s.undecided() {
			return false
		}
	}
	if named != nil && s.mustLeave(named) {
		s.noteRedispatch(named)
		named, avoid = nil, named
	}
	if named != nil && !s.takeNamed(named) || named == nil && !s.takeAny(avoid) {
		return false
	}
	s.served = true
	s.countAttempt()
	s.t.Queue = max(s.t.Queue, 0) + s.since(began)
	return true
}

// mayAwait reports whether srv has room, in itself or in its queue (manual 5.2, "maxqueue").
func mayAwait(srv *server.Server) bool {
	limit := srv.Conf.MaxQueue
	return limit == 0 || srv.HasRoom() || srv.Queue.Len() < int64(limit)
}

// mustLeave reports whether the request gives srv up because its queue is full and another server may do.
func (s *Stream) mustLeave(srv *server.Server) bool {
	return s.be.Conf.Redispatch != 0 && !mayAwait(srv)
}

// takeNamed takes a slot of the server that a rule or a cookie names, waiting until there is one. False: the stream has
// its answer.
func (s *Stream) takeNamed(srv *server.Server) bool {
	s.srv = srv
	if srv.Serve() {
		return true
	}
	if !mayAwait(srv) {
		s.ended('S', 'Q')
		s.beStats().FailedConnects.Add(1)
		s.answer(503)
		return false
	}
	s.pending.Reset()
	s.srvQueue = s.be.EnqueueFor(srv, &s.pending) + 1 // its own place counts
	return s.await(&srv.Queue)
}

// takeAny takes a slot of the server that balancing chooses. False: the stream has its answer.
func (s *Stream) takeAny(avoid *server.Server) bool {
	s.tx.Dir, s.tx.Final = model.DirReq, true
	choice := s.be.Choice(&s.tx, avoid, s.l.Now())
	if s.undecided() {
		return false
	}
	for {
		srv, full := s.lastServer(avoid), false
		chosen := srv == nil
		if chosen {
			srv, full = s.be.Pick(choice)
		}
		switch {
		case srv != nil && full:
			if choice.Avoid == nil && s.mustLeave(srv) {
				s.noteRedispatch(srv)
				choice.Avoid = srv
				continue
			}
			return s.takeNamed(srv)
		case full:
			return s.waitForServer()
		case srv == nil:
			s.ended('S', 'C')
			s.beStats().FailedConnects.Add(1)
			s.answer(503)
			return false
		case srv.Serve():
			s.srv = srv
			if chosen {
				s.beStats().Chosen.Add(1)
				s.srvStats().Chosen.Add(1)
			}
			return true
		}
	}
}

// byRule is the server that a use-server rule names, nil when none does. Rules whose server is down do not count; with
// force they do.
func (s *Stream) byRule(force bool) *server.Server {
	for _, r := range s.be.Conf.UseServer {
		s.tx.Dir, s.tx.Final = model.DirReq, true
		if r.Cond.Match(&s.tx) != model.Pass {
			continue
		}
		if srv := s.serverOf(r); srv != nil && (srv.Enabled() || force) {
			return srv
		}
	}
	return nil
}

// serverOf is the server that a rule names, nil when there is none of the name.
func (s *Stream) serverOf(r *model.ServerRule) *server.Server {
	mark := s.tx.Scratch.Mark()
	defer s.tx.Scratch.Release(mark)
	var name []byte
	if r.Name != nil {
		name = r.Name.Append(s.tx.Scratch.Grab(), &s.tx)
	}
	for _, srv := range s.be.Servers {
		if r.Name == nil && srv.Conf == r.Server || r.Name != nil && srv.Name == string(name) {
			return srv
		}
	}
	return nil
}

// lastServer is the server of the client's previous request, where the next one should go to it as well.
func (s *Stream) lastServer(avoid *server.Server) *server.Server {
	srv := s.c.LastServer
	if srv == nil || srv == avoid || !s.c.stick && !s.be.Conf.Has(model.OptPreferLastServer) || !s.be.Owns(srv) {
		return nil
	}
	if limit := s.be.Conf.MaxKeepAliveQueue; !srv.Usable() || !srv.HasRoom() || limit >= 0 && srv.Queue.Len() > int64(limit) {
		return nil
	}
	return srv
}

// waitForServer queues until any server has room.
func (s *Stream) waitForServer() bool {
	s.pending.Reset()
	s.beQueue = s.be.Enqueue(&s.pending) + 1 // its own place counts
	return s.await(&s.be.Queue)
}

// await parks until the pending place in q has got a server. False: the stream has its answer.
func (s *Stream) await(q *queue.Queue[server.Server]) bool {
	p := &s.pending
	limit := s.Timeout(model.TimeoutQueue)
	deadline := after(s.l.Now(), limit)
	s.f.SetLabel("queue")
	s.front.Watch()
	for p.Server() == nil {
		gone := s.clientGone()
		if !gone && (s.f.Park(deadline) || s.l.Now() < deadline) {
			continue
		}
		if !q.Remove(p) {
			break // assigned at the last moment
		}
		if gone {
			s.leave('Q')
		} else {
			s.ended('s', 'Q')
			s.beStats().FailedConnects.Add(1)
			s.answer(503)
		}
		s.t.Queue = s.since(deadline - int64(limit))
		return false
	}
	s.srv = p.Server()
	p.Reset()
	s.f.SetLabel("stream")
	return true
}

// clientGone reports that the client closed and the backend wants its requests dropped then (option abortonclose).
func (s *Stream) clientGone() bool {
	if s.front.Err() != nil || s.c.Killed {
		return true
	}
	return s.front.InputClosed() && s.be.Conf.Has(model.OptAbortOnClose)
}

// leave ends the stream of a client that left before a server had its request: nobody is there to answer.
func (s *Stream) leave(when byte) {
	s.ended('C', when)
	s.countClientAbort()
	s.front.SetClose()
}

// connect finds or opens a connection to the chosen server.
func (s *Stream) connect() bool {
	began := s.l.Now()
	s.srv.NoteBusy()
	for {
		s.identify()
		if c := s.reuse(); c != nil {
			s.back, s.reused = c, true
			c.SetOwner(s.f)
			s.srvStats().Reuses.Add(1)
			s.beStats().Reuses.Add(1)
			break
		}
		fault := s.dial()
		if fault == 0 {
			break
		}
		if !s.connectAgain(fault) {
			return false
		}
	}
	s.back.Uses++
	s.t.Connect = s.since(began)
	s.logStep(model.StepConnect)
	return true
}

// reuse returns a connection that is open already and may carry this request (manual 4.2, "http-reuse").
func (s *Stream) reuse() *server.Conn {
	if !s.reqIn || s.attempts > 0 {
		return nil
	}
	source, dest := s.source(), s.dest()
	if p := s.c.Private.Take(s.srv, source, dest, s.key); p != nil {
		return p
	}
	first := s.c.Exchanges == 1
	switch s.be.Conf.Reuse {
	case model.ReuseNever:
		return nil
	case model.ReuseSafe:
		if first {
			return nil
		}
	case model.ReuseAggressive:
		return s.srv.TakeIdle(s.l, source, dest, s.key, first)
	}
	return s.srv.TakeIdle(s.l, source, dest, s.key, false)
}

// source is the source address that this stream's server connections need, when it depends on the client.
func (s *Stream) source() netip.AddrPort {
	switch s.srv.UseSrc {
	case server.SrcClient:
		return s.Client()
	case server.SrcClientIP:
		return netip.AddrPortFrom(s.Client().Addr(), 0)
	}
	return netip.AddrPort{}
}

// dest is the address that this stream's server connections need, when it depends on the one the client connected to.
func (s *Stream) dest() netip.AddrPort {
	if !s.srv.MapAddr && !s.srv.MapPorts {
		return netip.AddrPort{}
	}
	addr, client := s.srv.Addr(), s.ClientLocal()
	if s.srv.MapAddr {
		addr = netip.AddrPortFrom(client.Addr(), addr.Port())
	}
	if s.srv.MapPorts {
		addr = netip.AddrPortFrom(addr.Addr(), uint16(int(client.Port())+s.srv.PortOffset))
	}
	return addr
}

// connectAgain decides what follows a failed attempt: another one, here or on another server, or the end.
func (s *Stream) connectAgain(fault byte) bool {
	if fault == 'C' {
		s.leave('C')
		return false
	}
	if s.retries <= 0 || fault == 'R' {
		s.ended(fault, 'C')
		s.countFailedConnect()
		s.answer(503)
		return false
	}
	s.retries--
	s.attempts++
	if s.mayRedispatch() {
		s.noteRedispatch(s.srv)
		s.freeSlot()
		if !s.assignServer() {
			return false
		}
		s.srv.NoteBusy()
		return true
	}
	s.countRetries(1)
	if fault != 's' && !s.pause() { // after a timeout the time has passed already
		return false
	}
	s.countAttempt()
	return true
}

// noteRedispatch counts that another server than the first choice has to serve.
func (s *Stream) noteRedispatch(first *server.Server) {
	s.redispatch = true
	s.beStats().Redispatches.Add(1)
	first.Stats[s.l.ID()].Redispatches.Add(1)
	s.unpin()
}

// mayRedispatch reports whether this retry goes to another server (manual 4.2, "option redispatch").
func (s *Stream) mayRedispatch() bool {
	n := s.be.Conf.Redispatch
	switch {
	case n == 0:
		return false
	case n > 0:
		return s.attempts%n == 0
	}
	return s.retries == -n-1
}

// pause waits before another attempt on the same server.
func (s *Stream) pause() bool {
	wait := turnAround
	if t := s.be.Conf.Timeout.Connect; t > 0 && t < wait {
		wait = t
	}
	until := s.l.Now() + int64(wait)
	for s.l.Now() < until {
		if s.clientGone() {
			s.leave('C')
			return false
		}
		s.f.Park(until)
	}
	return true
}

// freeSlot gives the server's slot back.
func (s *Stream) freeSlot() {
	if s.served {
		s.served = false
		s.srv.Release()
	}
}

// releaseServer ends the use of the server: its connection is kept for others, or closed.
func (s *Stream) releaseServer() {
	if c := s.back; c != nil {
		s.leaveBack()
		keep := s.term[0] == '-' && c.Reusable() && s.srv.Enabled() && !s.fe.Draining.Load()
		c.Finish()
		switch {
		case !keep:
			c.CloseConn(s.be.Conf.Has(model.OptNoLingerBackend))
		case c.Private || s.be.Conf.Reuse == model.ReuseNever:
			s.c.Private.Keep(c)
		case !s.srv.PutIdle(c):
			c.CloseConn(false)
		}
	}
	s.freeSlot()
}
