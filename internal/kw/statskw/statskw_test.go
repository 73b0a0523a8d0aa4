package statskw_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "weir/internal/all"
	"weir/internal/base/addr"
	"weir/internal/feat/cli"
	"weir/internal/kw"
	"weir/internal/lang/config"
	"weir/internal/model"
)

// load reads a global section.
func load(t *testing.T, lines string) (*model.Config, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cfg")
	if err := os.WriteFile(path, []byte("global\n"+lines), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, list := kw.Load(config.Options{Files: []string{path}})
	var text strings.Builder
	for _, m := range list.Messages() {
		text.WriteString(m.Text + "\n")
	}
	return cfg, text.String()
}

func TestSockets(t *testing.T) {
	cfg, text := load(t, `
  stats socket /tmp/a level admin mode 600 expose-fd listeners name foo severity-output number
  stats socket ipv4@127.0.0.1:7001,127.0.0.1:7002 level user maxconn 3
  stats socket abns@x
  stats socket "fd@0" level admin
  stats timeout 2m
  stats maxconn 20
  tune.cli.max-payload-size 1m
`)
	if cfg == nil {
		t.Fatal(text)
	}
	c := cli.Of(cfg.Global)
	if c.Timeout != 2*time.Minute || c.MaxConn != 20 || c.MaxPayload != 1<<20 || len(c.Sockets) != 5 {
		t.Fatalf("%+v", c)
	}
	for i, want := range []struct {
		where string
		level cli.Level
		mode  int
	}{
		{"unix@/tmp/a", cli.Admin, 0o600}, {"ipv4@127.0.0.1:7001", cli.User, -1}, {"ipv4@127.0.0.1:7002", cli.User, -1},
		{"abns@x", cli.Operator, -1}, {"", cli.Admin, -1},
	} {
		s := c.Sockets[i]
		if want.where != "" && s.Where() != want.where || s.Level != want.level || s.Mode != want.mode {
			t.Errorf("%d: %s %s %o", i, s.Where(), s.Level, s.Mode)
		}
	}
	if s := c.Sockets[0]; !s.ExposeFD || s.Name != "foo" {
		t.Errorf("%+v", s)
	}
	if s := c.Sockets[4]; s.Addr.Family != addr.FD || s.Addr.FD != 0 {
		t.Errorf("%+v", s)
	}
}

func TestErrors(t *testing.T) {
	for line, want := range map[string]string{
		"stats socket":                          "expects an address",
		"stats socket foo":                      "foo",
		"stats socket /tmp/a level foo":         "foo",
		"stats socket /tmp/a level":             "level",
		"stats socket /tmp/a bar":               "bar",
		"stats socket /tmp/a mode 9":            "octal",
		"stats socket /tmp/a user no-such-user": "no-such-user",
		"stats socket /tmp/a severity-output x": "x",
		"stats socket /tmp/a expose-fd x":       "x",
		"stats socket /tmp/a ssl":               "not in weir yet",
		"stats socket fd@4321":                  "4321",
		"stats socket 127.0.0.1:1-3":            "one port",
		"stats timeout":                         "stats timeout",
		"stats timeout x":                       "x",
		"stats maxconn 0":                       "0",
		"stats maxconn x":                       "x",
	} {
		if cfg, text := load(t, "  "+line+"\n"); cfg != nil || !strings.Contains(text, want) {
			t.Errorf("%q: %q", line, text)
		}
	}
}
