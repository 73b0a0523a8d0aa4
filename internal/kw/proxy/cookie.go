package proxy

import (
	"strings"
	"time"

	"weir/internal/base/units"
	"weir/internal/lang/config"
	"weir/internal/model"
)

func init() {
	config.Proxy.Add(
		config.Keyword{
			Name: "cookie", In: backend, Args: "<name> { insert | rewrite | prefix } [option ...]",
			Help:  "keeps clients on their server by a cookie",
			Parse: config.On(parseCookie),
		},
		config.Keyword{
			Name: "dynamic-cookie-key", In: backend, Args: "<secret key>",
			Help: "key that the cookies of servers are made with",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				if l.NeedArgs(1, -1) {
					p.DynamicCookieKey = l.Arg(0)
				}
			}),
		},
	)
}

// cookieWords are the words of the "cookie" line.
var cookieWords = []string{
	"rewrite", "insert", "prefix", "indirect", "nocache", "postonly", "preserve", "httponly", "secure", "domain", "maxidle", "maxlife",
	"dynamic", "attr",
}

func parseCookie(l *config.Line, p *model.Proxy) {
	if !l.NeedArgs(1, -1) {
		return
	}
	c := cookieLine{Line: l, Persistence: &model.Persistence{Name: l.Arg(0)}, ok: true}
	for c.at = 1; l.Has(c.at); c.at++ {
		c.word()
	}
	c.Attributes = c.domains + c.flags + c.attrs
	if c.judge(); c.ok {
		p.Persist = c.Persistence
	}
}

// cookieLine is the state of reading one line.
type cookieLine struct {
	*config.Line
	*model.Persistence
	at                    int
	ok                    bool
	modes                 []string
	domains, flags, attrs string
}

func (c *cookieLine) fail(format string, args ...any) {
	c.Errorf(c.at, format, args...)
	c.ok = false
}

// word reads the option at c.at, with its value.
func (c *cookieLine) word() {
	switch w := c.Arg(c.at); w {
	case "rewrite", "insert", "prefix":
		c.Mode = map[string]model.PersistMode{
			"rewrite": model.PersistRewrite, "insert": model.PersistInsert, "prefix": model.PersistPrefix,
		}[w]
		c.modes = append(c.modes, w)
	case "indirect":
		c.Indirect = true
	case "nocache":
		c.NoCache = true
	case "postonly":
		c.PostOnly = true
	case "preserve":
		c.Preserve = true
	case "dynamic":
		c.Dynamic = true
	case "httponly":
		if !strings.HasPrefix(c.flags, "; HttpOnly") {
			c.flags = "; HttpOnly" + c.flags
		}
	case "secure":
		if !strings.HasSuffix(c.flags, "; Secure") {
			c.flags += "; Secure"
		}
	case "domain":
		c.domain()
	case "attr":
		c.attr()
	case "maxidle":
		c.age(&c.MaxIdle)
	case "maxlife":
		c.age(&c.MaxLife)
	default:
		c.Unknown(c.at, "cookie option", cookieWords)
		c.ok = false
	}
}

// value moves to the value of the option at c.at.
func (c *cookieLine) value(what string) (string, bool) {
	if !c.Has(c.at + 1) {
		c.fail("'%s' expects %s as argument.", c.Arg(c.at), what)
		return "", false
	}
	c.at++
	return c.Arg(c.at), true
}

func (c *cookieLine) domain() {
	name, ok := c.value("a domain")
	if !ok {
		return
	}
	if !strings.Contains(strings.TrimPrefix(name, "."), ".") && name != "localhost" {
		c.Warnf(c.at, "the domain '%s' has no dot inside: browsers may refuse the cookie (RFC 6265, 5.2.3).", name)
	}
	for _, r := range []byte(name) {
		if r <= ' ' || r >= 0x7f || strings.IndexByte(`()<>@,;:\"/[]?={}`, r) >= 0 {
			c.fail("character '%s' is not permitted in the domain name '%s'.", visible(r), name)
			return
		}
	}
	c.domains += "; domain=" + name
}

func (c *cookieLine) attr() {
	text, ok := c.value("a text")
	if !ok {
		return
	}
	for _, r := range []byte(text) {
		if r < ' ' || r == 0x7f || r == ';' {
			c.fail("character '%s' is not permitted in an attribute of a cookie.", visible(r))
			return
		}
	}
	c.attrs += "; " + text
}

func (c *cookieLine) age(d *time.Duration) {
	if _, ok := c.value("a time in seconds"); !ok {
		return
	}
	var ok bool
	if *d, ok = c.Duration(c.at, units.Second); !ok {
		c.ok = false
	}
	*d = d.Truncate(time.Second)
}

// judge refuses options that contradict each other.
func (c *cookieLine) judge() {
	c.at = config.KeywordArg
	if c.Mode == model.PersistRewrite && c.Indirect {
		c.fail("the cookie options 'rewrite' and 'indirect' exclude each other.")
	}
	if len(c.modes) > 1 {
		c.fail("the cookie options 'rewrite', 'insert' and 'prefix' exclude each other.")
	}
	if c.Preserve && c.Mode != model.PersistInsert && !c.Indirect {
		c.fail("the cookie option 'preserve' needs 'insert' or 'indirect'.")
	}
}

func visible(c byte) string {
	if c > ' ' && c < 0x7f {
		return string(rune(c))
	}
	const hex = "0123456789abcdef"
	return `\x` + string([]byte{hex[c>>4], hex[c&15]})
}
