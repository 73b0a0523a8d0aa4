package sock

import (
	"reflect"
	"testing"

	"weir/internal/base/buf"
	"weir/internal/rt/loop"
	"weir/internal/rt/poll"
)

// relayOnce is what a keep-alive request costs a proxy: receive, send on, receive the answer, send it back.
func relayOnce(f *loop.Fiber, client, server *Conn) bool {
	for _, d := range [2][2]*Conn{{client, server}, {server, client}} {
		b, err := recv(f, d[0], buf.Std)
		if err != nil {
			return false
		}
		d[1].Send(b)
	}
	return true
}

// exchange sets up client, proxy and server on one loop and calls round for as long as it likes; each call of its
// argument is one request.
func exchange(t testing.TB, k poll.Kind, round func(request func())) {
	w := newWorld(t, k, setup{})
	s, at := w.listenEcho(nil)
	p, proxyAt := w.listen(func(c *Conn) {
		w.fiber("proxy", func(f *loop.Fiber) {
			c.SetOwner(f)
			defer c.Close()
			srv := w.mustDial(f, at)
			defer srv.Close()
			for relayOnce(f, c, srv) {
			}
		})
	})
	w.fiber("client", func(f *loop.Fiber) {
		defer s.Close()
		defer p.Close()
		c := w.mustDial(f, proxyAt)
		defer c.Close()
		msg := pattern(200, 1)
		round(func() {
			b := w.l.Pool().Get(buf.Std)
			b.Append(msg)
			c.Send(b)
			for n := 0; n < len(msg); {
				b, err := recv(f, c, buf.Std)
				if err != nil {
					t.Error(err)
					return
				}
				n += b.Len()
				b.Release()
			}
		})
	})
	w.run()
}

func TestExchangeAllocatesNothing(t *testing.T) {
	for _, k := range []poll.Kind{poll.Epoll, poll.Uring} {
		if k == poll.Uring && poll.Probe() != nil {
			continue
		}
		exchange(t, k, func(request func()) {
			for range 100 {
				request()
			}
			if n := testing.AllocsPerRun(200, request); n > 0 {
				t.Errorf("%v: %v allocations per request", k, n)
			}
		})
	}
}

// TestConnIsSmall holds the size of what an idle connection keeps.
func TestConnIsSmall(t *testing.T) {
	if n := reflect.TypeFor[Conn]().Size(); n > 200 {
		t.Errorf("a connection takes %d bytes", n)
	} else {
		t.Logf("%d bytes", n)
	}
}

func BenchmarkEcho(b *testing.B) {
	for _, k := range []poll.Kind{poll.Epoll, poll.Uring} {
		b.Run(k.String(), func(b *testing.B) {
			if k == poll.Uring && poll.Probe() != nil {
				b.Skip()
			}
			b.ReportAllocs()
			exchange(b, k, func(request func()) {
				for range 100 {
					request()
				}
				b.ResetTimer()
				for range b.N {
					request()
				}
				b.StopTimer()
			})
		})
	}
}
