package tlskw_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	_ "weir/internal/all" // the keywords
	"weir/internal/base/diag"
	"weir/internal/feat/certs/certstest"
	"weir/internal/kw"
	"weir/internal/lang/config"
	"weir/internal/model"
)

// load loads text as the file "t.cfg" in dir.
func load(dir, text string) (*model.Config, *diag.List) {
	return kw.Load(config.Options{
		Files:    []string{"t.cfg"},
		Dir:      dir,
		ReadDir:  func(string) ([]string, bool, error) { return nil, false, nil },
		ReadFile: func(string) ([]byte, error) { return []byte(text), nil },
	})
}

const defaults = "defaults\n mode http\n timeout client 1s\n timeout connect 1s\n timeout server 1s\n"

// must loads lines of a "listen" section, after those of other sections.
func must(t *testing.T, dir, sections, lines string) *model.Config {
	t.Helper()
	cfg, diags := load(dir, sections+defaults+"listen p\n"+lines+"\n")
	if cfg == nil {
		t.Fatalf("the configuration is refused:\n%s", diags)
	}
	return cfg
}

// refused loads lines of a "listen" section and returns the messages.
func refused(t *testing.T, dir, sections, lines string) string {
	t.Helper()
	cfg, diags := load(dir, sections+defaults+"listen p\n"+lines+"\n")
	if cfg != nil {
		t.Fatalf("the configuration is accepted:\n%s\n%s", lines, diags)
	}
	return diags.String()
}

// pair are the two ends of a connection.
func pair() (a, b net.Conn) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer ln.Close()
	if a, err = net.Dial("tcp", ln.Addr().String()); err != nil {
		panic(err)
	}
	if b, err = ln.Accept(); err != nil {
		panic(err)
	}
	return a, b
}

// shake runs a handshake and says what both sides make of it.
func shake(server, client *tls.Config) (s, c tls.ConnectionState, serr, cerr error) {
	a, b := pair()
	deadline := time.Now().Add(20 * time.Second)
	_, _ = a.SetDeadline(deadline), b.SetDeadline(deadline)
	sc, cc := tls.Server(a, server), tls.Client(b, client)
	done := make(chan error, 1)
	go func() {
		err := sc.Handshake()
		if err == nil {
			_, err = sc.Write([]byte("x"))
		}
		if err != nil {
			a.Close()
		}
		done <- err
	}()
	cerr = cc.Handshake()
	if cerr == nil {
		var buf [1]byte
		_, cerr = cc.Read(buf[:])
	}
	if cerr != nil {
		b.Close()
	}
	serr = <-done
	s, c = sc.ConnectionState(), cc.ConnectionState()
	a.Close()
	b.Close()
	return s, c, serr, cerr
}

// name runs a handshake for a name and returns the common name of the certificate, or the client's error.
func name(server *tls.Config, client *tls.Config, sni string) string {
	c := client.Clone()
	if c == nil {
		c = new(tls.Config)
	}
	c.ServerName, c.InsecureSkipVerify = sni, true
	_, cs, _, err := shake(server, c)
	if err != nil {
		return "error: " + err.Error()
	}
	return cs.PeerCertificates[0].Subject.CommonName
}

func TestFirstSet(t *testing.T) {
	dir := t.TempDir()
	ca := certstest.New(t, certstest.Spec{CN: "ca", CA: true}, nil)
	certstest.Write(t, dir, "ca.pem", ca.CertPEM())
	certstest.Write(t, dir, "d/a.pem", certstest.New(t, certstest.Spec{CN: "a.test", Names: []string{"b.test"}}, ca).PEM(t))
	certstest.Write(t, dir, "d/w.pem", certstest.New(t, certstest.Spec{CN: "*.w.test"}, ca).PEM(t))
	client := certstest.New(t, certstest.Spec{CN: "client"}, ca)
	certstest.Write(t, dir, "client.pem", client.PEM(t))
	cfg := must(t, dir, "", ` bind :443 ssl crt d/ alpn http/1.1
 bind :444 ssl crt d/a.pem ca-file ca.pem verify required
 server s 127.0.0.1:443 ssl ca-file ca.pem verify required verifyhost b.test crt client.pem sni str(b.test) alpn http/1.1
 server t 127.0.0.1:443 ssl verify none`)
	p := cfg.Proxies[0]
	srv := p.Binds[0].TLS.Config
	for sni, want := range map[string]string{"b.test": "a.test", "A.TEST": "a.test", "x.w.test": "*.w.test", "w.test": "a.test", "x.y.w.test": "a.test", "": "a.test"} {
		if got := name(srv, nil, sni); got != want {
			t.Errorf("%q got the certificate of %q, not of %q", sni, got, want)
		}
	}
	out := p.Servers[0].TLS
	own := out.Config.Clone()
	own.ServerName = "b.test"
	s, c, serr, cerr := shake(p.Binds[1].TLS.Config, own)
	if serr != nil || cerr != nil || len(s.PeerCertificates) != 1 {
		t.Errorf("client certificate: %v, %v", serr, cerr)
	}
	if c.NegotiatedProtocol != "" {
		t.Errorf("protocol %q was agreed on without a list of the server", c.NegotiatedProtocol)
	}
	if _, _, serr, _ = shake(p.Binds[1].TLS.Config, &tls.Config{InsecureSkipVerify: true}); serr == nil {
		t.Error("a client without a certificate was let in")
	}
	own.ServerName = "other.test"
	if _, _, _, cerr = shake(srv, own); cerr == nil || !strings.Contains(cerr.Error(), "other.test") {
		t.Errorf("a certificate for another name: %v", cerr)
	}
	own.ServerName = ""
	if _, c, _, cerr = shake(srv, own); cerr != nil || c.NegotiatedProtocol != "http/1.1" {
		t.Errorf("verifyhost: %v, protocol %q", cerr, c.NegotiatedProtocol)
	}
	var unknown x509.UnknownAuthorityError
	if _, _, _, cerr = shake(srv, &tls.Config{ServerName: "b.test"}); !errors.As(cerr, &unknown) {
		t.Errorf("want an unknown authority, got %v", cerr)
	}
	if p.Servers[1].TLS == nil || p.Servers[1].TLS.Config.VerifyConnection != nil {
		t.Error("verify none verifies")
	}
}

func TestFirstSetRefused(t *testing.T) {
	dir := t.TempDir()
	a, b := certstest.New(t, certstest.Spec{CN: "a"}, nil), certstest.New(t, certstest.Spec{CN: "b"}, nil)
	certstest.Write(t, dir, "mixed.pem", a.CertPEM()+b.KeyPEM(t))
	certstest.Write(t, dir, "nokey.pem", a.CertPEM())
	certstest.Write(t, dir, "empty.pem", "")
	msgs := refused(t, dir, "", ` bind :1 ssl crt mixed.pem crt nokey.pem crt empty.pem crt none.pem
 bind :2 ssl
 bind :3 ssl crt mixed.pem verify maybe
 server s 127.0.0.1:1 ssl`)
	for _, want := range []string{"belongs to another certificate", "no private key", "no certificate in it", "none.pem", "has 'ssl' but no certificate", "maybe", "needs a 'ca-file'"} {
		if !strings.Contains(msgs, want) {
			t.Errorf("no word of %q in\n%s", want, msgs)
		}
	}
}
