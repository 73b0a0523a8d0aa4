package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"weir/internal/link/tlsconn"
	"weir/internal/model"
)

// Listener is the TLS side of a bind line. Handshakes only read it.
type Listener struct {
	strict bool
	base   *settings
	index
	names map[string]string // names of certificates in the store, by the certificate itself
}

// settings are options made ready for handshakes.
type settings struct {
	config *tls.Config
	verify *verifier // nil: no certificate is asked for
}

// Entry is one certificate of a listener.
type Entry struct {
	Cert    *Cert
	Default bool     // chosen when no name fits
	Filters []string // names instead of those of the certificate: "name", "*.name", "!name", "*"
	Options *Options // of its own; nil: those of the line
}

// ListenerOptions are what concerns a whole bind line.
type ListenerOptions struct {
	Options
	StrictSNI bool // strict-sni: no certificate without a name that it is for
}

// NewListener makes the TLS side of a bind line. The errors say what cannot be done.
func (s *Store) NewListener(o *ListenerOptions, entries []Entry) (*Listener, []error) {
	l := &Listener{strict: o.StrictSNI, names: make(map[string]string)}
	l.exact, l.wild = make(map[string]choice), make(map[string]choice)
	var errs []error
	if l.base, errs = s.settings(l, &o.Options); len(errs) > 0 {
		return nil, errs
	}
	for i := range entries {
		e := &entries[i]
		site := &site{cert: e.Cert, settings: l.base}
		if e.Options != nil {
			own := *e.Options
			own.Inherit(&o.Options)
			set, more := s.settings(l, &own)
			errs = append(errs, more...)
			site.settings = set
		}
		l.add(site, e, i == 0)
		l.names[string(e.Cert.Data().Chain[0])] = e.Cert.Name
	}
	return l, errs
}

// Model is what handshakes run under.
func (l *Listener) Model() *model.TLSListener {
	m := &model.TLSListener{
		Config: &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			if site := l.choose(hello, l.strict); site != nil {
				return site.settings.config, nil
			}
			return l.base.config, nil
		}},
		CertName: func(c *tls.Certificate) string {
			if c == nil || len(c.Certificate) == 0 {
				return ""
			}
			return l.names[string(c.Certificate[0])]
		},
	}
	if v := l.base.verify; v != nil {
		m.Verify = func(cs *tls.ConnectionState) model.VerifyResult { return v.result(cs.PeerCertificates, time.Now()) }
	}
	return m
}

// settings makes options ready.
func (s *Store) settings(l *Listener, o *Options) (*settings, []error) {
	c := &tls.Config{GetCertificate: l.certificate}
	set := &settings{config: c}
	if err := o.apply(c); err != nil {
		return nil, []error{err}
	}
	if o.Verify != VerifyOptional && o.Verify != VerifyRequired {
		return set, nil
	}
	if o.CAFile == "" && o.CAVerifyFile == "" {
		return nil, []error{fmt.Errorf("'verify %s' needs a 'ca-file'", verifyNames[o.Verify-VerifyNone])}
	}
	v, errs := s.verifier(o, x509.ExtKeyUsageClientAuth)
	if len(errs) > 0 {
		return nil, errs
	}
	// crypto/tls asks for the certificate, the verifier judges it: it knows the errors that do not matter.
	c.ClientAuth = tls.RequestClientCert
	if o.Verify == VerifyRequired {
		c.ClientAuth = tls.RequireAnyClientCert
	}
	if o.CAFile != "" && !o.NoCANames {
		c.ClientCAs = v.roots[0].Data().pool // the names that clients are told
	}
	set.verify = v
	c.VerifyConnection = func(cs tls.ConnectionState) error {
		if len(cs.PeerCertificates) == 0 {
			return nil // crypto/tls has refused that where one is required
		}
		return v.client(&cs)
	}
	return set, nil
}

var errNoName = errors.New("no certificate is for the name that the client asks for")

// certificate chooses the certificate of a handshake.
func (l *Listener) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	site := l.choose(hello, l.strict)
	if site == nil {
		return nil, errNoName
	}
	cert, err := site.cert.Data().TLS()
	if err != nil {
		return nil, err
	}
	return tlsconn.ForHandshake(hello, cert), nil
}

// site is a certificate with what a handshake that chooses it runs under.
type site struct {
	cert     *Cert
	settings *settings
	not      []string // names that its wildcards are not for
}

// index finds certificates by the name that a client asks for.
type index struct {
	exact, wild map[string]choice
	defaults    choice
}

// choice is a certificate of each kind of key.
type choice [Other + 1]*site

func (c *choice) put(s *site) {
	if k := s.cert.Data().Kind; c[k] == nil {
		c[k] = s
	}
}

// add enters a certificate under its names; the first one of all is a default.
func (x *index) add(s *site, e *Entry, first bool) {
	names := e.Filters
	if len(names) == 0 {
		names = e.Cert.Data().Names
	}
	if e.Default || first || slices.Contains(names, "*") {
		x.defaults.put(s)
	}
	for _, n := range names {
		n = strings.ToLower(n)
		if not, ok := strings.CutPrefix(n, "!"); ok {
			s.not = append(s.not, not)
			continue
		}
		if n == "*" {
			continue
		}
		m := x.exact
		if rest, ok := strings.CutPrefix(n, "*"); ok {
			m, n = x.wild, rest
		}
		ch := m[n]
		ch.put(s)
		m[n] = ch
	}
}

// choose finds the certificate for a client.
func (x *index) choose(hello *tls.ClientHelloInfo, strict bool) *site {
	name := strings.ToLower(hello.ServerName)
	if name != "" {
		if ch, ok := x.exact[name]; ok {
			return ch.pick(hello, "")
		}
		if i := strings.IndexByte(name, '.'); i >= 0 {
			if ch, ok := x.wild[name[i:]]; ok {
				if s := ch.pick(hello, name); s != nil {
					return s
				}
			}
		}
	}
	if strict {
		return nil
	}
	return x.defaults.pick(hello, "")
}

// pick takes an ECDSA certificate when the client can verify it. Those that are not for name do not count.
func (c *choice) pick(hello *tls.ClientHelloInfo, name string) *site {
	for k, s := range c {
		if s != nil && name != "" && slices.Contains(s.not, name) {
			c[k] = nil // c is a copy
		}
	}
	if c[ECDSA] != nil && (c[RSA] == nil || takesECDSA(hello)) {
		return c[ECDSA]
	}
	if c[RSA] != nil {
		return c[RSA]
	}
	return c[Other]
}

// takesECDSA reports whether a client can verify ECDSA signatures.
func takesECDSA(hello *tls.ClientHelloInfo) bool {
	for _, s := range hello.SignatureSchemes {
		switch s {
		case tls.ECDSAWithP256AndSHA256, tls.ECDSAWithP384AndSHA384, tls.ECDSAWithP521AndSHA512, tls.ECDSAWithSHA1:
			return true
		}
	}
	return false
}
