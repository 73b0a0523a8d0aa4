package stream

import (
	"errors"
	"io"
	"net/netip"
	"syscall"

	"weir/internal/base/buf"
	"weir/internal/engine/server"
	"weir/internal/link/conn"
	"weir/internal/link/tlsconn"
	"weir/internal/model"
	"weir/internal/rt/sock"
	"weir/internal/wire/proxyproto"
)

// identify works out what the stream's connection to its server says before the protocol begins: the name that TLS asks
// for and the PROXY header. Only connections that have said the same can be used again.
func (s *Stream) identify() {
	s.key, s.name = s.key[:0], 0
	conf := s.srv.Conf
	if conf.TLS == nil && conf.PoolName == nil && !conf.SendProxy.Active() {
		return
	}
	dir, final := s.tx.Dir, s.tx.Final
	s.tx.Dir, s.tx.Final = model.DirReq, true
	mark := s.tx.Scratch.Mark()
	s.sni = s.sni[:0]
	if conf.TLS != nil && conf.TLS.SNI != nil {
		s.sni = s.evaluate(s.sni, conf.TLS.SNI)
	}
	if conf.PoolName != nil {
		s.key = s.evaluate(s.key, conf.PoolName)
	} else {
		s.key = append(s.key, s.sni...)
	}
	s.name = len(s.key)
	if conf.SendProxy.Active() {
		s.key = s.appendProxy(s.key)
	}
	s.tx.Scratch.Release(mark)
	s.tx.Dir, s.tx.Final = dir, final
}

// evaluate appends the text of an expression.
func (s *Stream) evaluate(dst []byte, e model.Evaluator) []byte {
	v := s.tx.Value()
	defer s.tx.Done()
	if e.Eval(&s.tx, v) {
		dst = append(dst, v.B...)
	}
	return dst
}

// dial opens a connection. It returns 0, or who is to blame: 'S' refused, 's' timed out, 'C' the client left, 'R' a
// lack of resources.
func (s *Stream) dial() byte {
	o := s.srv.Connect
	o.Addr = s.srv.Addr()
	dest := s.dest()
	if s.srv.MapAddr || s.srv.MapPorts {
		o.Addr = dest
	}
	src := s.source()
	if src.IsValid() {
		o.Source, o.Transparent = src, true
	}
	limit := s.Timeout(model.TimeoutConnect)
	deadline := after(s.l.Now(), limit)
	if !s.srv.MayOpen(s.l) {
		return 'S'
	}
	s.srvStats().Connects.Add(1)
	s.beStats().Connects.Add(1)
	s.gone = connState{}
	to := o.Addr
	if s.srv.Conf.HasSocks4 {
		p := &s.srv.Conf.Socks4
		o.Addr = netip.AddrPortFrom(p.IP, uint16(p.Port))
	}
	c, err := sock.Connect(s.l, o)
	if err != nil {
		s.gone.err = model.ConnErrorOf(err)
		return lacking(err)
	}
	c.SetOwner(s.f)
	s.front.Watch()
	for c.Connecting() {
		if s.clientGone() {
			c.Abort()
			return 'C'
		}
		if !s.f.Park(deadline) && s.l.Now() >= deadline && c.Connecting() {
			c.Abort()
			return 's'
		}
	}
	if err := c.Err(); err != nil {
		s.gone = connState{err: model.ConnErrorOf(err)}
		c.Abort()
		return lacking(err)
	}
	link, fault := s.establish(c, to, deadline)
	if fault != 0 {
		return fault
	}
	s.back = &server.Conn{End: s.sh.NewServerEnd(s.be, link), Link: link, Source: src, Dest: dest, Key: string(s.key)}
	if s.srv.Conf.TLS != nil {
		s.back.Closed = s.sh.GiveTLS
	}
	s.back.Opened(s.l, s.srv)
	s.back.SetOwner(s.f)
	s.reused = false
	return 0
}

func lacking(err error) byte {
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRNOTAVAIL, syscall.EAGAIN} {
		if errors.Is(err, e) {
			return 'R'
		}
	}
	return 'S'
}

