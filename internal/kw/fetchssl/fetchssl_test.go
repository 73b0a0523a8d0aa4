package fetchssl

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"math/big"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "weir/internal/kw/conv"
	"weir/internal/lang/sample"
	"weir/internal/lang/sample/sampletest"
	"weir/internal/model"
)

// layer is a model.TLSConn whose handshake is over.
type layer struct {
	state        tls.ConnectionState
	hello, reply []byte
	own          *tls.Certificate
	err          error
	log          bytes.Buffer
}

func (l *layer) State() tls.ConnectionState { return l.state }
func (l *layer) Hello() []byte              { return l.hello }
func (l *layer) Reply() []byte              { return l.reply }
func (l *layer) Own() *tls.Certificate      { return l.own }
func (l *layer) Failure() error             { return l.err }
func (l *layer) Secret(label string) []byte {
	for line := range strings.Lines(l.log.String()) {
		if w := strings.Fields(line); w[0] == label {
			return []byte(w[2])
		}
	}
	return nil
}

// conn is a connection that may have TLS.
type conn struct {
	t     *layer
	under *model.TLSListener
}

func (c *conn) TLS() model.TLSConn {
	if c.t == nil {
		return nil
	}
	return c.t
}
func (c *conn) Under() *model.TLSListener      { return c.under }
func (c *conn) Local() netip.AddrPort          { return netip.AddrPort{} }
func (c *conn) Peer() netip.AddrPort           { return netip.AddrPort{} }
func (c *conn) HTTPMajor() int                 { return 1 }
func (c *conn) Streams() int                   { return 1 }
func (c *conn) Reused() bool                   { return false }
func (c *conn) TCPInfo() (model.TCPInfo, bool) { return model.TCPInfo{}, false }
func (c *conn) ErrCode() int                   { return 0 }
func (c *conn) ErrText() string                { return "" }
func (c *conn) Accepted() time.Time            { return time.Time{} }
func (c *conn) Glitches() int                  { return 0 }
func (c *conn) StreamLimit() int               { return 1 }
func (c *conn) SavedSYN() ([]byte, bool)       { return nil, false }

// tap keeps what is read and written.
type tap struct {
	net.Conn
	in, out bytes.Buffer
}

func (t *tap) Read(p []byte) (int, error) {
	n, err := t.Conn.Read(p)
	t.in.Write(p[:n])
	return n, err
}

func (t *tap) Write(p []byte) (int, error) {
	t.out.Write(p)
	return t.Conn.Write(p)
}

func oid(n ...uint64) x509.OID {
	id, _ := x509.OIDFromInts(n)
	return id
}

func certificate(t *testing.T, name pkix.Name) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	uri, _ := url.Parse("http://a.example/b")
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(0x1007), Subject: name, NotBefore: time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC), NotAfter: time.Date(2040, 6, 7, 8, 9, 10, 0, time.UTC),
		DNSNames: []string{"a.example"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.ParseIP("2001:db8::1")}, EmailAddresses: []string{"a@b.c"}, URIs: []*url.URL{uri},
		Policies: []x509.OID{oid(1, 2, 3), oid(0, 4, 0, 1862, 1, 4)}, BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, _ := x509.ParseCertificate(der)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// shake does a handshake and returns what each side knows of it.
func shake(t *testing.T, version uint16) (server, client *layer) {
	t.Helper()
	theirs := certificate(t, pkix.Name{Country: []string{"FR"}, Organization: []string{"One", "Two, Inc"}, CommonName: "Client", ExtraNames: []pkix.AttributeTypeAndValue{{Type: asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 1}, Value: "a@b.c"}}})
	ours := certificate(t, pkix.Name{CommonName: "a.example"})
	a, b := net.Pipe()
	s, c := &tap{Conn: a}, &tap{Conn: b}
	server, client = new(layer), new(layer)
	sc := tls.Server(s, &tls.Config{Certificates: []tls.Certificate{ours}, ClientAuth: tls.RequestClientCert, NextProtos: []string{"http/1.1"}, KeyLogWriter: &server.log, MaxVersion: version})
	cc := tls.Client(c, &tls.Config{InsecureSkipVerify: true, ServerName: "a.example", NextProtos: []string{"http/1.1"}, Certificates: []tls.Certificate{theirs}})
	done := make(chan error)
	go func() { done <- cc.Handshake() }()
	if err := sc.Handshake(); err != nil {
		t.Fatal(err)
	}
	if version == tls.VersionTLS13 { // tickets follow
		go func() { _, _ = cc.Read(make([]byte, 1)) }()
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	server.state, server.hello, server.reply, server.own = sc.ConnectionState(), s.in.Bytes(), s.out.Bytes(), &ours
	client.state, client.hello, client.reply, client.own = cc.ConnectionState(), c.out.Bytes(), c.in.Bytes(), &theirs
	return server, client
}

