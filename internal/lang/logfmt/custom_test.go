package logfmt

import (
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"weir/internal/lang/sample"
	"weir/internal/lang/sample/sampletest"
	"weir/internal/model"
)

const anywhere = sample.Client | sample.BackCheck

// Fetches of these tests: they give their argument as a value of each type.
func init() {
	get := func(f func(s string, v *model.Value)) func(*model.Txn, []sample.Arg, *model.Value) bool {
		return func(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
			f(a[0].Str, v)
			return true
		}
	}
	sample.AddFetch(
		sample.Fetch{Name: "lf.str", Args: "string", Out: model.TypeStr, Valid: anywhere, Get: get(func(s string, v *model.Value) { v.SetStr([]byte(s)) })},
		sample.Fetch{Name: "lf.bin", Args: "string", Out: model.TypeBin, Valid: anywhere, Get: get(func(s string, v *model.Value) { v.SetBin([]byte(s)) })},
		sample.Fetch{Name: "lf.bool", Args: "string", Out: model.TypeBool, Valid: anywhere, Get: get(func(s string, v *model.Value) { v.SetBool(s == "true") })},
		sample.Fetch{Name: "lf.int", Args: "string", Out: model.TypeSint, Valid: anywhere, Get: get(func(s string, v *model.Value) { v.SetInt(sample.ParseInt([]byte(s))) })},
		sample.Fetch{Name: "lf.ip", Args: "string", Out: model.TypeAddr, Valid: anywhere, Get: get(func(s string, v *model.Value) { v.SetIP(netip.MustParseAddr(s)) })},
		sample.Fetch{Name: "lf.meth", Args: "string", Out: model.TypeMeth, Valid: anywhere, Get: get(func(s string, v *model.Value) {
			v.SetStr([]byte(s))
			v.Type = model.TypeMeth
		})},
		sample.Fetch{Name: "lf.nope", Out: model.TypeStr, Valid: anywhere, Get: func(*model.Txn, []sample.Arg, *model.Value) bool { return false }},
		sample.Fetch{Name: "lf.request", Out: model.TypeStr, Valid: sample.Request, Get: func(*model.Txn, []sample.Arg, *model.Value) bool { return false }},
		sample.Fetch{Name: "lf.total", Out: model.TypeSint, Valid: anywhere &^ sample.BackCheck, Get: func(*model.Txn, []sample.Arg, *model.Value) bool { return false }},
		// fixed values allocate nothing
		sample.Fetch{Name: "lf.fixed", Out: model.TypeStr, Valid: anywhere, Get: func(_ *model.Txn, _ []sample.Arg, v *model.Value) bool {
			v.SetStr(fixedText)
			return true
		}},
	)
	if _, ok := sample.Fetches.Lookup("unique-id"); !ok {
		sample.AddFetch(sample.Fetch{Name: "unique-id", Out: model.TypeStr, Valid: anywhere, Get: func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
			v.SetStr(tx.S.UniqueID())
			return true
		}})
	}
	sample.AddConv(
		sample.Conv{Name: "lf.copy", In: model.TypeStr, Out: model.TypeStr, Run: func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
			b := tx.Scratch.Copy(v.B)
			v.SetStr(b)
			return b != nil
		}},
		sample.Conv{Name: "lf.len", Args: "[integer]", In: model.TypeStr, Out: model.TypeSint, Run: func(_ *model.Txn, _ []sample.Arg, v *model.Value) bool {
			v.SetInt(int64(len(v.B)))
			return true
		}},
	)
}

var fixedText = []byte(`a "fixed" value`)

// values are the expressions of the tables below; the texts in them are raw.
var values = map[string]string{
	"a": "lf.str(a)", "q": `lf.str('a]b#c"d\e{f|g}h')`, "e": "lf.str()", "b": "lf.bin('\x80\xff\x7f\x1f %\n\r\t')", "z": "lf.bin('\x00\x01\x02A')",
	"i": "lf.int(255)", "n": "lf.int(-3)", "t": "lf.bool(true)", "f": "lf.bool(false)", "v4": "lf.ip(1.2.3.4)", "v6": "lf.ip(::1)", "m": "lf.meth(GET)",
	"bz": "lf.bin('ABC\x00')", "nope": "lf.nope", "eb": "lf.bin()",
}

// expand puts expressions in the place of "$name".
func expand(format string) string {
	for name, expr := range values {
		format = strings.ReplaceAll(format, "["+"$"+name+"]", "["+expr+"]")
	}
	return format
}

func parse(t testing.TB, use Use, text string) *Format {
	t.Helper()
	f, err := Parse(&sample.Scope{}, text, Options{Use: use})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return f
}

// txn is a transaction over a record.
func txn(r *model.LogRecord) *model.Txn {
	s := &sampletest.Stream{Rec: *r, ID: []byte(`u"#]\1`), Num: 54, Proc: &sampletest.Process{Host: "vm"}}
	tx := sampletest.New(s, "/")
	s.Rec.Tx = tx
	return tx
}

// line formats a record as a log line.
func line(f *Format, r *model.LogRecord) string { return string(f.AppendLine(nil, txn(r).S.Record())) }

