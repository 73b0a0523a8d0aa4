package conv_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"weir/internal/lang/sample"
	"weir/internal/lang/sample/sampletest"
	"weir/internal/model"
)

// TestDifferences holds where weir does something else than the reference, on purpose.
func TestDifferences(t *testing.T) {
	tx := newTxn(t)
	for _, c := range []struct{ expr, want, reference string }{
		// The manual decides; the reference's bits depend on the compiler.
		{"bin(01020304050607),le2dec(:,8)", `str "1976943448883713"`, `str "67569157"`},
		{"bin(000000ff),le2dec(:,4)", `str "4278190080"`, `str "18446744073692774400"`},
		{"bin(ffffffffff),le2dec(:,8)", `str "1099511627775"`, `str "18446744073709551615"`},
		// A language that is ruled out does not take the next one with it.
		{`str("fr;q=0,en"),language(fr;en)`, `str "en"`, "none"},
		{`str("fr;q=0,fr"),language(fr;en)`, `str "fr"`, "none"},
		// A replacement that ends within an escape.
		{`str(abc),regsub('b','\')`, "error", `str "a"`},
		{`str(abc),regsub('b','\x4')`, "error", `str "a"`},
		// Arguments that the reference refuses, or accepts.
		{"int(1),http_date(,ms)", `str "Thu, 01 Jan 1970 00:00:00.1 GMT"`, "error"},
		{"bin(0102),be2hex(,,1)", `str "0102"`, "error"},
		{"ipv6(::1:2),ipmask(24,)", "error", "none"},
		// The reference answers the epoch itself with the start of 1900 as long as no other date was formatted.
		{"int(0),http_date", `str "Thu, 01 Jan 1970 00:00:00 GMT"`, `str "Sun, 00 Jan 1900 00:00:00 GMT"`},
		{"int(0),utime(%s)", `str "0"`, `str "-2209075200"`},
	} {
		if got := eval(t, tx, c.expr); got != c.want {
			t.Errorf("%s = %s, want %s (the reference: %s)", c.expr, got, c.want, c.reference)
		}
	}
}

