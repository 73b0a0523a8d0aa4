package msg

import (
	"bytes"

	"weir/internal/base/ascii"
)

// Cookie is one name and value of a Cookie or Set-Cookie field, without blanks
// around either. Value keeps its quotes.
type Cookie struct {
	Name, Value []byte
	Index       int    // its field in Fields
	Attributes  []byte // Set-Cookie: what follows the first semicolon
}

// CookieIter walks the cookies of a message: all those of the Cookie fields of
// a request, or those of the Set-Cookie fields of an answer. It is as lenient
// as the reference: semicolons and commas both separate cookies, quoted
// strings protect them, parts without an equal sign or without a name are
// skipped, and so are names that start with a dollar sign in requests.
type CookieIter struct {
	Cookie
	m    *Message
	rest []byte
}

// Cookies returns an iterator over the cookies of m.
func (m *Message) Cookies() CookieIter { return CookieIter{m: m, Cookie: Cookie{Index: -1}} }

// CookiesOf returns an iterator over the cookies of one Cookie value.
func CookiesOf(value []byte) CookieIter { return CookieIter{rest: value} }

// Next moves to the next cookie and reports whether there is one.
func (it *CookieIter) Next() bool {
	answer := it.m != nil && it.m.IsResponse
	name := "cookie"
	if answer {
		name = "set-cookie"
	}
	for {
		for len(it.rest) > 0 {
			n := cookieLen(it.rest, answer)
			part := it.rest[:n]
			it.rest = it.rest[min(n+1, len(it.rest)):]
			if it.split(part, answer) {
				return true
			}
		}
		if it.m == nil {
			return false
		}
		i := it.m.Find(name, it.Index+1)
		if i < 0 {
			return false
		}
		it.Index, it.rest = i, it.m.Fields[i].Value
	}
}

// cookieLen returns the length of the first cookie of b: up to a separator
// outside quotes. In answers a semicolon starts the attributes of the same
// cookie and does not separate.
func cookieLen(b []byte, answer bool) int {
	quoted := false
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			quoted = !quoted
		case '\\':
			if quoted {
				i++
			}
		case ';':
			if !quoted && !answer {
				return i
			}
		case ',':
			if !quoted {
				return i
			}
		}
	}
	return len(b)
}

// split cuts "name = value; attributes" and reports whether it is a cookie.
func (it *CookieIter) split(part []byte, answer bool) bool {
	it.Attributes = nil
	if answer {
		if n := cookieLen(part, false); n < len(part) {
			part, it.Attributes = part[:n], part[n+1:]
		}
	}
	i := bytes.IndexByte(part, '=')
	if i <= 0 {
		return false
	}
	it.Name = ascii.Trim(part[:i])
	it.Value = ascii.Trim(part[i+1:])
	return len(it.Name) > 0 && (answer || it.Name[0] != '$')
}

// GetCookie returns the value of the first cookie of exactly that name.
func (m *Message) GetCookie(name string) (value []byte, found bool) {
	for it := m.Cookies(); it.Next(); {
		if string(it.Name) == name {
			return it.Value, true
		}
	}
	return nil, false
}
