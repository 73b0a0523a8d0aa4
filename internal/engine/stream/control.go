package stream

import (
	"net/netip"
	"time"

	"weir/internal/engine/frontend"
	"weir/internal/lang/rule"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

// The methods of rule.Control: what actions do to a stream.

// Page returns the answer that stands for a status.
func (s *Stream) Page(status int) *model.ErrorPage { return s.page(status) }

// Config is the configuration that the stream runs under.
func (s *Stream) Config() *model.Config { return s.sh.Config }

// phaseLetter is the second letter of the termination state of something that rules decide.
func (s *Stream) phaseLetter() byte {
	if s.tx.Dir == model.DirRes {
		return 'H'
	}
	return 'R'
}

// Respond answers with a page.
func (s *Stream) Respond(p *model.ErrorPage, how rule.End) {
	who, when := byte('L'), s.phaseLetter()
	switch how {
	case rule.EndDenied:
		who = 'P'
		s.denied()
	case rule.EndTarpit:
		who, when = 'P', 'T'
		s.denied()
	case rule.EndChallenge:
		who = 'P'
		s.intercepted()
	default:
		s.intercepted()
	}
	s.t.Request = s.took
	if s.tx.Dir == model.DirRes {
		s.dropServer()
	}
	if p == nil || p.Empty {
		s.front.SetClose()
	} else {
		s.send(p.Code, p) // formats in the answer see a stream that has not ended
	}
	s.ended(who, when)
}

// Tarpit waits for "timeout tarpit" and then answers.
func (s *Stream) Tarpit(p *model.ErrorPage) {
	until := after(s.l.Now(), s.Timeout(model.TimeoutTarpit))
	s.f.SetLabel("tarpit")
	s.front.Watch()
	for until == 0 || s.l.Now() < until {
		if s.front.Err() != nil || s.c.Killed || s.front.InputClosed() && s.be != nil && s.be.Conf.Has(model.OptAbortOnClose) {
			break
		}
		s.f.Park(until)
	}
	s.f.SetLabel("stream")
	s.Respond(p, rule.EndTarpit)
}

// Reject closes the client's connection without an answer.
func (s *Stream) Reject() {
	if s.admitting {
		return // the caller closes, and counts
	}
	s.ended('P', s.phaseLetter())
	s.denied()
	if s.tx.Dir == model.DirRes {
		s.dropServer()
	}
	s.front.SetClose()
}

// SilentDrop lets the client's connection vanish.
func (s *Stream) SilentDrop(ttl int) {
	s.c.Sock.Vanish(ttl)
	s.Reject()
}

// CloseServer closes the server's connection at once.
func (s *Stream) CloseServer() {
	s.ended('P', 'D')
	s.dropServer()
	s.front.SetClose()
}

// Interim sends an informational response.
func (s *Stream) Interim(status int, name string, value []byte) {
	if !s.req.AtLeast11() || s.headSent {
		return
	}
	m := &s.res
	m.Reset()
	m.IsResponse, m.Major, m.Minor = true, 1, 1
	m.SetStatus(status)
	m.Framing = msg.NoBody
	m.Add(name, value)
	if s.front.SendHead(m) == nil {
		s.heads.resOut += 2 * headBytes(m) // as the reference counts it: when it is made and when it is sent
		s.front.Flush()
	}
	m.Reset()
}

// Pause waits.
func (s *Stream) Pause(d time.Duration) {
	until := s.l.Now() + int64(d)
	for s.l.Now() < until && s.front.Err() == nil && !s.c.Killed {
		s.f.Park(until)
	}
}

// Buffered is how much data of a direction is held back, in bytes.
func (s *Stream) Buffered(d model.Dir) int64 { return min(s.heldBytes(d), int64(s.holdLimit(d))) }

// Offload runs fn on another thread while the stream waits.
func (s *Stream) Offload(fn func()) { s.f.Offload(fn) }

// SetClient changes the client's address: of the session when its own rules run, else of this stream.
func (s *Stream) SetClient(a netip.AddrPort) {
	if s.admitting {
		s.moved().Src = a
		return
	}
	s.ext().client = a
}

// SetClientLocal changes the address that the client is said to have connected to.
func (s *Stream) SetClientLocal(a netip.AddrPort) {
	if s.admitting {
		s.moved().Dst = a
		return
	}
	s.ext().local = a
}

// moved returns the addresses that the rules which run now may change.
func (s *Stream) moved() *Addresses {
	if s.c.Moved == nil {
		s.c.Moved = new(Moved)
	}
	if s.early {
		return &s.c.Moved.Conn
	}
	return &s.c.Moved.Session
}

// ExpectProxy asks for a PROXY header before the connection's data.
func (s *Stream) ExpectProxy() { s.c.Greeting.Expect |= HeaderProxy }

// ExpectNetScaler asks for a client-IP header of NetScaler before the connection's data.
func (s *Stream) ExpectNetScaler() { s.c.Greeting.Expect |= HeaderNetScaler }

// SetTimeout changes a timeout of this stream.
func (s *Stream) SetTimeout(k model.TimeoutKind, d time.Duration) {
	x := s.ext()
	x.timeouts[k] = d
	x.timeoutSet |= 1 << k
}

// SetLogLevel changes the level of the stream's log line; -1: none is written.
func (s *Stream) SetLogLevel(level int) {
	x := s.ext()
	x.logLevel, x.levelSet = level, true
}

// SetNice lets streams of others go first when n is above 0.
func (s *Stream) SetNice(n int) {
	if n > 0 && !s.admitting {
		s.f.Yield()
	}
}

// SetMark marks the packets of a connection.
func (s *Stream) SetMark(back bool, mark uint32) {
	if back {
		x := s.ext()
		x.mark, x.markSet = mark, true
		return
	}
	s.c.Sock.SetMark(mark)
}

// SetTOS sets the type of service of a connection's packets.
func (s *Stream) SetTOS(back bool, tos uint8) {
	if back {
		x := s.ext()
		x.tos, x.tosSet = tos, true
		return
	}
	s.c.Sock.SetTOS(tos)
}

// SetRetries changes how often an attempt to connect is repeated.
func (s *Stream) SetRetries(n int) {
	s.ext().retries = n
	s.retries = n
}

// SetPriority changes the stream's place in queues.
func (s *Stream) SetPriority(class, offset int) {
	x := s.ext()
	x.class, x.offset = class, offset
}

// DisableRetry keeps the request from being sent again.
func (s *Stream) DisableRetry() { s.noReplay = true }

// SwitchMode turns a TCP stream into an HTTP one.
func (s *Stream) SwitchMode(proto string) bool {
	if s.c.HTTP || s.admitting {
		return s.c.HTTP
	}
	s.switched = true
	return true
}

// chooseByRule applies use_backend and default_backend.
func (s *Stream) chooseByRule() {
	s.tx.Dir, s.tx.Final = model.DirReq, true
	s.be = s.fe.Choose(&s.tx)
}

// monitorFails evaluates the "monitor fail" conditions.
func (s *Stream) monitorFails() bool {
	s.tx.Dir, s.tx.Final = model.DirReq, true
	for _, c := range s.fe.Conf.MonitorFail {
		if frontend.Holds(c, &s.tx) {
			return true
		}
	}
	return false
}
