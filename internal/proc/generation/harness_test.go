package generation

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	_ "weir/internal/all"
	"weir/internal/base/buf"
	"weir/internal/kw"
	"weir/internal/lang/config"
	"weir/internal/model"
	"weir/internal/rt/poll"
)

// pollers are the ways to do I/O that every test here runs with.
var pollers = []poll.Kind{poll.Uring, poll.Epoll}

// onPollers runs body with each poller that the kernel allows.
func onPollers(t *testing.T, body func(t *testing.T, k poll.Kind)) {
	for _, k := range pollers {
		t.Run(k.String(), func(t *testing.T) {
			if k == poll.Uring {
				if err := poll.Probe(); err != nil {
					t.Skipf("io_uring is not available: %v", err)
				}
			}
			body(t, k)
		})
	}
}

// process is a running Process under test.
type process struct {
	*Process
	t *testing.T
}

func startProcess(t *testing.T, k poll.Kind, threads int, text string) *process {
	t.Helper()
	p := &process{NewProcess(ProcessOptions{
		Threads: threads, Poller: k, Buffers: buf.NewShared(buf.Config{}),
		Warn: func(s string) { t.Log("warning:", s) },
	}), t}
	g := p.build(text)
	if err := p.Start(g); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Stop()
		p.wait(p.Done(), "the process to end")
		p.exited.Wait() // loops say their last words
	})
	return p
}

// build parses, builds and binds a configuration.
func (p *process) build(text string) *Generation {
	p.t.Helper()
	g := p.generation(text)
	if d := p.Bind(g); d.Errors() > 0 {
		p.t.Fatal(d.String())
	}
	return g
}

// generation parses and builds a configuration.
func (p *process) generation(text string) *Generation { return p.generationWith(text, nil) }

// generationWith lets change, unless it is nil, change the configuration before it is built.
func (p *process) generationWith(text string, change func(*model.Config)) *Generation {
	p.t.Helper()
	cfg, diags := kw.Load(config.Options{
		Files:    []string{"test.cfg"},
		ReadFile: func(string) ([]byte, error) { return []byte(text), nil },
		ReadDir:  func(string) ([]string, bool, error) { return nil, false, nil },
	})
	if diags.Errors() > 0 {
		p.t.Fatal(diags.String())
	}
	if change != nil {
		change(cfg)
	}
	g, err := p.Build(cfg)
	if err != nil {
		p.t.Fatal(err)
	}
	return g
}

func (p *process) wait(done <-chan struct{}, what string) {
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		p.t.Errorf("waited in vain for %s", what)
	}
}

// freePort returns a loopback port that was free a moment ago.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// origin is an HTTP/1 server that answers every request with its name and the target it saw.
type origin struct {
	net.Listener
	name string
	mu   sync.Mutex
	seen []string
}

func startOrigin(t *testing.T, name string) *origin {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := &origin{Listener: l, name: name}
	go o.accept()
	t.Cleanup(func() { l.Close() })
	return o
}

func (o *origin) accept() {
	for {
		c, err := o.Accept()
		if err != nil {
			return
		}
		go o.serve(c)
	}
}

func (o *origin) serve(c net.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		length := 0
		for {
			h, err := r.ReadString('\n')
			if err != nil {
				return
			}
			if h == "\r\n" {
				break
			}
			fmt.Sscanf(strings.ToLower(h), "content-length: %d", &length)
		}
		if _, err := io.CopyN(io.Discard, r, int64(length)); err != nil {
			return
		}
		o.mu.Lock()
		o.seen = append(o.seen, strings.TrimSpace(line))
		o.mu.Unlock()
		body := o.name + " " + strings.Fields(line)[1]
		if _, err := fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
			return
		}
	}
}

// client is a keep-alive HTTP/1 client over one connection.
type client struct {
	net.Conn
	r *bufio.Reader
}

func dial(t *testing.T, port int) *client {
	t.Helper()
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(20 * time.Second))
	return &client{c, bufio.NewReader(c)}
}

// get requests path; it returns the status line, the header lines and the body.
func (c *client) get(path string) (status string, head, body string, err error) {
	if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: test\r\n\r\n", path); err != nil {
		return "", "", "", err
	}
	return c.response()
}

func (c *client) response() (status string, head, body string, err error) {
	if status, err = c.r.ReadString('\n'); err != nil {
		return status, "", "", err
	}
	length := 0
	for {
		h, err := c.r.ReadString('\n')
		if err != nil {
			return status, head, "", err
		}
		if h == "\r\n" {
			break
		}
		head += h
		fmt.Sscanf(h, "content-length: %d", &length)
	}
	b := make([]byte, length)
	_, err = io.ReadFull(c.r, b)
	return strings.TrimSpace(status), head, string(bytes.TrimSpace(b)), err
}
