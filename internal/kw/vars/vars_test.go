package vars_test

import (
	"strings"
	"testing"

	"weir/internal/base/diag"
	"weir/internal/kw"
	_ "weir/internal/kw/fetchcore"
	_ "weir/internal/kw/vars"
	"weir/internal/lang/config"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

// load reads lines of a global section.
func load(lines ...string) (*model.Config, *diag.List) {
	return kw.Load(config.Options{
		Files:   []string{"t.cfg"},
		Environ: []string{"HOME=/h"},
		ReadDir: func(string) ([]string, bool, error) { return nil, false, nil },
		ReadFile: func(string) ([]byte, error) {
			return []byte("global\n " + strings.Join(lines, "\n ") + "\n"), nil
		},
	})
}

// get reads a variable of the process as "type text".
func get(cfg *model.Config, name string) string {
	var v model.Value
	if cfg.ProcVars == nil || !cfg.ProcVars.Get(name, &v, model.NewScratch(nil, 0)) {
		return "none"
	}
	return v.Type.String() + " " + string(sample.AppendText(nil, &v))
}

// TestSetVar holds what the reference makes of set-var.
func TestSetVar(t *testing.T) {
	for _, c := range []struct {
		lines string
		want  string // of proc.a
	}{
		{"set-var proc.a int(5)", "sint 5"},
		{`set-var proc.a "str(a b)"`, "str a b"},
		{"set-var proc.a always_true", "bool 1"},
		{"set-var proc.a ipv4(1.2.3.4)", "ipv4 1.2.3.4"},
		{"set-var proc.a bin(4142)", "bin AB"},
		{"set-var proc.a meth(GET)", "meth GET"},
		{"set-var proc.a act_conn", "sint 0"},
		{"set-var proc.a uptime", "sint 0"},
		{"set-var proc.a thread", "sint 0"},
		{"set-var proc.a env(HOME)", "str /h"},
		{"set-var proc.a env(NOSUCH)", "none"},
		{"set-var proc.a int(1)\nset-var proc.a env(NOSUCH)", "sint 1"},
		{"setenv X 1\nset-var proc.a env(X)\nsetenv X 2", "str 1"},
		{"set-var proc.a int(1)\nset-var proc.a str(x)", "str x"},
		{"tune.vars.proc-max-size 100\nset-var proc.a str(x)", "str x"},
		{"set-var-fmt proc.a primary", "str primary"},
		{`set-var-fmt proc.a "a %[int(5)] b"`, "str a 5 b"},
		{"set-var-fmt proc.a %[env(NOSUCH)]", "str "},
		{"set-var-fmt proc.a %ci", "str "},
		{"set-var proc.a str(xxxxxxxxxxxxxxxxxxxxxxxxxxxxx)\ntune.vars.proc-max-size 10", "str xxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},
	} {
		cfg, list := load(strings.Split(c.lines, "\n")...)
		if cfg == nil {
			t.Errorf("%s: %s", c.lines, list)
		} else if got := get(cfg, "a"); got != c.want {
			t.Errorf("%s: %s, want %s", c.lines, got, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"set-var", "set-var"},
		{"set-var proc.a", "'set-var' expects 2 arguments"},
		{"set-var proc.a int(1) more", "set-var"},
		{"set-var txn.a int(1)", "variable 'txn.a' cannot be set in the global section"},
		{"set-var check.a int(1)", "cannot be set in the global section"},
		{"set-var a int(1)", "must start with its scope"},
		{"set-var proc.a nosuch", "unknown sample fetch 'nosuch'"},
		{"set-var proc.a int(x)", "'x' is not an integer"},
		{"set-var proc.a src", "sample fetch 'src' has no data here"},
		{"set-var proc.a fe_conn(f)", "sample fetch 'fe_conn'"},
		{"no set-var proc.a int(1)", "no"},
		{"set-var-fmt proc.a", "'set-var-fmt' expects 2 arguments"},
		{"set-var-fmt txn.a x", "cannot be set in the global section"},
		{"set-var-fmt proc.a %[src]", "sample fetch 'src' has no data here"},
		{"tune.vars.proc-max-size 66\nset-var-fmt proc.a abcd", "more memory than"},
		{"tune.vars.proc-max-size", "tune.vars.proc-max-size"},
		{"tune.vars.proc-max-size x", "x"},
		{"tune.vars.proc-max-size -1", "-1"},
		{"tune.vars.proc-max-size 5 6", "tune.vars.proc-max-size"},
		{"tune.vars.proc-max-size 40\nset-var proc.a int(1)", "more memory than"},
		{"tune.vars.global-max-size 40\nset-var proc.a str(0123456789)", "more memory than"},
	} {
		cfg, list := load(strings.Split(c.line, "\n")...)
		if cfg != nil || !strings.Contains(list.String(), c.want) {
			t.Errorf("%s: %s, want an error with %q", c.line, list, c.want)
		}
	}
}

func TestLimits(t *testing.T) {
	cfg, list := load("tune.vars.global-max-size 1", "tune.vars.proc-max-size 2k", "tune.vars.sess-max-size 3", "tune.vars.txn-max-size 99999999999", "tune.vars.reqres-max-size 5", "tune.vars.check-max-size 0")
	if cfg == nil {
		t.Fatal(list)
	}
	if got, want := cfg.Global.Tune.Vars, (model.VarLimits{Global: 1, Proc: 2048, Sess: 3, Txn: 99999999999, ReqRes: 5}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
