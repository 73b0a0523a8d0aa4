package sock

import (
	"bytes"
	"io"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"weir/internal/base/buf"
	"weir/internal/rt/loop"
	"weir/internal/rt/poll"
	"weir/internal/rt/sys"
)

func boundTo(fd int) netip.AddrPort {
	a := new(sys.SockAddr)
	sys.RawName(fd, a)
	return a.IP()
}

func failOn(t testing.TB) func(error) {
	return func(err error) { t.Errorf("echo: %v", err) }
}

func pattern(n int, seed byte) []byte {
	p := make([]byte, n)
	x := uint32(seed) + 1
	for i := range p {
		x = x*1664525 + 1013904223
		p[i] = byte(x >> 24)
	}
	return p
}

func TestEcho(t *testing.T) {
	worlds(t, setup{}, func(w *world) {
		s, at := w.listenEcho(failOn(w.t))
		w.fiber("client", func(f *loop.Fiber) {
			defer s.Close()
			c := w.mustDial(f, at)
			defer c.Close()
			if c.Peer() != at || !c.Local().IsValid() {
				w.t.Errorf("addresses %v and %v, listening on %v", c.Peer(), c.Local(), at)
			}
			for i := range 200 {
				p := pattern(1+w.rng.IntN(3000), byte(i))
				if err := send(f, c, p); err != nil {
					w.t.Error(err)
					return
				}
				got, err := recvN(f, c, len(p))
				if err != nil || !bytes.Equal(got, p) {
					w.t.Errorf("round %d: %v, %d of %d bytes", i, err, len(got), len(p))
					return
				}
			}
		})
	})
}

func TestManyClients(t *testing.T) {
	worlds(t, setup{}, func(w *world) {
		s, at := w.listenEcho(failOn(w.t))
		left := 100
		for i := range left {
			w.fiber("client", func(f *loop.Fiber) {
				defer func() {
					if left--; left == 0 {
						s.Close()
					}
				}()
				c := w.mustDial(f, at)
				defer c.Close()
				for r := range 20 {
					p := pattern(1+w.rng.IntN(500), byte(i+r))
					if err := send(f, c, p); err != nil {
						w.t.Error(err)
						return
					}
					if got, err := recvN(f, c, len(p)); err != nil || !bytes.Equal(got, p) {
						w.t.Errorf("client %d round %d: %v", i, r, err)
						return
					}
				}
			})
		}
	})
}

func TestHalfClose(t *testing.T) {
	worlds(t, setup{}, func(w *world) {
		const size = 300_000
		s, at := w.listen(func(c *Conn) {
			w.fiber("server", func(f *loop.Fiber) {
				c.SetOwner(f)
				defer c.Close()
				n := 0
				for {
					b, err := recv(f, c, buf.Large)
					if err == io.EOF {
						break
					}
					if err != nil {
						w.t.Error(err)
						return
					}
					n += b.Len()
					b.Release()
				}
				if !c.EOF() || c.HasInput() {
					w.t.Error("the end of the stream does not show")
				}
				// The other direction still works.
				if err := send(f, c, pattern(n, 9)); err != nil {
					w.t.Error(err)
				}
			})
		})
		w.fiber("client", func(f *loop.Fiber) {
			defer s.Close()
			c := w.mustDial(f, at)
			defer c.Close()
			if err := send(f, c, pattern(size, 3)); err != nil {
				w.t.Error(err)
			}
			c.Shutdown()
			got, err := recvN(f, c, size)
			if err != nil || !bytes.Equal(got, pattern(size, 9)) {
				w.t.Errorf("%v, %d bytes", err, len(got))
			}
			if _, err := recv(f, c, buf.Std); err != io.EOF {
				w.t.Errorf("%v after the last byte", err)
			}
		})
	})
}