// TestExpressions has what the reference made of the same values, in lines and in header fields.
func TestExpressions(t *testing.T) {
	const q, eq = `a]b#c"d\e{f|g}h`, `a\]b#c\"d\\e{f|g}h`
	for _, c := range []struct{ format, log, http, text string }{
		{"[$a]", "a", "a", "a"}, {"{+Q}[$a]", `"a"`, "a", `"a"`}, {"{+X}[$i]", "255", "255", "255"},
		{"[$q]", q, q, q}, {"{+Q}[$q]", `"` + q + `"`, q, `"` + q + `"`}, {"{+E}[$q]", eq, eq, eq}, {"{+Q,+E}[$q]", `"` + eq + `"`, eq, `"` + eq + `"`},
		{"[$e]", "-", "", ""}, {"{+Q}[$e]", `""`, "", `""`}, {"{+M}[$e]", "-", "", "-"}, {"{-M}[$e]", "", "", ""}, {"{+M,+Q}[$nope]", `""`, "", `""`},
		{"[$nope]", "-", "", ""}, {"{+E}[$nope]", "-", "", ""}, {"{+Q}[$nope]", `""`, "", `""`},
		// control bytes: the reference writes them raw into lines
		{"[$b]", "\x80\xff#7F#1F %#0A#0D\t", "\x80\xff%7F%1F %%0A%0D\t", "\x80\xff\x7f\x1f %\n\r\t"},
		{"{+E}[$b]", "\x80\xff#7F#1F %#0A#0D\t", "\x80\xff%7F%1F %%0A%0D\t", "\x80\xff\x7f\x1f %\n\r\t"},
		{"[$z]", "-", "", ""}, {"{+Q}[$z]", `""`, "", `""`}, {"[$bz]", "ABC", "ABC", "ABC"}, {"{+bin}[$z]", "-", "", ""},
		{"{+bin}o%[$z]", "\x00\x01\x02A", "%00%01%02A", "\x00\x01\x02A"}, {"{+bin,+Q}o%[$z]", "\x00\x01\x02A", "%00%01%02A", "\x00\x01\x02A"},
		{"{+bin,+Q}o%[$i]", `"255"`, "255", `"255"`}, {"{+bin,+Q}o%[$a]", `"a"`, "a", `"a"`}, {"{+bin}o%[$eb]|%[$nope]", "-|-", "|", "|"},
		{"{+bin,+E}o%[$b]|%[$q]", "\x80\xff\x7f\x1f %\n\r\t|" + eq, "\x80\xff%7F%1F %%0A%0D\t|" + eq, "\x80\xff\x7f\x1f %\n\r\t|" + eq},
		{"[$i]", "255", "255", "255"}, {"{+Q}[$i]", `"255"`, "255", `"255"`}, {"[$n]", "-3", "-3", "-3"}, {"[$t]", "1", "1", "1"}, {"{+Q}[$f]", `"0"`, "0", `"0"`},
		{"[$v4]", "1.2.3.4", "1.2.3.4", "1.2.3.4"}, {"{+Q,+X}[$v6]", `"::1"`, "::1", `"::1"`}, {"[$m]", "GET", "GET", "GET"},
		{"(:sint)[$a]", "a", "a", "a"}, {"(:raw)[$z]", "-", "", ""}, {"(n:bool)[$i]", "255", "255", "255"},
		{"{+json}[$a]", `"a"`, "a", `"a"`}, {"{+cbor}[$a]", "6161", "a", "6161"}, {"[lf.str(a),lf.copy,lf.len]", "1", "1", "1"},
	} {
		f := expand("x%" + c.format + "y")
		for use, want := range map[Use]string{ForLog: c.log, ForHTTP: c.http, ForText: c.text} {
			if got := line(parse(t, use, f), record()); got != "x"+want+"y" {
				t.Errorf("%s, use %d:\n got %q\nwant %q", c.format, use, got, "x"+want+"y")
			}
		}
	}
}

