package sock

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"weir/internal/base/buf"
	"weir/internal/rt/loop"
	"weir/internal/rt/poll"
	"weir/internal/rt/sys"
)

func highestFd() int {
	top := 0
	d, _ := os.ReadDir("/proc/self/fd")
	for _, e := range d {
		n := 0
		for _, c := range e.Name() {
			n = n*10 + int(c-'0')
		}
		top = max(top, n)
	}
	return top
}

func testCert(t testing.TB) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC), DNSNames: []string{"test"}}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// TestLawTLSInAFiber is the fiber law that crypto/tls works on a fiber's connection unchanged.
func TestLawTLSInAFiber(t *testing.T) {
	cert := testCert(t)
	worlds(t, setup{}, func(w *world) {
		const size = 1 << 20
		s, at := w.listen(func(c *Conn) {
			w.fiber("tls server", func(f *loop.Fiber) {
				tc := tls.Server(c.NetConn(f), &tls.Config{Certificates: []tls.Certificate{cert}})
				defer tc.Close()
				if _, err := io.Copy(tc, tc); err != nil {
					w.t.Errorf("server: %v", err)
				}
			})
		})
		w.fiber("tls client", func(f *loop.Fiber) {
			defer s.Close()
			tc := tls.Client(w.mustDial(f, at).NetConn(f), &tls.Config{InsecureSkipVerify: true})
			defer tc.Close()
			want := pattern(size, 1)
			for n := 0; n < size; n += 1 << 14 {
				if _, err := tc.Write(want[n : n+1<<14]); err != nil {
					w.t.Errorf("client: %v", err)
					return
				}
				got := make([]byte, 1<<14)
				if _, err := io.ReadFull(tc, got); err != nil || !bytes.Equal(got, want[n:n+1<<14]) {
					w.t.Errorf("client at %d: %v", n, err)
					return
				}
			}
		})
	})
}

func TestNetConnDeadlines(t *testing.T) {
	worlds(t, setup{}, func(w *world) {
		done, end := false, w.l.Now()+patience
		s, at := w.listen(func(c *Conn) {
			w.fiber("server", func(f *loop.Fiber) {
				c.SetOwner(f)
				defer c.Close()
				for !done && w.l.Now() < end {
					f.Park(w.l.Now() + int64(time.Millisecond))
				}
			})
		})
		w.fiber("client", func(f *loop.Fiber) {
			defer s.Close()
			defer func() { done = true }()
			n := w.mustDial(f, at).StreamFor(f)
			defer n.Close()
			if n.RemoteAddr().String() != at.String() {
				w.t.Error(n.RemoteAddr())
			}
			_ = n.SetReadDeadline(w.l.Wall().Add(3 * time.Millisecond))
			if _, err := n.Read(make([]byte, 10)); !errors.Is(err, os.ErrDeadlineExceeded) {
				w.t.Errorf("read: %v", err)
			}
			_ = n.SetDeadline(time.Time{})
			_ = n.SetWriteDeadline(w.l.Wall().Add(20 * time.Millisecond))
			k, err := n.Write(make([]byte, 64<<20))
			if !errors.Is(err, os.ErrDeadlineExceeded) || k == 0 || n.Conn().Queued() == 0 {
				w.t.Errorf("write: %d, %v", k, err)
			}
			n.Conn().Abort()
			if _, err := n.Write([]byte("x")); err == nil {
				w.t.Error("write after the end")
			}
		})
	})
}

// real runs fn in the worlds with a kernel behind them.
func real(t *testing.T, fn func(w *world)) {
	worlds(t, setup{}, func(w *world) {
		if w.sim != nil {
			w.fiber("nothing", func(*loop.Fiber) {})
			return
		}
		fn(w)
	})
}

