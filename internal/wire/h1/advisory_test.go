package h1

import (
	"bytes"
	"strings"
	"testing"

	"weir/internal/wire/msg"
)

// The tests below are named after the rows of the project's table of public
// advisories. They hold the part of each that a codec decides.

// refused checks that each request is refused with that status.
func refused(t *testing.T, status int, heads ...string) {
	t.Helper()
	for _, in := range heads {
		if m, n, err := parseRequest(t, in, nil); err == nil || n != 0 || err.Status != status {
			t.Errorf("%.80q: n=%d err=%v framing=%v", in, n, err, m.Framing)
		}
	}
}

// passed checks that a request is accepted and sent on as given.
func passed(t *testing.T, in, want string) *msg.Message {
	t.Helper()
	m, n, err := parseRequest(t, in, nil)
	if err != nil || n != len(in) {
		t.Fatalf("%.80q: n=%d err=%v", in, n, err)
	}
	out, e := AppendRequest(nil, m, &EncodeOptions{Conn: RequestConn(m, true)})
	if e != nil || string(out) != want {
		t.Errorf("%.80q sent as %q (%v), want %q", in, out, e, want)
	}
	return m
}

func post(fields string) string { return "POST / HTTP/1.1\r\n" + fields + "\r\n" }

func TestAdvisory01LongNameDoesNotHideTheLength(t *testing.T) {
	for _, n := range []int{15, 200, 255, 256, 270, 512, 9000} {
		name := "content-length0" + strings.Repeat("a", n-15)
		m, _, err := parseRequest(t, post(name+": 50\r\nContent-Length: 5\r\n"), nil)
		switch {
		case n > 255 && err == nil:
			t.Errorf("name of %d bytes accepted", n)
		case n <= 255 && (err != nil || m.ContentLength != 5 || m.Framing != msg.Length):
			t.Errorf("name of %d bytes: length %d, %v", n, m.ContentLength, err)
		}
	}
}

func TestAdvisory02EmptyNameIsRefused(t *testing.T) {
	refused(t, 400, post(": x\r\n"), post("A: b\r\n: x\r\nContent-Length: 3\r\n"), post(":\r\n"))
}

func TestAdvisory03EmptyLengthIsRefused(t *testing.T) {
	refused(t, 400, post("Content-Length:\r\n"), post("Content-Length: \t\r\n"), post("Content-Length:\r\nContent-Length: 5\r\n"),
		post("Content-Length: 5\r\nContent-Length:\r\n"), post("Content-Length: 5,\r\n"))
}

func TestAdvisory04BlankBeforeColonIsRefused(t *testing.T) {
	refused(t, 400, post("Transfer-Encoding : chunked\r\n"), post("Transfer-Encoding\t: chunked\r\n"), post("Content-Length : 5\r\n"),
		post("X-Any : b\r\n"))
}

// chunksRefused checks that each body is refused, whole and byte by byte.
func chunksRefused(t *testing.T, kind Kind, bodies ...string) {
	t.Helper()
	for _, in := range bodies {
		for _, step := range []int{1, len(in)} {
			if _, _, done, err := decode([]byte(in), step, new(msg.Message)); err == nil || done || err.Kind != kind {
				t.Errorf("%.60q by %d: done=%v err=%v", in, step, done, err)
			}
		}
	}
}

func TestAdvisory05BareLineFeedInChunks(t *testing.T) {
	chunksRefused(t, ErrChunkSize, "5\nhello\r\n0\r\n\r\n", "5\r\nhello\r\n0\n\r\n")
	chunksRefused(t, ErrChunkEnd, "5\r\nhello\n0\r\n\r\n")
	chunksRefused(t, ErrChunkExt, "5;a=b\nhello\r\n0\r\n\r\n")
}

func TestAdvisory06ExtensionsAreBounded(t *testing.T) {
	chunk := "1;" + strings.Repeat("x", 8000) + "\r\na\r\n"
	in := []byte(strings.Repeat(chunk, 100))
	_, _, _, err := decode(in, len(in), new(msg.Message))
	if err == nil || err.Kind != ErrChunkExt {
		t.Errorf("100 extensions of 8000 bytes: %v", err)
	}
	in = []byte(chunk + "0\r\n\r\n")
	if data, _, done, err := decode(in, 1, new(msg.Message)); !done || string(data) != "a" {
		t.Errorf("one extension of 8000 bytes: %q %v", data, err)
	}
	// Tiny chunks without extensions may go on for ever.
	in = []byte(strings.Repeat("1\r\na\r\n", 100000) + "0\r\n\r\n")
	if data, _, done, err := decode(in, len(in), new(msg.Message)); !done || len(data) != 100000 {
		t.Errorf("tiny chunks: %d bytes, %v", len(data), err)
	}
}

