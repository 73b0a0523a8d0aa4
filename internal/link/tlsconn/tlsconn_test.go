package tlsconn

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"math/big"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"weir/internal/base/buf"
	"weir/internal/rt/loop"
	"weir/internal/rt/poll"
	"weir/internal/rt/sock"
)

const patience = int64(20 * time.Second)

// certificate makes a certificate that signs itself.
func certificate(t testing.TB, key crypto.Signer) tls.Certificate {
	t.Helper()
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, DNSNames: []string{"test"},
		NotAfter: time.Now().Add(time.Hour), BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, _ := x509.ParseCertificate(der)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

type pair struct{ server, client *tls.Config }

// configs make a server and a client that trusts it.
func configs(t testing.TB, key crypto.Signer) pair {
	cert := certificate(t, key)
	roots := x509.NewCertPool()
	roots.AddCert(cert.Leaf)
	return pair{
		server: &tls.Config{
			NextProtos:                  []string{"h2", "http/1.1"},
			DynamicRecordSizingDisabled: true,
			GetCertificate: func(h *tls.ClientHelloInfo) (*tls.Certificate, error) {
				return ForHandshake(h, &cert), nil
			},
		},
		client: &tls.Config{RootCAs: roots, ServerName: "test", NextProtos: []string{"http/1.1"}, DynamicRecordSizingDisabled: true},
	}
}

func ecKey(t testing.TB) crypto.Signer {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func rsaKey(t testing.TB) crypto.Signer {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// world is a loop with a listener; serve and dial run in fibers, and the world ends when both have.
type world struct {
	t    *testing.T
	l    *loop.Loop
	ln   *sock.Listener
	left int
}

func worlds(t *testing.T, fn func(t *testing.T, w *world)) {
	for _, k := range []poll.Kind{poll.Epoll, poll.Uring} {
		t.Run(k.String(), func(t *testing.T) {
			if k == poll.Uring && poll.Probe() != nil {
				t.Skip("no io_uring")
			}
			w := &world{t: t}
			o := loop.Options{Poller: k, Buffers: buf.NewShared(buf.Config{Poison: true})}
			o.OnPanic = func(_ *loop.Fiber, v any, stack []byte) { t.Errorf("panic: %v\n%s", v, stack); w.l.Stop() }
			l, err := loop.New(o)
			if err != nil {
				t.Fatal(err)
			}
			w.l = l
			fn(t, w)
			if err := l.Run(); err != nil {
				t.Error(err)
			}
			if n := l.Pool().InUse(); n != 0 {
				t.Errorf("%d buffers left", n)
			}
			if n := l.Counters.Conns.Load(); n != 0 {
				t.Errorf("%d connections left", n)
			}
		})
	}
}

// run has one connection served by serve and used by dial.
func (w *world) run(serve, dial func(f *loop.Fiber, s *sock.Conn)) {
	fd, err := sock.OpenListener(sock.ListenOptions{Addr: netip.MustParseAddrPort("127.0.0.1:0")})
	if err != nil {
		w.t.Fatal(err)
	}
	sa, _ := unix.Getsockname(fd)
	at := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(sa.(*unix.SockaddrInet4).Port))
	w.left = 2
	w.ln = sock.Listen(w.l, fd, func(fd int, peer netip.AddrPort) {
		s := sock.Adopt(w.l, fd, peer)
		w.l.Go(func(f *loop.Fiber) { s.SetOwner(f); serve(f, s); w.done(f) })
	})
	w.l.Go(func(f *loop.Fiber) {
		s, err := sock.Connect(w.l, sock.ConnectOptions{Addr: at})
		if err != nil {
			w.t.Error(err)
			return
		}
		s.SetOwner(f)
		for s.Connecting() {
			f.Park(0)
		}
		dial(f, s)
		w.done(f)
	})
}

func (w *world) done(f *loop.Fiber) {
	w.left--
	if w.left == 0 {
		w.ln.Close()
		for end := w.l.Now() + patience; w.l.Counters.Conns.Load() > 0 && w.l.Now() < end; {
			f.Park(w.l.Now() + int64(time.Millisecond))
		}
		w.l.Stop()
	}
}

// get waits for input.
func get(f *loop.Fiber, c *Conn) (*buf.Buf, error) {
	end := f.Loop().Now() + patience
	for {
		b, err := c.Recv(buf.Large)
		if b != nil || err != nil {
			return b, err
		}
		if !f.Park(end) {
			return nil, errors.New("nothing came")
		}
	}
}

func text(f *loop.Fiber, c *Conn, n int) string {
	var out []byte
	for len(out) < n {
		b, err := get(f, c)
		if err != nil {
			return string(out) + " " + err.Error()
		}
		out = append(out, b.Bytes()...)
		b.Release()
	}
	return string(out)
}

func say(f *loop.Fiber, c *Conn, p []byte) {
	for len(p) > 0 {
		if !c.SendRoom() {
			f.Park(f.Loop().Now() + patience)
			continue
		}
		b := f.Loop().Pool().Get(buf.Large)
		p = p[b.Append(p):]
		c.Send(b)
	}
}

func TestExchange(t *testing.T) {
	for name, key := range map[string]crypto.Signer{"ecdsa": ecKey(t), "rsa": rsaKey(t)} {
		for _, v := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			t.Run(name+tls.VersionName(v), func(t *testing.T) {
				worlds(t, func(t *testing.T, w *world) {
					p := configs(t, key)
					p.client.MaxVersion = v
					exchange(t, w, p)
				})
			})
		}
	}
}

func exchange(t *testing.T, w *world, p pair) {
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	w.run(func(f *loop.Fiber, s *sock.Conn) {
		c, err := Server(f, s, p.server, &Options{Capture: 4096, Reply: true})
		if err != nil {
			t.Error(err)
		}
		defer c.Close()
		if st := c.State(); st.NegotiatedProtocol != "http/1.1" || st.ServerName != "test" {
			t.Errorf("%q, %q", st.NegotiatedProtocol, st.ServerName)
		}
		if len(c.Hello()) < 100 || len(c.Reply()) != replyKept || c.Own() == nil {
			t.Errorf("hello %d, reply %d, own %v", len(c.Hello()), len(c.Reply()), c.Own() != nil)
		}
		if got := text(f, c, len(big)); got != string(big) {
			t.Errorf("%d bytes, or other ones", len(got))
		}
		say(f, c, big)
		if _, err := get(f, c); err != io.EOF || c.Truncated() {
			t.Errorf("%v, truncated %v", err, c.Truncated())
		}
	}, func(f *loop.Fiber, s *sock.Conn) {
		c, err := Client(f, s, p.client, &Options{Deadline: f.Loop().Now() + patience, Records: Records{Max: 1500}})
		if err != nil {
			t.Error(err)
		}
		say(f, c, big)
		if got := text(f, c, len(big)); got != string(big) {
			t.Errorf("%d bytes, or other ones", len(got))
		}
		c.Shutdown()
		for !c.EOF() && c.Err() == nil {
			c.Watch()
			f.Park(f.Loop().Now() + patience)
		}
		c.Close()
	})
}

// heldKey signs once it is let go.
type heldKey struct {
	crypto.Signer
	turned chan struct{}
	late   bool
}

func (k *heldKey) Sign(rand io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	select {
	case <-k.turned:
	case <-time.After(time.Duration(patience)):
		k.late = true
	}
	return k.Signer.Sign(rand, digest, opts)
}

// TestRSASignsElsewhere shows that other fibers run while a key of RSA signs: the key waits for one of them.
func TestRSASignsElsewhere(t *testing.T) {
	worlds(t, func(t *testing.T, w *world) {
		key := &heldKey{Signer: rsaKey(t), turned: make(chan struct{})}
		p := configs(t, rsaKey(t))
		cert := certificate(t, key.Signer)
		cert.PrivateKey = key
		p.server.GetCertificate = func(h *tls.ClientHelloInfo) (*tls.Certificate, error) { return ForHandshake(h, &cert), nil }
		p.client.RootCAs.AddCert(cert.Leaf)
		w.run(func(f *loop.Fiber, s *sock.Conn) {
			c, err := Server(f, s, p.server, &Options{})
			if err != nil {
				t.Error(err)
			}
			if key.late {
				t.Error("the loop stood still")
			}
			c.Close()
		}, func(f *loop.Fiber, s *sock.Conn) {
			w.l.Go(func(f *loop.Fiber) {
				for end := w.l.Now() + patience; w.l.Counters.Offload.Load() == 0 && w.l.Now() < end; {
					f.Yield()
				}
				close(key.turned)
			})
			c, _ := Client(f, s, p.client, &Options{})
			_, _ = get(f, c)
			c.Close()
		})
	})
}

// TestIdleHearsOnlyOfData: tickets arrive after the handshake and must not look like the server's first byte.
func TestIdleHearsOnlyOfData(t *testing.T) {
	worlds(t, func(t *testing.T, w *world) {
		p := configs(t, ecKey(t))
		p.client.ClientSessionCache = tls.NewLRUClientSessionCache(4)
		w.run(func(f *loop.Fiber, s *sock.Conn) {
			c, _ := Server(f, s, p.server, &Options{})
			if got := text(f, c, 4); got != "ping" {
				t.Error(got)
			}
			say(f, c, []byte("pong"))
			_, _ = get(f, c)
			c.Close()
		}, func(f *loop.Fiber, s *sock.Conn) {
			c, _ := Client(f, s, p.client, &Options{})
			calls := 0
			c.SetUser(&calls)
			c.SetIdle(func(u any) {
				*u.(*int)++
				if !c.HasInput() {
					t.Error("called for nothing")
				}
				f.Wake()
			})
			f.Park(w.l.Now() + int64(20*time.Millisecond))
			if calls != 0 {
				t.Error("a ticket is no data")
			}
			say(f, c, []byte("ping"))
			for calls == 0 && f.Park(w.l.Now()+patience) {
			}
			c.SetOwner(f)
			if got := text(f, c, 4); got != "pong" || calls != 1 {
				t.Error(got, calls)
			}
			c.Close()
		})
	})
}

// TestTruncation: an end without notice can be told from one with it.
func TestTruncation(t *testing.T) {
	worlds(t, func(t *testing.T, w *world) {
		p := configs(t, ecKey(t))
		w.run(func(f *loop.Fiber, s *sock.Conn) {
			c, _ := Server(f, s, p.server, &Options{})
			if _, err := get(f, c); err != io.EOF || !c.Truncated() {
				t.Errorf("%v, truncated %v", err, c.Truncated())
			}
			c.Close()
		}, func(f *loop.Fiber, s *sock.Conn) {
			c, _ := Client(f, s, p.client, &Options{})
			s.Shutdown() // below TLS
			_, _ = get(f, c)
			c.Close()
		})
	})
}

func TestHandshakeEnds(t *testing.T) {
	for name, say := range map[string]string{"silence": "", "noise": "GET / HTTP/1.1\r\n\r\n"} {
		t.Run(name, func(t *testing.T) {
			worlds(t, func(t *testing.T, w *world) {
				p := configs(t, ecKey(t))
				w.run(func(f *loop.Fiber, s *sock.Conn) {
					c, err := Server(f, s, p.server, &Options{Deadline: w.l.Now() + int64(30*time.Millisecond)})
					if say == "" && err != ErrTimeout || err == nil || c.Failure() != err {
						t.Errorf("%v", err)
					}
					c.Close()
				}, func(f *loop.Fiber, s *sock.Conn) {
					b := w.l.Pool().Get(buf.Small)
					b.Append([]byte(say))
					s.Send(b)
					wait(f, s)
					s.Close()
				})
			})
		})
	}
}

// TestGarbageAfterHandshake: a broken record ends the connection with an error, never with data.
func TestGarbageAfterHandshake(t *testing.T) {
	worlds(t, func(t *testing.T, w *world) {
		p := configs(t, ecKey(t))
		w.run(func(f *loop.Fiber, s *sock.Conn) {
			c, _ := Server(f, s, p.server, &Options{})
			if b, err := get(f, c); b != nil || err == nil || err == io.EOF || c.Err() == nil {
				t.Errorf("%v", err)
			}
			c.Close()
		}, func(f *loop.Fiber, s *sock.Conn) {
			c, _ := Client(f, s, p.client, &Options{})
			b := w.l.Pool().Get(buf.Small)
			b.Append([]byte("\x17\x03\x03\x00\x20" + "0123456789abcdef0123456789abcdef"))
			s.Send(b)
			_, _ = get(f, c)
			c.Close()
		})
	})
}
