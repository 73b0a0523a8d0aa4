package h1

import (
	"weir/internal/base/ascii"
	"weir/internal/wire/msg"
)

// connectionField notes what a Connection value asks for and returns it
// without close and keep-alive, which concern this connection only. The result
// is empty when nothing is left.
func connectionField(m *msg.Message, value []byte) []byte {
	switch { // most of the time there is one word
	case ascii.EqualFoldString(value, "keep-alive"):
		m.ConnKeep = true
		return nil
	case ascii.EqualFoldString(value, "close"):
		m.ConnClose = true
		return nil
	}
	for it := msg.ListOf(value); it.Next(); {
		switch v := it.Value; {
		case ascii.EqualFoldString(v, "close"):
			m.ConnClose = true
		case ascii.EqualFoldString(v, "keep-alive"):
			m.ConnKeep = true
		case ascii.EqualFoldString(v, "upgrade"):
			m.ConnUpgrade = true
		}
	}
	return withoutPersistence(m, value)
}

// withoutPersistence returns a Connection value without close and keep-alive.
func withoutPersistence(m *msg.Message, value []byte) []byte {
	left, total := 0, 0
	for it := msg.ListOf(value); it.Next(); total++ {
		if !persistence(it.Value) {
			left++
		}
	}
	switch left {
	case 0:
		return nil
	case total:
		return value
	}
	return keepTokens(m, value, func(v []byte) bool { return !persistence(v) })
}

func persistence(v []byte) bool {
	return ascii.EqualFoldString(v, "close") || ascii.EqualFoldString(v, "keep-alive")
}

// upgradeField notes what an Upgrade value offers and returns it without the
// HTTP/2 tokens, which are never passed on (RFC 9113 3.1, and a way to smuggle
// requests past the rules).
func upgradeField(m *msg.Message, value []byte) []byte {
	left, total := 0, 0
	for it := msg.ListOf(value); it.Next(); total++ {
		switch v := it.Value; {
		case http2Token(v):
			m.UpgradeH2C = true
			continue
		case ascii.EqualFoldString(v, "websocket"):
			m.WebSocket = true
		}
		left++
	}
	if left > 0 {
		m.HasUpgrade = true
	}
	switch left {
	case 0:
		return nil
	case total:
		return value
	}
	return keepTokens(m, value, func(v []byte) bool { return !http2Token(v) })
}

func http2Token(v []byte) bool {
	return ascii.EqualFoldString(v, "h2c") || ascii.EqualFoldString(v, "h2")
}

// keepTokens copies the elements of a list that keep accepts.
func keepTokens(m *msg.Message, value []byte, keep func([]byte) bool) []byte {
	n := 0
	for it := msg.ListOf(value); it.Next(); {
		if keep(it.Value) {
			n += len(it.Value) + 1
		}
	}
	out := m.Alloc(n - 1)[:0]
	for it := msg.ListOf(value); it.Next(); {
		if keep(it.Value) {
			if len(out) > 0 {
				out = append(out, ',')
			}
			out = append(out, it.Value...)
		}
	}
	return out
}

// ScanConnection looks again at the Connection and Upgrade fields of m, which
// rules may have edited: it sets ConnClose, ConnKeep, ConnUpgrade and
// HasUpgrade anew and removes close and keep-alive from the fields. Call it
// before deciding whether a connection stays open, and before encoding.
func ScanConnection(m *msg.Message) {
	m.ConnClose, m.ConnKeep, m.ConnUpgrade, m.HasConn = false, false, false, false
	for i := m.Find("connection", 0); i >= 0; i = m.Find("connection", i) {
		v := connectionField(m, m.Fields[i].Value)
		if len(v) == 0 {
			m.DelAt(i)
			continue
		}
		m.Fields[i].Value = v
		m.HasConn = true
		i++
	}
	m.HasUpgrade = m.Has("upgrade")
	m.ConnUpgrade = m.ConnUpgrade && m.HasUpgrade
}

// SwitchOK reports whether answer, of status 101, may follow request: the
// request asked for an upgrade, the answer names the protocol, and a WebSocket
// answer has its key unless relaxed (option
// accept-unsafe-violations-in-http-response).
func SwitchOK(request, answer *msg.Message, relaxed bool) bool {
	if !request.ConnUpgrade || !answer.ConnUpgrade {
		return false
	}
	return !answer.WebSocket || answer.WSKey || relaxed
}

// RequestConn tells what the head of request m says to a server about a
// connection that will be reused or not.
func RequestConn(m *msg.Message, reuse bool) Conn {
	switch {
	case m.ConnUpgrade:
		return ConnAsIs
	case !reuse, m.HasTE && !m.AtLeast11():
		return ConnClose
	}
	return ConnKeep
}

// ResponseConn tells what the head of answer m says to a client about a
// connection that stays open or not.
func ResponseConn(m *msg.Message, keep bool) Conn {
	switch {
	case m.Status < 200, m.Framing == msg.Tunnel:
		return ConnAsIs
	case !keep, m.Framing == msg.UntilClose:
		return ConnClose
	}
	return ConnKeep
}

// Restrict is a policy about request field names with characters outside
// letters, digits and hyphens (option http-restrict-req-hdr-names).
type Restrict uint8

// Policies of option http-restrict-req-hdr-names.
const (
	RestrictPreserve Restrict = iota
	RestrictDelete
	RestrictReject
)

// RestrictNames applies a policy. It returns false when the request must be
// rejected (with status 403).
func RestrictNames(m *msg.Message, r Restrict) bool {
	switch r {
	case RestrictDelete:
		m.DelFunc(func(f *msg.Field) bool { return !plainName(f.Name) })
	case RestrictReject:
		for i := range m.Fields {
			if !plainName(m.Fields[i].Name) {
				return false
			}
		}
	}
	return true
}

func plainName(name []byte) bool {
	for _, c := range name {
		if c != '-' && !ascii.IsAlnum(c) {
			return false
		}
	}
	return true
}
