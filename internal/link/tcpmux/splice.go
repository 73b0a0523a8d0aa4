package tcpmux

import (
	"io"
	"math"

	"weir/internal/link/conn"
	"weir/internal/link/mux"
	"weir/internal/rt/sock"
)

var _ mux.Splicer = (*Conn)(nil)

// spliceStep is how much one call moves, in bytes.
const spliceStep = 256 << 10

// SpliceLeft is without end where bytes travel as they are: only the peer knows.
func (t *Conn) SpliceLeft() int64 {
	if conn.Plain(t.c) == nil {
		return 0
	}
	return math.MaxInt64
}

// SpliceReady is true where bytes travel as they are.
func (t *Conn) SpliceReady() bool { return conn.Plain(t.c) != nil }

// SpliceIn moves input into p.
func (t *Conn) SpliceIn(p *sock.Pipe) (int, error) {
	n, err := conn.Plain(t.c).SpliceIn(p, spliceStep)
	if err == io.EOF {
		t.eof = true
	}
	return n, err
}

// SpliceOut moves what p has to the peer.
func (t *Conn) SpliceOut(p *sock.Pipe) (int, error) { return conn.Plain(t.c).SpliceOut(p) }

// EndSplice makes RecvData usable again.
func (t *Conn) EndSplice() bool { return conn.Plain(t.c).EndSplice() }
