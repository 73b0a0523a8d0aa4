package sock

import (
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"weir/internal/base/buf"
	"weir/internal/rt/loop"
	"weir/internal/rt/poll"
	"weir/internal/rt/sys"
)

// acceptPause is how long a listener waits when the system has no descriptors or memory for another connection.
const acceptPause = 100 * time.Millisecond

// Listener accepts connections on one loop.
type Listener struct {
	file   poll.File
	e      *env
	accept func(fd int, peer netip.AddrPort)
	retry  loop.Timer
	errs   int
	paused bool
	closed bool
	keep   bool // leave the descriptor open
}

// Listen has accept called on the loop for each connection on the listening descriptor fd; it owns the new
// descriptor. peer is not valid when the poller does not tell it for free: Conn.Peer asks the kernel. Several loops may
// listen on one descriptor. Loop thread, or before Run.
func Listen(l *loop.Loop, fd int, accept func(fd int, peer netip.AddrPort)) *Listener {
	e := envOf(l)
	s := &Listener{e: e, accept: accept}
	s.file.Fd = int32(fd)
	s.file.H = s
	s.retry.Fn = s.arm
	if err := e.p.Attach(&s.file, false); err != nil {
		panic("sock: listener: " + err.Error())
	}
	s.arm()
	return s
}

func (s *Listener) arm() {
	if !s.paused && !s.closed && !s.retry.Armed() && s.file.Pending()&poll.OpAccept == 0 {
		s.e.p.Accept(&s.file)
	}
}

// Complete is for the poller.
func (s *Listener) Complete(_ *poll.File, _ poll.Ops, res int, _ *buf.Buf) {
	switch {
	case res >= 0 && s.closed && !s.keep:
		s.e.closeFd(res)
	case res >= 0:
		s.call(res)
	case res == -int(unix.ECANCELED), res == -int(unix.EINVAL) && s.closed:
	case res == -int(unix.EMFILE), res == -int(unix.ENFILE), res == -int(unix.ENOBUFS), res == -int(unix.ENOMEM):
		s.errs++
		s.e.l.Arm(&s.retry, s.e.l.Now()+int64(acceptPause))
		return
	case res == -int(unix.ECONNABORTED), res == -int(unix.EINTR), res == -int(unix.EAGAIN), res == -int(unix.EPROTO):
		s.errs++
	default:
		s.errs++
		s.e.l.Arm(&s.retry, s.e.l.Now()+int64(acceptPause))
		return
	}
	if s.file.Pending() != 0 {
		return
	}
	if s.closed {
		s.gone()
		return
	}
	s.arm()
}

func (s *Listener) call(fd int) {
	defer s.e.l.Guard()
	s.accept(fd, s.e.p.Accepted())
}

// Errors is how often accepting failed.
func (s *Listener) Errors() int { return s.errs }

// Pause stops accepting; connections wait in the kernel. One that was accepted at the same time is still delivered.
func (s *Listener) Pause() {
	if s.paused || s.closed {
		return
	}
	s.paused = true
	s.e.l.Disarm(&s.retry)
	s.e.p.Cancel(&s.file, poll.OpAccept)
}

// Resume accepts again.
func (s *Listener) Resume() {
	if s.paused {
		s.paused = false
		s.arm()
	}
}

// Close stops accepting and closes the descriptor.
func (s *Listener) Close() { s.end(false) }

// Release stops accepting and leaves the descriptor open, for another loop, process or generation. A connection that
// was accepted at the same time is still delivered.
func (s *Listener) Release() { s.end(true) }

func (s *Listener) end(keep bool) {
	if s.closed {
		return
	}
	s.closed, s.keep = true, keep
	s.e.l.Forget(&s.retry)
	if keep {
		s.e.p.Cancel(&s.file, poll.OpAccept)
	} else {
		s.e.p.Close(&s.file, false)
	}
	if s.file.Pending() == 0 {
		s.gone()
	}
}

func (s *Listener) gone() { s.e.p.Detach(&s.file) }

func (e *env) closeFd(fd int) {
	if e.nets != nil {
		e.nets.CloseFd(fd)
		return
	}
	sys.RawClose(fd)
}

