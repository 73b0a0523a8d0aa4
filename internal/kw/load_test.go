package kw_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os/user"
	"testing"

	_ "weir/internal/all" // the keywords
	"weir/internal/base/diag"
	"weir/internal/kw"
	"weir/internal/lang/config"
	"weir/internal/model"
)

// lookups answers for the hosts localhost and dual.test (both families),
// six.test (IPv6 only) and the users and groups root (0) and daemon (1).
func lookups() kw.Lookups {
	hosts := map[string][]netip.Addr{
		"localhost": {netip.MustParseAddr("127.0.0.1")},
		"dual.test": {netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("192.0.2.1")},
		"six.test":  {netip.MustParseAddr("2001:db8::6")},
	}
	ids := map[string]int{"root": 0, "daemon": 1}
	return kw.Lookups{
		Host: func(_ context.Context, name string) ([]netip.Addr, error) {
			if ips, ok := hosts[name]; ok {
				return ips, nil
			}
			return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
		},
		User: func(name string) (int, error) {
			if id, ok := ids[name]; ok {
				return id, nil
			}
			return 0, user.UnknownUserError(name)
		},
		Group: func(name string) (int, error) {
			if id, ok := ids[name]; ok {
				return id, nil
			}
			return 0, user.UnknownGroupError(name)
		},
	}
}

// load loads text as the file "t.cfg"; dir is where relative file names start.
func load(text, dir string) (*model.Config, *diag.List) {
	return kw.LoadWith(config.Options{
		Files:   []string{"t.cfg"},
		Dir:     dir,
		ReadDir: func(string) ([]string, bool, error) { return nil, false, nil },
		ReadFile: func(string) ([]byte, error) {
			if text == "" {
				return nil, errors.New("no text")
			}
			return []byte(text), nil
		},
	}, lookups())
}

// good loads text and fails the test when there is an error.
func good(t *testing.T, text string) *model.Config {
	t.Helper()
	cfg, diags := load(text, "")
	if cfg == nil {
		t.Fatalf("the configuration is refused:\n%s\n%s", diags, text)
	}
	return cfg
}

// oneProxy loads one section "listen p" with the given lines in mode http and
// returns it.
func oneProxy(t *testing.T, lines string) *model.Proxy {
	t.Helper()
	return good(t, "defaults\n mode http\n timeout client 1s\n timeout connect 1s\n timeout server 1s\nlisten p\n bind :80\n"+lines+"\n").Proxies[0]
}
