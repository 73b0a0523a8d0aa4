package fetchssl

import (
	"crypto/sha1"
	"crypto/tls"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"weir/internal/lang/sample"
	"weir/internal/model"
	"weir/internal/wire/tlsname"
)

// party is one whose certificate is looked at.
type party struct {
	prefix, what string
	valid        sample.Places
	cert         func(tx *model.Txn) *x509.Certificate
}

var (
	client = party{"ssl_c_", "the client's certificate", session, func(tx *model.Txn) *x509.Certificate { return peer(front, tx) }}
	server = party{"ssl_s_", "the server's certificate", session, func(tx *model.Txn) *x509.Certificate { return peer(back, tx) }}
	own    = party{"ssl_f_", "the certificate that the client was shown", session, shown}
)

// peer is the certificate of the other end.
func peer(s side, tx *model.Txn) *x509.Certificate {
	if chain := peers(s, tx); len(chain) > 0 {
		return chain[0]
	}
	return nil
}

// peers are all certificates that the other end has sent, also those that were refused.
func peers(s side, tx *model.Txn) []*x509.Certificate {
	t := s.conn(tx)
	if t == nil {
		return nil
	}
	if st := t.State(); len(st.PeerCertificates) > 0 {
		return st.PeerCertificates
	}
	var e *tls.CertificateVerificationError
	if errors.As(t.Failure(), &e) {
		return e.UnverifiedCertificates
	}
	return nil
}

// shown is the certificate that the client was shown; nil when a session was resumed.
func shown(tx *model.Txn) *x509.Certificate {
	t := front.conn(tx)
	if t == nil || t.Own() == nil {
		return nil
	}
	c := t.Own()
	if c.Leaf != nil {
		return c.Leaf
	}
	leaf, err := x509.ParseCertificate(c.Certificate[0])
	if err != nil {
		return nil
	}
	return leaf
}

func init() {
	for _, p := range []party{client, server, own} {
		sample.AddFetch(
			p.bin("der", "as it is, in DER", func(c *x509.Certificate) []byte { return c.Raw }),
			p.bin("serial", "its serial number", func(c *x509.Certificate) []byte { return c.SerialNumber.Bytes() }),
			p.bin("sha1", "its SHA-1 fingerprint", func(c *x509.Certificate) []byte {
				sum := sha1.Sum(c.Raw)
				return sum[:]
			}),
			p.text("key_alg", "algorithm of its key", keyAlg),
			p.text("sig_alg", "algorithm of its signature", func(c *x509.Certificate) string { return tlsname.Signature(c.SignatureAlgorithm) }),
			p.text("notbefore", "start of its validity, YYMMDDhhmmssZ", func(c *x509.Certificate) string { return c.NotBefore.UTC().Format(dateForm) }),
			p.text("notafter", "end of its validity, YYMMDDhhmmssZ", func(c *x509.Certificate) string { return c.NotAfter.UTC().Format(dateForm) }),
			p.name("s_dn", "its subject", func(_ *model.Txn, c *x509.Certificate) []byte { return c.RawSubject }),
			p.name("i_dn", "its issuer", func(_ *model.Txn, c *x509.Certificate) []byte { return c.RawIssuer }),
			sample.Fetch{Name: p.prefix + "version", Out: model.TypeSint, Valid: p.valid, Help: p.what + ": its version",
				Get: func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
					c := p.cert(tx)
					if c != nil {
						v.SetInt(int64(c.Version))
					}
					return c != nil
				}},
		)
	}
	sample.AddFetch(
		chain("ssl_c_chain_der", session, front), chain("ssl_s_chain_der", session, back),
		client.name("r_dn", "subject of the authority at the end of its chain", func(tx *model.Txn, _ *x509.Certificate) []byte {
			if r := verified(tx).Root; r != nil {
				return r.RawSubject
			}
			return nil
		}),
		client.text("san", "its alternative names", alternatives),
		sample.Fetch{Name: "ssl_c_policies", Args: "[string]", Out: model.TypeStr, Valid: session, Help: "the client's certificate: its policies", Get: policies},
		front.result("ssl_c_err", "first error of the client's certificate", func(r model.VerifyResult) int { return r.Code }),
		front.result("ssl_c_ca_err", "first error of the authorities above the client's certificate", func(r model.VerifyResult) int { return r.CACode }),
		front.result("ssl_c_ca_err_depth", "where that error is", func(r model.VerifyResult) int { return r.CADepth }),
		front.result("ssl_c_verify", "result of the verification", func(r model.VerifyResult) int {
			if r.Code != 0 {
				return r.Code
			}
			return r.CACode
		}),
		sample.Fetch{Name: "ssl_c_used", Out: model.TypeBool, Valid: session, Help: "the session has a certificate of the client",
			Get: front.on(func(t model.TLSConn, v *model.Value) bool {
				v.SetBool(len(t.State().PeerCertificates) > 0)
				return true
			})},
	)
}

