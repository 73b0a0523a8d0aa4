package stream

import (
	"bytes"
	"net/netip"
	"time"

	"weir/internal/base/buf"
	"weir/internal/lang/rule"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

// extra is what rules have changed on a stream. Most streams have none.
type extra struct {
	client, local netip.AddrPort // set-src, set-dst; valid when set
	timeouts      [model.NumTimeouts]time.Duration
	timeoutSet    uint16
	logLevel      int // 0 to 7, -1: silent; see levelSet
	levelSet      bool
	class, offset int
	retries       int // set-retries; -1: as configured
	mark          uint32
	tos           uint8
	markSet       bool
	tosSet        bool
	lastRule      [2]*rule.Rule
	uniqueID      []byte
	captures      [2][][]byte
	cookie        [2][]byte   // of "capture cookie"
	room          [2][][]byte // memory of the captures, kept for later streams
}

// ext returns the stream's extras for writing.
func (s *Stream) ext() *extra {
	if s.x == nil {
		if n := len(s.sh.extras); n > 0 {
			s.x = s.sh.extras[n-1]
			s.sh.extras = s.sh.extras[:n-1]
		} else {
			s.x = new(extra)
		}
		s.x.retries = -1
	}
	return s.x
}

func (s *Stream) dropExtra() {
	x := s.x
	if x == nil {
		return
	}
	s.x = nil
	id, caps, room := x.uniqueID[:0], x.captures, x.room
	*x = extra{uniqueID: id, room: room}
	for d := range caps {
		clear(caps[d])
		x.captures[d] = caps[d][:0]
	}
	s.sh.extras = append(s.sh.extras, x)
}

// The methods of model.Stream.

// Now is the loop's monotonic time in nanoseconds.
func (s *Stream) Now() int64 { return s.l.Now() }

// Wall is the loop's wall clock.
func (s *Stream) Wall() time.Time { return s.l.Wall() }

// Client is the client's address, as rules may have changed it.
func (s *Stream) Client() netip.AddrPort {
	if s.x != nil && s.x.client.IsValid() {
		return s.x.client
	}
	if m := s.c.Moved; m != nil && m.Session.Src.IsValid() {
		return m.Session.Src
	}
	return s.connSrc()
}

// ClientLocal is the address that the client connected to, as rules may have changed it.
func (s *Stream) ClientLocal() netip.AddrPort {
	if s.x != nil && s.x.local.IsValid() {
		return s.x.local
	}
	if m := s.c.Moved; m != nil && m.Session.Dst.IsValid() {
		return m.Session.Dst
	}
	return s.connDst()
}

// connSrc is the client's address below all headers, as rules of the connection may have changed it.
func (s *Stream) connSrc() netip.AddrPort {
	if m := s.c.Moved; m != nil && m.Conn.Src.IsValid() {
		return m.Conn.Src
	}
	return unmap(s.c.Sock.Peer())
}

func (s *Stream) connDst() netip.AddrPort {
	if m := s.c.Moved; m != nil && m.Conn.Dst.IsValid() {
		return m.Conn.Dst
	}
	return unmap(s.c.Sock.Local())
}

// unmap turns the addresses of IPv4 clients on IPv6 sockets into what they are.
func unmap(a netip.AddrPort) netip.AddrPort {
	if a.Addr().Is4In6() {
		return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
	}
	return a
}

// Frontend is the proxy that accepted the connection.
func (s *Stream) Frontend() *model.Proxy { return s.fe.Conf }

// Backend is the proxy that was chosen, nil before.
func (s *Stream) Backend() *model.Proxy {
	if s.be == nil {
		return nil
	}
	return s.be.Conf
}

// Server is the server that was chosen, nil before.
func (s *Stream) Server() *model.Server {
	if s.srv == nil {
		return nil
	}
	return s.srv.Conf
}

// Peek returns data that has arrived and was not forwarded, as one view.
func (s *Stream) Peek(d model.Dir) (data []byte, closed bool) {
	end := s.front
	if d == model.DirRes {
		if s.back == nil {
			return nil, false
		}
		end = s.back
	}
	s.gather(d)
	return s.view(d), end.InputClosed() || s.bodyIn[d]
}

// Body returns what has arrived of a message's body, as one view, and whether that is all of it.
func (s *Stream) Body(d model.Dir) (data []byte, complete bool) {
	m := s.message(d)
	if m == nil || !m.HasBody() {
		return nil, true
	}
	s.gather(d)
	return s.view(d), s.bodyIn[d]
}

// BodySize is the size that the message announces, or what has arrived.
func (s *Stream) BodySize(d model.Dir) int64 {
	m := s.message(d)
	switch {
	case m == nil:
		return 0
	case m.Framing == msg.Length:
		return m.ContentLength
	}
	n := int64(0)
	for _, b := range s.held[d] {
		n += int64(b.Len())
	}
	return n
}

// message is the message of a direction once its head is there.
func (s *Stream) message(d model.Dir) *msg.Message {
	if d == model.DirReq {
		return s.tx.Req
	}
	return s.tx.Res
}

// gather takes what has arrived of a direction into the held data, without waiting.
func (s *Stream) gather(d model.Dir) {
	var end interface{ RecvData() (*buf.Buf, error) } = s.front
	if d == model.DirRes {
		if s.back == nil {
			return
		}
		end = s.back
	}
	if m := s.message(d); s.bodyIn[d] || m != nil && (!m.HasBody() || m.Framing == msg.Tunnel) || s.started(d) {
		return
	}
	if len(s.held[d]) == 0 {
		s.holdMax[d] = s.fe.H1.Parse.MaxHead - headSize(s.message(d))
	}
	for s.heldBytes(d) < int64(s.holdMax[d]) {
		b, err := end.RecvData()
		if b == nil {
			if err != nil {
				s.bodyIn[d] = true
				s.bodyErr[d] = err
			}
			return
		}
		s.hold(d, b)
	}
}

// started reports whether a direction is already being forwarded: what arrives then is no longer held back.
func (s *Stream) started(d model.Dir) bool {
	if d == model.DirReq {
		return s.up.src != nil
	}
	return s.down.src != nil
}

// holdLimit is how much data of a direction may be held back, in bytes: what a buffer has left beside the head.
func (s *Stream) holdLimit(d model.Dir) int { return s.holdMax[d] }

// headSize is what a message head takes of a buffer, in bytes.
func headSize(m *msg.Message) (n int) {
	if m == nil {
		return 0
	}
	n = len(m.MethodName) + len(m.Target) + 16
	for i := range m.Fields {
		n += len(m.Fields[i].Name) + len(m.Fields[i].Value) + 4
	}
	return n
}

func (s *Stream) heldBytes(d model.Dir) (n int64) {
	for _, b := range s.held[d] {
		n += int64(b.Len())
	}
	return n
}

// hold keeps b back; what fits the last buffer goes there, so that most of the time there is one.
func (s *Stream) hold(d model.Dir, b *buf.Buf) {
	s.counted(d, b.Len())
	if n := len(s.held[d]); n > 0 {
		last := s.held[d][n-1]
		if b.Len() <= len(last.Space()) && !last.Shared() {
			last.Append(b.Bytes())
			b.Release()
			return
		}
	}
	s.held[d] = append(s.held[d], b)
}

func (s *Stream) counted(d model.Dir, n int) {
	if d == model.DirReq {
		s.up.bytes += int64(n)
	} else {
		s.down.bytes += int64(n)
	}
}

// view returns the held data of a direction in one piece.
func (s *Stream) view(d model.Dir) []byte {
	switch list := s.held[d]; len(list) {
	case 0:
		return nil
	case 1:
		return list[0].Bytes()
	default:
		all := s.tx.Scratch.Grab()
		for _, b := range list {
			all = append(all, b.Bytes()[:min(b.Len(), s.tx.Scratch.Limit()-len(all))]...)
		}
		all, _ = s.tx.Scratch.Keep(all)
		return all
	}
}

// Captures are the capture slots of a side.
func (s *Stream) Captures(d model.Dir) [][]byte {
	if s.x == nil {
		return nil
	}
	return s.x.captures[d]
}

// SetCapture fills a capture slot, cut to its declared length; false without such a slot.
func (s *Stream) SetCapture(d model.Dir, slot int, value []byte) bool {
	c := s.fe.Conf.Captures.Req
	if d == model.DirRes {
		c = s.fe.Conf.Captures.Res
	}
	if slot < 0 || slot >= len(c) {
		return false
	}
	x := s.ext()
	x.extend(d, len(c))
	if max := c[slot].Len; len(value) > max {
		value = value[:max]
	}
	x.room[d][slot] = append(x.room[d][slot][:0], value...)
	x.captures[d][slot] = x.room[d][slot][:len(value):len(value)]
	if x.captures[d][slot] == nil {
		x.captures[d][slot] = []byte{}
	}
	return true
}

// extend makes the capture slots of a side as many as are declared.
func (x *extra) extend(d model.Dir, n int) {
	for len(x.captures[d]) < n {
		x.captures[d] = append(x.captures[d], nil)
		if n := len(x.captures[d]); len(x.room[d]) < n {
			x.room[d] = append(x.room[d], nil)
		}
	}
}

// captureCookie keeps the cookie that "capture cookie" names: its name, the equal sign and its value.
func (s *Stream) captureCookie(d model.Dir, m *msg.Message) {
	c := &s.fe.Conf.Captures.Cookie
	if c.Name == "" {
		return
	}
	for it := m.Cookies(); it.Next(); {
		if string(it.Name) != c.Name && !(c.Prefix && bytes.HasPrefix(it.Name, []byte(c.Name))) {
			continue
		}
		x := s.ext()
		b := append(append(append(x.cookie[d][:0], it.Name...), '='), it.Value...)
		x.cookie[d] = b[:min(len(b), c.Len)]
		return
	}
}

// captureHeaders fills the slots of "capture request header" and "capture response header".
func (s *Stream) captureHeaders(d model.Dir, m *msg.Message) {
	c := s.fe.Conf.Captures.Req
	if d == model.DirRes {
		c = s.fe.Conf.Captures.Res
	}
	for i := range c {
		if c[i].Header == "" {
			continue
		}
		if at := m.FindLast(c[i].Header, len(m.Fields)); at >= 0 {
			s.SetCapture(d, i, m.Fields[at].Value)
		}
	}
	s.captureCookie(d, m)
}

// UniqueID is the stream's unique ID, made when it is first asked for.
func (s *Stream) UniqueID() []byte {
	f := s.fe.Conf.UniqueID
	if f == nil {
		return nil
	}
	x := s.ext()
	if len(x.uniqueID) == 0 {
		final := s.tx.Final
		s.tx.Final = true
		x.uniqueID = f.Append(x.uniqueID, &s.tx)
		s.tx.Final = final
	}
	return x.uniqueID
}

// LastRule tells the last rule whose action ended a rule set.
func (s *Stream) LastRule(d model.Dir) (model.Position, bool) {
	if s.x == nil || s.x.lastRule[d] == nil {
		return model.Position{}, false
	}
	return s.x.lastRule[d].Pos, true
}

// Timeout is a timeout in force; 0 for none.
func (s *Stream) Timeout(k model.TimeoutKind) time.Duration {
	if s.x != nil && s.x.timeoutSet&(1<<k) != 0 {
		return s.x.timeouts[k]
	}
	fe := &s.fe.Conf.Timeout
	be := fe
	switch {
	case s.be != nil:
		be = &s.be.Conf.Timeout
	case s.fe.Conf.IsBackend():
	case k == model.TimeoutTarpit:
		return fe.Tarpit
	case k == model.TimeoutServer || k == model.TimeoutTunnel || k == model.TimeoutConnect || k == model.TimeoutQueue || k == model.TimeoutServerFin:
		return 0 // those of a backend that was not chosen yet
	}
	switch k {
	case model.TimeoutClient:
		return fe.Client
	case model.TimeoutServer:
		return be.Server
	case model.TimeoutTunnel:
		return be.Tunnel
	case model.TimeoutConnect:
		return be.Connect
	case model.TimeoutQueue:
		if be.Queue == 0 {
			return s.Timeout(model.TimeoutConnect)
		}
		return be.Queue
	case model.TimeoutTarpit:
		if be.Tarpit == 0 {
			return s.Timeout(model.TimeoutConnect)
		}
		return be.Tarpit
	case model.TimeoutHTTPRequest:
		return fe.HTTPRequest
	case model.TimeoutHTTPKeepAlive:
		return fe.HTTPKeepAlive
	case model.TimeoutClientFin:
		return fe.ClientFin
	case model.TimeoutServerFin:
		return be.ServerFin
	}
	return 0
}

// Retries is how many attempts were repeated, and whether one went to another server.
func (s *Stream) Retries() (int, bool) { return s.attempts, s.redispatch }

// Priority is the stream's class and offset in a queue.
func (s *Stream) Priority() (class, offset int) {
	if s.x == nil {
		return 0, 0
	}
	return s.x.class, s.x.offset
}

// Process is what the stream runs in.
func (s *Stream) Process() model.Runner { return s.sh.Config.Run }

// Listener is the socket that the client came through, nil without one.
func (s *Stream) Listener() model.ListenerState { return s.c.Listener }

// Thread numbers the loop that runs the stream, from 0, and its group.
func (s *Stream) Thread() (thread, group int) { return s.l.ID(), 0 }

// Serial numbers the streams of a loop.
func (s *Stream) Serial() uint32 { return s.serial }

// MaxRetries is how many attempts to connect may be repeated.
func (s *Stream) MaxRetries() int {
	switch {
	case s.x != nil && s.x.retries >= 0:
		return s.x.retries
	case s.be == nil:
		return 0
	case s.be.Conf.Retries < 0:
		return defaultRetries
	}
	return s.be.Conf.Retries
}

// defaultRetries is how often connecting is tried again where "retries" does not say it.
const defaultRetries = 3

// WaitingRule tells the rule that was waiting for data or time when an error or a timeout ended its set.
func (s *Stream) WaitingRule() (model.Position, bool) {
	if s.waiting == nil {
		return model.Position{}, false
	}
	return s.waiting.Pos, true
}

// Aborted: the sender of a direction went away before its message was complete.
func (s *Stream) Aborted(d model.Dir) bool {
	if d == model.DirReq {
		return s.term[0] == 'C' || s.front.Err() != nil
	}
	return s.term[0] == 'S' && s.back != nil && s.back.Err() != nil
}

// Bytes counts a direction: what was received of it, and what was sent on.
func (s *Stream) Bytes(d model.Dir) (in, out int64) {
	t := s.traffic()
	if d == model.DirReq {
		return t.reqIn, t.reqOut
	}
	return t.resIn, t.resOut
}

var (
	_ model.Stream = (*Stream)(nil)
	_ rule.Control = (*Stream)(nil)
)
