// Package statskw holds the "stats" directives of the global section: the
// sockets of the runtime API and their limits (manual 3.1). Their values are
// kept in the global section's slot of package cli.
package statskw

import (
	"fmt"
	"math"
	"os"
	"os/user"
	"strconv"
	"strings"

	"weir/docs/compat"
	"weir/internal/base/addr"
	"weir/internal/base/units"
	"weir/internal/feat/cli"
	"weir/internal/lang/config"
	"weir/internal/model"
)

// options are those of a "stats socket" line: the options of "bind" that make sense there.
var options = config.NewTable(compat.Bind)

func init() {
	config.Global.Add(
		config.Keyword{Name: "stats socket", Args: "[<address:port>|<path>] [option ...]", Help: "socket of the runtime API", Parse: config.On(socket)},
		config.Keyword{Name: "stats timeout", Args: "<timeout>", Help: "longest rest of a session of the runtime API", Parse: config.On(timeout)},
		config.Keyword{Name: "stats maxconn", Args: "<connections>", Help: "sessions of the runtime API at once", Parse: config.On(maxconn)},
		config.Keyword{Name: "tune.cli.max-payload-size", Args: "<size>", Help: "longest payload of a runtime command", Parse: config.On(maxPayload)},
	)
	options.Add(
		word("level", "{ user | operator | admin }", "what sessions may do", func(l *config.Line, s *cli.Socket) {
			if i := l.OneOf(0, "level", "user", "operator", "admin"); i >= 0 {
				s.Level = cli.Level(i)
			}
		}),
		word("severity-output", "{ none | number | string }", "severities before messages", func(l *config.Line, s *cli.Socket) {
			if l.OneOf(0, "form", "none", "number", "string") >= 0 {
				s.SetSeverity(l.Arg(0))
			}
		}),
		word("expose-fd", "listeners", "lets a new process ask for the listening sockets", func(l *config.Line, s *cli.Socket) {
			s.ExposeFD = l.OneOf(0, "value", "listeners") == 0
		}),
		word("mode", "<mode>", "permissions of a UNIX socket, octal", func(l *config.Line, s *cli.Socket) {
			m, err := strconv.ParseUint(l.Arg(0), 8, 32)
			if err != nil || m > 0o7777 {
				l.Errorf(0, "'%s' is no octal mode such as 660.", l.Arg(0))
				return
			}
			s.Mode = int(m)
		}),
		word("user", "<user>", "owner of a UNIX socket", func(l *config.Line, s *cli.Socket) {
			if u, err := user.Lookup(l.Arg(0)); err != nil {
				l.Errorf(0, "there is no user '%s'.", l.Arg(0))
			} else {
				s.UID, _ = strconv.Atoi(u.Uid)
			}
		}),
		word("group", "<group>", "group of a UNIX socket", func(l *config.Line, s *cli.Socket) {
			if g, err := user.LookupGroup(l.Arg(0)); err != nil {
				l.Errorf(0, "there is no group '%s'.", l.Arg(0))
			} else {
				s.GID, _ = strconv.Atoi(g.Gid)
			}
		}),
		word("name", "<name>", "name of the socket", func(l *config.Line, s *cli.Socket) { s.Name = l.Arg(0) }),
		word("interface", "<interface>", "network interface that sessions arrive on", func(l *config.Line, s *cli.Socket) { s.Interface = l.Arg(0) }),
		number("uid", 0, func(s *cli.Socket) *int { return &s.UID }),
		number("gid", 0, func(s *cli.Socket) *int { return &s.GID }),
		number("maxconn", 1, func(s *cli.Socket) *int { return &s.MaxConn }),
		number("backlog", 0, func(s *cli.Socket) *int { return &s.Backlog }),
		config.Keyword{Name: "v4v6", Help: "IPv4 and IPv6 on one socket", Parse: config.On(func(l *config.Line, s *cli.Socket) { s.V4V6 = true })},
		config.Keyword{Name: "v6only", Help: "IPv6 only", Parse: config.On(func(l *config.Line, s *cli.Socket) { s.V6Only = true })},
	)
	options.Add(shared()...)
}