// establish does what comes before the protocol on a new connection: SOCKS4, the PROXY header and TLS. It returns who is to blame,
// and closes the connection, when that fails.
func (s *Stream) establish(c *sock.Conn, to netip.AddrPort, deadline int64) (conn.Conn, byte) {
	s.gone = connState{sock: c}
	if s.srv.Conf.HasSocks4 {
		if fault := s.socks4(c, to, deadline); fault != 0 {
			c.Abort()
			return nil, fault
		}
	}
	for header := s.key[s.name:]; len(header) > 0; {
		b := s.l.Pool().GetReserve(buf.Std)
		if b == nil {
			c.Abort()
			return nil, 'R'
		}
		header = header[b.Append(header):]
		c.Send(b)
	}
	if s.srv.Conf.TLS == nil {
		return c, 0
	}
	if !s.sh.TakeTLS() {
		s.gone.err = model.TLSTooMany
		c.Abort()
		return nil, 'R'
	}
	ready := false
	defer func() {
		if !ready {
			s.sh.GiveTLS()
		}
	}()
	s.f.SetLabel("TLS to a server")
	defer s.f.SetLabel("stream")
	t, err := tlsconn.Client(s.f, c, s.srv.TLSConfig(s.l, s.sni), &tlsconn.Options{Deadline: deadline, Reply: true, KeyLog: s.srv.Conf.TLS.KeyLog, Check: s.stillWanted})
	s.gone.tls = t
	if ready = err == nil; ready {
		if !t.State().DidResume {
			s.sh.Keys.Add(s.l.Now())
		}
		return t, 0
	}
	defer t.Close()
	switch {
	case errors.Is(err, errLeft):
		return nil, 'C'
	case err == tlsconn.ErrTimeout:
		s.gone = connState{}
		return nil, 's'
	}
	s.gone.err = HandshakeError(t, err)
	return nil, 'S'
}

var errLeft = errors.New("the client left")

// stillWanted fails when the client does not wait for the connection any more.
func (s *Stream) stillWanted() error {
	if s.clientGone() {
		return errLeft
	}
	return nil
}

// socks4 asks the SOCKS4 proxy at the other end to connect to an address.
func (s *Stream) socks4(c *sock.Conn, to netip.AddrPort, deadline int64) byte {
	b := s.l.Pool().GetReserve(buf.Small)
	if b == nil {
		return 'R'
	}
	var room [32]byte
	request, ok := proxyproto.AppendSocks4(room[:0], to, "HAProxy")
	if !ok {
		b.Release()
		s.gone.err = model.ConnSockError
		return 'S'
	}
	b.Append(request)
	c.Send(b)
	var answer [proxyproto.Socks4Answer]byte
	for n := 0; n < len(answer); {
		b, err := c.Recv(buf.Std)
		switch {
		case b != nil:
			k := copy(answer[n:], b.Bytes())
			n += k
			b.R += k
			c.Unread(b)
			continue
		case err == io.EOF:
			s.gone.err = model.Socks4Recv
			return 'S'
		case err != nil:
			s.gone.err = model.ConnErrorOf(err)
			return 'S'
		case s.clientGone():
			return 'C'
		}
		if !s.f.Park(deadline) && s.l.Now() >= deadline {
			s.gone = connState{}
			return 's'
		}
	}
	if !proxyproto.Socks4Granted(answer[:]) {
		s.gone.err = model.Socks4Deny
		return 'S'
	}
	return 0
}

// HandshakeError is the reference's name of why a TLS handshake failed.
func HandshakeError(c *tlsconn.Conn, err error) model.ConnError {
	switch {
	case err == tlsconn.ErrTimeout:
		return model.TLSTimeout
	case c.Sock().Err() != nil:
		return model.TLSAbort
	case err == tlsconn.ErrClosed:
		return model.TLSEmpty
	}
	var v *model.VerifyError
	switch {
	case !errors.As(err, &v):
		return model.TLSHandshake
	case v.Name && c.State().ServerName != "":
		return model.TLSMismatchSNI
	case v.Name:
		return model.TLSMismatch
	case v.Server:
		return model.TLSHandshake
	case v.Depth > 0:
		return model.TLSCAFail
	}
	return model.TLSCertFail
}
