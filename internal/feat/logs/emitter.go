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
	text     []byte
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

// Emit writes the line for r to the section's targets, in the section's format.
//
// Like the reference, a section in the default format has no line for a
// connection that failed or a request that was none.
func (m *Emitter) Emit(r *model.LogRecord) {
	if m == nil || m.plan.format == model.LogDefault && (r.ErrorMessage != "" || r.BadRequest) {
		return
	}
	m.write(r.Level, r, "")
}

// Message writes a notice of the given level (0 to 7), such as
// "Proxy web stopped (cumulated conns: FE: 3, BE: 0).".
func (m *Emitter) Message(level int, text string) {
	if m != nil {
		m.write(level, nil, text)
	}
}

func (m *Emitter) write(level int, r *model.LogRecord, text string) {
	e := m.set
	if e.loop == nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		defer e.Flush()
		e.clock.Set(time.Now())
	} else {
		e.clock.Set(e.loop.Wall())
	}
	line := e.text[:0]
	for i := range m.plan.targets {
		t := &m.plan.targets[i]
		as, ok := t.admit(level)
		if !ok {
			continue
		}
		if len(line) == 0 {
			if r != nil {
				line = e.format.Append(line, m.plan.format, r)
			} else {
				line = appendPrintable(line, text)
			}
			e.text = line
		}
		e.put(e.outs[t.dest], t, as, line)
	}
}

// put adds one line to a destination's buffer.
func (e *Emitters) put(o *output, t *bound, level int, line []byte) {
	line = line[:min(len(line), t.length)]
	if o.full(len(line)) {
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
	o.buf = t.header.Append(o.buf, level, &e.clock)
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
