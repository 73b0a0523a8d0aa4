package robust

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"weir/test/wait"
)

// An origin is a server that records every byte that it gets. It answers each request with its target as the body,
// unless a handler was set.
type origin struct {
	l    *net.TCPListener
	addr string

	mu     sync.Mutex
	handle func(x *exchange)
	got    []byte // received since reset, at most maxRecord bytes
	total  int64
	conns  int // accepted so far
	open   map[*exchange]bool
}

const maxRecord = 1 << 20

// An exchange is a connection of an origin with the request that it is at.
type exchange struct {
	net.Conn
	o      *origin
	r      *bufio.Reader
	conn   int // number of the connection, from 1
	req    int // number of the request on it, from 1
	method string
	target string
	head   string // start line and fields, each with CRLF
	read   bool   // the body was read
	body   []byte
}

func newOrigin(t testing.TB) *origin {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	check(t, err)
	o := &origin{l: l.(*net.TCPListener), addr: l.Addr().String(), open: map[*exchange]bool{}}
	t.Cleanup(func() {
		l.Close()
		o.hangUp()
	})
	go o.serve()
	return o
}

func (o *origin) serve() {
	for {
		c, err := o.l.Accept()
		if err != nil {
			return
		}
		o.mu.Lock()
		o.conns++
		x := &exchange{Conn: c, o: o, conn: o.conns}
		o.open[x] = true
		o.mu.Unlock()
		x.r = bufio.NewReaderSize(recorder{x}, 16<<10)
		go x.run()
	}
}

// recorder notes what is read.
type recorder struct{ x *exchange }

func (r recorder) Read(p []byte) (int, error) {
	n, err := r.x.Conn.Read(p)
	o := r.x.o
	o.mu.Lock()
	o.total += int64(n)
	o.got = append(o.got, p[:min(n, maxRecord-len(o.got))]...)
	o.mu.Unlock()
	return n, err
}

func (x *exchange) run() {
	defer x.leave()
	for {
		if x.readHead() != nil {
			return
		}
		x.o.mu.Lock()
		h := x.o.handle
		x.o.mu.Unlock()
		if h == nil {
			h = echo
		}
		h(x)
		if x.readBody() != nil {
			return
		}
	}
}

func (x *exchange) leave() {
	x.Close()
	x.o.mu.Lock()
	delete(x.o.open, x)
	x.o.mu.Unlock()
}

func (x *exchange) readHead() error {
	var b strings.Builder
	for {
		text, err := x.r.ReadString('\n')
		if err != nil {
			return err
		}
		if text == "\r\n" {
			break
		}
		b.WriteString(text)
	}
	x.req++
	x.head, x.read, x.body = b.String(), false, nil
	start, _, _ := strings.Cut(x.head, "\r\n")
	x.method, start, _ = strings.Cut(start, " ")
	x.target = start[:max(0, strings.LastIndexByte(start, ' '))]
	return nil
}

func fieldOf(head, name string) string {
	var all []string
	for _, text := range strings.Split(head, "\r\n")[1:] {
		n, v, ok := strings.Cut(text, ":")
		if ok && strings.EqualFold(n, name) {
			all = append(all, strings.TrimSpace(v))
		}
	}
	return strings.Join(all, " & ")
}

// readBody reads the request's body once; further calls do nothing.
func (x *exchange) readBody() error {
	if x.read {
		return nil
	}
	x.read = true
	var err error
	x.body, err = readBody(x.r, x.head)
	return err
}

// readBody reads the body that a head announces: chunks, a length or nothing.
func readBody(r *bufio.Reader, head string) ([]byte, error) {
	var body []byte
	if strings.EqualFold(fieldOf(head, "transfer-encoding"), "chunked") {
		for {
			text, err := r.ReadString('\n')
			if err != nil {
				return body, err
			}
			size, err := strconv.ParseInt(strings.TrimSpace(text), 16, 32)
			if err != nil {
				return body, err
			}
			if size == 0 {
				break
			}
			part := make([]byte, min(size+2, maxRecord))
			n, err := io.ReadFull(r, part)
			body = append(body, part[:min(n, int(size))]...)
			if err != nil || n < int(size)+2 {
				return body, errors.Join(err, io.ErrUnexpectedEOF)
			}
		}
		for {
			text, err := r.ReadString('\n')
			if err != nil || text == "\r\n" {
				return body, err
			}
		}
	}
	n, _ := strconv.ParseInt(fieldOf(head, "content-length"), 10, 64)
	var b bytes.Buffer
	got, err := io.Copy(&b, io.LimitReader(r, n))
	if err == nil && got < n {
		err = io.ErrUnexpectedEOF
	}
	return b.Bytes(), err
}

// send writes, and closes the connection when that fails.
func (x *exchange) send(text string) {
	x.SetWriteDeadline(time.Now().Add(bound))
	if _, err := io.WriteString(x.Conn, text); err != nil {
		x.Close()
	}
}

// echo answers with the request's target.
func echo(x *exchange) {
	if x.readBody() == nil {
		x.answer(x.target)
	}
}

func (x *exchange) answer(body string) {
	if x.method == "HEAD" {
		body = ""
	}
	x.send(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\nX-Conn: %d\r\nX-Req: %d\r\n\r\n%s", len(body), x.conn, x.req, body))
}

// on sets the handler of all requests from now on; nil: echo.
func (o *origin) on(h func(x *exchange)) {
	o.mu.Lock()
	o.handle = h
	o.mu.Unlock()
}

// once sets a handler for the requests to one target; others are echoed.
func (o *origin) once(target string, h func(x *exchange)) {
	o.on(func(x *exchange) {
		if x.target == target {
			h(x)
		} else {
			echo(x)
		}
	})
}

// reset forgets what was recorded.
func (o *origin) reset() {
	o.mu.Lock()
	o.got, o.total = nil, 0
	o.mu.Unlock()
}

func (o *origin) received() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]byte(nil), o.got...)
}

// receivedTotal is the number of bytes since reset.
func (o *origin) receivedTotal() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.total
}

// opened is the number of connections that are open.
func (o *origin) opened() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.open)
}

// isOpen tells whether a connection, by number, is still open.
func (o *origin) isOpen(conn int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for x := range o.open {
		if x.conn == conn {
			return true
		}
	}
	return false
}

// closed waits until a connection has ended.
func (o *origin) closed(conn int) bool {
	return wait.Until(bound, func() bool { return !o.isOpen(conn) })
}

// hangUp closes all connections.
func (o *origin) hangUp() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for x := range o.open {
		x.Close()
	}
}

// reset closes so that the peer gets a RST.
func (x *exchange) reset() {
	x.Conn.(*net.TCPConn).SetLinger(0)
	x.Close()
}

// retire ends the sending side of all connections, which rest, and waits until the other side has closed them.
func (o *origin) retire() bool {
	o.mu.Lock()
	for x := range o.open {
		x.Conn.(*net.TCPConn).CloseWrite()
	}
	o.mu.Unlock()
	return wait.Until(bound, func() bool { return o.opened() == 0 })
}
