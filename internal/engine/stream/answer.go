package stream

import (
	"strconv"

	"weir/internal/base/buf"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

// answer sends weir's own response for a status: an error page of the backend or frontend, or the built-in one. Once a
// response has begun, or in TCP mode, closing is all that can be said.
func (s *Stream) answer(status int) {
	if s.headSent || !s.c.HTTP {
		s.front.SetClose()
		return
	}
	s.status = status
	p := s.page(status)
	if p == nil || p.Empty {
		s.front.SetClose()
		return
	}
	if !s.reqIn || s.req.HasBody() && !s.up.done {
		s.front.SetClose()
	}
	m := &s.res
	m.Reset()
	m.IsResponse, m.Major, m.Minor = true, 1, 1
	m.SetStatus(p.Code)
	m.HasCL, m.ContentLength, m.Framing = true, int64(len(p.Body)), msg.Length
	var n [20]byte
	m.Add("content-length", strconv.AppendInt(n[:0], int64(len(p.Body)), 10))
	for _, f := range p.Fields {
		m.AddString(f[0], f[1])
	}
	if s.req.Method == msg.HEAD {
		m.Framing = msg.NoBody
	}
	if err := s.front.SendHead(m); err != nil {
		s.front.SetClose()
		return
	}
	s.headSent = true
	if m.Framing != msg.NoBody {
		s.sendBytes(p.Body)
	}
	s.front.SendEnd(nil)
}

func (s *Stream) page(status int) *model.ErrorPage {
	if s.be != nil && s.be.Pages != nil {
		if p := s.be.Pages.Page(status); p != nil {
			return p
		}
	}
	return s.fe.Pages.Page(status)
}

// sendBytes queues a constant body.
func (s *Stream) sendBytes(body []byte) {
	for len(body) > 0 {
		b := s.l.Pool().Get(buf.Std)
		if b == nil {
			s.front.SetClose()
			return
		}
		body = body[b.Append(body):]
		s.front.SendData(b)
	}
}
