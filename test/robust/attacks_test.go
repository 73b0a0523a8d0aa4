package robust

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
)

// drip sends text byte by byte, one every step, until the peer ends the connection or all is sent. It returns what came
// back and how long the connection lasted.
func (c *client) drip(text string, step time.Duration) ([]byte, time.Duration) {
	since := time.Now()
	over := make(chan struct{})
	var got []byte
	go func() {
		defer close(over)
		got, _ = c.rest()
	}()
	tick := time.NewTicker(step)
	defer tick.Stop()
	for i := range len(text) {
		c.Conn.Write([]byte{text[i]})
		select {
		case <-over:
			return got, time.Since(since)
		case <-tick.C:
		}
	}
	<-over
	return got, time.Since(since)
}

// TestAdvisory131SlowHead, the following two: bytes that trickle do not extend a timeout.
func TestAdvisory131SlowHead(t *testing.T) {
	advisory(t, parts{"DEFAULTS": "timeout http-request 400ms"}, func(s *scene) {
		c := s.p.dial("l")
		got, took := c.drip("GET / HTTP/1.1\r\nHost: a\r\n"+strings.Repeat("X-Slow: y\r\n", 1000), 50*time.Millisecond)
		if statusOf(got) != "408" || took > 3*time.Second || took < 350*time.Millisecond {
			s.Errorf("got %.100q after %v, want 408", got, took)
		}
		s.p.wantLog(c.port, "408 cR--")
		if n := s.o.receivedTotal(); n > 0 {
			s.Errorf("%d bytes were forwarded", n)
		}
	})
}

func TestAdvisory131SlowBody(t *testing.T) {
	advisory(t, parts{"DEFAULTS": "timeout client 800ms\n\ttimeout http-request 800ms"}, func(s *scene) {
		// A body that comes slowly is no attack as long as it comes; one that stops is.
		used := s.remember("/x", echo)
		for _, head := range []string{"Content-Length: 1000", "Transfer-Encoding: chunked"} {
			body := "ab"
			if strings.HasPrefix(head, "T") {
				body = "3e8\r\nab"
			}
			c := s.p.dial("l").send("POST /x HTTP/1.1\r\nHost: a\r\n" + head + "\r\n\r\n" + body)
			since := time.Now()
			got, _ := c.rest()
			if took := time.Since(since); statusOf(got) != "400" || took > 3*time.Second {
				s.Errorf("%s: got %.100q after %v, want 400", head, got, took)
			}
			s.p.wantLog(c.port, "400 cH--")
			s.cutOff(used)
		}
		c := s.p.dial("l").send("POST /y HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\n\r\n")
		go func() {
			tick := time.NewTicker(100 * time.Millisecond)
			defer tick.Stop()
			for range 20 {
				<-tick.C
				c.Conn.Write([]byte("x"))
			}
		}()
		c.want("POST", "200")
	})
}

func TestAdvisory131ManySlowConnections(t *testing.T) {
	const slow, asked = 200, 300
	advisory(t, parts{"DEFAULTS": "timeout http-request 8s"}, func(s *scene) {
		s.p.busy = true
		var held []*client
		for i := range slow {
			c := s.p.dial("l")
			switch i % 4 {
			case 1:
				c.send("GET / HT")
			case 2:
				c.send("POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nx")
			case 3: // reads slowly: not at all
				c.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n")
			}
			held = append(held, c)
		}
		worst := time.Duration(0)
		for i := range asked {
			since := time.Now()
			target := fmt.Sprintf("/%d", i)
			c := s.p.dial("l")
			if a := c.get(target); a.body != target {
				s.Fatalf("asked for %s, got %q", target, a.body)
			}
			c.Close()
			worst = max(worst, time.Since(since))
		}
		if worst > 2*time.Second {
			s.Errorf("a request took %v", worst)
		}
		for _, c := range held {
			c.Close()
		}
	})
}

