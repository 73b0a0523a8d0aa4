package robust

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A client is one connection to the process.
type client struct {
	t testing.TB
	net.Conn
	r    *bufio.Reader
	port string // its own
}

// An answer is one response.
type answer struct {
	status string
	head   string
	body   string
}

func (a *answer) field(name string) string { return fieldOf(a.head, name) }

// dial connects to a listener.
func (p *proxy) dial(name string) *client {
	p.t.Helper()
	c, err := p.tryDial(name)
	check(p.t, err)
	return c
}

func (p *proxy) tryDial(name string) (*client, error) {
	c, err := net.DialTimeout("tcp4", p.addr[name], bound)
	if err != nil {
		return nil, err
	}
	p.t.Cleanup(func() { c.Close() })
	p.mu.Lock()
	p.clients = append(p.clients, c)
	p.mu.Unlock()
	return wrap(p.t, c), nil
}

func wrap(t testing.TB, c net.Conn) *client {
	_, port, _ := net.SplitHostPort(c.LocalAddr().String())
	return &client{t: t, Conn: c, r: bufio.NewReaderSize(c, 16<<10), port: port}
}

// send writes; a peer that is gone is no error, for its answer may have come before.
func (c *client) send(text string) *client {
	c.SetWriteDeadline(time.Now().Add(bound))
	io.WriteString(c.Conn, text)
	return c
}

// answer reads one response to a request of that method, interim ones included.
func (c *client) answer(method string) (answer, error) {
	c.SetReadDeadline(time.Now().Add(bound))
	var a answer
	var head strings.Builder
	for {
		text, err := c.r.ReadString('\n')
		if err != nil {
			return a, fmt.Errorf("head %q: %w", head.String()+text, err)
		}
		if text == "\r\n" {
			break
		}
		head.WriteString(text)
	}
	a.head = head.String()
	if f := strings.Fields(a.head); len(f) > 1 {
		a.status = f[1]
	}
	if method == "HEAD" || a.status == "204" || a.status == "304" || strings.HasPrefix(a.status, "1") {
		return a, nil
	}
	if fieldOf(a.head, "content-length") == "" && fieldOf(a.head, "transfer-encoding") == "" {
		b, err := io.ReadAll(c.r)
		a.body = string(b)
		return a, err
	}
	b, err := readBody(c.r, a.head)
	a.body = string(b)
	return a, err
}

// get sends a GET and returns the answer, which must come.
func (c *client) get(target string) answer {
	c.t.Helper()
	a, err := c.send("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n").answer("GET")
	if err != nil {
		c.t.Errorf("GET %s: %v", target, err)
	}
	return a
}

// want reads a response and checks its status.
func (c *client) want(method, status string) answer {
	c.t.Helper()
	a, err := c.answer(method)
	if err != nil || a.status != status {
		c.t.Errorf("got %s %q, %v; want %s", a.status, a.head, err, status)
	}
	return a
}

// wantClose checks that the connection ends without another byte.
func (c *client) wantClose() {
	c.t.Helper()
	if rest, err := c.rest(); err != nil || len(rest) > 0 {
		c.t.Errorf("wanted the end, got %.200q, %v", rest, err)
	}
}

// rest reads up to the end of the connection, whichever way it ends.
func (c *client) rest() ([]byte, error) {
	c.SetReadDeadline(time.Now().Add(bound))
	var b bytes.Buffer
	_, err := io.Copy(&b, c.r)
	var ne net.Error
	if errors.As(err, &ne) && ne.Timeout() {
		return b.Bytes(), err
	}
	return b.Bytes(), nil
}

// reset closes so that the peer gets a RST.
func (c *client) reset() {
	c.Conn.(*net.TCPConn).SetLinger(0)
	c.Close()
}

var victims atomic.Int64

// victim sends an innocent request, which must get its own answer.
func (p *proxy) victim(listener string) {
	p.t.Helper()
	c := p.dial(listener)
	defer c.Close()
	target := fmt.Sprintf("/victim-%d", victims.Add(1))
	if a := c.get(target); a.status != "200" || a.body != target {
		p.t.Errorf("the victim asked for %s and got %s %.300q with body %.300q", target, a.status, a.head, a.body)
	}
}

// CloseWrite ends the sending side.
func (c *client) CloseWrite() error { return c.Conn.(*net.TCPConn).CloseWrite() }