// TestEncodings has what the reference wrote for the same formats.
func TestEncodings(t *testing.T) {
	r := record(func(r *model.LogRecord) {
		r.ServerLocal, r.Server = netip.AddrPort{}, netip.AddrPort{}
		r.Timers.Connect = -1
	})
	hex := func(b string) string { return strings.ToUpper(fmt.Sprintf("%x", b)) }
	for _, c := range []struct{ format, want string }{
		{"%{+json}o %(n)[$q]", `{"n": "a]b#c\"d\\e{f|g}h"}`}, {"%{+json}o %(n:sint)[$a]", `{"n": 0}`}, {"%{+json}o %(n:bool)[$a]", `{"n": false}`},
		{"%{+json}o %(n:raw)[$a]", `{"n": a}`}, {"%{+json}o %(n:sint)[$e]", `{"n": ""}`}, {"%{+json}o %(n:raw)[$e]", `{"n": }`},
		{"%{+json}o %(n)[$b]", "{\"n\": \"\x80\xff\\u007F\\u001F %\\u000A\\u000D\t\"}"}, {"%{+json}o %(n:sint)[$b]", `{"n": ""}`},
		{"%{+json}o %(n)[$z]", `{"n": ""}`}, {"%{+json}o %(n:raw)[$z]", "{\"n\": \x00\x01\x02A}"}, {"%{+json}o %(n)[$i]", `{"n": 255}`},
		{"%{+json}o %(n:str)[$i]", `{"n": "255"}`}, {"%{+json}o %(n:bool)[$i]", `{"n": true}`}, {"%{+json}o %(n:raw)[$i]", "{\"n\": \x00\x00\x00\x00\x00\x00\x00\xff}"},
		{"%{+json}o %(n)[$t]", `{"n": true}`}, {"%{+json}o %(n:str)[$f]", `{"n": "0"}`}, {"%{+json}o %(n:sint)[$t]", `{"n": 1}`},
		{"%{+json}o %(n)[$v4]", `{"n": "1.2.3.4"}`}, {"%{+json}o %(n:sint)[$v4]", `{"n": 16909060}`}, {"%{+json}o %(n:bool)[$v4]", `{"n": ""}`},
		{"%{+json}o %(n:sint)[$v6]", `{"n": ""}`}, {"%{+json}o %(n:sint)[$m]", `{"n": ""}`}, {"%{+json}o %(n)[$nope]", `{"n": ""}`},
		{"%{+json}o %(n:raw)[$nope]", `{"n": }`}, {"%{+json}o %(n:str)B", `{"n": "96"}`}, {"%{+json}o %(n:bool)B", `{"n": true}`},
		{"%{+json}o %(n:raw)B %(m)Tc", `{"n": 96, "m": -1}`}, {"%{+json}o %(n:sint)HM", `{"n": "GET"}`}, {"%{+json}o %(n:bool)bp", `{"n": ""}`},
		{"%{+json}o %(n)hr %(m)hrl", `{"n": null, "m": null}`}, {"%{+json,+X}o %(n:sint)cp", `{"n": "A43C"}`}, {"%{+json}o %(n)ms", `{"n": 5}`},
		{"%{+json}o text", "{}"}, {"%{+json}o %ci", "{}"}, {"%{+json}o %%", "{}"}, {"%{+json}o %()f", "{}"},
		{"x %{+json}o y %(a)f z %(b)[$i] w", `{"a": "f", "b": 255}`}, {"%(a)f %{+json}o %(b)f", `{"a": "f", "b": "f"}`},
		{"%{+json}o %(a)f %{-json}o %(b)f", `"f" f`}, {"%{+json}o %(a){-json}f %(b)f", `{"a": "f", "b": "f"}`}, {"%{+json}f", `"f"`}, {"%{+json}[$q]", `"a]b#c\"d\\e{f|g}h"`},
		{"%{+json}[$i]", "255"}, {"%{+json}[$nope]", `""`}, {"%(:str){+json}[$i]", `"255"`}, {"%(:bool){+json}[$i]", "true"}, {"x=%{+json}hrl", "x=null"},
		{"%{+json}o %(b){+cbor}f", `{"b": "f"}`}, {"%{+json,+cbor}o %(b)f", `{"b": "f"}`}, {"%{+json}o %(a)f %(a)f", `{"a": "f", "a": "f"}`},
		{"%{+json}o %(a)o %(b)f", `{"b": "f"}`}, {"%{+json,-json}o %(a)f", "f"}, {"%{+json}o x %f %{-json}o y %f", `x "f" y f`},
		{"%{+bin,+json}o %(a)[$z]", "{\"a\": \x00\x01\x02A}"}, {"%{+bin,+json}o %(a)[$i] %(b)[$a] %(c)[$eb]", `{"a": 255, "b": "a", "c": ""}`},
		{"%{+json}o %(a_b-9Z)f", `{"a_b-9Z": "f"}`}, {"%{+json,+Q}o %(n)hr", `{"n": null}`},

		{"%{+cbor}o %(n)[$a]", "BF616E6161FF"}, {"%{+cbor}o %(n:sint)[$a]", "BF616E00FF"}, {"%{+cbor}o %(n:bool)[$a]", "BF616EF4FF"}, {"%{+cbor}o %(n:raw)[$a]", "BF616EaFF"},
		{"%{+cbor}o %(n)[$e]", "BF616EF6FF"}, {"%{+cbor}o %(n:raw)[$e]", "BF616EFF"}, {"%{+cbor}o %(n)[$b]", "BF616E5F4980FF7F1F20250A0D09FFFF"},
		{"%{+cbor}o %(n:str)[$b]", "BF616E6980FF7F1F20250A0D09FF"}, {"%{+cbor}o %(n)[$i]", "BF616E18FFFF"}, {"%{+cbor}o %(n:str)[$i]", "BF616E63323535FF"},
		{"%{+cbor}o %(n:bool)[$i]", "BF616EF5FF"}, {"%{+cbor}o %(n)[$n]", "BF616E22FF"}, {"%{+cbor}o %(n)[$t]", "BF616EF5FF"}, {"%{+cbor}o %(n:sint)[$t]", "BF616E01FF"},
		{"%{+cbor}o %(n)[$v6]", "BF616E633A3A31FF"}, {"%{+cbor}o %(n:sint)[$v4]", "BF616E1A01020304FF"}, {"%{+cbor}o %(n)[$nope]", "BF616EF6FF"}, {"%{+cbor}o %(n)[$eb]", "BF616EF6FF"},
		{"%{+cbor}o %(n:str)B %(m:bool)B", "BF616E1860616DF5FF"}, {"%{+cbor}o %(n)bp %(m)hr %(o)hrl", "BF616EF6616DF6616FF6FF"},
		{"%{+cbor}o %(n)HM", "BF616E7F63474554FFFF"}, {"%{+cbor}o %(n)r", "BF616E7F75474554202F6162633F783D7920485454502F312E31FFFF"},
		{"%{+cbor}o %(n)HQ", "BF616E7F643F783D79FFFF"}, {"%{+cbor}o %(n)ft %(m)b", "BF616E7F6166FF616D6162FF"}, {"%{+cbor}o %(n)Tc", "BF616E20FF"},
		{"%{+cbor}f", "6166"}, {"%{+cbor}[$nope]", "F6"}, {"x%{+cbor}B y", "x1860 y"}, {"%{+cbor,+json}o %(b)f", "BF61626166FF"}, {"%{+cbor}o %{+json}o %(b)f", "BF61626166FF"},
		{"%{+cbor}o %(b)f %{-cbor}o", "6166 "}, {"%{+cbor}o %(b)f x %(c)[$i] %f", "BF61626166616318FFFF"},
		{"%{+cbor,+bin}o %(b)f %(c)[$b]", "\xbfabafac_I\x80\xff\x7f\x1f %\n\r\t\xff\xff"}, {"%{+cbor}o %(b){+bin}f", "BF61626166FF"},
		{"%{+cbor}o %(c)[lf.int(-4)] %(d)[lf.int(70000)] %(e)[lf.int(-70000)] %(f)[lf.int(5000000000)] %(g)[lf.int(-5000000000)]",
			"BF61632361641A0001117061653A0001116F61661B000000012A05F20061673B000000012A05F1FFFF"},
		{"%{+cbor}o %(a)[lf.str(" + strings.Repeat("a", 300) + ")]", "BF616179012C" + hex(strings.Repeat("a", 300)) + "FF"},
	} {
		if got := line(parse(t, ForLog, expand(c.format)), r); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.format, got, c.want)
		}
	}
	if got := line(parse(t, ForText, expand("%{+json}o %(c)[$nope] %(e)[$b]")), r); got != "{\"c\": \"\", \"e\": \"\x80\xff\x7f\x1f %\n\r\t\"}" {
		t.Errorf("JSON in a variable: %q", got)
	}
	if got := line(parse(t, ForHTTP, expand("%{+json}o %(a)f %(b)[$i]")), r); got != " f 255" {
		t.Errorf("JSON in a header: %q", got)
	}
}

