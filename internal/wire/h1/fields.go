package h1

import (
	"bytes"

	"weir/internal/base/ascii"
	"weir/internal/wire/msg"
)

// addField appends one field to m, after noting what it says about the message
// and removing what concerns this connection only.
func (p *Parser) addField(m *msg.Message, name, value []byte, at int, o *Options) *Error {
	switch len(name) {
	case 4:
		if !p.resp && ascii.EqualFoldString(name, "host") {
			return p.hostField(m, name, value, at)
		}
	case 6:
		if ascii.EqualFoldString(name, "expect") {
			if !m.Expect100 && !m.ExpectOther && ascii.EqualFoldString(value, "100-continue") {
				m.Expect100 = true
			} else {
				m.Expect100, m.ExpectOther = false, true
			}
		}
	case 7:
		if ascii.EqualFoldString(name, "upgrade") {
			if value = upgradeField(m, value); len(value) == 0 {
				return nil
			}
		}
	case 10:
		if ascii.EqualFoldString(name, "connection") {
			if value = connectionField(m, value); len(value) == 0 {
				return nil
			}
			m.HasConn = true
		}
	case 14:
		if ascii.EqualFoldString(name, "content-length") {
			return p.lengthField(m, name, value, at)
		}
	case 17:
		switch {
		case ascii.EqualFoldString(name, "transfer-encoding"):
			if err := p.codingField(m, value, at, o); err != nil {
				return err
			}
		case !p.resp && ascii.EqualFoldString(name, "sec-websocket-key"):
			m.WSKey = m.WSKey || len(value) == 24
		}
	case 20:
		if p.resp && ascii.EqualFoldString(name, "sec-websocket-accept") {
			m.WSKey = true
		}
	}
	m.AddView(name, value)
	return nil
}

// hostField keeps the first Host and refuses a different second one.
func (p *Parser) hostField(m *msg.Message, name, value []byte, at int) *Error {
	if m.HasHost {
		if !ascii.EqualFold(m.Fields[p.host].Value, value) {
			return p.fail(ErrHost, at, "several Host headers that differ")
		}
		return nil
	}
	if !validHost(value) {
		return p.fail(ErrHost, at, "malformed Host")
	}
	m.HasHost = true
	p.host = len(m.Fields)
	m.AddView(name, value)
	return nil
}

// lengthField merges equal lengths, in one field or in several, and refuses
// anything else. Lengths are limited to 2^63-1.
func (p *Parser) lengthField(m *msg.Message, name, value []byte, at int) *Error {
	again := m.HasCL
	var digits []byte
	for rest := value; ; {
		elem := rest
		comma := bytes.IndexByte(rest, ',')
		if comma >= 0 {
			elem, rest = rest[:comma], rest[comma+1:]
		}
		elem = ascii.Trim(elem)
		v, ok := ascii.ParseUint(elem)
		switch {
		case !ok || v > 1<<63-1:
			return p.fail(ErrLength, at, "Content-Length is not a number in range")
		case m.HasCL && int64(v) != m.ContentLength:
			return p.fail(ErrLength, at, "several Content-Length that differ")
		}
		if digits == nil {
			digits = elem
		}
		m.HasCL, m.ContentLength = true, int64(v)
		if comma < 0 {
			break
		}
	}
	if again {
		return nil
	}
	for len(digits) > 1 && digits[0] == '0' {
		digits = digits[1:]
	}
	m.AddView(name, digits)
	return nil
}

// codingField accepts a list of transfer codings that ends with its only
// "chunked". Whether other codings precede it is decided at the end.
func (p *Parser) codingField(m *msg.Message, value []byte, at int, o *Options) *Error {
	m.HasTE = true
	relaxed := p.resp && o.unsafe()
	for rest := value; ; {
		elem := rest
		comma := msg.ListElem(rest)
		elem = ascii.Trim(rest[:comma])
		switch {
		case len(elem) == 0:
			if !relaxed {
				return p.fail(ErrCoding, at, "empty element in Transfer-Encoding")
			}
			m.UnsafeParsed = true
		case ascii.EqualFoldString(elem, "chunked"):
			if m.TEChunked && !relaxed {
				return p.fail(ErrCoding, at, "chunked several times in Transfer-Encoding")
			}
			m.TEChunked = true
		case m.TEChunked:
			return p.fail(ErrCoding, at, "chunked is not the last transfer coding")
		default:
			m.TEOther = true
		}
		if comma >= len(rest) {
			return nil
		}
		rest = rest[comma+1:]
	}
}

