package h1

import (
	"errors"
	"fmt"

	"weir/internal/base/ascii"
	"weir/internal/wire/msg"
)

// Refusals of the encoder: what was asked for cannot be sent without meaning
// something else to its recipient.
var (
	ErrBadMethod = errors.New("h1: method is not a token")
	ErrBadTarget = errors.New("h1: control byte in the request target, or empty target")
	ErrBadStatus = errors.New("h1: status code out of range")
	ErrBadReason = errors.New("h1: line break in the reason phrase")
	ErrBadName   = errors.New("h1: header name is not a token")
	ErrBadValue  = errors.New("h1: line break or NUL in a header value")
)

// Conn is what an emitted head says about the connection.
type Conn uint8

// Connection modes of an emitted head.
const (
	ConnKeep  Conn = iota // stays open: said to HTTP/1.0 peers, implied otherwise
	ConnClose             // closes after this message: said unless the version implies it
	ConnAsIs              // nothing is added (tunnels, upgrades)
)

// EncodeOptions tells how to write a head. The zero value is ready for use; a
// nil pointer is not.
type EncodeOptions struct {
	Conn Conn
	// Peer10: the request that this answer belongs to was HTTP/1.0.
	Peer10 bool
	// Absolute keeps the absolute form of a target built from pseudo-headers;
	// otherwise such a target is sent in origin form.
	Absolute bool
	// Case is what h1-case-adjust gives; nil sends names in lower case.
	Case *CaseMap
}

// CaseMap maps lower case field names to the case to send them in
// (h1-case-adjust).
type CaseMap struct {
	names map[string]string
}

// Add makes the encoder write the name from as to. from must be in lower case
// and differ from to in case only; a second entry for a name is an error.
func (c *CaseMap) Add(from, to string) error {
	switch {
	case !ascii.IsTokenBytes([]byte(from)):
		return fmt.Errorf("%q is not a header name", from)
	case string(ascii.AppendLower(nil, []byte(from))) != from:
		return fmt.Errorf("%q is not in lower case", from)
	case !ascii.EqualFoldString([]byte(from), to):
		return fmt.Errorf("%q and %q differ by more than their case", from, to)
	}
	if _, ok := c.names[from]; ok {
		return fmt.Errorf("a case for %q is already given", from)
	}
	if c.names == nil {
		c.names = map[string]string{}
	}
	c.names[from] = to
	return nil
}

// Len returns the number of entries.
func (c *CaseMap) Len() int { return len(c.names) }

// AppendRequest appends the head of a request, framed as m.Framing says. On
// error dst is returned as it came.
func AppendRequest(dst []byte, m *msg.Message, o *EncodeOptions) ([]byte, error) {
	start := len(dst)
	target := m.Target
	if m.TargetBuilt && !o.Absolute && m.Method != msg.CONNECT && m.URI().Form == msg.FormAbsolute {
		target = m.URI().PathQuery
	}
	if !ascii.IsTokenBytes(m.MethodName) {
		return dst, ErrBadMethod
	}
	if len(target) == 0 || target[0] == ' ' || badTarget(target) {
		return dst, ErrBadTarget
	}
	dst = append(dst, m.MethodName...)
	dst = append(dst, ' ')
	dst = append(dst, target...)
	dst = append(dst, ' ')
	dst = appendVersion(dst, m)
	dst = append(dst, "\r\n"...)
	return appendFields(dst, start, m, o)
}

// badTarget reports a byte that may not be sent in a target. A space may: the
// reference lets rules put one there, and it cannot end the line.
func badTarget(t []byte) bool {
	for {
		i := targetStop(t)
		if i == len(t) {
			return false
		}
		if c := t[i]; c < 0x20 || c == 0x7f {
			return true
		}
		t = t[i+1:]
	}
}