// shared are the options that a stats socket has from bind lines: they mean the same there. "nice", "thread" and "label"
// concern the event loops, on which sessions of the runtime API do not run.
func shared() (list []config.Keyword) {
	for _, o := range []struct {
		name, args, help string
	}{
		{"id", "<id>", "number of the socket"}, {"mss", "<maxseg>", "TCP maximum segment size"}, {"tcp-ut", "<delay>", "TCP user timeout"},
		{"tfo", "", "TCP Fast Open"}, {"defer-accept", "", "accepts a connection when its first data arrives"},
		{"transparent", "", "listens on addresses that are not local"}, {"cc", "<algo>", "TCP congestion control"},
		{"nice", "<nice>", "priority of the connections"}, {"thread", "[<group>/]<threads>[,...]", "threads that serve the socket"},
		{"shards", "{ <number> | by-thread | by-group }", "sockets per address"}, {"label", "<label>", "label of the socket"},
	} {
		k := config.Keyword{Name: o.name, Args: o.args, Help: o.help, Parse: func(l *config.Line, target any) {
			if b, ok := config.Bind.Lookup(o.name); ok {
				b.Parse(l, &target.(*cli.Socket).Bind)
			}
		}}
		if o.args != "" {
			k.Params = 1
		}
		list = append(list, k)
	}
	return list
}

// word is an option with one word as its value.
func word(name, args, help string, parse func(l *config.Line, s *cli.Socket)) config.Keyword {
	return config.Keyword{Name: name, Args: args, Help: help, Params: 1, Parse: config.On(parse)}
}

// number is an option with a number as its value.
func number(name string, lo int64, field func(s *cli.Socket) *int) config.Keyword {
	return word(name, "<number>", "a number", func(l *config.Line, s *cli.Socket) {
		if n, ok := l.Int(0, lo, math.MaxInt32); ok {
			*field(s) = int(n)
		}
	})
}

func socket(l *config.Line, g *model.Global) {
	if !l.Has(0) {
		l.Errorf(0, "'stats socket' expects an address or the path of a UNIX socket.")
		return
	}
	base := cli.NewSocket()
	base.Pos = l.Pos()
	l.Options(1, options, base)
	c := cli.Of(g)
	for _, text := range addr.SplitList(l.Arg(0)) {
		a, ok := l.AddrText(0, text, addr.Bind)
		if !ok {
			continue
		}
		switch {
		case a.Family == addr.SockPair || a.Family == addr.AbstractZ:
			l.NotYet(0, "address form", text[:strings.IndexByte(text, '@')+1])
			continue
		case a.PortEnd > a.Port:
			l.Errorf(0, "'%s': a stats socket has one port.", text)
			continue
		case a.Family == addr.FD && !inherited(a.FD):
			l.Errorf(0, "descriptor %d was not inherited: nothing is open under that number.", a.FD)
			continue
		}
		s := *base
		s.Text, s.Addr = text, a
		c.Sockets = append(c.Sockets, &s)
	}
}

// inherited reports whether a descriptor is open in this process.
func inherited(fd int) bool {
	_, err := os.Stat(fmt.Sprintf("/proc/self/fd/%d", fd))
	return err == nil
}

func timeout(l *config.Line, g *model.Global) {
	if !l.NeedArgs(1, 1) {
		return
	}
	if d, ok := l.Duration(0, units.Millisecond); ok {
		if d <= 0 {
			l.Errorf(0, "'stats timeout' expects a time greater than zero.")
			return
		}
		cli.Of(g).Timeout = d
	}
}

func maxconn(l *config.Line, g *model.Global) {
	if !l.NeedArgs(1, 1) {
		return
	}
	if n, ok := l.Int(0, 1, 1<<20); ok {
		cli.Of(g).MaxConn = int(n)
	}
}

func maxPayload(l *config.Line, g *model.Global) {
	if !l.NeedArgs(1, 1) {
		return
	}
	if n, ok := l.Size(0, 1, math.MaxInt32); ok {
		cli.Of(g).MaxPayload = int(n)
	}
}
