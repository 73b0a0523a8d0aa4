// Package msg is the one HTTP message of this program. Every protocol version
// is converted to it when it is received and from it when it is sent; rules,
// logs, caches and filters see nothing else.
//
// # Shape
//
// A Message is a start line (method and target, or status and reason), a list
// of fields in arrival order with their letter case, trailers, and the verdict
// on how its body is delimited. Names and values are views into the buffer in
// which the head arrived, so the buffer must live as long as the message, or
// Detach must be called. Everything that is added or changed is copied into an
// arena owned by the message, whose memory is reused after Reset.
//
// # Use
//
//	m.Get("host")                      first value of a field
//	for i := m.Find("via", 0); i >= 0; i = m.Find("via", i+1) { m.Fields[i] }
//	for it := m.List("accept"); it.Next(); { it.Value }     comma lists
//	for it := m.Cookies(); it.Next(); { it.Name, it.Value }
//	m.Add, m.Set, m.Replace, m.Prepend, m.Del, m.DelToken    edits
//	m.URI().Path, .Query, .Host, .Port                       parts of the target
//	m.SetMethod, SetTarget, SetPath, SetQuery, SetStatus     start line edits
//
// A Message belongs to one goroutine. Its zero value is ready for use.
package msg

import "weir/internal/base/ascii"

// Field is one header or trailer line. Both slices are views: never write
// through them.
type Field struct {
	Name, Value []byte
}

// Is reports whether the field has that name, letter case aside.
func (f *Field) Is(name string) bool { return ascii.EqualFoldString(f.Name, name) }

// Framing tells how the end of a body is found.
type Framing uint8

// Ways to delimit a body.
const (
	NoBody     Framing = iota // nothing follows the head
	Length                    // ContentLength bytes
	Chunked                   // chunks, then trailers
	UntilClose                // everything until the peer closes (answers only)
	Tunnel                    // no longer HTTP in either direction (CONNECT, 101)
)

func (f Framing) String() string {
	return [...]string{"none", "length", "chunked", "until-close", "tunnel"}[f]
}

// Message is one request or answer, whatever the version it travelled in.
type Message struct {
	IsResponse bool
	Major      uint8 // version on the wire: 1.0, 1.1, 2.0, 3.0
	Minor      uint8
	Method     Method  // requests; MethodOther when MethodName is not a known one
	Framing    Framing // how the body is delimited

	// Facts found in the fields while they were parsed.
	HasCL        bool // a valid Content-Length came (ContentLength holds it)
	HasTE        bool // a Transfer-Encoding came
	TEChunked    bool // ... and its last coding is chunked
	TEOther      bool // ... and it names another coding before chunked
	CLAndTE      bool // both came: the length was discarded, no reuse afterwards
	HasHost      bool // a Host field came
	HasConn      bool // a Connection field came
	ConnClose    bool // Connection lists close
	ConnKeep     bool // Connection lists keep-alive
	ConnUpgrade  bool // Connection lists upgrade
	HasUpgrade   bool // an Upgrade field came
	UpgradeH2C   bool // Upgrade listed h2c or h2 (already removed from it)
	WebSocket    bool // Upgrade lists websocket
	WSKey        bool // a Sec-WebSocket-Key of the right length, or a -Accept, came
	Expect100    bool // the only expectation is 100-continue
	ExpectOther  bool // another expectation came
	KeepAlive    bool // the peer is willing to go on with the connection
	HTTP09       bool // a request line without version (relaxed parsing only)
	TargetBuilt  bool // Target was put together from pseudo-headers (H2, H3)
	UnsafeParsed bool // accepted only thanks to an accept-unsafe-violations option

	Status        int    // answers: 100-999
	MethodName    []byte // requests: as received
	VersionRaw    []byte // version token when it is not "HTTP/d.d" (relaxed parsing only)
	Target        []byte // requests: as received, never empty once parsed
	Reason        []byte // answers: may be empty
	Protocol      []byte // :protocol of an extended CONNECT, else nil
	ContentLength int64  // valid when HasCL or Framing is Length, else 0

	Fields   []Field // header fields in order
	Trailers []Field // filled once the body has been read

	uri   URI
	uriOK bool
	arena arena
}

// Reset empties m for another message; memory is kept up to a bound.
func (m *Message) Reset() {
	fields, trailers, a := m.Fields, m.Trailers, m.arena
	clear(fields)
	clear(trailers)
	a.reset()
	*m = Message{Fields: fields[:0], Trailers: trailers[:0], arena: a}
}

// AtLeast11 reports whether the version on the wire is HTTP/1.1 or later.
func (m *Message) AtLeast11() bool { return m.Major > 1 || m.Major == 1 && m.Minor >= 1 }

// HasBody reports whether something follows the head.
func (m *Message) HasBody() bool {
	return m.Framing != NoBody && !(m.Framing == Length && m.ContentLength == 0)
}

// Copy copies p into the memory of m and returns the copy, which lives until
// Reset.
func (m *Message) Copy(p []byte) []byte { return m.arena.copy(p) }

// CopyString is Copy for a string.
func (m *Message) CopyString(s string) []byte { return m.arena.copyString(s) }

// Alloc returns n bytes of the memory of m, which live until Reset.
func (m *Message) Alloc(n int) []byte { return m.arena.alloc(n) }

// Detach copies everything that still points into a receive buffer, so that
// the buffer may be given back. It is meant for messages that outlive their
// buffer, such as one kept for a retry.
func (m *Message) Detach() {
	m.MethodName = m.arena.copy(m.MethodName)
	m.VersionRaw = m.arena.copy(m.VersionRaw)
	m.Target = m.arena.copy(m.Target)
	m.Reason = m.arena.copy(m.Reason)
	m.Protocol = m.arena.copy(m.Protocol)
	m.uriOK = false
	for _, list := range [2][]Field{m.Fields, m.Trailers} {
		for i := range list {
			list[i].Name = m.arena.copy(list[i].Name)
			list[i].Value = m.arena.copy(list[i].Value)
		}
	}
}
