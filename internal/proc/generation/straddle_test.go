package generation

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"weir/internal/rt/poll"
)

// The framing of a chunked body may lie across two receive buffers at any place, also when the head came in two parts.
func TestChunkFramingAcrossBuffers(t *testing.T) {
	onPollers(t, func(t *testing.T, k poll.Kind) {
		got := make(chan int, 1)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go serveChunked(c, got)
			}
		}()
		port := freePort(t)
		p := startProcess(t, k, 1, proxyTo(port, &origin{Listener: l}))
		body := bytes.Repeat([]byte("1\r\nx\r\n"), 8000)
		for pad := range 7 {
			c := dial(t, port)
			fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: a\r\nX: %s\r\n", strings.Repeat("y", pad))
			until(t, "the first part to arrive", func() bool { return p.loops[0].Counters.Fibers.Load() == 1 })
			c.Write(append([]byte("Transfer-Encoding: chunked\r\n\r\n"), append(body, "0\r\n\r\n"...)...))
			if status, _, _, err := c.response(); err != nil || status != "HTTP/1.1 200 OK" {
				t.Fatalf("pad %d: %q %v", pad, status, err)
			}
			if n := <-got; n != 8000 {
				t.Fatalf("pad %d: the server got %d bytes of 8000", pad, n)
			}
			c.Close()
			until(t, "the connection to end", func() bool { return p.Jobs() == 0 })
		}
	})
}

// serveChunked answers requests with a chunked body and tells how long each was.
func serveChunked(c net.Conn, got chan<- int) {
	defer c.Close()
	r := bufio.NewReader(c)
	for {
		for line := ""; line != "\r\n"; {
			var err error
			if line, err = r.ReadString('\n'); err != nil {
				return
			}
		}
		total := 0
		for {
			var n int
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			fmt.Sscanf(line, "%x", &n)
			if _, err := io.CopyN(io.Discard, r, int64(n)+2); err != nil {
				return
			}
			if n == 0 {
				break
			}
			total += n
		}
		got <- total
		fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	}
}
