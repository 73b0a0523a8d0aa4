package regex

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"
)

// A dfa runs an nfa with one table look-up a byte. States, which are sets of NFA states, are made when they are first
// met, and are shared by all threads. When there are too many the table begins anew; a match that meets
// unknown states in a full table goes on with sets, slower, but still linear in the text.
//
// Only whether there is a match is asked, so that the order of states in a set does not matter.
type dfa struct {
	n       *nfa
	classes [256]uint8 // bytes that no set tells apart are one class
	samples []byte     // a byte of each class
	eof     int        // the class of the end
	stride  uint32
	special uint32 // rows up to here are no states
	cur     atomic.Pointer[table]
	fulls   atomic.Uint32 // matches that met a full table
	work    sync.Pool     // *stepper
}

// Rows of a table that are no states.
const (
	rowUnknown = iota
	rowMatch
	rowDead
	rowFirst
)

const (
	maxCells  = 1 << 18 // of a table: 1 MiB
	maxKept   = 1 << 18 // NFA states in the sets of a table: 1 MiB
	afterFull = 64      // matches that meet a full table before it begins anew
)

// table holds the states met so far. Values of cells are rows times the stride.
type table struct {
	cells  atomic.Pointer[[]atomic.Uint32]
	starts [8]atomic.Uint32 // by context

	mu    sync.Mutex
	index map[string]uint32
	sets  []stateSet // by row
	kept  int
	full  bool
}

// stateSet is a set of NFA states, with what is known of the byte before.
type stateSet struct {
	ctx    uint8
	states []int32
}

// Context: what the byte before a place was.
const (
	ctxStart  uint8 = 1 << iota // none: the place is the start
	ctxNoLine                   // at the start ^ does not hold
	ctxLine                     // a line feed
	ctxWord                     // of a word
)

// stepper is the memory of a step.
type stepper struct {
	dense  []int32
	sparse []uint32
	other  []int32
	slow   [2][]int32 // sets without a table
	stack  []int32
	key    []byte
	match  bool
}

func newDFA(n *nfa) *dfa {
	d := &dfa{n: n}
	d.partition()
	d.work.New = func() any {
		return &stepper{sparse: make([]uint32, len(n.states)), dense: make([]int32, 0, 16)}
	}
	return d
}

// partition finds the classes of bytes.
func (d *dfa) partition() {
	sets := slices.Clone(d.n.sets)
	for i := range d.n.states {
		if d.n.states[i].kind == nAssert {
			sets = append(sets, setOf("\n\n"))
			break
		}
	}
	if d.n.words {
		words, _ := escapeSet('w')
		sets = append(sets, words)
	}
	count := 1
	for _, s := range sets {
		var split [256]int // class -> class of its members in s, plus 1
		var outside [256]bool
		for c := range 256 {
			if !s.has(byte(c)) {
				outside[d.classes[c]] = true
			}
		}
		for c := range 256 {
			k := d.classes[c]
			if !s.has(byte(c)) || !outside[k] {
				continue
			}
			if split[k] == 0 {
				count++
				split[k] = count
			}
			d.classes[c] = uint8(split[k] - 1)
		}
		if count == 256 {
			break
		}
	}
	d.samples = make([]byte, count)
	for c := range 256 {
		d.samples[d.classes[c]] = byte(c)
	}
	d.eof = count
	d.stride = uint32(count + 1)
	d.special = rowDead * d.stride
}

// begin returns the table in use.
func (d *dfa) begin() *table {
	if t := d.cur.Load(); t != nil {
		return t
	}
	t := d.newTable()
	if !d.cur.CompareAndSwap(nil, t) {
		t = d.cur.Load()
	}
	return t
}

func (d *dfa) newTable() *table {
	t := &table{index: map[string]uint32{}}
	cells := make([]atomic.Uint32, 8*d.stride)
	t.cells.Store(&cells)
	t.sets = make([]stateSet, rowFirst)
	return t
}

// context is what is known at place i.
func context(b []byte, i int, notBOL bool) uint8 {
	switch {
	case i == 0 && notBOL:
		return ctxStart | ctxNoLine
	case i == 0:
		return ctxStart
	}
	return contextOf(b[i-1])
}

func contextOf(c byte) uint8 {
	switch {
	case c == '\n':
		return ctxLine
	case isWord(c):
		return ctxWord
	}
	return 0
}

