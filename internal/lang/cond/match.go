package cond

import (
	"bytes"
	"math"
	"net/netip"
	"strconv"
	"strings"

	"weir/internal/base/ascii"
	"weir/internal/model"
)

// matchFunc compares a value with a pattern; under fold the pattern is in
// lower case and case does not matter.
type matchFunc func(value []byte, pattern string, fold bool) bool

func matchExact(v []byte, p string, fold bool) bool {
	if fold {
		return ascii.EqualFoldString(v, p)
	}
	return string(v) == p
}

func matchPrefix(v []byte, p string, fold bool) bool {
	if fold {
		return ascii.HasPrefixFold(v, p)
	}
	return len(v) >= len(p) && string(v[:len(p)]) == p
}

func matchSuffix(v []byte, p string, fold bool) bool {
	if fold {
		return ascii.HasSuffixFold(v, p)
	}
	return len(v) >= len(p) && string(v[len(v)-len(p):]) == p
}

// words is a set of patterns of which one has to match.
type words struct {
	how      matchFunc
	patterns []string
	fold     bool
}

func (w *words) match(v []byte) bool {
	for _, p := range w.patterns {
		if w.how(v, p, w.fold) {
			return true
		}
	}
	return false
}

// pathMatch is path, path_beg and path_end.
type pathMatch struct{ words }

func (m *pathMatch) Match(t model.Transaction) bool {
	p := t.Path()
	return p != nil && m.match(p)
}

// method compares the request's method with a set. The methods of HTTP itself
// are compared as they are; -i is for others only, as in the reference.
type method struct {
	names []string
	fold  bool
}

func (m *method) Match(t model.Transaction) bool {
	v := t.Method()
	if v == nil {
		return false
	}
	fold := m.fold && !isStandard(v)
	for _, n := range m.names {
		if matchExact(v, n, fold) {
			return true
		}
	}
	return false
}

func isStandard(method []byte) bool {
	switch string(method) {
	case "OPTIONS", "GET", "HEAD", "POST", "PUT", "DELETE", "TRACE", "CONNECT":
		return true
	}
	return false
}

// header is hdr(name) and hdr_beg(name): each value of a comma-separated list
// in each field of that name is tried.
type header struct {
	name string
	words
}

func (h *header) Match(t model.Transaction) bool {
	lister, ok := t.(model.HeaderLister)
	if !ok {
		return h.field(t.Header(h.name))
	}
	for n := 0; ; n++ {
		v := lister.HeaderAt(h.name, n)
		if v == nil {
			return false
		}
		if h.field(v) {
			return true
		}
	}
}

// field tries the values of one field.
func (h *header) field(v []byte) bool {
	if v == nil {
		return false
	}
	for {
		value, rest, more := cutValue(v)
		if h.match(ascii.Trim(value)) {
			return true
		}
		if !more {
			return false
		}
		v = rest
	}
}

// cutValue splits at the first comma outside of a quoted string.
func cutValue(v []byte) (value, rest []byte, more bool) {
	if bytes.IndexByte(v, '"') < 0 {
		return bytes.Cut(v, comma)
	}
	quoted := false
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			return v[:i], v[i+1:], true
		}
	}
	return v, nil, false
}

var comma = []byte{','}

// isHTTP is the predefined HTTP: a request was parsed.
type isHTTP struct{}

func (isHTTP) Match(t model.Transaction) bool { return t.Method() != nil }

// hasContent is the predefined HTTP_CONTENT: a Content-Length above zero.
type hasContent struct{}

func (hasContent) Match(t model.Transaction) bool {
	n, ok := ascii.ParseUint(ascii.Trim(t.Header("content-length")))
	return ok && n > 0
}

// source compares the client's address with networks. An IPv4 address in IPv6
// form is compared as IPv4, and the other way round.
type source struct{ nets []netip.Prefix }

func (s *source) Match(t model.Transaction) bool {
	ip := t.ClientAddr().Addr().Unmap().WithZone("")
	for _, n := range s.nets {
		if n.Contains(ip) {
			return true
		}
		if n.Addr().Is4In6() && ip.Is4() && n.Contains(netip.AddrFrom16(ip.As16())) {
			return true
		}
	}
	return false
}

// servers is nbsrv.
type servers struct {
	backend string
	ranges  []span
}

// span is a range of integers, both ends included.
type span struct{ low, high int64 }

func (s *servers) Match(t model.Transaction) bool {
	n := int64(t.UsableServers(s.backend))
	if n < 0 {
		return false
	}
	for _, r := range s.ranges {
		if r.low <= n && n <= r.high {
			return true
		}
	}
	return false
}

// parseRanges reads "[eq|ge|gt|le|lt] value ..." (manual 7.1.2); an operator
// holds for all values after it, up to the next operator.
func parseRanges(a *args) ([]span, bool) {
	var (
		out []span
		op  = "eq"
		ok  = true
	)
	for i := a.from; i < a.to; i++ {
		w := a.l.Arg(i)
		switch w {
		case "eq", "ge", "gt", "le", "lt":
			op = w
			if i+1 == a.to {
				a.l.Errorf(i+1, "'%s' needs a number after it.", w)
				ok = false
			}
			continue
		}
		r, good := parseRange(w)
		if !good {
			a.l.Errorf(i, "'%s' is neither a number, a range such as 2:5, nor one of the operators eq, ge, gt, le, lt.", w)
			ok = false
			continue
		}
		out = append(out, r.under(op))
	}
	return out, ok
}

func parseRange(w string) (span, bool) {
	low, high, isRange := strings.Cut(w, ":")
	r := span{math.MinInt64, math.MaxInt64}
	if !isRange {
		n, err := strconv.ParseInt(w, 10, 64)
		return span{n, n}, err == nil
	}
	var err1, err2 error
	if low != "" {
		r.low, err1 = strconv.ParseInt(low, 10, 64)
	}
	if high != "" {
		r.high, err2 = strconv.ParseInt(high, 10, 64)
	}
	return r, err1 == nil && err2 == nil && low+high != "" && r.low <= r.high
}

// under applies an operator to a value or range.
func (r span) under(op string) span {
	switch op {
	case "ge":
		return span{r.low, math.MaxInt64}
	case "gt":
		if r.high == math.MaxInt64 {
			return span{1, 0}
		}
		return span{r.high + 1, math.MaxInt64}
	case "le":
		return span{math.MinInt64, r.high}
	case "lt":
		if r.low == math.MinInt64 {
			return span{1, 0}
		}
		return span{math.MinInt64, r.low - 1}
	}
	return r
}
