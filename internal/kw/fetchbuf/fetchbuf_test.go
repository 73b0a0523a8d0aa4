package fetchbuf

import (
	"crypto/tls"
	"net"
	"strings"
	"testing"

	"weir/internal/lang/sample"
	"weir/internal/lang/sample/sampletest"
	"weir/internal/model"
)

// TestParseErrors holds the arguments that are refused.
func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ expr, want string }{
		{"req.payload(-1,2)", "negative"}, {"req.payload(0,-1)", "negative"}, {"req.payload(0)", "needs 2"}, {"req.payload(a,1)", "not an integer"},
		{"req.payload_lv(-1,1)", "negative"}, {"req.payload_lv(0,0)", "positive"}, {"req.payload_lv(0,9)", "above 8"}, {"req.payload_lv(0,1,x)", "not a number"},
		{"req.payload_lv(0,1,-2)", "before the buffer"}, {"req.payload_lv(0,1,-99999999999)", "not a number"}, {"distcc_param(DIS)", "4 characters"},
		{"distcc_body()", "4 characters"}, {"internal.htx_blk.type(x)", "head, tail, first"}, {"internal.htx_blk.type(-1)", "head, tail, first"}, {"internal.htx_blk.type()", "head, tail, first"},
		{"req.len(1)", "no argument"},
	} {
		if got := sampletest.ParseError(t, c.expr); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.expr, got, c.want)
		}
	}
}

// TestHTTPProxy holds that buffers of messages show no raw bytes.
func TestHTTPProxy(t *testing.T) {
	s := &sampletest.Stream{}
	s.Data[model.DirReq] = []byte("\x16\x03\x01")
	tx := sampletest.New(s, "/x", "Host", "a")
	for _, e := range []string{"req.payload(0,0)", "payload(0,1)", "req.payload_lv(0,1)", "req.ssl_sni", "req.ssl_hello_type", "req.ssl_ver", "req.rdp_cookie", "distcc_param(DIST)"} {
		if v, ok := sampletest.Text(t, tx, e); ok {
			t.Errorf("%s = %q", e, v)
		}
	}
	if v, ok := sampletest.Text(t, tx, "req.rdp_cookie_cnt"); !ok || v != "0" {
		t.Errorf("req.rdp_cookie_cnt = %q %v", v, ok)
	}
	// The message counts as the reference would hold it: start line 20+3+2+8, field 4+1, end 1.
	if v, ok := sampletest.Text(t, tx, "req.len"); !ok || v != "39" {
		t.Errorf("req.len = %q %v", v, ok)
	}
	// Before the head has come there is nothing to tell.
	early := &model.Txn{S: &sampletest.Stream{Fe: &model.Proxy{Mode: model.ModeHTTP}}}
	if _, ok := sampletest.Text(t, early, "req.len"); ok || !early.Wait {
		t.Error("req.len does not wait for the head")
	}
}

// TestResponse looks at bytes of a server.
func TestResponse(t *testing.T) {
	s := &sampletest.Stream{Fe: &model.Proxy{Mode: model.ModeTCP}}
	s.Data[model.DirReq], s.Data[model.DirRes] = []byte("request"), []byte("\x02SSH-2.0")
	tx := &model.Txn{S: s, Dir: model.DirRes}
	for _, c := range []struct{ expr, want string }{
		{"res.len", "8"}, {"res.payload(1,3)", "SSH"}, {"payload(1,3)", "SSH"}, {"req.payload(0,3)", "req"}, {"res.payload_lv(0,1)", "SS"}, {"payload_lv(0,1)", "SS"},
	} {
		if v, ok := sampletest.Text(t, tx, c.expr); !ok || v != c.want {
			t.Errorf("%s = %q %v, want %q", c.expr, v, ok, c.want)
		}
	}
	if _, ok := sampletest.Text(t, tx, "res.ssl_hello_type"); ok {
		t.Error("a TLS hello in SSH")
	}
}

// realHello is the ClientHello of crypto/tls.
func realHello(t testing.TB, name string) []byte {
	t.Helper()
	client, server := net.Pipe()
	defer server.Close()
	go func() {
		_ = tls.Client(client, &tls.Config{ServerName: name, NextProtos: []string{"h2"}}).Handshake()
		client.Close()
	}()
	buf := make([]byte, 16384)
	n, err := server.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	for n < 5 || n < 5+int(buf[3])<<8+int(buf[4]) {
		k, err := server.Read(buf[n:])
		if err != nil {
			t.Fatal(err)
		}
		n += k
	}
	return buf[:n]
}

// TestWaitsForHello: a rule never falls back to "no name" while the hello is on its way, however it is cut.
func TestWaitsForHello(t *testing.T) {
	hello := realHello(t, "www.example.com")
	s := &sampletest.Stream{Fe: &model.Proxy{Mode: model.ModeTCP}}
	tx := &model.Txn{S: s}
	e := sampletest.Parse(t, "req.ssl_sni")
	var v model.Value
	for n := range hello {
		s.Data[model.DirReq] = hello[:n]
		tx.Wait = false
		if e.Eval(tx, &v) || !tx.Wait {
			t.Fatalf("%d bytes of %d: a decision", n, len(hello))
		}
	}
	s.Data[model.DirReq] = hello
	if tx.Wait = false; !e.Eval(tx, &v) || string(v.B) != "www.example.com" || tx.Wait {
		t.Errorf("%q", v.B)
	}
}

