package h1mux

import (
	"weir/internal/base/buf"
	"weir/internal/link/mux"
	"weir/internal/wire/h1"
	"weir/internal/wire/msg"
)

// copyMax is up to which size data is copied behind a head that has not been
// sent yet, rather than sent as a buffer of its own.
const copyMax = 4096

// SendHead encodes and queues a head. It settles how the body is delimited on
// this connection, which may differ from how it arrived.
func (h *Conn) SendHead(m *msg.Message) error {
	x := h.begin()
	o := h1.EncodeOptions{Case: h.opt.Case, Peer10: x.peer10}
	interim := m.IsResponse && m.Status < 200 && m.Status != 101
	framing := m.Framing
	switch {
	case interim:
		o.Conn = h1.ConnAsIs
	case h.role == Client:
		x.method = m.Method
		o.Conn = h.requestConn(x, m)
	default:
		framing = h.responseFraming(x, m)
		o.Conn = h.responseConn(x, m, framing)
	}
	if x.proxied && m.IsResponse && !interim && o.Conn != h1.ConnAsIs {
		// The client speaks to a forward proxy: it looks at Proxy-Connection.
		if o.Conn == h1.ConnClose {
			m.SetString("proxy-connection", "close")
		} else {
			m.SetString("proxy-connection", "keep-alive")
		}
		o.Conn = h1.ConnAsIs
	}
	was := m.Framing
	m.Framing = framing
	err := h.encode(x, m, &o)
	m.Framing = was
	if err != nil || interim {
		return err
	}
	x.headOut, x.out, x.outLeft = true, framing, m.ContentLength
	x.outDone = framing == msg.NoBody || framing == msg.Length && m.ContentLength == 0
	return nil
}

// Reject answers input that is not a request with a complete response of the caller's.
func (h *Conn) Reject(raw []byte) {
	x := h.begin()
	h.close = true
	x.outDone = true
	for len(raw) > 0 {
		p, err := h.pending(x, buf.Std)
		if err != nil {
			return
		}
		raw = raw[p.Append(raw):]
		h.Flush()
	}
}

func (h *Conn) requestConn(x *exchange, m *msg.Message) h1.Conn {
	if m.Framing == msg.Tunnel || m.HasUpgrade && m.ConnUpgrade {
		return h1.ConnAsIs
	}
	if h.close {
		return h1.ConnClose
	}
	return h1.ConnKeep
}

// responseFraming says how the body of m is delimited towards the client. A body without a length ends with the
// connection, as it does on the server's side.
func (h *Conn) responseFraming(x *exchange, m *msg.Message) msg.Framing {
	if m.Framing == msg.Chunked && x.peer10 {
		return msg.UntilClose
	}
	return m.Framing
}

func (h *Conn) responseConn(x *exchange, m *msg.Message, framing msg.Framing) h1.Conn {
	switch {
	case framing == msg.Tunnel || m.Status == 101:
		return h1.ConnAsIs
	case h.close || !x.keepAlive || framing == msg.UntilClose || h.requestUnread(x):
		h.close = true
		return h1.ConnClose
	}
	return h1.ConnKeep
}

// requestUnread reports that the answer goes out while the request is still
// arriving and nobody promised to read the rest: the connection cannot be kept.
func (h *Conn) requestUnread(x *exchange) bool { return !x.headIn }

func (h *Conn) encode(x *exchange, m *msg.Message, o *h1.EncodeOptions) error {
	p, err := h.pending(x, buf.Std)
	if err != nil {
		return err
	}
	room := p.Space()
	var out []byte
	if m.IsResponse {
		out, err = h1.AppendResponse(room[:0], m, o)
	} else {
		out, err = h1.AppendRequest(room[:0], m, o)
	}
	if err != nil {
		return err
	}
	if len(out) > len(room) {
		return ErrHeadTooLarge
	}
	p.W += len(out)
	return nil
}

// pending returns the buffer for encoded bytes.
func (h *Conn) pending(x *exchange, class buf.Class) (*buf.Buf, error) {
	if x.pend == nil {
		if x.pend = h.l.Pool().Get(class); x.pend == nil {
			return nil, mux.ErrNoBuffer
		}
	}
	return x.pend, nil
}

