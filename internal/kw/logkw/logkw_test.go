package logkw_test

import (
	"fmt"
	"strings"
	"testing"

	_ "weir/internal/all" // the keywords
	"weir/internal/base/diag"
	"weir/internal/kw"
	"weir/internal/lang/config"
	"weir/internal/lang/logfmt"
	"weir/internal/model"
)

const timeouts = "\ttimeout client 1s\n\ttimeout server 1s\n\ttimeout connect 1s\n"

func load(text string) (*model.Config, *diag.List) {
	return kw.Load(config.Options{
		Files:    []string{"t.cfg"},
		ReadDir:  func(string) ([]string, bool, error) { return nil, false, nil },
		ReadFile: func(string) ([]byte, error) { return []byte(text), nil },
		Facts:    config.Facts{LogFormats: logfmt.Variables()},
	})
}

// section makes a configuration of one frontend; defaults, if any, come first.
func section(mode, defaults string, lines ...string) string {
	return "defaults\n\tmode " + mode + "\n" + timeouts + defaults + "frontend f\n\tbind 127.0.0.1:1\n\tlog 127.0.0.1 local0\n\t" + strings.Join(lines, "\n\t") + "\n"
}

// TestMessages holds lines against the first message that they bring, "" for none.
func TestMessages(t *testing.T) {
	const w, e = "WARNING", "ALERT"
	for _, c := range []struct{ mode, defaults, line, severity, want string }{
		{"http", "", "log-format", e, "'log-format' expects one argument"}, {"http", "", "log-format a b", e, "'log-format' takes one argument; put the format into double quotes"},
		{"http", "", `log-format "a b" c`, e, "'c' is too much"}, {"http", "", "log-format %zz", e, "'log-format': there is no alias '%zz'"},
		{"http", "", "log-format %[nope]", e, "'log-format': unknown sample fetch 'nope'"}, {"http", "", "log-format %[req.hdr(x)]", e, "sample fetch 'req.hdr' has no data here"},
		{"http", "", "log-format-sd", e, "expects one argument"}, {"http", "", "log-format-sd %zz", e, "'log-format-sd': there is no alias"},
		{"http", "", "error-log-format", e, "expects one argument"}, {"http", "", "error-log-format %[req.body]", e, "has no data here"},
		{"http", "", "unique-id-format", e, "expects one argument"}, {"http", "", "unique-id-format %[res.hdr(x)]", e, "has no data here"}, {"http", "", "unique-id-format %zz", e, "there is no alias"},
		{"http", "", "unique-id-format %[req.hdr(host)]", "", ""}, {"tcp", "", "unique-id-format %[req.hdr(host)]", "", ""}, {"http", "", "unique-id-format %[req.body]", "", ""},
		{"http", "", "unique-id-header", e, "expects one argument"}, {"http", "", `unique-id-header "a b"`, e, "is no name of a header field"}, {"http", "", "unique-id-header X-Id", "", ""},
		{"http", "", "no log-format a", e, "cannot be put in front"}, {"http", "", "no unique-id-format", e, "cannot be put in front"},
		{"http", "", "log-format a\n\tlog-format b\n\toption httplog\n\toption tcplog clf", "", ""}, {"tcp", "", "log-format %HM", "", ""}, {"tcp", "", "option httplog", w, "'option httplog' cannot be used"},
		{"tcp", "", "option httplog\n\tlog-format a", "", ""}, {"http", "", "option tcplog foo", e, "unknown variant 'foo'"}, {"http", "", "option httplog clf x", e, "'x' is too much"},
		{"http", "", "no option httplog", e, "cannot be put in front"}, {"http", "", "option httpslog clf", e, "takes no argument"},
		{"http", "", "log-steps", e, "expects one argument"}, {"http", "", "log-steps all", "", ""}, {"http", "", "log-steps accept,close", "", ""}, {"http", "", "log-steps http-req", "", ""},
		{"http", "", "log-steps accept,foo", e, "unknown log step 'foo'"}, {"http", "", "log-steps any", e, "unknown log step 'any'"}, {"http", "", "log-steps ,close", e, "unknown log step ''"},
		{"http", "", "log-steps all,close", e, "unknown log step 'all'"}, {"http", "", "log-steps accept close", e, "'close' is too much"},

		{"http", "\toption httplog\n", "log-format a", "", ""}, {"http", "\tlog-format a\n", "option httplog", "", ""},
		{"http", "\toption httplog\n\tlog-format a\n", "maxconn 5", w, "'log-format' overrides 'option httplog' at line 6 of the same defaults section"},
		{"http", "\tlog-format a\n\toption httplog clf\n", "maxconn 5", w, "'option httplog clf' overrides 'log-format'"},
		{"http", "\tlog-format %zz\n", "maxconn 5", e, "there is no alias"}, {"http", "\tlog-format %[fe_conn]\n\tunique-id-format %[fe_conn]\n", "maxconn 5", "", ""},

		{"http", "", "capture cookie", e, "expects 3 arguments"}, {"http", "", "capture cookie a len", e, "expects 3 arguments"}, {"http", "", "capture cookie a len 0", "", ""},
		{"http", "", "capture cookie a= len 63", "", ""}, {"http", "", "capture cookie a len 64", w, "cut to 63 bytes"}, {"http", "", "capture cookie a ln 4", e, "'len' and a length are expected"},
		{"http", "", "capture cookie a len x", e, "'x'"}, {"http", "", "capture cookie = len 4", e, "needs the name of a cookie"}, {"tcp", "", "capture cookie a len 3", w, "has no effect in frontend 'f'"},
		{"http", "", "capture request header", e, "expects 3 arguments"}, {"http", "", "capture request header a len 70000", "", ""}, {"http", "", "capture request header a len 3 x", e, "'x' is too much"},
		{"http", "", `capture request header "a b" len 1`, e, "is no name of a header field"}, {"http", "", "capture request header a len -1", e, "-1"}, {"tcp", "", "capture request header a len 3", "", ""},
		{"http", "", "capture request cookie a len 1", e, "'request header'"}, {"http", "", "capture", e, "capture"},
		{"http", "\tcapture cookie a len 4\n", "maxconn 5", e, "not allowed in a defaults section"}, {"http", "\tdeclare capture request len 4\n", "maxconn 5", e, "not allowed in a defaults section"},
		{"http", "", "declare capture", e, "expects 3 arguments"}, {"http", "", "declare capture foo len 10", e, "unknown direction 'foo'"}, {"http", "", "declare capture request len 0", e, "0"},
		{"http", "", "declare capture response len 10", "", ""}, {"tcp", "", "declare capture request len 3", "", ""}, {"http", "", "declare foo", e, "declare"},

		{"http", "", "log 127.0.0.1 profile", e, "needs the name"}, {"http", "", "log 127.0.0.1 profile q local0", e, "there is no log-profile section 'q'"},
		{"http", "", "log 127.0.0.1 format raw profile q len 900 local0", e, "'len' is in the wrong place"},
	} {
		cfg, diags := load(section(c.mode, c.defaults, c.line))
		text := diags.String()
		switch {
		case c.severity == "" && (cfg == nil || text != ""):
			t.Errorf("%s: %s", c.line, text)
		case c.severity != "" && !strings.Contains(text, c.severity) || !strings.Contains(text, c.want) || (c.severity == e) != (cfg == nil):
			t.Errorf("%s:\n got %s\nwant %s %s", c.line, text, c.severity, c.want)
		}
	}
}

