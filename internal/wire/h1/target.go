package h1

import (
	"bytes"

	"weir/internal/base/ascii"
	"weir/internal/wire/msg"
)

// hostByte tells which bytes a Host or an authority may hold outside the
// brackets of an IPv6 literal.
var hostByte = func() (t [256]bool) {
	for c := 0x21; c < 0x7f; c++ {
		t[c] = bytes.IndexByte([]byte("#,/?@[\\]"), byte(c)) < 0
	}
	return t
}()

// validHost checks a host with an optional port: bytes of hostByte only, and
// brackets around all of what precedes the port, or none. Whether a port is a
// number does not matter here.
func validHost(h []byte) bool {
	if len(h) > 0 && h[0] == '[' {
		end := bytes.IndexByte(h, ']')
		if end < 0 || end+1 < len(h) && h[end+1] != ':' {
			return false
		}
		return hostBytes(h[1:end]) && hostBytes(h[end+1:])
	}
	return hostBytes(h)
}

func hostBytes(b []byte) bool {
	for _, c := range b {
		if !hostByte[c] {
			return false
		}
	}
	return true
}

// finishTarget validates the request target against the method and the Host
// field, and normalises what the scheme or the method implies: a default port
// goes away, an empty path becomes a slash (RFC 9110 4.2.3, RFC 9112 3.2).
func (p *Parser) finishTarget(m *msg.Message, o *Options) *Error {
	t := m.Target
	switch {
	case t[0] == '/':
		if m.Method == msg.CONNECT {
			return p.fail(ErrTarget, 0, "CONNECT without authority")
		}
		return nil
	case t[0] == '*':
		if len(t) > 1 || m.Method != msg.OPTIONS {
			return p.fail(ErrTarget, 0, "asterisk as target of another method than OPTIONS")
		}
		return nil
	case m.Method == msg.CONNECT:
		return p.authorityForm(m, o)
	case msg.SchemeLen(t) > 0:
		return p.absoluteForm(m, o)
	}
	return p.fail(ErrTarget, 0, "request target is neither a path nor an absolute URI")
}

// authorityForm checks the target of CONNECT. Ports 80 and 443 both are
// default ports of Host here, because the scheme is not known.
func (p *Parser) authorityForm(m *msg.Message, o *Options) *Error {
	t := m.Target
	_, host, port := msg.SplitAuthority(t)
	full := t[bytes.LastIndexByte(t, '@')+1:]
	if o.unsafe() {
		if msg.SchemeLen(t) > 0 {
			return p.fail(ErrTarget, 0, "CONNECT with an absolute URI")
		}
	} else if len(port) == 0 || !validHost(full) {
		return p.fail(ErrTarget, 0, "CONNECT needs an authority with a port")
	}
	if !m.HasHost {
		return nil
	}
	h := m.Fields[p.host].Value
	known := string(port) == "80" || string(port) == "443"
	_, hHost, hPort := msg.SplitAuthority(h)
	switch {
	case known && ascii.EqualFold(h, full):
		m.Fields[p.host].Value = h[:len(host)]
	case ascii.EqualFold(h, full):
	case known && len(hPort) == 0 && ascii.EqualFold(hHost, host):
	case o.unsafe():
		m.UnsafeParsed = true
	default:
		return p.fail(ErrHost, 0, "Host differs from the authority of CONNECT")
	}
	return nil
}

// absoluteForm checks and normalises an absolute URI.
func (p *Parser) absoluteForm(m *msg.Message, o *Options) *Error {
	t := m.Target
	scheme := t[:msg.SchemeLen(t)]
	start := len(scheme) + 3
	end := start + msg.AuthorityLen(t[start:])
	_, host, port := msg.SplitAuthority(t[start:end])
	full := t[start+bytes.LastIndexByte(t[start:end], '@')+1 : end]
	if !o.unsafe() && !validHost(full) {
		return p.fail(ErrTarget, start, "malformed authority")
	}
	name := full // authority without a default port
	if port != nil && msg.DefaultPort(scheme, port) {
		name = host
	}
	if m.HasHost {
		h := m.Fields[p.host].Value
		_, hHost, hPort := msg.SplitAuthority(h)
		implied := msg.DefaultPort(scheme, port) && msg.DefaultPort(scheme, hPort)
		if !(implied && ascii.EqualFold(name, hHost)) && !ascii.EqualFold(full, h) {
			if !o.unsafe() {
				return p.fail(ErrHost, start, "Host differs from the authority of the target")
			}
			m.UnsafeParsed = true
		}
		if len(name) < len(full) && (!o.unsafe() || validHost(name)) {
			m.Fields[p.host].Value = name
		}
	}
	slash := end == len(t) && m.Method != msg.OPTIONS
	if len(name) == len(full) && !slash {
		return nil
	}
	cut := end - (len(full) - len(name))
	n := m.Alloc(cut + len(t) - end + 1)[:0]
	n = append(n, t[:cut]...)
	if slash {
		n = append(n, '/')
	}
	m.SetTargetView(append(n, t[end:]...))
	return nil
}