func check(t *testing.T, tx *model.Txn, want map[string]string) {
	t.Helper()
	for text, w := range want {
		got, ok := sampletest.Text(t, tx, text)
		if !ok {
			got = "none"
		}
		if p, prefix := strings.CutSuffix(w, "*"); prefix && ok && strings.HasPrefix(got, p) && got != p {
			continue
		}
		if got != w {
			t.Errorf("%s = %q, want %q", text, got, w)
		}
	}
}

// TestValues compares with what the reference says of connections of this kind.
func TestValues(t *testing.T) {
	s13, c13 := shake(t, tls.VersionTLS13)
	under := &model.TLSListener{Capture: 4096, CertName: func(*tls.Certificate) string { return "own.pem" },
		Verify: func(st *tls.ConnectionState) model.VerifyResult {
			return model.VerifyResult{Code: 18, CACode: 2, CADepth: 1, Root: st.PeerCertificates[0]}
		}}
	st := &sampletest.Stream{Front: &conn{s13, under}, Back: &conn{t: c13}}
	check(t, sampletest.New(st, ""), map[string]string{
		"ssl_fc": "1", "ssl_fc_alpn": "http/1.1", "ssl_fc_sni": "a.example", "ssl_fc_has_sni": "1", "ssl_fc_protocol": "TLSv1.3", "ssl_fc_curve": "X25519MLKEM768",
		"ssl_fc_is_resumed": "0", "ssl_fc_has_crt": "1", "ssl_fc_has_early": "0", "ssl_fc_early_rcvd": "0", "ssl_fc_npn": "none", "ssl_fc_err": "0", "ssl_fc_err_str": "none",
		"ssl_fc_cipher": "TLS_*", "ssl_fc_alg_keysize": "*", "ssl_fc_unique_id": "none", "ssl_fc_session_key": "none", "ssl_fc_client_random,hex,length": "64", "ssl_fc_server_random,hex,length": "64",
		"ssl_fc_session_id,hex,length": "64", "ssl_fc_client_traffic_secret_0": "*", "ssl_fc_client_handshake_traffic_secret": "*", "ssl_fc_crtname": "own.pem",
		"ssl_fc_client_early_traffic_secret": "none", "ssl_fc_protocol_hello_id": "771", "ssl_fc_cipherlist_str": "*", "ssl_fc_cipherlist_bin,hex,length": "*",
		"ssl_fc_cipherlist_xxh": "*", "ssl_fc_extlist_bin(1),hex,length": "*", "ssl_fc_eclist_bin,bytes(0,2),hex": "11EC", "ssl_fc_ecformats_bin,hex": "00", "ssl_fc_sigalgs_bin(1),hex,length": "*",
		"ssl_fc_supported_versions_bin(1),hex": "03040303",
		"ssl_c_s_dn":                           "/C=FR/O=One/O=Two, Inc/CN=Client/emailAddress=a@b.c", "ssl_c_s_dn(,0,rfc2253)": "emailAddress=a@b.c,CN=Client,O=Two\\, Inc+O=One,C=FR",
		"ssl_c_s_dn(O)": "One", "ssl_c_s_dn(O,2)": "Two, Inc", "ssl_c_s_dn(O,-1)": "Two, Inc", "ssl_c_s_dn(O,3)": "none", "ssl_c_s_dn(OU)": "none", "ssl_c_i_dn(CN)": "Client",
		"ssl_c_r_dn(emailAddress)": "a@b.c", "ssl_c_serial,hex": "1007", "ssl_c_version": "3", "ssl_c_key_alg": "id-ecPublicKey", "ssl_c_sig_alg": "ecdsa-with-SHA256",
		"ssl_c_notbefore": "200102030405Z", "ssl_c_notafter": "400607080910Z", "ssl_c_der,hex,length": "*", "ssl_c_chain_der,hex,length": "*", "ssl_c_sha1,hex,length": "40",
		"ssl_c_san": "DNS:a.example, email:a@b.c, IP Address:127.0.0.1, IP Address:2001:DB8:0:0:0:0:0:1, URI:http://a.example/b", "ssl_c_policies": "1.2.3, 0.4.0.1862.1.4",
		"ssl_c_policies(1.2.3)": "1.2.3", "ssl_c_policies(1.2)": "none", "ssl_c_err": "18", "ssl_c_ca_err": "2", "ssl_c_ca_err_depth": "1", "ssl_c_verify": "18", "ssl_c_used": "1",
		"ssl_f_s_dn": "/CN=a.example", "ssl_f_version": "3", "ssl_f_sha1,hex,length": "40", "ssl_s_s_dn(CN)": "a.example", "ssl_s_notafter": "400607080910Z", "ssl_s_chain_der,hex,length": "*",
		"ssl_bc": "1", "ssl_bc_sni": "a.example", "ssl_bc_client_random,hex,length": "64", "ssl_bc_is_resumed": "0", "ssl_bc_protocol": "TLSv1.3", "ssl_bc_session_id,hex,length": "64",
	})
	s12, c12 := shake(t, tls.VersionTLS12)
	st = &sampletest.Stream{Front: &conn{s12, &model.TLSListener{}}, Back: &conn{t: c12}}
	check(t, sampletest.New(st, ""), map[string]string{
		"ssl_fc_protocol": "TLSv1.2", "ssl_fc_unique_id,hex,length": "24", "ssl_fc_session_key,hex,length": "96", "ssl_fc_cipherlist_str": "none", "ssl_fc_protocol_hello_id": "none",
		"ssl_c_err": "0", "ssl_c_r_dn": "none", "ssl_fc_crtname": "none", "ssl_bc_unique_id,hex,length": "24",
	})
	s12.log.Reset()
	s12.log.WriteString("CLIENT_RANDOM 00 0a0B\n")
	check(t, sampletest.New(st, ""), map[string]string{"ssl_fc_session_key": "none"})
	st = &sampletest.Stream{Front: &conn{}, Back: &conn{}}
	for _, name := range sample.Fetches.Names() {
		want := "none"
		switch name {
		case "ssl_fc", "ssl_bc", "ssl_fc_has_sni", "ssl_fc_is_resumed", "ssl_bc_is_resumed":
			want = "0"
		}
		if strings.HasPrefix(name, "ssl_") {
			check(t, sampletest.New(st, ""), map[string]string{name: want})
		}
	}
}