func TestProfileSections(t *testing.T) {
	body := "frontend f\n\tbind 127.0.0.1:1\n\tlog 127.0.0.1 profile p local0\n\toption httplog\n"
	for _, c := range []struct{ profile, want string }{
		{"log-profile p\n\ton close drop\n", ""}, {"log-profile p\n\ton any format x sd y\n\tlog-tag z\n", ""}, {"log-profile p\n\ton close drop format x\n", ""},
		{"log-profile p\n\ton tcp-req-conn sd y format x\n", ""}, {"log-profile p\n\ton close format %[fe_conn(f)]\n", ""},
		{"log-profile p\n\ton\n", "'on' needs a log step: accept, request"}, {"log-profile p\n\ton foo drop\n", "unknown log step 'foo'"}, {"log-profile p\n\ton close\n", "'on close' needs 'drop'"},
		{"log-profile p\n\ton close format\n", "'on close format' needs a format"}, {"log-profile p\n\ton close format x drop\n", "unknown word after a log step 'drop'"},
		{"log-profile p\n\ton close foo\n", "unknown word after a log step 'foo'"}, {"log-profile p\n\ton close format %zz\n", "there is no alias '%zz'"},
		{"log-profile p\n\ton close sd %[req.hdr(x)]\n", "has no data here"}, {"log-profile p\n\ton close format %[fe_conn]\n", "it must be named here"},
		{"log-profile p\n\tlog-tag\n", "expects one argument"}, {"log-profile p\n\tfoo\n", "unknown keyword 'foo'"}, {"log-profile\n", "expects one argument"},
		{"log-profile p\nlog-profile p\n", "there is a log-profile section 'p' already"}, {"log-profile \"a b\"\n", "not allowed in the name"}, {"log-profile pp\n", "no log-profile section 'p'."},
	} {
		cfg, diags := load("defaults\n\tmode http\n" + timeouts + body + c.profile)
		if text := diags.String(); (c.want == "") != (cfg != nil) || c.want == "" && text != "" || !strings.Contains(text, c.want) {
			t.Errorf("%q:\n got %s\nwant %s", c.profile, text, c.want)
		}
	}
}

