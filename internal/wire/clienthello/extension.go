package clienthello

import "encoding/binary"

// Extension returns the first extension of that number. broken tells that the list ends in the middle of one before it was found.
func (h *Hello) Extension(number uint16) (data []byte, found, broken bool) {
	b := h.Extensions
	for len(b) >= 4 {
		n := binary.BigEndian.Uint16(b)
		var ok bool
		if data, b, ok = vector(b[2:]); !ok {
			return nil, false, true
		}
		if n == number {
			return data, true, false
		}
	}
	return nil, false, false
}

// list returns the contents of an extension that is one vector and not empty.
func (h *Hello) list(number uint16) ([]byte, bool) {
	data, found, _ := h.Extension(number)
	if !found {
		return nil, false
	}
	v, _, ok := vector(data)
	return v, ok && len(v) > 0
}

// SNI returns the host name of the server name extension (RFC 6066).
func (h *Hello) SNI() ([]byte, bool) {
	names, ok := h.list(ExtServerName)
	for ok && len(names) >= 3 {
		kind := names[0]
		var name []byte
		if name, names, ok = vector(names[1:]); ok && kind == nameTypeHost {
			return name, len(name) > 0
		}
	}
	return nil, false
}

// ALPN returns the first protocol that the client offers (RFC 7301).
func (h *Hello) ALPN() ([]byte, bool) {
	list, ok := h.list(ExtALPN)
	if !ok || len(list) < 1+int(list[0]) {
		return nil, false
	}
	return list[1 : 1+int(list[0])], true
}

// Groups returns the list of supported groups, two bytes each (RFC 8422, RFC 8446).
func (h *Hello) Groups() ([]byte, bool) { return h.list(ExtGroups) }

// SigAlgs returns the list of signature algorithms, two bytes each (RFC 8446 4.2.3).
func (h *Hello) SigAlgs() ([]byte, bool) { return h.list(ExtSigAlgs) }

// AppendKeyShareGroups appends the groups, two bytes each, for which the client sends a share (RFC 8446 4.2.8).
func (h *Hello) AppendKeyShareGroups(dst []byte) ([]byte, bool) {
	list, ok := h.list(ExtKeyShare)
	n := len(dst)
	for ok && len(list) >= 4 {
		dst = append(dst, list[0], list[1])
		_, list, ok = vector(list[2:])
	}
	return dst, len(dst) > n
}

// Ticket returns the session ticket extension (RFC 5077). known is false when the hello is broken, so that nobody can tell.
func (h *Hello) Ticket() (ticket []byte, found, known bool) {
	if !h.HasExtensions {
		return nil, false, false
	}
	ticket, found, broken := h.Extension(ExtTicket)
	return ticket, found, !broken
}