func TestAllocations(t *testing.T) {
	hello := realHello(t, "www.example.com")
	rdp := []byte("\x03\x00\x00#\x1e\xe0\x00\x00\x00\x00\x00Cookie: mstshash=user1\r\n")
	distcc := []byte("DIST00000001ARGC00000002ARGV00000003gccDOTI00000002hi")
	for _, c := range []struct {
		data  []byte
		exprs string
	}{
		{hello, "req.len req.payload(0,5) req.payload(2,0) req.payload_lv(3,2) req.ssl_hello_type req.ssl_ver req.ssl_sni req.ssl_alpn req.ssl_ec_ext req.ssl_cipherlist req.ssl_supported_groups req.ssl_sigalgs req.ssl_keyshare_groups req.ssl_st_ext"},
		{rdp, "req.rdp_cookie req.rdp_cookie(mstshash) req.rdp_cookie_cnt"},
		{distcc, "distcc_param(DOTI) distcc_body(DOTI)"},
	} {
		s := &sampletest.Stream{Fe: &model.Proxy{Mode: model.ModeTCP}}
		s.Data[model.DirReq] = c.data
		tx := &model.Txn{S: s, Final: true}
		tx.Scratch.Init(&model.ScratchPool{}, 0)
		for _, text := range strings.Fields(c.exprs) {
			e := sampletest.Parse(t, text)
			allocates(t, tx, e, text)
		}
	}
	s := &sampletest.Stream{}
	tx := sampletest.New(s, "/x", "Host", "a")
	tx.Scratch.Init(&model.ScratchPool{}, 0)
	for _, text := range []string{"req.len", "internal.htx.data", "internal.htx_blk.hdrname(1)", "internal.htx_blk.start_line(0)", "internal.htx_blk.type(tail)", "internal.strm.is_htx", "wait_end"} {
		allocates(t, tx, sampletest.Parse(t, text), text)
	}
}

// allocates fails when the evaluation of e, which has a value, allocates.
func allocates(t *testing.T, tx *model.Txn, e *sample.Expr, text string) {
	t.Helper()
	var v model.Value
	if n := testing.AllocsPerRun(50, func() {
		m := tx.Scratch.Mark()
		if !e.Eval(tx, &v) {
			t.Fatalf("%s has no value", text)
		}
		tx.Scratch.Release(m)
	}); n != 0 {
		t.Errorf("%s: %v allocations", text, n)
	}
}

// FuzzRDP holds that a cookie is found only once all of it is there, and stays what it is when more comes.
func FuzzRDP(f *testing.F) {
	const head = "\x03\x00\x00#\x1e\xe0\x00\x00\x00\x00\x00"
	f.Add([]byte(head+"Cookie: mstshash=user1\r\n"), "mstshash")
	f.Add([]byte(head+"Cookie: m=\"a\"\r\n\x01\x00\x08\x00"), "")
	f.Add([]byte(head+"cookie:  x\r\n"), "x")
	f.Fuzz(func(t *testing.T, b []byte, name string) {
		v, st := parseRDP(b, name)
		for n := range b {
			w, early := parseRDP(b[:n], name)
			if early != rdpMore && (early != st || string(w) != string(v)) {
				t.Fatalf("%q of %d bytes gives %q %d, all %q %d", b, n, w, early, v, st)
			}
		}
	})
}

// FuzzDistcc holds the same for tokens.
func FuzzDistcc(f *testing.F) {
	f.Add([]byte("DIST00000001ARGC00000002ARGV00000003gccDOTI00000002hi"), "DOTI", int64(0))
	f.Add([]byte("DIST0000000gARGV00000001xARGV00000001y"), "ARGV", int64(2))
	f.Fuzz(func(t *testing.T, b []byte, name string, occ int64) {
		all := findToken(b, name, occ, 16384)
		for n := range b {
			part := findToken(b[:n], name, occ, 16384)
			if part.over && (part.found != all.found || part.param != all.param || string(part.body) != string(all.body)) {
				t.Fatalf("%q of %d bytes: %+v, all: %+v", b, n, part, all)
			}
		}
	})
}

// FuzzPayload holds that no offsets read outside of the buffer.
func FuzzPayload(f *testing.F) {
	f.Add([]byte("\x02ABCDEF"), "0,1,+1")
	f.Add([]byte("\xff\xff\xff\xff"), "0,4")
	f.Fuzz(func(t *testing.T, b []byte, args string) {
		s := &sampletest.Stream{Fe: &model.Proxy{Mode: model.ModeTCP}}
		s.Data[model.DirReq] = b
		for _, text := range []string{"req.payload(" + args + ")", "req.payload_lv(" + args + ")"} {
			e, err := sample.Parse(&sample.Scope{}, text)
			if err != nil {
				continue
			}
			tx := &model.Txn{S: s}
			var v model.Value
			if e.Eval(tx, &v) && len(v.B) > len(b) {
				t.Fatalf("%s: %d bytes of %d", text, len(v.B), len(b))
			}
		}
	})
}
