package kw

import (
	"maps"
	"slices"

	"weir/internal/kw/server"
	"weir/internal/lang/acl"
	"weir/internal/lang/config"
	"weir/internal/lang/rule"
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
		ProcVars:   new(model.ProcVars),
	}
}

// openProxy makes the object of a defaults, frontend, backend or listen
// section. A section with a faulty first line gets one that nothing refers to.
func openProxy(p *config.Parser, h *config.ProxyHeader) any {
	var px, heir *model.Proxy
	if from, ok := h.From.(*model.Proxy); ok && from != nil {
		px = inherit(from)
		heir = from
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
	if heir != nil && p.Diags().Errors() == 0 {
		takeOver(p, px, heir)
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
	p.Binds, p.Servers, p.Switch, p.MonitorFail, p.UseServer = nil, nil, nil, nil, nil
	p.DefaultServer = d.DefaultServer.Clone()
	p.Source = d.Source.Clone()
	p.Errors = maps.Clone(d.Errors)
	p.ErrorSections = nil
	for _, s := range d.ErrorSections {
		s.Codes, s.Except = slices.Clone(s.Codes), slices.Clone(s.Except)
		p.ErrorSections = append(p.ErrorSections, s)
	}
	p.Log = d.Log.Clone()
	p.Slots = d.Slots.Clone()
	acl.Key.Set(&p.Slots, nil)
	rule.Key.Set(&p.Slots, nil)
	p.Inherit = nil
	p.Captures.Req, p.Captures.Res = nil, nil // the lines that declare them are read again
	return p
}

// mayTakeRules reports whether p may take over the rules of a defaults section: they are for frontends or for backends.
func mayTakeRules(c *config.Parser, p, d *model.Proxy) bool {
	switch {
	case p.Sides&model.SideDefaults != 0:
		c.Errorf(p.Pos, "a defaults section cannot take over the rules of the defaults section '%s'.", d.Name)
		return false
	case p.IsFrontend() && p.IsBackend():
		c.Errorf(p.Pos, "a listen section cannot use the defaults section '%s', which has rules: they are for frontends or for backends.", d.Name)
		return false
	case d.ForFronts && !p.IsFrontend():
		c.Errorf(p.Pos, "the defaults section '%s' has rules for connections, which backends do not see.", d.Name)
		return false
	case d.ForBacks && !p.IsBackend():
		c.Errorf(p.Pos, "the defaults section '%s' has tcp-response rules, which are for backends.", d.Name)
		return false
	case d.RuledSides&^p.Sides != 0:
		c.Errorf(p.Pos, "the defaults section '%s' has rules, so that frontends and backends cannot both use it.", d.Name)
		return false
	}
	d.RuledSides |= p.Sides
	return true
}

// takeOver reads the lines of a defaults section again that mean the proxy they run in: rules, their ACLs, formats. The names
// of those ACLs stay in the defaults section.
func takeOver(c *config.Parser, p, d *model.Proxy) {
	p.RuledSides = 0
	if d.HasRules && !mayTakeRules(c, p, d) {
		return
	}
	p.Inherit = slices.Clone(d.Inherit)
	for _, again := range d.Inherit {
		again(p)
	}
	if p.Sides&model.SideDefaults == 0 {
		acl.Key.Set(&p.Slots, nil)
	}
}
