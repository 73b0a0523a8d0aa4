package stream

import (
	"net/netip"
	"strconv"

	"weir/internal/base/ascii"
	"weir/internal/model"
)

// forwardedRFC7239 adds the Forwarded field (manual 4.2, "option forwarded").
func (s *Stream) forwardedRFC7239() {
	w := &s.be.Conf.Forwarded
	if !w.Enabled {
		return
	}
	mark := s.tx.Scratch.Mark()
	defer s.tx.Scratch.Release(mark)
	s.tx.Final = true
	v := s.tx.Scratch.Grab()
	start := func(key string) {
		if len(v) > 0 {
			v = append(v, ';')
		}
		v = append(v, key...)
	}
	if w.Proto {
		start("proto=http")
	}
	if w.Host || w.HostExpr != nil {
		start("host=\"")
		if h := s.forwardedHost(w); validHost(h) {
			v = append(v, h...)
		}
		v = append(v, '"')
	}
	if w.By || w.ByExpr != nil {
		start("by=")
		v = s.appendNode(v, s.ClientLocal, w.ByExpr, w.ByPortExpr, w.ByPort)
	}
	if w.For || w.ForExpr != nil {
		start("for=")
		v = s.appendNode(v, s.Client, w.ForExpr, w.ForPortExpr, w.ForPort)
	}
	if v, ok := s.tx.Scratch.Keep(v); ok && len(v) > 0 {
		s.req.Add("forwarded", v)
	}
}

func (s *Stream) forwardedHost(w *model.Forwarded) []byte {
	if w.HostExpr != nil {
		return s.evaluated(w.HostExpr)
	}
	h, _ := s.req.Get("host")
	return h
}

// evaluated is the text of an expression, nil without one.
func (s *Stream) evaluated(f model.Format) []byte {
	if f == nil {
		return nil
	}
	b, ok := s.tx.Scratch.Keep(f.Append(s.tx.Scratch.Grab(), &s.tx))
	if !ok {
		return nil
	}
	return b
}

// appendNode writes a node identifier of RFC 7239, section 6: an address, an identifier that begins with an underscore, or
// "unknown"; then a port of either kind. What holds more than token characters is quoted.
func (s *Stream) appendNode(v []byte, addr func() netip.AddrPort, name, port model.Format, withPort bool) []byte {
	var a netip.AddrPort
	if name == nil || port == nil && withPort {
		a = addr()
	}
	ip, text := a.Addr().Unmap(), s.evaluated(name)
	if name != nil {
		ip, _ = netip.ParseAddr(string(text))
	}
	number := s.evaluated(port)
	if port == nil && withPort && a.IsValid() {
		number = strconv.AppendUint(s.tx.Scratch.Alloc(5)[:0], uint64(a.Port()), 10)
	}
	quote := ip.Is6() || len(number) > 0
	if quote {
		v = append(v, '"')
	}
	switch {
	case ip.Is6():
		v = append(ip.AppendTo(append(v, '[')), ']')
	case ip.IsValid():
		v = ip.AppendTo(v)
	case validIdentifier(text):
		v = appendIdentifier(v, text)
	default:
		v = append(v, "unknown"...)
	}
	if len(number) > 0 && (isPort(number) || validIdentifier(number)) {
		v = append(v, ':')
		if isPort(number) {
			v = append(v, number...)
		} else {
			v = appendIdentifier(v, number)
		}
	}
	if quote {
		v = append(v, '"')
	}
	return v
}

// appendIdentifier writes an obfuscated identifier, which begins with an underscore.
func appendIdentifier(v, text []byte) []byte {
	if text[0] != '_' {
		v = append(v, '_')
	}
	return append(v, text...)
}

func validIdentifier(b []byte) bool {
	for _, c := range b {
		if !ascii.IsAlnum(c) && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return len(b) > 0
}

func isPort(b []byte) bool {
	n, ok := ascii.ParseUint(b)
	return ok && n <= 65535
}

// validHost reports whether b is a host name or an address with an optional port.
func validHost(b []byte) bool {
	if len(b) > 0 && b[0] == '[' {
		for i, c := range b {
			if c == ']' {
				_, err := netip.ParseAddr(string(b[1:i]))
				return err == nil && (i == len(b)-1 || b[i+1] == ':' && isPort(b[i+2:]))
			}
		}
		return false
	}
	for i, c := range b {
		if c == ':' {
			return i > 0 && isPort(b[i+1:])
		}
		if !ascii.IsAlnum(c) && c != '.' && c != '-' {
			return false
		}
	}
	return len(b) > 0
}
