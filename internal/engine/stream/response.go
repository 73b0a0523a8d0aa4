package stream

import (
	"errors"

	"weir/internal/base/ascii"
	"weir/internal/base/buf"
	"weir/internal/link/mux"
	"weir/internal/model"
	"weir/internal/wire/h1"
	"weir/internal/wire/httpcache"
	"weir/internal/wire/msg"
)

// sendRequest queues the request head; the body follows while the response is awaited.
func (s *Stream) sendRequest() bool {
	if s.be.Conf.Close != model.KeepAlive || s.fe.Conf.Close != model.KeepAlive {
		if !s.be.Conf.Has(model.OptHTTPPretendKeepalive) {
			s.back.SetClose()
		}
	}
	if name := s.be.Conf.SendNameHeader; name != "" {
		s.req.SetString(name, s.srv.Name)
	}
	size := headBytes(&s.req)
	if err := s.back.SendHead(&s.req); err != nil {
		if errors.Is(err, mux.ErrNoBuffer) {
			s.ended('R', 'C')
			s.answer(503)
		} else {
			s.ended('P', 'R')
			s.answer(400)
		}
		return false
	}
	s.heads.reqOut = size // of the last attempt
	s.replayable = (s.attempts == 0 || s.replayable) && !s.noReplay
	s.up = flow{bytes: s.up.bytes, sent: s.up.sent}
	for _, b := range s.keep { // what an earlier attempt has sent
		s.back.SendData(b.Retain())
	}
	s.up.join(s.front, s.back, &s.req)
	if s.be.Conf.Has(model.OptHTTPDropRequestTrailers) {
		s.up.msg = nil
	}
	s.sendHeld(model.DirReq, s.back)
	if s.up.done {
		s.back.SendEnd(&s.req)
	}
	s.sentAt = s.l.Now()
	s.lastC, s.lastS = s.sentAt, s.sentAt
	return true
}

// receiveResponse waits for the final response head while the request's body goes out and interim responses come back.
// On false the stream's fault tells why.
func (s *Stream) receiveResponse() bool {
	s.fault = fault{}
	for {
		ok, err := s.back.RecvHead(&s.res)
		if ok {
			s.lastS = s.l.Now()
			if s.res.Status >= 200 || s.res.Status == 101 {
				if !s.responseArrived() {
					return false
				}
				s.countResponse()
				s.t.Response = s.since(s.sentAt)
				return true
			}
			if !s.forwardInterim() {
				return false
			}
			continue
		}
		if err != nil {
			return s.responseFailed(err)
		}
		if !s.up.done {
			s.pump(&s.up)
			s.back.Flush()
			if s.up.err != nil && !s.requestCut() {
				return false
			}
		} else {
			s.back.Flush()
			s.front.Watch()
		}
		if s.clientGone() && s.clientLeft() {
			return false
		}
		if d := s.responseDeadline(); !s.f.Park(d) && s.l.Now() >= d {
			return s.responseLate()
		}
	}
}

// responseDeadline: the server has "timeout server" since its last activity; a client that still sends has "timeout client".
func (s *Stream) responseDeadline() int64 {
	d := after(s.lastS, s.Timeout(model.TimeoutServer))
	if !s.up.done {
		if s.up.blocked {
			return d
		}
		// The server waits for the client: only the client can be late.
		return after(s.lastC, s.Timeout(model.TimeoutClient))
	}
	return d
}

func (s *Stream) responseLate() bool {
	if !s.up.done && !s.up.blocked {
		s.ended('c', 'H')
		s.countClientAbort()
		s.fault = fault{status: 400}
		return false
	}
	s.fault = fault{status: 504, who: 's', on: model.RetryTimeout}
	return false
}

// requestCut judges a request body that ended badly; true when the response is still worth waiting for.
func (s *Stream) requestCut() bool {
	if malformed(s.up.err) {
		s.ended('P', 'H')
		s.fault = fault{status: 400}
		return false
	}
	s.ended('C', s.leftHow())
	s.countClientAbort()
	s.fault = fault{status: 400}
	return false
}

// leftHow tells a client that closed, while the response head was awaited, from one whose connection was reset.
func (s *Stream) leftHow() byte {
	if s.front.Err() != nil {
		return 'D'
	}
	return 'H'
}

