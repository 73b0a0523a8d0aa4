// Package clienthello reads the TLS ClientHello at the start of a stream of
// bytes that nobody has deciphered (manual, chapter 7.3.5). It does no I/O and
// copies nothing, except a hello that is spread over several records.
//
//	var h clienthello.Hello
//	var room []byte
//	if n := clienthello.Joined(buf); n > 0 { // several records
//		room = make([]byte, n)
//	}
//	switch clienthello.Parse(buf, room, &h) {
//	case clienthello.Complete:   h.SNI(), h.ALPN(), ...
//	case clienthello.Incomplete: call again with the same bytes and more
//	}
//
// A hello that is well formed up to some place is read up to there: what
// stands behind the fault is absent.
package clienthello

import "encoding/binary"

// Status says what is known of a stream of which some bytes are there.
type Status uint8

// What the bytes are.
const (
	Incomplete Status = iota // more bytes are needed to tell
	Complete
	Invalid // not what was looked for, whatever follows
)

// Hello is a ClientHello. All slices are views of what Parse was given.
type Hello struct {
	Version     uint16 // legacy_version: 0x0303 for TLS 1.2 and 1.3
	Random      []byte // 32 bytes
	SessionID   []byte
	Ciphers     []byte // cipher suites, two bytes each; nil when the hello is broken before them
	Compression []byte
	// Extensions is the block of extensions, without its length. It is only there if HasExtensions.
	Extensions    []byte
	HasExtensions bool
}

// Numbers of the protocol.
const (
	recordHandshake = 0x16
	recordHeader    = 5 // type, version, length
	hsHeader        = 4 // type, length
	typeClientHello = 1
	minVersion      = 0x0301 // TLS 1.0: SSLv3 has no extensions

	ExtServerName   = 0
	ExtGroups       = 10
	ExtSigAlgs      = 13
	ExtALPN         = 16
	ExtTicket       = 35
	ExtKeyShare     = 51
	nameTypeHost    = 0
	maxSessionID    = 32
	randomLen       = 32
	helloFixed      = 2 + randomLen // version, random
	firstRecordSeen = recordHeader + 6
)

// records walks the payloads of handshake records at the start of a stream.
type records struct{ rest []byte }

// next returns the next payload, as much of it as has come. more is false when the record is not complete, ok when what
// follows is no handshake record.
func (r *records) next() (payload []byte, more, ok bool) {
	b := r.rest
	if len(b) < recordHeader {
		return nil, false, len(b) == 0 || b[0] == recordHandshake
	}
	n := int(binary.BigEndian.Uint16(b[3:]))
	if b[0] != recordHandshake || b[1] < 3 || n == 0 {
		return nil, false, false
	}
	b = b[recordHeader:]
	if len(b) < n {
		r.rest = nil
		return b, false, true
	}
	r.rest = b[n:]
	return b[:n], true, true
}

// measure finds the size of the handshake message at the start of buf, its header included, and how many of its bytes
// have come. first is the length of the part in the first record.
func measure(buf []byte) (size, have, first int, st Status) {
	var head [hsHeader]byte
	r := records{buf}
	for i := 0; ; i++ {
		p, more, ok := r.next()
		if !ok {
			return size, have, first, Invalid
		}
		if i == 0 {
			first = len(p)
		}
		if have < hsHeader {
			copy(head[have:], p)
		}
		have += len(p)
		if have >= hsHeader {
			size = hsHeader + int(head[1])<<16 + int(head[2])<<8 + int(head[3])
			if have >= size {
				return size, have, first, Complete
			}
		}
		if !more {
			return size, have, first, Incomplete
		}
	}
}

// Joined returns the number of bytes that Parse needs room for: those of a handshake message that is all there and spread
// over several records; 0 when there is nothing to join.
func Joined(buf []byte) int {
	size, _, first, st := measure(buf)
	if st != Complete || first >= size {
		return 0
	}
	return size
}

