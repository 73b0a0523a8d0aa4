package tcpmux

import (
	"io"
	"math"

	"weir/internal/link/mux"
	"weir/internal/rt/sock"
)

var _ mux.Splicer = (*Conn)(nil)

// spliceStep is how much one call moves, in bytes.
const spliceStep = 256 << 10

// SpliceLeft is without end: only the peer knows.
func (t *Conn) SpliceLeft() int64 { return math.MaxInt64 }

// SpliceReady is always true.
func (t *Conn) SpliceReady() bool { return true }

// SpliceIn moves input into p.
func (t *Conn) SpliceIn(p *sock.Pipe) (int, error) {
	n, err := t.c.SpliceIn(p, spliceStep)
	if err == io.EOF {
		t.eof = true
	}
	return n, err
}

// SpliceOut moves what p has to the peer.
func (t *Conn) SpliceOut(p *sock.Pipe) (int, error) { return t.c.SpliceOut(p) }

// EndSplice makes RecvData usable again.
func (t *Conn) EndSplice() bool { return t.c.EndSplice() }