// TestModel: what lines leave in the configuration.
func TestModel(t *testing.T) {
	cfg, diags := load("global\n\tlog 127.0.0.1 profile p local0\n" +
		"defaults d\n\tmode http\n" + timeouts + "\tlog-format \"a %[fe_name] %ft\"\n\tunique-id-format %{+X}o\\ %ci:%cp\n\tunique-id-header X-Id\n\tlog-steps accept,close\n" +
		"frontend one\n\tbind 127.0.0.1:1\n\tlog global\n\tcapture cookie SID= len 10\n\tcapture request header Host len 5\n\tdeclare capture request len 7\n\tcapture response header Server len 9\n" +
		"frontend two\n\tbind 127.0.0.1:2\n\tlog global\n\tlog 127.0.0.1 format rfc5424 profile p local0\n\toption httplog clf\n\tlog-format-sd \"[x %f]\"\n\terror-log-format E\n\tcapture cookie S len 0\n" +
		"backend b\n\tserver s 127.0.0.1:3\n" +
		"log-profile p\n\tlog-tag T\n\ton close format x\n\ton close sd y\n\ton connect drop\n")
	if cfg == nil {
		t.Fatal(diags.String())
	}
	one, two, p := cfg.Frontend("one"), cfg.Frontend("two"), model.LogProfiles.Get(&cfg.Slots)["p"]
	if one.Log.Format != model.LogCustom || one.Log.Custom == nil || one.UniqueID == nil || one.UniqueIDHeader != "X-Id" || one.Log.Steps != 1<<model.StepAccept|1<<model.StepClose {
		t.Errorf("%+v", one.Log)
	}
	if c := fmt.Sprint(one.Captures); c != "{[{Host 5} { 7}] [{Server 9}] {SID false 10}}" {
		t.Error(c)
	}
	if two.Log.Format != model.LogHTTPCLF || two.Log.Custom != nil || two.Log.SD == nil || two.Log.Error == nil || fmt.Sprint(two.Captures.Cookie) != "{S true 0}" {
		t.Errorf("%+v", two.Log)
	}
	if two.Log.Targets[0].Profile != p || cfg.Global.Log.Targets[0].Profile != p || p.Tag != "T" {
		t.Error("profiles are not linked")
	}
	if o := p.For(model.StepClose); o.Text == nil || o.SD == nil || o.Drop || !p.For(model.StepConnect).Drop || p.For(model.StepAccept) != nil {
		t.Errorf("%+v", p.On)
	}
}

// TestDefaultsAreReadAgain: the last line of a defaults section counts in the proxies that take it over.
func TestDefaultsAreReadAgain(t *testing.T) {
	for defaults, want := range map[string]model.LogFormat{
		"\tlog-format a\n\toption httplog\n": model.LogHTTP, "\toption httplog\n\tlog-format a\n": model.LogCustom, "\toption tcplog\n\tlog-format %o\n": model.LogDefault,
	} {
		cfg, diags := load(section("http", defaults, "maxconn 5"))
		if cfg == nil {
			t.Fatal(diags.String())
		}
		if got := cfg.Frontend("f").Log.Format; got != want {
			t.Errorf("%q: format %d, want %d", defaults, got, want)
		}
	}
}

// TestVariables: the built-in formats by their variables are the built-in formats; with more text they are custom ones.
func TestVariables(t *testing.T) {
	for _, c := range []struct {
		mode, text string
		want       model.LogFormat
	}{
		{"http", "${HAPROXY_HTTP_LOG_FMT}", model.LogHTTP}, {"http", "${HAPROXY_HTTP_CLF_LOG_FMT}", model.LogHTTPCLF}, {"tcp", "${HAPROXY_TCP_LOG_FMT}", model.LogTCP},
		{"http", "${HAPROXY_TCP_LOG_FMT}", model.LogTCP}, {"tcp", "${HAPROXY_TCP_CLF_LOG_FMT}", model.LogTCPCLF}, {"tcp", "${HAPROXY_HTTP_LOG_FMT}", model.LogCustom},
		{"http", "${HAPROXY_HTTP_LOG_FMT} x", model.LogCustom},
	} {
		cfg, diags := load(section(c.mode, "", `log-format "`+c.text+`"`))
		if cfg == nil {
			t.Fatal(diags.String())
		}
		if l := cfg.Frontend("f").Log; l.Format != c.want || (l.Custom != nil) != (c.want == model.LogCustom) {
			t.Errorf("%s in mode %s: %+v", c.text, c.mode, l)
		}
	}
}
