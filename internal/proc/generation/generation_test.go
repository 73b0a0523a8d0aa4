package generation

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"weir/internal/base/buf"
	"weir/internal/rt/poll"
)

const defaults = `
defaults
  mode http
  timeout client 10s
  timeout server 10s
  timeout connect 2s
`

func proxyTo(port int, o *origin) string {
	return defaults + fmt.Sprintf("frontend f\n  bind 127.0.0.1:%d\n  default_backend b\nbackend b\n  server s %s\n", port, o.Addr())
}

// Two configurations live side by side: traffic moves from one to the other without a failed request or a closed
// connection, and the first one ends.
func TestSwitchUnderTraffic(t *testing.T) {
	onPollers(t, func(t *testing.T, k poll.Kind) {
		one, two := startOrigin(t, "one"), startOrigin(t, "two")
		port := freePort(t)
		p := startProcess(t, k, 2, proxyTo(port, one))
		first := p.current

		var stop atomic.Bool
		var byOne, byTwo atomic.Int64
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for !stop.Load() {
					c := dial(t, port)
					for range 20 {
						status, head, body, err := c.get("/x")
						if err != nil {
							t.Errorf("request failed: %q %v", status, err)
							return
						}
						if status != "HTTP/1.1 200 OK" {
							t.Errorf("status %q", status)
						}
						switch body {
						case "one /x":
							byOne.Add(1)
						case "two /x":
							byTwo.Add(1)
						default:
							t.Errorf("body %q", body)
						}
						if strings.Contains(head, "connection: close") {
							t.Error("a reload closes connections")
						}
					}
					c.Close()
				}
			})
		}
		until(t, "traffic through the first generation", func() bool { return byOne.Load() > 200 })
		second := p.build(proxyTo(port, two))
		if n := p.Keeper().Sockets(); n != 1 {
			t.Errorf("%d listening sockets for two generations of one address", n)
		}
		if byTwo.Load() != 0 {
			t.Error("a generation that is built must not serve yet")
		}
		p.Switch(second)
		p.wait(first.drained, "the first generation to drain")
		n := byTwo.Load()
		until(t, "traffic through the second generation", func() bool { return byTwo.Load() > n+200 })
		if p.Draining() != 0 && !eventually(func() bool { return p.Draining() == 0 }) {
			t.Error("the first generation is still listed")
		}
		stop.Store(true)
		wg.Wait()
		t.Logf("%d requests by the first generation, %d by the second", byOne.Load(), byTwo.Load())
	})
}

func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	if !eventually(cond) {
		t.Fatalf("waited in vain for %s", what)
	}
}

func eventually(cond func() bool) bool {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(15 * time.Second); time.Now().Before(deadline); <-tick.C {
		if cond() {
			return true
		}
	}
	return cond()
}

// A soft stop lets a request in progress finish and ends the process after it.
func TestSoftStopFinishesRequests(t *testing.T) {
	onPollers(t, func(t *testing.T, k poll.Kind) {
		release := make(chan struct{})
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		asked := make(chan struct{})
		go func() {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			io.ReadAtLeast(c, make([]byte, 4096), 10)
			close(asked)
			<-release
			fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate")
			io.Copy(io.Discard, c)
		}()
		port := freePort(t)
		p := startProcess(t, k, 1, proxyTo(port, &origin{Listener: l}))
		c := dial(t, port)
		fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: test\r\n\r\n")
		<-asked
		p.SoftStop()
		select {
		case <-p.Done():
			t.Fatal("the process ended under a request")
		default:
		}
		close(release)
		status, head, body, err := c.response()
		if err != nil || status != "HTTP/1.1 200 OK" || body != "late" {
			t.Fatalf("%q %q %v", status, body, err)
		}
		if !strings.Contains(head, "connection: close") {
			t.Errorf("a stopping process must say that it closes: %q", head)
		}
		p.wait(p.Done(), "the end of the process")
	})
}

// hard-stop-after cuts what a soft stop would wait for.
func TestHardStopAfter(t *testing.T) {
	onPollers(t, func(t *testing.T, k poll.Kind) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		port := freePort(t)
		p := startProcess(t, k, 1, "global\n  hard-stop-after 200ms\n"+proxyTo(port, &origin{Listener: l}))
		c := dial(t, port)
		fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: test\r\n\r\n")
		until(t, "the request to be in progress", func() bool { return p.Jobs() == 1 })
		p.SoftStop()
		p.wait(p.Done(), "the end of the process")
	})
}

// A paused process does not listen, so that another one can; it serves again after Resume.
func TestPauseResume(t *testing.T) {
	onPollers(t, func(t *testing.T, k poll.Kind) {
		o := startOrigin(t, "o")
		port := freePort(t)
		p := startProcess(t, k, 2, proxyTo(port, o))
		if err := p.Pause(); err != nil {
			t.Fatal(err)
		}
		if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			c.Close()
			t.Fatal("a paused process takes connections")
		}
		other, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Fatalf("another process could not listen: %v", err)
		}
		other.Close()
		if err := p.Resume(); err != nil {
			t.Fatal(err)
		}
		c := dial(t, port)
		if status, _, body, err := c.get("/p"); err != nil || body != "o /p" {
			t.Fatalf("%q %q %v", status, body, err)
		}
	})
}

