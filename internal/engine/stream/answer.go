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
	if !s.reqIn {
		s.front.Reject(s.fe.Pages.Raw(status))
		s.headSent = true
		return
	}
	p := s.page(status)
	if p == nil || p.Empty {
		s.front.SetClose()
		return
	}
	s.send(status, p)
}

// send queues a page as the response.
func (s *Stream) send(status int, p *model.ErrorPage) {
	s.status = status
	if p.Close || s.req.HasBody() && !s.up.done {
		s.front.SetClose()
	}
	m := &s.res
	mark := s.tx.Scratch.Mark()
	body, ok := s.fillPage(m, p)
	if !ok { // a part has no value, or one that fits no message
		s.tx.Scratch.Release(mark)
		s.countInternal()
		s.ended('I', s.phaseLetter())
		if other := s.page(500); other != nil && other != p && !other.Empty {
			s.send(500, other)
		} else {
			s.front.SetClose()
		}
		return
	}
	if s.req.Method == msg.HEAD {
		m.Framing = msg.NoBody
	}
	if !s.afterResponse() {
		return
	}
	s.status = m.Status
	if err := s.front.SendHead(m); err != nil {
		s.front.SetClose()
		return
	}
	s.headSent = true
	s.heads.resOut += headBytes(m)
	if m.Framing != msg.NoBody {
		s.heads.resOut += int64(len(body))
		s.sendBytes(body)
	}
	s.front.SendEnd(nil)
	s.tx.Scratch.Release(mark)
}

// redirected sends the client to the server itself, where its "redir" parameter says so.
func (s *Stream) redirected() bool {
	prefix := s.srv.Conf.Redir
	if prefix == "" || s.req.Method != msg.GET && s.req.Method != msg.HEAD {
		return false
	}
	u := s.req.URI()
	to := append([]byte(prefix), u.Path...)
	if len(u.Query) > 0 {
		to = append(append(to, '?'), u.Query...)
	}
	page := model.ErrorPage{Code: 302, LengthAt: 1, Fields: [][2]string{{"cache-control", "no-cache"}, {"location", string(to)}}}
	s.ended('L', 'C')
	s.send(302, &page)
	return true
}

// fillPage makes the response head of a page and returns its body; false when a part that depends on the request has no value.
func (s *Stream) fillPage(m *msg.Message, p *model.ErrorPage) (body []byte, ok bool) {
	body = p.Body
	m.Reset()
	m.IsResponse, m.Major, m.Minor = true, 1, 1
	m.SetStatus(p.Code)
	if p.Reason != "" {
		m.SetReason([]byte(p.Reason))
	}
	if p.Fill != nil && !p.FillAfter {
		if body, ok = p.Fill.Fill(&s.tx, m); !ok {
			return nil, false
		}
	}
	m.HasCL, m.ContentLength, m.Framing = true, int64(len(body)), msg.Length
	if p.Code == 204 || p.Code == 304 {
		m.Framing = msg.NoBody
	}
	if p.HTTP10 {
		m.Minor = 0
	}
	if p.LengthAt < 0 && m.Framing == msg.Length { // a file without content-length: its end is that of the connection
		m.Framing, m.HasCL = msg.UntilClose, false
	}
	for i := 0; i <= len(p.Fields); i++ {
		if i == p.LengthAt && m.Framing == msg.Length {
			var n [20]byte
			m.Add("content-length", strconv.AppendInt(n[:0], int64(len(body)), 10))
		}
		if i < len(p.Fields) {
			m.AddString(p.Fields[i][0], p.Fields[i][1])
		}
	}
	if p.FillAfter {
		_, ok = p.Fill.Fill(&s.tx, m)
		return body, ok
	}
	return body, true
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
