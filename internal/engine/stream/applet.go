package stream

import (
	"weir/internal/base/buf"
	"weir/internal/lang/rule"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

// Applets sit where a server would: the same rules run on their answers, the same log line and counters tell of them.

// intercept asks those who answer some requests themselves. False: the stream has its answer.
func (s *Stream) intercept(list []rule.Interceptor) bool {
	for _, x := range list {
		s.tx.Dir, s.tx.Final = model.DirReq, true
		if x.Intercept(&s.tx, s) != rule.Next {
			return false
		}
	}
	return true
}

// RunSet runs a rule set on the request; see rule.Control.
func (s *Stream) RunSet(set rule.Set) rule.Outcome {
	if s.httpRules(set, rule.HTTPRequest) {
		return rule.Next
	}
	return rule.Done
}

// Serve lets an applet answer the request; see rule.Control.
func (s *Stream) Serve(a rule.Applet) {
	s.applet = a.LogName()
	s.intercepted()
	m := &s.res
	m.Reset()
	m.IsResponse, m.Major, m.Minor, m.Framing = true, 1, 1, msg.Chunked
	m.SetStatus(200)
	src, ok := a.Open(&s.tx, s, m)
	if !ok {
		return
	}
	s.logStep(model.StepRequest)
	s.t.Request, s.t.Queue, s.t.Connect, s.t.Response = s.took, 0, 0, 0
	s.respondLocal(m, src)
	s.ended('L', 'R')
}

// respondLocal sends a response whose body, if it has one, is made while the client takes it.
func (s *Stream) respondLocal(m *msg.Message, src rule.Source) {
	if src == nil && m.Framing == msg.Chunked {
		m.Framing, m.HasCL, m.ContentLength = msg.Length, true, 0
	}
	if s.req.HasBody() && !s.bodyIn[model.DirReq] {
		s.front.SetClose()
	}
	if s.req.Method == msg.HEAD {
		m.Framing = msg.NoBody
	}
	s.heads.resIn += headBytes(m)
	if !s.afterResponse() {
		return
	}
	s.status = m.Status
	if err := s.front.SendHead(m); err != nil {
		s.ended('P', 'H')
		s.front.SetClose()
		return
	}
	s.headSent = true
	s.heads.resOut += headBytes(m)
	s.lastC = s.l.Now()
	if src != nil && m.Framing != msg.NoBody && !s.sendSource(src) {
		return
	}
	s.front.SendEnd(nil)
	s.front.Flush()
	s.drainFront()
}

// sendSource sends what src makes, a buffer a turn, as fast as the client takes it; false when it broke off.
func (s *Stream) sendSource(src rule.Source) bool {
	var piece []byte
	if n := len(s.sh.pieces); n > 0 {
		piece = s.sh.pieces[n-1]
		s.sh.pieces = s.sh.pieces[:n-1]
	}
	left, more := piece[:0], true
	for more || len(left) > 0 {
		if !s.awaitRoom() {
			return false
		}
		b := s.l.Pool().Get(buf.Std)
		if b == nil {
			s.ended('R', 'D')
			s.front.SetClose()
			return false
		}
		for len(b.Space()) > 0 && (more || len(left) > 0) {
			if len(left) == 0 {
				piece, more = src.Append(piece[:0])
				left = piece
			}
			left = left[b.Append(left):]
		}
		if b.Len() == 0 {
			b.Release()
			break
		}
		s.down.bytes += int64(b.Len())
		s.down.sent += int64(b.Len())
		s.front.SendData(b)
		s.front.Flush()
		s.f.Yield()
	}
	if cap(piece) <= maxPiece && len(s.sh.pieces) < maxPieces {
		s.sh.pieces = append(s.sh.pieces, piece)
	}
	return true
}

// What a loop keeps of the memory in which pieces were made, in bytes and in pieces.
const (
	maxPiece  = 64 << 10
	maxPieces = 4
)

// awaitRoom waits until the client takes more; false when it has left or takes nothing for too long.
func (s *Stream) awaitRoom() bool {
	for {
		if s.front.Err() != nil {
			s.ended('C', 'D')
		} else if s.c.Killed {
			s.ended('K', 'D')
		} else if s.front.SendRoom() {
			s.lastC = s.l.Now()
			return true
		} else if s.clientTakes() {
			continue
		}
		s.front.SetClose()
		return false
	}
}

// clientTakes waits for a client that has something to take; false when it takes nothing for too long.
func (s *Stream) clientTakes() bool {
	every := int64(s.fe.Conf.Timeout.Client) / 4
	if s.frontDrain.progress(s.front, s.l.Now(), every, false) {
		s.lastC = s.l.Now()
	}
	d := after(s.lastC, s.Timeout(model.TimeoutClient))
	if s.f.Park(d) || s.l.Now() < d {
		return true
	}
	if s.frontDrain.progress(s.front, s.l.Now(), every, true) { // a slow receiver is not a silent one
		s.lastC = s.l.Now()
		return true
	}
	s.ended('c', 'D')
	return false
}

// drainFront waits until what the client still has to take is in the kernel's hands.
func (s *Stream) drainFront() {
	for s.front.Queued() > lastData && !s.front.Drained() {
		if s.front.Err() != nil {
			s.ended('C', 'D')
		} else if s.c.Killed {
			s.ended('K', 'D')
		} else if s.clientTakes() {
			continue
		}
		s.front.SetClose()
		return
	}
}
