package server

import "net/netip"

// maxPrivate is the number of resting connections that one session may keep for itself.
const maxPrivate = 5

// PrivateConns are the resting server connections of one client session, which no other session may use (http-reuse
// never, or a server that authenticates connections). The zero value is empty.
type PrivateConns struct {
	conns []*Conn // the one that rested longest first
}

// Keep keeps c, and closes the connection that rested longest when there are too many. A connection that the server
// closes leaves by itself.
func (p *PrivateConns) Keep(c *Conn) {
	if len(p.conns) == maxPrivate {
		oldest := p.conns[0]
		p.remove(oldest)
		oldest.CloseConn(false)
	}
	p.conns = append(p.conns, c)
	c.private = p
	c.SetIdle(c.onGone)
}

// Take returns the connection to s between source and dest that began with key and was used last, or nil.
func (p *PrivateConns) Take(s *Server, source, dest netip.AddrPort, key []byte) *Conn {
	for i := len(p.conns) - 1; i >= 0; i-- {
		c := p.conns[i]
		if c.Srv != s || c.Source != source || c.Dest != dest || c.Key != string(key) {
			continue
		}
		p.remove(c)
		if !c.InputClosed() && !c.HeadStarted() && c.current() {
			return c
		}
		c.CloseConn(false)
	}
	return nil
}

// Close closes all of them.
func (p *PrivateConns) Close() {
	for len(p.conns) > 0 {
		c := p.conns[len(p.conns)-1]
		p.remove(c)
		c.CloseConn(false)
	}
}

func (p *PrivateConns) remove(c *Conn) {
	for i, other := range p.conns {
		if other == c {
			copy(p.conns[i:], p.conns[i+1:])
			p.conns[len(p.conns)-1] = nil
			p.conns = p.conns[:len(p.conns)-1]
			break
		}
	}
	c.private = nil
}
