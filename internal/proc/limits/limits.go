// Package limits works out what the process may use: file descriptors,
// connections, memory, threads and CPUs (Management Guide, chapters 5 to 7).
//
// [Compute] is arithmetic over a configuration and what the system allows;
// [Plan.Apply] asks the system for the result. The number of descriptors is
//
//	2 x maxconn + 2 x maxpipes + reserve
//
// where the reserve covers listeners, health checks, and what each thread and
// the process itself keep open. Without a maxconn the same line is solved for
// it with the descriptors that the system grants, and with the memory that -m
// grants.
package limits

import (
	"fmt"
	"math"

	"weir/internal/base/addr"
	"weir/internal/base/diag"
	"weir/internal/model"
)

const (
	// DefaultFDLimit is fd-hard-limit where the configuration has none.
	DefaultFDLimit = 1048576
	// MinMaxConn is the least that an automatic maxconn comes to.
	MinMaxConn = 100

	perProcess = 10 // descriptors that the process keeps open
	perThread  = 3  // descriptors of a thread: its poller, its wake-up, its ring

	// A connection costs a buffer each way and a little more, and a few
	// percent of the memory are not for connections.
	connOverhead  = 2950 // bytes
	usablePercent = 97
)

// Input is what the limits depend on.
type Input struct {
	Config   *model.Config
	MaxConn  int // -n; 0: not given
	MemoryMB int // -m; 0: no limit
	Threads  int // as from Threads
	Rlimit   Rlimit
}

// Rlimit is the limit on open files that the system has set, in descriptors.
type Rlimit struct{ Soft, Hard uint64 }

// Plan is what the process will use.
type Plan struct {
	MaxConn     int   // connections of the process, at least 1
	MaxPipes    int   // pipes for splicing
	MaxSock     int   // descriptors that MaxConn may take
	Files       int   // limit on open files to ask for
	MemoryBytes int64 // -m; 0: no limit
	Automatic   bool  // MaxConn was worked out here
	Threads     int

	hardLimit uint64 // of the system, for the message
	fdLimit   int    // fd-hard-limit in force
}

// Compute works out the limits.
func Compute(in Input) Plan {
	g := in.Config.Global
	p := Plan{Threads: in.Threads, MemoryBytes: int64(in.MemoryMB) << 20, hardLimit: in.Rlimit.Hard, fdLimit: fdLimit(g)}
	reserve := reserved(in.Config, in.Threads)
	splice := !g.NoSplice && splices(in.Config)

	p.MaxConn = g.MaxConn
	if in.MaxConn > 0 {
		p.MaxConn = in.MaxConn
	}
	if p.MaxConn <= 0 {
		p.Automatic = true
		p.MaxConn = max(MinMaxConn, p.automatic(in, reserve, splice))
	}
	switch {
	case g.MaxPipes > 0:
		p.MaxPipes = g.MaxPipes
	case splice:
		p.MaxPipes = p.MaxConn / 4
	}
	p.MaxSock = 2*p.MaxConn + 2*p.MaxPipes + reserve
	p.Files = p.MaxSock
	if g.UlimitN > 0 {
		p.Files = g.UlimitN
	}
	return p
}

func fdLimit(g *model.Global) int {
	if g.FDHardLimit > 0 {
		return g.FDHardLimit
	}
	return DefaultFDLimit
}

// automatic is the maxconn that descriptors and memory allow.
func (p *Plan) automatic(in Input, reserve int, splice bool) int {
	g := in.Config.Global
	files := int(min(max(in.Rlimit.Soft, in.Rlimit.Hard), uint64(p.fdLimit)))
	if g.UlimitN > 0 {
		files = min(files, g.UlimitN)
	}
	room := files - reserve
	var n int
	switch {
	case g.MaxPipes > 0:
		n = (room - 2*g.MaxPipes) / 2
	case splice: // two sockets, and two ends of a pipe for every fourth connection
		n = room * 2 / 5
	default:
		n = room / 2
	}
	if p.MemoryBytes > 0 {
		n = roundDown(min(n, byMemory(p.MemoryBytes, g.Tune.BufSize)))
	}
	return n
}