// clientLeft ends the wait for a client that closed; false when the server should decide (half-close in TCP).
func (s *Stream) clientLeft() bool {
	s.ended('C', s.leftHow())
	s.countClientAbort()
	s.fault = fault{status: 400}
	return true
}

func (s *Stream) responseFailed(err error) bool {
	switch {
	case malformed(err):
		s.fault = fault{status: 502, who: 'P', on: model.RetryJunk}
	case err == mux.ErrNoBuffer:
		s.fault = fault{status: 503, who: 'R'}
	default:
		s.fault = fault{status: 502, who: 'S', on: model.RetryDisconnected, empty: !s.back.HeadStarted() && err != mux.ErrTruncated}
	}
	return false
}

// responseArrived judges a final head: a status that is to be retried, or one that nobody asked for.
func (s *Stream) responseArrived() bool {
	if s.res.Status == 101 && !h1.SwitchOK(&s.req, &s.res, s.be.H1.Parse.Unsafe) {
		s.fault = fault{status: 502, who: 'P', on: model.RetryJunk}
		return false
	}
	if on := retryStatus(s.res.Status); on != 0 && s.be.Conf.RetryOn&on != 0 && s.canRetry() {
		s.fault = fault{status: s.res.Status, who: 'S', on: on}
		return false
	}
	return true
}

func retryStatus(status int) model.RetryOn {
	switch status {
	case 401:
		return model.Retry401
	case 403:
		return model.Retry403
	case 404:
		return model.Retry404
	case 408:
		return model.Retry408
	case 421:
		return model.Retry421
	case 425:
		return model.Retry425
	case 429:
		return model.Retry429
	case 500:
		return model.Retry500
	case 501:
		return model.Retry501
	case 502:
		return model.Retry502
	case 503:
		return model.Retry503
	case 504:
		return model.Retry504
	}
	return 0
}

// fault is why an attempt got no response.
type fault struct {
	status int
	who    byte          // 'S', 's', 'P', 'R'; 0: the end is noted already
	on     model.RetryOn // the retry-on condition that it meets
	empty  bool          // the connection closed without a byte
}

func (s *Stream) canRetry() bool { return s.replayable && s.retries > 0 }

// retry prepares another attempt after a fault, or answers for it.
func (s *Stream) retry() bool {
	if s.fault.on == 0 || s.be.Conf.RetryOn&s.fault.on == 0 || !s.canRetry() {
		s.failResponse()
		return false
	}
	c := s.back
	s.leaveBack()
	c.CloseConn(true)
	s.attempts++
	s.res.Reset()
	s.retries--
	if s.fault.on == model.RetryJunk || s.fault.on == model.RetryDisconnected || s.fault.on == model.RetryTimeout {
		s.countFailedResponse(1)
	}
	s.countRetries(2) // as the reference counts those after a connection was there
	if s.mayRedispatch() {
		s.noteRedispatch(s.srv)
		s.freeSlot()
	}
	return true
}

// failResponse answers for a server that gave no usable response.
func (s *Stream) failResponse() {
	f := &s.fault
	if f.who != 0 {
		s.ended(f.who, 'H')
		if f.who == 's' {
			s.countFailedResponse(1)
		} else {
			s.countFailedResponse(2) // for the connection and for the answer, as the reference counts
		}
	}
	if f.empty && s.reused && s.c.Exchanges > 1 {
		// The idle connection died under a request that cannot be repeated here: the client, whose connection closes
		// without an answer, can.
		s.hush()
		return
	}
	if !s.up.done {
		s.front.SetClose()
	}
	s.answer(f.status)
}

// forwardInterim passes a 1xx response on.
func (s *Stream) forwardInterim() bool {
	s.countResponse()
	if s.req.AtLeast11() {
		size := headBytes(&s.res)
		if err := s.front.SendHead(&s.res); err != nil {
			s.fault = fault{status: 502, who: 'P', on: model.RetryJunk}
			return false
		}
		s.heads.resOut += size
		s.front.Flush()
		s.replayable = false
	}
	return true
}

