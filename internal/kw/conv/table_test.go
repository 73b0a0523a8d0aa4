package conv_test

import (
	"bufio"
	"encoding/hex"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "weir/internal/kw/conv"
	"weir/internal/lang/sample"
	"weir/internal/lang/sample/sampletest"
	"weir/internal/model"
)

// Constant fetches, as the tables use them.
func init() {
	time.Local = time.UTC
	fetch := func(name, args string, out model.Type, check func(*sample.ArgCheck, []sample.Arg) error, get func(*model.Txn, []sample.Arg, *model.Value) bool) {
		sample.AddFetch(sample.Fetch{Name: name, Args: args, Out: out, Valid: sample.Always, Check: check, Get: get})
	}
	text := func(_ *sample.ArgCheck, a []sample.Arg) error {
		a[0].Data = []byte(a[0].Str)
		return nil
	}
	fetch("str", "string", model.TypeStr, text, func(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
		v.SetStr(a[0].Data.([]byte))
		v.Const = true
		return true
	})
	fetch("bin", "string", model.TypeBin, func(_ *sample.ArgCheck, a []sample.Arg) error {
		b, err := hex.DecodeString(a[0].Str)
		a[0].Data = b
		return err
	}, func(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
		v.SetBin(a[0].Data.([]byte))
		v.Const = true
		return true
	})
	fetch("int", "integer", model.TypeSint, nil, func(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
		v.SetInt(a[0].Int)
		return true
	})
	fetch("bool", "string", model.TypeBool, nil, func(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
		v.SetBool(a[0].Str == "true" || a[0].Str == "1")
		return true
	})
	address := func(_ *sample.ArgCheck, a []sample.Arg) (err error) {
		a[0].Addr, err = netip.ParseAddr(a[0].Str)
		return err
	}
	for name, t := range map[string]model.Type{"ipv4": model.TypeIPv4, "ipv6": model.TypeIPv6} {
		fetch(name, "string", t, address, func(_ *model.Txn, a []sample.Arg, v *model.Value) bool { return v.SetIP(a[0].Addr) })
	}
	fetch("src", "", model.TypeAddr, nil, func(_ *model.Txn, _ []sample.Arg, v *model.Value) bool {
		return v.SetIP(netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	})
	method := []byte("GET")
	fetch("method", "", model.TypeMeth, nil, func(_ *model.Txn, _ []sample.Arg, v *model.Value) bool {
		v.Type, v.B = model.TypeMeth, method
		return true
	})
}

// prepared are the variables that the tables name.
var prepared = []string{"int(3),set-var(txn.n3)", "str(7x),set-var(txn.s7)", "str(abc),set-var(txn.abc)", "str(),set-var(txn.e)",
	"bool(true),set-var(txn.b)", "ipv4(10.1.2.3),set-var(txn.ip)", "ipv6(2001:db8::1),set-var(txn.ip6)", "bin(61006200),set-var(txn.bin)",
	"method,set-var(txn.meth)", "int(-2),set-var(txn.neg)", "int(0),set-var(txn.zero)", "bool(true),set-var(txn.true)", "str(zzzzzzzzzz),set-var(txn.long)"}

func newTxn(t testing.TB) *model.Txn {
	t.Helper()
	tx := sampletest.New(&sampletest.Stream{}, "")
	tx.Vars.Check = nil // not in a health check
	for _, e := range prepared {
		if _, ok := sampletest.Value(t, tx, e); !ok {
			t.Fatalf("%s: no value", e)
		}
	}
	return tx
}

// show writes a value as the tables do.
func show(v *model.Value) string {
	switch v.Type {
	case model.TypeStr, model.TypeBin:
		return v.Type.String() + " " + quote(v.B)
	case model.TypeIPv4, model.TypeIPv6:
		return v.Type.String() + " " + v.IP.String()
	case model.TypeMeth:
		return "meth " + string(v.B)
	}
	return v.Type.String() + " " + strconv.FormatInt(v.Num, 10)
}

func quote(b []byte) string {
	const digits = "0123456789abcdef"
	q := []byte{'"'}
	for _, c := range b {
		switch {
		case c == '"' || c == '\\':
			q = append(q, '\\', c)
		case c >= ' ' && c <= '~':
			q = append(q, c)
		default:
			q = append(q, '\\', 'x', digits[c>>4], digits[c&15])
		}
	}
	return string(append(q, '"'))
}

// eval is the outcome of an expression as the tables have it.
func eval(t testing.TB, tx *model.Txn, expr string) string {
	e, err := sample.Parse(&sample.Scope{}, expr)
	if err != nil {
		return "error"
	}
	m := tx.Scratch.Mark()
	defer tx.Scratch.Release(m)
	var v model.Value
	if !e.Eval(tx, &v) {
		return "none"
	}
	return show(&v)
}

// equal compares outcomes. The reference keeps the type of a value that a converter takes as it is: what is bool there
// may be a number here, and what is a string there bytes.
func equal(got, want string) bool {
	if got == want {
		return true
	}
	gt, gv, _ := strings.Cut(got, " ")
	wt, wv, _ := strings.Cut(want, " ")
	return gv == wv && (gt == "sint" && wt == "bool" || gt == "bin" && wt == "str")
}

// TestTables compares with what the reference (3.5) answers: lines "expression => type value", "none" without a value,
// "error" for what its configuration refuses.
func TestTables(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no tables", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) { testTable(t, name) })
	}
}

func testTable(t *testing.T, name string) {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tx := newTxn(t)
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	n := 0
	for line := 1; sc.Scan(); line++ {
		expr, want, ok := strings.Cut(sc.Text(), " => ")
		if !ok || strings.HasPrefix(expr, "#") {
			continue
		}
		n++
		if got := eval(t, tx, expr); !equal(got, want) {
			t.Errorf("%s:%d: %s = %s, want %s", name, line, expr, got, want)
		}
	}
	if err := sc.Err(); err != nil || n == 0 {
		t.Fatal(n, "rows", err)
	}
}
