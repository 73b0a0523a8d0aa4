package fetchhttp_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"weir/internal/lang/sample"
	"weir/internal/lang/sample/sampletest"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ expr, want string }{
		{"req.hdr(x,-11)", ">= -10"}, {"res.fhdr(x,-11)", ">= -10"}, {"hdr_ip(x,-11)", ">= -10"}, {"req.hdr(x,abc)", "not an integer"}, {"req.hdr(x,1,2)", "at most 2"},
		{"query(foo)", "with_qm"}, {"capture.req.hdr(-1)", "from 0"}, {"capture.req.hdr", "not an integer"}, {"capture.res.hdr(x)", "not an integer"},
		{"http_auth", "missing"}, {"http_auth()", "missing"}, {"http_auth(L)", "no userlist 'L'"}, {"http_auth_group(L)", "no userlist 'L'"},
		{"base(1)", "no argument"}, {"urlp(a,b,c,d)", "at most 3"}, {"server_status", "not in weir yet"},
	} {
		if got := sampletest.ParseError(t, c.expr); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.expr, got, c.want)
		}
	}
}

// TestWaiting: without a head there is no value, and Wait says whether one may come.
func TestWaiting(t *testing.T) {
	s := &sampletest.Stream{Fe: &model.Proxy{Mode: model.ModeHTTP}}
	for _, text := range []string{
		"path", "base", "base32", "url", "url_ip", "urlp(a)", "query", "method", "req.ver", "req.hdr(x)", "req.fhdr(x)", "req.hdr_cnt(x)", "req.hdr_ip(x)", "req.hdrs", "req.hdr_names",
		"req.cook(a)", "req.cook_cnt", "req.cook_names", "req.body", "req.body_len", "req.body_size", "req.body_param(a)", "http_auth_user", "http_auth_bearer", "http_auth_bearer(x)", "req.proto_http",
	} {
		e := sampletest.Parse(t, text)
		var v model.Value
		tx := &model.Txn{S: s}
		if e.Eval(tx, &v) || !tx.Wait {
			t.Errorf("%s does not wait for the request", text)
		}
		tx = &model.Txn{S: s, Final: true}
		if e.Eval(tx, &v) || tx.Wait {
			t.Errorf("%s waits at the end", text)
		}
		tx = &model.Txn{S: s, Dir: model.DirRes}
		if e.Eval(tx, &v) || tx.Wait {
			t.Errorf("%s waits for a request on the response's side", text)
		}
	}
	for _, text := range []string{"status", "res.ver", "res.hdr(x)", "shdr(x)", "res.cook(a)", "res.body", "res.hdr_cnt", "hdr(x)", "cookie(a)"} {
		e := sampletest.Parse(t, text)
		var v model.Value
		tx := &model.Txn{S: s, Dir: model.DirRes}
		if e.Eval(tx, &v) || !tx.Wait {
			t.Errorf("%s does not wait for the response", text)
		}
	}
}

// TestAuthTarget: a browser that takes the proxy for one sends another field.
func TestAuthTarget(t *testing.T) {
	s := &sampletest.Stream{Fe: &model.Proxy{Mode: model.ModeHTTP, Opt: model.OptHTTPUseProxyHeader}}
	plain := &sampletest.Stream{Fe: &model.Proxy{Mode: model.ModeHTTP}}
	const tiger, scott = "Basic dGlnZXI6cHc=", "Basic c2NvdHQ6eA=="
	for _, c := range []struct {
		s            *sampletest.Stream
		target, want string
	}{{s, "http://a.b/", "tiger"}, {s, "/", "scott"}, {s, "*", "scott"}, {s, "a.b:80", "tiger"}, {plain, "http://a.b/", "scott"}, {plain, "a.b:80", "scott"}} {
		tx := sampletest.New(c.s, c.target, "Proxy-Authorization", tiger, "Authorization", scott)
		if got, _ := sampletest.Text(t, tx, "http_auth_user"); got != c.want {
			t.Errorf("%s: %q, want %q", c.target, got, c.want)
		}
	}
}