func TestUnixSockets(t *testing.T) {
	real(t, func(w *world) {
		path := filepath.Join(w.t.(*testing.T).TempDir(), "s")
		old := -1
		for _, o := range []ListenOptions{{Unix: path, Mode: 0o600}, {Unix: path, Mode: 0o660}, {Unix: "@weir-" + path}} {
			fd, err := OpenListener(o)
			if err != nil {
				w.t.Fatal(err)
			}
			if old >= 0 { // its path was taken over
				unix.Close(old)
				old = -1
			}
			if o.Mode == 0o600 {
				old = fd
				continue
			}
			if o.Mode != 0 {
				if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o660 || st.Mode()&os.ModeSocket == 0 {
					w.t.Fatal(st, err)
				}
			}
			left := 1
			s := Listen(w.l, fd, func(fd int, peer netip.AddrPort) {
				c := Adopt(w.l, fd, peer)
				w.fiber("echo", func(f *loop.Fiber) {
					c.SetOwner(f)
					if c.Peer().IsValid() || c.Local().IsValid() {
						w.t.Error("a unix socket has an IP address")
					}
					if err := echo(f, c); err != nil {
						w.t.Error(err)
					}
				})
			})
			w.fiber("client", func(f *loop.Fiber) {
				c, err := Connect(w.l, ConnectOptions{Unix: o.Unix})
				if err != nil {
					w.t.Error(err)
					return
				}
				c.SetOwner(f)
				p := pattern(500_000, 1)
				if err := send(f, c, p); err != nil {
					w.t.Error(err)
				}
				c.Shutdown()
				if got, err := recvN(f, c, len(p)); err != nil || !bytes.Equal(got, p) {
					w.t.Errorf("%d bytes, %v", len(got), err)
				}
				c.Close()
				if left--; left == 0 {
					s.Close()
				}
			})
		}
		w.fiber("nobody listens", func(f *loop.Fiber) {
			c, err := Connect(w.l, ConnectOptions{Unix: path + "-not"})
			if err != nil {
				return
			}
			c.SetOwner(f)
			for c.Connecting() {
				f.Park(0)
			}
			if c.Err() != unix.ENOENT {
				w.t.Errorf("%v", c.Err())
			}
			c.Close()
		})
	})
	long := "/" + string(bytes.Repeat([]byte("x"), 120))
	if _, err := OpenListener(ListenOptions{Unix: long}); err == nil {
		t.Error("a path that is too long")
	}
	if _, err := OpenListener(ListenOptions{}); err == nil {
		t.Error("no address")
	}
}

func getInt(t testing.TB, fd, level, opt int) int {
	v, r := sys.RawGetInt(fd, level, opt)
	if r < 0 {
		t.Error(sys.Errno(r))
	}
	return v
}

