package evalcmd_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/internal/base/diag"
	_ "weir/internal/kw/fetchcore"
	"weir/internal/lang/config"
	"weir/internal/lang/sample"
	"weir/internal/model"
	"weir/internal/proc/evalcmd"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// The tests bring what they need of the language besides the fetches of fetchcore.
func init() {
	sample.AddFetch(
		sample.Fetch{Name: "t.path", Out: model.TypeStr, Get: func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
			if tx.Req == nil {
				return false
			}
			v.SetStr(tx.Req.Target)
			return true
		}},
		sample.Fetch{Name: "t.hdr", Args: "string", Out: model.TypeStr, Get: func(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
			m := tx.Req
			if tx.Dir == model.DirRes {
				m = tx.Res
			}
			b, ok := m.Get(a[0].Str)
			v.SetStr(b)
			return ok
		}},
		sample.Fetch{Name: "t.body", Out: model.TypeBin, Get: func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
			b, ok := tx.S.Body(tx.Dir)
			v.SetBin(b)
			return ok
		}},
		sample.Fetch{Name: "t.meth", Out: model.TypeMeth, Get: func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
			v.Type, v.Num, v.B = model.TypeMeth, int64(tx.Req.Method), tx.Req.MethodName
			return true
		}},
		sample.Fetch{Name: "t.var", Args: "string", Out: model.TypeAny, Get: func(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
			scopes := map[string]*model.Vars{"txn": tx.Vars.Txn, "sess": tx.Vars.Sess, "req": tx.Vars.Flow, "res": tx.Vars.Flow}
			scope, name, _ := strings.Cut(a[0].Str, ".")
			if scope == "proc" {
				return tx.Vars.Proc.Get(name, v, &tx.Scratch)
			}
			e := scopes[scope].Get(name)
			if e != nil {
				*v = *e
			}
			return e != nil
		}},
	)
	sample.AddConv(
		sample.Conv{Name: "t.upper", In: model.TypeStr, Out: model.TypeStr, Run: func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
			v.SetStr(bytes.ToUpper(v.B))
			return true
		}},
		sample.Conv{Name: "t.len", In: model.TypeStr, Out: model.TypeSint, Run: func(_ *model.Txn, _ []sample.Arg, v *model.Value) bool {
			v.SetInt(int64(len(v.B)))
			return true
		}},
		sample.Conv{Name: "t.none", In: model.TypeStr, Out: model.TypeStr, Run: func(*model.Txn, []sample.Arg, *model.Value) bool { return false }},
	)
}

// run runs one command line and returns all that it says.
func run(words []string) string {
	c := &evalcmd.Command{ReadFile: func(name string) ([]byte, error) {
		if name == "missing" {
			return nil, fmt.Errorf("open %s: %w", name, os.ErrNotExist)
		}
		return []byte("content of " + name), nil
	}}
	var stdout, stderr bytes.Buffer
	code := c.Main(words, &stdout, &stderr)
	return fmt.Sprintf("%s%sexit code %d\n", stdout.String(), stderr.String(), code)
}

