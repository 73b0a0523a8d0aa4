package generation

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"weir/internal/base/buf"
	"weir/internal/link/tlsconn"
	"weir/internal/model"
	"weir/internal/rt/poll"
)

// pki is a certificate for a.example and b.example, and who trusts it.
type pki struct {
	cert  tls.Certificate
	roots *x509.CertPool
}

func newPKI(t *testing.T) *pki {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"a.example", "b.example"}, BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	k := &pki{cert: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots: x509.NewCertPool()}
	k.cert.Leaf, _ = x509.ParseCertificate(der)
	k.roots.AddCert(k.cert.Leaf)
	return k
}

func (k *pki) listener() *model.TLSListener {
	return &model.TLSListener{Config: &tls.Config{NextProtos: []string{"http/1.1"}, GetCertificate: func(h *tls.ClientHelloInfo) (*tls.Certificate, error) {
		return tlsconn.ForHandshake(h, &k.cert), nil
	}}}
}

// field takes the name from a field of the request.
type field string

func (f field) Eval(tx *model.Txn, v *model.Value) bool {
	i := tx.Req.Find(string(f), 0)
	if i < 0 {
		return false
	}
	v.SetStr(tx.Req.Fields[i].Value)
	return true
}

func (k *pki) server() *model.TLSServer {
	return &model.TLSServer{SNI: field("x-sni"), Config: &tls.Config{InsecureSkipVerify: true, VerifyConnection: func(cs tls.ConnectionState) error {
		_, err := cs.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: k.roots, DNSName: cs.ServerName})
		if err != nil {
			return &model.VerifyError{Code: 62, Server: true, Name: true, Err: err}
		}
		return nil
	}}}
}

// secured starts a process whose bind line and server lines named "tls" have TLS.
func secured(t *testing.T, k poll.Kind, ca *pki, text string) *process {
	t.Helper()
	p := &process{NewProcess(ProcessOptions{Threads: 2, Poller: k, Buffers: buf.NewShared(buf.Config{}), Warn: func(s string) { t.Log("warning:", s) }}), t}
	g := p.generationWith(text, func(cfg *model.Config) { secure(cfg, ca) })
	if d := p.Bind(g); d.Errors() > 0 {
		t.Fatal(d.String())
	}
	if err := p.Start(g); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Stop()
		p.wait(p.Done(), "the process to end")
		p.exited.Wait()
	})
	return p
}

func secure(cfg *model.Config, ca *pki) {
	for _, px := range cfg.Proxies {
		for _, b := range px.Binds {
			if b.Name == "tls" {
				b.TLS = ca.listener()
			}
		}
		for _, s := range px.Servers {
			if strings.HasPrefix(s.Name, "tls") {
				s.TLS = ca.server()
			}
		}
	}
}

func dialTLS(t *testing.T, port int, ca *pki) *client {
	t.Helper()
	c, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port), &tls.Config{RootCAs: ca.roots, ServerName: "a.example", NextProtos: []string{"http/1.1"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(20 * time.Second))
	return &client{c, bufio.NewReader(c)}
}

// TestTLSBothWays: a client through TLS, a server through TLS, connections kept on both sides, one for each name.
func TestTLSBothWays(t *testing.T) {
	ca := newPKI(t)
	onPollers(t, func(t *testing.T, k poll.Kind) {
		o := startOrigin(t, "o")
		inner, outer := freePort(t), freePort(t)
		secured(t, k, ca, fmt.Sprintf(`
defaults
  mode http
  timeout client 5s
  timeout server 5s
  timeout connect 5s
  retries 0
listen inner
  bind 127.0.0.1:%d name tls
  http-request set-header x-first %%[http_first_req]
  http-response set-header x-first %%[http_first_req]
  http-response set-header x-alpn "%%[ssl_fc_alpn] %%[ssl_fc_sni] %%[ssl_fc_is_resumed]"
  server plain %s
listen outer
  bind 127.0.0.1:%d name tls
  http-response set-header x-front "%%[ssl_fc_protocol] %%[ssl_fc_sni] %%[ssl_bc]"
  server tls 127.0.0.1:%d
`, inner, o.Addr(), outer, inner))
		c := dialTLS(t, outer, ca)
		for i, want := range []struct{ sni, first, seen string }{
			{"a.example", "1", "a.example 0"}, {"a.example", "0", "a.example 0"}, {"b.example", "1", "b.example 0"}, {"b.example", "0", "b.example 0"}, {"a.example", "0", "a.example 0"},
		} {
			fmt.Fprintf(c, "GET /%d HTTP/1.1\r\nHost: test\r\nx-sni: %s\r\n\r\n", i, want.sni)
			status, head, body, err := c.response()
			if err != nil || !strings.Contains(status, "200") || body != fmt.Sprintf("o /%d", i) {
				t.Fatalf("%d: %q %q %v", i, status, body, err)
			}
			for _, h := range []string{"x-first: " + want.first, "x-alpn: " + want.seen, "x-front: TLSv1.3 a.example 1"} {
				if !strings.Contains(head, h+"\r\n") {
					t.Errorf("%d: no %q in %q", i, h, head)
				}
			}
		}
		// a name that the certificate is not for
		fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: test\r\nx-sni: c.example\r\n\r\n")
		if status, _, _, err := c.response(); err != nil || !strings.Contains(status, "503") {
			t.Errorf("%q %v", status, err)
		}
	})
}