// byMemory is how many connections that many bytes serve.
func byMemory(bytes int64, bufSize int) int {
	if bufSize <= 0 {
		bufSize = model.DefaultBufSize
	}
	n := bytes / 100 * usablePercent / int64(2*bufSize+connOverhead)
	return int(min(n, math.MaxInt32))
}

// roundDown keeps the two leading digits: memory is not exact to more.
func roundDown(n int) int {
	unit := 1
	for n/unit >= 100 {
		unit *= 10
	}
	return n / unit * unit
}

// reserved counts the descriptors that are not connections.
func reserved(c *model.Config, threads int) int {
	n := perProcess + perThread*threads
	for _, p := range c.Proxies {
		if p.Disabled {
			continue
		}
		n += listeners(p, threads)
	}
	return n
}

// listeners counts the listening sockets of a proxy.
func listeners(p *model.Proxy, threads int) int {
	n := 0
	for _, b := range p.Binds {
		per := 1
		if b.Shards > 0 {
			per = min(b.Shards, threads)
		} else if b.Shards == -1 {
			per = threads
		}
		for _, a := range b.Addrs {
			n += per * ports(a)
		}
	}
	return n
}

func ports(a addr.Addr) int {
	if a.PortKind == addr.PortRange {
		return max(1, a.PortEnd-a.Port+1)
	}
	return 1
}

// splices tells whether a proxy may use pipes.
func splices(c *model.Config) bool {
	for _, p := range c.Proxies {
		if !p.Disabled && p.Opt&(model.OptSpliceAuto|model.OptSpliceRequest|model.OptSpliceResponse) != 0 {
			return true
		}
	}
	return false
}

// Apply sets the limit on open files. Where the system refuses, that is an
// alert, or warnings when strict-limits is off; program is the name that the
// messages carry.
func (p *Plan) Apply(strict bool, program string, set func(files uint64) (now Rlimit, err error)) *diag.List {
	l := new(diag.List)
	files := uint64(p.Files)
	allowed := min(p.hardLimit, uint64(p.fdLimit))
	var err error
	now := Rlimit{Soft: allowed, Hard: p.hardLimit}
	if files <= uint64(p.fdLimit) {
		if now, err = set(files); err == nil && now.Soft >= files {
			return l
		}
	}
	text := fmt.Sprintf("[%s.main()] cannot raise the limit on open files to %d: it is %d, and %d is the most that may be asked for. "+
		"Without 'maxconn' and 'ulimit-n' in the global section weir adjusts itself to the limit ('fd-hard-limit' can lower it further). "+
		"A 'maxconn' of about %d fits here.", program, files, min(now.Soft, uint64(p.fdLimit)), allowed, fitting(allowed, p))
	if strict {
		l.Alertf(diag.Position{}, "%s", text)
		return l
	}
	l.Warnf(diag.Position{}, "%s", text)
	if allowed < uint64(p.MaxSock) {
		l.Warnf(diag.Position{}, "[%s.main()] a limit of %d open files is too low for a maxconn of %d, which may need %d.",
			program, allowed, p.MaxConn, p.MaxSock)
	}
	if allowed > 0 && files > allowed {
		p.Files = int(allowed)
		if _, err := set(allowed); err != nil {
			l.Warnf(diag.Position{}, "[%s.main()] the limit on open files stays as it was: %v.", program, err)
		}
	}
	return l
}

// fitting is a round maxconn that a limit on open files leaves room for.
func fitting(allowed uint64, p *Plan) int {
	reserve := p.MaxSock - 2*p.MaxConn - 2*p.MaxPipes
	return max(MinMaxConn, roundDown((int(min(allowed, math.MaxInt32))-reserve)/2))
}