// TestLimits has a longest value of 1024 bytes: lengths as in the reference, -1 for no value.
func TestLimits(t *testing.T) {
	r := strings.Repeat
	for _, c := range []struct {
		expr string
		want int64
	}{
		{"str(" + r("A", 512) + "),hex", 1024}, {"str(" + r("A", 513) + "),hex", -1},
		{"str(" + r("A", 765) + "),base64", 1020}, {"str(" + r("A", 766) + "),base64", -1},
		{"str(" + r("A", 765) + "),ub64enc", 1020}, {"str(" + r("A", 766) + "),ub64enc", -1},
		{"str(" + r("A", 128) + "),base2", 1024}, {"str(" + r("A", 129) + "),base2", -1},
		{"str(" + r("/", 512) + "),json()", 1024}, {"str(" + r("/", 513) + "),json()", -1}, {"str(" + r("/", 512) + "A),json()", -1},
		{"str(" + r("+", 340) + "AA),url_enc()", 1022}, {"str(" + r("+", 341) + "),url_enc()", -1}, {"str(" + r("+", 340) + "AA+),url_enc()", -1},
		{"str(" + r("+", 340) + "AAAA+),url_enc()", 1023}, {"str(" + r("+", 300) + r("A", 200) + "+),url_enc()", 1023},
		{"str(" + r("A", 1023) + "),lower", 1023}, {"str(" + r("A", 1024) + "),lower", -1}, {"str(" + r("A", 1024) + "),upper", -1},
		{"str(" + r("A", 1024) + "),reverse", -1}, {"str(" + r("A", 1024) + "),reverse_dom", -1}, {"str(" + r("A", 1024) + "),host_only", -1},
		{"str(" + r("A", 1024) + "),url_dec", -1}, {"str(" + r("A", 1026) + "),ltrim(z)", 1026}, {"str(" + r("A", 1026) + "),field(1,_)", 1026},
		{"str(" + r("A", 1022) + "),concat(b)", 1023}, {"str(" + r("A", 1023) + "),concat(b)", 1023}, {"str(" + r("A", 1024) + "),concat()", 1023},
		{"str(" + r("A", 530) + "),concat(" + r("B", 500) + ")", 1023}, {"str(" + r("A", 1020) + "),concat(bb,,ccc)", 1023},
		{"str(" + r("A", 530) + "),add_item(" + r("B", 500) + ",,x)", 1023}, {"str(" + r("A", 530) + "),add_item(x,," + r("B", 500) + ")", 1023},
		{"str(" + r("A", 511) + "),be2dec(,1)", 1022}, {"str(" + r("A", 512) + "),be2dec(,1)", 1022}, {"str(" + r("z", 341) + "),be2dec(,1)", 1023},
		{"str(" + r("z", 340) + "),be2dec(-,1)", 1023}, {"str(" + r("z", 342) + "),be2dec(---,1)", 1023},
		{"str(" + r("A", 505) + "),be2hex(:,1)", 1022}, {"str(" + r("A", 512) + "),be2hex(,3)", 1024}, {"str(" + r("A", 513) + "),be2hex(,3)", -1},
		{"str(" + r("A", 505) + "),be2hex(-,200)", 801}, {"str(" + r("A", 450) + "),be2hex(-,300)", 600}, {"str(" + r("A", 511) + "),be2hex(:,512)", -1},
		{"str(" + r("A", 512) + "),be2hex(:,511)", 1022}, {"str(" + r("A", 410) + "),be2hex(:,2)", 1024}, {"str(" + r("A", 456) + "),be2hex(---,12)", 1023},
		{"str(" + r("A", 513) + "),regsub(A,BB,g)", 1024}, {"str(x" + r("A", 1020) + "),regsub(x,BBBB)", 1024}, {"str(" + r("A", 1023) + "),regsub(A,B,g)", 1023},
		{"str(1),be2hex(:,9223372036854775807)", -1},
		{"int(1),utime(%1023d)", 1023}, {"int(1),utime(%1024d)", 0}, {"int(1),utime(" + r("x", 1024) + ")", 0}, {"int(1),ms_utime(%1014d%N)", 1023},
		{"int(1),ms_utime(%1015d%N)", 0}, {"int(1),utime(%999999999999d)", 0}, {"int(1),utime(%600c%600c)", 0},
		{"str(" + r("A", 1022) + "),rfc7239_nn", 1023}, {"str(" + r("A", 1023) + "),rfc7239_nn", 0},
	} {
		tx := sampletest.New(&sampletest.Stream{}, "")
		tx.Scratch.Init(nil, 1024)
		e := sampletest.Parse(t, c.expr+",length")
		var v model.Value
		got := int64(-1)
		if e.Eval(tx, &v) {
			got = v.Num
		}
		if got != c.want {
			t.Errorf("%.60s...%.30s has %d bytes, want %d", c.expr, c.expr[max(len(c.expr)-30, 0):], got, c.want)
		}
	}
}

// TestLocalTime formats in zones with and without summer time.
func TestLocalTime(t *testing.T) {
	defer func() { time.Local = time.UTC }()
	for _, c := range []struct{ zone, expr, want string }{
		{"Europe/Paris", `int(5),ltime("%F %T %z %Z %s")`, "1970-01-01 01:00:05 +0100 CET 5"},
		{"Europe/Paris", `int(800000000),ltime("%F %T %z %Z %s")`, "1995-05-09 08:13:20 +0200 CEST 800000000"},
		{"Europe/Paris", `int(784111777123),ms_ltime("%T.%3N %z")`, "09:49:37.123 +0100"},
		{"Europe/Paris", `int(784111777),utime("%s %T %z %Z")`, "784108177 08:49:37 +0000 GMT"},
		{"Europe/Paris", `int(800000000),utime("%s")`, "799996400"},
		{"America/St_Johns", `int(800000000),ltime("%F %T %z %Z")`, "1995-05-09 03:43:20 -0230 NDT"},
		{"America/St_Johns", `int(784111777),ltime("%10z|%-z|%_z|%6z|%010z|%_10z")`, "         -0000000330|-330|- 330|     -000330|000000000-0000000330|         -       330"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Skip(err)
		}
		time.Local = zone
		tx := sampletest.New(&sampletest.Stream{}, "")
		if got, ok := sampletest.Text(t, tx, c.expr); !ok || got != c.want {
			t.Errorf("%s: %s = %q, want %q", c.zone, c.expr, got, c.want)
		}
	}
}

