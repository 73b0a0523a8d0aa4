package server

import (
	"strconv"
	"strings"

	"weir/internal/base/addr"
	"weir/internal/lang/config"
	"weir/internal/lang/logfmt"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

// proxyOptions are the words of proxy-v2-options.
var proxyOptions = map[string]model.ProxyOption{
	"ssl": model.ProxySSL, "cert-cn": model.ProxyCertCN | model.ProxySSL, "cert-key": model.ProxyCertKey | model.ProxySSL,
	"cert-sig": model.ProxyCertSig | model.ProxySSL, "ssl-cipher": model.ProxySSLCipher | model.ProxySSL,
	"authority": model.ProxyAuthority, "crc32c": model.ProxyCRC32C, "unique-id": model.ProxyUniqueID,
}

var proxyOptionNames = []string{"authority", "cert-cn", "cert-key", "cert-sig", "crc32c", "ssl", "ssl-cipher", "unique-id"}

func init() {
	const cn = model.ProxySSL | model.ProxyCertCN
	config.Server.Add(
		set("send-proxy", "connections begin with a PROXY header", func(s *model.Server) { s.SendProxy.V1 = true }),
		set("send-proxy-v2", "connections begin with a PROXY header of version 2", func(s *model.Server) { s.SendProxy.V2 = true }),
		set("send-proxy-v2-ssl", "the header tells of TLS too", func(s *model.Server) { s.SendProxy.V2, s.SendProxy.Opt = true, s.SendProxy.Opt|model.ProxySSL }),
		set("send-proxy-v2-ssl-cn", "and of the client's certificate", func(s *model.Server) { s.SendProxy.V2, s.SendProxy.Opt = true, s.SendProxy.Opt|cn }),
		set("no-send-proxy", "undoes send-proxy", func(s *model.Server) { s.SendProxy.V1 = false }),
		set("no-send-proxy-v2", "undoes send-proxy-v2", func(s *model.Server) { s.SendProxy.V2 = false }),
		set("no-send-proxy-v2-ssl", "undoes send-proxy-v2-ssl", func(s *model.Server) { s.SendProxy.V2, s.SendProxy.Opt = false, s.SendProxy.Opt&^model.ProxySSL }),
		set("no-send-proxy-v2-ssl-cn", "undoes send-proxy-v2-ssl-cn", func(s *model.Server) { s.SendProxy.V2, s.SendProxy.Opt = false, s.SendProxy.Opt&^cn }),
		config.Keyword{Name: "proxy-v2-options", Args: "<option>[,<option>]*", Help: "what else a header of version 2 tells", Params: 1, Parse: config.On(parseProxyOptions)},
		config.Keyword{Name: "set-proxy-v2-tlv-fmt", Paren: true, Args: "(<id>) <fmt>", Help: "a value of its own in a header of version 2", Params: -1, Parse: config.On(parseProxyValue)},
		config.Keyword{Name: "pool-conn-name", Args: "<expr>", Help: "what idle connections are told apart by, instead of the name that TLS asks for", Params: 1, Parse: config.On(parsePoolName)},
		config.Keyword{Name: "socks4", Args: "<addr>:<port>", Help: "SOCKS4 proxy that connections go through", Params: 1, Parse: config.On(parseSocks4)},
	)
}

func parseProxyOptions(l *config.Line, s *line) {
	for _, w := range strings.Split(l.Arg(0), ",") {
		o, ok := proxyOptions[w]
		if !ok {
			l.UnknownName(0, "option of proxy-v2-options", w, proxyOptionNames)
			return
		}
		s.SendProxy.Opt |= o
	}
}

// formatPlaces are where the values of a header find their data.
const formatPlaces = sample.BackTCPContent | sample.BackHTTPRequest

func parseProxyValue(l *config.Line, s *line) {
	text, ok := l.Paren()
	if !ok {
		l.Errorf(config.KeywordArg, "'set-proxy-v2-tlv-fmt' needs the type of the value in parentheses, such as set-proxy-v2-tlv-fmt(0xE1).")
		return
	}
	id, err := strconv.ParseUint(text, 0, 32)
	if err != nil || id > 255 {
		l.Errorf(config.KeywordArg, "'%s' is no type of a value: they go from 0 to 255.", text)
		return
	}
	v := model.ProxyValue{ID: byte(id)}
	if l.Has(0) {
		l.Take(1)
		f, err := logfmt.Parse(&sample.Scope{Line: l, Proxy: s.proxy, Valid: formatPlaces}, l.Arg(0), logfmt.Options{Use: logfmt.ForText})
		if err != nil {
			l.Errorf(0, "%s.", err)
			return
		}
		v.Format = f
	}
	list := s.SendProxy.Values
	s.SendProxy.Values = append(list[:len(list):len(list)], v) // lines that start from others share the list
}

func parseSocks4(l *config.Line, s *line) {
	a, ok := l.Addr(0, addr.Connect)
	switch {
	case !ok:
	case !a.Family.IsIP() || a.IsName || a.Any:
		l.Errorf(0, "'%s': a SOCKS4 proxy needs an IP address and a port.", l.Arg(0))
	case a.Port == 0:
		l.Errorf(0, "'%s' lacks a port.", l.Arg(0))
	default:
		s.Socks4, s.HasSocks4 = a, true
	}
}

// connName is the expression of pool-conn-name.
type connName struct{ *sample.Expr }

// Eval implements model.Evaluator; the value is text.
func (e connName) Eval(tx *model.Txn, v *model.Value) bool { return e.EvalAs(tx, model.TypeStr, v) }

func parsePoolName(l *config.Line, s *line) {
	e, err := sample.Parse(&sample.Scope{Line: l, Proxy: s.proxy, Valid: formatPlaces}, l.Arg(0))
	if err != nil {
		l.Errorf(0, "'pool-conn-name': %s.", err)
		return
	}
	s.PoolName = connName{e}
}