// match reports whether there is a match at from or later; at from only when the machine is anchored. It also returns
// the number of bytes read.
func (d *dfa) match(b []byte, from int, notBOL bool) (ok bool, read int) {
	i := from
	if d.n.prefix != nil {
		k := bytes.Index(b[from:], d.n.prefix)
		if k < 0 {
			return false, len(b) - from
		}
		i += k
	}
	t := d.begin()
	ctx := context(b, i, notBOL)
	row := t.starts[ctx&7].Load()
	if ctx&ctxWord != 0 {
		row = t.starts[7].Load()
	}
	if row <= d.special {
		if row == rowUnknown {
			row = d.startRow(t, ctx)
		}
		if row == rowUnknown {
			return d.slow(nil, ctx, b, i) == rowMatch, len(b) - from
		}
		if row <= d.special {
			return row == rowMatch*d.stride, i - from
		}
	}
	cells := *t.cells.Load()
	for ; i < len(b); i++ {
		next := cells[row+uint32(d.classes[b[i]])].Load()
		if next <= d.special {
			if next == rowUnknown {
				next = d.grow(t, row, int(d.classes[b[i]]))
				cells = *t.cells.Load()
			}
			if next == rowUnknown {
				set := d.setOf(t, row)
				return d.slow(set.states, set.ctx, b, i) == rowMatch, len(b) - from
			}
			if next <= d.special {
				return next == rowMatch*d.stride, i + 1 - from
			}
		}
		row = next
	}
	next := cells[row+uint32(d.eof)].Load()
	if next == rowUnknown {
		next = d.grow(t, row, d.eof)
	}
	return next == rowMatch*d.stride, len(b) - from
}

// setOf is the set of a row.
func (d *dfa) setOf(t *table, row uint32) stateSet {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sets[row/d.stride]
}

// startRow makes the row for the beginning of a search; rowUnknown when the table is full.
func (d *dfa) startRow(t *table, ctx uint8) uint32 {
	w := d.work.Get().(*stepper)
	defer d.work.Put(w)
	d.startSet(w, ctx)
	row := d.intern(t, w, ctx)
	slot := ctx & 7
	if ctx&ctxWord != 0 {
		slot = 7
	}
	if row != rowUnknown {
		t.starts[slot].Store(row)
	}
	return row
}

func (d *dfa) startSet(w *stepper, ctx uint8) {
	w.reset()
	d.close(w, d.n.start, ctx, -1)
}

// grow makes what follows a row on a class; rowUnknown when the table is full.
func (d *dfa) grow(t *table, row uint32, class int) uint32 {
	w := d.work.Get().(*stepper)
	defer d.work.Put(w)
	from := d.setOf(t, row)
	ctx := d.step(w, from.states, from.ctx, class)
	next := d.intern(t, w, ctx)
	if next == rowUnknown && class == d.eof {
		next = rowDead * d.stride // what comes at the end is a match or not
		if w.match {
			next = rowMatch * d.stride
		}
	}
	if next != rowUnknown {
		(*t.cells.Load())[row+uint32(class)].Store(next)
	}
	return next
}

func (w *stepper) reset() {
	w.dense = w.dense[:0]
	w.match = false
}

func (w *stepper) has(s int32) bool {
	k := w.sparse[s]
	return int(k) < len(w.dense) && w.dense[k] == s
}

// close adds a state and what is reached from it without a byte. ctx is of the byte before; next is the class
// of the byte after, -1 when it is not known yet.
func (d *dfa) close(w *stepper, s int32, ctx uint8, next int) {
	w.stack = append(w.stack[:0], s)
	for len(w.stack) > 0 && !w.match {
		s := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		if w.has(s) {
			continue
		}
		w.sparse[s] = uint32(len(w.dense))
		w.dense = append(w.dense, s)
		switch st := &d.n.states[s]; st.kind {
		case nSplit:
			w.stack = append(w.stack, st.y, st.x)
		case nMatch:
			w.match = true
		case nAssert:
			if holds, known := d.holds(st.assert, ctx, next); known && holds {
				w.stack = append(w.stack, st.x)
			}
		}
	}
}