// captured returns what fn writes to a standard stream.
func captured(t *testing.T, stream **os.File, fn func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	old := *stream
	*stream = w
	fn()
	*stream = old
	w.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestDebug(t *testing.T) {
	tx := newTxn(t)
	for _, c := range []struct{ expr, want string }{
		{"int(5),debug(p,stderr)", "[debug] p: type=sint <5>\n"},
		{"ipv4(1.2.3.4),debug(p,stderr)", "[debug] p: type=ipv4 <1.2.3.4>\n"},
		{"ipv6(::1),debug(p,stderr)", "[debug] p: type=ipv6 <::1>\n"},
		{"bin(6100621f41ff7f),debug(p,stderr)", "[debug] p: type=bin <a>\n"},
		{"bool(true),debug(p,stderr)", "[debug] p: type=bool <1>\n"},
		{"method,debug(p,stderr)", "[debug] p: type=meth <GET>\n"},
		{`str("a\nb\tc<>\\d"),debug(p,stderr)`, "[debug] p: type=str <a.b.c<>\\d>\n"},
		{"str(),debug(p q,stderr)", "[debug] p q: type=str <>\n"},
		{"str(é),debug(,stderr)", "[debug] : type=str <..>\n"},
	} {
		before := eval(t, tx, c.expr[:strings.LastIndex(c.expr, ",debug")])
		var after string
		if got := captured(t, &os.Stderr, func() { after = eval(t, tx, c.expr) }); got != c.want || after != before {
			t.Errorf("%s wrote %q, want %q; %s became %s", c.expr, got, c.want, before, after)
		}
	}
	if got := captured(t, &os.Stdout, func() { eval(t, tx, "str(a),debug(p,stdout)") }); got != "[debug] p: type=str <a>\n" {
		t.Errorf("stdout: %q", got)
	}
}

// TestErrors shows the messages for wrong arguments; each must say what is wrong.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ expr, part string }{
		{"int(1),add(x)", "neither an integer nor the name of a variable"}, {"int(1),add(3x)", "'3x'"}, {"int(1),add(txn.)", "'txn.'"},
		{"int(1),add(txn.a-b)", "'-'"}, {"int(1),mul(TXN.a)", "scope"}, {"int(1),div(1,2)", "at most 1"}, {"int(1),neg(1)", "no argument"},
		{"str(a),bytes(-1)", "negative"}, {"str(a),bytes(1,0)", "length"}, {"str(a),bytes(1,)", "length"}, {"str(a),bytes(x)", "'x'"},
		{"str(a),field(0,_)", "index"}, {"str(a),word(1,)", "delimiters"}, {"str(a),word(x,_)", "'x'"}, {"str(a),field(1)", "2 arguments"},
		{"str(a),concat(a,b,c)", "'b'"}, {"str(a),add_item(a,,)", "variable or the text"}, {"str(a),add_item(a,3)", "'3'"},
		{"str(a),strcmp()", "missing"}, {"str(a),secure_memcmp(x)", "'x'"}, {"str(a),iif(a)", "2 arguments"},
		{"str(a),has_ctl(abc)", "'abc'"}, {"str(a),has_ctl(0x)", "'0x'"}, {"str(a),has_ctl(0x3ffffffff)", "33 bits"}, {"str(a),has_ctl(-1)", "33 bits"},
		{"str(a),be2dec(:,0)", "1 to 8"}, {"str(a),be2dec(:,9)", "1 to 8"}, {"str(a),le2dec(:)", "1 to 8"}, {"str(a),be2hex(:)", "separator"}, {"str(a),be2hex(:,2,2)", "incomplete"},
		{"str(a),url_enc(path)", "'query'"}, {"str(a),param(a,bb)", "'bb'"}, {"str(a),param(a,0xg0)", "'0xg0'"}, {"str(a),json(utf16)", "'utf16'"},
		{"str(a),regsub(,b)", "missing"}, {"str(a),regsub(a)", "2 arguments"}, {"str(a),regsub(a,b,x)", "'x'"}, {"str(a),regsub('(',b)", "'('"}, {"str(a),regsub(a,'b\\')", "escape"},
		{"int(1),http_date(0,x)", "'x'"}, {"int(1),http_date(x)", "'x'"}, {"ipv4(1.2.3.4),ipmask(33)", "'33'"}, {"str(a),crc32(x)", "'x'"},
		{"int(1),set-var()", "missing"}, {"int(1),set-var(a)", "scope"}, {"int(1),set-var(txn.a,foo)", "'foo'"}, {"int(1),set-var(txn.a,)", "''"},
		{"int(1),set-var(txn.a,ifset,ifset,ifset,ifset,ifset)", "at most 5"}, {"int(1),unset-var(foo.a)", "scope"}, {"var(x)", "scope"}, {"var()", "missing"},
		{"int(1),debug()", "rings"}, {"int(1),debug(p)", "rings"}, {"int(1),debug(p,buf0)", "rings"}, {"int(1),debug(p,)", "rings"},
		{"int(1),when()", "''"}, {"int(1),when(foo)", "'foo'"}, {"int(1),when(!!error)", "'!!error'"}, {"int(1),when(acl)", "missing"}, {"int(1),when(acl,!x)", "'!x'"},
		{`int(1),when(acl,"a)b")`, "'a)b'"}, {"str(a),capture-req(x)", "'x'"},
		{"ipv6(::1),add(1)", "cannot become"}, {"bin(00),iif(a,b)", "cannot become"}, {"str(a),nope", "unknown converter"},
	} {
		if got := sampletest.ParseError(t, c.expr); !strings.Contains(got, c.part) {
			t.Errorf("%s: %q, want something with %q", c.expr, got, c.part)
		}
	}
}

