package statskw

import (
	"strings"

	"weir/internal/base/units"
	"weir/internal/feat/statspage"
	"weir/internal/lang/acl"
	"weir/internal/lang/config"
	"weir/internal/lang/rule"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

// The "stats" directives of proxies (manual 4.2): the statistics page.

func init() {
	const (
		anywhere = config.InDefaults | config.InFrontend | config.InBackend
		named    = config.InFrontend | config.InBackend
	)
	word := func(name, args, help string, set func(c *statspage.Conf, l *config.Line)) config.Keyword {
		return config.Keyword{Name: name, In: anywhere, Args: args, Help: help, Parse: config.On(func(l *config.Line, p *model.Proxy) {
			set(statspage.Of(p), l)
		})}
	}
	flag := func(name, help string, set func(c *statspage.Conf)) config.Keyword {
		return word(name, "", help, func(c *statspage.Conf, l *config.Line) {
			if l.NeedArgs(0, 0) {
				set(c)
			}
		})
	}
	one := func(name, args, help string, set func(c *statspage.Conf, v string)) config.Keyword {
		return word(name, args, help, func(c *statspage.Conf, l *config.Line) {
			if l.NeedArgs(1, 1) {
				set(c, l.Arg(0))
			}
		})
	}
	config.Proxy.Add(
		flag("stats enable", "serves the statistics page", func(*statspage.Conf) {}),
		flag("stats hide-version", "the page does not tell the version (the default)", func(c *statspage.Conf) { c.ShowVersion = false }),
		flag("stats show-version", "the page tells the version", func(c *statspage.Conf) { c.ShowVersion = true }),
		flag("stats show-legends", "the page tells addresses, ids, modes and cookies", func(c *statspage.Conf) { c.Legends = true }),
		flag("stats show-modules", "the page shows the counters of modules", func(c *statspage.Conf) { c.Modules = true }),
		one("stats uri", "<prefix>", "begin of the URIs that are answered with the page", func(c *statspage.Conf, v string) { c.URI = v }),
		one("stats realm", "<realm>", "what browsers show when they ask for a password", func(c *statspage.Conf, v string) { c.Realm = v }),
		one("stats scope", "{ <name> | . }", "a proxy that the page shows; '.' is this one", func(c *statspage.Conf, v string) { c.Scope = append(c.Scope, v) }),
		word("stats auth", "<user>:<password>", "an account that may see the page", auth),
		word("stats refresh", "<delay>", "after which time browsers load the page again", func(c *statspage.Conf, l *config.Line) {
			if l.NeedArgs(1, 1) {
				if d, ok := l.Duration(0, units.Second); ok {
					c.Refresh = d
				}
			}
		}),
		word("stats show-node", "[<name>]", "the page tells the name of the node", func(c *statspage.Conf, l *config.Line) {
			if l.NeedArgs(0, 1) {
				c.ShowNode, c.Node = true, l.Arg(0)
			}
		}),
		word("stats show-desc", "[<description>]", "the page tells the description of the instance", func(c *statspage.Conf, l *config.Line) {
			c.ShowDesc, c.Desc = true, l.Join(0)
		}),
		config.Keyword{
			Name: "stats admin", In: named, Args: "{ if | unless } <condition>", Help: "who may change the state of servers on the page",
			Parse: config.On(admin),
		},
		config.Keyword{
			Name: "stats http-request", In: named, Args: "{ allow | deny | auth [realm <realm>] } [{ if | unless } <condition>]", Help: "who may see the page",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				rule.ParseInto(l, 0, rule.HTTPRequest, p, &statspage.Of(p).Rules)
			}),
		},
	)
	config.AddCheck(config.Check{Name: "statistics pages", Order: 200, Run: checkPages})
}

func auth(c *statspage.Conf, l *config.Line) {
	if !l.NeedArgs(1, 1) {
		return
	}
	name, password, _ := strings.Cut(l.Arg(0), ":")
	for i := range c.Users {
		if c.Users[i].Name == name {
			l.Warnf(0, "the account '%s' was given before; its first password counts.", name)
			return
		}
	}
	c.Users = append(c.Users, statspage.User{Name: name, Password: password})
}

func admin(l *config.Line, p *model.Proxy) {
	if a := l.Arg(0); a != "if" && a != "unless" {
		l.Errorf(0, "'stats admin' needs a condition that begins with 'if' or 'unless'.")
		return
	}
	scope := sample.Scope{Line: l, Arg: 0, Proxy: p, Valid: rule.HTTPRequest.Places(p.Sides)}
	if cond := acl.Parse(l, 0, &scope); cond != nil {
		c := statspage.Of(p)
		c.Admin = append(c.Admin, cond)
	}
}

// checkPages makes proxies answer for their statistics.
func checkPages(p *config.Parser) {
	cfg, ok := p.Root().(*model.Config)
	if !ok {
		return
	}
	for _, px := range cfg.Proxies {
		c := statspage.Key.Get(&px.Slots)
		if c == nil {
			continue
		}
		if px.Mode != model.ModeHTTP {
			p.Warnf(px.Pos, "'stats' lines mean nothing to %s '%s', whose mode is not http.", px.Kind, px.Name)
			continue
		}
		if len(c.Rules) > 0 && (len(c.Users) > 0 || c.Realm != "") {
			p.Errorf(px.Pos, "%s '%s' has both 'stats auth' or 'stats realm' and 'stats http-request': only one of them can decide who sees the page.", px.Kind, px.Name)
			continue
		}
		if err := statspage.Attach(px); err != nil {
			p.Errorf(px.Pos, "no key for the forms of the statistics page: %v", err)
		}
	}
}
