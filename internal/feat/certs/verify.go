package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"weir/internal/model"
	"weir/internal/wire/tlsname"
)

// verifier holds chains of certificates against authorities and revocation lists.
type verifier struct {
	roots         []*CAFile
	crl           *crls // nil: nothing is revoked
	usage         x509.ExtKeyUsage
	caIgn, crtIgn Ignored
}

// verifier makes what the peers of a line are verified with; nil when they are not.
func (s *Store) verifier(o *Options, usage x509.ExtKeyUsage) (*verifier, []error) {
	v := &verifier{usage: usage, caIgn: o.CAIgnore, crtIgn: o.CrtIgnore}
	var errs []error
	for _, path := range []string{o.CAFile, o.CAVerifyFile} {
		if path == "" {
			continue
		}
		f, err := s.LoadCA(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		v.roots = append(v.roots, f)
	}
	if o.CRLFile != "" {
		var err error
		if v.crl, err = loadCRLs(o.CRLFile); err != nil {
			errs = append(errs, err)
		}
	}
	return v, errs
}

// pool are the authorities at present.
func (v *verifier) pool() *x509.CertPool {
	if len(v.roots) == 1 {
		return v.roots[0].Data().pool
	}
	pool := x509.NewCertPool()
	for _, f := range v.roots {
		for _, c := range f.Data().Certs {
			pool.AddCert(c)
		}
	}
	return pool
}

// result verifies a chain, the certificate itself first.
func (v *verifier) result(chain []*x509.Certificate, now time.Time) (r model.VerifyResult) {
	if len(chain) == 0 {
		return r
	}
	leaf := chain[0]
	inter := x509.NewCertPool()
	for _, c := range chain[1:] {
		inter.AddCert(c)
	}
	found, err := leaf.Verify(x509.VerifyOptions{Roots: v.pool(), Intermediates: inter, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{v.usage}})
	if err != nil {
		v.judge(&r, err, chain)
		return r
	}
	way := found[0]
	r.Root = way[len(way)-1]
	if v.crl != nil {
		for depth, c := range way[:len(way)-1] {
			if code := v.crl.check(c, way[depth+1], now); code != 0 {
				r.Set(code, depth)
				break
			}
		}
	}
	return r
}

// judge turns an error of crypto/x509 into a number of OpenSSL.
func (v *verifier) judge(r *model.VerifyResult, err error, chain []*x509.Certificate) {
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &invalid):
		depth := 0
		for i, c := range chain {
			if c == invalid.Cert {
				depth = i
			}
		}
		r.Set(codeOf(&invalid), depth)
	case selfSigned(chain[0]) && len(chain) == 1:
		r.Set(tlsname.SelfSigned, 0)
	case selfSigned(chain[len(chain)-1]):
		r.Set(tlsname.SelfSignedChain, len(chain)-1)
	default:
		// The authority that is missing stands above the last certificate that is there.
		r.Set(tlsname.NoLocalIssuer, len(chain)-1)
	}
}

func codeOf(e *x509.CertificateInvalidError) int {
	switch e.Reason {
	case x509.Expired:
		if time.Now().Before(e.Cert.NotBefore) {
			return tlsname.NotYetValid
		}
		return tlsname.HasExpired
	case x509.NotAuthorizedToSign:
		return tlsname.InvalidCA
	case x509.TooManyIntermediates:
		return tlsname.ChainTooLong
	case x509.IncompatibleUsage:
		return tlsname.InvalidPurpose
	case x509.CANotAuthorizedForThisName, x509.TooManyConstraints, x509.NameConstraintsWithoutSANs, x509.UnconstrainedName:
		return tlsname.NotPermitted
	}
	return tlsname.Unspecified
}

func selfSigned(c *x509.Certificate) bool {
	return string(c.RawIssuer) == string(c.RawSubject) && c.CheckSignatureFrom(c) == nil
}

// client says what is wrong with the certificate of a client, nil when it is good or what is wrong does not matter.
func (v *verifier) client(cs *tls.ConnectionState) error {
	return v.failure(v.result(cs.PeerCertificates, time.Now()), false)
}

func (v *verifier) failure(r model.VerifyResult, server bool) error {
	e := &model.VerifyError{Server: server}
	switch {
	case r.CACode != 0 && !v.caIgn.Has(r.CACode):
		e.Code, e.Depth = r.CACode, r.CADepth
	case r.Code != 0 && !v.crtIgn.Has(r.Code):
		e.Code = r.Code
	default:
		return nil
	}
	e.Err = fmt.Errorf("certificate verification failed: %s at depth %d", tlsname.VerifyResult(int64(e.Code)), e.Depth)
	return e
}

// crls are revocation lists by the name of their issuer.
type crls struct {
	lists map[string]*crl
}

type crl struct {
	*x509.RevocationList
	serials map[string]bool
}

// loadCRLs reads the revocation lists of a file of PEM.
func loadCRLs(path string) (*crls, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the revocation lists '%s': %w", path, err)
	}
	x := &crls{lists: make(map[string]*crl)}
	for _, der := range pemBlocks(text, "X509 CRL") {
		list, err := x509.ParseRevocationList(der)
		if err != nil {
			return nil, fmt.Errorf("the revocation lists '%s' cannot be used: %w", path, err)
		}
		one := &crl{list, make(map[string]bool, len(list.RevokedCertificateEntries))}
		for i := range list.RevokedCertificateEntries {
			one.serials[string(list.RevokedCertificateEntries[i].SerialNumber.Bytes())] = true
		}
		x.lists[string(list.RawIssuer)] = one
	}
	if len(x.lists) == 0 {
		return nil, fmt.Errorf("there is no revocation list in '%s' (BEGIN X509 CRL)", path)
	}
	return x, nil
}

// check looks a certificate up in the list of its issuer, which must be there.
func (x *crls) check(c, issuer *x509.Certificate, now time.Time) int {
	list := x.lists[string(c.RawIssuer)]
	switch {
	case list == nil || list.CheckSignatureFrom(issuer) != nil:
		return tlsname.NoCRL
	case !list.NextUpdate.IsZero() && now.After(list.NextUpdate):
		return tlsname.CRLHasExpired
	case list.serials[string(c.SerialNumber.Bytes())]:
		return tlsname.Revoked
	}
	return 0
}
