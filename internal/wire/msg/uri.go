package msg

import (
	"bytes"

	"weir/internal/base/ascii"
)

// Form is the shape of a request target (RFC 9112 3.2).
type Form uint8

// Request target forms.
const (
	FormUnknown   Form = iota // none of the others
	FormOrigin                // /path?query
	FormAbsolute              // scheme://authority/path?query
	FormAuthority             // host:port, with CONNECT only
	FormAsterisk              // *
)

// URI is a request target cut into parts. All of them are views into the
// target. A fragment, which only a relaxed parser lets in, stays inside Path
// or Query as the reference leaves it there; Fragment is a view of it.
type URI struct {
	Form      Form
	HasQuery  bool   // a question mark is there, even with nothing after it
	Scheme    []byte // without "://"
	Authority []byte // user information, host and port
	UserInfo  []byte // without '@'
	Host      []byte // without port; an IPv6 literal keeps its brackets
	Port      []byte // digits after the last colon of the authority; may be empty
	Path      []byte // from the first slash to the question mark
	Query     []byte // after the question mark
	PathQuery []byte // Path, question mark and Query
	Fragment  []byte // after the first '#'
}

// URI returns the parts of the target. The result is valid until the next edit
// of the target.
func (m *Message) URI() *URI {
	if !m.uriOK {
		m.uri = ParseURI(m.Target, m.Method == CONNECT)
		m.uriOK = true
	}
	return &m.uri
}

// Path returns the path of the target, without the query.
func (m *Message) Path() []byte { return m.URI().Path }

// Query returns what follows the question mark and whether there is one.
func (m *Message) Query() (query []byte, found bool) {
	u := m.URI()
	return u.Query, u.HasQuery
}

// Host returns the host with its port as the request means it: the Host field
// if there is one, else the authority of the target.
func (m *Message) Host() []byte {
	if v, ok := m.Get("host"); ok {
		return v
	}
	_, host, port := SplitAuthority(m.URI().Authority)
	if port == nil {
		return host
	}
	a := m.URI().Authority
	return a[len(a)-len(port)-1-len(host):]
}

// ParseURI cuts a request target into parts. With connect, the target is an
// authority.
func ParseURI(target []byte, connect bool) (u URI) {
	rest := target
	switch {
	case len(target) == 0:
		return u
	case connect && target[0] != '/' && bytes.IndexByte(target, '/') < 0:
		u.Form = FormAuthority
		u.setAuthority(target)
		return u
	case target[0] == '/':
		u.Form = FormOrigin
	case len(target) == 1 && target[0] == '*':
		u.Form = FormAsterisk
		return u
	default:
		n := SchemeLen(target)
		if n == 0 {
			return u
		}
		u.Form = FormAbsolute
		u.Scheme = target[:n]
		rest = target[n+3:]
		end := AuthorityLen(rest)
		u.setAuthority(rest[:end])
		rest = rest[end:]
	}
	u.setPath(rest)
	return u
}

func (u *URI) setAuthority(a []byte) {
	u.Authority = a
	u.UserInfo, u.Host, u.Port = SplitAuthority(a)
}

func (u *URI) setPath(rest []byte) {
	u.PathQuery, u.Path = rest, rest
	if i := bytes.IndexByte(rest, '#'); i >= 0 {
		u.Fragment = rest[i+1:]
	}
	if i := bytes.IndexByte(rest, '?'); i >= 0 {
		u.Path, u.Query, u.HasQuery = rest[:i], rest[i+1:], true
	}
}

// SchemeLen returns the length of the scheme when target starts with one that
// "://" follows, else 0.
func SchemeLen(target []byte) int {
	for i, c := range target {
		switch {
		case ascii.IsAlpha(c):
		case i > 0 && (ascii.IsDigit(c) || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':' && len(target) > i+2 && target[i+1] == '/' && target[i+2] == '/':
			return i
		default:
			return 0
		}
	}
	return 0
}

// AuthorityLen returns the length of the authority at the start of b: up to a
// slash, a question mark, a number sign or the end.
func AuthorityLen(b []byte) int {
	for i, c := range b {
		if c == '/' || c == '?' || c == '#' {
			return i
		}
	}
	return len(b)
}

// SplitAuthority cuts an authority into user information, host and port. The
// port is what follows the last colon outside brackets when it has only
// digits (nil when there is no such colon, empty when nothing follows it).
func SplitAuthority(a []byte) (user, host, port []byte) {
	if i := bytes.LastIndexByte(a, '@'); i >= 0 {
		user, a = a[:i], a[i+1:]
	}
	i := len(a)
	for i > 0 && ascii.IsDigit(a[i-1]) {
		i--
	}
	if i > 0 && a[i-1] == ':' {
		return user, a[:i-1], a[i:]
	}
	return user, a, nil
}

// DefaultPort reports whether port (digits, maybe none) is the one that the
// scheme implies: empty always is, 80 for http, 443 for https.
func DefaultPort(scheme, port []byte) bool {
	switch {
	case len(port) == 0:
		return true
	case ascii.EqualFoldString(scheme, "http"):
		return string(port) == "80"
	case ascii.EqualFoldString(scheme, "https"):
		return string(port) == "443"
	}
	return false
}

// TrimDefaultPort returns an authority without the port that its scheme
// implies, or without an empty one, as every version normalises it (RFC 9110
// 4.2.3).
func TrimDefaultPort(scheme, authority []byte) []byte {
	_, _, port := SplitAuthority(authority)
	if port == nil || !DefaultPort(scheme, port) {
		return authority
	}
	return authority[:len(authority)-len(port)-1]
}

// SetTarget replaces the whole target (copied).
func (m *Message) SetTarget(target []byte) { m.SetTargetView(m.arena.copy(target)) }

// SetTargetView is SetTarget without the copy: target must stay unchanged
// until Reset.
func (m *Message) SetTargetView(target []byte) {
	m.Target = target
	m.uriOK = false
}

// SetPath replaces the path; the scheme, authority and query stay.
func (m *Message) SetPath(path []byte) {
	u := m.URI()
	m.splice(path, u.Query, u.HasQuery)
}

// SetPathQuery replaces everything behind the authority.
func (m *Message) SetPathQuery(pq []byte) { m.splice(pq, nil, false) }

// SetQuery replaces the query string, question mark not included; a nil query
// removes the question mark as well.
func (m *Message) SetQuery(query []byte) { m.splice(m.URI().Path, query, query != nil) }

// splice builds a target out of the current one up to the path, and the rest.
func (m *Message) splice(path, query []byte, mark bool) {
	head := m.Target[:len(m.Target)-len(m.URI().PathQuery)]
	switch m.URI().Form {
	case FormAsterisk, FormUnknown, FormAuthority:
		head = nil
	}
	n := len(head) + len(path) + len(query)
	if mark {
		n++
	}
	t := append(append(m.arena.alloc(n)[:0], head...), path...)
	if mark {
		t = append(append(t, '?'), query...)
	}
	m.SetTargetView(t)
}
