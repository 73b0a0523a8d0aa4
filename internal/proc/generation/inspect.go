package generation

import (
	"fmt"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"weir/internal/engine/session"
	"weir/internal/feat/cli"
	"weir/internal/rt/loop"
	"weir/internal/rt/sock"
)

// The parts of cli.Host for those who look into the process.

// maxReports is how many reports of loops that did not turn are kept.
const maxReports = 8

// blockedLog are the last reports of loops that did not turn in time.
type blockedLog struct {
	mu      sync.Mutex
	reports []string
	total   int64
}

func (b *blockedLog) add(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.total++
	b.reports = append(b.reports, time.Now().Format("2006-01-02T15:04:05.000 ")+text)
	if len(b.reports) > maxReports {
		b.reports = slices.Delete(b.reports, 0, 1)
	}
}

// Blocked are the last reports of loops that did not turn in time.
func (a *runtimeAPI) Blocked() (reports []string, total int64) {
	a.blocked.mu.Lock()
	defer a.blocked.mu.Unlock()
	return slices.Clone(a.blocked.reports), a.blocked.total
}

// Loops are the event loops.
func (a *runtimeAPI) Loops() []*loop.Loop {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	return slices.Clone(a.p.loops)
}

// patience bounds the wait for a loop that is asked something.
const patience = time.Second

// OnLoop runs fn on a loop and waits for it.
func (a *runtimeAPI) OnLoop(l *loop.Loop, fn func()) bool {
	ran := make(chan struct{})
	if !l.Post(func() {
		defer close(ran)
		fn()
	}) {
		return false
	}
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-ran:
		return true
	case <-l.Done():
	case <-t.C:
	}
	return false
}

// Listening are the sockets that accept.
func (a *runtimeAPI) Listening() (list []cli.Listening) {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	g := a.generation()
	for _, b := range g.binds {
		w := cli.Listening{FD: b.fd, Name: b.front.Name, Paused: a.Accepting(b.front) == cli.Paused, Interface: b.conf.Interface}
		for _, id := range b.loops {
			w.Threads |= 1 << (id & 63)
		}
		w.Family, w.Port = boundTo(b.fd)
		list = append(list, w)
	}
	for _, s := range g.cli {
		w := cli.Listening{FD: s.fd, Name: "GLOBAL", Interface: s.conf.Interface}
		w.Family, w.Port = boundTo(s.fd)
		list = append(list, w)
	}
	return list
}

// boundTo asks the system for the address of a socket.
func boundTo(fd int) (family string, port int) {
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return "unknown", 0
	}
	switch a := sa.(type) {
	case *unix.SockaddrInet4:
		return "ipv4", a.Port
	case *unix.SockaddrInet6:
		return "ipv6", a.Port
	}
	return "unix", 0
}

// Files calls fn for each connection of a loop; on that loop.
func (a *runtimeAPI) Files(l *loop.Loop, fn func(f cli.File)) {
	clients := make(map[*sock.Conn]*session.Session)
	for _, g := range a.p.generations() {
		if id := l.ID(); id < len(g.sets) && g.sets[id] != nil {
			g.sets[id].Each(func(s *session.Session) { clients[s.Sock] = s })
		}
	}
	sock.Each(l, func(c *sock.Conn) bool {
		f := cli.File{FD: c.Fd(), Back: true, Mux: "?", HasFiber: c.Owner() != nil}
		if f.FD < 0 {
			return true
		}
		if s := clients[c]; s != nil {
			f.Back, f.Proxy, f.Mux, f.Idle = false, s.Front.Name, s.Mux(), s.Resting()
			f.Since = time.Duration(l.Now() - s.Accepted)
		} else {
			f.Idle = c.Owner() == nil
		}
		if sa, err := unix.Getpeername(f.FD); err == nil {
			f.Peer = addrPort(sa)
		}
		fn(f)
		return true
	})
}

func addrPort(sa unix.Sockaddr) netip.AddrPort {
	switch a := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr), uint16(a.Port))
	}
	return netip.AddrPort{}
}

// generations are all that have not ended.
func (p *Process) generations() []*Generation {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := slices.Clone(p.old)
	if p.current != nil {
		list = append(list, p.current)
	}
	return list
}

// Limits are numbers about the process that "show dev" tells.
func (a *runtimeAPI) Limits() []string {
	var files, ram unix.Rlimit
	_ = unix.Getrlimit(unix.RLIMIT_NOFILE, &files) // zeros tell
	_ = unix.Getrlimit(unix.RLIMIT_AS, &ram)
	show := func(n uint64) string {
		if n >= 1<<60 {
			return "unlimited"
		}
		return fmt.Sprint(n)
	}
	boot := a.p.opt.BootIDs
	return []string{
		fmt.Sprintf("pid: %d", os.Getpid()),
		fmt.Sprintf("identity:               %-12s %-12s", "-boot-", "-runtime-"),
		fmt.Sprintf("    uid:                %-12d %-12d", boot[0], os.Getuid()),
		fmt.Sprintf("    gid:                %-12d %-12d", boot[1], os.Getgid()),
		fmt.Sprintf("limits:                 %-12s", "-runtime-"),
		fmt.Sprintf("    fd limit (soft):    %-12s", show(files.Cur)),
		fmt.Sprintf("    fd limit (hard):    %-12s", show(files.Max)),
		fmt.Sprintf("    ram limit (soft):   %-12s", show(ram.Cur)),
		fmt.Sprintf("    ram limit (hard):   %-12s", show(ram.Max)),
	}
}

// Say writes to the logs of the process.
func (a *runtimeAPI) Say(text string) { a.p.opt.Warn(text) }
