package kw_test

import (
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"weir/internal/model"
)

const shop = `
global
  log 127.0.0.1:514 local0
  maxconn 500
defaults base
  mode http
  timeout client 10s
  timeout connect 1s
  timeout server 20s
  retries 5
  option redispatch 2
  option dontlognull
  option httplog
  option forwardfor except 127.0.0.1
  balance static-rr
  maxconn 77
  log global
  log 127.0.0.1:1514 sample 1:2 local1
  errorloc 503 /sorry
  default-server weight 7 maxconn 9 source 192.0.2.1
  default-server name big weight 100
  source 192.0.2.2
  default_backend pool
  retry-on 503 504
defaults slow from base
  timeout server 60s
  no option dontlognull
frontend in from base
  bind :80
  maxconn 5
  no log
  log 127.0.0.1:2514 local2
frontend other from slow
  bind :81
  errorloc 503 /other
backend pool from base
  server a 127.0.0.1:8000
  server b 127.0.0.1:8001 weight 3
  default-server weight 8
  server c 127.0.0.1:8002
  server d 127.0.0.1:8003 from srv:big
  server e 127.0.0.1:8004 from none
  server f 127.0.0.1:8005 from srv:b
  server g 127.0.0.1:8006 from be:pool
listen plain from slow
  bind :82
  mode tcp
  option tcplog
  server s 127.0.0.1:9000
`

func proxy(t *testing.T, c *model.Config, name string) *model.Proxy {
	t.Helper()
	for _, p := range c.Proxies {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("no proxy %s", name)
	return nil
}

func TestInheritance(t *testing.T) {
	c := good(t, shop)
	in, other, pool, plain := proxy(t, c, "in"), proxy(t, c, "other"), proxy(t, c, "pool"), proxy(t, c, "plain")

	for _, p := range []*model.Proxy{in, other, pool} {
		if p.Mode != model.ModeHTTP || p.Timeout.Client != 10*time.Second || p.Retries != 5 || p.Redispatch != 2 {
			t.Errorf("%s: mode %d, timeouts %+v, retries %d, redispatch %d", p.Name, p.Mode, p.Timeout, p.Retries, p.Redispatch)
		}
		if !p.ForwardFor.Enabled || p.ForwardFor.Except != "127.0.0.1/32" || p.Balance.Algorithm != "static-rr" {
			t.Errorf("%s: %+v %+v", p.Name, p.ForwardFor, p.Balance)
		}
	}
	if in.From != "base" || other.From != "slow" || in.Kind != "frontend" || plain.Kind != "listen" {
		t.Error("sections do not say where they come from")
	}
	if in.Timeout.Server != 20*time.Second || other.Timeout.Server != time.Minute {
		t.Error("a defaults section must pass on what it inherits, and its own")
	}
	if !in.Has(model.OptDontLogNull) || other.Has(model.OptDontLogNull) {
		t.Error("'no option' in a defaults section must count")
	}
	if in.MaxConn != 5 || other.MaxConn != 77 {
		t.Error("maxconn")
	}
	if in.Log.Global || len(in.Log.Targets) != 1 || in.Log.Targets[0].Addr.Port != 2514 {
		t.Errorf("'no log' must drop what is inherited: %+v", in.Log)
	}
	if !other.Log.Global || len(other.Log.Targets) != 1 || other.Log.Targets[0].SampleSize != 2 {
		t.Errorf("log targets: %+v", other.Log)
	}
	if in.Errors[503].Fields[1][1] != "/sorry" || other.Errors[503].Fields[1][1] != "/other" {
		t.Error("error pages")
	}
	if plain.Log.Format != model.LogTCP || in.Log.Format != model.LogHTTP || plain.ForwardFor.Enabled {
		t.Error("log formats and options by mode")
	}
	if pool.Has(model.OptAbortOnClose) != true || plain.Has(model.OptAbortOnClose) {
		t.Error("abortonclose is the default of HTTP backends")
	}
}

func TestDefaultServers(t *testing.T) {
	pool := proxy(t, good(t, shop), "pool")
	weights := map[string]int{"a": 7, "b": 3, "c": 8, "d": 100, "e": 1, "f": 3, "g": 8}
	for i, s := range pool.Servers {
		if s.Weight != weights[s.Name] {
			t.Errorf("%s: weight %d, want %d", s.Name, s.Weight, weights[s.Name])
		}
		if s.ID != i+1 {
			t.Errorf("%s: id %d", s.Name, s.ID)
		}
	}
	if e := pool.Servers[4]; e.MaxConn != 0 || e.Source != nil || e.PoolMaxConn != -1 || e.MaxReuse != -1 || e.PoolPurgeDelay != 5*time.Second {
		t.Errorf("'from none' must give the documented defaults: %+v", e)
	}
	if f := pool.Servers[5]; f.MaxConn != 9 || f.Addr.Port != 8005 || f.Name != "f" {
		t.Errorf("'from srv:' must copy settings only: %+v", f)
	}
}

// TestNothingShared checks that two sections that inherit the same settings
// have copies: a change of one is not seen in the other.
func TestNothingShared(t *testing.T) {
	c := good(t, shop)
	a, b := proxy(t, c, "in"), proxy(t, c, "pool")
	if a.DefaultServer == b.DefaultServer || a.DefaultServer.Source == b.DefaultServer.Source || a.Source == b.Source {
		t.Error("default-server or source is shared")
	}
	if reflect.ValueOf(a.Errors).Pointer() == reflect.ValueOf(b.Errors).Pointer() {
		t.Error("the map of error pages is shared")
	}
	o := proxy(t, c, "other")
	if o.Log.Targets[0] == b.Log.Targets[0] {
		t.Error("log targets are shared")
	}
	if b.Servers[0].Source == b.Servers[1].Source {
		t.Error("servers share a source")
	}
}

// TestSideBySide loads two configurations at once, many times: each result
// must be as if it were alone.
func TestSideBySide(t *testing.T) {
	texts := []string{shop, strings.NewReplacer("maxconn 77", "maxconn 78", "retries 5", "retries 6", "weight 7", "weight 9").Replace(shop)}
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			c, diags := load(texts[i%2], "")
			if c == nil {
				t.Errorf("refused: %s", diags)
				return
			}
			for _, p := range c.Proxies {
				if p.Name == "other" && p.MaxConn != 77+i%2 || p.Retries != 5+i%2 {
					t.Errorf("load %d: %s has the settings of another load", i, p.Name)
				}
				if p.Name == "pool" && p.Servers[0].Weight != 7+2*(i%2) {
					t.Errorf("load %d: weight %d", i, p.Servers[0].Weight)
				}
			}
		})
	}
	wg.Wait()
}

