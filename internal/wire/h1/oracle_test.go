package h1

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"weir/internal/wire/h1/corpus"
)

// oracle is a running reference with a server behind it that records what it
// receives and answers what the current case wants.
type oracle struct {
	addr map[bool]string // by Unsafe
	old  bool            // version 2.x

	mu     sync.Mutex
	answer []byte
	got    []byte
}

// startOracle starts the reference, or skips the test where there is none.
// WEIR_ORACLE names another program than the installed one.
func startOracle(t *testing.T) *oracle {
	t.Helper()
	program := os.Getenv("WEIR_ORACLE")
	if program == "" {
		var err error
		if program, err = exec.LookPath("haproxy"); err != nil {
			if _, err = os.Stat("/usr/sbin/haproxy"); err != nil {
				t.Skip("the reference is not installed")
			}
			program = "/usr/sbin/haproxy"
		}
	}
	version, err := exec.Command(program, "-v").Output()
	if err != nil {
		t.Skip("the reference does not run: ", err)
	}
	o := &oracle{addr: map[bool]string{}, old: bytes.Contains(version, []byte("version 2."))}
	server := listen(t)
	go o.serve(server)
	var config strings.Builder
	fmt.Fprintf(&config, "defaults\n mode http\n timeout connect 2s\n timeout client 2s\n timeout server 2s\n retries 0\n")
	cmd := exec.Command(program, "-db", "-f")
	for i, relaxed := range []bool{false, true} {
		l := listen(t)
		o.addr[relaxed] = l.Addr().String()
		f, err := l.(*net.TCPListener).File()
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		cmd.ExtraFiles = append(cmd.ExtraFiles, f)
		fmt.Fprintf(&config, "listen l%d\n bind fd@%d\n server s %s pool-max-conn 0\n", i, 3+i, server.Addr())
		if relaxed {
			config.WriteString(" option accept-invalid-http-request\n option accept-invalid-http-response\n")
		}
	}
	file := filepath.Join(t.TempDir(), "oracle.cfg")
	if err := os.WriteFile(file, []byte(config.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd.Args = append(cmd.Args, file)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		server.Close()
	})
	return o
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func (o *oracle) serve(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go o.connection(c)
	}
}

// connection answers each complete request of a connection.
func (o *oracle) connection(c net.Conn) {
	defer c.Close()
	buf := make([]byte, 65536)
	var pending []byte
	for {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		pending = append(pending, buf[:n]...)
		o.mu.Lock()
		o.got = append(o.got, buf[:n]...)
		answer := o.answer
		o.mu.Unlock()
		for {
			head, body, ok := bytes.Cut(pending, []byte("\r\n\r\n"))
			if !ok || bytes.Contains(head, []byte("transfer-encoding: chunked")) && !chunksEnd.Match(body) {
				break
			}
			pending = nil
			if i := bytes.Index(body, []byte("GET /2")); i >= 0 {
				pending = body[i:]
			}
			c.Write(answer)
			if bytes.HasSuffix(answer, []byte("UNTILCLOSE")) {
				return
			}
		}
	}
}

var chunksEnd = regexp.MustCompile(`(?s)(^|\n)0+\r\n(\r\n|.*\r\n\r\n)`)

// ask runs one case and returns the status that the client saw and what the
// other side got, as soon as they are the ones in want, or at the deadline.
func (o *oracle) ask(t *testing.T, c *corpus.Case, wantStatus string, wantOut []byte) (status string, out []byte) {
	t.Helper()
	answer, request := []byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), c.In
	if c.Answers {
		answer, request = c.In, c.Req
	}
	o.mu.Lock()
	o.answer, o.got = answer, nil
	o.mu.Unlock()
	conn, err := net.Dial("tcp", o.addr[c.Unsafe])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go conn.Write(request)
	limit := 1500 * time.Millisecond
	if wantStatus == "-" {
		limit = 300 * time.Millisecond // nothing should come
	}
	deadline := time.Now().Add(limit)
	var seen []byte
	buf := make([]byte, 65536)
	for {
		conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		n, err := conn.Read(buf)
		seen = append(seen, buf[:n]...)
		status = statusOf(seen)
		out = seen
		if !c.Answers {
			o.mu.Lock()
			out = bytes.Clone(o.got)
			o.mu.Unlock()
			if status != "200" && status != "-" {
				out = nil
			}
		} else if status == "502" {
			out = nil
		}
		out = oneChunk(out)
		same := status == wantStatus && bytes.Equal(out, wantOut)
		closed := err != nil && !os.IsTimeout(err)
		if same && wantStatus != "-" || time.Now().After(deadline) || closed && same {
			return status, out
		}
		if closed && time.Until(deadline) > 100*time.Millisecond {
			deadline = time.Now().Add(100 * time.Millisecond)
		}
	}
}

func statusOf(b []byte) string {
	line, _, _ := bytes.Cut(b, []byte("\r\n"))
	if w := bytes.Fields(line); len(w) > 1 {
		return string(w[1])
	}
	return "-"
}

// oneChunk writes the chunked bodies of b as one chunk each.
func oneChunk(b []byte) (out []byte) {
	for len(b) > 0 {
		head, rest, ok := bytes.Cut(b, []byte("\r\n\r\n"))
		if !ok {
			return append(out, b...)
		}
		out = append(append(out, head...), "\r\n\r\n"...)
		b = rest
		if !bytes.Contains(bytes.ToLower(head), []byte("transfer-encoding: chunked")) {
			continue
		}
		sizes := 0
		var data []byte
		for {
			var size int
			n, err := fmt.Sscanf(string(b[:min(len(b), 20)]), "%x\r\n", &size)
			i := bytes.IndexByte(b, '\n') + 1
			if n != 1 || err != nil || i == 0 || len(b) < i+size+2 && size > 0 {
				break
			}
			if sizes++; size == 0 {
				b = b[i:]
				out = flush(out, data)
				out = append(out, "0\r\n"...)
				data = nil
				break
			}
			data = append(data, b[i:i+size]...)
			b = b[i+size+2:]
		}
		out = flush(out, data)
		if sizes > 0 && bytes.HasPrefix(b, []byte("\r\n")) {
			out, b = append(out, "\r\n"...), b[2:]
		}
	}
	return out
}

func flush(out, data []byte) []byte {
	if len(data) == 0 {
		return out
	}
	return append(append(AppendChunkHeader(out, len(data)), data...), ChunkEnd...)
}

// TestOracle runs the corpus through the reference: what the table says of it
// must be true, so that the differences listed there are all there are.
func TestOracle(t *testing.T) {
	o := startOracle(t)
	if testing.Short() {
		t.Skip("takes several seconds")
	}
	cases := load(t)
	same := 0
	for i := range cases {
		c := &cases[i]
		wantStatus, wantOut := c.Reference(o.old)
		if wantStatus == "?" {
			continue // depends on how the bytes arrive
		}
		status, out := o.ask(t, c, wantStatus, wantOut)
		if status != wantStatus || !bytes.Equal(out, wantOut) { // once more: it may have been busy
			status, out = o.ask(t, c, wantStatus, wantOut)
		}
		if status != wantStatus || !bytes.Equal(out, wantOut) {
			t.Errorf("%s:%d: %s\n in   %.200q\n got  %s %.300q\n want %s %.300q", c.File, c.Line, c.Name, c.In, status, out, wantStatus, wantOut)
		}
		if wantStatus == c.Want && bytes.Equal(wantOut, c.Out) {
			same++
		}
	}
	t.Logf("%d cases, %d where the reference does the same (version 2: %v)", len(cases), same, o.old)
}
