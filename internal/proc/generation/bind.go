package generation

import (
	"fmt"
	"net/netip"
	"strings"

	"golang.org/x/sys/unix"

	"weir/internal/base/addr"
	"weir/internal/base/diag"
	"weir/internal/engine/frontend"
	"weir/internal/engine/listen"
	"weir/internal/engine/statcol"
	"weir/internal/engine/stats"
	"weir/internal/model"
	"weir/internal/proc/keeper"
	"weir/internal/rt/sock"
)

// Bind opens, or takes over from the keeper, every listening socket. All failures are reported.
// After a failure nothing is held, and Bind may be called again.
func (g *Generation) Bind() *diag.List {
	errs := new(diag.List)
	for _, f := range g.Frontends {
		front := g.limits[f]
		for _, b := range f.Conf.Binds {
			if err := g.bindLine(f, b, front); err != nil {
				errs.Alertf(b.Pos, "Starting %s %s: %v", strings.ToLower(f.Conf.Kind), f.Name, err)
			}
		}
	}
	g.bindCLI(errs)
	if errs.Errors() > 0 {
		g.unbind()
	}
	return errs
}

// listen makes a TCP socket listen, or not.
func (b *bound) listen(on bool) error {
	if b.unix {
		return nil // it keeps its path: clients wait in its queue
	}
	if on {
		return unix.Listen(b.fd, b.backlog)
	}
	return unix.Shutdown(b.fd, unix.SHUT_RD)
}

func (g *Generation) bindLine(f *frontend.Frontend, b *model.Bind, front *listen.Limit) error {
	line := listen.NewLimit(new(stats.Gauge), b.MaxConn)
	counted := &statcol.BindLine{Conns: line.Gauge}
	if f.Conf.Has(model.OptSocketStats) {
		counted.Stats = make([]stats.Proxy, g.n)
	}
	g.lines[b] = counted
	glob := g.Config.Global
	gate := listen.Gate{Process: g.keeper.Process, Front: front, Bind: line, Rates: []listen.Rate{
		{Rate: &f.Rate, Max: int64(f.Conf.RateLimitSessions)},
		{Rate: &g.keeper.ConnRate, Max: int64(glob.MaxConnRate)},
		{Rate: &g.keeper.SessRate, Max: int64(glob.MaxSessRate)},
	}}
	if b.TLS != nil {
		gate.TLS = g.keeper.TLS
		gate.Rates = append(gate.Rates, listen.Rate{Rate: &g.keeper.TLSRate, Max: int64(glob.MaxSSLRate)})
	}
	sets := g.shards(b)
	for _, a := range b.Addrs {
		first, last := a.Port, max(a.Port, a.PortEnd)
		for port := first; port <= last; port++ {
			for i, loops := range sets {
				s := &bound{front: f, conf: b, limit: line, line: counted, gate: gate, loops: loops, unix: !a.Family.IsIP()}
				if err := g.open(s, a, port, i, len(sets) > 1); err != nil {
					return err
				}
				g.binds = append(g.binds, s)
			}
		}
	}
	return nil
}

// shards says which loops accept on which socket of a bind line: one socket for all, or one each.
func (g *Generation) shards(b *model.Bind) [][]int {
	var loops []int
	for id := range g.n {
		if wanted(b.Threads, id+1) {
			loops = append(loops, id)
		}
	}
	n := b.Shards
	if n == -1 {
		n = len(loops)
	}
	if n <= 1 || len(loops) <= 1 {
		return [][]int{loops}
	}
	sets := make([][]int, min(n, len(loops)))
	for i, id := range loops {
		sets[i%len(sets)] = append(sets[i%len(sets)], id)
	}
	return sets
}

func wanted(sets []model.ThreadSet, thread int) bool {
	if len(sets) == 0 {
		return true
	}
	for _, s := range sets {
		if s.High == 0 || thread >= s.Low && thread <= s.High {
			return true
		}
	}
	return false
}

