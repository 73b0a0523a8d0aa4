package stream

import (
	"crypto/tls"

	"weir/internal/model"
	"weir/internal/wire/tlsname"
)

// log writes the stream's line at its end, unless it was written before.
func (s *Stream) log() {
	if s.logged {
		return
	}
	s.logged = true
	if steps := s.fe.Conf.Log.Steps; steps != 0 && !steps.Has(model.StepClose) {
		return
	}
	out := s.fe.Logs[s.l.ID()]
	if out == nil || s.unwanted() {
		return
	}
	s.asap = false
	s.emit(out, "")
}

// logNow writes the line before the exchange is complete: option logasap, and formats that tell of nothing later.
func (s *Stream) logNow(step model.LogStep) {
	if out := s.fe.Logs[s.l.ID()]; out != nil && !s.logged {
		s.logged = true
		s.asap = true
		s.emit(out, step.String())
	}
}

// logEarly writes the line when the response, or in TCP the connection to the server, is there and nothing later is asked for.
func (s *Stream) logEarly(step model.LogStep) {
	c := &s.fe.Conf.Log
	if s.fe.Conf.Has(model.OptLogASAP) || c.Steps == 0 && c.Format == model.LogCustom && c.Custom.Needs()&model.LogAtEnd == 0 {
		s.logNow(step)
	}
}

// logStep writes a line at one of the moments that "log-steps" names.
func (s *Stream) logStep(step model.LogStep) {
	if !s.fe.Conf.Log.Steps.Has(step) {
		return
	}
	if out := s.fe.Logs[s.l.ID()]; out != nil {
		s.asap = false
		s.emit(out, step.String())
	}
}

// Log writes a line at once: do-log.
func (s *Stream) Log(step model.LogStep, profile *model.LogProfile) {
	out := s.fe.Logs[s.l.ID()]
	if out == nil {
		return
	}
	s.asap = false
	s.rec.Profile = profile
	s.emit(out, step.String())
	s.rec.Profile = nil
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

func (s *Stream) emit(out model.LogEmitter, step string) {
	if s.x != nil && s.x.levelSet && s.x.logLevel < 0 {
		return
	}
	final := s.tx.Final
	s.tx.Final = true
	r := s.Record()
	r.Step = step
	r.Level = 6
	if s.fe.Conf.Has(model.OptLogSeparateErrors) && (!s.normal() || r.ErrorMessage != "") {
		r.Level = 3
	}
	if s.x != nil && s.x.levelSet {
		r.Level = s.x.logLevel
	}
	r.LogCount = s.fe.LogCount.Add(1) - 1
	mark := s.tx.Scratch.Mark()
	steps := s.tx.Steps
	s.tx.Steps.SetAside(refuse) // the emitter's memory is the loop's, and the fiber may be gone
	out.Emit(r)
	s.tx.Steps = steps // a line decides nothing
	s.tx.Scratch.Release(mark)
	s.tx.Final = final
}

// Record fills the log record with the present state.
func (s *Stream) Record() *model.LogRecord {
	r := &s.rec
	c := s.c
	r.Tx = &s.tx
	r.Client, r.UnixClient, r.UnixID = s.Client(), c.Unix, c.UnixID
	needs := s.fe.LogNeeds
	if needs&(model.LogLocal|model.LogExpr) != 0 {
		r.ClientLocal = s.ClientLocal()
	}
	s.recordServer(r, needs)
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
	if s.applet != "" {
		r.ServerName = s.applet
	}
	if s.srv != nil {
		r.ServerName = s.srv.Name
		r.SrvConn = s.srv.Cur.Cur()
	}
	r.ActConn, r.FeConn = s.sh.Active.Cur(), s.fe.Cur.Cur()
	r.HTTP, r.ASAP = c.HTTP, s.asap
	r.Timers = s.t
	r.Timers.Total = s.since(c.Since)
	r.Status = s.status
	t := s.traffic()
	r.BytesToClient, r.BytesToServer = t.resIn, t.reqIn
	req, res := s.per.letters()
	r.Termination = [4]byte{s.term[0], s.term[1], req, res}
	r.Retries, r.Redispatched = s.attempts, s.redispatch
	r.SrvQueue, r.BeQueue = s.srvQueue, s.beQueue
	r.BadRequest = !s.reqIn && s.term[0] != '-' // one that is still awaited is not bad
	r.Method, r.URI = s.method, s.uri
	if !s.reqIn {
		r.Method, r.URI = s.req.MethodName, s.req.Target
	}
	r.Version = [2]uint8{s.req.Major, s.req.Minor}
	s.recordTLS(r)
	s.recordCaptures(r)
	return r
}

// recordServer notes the addresses of the server's connection; the kernel is asked only when somebody wants them.
func (s *Stream) recordServer(r *model.LogRecord, needs model.LogNeeds) {
	if needs&(model.LogServer|model.LogExpr) == 0 {
		return
	}
	if s.back != nil && s.back.Link != nil {
		s.serverPeer, s.serverLocal = unmap(s.back.Link.Peer()), unmap(s.back.Link.Local())
	}
	r.Server, r.ServerLocal = s.serverPeer, s.serverLocal
	r.UnixServer = s.srv != nil && s.srv.Connect.Unix != ""
}

// recordCaptures notes what was captured, in slices as long as the declared slots.
func (s *Stream) recordCaptures(r *model.LogRecord) {
	c := &s.fe.Conf.Captures
	r.CaptureReq, r.CaptureRes = len(c.Req) > 0 && s.reqIn, len(c.Res) > 0 && s.reqIn // nothing was captured of what is no request
	if !r.CaptureReq && !r.CaptureRes && c.Cookie.Name == "" {
		return
	}
	x := s.ext()
	x.extend(model.DirReq, len(c.Req))
	x.extend(model.DirRes, len(c.Res))
	r.CapturedReqHeaders, r.CapturedResHeaders = x.captures[model.DirReq], x.captures[model.DirRes]
	r.CapturedReqCookie, r.CapturedResCookie = x.cookie[model.DirReq], x.cookie[model.DirRes]
}

// refuse is where nothing is done: what takes long is given up.
func refuse(func()) bool { return false }

// recordTLS notes what is known of the client's TLS. A handshake that failed before a version was agreed on has the newest one
// and no cipher, as in the reference.
func (s *Stream) recordTLS(r *model.LogRecord) {
	r.TLS, r.TLSVersion, r.TLSCipher = s.c.Greeting.Secure != nil, "", ""
	t := s.c.Greeting.TLS
	if t == nil {
		return
	}
	state := t.State()
	r.TLSVersion, r.TLSCipher = tlsname.Version(state.Version), tlsname.Cipher(state.CipherSuite)
	if t.Failure() != nil {
		r.TLSCipher = "(NONE)"
		if state.Version == 0 {
			r.TLSVersion = tlsname.Version(tls.VersionTLS13)
		}
	}
}