// process is a model.Runner with a configuration.
type process struct {
	sampletest.Process
	cfg *model.Config
}

func (p *process) Config() *model.Config { return p.cfg }

type proxyRun struct {
	model.ProxyState
	usable int
}

func (p proxyRun) Usable() int { return p.usable }

type serverRun struct {
	model.ServerState
	up    bool
	queue int64
}

func (s serverRun) Up() bool      { return s.up }
func (s serverRun) Queued() int64 { return s.queue }

func TestObjects(t *testing.T) {
	bk := &model.Proxy{Name: "bk", Sides: model.SideBackend, Run: proxyRun{usable: 1},
		Servers: []*model.Server{{Name: "s1", Run: serverRun{up: true, queue: 3}}, {Name: "s2", Run: serverRun{}}}}
	f := &model.Proxy{Name: "f", Sides: model.SideFrontend}
	lst := &model.Proxy{Name: "lst", Sides: model.SideFrontend | model.SideBackend, Run: proxyRun{usable: 2}}
	s := &sampletest.Stream{Fe: f, Proc: &process{cfg: &model.Config{Proxies: []*model.Proxy{f, bk, lst}}}}
	tx := sampletest.New(s, "")
	check := func(expr, want string) {
		t.Helper()
		if got := eval(t, tx, expr); got != want {
			t.Errorf("%s = %s, want %s", expr, got, want)
		}
	}
	for expr, want := range map[string]string{
		"str(f),fe_exists": "bool 1", "str(nope),fe_exists": "bool 0", "str(bk),fe_exists": "bool 0", "str(lst),fe_exists": "bool 1", "str(F),fe_exists": "bool 0", "str(),fe_exists": "bool 0",
		"str(bk),nbsrv": "sint 1", "str(f),nbsrv": "none", "str(lst),nbsrv": "sint 2", "str(nope),nbsrv": "none", "str(),nbsrv": "none", "str(BK),nbsrv": "none",
		"str(bk/s1),srv_is_up": "bool 1", "str(bk/s2),srv_is_up": "bool 0", "str(bk/nope),srv_is_up": "none", "str(nope/s1),srv_is_up": "none", "str(s1),srv_is_up": "none",
		"str(bk/s1/x),srv_is_up": "none", "str(/s1),srv_is_up": "none", "str(bk/),srv_is_up": "none", "str(),srv_is_up": "none", "str(f/s1),srv_is_up": "none",
		"str(bk/s1),srv_queue": "sint 3", "str(bk/s2),srv_queue": "sint 0", "str(bk/nope),srv_queue": "none", "bin(626b00),nbsrv": "sint 1",
	} {
		check(expr, want)
	}
	s.Be = bk
	check("str(s1),srv_is_up", "bool 1")
	check("str(s1),srv_queue", "sint 3")
	s.Proc = nil // a process that does not tell its configuration
	check("str(bk),nbsrv", "none")
}