// TestTextAndFlags has what the reference made of spaces, percent signs and flags.
func TestTextAndFlags(t *testing.T) {
	for _, c := range []struct{ format, log, http string }{
		{"a  b", "a b", "a  b"}, {" a", "a", " a"}, {"a ", "a ", "a "}, {" a  b ", "a b ", " a  b "}, {"x\ty", "x\ty", "x\ty"}, {"%f  %f", "f f", "f  f"},
		{" %[$a] %[$a]  ", "a a ", " a a  "}, {"a\t \tb", "a\t \tb", "a\t \tb"}, {"%o a", "a", " a"}, {"a %o b", "a b", "a  b"}, {"a%o b", "a b", "a b"},
		{"%f%o%f", "ff", "ff"}, {"%% %%", "% %", "% %"}, {"%| x", "| x", "| x"}, {"%-x", "-x", "-x"}, {"%f_x", "f_x", "f_x"}, {"%f-x", "f-x", "f-x"},
		{"a#b\"c{|}d", "a#b\"c{|}d", "a#b\"c{|}d"}, {"\xc3\xa9\x01\x7f", "\xc3\xa9\x01\x7f", "\xc3\xa9\x01\x7f"}, {"%\xc3\xa9x", "\xc3\xa9x", "\xc3\xa9x"},
		{"%(n:bool)%|x", "%|x", "%|x"}, {"%(n)(m)f", "(m)f", "(m)f"}, {"%(n)|x", "|x", "|x"}, {"%[lf.str(a)],x", "a,x", "a,x"}, {"%[lf.str(a)]]", "a]", "a]"},
		{`%[lf.str("a]b")]`, "a]b", "a]b"}, {"%[lf.str(a]b)]", "a]b", "a]b"}, {`%[lf.str(a%%b)]%%`, "a%%b%", "a%%b%"},
		{"a %hr b", "a b", "a  b"}, {"[%{+Q}hr]", "[]", "[]"}, {"a %{-M}ID b", `a u"#]\1 b`, `a u"#]\1 b`}, {"a %{-M}[$nope] b", "a  b", "a  b"}, {"a %{-M}si b", "a b", "a  b"},
		{" %hr  %hs ", "", "    "}, {"%hr a", "a", " a"}, {"a %si b", "a - b", "a  b"}, {"%{+M}si", "-", "-"}, {"%{+Q}si", `""`, `""`},
		{"%{+Q}o %{-Q}f %f", `f "f"`, ` f "f"`}, {"%{-Q}o %f", "f", " f"}, {"%f %{+Q}o %f", `f "f"`, `f  "f"`}, {"%{+Z,+Q}o %f", `"f"`, ` "f"`}, {"%{Q}f", "f", "f"},
		{"%{-M}o %[$nope]|%si", "|", " |"}, {"%{-Q,+Q}f", `"f"`, `"f"`}, {"%{+QE}f", "f", "f"}, {"%{ +Q}f", `"f"`, `"f"`}, {"%{\t+Q}f", `"f"`, `"f"`}, {"%{+ Q}f", "f", "f"},
		{"%{++Q}f", `"f"`, `"f"`}, {"%{+-Q}f", "f", "f"}, {"%{-+Q}f", `"f"`, `"f"`}, {"%{+q}f", "f", "f"}, {"%{+JSON}f", "f", "f"}, {"%{+X,-X}ci", "127.0.0.1", "127.0.0.1"},
		{"%{+Q ,+E}[$q]", `a\]b#c\"d\\e{f|g}h`, `a\]b#c\"d\\e{f|g}h`}, {"%{+Q,,+E}[$a]", `"a"`, "a"}, {"%{}f", "f", "f"}, {"%OG", "txn_close", "txn_close"},
	} {
		for use, want := range map[Use]string{ForLog: c.log, ForHTTP: c.http} {
			if got := line(parse(t, use, expand(c.format)), record()); got != want {
				t.Errorf("%q, use %d:\n got %q\nwant %q", c.format, use, got, want)
			}
		}
	}
	if got := string(parse(t, ForHTTP, "%OG").Append(nil, txn(record()))); got != "unspec" {
		t.Errorf("origin outside of logs: %s", got)
	}
	if got := line(parse(t, ForID, expand("a  %[$nope]  b %{+Q}f %si c %ID%[unique-id,lf.copy]")), record()); got != `a  b "f" c ` {
		t.Errorf("unique ID: %q", got)
	}
}

