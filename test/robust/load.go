package robust

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A load is clients that send requests of several kinds at once and check each answer.
type load struct {
	p        *proxy
	listener string
	clients  int
	requests int           // of each client, 0: until the time is over
	during   time.Duration // 0: until all requests are done
	// statuses that may come instead of 200, and whether a connection may end instead: what a shortage is documented to
	// lead to.
	statuses string
	ends     bool
}

// result counts what came of a load.
type result struct {
	sent, right, refused, ended atomic.Int64
	mu                          sync.Mutex
	wrong                       []string
}

func (r *result) String() string {
	return fmt.Sprintf("%d requests: %d right, %d refused, %d ended, %d wrong", r.sent.Load(), r.right.Load(), r.refused.Load(), r.ended.Load(), len(r.wrong))
}

func (r *result) fault(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.wrong) < 20 {
		r.wrong = append(r.wrong, fmt.Sprintf(format, args...))
	}
}

var loads atomic.Int64

// run sends the load and waits for it.
func (l load) run() *result {
	r := &result{}
	end := time.Now().Add(time.Hour)
	if l.during > 0 {
		end = time.Now().Add(l.during)
	}
	var group sync.WaitGroup
	for range l.clients {
		group.Go(func() { l.client(r, loads.Add(1), end) })
	}
	group.Wait()
	return r
}

// client is one client: it keeps its connection as long as it can.
func (l load) client(r *result, id int64, end time.Time) {
	var c *client
	defer func() {
		if c != nil {
			c.Close()
		}
	}()
	for n := 0; (l.requests == 0 || n < l.requests) && time.Now().Before(end); n++ {
		if c == nil {
			conn, err := net.DialTimeout("tcp4", l.p.addr[l.listener], bound)
			if err != nil {
				r.fault("connecting: %v", err)
				return
			}
			c = wrap(l.p.t, conn)
		}
		r.sent.Add(1)
		if !l.request(r, c, n, fmt.Sprintf("/%d/%d", id, n)) || n%17 == 16 {
			c.Close()
			c = nil
		}
	}
}

// request sends one request; the kind depends on n. It reports whether the connection can be used again.
func (l load) request(r *result, c *client, n int, target string) bool {
	method, body, want := "GET", "", target
	switch n % 4 {
	case 1:
		method, body = "POST", strings.Repeat("b", n%50*997)
	case 2:
		want = strings.Repeat(target, 4000)
		target += "?repeat=4000"
	}
	text := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s", method, target, len(body), body)
	if n%4 == 3 {
		method = "POST"
		text = fmt.Sprintf("POST %s HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", target)
	}
	a, err := c.send(text).answer(method)
	switch {
	case err == nil && a.status == "200" && a.body == want:
		r.right.Add(1)
		return a.field("connection") != "close"
	case err == nil && a.status == "200":
		r.fault("%s %s: body of %d bytes, want %d", method, target, len(a.body), len(want))
	case err == nil && a.status != "" && strings.Contains(l.statuses, a.status):
		r.refused.Add(1)
	case err != nil && l.ends && over(err):
		r.ended.Add(1)
	default:
		r.fault("%s %s: %q, %d bytes, %v", method, target, a.head, len(a.body), err)
	}
	return false
}

// over tells whether an error means that the peer has ended the connection.
func over(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// repeating answers a load's requests.
func repeating(x *exchange) {
	if x.readBody() != nil {
		return
	}
	path, query, _ := strings.Cut(x.target, "?")
	n := 1
	fmt.Sscanf(query, "repeat=%d", &n)
	x.answer(strings.Repeat(path, n))
}

// check fails the test when a load saw something wrong, or when fewer than least requests got their answers.
func (r *result) check(p *proxy, least int64) {
	p.t.Helper()
	for _, w := range r.wrong {
		p.t.Error(w)
	}
	if r.right.Load() < least {
		p.t.Errorf("want at least %d right: %v", least, r)
	}
	p.t.Log(r)
}
