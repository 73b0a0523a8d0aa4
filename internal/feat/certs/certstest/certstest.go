// Package certstest makes certificates for tests.
package certstest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Pair is a certificate with its key.
type Pair struct {
	Cert *x509.Certificate
	Key  crypto.Signer
}

// Spec is what a certificate says. The zero value is a leaf for no name with an ECDSA key, valid for a day.
type Spec struct {
	CN     string
	Names  []string
	RSA    bool
	Ed     bool
	CA     bool
	From   time.Time
	Until  time.Time
	Usages []x509.ExtKeyUsage
	OCSP   []string // URLs
	Edit   func(*x509.Certificate)
}

var serial = big.NewInt(time.Now().UnixNano())

// New makes a certificate that by signed; nil: itself.
func New(t testing.TB, s Spec, by *Pair) *Pair {
	t.Helper()
	key := newKey(t, s)
	c := &x509.Certificate{
		SerialNumber: new(big.Int).Set(serial.Add(serial, big.NewInt(1))),
		Subject:      pkix.Name{CommonName: s.CN},
		DNSNames:     s.Names,
		NotBefore:    s.From, NotAfter: s.Until,
		ExtKeyUsage: s.Usages,
		OCSPServer:  s.OCSP,
		KeyUsage:    x509.KeyUsageDigitalSignature,
	}
	if c.NotBefore.IsZero() {
		c.NotBefore = time.Now().Add(-time.Hour)
	}
	if c.NotAfter.IsZero() {
		c.NotAfter = time.Now().Add(24 * time.Hour)
	}
	if s.CA {
		c.IsCA, c.BasicConstraintsValid, c.KeyUsage = true, true, x509.KeyUsageCertSign|x509.KeyUsageCRLSign|x509.KeyUsageDigitalSignature
	}
	if s.Edit != nil {
		s.Edit(c)
	}
	parent, signer := c, key
	if by != nil {
		parent, signer = by.Cert, by.Key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &Pair{cert, key}
}

func newKey(t testing.TB, s Spec) crypto.Signer {
	t.Helper()
	var key crypto.Signer
	var err error
	switch {
	case s.RSA:
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	case s.Ed:
		_, key, err = ed25519.GenerateKey(rand.Reader)
	default:
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// CertPEM is the certificate as text.
func (p *Pair) CertPEM() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Cert.Raw}))
}

// KeyPEM is the key as text.
func (p *Pair) KeyPEM(t testing.TB) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(p.Key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// PEM is the certificate, those above it, and the key.
func (p *Pair) PEM(t testing.TB, chain ...*Pair) string {
	t.Helper()
	text := p.CertPEM()
	for _, c := range chain {
		text += c.CertPEM()
	}
	return text + p.KeyPEM(t)
}

// Write writes a file below dir and returns its path.
func Write(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