func TestOptions(t *testing.T) {
	real(t, func(w *world) {
		fd, err := OpenListener(ListenOptions{
			Addr: netip.MustParseAddrPort("127.0.0.1:0"), ReusePort: true, FastOpen: true, MSS: 1000,
			UserTimeout: 7 * time.Second, Backlog: 10, FreeBind: true,
		})
		if err != nil {
			w.t.Fatal(err)
		}
		at := boundTo(fd)
		if fd2, err := OpenListener(ListenOptions{Addr: at, ReusePort: true}); err != nil {
			w.t.Error(err)
		} else {
			unix.Close(fd2)
		}
		if _, err := OpenListener(ListenOptions{Addr: at}); !errors.Is(err, unix.EADDRINUSE) {
			w.t.Errorf("second listener: %v", err)
		}
		s := Listen(w.l, fd, func(fd int, peer netip.AddrPort) {
			if getInt(w.t, fd, unix.IPPROTO_TCP, unix.TCP_NODELAY) == 0 || getInt(w.t, fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT) != 7000 {
				w.t.Error("an accepted socket does not inherit the options")
			}
			c := Adopt(w.l, fd, peer)
			if err := c.SetKeepAlive(KeepAlive{On: true, Idle: 30 * time.Second, Interval: 5 * time.Second, Count: 3}); err != nil {
				w.t.Error(err)
			}
			if getInt(w.t, fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE) == 0 || getInt(w.t, fd, unix.IPPROTO_TCP, unix.TCP_KEEPIDLE) != 30 {
				w.t.Error("keep-alive is not set")
			}
			if got := c.Peer(); got.Addr() != netip.MustParseAddr("127.0.0.2") {
				w.t.Errorf("peer %v", got)
			}
			c.Close()
		})
		w.fiber("client", func(f *loop.Fiber) {
			defer s.Close()
			called := false
			c, err := Connect(w.l, ConnectOptions{
				Addr: at, Source: netip.MustParseAddrPort("127.0.0.2:0"), UserTimeout: 5 * time.Second, MSS: 900,
				KeepAlive: KeepAlive{On: true}, Interface: "lo",
				Control: func(fd int) error {
					called = true
					return nil
				},
			})
			if err != nil {
				w.t.Error(err)
				return
			}
			defer c.Close()
			c.SetOwner(f)
			if _, err := recv(f, c, buf.Std); err != io.EOF {
				w.t.Error(err)
			}
			if !called || c.Local().Addr() != netip.MustParseAddr("127.0.0.2") || getInt(w.t, c.Fd(), unix.IPPROTO_TCP, unix.TCP_NODELAY) == 0 {
				w.t.Error("options", called, c.Local())
			}
			if _, err := Connect(w.l, ConnectOptions{Addr: at, Source: netip.MustParseAddrPort("192.0.2.1:0")}); !errors.Is(err, unix.EADDRNOTAVAIL) {
				w.t.Errorf("foreign source: %v", err)
			}
			if _, err := Connect(w.l, ConnectOptions{Addr: at, Control: func(int) error { return io.ErrNoProgress }}); err != io.ErrNoProgress {
				w.t.Errorf("failing control: %v", err)
			}
			if _, err := Connect(w.l, ConnectOptions{}); err == nil {
				w.t.Error("no address")
			}
		})
	})
}

func TestIPv6(t *testing.T) {
	fd, err := OpenListener(ListenOptions{Addr: netip.MustParseAddrPort("[::1]:0"), V6Only: true})
	if err != nil {
		t.Skip(err)
	}
	unix.Close(fd)
	real(t, func(w *world) {
		fd, err := OpenListener(ListenOptions{Addr: netip.MustParseAddrPort("[::1]:0"), V6Only: true})
		if err != nil {
			w.t.Fatal(err)
		}
		at := boundTo(fd)
		s := Listen(w.l, fd, func(fd int, peer netip.AddrPort) {
			c := Adopt(w.l, fd, peer)
			if c.Local() != at || c.Peer().Addr() != at.Addr() {
				w.t.Errorf("%v %v", c.Local(), c.Peer())
			}
			c.Close()
		})
		w.fiber("client", func(f *loop.Fiber) {
			defer s.Close()
			c := w.mustDial(f, at)
			defer c.Close()
			if _, err := recv(f, c, buf.Std); err != io.EOF {
				w.t.Error(err)
			}
		})
	})
}

// TestSplice sends through a relay that splices both directions, part of the input having been received before.
func TestSplice(t *testing.T) {
	real(t, func(w *world) {
		const size = 8 << 20
		want := pattern(1<<20, 3)
		s, at := w.listenEcho(failOn(w.t))
		r, relayAt := w.listen(func(a *Conn) {
			w.fiber("relay", func(f *loop.Fiber) {
				defer a.Close()
				b := w.mustDial(f, at)
				defer b.Close()
				a.SetOwner(f)
				first, err := recv(f, a, buf.Std)
				if err != nil {
					w.t.Error(err)
					return
				}
				a.Unread(first)
				done := false
				w.fiber("back", func(g *loop.Fiber) {
					defer func() {
						done = true
						f.Wake()
					}()
					if n, err := b.SpliceTo(g, a, size, patience); n != size || err != nil {
						w.t.Errorf("back: %d, %v", n, err)
					}
				})
				if n, err := a.SpliceTo(f, b, -1, patience); n != size || err != io.EOF {
					w.t.Errorf("forth: %d, %v", n, err)
				}
				b.Shutdown()
				for !done && f.Park(w.l.Now()+patience) {
				}
			})
		})
		w.fiber("client", func(f *loop.Fiber) {
			defer s.Close()
			defer r.Close()
			c := w.mustDial(f, relayAt)
			defer c.Close()
			done := false
			c.SetSender(f)
			w.fiber("reader", func(g *loop.Fiber) {
				defer func() {
					done = true
					f.Wake()
				}()
				c.SetOwner(g)
				for i := range size >> 20 {
					if got, err := recvN(g, c, 1<<20); err != nil || !bytes.Equal(got, want) {
						w.t.Errorf("at %d MiB: %v", i, err)
						return
					}
				}
			})
			for range size >> 20 {
				for _, part := range [][]byte{want[:1000], want[1000:]} {
					if err := send(f, c, part); err != nil {
						w.t.Error(err)
					}
				}
			}
			c.Shutdown()
			for !done && f.Park(w.l.Now()+patience) {
			}
		})
	})
}