// ListenOptions says where and how to listen.
type ListenOptions struct {
	Addr        netip.AddrPort
	Unix        string // path, or @name for an abstract one, when Addr is not valid
	Mode        uint32 // permissions of the unix socket, 0 = as the umask says
	UID, GID    int    // owner of the unix socket, -1 or 0 = unchanged
	Backlog     int    // default 4096
	ReusePort   bool
	V6Only      bool
	Transparent bool
	FreeBind    bool
	FastOpen    bool
	DeferAccept bool // deliver connections only when they have input
	MSS         int
	Interface   string
	UserTimeout time.Duration
	NoDelayOff  bool // leave Nagle's algorithm on
	MPTCP       bool
	BindOnly    bool // do not listen yet
}

// OpenListener makes a listening socket. Options of TCP are set on it so that accepted sockets inherit them. A unix
// socket is bound beside its path and renamed, so that the path is never without a socket.
func OpenListener(o ListenOptions) (fd int, err error) {
	a := new(sys.SockAddr)
	path := ""
	switch {
	case o.Addr.IsValid():
		a.SetIP(o.Addr)
	case o.Unix != "" && o.Unix[0] != '@':
		path = o.Unix + "." + strconv.Itoa(os.Getpid()) + ".tmp"
		if !a.SetUnix(path) || len(o.Unix) > 97 {
			return -1, fmt.Errorf("path of unix socket too long (97 at most): %q", o.Unix)
		}
	default:
		if !a.SetUnix(o.Unix) {
			return -1, fmt.Errorf("no usable address to listen on (%q)", o.Unix)
		}
	}
	proto := 0
	if o.MPTCP && o.Addr.IsValid() {
		proto = unix.IPPROTO_MPTCP
	}
	fd = sys.RawSocket(a.Family(), unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, proto)
	if fd < 0 {
		return -1, os.NewSyscallError("socket", sys.Errno(fd))
	}
	defer func() {
		if err != nil {
			sys.RawClose(fd)
			fd = -1
		}
	}()
	if err = o.prepare(fd); err != nil {
		return
	}
	if path != "" {
		return fd, o.bindUnix(fd, a, path)
	}
	if r := sys.RawBind(fd, a); r < 0 {
		return fd, os.NewSyscallError("bind", sys.Errno(r))
	}
	return fd, o.listen(fd)
}

func (o *ListenOptions) listen(fd int) error {
	if o.BindOnly {
		return nil
	}
	n := o.Backlog
	if n <= 0 {
		n = 4096
	}
	return os.NewSyscallError("listen", unix.Listen(fd, n))
}

// bindUnix binds to a temporary path, sets owner and permissions, listens, and moves it into place.
func (o *ListenOptions) bindUnix(fd int, a *sys.SockAddr, tmp string) (err error) {
	_ = os.Remove(tmp)
	if r := sys.RawBind(fd, a); r < 0 {
		return os.NewSyscallError("bind", sys.Errno(r))
	}
	defer func() {
		if err != nil {
			_ = os.Remove(tmp)
		}
	}()
	if id := func(n int) int {
		if n <= 0 {
			return -1
		}
		return n
	}; o.UID > 0 || o.GID > 0 {
		if err = os.Chown(tmp, id(o.UID), id(o.GID)); err != nil {
			return err
		}
	}
	if o.Mode != 0 {
		if err = os.Chmod(tmp, os.FileMode(o.Mode&0o777)); err != nil {
			return err
		}
	}
	if err = o.listen(fd); err != nil {
		return err
	}
	return os.Rename(tmp, o.Unix)
}

func (o *ListenOptions) prepare(fd int) error {
	s := optionSetter{fd: fd}
	s.device(o.Interface)
	if !o.Addr.IsValid() {
		return s.err
	}
	v6 := !o.Addr.Addr().Is4()
	s.set(true, "SO_REUSEADDR", unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	s.set(o.ReusePort, "SO_REUSEPORT", unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	if v6 {
		only := 0
		if o.V6Only {
			only = 1
		}
		s.set(true, "IPV6_V6ONLY", unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, only)
	}
	s.tcp(!o.NoDelayOff, o.UserTimeout, o.MSS)
	s.transparent(o.Transparent, v6)
	s.set(o.FreeBind, "IP_FREEBIND", unix.IPPROTO_IP, unix.IP_FREEBIND, 1)
	s.set(o.DeferAccept, "TCP_DEFER_ACCEPT", unix.IPPROTO_TCP, unix.TCP_DEFER_ACCEPT, 60)
	s.set(o.FastOpen, "TCP_FASTOPEN", unix.IPPROTO_TCP, unix.TCP_FASTOPEN, max(o.Backlog, 256))
	return s.err
}
