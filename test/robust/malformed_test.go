package robust

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "weir/internal/all" // so that a cached result is not taken for one of other code
	_ "weir/internal/proc/boot"
	"weir/internal/wire/h1/corpus"
	"weir/test/scenario"
	"weir/test/wait"
)

// TestMain lets more tests run at once than there are processors: most of them wait for timeouts.
func TestMain(m *testing.M) {
	if os.Getenv("ROBUST_STREAM") != "" {
		streamForEver() // this process is a server that will be killed
		return
	}
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f != nil {
		f.Value.Set("6")
	}
	m.Run() // the exit code is kept by package testing
	scenario.Cleanup()
}

const malformedConfig = `
global
	log stdout format raw local0
	nbthread 1
defaults
	mode http
	log global
	option httplog
	timeout connect 5s
	timeout client 5s
	timeout server 5s
	retries 0
	http-reuse always
listen strict
	bind "fd@${strict}"
	server s1 ${s1}
listen unsafe
	bind "fd@${unsafe}"
	option accept-unsafe-violations-in-http-request
	option accept-unsafe-violations-in-http-response
	server s1 ${s1}
`

// TestMalformed sends every message of the shared table through one process: what the client sees, what the origin gets,
// that a refused client is hung up on, and what is logged. A victim asks after each of them.
func TestMalformed(t *testing.T) {
	cases, err := corpus.Load("../../internal/wire/h1/testdata")
	check(t, err)
	each(t, func(t *testing.T, target *scenario.Target) {
		o := newOrigin(t)
		p := start(t, setup{target: target, config: malformedConfig, vars: map[string]string{"s1": o.addr}})
		refused := 0
		for i := range cases {
			m := &malformed{Case: &cases[i], p: p, o: o}
			if m.want, m.out = m.Want, m.Out; target.Reference {
				m.want, m.out = m.Reference(false)
			}
			if m.want == "?" || open[m.File+" "+m.Name] {
				continue
			}
			if m.Want != "200" {
				refused++
			}
			m.run()
			o.on(nil)
			p.victim("strict")
			for _, problem := range m.problems {
				t.Errorf("%s:%d: %s: %s\n in   %.200q", m.File, m.Line, m.Name, problem, m.In)
			}
		}
		if refused < 150 {
			t.Errorf("only %d malformed or ambiguous messages", refused)
		}
		p.settle(o)
	})
}

// open holds the cases that the codec gets right and the binary does not yet.
var open = map[string]bool{
	"answers.txt 1.0 chunked":                                               true,
	"answers.txt 1.0 client, chunks":                                        true,
	"answers.txt 1.0 keep-alive client, chunks":                             true,
	"framing.txt 1.0 coding \" chunked\" with Connection: keep-alive\\r\\n": true,
	"framing.txt 1.0 coding \" chunked\"":                                   true,
	"framing.txt 1.0 coding \" chunked\" with Content-Length: 5\\r\\n":      true,
}

// malformed is one case at work.
type malformed struct {
	*corpus.Case
	p        *proxy
	o        *origin
	c        *client
	want     string
	out      []byte
	problems []string
}

func (m *malformed) fail(format string, args ...any) {
	m.problems = append(m.problems, fmt.Sprintf(format, args...))
}

func (m *malformed) run() {
	listener := "strict"
	if m.Unsafe {
		listener = "unsafe"
	}
	m.p.forget()
	m.c = m.p.dial(listener)
	defer m.c.Close()
	if m.Answers {
		m.answers()
	} else {
		m.requests()
	}
}

// silent is how long nothing must come where nothing is answered.
const silent = 50 * time.Millisecond

// see reads what comes until done says that it is enough, the connection ends or the time is over.
func (m *malformed) see(limit time.Duration, done func(seen []byte) bool) (seen []byte, closed bool) {
	buf := make([]byte, 64<<10)
	end := time.Now().Add(limit)
	for time.Now().Before(end) {
		m.c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		n, err := m.c.Conn.Read(buf)
		seen = append(seen, buf[:n]...)
		if err != nil && !os.IsTimeout(err) {
			return seen, true
		}
		if done(seen) {
			return seen, false
		}
	}
	return seen, false
}

// requests plays a case whose bytes come from the client.
func (m *malformed) requests() {
	used := make(chan int, 16) // the origin's connections
	m.o.on(func(x *exchange) {
		used <- x.conn
		if x.readBody() == nil {
			x.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}
	})
	m.o.reset()
	go io.Copy(m.c.Conn, bytes.NewReader(m.In)) // may be refused before it is whole
	same := func() bool { return bytes.Equal(oneChunk(m.o.received()), m.out) }
	switch m.want {
	case "-":
		if seen, closed := m.see(silent, func([]byte) bool { return false }); len(seen) > 0 || closed {
			m.fail("got %.100q, closed: %v; want silence", seen, closed)
		}
	case "200":
		seen, _ := m.see(bound, func(seen []byte) bool { return bytes.HasSuffix(seen, []byte("\r\n\r\n")) })
		if statusOf(seen) != "200" || !wait.Until(time.Second, same) {
			m.fail("got %q, the origin %.300q; want 200 and %.300q", seen, oneChunk(m.o.received()), m.out)
		}
		m.c.Close()
		m.logged("200", `----|C[DL]--`)
	default:
		m.refused(used)
	}
}

