package conv_test

import (
	"slices"
	"strings"
	"testing"

	"weir/internal/lang/sample"
	"weir/internal/lang/sample/sampletest"
	"weir/internal/model"
)

// FuzzConverters chains converters that the input picks over bytes that the input gives: nothing may panic, no result
// may be longer than the limit unless the input was, and the same input gives the same result.
func FuzzConverters(f *testing.F) {
	for i, name := range sample.Convs.Names() {
		f.Add([]byte{byte(i), byte(i >> 8), 1, 2, 3}, "a", []byte(name+"=1;for=1.2.3.4&%41"))
	}
	f.Add([]byte{1, 2, 3}, "2,_", []byte("a_b_c"))
	f.Add([]byte{9, 9, 9}, "'%c %500d %-_^#10Ec %N'", []byte("12345678901234567"))
	names := slices.DeleteFunc(sample.Convs.Names(), func(n string) bool { return n == "debug" })
	f.Fuzz(func(t *testing.T, picks []byte, args string, data []byte) {
		const limit = 2048
		if len(data) > limit || len(picks) > 8 {
			return
		}
		copy(fuzzed[:], data)
		fuzzLen = len(data)
		expr := "t.fuzz"
		for _, p := range picks {
			name := names[int(p)%len(names)]
			conv, _ := sample.Convs.Lookup(name)
			switch {
			case conv.Args == "":
			case p&1 == 0 && sampleArgs[name] != "":
				name += sampleArgs[name]
			case strings.ContainsAny(args, "()"):
			default:
				name += "(" + args + ")"
			}
			expr += "," + name
		}
		e, err := sample.Parse(&sample.Scope{}, expr)
		if err != nil {
			return
		}
		run := func() string {
			tx := sampletest.New(&sampletest.Stream{}, "")
			tx.Scratch.Init(nil, limit)
			var v model.Value
			if !e.Eval(tx, &v) {
				return "none"
			}
			if len(v.B) > limit && !v.Const {
				t.Fatalf("%s: %d bytes", expr, len(v.B))
			}
			return show(&v)
		}
		if first, second := run(), run(); first != second {
			t.Fatalf("%s = %s, then %s", expr, first, second)
		}
		if string(fuzzed[:fuzzLen]) != string(data) {
			t.Fatalf("%s changed its input", expr)
		}
	})
}

var (
	fuzzed  [2048]byte
	fuzzLen int
)

func init() {
	sample.AddFetch(sample.Fetch{Name: "t.fuzz", Out: model.TypeBin, Valid: sample.Always, Get: func(_ *model.Txn, _ []sample.Arg, v *model.Value) bool {
		v.SetBin(fuzzed[:fuzzLen])
		return true
	}})
}