// TestBase: rules that edit the message are seen; of a list of hosts the first counts.
func TestBase(t *testing.T) {
	tx := sampletest.New(&sampletest.Stream{}, "/new?b=2", "Host", "c.d, e.f")
	tx.S.(*sampletest.Stream).Rec = model.LogRecord{HTTP: true, Method: []byte("GET"), URI: []byte("/x?a=1")}
	for _, c := range []struct{ expr, want string }{
		{"base", "c.d/new"}, {"baseq", "c.d/new?b=2"}, {"req.hdr(host)", "e.f"}, {"capture.req.uri", "/x?a=1"}, {"capture.req.method", "GET"}, {"url", "/new?b=2"},
	} {
		if got, ok := sampletest.Text(t, tx, c.expr); !ok || got != c.want {
			t.Errorf("%s = %q %v, want %q", c.expr, got, ok, c.want)
		}
	}
}

// TestClientAddress: IPv6 clients make the longer form.
func TestClientAddress(t *testing.T) {
	for addr, size := range map[string]int{"127.0.0.1:1": 8, "[2001:db8::1]:1": 20} {
		tx := sampletest.New(&sampletest.Stream{Src: netip.MustParseAddrPort(addr)}, "/", "Host", "a.b")
		for _, e := range []string{"base32+src", "url32+src"} {
			if v, ok := sampletest.Value(t, tx, e); !ok || len(v.B) != size || v.Type != model.TypeBin {
				t.Errorf("%s of %s: %x", e, addr, v.B)
			}
		}
	}
	tx := sampletest.New(&sampletest.Stream{}, "/", "Host", "a.b")
	if _, ok := sampletest.Value(t, tx, "base32+src"); ok {
		t.Error("an address of a unix socket")
	}
}

type conn struct{ reused bool }

func (c conn) Local() netip.AddrPort               { return netip.AddrPort{} }
func (c conn) Peer() netip.AddrPort                { return netip.AddrPort{} }
func (c conn) HTTPMajor() int                      { return 1 }
func (c conn) Streams() int                        { return 1 }
func (c conn) Reused() bool                        { return c.reused }
func (c conn) TCPInfo() (i model.TCPInfo, ok bool) { return i, false }
func (c conn) ErrCode() int                        { return 0 }
func (c conn) ErrText() string                     { return "" }
func (c conn) Accepted() (t time.Time)             { return t }
func (c conn) Glitches() int                       { return 0 }
func (c conn) StreamLimit() int                    { return 1 }
func (c conn) SavedSYN() ([]byte, bool)            { return nil, false }

// TestStreamFacts reads what the stream tells.
func TestStreamFacts(t *testing.T) {
	s := &sampletest.Stream{ID: []byte("id-1"), Front: conn{true}}
	s.Slots[model.DirReq] = [][]byte{[]byte("one"), nil, {}}
	s.Slots[model.DirRes] = [][]byte{[]byte("two")}
	tx := sampletest.New(s, "/")
	sampletest.Respond(tx, 404, "X", "y")
	for _, c := range []struct {
		expr, want string
		ok         bool
	}{
		{"unique-id", "id-1", true}, {"http_first_req", "0", true}, {"capture.req.hdr(0)", "one", true}, {"capture.req.hdr(1)", "", false}, {"capture.req.hdr(2)", "", true},
		{"capture.req.hdr(3)", "", false}, {"capture.res.hdr(0)", "two", true}, {"status", "404", true}, {"res.ver", "1.1", true}, {"capture.res.ver", "HTTP/1.1", true},
		{"req.ver", "1.1", true}, {"method", "GET", true}, {"hdr(x)", "y", true}, {"req.proto_http", "", false},
	} {
		if got, ok := sampletest.Text(t, tx, c.expr); ok != c.ok || got != c.want {
			t.Errorf("%s = %q %v, want %q %v", c.expr, got, ok, c.want, c.ok)
		}
	}
	m := sampletest.New(&sampletest.Stream{}, "/")
	m.Req.SetMethod([]byte("PURGE"))
	if v, ok := sampletest.Value(t, m, "method"); !ok || v.Type != model.TypeMeth || v.Num != int64(msg.MethodOther) || string(v.B) != "PURGE" {
		t.Errorf("method: %+v", v)
	}
}

