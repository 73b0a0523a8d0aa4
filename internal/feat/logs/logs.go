// Package logs sends log lines: from the "log" directives of a configuration
// to datagrams and descriptors (manual 3.1, 4.2 and 8).
//
// A Logger belongs to a generation and is built once from its configuration.
// Each loop has its own Emitters, with its own sockets and buffers, so that
// logging takes no lock; each proxy has its Emitter among them. The lines of a
// loop turn are gathered per destination and sent at its end, in one system
// call where the destination allows it.
//
// Logging never blocks, never allocates in the steady state and never holds
// more than one buffer a destination and loop. A line that its destination
// does not take at once is dropped and counted.
package logs

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"weir/internal/base/addr"
	"weir/internal/lang/logfmt"
	"weir/internal/model"
	"weir/internal/rt/loop"
	"weir/internal/wire/syslog"
)

// Options is what a Logger is made from. Only Config is needed.
type Options struct {
	Config *model.Config
	// Tag is the program's name, which headers show where no log-tag is set.
	// Default: "haproxy".
	Tag string
	// PID is the process number that headers show. Default: that of this process.
	PID int
	// Hostname is the system's name for "log-send-hostname". Default: as the
	// system tells.
	Hostname string
	// Resolve finds the addresses of targets given by name.
	Resolve addr.Resolver
}

// Logger is the logging of a generation: its targets and who logs to them.
// It is immutable but for its counters, and safe for concurrent use.
type Logger struct {
	dests  []*dest
	plans  map[*model.LogConfig]*plan
	logURI int

	mu   sync.Mutex
	sets []*Emitters // whose counters make up Dropped
	gone uint64      // dropped by those that were closed
}

// plan is what one section does with its lines.
type plan struct {
	format          model.LogFormat
	custom, sd, err model.LineFormat // as in model.LogConfig
	targets         []bound
}

// bound is a target with the header that it shows for one section.
type bound struct {
	*target
	header  *syslog.Header
	profile *model.LogProfile
	// tagged are the headers of profiles that have tags of their own, which an action may ask for.
	tagged map[*model.LogProfile]*syslog.Header
}

// New prepares the logging of a configuration: the global section's own and
// that of every proxy. The error names every target that cannot be served.
func New(o Options) (*Logger, error) {
	g := &Logger{
		plans:  make(map[*model.LogConfig]*plan),
		logURI: o.Config.Global.Tune.HTTPLogURI,
	}
	b := newBuilder(g, &o)
	b.section(&o.Config.Global.Log)
	for _, p := range o.Config.Proxies {
		b.section(&p.Log)
	}
	if len(b.errs) > 0 {
		return nil, errors.Join(b.errs...)
	}
	return g, nil
}

// Loop makes the emitters of a loop and opens their sockets. To be called
// before the loop runs, or on it.
func (g *Logger) Loop(l *loop.Loop) *Emitters { return g.emitters(l) }

// Direct makes emitters for use outside of loops, for messages of start and
// stop: they send at once, and they are safe for concurrent use. They do not
// block either.
func (g *Logger) Direct() *Emitters { return g.emitters(nil) }

// Dropped is the number of lines that no destination took ("DroppedLogs"),
// each counted once a destination. Safe from any goroutine.
func (g *Logger) Dropped() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.gone
	for _, e := range g.sets {
		n += e.dropped.Load()
	}
	return n
}

// turner is what emitters need of a loop.
type turner interface {
	Wall() time.Time
	AtTurnEnd(*loop.TurnHook)
}

func (g *Logger) emitters(l *loop.Loop) *Emitters {
	if l == nil {
		return g.attach(nil)
	}
	return g.attach(l)
}

func (g *Logger) attach(l turner) *Emitters {
	e := &Emitters{g: g, loop: l, format: logfmt.New(g.logURI), byConfig: make(map[*model.LogConfig]*Emitter)}
	e.hook.Fn = e.Flush
	e.outs = make([]*output, len(g.dests))
	for i, d := range g.dests {
		e.outs[i] = newOutput(d)
		e.outs[i].open()
	}
	g.mu.Lock()
	g.sets = append(g.sets, e)
	g.mu.Unlock()
	return e
}

func (g *Logger) detach(e *Emitters) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, s := range g.sets {
		if s == e {
			g.sets = append(g.sets[:i], g.sets[i+1:]...)
			g.gone += e.dropped.Load()
			return
		}
	}
}

// builder turns sections into plans.
type builder struct {
	g       *Logger
	tag     string
	pid     int
	host    string // as headers show it; "": none
	global  *model.LogConfig
	resolve addr.Resolver
	targets map[*model.LogTarget]*target
	dests   map[string]*dest
	errs    []error

	profiles map[string]*model.LogProfile
}

func newBuilder(g *Logger, o *Options) *builder {
	b := &builder{
		g: g, tag: o.Tag, pid: o.PID, resolve: o.Resolve,
		global:  &o.Config.Global.Log,
		targets: make(map[*model.LogTarget]*target),
		dests:   make(map[string]*dest),

		profiles: model.LogProfiles.Get(&o.Config.Slots),
	}
	if b.tag == "" {
		b.tag = "haproxy"
	}
	if b.global.Tag != "" {
		b.tag = b.global.Tag
	}
	if b.pid == 0 {
		b.pid = os.Getpid()
	}
	switch b.host = b.global.SendHostname; {
	case b.host != "-":
	case o.Hostname != "":
		b.host = o.Hostname
	default:
		b.host, _ = os.Hostname() // without a name the header has none
	}
	return b
}

// section makes the plan of one section; a section without targets has none.
func (b *builder) section(lc *model.LogConfig) {
	p := &plan{format: lc.Format, custom: lc.Custom, sd: lc.SD, err: lc.Error}
	tag := lc.Tag
	if tag == "" {
		tag = b.tag
	}
	if lc.Global && lc != b.global {
		b.add(p, b.global.Targets, tag)
	}
	b.add(p, lc.Targets, tag)
	if len(p.targets) > 0 {
		b.g.plans[lc] = p
	}
}

func (b *builder) add(p *plan, targets []*model.LogTarget, tag string) {
	for _, m := range targets {
		t, ok := b.targets[m]
		if !ok {
			var err error
			if t, err = b.target(m); err != nil {
				b.errs = append(b.errs, fmt.Errorf("%s:%d: log: %w", m.Pos.File, m.Pos.Line, err))
			}
			b.targets[m] = t
		}
		if t == nil {
			continue
		}
		x := bound{target: t, profile: m.Profile, tagged: make(map[*model.LogProfile]*syslog.Header)}
		x.header = syslog.NewHeader(t.format, m.Facility, b.host, tag, b.pid)
		for _, prof := range b.profiles {
			if prof.Tag != "" {
				x.tagged[prof] = syslog.NewHeader(t.format, m.Facility, b.host, prof.Tag, b.pid)
			}
		}
		p.targets = append(p.targets, x)
	}
}

// headerFor is the header under a profile, which may be nil.
func (x *bound) headerFor(p *model.LogProfile) *syslog.Header {
	if p == nil || p.Tag == "" {
		return x.header
	}
	return x.tagged[p]
}
