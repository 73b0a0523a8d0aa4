package compat

import (
	"slices"
	"testing"
)

func TestKnown(t *testing.T) {
	for _, c := range []struct {
		kind, name string
		want       bool
	}{
		{Section, "resolvers", true}, {Section, "listen", true}, {Section, "mode", false},
		{Global, "nbthread", true}, {Global, "stats socket", true}, {Global, "tune.bufsize", true}, {Global, "timeout client", false},
		{Proxy, "option redispatch", true}, {Proxy, "timeout tunnel", true}, {Proxy, "acl", true}, {Proxy, "http-request", true},
		{Proxy, "tcp-request content", true}, {Proxy, "description", true}, {Proxy, "option", false}, {Proxy, "", false},
		{Bind, "crt", true}, {Bind, "v4v6", true}, {Server, "weight", true}, {Server, "crt-list", false},
		{"http-request", "set-header", true}, {"http-request", "cache-store", false}, {"tcp-request content", "inspect-delay", false},
		{Fetch, "src", true}, {Fetch, "path", true}, {Converter, "lower", true}, {ACL, "hdr_beg", true}, {Filter, "compression", true},
		{LogAlias, "%ci", true}, {CLI, "show info", true}, {"peers", "peer", true}, {"ring", "timeout connect", true}, {"nokind", "x", false},
	} {
		if got := Known(c.kind, c.name); got != c.want {
			t.Errorf("Known(%s, %q) = %v", c.kind, c.name, got)
		}
	}
}

func TestListsAreClean(t *testing.T) {
	total := 0
	for _, kind := range Kinds() {
		names := Names(kind)
		total += len(names)
		if len(names) == 0 || slices.Contains(names, "") {
			t.Errorf("%s: %q", kind, names)
		}
	}
	if total < 2000 {
		t.Errorf("only %d names", total)
	}
}

func TestCompare(t *testing.T) {
	l := Compare("userlist", []string{"group", "own", "user name"})
	if !slices.Equal(l.Done, []string{"group", "user"}) || len(l.Missing) != 0 || !slices.Equal(l.Own, []string{"own"}) {
		t.Errorf("%+v", l)
	}
}