// forwardResponse sends the response head to the client, then joins both sides until the exchange is complete.
func (s *Stream) forwardResponse() {
	s.replayable = false
	s.dropReplay()
	if s.fe.Draining.Load() {
		s.front.SetClose()
	}
	s.noteAuth()
	if s.req.Method == msg.CONNECT && s.res.Status >= 300 || s.res.Framing == msg.Tunnel && s.res.Status != 101 && s.req.Method != msg.CONNECT {
		s.back.SetClose()
	}
	tunnel := s.res.Framing == msg.Tunnel || s.res.Status == 101
	if string(s.method) == "HEAD" && s.req.Method != msg.HEAD && !tunnel {
		// A rule has changed the method: the client still expects no body.
		s.unwantedBody = s.res.HasBody()
		s.res.Framing = msg.NoBody
		s.releaseHeld(model.DirRes)
	}
	shared := s.be.Conf.Has(model.OptCheckCache) && httpcache.SharesCookie(s.req.Method, &s.res)
	s.setCookie()
	if shared {
		s.blockShared()
		return
	}
	if !s.afterResponse() {
		return
	}
	size := headBytes(&s.res)
	if err := s.front.SendHead(&s.res); err != nil {
		s.fault = fault{status: 502, who: 'P'}
		s.failResponse()
		return
	}
	s.headSent, s.status = true, s.res.Status
	s.heads.resOut += size
	if tunnel {
		s.front.Tunnel()
		s.back.Tunnel()
		s.tunnel = true
		s.up = flow{bytes: s.up.bytes, sent: s.up.sent}
		s.up.join(s.front, s.back, nil)
	}
	s.logStep(model.StepResponse)
	s.logEarly(model.StepResponse)
	s.down.join(s.back, s.front, &s.res)
	if s.unwantedBody {
		s.down.done, s.down.discard = s.bodyIn[model.DirRes], true
	}
	s.sendHeld(model.DirRes, s.front)
	if s.fe.Conf.Has(model.OptHTTPDropResponseTrailers) {
		s.down.msg = nil
	}
	s.relay()
}

// blockShared refuses a response that caches may keep together with a cookie (manual 4.2, "option checkcache").
func (s *Stream) blockShared() {
	if out := s.fe.Logs[s.l.ID()]; out != nil {
		out.Message(1, "Blocking cacheable cookie in response from instance "+s.be.Name+", server "+s.srv.Name+".")
	}
	s.tx.Dir = model.DirRes
	s.denied()
	s.ended('P', 'H')
	s.dropServer()
	s.answer(502)
}

// noteAuth keeps connection-bound authentication to its own client (NTLM, Negotiate).
func (s *Stream) noteAuth() {
	if s.res.Status != 401 && s.res.Status != 407 {
		return
	}
	name := "www-authenticate"
	if s.res.Status == 407 {
		name = "proxy-authenticate"
	}
	for i := s.res.Find(name, 0); i >= 0; i = s.res.Find(name, i+1) {
		v := s.res.Fields[i].Value
		if ascii.HasPrefixFold(v, "negotiate") || ascii.HasPrefixFold(v, "ntlm") {
			s.back.Private = true
		}
	}
}

// noteServer remembers where the client's next request may want to go.
func (s *Stream) noteServer() {
	s.c.LastServer, s.c.stick = nil, false
	if s.be != nil && s.srv != nil && s.reqIn {
		s.c.LastServer = s.srv
		s.c.stick = s.status == 401 || s.status == 407
	}
}

// dropReplay gives up the copy of the request's data.
func (s *Stream) dropReplay() {
	for i, b := range s.keep {
		b.Release()
		s.keep[i] = nil
	}
	s.keep = s.keep[:0]
}

// remember keeps a view of request data for a retry, as long as it fits one buffer.
func (s *Stream) remember(b *buf.Buf) {
	if !s.replayable {
		return
	}
	const wants = model.RetryDisconnected | model.RetryJunk | model.RetryTimeout | statusRetries
	if s.be.Conf.RetryOn&wants == 0 || s.up.bytes > maxReplay {
		s.replayable = false
		s.dropReplay()
		return
	}
	s.keep = append(s.keep, b.Retain())
}

// maxReplay bounds the request data kept for a retry, in bytes.
const maxReplay = model.DefaultBufSize

const statusRetries = model.Retry401 | model.Retry403 | model.Retry404 | model.Retry408 | model.Retry421 | model.Retry425 |
	model.Retry429 | model.Retry500 | model.Retry501 | model.Retry502 | model.Retry503 | model.Retry504

// countResponse counts a response that the server has given.
func (s *Stream) countResponse() {
	s.heads.resIn += headBytes(&s.res)
	st := s.srvStats()
	st.Requests.Add(1)
	st.Response(s.res.Status)
}