// A soft stop gives the address up at once, while a connection is still served.
func TestSoftStopUnbinds(t *testing.T) {
	onPollers(t, func(t *testing.T, k poll.Kind) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		port := freePort(t)
		p := startProcess(t, k, 1, proxyTo(port, &origin{Listener: l}))
		c := dial(t, port)
		fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: test\r\n\r\n")
		server, err := l.Accept() // the request is in progress
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		p.SoftStop()
		until(t, "the address to be free", func() bool {
			c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if err == nil {
				c.Close()
			}
			return err != nil
		})
		if p.Jobs() != 1 {
			t.Error("the request in progress is gone")
		}
		c.Close()
		p.wait(p.Done(), "the end of the process")
	})
}

// Binding fails as a whole: nothing is held, and it can be tried again.
func TestBindAgain(t *testing.T) {
	blocker, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free, taken := freePort(t), blocker.Addr().(*net.TCPAddr).Port
	p := &process{NewProcess(ProcessOptions{Threads: 1, Buffers: buf.NewShared(buf.Config{})}), t}
	g := p.generation(fmt.Sprintf("%sfrontend f\n  bind 127.0.0.1:%d\n  bind 127.0.0.1:%d\n  default_backend b\nbackend b\n", defaults, free, taken))
	if d := p.Bind(g); d.Errors() != 1 {
		t.Fatalf("binding a taken address: %s", d)
	}
	if n := p.Keeper().Sockets(); n != 0 {
		t.Errorf("%d sockets are held after a failure", n)
	}
	blocker.Close()
	if d := p.Bind(g); d.Errors() != 0 {
		t.Fatalf("the second try: %s", d)
	}
	if n := p.Keeper().Sockets(); n != 2 {
		t.Errorf("%d sockets, want 2", n)
	}
}

// Connections over the frontend's maxconn wait in the kernel and are served in their turn.
func TestMaxconnQueuesAccepts(t *testing.T) {
	onPollers(t, func(t *testing.T, k poll.Kind) {
		o := startOrigin(t, "o")
		port := freePort(t)
		p := startProcess(t, k, 2, strings.Replace(proxyTo(port, o), "frontend f\n", "frontend f\n  maxconn 3\n", 1))
		var held []*client
		for range 3 {
			c := dial(t, port)
			if _, _, _, err := c.get("/a"); err != nil {
				t.Fatal(err)
			}
			held = append(held, c)
		}
		var waiting []*client
		for range 5 {
			c := dial(t, port)
			fmt.Fprint(c, "GET /b HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")
			waiting = append(waiting, c)
		}
		if n := p.current.Frontends[0].Cur.Cur(); n != 3 {
			t.Errorf("%d connections, want 3", n)
		}
		held[0].Close()
		for _, c := range waiting {
			if status, _, body, err := c.response(); err != nil || body != "o /b" {
				t.Fatalf("%q %q %v", status, body, err)
			}
		}
		if peak := p.current.Frontends[0].Cur.Peak(); peak != 3 {
			t.Errorf("peak %d, want 3", peak)
		}
	})
}

// A keep-alive exchange allocates nothing in the steady state.
func TestExchangeAllocates0(t *testing.T) {
	onPollers(t, func(t *testing.T, k poll.Kind) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		answer := []byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nServer: x\r\n\r\nhello")
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					defer c.Close()
					b := make([]byte, 4096)
					for {
						if _, err := c.Read(b); err != nil {
							return
						}
						c.Write(answer)
					}
				}()
			}
		}()
		port := freePort(t)
		startProcess(t, k, 1, strings.Replace(proxyTo(port, &origin{Listener: l}), "backend b\n", "backend b\n  http-reuse always\n  option forwardfor\n", 1))
		c := dial(t, port)
		c.SetDeadline(time.Time{})
		request := []byte("GET /some/path?q=1 HTTP/1.1\r\nHost: www.example.com\r\nUser-Agent: Mozilla/5.0\r\nAccept: */*\r\nAccept-Encoding: gzip\r\nAccept-Language: en\r\nCookie: a=b; c=d\r\nReferer: http://x/\r\nCache-Control: no-cache\r\nPragma: x\r\nX-A: b\r\nX-B: c\r\nDnt: 1\r\n\r\n")
		in := make([]byte, 4096)
		once := func() {
			if _, err := c.Conn.Write(request); err != nil {
				t.Fatal(err)
			}
			if n, err := c.Conn.Read(in); err != nil || n < 50 {
				t.Fatal(n, err)
			}
		}
		for range 200 {
			once()
		}
		if n := testing.AllocsPerRun(2000, once); n > 0 {
			t.Errorf("%v allocations an exchange", n)
		}
	})
}