// TestFailures: the numbers that a failed handshake has, and the certificate that it failed for.
func TestFailures(t *testing.T) {
	cert := certificate(t, pkix.Name{CommonName: "bad"})
	l := &layer{err: &tls.CertificateVerificationError{UnverifiedCertificates: []*x509.Certificate{cert.Leaf}, Err: errors.New("no")}}
	st := &sampletest.Stream{Front: &conn{l, &model.TLSListener{}}}
	check(t, sampletest.New(st, ""), map[string]string{
		"ssl_fc_err": "167772294", "ssl_fc_err_str": "error:0A000086:SSL routines::certificate verify failed", "ssl_c_s_dn(CN)": "bad", "ssl_fc_protocol": "TLSv1.3",
	})
}

// TestSignatures compares arguments, types and places with the reference's keyword dump; what is missing cannot be had from crypto/tls.
func TestSignatures(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "fetches.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		want := strings.TrimSpace(line)
		name, _, _ := strings.Cut(want, "\t")
		name, _, _ = strings.Cut(name, "(")
		f, ok := sample.Fetches.Lookup(name)
		if !ok {
			if !strings.HasSuffix(name, "c_exporter_secret") {
				t.Errorf("%s is missing", name)
			}
			continue
		}
		got := name
		if f.Args != "" {
			got += "(" + f.Args + ")"
		}
		got += "\t" + f.Out.String() + "\t"
		for i := range 22 {
			if f.Valid&(1<<i) != 0 {
				got += "Y"
			} else {
				got += "."
			}
		}
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// FuzzName reads names that certificates may have.
func FuzzName(f *testing.F) {
	f.Add([]byte("\x30\x0e\x31\x0c\x30\x0a\x06\x03\x55\x04\x03\x0c\x03a\x00b"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var v model.Value
		for _, s := range []string{oneline(raw), rfc2253(raw)} {
			if strings.Contains(s, "\x00") {
				t.Fatalf("%q", s)
			}
		}
		part(raw, "CN", -1, &v)
	})
}
