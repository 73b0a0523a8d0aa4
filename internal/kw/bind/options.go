package bind

import (
	"math"
	"strconv"

	"weir/internal/base/units"
	"weir/internal/kw/guid"
	"weir/internal/lang/config"
	"weir/internal/model"
)

// flag returns an option without value.
func flag(name, help string, field func(b *model.Bind) *bool) config.Keyword {
	return config.Keyword{Name: name, Help: help, Parse: config.On(func(l *config.Line, b *model.Bind) { *field(b) = true })}
}

// text returns an option with one word as its value.
func text(name, args, help string, field func(b *model.Bind) *string) config.Keyword {
	return config.Keyword{Name: name, Args: args, Help: help, Params: 1,
		Parse: config.On(func(l *config.Line, b *model.Bind) { *field(b) = l.Arg(0) })}
}

// number returns an option with an integer as its value.
func number(name, args, help string, lo, hi int64, field func(b *model.Bind) *int) config.Keyword {
	return config.Keyword{Name: name, Args: args, Help: help, Params: 1,
		Parse: config.On(func(l *config.Line, b *model.Bind) {
			if n, ok := l.Int(0, lo, hi); ok {
				*field(b) = int(n)
			}
		})}
}

func init() {
	config.Bind.Add(
		flag("accept-proxy", "connections begin with a PROXY header", func(b *model.Bind) *bool { return &b.AcceptProxy }),
		flag("defer-accept", "accepts a connection when its first data arrives", func(b *model.Bind) *bool { return &b.DeferAccept }),
		flag("tfo", "TCP Fast Open", func(b *model.Bind) *bool { return &b.TFO }),
		flag("transparent", "listens on addresses that are not local", func(b *model.Bind) *bool { return &b.Transparent }),
		flag("v4v6", "IPv4 and IPv6 on one socket", func(b *model.Bind) *bool { return &b.V4V6 }),
		flag("v6only", "IPv6 only", func(b *model.Bind) *bool { return &b.V6Only }),

		text("name", "<name>", "name of the sockets in statistics", func(b *model.Bind) *string { return &b.Name }),
		text("interface", "<interface>", "network interface that connections arrive on", func(b *model.Bind) *string { return &b.Interface }),
		text("label", "<label>", "label of the sockets", func(b *model.Bind) *string { return &b.Label }),
		text("cc", "<algo>", "TCP congestion control", func(b *model.Bind) *string { return &b.CC }),
		text("user", "<user>", "owner of a UNIX socket", func(b *model.Bind) *string { return &b.User }),
		text("group", "<group>", "group of a UNIX socket", func(b *model.Bind) *string { return &b.Group }),

		number("id", "<id>", "number of the socket", 1, math.MaxInt32, func(b *model.Bind) *int { return &b.ID }),
		number("maxconn", "<maxconn>", "connections at once on each socket", 0, math.MaxInt32, func(b *model.Bind) *int { return &b.MaxConn }),
		number("backlog", "<backlog>", "length of the system's queue", 0, math.MaxInt32, func(b *model.Bind) *int { return &b.Backlog }),
		number("nice", "<nice>", "priority of the connections", -1024, 1024, func(b *model.Bind) *int { return &b.Nice }),
		number("uid", "<uid>", "owner of a UNIX socket", 0, math.MaxInt32, func(b *model.Bind) *int { return &b.UID }),
		number("gid", "<gid>", "group of a UNIX socket", 0, math.MaxInt32, func(b *model.Bind) *int { return &b.GID }),

		config.Keyword{Name: "accept-netscaler-cip", Args: "<magic number>", Help: "connections begin with the client-IP header of a NetScaler", Params: 1,
			Parse: config.On(func(l *config.Line, b *model.Bind) {
				if n, ok := l.Int(0, 1, math.MaxUint32); ok {
					b.NetScaler = uint32(n)
				}
			})},
		config.Keyword{Name: "mss", Args: "<maxseg>", Help: "TCP maximum segment size", Params: 1,
			Parse: config.On(func(l *config.Line, b *model.Bind) {
				n, ok := l.Int(0, -65535, 65535)
				if ok && n == 0 {
					l.Errorf(0, "'mss': 0 is no segment size; a value from 1 to 65535 sets it, a negative one reduces it.")
				} else if ok {
					b.MSS = int(n)
				}
			})},
		config.Keyword{Name: "mode", Args: "<mode>", Help: "permissions of a UNIX socket, octal", Params: 1,
			Parse: config.On(func(l *config.Line, b *model.Bind) {
				if m, ok := octal(l, 0); ok {
					b.PermMode = m
				}
			})},
		config.Keyword{Name: "tcp-ut", Args: "<delay>", Help: "TCP user timeout", Params: 1,
			Parse: config.On(func(l *config.Line, b *model.Bind) {
				if d, ok := l.Duration(0, units.Millisecond); ok {
					b.TCPUserTimeout = d
				}
			})},
		config.Keyword{Name: "tcp-ss", Args: "<mode>", Help: "keeps the SYN packet: 0 no, 1 from IP, 2 from Ethernet", Params: 1,
			Parse: config.On(func(l *config.Line, b *model.Bind) {
				if _, ok := l.Int(0, 0, 2); ok {
					b.TCPSS = l.Arg(0)
				}
			})},
		config.Keyword{Name: "guid-prefix", Args: "<string>", Help: "start of the sockets' unique ids", Params: 1,
			Parse: config.On(func(l *config.Line, b *model.Bind) {
				if guid.ClaimPrefix(l, 0, describe(b)) {
					b.GUIDPrefix = l.Arg(0)
				}
			})},
		config.Keyword{Name: "proto", Args: "<name>", Help: "protocol of the connections", Params: 1,
			Parse: config.On(func(l *config.Line, b *model.Bind) {
				switch l.Arg(0) {
				case "h1", "none":
					b.Proto = l.Arg(0)
				case "h2", "quic", "qmux":
					l.NotYet(0, "protocol", l.Arg(0))
				default:
					l.Unknown(0, "protocol", []string{"h1", "h2", "none", "qmux", "quic"})
				}
			})},
		config.Keyword{Name: "shards", Args: "{ <number> | by-thread | by-group }", Help: "sockets per address", Params: 1,
			Parse: config.On(func(l *config.Line, b *model.Bind) {
				switch l.Arg(0) {
				case "by-thread":
					b.Shards = -1
				case "by-group":
					b.Shards = -2
				default:
					if n, ok := l.Int(0, 1, 1024); ok {
						b.Shards = int(n)
					}
				}
			})},
		config.Keyword{Name: "thread", Args: "[<group>/]<threads>[,...]", Help: "threads that serve the sockets", Params: 1,
			Parse: config.On(parseThreads)},
		config.Keyword{Name: "process", Args: "<process>", Help: "no longer exists", Params: 1,
			Parse: func(l *config.Line, _ any) {
				l.Errorf(config.KeywordArg, "'process' no longer exists; 'thread' chooses the threads that serve a socket.")
			}},
	)
	addStatsOnly()
}

