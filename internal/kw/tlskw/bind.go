package tlskw

import (
	"weir/internal/feat/certs"
	"weir/internal/lang/config"
	"weir/internal/model"
)

// bindTLS is what the options of a bind line ask for.
type bindTLS struct {
	ssl  bool
	opts certs.ListenerOptions
	crts []crtRef
}

// crtRef is one "crt", "default-crt" or "crt-list" option.
type crtRef struct {
	line        *config.Line
	path        string
	deflt, list bool
}

var bindOf = &model.SlotKey[*bindTLS]{Name: "TLS of a bind line"}

// onBind gives an option the TLS settings of its bind line.
func onBind(fn func(l *config.Line, c *bindTLS)) func(*config.Line, any) {
	return config.On(func(l *config.Line, b *model.Bind) {
		c := bindOf.Get(&b.Slots)
		if c == nil {
			c = new(bindTLS)
			bindOf.Set(&b.Slots, c)
		}
		fn(l, c)
	})
}

func init() {
	for _, name := range certs.Flags {
		config.Bind.Add(config.Keyword{Name: name, Help: helps[name], Parse: onBind(func(l *config.Line, c *bindTLS) { set(l, &c.opts.Options, name, "") })})
	}
	for _, name := range certs.Values {
		config.Bind.Add(config.Keyword{Name: name, Args: "<value>", Params: 1, Help: helps[name], Parse: onBind(func(l *config.Line, c *bindTLS) {
			set(l, &c.opts.Options, name, value(l, name))
		})})
	}
	crt := func(name, args, help string, deflt, list bool) config.Keyword {
		return config.Keyword{Name: name, Args: args, Params: 1, Help: help, Parse: onBind(func(l *config.Line, c *bindTLS) {
			dir := folders(l).crt
			if list {
				dir = ""
			}
			c.crts = append(c.crts, crtRef{l, under(l, dir, l.Arg(0)), deflt, list})
		})}
	}
	config.Bind.Add(
		config.Keyword{Name: "ssl", Help: "TLS on the connections", Parse: onBind(func(_ *config.Line, c *bindTLS) { c.ssl = true })},
		config.Keyword{Name: "strict-sni", Help: "no certificate for names without one", Parse: onBind(func(_ *config.Line, c *bindTLS) { c.opts.StrictSNI = true })},
		config.Keyword{Name: "no-strict-sni", Help: "undoes strict-sni of the global section", Parse: onBind(func(_ *config.Line, c *bindTLS) { c.opts.StrictSNI = false })},
		crt("crt", "<cert>", "file or folder of certificates", false, false),
		crt("default-crt", "<cert>", "certificate for names without one", true, false),
		crt("crt-list", "<file>", "list of certificates with names and options", false, true),
	)
}

// build makes the TLS side of a bind line.
func (c *bindTLS) build(p *config.Parser, cfg *model.Config, b *model.Bind) {
	if !c.ssl {
		return
	}
	store, g := certs.StoreOf(cfg), settingsOf(cfg)
	var entries []certs.Entry
	before := failures(p)
	for _, ref := range c.crts {
		if ref.list {
			entries = append(entries, readList(ref.line, store, g, ref.path)...)
			continue
		}
		list, errs := store.LoadAny(ref.path)
		for _, err := range errs {
			ref.line.Errorf(0, "'bind %s': %s.", b.Text, err)
		}
		for _, crt := range list {
			entries = append(entries, certs.Entry{Cert: crt, Default: ref.deflt})
		}
	}
	if failures(p) > before {
		return
	}
	if len(entries) == 0 {
		p.Errorf(b.Pos, "'bind %s' has 'ssl' but no certificate: 'crt' names one.", b.Text)
		return
	}
	opts := c.opts
	opts.Inherit(&g.bind.Options)
	opts.StrictSNI = opts.StrictSNI || g.bind.StrictSNI
	l, errs := store.NewListener(&opts, entries)
	for _, err := range errs {
		p.Errorf(b.Pos, "'bind %s': %s.", b.Text, err)
	}
	if len(errs) > 0 {
		return
	}
	b.TLS = l.Model()
	b.TLS.Capture, b.TLS.MaxRecord, b.TLS.EarlyRecord, b.TLS.KeyLog = g.capture, g.hardMaxRecord, g.maxRecord, g.keyLog
}

// failures counts what makes the configuration useless so far.
func failures(p *config.Parser) int { return p.Diags().Errors() }
