package convdata

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"weir/internal/lang/sample"
	"weir/internal/lang/sample/sampletest"
	"weir/internal/lang/vars"
	"weir/internal/model"
)

func init() {
	sample.AddFetch(
		sample.Fetch{Name: "str", Args: "string", Out: model.TypeStr, Valid: sample.Always, Get: func(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
			v.SetStr([]byte(a[0].Str))
			return true
		}},
		sample.Fetch{Name: "bin", Args: "string", Out: model.TypeBin, Valid: sample.Always, Get: func(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
			b, err := hex.DecodeString(a[0].Str)
			v.SetBin(b)
			return err == nil
		}},
		sample.Fetch{Name: "var", Args: "string", Out: model.TypeAny, Valid: sample.Always,
			Check: func(_ *sample.ArgCheck, a []sample.Arg) error {
				n, err := vars.Parse(a[0].Str)
				a[0].Data = n
				return err
			},
			Get: func(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
				return vars.Get(tx, a[0].Data.(*vars.Name), v)
			}},
	)
}

// newTxn returns a transaction of a response's rules, as those that the tables were made with.
func newTxn() *model.Txn {
	tx := sampletest.New(&sampletest.Stream{}, "/")
	tx.Dir = model.DirRes
	return tx
}

func setVar(t testing.TB, tx *model.Txn, name, typ, text string) {
	t.Helper()
	n, err := vars.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	var v model.Value
	v.SetStr([]byte(text))
	switch typ {
	case "bin":
		b, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		v.SetBin(b)
	case "int":
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		v.SetInt(n)
	}
	if !vars.Set(tx, n, &v) {
		t.Fatalf("cannot set %s", name)
	}
}

// parse compiles an expression of a configuration, nil when it does not compile.
func parse(cfg *model.Config, text string) *sample.Expr {
	e, err := sample.Parse(&sample.Scope{Conf: cfg}, text)
	if err != nil {
		return nil
	}
	return e
}

// result evaluates an expression and writes what it gives as the tables do: "=" and the value's bytes in hexadecimal, "-" for no value, "!" for
// an expression that does not compile.
func result(t testing.TB, tx *model.Txn, e *sample.Expr) string {
	t.Helper()
	if e == nil {
		return "!"
	}
	m := tx.Scratch.Mark()
	defer tx.Scratch.Release(m)
	var v model.Value
	if !e.Eval(tx, &v) {
		return "-"
	}
	if !sample.Cast(tx, &v, model.TypeBin) {
		t.Fatalf("%s: %s is no bytes", e.Text, v.Type)
	}
	return "=" + hex.EncodeToString(v.B)
}

// TestTables evaluates the expressions of testdata/*.tsv. Their results are those of the reference, except for the rows marked in the files.
func TestTables(t *testing.T) {
	files, err := filepath.Glob("testdata/*.tsv")
	if err != nil || len(files) == 0 {
		t.Fatal("no tables", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".tsv"), func(t *testing.T) { runTable(t, name) })
	}
}

func runTable(t *testing.T, name string) {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		expr, want string
		e          *sample.Expr
	}
	var (
		rows []row
		cfg  model.Config
	)
	tx := newTxn()
	in := bufio.NewScanner(bytes.NewReader(text))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		f := strings.Split(in.Text(), "\t")
		switch {
		case f[0] == "# set":
			setVar(t, tx, f[1], f[2], f[3])
			continue
		case strings.HasPrefix(f[0], "#"):
			continue
		case len(f) < 2:
			t.Fatalf("%q has no result", in.Text())
		}
		rows = append(rows, row{f[0], f[len(f)-1], parse(&cfg, f[0])})
	}
	for _, r := range rows {
		if got := result(t, tx, r.e); got != r.want {
			t.Errorf("%s\n got %s\nwant %s", r.expr, got, r.want)
		}
	}
	t.Logf("%d rows", len(rows))
}
