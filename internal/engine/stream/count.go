package stream

import (
	"time"

	"weir/internal/engine/stats"
	"weir/internal/lang/rule"
	"weir/internal/link/mux"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

// What a stream counts, and for whom: the frontend, the bind line where "option socket-stats" wants that, the backend
// and the server. Each counter is a plain addition in the shard of the loop.

// traffic are bytes of requests and responses, received and sent. Messages of HTTP count as the reference's own
// representation of them is large: see headBytes.
type traffic struct{ reqIn, reqOut, resIn, resOut int64 }

// traffic is what the stream has moved so far.
func (s *Stream) traffic() traffic {
	h := &s.heads
	return traffic{h.reqIn + s.up.bytes, h.reqOut + s.up.sent, h.resIn + s.down.bytes, h.resOut + s.down.sent}
}

func (t traffic) addTo(p *stats.Proxy) {
	p.ReqIn.Add(t.reqIn)
	p.ReqOut.Add(t.reqOut)
	p.ResIn.Add(t.resIn)
	p.ResOut.Add(t.resOut)
}

// settle adds what was moved since the last time to the counters.
func (s *Stream) settle() {
	t, told := s.traffic(), s.told
	s.told = t
	t.reqIn -= told.reqIn
	t.reqOut -= told.reqOut
	t.resIn -= told.resIn
	t.resOut -= told.resOut
	t.addTo(s.feStats())
	if s.c.BindStats != nil {
		t.addTo(s.c.BindStats)
	}
	switch {
	case s.entered:
		t.addTo(s.beStats())
	case s.fe.Own != nil: // a listen section is its own backend from the start
		t.addTo(&s.fe.Own.Stats[s.l.ID()])
	}
	if s.srv != nil {
		t.addTo(s.srvStats())
	}
}

// settleEvery is how often a long exchange tells what it has moved (option contstats).
const settleEvery = int64(5 * time.Second)

// settleNow is settle for an exchange that goes on.
func (s *Stream) settleNow() {
	if now := s.l.Now(); now-s.settled >= settleEvery && s.fe.Conf.Has(model.OptContStats) {
		s.settled = now
		s.settle()
	}
}

// countRequest counts a request of HTTP, whatever becomes of it.
func (s *Stream) countRequest() {
	s.feStats().Requests.Add(1)
	stats.NoteRate(s.fe.Stats, s.l.ID(), s.l.Now(), stats.ReqRate)
}

// countEnd counts the exchange at its end.
func (s *Stream) countEnd() {
	s.settle()
	if s.void {
		return
	}
	if s.c.HTTP {
		s.feStats().Response(s.status)
	}
	if !s.entered {
		return
	}
	be := s.beStats()
	if s.c.HTTP {
		be.Requests.Add(1)
		be.Response(s.status)
	}
	s.countTimes(be)
}

// countTimes adds the times of an exchange whose server has answered, or of a connection in TCP mode.
func (s *Stream) countTimes(be *stats.Proxy) {
	if s.srv == nil || s.t.Connect < 0 || s.c.HTTP && s.t.Response < 0 {
		return
	}
	total := s.since(s.c.Since)
	if s.c.HTTP && s.firstByte > 0 {
		total = s.since(s.firstByte)
	}
	const ms = int64(time.Millisecond)
	for _, p := range [2]*stats.Proxy{be, s.srvStats()} {
		p.QueueTime.Note(max(s.t.Queue, 0) / ms)
		p.ConnectTime.Note(s.t.Connect / ms)
		p.ResponseTime.Note(max(s.t.Response, 0) / ms)
		p.TotalTime.Note(total / ms)
	}
}

// countAttempt counts one attempt on the server.
func (s *Stream) countAttempt() {
	st := s.srvStats()
	st.Sessions.Add(1)
	now := s.l.Now()
	stats.NoteRate(s.srv.Stats, s.l.ID(), now, stats.SessRate)
	st.LastSession.Set(now)
}

// entering counts the stream in the backend that was chosen for it.
func (s *Stream) entering() {
	s.entered = true
	s.be.Cur.Inc()
	st := s.beStats()
	st.Sessions.Add(1)
	now := s.l.Now()
	stats.NoteRate(s.be.Stats, s.l.ID(), now, stats.SessRate)
	st.LastSession.Set(now)
}

// countFailedRequest counts a request that was no good or did not become complete.
func (s *Stream) countFailedRequest() {
	s.feStats().FailedRequests.Add(1)
	if b := s.c.BindStats; b != nil {
		b.FailedRequests.Add(1)
	}
}

// countFailedConnect counts a request for which the server gave no connection.
func (s *Stream) countFailedConnect() {
	s.beStats().FailedConnects.Add(1)
	s.srvStats().FailedConnects.Add(1)
}

// countFailedResponse counts n faulty answers.
func (s *Stream) countFailedResponse(n int64) {
	s.beStats().FailedResponses.Add(n)
	if s.srv != nil {
		s.srvStats().FailedResponses.Add(n)
	}
}

// countClientAbort counts an exchange that the client broke off.
func (s *Stream) countClientAbort() {
	s.beStats().ClientAborts.Add(1)
	if s.srv != nil {
		s.srvStats().ClientAborts.Add(1)
	}
}

// countServerAbort counts an exchange that the server broke off.
func (s *Stream) countServerAbort() {
	s.beStats().ServerAborts.Add(1)
	if s.srv != nil {
		s.srvStats().ServerAborts.Add(1)
	}
}

// countRetries counts repeated attempts.
func (s *Stream) countRetries(n int64) {
	s.beStats().Retries.Add(n)
	s.srvStats().Retries.Add(n)
}

// countInternal counts a fault of our own.
func (s *Stream) countInternal() {
	s.feStats().InternalErrors.Add(1)
	if b := s.c.BindStats; b != nil {
		b.InternalErrors.Add(1)
	}
	if s.entered {
		s.beStats().InternalErrors.Add(1)
	}
	if s.srv != nil && s.tx.Dir == model.DirRes {
		s.srvStats().InternalErrors.Add(1)
	}
}

// countRewrites counts edits of headers that did not fit.
func (s *Stream) countRewrites(n int64) {
	s.feStats().FailedRewrites.Add(n)
	if b := s.c.BindStats; b != nil {
		b.FailedRewrites.Add(n)
	}
	if s.entered {
		s.beStats().FailedRewrites.Add(n)
	}
	if s.srv != nil && s.tx.Dir == model.DirRes {
		s.srvStats().FailedRewrites.Add(n)
	}
}

// denied counts a refusal by rules.
func (s *Stream) denied() {
	res := s.tx.Dir == model.DirRes
	deny := func(p *stats.Proxy) {
		if res {
			p.DeniedResponses.Add(1)
		} else {
			p.DeniedRequests.Add(1)
		}
	}
	deny(s.feStats())
	if s.c.BindStats != nil {
		deny(s.c.BindStats)
	}
	if s.entered {
		deny(s.beStats())
	}
	if res && s.srv != nil {
		deny(s.srvStats())
	}
}

// intercepted counts a request that rules of the frontend answer.
func (s *Stream) intercepted() {
	if !s.entered {
		s.feStats().Intercepted.Add(1)
	}
}

func (s *Stream) feStats() *stats.Proxy  { return &s.fe.Stats[s.l.ID()] }
func (s *Stream) beStats() *stats.Proxy  { return &s.be.Stats[s.l.ID()] }
func (s *Stream) srvStats() *stats.Proxy { return &s.srv.Stats[s.l.ID()] }

// headBytes is what a message head counts: names and values, a start line of 20 bytes besides its text, whose version
// counts as one of HTTP/1 does, and a byte for the end of the head.
func headBytes(m *msg.Message) int64 {
	n := 20 + len("HTTP/1.1") + len("200") + len(m.Reason) + 1
	if !m.IsResponse {
		n = 20 + len(m.MethodName) + len(m.Target) + len("HTTP/1.1") + 1
	}
	for i := range m.Fields {
		if m.Status == 204 && m.Fields[i].Is("content-length") {
			continue // it is not passed on
		}
		n += len(m.Fields[i].Name) + len(m.Fields[i].Value)
	}
	return int64(n)
}

// tailBytes is what the end of a message counts: that of a chunked body has a mark, and trailers.
func tailBytes(m *msg.Message) int64 {
	if m == nil || m.Framing != msg.Chunked {
		return 0
	}
	n := 1
	for i := range m.Trailers {
		n += len(m.Trailers[i].Name) + len(m.Trailers[i].Value)
	}
	return int64(n)
}

// ends counts the end of a message that a flow has received, and passed on unless it is thrown away.
func (w *flow) ends(err error) {
	if err != mux.EOF {
		return
	}
	n := tailBytes(w.tail)
	w.bytes += n
	if !w.discard {
		w.sent += n
	}
}

// countRefused counts a connection that the session's own rules refuse.
func (s *Stream) countRefused(kind rule.Kind) {
	refuse := func(p *stats.Proxy) {
		if kind == rule.TCPConnection {
			p.DeniedConns.Add(1)
		} else {
			p.DeniedSessions.Add(1)
		}
	}
	refuse(s.feStats())
	if s.c.BindStats != nil {
		refuse(s.c.BindStats)
	}
}
