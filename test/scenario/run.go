package scenario

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"sync"
	"time"
)

// Bound is the longest time that one scenario may take.
const Bound = 20 * time.Second

// logBound is how long the log lines may take after the last step.
const logBound = 3 * time.Second

// A game is one run of one scenario.
type game struct {
	s       *Scenario
	target  *Target
	dir     string
	ctx     context.Context
	cancel  context.CancelCauseFunc
	end     time.Time
	proc    *process
	servers map[string]*listener
	sinks   map[string]*logSink
	addrs   map[string]string // listener or free port -> address that clients use
	vars    map[string]string // what ${NAME} stands for
	rules   []LogRule         // the log rules with their variables replaced
	files   []*os.File        // inherited descriptors, from 3

	mu     sync.Mutex
	events map[string]*event
	marks  map[string]time.Time
	at     map[string]Step // step that each unfinished actor is in
	open   []net.Conn
	trace  []string
}

// An event happens once.
type event struct {
	ch   chan struct{}
	once sync.Once
}

func (e *event) fire() { e.once.Do(func() { close(e.ch) }) }

// A player runs the steps of one actor.
type player struct {
	g     *game
	a     *Actor
	c     *conn // connection in use
	conns map[string]*conn
}

// Run plays a scenario in dir and returns what went wrong, with the trace of all actors.
func Run(s *Scenario, target *Target, dir string) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	g := &game{s: s, target: target, dir: dir, ctx: ctx, cancel: cancel, end: time.Now().Add(Bound),
		servers: map[string]*listener{}, sinks: map[string]*logSink{}, addrs: map[string]string{},
		vars: map[string]string{}, events: map[string]*event{}, marks: map[string]time.Time{},
		at: map[string]Step{}}
	defer g.cleanup()
	if err := g.setUp(); err != nil {
		return fmt.Errorf("%s: set-up: %w", s.File, err)
	}
	errs := g.play()
	errs = append(errs, g.checkLogs()...)
	if err := g.proc.stop(); err != nil {
		errs = append(errs, err)
	}
	errs = append(errs, g.checkAbsent()...)
	if crash := g.proc.crash(); crash != "" {
		errs = append(errs, errors.New("the process crashed:\n"+crash))
	}
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("%w\n%s", errors.Join(errs...), g.report())
}

var (
	inheritedRE = regexp.MustCompile(`fd@\$\{(\w+)\}`)
	freeRE      = regexp.MustCompile(`\$\{free\.(\w+)(?:\.port)?\}`)
	sinkRE      = regexp.MustCompile(`\$\{log\.(\w+)\}`)
	varRE       = regexp.MustCompile(`\$\{[\w.]+\}`)
)

// setUp opens sockets, writes files and starts the process.
func (g *game) setUp() error {
	g.vars["tmp"] = g.dir
	text := g.s.Config + strings.Join(g.s.Args, " ")
	for _, f := range g.s.Files {
		text += f
	}
	if err := g.openPorts(text); err != nil {
		return err
	}
	for _, r := range g.s.Logs {
		pat, err := CompilePattern(g.expand(r.Text))
		if err != nil {
			return g.s.errorAt(r.Line, "%v", err)
		}
		r.Text, r.Pattern = g.expand(r.Text), pat
		g.rules = append(g.rules, r)
	}
	for name, content := range g.s.Files {
		if err := os.WriteFile(filepath.Join(g.dir, name), []byte(g.expand(content)), 0o644); err != nil {
			return err
		}
	}
	cfg := filepath.Join(g.dir, "test.cfg")
	if err := os.WriteFile(cfg, []byte(g.expand(g.s.Config)), 0o644); err != nil {
		return err
	}
	args := append([]string{"-f", cfg, "-db"}, g.target.Args...)
	for _, a := range g.s.Args {
		args = append(args, g.expand(a))
	}
	var err error
	g.proc, err = startProcess(g.target.Binary, args, nil, g.files)
	for _, f := range g.files {
		f.Close() // the process has its own: when it dies, clients see it
	}
	if err != nil {
		return err
	}
	go g.watchProcess()
	return nil
}

// openPorts opens inherited listeners, servers, log receivers and finds free ports.
func (g *game) openPorts(text string) error {
	for _, m := range inheritedRE.FindAllStringSubmatch(text, -1) {
		if err := g.inherit(m[1]); err != nil {
			return err
		}
	}
	for _, m := range freeRE.FindAllStringSubmatch(text, -1) {
		if g.addrs[m[1]] != "" {
			continue
		}
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return err
		}
		addr := l.Addr().String()
		l.Close()
		g.addrs[m[1]] = addr
		g.define("free."+m[1], addr)
	}
	for _, a := range g.s.Actors {
		if a.Kind != Server {
			continue
		}
		l, err := newListener(a.Mode)
		if err != nil {
			return err
		}
		g.servers[a.Name] = l
		g.define(a.Name, l.addr)
	}
	names := []string{""}
	for _, m := range sinkRE.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	for _, name := range names {
		if g.sinks[name] != nil {
			continue
		}
		sink, err := newLogSink()
		if err != nil {
			return err
		}
		g.sinks[name] = sink
		g.define(strings.TrimSuffix("log."+name, "."), sink.pc.LocalAddr().String())
	}
	return nil
}