func TestAutomaticIDs(t *testing.T) {
	c := good(t, `
defaults
 timeout client 1s
frontend a
 bind :80
frontend b
 id 2
 bind :81
frontend c
 bind :82
frontend d
 id 1
 bind :83
`)
	for name, id := range map[string]int{"a": 3, "b": 2, "c": 4, "d": 1} {
		if p := proxy(t, c, name); p.ID != id {
			t.Errorf("%s: id %d, want %d", name, p.ID, id)
		}
	}
}

func TestAddressesOfServers(t *testing.T) {
	c := good(t, `
defaults
 timeout client 1s
 timeout connect 1s
 timeout server 1s
backend b
 server a localhost:80
 server b dual.test:80
 server c ipv6@dual.test:80
 server d six.test:80
 server e gone.test:80 init-addr last,libc,none
 server f gone.test:80 init-addr libc,192.0.2.9
 server g 192.0.2.5:+10
 server h *
 source dual.test
`)
	b := c.Proxies[0]
	for i, want := range []string{"127.0.0.1", "192.0.2.1", "2001:db8::1", "2001:db8::6", "invalid IP", "192.0.2.9", "192.0.2.5", "0.0.0.0"} {
		s := b.Servers[i]
		if got := s.Addr.IP.String(); got != want {
			t.Errorf("%s: %s, want %s", s.Name, got, want)
		}
		if s.Addr.IsName != (s.Name == "e") || s.NoAddr != (s.Name == "e") {
			t.Errorf("%s: IsName %v NoAddr %v", s.Name, s.Addr.IsName, s.NoAddr)
		}
	}
	if b.Servers[1].Host != "dual.test" || b.Servers[6].Host != "" {
		t.Error("Host is the name as written, for names only")
	}
	if b.Source.Addr.IP.String() != "192.0.2.1" {
		t.Error("source by name")
	}
}

func TestUsersAndUnixBind(t *testing.T) {
	c := good(t, `
global
 user daemon
 gid 7
 unix-bind prefix /run mode 600 user root group daemon
frontend f
 timeout client 1s
 bind /a.sock
 bind /b.sock mode 660 user daemon gid 5
 bind abns@c
`)
	g := c.Global
	if g.UID != 1 || g.GID != 7 {
		t.Errorf("uid %d gid %d", g.UID, g.GID)
	}
	b := c.Proxies[0].Binds
	if b[0].Addrs[0].Path != "/run/a.sock" || b[0].UID != 0 || b[0].GID != 1 || b[0].PermMode != 0o600 {
		t.Errorf("%+v", b[0])
	}
	if b[1].UID != 1 || b[1].GID != 5 || b[1].PermMode != 0o660 {
		t.Errorf("%+v", b[1])
	}
	if b[2].Addrs[0].Path != "c" {
		t.Errorf("the prefix is for paths only: %+v", b[2].Addrs)
	}
}
