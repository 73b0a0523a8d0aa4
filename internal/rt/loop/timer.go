package loop

// A Timer calls Fn on the loop at a deadline. The zero value with Fn set is ready; it lives inside the object it
// serves. Moving a deadline back and disarming cost a store each: the heap is put right when the old time comes.
type Timer struct {
	Fn   func()
	when int64 // deadline, 0 = not armed
	at   int64 // where it stands in the heap
	idx  int   // place in the heap + 1, 0 = not in it
}

// Armed tells whether the timer is to fire.
func (t *Timer) Armed() bool { return t.when != 0 }

// Deadline is when the timer is to fire, 0 when it is not armed.
func (t *Timer) Deadline() int64 { return t.when }

// Arm sets the deadline of t, in nanoseconds of Now. A deadline that has passed fires at the next turn.
func (l *Loop) Arm(t *Timer, deadline int64) {
	if deadline <= 0 {
		deadline = 1
	}
	t.when = deadline
	switch {
	case t.idx == 0:
		l.timers.push(t)
	case deadline < t.at:
		t.at = deadline
		l.timers.e[t.idx-1].at = deadline
		l.timers.up(t.idx - 1)
	}
}

// Disarm stops t. The loop may still refer to it until the deadline it had; see Forget.
func (l *Loop) Disarm(t *Timer) { t.when = 0 }

// Forget stops t and takes it out of the heap, for objects that end long before their deadline.
func (l *Loop) Forget(t *Timer) {
	t.when = 0
	if t.idx != 0 {
		l.timers.remove(t.idx - 1)
	}
}

// heap is a 4-ary heap of timers by the time at which they have to be looked at.
type heap struct{ e []entry }

type entry struct {
	at int64
	t  *Timer
}

func (h *heap) due(now int64) bool { return len(h.e) > 0 && h.e[0].at <= now }

// wait is how long the loop may sleep: -1 = without end.
func (h *heap) wait(now int64) int64 {
	if len(h.e) == 0 {
		return -1
	}
	return max(h.e[0].at-now, 0)
}

func (h *heap) push(t *Timer) {
	t.at = t.when
	h.e = append(h.e, entry{t.at, t})
	t.idx = len(h.e)
	h.up(len(h.e) - 1)
}

func (h *heap) up(i int) {
	x := h.e[i]
	for i > 0 {
		p := (i - 1) / 4
		if h.e[p].at <= x.at {
			break
		}
		h.e[i] = h.e[p]
		h.e[i].t.idx = i + 1
		i = p
	}
	h.e[i] = x
	x.t.idx = i + 1
}

func (h *heap) down(i int) {
	x := h.e[i]
	n := len(h.e)
	for {
		c := 4*i + 1
		if c >= n {
			break
		}
		m := c
		for k := c + 1; k < min(c+4, n); k++ {
			if h.e[k].at < h.e[m].at {
				m = k
			}
		}
		if h.e[m].at >= x.at {
			break
		}
		h.e[i] = h.e[m]
		h.e[i].t.idx = i + 1
		i = m
	}
	h.e[i] = x
	x.t.idx = i + 1
}

func (h *heap) remove(i int) {
	last := len(h.e) - 1
	h.e[i].t.idx = 0
	x := h.e[last]
	h.e[last] = entry{}
	h.e = h.e[:last]
	if i == last {
		return
	}
	h.e[i] = x
	x.t.idx = i + 1
	h.up(i)
	h.down(x.t.idx - 1)
}

// runTimers fires what is due. A timer armed again for a time in the past by its own function waits for the next turn.
func (l *Loop) runTimers() {
	h := &l.timers
	for n := len(h.e); n > 0 && h.due(l.now); n-- {
		t := h.e[0].t
		switch {
		case t.when == 0:
			h.remove(0)
		case t.when > l.now:
			t.at = t.when
			h.e[0].at = t.at
			h.down(0)
		default:
			h.remove(0)
			t.when = 0
			l.Counters.Timers.Inc()
			l.call(t.Fn)
		}
	}
}
