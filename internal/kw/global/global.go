// Package global holds the directives of the global section that concern the
// process, its threads, limits and HTTP/1 habits (manual, chapter 3).
package global

import (
	"math"
	"strings"
	"time"

	"weir/internal/base/units"
	"weir/internal/lang/config"
	"weir/internal/model"
)

// flag returns a keyword without arguments.
func flag(name, help string, set func(g *model.Global)) config.Keyword {
	return config.Keyword{Name: name, Help: help, Parse: config.On(func(l *config.Line, g *model.Global) {
		if l.NeedArgs(0, 0) {
			set(g)
		}
	})}
}

// toggle returns a keyword without arguments that "no" undoes.
func toggle(name, help string, set func(g *model.Global, on bool)) config.Keyword {
	return config.Keyword{Name: name, Help: help, No: true, Parse: config.On(func(l *config.Line, g *model.Global) {
		if l.NeedArgs(0, 0) {
			set(g, !l.No())
		}
	})}
}

// number returns a keyword with one integer. The first line counts when the
// field is set already, as in the reference.
func number(name, help string, lo, hi int64, field func(g *model.Global) *int) config.Keyword {
	return config.Keyword{Name: name, Args: "<number>", Help: help, Parse: config.On(func(l *config.Line, g *model.Global) {
		if !l.NeedArgs(1, 1) {
			return
		}
		if n, ok := l.Int(0, lo, hi); ok && first(l, *field(g) == 0) {
			*field(g) = int(n)
		}
	})}
}

// text returns a keyword with one word.
func text(name, args, help string, set func(g *model.Global, l *config.Line)) config.Keyword {
	return config.Keyword{Name: name, Args: args, Help: help, Parse: config.On(func(l *config.Line, g *model.Global) {
		if l.NeedArgs(1, 1) {
			set(g, l)
		}
	})}
}

// period returns a keyword with one time, in milliseconds unless a unit says
// otherwise.
func period(name, help string, field func(g *model.Global) *time.Duration) config.Keyword {
	return config.Keyword{Name: name, Args: "<time>", Help: help, Parse: config.On(func(l *config.Line, g *model.Global) {
		if !l.NeedArgs(1, 1) {
			return
		}
		if d, ok := l.Duration(0, units.Millisecond); ok {
			*field(g) = d
		}
	})}
}

// first warns when a keyword was given before.
func first(l *config.Line, unset bool) bool {
	if !unset {
		l.Warnf(config.KeywordArg, "'%s' was given before; the first one counts.", l.Name())
	}
	return unset
}

func init() {
	config.Global.Add(
		flag("daemon", "runs in the background", func(g *model.Global) { g.Daemon = true }),
		flag("quiet", "says nothing at start", func(g *model.Global) { g.Quiet = true }),
		flag("prealloc-fd", "has the kernel allocate all file descriptors at start", func(g *model.Global) { g.PreallocFD = true }),
		toggle("strict-limits", "fails at start when a limit cannot be set", func(g *model.Global, on bool) {
			if g.StrictLimits = model.Off; on {
				g.StrictLimits = model.On
			}
		}),
		toggle("insecure-fork-wanted", "allows new processes", func(g *model.Global, on bool) { g.InsecureForkWanted = on }),
		toggle("insecure-setuid-wanted", "allows setuid programs", func(g *model.Global, on bool) { g.InsecureSetuid = on }),

		text("pidfile", "<file>", "file that the process number is written to", func(g *model.Global, l *config.Line) {
			if first(l, g.PidFile == "") {
				g.PidFile = l.Arg(0)
			}
		}),
		text("chroot", "{ <folder> | auto }", "root folder of the running process", func(g *model.Global, l *config.Line) {
			if first(l, g.Chroot == "") {
				g.Chroot = l.Arg(0)
			}
		}),
		text("user", "<name>", "user of the running process", func(g *model.Global, l *config.Line) {
			if first(l, g.User == "" && g.UID < 0) {
				g.User, g.UserPos = l.Arg(0), l.ArgPos(0)
			}
		}),
		text("group", "<name>", "group of the running process", func(g *model.Global, l *config.Line) {
			if first(l, g.Group == "" && g.GID < 0) {
				g.Group, g.GroupPos = l.Arg(0), l.ArgPos(0)
			}
		}),
		text("uid", "<number>", "user of the running process, by number", func(g *model.Global, l *config.Line) {
			if n, ok := l.Int(0, 0, math.MaxInt32); ok && first(l, g.User == "" && g.UID < 0) {
				g.UID = int(n)
			}
		}),
		text("gid", "<number>", "group of the running process, by number", func(g *model.Global, l *config.Line) {
			if n, ok := l.Int(0, 0, math.MaxInt32); ok && first(l, g.Group == "" && g.GID < 0) {
				g.GID = int(n)
			}
		}),
		text("node", "<name>", "name of the machine in statistics", func(g *model.Global, l *config.Line) {
			if strings.Contains(l.Arg(0), ":") {
				l.Errorf(0, "character ':' is not allowed in the name of a node.")
			} else if l.CheckName(0, "node") {
				g.Node = l.Arg(0)
			}
		}),
		text("localpeer", "<name>", "name of this process among peers", func(g *model.Global, l *config.Line) {
			g.LocalPeer = l.Arg(0)
			l.Parser().Env().Set("HAPROXY_LOCALPEER", g.LocalPeer)
		}),
		text("anonkey", "<key>", "key of anonymised dumps", func(g *model.Global, l *config.Line) {
			if n, ok := l.Int(0, 0, math.MaxUint32); ok {
				g.AnonKey = uint32(n)
			}
		}),
		config.Keyword{Name: "description", Args: "<text>", Help: "text shown in statistics",
			Parse: config.On(func(l *config.Line, g *model.Global) {
				if l.NeedArgs(1, -1) {
					g.Description = l.Join(0)
				}
			})},
		config.Keyword{Name: "set-dumpable", Args: "[ on | off | libs ]", Help: "allows core dumps", No: true,
			Parse: config.On(parseDumpable)},
		config.Keyword{Name: "unix-bind", Args: "[prefix <prefix>] [mode <mode>] [user <user>] [uid <uid>] [group <group>] [gid <gid>]",
			Help: "what bind lines with UNIX sockets start with", Parse: config.On(parseUnixBind)},

		period("hard-stop-after", "time after which a soft stop ends", func(g *model.Global) *time.Duration { return &g.HardStopAfter }),
		period("grace", "time before a soft stop starts", func(g *model.Global) *time.Duration { return &g.Grace }),
		config.Keyword{Name: "close-spread-time", Args: "{ <time> | infinite }", Help: "time over which a soft stop closes connections",
			Parse: config.On(func(l *config.Line, g *model.Global) {
				if !l.NeedArgs(1, 1) {
					return
				}
				if l.Arg(0) == "infinite" {
					g.CloseSpreadTime, g.CloseSpreadForever = 0, true
				} else if d, ok := l.Duration(0, units.Millisecond); ok {
					g.CloseSpreadTime, g.CloseSpreadForever = d, false
				}
			})},
		config.Keyword{Name: "warn-blocked-traffic-after", Args: "<time>", Help: "time after which a stuck thread is reported",
			Parse: config.On(func(l *config.Line, g *model.Global) {
				if !l.NeedArgs(1, 1) {
					return
				}
				d, ok := l.Duration(0, units.Millisecond)
				if ok && (d < time.Millisecond || d > time.Second) {
					l.Errorf(0, "'%s': '%s' is out of range; it must be between 1 and 1000 ms.", l.Name(), l.Arg(0))
				} else if ok {
					g.WarnBlockedAfter = d
				}
			})},
	)
	addLimits()
	addPollers()
	addRefused()
}

