// Package fetchssl holds the sample fetches that tell of TLS on the connections of a stream (manual 7.3.4): of what was negotiated, of
// the certificates of all three parties, and of the client's hello.
//
// Nothing is prepared: a fetch asks the connection's TLS layer when it is evaluated.
package fetchssl

import (
	"crypto/tls"
	"fmt"
	"strings"

	"weir/internal/lang/sample"
	"weir/internal/link/tlsconn"
	"weir/internal/model"
	"weir/internal/wire/clienthello"
	"weir/internal/wire/tlsname"
)

// Where the fetches find their data: a session with a client, and a server's connection.
var (
	session  = sample.MustSet(".YYYYYYYYYYYYYYYYYY...")
	answered = sample.MustSet("...........YYYYYYYYY..")
)

// side is one of the two connections of a stream.
type side struct {
	prefix, what string
	valid        sample.Places
	back         bool
}

var (
	front = side{"ssl_fc", "the client's connection", session, false}
	back  = side{"ssl_bc", "the server's connection", answered, true}
)

// conn is the TLS layer of a side, nil for clear text and when there is no connection.
func (s side) conn(tx *model.Txn) model.TLSConn {
	c := tx.S.FrontConn()
	if s.back {
		c = tx.S.BackConn()
	}
	if t, ok := c.(model.SecureConn); ok && c != nil {
		return t.TLS()
	}
	return nil
}

type getter = func(tx *model.Txn, a []sample.Arg, v *model.Value) bool

// on makes a getter of something that a TLS layer has.
func (s side) on(get func(t model.TLSConn, v *model.Value) bool) getter {
	return func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
		t := s.conn(tx)
		return t != nil && get(t, v)
	}
}

func (s side) fetch(name string, out model.Type, help string, get func(t model.TLSConn, v *model.Value) bool) sample.Fetch {
	return sample.Fetch{Name: s.prefix + name, Out: out, Valid: s.valid, Help: s.what + ": " + help, Get: s.on(get)}
}

// text makes a fetch of a text; there is no value when it is empty.
func (s side) text(name, help string, get func(st *tls.ConnectionState) string) sample.Fetch {
	return s.fetch(name, model.TypeStr, help, func(t model.TLSConn, v *model.Value) bool {
		st := t.State()
		return setText(v, get(&st))
	})
}

func setText(v *model.Value, text string) bool {
	v.SetStr([]byte(text))
	return text != ""
}

// secret makes a fetch of a secret of the key log.
func (s side) secret(name, label string) sample.Fetch {
	f := s.fetch("_"+name, model.TypeStr, label+" of key logs, in hexadecimal (tune.ssl.keylog)", func(t model.TLSConn, v *model.Value) bool {
		b := t.Secret(label)
		v.SetStr(b)
		return b != nil
	})
	f.Valid = session // also of connections to servers, as in the reference
	return f
}

func init() {
	for _, s := range []side{front, back} {
		sample.AddFetch(s.common()...)
		sample.AddFetch(
			s.secret("client_early_traffic_secret", "CLIENT_EARLY_TRAFFIC_SECRET"),
			s.secret("client_handshake_traffic_secret", "CLIENT_HANDSHAKE_TRAFFIC_SECRET"),
			s.secret("client_traffic_secret_0", "CLIENT_TRAFFIC_SECRET_0"),
			s.secret("early_exporter_secret", "EARLY_EXPORTER_SECRET"),
			s.secret("server_handshake_traffic_secret", "SERVER_HANDSHAKE_TRAFFIC_SECRET"),
			s.secret("server_traffic_secret_0", "SERVER_TRAFFIC_SECRET_0"),
		)
	}
	sample.AddFetch(
		sample.Fetch{Name: "ssl_fc", Out: model.TypeBool, Valid: session, Help: "the client's connection is made through TLS", Get: front.is(func(*tls.ConnectionState) bool { return true })},
		sample.Fetch{Name: "ssl_bc", Out: model.TypeBool, Valid: answered, Help: "the server's connection is made through TLS", Get: back.is(func(*tls.ConnectionState) bool { return true })},
		sample.Fetch{Name: "ssl_fc_has_sni", Out: model.TypeBool, Valid: session, Help: "the client has asked for a name", Get: front.is(func(st *tls.ConnectionState) bool { return st.ServerName != "" })},
		sample.Fetch{Name: "ssl_fc_is_resumed", Out: model.TypeBool, Valid: session, Help: "the client has resumed a session", Get: front.is(resumed)},
		sample.Fetch{Name: "ssl_bc_is_resumed", Out: model.TypeBool, Valid: answered, Help: "a session with the server was resumed", Get: back.is(resumed)},
		front.truth("_has_crt", "it came with a certificate", func(st *tls.ConnectionState) bool { return len(st.PeerCertificates) > 0 && !st.DidResume }),
		front.truth("_has_early", "data came before the end of the handshake, which crypto/tls never takes", func(*tls.ConnectionState) bool { return false }),
		front.truth("_early_rcvd", "data came before the end of the handshake, which crypto/tls never takes", func(*tls.ConnectionState) bool { return false }),
		sample.Fetch{Name: "ssl_fc_crtname", Out: model.TypeStr, Valid: session, Help: "name of the certificate that the client was shown", Get: certName},
	)
}

func resumed(st *tls.ConnectionState) bool { return st.DidResume }

// is makes a getter of a boolean that is false without TLS.
func (s side) is(get func(st *tls.ConnectionState) bool) getter {
	return func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
		yes := false
		if t := s.conn(tx); t != nil {
			st := t.State()
			yes = get(&st)
		}
		v.SetBool(yes)
		return true
	}
}

