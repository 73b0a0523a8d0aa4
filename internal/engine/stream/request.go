package stream

import (
	"errors"
	"net/netip"

	"weir/internal/engine/backend"
	"weir/internal/link/mux"
	"weir/internal/model"
	"weir/internal/wire/h1"
	"weir/internal/wire/msg"
)

// receiveRequest waits for a complete request head.
func (s *Stream) receiveRequest() bool {
	if s.c.TimedOut {
		return s.requestTimedOut()
	}
	for {
		ok, err := s.front.RecvHead(&s.req)
		s.noteFirstByte()
		if ok {
			break
		}
		if err != nil {
			return s.requestFailed(err)
		}
		if d := s.headDeadline(); !s.f.Park(d) && s.l.Now() >= d {
			return s.requestTimedOut()
		}
	}
	s.reqIn = true
	s.tx.Req = &s.req
	s.method, s.uri = s.req.MethodName, s.req.Target
	s.took = s.since(s.firstByte)
	s.heads.reqIn = headBytes(&s.req)
	s.captureHeaders(model.DirReq, &s.req)
	return true
}

func (s *Stream) noteFirstByte() {
	if s.firstByte == 0 && s.front.HeadStarted() || s.firstByte == 0 && len(s.req.MethodName) > 0 {
		s.firstByte = s.l.Now()
		s.t.Idle = max(s.firstByte-s.c.Ready(), 0)
		s.rec.Request = s.l.Wall()
	}
}

// headDeadline is until when the head must be complete (manual 4.2, "timeout http-request").
func (s *Stream) headDeadline() int64 {
	from := s.firstByte
	if from == 0 || s.c.Exchanges == 1 {
		from = s.c.Ready()
	}
	t := &s.fe.Conf.Timeout
	if t.HTTPRequest > 0 {
		return after(from, t.HTTPRequest)
	}
	return after(s.l.Now(), t.Client)
}

func (s *Stream) requestTimedOut() bool {
	s.ended('c', 'R')
	if s.fe.Conf.Has(model.OptHTTPIgnoreProbes) && s.firstByte == 0 {
		s.void = true
		s.hush()
		return false
	}
	s.countRequest()
	s.countFailedRequest()
	s.answer(408)
	return false
}

// hush ends the stream without an answer or a log line.
func (s *Stream) hush() {
	s.logged = true
	s.front.SetClose()
}

func (s *Stream) requestFailed(err error) bool {
	s.front.SetClose()
	var bad *h1.Error
	switch {
	case err == mux.EOF && (s.c.Exchanges > 1 || s.fe.Conf.Has(model.OptHTTPIgnoreProbes)):
		s.void = true
		s.hush() // an idle connection was closed: nothing happened
	case err == mux.EOF:
		s.ended('C', 'R')
		s.countRequest()
		s.countFailedRequest()
		s.status = 400
		s.logged = s.logged || s.fe.Conf.Has(model.OptDontLogNull)
	case errors.As(err, &bad):
		s.ended('P', 'R')
		s.countRequest()
		s.countFailedRequest()
		s.answer(bad.Status)
	case err == mux.ErrNoBuffer:
		s.ended('R', 'R')
		s.answer(503)
	default: // cut in the middle, or reset
		s.ended('C', 'R')
		if s.firstByte == 0 && (s.c.Exchanges > 1 || s.fe.Conf.Has(model.OptHTTPIgnoreProbes)) {
			s.void = true
			s.hush()
			return false
		}
		s.countRequest()
		s.countFailedRequest()
		s.answer(400)
	}
	return false
}

// frontendRules applies what the frontend decides by itself.
func (s *Stream) frontendRules() bool {
	if s.fe.Conf.Close == model.Close || s.fe.Draining.Load() {
		s.front.SetClose()
	}
	if !s.inspect(s.fe.Rules) {
		return false
	}
	s.countRequest()
	if u := s.fe.Conf.MonitorURI; u != "" && string(s.req.Target) == u {
		s.monitor()
		return false
	}
	if !s.restrictNames(s.fe.Conf.HdrNames) {
		return false
	}
	if s.fe.Conf.Has(model.OptHTTPBufferRequest) && !s.bufferRequest() {
		return false
	}
	return s.requestRules(s.fe.Rules)
}

// backendRules applies what the backend decides by itself.
func (s *Stream) backendRules() bool {
	if s.be.Conf == s.fe.Conf {
		return true
	}
	if !s.inspect(s.be.Rules) || !s.restrictNames(s.be.Conf.HdrNames) {
		return false
	}
	if s.be.Conf.Has(model.OptHTTPBufferRequest) && !s.bufferRequest() {
		return false
	}
	return s.requestRules(s.be.Rules)
}

