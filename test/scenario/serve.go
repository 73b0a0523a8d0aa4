package scenario

import (
	"fmt"
	"net"
	"sync"
	"time"
)

// A listener is a server's side: a socket, or a port that nobody serves.
type listener struct {
	mode  string
	l     *net.TCPListener
	addr  string
	close func()
}

// newListener opens what a server actor's mode asks for.
func newListener(mode string) (*listener, error) {
	switch mode {
	case "refuse":
		return refusingPort()
	case "blackhole":
		return blackholePort()
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return &listener{l: l.(*net.TCPListener), addr: l.Addr().String(), close: func() { l.Close() }}, nil
}

// accept waits at most d for a connection.
func (l *listener) accept(d time.Duration) (net.Conn, error) {
	if l.l == nil {
		return nil, fmt.Errorf("a %s server accepts nothing", l.mode)
	}
	if err := l.l.SetDeadline(time.Now().Add(d)); err != nil {
		return nil, err
	}
	return l.l.Accept()
}

// serve answers every request of every connection until the scenario ends. The answer has the
// body BODY (by default the server's name) and says which connection it came over: X-Conn
// counts the connections of this server from 1, X-Req the requests of that connection.
func (p *player) serve(body string) error {
	if body == "" {
		body = p.a.Name
	}
	l := p.g.servers[p.a.Name]
	p.g.event(p.a.Name + ".done").fire() // others need not wait for a service
	var wg sync.WaitGroup
	defer wg.Wait()
	for n := 1; ; n++ {
		c, err := l.accept(p.g.left())
		if err != nil {
			return nil
		}
		p.g.track(c)
		wg.Add(1)
		go func() {
			defer wg.Done()
			p.serveConn(newConn(c), n, body)
		}()
	}
}

func (p *player) serveConn(c *conn, n int, body string) {
	defer c.Close()
	for req := 1; ; req++ {
		if err := c.SetDeadline(time.Now().Add(p.g.left())); err != nil {
			return
		}
		if c.readHead() != nil || len(c.head) == 0 || c.readBody() != nil {
			return
		}
		_, err := fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nX-Server: %s\r\nX-Conn: %d\r\nX-Req: %d\r\n\r\n%s",
			len(body), p.a.Name, n, req, body)
		if err != nil {
			return
		}
	}
}