func TestBadFormats(t *testing.T) {
	for _, c := range []struct{ format, want string }{
		{"%", "incomplete item '%'"}, {"a%", "incomplete item '%'"}, {"%%%", "incomplete item '%'"}, {"% a", "'% ' is no item"}, {"%\tx", "is no item"}, {"%1", "'%1' is no item"},
		{"%(n)1", "'%(n)1' is no item"}, {"%(n) x", "is no item"}, {"%zz", "there is no alias '%zz'"}, {"%Tx", "there is no alias '%Tx'"}, {"%oT", "there is no alias '%oT'"},
		{"%pidx", "there is no alias '%pidx'; did you mean '%pid'?"}, {"%{", "brace of '{' is not closed"}, {"%{+Q", "brace of '{+Q' is not closed"},
		{"%{+Q}", "must follow '%{+Q}'"}, {"%{+Q} x", "must follow '%{+Q}'"}, {"%{+Q}%", "must follow '%{+Q}'"}, {"%{+Q}|", "must follow"}, {"%{+Q}(n)f", "must follow"},
		{"%{+Q}{+E}f", "must follow"}, {"%(", "parenthesis of the name '' is not closed"}, {"%(nf", "parenthesis of the name 'nf'"}, {"%(n)", "incomplete item '%(n)'"},
		{"%(n)%%", "incomplete item '%'"}, {"%(n:nope)T", "'nope' is no type"}, {"%(n:)T", "'' is no type"}, {"%(a:b:c)f", "'b:c' is no type"}, {"%(n m)T", `character ' ' is not allowed`},
		{"%(a.b)T", `character '.' is not allowed`}, {"%[", "']' is missing"}, {"%[]", "sample fetch is missing"}, {"%[lf.str(a)", "']' is missing"}, {"%[lf.str(a]", "not closed"},
		{"%[nope]", "unknown sample fetch 'nope'"}, {"%[lf.nope,nope]", "unknown converter 'nope'"}, {"%[ lf.nope]", "']' is expected after '', found ' '"},
		{"%[lf.nope ]", "']' is expected after 'lf.nope', found ' '"}, {"%[lf.str(a)b]", "']' is expected after 'lf.str(a)', found 'b'"}, {"%[lf.nope,]", "converter is missing"},
		{`%[lf.str("a)]`, "not closed"}, {"%[lf.str('a)]", "not closed"}, {`%[lf.str(a\)b)]`, "']' is expected after"},
	} {
		if f, err := Parse(&sample.Scope{}, c.format, Options{Use: ForLog}); err == nil {
			t.Errorf("%q compiles to %v", c.format, f.parts)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.format, err, c.want)
		}
	}
	if _, err := Parse(&sample.Scope{Valid: sample.Logs}, "%[lf.request]", Options{Use: ForLog}); err == nil {
		t.Error("a request in a log line")
	}
}

// aliasCase is an alias with what the reference shows for it plainly and with the flags Q, E and X.
type aliasCase struct{ name, plain, q, e, x string }

