package proxy

import (
	"weir/internal/lang/config"
	"weir/internal/model"
)

func init() {
	config.AddCheck(config.Check{Name: "options that need mode http", Order: 90, Run: func(p *config.Parser) {
		for _, px := range p.Root().(*model.Config).Proxies {
			if px.Mode != model.ModeHTTP && !px.Disabled {
				checkHTTPOnly(p, px)
			}
		}
	}})
}

// checkHTTPOnly switches off what makes sense in mode http only, with a
// warning for each (as the reference does), so that nobody else has to care.
func checkHTTPOnly(p *config.Parser, px *model.Proxy) {
	ignored := func(name string) {
		p.Warnf(px.Pos, "'option %s' is ignored in %s '%s': it needs 'mode http'.", name, px.Kind, px.Name)
	}
	for _, f := range flags {
		if f.http && px.Has(f.bit) {
			px.Opt &^= f.bit
			if hasSide(px, f.in) {
				ignored(f.name)
			}
		}
	}
	if px.Persist != nil {
		px.Persist = nil
		if px.IsBackend() {
			p.Warnf(px.Pos, "'cookie' is ignored in %s '%s': it needs 'mode http'.", px.Kind, px.Name)
		}
	}
	for _, s := range px.Servers {
		if s.Cookie != "" {
			p.Warnf(s.Pos, "the cookie of server '%s/%s' is ignored: it needs 'mode http'.", px.Name, s.Name)
		}
	}
	if px.ForwardFor.Enabled {
		px.ForwardFor = model.ForwardFor{}
		ignored("forwardfor")
	}
	if px.OriginalTo.Enabled {
		px.OriginalTo = model.ForwardFor{}
		ignored("originalto")
	}
	if px.Forwarded.Enabled {
		px.Forwarded = model.Forwarded{}
		if px.IsBackend() {
			ignored("forwarded")
		}
	}
}

// hasSide tells whether a proxy has a side for which an option is meant.
func hasSide(px *model.Proxy, in config.Sections) bool {
	return in&config.InFrontend != 0 && px.IsFrontend() || in&config.InBackend != 0 && px.IsBackend()
}
