package counters

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

// origin is a server that answers as the target of a request says:
//
//	/n/SIZE      200 with a body of SIZE bytes
//	/s/STATUS    that status without a body
//	/chunked     a body in two chunks; /trailers: with a trailer field
//	/old         an answer of HTTP/1.0 that ends with the connection
//	/early       an interim answer before the final one
//	/close       nothing: the connection is closed; /reset: with a reset
//	/junk        what is no answer
//	/cut         a body that ends before its length; /cutchunk: in the middle of a chunk
//	/slow        nothing, until the client leaves
//	/wait        200 once the origin is released
//	/eager       200 before the request's body is read
//	/reason      200 with a long reason
type origin struct {
	ln      net.Listener
	release chan struct{}
	once    sync.Once
}

func newOrigin() (*origin, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	o := &origin{ln: ln, release: make(chan struct{})}
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go o.serve(c)
		}
	}()
	return o, nil
}

func (o *origin) addr() string { return o.ln.Addr().String() }

// let ends the wait of all requests for /wait.
func (o *origin) let() { o.once.Do(func() { close(o.release) }) }

func (o *origin) close() {
	o.let()
	o.ln.Close()
}

func (o *origin) serve(c net.Conn) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	r := bufio.NewReader(c)
	for {
		m, err := readHead(r)
		if err != nil {
			return
		}
		f := strings.Fields(m.first)
		if len(f) < 2 {
			return
		}
		if f[1] == "/eager" {
			answer(c, "200 OK", "early")
			_, _ = io.Copy(io.Discard, r)
			return
		}
		if err := m.skipBody(r); err != nil || !o.answer(c, f[1]) {
			return
		}
	}
}

// answer sends what a target asks for; false when the connection ends.
func (o *origin) answer(c net.Conn, target string) (again bool) {
	kind, arg, _ := strings.Cut(strings.TrimPrefix(target, "/"), "/")
	kind, _, _ = strings.Cut(kind, "?")
	switch kind {
	case "n":
		n, _ := strconv.Atoi(arg)
		answer(c, "200 OK", strings.Repeat("x", n))
	case "s":
		answer(c, arg+" Whatever", "")
	case "chunked":
		send(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\nworld!\r\n0\r\n\r\n")
	case "trailers":
		send(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 12345\r\n\r\n")
	case "old":
		send(c, "HTTP/1.0 200 OK\r\nX-A: b\r\n\r\nuntil the end")
		return false
	case "early":
		send(c, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
		answer(c, "200 OK", "final")
	case "close":
		return false
	case "reset":
		_ = c.(*net.TCPConn).SetLinger(0)
		return false
	case "junk":
		send(c, "this is no answer\r\n\r\n")
		return false
	case "cut":
		send(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this")
		return false
	case "cutchunk":
		send(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n50\r\nonly this")
		return false
	case "badchunk":
		send(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nonly this")
		return false
	case "slow":
		_, _ = io.Copy(io.Discard, c)
		return false
	case "wait":
		<-o.release
		answer(c, "200 OK", "released")
	case "reason":
		send(c, "HTTP/1.1 200 A Longer Reason Phrase\r\nContent-Length: 0\r\n\r\n")
	case "upgrade":
		send(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: raw\r\n\r\nfrom the server")
		_, _ = io.Copy(io.Discard, c)
		return false
	default:
		answer(c, "200 OK", "")
	}
	return true
}

func answer(w io.Writer, status, body string) {
	send(w, fmt.Sprintf("HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body))
}

func send(w io.Writer, s string) { _, _ = io.WriteString(w, s) }

// head is a message head.
type head struct {
	first  string
	fields map[string]string
}

func readHead(r *bufio.Reader) (h head, err error) {
	h.fields = make(map[string]string)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return h, err
		}
		line = strings.TrimRight(line, "\r\n")
		switch name, value, _ := strings.Cut(line, ":"); {
		case line == "" && h.first == "":
		case line == "":
			return h, nil
		case h.first == "":
			h.first = line
		default:
			h.fields[strings.ToLower(name)] = strings.TrimSpace(value)
		}
	}
}

// skipBody reads the body that the head announces.
func (h head) skipBody(r *bufio.Reader) error {
	if strings.EqualFold(h.fields["transfer-encoding"], "chunked") {
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return err
			}
			n, err := strconv.ParseInt(strings.TrimSpace(line), 16, 64)
			if err != nil {
				return err
			}
			if n == 0 {
				break
			}
			if _, err = io.CopyN(io.Discard, r, n+2); err != nil {
				return err
			}
		}
		for { // trailers
			line, err := r.ReadString('\n')
			if err != nil || strings.TrimSpace(line) == "" {
				return err
			}
		}
	}
	n, _ := strconv.ParseInt(h.fields["content-length"], 10, 64)
	_, err := io.CopyN(io.Discard, r, n)
	return err
}
