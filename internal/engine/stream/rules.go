package stream

import (
	"fmt"
	"time"

	"weir/internal/base/buf"
	"weir/internal/lang/rule"
	"weir/internal/link/mux"
	"weir/internal/link/tlsconn"
	"weir/internal/model"
	"weir/internal/rt/loop"
	"weir/internal/wire/msg"
)

// The rule sets run here, each at the moment that the manual gives it. A set that is empty costs a comparison.

// httpRules runs an HTTP rule set on a message whose head is complete. False: the stream has its answer.
func (s *Stream) httpRules(set rule.Set, kind rule.Kind) bool {
	if len(set) == 0 {
		return true
	}
	s.tx.Dir, s.tx.Final = kind.Dir(), true
	at := 0
	return s.outcome(set.Run(&s.tx, s, &at), kind)
}

// outcome acts on how a set ended.
func (s *Stream) outcome(r rule.Result, kind rule.Kind) bool {
	if r.Failed > 0 {
		s.countRewrites(int64(r.Failed))
	}
	if r.Rule != nil {
		s.ext().lastRule[kind.Dir()] = r.Rule
	}
	switch r.Outcome {
	case rule.Next, rule.Stop:
		return true
	case rule.Fault:
		s.ruleFault(kind)
	case rule.Invalid:
		s.ended('P', 'R')
		s.countFailedRequest()
		s.front.SetClose()
		s.answer(400)
	}
	return false
}

// ruleFault answers for a rule that could not be carried out.
func (s *Stream) ruleFault(kind rule.Kind) {
	s.countInternal()
	when := byte('R')
	if kind.Dir() == model.DirRes {
		when = 'H'
	}
	s.ended('I', when)
	if kind == rule.HTTPAfterResponse {
		s.front.SetClose()
		return
	}
	s.dropServer()
	s.answer(500)
}

// undecided answers when a condition cost more than the stream may spend, so that it is not known whether it holds.
func (s *Stream) undecided() bool {
	if !s.tx.Steps.Spent() {
		return false
	}
	s.tx.Steps.Refill()
	s.ruleFault(rule.HTTPRequest)
	return true
}

// contentRules runs "tcp-request content" or "tcp-response content" rules, waiting for data within the inspect delay.
func (s *Stream) contentRules(sets *rule.Sets, kind rule.Kind) bool {
	set, delay := sets.Of[kind], sets.InspectDelay
	if kind == rule.TCPResponse {
		delay = sets.ResponseInspectDelay
	}
	if len(set) == 0 {
		return true
	}
	d := kind.Dir()
	until := after(s.l.Now(), delay)
	at := 0
	for {
		s.gather(d)
		s.tx.Dir = d
		s.tx.Final = delay == 0 || s.l.Now() >= until || s.bodyIn[d] || s.heldBytes(d) >= int64(s.holdLimit(d)) || s.complete(d)
		r := set.Run(&s.tx, s, &at)
		if r.Outcome != rule.Again {
			return s.outcome(r, kind)
		}
		s.waiting = r.Rule
		if !s.awaitData(d, until) {
			return false
		}
		if s.l.Now() < until || delay == 0 {
			s.waiting = nil
		}
	}
}

// complete reports whether nothing more of a direction can come.
func (s *Stream) complete(d model.Dir) bool {
	m := s.message(d)
	return m != nil && !m.HasBody() && m.Framing != msg.Tunnel
}

// awaitData parks until more of a direction has arrived, it has ended, or the time is over; false when the stream is over.
func (s *Stream) awaitData(d model.Dir, until int64) bool {
	before := s.heldBytes(d)
	for {
		if d == model.DirRes && s.up.src != nil && !s.up.done { // the server answers what it gets meanwhile
			s.pump(&s.up)
			s.back.Flush()
		}
		s.gather(d)
		if s.heldBytes(d) > before || s.bodyIn[d] {
			if err := s.bodyErr[d]; err != nil && err != mux.EOF {
				return s.inspectFailed(d, err)
			}
			return true
		}
		if s.front.Err() != nil || s.c.Killed {
			return s.inspectFailed(d, mux.ErrTruncated)
		}
		if !s.f.Park(until) && s.l.Now() >= until {
			return true
		}
	}
}

