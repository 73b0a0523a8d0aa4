// Package sock has the stream sockets of a loop: connections and listeners, TCP and unix, the same on every poller.
//
// A connection never blocks: it receives when there is input and otherwise wakes its owner, it queues what is sent and
// hands it over at the end of the turn. Straight-line code comes from fibers, which park between the calls. An idle
// connection has neither a fiber nor a buffer; all it keeps is its Conn.
package sock

import (
	"errors"
	"net/netip"

	"golang.org/x/sys/unix"

	"weir/internal/rt/loop"
	"weir/internal/rt/poll"
	"weir/internal/rt/sys"
)

// ErrClosed is returned by operations on a connection that was closed here.
var ErrClosed = errors.New("sock: connection closed")

// env is what the connections of one loop share.
type env struct {
	l      *loop.Loop
	p      poll.Poller
	hook   loop.TurnHook
	dirty  *Conn // connections with something to send, linked through next
	dirtyT *Conn
	conns  *Conn   // all, linked through after
	later  []*Conn // connections whose owner is to be told of input that was there already
	epoch  uint64  // the fiber resumption to which reads belongs
	reads  int
	high   int
	low    int
	nets   poll.Net // simulated network, nil on a real one
	pipes  []*Pipe
	stuck  map[*Conn]*loop.Timer // closed connections that cannot send their queue
}

// readsPerRun is how many receives a fiber gets without waiting before others have their turn.
const readsPerRun = 16

func envOf(l *loop.Loop) *env {
	if e, ok := l.Ext.(*env); ok {
		return e
	}
	o := l.Options()
	e := &env{l: l, p: l.Poller(), high: o.SendHigh, low: o.SendLow, stuck: map[*Conn]*loop.Timer{}}
	e.nets, _ = e.p.(poll.Net)
	e.hook.Fn = e.turnEnd
	l.Ext = e
	l.AtEnd(e.closePipes)
	return e
}

// turnEnd hands queued output to the kernel and tells of input that was there when somebody began to wait.
func (e *env) turnEnd() {
	for c := e.dirty; c != nil; c = e.dirty {
		e.dirty = c.next
		c.next = nil
		c.fl &^= flDirty
		c.flush()
	}
	e.dirtyT = nil
	if len(e.later) > 0 {
		late := e.later
		e.later = e.later[len(e.later):]
		for i, c := range late {
			late[i] = nil
			c.fl &^= flLater
			c.notify()
		}
		if len(e.later) == 0 {
			e.later = late[:0]
		}
	}
}

func (e *env) setDirty(c *Conn) {
	if c.fl&flDirty != 0 {
		return
	}
	c.fl |= flDirty
	if e.dirty == nil {
		e.dirty = c
		e.l.AtTurnEnd(&e.hook)
	} else {
		e.dirtyT.next = c
	}
	e.dirtyT = c
}

func (e *env) setLater(c *Conn) {
	if c.fl&flLater != 0 {
		return
	}
	c.fl |= flLater
	e.later = append(e.later, c)
	e.l.AtTurnEnd(&e.hook)
	e.p.Nudge()
}

// nonblock is the socket flag that the loop's poller wants.
func (e *env) nonblock() int {
	if e.p.Kind() == poll.Epoll {
		return unix.SOCK_NONBLOCK | unix.SOCK_CLOEXEC
	}
	return unix.SOCK_CLOEXEC
}

// names are the addresses of a connection, looked up when they are first asked for.
type names struct{ peer, local endpoint }

// endpoint is an address in few bytes: family 0 = not known yet, 1 = none, else 4 or 6.
type endpoint struct {
	ip     [16]byte
	port   uint16
	family uint8
}

func (p *endpoint) set(ap netip.AddrPort) {
	a := ap.Addr()
	p.port = ap.Port()
	switch {
	case a.Is4():
		v := a.As4()
		copy(p.ip[:], v[:])
		p.family = 4
	case a.Is6():
		p.ip = a.As16()
		p.family = 6
	default:
		p.family = 1
	}
}

func (p *endpoint) get() netip.AddrPort {
	switch p.family {
	case 4:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(p.ip[:4])), p.port)
	case 6:
		return netip.AddrPortFrom(netip.AddrFrom16(p.ip), p.port)
	}
	return netip.AddrPort{}
}

func (c *Conn) names() *names {
	if c.nm == nil {
		c.nm = new(names)
	}
	return c.nm
}

// Peer is the other side's address as the kernel tells it, the zero value for unix sockets or when it cannot be known.
func (c *Conn) Peer() netip.AddrPort { return c.address(&c.names().peer, true) }

// Local is the connection's own address, the zero value for unix sockets.
func (c *Conn) Local() netip.AddrPort { return c.address(&c.names().local, false) }

func (c *Conn) address(p *endpoint, peer bool) netip.AddrPort {
	if p.family == 0 && c.file.Fd >= 0 {
		if c.e.nets != nil {
			p.set(c.e.nets.Name(int(c.file.Fd), peer))
			return p.get()
		}
		var a sys.SockAddr
		r := 0
		if peer {
			r = sys.RawPeer(int(c.file.Fd), &a)
		} else {
			r = sys.RawName(int(c.file.Fd), &a)
		}
		if r == 0 {
			p.set(a.IP())
		} else if r != -int(unix.ENOTCONN) {
			p.family = 1
		}
	}
	return p.get()
}
