package h1

import (
	"bytes"
	"strings"
	"testing"

	"weir/internal/wire/msg"
)

const browser = "GET /articles/2024/index.html?lang=en&page=2 HTTP/1.1\r\n" +
	"Host: www.example.com\r\n" +
	"User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r\n" +
	"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n" +
	"Accept-Language: en-US,en;q=0.5\r\n" +
	"Accept-Encoding: gzip, deflate, br\r\n" +
	"Connection: keep-alive\r\n" +
	"Cookie: session=0123456789abcdef; theme=dark; consent=1\r\n" +
	"Upgrade-Insecure-Requests: 1\r\n" +
	"Sec-Fetch-Dest: document\r\n" +
	"Sec-Fetch-Mode: navigate\r\n" +
	"Sec-Fetch-Site: none\r\n" +
	"If-None-Match: \"5f3a-61c2d8\"\r\n" +
	"\r\n"

const answer = "HTTP/1.1 200 OK\r\n" +
	"Date: Mon, 01 Jan 2024 00:00:00 GMT\r\n" +
	"Server: nginx\r\n" +
	"Content-Type: text/html; charset=utf-8\r\n" +
	"Content-Length: 1234\r\n" +
	"Cache-Control: max-age=3600\r\n" +
	"ETag: \"5f3a-61c2d8\"\r\n" +
	"Set-Cookie: id=1; Path=/; HttpOnly\r\n" +
	"\r\n"

func parseRequest(t testing.TB, in string, o *Options) (*msg.Message, int, *Error) {
	t.Helper()
	var p Parser
	m := new(msg.Message)
	n, err := p.ParseRequest([]byte(in), m, o)
	return m, n, err
}

func parseResponse(t testing.TB, in string, method msg.Method, o *Options) (*msg.Message, int, *Error) {
	t.Helper()
	var p Parser
	m := new(msg.Message)
	n, err := p.ParseResponse([]byte(in), m, method, o)
	return m, n, err
}

func get(m *msg.Message, name string) string {
	v, ok := m.Get(name)
	if !ok {
		return "<none>"
	}
	return string(v)
}

func TestBrowserRequest(t *testing.T) {
	m, n, err := parseRequest(t, browser+"GET /next", nil)
	if err != nil || n != len(browser) {
		t.Fatalf("n=%d err=%v", n, err)
	}
	if m.Method != msg.GET || string(m.Target) != "/articles/2024/index.html?lang=en&page=2" || !m.KeepAlive ||
		!m.HasHost || m.Framing != msg.NoBody || m.Major != 1 || m.Minor != 1 || len(m.Fields) != 11 {
		t.Errorf("message: %+v", m)
	}
	out, e := AppendRequest(nil, m, &EncodeOptions{})
	want := strings.Replace(browser, "Connection: keep-alive\r\n", "", 1)
	if e != nil || !strings.EqualFold(string(out), want) || !strings.Contains(string(out), "\r\nuser-agent: Mozilla/5.0 (X11") {
		t.Errorf("encoded: %q %v", out, e)
	}
}

func TestByteByByteCostsLinearTime(t *testing.T) {
	// 15000 bytes in one value, one byte at a time. Quadratic work would take
	// more than 100 million steps; the time limit of the test run catches it.
	in := []byte("GET / HTTP/1.1\r\nA: " + strings.Repeat("x", 15000) + "\r\n\r\n")
	var p Parser
	var m msg.Message
	for i := 1; i < len(in); i++ {
		if n, err := p.ParseRequest(in[:i], &m, nil); n != 0 || err != nil {
			t.Fatalf("at %d: n=%d err=%v", i, n, err)
		}
	}
	if n, err := p.ParseRequest(in, &m, nil); n != len(in) || err != nil {
		t.Fatalf("n=%d err=%v", n, err)
	}
}

func TestEarlyRefusal(t *testing.T) {
	for _, in := range []string{"\x16\x03\x01\x02\x00", "G\x01", "GET /\x00", "GET / HTTP/1.1\r\nX Y", "GET / HTTP/1.1\r\nX: \x00",
		"GET / HTTP/1.1\r\nA: b\r\n\rX", "GET /\r\n", "GET / HTTP/1.1\r\nA: b\r\n: x\r\nB"} {
		if _, n, err := parseRequest(t, in, nil); err == nil || n != 0 || err.Status != 400 {
			t.Errorf("%q: n=%d err=%v", in, n, err)
		}
	}
	for _, in := range []string{"", "\r", "\r\n", "G", "GET", "GET /", "GET / HTTP/1.1\r", "GET / HTTP/1.1\r\nX", "GET / HTTP/1.1\r\nX:", "GET / HTTP/1.1\r\nA: b\r\n\r"} {
		if _, n, err := parseRequest(t, in, nil); err != nil || n != 0 {
			t.Errorf("%q: n=%d err=%v", in, n, err)
		}
	}
}

func TestPartial(t *testing.T) {
	var p Parser
	var m msg.Message
	for _, c := range []struct {
		in   string
		want bool
	}{{"\r\n", false}, {"\r\nG", true}, {"\r\nGET / HTTP/1.1\r\n", true}} {
		if _, err := p.ParseRequest([]byte(c.in), &m, nil); err != nil || p.Partial() != c.want {
			t.Errorf("%q: partial=%v err=%v", c.in, p.Partial(), err)
		}
	}
	p.Reset()
	if p.Partial() {
		t.Error("partial after Reset")
	}
}