func TestAdvisory07TransferCodings(t *testing.T) {
	for _, v := range []string{"xchunked", "\x0bchunked", "\"chunked\"", "chunked;a=b", "chunked, identity", "", "chunked, chunked", "identity", "gzip", "chunked\x0b", "chun\r\n ked"} {
		refused(t, 400, post("Transfer-Encoding: "+v+"\r\n"))
	}
	refused(t, 400, post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"))
	refused(t, 422, post("Transfer-Encoding: gzip, chunked\r\n"), post("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n"))
}

func TestAdvisory08ChunksInHTTP10EndTheConnection(t *testing.T) {
	m, _, err := parseRequest(t, "POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n", nil)
	if err != nil || m.Framing != msg.Chunked || m.KeepAlive || !MustClose(m) || RequestConn(m, true) != ConnClose {
		t.Errorf("%+v %v", m, err)
	}
	m, _, err = parseResponse(t, "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n", msg.GET, nil)
	if err != nil || m.Framing != msg.Chunked || m.KeepAlive || !MustClose(m) {
		t.Errorf("%+v %v", m, err)
	}
}

func TestAdvisory09BothLengths(t *testing.T) {
	for _, in := range []string{"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"} {
		m := passed(t, post(in), post("transfer-encoding: chunked\r\n"))
		if m.KeepAlive || !m.CLAndTE || m.HasCL || m.Framing != msg.Chunked {
			t.Errorf("%q: %+v", in, m)
		}
	}
}

func TestAdvisory10ChunkSizes(t *testing.T) {
	chunksRefused(t, ErrChunkSize, "FFFFFFFFFFFFFFFF\r\n", "1FFFFFFFFFFFFFFFF\r\n", "0x3\r\nabc", "-1\r\n", "+3\r\nabc", "\r\n", ";x\r\n", " 3\r\nabc", "3 3\r\n", "10000000000000\r\n")
	in := []byte(strings.Repeat("0", 40) + "5\r\nhello\r\n0\r\n\r\n")
	if data, _, done, err := decode(in, 1, new(msg.Message)); string(data) != "hello" || !done {
		t.Errorf("leading zeros: %q %v", data, err)
	}
}

func TestAdvisory11BodyThatLooksLikeARequest(t *testing.T) {
	const inner = "GET /admin HTTP/1.1\r\nHost: a\r\n\r\n"
	m, n, err := parseRequest(t, post("Content-Length: 32\r\n")+inner+"GET /next", nil)
	if err != nil || m.Framing != msg.Length || m.ContentLength != int64(len(inner)) || n != len(post("Content-Length: 32\r\n")) {
		t.Errorf("n=%d %+v %v", n, m, err)
	}
}

func TestAdvisory12ChunkedBodyThatLooksLikeARequest(t *testing.T) {
	in := []byte("b\r\nGET / HTTP/\r\n0\r\n\r\nGET /next HTTP/1.1\r\n\r\n")
	data, used, done, err := decode(in, len(in), new(msg.Message))
	if err != nil || !done || string(data) != "GET / HTTP/" || !bytes.HasPrefix(in[used:], []byte("GET /next")) {
		t.Errorf("%q %d %v %v", data, used, done, err)
	}
}

func TestAdvisory13Expectations(t *testing.T) {
	for v, want := range map[string]bool{"100-continue": true, "100-Continue": true, "y 100-continue": false, "100-continue, foo": false, "foo": false} {
		m, _, err := parseRequest(t, post("Expect: "+v+"\r\nContent-Length: 5\r\n"), nil)
		if err != nil || m.Expect100 != want || m.ExpectOther == want || get(m, "expect") != v {
			t.Errorf("%q: 100=%v other=%v %v", v, m.Expect100, m.ExpectOther, err)
		}
	}
	if m, _, _ := parseRequest(t, post("Expect: 100-continue\r\nExpect: 100-continue\r\n"), nil); m.Expect100 {
		t.Error("two expectations")
	}
}

func TestAdvisory14Folding(t *testing.T) {
	passed(t, post("X: a\r\n Content-Length: 5\r\n"), post("x: a   Content-Length: 5\r\n"))
	m := passed(t, post("Content-Length:\r\n 5\r\n"), post("content-length: 5\r\n"))
	if m.Framing != msg.Length {
		t.Error("folded length not seen")
	}
	passed(t, post("Content-Length:\n 5\r\n"), post("content-length: 5\r\n"))
	refused(t, 400, post(" Content-Length: 5\r\n"), post("\tA: b\r\n"))
}

func TestAdvisory15ForbiddenBytes(t *testing.T) {
	refused(t, 400, post("A: b\rC: d\r\n"), post("A: b\x00\r\n"), post("A\x00: b\r\n"), post("X/A: b\r\n"), post("A\r\n"),
		"G(T / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\n\rX: y\r\n\r\n")
	passed(t, "GET\t/ HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\n\r\n")
	passed(t, "GET  /  HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\n\r\n")
	passed(t, "GET / HTTP/2.0\r\n\r\n", "GET / HTTP/1.1\r\n\r\n")
}

func TestAdvisory16EarlyAnswerLeavesTheBodyCountable(t *testing.T) {
	// An answer that overtakes a body leaves the decoder in the middle of it:
	// what is still owed must be known, so that the connection is not reused.
	var d ChunkDecoder
	d.Reset(nil)
	pc, err := d.Next([]byte("10\r\nabc"), new(msg.Message))
	if err != nil || string(pc.Data) != "abc" || d.Left() != 13 || d.Done() {
		t.Errorf("%+v left=%d %v", pc, d.Left(), err)
	}
}

func TestAdvisory18LengthsAgree(t *testing.T) {
	// The encoder never announces another length than the framing says, even
	// when a rule wrote another one.
	m, _, _ := parseRequest(t, post("Content-Length: 5\r\n"), nil)
	m.SetString("content-length", "50")
	out, err := AppendRequest(nil, m, &EncodeOptions{})
	if want := post("content-length: 5\r\n"); err != nil || string(out) != want {
		t.Errorf("%q %v", out, err)
	}
	m, _, _ = parseRequest(t, "GET / HTTP/1.1\r\n\r\n", nil)
	m.AddString("Content-Length", "7")
	m.AddString("Transfer-Encoding", "chunked")
	if out, err = AppendRequest(nil, m, &EncodeOptions{}); err != nil || string(out) != "GET / HTTP/1.1\r\n\r\n" {
		t.Errorf("%q %v", out, err)
	}
}

func TestAdvisory24AnswersWithoutBody(t *testing.T) {
	for _, c := range []struct {
		in     string
		method msg.Method
		want   msg.Framing
	}{
		{"HTTP/1.1 204 X\r\nContent-Length: 5\r\n\r\n", msg.GET, msg.NoBody},
		{"HTTP/1.1 304 X\r\nTransfer-Encoding: chunked\r\n\r\n", msg.GET, msg.NoBody},
		{"HTTP/1.1 200 X\r\nContent-Length: 5\r\n\r\n", msg.HEAD, msg.NoBody},
		{"HTTP/1.1 100 X\r\nContent-Length: 5\r\n\r\n", msg.GET, msg.NoBody},
		{"HTTP/1.1 101 X\r\nUpgrade: a\r\nConnection: upgrade\r\n\r\n", msg.GET, msg.Tunnel},
		{"HTTP/1.1 200 X\r\nContent-Length: 5\r\n\r\n", msg.CONNECT, msg.Tunnel},
		{"HTTP/1.1 403 X\r\nContent-Length: 5\r\n\r\n", msg.CONNECT, msg.Length},
		{"HTTP/1.1 200 X\r\n\r\n", msg.GET, msg.UntilClose},
	} {
		m, n, err := parseResponse(t, c.in, c.method, nil)
		if err != nil || n != len(c.in) || m.Framing != c.want {
			t.Errorf("%q: %v %v", c.in, m.Framing, err)
		}
		out, e := AppendResponse(nil, m, &EncodeOptions{})
		length := strings.Contains(string(out), "content-length")
		if e != nil || length != (c.want == msg.Length || c.method == msg.HEAD) {
			t.Errorf("%q sent as %q %v", c.in, out, e)
		}
	}
	for _, in := range []string{"HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 099 OK\r\n\r\n", "HTTP/1.1 -20 OK\r\n\r\n"} {
		if _, _, err := parseResponse(t, in, msg.GET, nil); err == nil || err.Status != 502 {
			t.Errorf("%q: %v", in, err)
		}
	}
	q, _, _ := parseRequest(t, "GET / HTTP/1.1\r\n\r\n", nil)
	a, _, _ := parseResponse(t, "HTTP/1.1 101 X\r\nUpgrade: a\r\nConnection: upgrade\r\n\r\n", msg.GET, nil)
	if SwitchOK(q, a, false) {
		t.Error("101 that nobody asked for")
	}
}

func TestAdvisory30Paths(t *testing.T) {
	refused(t, 400, "GET admin HTTP/1.1\r\n\r\n", "GET ?x HTTP/1.1\r\n\r\n")
	passed(t, "GET //x HTTP/1.1\r\n\r\n", "GET //x HTTP/1.1\r\n\r\n")
}

func TestAdvisory31Authorities(t *testing.T) {
	for _, a := range []string{"a,b", "a[b", "a b", "a\\b", "[a", "a]"} {
		refused(t, 400, "GET http://"+a+"/ HTTP/1.1\r\n\r\n", "CONNECT "+a+":80 HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: "+a+"\r\n\r\n")
	}
	refused(t, 400, "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", "GET / HTTP/1.1\r\nHost: a?b\r\n\r\n", "GET / HTTP/1.1\r\nHost: u@b\r\n\r\n",
		"GET http://evil/ HTTP/1.1\r\nHost: good\r\n\r\n")
}

func TestAdvisory32Fragments(t *testing.T) {
	refused(t, 400, "GET /a#b HTTP/1.1\r\n\r\n", "GET http://a#b HTTP/1.1\r\nHost: a\r\n\r\n")
	m, _, err := parseRequest(t, "GET http://hostname#frag HTTP/1.1\r\nHost: hostname\r\n\r\n", &Options{Unsafe: true})
	if err != nil || string(m.URI().Host) != "hostname" || string(m.Target) != "http://hostname#frag" || !m.UnsafeParsed {
		t.Errorf("%q %q %v", m.URI().Host, m.Target, err)
	}
}

func TestAdvisory33Targets(t *testing.T) {
	refused(t, 400, "GET *x HTTP/1.1\r\n\r\n", "GET * HTTP/1.1\r\n\r\n", "GET admin HTTP/1.1\r\n\r\n", "GET http:/x HTTP/1.1\r\n\r\n",
		"CONNECT http://a:80 HTTP/1.1\r\n\r\n", "CONNECT a HTTP/1.1\r\n\r\n", "CONNECT / HTTP/1.1\r\n\r\n", "CONNECT a:80/x HTTP/1.1\r\n\r\n")
}

func TestAdvisory34HostBytes(t *testing.T) {
	for c := 0; c < 256; c++ {
		_, _, err := parseRequest(t, "GET / HTTP/1.1\r\nHost: a"+string([]byte{byte(c)})+"b\r\n\r\n", nil)
		ok := c > 0x20 && c < 0x7f && strings.IndexByte("#,/?@[\\]", byte(c)) < 0
		if (err == nil) != ok {
			t.Errorf("byte %#x: %v", c, err)
		}
	}
}

func TestAdvisory35HostBrackets(t *testing.T) {
	for h, ok := range map[string]bool{"[::1]": true, "[::1]:80": true, "[fe80::1%25eth0]": true, "[a]:80": true, "[::1": false, "::1]": false, "[a]b": false, "[a][b]": false, "[[a]": false} {
		m, _, err := parseRequest(t, "GET / HTTP/1.1\r\nHost: "+h+"\r\n\r\n", nil)
		if (err == nil) != ok || ok && string(m.Host()) != h {
			t.Errorf("%s: %v", h, err)
		}
	}
}

func TestAdvisory36NULInValues(t *testing.T) {
	refused(t, 400, post("A: x\x00y\r\n"), post("A: \x00\r\n"))
	m, _, err := parseRequest(t, post("A: x\x00y\r\n"), &Options{Unsafe: true})
	if err != nil || get(m, "a") != "x\x00y" || !m.UnsafeParsed {
		t.Errorf("relaxed: %v", err)
	}
}

func TestAdvisory38NoInjection(t *testing.T) {
	edits := map[string]func(*msg.Message){
		"value with CR LF":    func(m *msg.Message) { m.SetString("x", "a\r\nEvil: 1") },
		"value with LF":       func(m *msg.Message) { m.SetString("x", "a\nEvil: 1") },
		"value with CR":       func(m *msg.Message) { m.SetString("x", "a\rEvil: 1") },
		"value with NUL":      func(m *msg.Message) { m.SetString("x", "a\x00") },
		"name with LF":        func(m *msg.Message) { m.SetString("x\nEvil", "1") },
		"name with space":     func(m *msg.Message) { m.SetString("x y", "1") },
		"name with colon":     func(m *msg.Message) { m.SetString("x: y", "1") },
		"empty name":          func(m *msg.Message) { m.SetString("", "1") },
		"pseudo-header":       func(m *msg.Message) { m.SetString(":path", "/x") },
		"target with CR LF":   func(m *msg.Message) { m.SetPath([]byte("/ HTTP/1.1\r\nEvil: 1\r\n\r\n")) },
		"target with LF":      func(m *msg.Message) { m.SetQuery([]byte("a\n")) },
		"empty target":        func(m *msg.Message) { m.SetTarget(nil) },
		"method with space":   func(m *msg.Message) { m.SetMethod([]byte("GET /x")) },
		"method with newline": func(m *msg.Message) { m.SetMethod([]byte("GET\n")) },
		"empty method":        func(m *msg.Message) { m.SetMethod(nil) },
	}
	for name, edit := range edits {
		m, _, err := parseRequest(t, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n", nil)
		if err != nil {
			t.Fatal(err)
		}
		edit(m)
		if out, e := AppendRequest([]byte("kept"), m, &EncodeOptions{}); e == nil || string(out) != "kept" {
			t.Errorf("%s: sent as %q", name, out)
		}
	}
	m, _, _ := parseResponse(t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", msg.GET, nil)
	m.SetReason([]byte("OK\r\nEvil: 1"))
	if out, e := AppendResponse(nil, m, &EncodeOptions{}); e == nil {
		t.Errorf("reason sent as %q", out)
	}
	m.SetStatus(99)
	if out, e := AppendResponse(nil, m, &EncodeOptions{}); e == nil {
		t.Errorf("status sent as %q", out)
	}
}

func TestAdvisory39NamesInAnswers(t *testing.T) {
	for _, f := range []string{"A(: b\r\n", "A B: c\r\n", ": x\r\n", "A\x00: b\r\n", "\xe9: b\r\n"} {
		if _, _, err := parseResponse(t, "HTTP/1.1 200 OK\r\n"+f+"Content-Length: 0\r\n\r\n", msg.GET, nil); err == nil || err.Status != 502 {
			t.Errorf("%q: %v", f, err)
		}
	}
	m, _, err := parseResponse(t, "HTTP/1.1 200 OK\r\nA(: b\r\nC: d\r\nContent-Length: 0\r\n\r\n", msg.GET, &Options{Unsafe: true})
	if err != nil || len(m.Fields) != 2 {
		t.Errorf("relaxed: %d fields, %v", len(m.Fields), err)
	}
}

func TestAdvisory40NoHost(t *testing.T) {
	m := passed(t, "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\n\r\n")
	if m.HasHost || len(m.Host()) != 0 {
		t.Errorf("host %q", m.Host())
	}
}

func TestAdvisory48QueriesAreKept(t *testing.T) {
	for _, q := range []string{"a;b=c&&=&%zz", strings.Repeat("a=b&", 3500), "?", ""} {
		in := "GET /p?" + q + " HTTP/1.1\r\n\r\n"
		m := passed(t, in, in)
		if got, ok := m.Query(); !ok || string(got) != q {
			t.Errorf("query %.40q", got)
		}
	}
}

func TestAdvisory53NameVariants(t *testing.T) {
	m, _, _ := parseRequest(t, post("X-Auth-User: evil\r\nx-AUTH-user: evil\r\nX_Auth_User: evil\r\n"), nil)
	m.SetString("X-Auth-User", "good")
	if m.Count("x-auth-user") != 1 || get(m, "x-auth-user") != "good" || get(m, "x_auth_user") != "evil" {
		t.Errorf("%q", m.Fields)
	}
	if RestrictNames(m, RestrictReject) {
		t.Error("underscore accepted by reject")
	}
	if !RestrictNames(m, RestrictPreserve) || !m.Has("x_auth_user") {
		t.Error("preserve removed a field")
	}
	if !RestrictNames(m, RestrictDelete) || m.Has("x_auth_user") || !m.Has("x-auth-user") {
		t.Errorf("delete: %q", m.Fields)
	}
}

func TestAdvisory54TrailersStayTrailers(t *testing.T) {
	m, _, _ := parseRequest(t, post("Transfer-Encoding: chunked\r\n"), nil)
	in := []byte("0\r\nX-Forwarded-For: 1\r\nContent-Length: 5\r\nAuthorization: x\r\nTransfer-Encoding: gzip\r\n\r\n")
	if _, _, done, err := decode(in, 1, m); !done || err != nil {
		t.Fatal(done, err)
	}
	if m.Has("x-forwarded-for") || m.Has("authorization") || len(m.Fields) != 1 || m.HasCL {
		t.Errorf("fields %q", m.Fields)
	}
	if got := string(AppendLastChunk(nil, m, &EncodeOptions{})); got != "0\r\nx-forwarded-for: 1\r\nauthorization: x\r\n\r\n" {
		t.Errorf("sent as %q", got)
	}
}

func TestAdvisory60BytesBehindAnUpgrade(t *testing.T) {
	const head = "GET / HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: foo\r\n\r\n"
	m, n, err := parseRequest(t, head+"GET /2 HTTP/1.1\r\n\r\n", nil)
	if err != nil || n != len(head) || m.Framing != msg.NoBody || !m.ConnUpgrade || !m.KeepAlive {
		t.Errorf("n=%d %+v %v", n, m, err)
	}
}

func TestAdvisory62NoHTTP2Upgrade(t *testing.T) {
	passed(t, "GET / HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n\r\n",
		"GET / HTTP/1.1\r\nconnection: HTTP2-Settings\r\nhttp2-settings: AA\r\n\r\n")
	passed(t, "GET / HTTP/1.1\r\nConnection: Upgrade\r\nConnection: foo\r\nUpgrade: h2c, foo\r\n\r\n",
		"GET / HTTP/1.1\r\nconnection: Upgrade\r\nconnection: foo\r\nupgrade: foo\r\n\r\n")
}

func TestAdvisory86NumberOfFields(t *testing.T) {
	for n, ok := range map[int]bool{99: true, 100: true, 101: false, 10000: false} {
		head := strings.Repeat("a: b\r\n", n) + "\r\n"
		if _, _, err := parseRequest(t, "GET / HTTP/1.1\r\n"+head, &Options{MaxHead: 1 << 20, MaxRaw: 1 << 20}); (err == nil) != ok || !ok && err.Status != 400 {
			t.Errorf("%d: %v", n, err)
		}
		if _, _, err := parseResponse(t, "HTTP/1.1 200 OK\r\n"+head, msg.GET, &Options{MaxHead: 1 << 20, MaxRaw: 1 << 20}); (err == nil) != ok || !ok && err.Status != 502 {
			t.Errorf("%d: %v", n, err)
		}
	}
}

func TestAdvisory87SizeOfHeads(t *testing.T) {
	refused(t, 414, "GET /"+strings.Repeat("a", 7<<20)+" HTTP/1.1\r\n\r\n", "GET /"+strings.Repeat("a", 17000))
	refused(t, 431, "GET / HTTP/1.1\r\nA: "+strings.Repeat("a", 7<<20)+"\r\n\r\n", "GET / HTTP/1.1\r\nA: "+strings.Repeat("a", 17000),
		"GET / HTTP/1.1\r\n"+strings.Repeat("A: "+strings.Repeat("a", 300)+"\r\n", 80)+"\r\n")
}

func TestAdvisory88CookieBomb(t *testing.T) {
	m, _, err := parseRequest(t, "GET / HTTP/1.1\r\nCookie: "+strings.Repeat("a=;", 5000)+"\r\n\r\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	cookies := 0
	if n := testing.AllocsPerRun(5, func() {
		cookies = 0
		for it := m.Cookies(); it.Next(); {
			cookies++
		}
	}); n != 0 || cookies != 5000 {
		t.Errorf("%d cookies, %v allocations", cookies, n)
	}
}