func aliasCases() []aliasCase {
	const uri = `/p#22/q#23]\e|#80?x=#221]`
	same := func(name, v string) aliasCase { return aliasCase{name, v, v, v, v} }
	quoted := func(name, v string) aliasCase {
		return aliasCase{name, v, `"` + v + `"`, strings.NewReplacer(`\`, `\\`, `]`, `\]`).Replace(v), v}
	}
	pid := os.Getpid()
	return []aliasCase{
		same("T", "30/Nov/2026:23:01:31 +0000"), same("Tl", "01/Dec/2026:00:31:31 +0130"), {"Ts", "1796079691", "1796079691", "1796079691", "6B0E004B"},
		same("t", "01/Dec/2026:00:31:31.005"), {"ms", "005", "005", "005", "05"}, same("tr", "01/Dec/2026:00:31:32.015"), same("trg", "30/Nov/2026:23:01:32 +0000"),
		same("trl", "01/Dec/2026:00:31:32 +0130"), same("Ta", "139"), same("Tc", "30"), same("Td", "10"), same("Th", "4"), same("Ti", "50"), same("Tq", "64"), same("TR", "10"),
		same("Tr", "69"), same("Tt", "193"), same("Tu", "143"), same("Tw", "20"), same("B", "96"), same("U", "128"),
		{"CC", `SID=a#22b#23]\c`, `"SID=a#22b#23]\c"`, `SID=a\"b#\]\\c`, `SID=a#22b#23]\c`}, {"CS", "-", `""`, "-", "-"}, quoted("H", "vm"), quoted("HM", "GET"),
		quoted("HP", `/p#22/q#23]\e|#80`), quoted("HPO", `/p#22/q#23]\e|#80`), quoted("HQ", `?x=#221]`), quoted("HU", uri), quoted("HV", "HTTP/1.1"),
		{"ID", `u"#]\1`, `"u"#]\1"`, `u\"#\]\\1`, `u"#]\1`}, same("ST", "200"), same("ac", "1"), quoted("b", "b"), same("bc", "3"),
		{"bi", "10.0.0.1", `"10.0.0.1"`, "10.0.0.1", "0A000001"}, {"bp", "1234", "1234", "1234", "04D2"}, same("bq", "9"),
		{"ci", "127.0.0.1", `"127.0.0.1"`, "127.0.0.1", "7F000001"}, {"cp", "42044", "42044", "42044", "A43C"}, quoted("f", "f"), same("fc", "2"),
		{"fi", "::1", `"::1"`, "::1", "00000000000000000000000000000001"}, {"fp", "80", "80", "80", "0050"}, quoted("ft", "f~"), {"lc", "7", "7", "7", "0007"},
		{"hr", `{ex.org||v#22a#7C#7Bx#7D]\#23#80}`, `"{ex.org||v#22a#7C#7Bx#7D]\#23#80}"`, `{ex.org||v#22a#7C#7Bx#7D\]\\#23#80}`, `{ex.org||v#22a#7C#7Bx#7D]\#23#80}`},
		{"hrl", `ex.org - v#22a#7C#7Bx#7D]\#23#80`, `"ex.org" "" "v#22a#7C#7Bx#7D]\#23#80"`, `ex.org - v#22a#7C#7Bx#7D\]\\#23#80`, `ex.org - v#22a#7C#7Bx#7D]\#23#80`},
		quoted("hs", "{|}"), {"hsl", "- -", `"" ""`, "- -", "- -"}, quoted("OG", "txn_close"),
		{"pid", fmt.Sprint(pid), fmt.Sprint(pid), fmt.Sprint(pid), fmt.Sprintf("%04X", pid)}, quoted("r", "GET "+uri+" HTTP/1.1"), same("rc", "+3"), {"rt", "54", "54", "54", "0036"},
		quoted("s", "s"), same("sc", "4"), {"si", "-", `""`, "-", "-"}, {"sp", "-", `""`, "-", "-"}, same("sq", "5"), quoted("sslc", "TLS_X"), {"sslv", "-", `""`, "-", "-"},
		same("ts", "CD"), same("tsc", "CDNI"),
	}
}

func aliasRecord() *model.LogRecord {
	return record(func(r *model.LogRecord) {
		r.Request = utcAt.Add(1010 * time.Millisecond)
		r.Timers = model.Timers{Handshake: ms(4), Idle: ms(50), Request: ms(10), Queue: ms(20), Connect: ms(30), Response: ms(69), Total: ms(193)}
		r.CapturedReqCookie = []byte(`SID=a"b#]\c`)
		r.URI = []byte("/p\"/q#]\\e|\x80?x=\"1]")
		r.ClientLocal = netip.MustParseAddrPort("[::1]:80")
		r.ServerLocal = netip.MustParseAddrPort("10.0.0.1:1234")
		r.ActConn, r.FeConn, r.BeConn, r.SrvConn, r.SrvQueue, r.BeQueue = 1, 2, 3, 4, 5, 9
		r.TLS, r.TLSCipher, r.LogCount = true, "TLS_X", 7
		r.CaptureReq, r.CapturedReqHeaders = true, fields("ex.org", "-", "v\"a|{x}]\\#\x80")
		r.CaptureRes, r.CapturedResHeaders = true, fields("-", "-")
		r.Retries, r.Redispatched = 3, true
		r.Termination = [4]byte{'C', 'D', 'N', 'I'}
	})
}

func TestEveryAlias(t *testing.T) {
	local := time.Local
	time.Local = time.FixedZone("X", 5400)
	defer func() { time.Local = local }()
	cases := aliasCases()
	seen := make(map[string]bool)
	for _, c := range cases {
		seen[c.name] = true
		for flags, want := range map[string]string{"": c.plain, "{+Q}": c.q, "{+E}": c.e, "{+X}": c.x, "{+json,-json}": c.plain} {
			f := parse(t, ForLog, "x%"+flags+c.name+"|")
			if got := line(f, aliasRecord()); got != "x"+want+"|" {
				t.Errorf("%%%s%s:\n got %s\nwant x%s|", flags, c.name, got, want)
			}
		}
	}
	Aliases.All(func(name string, a *Alias) bool {
		if !seen[name] || a.Help == "" {
			t.Errorf("alias %s has no test or no help", name)
		}
		return true
	})
	if l := Ledger(); len(l.Missing) > 0 || len(l.Own) > 0 {
		t.Errorf("missing aliases %v, own %v", l.Missing, l.Own)
	}
}

