package tlsconn

import (
	"crypto"
	"crypto/rsa"
	"crypto/tls"
	"errors"
	"io"

	"weir/internal/rt/loop"
)

// ForHandshake returns cert for the handshake that hello belongs to: with a key that signs while the fiber waits, where
// that takes long (RSA), and as it is otherwise. It is what GetCertificate of a server's tls.Config has to end with; it
// also notes which certificate the client was shown. A hello of somebody else's connection changes nothing.
func ForHandshake(hello *tls.ClientHelloInfo, cert *tls.Certificate) *tls.Certificate {
	n, ok := hello.Conn.(*wire)
	if !ok || cert == nil {
		return cert
	}
	if c, ok := n.User().(*Conn); ok {
		c.keep().own = cert
	}
	return elsewhere(n.Fiber(), cert)
}

// elsewhere gives an RSA certificate a key that works while f waits.
func elsewhere(f *loop.Fiber, cert *tls.Certificate) *tls.Certificate {
	if f == nil {
		return cert
	}
	signer, ok := cert.PrivateKey.(crypto.Signer)
	if !ok {
		return cert
	}
	if _, ok := signer.Public().(*rsa.PublicKey); !ok {
		return cert
	}
	twin := *cert
	twin.PrivateKey = &slowKey{f: f, key: signer}
	return &twin
}

// slowKey is a private key whose work is done by another goroutine while the fiber waits. It serves one handshake.
type slowKey struct {
	f   *loop.Fiber
	key crypto.Signer
}

// Public is the public half.
func (k *slowKey) Public() crypto.PublicKey { return k.key.Public() }

// Sign signs elsewhere.
func (k *slowKey) Sign(rand io.Reader, digest []byte, opts crypto.SignerOpts) (sig []byte, err error) {
	k.f.Offload(func() { sig, err = k.key.Sign(rand, digest, opts) })
	return sig, err
}

// Decrypt deciphers elsewhere, for the RSA key exchange of old clients.
func (k *slowKey) Decrypt(rand io.Reader, text []byte, opts crypto.DecrypterOpts) (plain []byte, err error) {
	d, ok := k.key.(crypto.Decrypter)
	if !ok {
		return nil, errors.New("the private key cannot decipher")
	}
	k.f.Offload(func() { plain, err = d.Decrypt(rand, text, opts) })
	return plain, err
}

// clientConfig lets the keys of client certificates work elsewhere.
func (c *Conn) clientConfig(cfg *tls.Config) *tls.Config {
	if cfg.GetClientCertificate == nil && len(cfg.Certificates) == 0 {
		return cfg
	}
	twin := cfg.Clone()
	choose := cfg.GetClientCertificate
	twin.GetClientCertificate = func(r *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		cert, err := chooseClient(r, cfg.Certificates, choose)
		if err != nil || cert == nil || len(cert.Certificate) == 0 {
			return cert, err
		}
		c.keep().own = cert
		return elsewhere(c.n.Fiber(), cert), nil
	}
	return twin
}

// chooseClient does what crypto/tls does: the first certificate that the server takes, an empty one when there is none.
func chooseClient(r *tls.CertificateRequestInfo, list []tls.Certificate, choose func(*tls.CertificateRequestInfo) (*tls.Certificate, error)) (*tls.Certificate, error) {
	if choose != nil {
		return choose(r)
	}
	for i := range list {
		if r.SupportsCertificate(&list[i]) == nil {
			return &list[i], nil
		}
	}
	return new(tls.Certificate), nil
}
