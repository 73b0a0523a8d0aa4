package h1mux

import (
	"io"

	"weir/internal/base/buf"
	"weir/internal/link/mux"
	"weir/internal/wire/h1"
	"weir/internal/wire/msg"
)

// HeadStarted reports whether a byte of the next head has arrived.
func (h *Conn) HeadStarted() bool { return h.in != nil || h.c.HasInput() }

// RecvHead reads the next message head into m; see mux.End.
func (h *Conn) RecvHead(m *msg.Message) (bool, error) {
	x := h.begin()
	if x.head != nil && h.role == Client {
		// The previous head was an interim response: it has been dealt with.
		x.head.Release()
		x.head = nil
	}
	for {
		if h.in != nil {
			n, err := h.parse(x, m)
			if err != nil {
				return false, err
			}
			if n > 0 {
				h.headDone(x, m, n)
				return true, nil
			}
		}
		b, err := h.receive(buf.Std)
		switch {
		case b != nil:
			if err := h.append(b); err != nil {
				return false, err
			}
		case err == io.EOF:
			h.eof = true
			if h.in == nil {
				return false, mux.EOF
			}
			return false, mux.ErrTruncated
		default:
			return false, err
		}
	}
}

func (h *Conn) parse(x *exchange, m *msg.Message) (n int, err error) {
	var e *h1.Error
	if h.role == Server {
		n, e = x.parser.ParseRequest(h.in.Bytes(), m, &h.opt.Parse)
	} else {
		n, e = x.parser.ParseResponse(h.in.Bytes(), m, x.method, &h.opt.Parse)
	}
	if e != nil {
		return 0, e
	}
	return n, nil
}

// headDone takes the n bytes of a complete head out of the input and notes
// what follows it.
func (h *Conn) headDone(x *exchange, m *msg.Message, n int) {
	x.head = h.in.Split(n)
	if h.in.Len() == 0 {
		h.in.Release()
		h.in, h.more = h.more, nil
	}
	if h.role == Client && m.Status < 200 && m.Status != 101 {
		return // interim: the final head is still to come
	}
	x.msg, x.headIn = m, true
	x.in, x.inLeft = m.Framing, m.ContentLength
	x.inDone = m.Framing == msg.NoBody || m.Framing == msg.Length && m.ContentLength == 0
	if m.Framing == msg.Chunked {
		x.chunks.Reset(&h.opt.Chunk)
	}
	x.keepAlive = m.KeepAlive
	if m.CLAndTE && h.opt.KeepOnBothLengths {
		x.keepAlive = !m.ConnClose && (m.AtLeast11() || m.ConnKeep)
	}
	if h.role == Server {
		x.method, x.peer10 = m.Method, !m.AtLeast11()
		if h.opt.ProxyHeader && m.Target[0] != '/' && m.Target[0] != '*' {
			x.proxied = true
			x.keepAlive = !m.HasToken("proxy-connection", "close") && (!x.peer10 || m.HasToken("proxy-connection", "keep-alive"))
		}
	}
}

// receive returns what follows in: what did not fit it earlier, or new input.
func (h *Conn) receive(class buf.Class) (*buf.Buf, error) {
	if b := h.more; b != nil {
		h.more = nil
		return b, nil
	}
	b, err := h.c.Recv(class)
	if b != nil {
		h.full = len(b.Space()) == 0
	}
	return b, err
}

// append adds b behind the input that is not consumed yet, keeping a head or a
// chunk's framing in one piece.
func (h *Conn) append(b *buf.Buf) error {
	if h.in == nil {
		h.in = b
		return nil
	}
	if len(h.in.Space()) < b.Len() && h.in.R > 0 {
		// What lies before R belongs to somebody else or is consumed: move to a buffer of our own.
		n := h.l.Pool().Get(buf.Std)
		if n == nil {
			b.Release()
			return mux.ErrNoBuffer
		}
		n.Append(h.in.Bytes())
		h.in.Release()
		h.in = n
	}
	b.R += h.in.Append(b.Bytes())
	if b.Len() > 0 {
		h.more = b
	} else {
		b.Release()
	}
	return nil
}

// RecvData returns the next data of the message; see mux.End.
func (h *Conn) RecvData() (*buf.Buf, error) {
	x := h.x
	if x == nil || x.inDone {
		return nil, mux.EOF
	}
	switch x.in {
	case msg.Length:
		return h.recvLength(x)
	case msg.Chunked:
		return h.recvChunked(x)
	}
	b, err := h.take(h.class())
	if err == io.EOF {
		x.inDone = true
	}
	return b, err
}

// class asks for large buffers once a receive has filled an ordinary one.
func (h *Conn) class() buf.Class {
	if h.full {
		return buf.Large
	}
	return buf.Std
}

// largeBody is what a body must still hold to be received in large buffers.
const largeBody = 16 << 10

func (h *Conn) recvLength(x *exchange) (*buf.Buf, error) {
	class := buf.Std
	if x.inLeft > largeBody {
		class = buf.Large
	}
	b, err := h.take(class)
	if b == nil {
		if err == io.EOF {
			err = mux.ErrTruncated
		}
		return nil, err
	}
	if int64(b.Len()) > x.inLeft {
		d := b.Split(int(x.inLeft))
		h.in, h.more = b, h.in // the rest belongs to the next message
		b = d
	}
	x.inLeft -= int64(b.Len())
	x.inDone = x.inLeft == 0
	return b, nil
}

func (h *Conn) recvChunked(x *exchange) (*buf.Buf, error) {
	for {
		if h.in != nil {
			p, e := x.chunks.Next(h.in.Bytes(), x.msg)
			if e != nil {
				return nil, e
			}
			h.in.R += p.Skip
			d := h.cut(len(p.Data))
			if p.Done {
				x.inDone = true
				if d == nil {
					return nil, mux.EOF
				}
			}
			if d != nil {
				return d, nil
			}
			if p.Used > 0 {
				continue
			}
		}
		b, err := h.receive(h.class())
		switch {
		case b != nil:
			if err := h.append(b); err != nil {
				return nil, err
			}
		case err == io.EOF:
			h.eof = true
			return nil, mux.ErrTruncated
		default:
			return nil, err
		}
	}
}

// cut takes n bytes off the input, nil for none, and lets an empty input go.
func (h *Conn) cut(n int) (d *buf.Buf) {
	if n > 0 {
		if n == h.in.Len() {
			d, h.in, h.more = h.in, h.more, nil
			return d
		}
		d = h.in.Split(n)
	}
	if h.in.Len() == 0 {
		h.in.Release()
		h.in, h.more = h.more, nil
	}
	return d
}