func TestAliasesWithoutARequestOrServer(t *testing.T) {
	for _, a := range []string{"r", "HM", "HU", "HP", "HPO", "HQ", "HV"} {
		for _, r := range []*model.LogRecord{record(badRequest), record(tcp)} {
			if got := line(parse(t, ForLog, "%"+a+"|%{+Q}"+a), r); got != `<BADREQ>|"<BADREQ>"` {
				t.Errorf("%s: %s", a, got)
			}
		}
	}
	unix := record(func(r *model.LogRecord) { r.UnixClient, r.UnixID, r.UnixServer = true, 300, true })
	if got := line(parse(t, ForLog, "%ci|%cp|%fi|%fp|%bi|%bp|%si|%sp|%{+Q}si|%{+X}cp"), unix); got != `unix|300|unix|300|unix|0|unix|0|"unix"|300` {
		t.Error(got)
	}
	if got := line(parse(t, ForLog, "%{+json}o %(a)ci %(b)cp %(c)sp"), unix); got != `{"a": "unix", "b": 300, "c": 0}` {
		t.Error(got)
	}
	asap := record(func(r *model.LogRecord) { r.ASAP = true })
	if got := line(parse(t, ForLog, "%B|%U|%Ta|%Tt|%Td|%Tu|%Tr|%{+X}B"), asap); got != "+96|128|+1|+1|0|+1|1|+96" {
		t.Error(got)
	}
	if got := line(parse(t, ForLog, "%{+json}o %(a)B %(b)Tt"), asap); got != `{"a": 96, "b": 1}` {
		t.Error(got)
	}
	r := record(func(r *model.LogRecord) { r.ErrorMessage, r.HTTP, r.Status = "x", false, -1 })
	r.Tx = nil
	if got := string(parse(t, ForLog, "%OG %ST %ID %H %rt %[lf.fixed]").AppendLine(nil, r)); got != "sess_killed 0 - - 0 -" {
		t.Error(got)
	}
	for step, want := range map[string]string{"": "txn_close", "accept": "txn_accept", "request": "txn_request", "connect": "txn_connect", "response": "txn_response", "http-req": "http-req"} {
		if got := line(parse(t, ForLog, "%OG"), record(func(r *model.LogRecord) { r.Step = step })); got != want {
			t.Errorf("step %q: %s", step, got)
		}
	}
	if got := line(parse(t, ForLog, "%OG"), record(badRequest)); got != "sess_error" {
		t.Error(got)
	}
}

// TestURIParts has the parts of targets as the reference logs them.
func TestURIParts(t *testing.T) {
	f := parse(t, ForLog, "%HU|%HP|%HPO|%HQ|%HV")
	for uri, want := range map[string]string{
		"/": "/|/|/||HTTP/1.1", "/?a?b": "/?a?b|/|/|?a?b|HTTP/1.1", "http://h/a?b": "http://h/a?b|http://h/a|/a|?b|HTTP/1.1", "http://h?x": "http://h?x|http://h||?x|HTTP/1.1",
		"*": "*|*|||HTTP/1.1", "h:80": "h:80|h:80|||HTTP/1.1", "//h/x?y": "//h/x?y|//h/x|//h/x|?y|HTTP/1.1", "ftp://h/x": "ftp://h/x|ftp://h/x|/x||HTTP/1.1",
	} {
		if got := line(f, record(func(r *model.LogRecord) { r.URI = []byte(uri) })); got != want {
			t.Errorf("%s: %s", uri, got)
		}
	}
	f = parse(t, ForLog, "%HU|%HV|%r")
	for n, want := range map[int]string{1008: "1009 HTTP/1.1 1022", 1009: "1010 HTTP/1.1 1023", 1010: "1011 HTTP/1. 1023", 1016: "1017 H 1023", 1017: "1018 HTTP/0.9 1023", 1018: "1019 HTTP/0.9 1023", 2000: "1019 HTTP/0.9 1023"} {
		p := strings.Split(line(f, record(func(r *model.LogRecord) { r.URI = []byte("/" + strings.Repeat("a", n)) })), "|")
		if got := fmt.Sprintf("%d %s %d", len(p[0]), p[1], len(p[2])); got != want {
			t.Errorf("%d bytes: %s, want %s", n, got, want)
		}
	}
}

// TestVariablesEqualOptions: the built-in formats and their texts give the same lines.
func TestVariablesEqualOptions(t *testing.T) {
	vars := Variables()
	records := map[string]*model.LogRecord{
		"plain": record(), "captured": record(captured), "bad": record(badRequest), "tcp": record(tcp), "alias": aliasRecord(),
		"asap": record(func(r *model.LogRecord) { r.ASAP, r.TLS = true, true }), "unix": record(func(r *model.LogRecord) { r.UnixClient, r.UnixID = true, 4 }),
		"no server": record(func(r *model.LogRecord) { r.Backend, r.ServerName = "", "" }),
	}
	for name, format := range map[string]model.LogFormat{
		"HAPROXY_HTTP_LOG_FMT": model.LogHTTP, "HAPROXY_HTTP_CLF_LOG_FMT": model.LogHTTPCLF, "HAPROXY_TCP_LOG_FMT": model.LogTCP, "HAPROXY_TCP_CLF_LOG_FMT": model.LogTCPCLF,
	} {
		f := parse(t, ForLog, vars[name])
		b := New(0)
		for rn, r := range records {
			if http := format == model.LogHTTP || format == model.LogHTTPCLF; http && !r.HTTP {
				continue
			}
			want := string(b.Append(nil, format, r))
			if got := line(f, r); got != want {
				t.Errorf("%s, %s:\n got %s\nwant %s", name, rn, got, want)
			}
		}
	}
}