// addStatsOnly adds the options that matter to stats sockets only; on others
// they are accepted without effect (manual 5.1).
func addStatsOnly() {
	for _, o := range []struct {
		name   string
		values []string
		help   string
	}{
		{"level", []string{"user", "operator", "admin"}, "rights of a stats socket"},
		{"severity-output", []string{"none", "number", "string"}, "severities in the answers of a stats socket"},
	} {
		config.Bind.Add(config.Keyword{Name: o.name, Args: "<" + o.name + ">", Help: o.help, Params: 1,
			Parse: func(l *config.Line, _ any) { l.OneOf(0, "value", o.values...) }})
	}
	config.Bind.Add(config.Keyword{Name: "expose-fd", Args: "listeners", Help: "lets a stats socket pass sockets", Params: 1,
		Parse: config.On(func(l *config.Line, b *model.Bind) { b.ExposeFD = l.OneOf(0, "value", "listeners") == 0 })})
}

// octal reads argument i as the permissions of a file.
func octal(l *config.Line, i int) (int, bool) {
	m, err := strconv.ParseUint(l.Arg(i), 8, 32)
	if err != nil || m > 0o7777 {
		l.Errorf(i, "'%s' is no octal mode such as 660.", l.Arg(i))
		return 0, false
	}
	return int(m), true
}
