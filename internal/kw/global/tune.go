package global

import (
	"math"
	"time"

	"weir/internal/base/units"
	"weir/internal/lang/config"
	"weir/internal/model"
)

// maxBuffer bounds the sizes of buffers and sockets, in bytes.
const maxBuffer = 1 << 30

// tuneInt is a setting with an integer; a size takes the units k, m and g.
type tuneInt struct {
	name   string
	size   bool
	once   bool // a second line is ignored with a warning
	lo, hi int64
	field  func(t *model.Tune) *int
	help   string
}

var tuneInts = []tuneInt{
	{"bufsize", true, false, 1, maxBuffer, func(t *model.Tune) *int { return &t.BufSize }, "bytes of a buffer"},
	{"bufsize.small", true, false, 1, maxBuffer, func(t *model.Tune) *int { return &t.BufSizeSmall }, "bytes of a small buffer"},
	{"bufsize.large", true, false, 1, maxBuffer, func(t *model.Tune) *int { return &t.BufSizeLarge }, "bytes of a large buffer"},
	{"maxrewrite", false, false, 0, math.MaxInt32, func(t *model.Tune) *int { return &t.MaxRewrite }, "bytes of a buffer kept free for changes"},
	{"buffers.limit", false, false, 0, math.MaxInt32, func(t *model.Tune) *int { return &t.BuffersLimit }, "buffers of the process"},
	{"buffers.reserve", false, false, 0, math.MaxInt32, func(t *model.Tune) *int { return &t.BuffersReserve }, "buffers of a thread kept for emergencies"},
	{"maxaccept", false, true, -1, math.MaxInt32, func(t *model.Tune) *int { return &t.MaxAccept }, "connections accepted in a row"},
	{"maxpollevents", false, true, 0, 1000000, func(t *model.Tune) *int { return &t.MaxPollEvents }, "events taken from the kernel at once"},
	{"runqueue-depth", false, true, 0, math.MaxInt32, func(t *model.Tune) *int { return &t.RunQueueDepth }, "tasks run in a row"},
	{"pipesize", true, false, 0, maxBuffer, func(t *model.Tune) *int { return &t.PipeSize }, "bytes of a pipe"},
	{"recv_enough", true, false, 0, maxBuffer, func(t *model.Tune) *int { return &t.RecvEnough }, "size of a read that suggests that no more is waiting"},
	{"rcvbuf.client", true, true, 0, maxBuffer, func(t *model.Tune) *int { return &t.RcvBufClient }, "receive buffer of client sockets"},
	{"rcvbuf.server", true, true, 0, maxBuffer, func(t *model.Tune) *int { return &t.RcvBufServer }, "receive buffer of server sockets"},
	{"sndbuf.client", true, true, 0, maxBuffer, func(t *model.Tune) *int { return &t.SndBufClient }, "send buffer of client sockets"},
	{"sndbuf.server", true, true, 0, maxBuffer, func(t *model.Tune) *int { return &t.SndBufServer }, "send buffer of server sockets"},
	{"notsent-lowat.client", true, true, 0, maxBuffer, func(t *model.Tune) *int { return &t.NotSentLowatClient }, "unsent bytes in client sockets"},
	{"notsent-lowat.server", true, true, 0, maxBuffer, func(t *model.Tune) *int { return &t.NotSentLowatServer }, "unsent bytes in server sockets"},
	{"pool-high-fd-ratio", false, false, 0, 100, func(t *model.Tune) *int { return &t.PoolHighFDRatio }, "percentage of descriptors from which idle connections are closed"},
	{"pool-low-fd-ratio", false, false, 0, 100, func(t *model.Tune) *int { return &t.PoolLowFDRatio }, "percentage of descriptors from which connections are not kept idle"},
	{"http.maxhdr", false, false, 1, 32767, func(t *model.Tune) *int { return &t.HTTPMaxHdr }, "header fields of a message"},
	{"http.logurilen", false, false, 1, math.MaxInt32, func(t *model.Tune) *int { return &t.HTTPLogURI }, "bytes of a URI in logs"},
	{"http.cookielen", false, false, 1, math.MaxInt32, func(t *model.Tune) *int { return &t.HTTPCookieLen }, "bytes of a captured cookie"},
	{"memory.hot-size", false, false, 1, math.MaxInt32, func(t *model.Tune) *int { return &t.MemoryHotSize }, "bytes that a thread keeps for itself"},
	{"fail-alloc", false, false, 0, 100, func(t *model.Tune) *int { return &t.FailAlloc }, "percentage of allocations that fail, for tests"},
}

