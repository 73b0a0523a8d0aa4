package msg

const (
	arenaChunk = 1024  // bytes of the first piece of memory of an arena
	arenaKeep  = 16384 // largest amount that an arena keeps when it is reset
)

// arena hands out bytes that all live until the same reset. What it handed out
// never moves.
type arena struct {
	cur []byte // piece in use, filled up to its length
}

func (a *arena) reset() {
	// Only the current piece is still known; it is the largest one, because
	// pieces double in size.
	if cap(a.cur) > arenaKeep {
		a.cur = nil
	}
	a.cur = a.cur[:0]
}

// alloc returns n bytes (n >= 0) whose capacity is n.
func (a *arena) alloc(n int) []byte {
	if len(a.cur)+n > cap(a.cur) {
		size := max(arenaChunk, 2*cap(a.cur), n)
		a.cur = make([]byte, 0, size)
	}
	at := len(a.cur)
	a.cur = a.cur[:at+n]
	return a.cur[at : at+n : at+n]
}

func (a *arena) copy(p []byte) []byte {
	if p == nil {
		return nil
	}
	b := a.alloc(len(p))
	copy(b, p)
	return b
}

func (a *arena) copyString(s string) []byte {
	b := a.alloc(len(s))
	copy(b, s)
	return b
}
