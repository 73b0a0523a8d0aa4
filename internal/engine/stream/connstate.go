package stream

import (
	"net/netip"
	"time"

	"weir/internal/model"
	"weir/internal/rt/sock"
)

// FrontConn describes the client's connection.
func (s *Stream) FrontConn() model.ConnState {
	s.frontState = connState{
		sock: s.c.Sock, since: s.c.AcceptDate, streams: s.c.Exchanges, reused: s.c.Exchanges > 1, moved: s.c.Moved,
		tls: s.c.Greeting.TLS, conf: s.c.Greeting.Secure, header: s.c.Greeting.Values, proxied: s.c.Greeting.Received, err: s.c.Greeting.Err,
	}
	if s.frontState.err == 0 {
		s.frontState.err = model.ConnErrorOf(s.front.Err())
	}
	if s.c.HTTP {
		s.frontState.major = 1
	}
	return &s.frontState
}

// BackConn describes the connection to the server, or the one that was there; nil without one.
func (s *Stream) BackConn() model.ConnState {
	if s.back == nil || s.back.Link == nil {
		if s.gone.sock == nil && s.gone.err == 0 {
			return nil
		}
		return &s.gone
	}
	s.describeBack(&s.backState)
	return &s.backState
}

func (s *Stream) describeBack(c *connState) {
	*c = connState{sock: s.back.Link.Sock(), reused: s.reused, streams: s.back.Uses, err: model.ConnErrorOf(s.back.Err())}
	if s.be.Conf.Mode == model.ModeHTTP {
		c.major = 1
	}
	if t, ok := s.back.Link.(model.TLSConn); ok {
		c.tls = t
	}
}

// leaveBack forgets the connection to the server, but not what logs may want to know of it.
func (s *Stream) leaveBack() {
	if s.back.Link != nil {
		s.describeBack(&s.gone)
	}
	s.back = nil
}

// connState describes one connection.
type connState struct {
	sock    *sock.Conn
	since   time.Time
	streams int
	reused  bool
	major   int    // of HTTP; 0 for TCP
	moved   *Moved // of clients
	tls     model.TLSConn
	conf    *model.TLSListener
	header  []byte
	proxied bool
	err     model.ConnError
}

// Local is our address, as rules of the connection may have changed it.
func (c *connState) Local() netip.AddrPort {
	if c.moved != nil && c.moved.Conn.Dst.IsValid() {
		return c.moved.Conn.Dst
	}
	if c.sock == nil {
		return netip.AddrPort{}
	}
	return unmap(c.sock.Local())
}

// Peer is the other side's address, as rules of the connection may have changed it.
func (c *connState) Peer() netip.AddrPort {
	if c.moved != nil && c.moved.Conn.Src.IsValid() {
		return c.moved.Conn.Src
	}
	if c.sock == nil {
		return netip.AddrPort{}
	}
	return unmap(c.sock.Peer())
}

// TLS is the TLS layer, nil for none.
func (c *connState) TLS() model.TLSConn { return c.tls }

// Under is what the TLS of a client runs under, nil for none.
func (c *connState) Under() *model.TLSListener { return c.conf }

// ProxyHeader is what a PROXY header had besides addresses.
func (c *connState) ProxyHeader() ([]byte, bool) { return c.header, c.proxied }

func (c *connState) HTTPMajor() int      { return c.major }
func (c *connState) Streams() int        { return 1 }
func (c *connState) Reused() bool        { return c.reused }
func (c *connState) ErrCode() int        { return int(c.err) }
func (c *connState) ErrText() string     { return c.err.Text() }
func (c *connState) Accepted() time.Time { return c.since }
func (c *connState) Glitches() int       { return 0 }
func (c *connState) StreamLimit() int    { return 1 }

// SavedSYN is the packet that began the connection.
func (c *connState) SavedSYN() ([]byte, bool) {
	if c.sock == nil {
		return nil, false
	}
	return c.sock.SavedSYN()
}

// TCPInfo asks the kernel.
func (c *connState) TCPInfo() (model.TCPInfo, bool) {
	if c.sock == nil {
		return model.TCPInfo{}, false
	}
	i, ok := c.sock.Info()
	if !ok {
		return model.TCPInfo{}, false
	}
	return model.TCPInfo{
		RTT: int64(i.Rtt), RTTVar: int64(i.Rttvar), Unacked: int64(i.Unacked), Sacked: int64(i.Sacked),
		Lost: int64(i.Lost), Retrans: int64(i.Retrans), Fackets: int64(i.Fackets), Reordering: int64(i.Reordering),
	}, true
}
