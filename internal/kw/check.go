package kw

import (
	"slices"
	"strings"

	"weir/internal/lang/config"
	"weir/internal/model"
)

func init() {
	for i, c := range []struct {
		name string
		run  func(*config.Parser)
	}{
		{"ids", checkIDs},
		{"users", checkUsers},
		{"backends of frontends", checkSwitching},
		{"error pages", checkErrors},
		{"proxies", eachProxy(checkProxy)},
		{"servers", eachProxy(checkServers)},
		{"threads", eachProxy(checkThreads)},
		{"timeouts", eachProxy(checkTimeouts)},
		{"addresses of servers", eachProxy(resolveServers)},
	} {
		config.AddCheck(config.Check{Name: c.name, Order: 100 + i, Run: c.run})
	}
}

func eachProxy(fn func(p *config.Parser, px *model.Proxy)) func(*config.Parser) {
	return func(p *config.Parser) {
		for _, px := range root(p).Proxies {
			fn(p, px)
		}
	}
}

// checkIDs finds duplicates among the ids of proxies and of the servers of a
// proxy, and gives the others the lowest free ones: from 2 for proxies, from 1
// for servers (manual 4.2 and 5.2, "id").
func checkIDs(p *config.Parser) {
	proxies := root(p).Proxies
	owner := make(map[int]*model.Proxy)
	for _, px := range proxies {
		if px.ID == 0 {
			continue
		}
		if old := owner[px.ID]; old != nil {
			p.Errorf(px.Pos, "%s '%s' has the id %d of %s '%s', declared at %s; each proxy needs its own.",
				px.Kind, px.Name, px.ID, old.Kind, old.Name, old.Pos.Where())
			continue
		}
		owner[px.ID] = px
	}
	next := 2
	for _, px := range proxies {
		if px.ID == 0 {
			for owner[next] != nil {
				next++
			}
			px.ID = next
			owner[next] = px
		}
		checkServerIDs(p, px)
		checkBindIDs(p, px)
	}
}

func checkServerIDs(p *config.Parser, px *model.Proxy) {
	owner := make(map[int]*model.Server)
	for _, s := range px.Servers {
		if s.ID == 0 {
			continue
		}
		if old := owner[s.ID]; old != nil {
			p.Errorf(s.Pos, "server '%s/%s' has the id %d of server '%s', declared at %s.", px.Name, s.Name, s.ID, old.Name, old.Pos.Where())
			continue
		}
		owner[s.ID] = s
	}
	next := 1
	for _, s := range px.Servers {
		if s.ID == 0 {
			for owner[next] != nil {
				next++
			}
			s.ID = next
			owner[next] = s
		}
	}
}

func checkBindIDs(p *config.Parser, px *model.Proxy) {
	owner := make(map[int]*model.Bind)
	for _, b := range px.Binds {
		if b.ID == 0 {
			continue
		}
		if old := owner[b.ID]; old != nil {
			p.Errorf(b.Pos, "'bind %s' has the id %d of 'bind %s' at %s.", b.Text, b.ID, old.Text, old.Pos.Where())
			continue
		}
		owner[b.ID] = b
	}
}

// checkSwitching resolves default_backend and use_backend.
func checkSwitching(p *config.Parser) {
	cfg := root(p)
	for _, px := range cfg.Proxies {
		if !px.IsFrontend() || px.Disabled {
			continue
		}
		if px.DefaultBackend != "" {
			ok := checkTarget(p, px, px.DefaultBackend, "default_backend", px.DefaultBackendPos)
			if ok && len(px.Servers) > 0 {
				p.Warnf(px.DefaultBackendPos, "listen '%s' sends everything to its default_backend '%s'; its own servers will never be used.", px.Name, px.DefaultBackend)
			}
		}
		for _, r := range px.Switch {
			if r.Name != nil {
				continue // known when it is needed
			}
			checkTarget(p, px, r.Backend, "use_backend", r.Pos)
		}
	}
}

func checkTarget(p *config.Parser, fe *model.Proxy, name, keyword string, pos model.Position) bool {
	cfg := root(p)
	be := cfg.Backend(name)
	switch {
	case be == nil:
		var names []string
		for _, b := range cfg.Proxies {
			if b.IsBackend() && b != fe {
				names = append(names, b.Name)
			}
		}
		p.Errorf(pos, "%s of %s '%s': there is no backend '%s'%s.", keyword, fe.Kind, fe.Name, name, hint(name, names))
	case be == fe:
		p.Errorf(pos, "%s of %s '%s' leads back to itself.", keyword, fe.Kind, fe.Name)
	case !compatible(fe.Mode, be.Mode):
		p.Errorf(pos, "%s of %s '%s': a frontend in mode %s cannot use '%s', a backend in mode %s (see 'mode').",
			keyword, fe.Kind, fe.Name, modeName(fe.Mode), name, modeName(be.Mode))
	default:
		return true
	}
	return false
}

// compatible tells whether a frontend may send to a backend: both in one
// mode, or TCP to HTTP.
func compatible(fe, be model.Mode) bool {
	return fe == be || fe == model.ModeTCP && be == model.ModeHTTP
}

func modeName(m model.Mode) string {
	switch m {
	case model.ModeHTTP:
		return "http"
	case model.ModeLog:
		return "log"
	case model.ModeSPOP:
		return "spop"
	case model.ModeHAterm:
		return "haterm"
	}
	return "tcp"
}

