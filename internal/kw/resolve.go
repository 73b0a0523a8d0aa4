package kw

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os/user"
	"slices"
	"strings"

	"weir/internal/base/addr"
	"weir/internal/base/diag"
	"weir/internal/base/registry"
	"weir/internal/lang/config"
	"weir/internal/model"
)

// resolver asks each question once a load.
type resolver struct {
	Lookups
	hosts map[string]hostAnswer
}

type hostAnswer struct {
	ips []netip.Addr
	err error
}

var lookupsOf = &model.SlotKey[*resolver]{Name: "lookups of a load"}

// lookups returns the resolver of the load; a load that was not started by
// [Load] asks the system.
func lookups(p *config.Parser) *resolver {
	slots := &root(p).Global.Slots
	r := lookupsOf.Get(slots)
	if r == nil {
		r = &resolver{Lookups: System(), hosts: make(map[string]hostAnswer)}
		lookupsOf.Set(slots, r)
	}
	return r
}

// host returns the addresses of a name, IPv4 first.
func (r *resolver) host(name string) ([]netip.Addr, error) {
	a, ok := r.hosts[name]
	if !ok {
		ctx, cancel := context.WithTimeout(context.Background(), resolveTimeout)
		defer cancel()
		a.ips, a.err = r.Host(ctx, name)
		a.ips = slices.Clone(a.ips)
		for i := range a.ips {
			a.ips[i] = a.ips[i].Unmap()
		}
		slices.SortStableFunc(a.ips, func(x, y netip.Addr) int { return x.BitLen() - y.BitLen() })
		r.hosts[name] = a
	}
	return a.ips, a.err
}

// settle replaces the name in an address by what it stands for.
func (r *resolver) settle(a *addr.Addr) error {
	if !a.IsName {
		return nil
	}
	ip, err := a.Resolve(r.host)
	if err == nil {
		a.IP, a.IsName = ip, false
	}
	return err
}

// reason shortens an error of the name service to what matters.
func reason(err error) string {
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return dns.Err
	}
	return err.Error()
}

// resolveServers finds the addresses of the servers, binds, sources and log
// targets that are given by name.
func resolveServers(p *config.Parser, px *model.Proxy) {
	r := lookups(p)
	for _, b := range px.Binds {
		for i := range b.Addrs {
			if err := r.settle(&b.Addrs[i]); err != nil {
				p.Errorf(b.Pos, "'bind %s': no address is found for '%s': %s.", b.Text, b.Addrs[i].Host, reason(err))
			}
		}
	}
	resolveSource(p, r, px.Source)
	for _, s := range px.Servers {
		if s.Source != nil {
			resolveSource(p, r, s.Source)
		}
		if s.Addr.IsName {
			resolveServer(p, r, px, s)
		}
	}
	resolveLogs(p, r, px.Log.Targets)
}

func resolveSource(p *config.Parser, r *resolver, s *model.Source) {
	if s == nil {
		return
	}
	if err := r.settle(&s.Addr); err != nil {
		p.Errorf(s.Pos, "'source': no address is found for '%s': %s.", s.Addr.Host, reason(err))
	}
}

func resolveLogs(p *config.Parser, r *resolver, targets []*model.LogTarget) {
	for _, t := range targets {
		if err := r.settle(&t.Addr); err != nil {
			p.Errorf(t.Pos, "'log': no address is found for '%s': %s.", t.Addr.Host, reason(err))
		}
	}
}

// resolveServer tries the methods of init-addr in turn (manual 5.2). There is
// no state file to take a last address from.
func resolveServer(p *config.Parser, r *resolver, px *model.Proxy, s *model.Server) {
	methods := s.InitAddr
	if methods == "" {
		methods = "last,libc"
	}
	var failure error
	for _, m := range strings.Split(methods, ",") {
		switch m {
		case "last":
		case "libc":
			a := s.Addr
			if failure = r.settle(&a); failure == nil {
				s.Addr = a
				return
			}
		case "none":
			s.NoAddr = true
			if failure != nil {
				p.Diags().Noticef(s.Pos, "server '%s/%s': no address is found for '%s': %s; it starts without one, and down.", px.Name, s.Name, s.Host, reason(failure))
			}
			return
		default:
			s.Addr.IP, s.Addr.IsName = netip.MustParseAddr(m), false
			return
		}
	}
	why := "none of the methods of 'init-addr' gives one"
	if failure != nil {
		why = reason(failure)
	}
	p.Errorf(s.Pos, "server '%s/%s': no address is found for '%s': %s.", px.Name, s.Name, s.Host, why)
}

// checkUsers turns the names of users and groups into numbers and applies
// unix-bind to the binds.
func checkUsers(p *config.Parser) {
	r, cfg := lookups(p), root(p)
	g := cfg.Global
	find := func(pos diag.Position, what, name string, ask func(string) (int, error), to *int) {
		if name == "" || *to >= 0 {
			return
		}
		id, err := ask(name)
		if err != nil {
			why := reason(err)
			var u user.UnknownUserError
			var ug user.UnknownGroupError
			if errors.As(err, &u) || errors.As(err, &ug) {
				why = "there is none of that name"
			}
			p.Errorf(pos, "%s '%s': %s.", what, name, why)
			return
		}
		*to = id
	}
	find(g.UserPos, "user", g.User, r.User, &g.UID)
	find(g.GroupPos, "group", g.Group, r.Group, &g.GID)
	ub := &g.UnixBind
	find(ub.Pos, "'unix-bind' user", ub.User, r.User, &ub.UID)
	find(ub.Pos, "'unix-bind' group", ub.Group, r.Group, &ub.GID)
	resolveLogs(p, r, g.Log.Targets)
	for _, px := range cfg.Proxies {
		for _, b := range px.Binds {
			find(b.Pos, "user", b.User, r.User, &b.UID)
			find(b.Pos, "group", b.Group, r.Group, &b.GID)
			unixDefaults(p, ub, b)
		}
	}
}

// unixDefaults applies unix-bind to a bind line.
func unixDefaults(p *config.Parser, ub *model.UnixBind, b *model.Bind) {
	if b.UID < 0 {
		b.UID = ub.UID
	}
	if b.GID < 0 {
		b.GID = ub.GID
	}
	if b.PermMode < 0 {
		b.PermMode = ub.PermMode
	}
	for i := range b.Addrs {
		a := &b.Addrs[i]
		if a.Family != addr.Unix || ub.Prefix == "" {
			continue
		}
		if a.Path = ub.Prefix + a.Path; len(a.Path) > addr.MaxPath {
			p.Errorf(b.Pos, "'bind %s': with the prefix of 'unix-bind' the path is %d bytes long; the limit is %d.", b.Text, len(a.Path), addr.MaxPath)
		}
	}
}

// hint suggests the candidate that name may be a misspelling of.
func hint(name string, candidates []string) string {
	if near := registry.Nearest(name, candidates); near != "" {
		return "; did you mean '" + near + "'?"
	}
	return ""
}