// AppendResponse appends the head of an answer, framed as m.Framing says. On
// error dst is returned as it came.
func AppendResponse(dst []byte, m *msg.Message, o *EncodeOptions) ([]byte, error) {
	start := len(dst)
	if m.Status < 100 || m.Status > 999 && !(m.UnsafeParsed && m.Status < 65536) {
		return dst, ErrBadStatus
	}
	dst = appendVersion(dst, m)
	dst = append(dst, ' ')
	dst = ascii.AppendUint(dst, uint64(m.Status))
	dst = append(dst, ' ')
	if len(m.Reason) == 0 {
		dst = append(dst, msg.ReasonPhrase(m.Status)...)
	} else {
		if badValue(m.Reason, false) {
			return dst[:start], ErrBadReason
		}
		dst = append(dst, m.Reason...)
	}
	dst = append(dst, "\r\n"...)
	return appendFields(dst, start, m, o)
}

// appendVersion writes the version: 1.1 for anything as recent, else what came.
func appendVersion(dst []byte, m *msg.Message) []byte {
	switch {
	case m.AtLeast11():
		return append(dst, "HTTP/1.1"...)
	case m.VersionRaw != nil && m.UnsafeParsed:
		return append(dst, m.VersionRaw...)
	}
	return append(dst, 'H', 'T', 'T', 'P', '/', '0'+m.Major, '.', '0'+m.Minor)
}

// framed remembers which framing fields a head has been given.
type framed struct {
	length, coding, te bool
}

func appendFields(dst []byte, start int, m *msg.Message, o *EncodeOptions) ([]byte, error) {
	var done framed
	for i := range m.Fields {
		f := &m.Fields[i]
		value := f.Value
		switch len(f.Name) {
		case 2, 10, 14, 17:
			var send bool
			if value, send = done.special(f, m); !send {
				continue
			}
		}
		at := len(dst)
		dst = appendName(dst, f.Name, o.Case)
		if len(dst) == at {
			return dst[:start], ErrBadName
		}
		if badValue(value, m.UnsafeParsed) {
			return dst[:start], ErrBadValue
		}
		dst = append(dst, ": "...)
		dst = append(dst, value...)
		dst = append(dst, "\r\n"...)
	}
	if m.Framing == msg.Chunked && !done.coding {
		dst = appendKnown(dst, "transfer-encoding", "chunked", o)
	}
	if m.Framing == msg.Length && !done.length {
		dst = appendName(dst, []byte("content-length"), o.Case)
		dst = append(dst, ": "...)
		dst = ascii.AppendUint(dst, uint64(max(m.ContentLength, 0)))
		dst = append(dst, "\r\n"...)
	}
	switch {
	case o.Conn == ConnAsIs || m.IsResponse && m.Status < 200:
	case o.Conn == ConnClose && m.AtLeast11():
		dst = appendKnown(dst, "connection", "close", o)
	case o.Conn == ConnKeep && (!m.AtLeast11() || m.IsResponse && o.Peer10):
		dst = appendKnown(dst, "connection", "keep-alive", o)
	}
	return append(dst, "\r\n"...), nil
}

func appendKnown(dst []byte, name, value string, o *EncodeOptions) []byte {
	dst = appendName(dst, []byte(name), o.Case)
	dst = append(dst, ": "...)
	dst = append(dst, value...)
	return append(dst, "\r\n"...)
}

// special decides on the fields that the framing or the connection own: what
// to send for one, if anything.
func (d *framed) special(f *msg.Field, m *msg.Message) (value []byte, send bool) {
	switch {
	case f.Is("connection"):
		v := withoutPersistence(m, f.Value)
		return v, len(v) > 0
	case f.Is("content-length"):
		return d.contentLength(f, m)
	case f.Is("transfer-encoding"):
		if d.coding || m.Framing != msg.Chunked && !(headOnly(m) && m.TEChunked) {
			return nil, false
		}
		d.coding = true
		return chunkedValue, true
	case f.Is("te"):
		if d.te || !trailersOK(m) {
			return nil, false
		}
		d.te = true
		return trailersValue, true
	}
	return f.Value, true
}