func TestCaptures(t *testing.T) {
	s := &sampletest.Stream{MaxCapture: 10}
	s.Slots[model.DirReq], s.Slots[model.DirRes] = make([][]byte, 1), make([][]byte, 1)
	tx := sampletest.New(s, "")
	for expr, want := range map[string]string{
		"str(abcdefghijklmnop),capture-req(0)": `str "abcdefghijklmnop"`, "str(a),capture-req(1)": "none", "str(a),capture-req(-1)": "none",
		"str(a),capture-req(4294967296)": "none", "int(5),capture-res(0)": `str "5"`, "str(a),capture-res(5)": "none",
	} {
		if got := eval(t, tx, expr); got != want {
			t.Errorf("%s = %s, want %s", expr, got, want)
		}
	}
	if got := fmt.Sprintf("%s %s", s.Slots[model.DirReq][0], s.Slots[model.DirRes][0]); got != "abcdefghij 5" {
		t.Errorf("captured %q", got)
	}
}

type conn struct{ model.ConnState }

type appletStream struct{ *sampletest.Stream }

func (appletStream) ByApplet() bool { return true }

func TestWhen(t *testing.T) {
	p := &sampletest.Process{}
	fine := model.LogRecord{Termination: [4]byte{'-', '-', '-', '-'}, Status: 200}
	s := &sampletest.Stream{Rec: fine, Proc: p}
	tx := sampletest.New(s, "")
	check := func(cond string, want bool) {
		t.Helper()
		for _, c := range []struct {
			text string
			want bool
		}{{cond, want}, {"!" + cond, !want}} {
			if got := eval(t, tx, "str(a),when("+c.text+")") == `str "a"`; got != c.want {
				t.Errorf("when(%s) is %v", c.text, got)
			}
		}
	}
	check("normal", true)
	check("error", false)
	check("error,x", false)
	check("stopping", false)
	check("forwarded", false)
	check("processed", false)
	check("toapplet", false)
	p.Stop = true
	check("stopping", true)
	for name, change := range map[string]func(*model.LogRecord){
		"termination": func(r *model.LogRecord) { r.Termination[1] = 'H' }, "status": func(r *model.LogRecord) { r.Status = 503 },
		"retries": func(r *model.LogRecord) { r.Retries = 1 }, "redispatch": func(r *model.LogRecord) { r.Redispatched = true },
	} {
		s.Rec = fine
		change(&s.Rec)
		if eval(t, tx, "str(a),when(error)") == "none" {
			t.Errorf("%s is no error", name)
		}
	}
	s.Rec = fine
	s.Srv, s.Back = new(model.Server), conn{}
	check("forwarded", true)
	check("processed", true)
	s.Srv, s.Back = nil, nil
	tx.S = appletStream{s}
	check("toapplet", true)
	check("processed", true)
	check("forwarded", false)
}

