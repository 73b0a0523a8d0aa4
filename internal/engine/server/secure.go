package server

import (
	"crypto/tls"

	"weir/internal/rt/loop"
)

// sessions is how many TLS sessions with a server are kept for resumption: one for each name that is asked for.
const sessions = 64

// named is the configuration for the name that a loop asked for last.
type named struct {
	name   string
	config *tls.Config
	_      [40]byte
}

func (s *Server) initTLS(n int) {
	t := s.Conf.TLS
	if t == nil {
		return
	}
	s.tls, s.names = t.Config.Clone(), make([]named, n)
	switch {
	case t.NoReuse:
		s.tls.ClientSessionCache = nil
	case s.tls.ClientSessionCache == nil:
		s.tls.ClientSessionCache = tls.NewLRUClientSessionCache(sessions)
	}
}

// TLSConfig is what a handshake on loop l runs under that asks for a name, which may be empty.
func (s *Server) TLSConfig(l *loop.Loop, name []byte) *tls.Config {
	if len(name) == 0 {
		return s.tls
	}
	c := &s.names[l.ID()]
	if c.config == nil || c.name != string(name) {
		c.name, c.config = string(name), s.tls.Clone()
		c.config.ServerName = c.name
	}
	return c.config
}