// Type returns the type of the handshake message at the start of buf, once all of it is there: 1 for a ClientHello, 2
// for a ServerHello.
func Type(buf []byte) (int, Status) {
	_, _, _, st := measure(buf)
	if st != Complete {
		return 0, st
	}
	return int(typeOf(buf)), Complete
}

// typeOf is the first byte of the first record; records are never empty here.
func typeOf(buf []byte) byte { return buf[recordHeader] }

// Version returns the version that the hello at the start of buf asks for, major<<16 + minor, as soon as its first record
// is there. SSLv2 hellos are understood too.
func Version(buf []byte) (int, Status) {
	if len(buf) == 0 {
		return 0, Incomplete
	}
	if buf[0] != recordHandshake {
		return version2(buf)
	}
	if len(buf) < firstRecordSeen {
		return 0, Incomplete
	}
	var head [6]byte // type, length, version
	r, have := records{buf}, 0
	for have < len(head) {
		p, more, ok := r.next()
		switch {
		case !ok:
			return 0, Invalid
		case !more:
			return 0, Incomplete
		}
		have += copy(head[have:], p)
	}
	return int(head[4])<<16 | int(head[5]), Complete
}

// version2 is Version for the hello of SSLv2: a length of two bytes, or of three with padding, then the type and the version.
func version2(buf []byte) (int, Status) {
	head := 3
	if buf[0]&0x80 != 0 {
		head = 2
	}
	if len(buf) < head+3 {
		return 0, Incomplete
	}
	n := int(buf[0]&0x7f)<<8 | int(buf[1])
	if head == 3 {
		n = int(buf[0]&0x3f)<<8 | int(buf[1])
	}
	switch {
	case buf[head] != typeClientHello || n < 9:
		return 0, Invalid
	case len(buf) < head+n:
		return 0, Incomplete
	}
	return int(buf[head+1])<<16 | int(buf[head+2]), Complete
}

// Parse reads the ClientHello at the start of buf into h. room is memory of Joined(buf) bytes at least.
func Parse(buf, room []byte, h *Hello) Status {
	*h = Hello{}
	if len(buf) > 0 && buf[0] != recordHandshake {
		return Invalid
	}
	size, have, first, st := measure(buf)
	if have > 0 && len(buf) > recordHeader && typeOf(buf) != typeClientHello {
		return Invalid
	}
	if st != Complete {
		return st
	}
	body := buf[recordHeader:]
	if first < size {
		if len(room) < size {
			return Invalid
		}
		body = join(room, buf, size)
	}
	h.parse(body[hsHeader:size])
	return Complete
}

// join puts the first size bytes of the handshake together.
func join(room, buf []byte, size int) []byte {
	r, n := records{buf}, 0
	for n < size {
		p, _, ok := r.next()
		if !ok || len(p) == 0 {
			break
		}
		n += copy(room[n:size], p)
	}
	return room[:n]
}

// parse reads the body as far as it is well formed.
func (h *Hello) parse(b []byte) {
	if len(b) < helloFixed+1 {
		return
	}
	h.Version, h.Random, b = binary.BigEndian.Uint16(b), b[2:helloFixed], b[helloFixed:]
	if h.Version < minVersion || int(b[0]) > maxSessionID || len(b) < 1+int(b[0]) {
		return
	}
	h.SessionID, b = b[1:1+int(b[0])], b[1+int(b[0]):]
	ciphers, b, ok := vector(b)
	if !ok || len(ciphers) < 2 {
		return
	}
	h.Ciphers = ciphers
	if len(b) < 1 || b[0] == 0 || len(b) < 1+int(b[0]) {
		return
	}
	h.Compression, b = b[1:1+int(b[0])], b[1+int(b[0]):]
	h.Extensions, _, h.HasExtensions = vector(b)
}

// vector cuts a piece off that its length in two bytes precedes.
func vector(b []byte) (v, rest []byte, ok bool) {
	if len(b) < 2 {
		return nil, nil, false
	}
	n := int(binary.BigEndian.Uint16(b))
	if b = b[2:]; n > len(b) {
		return nil, nil, false
	}
	return b[:n:n], b[n:], true
}
