package stream

import (
	"errors"

	"weir/internal/link/mux"
	"weir/internal/model"
	"weir/internal/rt/sock"
	"weir/internal/wire/h1"
	"weir/internal/wire/msg"
)

// flow is one direction of a stream.
type flow struct {
	src, dst mux.End
	msg      *msg.Message // whose trailers end it; nil in tunnels and TCP
	bytes    int64        // received
	sent     int64        // passed on
	tail     *msg.Message // whose end counts; nil in tunnels and TCP
	done     bool         // the end was received and passed on, or err is set
	blocked  bool         // the receiver takes no more for the moment
	discard  bool         // the data is read and thrown away: the receiver has its end already
	err      error        // why the sender failed

	pipe    *sock.Pipe // data moves through it inside the kernel; nil: it is copied
	in, out mux.Splicer
}

// join connects the flow and passes a message without a body at once.
func (w *flow) join(src, dst mux.End, m *msg.Message) {
	w.src, w.dst, w.msg, w.tail = src, dst, m, m
	if m != nil && !m.HasBody() && m.Framing != msg.Tunnel {
		w.done = true
		w.dst.SendEnd(m)
	}
}

// turnBytes is what one direction may move before the other fibers of the loop get their turn.
const turnBytes = 1 << 20

// pump moves what can be moved in one direction without waiting.
func (s *Stream) pump(w *flow) (moved int) {
	if w.blocked {
		// Nothing was expected of the sender while its data could not be passed on: it has its full time again.
		w.blocked = false
		s.rested(w)
	}
	if w.pipe != nil {
		if moved = s.splice(w); w.pipe != nil || w.done {
			return moved
		}
	}
	for !w.done && moved < turnBytes {
		if !w.dst.SendRoom() {
			w.blocked = true
			return moved
		}
		b, err := w.src.RecvData()
		if b != nil {
			n := b.Len()
			moved += n
			if w.discard {
				b.Release()
				continue
			}
			w.bytes += int64(n)
			w.sent += int64(n)
			if w == &s.up {
				s.remember(b)
			}
			w.dst.SendData(b)
			continue
		}
		if err == nil {
			break
		}
		w.done = true
		w.ends(err)
		if err == mux.EOF {
			if !w.discard {
				w.dst.SendEnd(w.msg)
			}
		} else {
			w.err = err
		}
	}
	if moved > 0 {
		s.touch(w)
	}
	return moved
}

// rested gives the sender of a flow its full time.
func (s *Stream) rested(w *flow) {
	if w == &s.up {
		s.lastC = s.l.Now()
	} else {
		s.lastS = s.l.Now()
	}
}

// touch notes activity. A side that sends is active; so is one that takes data, unless directions count separately.
func (s *Stream) touch(w *flow) {
	now := s.l.Now()
	both := !s.fe.Conf.Has(model.OptIndependentStreams)
	if w == &s.up || both {
		s.lastC = now
	}
	if w == &s.down || both {
		s.lastS = now
	}
}

// join passes data both ways in TCP mode.
func (s *Stream) join() {
	s.tunnel = true
	s.lastC, s.lastS = s.l.Now(), s.l.Now()
	s.sendHeld(model.DirReq, s.back)
	s.up.join(s.front, s.back, nil)
	if !s.answerRules() {
		return
	}
	s.sendHeld(model.DirRes, s.front)
	s.down.join(s.back, s.front, nil)
	s.logEarly(model.StepConnect)
	s.relay()
}

// relay runs both directions until the exchange is complete or fails.
func (s *Stream) relay() {
	s.maySplice(&s.up)
	s.maySplice(&s.down)
	defer func() {
		s.endSplice(&s.up)
		s.endSplice(&s.down)
	}()
	for {
		moved := s.pump(&s.up) + s.pump(&s.down)
		s.front.Flush()
		s.back.Flush()
		if s.relayFailed() || s.relayDone() {
			return
		}
		if moved >= turnBytes {
			s.f.Yield()
			continue
		}
		s.noteDrain(false)
		s.settleNow()
		if s.up.done && !s.tunnel {
			s.front.Watch()
		}
		if d := s.relayDeadline(); !s.f.Park(d) && s.l.Now() >= d {
			s.noteDrain(true) // a slow receiver is not a silent one
			if s.relayLate() {
				return
			}
		}
	}
}

// relayDone reports that nothing is left to do: both ends passed on, and what the client still has to take fits the
// kernel's hands.
func (s *Stream) relayDone() bool {
	if !s.down.done || !s.up.done && (s.tunnel || !s.back.InputClosed()) {
		return false
	}
	front := s.front.Queued() <= lastData || s.front.Drained()
	back := !s.tunnel || s.back.Queued() <= lastData || s.back.Drained()
	return front && back
}

// lastData is what may still be queued when a stream ends, in bytes: the socket finishes sending it.
const lastData = 16 << 10

