package proxy

import (
	"net/netip"
	"strconv"
	"strings"

	"weir/internal/base/ascii"
	"weir/internal/lang/config"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	config.Proxy.Add(
		config.Keyword{
			Name: "http-send-name-header", In: config.InDefaults | config.InBackend, Args: "[<header>]", No: true,
			Help: "tells the server its own name in a header field",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				if l.No() || l.Len() == 0 {
					p.SendNameHeader = ""
					return
				}
				if !l.NeedArgs(1, 1) {
					return
				}
				if !ascii.IsTokenBytes([]byte(l.Arg(0))) {
					l.Errorf(0, "'%s' is no name of a header field.", l.Arg(0))
					return
				}
				switch strings.ToLower(l.Arg(0)) {
				case "host", "content-length", "transfer-encoding", "connection":
					l.Errorf(0, "'%s' cannot carry the server's name: it says how the request is to be read.", l.Arg(0))
					return
				}
				p.SendNameHeader = l.Arg(0)
			}),
		},
		config.Keyword{
			Name: "option forwardfor", In: anywhere, Args: "[except <network>] [header <name>] [if-none]",
			Help: "tells servers the client's address in X-Forwarded-For",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				if f, ok := parseForwardFor(l, "X-Forwarded-For", true); ok {
					p.ForwardFor = f
				}
			}),
		},
		config.Keyword{
			Name: "option originalto", In: anywhere, Args: "[except <network>] [header <name>]",
			Help: "tells servers the address that the client connected to, in X-Original-To",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				if f, ok := parseForwardFor(l, "X-Original-To", false); ok {
					p.OriginalTo = f
				}
			}),
		},
		config.Keyword{
			Name: "option forwarded", In: backend, No: true,
			Args:  "[proto] [host] [by] [by_port] [for] [for_port]",
			Help:  "tells servers about the client in a Forwarded field (RFC 7239)",
			Parse: config.On(parseForwarded),
		},
	)
}

func parseForwardFor(l *config.Line, header string, ifNone bool) (model.ForwardFor, bool) {
	f, ok := model.ForwardFor{Enabled: true, Header: header}, true
	words := []string{"except", "header"}
	if ifNone {
		words = append(words, "if-none")
	}
	for i := 0; i < l.Len(); i++ {
		switch w := l.Arg(i); {
		case w == "except":
			i++
			n, good := parseNetwork(l.Arg(i))
			if !good {
				l.Errorf(i, "'except' expects an IPv4 or IPv6 address with an optional mask, such as 192.0.2.0/24.")
				ok = false
				break
			}
			f.Except = n.String()
		case w == "header":
			i++
			if !ascii.IsTokenBytes([]byte(l.Arg(i))) {
				l.Errorf(i, "'header' expects the name of a header field.")
				ok = false
				break
			}
			f.Header = l.Arg(i)
		case w == "if-none" && ifNone:
			f.IfNone = true
		default:
			l.Unknown(i, "argument", words)
			ok = false
		}
	}
	return f, ok
}

// parseNetwork reads an address with an optional length or IPv4 mask.
func parseNetwork(s string) (netip.Prefix, bool) {
	host, mask, hasMask := strings.Cut(s, "/")
	ip, err := netip.ParseAddr(host)
	if err != nil || ip.Zone() != "" {
		return netip.Prefix{}, false
	}
	bits := ip.BitLen()
	if hasMask {
		var ok bool
		if bits, ok = maskBits(mask, ip.Is4()); !ok {
			return netip.Prefix{}, false
		}
	}
	n, err := ip.Prefix(bits)
	return n, err == nil
}

func maskBits(s string, v4 bool) (int, bool) {
	if n, err := strconv.Atoi(s); err == nil {
		return n, true
	}
	m, err := netip.ParseAddr(s)
	if err != nil || !m.Is4() || !v4 {
		return 0, false
	}
	var word uint32
	for _, b := range m.As4() {
		word = word<<8 | uint32(b)
	}
	bits := 0
	for ; word&(1<<31) != 0; bits++ {
		word <<= 1
	}
	return bits, word == 0
}

func parseForwarded(l *config.Line, p *model.Proxy) {
	if l.No() {
		if l.NeedArgs(0, 0) {
			p.Forwarded = model.Forwarded{}
		}
		return
	}
	f, ok := model.Forwarded{Enabled: true}, true
	words := []string{"proto", "host", "by", "by_port", "for", "for_port"}
	for i := 0; i < l.Len(); i++ {
		switch w := l.Arg(i); w {
		case "proto":
			f.Proto = true
		case "host":
			f.Host = true
		case "by":
			f.By = true
		case "by_port":
			f.ByPort = true
		case "for":
			f.For = true
		case "for_port":
			f.ForPort = true
		case "host-expr", "by-expr", "by_port-expr", "for-expr", "for_port-expr":
			i++
			e := parseForwardedExpr(l, p, i, w)
			if e == nil {
				return
			}
			*map[string]*model.Format{"host-expr": &f.HostExpr, "by-expr": &f.ByExpr, "by_port-expr": &f.ByPortExpr, "for-expr": &f.ForExpr, "for_port-expr": &f.ForPortExpr}[w] = e
		default:
			l.Unknown(i, "argument", words)
			ok = false
		}
	}
	if l.Len() == 0 {
		f.Proto, f.For = true, true
	}
	if (f.ByPort || f.ByPortExpr != nil) && !f.By && f.ByExpr == nil {
		l.Warnf(0, "'by_port' has no effect without 'by'.")
	}
	if (f.ForPort || f.ForPortExpr != nil) && !f.For && f.ForExpr == nil {
		l.Warnf(0, "'for_port' has no effect without 'for'.")
	}
	if ok {
		p.Forwarded = f
	}
}

// exprText is an expression used as a text.
type exprText struct{ e *sample.Expr }

// Append appends the value, nothing when there is none.
func (x exprText) Append(dst []byte, tx *model.Txn) []byte {
	b, _ := x.e.EvalStr(tx)
	return append(dst, b...)
}

// parseForwardedExpr reads the expression that argument i is.
func parseForwardedExpr(l *config.Line, p *model.Proxy, i int, word string) model.Format {
	if !l.Has(i) {
		l.Errorf(i, "'%s' needs an expression after it.", word)
		return nil
	}
	e, err := sample.Parse(scope(l, p, i, sample.BackHTTPRequest), l.Arg(i))
	if err != nil {
		l.Errorf(i, "%s.", err)
		return nil
	}
	return exprText{e}
}
