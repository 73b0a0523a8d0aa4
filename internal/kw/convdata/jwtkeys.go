package convdata

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"

	"weir/internal/lang/config"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

// Certificate is what the converters need to know of a certificate.
type Certificate struct {
	Public  crypto.PublicKey
	Private crypto.PrivateKey // nil without one
	NoJWT   bool              // it may not be used for tokens ("jwt off")
}

// CertStore gives certificates by name: a file or "@store/name". Its methods are called by all loops.
type CertStore interface {
	JWTCertificate(name string) (c Certificate, known bool)
}

// Certificates is where a configuration has its store of certificates, if it has one. Those that jwt_verify_cert names by a file are known
// without it.
var Certificates = &model.SlotKey[CertStore]{Name: "certificates for tokens"}

// keyring holds the keys that the expressions of a configuration have named. It is filled while the configuration is read and only looked up
// afterwards: variables can name what is in it.
type keyring struct {
	cfg    *model.Config // nil: an expression without a configuration
	public map[string]*publicKey
	certs  map[string]*Certificate
}

var keyringOf = &model.SlotKey[*keyring]{Name: "keys for tokens"}

// ringOf returns the keyring of the configuration that sc belongs to.
func ringOf(sc *sample.Scope) *keyring {
	cfg := sc.Config()
	if cfg != nil {
		if r := keyringOf.Get(&cfg.Slots); r != nil {
			return r
		}
	}
	r := &keyring{cfg: cfg, public: map[string]*publicKey{}, certs: map[string]*Certificate{}}
	if cfg != nil {
		keyringOf.Set(&cfg.Slots, r)
	}
	return r
}

// addPublic reads the public key of a file unless it is known.
func (r *keyring) addPublic(sc *sample.Scope, name string) (*publicKey, error) {
	if k := r.public[name]; k != nil {
		return k, nil
	}
	text, err := readKeyFile(sc.Path(name))
	if err != nil {
		return nil, err
	}
	k, err := parsePublicKey(text)
	if err != nil {
		return nil, fmt.Errorf("'%s': %w", name, err)
	}
	r.public[name] = k
	return k, nil
}

// cert returns a certificate by its name.
func (r *keyring) cert(name []byte) (c Certificate, known bool) {
	if r.cfg != nil {
		if s := Certificates.Get(&r.cfg.Slots); s != nil {
			if c, known = s.JWTCertificate(string(name)); known {
				return c, true
			}
		}
	}
	if own := r.certs[string(name)]; own != nil {
		return *own, true
	}
	return c, false
}

// needCert reports a certificate that does not exist when all of the configuration is read.
func (r *keyring) needCert(sc *sample.Scope, name string) error {
	return sc.Defer(func(*model.Config) error {
		if _, known := r.cert([]byte(name)); !known {
			return fmt.Errorf("certificate '%s' is not loaded", name)
		}
		return nil
	})
}

// addCert reads the certificate of a file, and the key that stands in it or in a file beside it, unless it is known.
func (r *keyring) addCert(sc *sample.Scope, name string) error {
	if strings.HasPrefix(name, "@") {
		return r.needCert(sc, name)
	}
	if _, known := r.cert([]byte(name)); known {
		return nil
	}
	path := sc.Path(name)
	text, err := readKeyFile(path)
	if err != nil {
		return err
	}
	c, err := parseCertificate(text)
	if err != nil {
		return fmt.Errorf("'%s': %w", name, err)
	}
	if c.Private == nil {
		if text, err := readKeyFile(path + ".key"); err == nil {
			if c.Private, err = parsePrivateKey(text); err != nil {
				return fmt.Errorf("'%s.key': %w", name, err)
			}
		}
	}
	r.certs[name] = c
	return nil
}

// maxKeyFile bounds what is read of a file, in bytes.
const maxKeyFile = 1 << 20

// readKeyFile reads a regular file.
func readKeyFile(path string) ([]byte, error) {
	if path == "" {
		return nil, errors.New("the name of a file is missing")
	}
	text, err := config.ReadFile(path, maxKeyFile)
	if err != nil {
		return nil, plainError(path, err)
	}
	return text, nil
}

