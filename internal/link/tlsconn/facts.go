package tlsconn

import "crypto/tls"

// facts are what was kept of a handshake.
type facts struct {
	hello, reply []byte
	own          *tls.Certificate
	failure      error
}

func (c *Conn) keep() *facts {
	if c.facts == nil {
		c.facts = new(facts)
	}
	return c.facts
}

// State is what crypto/tls knows.
func (c *Conn) State() tls.ConnectionState { return c.t.ConnectionState() }

// Hello is the beginning of what the client sent, records and all, as far as Options.Capture asked for.
func (c *Conn) Hello() []byte {
	if c.facts == nil {
		return nil
	}
	return c.facts.hello
}

// Reply is the beginning of what the server sent, if Options.Reply asked for it.
func (c *Conn) Reply() []byte {
	if c.facts == nil {
		return nil
	}
	return c.facts.reply
}

// Own is the certificate that the other side was shown.
func (c *Conn) Own() *tls.Certificate {
	if c.facts == nil {
		return nil
	}
	return c.facts.own
}

// Failure is why the handshake failed.
func (c *Conn) Failure() error {
	if c.facts == nil {
		return nil
	}
	return c.facts.failure
}

// Heard tells whether the other side has sent anything.
func (c *Conn) Heard() bool { return c.n.heard }