// open borrows the socket for one address and port.
func (g *Generation) open(s *bound, a addr.Addr, port, shard int, sharded bool) (err error) {
	o := listenOptions(s.conf, s.front.Conf, g.maxConn)
	s.backlog = o.Backlog
	o.ReusePort = !g.Config.Global.NoReusePort
	var what string
	switch a.Family {
	case addr.IP, addr.IPv4, addr.IPv6:
		o.Addr = netip.AddrPortFrom(a.IP, uint16(port))
		o.MPTCP = a.Proto == addr.MPTCP
		o.V6Only = s.conf.V6Only || a.IP.Is6() && a.Any && a.Family == addr.IPv6 && !s.conf.V4V6
		what = o.Addr.String()
		if s.conf.V4V6 && a.IP.Is6() {
			o.V6Only = false
		}
	case addr.Unix:
		o.Unix, what = a.Path, a.Path
	case addr.Abstract:
		o.Unix, what = "@"+a.Path, "abns@"+a.Path
	case addr.FD:
		what = fmt.Sprintf("fd@%d", a.FD)
	default:
		return fmt.Errorf("cannot listen on a %s", a.Family)
	}
	s.name = fmt.Sprintf("%s/%d if=%s v6=%v", what, shard, o.Interface, o.V6Only)
	s.fd, err = g.keeper.Borrow(s.name, keeper.Want{Addr: o.Addr, Unix: o.Unix, Interface: o.Interface, V6Only: o.V6Only}, func() (int, error) {
		if a.Family == addr.FD {
			return adopt(a.FD)
		}
		return sock.OpenListener(o)
	})
	if err != nil {
		return fmt.Errorf("cannot bind socket (%w) for [%s]", err, what)
	}
	if a.Family == addr.FD {
		domain, err := unix.GetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
		s.unix = err == nil && domain == unix.AF_UNIX
		s.line.Addr = localAddr(s.fd)
	}
	if s.front.Conf.Has(model.OptClitcpka) {
		setKeepAlive(s.fd, s.front.Conf.ClientKA)
	}
	return clientSocket(s.fd, s.conf, &g.Config.Global.Tune)
}

// clientSocket sets on a listening socket what accepted ones inherit.
func clientSocket(fd int, b *model.Bind, t *model.Tune) error {
	if b.CC != "" {
		if err := unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, b.CC); err != nil {
			return fmt.Errorf("congestion control '%s': %w", b.CC, err)
		}
	}
	if b.TCPSS != "" {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_SAVE_SYN, 1); err != nil {
			return fmt.Errorf("tcp-ss: %w", err)
		}
	}
	bufferSizes(fd, t.RcvBufClient, t.SndBufClient, t.NotSentLowatClient)
	return nil
}

// bufferSizes sets the kernel's buffers; the kernel bounds what is asked for.
func bufferSizes(fd, rcv, snd, low int) {
	if rcv > 0 {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, rcv)
	}
	if snd > 0 {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, snd)
	}
	if low > 0 {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, low)
	}
}

// serverSocket returns what is set on the socket of a connection to a server before it connects; nil for nothing.
func serverSocket(p *model.Proxy, c *model.Server, t *model.Tune) func(fd int) error {
	smart := p.Has(model.OptTCPSmartConnect)
	if c.CC == "" && !smart && t.RcvBufServer == 0 && t.SndBufServer == 0 && t.NotSentLowatServer == 0 {
		return nil
	}
	return func(fd int) error {
		if c.CC != "" {
			if err := unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, c.CC); err != nil {
				return err
			}
		}
		if smart {
			_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_QUICKACK, 0) // an optimisation: a socket without it works
		}
		bufferSizes(fd, t.RcvBufServer, t.SndBufServer, t.NotSentLowatServer)
		return nil
	}
}

// adopt makes an inherited descriptor ready: it must be a stream socket, and it is made to listen.
func adopt(fd int) (int, error) {
	typ, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil {
		return -1, fmt.Errorf("inherited descriptor %d: %w", fd, err)
	}
	if typ != unix.SOCK_STREAM {
		return -1, fmt.Errorf("inherited descriptor %d is not a stream socket", fd)
	}
	if on, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ACCEPTCONN); err == nil && on == 0 {
		if err := unix.Listen(fd, 1024); err != nil {
			return -1, fmt.Errorf("inherited descriptor %d: %w", fd, err)
		}
	}
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, true); err != nil {
		return -1, err
	}
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1) // not TCP: nothing to set
	return fd, nil
}

// setKeepAlive sets what accepted connections inherit (option clitcpka).
func setKeepAlive(fd int, k model.Keepalive) {
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
	for opt, v := range map[int]int{
		unix.TCP_KEEPIDLE: int(k.Idle.Seconds()), unix.TCP_KEEPINTVL: int(k.Interval.Seconds()), unix.TCP_KEEPCNT: k.Count,
	} {
		if v > 0 {
			_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, opt, v)
		}
	}
}

func listenOptions(b *model.Bind, p *model.Proxy, maxConn int) sock.ListenOptions {
	backlog := b.Backlog
	for _, v := range []int{p.Backlog, b.MaxConn, p.MaxConn, maxConn, 1024} {
		if backlog == 0 {
			backlog = v
		}
	}
	o := sock.ListenOptions{
		UID: b.UID, GID: b.GID, Backlog: backlog, Transparent: b.Transparent, FastOpen: b.TFO, DeferAccept: b.DeferAccept,
		MSS: b.MSS, Interface: b.Interface, UserTimeout: b.TCPUserTimeout,
	}
	if b.PermMode > 0 {
		o.Mode = uint32(b.PermMode)
	}
	return o
}

// localAddr is the address of a socket, not valid for one without an IP address.
func localAddr(fd int) netip.AddrPort {
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return netip.AddrPort{}
	}
	return addrPort(sa)
}