// TestBinaryHeaders holds the lengths around which the encoding changes.
func TestBinaryHeaders(t *testing.T) {
	for n, want := range map[int]string{239: "\xef", 240: "\xf0\x00", 241: "\xf1\x00", 300: "\xfc\x03", 2287: "\xff\x7f", 2288: "\xf0\x80\x00", 2289: "\xf1\x80\x00", 5000: "\xf8\xa9\x01"} {
		tx := sampletest.New(&sampletest.Stream{}, "/", "X", strings.Repeat("y", n))
		v, ok := sampletest.Value(t, tx, "req.hdrs_bin")
		if !ok || string(v.B) != "\x01x"+want+strings.Repeat("y", n)+"\x00\x00" {
			t.Errorf("%d: %q", n, v.B[:min(8, len(v.B))])
		}
	}
	tx := sampletest.New(&sampletest.Stream{}, "/", "X", strings.Repeat("y", 17000))
	if _, ok := sampletest.Value(t, tx, "req.hdrs"); ok {
		t.Error("a value above the limit")
	}
}

// TestIteration: conditions see each occurrence once, in order, and only one when its place is given.
func TestIteration(t *testing.T) {
	tx := sampletest.New(&sampletest.Stream{}, "/?a=1&b=2;a=&a=3", "X", "a,, b", "Y", "q", "x", "", "X", "\"c,d\" , 1.2.3.4",
		"Cookie", "a=1; b=2 , a = 3 ;; a=\"x;y\"", "Cookie", "c=4,a=5", "Accept", "1, x, -2")
	for _, c := range []struct{ expr, want string }{
		{"req.hdr(x)", "a||b||\"c,d\"|1.2.3.4"}, {"req.fhdr(x)", "a,, b||\"c,d\" , 1.2.3.4"}, {"req.hdr(x,2)", ""}, {"req.hdr(x,-1)", "1.2.3.4"}, {"req.hdr(x,0)", "a||b||\"c,d\"|1.2.3.4"},
		{"req.hdr(none)", "<none>"}, {"req.hdr(,-2)", "x"}, {"req.hdr_ip(x)", "1.2.3.4"}, {"req.hdr_val(accept)", "1|0|-2"}, {"req.cook(a)", "1|3|\"x;y\"|5"}, {"req.cook", "1|2|3|\"x;y\"|4|5"},
		{"req.cook_val(a)", "1|3|0|5"}, {"cookie(c)", "4"}, {"urlp(a)", "1||3"}, {"urlp", "1|2||3"}, {"urlp_val(a)", "1|0|3"}, {"urlp(z)", "<none>"}, {"path", "/"},
	} {
		if got := each(t, tx, c.expr); got != c.want {
			t.Errorf("%s: %s, want %s", c.expr, got, c.want)
		}
	}
}

// each joins the values of an iteration.
func each(t *testing.T, tx *model.Txn, text string) string {
	t.Helper()
	e := sampletest.Parse(t, text)
	var (
		v     model.Value
		state int
		out   []string
	)
	m := tx.Scratch.Mark()
	defer tx.Scratch.Release(m)
	for len(out) < 100 {
		if e.Fetch.Next != nil && !e.Next(tx, &v, &state) || e.Fetch.Next == nil && (len(out) > 0 || !e.Eval(tx, &v)) {
			break
		}
		w := v
		sample.Cast(tx, &w, model.TypeStr)
		out = append(out, string(w.B))
	}
	if len(out) == 0 {
		return "<none>"
	}
	return strings.Join(out, "|")
}