// TestGolden runs the command lines of testdata/runs.txt: "$ " and a line of words, then what it prints. Words are separated by spaces; single quotes protect them.
func TestGolden(t *testing.T) {
	file := filepath.Join("testdata", "runs.txt")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, c := range strings.Split("\n"+string(data), "\n$ ")[1:] {
		line, want, _ := strings.Cut(c, "\n")
		want = strings.TrimSuffix(want, "\n")
		got := strings.TrimSuffix(run(split(line)), "\n")
		if !*update && got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", line, got, want)
		}
		fmt.Fprintf(&out, "$ %s\n%s\n", line, got)
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// split takes a command line apart.
func split(line string) (words []string) {
	var w strings.Builder
	quoted, any := false, false
	for _, c := range line {
		switch {
		case c == '\'':
			quoted, any = !quoted, true
		case c == ' ' && !quoted:
			if any {
				words = append(words, w.String())
			}
			w.Reset()
			any = false
		default:
			w.WriteRune(c)
			any = true
		}
	}
	if any {
		words = append(words, w.String())
	}
	return words
}

// proxies is a configuration of a frontend, two backends and a listen section.
func proxies() *model.Config {
	srv := func(name string, weight int, backup, disabled bool) *model.Server {
		return &model.Server{Name: name, Weight: weight, Backup: backup, Disabled: disabled, MaxConn: 10, MaxQueue: 5, MinConn: 4}
	}
	return &model.Config{Global: &model.Global{Tune: model.Tune{Vars: model.VarLimits{Txn: 100}}}, ProcVars: new(model.ProcVars), Env: []string{"A=b"}, Proxies: []*model.Proxy{
		{Name: "back", Sides: model.SideBackend, ID: 2, Servers: []*model.Server{srv("s1", 1, false, false), srv("s2", 0, false, false), srv("s3", 1, true, false), srv("s4", 1, false, true)}},
		{Name: "front", Sides: model.SideFrontend, ID: 3, DefaultBackend: "back"},
		{Name: "other", Sides: model.SideBackend, ID: 4, Servers: []*model.Server{srv("a", 1, true, false), srv("b", 1, true, false)}, Opt: model.OptAllBackups},
		{Name: "both", Sides: model.SideFrontend | model.SideBackend, ID: 5, Servers: []*model.Server{srv("a", 1, true, false), srv("b", 1, true, false)}},
	}}
}

func TestConfiguration(t *testing.T) {
	c := &evalcmd.Command{Environ: []string{"A=b"}, Load: func(o config.Options) (*model.Config, *diag.List) {
		if o.Files[0] == "bad.cfg" {
			l := new(diag.List)
			l.Add(diag.Message{Severity: diag.Alert, Text: "it is bad"})
			return nil, l
		}
		return proxies(), new(diag.List)
	}}
	for _, x := range []struct{ words, want string }{
		{"-f a.cfg fe_name", `str "front"`}, {"-f a.cfg be_name", `str "back"`}, {"-f a.cfg nbsrv(back)", "sint 1"}, {"-f a.cfg nbsrv(other)", "sint 2"}, {"-f a.cfg nbsrv(both)", "sint 1"},
		{"-f a.cfg --proxy both be_id", "sint 5"}, {"-f a.cfg --proxy both nbsrv()", "sint 1"}, {"-f a.cfg --proxy other be_name", `str "other"`}, {"-f a.cfg --proxy other fe_name", "no value"},
		{"-f a.cfg srv_is_up(back/s4)", "bool false"}, {"-f a.cfg srv_is_up(back/s2)", "bool true"}, {"-f a.cfg srv_conn_free(back/s1)", "sint 4"}, {"-f a.cfg connslots(other)", "sint 30"},
		{"-f a.cfg srv_weight(back/s2)", "sint 0"}, {"-f a.cfg fe_conn(front)", "sint 0"}, {"-f a.cfg env(A)", `str "b"`}, {"-f a.cfg act_conn", "sint 0"}, {"-f a.cfg nbsrv(none)", "there is no backend 'none'"},
		{"-f a.cfg --proxy none str(a)", "there is no section 'none' in the configuration"}, {"-f a.cfg nbsrv()", "'front' has no backend side"},
		{"-f a.cfg --var txn.a=0123456789012345678901234567890123456789 str(a)", "needs more memory than tune.vars allows"},
		{"-f bad.cfg str(a)", "it is bad"}, {"-f bad.cfg str(a)", "weir eval: the configuration is refused"},
	} {
		var out bytes.Buffer
		code := c.Main(split(x.words), &out, &out)
		if !strings.Contains(out.String(), x.want) {
			t.Errorf("%s: %s (exit code %d), want %q", x.words, out.String(), code, x.want)
		}
	}
}
