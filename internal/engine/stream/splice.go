package stream

import (
	"errors"

	"weir/internal/link/mux"
	"weir/internal/model"
	"weir/internal/rt/sock"
)

// spliceMin is the least that must be left to move for splicing to pay for its pipe, in bytes.
const spliceMin = 64 << 10

// maySplice decides whether a direction is moved inside the kernel (manual 4.2, "option splice-request" and
// "splice-response"). With splice-auto the choice is weir's, and it is to copy: receiving into large buffers costs less
// than moving pages through a pipe.
func (s *Stream) maySplice(w *flow) {
	bit := model.OptSpliceRequest
	if w == &s.down {
		bit = model.OptSpliceResponse
	}
	if w.discard || s.sh.NoSplice || !s.fe.Conf.Has(bit) && !s.be.Conf.Has(bit) {
		return
	}
	src, in := w.src.(mux.Splicer)
	dst, out := w.dst.(mux.Splicer)
	if !in || !out || src.SpliceLeft() < spliceMin || !dst.SpliceReady() {
		return
	}
	if p, err := sock.GetPipe(s.l); err == nil { // without a pipe, copying works as well
		w.pipe, w.in, w.out = p, src, dst
	}
}

// splice is pump for a direction with a pipe.
func (s *Stream) splice(w *flow) (moved int) {
	for moved < turnBytes {
		n, err := w.in.SpliceIn(w.pipe)
		if err != nil && w.pipe.Len() == 0 {
			s.endSplice(w)
			switch {
			case errors.Is(err, sock.ErrBuffered): // the rest is received the usual way
			case err == mux.EOF:
				w.done = true
				w.ends(err)
				w.dst.SendEnd(w.msg)
			default:
				w.done, w.err = true, err
			}
			break
		}
		moved += n
		w.bytes += int64(n)
		w.sent += int64(n)
		if w.pipe.Len() == 0 {
			break
		}
		out, err := w.out.SpliceOut(w.pipe)
		if err != nil {
			s.endSplice(w)
			w.done = true
			break
		}
		if out == 0 {
			w.blocked = true
			break
		}
	}
	if moved > 0 {
		s.touch(w)
	}
	return moved
}

// endSplice gives the pipe back; the source can be received from again afterwards.
func (s *Stream) endSplice(w *flow) {
	if w.pipe == nil {
		return
	}
	sock.PutPipe(s.l, w.pipe)
	w.pipe = nil
	for !w.in.EndSplice() {
		s.f.Park(0)
	}
}
