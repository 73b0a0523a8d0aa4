package session

import (
	"io"
	"time"

	"weir/internal/base/buf"
	"weir/internal/engine/stream"
	"weir/internal/lang/rule"
	"weir/internal/link/h1mux"
	"weir/internal/link/tlsconn"
	"weir/internal/model"
	"weir/internal/rt/loop"
	"weir/internal/wire/proxyproto"
)

// admit is the fiber of a new session that has something to do before it is served: rules of the connection, headers of
// proxies in front, TLS, rules of the session, in this order.
func admit(f *loop.Fiber, arg any) {
	s := arg.(*Session)
	sh := &s.set.shared
	if !sh.Admit(f, &s.Client, s.end, rule.TCPConnection) || !s.shake(f) {
		s.close()
		return
	}
	s.speak()
	if !sh.Admit(f, &s.Client, s.end, rule.TCPSession) {
		s.close()
		return
	}
	s.count()
	switch {
	case s.set.draining && !s.move():
		s.close()
	case s.HTTP && !s.end.HeadStarted():
		s.rest()
	default:
		run(f, s)
	}
}

// shake takes the headers that the connection must begin with and does the TLS handshake. All of it together has "timeout client-hs",
// else "timeout client". False: it failed, and is logged.
func (s *Session) shake(f *loop.Fiber) bool {
	g := &s.Greeting
	if g.Expect == 0 && s.tls == nil {
		return true
	}
	f.SetLabel("handshake")
	f.OnPanic(s.panicked)
	s.Sock.SetOwner(f)
	deadline := s.handshakeDeadline()
	ok := g.Expect&stream.HeaderNetScaler == 0 || s.header(f, deadline, netScaler)
	ok = ok && (g.Expect&stream.HeaderProxy == 0 || s.header(f, deadline, proxyHeader))
	ok = ok && (s.tls == nil || s.secure(f, deadline))
	if !ok {
		if !s.Killed {
			s.set.shared.Failed(f, &s.Client, s.end, s.silent())
		}
		return false
	}
	s.Handshake = max(s.set.l.Now()-s.Accepted, 0)
	s.Link.SetOwner(nil)
	return true
}

// silent reports whether the client has said nothing, as probes do.
func (s *Session) silent() bool {
	switch s.Greeting.Err {
	case model.ProxyEmpty, model.ProxyAbort, model.ProxyTimeout, model.CIPEmpty, model.CIPAbort, model.CIPTimeout:
		return true
	}
	t, ok := s.Link.(*tlsconn.Conn)
	return ok && !t.Heard()
}

func (s *Session) handshakeDeadline() int64 {
	d := s.Front.Conf.Timeout.ClientHS
	if d == 0 {
		d = s.Front.Conf.Timeout.Client
	}
	if d == 0 {
		return 0
	}
	return s.Accepted + int64(d)
}

// headerKind is how a header is read and how its failures are called.
type headerKind struct {
	parse                 func(s *Session, b []byte, h *proxyproto.Header) (int, proxyproto.Fault)
	empty, abort, timeout model.ConnError
	faults                [proxyproto.BadProto + 1]model.ConnError
}

const (
	proxyHeader = iota
	netScaler
)

var headers = [...]headerKind{
	proxyHeader: {
		parse: func(_ *Session, b []byte, h *proxyproto.Header) (int, proxyproto.Fault) {
			return proxyproto.Parse(b, h)
		},
		empty: model.ProxyEmpty, abort: model.ProxyAbort, timeout: model.ProxyTimeout,
		faults: [...]model.ConnError{0, model.ProxyTruncated, model.ProxyNotHeader, model.ProxyBadHeader, model.ProxyBadProto},
	},
	netScaler: {
		parse: func(s *Session, b []byte, h *proxyproto.Header) (int, proxyproto.Fault) {
			return proxyproto.ParseCIP(b, s.Greeting.Magic, h)
		},
		empty: model.CIPEmpty, abort: model.CIPAbort, timeout: model.CIPTimeout,
		faults: [...]model.ConnError{0, model.CIPTruncated, model.CIPBadMagic, model.CIPBadProto, model.CIPBadProto},
	},
}

// header takes one header of a proxy in front. What arrives first must have all of it.
func (s *Session) header(f *loop.Fiber, deadline int64, k int) bool {
	b, e := s.first(f, deadline, k)
	if b == nil {
		s.Greeting.Err = e
		return false
	}
	var h proxyproto.Header
	n, fault := headers[k].parse(s, b.Bytes(), &h)
	if h.Src.IsValid() {
		if s.Moved == nil {
			s.Moved = new(stream.Moved)
		}
		s.Moved.Session = stream.Addresses{Src: h.Src, Dst: h.Dst}
	}
	if fault != proxyproto.None {
		b.Release()
		s.Greeting.Err = headers[k].faults[fault]
		s.cut = true
		return false
	}
	if k == proxyHeader {
		s.Greeting.Received = true
		if len(h.TLVs) > 0 {
			s.Greeting.Values = append([]byte(nil), h.TLVs...)
		}
	}
	b.R += n
	s.Sock.Unread(b)
	return true
}

// first waits for the first data of the connection.
func (s *Session) first(f *loop.Fiber, deadline int64, k int) (*buf.Buf, model.ConnError) {
	for {
		b, err := s.Sock.Recv(buf.Std)
		switch {
		case b != nil:
			return b, 0
		case err == io.EOF:
			return nil, headers[k].empty
		case err != nil:
			return nil, headers[k].abort
		}
		if !f.Park(deadline) && s.set.l.Now() >= deadline {
			return nil, headers[k].timeout
		}
	}
}

// secure does the TLS handshake; from then on the session's link is the TLS connection, also when it failed, so that what it has to
// say to the client still leaves.
func (s *Session) secure(f *loop.Fiber, deadline int64) bool {
	t := s.tls
	c, err := tlsconn.Server(f, s.Sock, t.Config, &tlsconn.Options{
		Deadline: deadline, Capture: capture(t), Reply: true, KeyLog: t.KeyLog,
		Records: tlsconn.Records{Max: t.MaxRecord, Early: t.EarlyRecord, Idle: s.set.idleTimer},
	})
	s.Link, s.Greeting.TLS = c, c
	s.tcp.Init(c)
	if err == nil {
		if !c.State().DidResume {
			s.set.frontKeys.Add(s.set.l.Now())
		}
		if !c.HasInput() { // nothing of ours follows the client's last message, and its data may wait until that is acknowledged
			s.Sock.AckNow()
		}
		return true
	}
	s.Greeting.Err = stream.HandshakeError(c, err)
	return false
}

// capture is how much of a hello is kept for a bind line, in bytes. Its lists may stand anywhere in it, so that their size alone would not do.
func capture(t *model.TLSListener) int {
	if t.Capture == 0 {
		return 0
	}
	return max(t.Capture, 4096)
}

// speak puts the protocol on the connection. It is the one place that chooses: by the mode of the frontend, "proto" of the
// bind line and, under TLS, what ALPN has agreed on.
func (s *Session) speak() {
	if !s.HTTP {
		s.tcp.Init(s.Link)
		s.end = &s.tcp
		return
	}
	s.h1.Init(s.set.l, s.Link, h1mux.Server, s.Front.H1, &s.set.h1)
	s.end = &s.h1
}

// idleTimer is after which silence the data of a connection counts as its first again (tune.idletimer).
func idleTimer(t *model.Tune) int64 {
	if t.IdleTimerSet {
		return int64(t.IdleTimer)
	}
	return int64(time.Second)
}