// addLimits adds the limits of the process.
func addLimits() {
	config.Global.Add(
		number("maxconn", "connections of the process at once", 0, math.MaxInt32, func(g *model.Global) *int { return &g.MaxConn }),
		number("maxconnrate", "connections of the process per second", 0, math.MaxInt32, func(g *model.Global) *int { return &g.MaxConnRate }),
		number("maxsessrate", "sessions of the process per second", 0, math.MaxInt32, func(g *model.Global) *int { return &g.MaxSessRate }),
		number("maxsslconn", "TLS connections of the process at once", 0, math.MaxInt32, func(g *model.Global) *int { return &g.MaxSSLConn }),
		number("maxsslrate", "TLS sessions of the process per second", 0, math.MaxInt32, func(g *model.Global) *int { return &g.MaxSSLRate }),
		number("maxpipes", "pipes for splicing", 0, math.MaxInt32, func(g *model.Global) *int { return &g.MaxPipes }),
		number("ulimit-n", "file descriptors of the process", 0, math.MaxInt32, func(g *model.Global) *int { return &g.UlimitN }),
		number("fd-hard-limit", "upper bound of file descriptors worked out at start", 0, math.MaxInt32, func(g *model.Global) *int { return &g.FDHardLimit }),
	)
}

// addPollers adds the switches of what the runtime may use. The pollers of
// other systems, and those that weir never uses, are off already.
func addPollers() {
	config.Global.Add(
		flag("no-uring", "does not use io_uring", func(g *model.Global) { g.NoUring = true }),
		flag("noepoll", "does not use epoll", func(g *model.Global) { g.NoEpoll = true }),
		flag("nosplice", "does not let the kernel forward data", func(g *model.Global) { g.NoSplice = true }),
		flag("noreuseport", "does not share ports between sockets", func(g *model.Global) { g.NoReusePort = true }),
	)
	for _, name := range []string{"nopoll", "nokqueue", "noevports"} {
		config.Global.Add(flag(name, "no effect: "+name[2:]+" is never used", func(*model.Global) {}))
	}
	config.Global.Add(
		flag("quick-exit", "no effect: the exit is quick always", func(*model.Global) {}),
		flag("no-memory-trimming", "no effect: nothing is trimmed", func(*model.Global) {}),
	)
}

// addRefused adds keywords that need an answer of their own.
func addRefused() {
	config.Global.Add(
		config.Keyword{Name: "master-worker", Args: "[no-exit-on-failure]", Help: "runs a master process",
			Parse: func(l *config.Line, _ any) { l.NotYet(config.KeywordArg, "keyword", "master-worker") }},
		config.Keyword{Name: "nbproc", Help: "no longer exists",
			Parse: func(l *config.Line, _ any) {
				l.Errorf(config.KeywordArg, "'nbproc' no longer exists: one process uses all processors through its threads, see 'nbthread'.")
			}},
		config.Keyword{Name: "numa-cpu-mapping", Help: "chooses CPUs by the machine's topology", No: true,
			Parse: func(l *config.Line, _ any) {
				if l.NeedArgs(0, 0) && !l.No() {
					l.NotYet(config.KeywordArg, "keyword", "numa-cpu-mapping")
				}
			}},
	)
}

func parseDumpable(l *config.Line, g *model.Global) {
	switch {
	case l.No():
		if l.NeedArgs(0, 0) {
			g.SetDumpable = false
		}
	case !l.NeedArgs(0, 1):
	case l.Arg(0) == "libs":
		l.NotYet(0, "argument", "set-dumpable libs")
	case !l.Has(0):
		g.SetDumpable = true
	default:
		if n := l.OneOf(0, "setting", "on", "off", "libs"); n >= 0 {
			g.SetDumpable = n == 0
		}
	}
}