var (
	chunkedValue  = []byte("chunked")
	trailersValue = []byte("trailers")
)

// headOnly reports an answer without body whose framing fields describe the
// body that another request would get: to HEAD, or 304.
func headOnly(m *msg.Message) bool {
	return m.IsResponse && m.Framing == msg.NoBody && m.Status >= 200 && m.Status != 204
}

// contentLength keeps the first Content-Length when it is true: equal to what
// follows, or a description in an answer without body.
func (d *framed) contentLength(f *msg.Field, m *msg.Message) ([]byte, bool) {
	if d.length {
		return nil, false
	}
	v, ok := ascii.ParseUint(f.Value)
	switch {
	case !ok:
		return nil, false
	case m.Framing == msg.Length:
		if v != uint64(m.ContentLength) {
			return nil, false
		}
	case m.Framing == msg.NoBody && !m.IsResponse:
		if v != 0 {
			return nil, false
		}
	case !headOnly(m) || m.TEChunked:
		return nil, false
	}
	d.length = true
	return f.Value, true
}

// trailersOK reports whether a TE field of m lists exactly "trailers", the
// only element that is passed on.
func trailersOK(m *msg.Message) bool {
	for it := m.List("te"); it.Next(); {
		if string(it.Value) == "trailers" {
			return true
		}
	}
	return false
}

// badValue reports a line break or a NUL.
func badValue(v []byte, nulOK bool) bool {
	for {
		i := ascii.IndexBelow(v, 0x0e)
		if i < 0 {
			return false
		}
		if c := v[i]; c == '\n' || c == '\r' || c == 0 && !nulOK {
			return true
		}
		v = v[i+1:]
	}
}

// tokenLower maps token bytes to lower case and all others to 0.
var tokenLower = func() (t [256]byte) {
	for c := range t {
		if ascii.IsToken(byte(c)) {
			t[c] = ascii.Lower(byte(c))
		}
	}
	return t
}()

// appendName appends a field name in lower case, or as the case map wants it.
// It appends nothing when the name is not a token.
func appendName(dst, name []byte, cm *CaseMap) []byte {
	if len(name) == 0 {
		return dst
	}
	at := len(dst)
	dst = append(dst, name...)
	out := dst[at:]
	var odd byte // bit 7 is set once a byte is not of a token
	for i, c := range out {
		l := tokenLower[c]
		out[i] = l
		odd |= l - 1
	}
	if odd&0x80 != 0 {
		return dst[:at]
	}
	if cm != nil {
		if to, ok := cm.names[string(out)]; ok {
			copy(out, to)
		}
	}
	return dst
}

// ChunkEnd follows the data of each chunk.
const ChunkEnd = "\r\n"

// AppendChunkHeader appends the size line of a chunk of n bytes, n > 0. The data
// and ChunkEnd must follow.
func AppendChunkHeader(dst []byte, n int) []byte {
	dst = ascii.AppendHex(dst, uint64(n))
	return append(dst, "\r\n"...)
}

// MaxChunkHeader is the room that AppendChunkHeader needs at most.
const MaxChunkHeader = 18

// AppendLastChunk appends the end of a chunked body with the trailers of m (m
// may be nil). Trailers that are malformed, or that would frame a message, are
// left out.
func AppendLastChunk(dst []byte, m *msg.Message, o *EncodeOptions) []byte {
	dst = append(dst, "0\r\n"...)
	if m != nil {
		for i := range m.Trailers {
			f := &m.Trailers[i]
			if f.Is("content-length") || f.Is("transfer-encoding") || badValue(f.Value, false) {
				continue
			}
			at := len(dst)
			if dst = appendName(dst, f.Name, o.Case); len(dst) == at {
				continue
			}
			dst = append(dst, ": "...)
			dst = append(dst, f.Value...)
			dst = append(dst, "\r\n"...)
		}
	}
	return append(dst, "\r\n"...)
}