// init adds a fetch that stands in for acl.
func init() {
	sample.AddFetch(sample.Fetch{Name: "acl", Args: "string", Out: model.TypeBool, Valid: sample.Always, Get: func(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
		v.SetBool(a[0].Str == "YES")
		return a[0].Str != "UNKNOWN"
	}})
}

func TestWhenACL(t *testing.T) {
	tx := newTxn(t)
	for cond, want := range map[string]string{"acl,YES": "sint 5", "acl,NO": "none", "!acl,YES": "none", "!acl,NO": "sint 5", "acl,UNKNOWN": "none", "!acl,UNKNOWN": "none"} {
		if got := eval(t, tx, "int(5),when("+cond+")"); got != want {
			t.Errorf("when(%s) = %s, want %s", cond, got, want)
		}
	}
}

// TestViews checks that results stay right when a variable that they came from changes.
func TestViews(t *testing.T) {
	tx := newTxn(t)
	for expr, want := range map[string]string{
		"str(xxabc),set-var(txn.x),var(txn.x)":                              "error",
		"var(txn.long),ltrim(z),set-var(txn.long)":                          `str ""`,
		"str(--abcdef),upper,set-var(txn.y),ltrim(-),set-var(txn.y)":        `str "ABCDEF"`,
		"str(--abcdef),upper,set-var(sess.y),ltrim(-),set-var(sess.y)":      `str "ABCDEF"`,
		"str(--abcdef),upper,set-var(proc.y),ltrim(-),set-var(proc.y)":      `str "ABCDEF"`,
		"str(a.b.c),reverse,set-var(txn.z),word(1,.),set-var(txn.z)":        `str "c"`,
		"str(aXb),lower,set-var(txn.q),unset-var(txn.q),concat(-,txn.q)":    `str "axb-"`,
		"str(aXb),lower,set-var(txn.r),concat(-,txn.r),set-var(txn.r),hex":  `str "6178622D617862"`,
		"str(aXb),lower,set-var(txn.s),strcmp(txn.s)":                       "sint 0",
		"str(aXb),lower,set-var(txn.s),concat(,txn.s),secure_memcmp(txn.s)": "bool 0",
	} {
		if got := eval(t, tx, expr); got != want {
			t.Errorf("%s = %s, want %s", expr, got, want)
		}
	}
	if got := eval(t, tx, "var(txn.y)"); got != `str "ABCDEF"` {
		t.Errorf("txn.y is %s", got)
	}
}

// TestConstants checks that no converter writes into its input or into constants of the configuration.
func TestConstants(t *testing.T) {
	tx := newTxn(t)
	for _, c := range sample.Convs.Names() {
		if c == "debug" {
			continue // TestDebug
		}
		conv, _ := sample.Convs.Lookup(c)
		args, ok := sampleArgs[c]
		if !ok && conv.Args != "" && !strings.HasPrefix(conv.Args, "[") {
			t.Errorf("%s: no arguments to test with", c)
			continue
		}
		expr := "t.input," + c + args
		e, err := sample.Parse(&sample.Scope{}, expr)
		if err != nil {
			if !sample.Castable(model.TypeStr, conv.In) {
				continue
			}
			t.Errorf("%s: %v", expr, err)
			continue
		}
		copy(input, inputText)
		var v model.Value
		first, ok1 := e.Eval(tx, &v), show(&v)
		second, ok2 := e.Eval(tx, &v), show(&v)
		if first != second || ok1 != ok2 {
			t.Errorf("%s = %s, then %s", expr, ok1, ok2)
		}
		if !bytes.Equal(input, []byte(inputText)) {
			t.Errorf("%s changed its input to %q", expr, input)
		}
	}
}
