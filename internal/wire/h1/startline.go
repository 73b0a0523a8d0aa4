package h1

import (
	"encoding/binary"
	"math/bits"

	"weir/internal/base/ascii"
	"weir/internal/wire/msg"
)

// startLine reads a first line, given without its line feed; at is its offset
// in the input.
func (p *Parser) startLine(line []byte, at int, m *msg.Message, o *Options) *Error {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	if p.resp {
		return p.statusLine(line, at, m, o)
	}
	return p.requestLine(line, at, m, o)
}

// requestLine reads "method target version". Blanks between them may be
// several, as in the reference; none may follow the version.
func (p *Parser) requestLine(line []byte, at int, m *msg.Message, o *Options) *Error {
	i := ascii.TokenLen(line)
	if i == 0 || i == len(line) || !ascii.IsBlank(line[i]) {
		return p.fail(ErrStartLine, at+i, "forbidden byte in the method")
	}
	m.MethodName = line[:i]
	m.Method = msg.LookupMethod(m.MethodName)
	i = skipBlanks(line, i)
	start := i
	for {
		i += targetStop(line[i:])
		if i == len(line) || ascii.IsBlank(line[i]) {
			break
		}
		if c := line[i]; !o.unsafe() || c < 0x20 || c == 0x7f {
			return p.fail(ErrTarget, at+i, "forbidden byte in the request target")
		}
		m.UnsafeParsed = true
		i++
	}
	if i == start {
		return p.fail(ErrStartLine, at+i, "request target missing")
	}
	m.SetTargetView(line[start:i])
	return p.version(line[skipBlanks(line, i):], at+i, m, o)
}

// version reads the version token v.
func (p *Parser) version(v []byte, at int, m *msg.Message, o *Options) *Error {
	if len(v) == 8 && string(v[:5]) == "HTTP/" && v[6] == '.' && ascii.IsDigit(v[5]) && ascii.IsDigit(v[7]) {
		m.Major, m.Minor = v[5]-'0', v[7]-'0'
		return nil
	}
	if !o.unsafe() {
		return p.fail(ErrVersion, at, "HTTP version missing or malformed")
	}
	m.UnsafeParsed = true
	m.Major, m.Minor = 1, 0
	if len(v) == 0 {
		if p.resp || m.Method != msg.GET {
			return p.fail(ErrVersion, at, "HTTP version missing")
		}
		m.HTTP09 = true
		return nil
	}
	for _, c := range v {
		if !(c >= 'A' && c <= 'Z' || ascii.IsDigit(c) || c == '/' || c == '.') {
			return p.fail(ErrVersion, at, "forbidden byte in the protocol version")
		}
	}
	if len(v) == 8 && v[4] == '/' && v[6] == '.' && ascii.IsDigit(v[5]) && ascii.IsDigit(v[7]) {
		m.Major, m.Minor = v[5]-'0', v[7]-'0'
	}
	m.VersionRaw = v
	return nil
}

// statusLine reads "version status reason"; the reason may be missing.
func (p *Parser) statusLine(line []byte, at int, m *msg.Message, o *Options) *Error {
	i := 0
	for i < len(line) && line[i] > 0x20 {
		i++
	}
	if err := p.version(line[:i], at, m, o); err != nil {
		return err
	}
	i = skipBlanks(line, i)
	start := i
	for i < len(line) && ascii.IsDigit(line[i]) {
		i++
	}
	v, ok := ascii.ParseUint(line[start:i])
	digits := i - start
	switch {
	case i < len(line) && !ascii.IsBlank(line[i]), !ok:
		return p.fail(ErrStatus, at+i, "forbidden byte in the status code")
	case digits > 3 && o.unsafe() && v < 65536:
		m.UnsafeParsed = true
	case digits != 3:
		return p.fail(ErrStatus, at+start, "the status code does not have three digits")
	}
	if v < 100 {
		return p.fail(ErrStatus, at+start, "status code below 100")
	}
	m.Status = int(v)
	m.Reason = line[skipBlanks(line, i):]
	for k, c := range m.Reason {
		if c == '\r' || c == 0 {
			return p.fail(ErrStartLine, at+len(line)-len(m.Reason)+k, "forbidden byte in the reason phrase")
		}
	}
	return nil
}

func skipBlanks(b []byte, i int) int {
	for i < len(b) && ascii.IsBlank(b[i]) {
		i++
	}
	return i
}

// targetStop returns the index of the first byte of b that ends a target or is
// not allowed in one: 0-0x20, '#', 0x7F and above.
func targetStop(b []byte) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	i := 0
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		hash := x ^ ones*'#'
		del := x ^ ones*0x7f
		t := (x-ones*0x21)&^x | (hash-ones)&^hash | (del-ones)&^del | x
		if t &= highs; t != 0 {
			return i + bits.TrailingZeros64(t)>>3
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c <= 0x20 || c >= 0x7f || c == '#' {
			break
		}
	}
	return i
}