func TestBigTransferUnderBackPressure(t *testing.T) {
	worlds(t, setup{opt: loop.Options{SendHigh: 64 << 10, SendLow: 16 << 10}}, func(w *world) {
		const size = 24 << 20
		want := pattern(1<<20, 5)
		s, at := w.listen(func(c *Conn) {
			w.fiber("sender", func(f *loop.Fiber) {
				c.SetOwner(f)
				defer c.Close()
				for range size >> 20 {
					if err := send(f, c, want); err != nil {
						w.t.Error(err)
						return
					}
					if q := c.Queued(); q > 64<<10+16384 {
						w.t.Errorf("%d bytes queued", q)
						return
					}
				}
			})
		})
		w.fiber("slow reader", func(f *loop.Fiber) {
			defer s.Close()
			c := w.mustDial(f, at)
			defer c.Close()
			n := 0
			for {
				b, err := recv(f, c, buf.Class(w.rng.IntN(int(buf.Classes))))
				if err == io.EOF {
					break
				}
				if err != nil {
					w.t.Error(err)
					return
				}
				for i, x := range b.Bytes() {
					if x != want[(n+i)%len(want)] {
						w.t.Errorf("wrong byte at %d", n+i)
						b.Release()
						return
					}
				}
				n += b.Len()
				b.Release()
				if w.rng.IntN(200) == 0 {
					f.Park(w.l.Now() + int64(time.Millisecond))
				}
			}
			if n != size {
				w.t.Errorf("%d of %d bytes", n, size)
			}
			k := &w.l.Counters
			if k.Pauses.Load() == 0 || k.Pauses.Load() != k.Resumes.Load() {
				w.t.Errorf("%d pauses, %d resumes", k.Pauses.Load(), k.Resumes.Load())
			}
		})
	})
}

func TestConnectRefused(t *testing.T) {
	worlds(t, setup{}, func(w *world) {
		s, at := w.listenEcho(nil)
		s.Close()
		w.fiber("client", func(f *loop.Fiber) {
			f.Park(w.l.Now() + int64(time.Millisecond)) // the listener is gone by then
			if _, err := w.dial(f, at); err == nil || !bytes.Contains([]byte(err.Error()), []byte("refused")) {
				w.t.Errorf("connect: %v", err)
			}
			c, err := Connect(w.l, ConnectOptions{Addr: at})
			if err == nil {
				c.Send(w.l.Pool().Get(buf.Std)) // empty: dropped
				b := w.l.Pool().Get(buf.Std)
				b.Append([]byte("never"))
				c.Send(b)
				c.Close() // while connecting
			}
		})
	})
}

func TestAbortReachesPeer(t *testing.T) {
	worlds(t, setup{}, func(w *world) {
		s, at := w.listen(func(c *Conn) {
			w.fiber("server", func(f *loop.Fiber) {
				c.SetOwner(f)
				defer c.Close()
				if _, err := recv(f, c, buf.Std); err != unix.ECONNRESET {
					w.t.Errorf("after a reset: %v", err)
				}
				if c.Err() != unix.ECONNRESET {
					w.t.Errorf("Err after a reset: %v", c.Err())
				}
			})
		})
		w.fiber("client", func(f *loop.Fiber) {
			defer s.Close()
			c := w.mustDial(f, at)
			f.Park(w.l.Now() + int64(2*time.Millisecond))
			c.Abort()
			c.Abort()
			c.Close()
			if _, err := c.Recv(buf.Std); err != ErrClosed || !c.Closed() {
				w.t.Errorf("Recv after Abort: %v", err)
			}
		})
	})
}

func TestCloseWithReceivePending(t *testing.T) {
	worlds(t, setup{}, func(w *world) {
		s, at := w.listenEcho(nil)
		w.fiber("client", func(f *loop.Fiber) {
			defer s.Close()
			for range 50 {
				c := w.mustDial(f, at)
				if b, err := c.Recv(buf.Std); b != nil || err != nil {
					w.t.Errorf("input out of nowhere: %v", err)
				}
				if w.rng.IntN(2) == 0 {
					c.Abort()
				} else {
					c.Close()
				}
			}
		})
	})
}

