package server

import (
	"strings"

	"weir/internal/base/addr"
	"weir/internal/lang/config"
	"weir/internal/model"
)

func init() {
	config.Proxy.Add(config.Keyword{
		Name: "source", In: config.InDefaults | config.InBackend,
		Args: "<address>[:<port>] [usesrc { <address> | client | clientip }] [interface <name>]",
		Help: "local address of connections to servers",
		Parse: config.On(func(l *config.Line, p *model.Proxy) {
			src, n := parseSource(l, false)
			switch {
			case src == nil:
			case n < l.Len():
				l.Unknown(n, "argument", []string{"usesrc", "interface"})
			default:
				p.Source = src
			}
		}),
	})
}

// parseSource reads an address with its optional "usesrc" and "interface". It
// returns nil after an error, and the number of words that it took.
func parseSource(l *config.Line, portRange bool) (*model.Source, int) {
	if !l.Has(0) {
		l.Errorf(0, "'source' expects an address: source <address>[:<port>] [usesrc { <address> | client | clientip }] [interface <name>]")
		return nil, 0
	}
	need := addr.Source
	need.Range = portRange
	a, ok := l.Addr(0, need)
	if ok && a.PortKind == addr.PortRange {
		l.NotYet(0, "range of source ports", l.Arg(0))
		ok = false
	}
	src := &model.Source{Pos: l.Pos(), Addr: a}
	n := 1
	for ; n < l.Len(); n += 2 {
		var good bool
		switch l.Arg(n) {
		case "usesrc":
			good = parseUseSrc(l, n+1, src)
		case "interface":
			if good = l.Has(n + 1); !good {
				l.Errorf(n+1, "'interface' needs the name of a network interface.")
			}
			src.Interface = l.Arg(n + 1)
		default:
			if !ok {
				return nil, n
			}
			return src, n
		}
		ok = ok && good
	}
	if !ok {
		return nil, min(n, l.Len())
	}
	return src, n
}

func parseUseSrc(l *config.Line, i int, src *model.Source) bool {
	word := l.Arg(i)
	switch {
	case word == "":
		l.Errorf(i, "'usesrc' needs the address to show to servers: <address>[:<port>], client or clientip.")
		return false
	case strings.HasPrefix(word, "hdr_ip("):
		l.NotYet(i, "usesrc argument", "hdr_ip()")
		return false
	case word != "client" && word != "clientip":
		if a, ok := l.Addr(i, addr.Source); ok && a.IsName {
			l.Errorf(i, "'usesrc' needs an address; '%s' is a name.", word)
		} else if ok {
			l.NotYet(i, "usesrc argument", word)
		}
		return false
	}
	src.UseSrc = word
	return true
}