// checkErrors resolves errorfiles and http-error ... errorfiles. The lines of
// a proxy apply in their order: a section's page replaces an earlier page of
// that status, unless a later line settled the status (ErrorSection.Except).
func checkErrors(p *config.Parser) {
	cfg := root(p)
	for _, px := range cfg.Proxies {
		for _, use := range px.ErrorSections {
			section := cfg.HTTPErrors[use.Name]
			if section == nil {
				names := make([]string, 0, len(cfg.HTTPErrors))
				for n := range cfg.HTTPErrors {
					names = append(names, n)
				}
				slices.Sort(names)
				p.Errorf(use.Pos, "%s '%s': there is no http-errors section '%s'%s.", px.Kind, px.Name, use.Name, hint(use.Name, names))
				continue
			}
			importPages(p, px, use, section)
		}
	}
}

func importPages(p *config.Parser, px *model.Proxy, use model.ErrorSection, section *model.HTTPErrors) {
	codes := use.Codes
	if len(codes) == 0 {
		for c := range section.Pages {
			codes = append(codes, c)
		}
	}
	for _, c := range codes {
		page := section.Pages[c]
		switch {
		case slices.Contains(use.Except, c):
		case page != nil:
			px.Errors[c] = page
		case !use.Optional:
			p.Warnf(use.Pos, "%s '%s': the http-errors section '%s' has no page for status %d.", px.Kind, px.Name, use.Name, c)
		}
	}
}

// checkProxy completes a proxy and finds settings without effect.
func checkProxy(p *config.Parser, px *model.Proxy) {
	if px.IsFrontend() && len(px.Binds) == 0 && !px.Disabled {
		p.Warnf(px.Pos, "%s '%s' has no 'bind' line and will not receive any connection; declare it as a backend if that is meant.", px.Kind, px.Name)
	}
	if px.Mode != model.ModeHTTP && px.MonitorURI != "" {
		p.Warnf(px.Pos, "'monitor-uri' is ignored in %s '%s': it needs 'mode http'.", px.Kind, px.Name)
		px.MonitorURI, px.MonitorFail = "", nil
	}
	checkProto(p, px)
	checkLog(p, px)
	if px.Mode == model.ModeHTTP && px.IsBackend() && px.OptSet&model.OptAbortOnClose == 0 {
		px.Opt |= model.OptAbortOnClose // the default of HTTP backends
	}
}

// checkProto holds forced protocols against the mode.
func checkProto(p *config.Parser, px *model.Proxy) {
	bad := func(proto string) bool {
		return proto == "none" && px.Mode == model.ModeHTTP || proto == "h1" && px.Mode != model.ModeHTTP
	}
	for _, b := range px.Binds {
		if bad(b.Proto) {
			p.Errorf(b.Pos, "'bind %s' of %s '%s': protocol '%s' cannot be used in mode %s.", b.Text, px.Kind, px.Name, b.Proto, modeName(px.Mode))
		}
	}
	for _, s := range px.Servers {
		if bad(s.Proto) {
			p.Errorf(s.Pos, "server '%s/%s': protocol '%s' cannot be used in mode %s.", px.Name, s.Name, s.Proto, modeName(px.Mode))
		}
	}
}

// checkLog holds the log format against the mode and the targets.
func checkLog(p *config.Parser, px *model.Proxy) {
	if !px.IsFrontend() || px.Disabled {
		return
	}
	clf := ""
	if px.Mode != model.ModeHTTP {
		was := px.Log.Format
		switch was {
		case model.LogHTTP:
			px.Log.Format = model.LogTCP
		case model.LogHTTPCLF:
			px.Log.Format, clf = model.LogTCPCLF, " clf"
		}
		if was != px.Log.Format {
			p.Warnf(px.Log.FormatPos, "'option httplog%s' cannot be used in %s '%s', which is not in mode http; 'option tcplog%s' takes its place.", clf, px.Kind, px.Name, clf)
		}
	}
	targets := len(px.Log.Targets)
	if px.Log.Global {
		targets += len(root(p).Global.Log.Targets)
	}
	if targets == 0 && px.Log.Format != model.LogDefault {
		p.Warnf(px.Log.FormatPos, "the log format of %s '%s' has no effect: there is no 'log' line that says where to send logs.", px.Kind, px.Name)
	}
}

// checkTimeouts finds proxies that lack a timeout without which dead peers
// hold connections for ever.
func checkTimeouts(p *config.Parser, px *model.Proxy) {
	if px.Disabled {
		return
	}
	var missing []string
	t := px.Timeout
	if px.IsFrontend() && t.Client == 0 {
		missing = append(missing, "'client'")
	}
	if px.IsBackend() && len(px.Servers) > 0 {
		if t.Connect == 0 {
			missing = append(missing, "'connect'")
		}
		if t.Server == 0 {
			missing = append(missing, "'server'")
		}
	}
	if len(missing) == 0 {
		return
	}
	kind := px.Kind
	if kind == "listen" {
		kind = "proxy"
	}
	p.Warnf(px.Pos, "missing timeouts for %s '%s': set 'timeout' for %s to a value other than 0, or connections with peers that vanished will pile up.",
		kind, px.Name, strings.Join(missing, ", "))
}
