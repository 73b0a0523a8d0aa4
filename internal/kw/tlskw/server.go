package tlskw

import (
	"weir/internal/feat/certs"
	"weir/internal/lang/config"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

// serverTLS is what the options of a server line ask for. Lines that start from others share it: it is copied before it changes.
type serverTLS struct {
	ssl        bool
	opts       certs.Options
	crt        string
	sni        *sniExpr
	verifyHost string
	noReuse    bool
}

// sniExpr makes the name that is sent to a server.
type sniExpr struct {
	text string
	line *config.Line
	*sample.Expr
}

// Eval implements model.Evaluator; the value is text.
func (e *sniExpr) Eval(tx *model.Txn, v *model.Value) bool {
	return e.Expr.EvalAs(tx, model.TypeStr, v)
}

var serverOf = &model.SlotKey[*serverTLS]{Name: "TLS of a server"}

// onServer gives an option the TLS settings of its server line.
func onServer(fn func(l *config.Line, c *serverTLS)) func(*config.Line, any) {
	return inServer(func(l *config.Line, c *serverTLS, _ *model.Proxy) { fn(l, c) })
}

func inServer(fn func(l *config.Line, c *serverTLS, p *model.Proxy)) func(*config.Line, any) {
	return config.On(func(l *config.Line, t interface {
		Object() (*model.Server, *model.Proxy)
	}) {
		s, p := t.Object()
		c := new(serverTLS)
		if old := serverOf.Get(&s.Slots); old != nil {
			*c = *old
		}
		serverOf.Set(&s.Slots, c)
		fn(l, c, p)
	})
}

func init() {
	for _, name := range certs.Flags {
		config.Server.Add(config.Keyword{Name: name, Help: helps[name], Parse: onServer(func(l *config.Line, c *serverTLS) { set(l, &c.opts, name, "") })})
	}
	for _, name := range certs.Values {
		if name == "ca-verify-file" || name == "ca-ignore-err" || name == "crt-ignore-err" || name == "ecdhe" {
			continue // of bind lines only
		}
		config.Server.Add(config.Keyword{Name: name, Args: "<value>", Params: 1, Help: helps[name], Parse: onServer(func(l *config.Line, c *serverTLS) {
			if name == "verify" && l.Arg(0) == "optional" {
				l.OneOf(0, "setting", "none", "required")
				return
			}
			set(l, &c.opts, name, value(l, name))
		})})
	}
	flag := func(name, help string, fn func(c *serverTLS)) config.Keyword {
		return config.Keyword{Name: name, Help: help, Parse: onServer(func(_ *config.Line, c *serverTLS) { fn(c) })}
	}
	config.Server.Add(
		flag("ssl", "TLS on the connections", func(c *serverTLS) { c.ssl = true }),
		flag("no-ssl", "undoes ssl", func(c *serverTLS) { c.ssl = false }),
		flag("no-verifyhost", "undoes verifyhost", func(c *serverTLS) { c.verifyHost = "" }),
		flag("no-ssl-reuse", "a full handshake for each connection", func(c *serverTLS) { c.noReuse = true }),
		flag("ssl-reuse", "undoes no-ssl-reuse", func(c *serverTLS) { c.noReuse = false }),
		config.Keyword{Name: "crt", Args: "<cert>", Params: 1, Help: "certificate that is shown to the server", Parse: onServer(func(l *config.Line, c *serverTLS) {
			c.crt = under(l, folders(l).crt, l.Arg(0))
		})},
		config.Keyword{Name: "sni", Args: "<expression>", Params: 1, Help: "name that is asked for", Parse: inServer(parseSNI)},
		config.Keyword{Name: "verifyhost", Args: "<hostname>", Params: 1, Help: "name that the server's certificate must be for when none was sent",
			Parse: onServer(func(l *config.Line, c *serverTLS) { c.verifyHost = l.Arg(0) })},
	)
}

// sniPlaces are where the expression of "sni" finds its data.
const sniPlaces = sample.BackTCPContent | sample.BackHTTPRequest

// parseSNI compiles the expression of "sni".
func parseSNI(l *config.Line, c *serverTLS, p *model.Proxy) {
	sc := &sample.Scope{Line: l, Proxy: p, Valid: sniPlaces}
	e, err := sample.Parse(sc, l.Arg(0))
	if err != nil {
		l.Errorf(0, "'sni': %s.", err)
		return
	}
	c.sni = &sniExpr{text: l.Arg(0), line: l, Expr: e}
}

// build makes the TLS side of a server.
func (c *serverTLS) build(p *config.Parser, cfg *model.Config, s *model.Server) {
	if !c.ssl {
		return
	}
	g := settingsOf(cfg)
	opts := c.opts
	opts.Inherit(&g.server)
	if opts.Verify == certs.VerifyUnset && (g.noServerVerify || p.Facts().Enabled["SERVER-SSL-VERIFY-NONE"]) {
		opts.Verify = certs.VerifyNone
	}
	t := &model.TLSServer{VerifyHost: c.verifyHost, NoReuse: c.noReuse, KeyLog: g.keyLog}
	conf, errs := certs.StoreOf(cfg).ServerConfig(&opts, c.crt, c.verifyHost)
	for _, err := range errs {
		p.Errorf(s.Pos, "server '%s': %s.", s.Name, err)
	}
	if len(errs) > 0 {
		return
	}
	t.Config = conf
	if c.sni != nil {
		t.SNI = c.sni
	}
	s.TLS = t
}