// SendData queues data and takes b.
func (h *Conn) SendData(b *buf.Buf) {
	x := h.x
	if x == nil || x.outDone || b.Len() == 0 {
		b.Release()
		return
	}
	switch x.out {
	case msg.Length:
		if int64(b.Len()) > x.outLeft {
			b.W = b.R + int(x.outLeft) // more than was announced never leaves
		}
		x.outLeft -= int64(b.Len())
		x.outDone = x.outLeft == 0
		h.put(x, b)
	case msg.Chunked:
		n := b.Len()
		if !h.putBytes(x, func(dst []byte) []byte { return h1.AppendChunkHeader(dst, n) }) {
			b.Release()
			return
		}
		h.put(x, b)
		h.putBytes(x, func(dst []byte) []byte { return append(dst, h1.ChunkEnd...) })
	case msg.NoBody:
		b.Release()
	default:
		h.put(x, b)
	}
}

// put queues b: behind the pending bytes where it is small, by itself otherwise.
func (h *Conn) put(x *exchange, b *buf.Buf) {
	if x.pend != nil {
		if b.Len() <= copyMax && b.Len() <= len(x.pend.Space()) {
			x.pend.Append(b.Bytes())
			b.Release()
			return
		}
		h.c.Send(x.pend)
		x.pend = nil
	}
	h.c.Send(b)
}

// framingMax bounds the framing bytes of one chunk.
const framingMax = 32

// putBytes appends framing bytes to the pending buffer; false, and the
// connection is given up, when there is no buffer for them.
func (h *Conn) putBytes(x *exchange, add func(dst []byte) []byte) bool {
	if x.pend != nil && len(x.pend.Space()) < framingMax {
		h.c.Send(x.pend)
		x.pend = nil
	}
	p, err := h.pending(x, buf.Small)
	if err != nil {
		// The stream of bytes would be broken without its framing: nothing of it may follow.
		h.close, x.outDone = true, true
		h.c.Abort()
		return false
	}
	p.W += len(add(p.Space()[:0]))
	return true
}

// SendEnd ends the outgoing message.
func (h *Conn) SendEnd(m *msg.Message) {
	x := h.x
	if x == nil || x.outDone {
		return
	}
	x.outDone = true
	switch x.out {
	case msg.Chunked:
		h.sendLastChunk(x, m)
	case msg.Length:
		if x.outLeft > 0 {
			h.close = true // less than announced: only closing tells the peer
		}
	case msg.UntilClose:
		h.close = true
	case msg.Tunnel:
		h.close = true
		h.Shutdown()
	}
}

func (h *Conn) sendLastChunk(x *exchange, m *msg.Message) {
	if x.pend != nil && m != nil && len(m.Trailers) > 0 {
		h.Flush()
	}
	class := buf.Small
	if m != nil && len(m.Trailers) > 0 {
		class = buf.Std
	}
	if x.pend != nil && len(x.pend.Space()) < framingMax {
		h.Flush()
	}
	p, err := h.pending(x, class)
	if err != nil {
		h.close = true
		h.c.Abort()
		return
	}
	o := h1.EncodeOptions{Case: h.opt.Case}
	out := h1.AppendLastChunk(p.Space()[:0], m, &o)
	if len(out) > len(p.Space()) {
		out = h1.AppendLastChunk(p.Space()[:0], nil, &o) // no room for the trailers
	}
	p.W += len(out)
}

// SendRoom reports whether the send queue is below its high mark.
func (h *Conn) SendRoom() bool { return h.c.SendRoom() }

// Queued is what the kernel has not taken yet, in bytes.
func (h *Conn) Queued() int {
	n := h.c.Queued()
	if h.x != nil && h.x.pend != nil {
		n += h.x.pend.Len()
	}
	return n
}

// Drained reports whether everything queued was sent; if not, the owner is woken when it is.
func (h *Conn) Drained() bool {
	h.Flush()
	return h.c.WaitSent()
}

// Acked is how much the peer has acknowledged, in bytes.
func (h *Conn) Acked() uint64 { return h.c.Acked() }

// Flush hands pending bytes to the socket.
func (h *Conn) Flush() {
	if x := h.x; x != nil && x.pend != nil {
		b := x.pend
		x.pend = nil
		h.c.Send(b)
	}
}
