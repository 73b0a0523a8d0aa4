// Package balance holds the keywords that say how servers are chosen: balance, hash-type and their kin (manual 4.2).
package balance

import (
	"math"
	"strconv"
	"strings"

	"weir/internal/lang/config"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

const backend = config.InDefaults | config.InBackend

// algorithms are the names after "balance"; those that end with an opening parenthesis take an argument there.
var algorithms = []string{
	"roundrobin", "static-rr", "leastconn", "first", "hash", "source", "uri", "url_param", "hdr", "random", "rdp-cookie", "sticky", "log-hash",
}

func init() {
	config.Proxy.Add(
		config.Keyword{
			Name: "balance", In: backend, Args: "[<algorithm> [argument ...]]",
			Help: "how a server is chosen", Parse: config.On(parseBalance),
		},
		config.Keyword{
			Name: "hash-type", In: backend, Args: "{ map-based | consistent } [<function> [avalanche]]",
			Help: "how hashes become servers", Parse: config.On(parseHashType),
		},
		config.Keyword{
			Name: "hash-balance-factor", In: backend, Args: "<factor>",
			Help: "load of a server on the ring, in percent of the average; 0: any",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				if !l.NeedArgs(1, 1) {
					return
				}
				n, ok := l.Int(0, 0, math.MaxInt32)
				switch {
				case !ok:
				case n > 0 && n <= 100:
					l.Errorf(0, "'hash-balance-factor' must be 0, or more than 100 percent of the average.")
				default:
					p.Balance.Factor = int(n)
				}
			}),
		},
		config.Keyword{
			Name: "hash-preserve-affinity", In: backend, Args: "{ always | maxconn | maxqueue }",
			Help: "when a request leaves the server that its hash means",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				if !l.NeedArgs(1, 1) {
					return
				}
				if n := l.OneOf(0, "strategy", "always", "maxconn", "maxqueue"); n >= 0 {
					p.Balance.Affinity = model.Affinity(n)
				}
			}),
		},
	)
	config.AddCheck(config.Check{Name: "balancing that needs mode http", Order: 90, Run: func(p *config.Parser) {
		for _, px := range p.Root().(*model.Config).Proxies {
			if px.IsBackend() && px.Mode != model.ModeHTTP && !px.Disabled {
				checkMode(p, px)
			}
		}
	}})
}

// checkMode lets backends that do not speak HTTP take turns instead of hashing what only HTTP has.
func checkMode(p *config.Parser, px *model.Proxy) {
	switch b := &px.Balance; b.Algorithm {
	case "uri", "url_param", "hdr":
		p.Warnf(b.Pos, "'balance %s' needs 'mode http': the servers of %s '%s' take turns instead.", b.Algorithm, px.Kind, px.Name)
		b.Algorithm, b.Key = "", nil
	}
}

func parseBalance(l *config.Line, p *model.Proxy) {
	b := p.Balance
	b.Algorithm, b.Key, b.Body, b.Draws, b.Pos = "roundrobin", nil, false, 0, l.Pos()
	if l.Has(0) && !parseAlgorithm(l, p, &b) {
		return
	}
	p.Balance = b
}

func parseAlgorithm(l *config.Line, p *model.Proxy, b *model.Balance) bool {
	name, arg, called := strings.Cut(l.Arg(0), "(")
	if called {
		var closed bool
		if arg, closed = strings.CutSuffix(arg, ")"); !closed {
			l.Errorf(0, "'%s' lacks its closing parenthesis.", l.Arg(0))
			return false
		}
	}
	b.Algorithm = name
	switch name {
	case "roundrobin", "static-rr", "leastconn", "first", "sticky":
	case "source":
		b.Key = source{}
	case "uri":
		return !called && parseURI(l, b)
	case "url_param":
		return !called && parseParam(l, b)
	case "hash":
		return !called && parseHash(l, p, b)
	case "hdr":
		if arg == "" {
			l.Errorf(0, "'balance hdr' needs the name of a header field: hdr(<name>).")
			return false
		}
		return parseHeader(l, b, arg)
	case "rdp-cookie":
		if called && arg == "" {
			l.Errorf(0, "'balance rdp-cookie()' lacks the name of the cookie.")
			return false
		}
		if arg == "" {
			arg = "mstshash"
		}
		return setExpr(l, p, b, "req.rdp_cookie("+arg+")")
	case "random":
		return parseDraws(l, b, arg)
	case "log-hash":
		l.NotYet(0, "balance algorithm", name)
		return false
	default:
		l.UnknownName(0, "balance algorithm", name, algorithms)
		return false
	}
	if called {
		l.Errorf(0, "'balance %s' takes no argument in parentheses.", name)
		return false
	}
	ignored(l, 1)
	return true
}

// ignored warns of words that have no meaning; old configurations have some.
func ignored(l *config.Line, from int) {
	if l.Has(from) {
		l.Warnf(from, "'%s' has no meaning after 'balance %s'.", l.Join(from), l.Arg(0))
	}
}

func parseDraws(l *config.Line, b *model.Balance, arg string) bool {
	if arg == "" {
		ignored(l, 1)
		return true
	}
	n, err := strconv.Atoi(arg)
	if err != nil || n < 1 || n > math.MaxInt32 {
		l.Errorf(0, "'%s' is no number of draws: 'balance random(<draws>)' needs at least 1.", arg)
		return false
	}
	b.Draws = n
	ignored(l, 1)
	return true
}

func parseHash(l *config.Line, p *model.Proxy, b *model.Balance) bool {
	if !l.NeedArgs(2, 2) {
		return false
	}
	return setExpr(l, p, b, l.Arg(1))
}

// setExpr balances by the value of an expression.
func setExpr(l *config.Line, p *model.Proxy, b *model.Balance, text string) bool {
	e, err := sample.Parse(&sample.Scope{Line: l, Arg: 1, Proxy: p, Valid: sample.BackUseServer}, text)
	if err != nil {
		l.Errorf(1, "%s.", err)
		return false
	}
	b.Key = &expr{e}
	return true
}

func parseHashType(l *config.Line, p *model.Proxy) {
	if !l.NeedArgs(1, 3) {
		return
	}
	b := p.Balance
	b.Hash, b.Avalanche = "", false
	switch l.Arg(0) {
	case "map-based", "consistent":
		b.Consistent = l.Arg(0) == "consistent"
	case "avalanche":
		l.Errorf(0, "'hash-type avalanche' no longer exists: write 'hash-type map-based sdbm avalanche'.")
		return
	default:
		l.Unknown(0, "hash type", []string{"map-based", "consistent"})
		return
	}
	if l.Has(1) {
		if l.OneOf(1, "hash function", "sdbm", "djb2", "wt6", "crc32", "none") < 0 {
			return
		}
		b.Hash = model.HashFunc(l.Arg(1))
	}
	if l.Has(2) {
		if l.OneOf(2, "modifier of a hash function", "avalanche") < 0 {
			return
		}
		b.Avalanche = true
	}
	p.Balance = b
}