// inspectFailed ends a stream whose peer failed while rules waited for its data.
func (s *Stream) inspectFailed(d model.Dir, err error) bool {
	if d == model.DirRes {
		s.ended('S', 'D')
		s.countServerAbort()
		s.front.SetClose()
		return false
	}
	return s.bodyFailed(err)
}

// takeHeld takes the held request data for another protocol.
func (s *Stream) takeHeld() *buf.Buf {
	list := s.held[model.DirReq]
	if len(list) == 0 {
		return nil
	}
	b := list[0]
	list[0] = nil
	for i, more := range list[1:] { // hold keeps one buffer unless data came faster than it has room
		b.Append(more.Bytes())
		more.Release()
		list[i+1] = nil
	}
	s.held[model.DirReq] = list[:0]
	s.up.bytes = 0
	s.told = traffic{}
	s.bodyIn, s.bodyErr = [2]bool{}, [2]error{}
	return b
}

// answerRules runs the response rules of a TCP stream on what the server sends first.
func (s *Stream) answerRules() bool {
	s.flow.Reset()
	if !s.contentRules(s.be.Rules, rule.TCPResponse) {
		return false
	}
	return s.fe.Conf == s.be.Conf || s.contentRules(s.fe.Rules, rule.TCPResponse)
}

// responseRules runs the rules of the backend and of the frontend on a response. False: it has been replaced.
func (s *Stream) responseRules() bool {
	s.tx.Res = &s.res
	s.captureHeaders(model.DirRes, &s.res)
	s.flow.Reset()
	s.tx.Dir = model.DirRes
	if len(s.be.Rules.Of[rule.HTTPResponse])+len(s.fe.Rules.Of[rule.HTTPResponse]) > 0 {
		s.gather(model.DirRes) // what is there of the body shares the room for edits
	}
	for _, r := range [2]*rule.Sets{s.be.Rules, s.fe.Rules} {
		if !s.contentRules(r, rule.TCPResponse) || !s.httpRules(r.Of[rule.HTTPResponse], rule.HTTPResponse) {
			return false
		}
		if s.fe.Conf == s.be.Conf {
			break
		}
	}
	return true
}

// afterResponse runs the last rules on a response that is about to be sent, whoever made it. False: the connection is cut.
func (s *Stream) afterResponse() bool {
	s.tx.Res = &s.res
	if s.be != nil && s.be.Conf != s.fe.Conf && !s.httpRules(s.be.Rules.Of[rule.HTTPAfterResponse], rule.HTTPAfterResponse) {
		return false
	}
	return s.httpRules(s.fe.Rules.Of[rule.HTTPAfterResponse], rule.HTTPAfterResponse)
}

// requestRules runs the rules of one proxy on a request.
func (s *Stream) requestRules(sets *rule.Sets) bool {
	return s.httpRules(sets.Of[rule.HTTPRequest], rule.HTTPRequest) && s.intercept(sets.Intercept) && s.httpRules(sets.Redirect, rule.HTTPRequest)
}

// inspect runs the content rules of one proxy on a request or on the client's data.
func (s *Stream) inspect(sets *rule.Sets) bool {
	return s.contentRules(sets, rule.TCPContent)
}

// Admit runs the "tcp-request connection" rules on a new connection, or, when its headers and TLS are done, the "tcp-request
// session" ones. False: it is to be closed.
func (sh *Shared) Admit(f *loop.Fiber, c *Client, end mux.End, kind rule.Kind) bool {
	set := c.Front.Rules.Of[kind]
	if len(set) == 0 {
		return true
	}
	s := sh.early(f, c, end)
	s.early = kind == rule.TCPConnection
	s.tx.Dir, s.tx.Final = model.DirReq, true
	at := 0
	r := set.Run(&s.tx, s, &at)
	if r.Outcome == rule.Done {
		s.countRefused(kind)
	}
	s.early = false
	sh.tooEarly(s)
	return r.Outcome != rule.Done && r.Outcome != rule.Fault
}