func TestCloseSendsQueueFirst(t *testing.T) {
	worlds(t, setup{}, func(w *world) {
		const size = 3 << 20
		s, at := w.listen(func(c *Conn) {
			w.fiber("server", func(f *loop.Fiber) {
				c.SetOwner(f)
				for n := 0; n < size; { // beyond any mark: nothing is lost by Close
					b := w.l.Pool().Get(buf.Large)
					n += b.Append(pattern(64<<10, 7))
					c.Send(b)
				}
				c.Close()
				if !c.Closed() {
					w.t.Error("not closed")
				}
			})
		})
		w.fiber("client", func(f *loop.Fiber) {
			defer s.Close()
			c := w.mustDial(f, at)
			defer c.Close()
			got, err := recvN(f, c, size)
			if err != nil || !bytes.Equal(got, bytes.Repeat(pattern(64<<10, 7), size>>16)) {
				w.t.Errorf("%v, %d bytes", err, len(got))
			}
			if _, err := recv(f, c, buf.Std); err != io.EOF {
				w.t.Errorf("%v after the last byte", err)
			}
		})
	})
}

func TestCloseOfDeafPeerIsBounded(t *testing.T) {
	worlds(t, setup{opt: loop.Options{CloseTimeout: 50 * time.Millisecond}}, func(w *world) {
		s, at := w.listen(func(c *Conn) {
			for range 200 {
				b := w.l.Pool().Get(buf.Large)
				b.W = b.Cap()
				c.Send(b)
			}
			c.Close()
		})
		w.fiber("deaf client", func(f *loop.Fiber) {
			defer s.Close()
			c := w.mustDial(f, at)
			start := w.l.Now()
			for w.l.Counters.Conns.Load() != 1 && w.l.Now()-start < patience {
				f.Park(w.l.Now() + int64(time.Millisecond))
			}
			if d := w.l.Now() - start; d > int64(10*time.Second) {
				w.t.Errorf("took %d ns", d)
			}
			c.Close()
		})
	})
}

func TestAbortWithSendPending(t *testing.T) {
	worlds(t, setup{}, func(w *world) {
		s, at := w.listen(func(c *Conn) {
			w.fiber("server", func(f *loop.Fiber) {
				c.SetOwner(f)
				for range 200 {
					b := w.l.Pool().Get(buf.Large)
					b.W = b.Cap()
					c.Send(b)
				}
				if w.rng.IntN(2) == 0 {
					f.Park(w.l.Now() + int64(5*time.Millisecond))
				}
				c.Abort()
			})
		})
		w.fiber("deaf client", func(f *loop.Fiber) {
			defer s.Close()
			for range 5 {
				c := w.mustDial(f, at)
				f.Park(w.l.Now() + int64(10*time.Millisecond))
				c.Close()
			}
		})
	})
}

func TestAcceptBurstAndPause(t *testing.T) {
	worlds(t, setup{}, func(w *world) {
		n := 0
		var s *Listener
		s, at := w.listen(func(c *Conn) {
			n++
			c.Close()
		})
		w.fiber("clients", func(f *loop.Fiber) {
			defer s.Close()
			s.Pause()
			f.Park(w.l.Now() + int64(2*time.Millisecond))
			var cs []*Conn
			for range 60 {
				cs = append(cs, w.mustDial(f, at)) // the kernel completes the handshake
			}
			f.Park(w.l.Now() + int64(2*time.Millisecond))
			if n != 0 {
				w.t.Errorf("%d connections accepted during the pause", n)
			}
			s.Resume()
			for end := w.l.Now() + patience; n < 60 && w.l.Now() < end; {
				f.Park(w.l.Now() + int64(time.Millisecond))
			}
			if n != 60 {
				w.t.Errorf("%d of 60 accepted", n)
			}
			for _, c := range cs {
				c.Close()
			}
		})
	})
}