// restrictNames applies option http-restrict-req-hdr-names.
func (s *Stream) restrictNames(mode model.HdrNames) bool {
	policy := h1.RestrictPreserve
	switch mode {
	case model.HdrNamesDelete:
		policy = h1.RestrictDelete
	case model.HdrNamesReject:
		policy = h1.RestrictReject
	}
	if h1.RestrictNames(&s.req, policy) {
		return true
	}
	s.ended('P', 'R')
	s.countFailedRequest()
	s.answer(403)
	return false
}

// bufferRequest waits until the whole body has arrived, or as much of it as a buffer holds.
func (s *Stream) bufferRequest() bool {
	if !s.req.HasBody() || s.req.Framing == msg.Tunnel {
		return true
	}
	s.t.Request = s.took
	for {
		s.gather(model.DirReq)
		if err := s.bodyErr[model.DirReq]; err != nil && err != mux.EOF {
			return s.bodyFailed(err)
		}
		if s.bodyIn[model.DirReq] || s.heldBytes(model.DirReq) >= int64(s.holdLimit(model.DirReq)) {
			return true
		}
		if d := s.headDeadline(); !s.f.Park(d) && s.l.Now() >= d {
			s.ended('c', 'R')
			s.answer(408)
			return false
		}
	}
}

func (s *Stream) bodyFailed(err error) bool {
	who := byte('C')
	if malformed(err) {
		who = 'P'
	}
	s.front.SetClose()
	if s.be == nil { // the log line names the backend that would have served it
		if s.chooseByRule(); s.be != nil {
			s.be.Cur.Inc()
		}
	}
	s.ended(who, 'R')
	s.countFailedRequest()
	s.answer(400)
	return false
}

// monitor answers a request for the monitor-uri: it is neither logged nor forwarded.
func (s *Stream) monitor() {
	s.logged = true
	s.intercepted()
	status := 200
	if s.monitorFails() || s.tx.Steps.Spent() {
		status = 503
	}
	s.ended('L', 'R')
	s.answer(status)
}

// chooseBackend applies use_backend and default_backend.
func (s *Stream) chooseBackend() bool {
	s.chooseByRule()
	if s.tx.Steps.Spent() {
		s.be = nil // it was not entered
		return !s.undecided()
	}
	if s.be == nil {
		s.ended('S', 'C')
		s.answer(503)
		return false
	}
	s.entering()
	if s.be.Conf.Disabled { // chosen by force-be-switch
		s.ended('S', 'C')
		s.answer(503)
		return false
	}
	if s.be.Conf.Close == model.Close {
		s.front.SetClose()
	}
	if s.x != nil && s.be.Conf != s.fe.Conf { // what rules of the frontend said about its own backend side is over
		s.x.timeoutSet &= 1<<model.TimeoutClient | 1<<model.TimeoutTarpit
		s.x.retries = -1
	}
	s.retries = s.MaxRetries()
	return true
}

// editRequest adds what the proxies promise to tell the server. The request counts as received from here on (manual 8.4, TR).
func (s *Stream) editRequest() {
	s.t.Request = s.took
	s.logStep(model.StepRequest)
	if s.fe.ForwardFor.Enabled || s.be.ForwardFor.Enabled {
		s.forwarded(&s.fe.ForwardFor, &s.be.ForwardFor, s.Client().Addr())
	}
	if s.fe.OriginalTo.Enabled || s.be.OriginalTo.Enabled {
		s.forwarded(&s.fe.OriginalTo, &s.be.OriginalTo, s.ClientLocal().Addr())
	}
	s.forwardedRFC7239()
	if name := s.fe.Conf.UniqueIDHeader; name != "" {
		if id := s.UniqueID(); len(id) > 0 {
			s.req.Set(name, id)
		}
	}
}

// forwarded adds one address header. The frontend's header name and exception count before the backend's.
func (s *Stream) forwarded(fe, be *backend.Forward, addr netip.Addr) {
	if !fe.Applies(addr) && !be.Applies(addr) {
		return
	}
	if fe.Enabled && !fe.Applies(addr) || be.Enabled && !be.Applies(addr) {
		return
	}
	name := fe.Header
	if be.Enabled {
		name = be.Header
	}
	if (fe.IfNone || !fe.Enabled) && (be.IfNone || !be.Enabled) && s.req.Has(name) {
		return
	}
	var tmp [64]byte
	s.req.Add(name, addr.Unmap().AppendTo(tmp[:0]))
}