func init() {
	for _, t := range tuneInts {
		config.Global.Add(config.Keyword{
			Name: "tune." + t.name, Args: "<number>", Help: t.help,
			Parse: config.On(func(l *config.Line, g *model.Global) { t.parse(l, g) }),
		})
	}
	for _, t := range []struct {
		name  string
		field func(t *model.Tune) *model.Tristate
		help  string
	}{
		{"h1.zero-copy-fwd-recv", func(t *model.Tune) *model.Tristate { return &t.H1ZeroCopyRecv }, "HTTP/1 receives without copies"},
		{"h1.zero-copy-fwd-send", func(t *model.Tune) *model.Tristate { return &t.H1ZeroCopySend }, "HTTP/1 sends without copies"},
	} {
		config.Global.Add(config.Keyword{
			Name: "tune." + t.name, Args: "{ on | off }", Help: t.help,
			Parse: config.On(func(l *config.Line, g *model.Global) {
				if !l.NeedArgs(1, 1) {
					return
				}
				if on, ok := l.OnOff(0); ok {
					*t.field(&g.Tune) = tristate(on)
				}
			}),
		})
	}
	config.Global.Add(
		flag("tune.disable-zero-copy-forwarding", "copies what it forwards", func(g *model.Global) { g.Tune.DisableZeroCopyForwarding = true }),
		config.Keyword{Name: "tune.idle-pool.shared", Args: "{ full | on | off }", Help: "threads share idle server connections",
			Parse: config.On(func(l *config.Line, g *model.Global) {
				if !l.NeedArgs(1, 1) {
					return
				}
				if n := l.OneOf(0, "setting", "full", "on", "off"); n >= 0 {
					g.Tune.IdlePoolShared = tristate(n < 2)
				}
			})},
		config.Keyword{Name: "tune.listener.multi-queue", Args: "{ on | fair | off }", Help: "spreads new connections over threads",
			Parse: config.On(func(l *config.Line, g *model.Global) {
				if l.NeedArgs(1, 1) && l.OneOf(0, "setting", "on", "fair", "off") >= 0 {
					g.Tune.ListenerMultiQueue = l.Arg(0)
				}
			})},
		config.Keyword{Name: "tune.listener.default-shards", Args: "{ by-process | by-thread | by-group }", Help: "sockets per address of a bind line",
			Parse: config.On(func(l *config.Line, g *model.Global) {
				if !l.NeedArgs(1, 1) {
					return
				}
				switch l.OneOf(0, "setting", "by-process", "by-thread", "by-group") {
				case 0:
					g.Tune.DefaultShards = 1
				case 1:
					g.Tune.DefaultShards = -1
				case 2:
					g.Tune.DefaultShards = -2
				}
			})},
		config.Keyword{Name: "tune.idletimer", Args: "<timeout>", Help: "silence after which a stream counts as idle",
			Parse: config.On(func(l *config.Line, g *model.Global) {
				if !l.NeedArgs(1, 1) {
					return
				}
				d, ok := l.Duration(0, units.Millisecond)
				if ok && d > 65535*time.Millisecond {
					l.Errorf(0, "'tune.idletimer': '%s' is out of range; the maximum is 65535 ms.", l.Arg(0))
				} else if ok {
					g.Tune.IdleTimer, g.Tune.IdleTimerSet = d, true
				}
			})},
	)
	config.AddCheck(config.Check{Name: "sizes of buffers", Order: 80, Run: func(p *config.Parser) {
		settleSizes(&p.Root().(*model.Config).Global.Tune)
	}})
}

func (t tuneInt) parse(l *config.Line, g *model.Global) {
	if !l.NeedArgs(1, 1) {
		return
	}
	read := l.Int
	if t.size {
		read = l.Size
	}
	n, ok := read(0, t.lo, t.hi)
	if ok && (!t.once || first(l, *t.field(&g.Tune) == 0)) {
		*t.field(&g.Tune) = int(n)
	}
}

func tristate(on bool) model.Tristate {
	if on {
		return model.On
	}
	return model.Off
}

// settleSizes rounds the buffer size up to a multiple of 16 and keeps the
// part reserved for changes within half of it (manual 3.2).
func settleSizes(t *model.Tune) {
	size := model.DefaultBufSize
	if t.BufSize > 0 {
		t.BufSize = (t.BufSize + 15) &^ 15
		size = t.BufSize
	}
	if t.MaxRewrite > size/2 || t.MaxRewrite == 0 && model.DefaultMaxRewrite > size/2 {
		t.MaxRewrite = size / 2
	}
}
