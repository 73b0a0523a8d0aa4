package logs

import (
	"sync"
	"time"

	"weir/internal/base/counter"
	"weir/internal/lang/logfmt"
	"weir/internal/model"
	"weir/internal/rt/loop"
	"weir/internal/wire/syslog"
)

// Emitters are the emitters of one loop, or the direct ones.
type Emitters struct {
	g        *Logger
	loop     turner     // nil: direct
	mu       sync.Mutex // taken by direct ones only
	clock    syslog.Clock
	format   *logfmt.Formatter
	text     []byte // of the section's own line
	sd       []byte // of its structured data
	own      []byte // of a profile's line
	ownSD    []byte
	outs     []*output // by place of the destination
	dirty    []*output // with lines to send
	hook     loop.TurnHook
	dropped  counter.Counter
	byConfig map[*model.LogConfig]*Emitter
}

// Emitter writes the lines of one section on one loop. A nil Emitter is valid
// and writes nothing.
type Emitter struct {
	set  *Emitters
	plan *plan
}

var _ model.LogEmitter = (*Emitter)(nil)

// For returns the emitter of a section (Proxy.Log or Global.Log) of the
// configuration that the Logger was made from; nil when it logs nowhere.
func (e *Emitters) For(lc *model.LogConfig) *Emitter {
	if e.loop == nil {
		e.mu.Lock()
		defer e.mu.Unlock()
	}
	if m := e.byConfig[lc]; m != nil {
		return m
	}
	p := e.g.plans[lc]
	if p == nil {
		return nil
	}
	m := &Emitter{set: e, plan: p}
	e.byConfig[lc] = m
	return m
}

// Emit writes the line for r to the section's targets, each in the format that its profile, or the section, has for it.
//
// Like the reference, a section in the default format has no line for a connection that failed or a request that was none,
// unless error-log-format or a profile gives one.
func (m *Emitter) Emit(r *model.LogRecord) {
	if m == nil {
		return
	}
	e := m.set
	defer e.leave(e.enter())
	l := lines{e: e, plan: m.plan, r: r}
	for i := range m.plan.targets {
		t := &m.plan.targets[i]
		p := t.profile
		if r.Profile != nil {
			p = r.Profile
		}
		o := l.override(p)
		if o != nil && o.Drop {
			continue
		}
		text := l.text(o)
		if len(text) == 0 {
			continue
		}
		if as, ok := t.admit(r.Level); ok {
			e.put(e.outs[t.dest], t, t.headerFor(p), as, l.structured(t, o), text)
		}
	}
}

// lines are the texts of one record. The section's own are made once, those of profiles for each target that has one.
type lines struct {
	e      *Emitters
	plan   *plan
	r      *model.LogRecord
	made   bool // e.text
	madeSD bool // e.sd
}

// basic reports whether the line is in the default format, which profiles and structured data leave alone.
func (l *lines) basic() bool {
	return l.plan.format == model.LogDefault && !l.r.Failed() && l.r.Step == ""
}

func (l *lines) override(p *model.LogProfile) *model.LogOverride {
	if p == nil || l.basic() {
		return nil
	}
	return p.For(l.r.At())
}

// text is the line under an override, which may be nil; empty for no line.
func (l *lines) text(o *model.LogOverride) []byte {
	e := l.e
	if o != nil && o.Text != nil {
		e.own = o.Text.AppendLine(e.own[:0], l.r)
		return e.own
	}
	if !l.made {
		e.text = l.section(e.text[:0])
		l.made = true
	}
	return e.text
}

// section appends the section's own line.
func (l *lines) section(dst []byte) []byte {
	p := l.plan
	switch failed := l.r.Failed(); {
	case failed && p.err != nil:
		return p.err.AppendLine(dst, l.r)
	case failed && p.format == model.LogDefault:
		return dst
	case l.r.ErrorMessage == "" && p.format == model.LogCustom:
		return p.custom.AppendLine(dst, l.r)
	}
	return l.e.format.Append(dst, p.format, l.r)
}

// structured is the structured data of the line; empty for none.
func (l *lines) structured(t *bound, o *model.LogOverride) []byte {
	e := l.e
	switch {
	case t.format != syslog.RFC5424 || l.basic():
		return nil
	case o != nil && o.SD != nil:
		e.ownSD = o.SD.AppendLine(e.ownSD[:0], l.r)
		return e.ownSD
	case l.plan.sd == nil:
		return nil
	case !l.madeSD:
		e.sd = l.plan.sd.AppendLine(e.sd[:0], l.r)
		l.madeSD = true
	}
	return e.sd
}

// Message writes a notice of the given level (0 to 7), such as
// "Proxy web stopped (cumulated conns: FE: 3, BE: 0).".
func (m *Emitter) Message(level int, text string) {
	if m == nil {
		return
	}
	e := m.set
	defer e.leave(e.enter())
	e.text = appendPrintable(e.text[:0], text)
	for i := range m.plan.targets {
		t := &m.plan.targets[i]
		if as, ok := t.admit(level); ok {
			e.put(e.outs[t.dest], t, t.headerFor(t.profile), as, nil, e.text)
		}
	}
}

// enter begins the writing of a line, leave ends it: direct emitters take turns and send at once.
func (e *Emitters) enter() (direct bool) {
	if e.loop != nil {
		e.clock.Set(e.loop.Wall())
		return false
	}
	e.mu.Lock()
	e.clock.Set(time.Now())
	return true
}

func (e *Emitters) leave(direct bool) {
	if direct {
		e.Flush()
		e.mu.Unlock()
	}
}

// put adds one line to a destination's buffer.
func (e *Emitters) put(o *output, t *bound, h *syslog.Header, level int, sd, line []byte) {
	line = line[:min(len(line), t.length)]
	sd = sd[:min(len(sd), t.length)]
	if o.full(len(sd) + len(line)) {
		e.dropped.Add(uint64(o.flush()))
	}
	if !o.dirty {
		o.dirty = true
		if len(e.dirty) == 0 && e.loop != nil {
			e.loop.AtTurnEnd(&e.hook)
		}
		e.dirty = append(e.dirty, o)
	}
	start := len(o.buf)
	o.buf = h.Append(o.buf, level, &e.clock)
	if len(sd) > 0 { // in the place of the header's last field, which is "-"
		o.buf = append(o.buf[:len(o.buf)-len("- ")], sd...)
		o.buf = append(o.buf, ' ')
	}
	o.buf = append(o.buf, line...)
	o.buf = syslog.End(o.buf, start, t.length)
	o.ends = append(o.ends, len(o.buf))
}

// Flush sends what was gathered. It runs by itself at the end of a turn.
func (e *Emitters) Flush() {
	for _, o := range e.dirty {
		o.dirty = false
		e.dropped.Add(uint64(o.flush()))
	}
	e.dirty = e.dirty[:0]
}

// Dropped is how many lines of these emitters were dropped. Safe from any
// goroutine.
func (e *Emitters) Dropped() uint64 { return e.dropped.Load() }

// Close sends what was gathered and closes the sockets. The emitters must not
// be used afterwards; on a loop, Close is called on it.
func (e *Emitters) Close() {
	e.Flush()
	for _, o := range e.outs {
		o.close()
	}
	e.g.detach(e)
}

// appendPrintable appends a message with control bytes turned into '?', so
// that one message stays one line. Bytes above 127 are kept: names and file
// paths may have them.
func appendPrintable(dst []byte, text string) []byte {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c < 32 || c == 127 {
			c = '?'
		}
		dst = append(dst, c)
	}
	return dst
}
