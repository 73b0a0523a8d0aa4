package conv_test

import (
	"os"
	"testing"

	"weir/internal/lang/sample"
	"weir/internal/lang/sample/sampletest"
	"weir/internal/model"
)

const inputText = "16Xx,/-.%41é+b=3&c:80;"

// input is what fetch t.input returns, without a copy.
var input = []byte(inputText)

func init() {
	sample.AddFetch(sample.Fetch{Name: "t.input", Out: model.TypeStr, Valid: sample.Always, Get: func(_ *model.Txn, _ []sample.Arg, v *model.Value) bool {
		v.SetStr(input)
		return true
	}})
}

// sampleArgs are arguments for the converters that need some.
var sampleArgs = map[string]string{
	"add": "(txn.n3)", "sub": "(1)", "mul": "(txn.s7)", "div": "(txn.ip)", "mod": "(5)", "and": "(7)", "or": "(7)", "xor": "(7)",
	"bytes": "(1,txn.n3)", "field": "(2,.)", "word": "(-1,:,2)", "ltrim": "(x)", "rtrim": "(x)", "concat": "(a,txn.ip6,b)", "add_item": "(-,txn.n3,x)",
	"strcmp": "(txn.ip)", "secure_memcmp": "(txn.n3)", "iif": "(a,b)", "be2dec": "(.,2)", "le2dec": "(.,2)", "be2hex": "(.,2)", "url_enc": "()",
	"json": "(utf8ps)", "language": "(fr;16Xx,en)", "param": "(b)", "rfc7239_field": "(for)", "ipmask": "(24,64)",
	"utime": "('%c %j %V')", "ltime": "('%c %Z %s')", "ms_utime": "(%T.%3N)", "ms_ltime": "(%T.%N)", "us_utime": "(%T.%6N)", "us_ltime": "(%T.%N)",
	"regsub": "('([a-z]+)(.)','\\2\\1','gi')", "set-var": "(txn.new,ifnotempty)", "unset-var": "(txn.new)", "when": "(normal)", "debug": "(p,stderr)", "capture-req": "(0)", "capture-res": "(0)",
}

// TestConvertersDoNotAllocate runs every converter on text, numbers and addresses.
func TestConvertersDoNotAllocate(t *testing.T) {
	s := &sampletest.Stream{Proc: &process{cfg: &model.Config{Proxies: []*model.Proxy{{Name: "bk", Sides: model.SideBackend}}}}}
	s.Rec.Termination = [4]byte{'-', '-', '-', '-'}
	tx := sampletest.New(s, "")
	tx.Scratch.Init(new(model.ScratchPool), 0)
	for _, e := range prepared {
		sampletest.Value(t, tx, e)
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	old := os.Stderr
	defer func() { os.Stderr = old }()
	var exprs []*sample.Expr
	for _, name := range sample.Convs.Names() {
		if race && name == "regsub" {
			continue
		}
		for _, f := range []string{"t.input", "int(784111777)", "ipv4(10.1.2.3)", "ipv6(2001:db8::1)", "bool(true)", "bin(00ff0141)", "method",
			"str('Sun, 06 Nov 1994 08:49:37 GMT')", "str(YWJjYWJj)", "str('for=\"1.2.3.4:80\";host=a')", "str('[2001:db8::1]:80')", "str(bk/s1)"} {
			if conv, _ := sample.Convs.Lookup(name); conv.In == model.TypeAddr && f[0] != 'i' {
				continue // the cast of a string to an address is package sample's
			}
			if e, err := sample.Parse(&sample.Scope{}, f+","+name+sampleArgs[name]); err == nil {
				exprs = append(exprs, e)
			}
		}
	}
	var v model.Value
	for _, e := range append(exprs, sampletest.Parse(t, "var(txn.abc)"), sampletest.Parse(t, "var(txn.nope,x)")) {
		os.Stderr = null
		n := testing.AllocsPerRun(20, func() {
			m := tx.Scratch.Mark()
			e.Eval(tx, &v)
			tx.Scratch.Release(m)
		})
		os.Stderr = old
		if n > 0 {
			t.Errorf("%s: %v allocations", e.Text, n)
		}
	}
}
