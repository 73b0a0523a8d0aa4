package cli

import (
	"bufio"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"weir/internal/base/addr"
	"weir/internal/model"
)

// Config is what the global section says about stats sockets.
type Config struct {
	Sockets []*Socket
	Timeout time.Duration // stats timeout; 0: the default
	MaxConn int           // stats maxconn; 0: the default
	// MaxPayload is tune.cli.max-payload-size in bytes; 0: the default.
	MaxPayload int
}

// Defaults (manual 3.1).
const (
	DefaultTimeout    = 10 * time.Second
	DefaultMaxConn    = 10
	DefaultMaxPayload = 128 << 10
)

// Key is where a global section keeps its Config.
var Key = model.SlotKey[*Config]{Name: "stats sockets"}

// Of returns the stats sockets of a configuration, making an empty list if there is none.
func Of(g *model.Global) *Config {
	c := Key.Get(&g.Slots)
	if c == nil {
		c = new(Config)
		Key.Set(&g.Slots, c)
	}
	return c
}

// Socket is one "stats socket" line.
type Socket struct {
	Pos          model.Position
	Text         string // the address as written
	Addr         addr.Addr
	Name         string
	Level        Level
	severity     severityMode
	Mode         int // of a unix socket; -1: as the system says
	UID, GID     int // of a unix socket; -1: unchanged
	Backlog      int
	MaxConn      int // 0: no limit of its own
	ExposeFD     bool
	V4V6, V6Only bool
	Interface    string
	// Bound is the address of the open socket where the configuration does not have it.
	Bound string
	// Bind has the options that change the socket, as bind lines have them.
	Bind model.Bind
}

// NewSocket returns a socket with the defaults of its options.
func NewSocket() *Socket { return &Socket{Level: Operator, Mode: -1, UID: -1, GID: -1} }

// SetSeverity is the option severity-output; false for a form that does not exist.
func (s *Socket) SetSeverity(name string) (ok bool) {
	s.severity, ok = parseSeverity(name)
	return ok
}

// Server accepts sessions on the sockets of one configuration.
type Server struct {
	Host Host // nil in a master
	Main Main
	// Failed is told of an error that ended the accepting on a socket.
	Failed func(s *Socket, err error)
	// Guard runs a session and survives its panic; nil: nothing does.
	Guard func(session func())

	conf    Config
	bufSize int
	slots   chan struct{}
	total   atomic.Int64
	open    atomic.Int64
	sent    atomic.Int64

	mu     sync.Mutex
	lns    []net.Listener
	conns  map[net.Conn]struct{}
	closed bool
	done   chan struct{}
}

// NewServer makes a server that answers for host. bufSize is the length of a command in bytes.
func NewServer(host Host, conf *Config, bufSize int) *Server {
	s := &Server{Host: host, Main: host, conf: *conf, bufSize: bufSize, conns: make(map[net.Conn]struct{}), done: make(chan struct{})}
	if s.conf.Timeout <= 0 {
		s.conf.Timeout = DefaultTimeout
	}
	if s.conf.MaxConn <= 0 {
		s.conf.MaxConn = DefaultMaxConn
	}
	if s.conf.MaxPayload <= 0 {
		s.conf.MaxPayload = DefaultMaxPayload
	}
	if s.bufSize <= 0 {
		s.bufSize = model.DefaultBufSize
	}
	s.slots = make(chan struct{}, s.conf.MaxConn)
	return s
}

// Sessions are how many sessions there are, and how many there have been.
func (s *Server) Sessions() (now, total int64) { return s.open.Load(), s.total.Load() }

// Serve accepts on ln for sock in the background until Close. It takes ln over.
func (s *Server) Serve(ln net.Listener, sock *Socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		ln.Close()
		return
	}
	s.lns = append(s.lns, ln)
	go s.accept(ln, sock)
}

// retryAfter is how long accepting rests after a failure, such as a lack of descriptors.
const retryAfter = 100 * time.Millisecond

// accept takes a connection when the number of sessions allows one more; others wait in the queue of the system.
func (s *Server) accept(ln net.Listener, sock *Socket) {
	var own chan struct{}
	if sock.MaxConn > 0 {
		own = make(chan struct{}, sock.MaxConn)
	}
	for {
		if own != nil {
			own <- struct{}{}
		}
		s.slots <- struct{}{}
		c, err := ln.Accept()
		if err == nil && s.track(c) {
			go func() {
				s.session(c, sock, Rights{Level: sock.Level})
				<-s.slots
				if own != nil {
					<-own
				}
			}()
			continue
		}
		<-s.slots
		if own != nil {
			<-own
		}
		if s.isClosed() {
			return
		}
		if err != nil {
			if s.Failed != nil {
				s.Failed(sock, err)
			}
			<-time.After(retryAfter)
		}
	}
}

func (s *Server) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// track notes an open connection; it closes one that comes too late.
func (s *Server) track(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		c.Close()
		return false
	}
	s.conns[c] = struct{}{}
	return true
}

// Rights are what a session begins with.
type Rights struct {
	Level Level
	Modes Mode
	// Interactive sessions read line after line, Prompt ones ask for each, Timed ones tell the uptime with that.
	Interactive, Prompt, Timed bool
}

// ServeConn serves a session on a connection that did not come from a listener, and returns when it is over. It counts in
// none of the limits.
func (s *Server) ServeConn(c net.Conn, sock *Socket, r Rights) {
	if s.track(c) {
		s.session(c, sock, r)
	}
}

// session serves one connection.
func (s *Server) session(c net.Conn, sock *Socket, r Rights) {
	s.total.Add(1)
	s.open.Add(1)
	defer func() {
		s.open.Add(-1)
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	}()
	x := &Session{
		conn: c, in: bufio.NewReaderSize(c, s.bufSize), host: s.Host, main: s.Main, sock: sock,
		level: r.Level, modes: r.Modes, severity: sock.severity, timeout: s.conf.Timeout, maxBody: s.conf.MaxPayload, done: s.done,
		timed: r.Timed, sent: &s.sent,
	}
	switch {
	case r.Prompt:
		x.interact = prompt
	case r.Interactive:
		x.interact = multi
	}
	if s.Guard != nil {
		s.Guard(x.serve)
	} else {
		x.serve()
	}
}

// Sent is how many bytes the sessions have sent.
func (s *Server) Sent() int64 { return s.sent.Load() }

// Close stops accepting. Sessions go on when let is set, and are cut otherwise.
func (s *Server) Close(let bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, ln := range s.lns {
		ln.Close()
	}
	s.lns = nil
	if !let && s.conns != nil {
		close(s.done)
		for c := range s.conns {
			c.Close()
		}
		s.conns = nil
	}
}
