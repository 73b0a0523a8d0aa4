package sock

import (
	"fmt"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"weir/internal/rt/loop"
	"weir/internal/rt/poll"
	"weir/internal/rt/sys"
)

// KeepAlive is TCP keep-alive; zero values leave the system's.
type KeepAlive struct {
	On             bool
	Idle, Interval time.Duration
	Count          int
}

// ConnectOptions says where to connect to, and how.
type ConnectOptions struct {
	Addr        netip.AddrPort
	Unix        string         // path, or @name for an abstract one, when Addr is not valid
	Source      netip.AddrPort // bind to this address; port 0 = any
	Transparent bool           // Source may be an address that is not this machine's
	Interface   string
	Mark        int
	FastOpen    bool
	UserTimeout time.Duration
	NoDelayOff  bool // leave Nagle's algorithm on
	KeepAlive   KeepAlive
	MSS         int
	MPTCP       bool
	Control     func(fd int) error // called before connecting
}

// Connect starts a connection. An error means that it could not even be started. Otherwise Connecting tells whether it
// is still under way; Err tells when it has failed, after which it still has to be closed. What is sent meanwhile goes
// out once connected.
func Connect(l *loop.Loop, o ConnectOptions) (*Conn, error) {
	e := envOf(l)
	to := new(sys.SockAddr)
	if o.Addr.IsValid() {
		to.SetIP(o.Addr)
	} else if !to.SetUnix(o.Unix) {
		return nil, fmt.Errorf("sock: no usable address to connect to (%q)", o.Unix)
	}
	if e.nets != nil {
		fd, err := e.nets.Socket(o.Source)
		if err != nil {
			return nil, err
		}
		return e.connect(fd, to)
	}
	proto := 0
	if o.MPTCP && o.Addr.IsValid() {
		proto = unix.IPPROTO_MPTCP
	}
	fd := sys.RawSocket(to.Family(), unix.SOCK_STREAM|e.nonblock(), proto)
	if fd < 0 {
		return nil, os.NewSyscallError("socket", sys.Errno(fd))
	}
	if err := o.prepare(fd); err != nil {
		sys.RawClose(fd)
		return nil, err
	}
	return e.connect(fd, to)
}

func (e *env) connect(fd int, to *sys.SockAddr) (*Conn, error) {
	c := newConn(e, fd)
	if to.Family() != unix.AF_UNIX {
		c.names().peer.set(to.IP())
	} else {
		c.names().peer.family = 1
		c.names().local.family = 1
	}
	if err := e.p.Attach(&c.file, true); err != nil {
		sys.RawClose(fd)
		e.leave(c)
		return nil, err
	}
	c.fl |= flConnecting
	switch r := e.p.Connect(&c.file, to); {
	case r == 0:
		c.fl &^= flConnecting
	case r != poll.Pending:
		c.fl &^= flConnecting
		c.Close()
		return nil, os.NewSyscallError("connect", sys.Errno(r))
	}
	return c, nil
}

// connected is the completion of a connect.
func (c *Conn) connected(res int) {
	c.fl &^= flConnecting
	if c.fl&flClosing != 0 {
		return
	}
	if res < 0 {
		c.fl |= flReadErr | flWriteErr
		c.errno = int32(-res)
		c.tx.Clear()
		c.notify()
		return
	}
	if c.tx.Len() > 0 {
		c.e.setDirty(c)
	} else if c.fl&flShut != 0 {
		c.progress()
	}
	if c.idle != nil && c.owner == nil {
		c.Watch()
		return
	}
	c.notify()
}

// prepare sets what has to be set before connecting.
func (o *ConnectOptions) prepare(fd int) error {
	s := optionSetter{fd: fd}
	v6 := o.Addr.IsValid() && !o.Addr.Addr().Is4()
	if o.Addr.IsValid() {
		s.tcp(!o.NoDelayOff, o.UserTimeout, o.MSS)
		s.keepAlive(o.KeepAlive)
		s.set(o.FastOpen, "TCP_FASTOPEN_CONNECT", unix.IPPROTO_TCP, unix.TCP_FASTOPEN_CONNECT, 1)
		s.transparent(o.Transparent, v6)
	}
	s.set(o.Mark != 0, "SO_MARK", unix.SOL_SOCKET, unix.SO_MARK, o.Mark)
	s.device(o.Interface)
	if s.err == nil && o.Source.IsValid() {
		// The port is chosen when connecting, so that it has to be unique only for this destination.
		if o.Source.Port() == 0 {
			s.set(true, "IP_BIND_ADDRESS_NO_PORT", unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
		} else {
			s.set(true, "SO_REUSEADDR", unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
		}
		from := new(sys.SockAddr)
		src := o.Source
		if v6 && src.Addr().Is4() {
			src = netip.AddrPortFrom(netip.AddrFrom16(src.Addr().As16()), src.Port())
		}
		from.SetIP(src)
		if r := sys.RawBind(fd, from); r < 0 && s.err == nil {
			s.err = os.NewSyscallError("bind", sys.Errno(r))
		}
	}
	if s.err == nil && o.Control != nil {
		s.err = o.Control(fd)
	}
	return s.err
}

// optionSetter sets socket options until one fails.
type optionSetter struct {
	fd  int
	err error
}

func (s *optionSetter) set(on bool, name string, level, opt, v int) {
	if !on || s.err != nil {
		return
	}
	if r := sys.RawSetInt(s.fd, level, opt, v); r < 0 {
		s.err = fmt.Errorf("setsockopt %s: %w", name, sys.Errno(r))
	}
}

func (s *optionSetter) tcp(noDelay bool, userTimeout time.Duration, mss int) {
	s.set(noDelay, "TCP_NODELAY", unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	s.set(userTimeout > 0, "TCP_USER_TIMEOUT", unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(userTimeout.Milliseconds()))
	s.set(mss > 0, "TCP_MAXSEG", unix.IPPROTO_TCP, unix.TCP_MAXSEG, mss)
}

func (s *optionSetter) keepAlive(k KeepAlive) {
	secs := func(d time.Duration) int { return max(int((d+time.Second-1)/time.Second), 1) }
	s.set(k.On, "SO_KEEPALIVE", unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
	s.set(k.Idle > 0, "TCP_KEEPIDLE", unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, secs(k.Idle))
	s.set(k.Interval > 0, "TCP_KEEPINTVL", unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, secs(k.Interval))
	s.set(k.Count > 0, "TCP_KEEPCNT", unix.IPPROTO_TCP, unix.TCP_KEEPCNT, k.Count)
}

func (s *optionSetter) transparent(on, v6 bool) {
	if v6 {
		s.set(on, "IPV6_TRANSPARENT", unix.IPPROTO_IPV6, unix.IPV6_TRANSPARENT, 1)
	} else {
		s.set(on, "IP_TRANSPARENT", unix.IPPROTO_IP, unix.IP_TRANSPARENT, 1)
	}
}

func (s *optionSetter) device(name string) {
	if name == "" || s.err != nil {
		return
	}
	if err := unix.SetsockoptString(s.fd, unix.SOL_SOCKET, unix.SO_BINDTODEVICE, name); err != nil {
		s.err = fmt.Errorf("setsockopt SO_BINDTODEVICE %s: %w", name, err)
	}
}

// SetKeepAlive sets TCP keep-alive on an accepted connection.
func (c *Conn) SetKeepAlive(k KeepAlive) error {
	if c.e.nets != nil || c.file.Fd < 0 {
		return nil
	}
	s := optionSetter{fd: int(c.file.Fd)}
	s.keepAlive(k)
	return s.err
}
