package server

import (
	"math"
	"net/netip"
	"strings"

	"weir/internal/base/units"
	"weir/internal/kw/guid"
	"weir/internal/lang/config"
	"weir/internal/model"
)

// set returns an option without value.
func set(name, help string, apply func(s *model.Server)) config.Keyword {
	return config.Keyword{Name: name, Help: help, Parse: config.On(func(_ *config.Line, s *line) { apply(s.Server) })}
}

// number returns an option with an integer as its value.
func number(name, args, help string, lo, hi int64, field func(s *model.Server) *int) config.Keyword {
	return config.Keyword{Name: name, Args: args, Help: help, Params: 1,
		Parse: config.On(func(l *config.Line, s *line) {
			if n, ok := l.Int(0, lo, hi); ok {
				*field(s.Server) = int(n)
			}
		})}
}

// text returns an option with one word as its value.
func text(name, args, help string, field func(s *model.Server) *string) config.Keyword {
	return config.Keyword{Name: name, Args: args, Help: help, Params: 1,
		Parse: config.On(func(l *config.Line, s *line) { *field(s.Server) = l.Arg(0) })}
}

// resets are options that undo ones which weir has not got: there is nothing
// to undo.
var resets = []string{
	"no-agent-check", "no-check", "no-check-reuse-pool", "no-check-sni-auto", "no-check-ssl",
	"no-sni-auto",
}

func init() {
	for _, name := range resets {
		config.Server.Add(set(name, "undoes "+strings.TrimPrefix(name, "no-"), func(*model.Server) {}))
	}
	config.Server.Add(
		set("backup", "used when no other server is usable", func(s *model.Server) { s.Backup = true }),
		set("no-backup", "undoes backup", func(s *model.Server) { s.Backup = false }),
		set("disabled", "starts in maintenance", func(s *model.Server) { s.Disabled = true }),
		set("enabled", "undoes disabled", func(s *model.Server) { s.Disabled = false }),
		set("tfo", "TCP Fast Open", func(s *model.Server) { s.TFO = true }),
		set("no-tfo", "undoes tfo", func(s *model.Server) { s.TFO = false }),
		set("strict-maxconn", "maxconn bounds the connections, not only the requests", func(s *model.Server) { s.StrictMaxConn = true }),

		number("weight", "<weight>", "share of the load", 0, 256, func(s *model.Server) *int { return &s.Weight }),
		number("maxconn", "<maxconn>", "requests at once; 0: any number", 0, math.MaxInt32, func(s *model.Server) *int { return &s.MaxConn }),
		number("minconn", "<minconn>", "limit at low load, see fullconn", 0, math.MaxInt32, func(s *model.Server) *int { return &s.MinConn }),
		number("maxqueue", "<maxqueue>", "requests that may wait; 0: any number", 0, math.MaxInt32, func(s *model.Server) *int { return &s.MaxQueue }),
		number("pool-max-conn", "<max>", "idle connections kept; -1: any number", -1, math.MaxInt32, func(s *model.Server) *int { return &s.PoolMaxConn }),
		number("pool-low-conn", "<max>", "idle connections below which threads do not share them", 0, math.MaxInt32, func(s *model.Server) *int { return &s.PoolLowConn }),
		number("max-reuse", "<count>", "uses of a connection after the first; -1: any number", -1, math.MaxInt32, func(s *model.Server) *int { return &s.MaxReuse }),
		number("id", "<value>", "number of the server", 1, math.MaxUint32, func(s *model.Server) *int { return &s.ID }),

		text("cc", "<algo>", "TCP congestion control", func(s *model.Server) *string { return &s.CC }),
		text("cookie", "<value>", "value of the persistence cookie", func(s *model.Server) *string { return &s.Cookie }),
		config.Keyword{Name: "hash-key", Args: "<key>", Help: "what its points on the ring of hashes are made from", Params: 1,
			Parse: config.On(func(l *config.Line, s *line) {
				if l.OneOf(0, "key", "id", "id32", "guid", "addr", "addr-port") >= 0 {
					s.HashKey = l.Arg(0)
				}
			})},
		text("redir", "<prefix>", "redirects GET and HEAD instead of forwarding them", func(s *model.Server) *string { return &s.Redir }),

		config.Keyword{Name: "pool-purge-delay", Args: "<delay>", Help: "interval at which half of the idle connections are closed", Params: 1,
			Parse: config.On(func(l *config.Line, s *line) {
				if d, ok := l.Duration(0, units.Millisecond); ok {
					s.PoolPurgeDelay = d
				}
			})},
		config.Keyword{Name: "tcp-ut", Args: "<delay>", Help: "TCP user timeout", Params: 1,
			Parse: config.On(func(l *config.Line, s *line) {
				if d, ok := l.Duration(0, units.Millisecond); ok {
					s.TCPUserTimeout = d
				}
			})},
		config.Keyword{Name: "guid", Args: "<string>", Help: "unique name among all objects", Params: 1,
			Parse: config.On(func(l *config.Line, s *line) {
				if guid.Claim(l, 0, "server '"+s.proxy.Name+"/"+s.Name+"'") {
					s.GUID = l.Arg(0)
				}
			})},
		config.Keyword{Name: "proto", Args: "<name>", Help: "protocol of the connections", Params: 1,
			Parse: config.On(func(l *config.Line, s *line) {
				switch l.Arg(0) {
				case "h1", "none":
					s.Proto = l.Arg(0)
				case "fcgi", "h2", "qmux", "quic", "spop":
					l.NotYet(0, "protocol", l.Arg(0))
				default:
					l.Unknown(0, "protocol", []string{"fcgi", "h1", "h2", "none", "qmux", "quic", "spop"})
				}
			})},
		config.Keyword{Name: "init-addr", Args: "{ last | libc | none | <ip> }[,...]", Help: "how the address is found at start", Params: 1,
			Parse: config.On(parseInitAddr)},
		config.Keyword{Name: "source", Args: "<address>[:<port>[-<port>]] [usesrc ...] [interface <name>]", Help: "local address of the connections", Params: -1,
			Parse: config.On(func(l *config.Line, s *line) {
				src, n := parseSource(l, true)
				l.Take(n)
				if src != nil {
					s.Source = src
				}
			})},
	)
}

func parseInitAddr(l *config.Line, s *line) {
	for _, m := range strings.Split(l.Arg(0), ",") {
		switch m {
		case "last", "libc", "none":
			continue
		}
		if ip, err := netip.ParseAddr(m); err != nil || ip.Zone() != "" {
			l.UnknownName(0, "init-addr method", m, []string{"last", "libc", "none"})
			return
		}
	}
	s.InitAddr = l.Arg(0)
}
