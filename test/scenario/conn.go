package scenario

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

// A conn is one connection of an actor with what was last read from it.
type conn struct {
	net.Conn
	r        *bufio.Reader
	head     []string // lines of the last head, start line first
	body     []byte
	framing  string // none, length, chunked or close
	trailers []string
}

func newConn(c net.Conn) *conn {
	return &conn{Conn: c, r: bufio.NewReaderSize(c, 64<<10)}
}

// readLine reads up to LF and returns the line without CRLF or LF.
func (c *conn) readLine() (string, error) {
	line, err := c.r.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("wanted a line, got %q and %w", line, err)
	}
	return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"), nil
}

// readHead reads a start line and fields up to the empty line.
func (c *conn) readHead() error {
	c.head, c.body, c.framing, c.trailers = nil, nil, "", nil
	for len(c.head) < 1000 {
		line, err := c.readLine()
		if err != nil {
			return err
		}
		if line == "" {
			return nil
		}
		c.head = append(c.head, line)
	}
	return errors.New("head of more than 1000 lines")
}

// field returns the values of a field of the last head, name compared without case.
func (c *conn) field(name string) []string { return fieldOf(c.head[min(1, len(c.head)):], name) }

func fieldOf(lines []string, name string) []string {
	var vals []string
	for _, line := range lines {
		n, v, ok := strings.Cut(line, ":")
		if ok && strings.EqualFold(n, name) {
			vals = append(vals, strings.TrimSpace(v))
		}
	}
	return vals
}

// readBody reads the body that the last head announces.
func (c *conn) readBody() error {
	c.body = nil
	start := c.head[0]
	isResponse := strings.HasPrefix(start, "HTTP/")
	switch {
	case isResponse && bodyless(start):
		c.framing = "none"
	case hasToken(c.field("Transfer-Encoding"), "chunked"):
		c.framing = "chunked"
		return c.readChunked()
	case len(c.field("Content-Length")) > 0:
		c.framing = "length"
		var n int
		if _, err := fmt.Sscanf(c.field("Content-Length")[0], "%d", &n); err != nil || n < 0 || n > 1<<30 {
			return fmt.Errorf("bad content-length %q", c.field("Content-Length")[0])
		}
		c.body = make([]byte, n)
		m, err := io.ReadFull(c.r, c.body)
		c.body = c.body[:m]
		if err != nil {
			return fmt.Errorf("body: %d bytes of %d, then %w", m, n, err)
		}
	case isResponse:
		c.framing = "close"
		all, err := io.ReadAll(c.r)
		c.body = all
		if err != nil {
			return fmt.Errorf("body until close: %d bytes, then %w", len(all), err)
		}
	default:
		c.framing = "none"
	}
	return nil
}

// readChunked reads chunks and trailers.
func (c *conn) readChunked() error {
	for {
		line, err := c.readLine()
		if err != nil {
			return fmt.Errorf("chunk size: %w", err)
		}
		var n int
		if _, err := fmt.Sscanf(line, "%x", &n); err != nil || n > 1<<30 {
			return fmt.Errorf("bad chunk size line %q", line)
		}
		if n == 0 {
			break
		}
		chunk := make([]byte, n)
		if _, err := io.ReadFull(c.r, chunk); err != nil {
			return fmt.Errorf("chunk of %d bytes: %w", n, err)
		}
		c.body = append(c.body, chunk...)
		if line, err := c.readLine(); err != nil || line != "" {
			return fmt.Errorf("after a chunk: %q, %w", line, err)
		}
	}
	for len(c.trailers) < 1000 {
		line, err := c.readLine()
		if err != nil {
			return fmt.Errorf("trailers: %w", err)
		}
		if line == "" {
			return nil
		}
		c.trailers = append(c.trailers, line)
	}
	return errors.New("more than 1000 trailers")
}

// bodyless tells whether a status line never has a body after it.
func bodyless(start string) bool {
	f := strings.Fields(start)
	return len(f) > 1 && (f[1] == "204" || f[1] == "304" || strings.HasPrefix(f[1], "1"))
}

// hasToken tells whether a comma list holds a token, compared without case.
func hasToken(values []string, token string) bool {
	for _, v := range values {
		for _, item := range strings.Split(v, ",") {
			if strings.EqualFold(strings.TrimSpace(item), token) {
				return true
			}
		}
	}
	return false
}

// ending names how a read failed: "close", "reset", "silence" (nothing came in time) or "error".
func ending(err error) string {
	switch {
	case errors.Is(err, io.EOF):
		return "close"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "reset"
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "silence"
	}
	return "error"
}

// next reads one byte within d and says what came: "data" or one of ending's words.
func (c *conn) next(d time.Duration) (string, error) {
	if err := c.SetReadDeadline(time.Now().Add(d)); err != nil {
		return "", err
	}
	b, err := c.r.Peek(1)
	if err == nil {
		more, _ := c.r.Peek(c.r.Buffered())
		return "data", fmt.Errorf("bytes came: %.200q", append(b[:0:0], more...))
	}
	return ending(err), err
}

// reset closes so that the peer gets a RST.
func (c *conn) reset() error {
	if t, ok := c.Conn.(*net.TCPConn); ok {
		if err := t.SetLinger(0); err != nil {
			return err
		}
	}
	return c.Close()
}