// Failed logs that a connection ended before a stream could begin (manual 8.2.5).
func (sh *Shared) Failed(f *loop.Fiber, c *Client, end mux.End, silent bool) {
	out := c.Front.Logs[sh.Loop.ID()]
	if out == nil || silent && c.Front.Conf.Has(model.OptDontLogNull) {
		return
	}
	s := sh.early(f, c, end)
	s.tx.Dir, s.tx.Final = model.DirReq, true
	s.term, s.status = [2]byte{'P', 'R'}, 0
	s.rec.ErrorMessage = failure(c)
	s.emit(out, "")
	s.rec.ErrorMessage = ""
	sh.tooEarly(s)
}

// failure is the text of what went wrong with a client's connection. What OpenSSL has to say about it stands behind.
func failure(c *Client) string {
	text := c.Greeting.Err.Text()
	if t := c.Greeting.TLS; t != nil {
		if code, why := tlsconn.Reason(t.Failure()); code != 0 {
			text += fmt.Sprintf(" (error:%08X:SSL routines::%s)", code, why)
		}
	}
	return text
}

// early makes a stream for what happens before there is one.
func (sh *Shared) early(f *loop.Fiber, c *Client, end mux.End) *Stream {
	s := sh.get()
	s.begin(f, c, end)
	c.Exchanges-- // it was no exchange
	s.admitting, s.logged = true, true
	return s
}

// tooEarly gives the stream back that early made.
func (sh *Shared) tooEarly(s *Stream) {
	s.admitting = false
	s.f.OnPanic(nil)
	sh.Totals.Streams.Add(^uint64(0)) // it was no stream
	sh.Totals.Active.Dec()
	s.front.SetOwner(nil)
	s.reset()
	sh.put(s)
}

// WaitBody waits for a body; see rule.Control.
func (s *Stream) WaitBody(d model.Dir, limit time.Duration, n int64) bool {
	m := s.message(d)
	if m == nil || !m.HasBody() || m.Framing == msg.Tunnel {
		return true
	}
	until := after(s.l.Now(), limit)
	for {
		s.gather(d)
		have := s.heldBytes(d)
		if err := s.bodyErr[d]; err != nil && err != mux.EOF {
			return s.waitFailed(d, err)
		}
		if s.bodyIn[d] || have >= int64(s.holdLimit(d)) || n > 0 && have >= n {
			return true
		}
		if d == model.DirReq && s.front.Err() != nil || s.c.Killed {
			return s.waitFailed(d, mux.ErrTruncated)
		}
		if !s.f.Park(until) && s.l.Now() >= until {
			return s.waitedTooLong(d)
		}
	}
}

func (s *Stream) waitFailed(d model.Dir, err error) bool {
	if d == model.DirReq {
		return s.bodyFailed(err)
	}
	s.ended('S', 'D')
	s.dropServer()
	s.answer(502)
	return false
}

func (s *Stream) waitedTooLong(d model.Dir) bool {
	if d == model.DirReq {
		s.ended('c', 'R')
		s.countFailedRequest()
		s.answer(408)
		return false
	}
	s.ended('s', 'H')
	s.countFailedResponse(1)
	s.dropServer()
	s.answer(504)
	return false
}

// dropServer cuts the connection to the server: its response is not wanted any more.
func (s *Stream) dropServer() {
	s.releaseHeld(model.DirRes)
	if s.back != nil {
		c := s.back
		s.leaveBack()
		c.CloseConn(true)
	}
	s.res.Reset()
	s.tx.Res = nil
}

// releaseHeld gives up the data held of a direction.
func (s *Stream) releaseHeld(d model.Dir) {
	for i, b := range s.held[d] {
		b.Release()
		s.held[d][i] = nil
	}
	s.held[d] = s.held[d][:0]
}

// sendHeld passes the data held of a direction on.
func (s *Stream) sendHeld(d model.Dir, to interface{ SendData(*buf.Buf) }) {
	for i, b := range s.held[d] {
		s.held[d][i] = nil
		if d == model.DirReq {
			s.up.sent += int64(b.Len())
			s.remember(b)
		} else {
			s.down.sent += int64(b.Len())
		}
		to.SendData(b)
	}
	s.held[d] = s.held[d][:0]
}