// inherit opens a listening socket that the process gets as a descriptor.
func (g *game) inherit(name string) error {
	if g.addrs[name] != "" {
		return nil
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	g.addrs[name] = l.Addr().String()
	g.define(name, l.Addr().String())
	g.vars["fd@"+name] = fmt.Sprintf("fd@%d", 3+len(g.files))
	g.files = append(g.files, f)
	return nil
}

// define sets ${name} to an address and ${name.port} to its port.
func (g *game) define(name, addr string) {
	_, port, _ := net.SplitHostPort(addr)
	g.vars[name] = addr
	g.vars[name+".port"] = port
}

// expand replaces the variables that it knows and leaves all others alone.
func (g *game) expand(text string) string {
	text = inheritedRE.ReplaceAllStringFunc(text, func(m string) string {
		return g.vars["fd@"+m[5:len(m)-1]]
	})
	return varRE.ReplaceAllStringFunc(text, func(m string) string {
		if v, ok := g.vars[m[2:len(m)-1]]; ok {
			return v
		}
		return m
	})
}

// address is where a client of the named listener connects.
func (g *game) address(name string) (network, addr string, err error) {
	if path, ok := strings.CutPrefix(name, "unix:"); ok {
		return "unix", g.expand(path), nil
	}
	if a, ok := g.addrs[name]; ok {
		return "tcp", a, nil
	}
	return "", "", fmt.Errorf("the configuration has no listener ${%s}", name)
}

// watchProcess ends the game when the process dies, unless a process actor waits for that.
func (g *game) watchProcess() {
	<-g.proc.done
	for _, a := range g.s.Actors {
		for _, st := range a.Steps {
			if st.Verb == "exit" {
				return
			}
		}
	}
	g.cancel(errors.New("the process ended by itself"))
}

// play runs all actors and collects their errors. The first error ends the game.
func (g *game) play() []error {
	stop := time.AfterFunc(Bound, func() { g.cancel(fmt.Errorf("the scenario took more than %v; waiting: %s", Bound, g.waiting())) })
	defer stop.Stop()
	unhook := context.AfterFunc(g.ctx, g.interrupt)
	defer unhook()

	results := make(chan error, len(g.s.Actors))
	running := 0
	for _, a := range g.s.Actors {
		service := len(a.Steps) > 0 && a.Steps[len(a.Steps)-1].Verb == "serve"
		if !service {
			running++
		}
		go func() {
			p := &player{g: g, a: a, conns: map[string]*conn{}}
			err := p.perform()
			if err != nil {
				g.cancel(err)
			}
			if !service {
				results <- err
			}
		}()
	}
	for range running {
		<-results
	}
	if err := context.Cause(g.ctx); err != nil {
		select {
		case <-g.proc.done:
			err = fmt.Errorf("%w (process ended, exit code %d)", err, g.proc.code())
		default:
		}
		return []error{err}
	}
	return nil
}

// perform runs an actor's steps.
func (p *player) perform() error {
	defer p.g.event(p.a.Name + ".done").fire()
	defer p.g.setStep(p.a.Name, nil)
	for _, st := range p.a.Steps {
		p.g.setStep(p.a.Name, &st)
		if err := p.ready(st.Verb); err != nil {
			return p.g.s.errorAt(st.Line, "%s: %s: %v", p.a.Name, st.Verb, err)
		}
		arg := p.g.expand(st.Arg)
		p.say("%s %.150s", st.Verb, arg)
		if err := verbs[st.Verb].run(p, arg); err != nil {
			if p.g.ctx.Err() != nil { // not the cause, an effect
				return context.Cause(p.g.ctx)
			}
			return p.g.s.errorAt(st.Line, "%s: %s: %v", p.a.Name, st.Verb, err)
		}
	}
	return nil
}

// setStep notes where an actor is; nil means that it is done.
func (g *game) setStep(actor string, st *Step) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if st == nil {
		delete(g.at, actor)
	} else {
		g.at[actor] = *st
	}
}

// waiting names the actors that are not done and their steps.
func (g *game) waiting() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []string
	for actor, st := range g.at {
		list = append(list, fmt.Sprintf("%s in line %d (%s)", actor, st.Line, st.Verb))
	}
	sort.Strings(list)
	return strings.Join(list, ", ")
}

