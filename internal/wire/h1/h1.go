// Package h1 is the HTTP/1 codec: heads and chunked bodies, both ways. It does
// no I/O and reads no clock: bytes go in, values come out.
//
// # Receiving
//
//	var p h1.Parser                      one per connection and direction
//	n, err := p.ParseRequest(buf, &m, &opt)
//
// buf holds the bytes received since the end of the previous message. Three
// results are possible: err != nil, the message is refused (err tells where
// and which status to answer); n > 0, the head is complete, takes n bytes, and
// m is filled with views into buf; else more bytes are needed: call again with
// the same bytes and more behind them (they may have moved in memory). The
// parser remembers what it has looked at, so bytes that arrive one by one cost
// linear time. ParseResponse does the same for answers. buf is never written.
//
// After a head, m.Framing tells how the body is delimited. For Chunked:
//
//	var d h1.ChunkDecoder
//	d.Reset(nil)
//	piece, err := d.Next(buf, &m)        until piece.Done
//
// What a head asks of the connection is in m.KeepAlive, m.CLAndTE (answer, then
// close), m.ConnUpgrade, m.Expect100; see also MustClose and SwitchOK.
//
// # Sending
//
// AppendRequest, AppendResponse, AppendChunkHeader and AppendLastChunk append to
// a buffer of the caller. They refuse any message whose parts would be read
// differently by the next recipient, so no field injection gets through. Field
// names go out in lower case like those of the reference (manual 1.3.2),
// except those of a CaseMap. ScanConnection must run on a message whose
// Connection field may have been edited by rules.
//
// # Strictness
//
// What two recipients could understand differently is refused (RFC 9110, RFC
// 9112, manual 1.3 and 1.4). The two accept-unsafe-violations options (manual
// 4.2) relax the documented rules only; Options.Unsafe stands for them.
package h1

import "weir/internal/wire/msg"

// Default limits, those of the reference.
const (
	DefaultMaxFields = 101   // tune.http.maxhdr
	DefaultMaxHead   = 15360 // tune.bufsize - tune.maxrewrite
	DefaultMaxRaw    = 16384 // tune.bufsize
)

// Options tells a Parser what to accept. The zero value means defaults.
type Options struct {
	// Unsafe is option accept-unsafe-violations-in-http-request, or its twin
	// for answers.
	Unsafe bool
	// AnyMethodBody lets HTTP/1.0 GET, HEAD and DELETE requests have a body
	// (h1-accept-payload-with-any-method).
	AnyMethodBody bool
	// MaxFields is tune.http.maxhdr: lines of a head, the first one included.
	MaxFields int
	// MaxHead bounds the bytes of names, values and start line of a complete
	// head, plus 8 a field and 77, which is what the reference needs to store
	// one in tune.bufsize - tune.maxrewrite.
	MaxHead int
	// MaxRaw bounds the bytes of a head as received, empty lines before it
	// included. It should not be above the size of the receive buffer: a head
	// that fills it without being complete is refused.
	MaxRaw int
}

func (o *Options) maxFields() int {
	if o == nil || o.MaxFields <= 0 {
		return DefaultMaxFields
	}
	return o.MaxFields
}

func (o *Options) maxHead() int {
	if o == nil || o.MaxHead <= 0 {
		return DefaultMaxHead
	}
	return o.MaxHead
}

func (o *Options) maxRaw() int {
	if o == nil || o.MaxRaw <= 0 {
		return DefaultMaxRaw
	}
	return o.MaxRaw
}

func (o *Options) unsafe() bool { return o != nil && o.Unsafe }

// Kind classifies a refusal.
type Kind uint8

// Reasons to refuse a message.
const (
	ErrStartLine     Kind = iota + 1 // first line malformed
	ErrVersion                       // version not understood
	ErrTarget                        // request target not valid for the method
	ErrName                          // field name empty or with a forbidden byte
	ErrValue                         // forbidden byte in a value
	ErrTooManyFields                 // more lines than MaxFields
	ErrTooLarge                      // head longer than MaxHead or MaxRaw
	ErrLength                        // Content-Length invalid or contradictory
	ErrCoding                        // Transfer-Encoding invalid
	ErrCodingUnknown                 // Transfer-Encoding valid, not supported
	ErrHost                          // Host invalid or contradicts the target
	ErrBody                          // body where none is acceptable
	ErrWebSocket                     // handshake without its key
	ErrStatus                        // status code malformed
	ErrChunkSize                     // chunk size malformed or too large
	ErrChunkExt                      // chunk extension malformed or too long
	ErrChunkEnd                      // chunk data not followed by CRLF
	ErrTrailer                       // trailer malformed or too long
)

// Error is a refusal. It is owned by the parser that returned it and valid
// until its next call. It is returned as *Error, never inside an error
// interface, so that comparing with nil works.
type Error struct {
	Kind   Kind
	Offset int    // position in the input of the byte that caused it
	Status int    // what to answer: 400, 413, 414, 422, 431; 502 for answers
	Text   string // one line for logs and captures
}

func (e *Error) Error() string { return e.Text }

// Parser reads heads. The zero value is ready for a first message; it resets
// itself after each complete head or error.
type Parser struct {
	scan    int  // bytes already looked at
	line    int  // start of the first line that is not complete
	started bool // the start line has been seen whole
	colon   bool // the name of the incomplete line is complete
	any     bool // a field line has been seen whole
	resp    bool // answers
	fields  int  // field lines of the head being parsed
	host    int  // index of the Host field, -1 if none
	err     Error
}

// Reset forgets a partial head.
func (p *Parser) Reset() { *p = Parser{} }

// Partial reports whether bytes of an incomplete head have been seen since the
// last complete one, empty lines before it left aside.
func (p *Parser) Partial() bool { return p.started || p.scan > p.line }

// ParseRequest reads a request head at the start of buf into m, which it
// resets first. See the package documentation for the results.
func (p *Parser) ParseRequest(buf []byte, m *msg.Message, o *Options) (n int, err *Error) {
	p.resp = false
	return p.parse(buf, m, 0, o)
}

// ParseResponse reads an answer head at the start of buf into m, which it
// resets first. method is the one of the request: it decides whether a body
// follows.
func (p *Parser) ParseResponse(buf []byte, m *msg.Message, method msg.Method, o *Options) (n int, err *Error) {
	p.resp = true
	return p.parse(buf, m, method, o)
}

func (p *Parser) restart() {
	p.scan, p.line, p.started, p.colon, p.any = 0, 0, false, false, false
}

func (p *Parser) fail(k Kind, at int, text string) *Error {
	status := 400
	if p.resp {
		status = 502
	}
	return p.failWith(k, at, status, text)
}

func (p *Parser) failWith(k Kind, at, status int, text string) *Error {
	if p.resp {
		status = 502
	}
	p.err = Error{Kind: k, Offset: at, Status: status, Text: text}
	p.restart()
	return &p.err
}