func TestMovedBuffer(t *testing.T) {
	in := []byte(browser)
	var p Parser
	var m msg.Message
	for _, cut := range []int{5, 60, 200, len(in) - 1} {
		if n, err := p.ParseRequest(bytes.Clone(in[:cut]), &m, nil); n != 0 || err != nil {
			t.Fatalf("cut %d: %d %v", cut, n, err)
		}
	}
	if n, err := p.ParseRequest(in, &m, nil); n != len(in) || err != nil || get(&m, "sec-fetch-site") != "none" {
		t.Fatalf("%d %v", n, err)
	}
}

func TestCaseMap(t *testing.T) {
	var c CaseMap
	if c.Add("content-length", "Content-Length") != nil || c.Len() != 1 {
		t.Fatal("good entry refused")
	}
	for _, bad := range [][2]string{{"content-length", "CONTENT-LENGTH"}, {"Host", "HOST"}, {"host", "hosts"}, {"a b", "A b"}, {"", ""}} {
		if c.Add(bad[0], bad[1]) == nil {
			t.Errorf("accepted %q", bad)
		}
	}
	m, _, _ := parseRequest(t, "POST / HTTP/1.1\r\nHOST: a\r\nCONTENT-LENGTH: 3\r\n\r\n", nil)
	out, err := AppendRequest(nil, m, &EncodeOptions{Case: &c})
	if want := "POST / HTTP/1.1\r\nhost: a\r\nContent-Length: 3\r\n\r\n"; err != nil || string(out) != want {
		t.Errorf("%q %v", out, err)
	}
}

func BenchmarkRequest(b *testing.B) {
	in := []byte(browser)
	var p Parser
	var m msg.Message
	dst := make([]byte, 0, 4096)
	o := &EncodeOptions{}
	b.ReportAllocs()
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		if n, err := p.ParseRequest(in, &m, nil); n != len(in) || err != nil {
			b.Fatal(n, err)
		}
		var err error
		if dst, err = AppendRequest(dst[:0], &m, o); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseRequest(b *testing.B) {
	in := []byte(browser)
	var p Parser
	var m msg.Message
	b.ReportAllocs()
	for b.Loop() {
		if n, err := p.ParseRequest(in, &m, nil); n != len(in) || err != nil {
			b.Fatal(n, err)
		}
	}
}

func BenchmarkResponse(b *testing.B) {
	in := []byte(answer)
	var p Parser
	var m msg.Message
	dst := make([]byte, 0, 4096)
	o := &EncodeOptions{}
	b.ReportAllocs()
	for b.Loop() {
		if n, err := p.ParseResponse(in, &m, msg.GET, nil); n != len(in) || err != nil {
			b.Fatal(n, err)
		}
		dst, _ = AppendResponse(dst[:0], &m, o)
	}
}

func BenchmarkChunks(b *testing.B) {
	in := []byte(strings.Repeat("400\r\n"+strings.Repeat("x", 1024)+"\r\n", 16) + "0\r\n\r\n")
	var d ChunkDecoder
	var m msg.Message
	b.ReportAllocs()
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		d.Reset(nil)
		for rest := in; ; {
			pc, err := d.Next(rest, &m)
			if err != nil {
				b.Fatal(err)
			}
			rest = rest[pc.Used:]
			if pc.Done {
				break
			}
		}
	}
}

func TestNoAllocations(t *testing.T) {
	var p Parser
	var m msg.Message
	var d ChunkDecoder
	dst := make([]byte, 0, 4096)
	o := &EncodeOptions{}
	req, res := []byte(browser), []byte(answer)
	folded := []byte("GET http://a:80 HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\nConnection: close, x\r\nContent-Length: 5, 5\r\n\r\n")
	chunks := []byte("5;x=y\r\nhello\r\n0\r\nX: y\r\n\r\n")
	checks := map[string]func(){
		"request": func() {
			p.ParseRequest(req, &m, nil)
			dst, _ = AppendRequest(dst[:0], &m, o)
		},
		"partial request": func() {
			p.ParseRequest(req[:300], &m, nil)
			p.ParseRequest(req, &m, nil)
		},
		"edited request": func() {
			p.ParseRequest(folded, &m, nil)
			m.SetString("x-forwarded-for", "192.0.2.1")
			dst, _ = AppendRequest(dst[:0], &m, o)
		},
		"refused request": func() { p.ParseRequest(req[1:2], &m, nil); p.ParseRequest(req[3:], &m, nil) },
		"answer": func() {
			p.ParseResponse(res, &m, msg.GET, nil)
			dst, _ = AppendResponse(dst[:0], &m, o)
		},
		"chunks": func() {
			m.Reset()
			d.Reset(nil)
			for rest := chunks; !d.Done(); {
				pc, _ := d.Next(rest, &m)
				rest = rest[pc.Used:]
			}
			dst = AppendLastChunk(AppendChunkHeader(dst[:0], 5), &m, o)
		},
	}
	for name, f := range checks {
		if n := testing.AllocsPerRun(200, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