const dateForm = "060102150405Z"

func (p party) text(name, help string, get func(c *x509.Certificate) string) sample.Fetch {
	return sample.Fetch{Name: p.prefix + name, Out: model.TypeStr, Valid: p.valid, Help: p.what + ": " + help,
		Get: func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
			c := p.cert(tx)
			return c != nil && setText(v, get(c))
		}}
}

func (p party) bin(name, help string, get func(c *x509.Certificate) []byte) sample.Fetch {
	return sample.Fetch{Name: p.prefix + name, Out: model.TypeBin, Valid: p.valid, Help: p.what + ": " + help,
		Get: func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
			c := p.cert(tx)
			if c == nil {
				return false
			}
			b := get(c)
			v.SetBin(b)
			return len(b) > 0
		}}
}

// chain makes a fetch of all certificates that the other end has sent, one behind the other.
func chain(name string, valid sample.Places, s side) sample.Fetch {
	return sample.Fetch{Name: name, Out: model.TypeBin, Valid: valid, Help: "certificates that " + s.what + " came with, in DER",
		Get: func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
			var all []byte
			for _, c := range peers(s, tx) {
				all = append(all, c.Raw...)
			}
			v.SetBin(all)
			return len(all) > 0
		}}
}

// verified is what was found wrong with the client's certificate.
func verified(tx *model.Txn) (r model.VerifyResult) {
	c, ok := tx.S.FrontConn().(model.SecureConn)
	if !ok || c.TLS() == nil || c.Under() == nil || c.Under().Verify == nil {
		return r
	}
	st := c.TLS().State()
	if len(st.PeerCertificates) == 0 {
		st.PeerCertificates = peers(front, tx)
	}
	if len(st.PeerCertificates) == 0 {
		return r
	}
	return c.Under().Verify(&st)
}

func (s side) result(name, help string, get func(model.VerifyResult) int) sample.Fetch {
	return sample.Fetch{Name: name, Out: model.TypeSint, Valid: session, Help: help,
		Get: func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
			if s.conn(tx) == nil {
				return false
			}
			v.SetInt(int64(get(verified(tx))))
			return true
		}}
}

func keyAlg(c *x509.Certificate) string {
	switch c.PublicKeyAlgorithm {
	case x509.RSA:
		return "rsaEncryption"
	case x509.ECDSA:
		return "id-ecPublicKey"
	case x509.Ed25519:
		return "ED25519"
	case x509.DSA:
		return "dsaEncryption"
	}
	return ""
}

// alternatives are the alternative names as OpenSSL prints them.
func alternatives(c *x509.Certificate) string {
	var out []string
	for _, e := range c.Extensions {
		if !e.Id.Equal(asn1.ObjectIdentifier{2, 5, 29, 17}) {
			continue
		}
		var seq asn1.RawValue
		if _, err := asn1.Unmarshal(e.Value, &seq); err != nil {
			return ""
		}
		for rest := seq.Bytes; len(rest) > 0; {
			var n asn1.RawValue
			var err error
			if rest, err = asn1.Unmarshal(rest, &n); err != nil {
				return ""
			}
			out = append(out, alternative(n))
		}
	}
	return strings.Join(out, ", ")
}

func alternative(n asn1.RawValue) string {
	switch n.Tag {
	case 1:
		return "email:" + printable(n.Bytes)
	case 2:
		return "DNS:" + printable(n.Bytes)
	case 4:
		return "DirName:" + strings.TrimPrefix(oneline(n.Bytes), "/")
	case 6:
		return "URI:" + printable(n.Bytes)
	case 7:
		return "IP Address:" + ipText(n.Bytes)
	case 8:
		var id asn1.ObjectIdentifier
		if _, err := asn1.UnmarshalWithParams(n.FullBytes, &id, "tag:8"); err == nil {
			return "Registered ID:" + id.String()
		}
	}
	return "othername:<unsupported>"
}

// ipText writes an address as OpenSSL does: IPv6 in eight groups.
func ipText(b []byte) string {
	switch len(b) {
	case 4:
		return fmt.Sprintf("%d.%d.%d.%d", b[0], b[1], b[2], b[3])
	case 16:
		groups := make([]string, 8)
		for i := range groups {
			groups[i] = strconv.FormatUint(uint64(b[2*i])<<8|uint64(b[2*i+1]), 16)
		}
		return strings.ToUpper(strings.Join(groups, ":"))
	}
	return "<invalid>"
}

// policies lists the policies of the client's certificate, or finds the one that is asked for.
func policies(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	c := client.cert(tx)
	if c == nil {
		return false
	}
	var list []string
	for _, p := range c.Policies {
		s := p.String()
		if len(a) > 0 && a[0].Str != "" {
			if s == a[0].Str {
				return setText(v, s)
			}
			continue
		}
		list = append(list, s)
	}
	return setText(v, strings.Join(list, ", "))
}