func TestNeeds(t *testing.T) {
	for format, want := range map[string]model.LogNeeds{
		"x": 0, "%f": 0, "%HM": model.LogAtRequest, "%HM %f": model.LogAtRequest, "%ST": model.LogAtResponse, "%r %B": model.LogAtRequest | model.LogAtEnd,
		"%[lf.fixed]": model.LogExpr | model.LogAtResponse, "%[lf.total]": model.LogExpr | model.LogAtResponse | model.LogAtEnd, "%fi": model.LogAtResponse | model.LogLocal,
		"%sp": model.LogAtResponse | model.LogServer, "%ID": model.LogAtEnd | model.LogUnique,
	} {
		if got := parse(t, ForLog, format).Needs(); got != want {
			t.Errorf("%s: %b, want %b", format, got, want)
		}
	}
	f := parse(t, ForLog, "a  %% b")
	if s, ok := f.Const(); !ok || s != "a % b" || f.Expressions() || f.Valid() != sample.Always || f.String() != "a  %% b" {
		t.Errorf("%q %v", s, ok)
	}
	if _, ok := parse(t, ForLog, "%f").Const(); ok {
		t.Error("an alias is constant")
	}
	if !parse(t, ForLog, "%{+Q}o").Empty() || parse(t, ForLog, "%{+Q}o x").Empty() {
		t.Error("empty")
	}
	var got []string
	parse(t, ForLog, "a %{+Q}f %(n)[lf.fixed] %{+json}o").Trace(txn(record()), func(item string, v []byte) { got = append(got, item+"="+string(v)) })
	if s := strings.Join(got, " "); s != `%{+Q}f="f" %(n)[lf.fixed]="a \"fixed\" value"` {
		t.Error(s)
	}
}

// TestIntoScratch: the text may lie in the memory that expressions are evaluated in.
func TestIntoScratch(t *testing.T) {
	tx := txn(record())
	f := parse(t, ForHTTP, "one %[lf.fixed,lf.copy] two %[lf.fixed,lf.copy] %HM")
	for range 3 {
		b, ok := tx.Scratch.Keep(f.Append(tx.Scratch.Grab(), tx))
		if want := `one a "fixed" value two a "fixed" value GET`; !ok || string(b) != want {
			t.Fatalf("%q", b)
		}
	}
}

func TestCustomAppendAllocatesNothing(t *testing.T) {
	tx := txn(aliasRecord())
	tx.Scratch.Init(new(model.ScratchPool), 0)
	r := tx.S.Record()
	var all strings.Builder
	Aliases.All(func(name string, _ *Alias) bool {
		if name != "H" { // the process of the tests is made anew
			fmt.Fprintf(&all, "%%(%s)%s %%{+X,+Q}%s ", name, name, name)
		}
		return true
	})
	dst := make([]byte, 0, 1<<15)
	for _, use := range []Use{ForLog, ForHTTP, ForText} {
		for _, head := range []string{"", "%{+Q,+E}o", "%{+json}o", "%{+cbor}o", "%{+cbor,+bin}o"} {
			f := parse(t, use, head+all.String()+"%(e)[lf.fixed,lf.copy] %(g)[lf.fixed,lf.len] %(h)[lf.nope]")
			if n := testing.AllocsPerRun(100, func() {
				dst = f.AppendLine(dst[:0], r)
				dst = f.Append(dst[:0], tx)
			}); n != 0 {
				t.Errorf("use %d %s: %v allocations", use, head, n)
			}
		}
	}
}

func FuzzCustom(f *testing.F) {
	for _, s := range []string{"%ci:%cp [%tr] %ft", "%{+json}o %(a:str)[lf.fixed] %r", "%{+cbor,+bin}o %(b)hrl%(c)[lf.bin(x)]", "%[lf.str('a]')]%%", "%{+Q,-E}(x)", "%(", "%{+cbor}o%(a)r", "%[lf.int(1),lf.len(3)]%o"} {
		f.Add(s, []byte("/x?\"\x00"), uint8(0))
	}
	f.Fuzz(func(t *testing.T, text string, uri []byte, use uint8) {
		fm, err := Parse(&sample.Scope{Valid: sample.Logs}, text, Options{Use: Use(use % 4)})
		if err != nil {
			return
		}
		r := aliasRecord()
		r.URI = uri
		tx := txn(r)
		rec := tx.S.Record()
		rec.URI = uri
		a := fm.AppendLine([]byte("keep"), rec)
		b := fm.AppendLine(make([]byte, 0, 1<<14), rec)
		if !strings.HasPrefix(string(a), "keep") || string(a[4:]) != string(b) {
			t.Fatalf("%q: %q and %q", text, a, b)
		}
		fm.Append(nil, tx)
	})
}

func BenchmarkCustomHTTP(b *testing.B) {
	f := parse(b, ForLog, Variables()["HAPROXY_HTTP_LOG_FMT"])
	r := txn(record()).S.Record()
	dst := make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		dst = f.AppendLine(dst[:0], r)
	}
}

func BenchmarkCustomHeader(b *testing.B) {
	tx := txn(record())
	tx.Scratch.Init(new(model.ScratchPool), 0)
	f := parse(b, ForHTTP, "%[lf.fixed,lf.copy]-%[lf.fixed]")
	dst := make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		dst = f.Append(dst[:0], tx)
	}
}