// TestTLSStream: megabytes both ways in TCP mode, and the end of one direction while the other goes on.
func TestTLSStream(t *testing.T) {
	ca := newPKI(t)
	onPollers(t, func(t *testing.T, k poll.Kind) {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		go func() { // takes all, then gives it back
			c, err := ln.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			all, _ := io.ReadAll(c)
			_, _ = c.Write(all)
		}()
		port := freePort(t)
		secured(t, k, ca, fmt.Sprintf("defaults\n  timeout client 9s\n  timeout server 9s\n  timeout connect 5s\nlisten l\n  bind 127.0.0.1:%d name tls\n  server s %s\n", port, ln.Addr()))
		c := dialTLS(t, port, ca)
		data := bytes.Repeat([]byte("0123456789abcdef"), 1<<18)
		go func() {
			_, _ = c.Write(data)
			_ = c.Conn.(*tls.Conn).CloseWrite()
		}()
		got, err := io.ReadAll(c)
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d of %d bytes, %v", len(got), len(data), err)
		}
	})
}

// TestAdvisoryClearServer (security row 106): what a server sends before TLS never reaches the client.
func TestAdvisoryClearServer(t *testing.T) {
	ca := newPKI(t)
	onPollers(t, func(t *testing.T, k poll.Kind) {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		go func() {
			for {
				c, err := ln.Accept()
				if err != nil {
					return
				}
				_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret"))
				_, _ = io.Copy(io.Discard, c)
				c.Close()
			}
		}()
		port := freePort(t)
		secured(t, k, ca, fmt.Sprintf("defaults\n  mode http\n  retries 0\n  timeout client 9s\n  timeout server 9s\n  timeout connect 5s\nlisten l\n  bind 127.0.0.1:%d\n  server tls %s\n", port, ln.Addr()))
		c := dial(t, port)
		status, _, body, err := c.get("/")
		if err != nil || !strings.Contains(status, "503") || strings.Contains(body, "secret") {
			t.Errorf("%q %q %v", status, body, err)
		}
	})
}

// TestAdvisoryStalledHandshake (security row 99): clients that stop within the handshake are cut in time, others are served meanwhile, and
// the limit on TLS connections holds.
func TestAdvisoryStalledHandshake(t *testing.T) {
	ca := newPKI(t)
	onPollers(t, func(t *testing.T, k poll.Kind) {
		o := startOrigin(t, "o")
		port := freePort(t)
		secured(t, k, ca, fmt.Sprintf("global\n  maxsslconn 5\ndefaults\n  mode http\n  timeout client 9s\n  timeout client-hs 300ms\n  timeout server 9s\n  timeout connect 5s\nlisten l\n  bind 127.0.0.1:%d name tls\n  server s %s\n", port, o.Addr()))
		var stalled []*client
		for i := range 12 {
			c := dial(t, port)
			if i%2 == 0 {
				_, _ = c.Write([]byte("\x16\x03\x01\x02\x00\x01\x00"))
			}
			stalled = append(stalled, c)
		}
		c := dialTLS(t, port, ca)
		if status, _, body, err := c.get("/x"); err != nil || body != "o /x" {
			t.Errorf("%q %q %v", status, body, err)
		}
		for i, c := range stalled {
			if n, err := c.Read(make([]byte, 1)); n != 0 || err == nil {
				t.Errorf("%d is still open: %d %v", i, n, err)
			}
		}
	})
}

// TestSwitchKeepsTLS: a TLS session between two requests survives a new configuration.
func TestSwitchKeepsTLS(t *testing.T) {
	ca := newPKI(t)
	onPollers(t, func(t *testing.T, k poll.Kind) {
		o := startOrigin(t, "o")
		port := freePort(t)
		text := fmt.Sprintf("defaults\n  mode http\n  timeout client 9s\n  timeout server 9s\n  timeout connect 5s\nlisten l\n  bind 127.0.0.1:%d name tls\n  server s %s\n", port, o.Addr())
		p := secured(t, k, ca, text)
		c := dialTLS(t, port, ca)
		for i := range 3 {
			if _, _, body, err := c.get("/1"); err != nil || body != "o /1" {
				t.Fatalf("%d: %q %v", i, body, err)
			}
			g := p.generationWith(text, func(cfg *model.Config) { secure(cfg, ca) })
			if d := p.Bind(g); d.Errors() > 0 {
				t.Fatal(d.String())
			}
			p.Switch(g)
		}
		if _, _, body, err := c.get("/2"); err != nil || body != "o /2" {
			t.Fatalf("%q %v", body, err)
		}
		if n := p.keeper.TLS.Gauge.Cur(); n != 1 {
			t.Errorf("%d TLS connections are counted", n)
		}
		c.Close()
		for end := time.Now().Add(10 * time.Second); p.keeper.TLS.Gauge.Cur() != 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("it is still counted")
			}
		}
	})
}