// relayFailed notes the failure of a side. Data that a failed side sent before was passed on already.
func (s *Stream) relayFailed() bool {
	when := s.phase()
	switch {
	case s.c.Killed:
		s.ended('K', when)
	case s.front.Err() != nil:
		s.ended('C', when)
		s.countClientAbort()
	case s.down.err != nil:
		if malformed(s.down.err) {
			s.ended('P', 'D')
		} else {
			s.ended('S', 'D')
		}
		s.countServerAbort()
		s.countFailedResponse(1)
	case s.up.err != nil:
		if malformed(s.up.err) {
			s.ended('P', when)
		} else {
			s.ended('C', when)
			s.countClientAbort()
		}
	case s.back.Err() != nil && !s.down.done && !s.back.HeadStarted():
		s.ended('S', 'D')
		s.countServerAbort()
		s.countFailedResponse(1)
	default:
		return false
	}
	s.front.SetClose()
	return true
}

// malformed reports an error of the codec: the bytes that arrived are not what they should be.
func malformed(err error) bool {
	var bad *h1.Error
	return errors.As(err, &bad)
}

// phase is the second letter of the termination state: data, or last data once the server is done (manual 8.5).
func (s *Stream) phase() byte {
	if s.down.done && !s.tunnel {
		return 'L'
	}
	return 'D'
}

// drain watches how a receiver takes what is queued for it. The kernel tells that there is room again only when a good
// part of its buffer is free: what the peer has acknowledged shows in between that it reads, however slowly.
type drain struct {
	queued int // when last looked at
	acked  uint64
	at     int64 // when acked was asked for
}

// progress reports whether the receiver took something since the last call. now is the time if it is to be looked into
// now, because a timeout is about to be applied, or because the last look is older than every.
func (d *drain) progress(end mux.End, now, every int64, urgent bool) bool {
	q := end.Queued()
	moved := q < d.queued && q > 0
	d.queued = q
	if q == 0 || moved || !urgent && now-d.at < every {
		return moved
	}
	before, first := d.acked, d.at == 0
	d.acked, d.at = end.Acked(), now
	return !first && d.acked > before
}

// noteDrain counts the progress of a receiver that has not taken everything yet as its activity.
func (s *Stream) noteDrain(urgent bool) {
	now := s.l.Now()
	if s.frontDrain.progress(s.front, now, int64(s.fe.Conf.Timeout.Client)/4, urgent) {
		s.lastC = now
	}
	if s.backDrain.progress(s.back, now, int64(s.be.Conf.Timeout.Server)/4, urgent) {
		s.lastS = now
	}
}

// relayDeadline is the earlier of what the client and the server are given.
func (s *Stream) relayDeadline() int64 { return earliest(s.clientDeadline(), s.serverDeadline()) }

func (s *Stream) clientDeadline() int64 {
	if (s.up.done || s.up.blocked) && s.frontDrain.queued == 0 {
		return 0 // nothing is expected of the client
	}
	d := s.Timeout(model.TimeoutClient)
	if t := s.Timeout(model.TimeoutTunnel); s.tunnel && t > 0 {
		d = t
	}
	if t := s.fe.Conf.Timeout.ClientFin; s.tunnel && s.down.done != s.up.done && t > 0 {
		d = t
	}
	return after(s.lastC, d)
}

func (s *Stream) serverDeadline() int64 {
	if (s.down.done || s.down.blocked) && s.backDrain.queued == 0 {
		return 0
	}
	d := s.Timeout(model.TimeoutServer)
	if t := s.Timeout(model.TimeoutTunnel); s.tunnel && t > 0 {
		d = t
	}
	if t := s.be.Conf.Timeout.ServerFin; s.tunnel && s.down.done != s.up.done && t > 0 {
		d = t
	}
	return after(s.lastS, d)
}

// relayLate applies the timeouts that have passed; true when the stream is over. In a tunnel a side that is late ends
// its own direction only, and the stream goes on until the other side ends or is late too.
func (s *Stream) relayLate() bool {
	now := s.l.Now()
	if d := s.clientDeadline(); d != 0 && now >= d {
		s.ended('c', s.phase())
		s.countClientAbort()
		if !s.tunnel || s.up.done {
			s.front.SetClose()
			return true
		}
		s.cutOff(&s.up)
	}
	if d := s.serverDeadline(); d != 0 && now >= d {
		s.ended('s', s.phase())
		if s.c.HTTP {
			s.countServerAbort()
		}
		if !s.tunnel || s.down.done {
			s.front.SetClose()
			return true
		}
		s.cutOff(&s.down)
	}
	return s.up.done && s.down.done && s.term[0] != '-'
}

// cutOff ends one direction of a tunnel whose sender is late.
func (s *Stream) cutOff(w *flow) {
	s.endSplice(w)
	w.done = true
	w.dst.SendEnd(nil)
}