// ready gives a step that works on a connection one: a client connects, a server accepts.
func (p *player) ready(verb string) error {
	switch {
	case p.c != nil || p.a.Kind == Process:
		return nil
	case verb == "await" || verb == "await-log" || verb == "signal" || verb == "mark" || verb == "elapsed":
		return nil
	case verb == "connect" || verb == "accept" || verb == "no-accept" || verb == "serve":
		return nil
	case p.a.Kind == Client:
		return p.connect("")
	}
	return p.accept("")
}

// adopt makes c the connection in use.
func (p *player) adopt(c net.Conn, name string) error {
	p.g.track(c)
	p.c = newConn(c)
	p.conns[name] = p.c
	return nil
}

// write sends text within the time that is left.
func (p *player) write(text string) error {
	if err := p.c.SetWriteDeadline(time.Now().Add(p.g.left())); err != nil {
		return err
	}
	_, err := p.c.Write([]byte(text))
	return err
}

// deadline bounds the next reads by the time that is left.
func (p *player) deadline() { p.c.SetReadDeadline(time.Now().Add(p.g.left())) }

// bound parses an optional duration argument.
func (p *player) bound(arg string) (time.Duration, error) {
	if arg == "" {
		return p.g.left(), nil
	}
	return time.ParseDuration(arg)
}

// say adds a line to the trace.
func (p *player) say(format string, args ...any) {
	line := fmt.Sprintf("%8.3fs %s: %s", (Bound - time.Until(p.g.end)).Seconds(), p.a.Name, fmt.Sprintf(format, args...))
	p.g.mu.Lock()
	p.g.trace = append(p.g.trace, line)
	p.g.mu.Unlock()
}

// left is how much of the scenario's time remains, never less than a moment.
func (g *game) left() time.Duration {
	if g.ctx.Err() != nil {
		return time.Millisecond
	}
	return max(time.Until(g.end), time.Millisecond)
}

// event returns the named event.
func (g *game) event(name string) *event {
	g.mu.Lock()
	defer g.mu.Unlock()
	e := g.events[name]
	if e == nil {
		e = &event{ch: make(chan struct{})}
		g.events[name] = e
	}
	return e
}

// track remembers a connection so that the end of the game interrupts whoever uses it.
func (g *game) track(c net.Conn) {
	g.mu.Lock()
	g.open = append(g.open, c)
	g.mu.Unlock()
	if g.ctx.Err() != nil {
		c.SetDeadline(time.Now())
	}
}

// interrupt wakes everything that blocks on a socket.
func (g *game) interrupt() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.open {
		c.SetDeadline(time.Now())
	}
	for _, l := range g.servers {
		if l.l != nil {
			l.l.SetDeadline(time.Now())
		}
	}
}

// checkLogs waits for the log lines that must come.
func (g *game) checkLogs() (errs []error) {
	end := time.Now().Add(logBound)
	for _, r := range g.rules {
		sink, left := g.sinks[r.Target], max(0, time.Until(end))
		switch {
		case sink == nil:
			errs = append(errs, g.s.errorAt(r.Line, "the configuration has no ${log.%s}", r.Target))
		case r.Verb == "has" && !sink.await(r.Pattern, 1, left):
			errs = append(errs, g.s.errorAt(r.Line, "no log line fits %s", r.Pattern.Source))
		case r.Verb == "count" && !sink.await(r.Pattern, r.Count, left):
			errs = append(errs, g.s.errorAt(r.Line, "want %d log lines like %s", r.Count, r.Pattern.Source))
		}
	}
	return errs
}

// checkAbsent looks at the whole log once the process is gone.
func (g *game) checkAbsent() (errs []error) {
	for _, s := range g.sinks {
		s.drain()
	}
	for _, r := range g.rules {
		sink := g.sinks[r.Target]
		if sink == nil {
			continue
		}
		n := countMatches(r.Pattern, sink.lines())
		switch {
		case r.Verb == "not" && n > 0:
			errs = append(errs, g.s.errorAt(r.Line, "%d log lines fit %s", n, r.Pattern.Source))
		case r.Verb == "count" && n > r.Count:
			errs = append(errs, g.s.errorAt(r.Line, "%d log lines like %s, want %d", n, r.Pattern.Source, r.Count))
		}
	}
	return errs
}

// report shows what happened: trace, log, output of the process.
func (g *game) report() string {
	g.mu.Lock()
	trace := append([]string(nil), g.trace...)
	g.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "--- trace\n%s\n", strings.Join(trace, "\n"))
	var names []string
	for name := range g.sinks {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Fprintf(&b, "--- log %s\n%s\n", name, strings.Join(g.sinks[name].lines(), "\n"))
	}
	fmt.Fprintf(&b, "--- output\n%s", g.proc.out.bytes())
	return b.String()
}

// cleanup closes everything.
func (g *game) cleanup() {
	g.cancel(errors.New("the scenario is over"))
	if g.proc != nil {
		g.proc.stop()
	}
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	for _, c := range open {
		c.Close()
	}
	for _, l := range g.servers {
		l.close()
	}
	for _, s := range g.sinks {
		s.close()
	}
}