func TestSlowReader(t *testing.T) {
	advisory(t, parts{"DEFAULTS": "timeout client 1s"}, func(s *scene) {
		s.o.once("/big", func(x *exchange) {
			x.send("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
			part := strings.Repeat("x", 1<<20)
			for range 95 {
				x.SetWriteDeadline(time.Now().Add(bound))
				if _, err := x.Conn.Write([]byte(part)); err != nil {
					return
				}
			}
		})
		c := s.p.dial("l").send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n")
		s.p.wantLog(c.port, "200 cD--")
		if n := s.p.rss() - s.p.base.rss; n > maxGrowth {
			s.Errorf("grown by %d MB", n>>20)
		}
	})
}

func TestOversizedHeads(t *testing.T) {
	advisory(t, nil, func(s *scene) {
		for _, x := range []struct{ head, want string }{
			{"GET /" + strings.Repeat("a", 20000) + " HTTP/1.1\r\nHost: a\r\n\r\n", "414"},
			{"GET / HTTP/1.1\r\nHost: a\r\nA: " + strings.Repeat("a", 20000) + "\r\n\r\n", "431"},
			{"GET / HTTP/1.1\r\nHost: a\r\n" + strings.Repeat("A: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n", 400) + "\r\n", "431|400"},
			{"GET / HTTP/1.1\r\nHost: a\r\n" + strings.Repeat("A: b\r\n", 101) + "\r\n", "431|400"},
			{strings.Repeat("A", 20000), "414|400"},
			{strings.Repeat("\r\n", 20000), "414|400"},
		} {
			c := s.p.dial("l").send(x.head)
			a, err := c.answer("GET")
			if err == nil && (a.status == "" || !strings.Contains(x.want, a.status)) {
				s.Errorf("%.40q: %s %v, want %s", x.head, a.status, err, x.want)
			}
			s.p.wantLog(c.port, "("+x.want+") PR--")
			c.Close()
		}
		if n := s.o.receivedTotal(); n > 0 {
			s.Errorf("%d bytes were forwarded", n)
		}
	})
}

// TestServersThatMisbehave asks a server for each kind of misconduct: what the client sees and what is logged.
func TestServersThatMisbehave(t *testing.T) {
	long := strings.Repeat("x", 50000)
	for _, m := range []struct {
		name    string
		do      func(x *exchange)
		request string // empty: GET
		want    string // status; "cut": a 200 whose body ends early, or 502
		log     string
	}{
		{"length too long", raw("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", true), "", "cut", "200 SD--"},
		{"length too short", raw("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef", false), "", "200", "200 ----"},
		{"length too short, large", raw("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"+long, true), "", "200", "200 ----"},
		{"chunks cut", raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", true), "", "cut", "200 SD--"},
		{"last chunk missing", raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", true), "", "cut", "200 SD--"},
		{"bad chunk later", raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n", false), "", "cut", "200 PD--|502 PH--"},
		{"closes at once", raw("", true), "", "502", "502 SH--"},
		{"closes within the head", raw("HTTP/1.1 200 OK\r\nConte", true), "", "502", "502 [SP]H--"},
		{"resets", func(x *exchange) { x.reset() }, "", "502", "502 SH--"},
		{"never answers", raw("", false), "", "504", "504 sH--"},
		{"stops within the head", raw("HTTP/1.1 200 OK\r\nA: ", false), "", "504", "504 sH--"},
		{"stops within the body", raw("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", false), "", "cut", "200 sD--"},
		{"garbage", raw("\x16\x03\x01\x00\xff"+long, false), "", "502", "502 PH--"},
		{"garbage with a line", raw("hello world\r\n\r\n", false), "", "502", "502 PH--"},
		{"endless head", endless("HTTP/1.1 200 OK\r\n", "A: b\r\n"), "", "502", "502 PH--"},
		{"endless field", endless("HTTP/1.1 200 OK\r\nA: ", "bbbbbbbb"), "", "502", "502 PH--"},
		{"endless start line", endless("HTTP/1.1 200 ", "OKOKOKOK"), "", "502", "502 PH--"},
		{"answers before the request ends", func(x *exchange) {
			x.read = true
			x.answer("early")
		}, "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nabc", "200", "200 ....|-1 ...."},
		{"answers early and closes", func(x *exchange) {
			x.answer("early")
			x.Close()
		}, "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nabc", "200", "200 ...."},
	} {
		t.Run(m.name, func(t *testing.T) {
			advisory(t, parts{"DEFAULTS": "timeout server 400ms\n\ttimeout client 2s"}, func(s *scene) {
				// A kept connection that ends just then has rules of its own: there shall be none.
				if !s.o.retire() {
					s.Error("a connection that the server has closed is kept")
				}
				used := s.remember("/x", m.do)
				request := m.request
				if request == "" {
					request = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n"
				}
				c := s.p.dial("l").send(request)
				a, err := c.answer("GET")
				switch {
				case m.want == "cut" && err == nil && a.status != "502":
					s.Errorf("a whole answer came: %q %q", a.head, a.body)
				case m.want != "cut" && (err != nil || a.status != m.want):
					s.Errorf("got %q %v, want %s", a.head, err, m.want)
				}
				c.Close()
				s.p.wantLog(c.port, m.log)
				s.p.victim("l")
				s.cutOff(used)
			})
		})
	}
}

// raw sends bytes as they are and closes, or waits for the other side to do so.
func raw(text string, closes bool) func(x *exchange) {
	return func(x *exchange) {
		x.send(text)
		if closes {
			x.Close()
		}
		x.SetReadDeadline(time.Now().Add(bound))
		x.r.Peek(1)
	}
}

func endless(first, next string) func(x *exchange) {
	return func(x *exchange) {
		part := strings.Repeat(next, 8192/len(next))
		x.send(first)
		for range 10000 {
			x.SetWriteDeadline(time.Now().Add(bound))
			if _, err := x.Conn.Write([]byte(part)); err != nil {
				return
			}
		}
	}
}

// TestManyAtOnce lets clients, some of which leave early, ask for different things at the same time: nobody gets what
// is another's.
func TestManyAtOnce(t *testing.T) {
	advisory(t, nil, func(s *scene) {
		s.p.busy = true
		var group sync.WaitGroup
		for i := range 20 {
			group.Go(func() {
				for k := range 30 {
					c, err := s.p.tryDial("l")
					if err != nil {
						s.Error(err)
						return
					}
					target := fmt.Sprintf("/%d-%d-%s", i, k, strings.Repeat("x", k*100))
					request := "GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n"
					if k%5 == 4 {
						c.send(request).reset()
						continue
					}
					for range 2 {
						a, err := c.send(request).answer("GET")
						if err != nil || a.body != target {
							s.Errorf("%.30s: %s %.30q %v", target, a.status, a.body, err)
						}
					}
					c.Close()
				}
			})
		}
		group.Wait()
	})
}

// TestPausedLongerThanTheServersTimeout lets a client read nothing for longer than "timeout server": while its data waits
// here, nothing is expected of the server, and it has its full time again afterwards.
func TestPausedLongerThanTheServersTimeout(t *testing.T) {
	const size = 10 << 20
	advisory(t, parts{"DEFAULTS": "timeout server 1s\n\ttimeout client 20s"}, func(s *scene) {
		answer := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", size) + strings.Repeat("x", size)
		s.o.once("/big", func(x *exchange) {
			x.SetWriteDeadline(time.Now().Add(3 * bound))
			io.WriteString(x.Conn, answer)
		})
		clients := make([]*client, 6)
		for i := range clients {
			clients[i] = s.p.dial("l").send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n")
		}
		<-time.After(3 * time.Second)
		for _, c := range clients {
			a, err := c.answer("GET")
			if err != nil || len(a.body) != size {
				s.Errorf("%d bytes of %d: %v", len(a.body), size, err)
			}
			s.p.wantLog(c.port, "200 ----")
		}
	})
}
