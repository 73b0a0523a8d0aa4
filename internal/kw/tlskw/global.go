package tlskw

import (
	"math"
	"slices"

	"weir/internal/feat/certs"
	"weir/internal/lang/config"
	"weir/internal/model"
)

// global makes a keyword of the global section with one argument.
func global(name, args, help string, fn func(l *config.Line, g *settings)) config.Keyword {
	return config.Keyword{Name: name, Args: args, Help: help, Parse: config.On(func(l *config.Line, _ *model.Global) {
		if l.NeedArgs(1, 1) {
			fn(l, folders(l))
		}
	})}
}

// number makes one with a number.
func number(name, help string, lo, hi int64, field func(g *settings) *int) config.Keyword {
	return global(name, "<number>", help, func(l *config.Line, g *settings) {
		if n, ok := l.Size(0, lo, hi); ok {
			*field(g) = int(n)
		}
	})
}

func init() {
	folder := func(name, help string, field func(g *settings) *string) config.Keyword {
		return global(name, "<dir>", help, func(l *config.Line, g *settings) { *field(g) = l.Arg(0) })
	}
	config.Global.Add(
		folder("crt-base", "folder of certificates", func(g *settings) *string { return &g.crt }),
		folder("key-base", "folder of keys", func(g *settings) *string { return &g.key }),
		folder("ca-base", "folder of authorities and revocation lists", func(g *settings) *string { return &g.ca }),
		number("tune.ssl.capture-buffer-size", "bytes of a ClientHello kept for expressions", 0, 65536, func(g *settings) *int { return &g.capture }),
		number("tune.ssl.hard-maxrecord", "bytes of a record, always", 0, 16384, func(g *settings) *int { return &g.hardMaxRecord }),
		number("tune.ssl.maxrecord", "bytes of a record at the beginning", 0, math.MaxInt32, func(g *settings) *int { return &g.maxRecord }),
		global("tune.ssl.keylog", "{ on | off }", "keeps secrets for expressions", func(l *config.Line, g *settings) {
			if on, ok := l.OnOff(0); ok {
				g.keyLog = on
			}
		}),
		global("ssl-server-verify", "{ none | required }", "whether certificates of servers are verified where nothing else is said", func(l *config.Line, g *settings) {
			if n := l.OneOf(0, "setting", "none", "required"); n >= 0 {
				g.noServerVerify = n == 0
			}
		}),
	)
	for name, why := range map[string]string{
		"tune.ssl.default-dh-param": "ciphers with DHE do not exist here", "ssl-dh-param-file": "ciphers with DHE do not exist here",
		"tune.ssl.cachesize": "clients keep their sessions themselves, in tickets", "tune.ssl.lifetime": "tickets are good for as long as their keys, a day or more",
		"tune.ssl.ssl-ctx-cache-size": "certificates are not generated",
	} {
		config.Global.Add(global(name, "<value>", "for old configurations", func(l *config.Line, _ *settings) {
			l.Diagf(config.KeywordArg, "'%s' has no effect: %s.", name, why)
		}))
	}
	for _, name := range []string{"ciphers", "ciphersuites", "curves"} {
		config.Global.Add(
			global("ssl-default-bind-"+name, "<list>", helps[name]+", for bind lines", func(l *config.Line, g *settings) { set(l, &g.bind.Options, name, l.Arg(0)) }),
			global("ssl-default-server-"+name, "<list>", helps[name]+", for servers", func(l *config.Line, g *settings) { set(l, &g.server, name, l.Arg(0)) }),
		)
	}
	config.Global.Add(
		config.Keyword{Name: "ssl-default-bind-options", Args: "[<option>] ...", Help: "options of bind lines", Parse: config.On(func(l *config.Line, _ *model.Global) {
			g := folders(l)
			defaults(l, &g.bind.Options, func(w string) bool {
				g.bind.StrictSNI = g.bind.StrictSNI || w == "strict-sni"
				return w == "strict-sni"
			})
		})},
		config.Keyword{Name: "ssl-default-server-options", Args: "[<option>] ...", Help: "options of servers", Parse: config.On(func(l *config.Line, _ *model.Global) {
			defaults(l, &folders(l).server, func(string) bool { return false })
		})},
	)
}

// defaults reads a list of options.
func defaults(l *config.Line, o *certs.Options, other func(word string) bool) {
	if !l.NeedArgs(1, -1) {
		return
	}
	for i := 0; l.Has(i); i++ {
		name, value := l.Arg(i), ""
		switch {
		case other(name):
			continue
		case name == "ssl-min-ver" || name == "ssl-max-ver":
			i++
			value = l.Arg(i)
		case !slices.Contains(certs.Flags, name):
			l.Unknown(i, "option", append(slices.Clone(certs.Flags), "ssl-min-ver", "ssl-max-ver"))
			return
		}
		warning, err := o.Set(name, value)
		if err != nil {
			l.Errorf(i, "'%s': %s.", name, err)
		} else if warning != "" {
			l.Warnf(i, "'%s': %s.", name, warning)
		}
	}
}