func TestSpliceTo(t *testing.T) {
	real(t, func(w *world) {
		const size = 4 << 20
		want := pattern(size, 8)
		sink, sinkAt := w.listen(func(c *Conn) {
			w.fiber("sink", func(f *loop.Fiber) {
				c.SetOwner(f)
				defer c.Close()
				got, err := recvN(f, c, size)
				if err != nil || !bytes.Equal(got, want) {
					w.t.Errorf("sink: %v, %d bytes", err, len(got))
				}
				got, err = recvN(f, c, 3)
				if err != nil || string(got) != "end" {
					w.t.Errorf("after splicing: %q, %v", got, err)
				}
			})
		})
		relay, at := w.listen(func(a *Conn) {
			w.fiber("relay", func(f *loop.Fiber) {
				defer a.Close()
				b := w.mustDial(f, sinkAt)
				defer b.Close()
				if n, err := a.SpliceTo(f, b, size, patience); n != size || err != nil {
					w.t.Errorf("SpliceTo: %d, %v", n, err)
				}
				// The connection is an ordinary one again.
				rest, err := recvN(f, a, 3)
				if err != nil || string(rest) != "end" {
					w.t.Errorf("%q, %v", rest, err)
				}
				_ = send(f, b, rest)
				if n, err := a.SpliceTo(f, b, -1, int64(3*time.Millisecond)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
					w.t.Errorf("idle SpliceTo: %d, %v", n, err)
				}
			})
		})
		w.fiber("source", func(f *loop.Fiber) {
			defer sink.Close()
			defer relay.Close()
			c := w.mustDial(f, at)
			defer c.Close()
			_ = send(f, c, want)
			_ = send(f, c, []byte("end"))
			if _, err := recv(f, c, buf.Std); err != io.EOF {
				w.t.Error(err)
			}
		})
	})
}

func TestAdoptForeign(t *testing.T) {
	real(t, func(w *world) {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			w.t.Fatal(err)
		}
		if w.l.Kind() == poll.Uring {
			_ = unix.SetNonblock(fds[0], true)
		}
		c, err := AdoptForeign(w.l, fds[0], netip.AddrPort{})
		if err != nil {
			w.t.Fatal(err)
		}
		w.fiber("reader", func(f *loop.Fiber) {
			c.SetOwner(f)
			if b, err := c.Recv(buf.Std); b != nil || err != nil {
				w.t.Error(err)
			}
			if _, err := unix.Write(fds[1], []byte("hi")); err != nil {
				w.t.Error(err)
			}
			if p, err := recvN(f, c, 2); err != nil || string(p) != "hi" {
				w.t.Error(p, err)
			}
			c.Close()
			unix.Close(fds[1])
		})
	})
}

// TestStopWhileListening ends a loop whose listener is still there, as a hard stop does: nothing may keep it from ending.
func TestStopWhileListening(t *testing.T) {
	for _, k := range []poll.Kind{poll.Uring, poll.Epoll} {
		w := newWorld(t, k, setup{})
		w.listen(func(c *Conn) { c.Close() })
		w.l.Go(func(*loop.Fiber) { w.l.Stop() })
		if err := w.l.Run(); err != nil {
			t.Errorf("%v: %v", k, err)
		}
	}
}
