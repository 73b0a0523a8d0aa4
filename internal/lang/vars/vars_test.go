package vars_test

import (
	"strings"
	"testing"

	"weir/internal/lang/sample/sampletest"
	"weir/internal/lang/vars"
	"weir/internal/model"
)

func name(t *testing.T, text string) *vars.Name {
	t.Helper()
	n, err := vars.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if n.String() != text {
		t.Errorf("%q is written %q", text, n)
	}
	return n
}

func text(s string) *model.Value {
	v := new(model.Value)
	v.SetStr([]byte(s))
	return v
}

func number(n int64) *model.Value {
	v := new(model.Value)
	v.SetInt(n)
	return v
}

func TestNames(t *testing.T) {
	for _, s := range []string{"proc.a", "sess.a", "txn.a", "req.A_b.C9", "res.a", "check.a", "psess.a", "ptxn.a", "preq.a", "pres.a", "txn.a..b", "txn..", "txn.9"} {
		name(t, s)
	}
	for s, part := range map[string]string{"": "missing", "a": "scope", "foo.a": "scope", "txn": "after its scope", "txn.": "after its scope", "TXN.a": "scope", " txn.a": "scope",
		"txn.a-b": "'-'", "txn.a b": "' '", "txn.é": "consists", ".a": "scope", "pproc.a": "scope", "pcheck.a": "scope"} {
		if _, err := vars.Parse(s); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: %v, want something with %q", s, err, part)
		}
	}
}

// TestScopes: every scope keeps its own variables; what does not exist where the transaction runs can be neither read
// nor set.
func TestScopes(t *testing.T) {
	tx := sampletest.New(&sampletest.Stream{}, "")
	var v model.Value
	all := []string{"proc.a", "sess.a", "txn.a", "req.a", "check.a"}
	for _, s := range all {
		if n := name(t, s); !vars.Reachable(tx, n) || vars.Get(tx, n, &v) || !vars.Set(tx, n, text(s)) || !vars.Get(tx, n, &v) || string(v.B) != s {
			t.Errorf("%s is %q", s, v.B)
		}
	}
	for _, s := range all {
		if n := name(t, s); !vars.Get(tx, n, &v) || string(v.B) != s {
			t.Errorf("%s is %q", s, v.B)
		}
	}
	unreachable := func(list ...string) {
		t.Helper()
		for _, s := range list {
			if n := name(t, s); vars.Reachable(tx, n) || vars.Set(tx, n, text("x")) || vars.Get(tx, n, &v) || vars.Unset(tx, n) || vars.SetIf(tx, n, text("x"), 0) {
				t.Errorf("%s exists here", s)
			}
		}
	}
	unreachable("res.a", "psess.a", "ptxn.a", "preq.a", "pres.a")
	tx.Dir = model.DirRes
	unreachable("req.a")
	if n := name(t, "res.a"); !vars.Reachable(tx, n) {
		t.Error("no response scope in a response")
	}
	for _, s := range all[:3] {
		n := name(t, s)
		if !vars.Unset(tx, n) || vars.Get(tx, n, &v) || !vars.Unset(tx, n) {
			t.Errorf("%s is not unset", s)
		}
	}
	tx.Vars = model.VarScopes{}
	unreachable("proc.a", "sess.a", "txn.a", "res.a", "check.a")
}

// TestLimits: a limit counts the scopes inside, and 64 bytes for a variable besides its own.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		limits model.VarLimits
		sets   string // names; those that must fail are marked with '!'
	}{
		{model.VarLimits{}, "proc.a sess.a txn.a req.a check.a"},
		{model.VarLimits{ReqRes: 148}, "req.a req.b !req.c txn.a txn.b txn.c sess.a proc.a"},
		{model.VarLimits{Txn: 148}, "req.a txn.a !txn.b !req.b sess.a sess.b proc.a"},
		{model.VarLimits{Sess: 148}, "req.a sess.a !txn.b !req.b !sess.b proc.a check.a"},
		{model.VarLimits{Proc: 148}, "req.a sess.a !txn.b !req.b !sess.b proc.a proc.b !proc.c"},
		{model.VarLimits{Global: 148}, "req.a sess.a !txn.b !req.b !sess.b proc.a proc.b !proc.c check.a check.b !check.c"},
		{model.VarLimits{Global: 148, Proc: 1000, Sess: 1000}, "sess.a sess.b !sess.c"},
		{model.VarLimits{Global: 1000, Proc: 74}, "sess.a !sess.b proc.a !proc.b"},
		{model.VarLimits{Check: 74}, "check.a !check.b sess.a sess.b"},
		{model.VarLimits{ReqRes: 73}, "!req.a txn.a"},
	} {
		tx := sampletest.New(&sampletest.Stream{}, "")
		tx.Vars.Limits = &c.limits
		for s := range strings.FieldsSeq(c.sets) {
			s, fails := strings.CutPrefix(s, "!")
			n := name(t, s)
			if ok := vars.Set(tx, n, text("0123456789")); ok == fails {
				t.Errorf("%+v, %s: set is %v in %q", c.limits, s, ok, c.sets)
			}
			var v model.Value
			if vars.Get(tx, n, &v) == fails {
				t.Errorf("%+v, %s: wrong after set in %q", c.limits, s, c.sets)
			}
		}
	}
	// A variable that cannot grow keeps its value.
	tx := sampletest.New(&sampletest.Stream{}, "")
	tx.Vars.Limits = &model.VarLimits{Txn: 80}
	var v model.Value
	n := name(t, "txn.a")
	if !vars.Set(tx, n, text("short")) || vars.Set(tx, n, text(strings.Repeat("x", 17))) || !vars.Get(tx, n, &v) || string(v.B) != "short" || !vars.Set(tx, n, text(strings.Repeat("y", 16))) {
		t.Errorf("%q", v.B)
	}
}

