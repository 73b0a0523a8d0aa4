package kw

import (
	"maps"
	"slices"

	"weir/internal/kw/server"
	"weir/internal/lang/cond"
	"weir/internal/lang/config"
	"weir/internal/model"
)

func init() {
	config.AddGlobalSection(func(p *config.Parser) any {
		g := root(p).Global
		if g.Pos.IsZero() {
			g.Pos = p.Pos()
		}
		return g
	})
	config.AddProxySections(config.ProxyHooks{Open: openProxy})
}

// root returns the configuration that a load fills.
func root(p *config.Parser) *model.Config { return p.Root().(*model.Config) }

// newConfig returns a configuration with nothing in it but defaults.
func newConfig() *model.Config {
	return &model.Config{
		Global: &model.Global{
			UID: -1, GID: -1,
			UnixBind: model.UnixBind{PermMode: -1, UID: -1, GID: -1},
		},
		HTTPErrors: make(map[string]*model.HTTPErrors),
	}
}

// openProxy makes the object of a defaults, frontend, backend or listen
// section. A section with a faulty first line gets one that nothing refers to.
func openProxy(p *config.Parser, h *config.ProxyHeader) any {
	var px *model.Proxy
	if from, ok := h.From.(*model.Proxy); ok && from != nil {
		px = inherit(from)
	} else {
		px = newProxy()
	}
	px.Pos, px.Name, px.From = h.Line.Pos(), h.Name, h.FromName
	px.Kind = h.Line.Name()
	px.Sides = 0
	if h.Kind&config.InDefaults != 0 {
		px.Sides = model.SideDefaults
	}
	if h.Kind&config.InFrontend != 0 {
		px.Sides |= model.SideFrontend
	}
	if h.Kind&config.InBackend != 0 {
		px.Sides |= model.SideBackend
	}
	if h.Valid && px.Sides != model.SideDefaults {
		cfg := root(p)
		cfg.Proxies = append(cfg.Proxies, px)
	}
	return px
}

// newProxy returns a proxy with the documented defaults.
func newProxy() *model.Proxy {
	return &model.Proxy{
		Retries:           -1,
		RetryOn:           model.RetryConnFailure,
		MaxKeepAliveQueue: -1,
		DefaultServer:     server.New(),
		Errors:            make(map[int]*model.ErrorPage),
	}
}

// inherit returns a proxy that starts with the settings of a defaults
// section. What names one object only (id, guid, description, binds, servers,
// switching rules, ACLs) is never in a defaults section or stays there; the
// rest is copied, so that no line of one section changes another.
func inherit(d *model.Proxy) *model.Proxy {
	p := new(model.Proxy)
	*p = *d
	p.ID, p.GUID, p.Description = 0, "", ""
	p.Binds, p.Servers, p.Switch, p.MonitorFail = nil, nil, nil, nil
	p.DefaultServer = d.DefaultServer.Clone()
	p.Source = d.Source.Clone()
	p.Balance.Args = slices.Clone(d.Balance.Args)
	p.Errors = maps.Clone(d.Errors)
	p.ErrorSections = nil
	for _, s := range d.ErrorSections {
		s.Codes, s.Except = slices.Clone(s.Codes), slices.Clone(s.Except)
		p.ErrorSections = append(p.ErrorSections, s)
	}
	p.Log = d.Log.Clone()
	p.Slots = d.Slots.Clone()
	cond.ACLsOf.Set(&p.Slots, nil)
	return p
}
