package cliadmin

import (
	"weir/internal/engine/backend"
	"weir/internal/feat/cli"
)

func init() {
	for _, c := range []cli.Command{
		{Words: []string{"publish", "backend"}, Level: cli.Operator, Usage: "publish backend <backend>", Help: "lets rules choose a backend", Run: publish(true)},
		{Words: []string{"unpublish", "backend"}, Level: cli.Operator, Usage: "unpublish backend <backend>", Help: "lets no rule choose a backend", Run: publish(false)},
		{Words: []string{"enable", "dynamic-cookie", "backend"}, Level: cli.Admin, Usage: "enable dynamic-cookie backend <bk>",
			Help: "makes cookies for servers without one", Run: dynamicCookie(true)},
		{Words: []string{"disable", "dynamic-cookie", "backend"}, Level: cli.Admin, Usage: "disable dynamic-cookie backend <bk>",
			Help: "makes no cookies for servers", Run: dynamicCookie(false)},
		{Words: []string{"set", "dynamic-cookie-key", "backend"}, Level: cli.Admin, Usage: "set dynamic-cookie-key backend <bk> <k>",
			Help: "changes the key of the cookies made for servers", Run: cookieKey},
	} {
		cli.Register(c)
	}
}

// findBackend returns the backend that the first argument names, nil after an answer.
func findBackend(c *cli.Context) *backend.Backend {
	for _, b := range c.Host.Backends() {
		if b.Name == c.Arg(0) {
			return b
		}
	}
	c.Err("No such backend.")
	return nil
}

// publish returns a command that makes a backend eligible for rules, or not.
func publish(on bool) func(*cli.Context) {
	return func(c *cli.Context) {
		b := findBackend(c)
		switch {
		case b == nil:
		case b.Conf.Disabled:
			c.Err("No effect on a disabled backend.")
		case on:
			b.Unpublished.Store(false)
			c.Msg(cli.SevNotice, "Backend published.")
		default:
			b.Unpublished.Store(true)
			c.Msg(cli.SevNotice, "Backend unpublished.")
		}
	}
}

// forCookies is findBackend with the complaint of the cookie commands about a missing name.
func forCookies(c *cli.Context) *backend.Backend {
	if c.Arg(0) == "" {
		c.Err("A backend name is expected.")
		return nil
	}
	return findBackend(c)
}

func dynamicCookie(on bool) func(*cli.Context) {
	return func(c *cli.Context) {
		if b := forCookies(c); b != nil {
			b.SetDynamicCookies(on)
		}
	}
}

func cookieKey(c *cli.Context) {
	b := forCookies(c)
	switch {
	case b == nil:
	case c.Arg(1) == "":
		c.Err("String value expected.")
	default:
		b.SetCookieKey(c.Arg(1))
	}
}