func plainError(path string, err error) error {
	if e := new(os.PathError); errors.As(err, &e) {
		err = e.Err
	}
	return fmt.Errorf("cannot read '%s': %w", path, err)
}

// publicKey is a key that verifies signatures.
type publicKey struct {
	rsa   *rsa.PublicKey
	ecdsa *ecdsa.PublicKey // neither: a key of a kind that no algorithm of RFC 7518 uses
	pss   bool             // an RSA key for PSS signatures only
}

// minRSA is the smallest RSA key that is accepted, in bits.
const minRSA = 1024

func newPublicKey(pub crypto.PublicKey, pss bool) (*publicKey, error) {
	switch k := pub.(type) {
	case *rsa.PublicKey:
		if k.N.BitLen() < minRSA {
			return nil, fmt.Errorf("an RSA key of %d bits is too short; %d are the least", k.N.BitLen(), minRSA)
		}
		return &publicKey{rsa: k, pss: pss}, nil
	case *ecdsa.PublicKey:
		return &publicKey{ecdsa: k}, nil
	case ed25519.PublicKey:
		return new(publicKey), nil
	}
	return nil, fmt.Errorf("a key of type %T cannot verify tokens", pub)
}

// parsePublicKey reads the first public key of a PEM text.
func parsePublicKey(text []byte) (*publicKey, error) {
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			return nil, errors.New("there is no public key in PEM format in it (BEGIN PUBLIC KEY or BEGIN RSA PUBLIC KEY)")
		}
		switch block.Type {
		case "RSA PUBLIC KEY":
			k, err := x509.ParsePKCS1PublicKey(block.Bytes)
			if err != nil {
				return nil, err
			}
			return newPublicKey(k, false)
		case "PUBLIC KEY":
			if k := parsePSSKey(block.Bytes); k != nil {
				return newPublicKey(k, true)
			}
			k, err := x509.ParsePKIXPublicKey(block.Bytes)
			if err != nil {
				return nil, err
			}
			return newPublicKey(k, false)
		}
		text = rest
	}
}

// oidPSS marks RSA keys for PSS signatures (RFC 4055, 3.1), which crypto/x509 does not read.
var oidPSS = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 10}

// parsePSSKey reads such a key; nil when it is another one.
func parsePSSKey(der []byte) *rsa.PublicKey {
	var info struct {
		Algorithm pkix.AlgorithmIdentifier
		Key       asn1.BitString
	}
	if rest, err := asn1.Unmarshal(der, &info); err != nil || len(rest) > 0 || !info.Algorithm.Algorithm.Equal(oidPSS) {
		return nil
	}
	k, err := x509.ParsePKCS1PublicKey(info.Key.RightAlign())
	if err != nil {
		return nil
	}
	return k
}

// parseCertificate reads the first certificate of a PEM text, and the first private key if there is one.
func parseCertificate(text []byte) (*Certificate, error) {
	for rest := text; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil, errors.New("there is no certificate in PEM format in it (BEGIN CERTIFICATE)")
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		if _, err := newPublicKey(cert.PublicKey, false); err != nil {
			return nil, err
		}
		c := &Certificate{Public: cert.PublicKey}
		if c.Private, err = parsePrivateKey(text); errors.Is(err, errNoPrivate) {
			err = nil
		}
		return c, err
	}
}

var errNoPrivate = errors.New("there is no private key in PEM format in it")

// parsePrivateKey reads the first private key of a PEM text.
func parsePrivateKey(text []byte) (crypto.PrivateKey, error) {
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			return nil, errNoPrivate
		}
		switch block.Type {
		case "PRIVATE KEY":
			return x509.ParsePKCS8PrivateKey(block.Bytes)
		case "RSA PRIVATE KEY":
			return x509.ParsePKCS1PrivateKey(block.Bytes)
		case "EC PRIVATE KEY":
			return x509.ParseECPrivateKey(block.Bytes)
		}
		text = rest
	}
}