func TestConditions(t *testing.T) {
	for _, c := range []struct {
		old   *model.Value // nil: not set
		value *model.Value
		conds string
		want  bool
	}{
		{nil, text("a"), "", true}, {nil, text("a"), "ifexists", false}, {nil, text("a"), "ifnotexists", true}, {nil, text("a"), "ifset", false}, {nil, text("a"), "ifnotset", true},
		{text("x"), text("a"), "ifexists", true}, {text("x"), text("a"), "ifnotexists", false}, {text("x"), text("a"), "ifset", true}, {text("x"), text("a"), "ifnotset", false},
		{nil, text(""), "ifempty", true}, {nil, text(""), "ifnotempty", false}, {nil, text("a"), "ifempty", false}, {nil, text("a"), "ifnotempty", true},
		{nil, number(0), "ifempty", false}, {nil, number(0), "ifnotempty", true}, {nil, text("a"), "ifnotempty ifnotset ifnotexists", true},
		{number(5), number(4), "ifgt", true}, {number(5), number(5), "ifgt", false}, {number(5), number(6), "ifgt", false},
		{number(5), number(4), "iflt", false}, {number(5), number(5), "iflt", false}, {number(5), number(6), "iflt", true},
		{text("5"), number(9), "ifgt", true}, {number(5), text("9"), "ifgt", true}, {nil, number(1), "ifgt iflt", true}, {number(5), number(4), "ifgt ifset", true},
		{number(5), number(4), "ifgt ifnotset", false}, {number(5), number(4), "ifset ifnotset", false},
	} {
		for _, scope := range []string{"txn.", "sess.", "proc."} {
			tx := sampletest.New(&sampletest.Stream{}, "")
			n := name(t, scope+"a")
			if c.old != nil {
				vars.Set(tx, n, c.old)
			}
			cond, err := vars.ParseConds(strings.Fields(c.conds))
			if err != nil {
				t.Fatal(err)
			}
			want := c.want
			if scope == "proc." && c.old == nil { // these exist since the configuration was read
				want = want && !strings.Contains(c.conds, "ifnotexists") || c.conds == "ifexists"
			}
			got := vars.SetIf(tx, n, c.value, cond)
			var v model.Value
			if set := vars.Get(tx, n, &v); got != want || want && (!set || v.Num != c.value.Num || string(v.B) != string(c.value.B)) {
				t.Errorf("%s old %v new %v %q: %v, want %v; then %v", scope, c.old, c.value, c.conds, got, want, v)
			}
		}
	}
	for _, words := range [][]string{{"foo"}, {""}, {"IFSET"}, {"ifset", "x"}, {"ifset", "ifset", "ifset", "ifset", "ifset"}} {
		if _, err := vars.ParseConds(words); err == nil {
			t.Errorf("%q: no error", words)
		}
	}
}

// TestSharedValuesAreCopies: what other streams can set meanwhile is not seen through a view.
func TestSharedValuesAreCopies(t *testing.T) {
	tx := sampletest.New(&sampletest.Stream{}, "")
	for _, s := range []string{"sess.a", "proc.a"} {
		n := name(t, s)
		var v model.Value
		vars.Set(tx, n, text("first"))
		vars.Get(tx, n, &v)
		vars.Set(tx, n, text("other"))
		if string(v.B) != "first" {
			t.Errorf("%s changed to %q", s, v.B)
		}
	}
}

func TestAllocates0(t *testing.T) {
	tx := sampletest.New(&sampletest.Stream{}, "")
	tx.Scratch.Init(new(model.ScratchPool), 0)
	value := text("some value")
	for _, s := range []string{"sess.a", "txn.a", "req.a", "check.a"} {
		n := name(t, s)
		if a := testing.AllocsPerRun(50, func() {
			m := tx.Scratch.Mark()
			var v model.Value
			if !vars.SetIf(tx, n, value, vars.IfNotEmpty|vars.IfNotSet) || !vars.Get(tx, n, &v) || !vars.Unset(tx, n) {
				t.Fatal(s)
			}
			tx.Scratch.Release(m)
		}); a > 0 {
			t.Errorf("%s: %v allocations", s, a)
		}
	}
}

// FuzzParse: a name that is accepted is written back as it was.
func FuzzParse(f *testing.F) {
	f.Add("txn.a")
	f.Add("psess.A_b.9")
	f.Fuzz(func(t *testing.T, s string) {
		n, err := vars.Parse(s)
		if err == nil && n.String() != s {
			t.Errorf("%q is written %q", s, n)
		}
	})
}