func TestIdleConnections(t *testing.T) {
	worlds(t, setup{}, func(w *world) {
		var conns []*Conn
		calls := 0
		s, at := w.listen(func(c *Conn) {
			conns = append(conns, c)
			c.SetUser(&calls)
			var onInput func(user any)
			onInput = func(user any) {
				*user.(*int)++
				w.fiber("request", func(f *loop.Fiber) {
					c.SetOwner(f)
					for {
						b, err := c.Recv(buf.Std)
						if err != nil {
							c.Close()
							return
						}
						if b == nil {
							c.SetIdle(onInput)
							return
						}
						c.Send(b)
					}
				})
			}
			c.SetIdle(onInput)
		})
		w.fiber("client", func(f *loop.Fiber) {
			defer s.Close()
			c := w.mustDial(f, at)
			defer c.Close()
			f.Park(w.l.Now() + int64(5*time.Millisecond))
			if len(conns) != 1 || calls != 0 || w.l.Fibers() != 1 {
				w.t.Errorf("idle: %d connections, %d calls, %d fibers", len(conns), calls, w.l.Fibers())
			}
			for i := range 10 {
				_ = send(f, c, []byte("ping"))
				if p, err := recvN(f, c, 4); err != nil || string(p) != "ping" {
					w.t.Errorf("%q, %v", p, err)
					return
				}
				f.Park(w.l.Now() + int64(time.Millisecond))
				// Being called for nothing is allowed, and the simulated network does it.
				if calls != i+1 && w.sim == nil || calls < i+1 {
					w.t.Errorf("%d calls after %d rounds", calls, i+1)
				}
			}
		})
	})
}

func TestWatchWakesForWhatIsThere(t *testing.T) {
	worlds(t, setup{}, func(w *world) {
		s, at := w.listen(func(c *Conn) {
			b := w.l.Pool().Get(buf.Std)
			b.Append([]byte("hello"))
			c.Send(b)
			c.Close()
		})
		w.fiber("client", func(f *loop.Fiber) {
			defer s.Close()
			c := w.mustDial(f, at)
			defer c.Close()
			c.Watch()
			for !c.HasInput() {
				if !f.Park(w.l.Now() + patience) {
					w.t.Error("input does not wake")
					return
				}
			}
			called := false
			c.SetIdle(func(any) {
				called = true
				f.Wake()
			})
			for !called {
				if !f.Park(w.l.Now() + patience) {
					w.t.Error("input that is there does not call")
					return
				}
			}
			c.SetOwner(f)
			if p, err := recvN(f, c, 5); err != nil || string(p) != "hello" {
				w.t.Error(p, err)
			}
			c.Watch()
			for !c.EOF() {
				if !f.Park(w.l.Now() + patience) {
					w.t.Error("the end does not wake")
					return
				}
			}
		})
	})
}

func TestWaitSentAndSendAfterFailure(t *testing.T) {
	worlds(t, setup{}, func(w *world) {
		s, at := w.listen(func(c *Conn) {
			w.fiber("server", func(f *loop.Fiber) {
				c.SetOwner(f)
				_, _ = recvN(f, c, 1<<20)
				c.Abort()
			})
		})
		w.fiber("client", func(f *loop.Fiber) {
			defer s.Close()
			c := w.mustDial(f, at)
			defer c.Close()
			_ = send(f, c, pattern(1<<20, 1))
			for !c.WaitSent() {
				if !f.Park(w.l.Now() + patience) {
					w.t.Error("WaitSent does not wake")
					return
				}
			}
			if c.Queued() != 0 {
				w.t.Error("queue not empty")
			}
			end := w.l.Now() + patience
			for c.Err() == nil && w.l.Now() < end {
				_ = send(f, c, []byte("x"))
				f.Park(w.l.Now() + int64(time.Millisecond))
			}
			if c.Err() == nil {
				w.t.Error("sending to a dead peer does not fail")
			}
		})
	})
}