// holds decides an assertion, as far as that is possible.
func (d *dfa) holds(a assertion, ctx uint8, next int) (holds, known bool) {
	switch a {
	case atStart:
		return ctx&ctxStart != 0, true
	case atLineStart:
		return ctx&(ctxStart|ctxNoLine) == ctxStart, true
	case atAnyLine:
		if ctx&ctxLine == 0 {
			return ctx&(ctxStart|ctxNoLine) == ctxStart, true
		}
		return next != d.eof, next >= 0
	case atEnd, atLastLine:
		return next == d.eof, next >= 0
	case atAnyLineEnd:
		return next == d.eof || next >= 0 && d.samples[next] == '\n', next >= 0
	}
	if next < 0 {
		return false, false
	}
	after := next != d.eof && isWord(d.samples[next])
	return (ctx&ctxWord != 0 != after) == (a == atWord), true
}

// step makes the set that follows a set on a class. It returns the context behind the byte.
func (d *dfa) step(w *stepper, states []int32, ctx uint8, class int) uint8 {
	w.reset()
	if d.undecided(states) {
		for _, s := range states {
			d.close(w, s, ctx, class)
		}
		if w.match {
			return 0
		}
		w.other = append(w.other[:0], w.dense...)
		states = w.other
		w.reset()
	}
	if class == d.eof {
		return 0
	}
	c := d.samples[class]
	after := contextOf(c)
	for _, s := range states {
		st := &d.n.states[s]
		switch {
		case st.kind == nByte && d.n.sets[st.set].has(c):
			d.close(w, st.x, after, -1)
		case st.kind == nAssert && st.assert == atLastLine && c == '\n':
			d.close(w, d.n.end, after, -1)
		}
		if w.match {
			return 0
		}
	}
	return after
}

// undecided reports whether the byte after decides about states of a set.
func (d *dfa) undecided(states []int32) bool {
	for _, s := range states {
		if d.n.states[s].kind == nAssert {
			return true
		}
	}
	return false
}

// intern gives the set in w a row; rowUnknown when the table is full.
func (d *dfa) intern(t *table, w *stepper, ctx uint8) uint32 {
	if w.match {
		return rowMatch * d.stride
	}
	w.key = append(w.key[:0], 0)
	kept := w.dense[:0]
	for _, s := range w.dense {
		switch st := &d.n.states[s]; st.kind {
		case nByte:
			kept = append(kept, s)
		case nAssert:
			if _, known := d.holds(st.assert, ctx, -1); !known {
				kept = append(kept, s)
				w.key[0] = ctx | 0x80
			}
		}
	}
	w.dense = kept
	if len(kept) == 0 {
		return rowDead * d.stride
	}
	slices.Sort(kept)
	for _, s := range kept {
		w.key = binary.LittleEndian.AppendUint32(w.key, uint32(s))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if row, ok := t.index[string(w.key)]; ok {
		return row
	}
	rows := len(t.sets)
	if t.full || (rows+1)*int(d.stride) > maxCells || t.kept+len(kept) > maxKept {
		t.full = true
		return rowUnknown
	}
	t.kept += len(kept)
	t.sets = append(t.sets, stateSet{ctx, slices.Clone(kept)})
	row := uint32(rows) * d.stride
	t.index[string(w.key)] = row
	d.extend(t, rows+1)
	return row
}

// extend makes room for rows. Readers of the old cells find unknown ones at worst.
func (d *dfa) extend(t *table, rows int) {
	old := *t.cells.Load()
	if rows*int(d.stride) <= len(old) {
		return
	}
	cells := make([]atomic.Uint32, 2*len(old))
	for i := range old {
		cells[i].Store(old[i].Load())
	}
	t.cells.Store(&cells)
}

// slow goes on without a table, from a set (nil: from the start). It returns rowMatch or rowDead.
func (d *dfa) slow(states []int32, ctx uint8, b []byte, i int) uint32 {
	if d.fulls.Add(1)%afterFull == 0 {
		d.cur.Store(d.newTable())
	}
	w := d.work.Get().(*stepper)
	defer d.work.Put(w)
	w.match = false
	if states == nil {
		d.startSet(w, ctx)
		w.slow[1] = append(w.slow[1][:0], w.dense...)
		states = w.slow[1]
	}
	for k := 0; !w.match && len(states) > 0; k++ {
		class := d.eof
		if i < len(b) {
			class = int(d.classes[b[i]])
		}
		ctx = d.step(w, states, ctx, class)
		if class == d.eof {
			break
		}
		i++
		w.slow[k&1] = append(w.slow[k&1][:0], w.dense...)
		states = w.slow[k&1]
	}
	if w.match {
		return rowMatch
	}
	return rowDead
}
