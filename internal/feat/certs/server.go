package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"

	"weir/internal/model"
	"weir/internal/wire/tlsname"
)

// ServerConfig makes the configuration of the connections to a server. crt is the file of the certificate that weir presents, host what
// the server's certificate must be for when no name was sent.
func (s *Store) ServerConfig(o *Options, crt, host string) (*tls.Config, []error) {
	c := &tls.Config{InsecureSkipVerify: true} // what is verified stands below
	if err := o.apply(c); err != nil {
		return nil, []error{err}
	}
	var errs []error
	if o.Verify != VerifyNone {
		if o.CAFile == "" {
			return nil, []error{errors.New("'verify required' is the default and needs a 'ca-file'")}
		}
		v, more := s.verifier(o, x509.ExtKeyUsageServerAuth)
		errs = append(errs, more...)
		c.VerifyConnection = func(cs tls.ConnectionState) error { return v.server(&cs, host) }
	}
	if crt != "" {
		cert, err := s.Load(crt)
		if err != nil {
			errs = append(errs, err)
		} else {
			c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return cert.Data().TLS() }
		}
	}
	return c, errs
}

// server holds the certificate of a server against the authorities and against the name that was sent, or host.
func (v *verifier) server(cs *tls.ConnectionState, host string) error {
	if len(cs.PeerCertificates) == 0 {
		return errors.New("the server has no certificate")
	}
	if err := v.failure(v.result(cs.PeerCertificates, time.Now()), true); err != nil {
		return err
	}
	if cs.ServerName != "" {
		host = cs.ServerName
	}
	if host != "" && !matchesHost(cs.PeerCertificates[0], host) {
		return &model.VerifyError{Code: tlsname.HostnameMismatch, Server: true, Name: true, Err: fmt.Errorf("the certificate of the server is not for '%s'", host)}
	}
	return nil
}

// matchesHost reports whether a certificate is for a host: one of its DNS names, or its common name when it has none.
func matchesHost(c *x509.Certificate, host string) bool {
	names := c.DNSNames
	if len(names) == 0 {
		names = []string{c.Subject.CommonName}
	}
	for _, n := range names {
		if matchesName(n, host) {
			return true
		}
	}
	return false
}

// matchesName holds one name of a certificate, which may begin with "*.", against a host.
func matchesName(name, host string) bool {
	if strings.ContainsRune(name, 0) {
		return false
	}
	if rest, ok := strings.CutPrefix(name, "*."); ok {
		_, tail, dotted := strings.Cut(host, ".")
		return dotted && strings.EqualFold(rest, tail)
	}
	return strings.EqualFold(name, host)
}
