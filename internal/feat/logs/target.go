package logs

import (
	"fmt"
	"net/netip"
	"sync/atomic"

	"weir/internal/base/addr"
	"weir/internal/model"
	"weir/internal/wire/syslog"
)

// target is one "log" line. Proxies that say "log global" share those of the
// global section, sampling included.
type target struct {
	dest     int // place in Logger.dests
	format   syslog.Format
	length   int // of a message, in bytes
	level    int
	minLevel int
	sample   *sample // nil: every line
}

// sample is the sampling of one target: the counter is shared by all loops.
type sample struct {
	ranges []model.SampleRange
	size   uint64
	n      atomic.Uint64
}

// take counts one line and reports whether it is to be sent.
func (s *sample) take() bool {
	place := int((s.n.Add(1)-1)%s.size) + 1
	for _, r := range s.ranges {
		if place >= r.Low && place <= r.High {
			return true
		}
	}
	return false
}

// admit reports whether the target takes a line of that level, and the level
// under which it is sent: one more severe than the target's minimum is capped.
func (t *target) admit(level int) (as int, ok bool) {
	if level > t.level || t.sample != nil && !t.sample.take() {
		return 0, false
	}
	return max(level, t.minLevel), true
}

// kind is how a destination takes its lines.
type kind uint8

const (
	kindUDP  kind = iota // one datagram a line
	kindUnix             // likewise, to a unix socket
	kindFD               // a descriptor that was there before
)

// dest is where lines go. Several targets may have the same.
type dest struct {
	kind kind
	to   netip.AddrPort // kindUDP
	path string         // kindUnix: a path, or '@' and an abstract name
	fd   int            // kindFD
}

// defaultPort is the port of syslog.
const defaultPort = 514

func (b *builder) target(m *model.LogTarget) (*target, error) {
	t := &target{length: m.Length, level: m.Level, minLevel: m.MinLevel}
	if t.length == 0 {
		t.length = syslog.DefaultLength
	}
	if m.Format == "" && b.host != "" {
		t.format = syslog.RFC3164
	} else if m.Format != "" {
		f, ok := syslog.FormatByName(m.Format)
		if !ok {
			return nil, fmt.Errorf("unknown log format '%s'", m.Format)
		}
		t.format = f
	}
	if m.SampleSize > 0 {
		t.sample = &sample{ranges: m.SampleRanges, size: uint64(m.SampleSize)}
	}
	d, err := destination(m, b.resolve)
	if err != nil {
		return nil, err
	}
	key := fmt.Sprintf("%d %v %q %d", d.kind, d.to, d.path, d.fd)
	t.dest = len(b.g.dests)
	if known, ok := b.dests[key]; ok {
		for i, x := range b.g.dests {
			if x == known {
				t.dest = i
			}
		}
		return t, nil
	}
	b.dests[key] = d
	b.g.dests = append(b.g.dests, d)
	return t, nil
}

// notYet is the error for what the reference can and this program cannot.
func notYet(what string) error {
	return fmt.Errorf("%s as a log target is known to HAProxy, not in weir yet", what)
}

func destination(m *model.LogTarget, resolve addr.Resolver) (*dest, error) {
	a := m.Addr
	switch {
	case m.Ring != "":
		return nil, notYet("ring@" + m.Ring)
	case m.Stdout:
		return &dest{kind: kindFD, fd: 1}, nil
	case m.Stderr:
		return &dest{kind: kindFD, fd: 2}, nil
	case a.Family == addr.FD:
		return &dest{kind: kindFD, fd: a.FD}, nil
	case a.Proto != addr.Default && a.Proto != addr.Datagram:
		return nil, notYet("a " + a.Proto.String() + " address")
	}
	switch a.Family {
	case addr.Unix, addr.AbstractZ, addr.Abstract:
		return &dest{kind: kindUnix, path: unixName(a)}, nil
	case addr.IP, addr.IPv4, addr.IPv6:
		ip, err := a.Resolve(resolve)
		if err != nil {
			return nil, err
		}
		port := a.Port
		if port == 0 {
			port = defaultPort
		}
		return &dest{kind: kindUDP, to: netip.AddrPortFrom(ip, uint16(port))}, nil
	}
	return nil, notYet("a " + a.Family.String())
}

// unixNameRoom is the room for a name in a socket address.
const unixNameRoom = 108

// unixName is the socket's name with '@' before abstract ones. The names of
// abns@ are padded with zero bytes to the whole room, those of abnsz@ are not.
func unixName(a addr.Addr) string {
	switch a.Family {
	case addr.AbstractZ:
		return "@" + a.Path
	case addr.Abstract:
		padded := make([]byte, max(unixNameRoom, 1+len(a.Path)))
		padded[0] = '@'
		copy(padded[1:], a.Path)
		return string(padded)
	}
	return a.Path
}
