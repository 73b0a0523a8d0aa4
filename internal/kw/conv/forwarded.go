package conv

import (
	"bytes"
	"net/netip"

	"weir/internal/base/ascii"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

// Converters for the Forwarded header (RFC 7239).

func init() {
	sample.AddConv(
		sample.Conv{Name: "rfc7239_is_valid", In: model.TypeStr, Out: model.TypeBool, Help: "whether a Forwarded header is well-formed", Run: plain(fwdValid)},
		sample.Conv{Name: "rfc7239_field", Args: "string", In: model.TypeStr, Out: model.TypeStr, Run: fwdField, Check: allBytes,
			Help: "the parameter 'for', 'by', 'host' or 'proto' of a well-formed Forwarded header"},
		sample.Conv{Name: "rfc7239_n2nn", In: model.TypeStr, Out: model.TypeAny, Help: "the name of a node: an address, 'unknown' or an obfuscated identifier", Run: plain(nodeName)},
		sample.Conv{Name: "rfc7239_n2np", In: model.TypeStr, Out: model.TypeAny, Help: "the port of a node: a number or an obfuscated identifier", Run: plain(nodePort)},
		sample.Conv{Name: "rfc7239_nn", In: model.TypeAny, Out: model.TypeStr, Help: "the name of a node made of an address or of an identifier", Run: plain(makeName)},
		sample.Conv{Name: "rfc7239_np", In: model.TypeAny, Out: model.TypeStr, Help: "the port of a node made of a number or of an identifier", Run: plain(makePort)},
	)
}

// fwdParams are the parameters that the reference knows, in its order. A header with another one is not well-formed.
var fwdParams = [...]string{"for", "by", "host", "proto"}

// unknownNode is the name of a node that is not known.
var unknownNode = []byte("unknown")

// forwarded holds the values of a header, without quotes.
type forwarded struct {
	value [len(fwdParams)][]byte
	given [len(fwdParams)]bool
}

// parse reads a whole header: parameters between ';', each once at most, without any space.
func (f *forwarded) parse(b []byte) bool {
	for {
		eq := bytes.IndexByte(b, '=')
		if eq < 0 {
			return false
		}
		n := fwdIndex(b[:eq])
		if n < 0 || f.given[n] {
			return false
		}
		rest, ok := f.parseValue(n, b[eq+1:])
		if !ok {
			return false
		}
		if len(rest) == 0 {
			return true
		}
		if rest[0] != ';' {
			return false
		}
		b = rest[1:]
	}
}

func fwdIndex(name []byte) int {
	for i, p := range fwdParams {
		if string(name) == p {
			return i
		}
	}
	return -1
}

// parseValue reads the value of parameter n and returns what follows it.
func (f *forwarded) parseValue(n int, b []byte) (rest []byte, ok bool) {
	val, quoted := b, false
	switch {
	case len(b) > 0 && b[0] == '"':
		end := bytes.IndexByte(b[1:], '"')
		if end < 0 {
			return nil, false
		}
		val, rest, quoted = b[1:end+1], b[end+2:], true
	default:
		if end := bytes.IndexByte(b, ';'); end >= 0 {
			val, rest = b[:end], b[end:]
		}
	}
	switch fwdParams[n] {
	case "proto":
		ok = !quoted && (string(val) == "http" || string(val) == "https")
	case "host":
		ok = fwdHost(val, quoted)
	default:
		var node fwdNode
		ok = node.parse(val) && len(node.rest) == 0 && (quoted || node.plain())
	}
	f.value[n], f.given[n] = val, true
	return rest, ok
}

// fwdHost judges the host parameter as the reference does: letters, digits and dots only, or an IPv6 address; without
// quotes it is not empty and has neither address in brackets nor port.
func fwdHost(b []byte, quoted bool) bool {
	rest := b
	if quoted && len(b) > 0 && b[0] == '[' {
		_, n := bracketed(b)
		if n == 0 {
			return false
		}
		rest = b[n:]
	} else {
		for len(rest) > 0 && (ascii.IsAlnum(rest[0]) || rest[0] == '.') {
			rest = rest[1:]
		}
	}
	if !quoted {
		return len(b) > 0 && len(rest) == 0
	}
	if len(rest) == 0 {
		return true
	}
	if rest[0] != ':' {
		return false
	}
	port, n := portNumber(rest[1:])
	return port > 0 && n == len(rest)-1
}

// fwdNode is a node: a name and maybe a port.
type fwdNode struct {
	addr    netip.Addr // when the name is one
	name    []byte     // as it is written
	bracket bool
	colon   bool   // there is a port
	port    int64  // when it is a number
	hidden  []byte // when it is an obfuscated identifier
	rest    []byte // what follows
}

// plain reports whether the node may stand without quotes.
func (n *fwdNode) plain() bool { return !n.bracket && !n.colon }

// parse reads a node from the start of b.
func (n *fwdNode) parse(b []byte) bool {
	size := 0
	switch {
	case bytes.HasPrefix(b, unknownNode):
		size = len(unknownNode)
	case len(b) > 0 && b[0] == '_':
		size = identifier(b)
	case len(b) > 0 && b[0] == '[':
		n.addr, size = bracketed(b)
		n.bracket = true
	default:
		for size < len(b) && (ascii.IsDigit(b[size]) || b[size] == '.') {
			if b[size] != '.' && size > 0 && b[size-1] == '0' && (size == 1 || b[size-2] == '.') {
				return false // a leading zero
			}
			size++
		}
		ip, ok := sample.ParseAddr(b[:size])
		if !ok {
			return false
		}
		n.addr = ip
	}
	if size == 0 {
		return false
	}
	n.name, n.rest = b[:size], b[size:]
	if len(n.rest) == 0 || n.rest[0] != ':' {
		return true
	}
	n.colon = true
	b = n.rest[1:]
	if len(b) > 0 && b[0] == '_' {
		size = identifier(b)
		n.hidden = b[:size]
	} else {
		n.port, size = portNumber(b)
	}
	n.rest = b[size:]
	return size > 0
}

// identifier measures an obfuscated identifier: '_' and one or more of letters, digits and "._-". 0: there is none.
func identifier(b []byte) int {
	n := 1
	for n < len(b) && identifierByte(b[n]) {
		n++
	}
	if n == 1 {
		return 0
	}
	return n
}

func identifierByte(c byte) bool { return ascii.IsAlnum(c) || c == '.' || c == '_' || c == '-' }

// bracketed reads an IPv6 address in brackets; size 0: there is none. The IPv4 notation within is not taken.
func bracketed(b []byte) (ip netip.Addr, size int) {
	end := 1
	for end < len(b) && (ascii.IsHex(b[end]) || b[end] == ':') {
		end++
	}
	if end == len(b) || b[end] != ']' {
		return ip, 0
	}
	ip, ok := parseIPv6(b[1:end])
	if !ok {
		return ip, 0
	}
	return ip, end + 1
}

// parseIPv6 reads the hexadecimal form of an address, which b consists of; unlike netip.ParseAddr it takes no memory.
func parseIPv6(b []byte) (ip netip.Addr, ok bool) {
	var a [16]byte
	n, gap := 0, -1 // bytes read, where "::" stands
	if len(b) > 1 && b[0] == ':' && b[1] == ':' {
		gap, b = 0, b[2:]
	}
	for len(b) > 0 {
		if n == len(a) {
			return ip, false
		}
		group, digits := uint(0), 0
		for digits < len(b) && digits < 5 && ascii.IsHex(b[digits]) {
			group = group<<4 | uint(ascii.HexVal(b[digits]))
			digits++
		}
		if digits == 0 || digits > 4 {
			return ip, false
		}
		a[n], a[n+1] = byte(group>>8), byte(group)
		n += 2
		if b = b[digits:]; len(b) == 0 {
			break
		}
		b = b[1:] // the colon: there is no other character
		if len(b) == 0 {
			return ip, false
		}
		if b[0] == ':' {
			if gap >= 0 {
				return ip, false
			}
			gap, b = n, b[1:]
		}
	}
	if gap < 0 {
		return netip.AddrFrom16(a), n == len(a)
	}
	if n == len(a) {
		return ip, false
	}
	tail := n - gap
	copy(a[len(a)-tail:], a[gap:n])
	clear(a[gap : len(a)-tail])
	return netip.AddrFrom16(a), true
}

// portNumber reads a port from 1 to 65535; size 0: there is none.
func portNumber(b []byte) (port int64, size int) {
	for size < len(b) && ascii.IsDigit(b[size]) && port <= 65535 {
		port = port*10 + int64(b[size]-'0')
		size++
	}
	if port < 1 || port > 65535 {
		return 0, 0
	}
	return port, size
}

func fwdValid(_ *model.Txn, v *model.Value) bool {
	var f forwarded
	v.SetBool(f.parse(v.B))
	return true
}

func fwdField(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
	n := fwdIndex(bytesOf(a, 0))
	var f forwarded
	if n < 0 || !f.parse(v.B) || !f.given[n] {
		return false
	}
	v.B = f.value[n]
	return true
}

func nodeName(_ *model.Txn, v *model.Value) bool {
	var n fwdNode
	if !n.parse(v.B) {
		return false
	}
	if n.addr.IsValid() {
		return v.SetIP(n.addr)
	}
	v.B = n.name
	return true
}

func nodePort(_ *model.Txn, v *model.Value) bool {
	var n fwdNode
	if !n.parse(v.B) || !n.colon {
		return false
	}
	if n.hidden != nil {
		v.B = n.hidden
		return true
	}
	v.SetInt(n.port)
	return true
}

// makeName puts IPv6 addresses in brackets; text becomes an identifier, empty text "unknown".
func makeName(tx *model.Txn, v *model.Value) bool {
	switch v.Type {
	case model.TypeIPv4:
		return sample.Cast(tx, v, model.TypeStr)
	case model.TypeIPv6:
		b := append(tx.Scratch.Grab(), '[')
		return keep(tx, v, append(v.IP.AppendTo(b), ']'))
	}
	if !sample.Cast(tx, v, model.TypeStr) {
		return false
	}
	if len(v.B) == 0 {
		return setConst(v, unknownNode)
	}
	return makeIdentifier(tx, v)
}

// makePort takes the lower 32 bits of a number.
func makePort(tx *model.Txn, v *model.Value) bool {
	if v.Type == model.TypeSint {
		return keep(tx, v, ascii.AppendUint(tx.Scratch.Grab(), uint64(uint32(v.Num))))
	}
	return sample.Cast(tx, v, model.TypeStr) && len(v.B) > 0 && makeIdentifier(tx, v)
}

func makeIdentifier(tx *model.Txn, v *model.Value) bool {
	for _, c := range v.B {
		if !identifierByte(c) {
			return false
		}
	}
	b := room(tx, len(v.B)+1)
	if b == nil {
		return setConst(v, nil)
	}
	b[0] = '_'
	copy(b[1:], v.B)
	v.SetStr(b)
	return true
}