func TestDeadlineWhileReceiving(t *testing.T) {
	worlds(t, setup{}, func(w *world) {
		s, at := w.listenEcho(failOn(w.t))
		w.fiber("client", func(f *loop.Fiber) {
			defer s.Close()
			c := w.mustDial(f, at)
			defer c.Close()
			for range 5 {
				if b, err := c.Recv(buf.Std); b != nil || err != nil {
					w.t.Error(err)
				}
				for f.Park(w.l.Now() + int64(3*time.Millisecond)) {
				}
			}
			_ = send(f, c, []byte("still alive"))
			if p, err := recvN(f, c, 11); err != nil {
				w.t.Error(p, err)
			}
		})
	})
}

func TestBufferLimit(t *testing.T) {
	worlds(t, setup{buffers: buf.Config{Limit: 12}}, func(w *world) {
		s, at := w.listenEcho(failOn(w.t))
		left := 40
		for i := range left {
			w.fiber("client", func(f *loop.Fiber) {
				defer func() {
					if left--; left == 0 {
						s.Close()
					}
				}()
				c := w.mustDial(f, at)
				defer c.Close()
				for r := range 10 {
					p := pattern(1000, byte(i+r))
					if err := send(f, c, p); err != nil {
						w.t.Error(err)
						return
					}
					if got, err := recvN(f, c, len(p)); err != nil || !bytes.Equal(got, p) {
						w.t.Errorf("client %d round %d: %v", i, r, err)
						return
					}
				}
			})
		}
	})
}

func TestBufferFaults(t *testing.T) {
	worlds(t, setup{buffers: buf.Config{FailPercent: 30, Poison: true}}, func(w *world) {
		s, at := w.listenEcho(failOn(w.t))
		w.fiber("client", func(f *loop.Fiber) {
			defer s.Close()
			c := w.mustDial(f, at)
			defer c.Close()
			for i := range 100 {
				p := pattern(1+w.rng.IntN(40000), byte(i))
				if err := send(f, c, p); err != nil {
					w.t.Error(err)
					return
				}
				if got, err := recvN(f, c, len(p)); err != nil || !bytes.Equal(got, p) {
					w.t.Errorf("round %d: %v", i, err)
					return
				}
			}
		})
	})
}

func TestPostAndOffloadBesideTraffic(t *testing.T) {
	worlds(t, setup{}, func(w *world) {
		s, at := w.listenEcho(failOn(w.t))
		var posted atomic.Int32
		w.fiber("client", func(f *loop.Fiber) {
			defer s.Close()
			c := w.mustDial(f, at)
			defer c.Close()
			for i := range 30 {
				done := false
				go w.l.Post(func() {
					posted.Add(1)
					done = true
					f.Wake()
				})
				x := 0
				f.Offload(func() { x = i })
				if x != i {
					w.t.Error("offload lost")
				}
				_ = send(f, c, []byte("abc"))
				if _, err := recvN(f, c, 3); err != nil {
					w.t.Error(err)
					return
				}
				for !done {
					f.Park(w.l.Now() + patience)
				}
			}
			if posted.Load() != 30 {
				w.t.Error(posted.Load())
			}
		})
	})
}

func TestReleaseKeepsListening(t *testing.T) {
	worlds(t, setup{}, func(w *world) {
		if w.sim != nil {
			w.fiber("nothing", func(*loop.Fiber) {})
			return
		}
		s, at := w.listenEcho(failOn(w.t))
		fd := int(s.file.Fd)
		w.fiber("client", func(f *loop.Fiber) {
			c := w.mustDial(f, at)
			c.Close()
			s.Release()
			f.Park(w.l.Now() + int64(2*time.Millisecond))
			if w.l.Poller().Attached() > 4 {
				w.t.Error("listener still attached")
			}
			s2 := Listen(w.l, fd, func(fd int, peer netip.AddrPort) {
				c := Adopt(w.l, fd, peer)
				if c.Peer().Addr() != at.Addr() {
					w.t.Errorf("peer %v", c.Peer())
				}
				c.Close()
			})
			c = w.mustDial(f, at)
			if _, err := recv(f, c, buf.Std); err != io.EOF {
				w.t.Error(err)
			}
			c.Close()
			s2.Close()
		})
	})
}

var _ = poll.Probe
