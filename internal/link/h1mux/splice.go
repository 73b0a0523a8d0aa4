package h1mux

import (
	"io"
	"math"

	"weir/internal/link/conn"
	"weir/internal/link/mux"
	"weir/internal/rt/sock"
	"weir/internal/wire/msg"
)

var _ mux.Splicer = (*Conn)(nil)

// spliceStep is how much one call moves, in bytes.
const spliceStep = 256 << 10

// SpliceLeft is what is left of a body that needs no decoding.
func (h *Conn) SpliceLeft() int64 {
	switch x := h.x; {
	case x == nil || x.inDone || conn.Plain(h.c) == nil:
		return 0
	case x.in == msg.Length:
		return x.inLeft
	case x.in == msg.UntilClose, x.in == msg.Tunnel:
		return math.MaxInt64
	}
	return 0
}

// SpliceReady reports whether outgoing data needs no framing.
func (h *Conn) SpliceReady() bool {
	x := h.x
	return x != nil && !x.outDone && conn.Plain(h.c) != nil &&
		(x.out == msg.Length || x.out == msg.UntilClose || x.out == msg.Tunnel)
}

// SpliceIn moves the next part of the body into p.
func (h *Conn) SpliceIn(p *sock.Pipe) (int, error) {
	x := h.x
	switch {
	case x == nil || x.inDone:
		return 0, mux.EOF
	case h.in != nil:
		return 0, sock.ErrBuffered
	}
	most := int64(spliceStep)
	if x.in == msg.Length {
		most = min(most, x.inLeft)
	}
	n, err := conn.Plain(h.c).SpliceIn(p, int(most))
	if err == io.EOF {
		h.eof = true
		if x.in == msg.Length {
			return n, mux.ErrTruncated
		}
		x.inDone = true
	}
	if x.in == msg.Length {
		x.inLeft -= int64(n)
		x.inDone = x.inLeft == 0
	}
	return n, err
}

// SpliceOut moves what p has to the peer.
func (h *Conn) SpliceOut(p *sock.Pipe) (int, error) {
	h.Flush()
	n, err := conn.Plain(h.c).SpliceOut(p)
	if x := h.x; x != nil && x.out == msg.Length {
		x.outLeft -= int64(n)
		x.outDone = x.outLeft == 0
	}
	return n, err
}

// EndSplice makes RecvData usable again.
func (h *Conn) EndSplice() bool { return conn.Plain(h.c).EndSplice() }