// truth makes a fetch of a boolean that is not there without TLS.
func (s side) truth(name, help string, get func(st *tls.ConnectionState) bool) sample.Fetch {
	return s.fetch(name, model.TypeBool, help, func(t model.TLSConn, v *model.Value) bool {
		st := t.State()
		v.SetBool(get(&st))
		return true
	})
}

// common are the fetches that both connections have.
func (s side) common() []sample.Fetch {
	return []sample.Fetch{
		s.size("_alg_keysize", "bits of the cipher's algorithm", func(_, algorithm int) int { return algorithm }),
		s.size("_use_keysize", "bits of the cipher's key", func(secret, _ int) int { return secret }),
		s.text("_alpn", "protocol that ALPN has agreed on", func(st *tls.ConnectionState) string { return st.NegotiatedProtocol }),
		s.text("_npn", "protocol of NPN, which crypto/tls does not speak", func(*tls.ConnectionState) string { return "" }),
		s.text("_cipher", "name of the cipher", func(st *tls.ConnectionState) string { return tlsname.Cipher(st.CipherSuite) }),
		s.text("_curve", "name of the key exchange's group", func(st *tls.ConnectionState) string { return tlsname.Group(uint16(st.CurveID)) }),
		s.text("_sni", "name that was asked for", func(st *tls.ConnectionState) string { return st.ServerName }),
		s.fetch("_protocol", model.TypeStr, "version of TLS", func(t model.TLSConn, v *model.Value) bool {
			st := t.State()
			if st.Version == 0 { // the handshake failed before one was agreed on
				st.Version = tls.VersionTLS13
			}
			return setText(v, tlsname.Version(st.Version))
		}),
		s.fetch("_unique_id", model.TypeBin, "tls-unique of RFC 5929, up to TLS 1.2", func(t model.TLSConn, v *model.Value) bool {
			st := t.State()
			v.SetBin(st.TLSUnique)
			return len(st.TLSUnique) > 0
		}),
		s.fetch("_client_random", model.TypeBin, "random of the client's hello", func(t model.TLSConn, v *model.Value) bool { return random(t.Hello(), v) }),
		s.fetch("_server_random", model.TypeBin, "random of the server's hello", func(t model.TLSConn, v *model.Value) bool { return random(t.Reply(), v) }),
		s.fetch("_session_id", model.TypeBin, "session id in the server's hello", func(t model.TLSConn, v *model.Value) bool { return sessionID(t.Reply(), v) }),
		s.fetch("_session_key", model.TypeBin, "master secret, up to TLS 1.2 (tune.ssl.keylog)", masterSecret),
		s.fetch("_err", model.TypeSint, "OpenSSL's number of what went wrong", func(t model.TLSConn, v *model.Value) bool {
			code, _ := tlsconn.Reason(t.Failure())
			v.SetInt(int64(code))
			return true
		}),
		s.fetch("_err_str", model.TypeStr, "OpenSSL's text of what went wrong", func(t model.TLSConn, v *model.Value) bool {
			code, why := tlsconn.Reason(t.Failure())
			if code == 0 {
				return false
			}
			return setText(v, fmt.Sprintf("error:%08X:SSL routines::%s", code, why))
		}),
	}
}

func (s side) size(name, help string, get func(secret, algorithm int) int) sample.Fetch {
	return s.fetch(name, model.TypeSint, help, func(t model.TLSConn, v *model.Value) bool {
		st := t.State()
		n := get(tlsname.Bits(st.CipherSuite))
		v.SetInt(int64(n))
		return n > 0
	})
}

// Places in a hello, records and all: a header of five bytes, one of four, the version, the random, the session id.
const (
	randomAt  = 5 + 4 + 2
	sessionAt = randomAt + 32
)

func random(hello []byte, v *model.Value) bool {
	if len(hello) < sessionAt {
		return false
	}
	v.SetBin(hello[randomAt:sessionAt])
	return true
}

func sessionID(hello []byte, v *model.Value) bool {
	if len(hello) <= sessionAt {
		return false
	}
	n := int(hello[sessionAt])
	if n == 0 || len(hello) < sessionAt+1+n {
		return false
	}
	v.SetBin(hello[sessionAt+1 : sessionAt+1+n])
	return true
}

func masterSecret(t model.TLSConn, v *model.Value) bool {
	b := unhex(t.Secret("CLIENT_RANDOM"))
	v.SetBin(b)
	return b != nil
}

func unhex(s []byte) []byte {
	var out []byte
	for i := 0; i+1 < len(s); i += 2 {
		hi, lo := strings.IndexByte(digits, s[i]), strings.IndexByte(digits, s[i+1])
		if hi < 0 || lo < 0 {
			return nil
		}
		out = append(out, byte(hi<<4|lo))
	}
	return out
}

const digits = "0123456789abcdef"

// certName is the name of the certificate that the client was shown.
func certName(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	c, ok := tx.S.FrontConn().(model.SecureConn)
	if !ok {
		return false
	}
	t, u := c.TLS(), c.Under()
	if t == nil || u == nil || u.CertName == nil || t.Own() == nil {
		return false
	}
	return setText(v, u.CertName(t.Own()))
}

// hello reads the client's hello.
func hello(tx *model.Txn, h *clienthello.Hello) bool {
	t := front.conn(tx)
	if t == nil {
		return false
	}
	b := t.Hello()
	var room []byte
	if n := clienthello.Joined(b); n > 0 {
		room = make([]byte, n)
	}
	return clienthello.Parse(b, room, h) == clienthello.Complete
}
