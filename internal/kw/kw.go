// Package kw turns configuration files into a checked [model.Config].
//
// The keywords themselves live in the packages below this one, a tight family
// each; they register with the language (package lang/config) in init. This
// package gives the language its objects - what a proxy inherits from a
// defaults section - and holds the check stage: references between proxies,
// modes, timeouts, names of users and servers turned into numbers and
// addresses.
//
// [Load] has no effect outside of what it returns, apart from reading files
// and asking the name service: two loads may run side by side.
package kw

import (
	"context"
	"net"
	"net/netip"
	"os/user"
	"strconv"
	"time"

	"weir/internal/base/diag"
	"weir/internal/lang/config"
	"weir/internal/model"
)

// Lookups are the questions that the check stage asks the system.
type Lookups struct {
	// Host returns the addresses of a host name.
	Host func(ctx context.Context, name string) ([]netip.Addr, error)
	// User and Group return the number of a user or group, an error when there
	// is none of that name.
	User, Group func(name string) (int, error)
}

// resolveTimeout bounds the search for the address of one name.
const resolveTimeout = 10 * time.Second

// System asks the system: its resolver, its lists of users and groups.
func System() Lookups {
	return Lookups{
		Host: func(ctx context.Context, name string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
		},
		User: func(name string) (int, error) {
			u, err := user.Lookup(name)
			if err != nil {
				return 0, err
			}
			return strconv.Atoi(u.Uid)
		},
		Group: func(name string) (int, error) {
			g, err := user.LookupGroup(name)
			if err != nil {
				return 0, err
			}
			return strconv.Atoi(g.Gid)
		},
	}
}

// Load reads, parses and checks the files of o with the registered keywords.
// The list holds all messages. The configuration is nil when it must not be
// used: there are errors, or warnings that zero-warning turns into errors.
func Load(o config.Options) (*model.Config, *diag.List) { return LoadWith(o, System()) }

// LoadWith is Load with the questions to the system answered by sys.
func LoadWith(o config.Options, sys Lookups) (*model.Config, *diag.List) {
	cfg := newConfig()
	lookupsOf.Set(&cfg.Global.Slots, &resolver{Lookups: sys, hosts: make(map[string]hostAnswer)})
	o.Root = cfg
	res, diags := config.Load(o)
	lookupsOf.Set(&cfg.Global.Slots, nil)
	if res.Failed {
		return nil, diags
	}
	cfg.Env, cfg.ZeroWarning = res.Env.Environ(), res.ZeroWarning
	cfg.Global.ZeroWarning = res.ZeroWarning
	return cfg, diags
}