// refused checks that the message is answered for, that nobody got it, and that the connection is over.
func (m *malformed) refused(used chan int) {
	seen, closed := m.see(bound, func([]byte) bool { return false })
	if statusOf(seen) != m.want || !closed {
		m.fail("got %.100q, closed: %v; want %s", seen, closed, m.want)
	}
	if bytes.Count(seen, []byte("HTTP/1.1 ")) != 1 {
		m.fail("more than one answer: %.500q", seen)
	}
	got := m.o.received()
	select {
	case conn := <-used: // the head was good
		if complete(got) {
			m.fail("the origin got a whole message: %.300q", got)
		}
		if !m.o.closed(conn) {
			m.fail("the origin's connection is kept, after half a message: %.300q", got)
		}
		m.logged(m.want, `P[RHD]--|CH--`)
	default:
		state := "PR--"
		if m.File == "chunks.txt" { // the head may be on its way to a server
			state = "P[RH]--"
		} else if len(got) > 0 {
			m.fail("the origin got %.300q", got)
		}
		if complete(got) {
			m.fail("the origin got a whole message: %.300q", got)
		}
		m.logged(m.want, state)
	}
}

// answers plays a case whose bytes come from the server.
func (m *malformed) answers() {
	used := make(chan int, 16)
	m.o.on(func(x *exchange) {
		used <- x.conn
		x.send(string(m.In))
		if bytes.HasSuffix(m.In, []byte("UNTILCLOSE")) {
			x.Close()
		}
	})
	m.c.send(string(m.Req))
	seen, _ := m.see(bound, func(seen []byte) bool {
		if m.want == "502" {
			return bytes.HasSuffix(seen, []byte("</html>\n")) || bytes.HasSuffix(seen, []byte("</html>"))
		}
		return len(m.out) > 0 && bytes.Equal(oneChunk(seen), m.out)
	})
	if statusOf(seen) != m.want || m.want != "502" && !bytes.Equal(oneChunk(seen), m.out) {
		m.fail("got %.300q, want %s %.300q", seen, m.want, m.out)
	}
	if m.want == "502" {
		if conn := <-used; !m.o.closed(conn) {
			m.fail("the origin's connection is kept after a broken answer")
		}
	}
	m.c.Close()
	switch {
	case m.want == "502":
		m.logged("502", "PH--")
	case m.want == "101":
		m.logged("101", "[CS-][D-]--")
	case m.want[0] == '1':
		m.logged("200", "----")
	default:
		m.logged(m.want, "----|[CL]D--")
	}
}

// logged checks the first log line about the client.
func (m *malformed) logged(status, state string) {
	l := m.p.logOf(m.c.port, 1)[0]
	if m.p.target.Reference && m.Ref != "" { // statuses below 100
		return
	}
	if l.status != status || !regexp.MustCompile("^(?:"+state+")$").MatchString(l.state) {
		m.fail("logged %s %s, want %s %s: %s", l.status, l.state, status, state, l.raw)
	}
	if strings.ContainsAny(l.raw, "\r\x00\x1b") {
		m.fail("raw bytes in the log: %q", l.raw)
	}
}

func statusOf(b []byte) string {
	first, _, _ := bytes.Cut(b, []byte("\r\n"))
	if w := bytes.Fields(first); len(w) > 1 {
		return string(w[1])
	}
	return "-"
}

// complete tells whether b holds a whole message.
func complete(b []byte) bool {
	head, body, ok := bytes.Cut(b, []byte("\r\n\r\n"))
	if !ok {
		return false
	}
	if !bytes.Contains(bytes.ToLower(head), []byte("transfer-encoding: chunked")) {
		n, _ := strconv.Atoi(fieldOf(string(head), "content-length"))
		return len(body) >= n
	}
	_, _, ok = dechunk(body)
	return ok
}

// dechunk returns the data of a chunked body, what is behind the last chunk's line, and whether there is one.
func dechunk(b []byte) (data, rest []byte, ok bool) {
	for {
		text, after, found := bytes.Cut(b, []byte("\r\n"))
		size, err := strconv.ParseInt(string(text), 16, 32)
		switch {
		case !found || err != nil || size > 0 && len(after) < int(size)+2:
			return data, b, false
		case size == 0:
			return data, after, true
		}
		data, b = append(data, after[:size]...), after[size+2:]
	}
}

// oneChunk writes every chunked body of b as one chunk.
func oneChunk(b []byte) (out []byte) {
	for len(b) > 0 {
		head, rest, ok := bytes.Cut(b, []byte("\r\n\r\n"))
		if !ok {
			return append(out, b...)
		}
		out, b = append(append(out, head...), "\r\n\r\n"...), rest
		if !bytes.Contains(bytes.ToLower(head), []byte("transfer-encoding: chunked")) {
			continue
		}
		data, rest, last := dechunk(b)
		if len(data) > 0 {
			out = fmt.Appendf(out, "%x\r\n%s\r\n", len(data), data)
		}
		if b = rest; last {
			out = append(out, "0\r\n"...)
			if r, ok := bytes.CutPrefix(b, []byte("\r\n")); ok {
				out, b = append(out, "\r\n"...), r
			}
		}
	}
	return out
}
