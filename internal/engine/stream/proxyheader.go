package stream

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"net/netip"
	"strconv"

	"weir/internal/model"
	"weir/internal/wire/proxyproto"
	"weir/internal/wire/tlsname"
)

// appendProxy appends the PROXY header for the stream's server.
func (s *Stream) appendProxy(dst []byte) []byte {
	p := &s.srv.Conf.SendProxy
	from, to := s.Client(), s.ClientLocal()
	if s.c.Unix && (s.c.Moved == nil || !from.IsValid() || !to.IsValid()) {
		from, to = netip.AddrPort{}, netip.AddrPort{}
	}
	if !p.V2 {
		return proxyproto.AppendLine(dst, from, to)
	}
	at, sum := len(dst), 0
	dst = proxyproto.Begin(dst, from, to)
	for i := range p.Values {
		v := &p.Values[i]
		dst = append(dst, v.ID, 0, 0)
		begin := len(dst)
		if v.Format != nil {
			dst = v.Format.Append(dst, &s.tx)
		}
		dst = dst[:min(len(dst), begin+65535)]
		binary.BigEndian.PutUint16(dst[begin-2:], uint16(len(dst)-begin))
	}
	if p.Opt&model.ProxyCRC32C != 0 {
		sum = len(dst) + 3
		dst = append(dst, proxyproto.CRC32C, 0, 4, 0, 0, 0, 0)
	}
	c := s.c.Greeting.TLS
	var state tls.ConnectionState
	if c != nil {
		state = c.State()
	}
	if state.NegotiatedProtocol != "" {
		dst = proxyproto.AppendText(dst, proxyproto.ALPN, state.NegotiatedProtocol)
	}
	if p.Opt&model.ProxyAuthority != 0 && state.ServerName != "" {
		dst = proxyproto.AppendText(dst, proxyproto.Authority, state.ServerName)
	}
	if p.Opt&model.ProxyUniqueID != 0 {
		if id := s.UniqueID(); len(id) > 0 {
			dst = proxyproto.AppendTLV(dst, proxyproto.UniqueID, id)
		}
	}
	if p.Opt&model.ProxySSL != 0 {
		dst = appendTLS(dst, &s.c.Greeting, &state, p.Opt)
	}
	dst, _ = proxyproto.Finish(dst, at, sum)
	return dst
}

// Bits of what a header tells of TLS.
const (
	clientTLS      = 1
	clientCertConn = 2
	clientCertSess = 4
)

// appendTLS appends what is known of the client's TLS connection.
func appendTLS(dst []byte, g *Greeting, state *tls.ConnectionState, opt model.ProxyOption) []byte {
	c := g.TLS
	dst = append(dst, proxyproto.SSL, 0, 0)
	begin := len(dst)
	if c == nil {
		dst = append(dst, 0, 0, 0, 0, 0)
	} else {
		flags := byte(clientTLS)
		if len(state.PeerCertificates) > 0 {
			flags |= clientCertSess
			if !state.DidResume {
				flags |= clientCertConn
			}
		}
		dst = binary.BigEndian.AppendUint32(append(dst, flags), verified(g, state))
		dst = appendTLSValues(dst, c, state, opt)
	}
	binary.BigEndian.PutUint16(dst[begin-2:], uint16(len(dst)-begin))
	return dst
}

// verified is what was found wrong with a client's certificate, 0 for nothing and for none.
func verified(g *Greeting, state *tls.ConnectionState) uint32 {
	if len(state.PeerCertificates) == 0 || g.Secure == nil || g.Secure.Verify == nil {
		return 0
	}
	r := g.Secure.Verify(state)
	if r.Code == 0 {
		r.Code = r.CACode
	}
	return uint32(r.Code)
}

func appendTLSValues(dst []byte, c model.TLSConn, state *tls.ConnectionState, opt model.ProxyOption) []byte {
	dst = proxyproto.AppendText(dst, proxyproto.Version, tlsname.Version(state.Version))
	if opt&model.ProxyCertCN != 0 && len(state.PeerCertificates) > 0 {
		dst = proxyproto.AppendText(dst, proxyproto.CN, state.PeerCertificates[0].Subject.CommonName)
	}
	var own *x509.Certificate
	if cert := c.Own(); cert != nil {
		own = cert.Leaf
	}
	if opt&model.ProxyCertKey != 0 && own != nil {
		dst = proxyproto.AppendText(dst, proxyproto.KeyAlg, keyName(own))
	}
	if opt&model.ProxyCertSig != 0 && own != nil {
		dst = proxyproto.AppendText(dst, proxyproto.SigAlg, tlsname.Signature(own.SignatureAlgorithm))
	}
	if opt&model.ProxySSLCipher != 0 {
		dst = proxyproto.AppendText(dst, proxyproto.Cipher, tlsname.Cipher(state.CipherSuite))
	}
	return dst
}

// keyName names a certificate's key as the reference does: its kind and its size.
func keyName(c *x509.Certificate) string {
	switch k := c.PublicKey.(type) {
	case *rsa.PublicKey:
		return "RSA" + strconv.Itoa(k.N.BitLen())
	case *ecdsa.PublicKey:
		return "EC" + strconv.Itoa(k.Curve.Params().BitSize)
	case ed25519.PublicKey:
		return "ED25519"
	}
	return ""
}