// finishRequest draws the conclusions once all fields are known.
func (p *Parser) finishRequest(m *msg.Message, o *Options) *Error {
	if err := p.finishTarget(m, o); err != nil {
		return err
	}
	if m.HTTP09 {
		return nil
	}
	if err := p.finishCodings(m, o); err != nil {
		return err
	}
	if m.ConnUpgrade && !m.HasUpgrade {
		m.DelToken("connection", "upgrade")
		m.ConnUpgrade = false
	}
	if m.HasUpgrade && !m.ConnUpgrade {
		m.Del("upgrade")
		m.HasUpgrade, m.WebSocket = false, false
	}
	if m.WebSocket && !m.WSKey {
		if !o.unsafe() {
			return p.fail(ErrWebSocket, 0, "WebSocket handshake without a valid key")
		}
		m.UnsafeParsed = true
	}
	switch {
	case m.Method == msg.CONNECT:
		if m.TEChunked || m.ContentLength > 0 {
			return p.fail(ErrBody, 0, "CONNECT request with a body")
		}
		m.Framing = msg.Tunnel
	case m.TEChunked:
		m.Framing = msg.Chunked
	case m.ContentLength > 0:
		m.Framing = msg.Length
	}
	if m.HasBody() && !m.AtLeast11() && !(o != nil && o.AnyMethodBody) {
		switch m.Method {
		case msg.GET, msg.HEAD, msg.DELETE:
			return p.failWith(ErrBody, 0, 413, "HTTP/1.0 request with a body that its method does not allow")
		}
	}
	p.finishPersistence(m)
	return nil
}

// finishResponse draws the conclusions once all fields are known. method is
// the one of the request.
func (p *Parser) finishResponse(m *msg.Message, method msg.Method, o *Options) *Error {
	if err := p.finishCodings(m, o); err != nil {
		return err
	}
	m.ConnUpgrade = m.ConnUpgrade && m.HasUpgrade
	m.Framing = ResponseFraming(m, method)
	p.finishPersistence(m)
	return nil
}

// ResponseFraming tells how the body of an answer is delimited, given the
// method of its request (RFC 9112 6.3).
func ResponseFraming(m *msg.Message, method msg.Method) msg.Framing {
	switch {
	case m.Status == 101, method == msg.CONNECT && m.Status/100 == 2:
		return msg.Tunnel
	case method == msg.HEAD, m.Status/100 == 1, m.Status == 204, m.Status == 304:
		return msg.NoBody
	case m.TEChunked:
		return msg.Chunked
	case m.HasTE:
		return msg.UntilClose
	case m.HasCL:
		return msg.Length
	}
	return msg.UntilClose
}

// finishCodings settles Transfer-Encoding, and its priority over
// Content-Length.
func (p *Parser) finishCodings(m *msg.Message, o *Options) *Error {
	if !m.HasTE {
		return nil
	}
	if !m.TEChunked && (m.TEOther || !p.resp || !o.unsafe()) {
		return p.fail(ErrCoding, 0, "chunked is not the last transfer coding")
	}
	if m.TEOther {
		return p.failWith(ErrCodingUnknown, 0, 422, "transfer coding not supported")
	}
	if m.HasCL {
		m.Del("content-length")
		m.HasCL, m.CLAndTE, m.ContentLength = false, true, 0
	}
	return nil
}

// finishPersistence computes KeepAlive (RFC 9112 9.3).
func (p *Parser) finishPersistence(m *msg.Message) {
	switch {
	case m.ConnClose, MustClose(m), m.Framing == msg.UntilClose:
		m.KeepAlive = false
	case m.AtLeast11():
		m.KeepAlive = true
	default:
		m.KeepAlive = m.ConnKeep
	}
}

// MustClose reports whether the framing of m was ambiguous enough that the
// connection with its sender may not be used again: both lengths came, or an
// HTTP/1.0 message was chunked. An HTTP/1.0 answer that is chunked also ends
// the connection to the client, which may not have understood the chunks.
func MustClose(m *msg.Message) bool { return m.CLAndTE || m.HasTE && !m.AtLeast11() }
