package generation

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"weir/internal/rt/poll"
)

// A client that reads slowly, for far longer than "timeout client", gets everything: only a silent one is given up.
func TestSlowReaderIsNotSilent(t *testing.T) {
	onPollers(t, func(t *testing.T, k poll.Kind) {
		const size = 6 << 20
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			io.ReadAtLeast(c, make([]byte, 4096), 10)
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", size)
			c.Write(make([]byte, size))
			io.Copy(io.Discard, c)
		}()
		port := freePort(t)
		text := strings.Replace(proxyTo(port, &origin{Listener: l}), "timeout client 10s", "timeout client 400ms", 1)
		startProcess(t, k, 1, text)
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.(*net.TCPConn).SetReadBuffer(64 << 10)
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
		began, got := time.Now(), 0
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		buf := make([]byte, 32<<10)
		for got < size {
			<-tick.C
			conn.SetReadDeadline(time.Now().Add(5 * time.Second))
			n, err := io.ReadAtLeast(conn, buf, len(buf))
			got += n
			if err != nil && got < size {
				t.Fatalf("cut after %d bytes and %v: %v", got, time.Since(began), err)
			}
		}
		if d := time.Since(began); d < 800*time.Millisecond {
			t.Fatalf("the client was not slow: %v", d)
		}
	})
}

// A client that stops reading is given up after "timeout client".
func TestDeafClientIsGivenUp(t *testing.T) {
	onPollers(t, func(t *testing.T, k poll.Kind) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			io.ReadAtLeast(c, make([]byte, 4096), 10)
			fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
			for b := make([]byte, 1<<16); err == nil; {
				_, err = c.Write(b)
			}
		}()
		port := freePort(t)
		text := strings.Replace(proxyTo(port, &origin{Listener: l}), "timeout client 10s", "timeout client 300ms", 1)
		p := startProcess(t, k, 1, text)
		c := dial(t, port)
		fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
		until(t, "the connection to begin", func() bool { return p.Jobs() == 1 })
		until(t, "the deaf client to be given up", func() bool { return p.Jobs() == 0 })
	})
}
