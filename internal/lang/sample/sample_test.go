package sample_test

import (
	"net/netip"
	"testing"

	"weir/internal/lang/sample"
	"weir/internal/lang/sample/sampletest"
	"weir/internal/model"
)

func init() {
	text := func(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
		v.SetStr([]byte(a[0].Str))
		return true
	}
	sample.AddFetch(
		sample.Fetch{Name: "t.str", Args: "string", Out: model.TypeStr, Valid: sample.Always, Get: text},
		sample.Fetch{Name: "t.int", Args: "integer", Out: model.TypeSint, Valid: sample.Always, Get: func(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
			v.SetInt(a[0].Int)
			return true
		}},
		sample.Fetch{Name: "t.addr", Args: "string", Out: model.TypeAddr, Valid: sample.Client, Get: func(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
			return v.SetIP(netip.MustParseAddr(a[0].Str))
		}},
		sample.Fetch{Name: "t.bin", Args: "string", Out: model.TypeBin, Valid: sample.Always, Get: func(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
			v.SetBin([]byte(a[0].Str))
			return true
		}},
	)
	same := func(*model.Txn, []sample.Arg, *model.Value) bool { return true }
	sample.AddConv(
		sample.Conv{Name: "t.toint", In: model.TypeSint, Out: model.TypeSint, Run: same},
		sample.Conv{Name: "t.tostr", Args: "[string,integer]", In: model.TypeStr, Out: model.TypeStr, Run: same},
		sample.Conv{Name: "t.toip", In: model.TypeAddr, Out: model.TypeAddr, Run: same},
		sample.Conv{Name: "t.tobool", In: model.TypeBool, Out: model.TypeBool, Run: same},
		sample.Conv{Name: "t.tobin", In: model.TypeBin, Out: model.TypeBin, Run: same},
	)
}

// TestCasts holds what the reference makes of values whose type is not the one wanted.
func TestCasts(t *testing.T) {
	for _, c := range []struct{ expr, want string }{
		{"t.str(12abc),t.toint", "12"}, {"t.str(abc),t.toint", "0"}, {"t.str(-5),t.toint", "-5"}, {"t.str(+5),t.toint", "5"},
		{"t.str( 7),t.toint", "0"}, {"t.str(99999999999999999999),t.toint", "9223372036854775807"},
		{"t.str(9223372036854775808),t.toint", "9223372036854775807"}, {"t.str(-9223372036854775809),t.toint", "-9223372036854775808"},
		{"t.str(0x10),t.toint", "0"}, {"t.str(tru),t.tobool", "0"}, {"t.str(5),t.tobool", "1"}, {"t.int(7),t.tobool", "1"},
		{"t.str(1.2.3.4),t.toip", "1.2.3.4"}, {"t.str(1.2.3.4:80),t.toip", "1.2.3.4"}, {"t.str(::1),t.toip", "::1"},
		{"t.int(16909060),t.toip", "1.2.3.4"}, {"t.addr(::ffff:1.2.3.4),t.tostr", "::ffff:1.2.3.4"},
		{"t.bin(a\x00b),t.tostr", "a"}, {"t.int(-1),t.tostr", "-1"},
	} {
		tx := sampletest.New(&sampletest.Stream{}, "")
		if got, ok := sampletest.Text(t, tx, c.expr); !ok || got != c.want {
			t.Errorf("%s = %q %v, want %q", c.expr, got, ok, c.want)
		}
	}
	for _, e := range []string{"t.str(),t.toint", "t.str(example.com),t.toip", "t.str(10.1),t.toip"} {
		tx := sampletest.New(&sampletest.Stream{}, "")
		if got, ok := sampletest.Text(t, tx, e); ok {
			t.Errorf("%s = %q, want no value", e, got)
		}
	}
}

func TestArguments(t *testing.T) {
	tx := sampletest.New(&sampletest.Stream{}, "")
	for _, c := range []struct{ expr, want string }{
		{`t.str('a,b')`, "a,b"}, {`t.str("a,b")`, "a,b"}, {`t.str("a\,b")`, `a\,b`}, {`t.str(a\nb)`, "a\nb"}, {`t.str('a\nb')`, `a\nb`},
		{`t.str("a\nb")`, "a\nb"}, {`t.str(a\xb)`, `a\xb`}, {`t.str(a\ b)`, "a b"}, {`t.str(a\\b)`, `a\b`}, {`t.str("a)b")`, "a)b"},
		{`t.str(a]b)`, "a]b"}, {`t.str( a b )`, " a b "}, {`t.str("ab"cd)`, "abcd"},
	} {
		if got, ok := sampletest.Text(t, tx, c.expr); !ok || got != c.want {
			t.Errorf("%s = %q %v, want %q", c.expr, got, ok, c.want)
		}
	}
	for _, e := range []string{"", "t.int", "t.str(", "t.str(a,b)", `t.str(a\,b)`, "t.str(a)x", "t.str(a),", "t.str(a),,t.tostr", "t.int(x)", "t.int()", "t.nope",
		"t.str(a),t.nope", "t.bin(a),t.toint", "t.bin(a),t.toip", "t.bin(a),t.tobool", "t.addr(::1),t.toint", "t.str('a)", `t.str("a)`, "t.str(a),t.tobool(1)"} {
		t.Log(sampletest.ParseError(t, e))
	}
}

func TestPlaces(t *testing.T) {
	_, err := sample.Parse(&sample.Scope{Valid: sample.ConfigParser}, "t.addr(::1)")
	if err == nil {
		t.Fatal("a client's address in the configuration parser")
	}
	t.Log(err)
	if p := sample.ParsePlaces("YYYYYYYYYYYYYYYYYYYYYY"); p != sample.Always {
		t.Errorf("%x", p)
	}
}

func TestEvalAllocates0(t *testing.T) {
	tx := sampletest.New(&sampletest.Stream{}, "")
	tx.Scratch.Init(new(model.ScratchPool), 0)
	e := sampletest.Parse(t, "t.addr(10.1.2.3),t.tostr(a,1),t.tobin,t.tostr")
	n := testing.AllocsPerRun(100, func() {
		m := tx.Scratch.Mark()
		if _, ok := e.EvalStr(tx); !ok {
			t.Fatal("no value")
		}
		tx.Scratch.Release(m)
	})
	if n > 1 { // the address's text is parsed by the test's fetch
		t.Errorf("%v allocations", n)
	}
}
