package certs

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
)

// Kind is the kind of a key: what a client must be able to verify.
type Kind uint8

// Kinds of keys.
const (
	RSA Kind = iota
	ECDSA
	Other // Ed25519
)

// Cert is a certificate with its key by the name that it has in the store. What is in it may be replaced at run time.
type Cert struct {
	Name string
	data atomic.Pointer[Data]
}

// Data returns what the certificate is at present.
func (c *Cert) Data() *Data { return c.data.Load() }

// Data is a certificate, its chain and its key. It is read-only.
type Data struct {
	Chain [][]byte // DER, the certificate first
	Names []string // the names that it is for, in lower case: its common name and the DNS names
	Kind  Kind

	key keyBlock // of no type: there is none

	once sync.Once
	cert *tls.Certificate
	err  error
}

// keyBlock is a private key as it stands in a file.
type keyBlock struct {
	kind string // the type of the PEM block
	der  []byte
}

func (k keyBlock) parse() (crypto.Signer, error) {
	var key any
	var err error
	switch k.kind {
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(k.der)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(k.der)
	default:
		key, err = x509.ParsePKCS8PrivateKey(k.der)
	}
	if err != nil {
		return nil, err
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, errors.New("it is of a kind that cannot sign")
	}
	return signer, nil
}

// TLS returns the certificate as crypto/tls wants it. It is parsed at the first call.
func (d *Data) TLS() (*tls.Certificate, error) {
	d.once.Do(func() {
		leaf, err := x509.ParseCertificate(d.Chain[0])
		if err != nil {
			d.err = err
			return
		}
		key, err := d.key.parse()
		if err != nil {
			d.err = err
			return
		}
		d.cert = &tls.Certificate{Certificate: d.Chain, PrivateKey: key, Leaf: leaf}
	})
	return d.cert, d.err
}

// parsed is what one PEM file holds.
type parsed struct {
	certs [][]byte
	key   keyBlock
}

// parsePEM takes a file apart: certificates in their order, the first private key.
func parsePEM(text []byte) (parsed, error) {
	var p parsed
	for {
		var b *pem.Block
		if b, text = pem.Decode(text); b == nil {
			return p, nil
		}
		switch {
		case b.Type == "CERTIFICATE" || b.Type == "X509 CERTIFICATE" || b.Type == "TRUSTED CERTIFICATE":
			p.certs = append(p.certs, b.Bytes)
		case b.Type == "ENCRYPTED PRIVATE KEY" || strings.HasSuffix(b.Type, "PRIVATE KEY") && b.Headers["DEK-Info"] != "":
			return p, errors.New("its private key is encrypted, and there is nothing to decrypt it with")
		case strings.HasSuffix(b.Type, "PRIVATE KEY") && p.key.kind == "":
			p.key = keyBlock{b.Type, b.Bytes}
		}
	}
}

// pemBlocks are the blocks of a type.
func pemBlocks(text []byte, kind string) (list [][]byte) {
	for {
		var b *pem.Block
		if b, text = pem.Decode(text); b == nil {
			return list
		}
		if b.Type == kind {
			list = append(list, b.Bytes)
		}
	}
}

// kindOf tells the kind of a public key.
func kindOf(pub any) (Kind, error) {
	switch pub.(type) {
	case *rsa.PublicKey:
		return RSA, nil
	case *ecdsa.PublicKey:
		return ECDSA, nil
	case ed25519.PublicKey:
		return Other, nil
	}
	return 0, errors.New("its key is of a kind that TLS cannot use in weir")
}

// newData checks what was read and puts it together.
func newData(p parsed) (*Data, error) {
	if len(p.certs) == 0 {
		return nil, errors.New("there is no certificate in it (BEGIN CERTIFICATE)")
	}
	leaf, err := x509.ParseCertificate(p.certs[0])
	if err != nil {
		return nil, fmt.Errorf("its certificate cannot be read: %w", err)
	}
	d := &Data{Chain: p.certs, key: p.key, Names: namesOf(leaf)}
	if d.Kind, err = kindOf(leaf.PublicKey); err != nil {
		return nil, err
	}
	if p.key.kind == "" {
		return nil, errNoKey
	}
	return d, d.checkKey(leaf)
}

var errNoKey = errors.New("there is no private key in it (BEGIN PRIVATE KEY), nor in a file of that name with .key behind it")

// checkKey reports a key that belongs to another certificate.
func (d *Data) checkKey(leaf *x509.Certificate) error {
	key, err := d.key.parse()
	if err != nil {
		return fmt.Errorf("its private key cannot be read: %w", err)
	}
	pub, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !pub.Equal(leaf.PublicKey) {
		return errors.New("the private key belongs to another certificate")
	}
	return nil
}

// namesOf lists the names that a certificate is for.
func namesOf(c *x509.Certificate) []string {
	names := make([]string, 0, len(c.DNSNames)+1)
	add := func(n string) {
		if n = strings.ToLower(n); n == "" {
			return
		}
		for _, have := range names {
			if have == n {
				return
			}
		}
		names = append(names, n)
	}
	for _, n := range c.DNSNames {
		add(n)
	}
	add(c.Subject.CommonName)
	return names
}
