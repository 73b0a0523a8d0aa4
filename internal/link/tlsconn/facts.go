package tlsconn

import (
	"bytes"
	"crypto/tls"
)

// facts are what was kept of a handshake.
type facts struct {
	hello, reply []byte
	own          *tls.Certificate
	failure      error
	secrets      []byte // lines of a key log
}

// Write takes lines of a key log.
func (f *facts) Write(p []byte) (int, error) {
	f.secrets = append(f.secrets, p...)
	return len(p), nil
}

// logged has the secrets of the connection kept, if they are wanted.
func (c *Conn) logged(cfg *tls.Config, o *Options) *tls.Config {
	if !o.KeyLog {
		return cfg
	}
	twin := cfg.Clone()
	twin.KeyLogWriter = c.keep()
	if choose := cfg.GetConfigForClient; choose != nil {
		twin.GetConfigForClient = func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			other, err := choose(h)
			if other != nil {
				other = other.Clone()
				other.KeyLogWriter = c.keep()
			}
			return other, err
		}
	}
	return twin
}

// Secret is a secret in hexadecimal by its label in key logs (CLIENT_TRAFFIC_SECRET_0 and so on), nil when it was not kept.
func (c *Conn) Secret(label string) []byte {
	if c.facts == nil {
		return nil
	}
	for line := range bytes.Lines(c.facts.secrets) {
		words := bytes.Fields(line)
		if len(words) == 3 && string(words[0]) == label {
			return words[2]
		}
	}
	return nil
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
