package logfmt

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"weir/internal/model"
)

var utcAt = time.Date(2026, 11, 30, 23, 1, 31, 5e6, time.UTC)

func newFormatter() *Formatter {
	f := New(0)
	f.zone = time.UTC
	return f
}

// record is a plain finished request, as most tests want it.
func record(edit ...func(r *model.LogRecord)) *model.LogRecord {
	r := &model.LogRecord{
		Client:      netip.MustParseAddrPort("127.0.0.1:42044"),
		ClientLocal: netip.MustParseAddrPort("127.0.0.1:18081"),
		Accept:      utcAt, Request: utcAt,
		Frontend: "f", Backend: "b", ServerName: "s",
		HTTP:   true,
		Timers: model.Timers{Total: 1e6, Response: 1e6},
		Status: 200, BytesToClient: 96, BytesToServer: 128,
		Termination: [4]byte{'-', '-', '-', '-'},
		ActConn:     1, FeConn: 1,
		Method: []byte("GET"), URI: []byte("/abc?x=y"), Version: [2]uint8{1, 1},
		Level: 6,
	}
	for _, e := range edit {
		e(r)
	}
	return r
}

func ms(n int64) int64 { return n * 1e6 }

// noTimers is how a request looks that never became one.
func noTimers(total int64) model.Timers {
	return model.Timers{Idle: -1, Request: -1, Queue: -1, Connect: -1, Response: -1, Total: ms(total)}
}

func fields(v ...string) (out [][]byte) {
	for _, s := range v {
		if s == "-" {
			out = append(out, nil)
		} else {
			out = append(out, []byte(s))
		}
	}
	return out
}

func captured(r *model.LogRecord) {
	r.CaptureReq, r.CaptureRes = true, true
	r.CapturedReqCookie, r.CapturedResCookie = []byte("SID=012345"), []byte("SID=resp")
	r.CapturedReqHeaders = fields("example.org", "-", "a\"b#c{d}e|f g\th\xc3\xa9\\]")
	r.CapturedResHeaders = fields("sr|v{}\"#x", "-")
}

func badRequest(r *model.LogRecord) {
	r.BadRequest, r.Status, r.BytesToClient = true, 400, 0
	r.Backend, r.ServerName = "f", ""
	r.Timers, r.Termination = noTimers(0), [4]byte{'P', 'R', '-', '-'}
}

func tcp(r *model.LogRecord) {
	r.HTTP, r.Status = false, -1
	r.Frontend, r.Backend, r.ServerName = "t", "tb", "ts"
	r.Method, r.URI = nil, nil
	r.Timers = model.Timers{Idle: -1, Request: -1, Response: -1, Queue: ms(1), Total: ms(1)}
	r.BytesToClient, r.BytesToServer = 97, 128
}

func TestFormats(t *testing.T) {
	for _, tc := range []struct {
		name   string
		format model.LogFormat
		rec    *model.LogRecord
		want   string
	}{
		{"http", model.LogHTTP, record(),
			`127.0.0.1:42044 [30/Nov/2026:23:01:31.005] f b/s 0/0/0/1/1 200 96 - - ---- 1/1/0/0/0 0/0 "GET /abc?x=y HTTP/1.1"`},
		{"http, bad request", model.LogHTTP, record(badRequest, func(r *model.LogRecord) { r.CaptureReq = true }),
			`127.0.0.1:42044 [30/Nov/2026:23:01:31.005] f f/<NOSRV> -1/-1/-1/-1/0 400 0 - - PR-- 1/1/0/0/0 0/0 "<BADREQ>"`},
		{"http, request timeout", model.LogHTTP, record(badRequest, func(r *model.LogRecord) {
			r.Status, r.Timers, r.Termination = 408, noTimers(1001), [4]byte{'c', 'R', '-', '-'}
			r.Request = time.Time{}
		}), `127.0.0.1:42044 [30/Nov/2026:23:01:31.005] f f/<NOSRV> -1/-1/-1/-1/1001 408 0 - - cR-- 1/1/0/0/0 0/0 "<BADREQ>"`},
		{"http, captures", model.LogHTTP, record(captured),
			`127.0.0.1:42044 [30/Nov/2026:23:01:31.005] f b/s 0/0/0/1/1 200 96 SID=012345 SID=resp ---- 1/1/0/0/0 0/0 ` +
				`{example.org||a#22b#23c#7Bd#7De#7Cf g#09h#C3#A9\]} {sr#7Cv#7B#7D#22#23x|} "GET /abc?x=y HTTP/1.1"`},
		{"http, response captures only", model.LogHTTP, record(func(r *model.LogRecord) {
			r.CaptureRes, r.CapturedResHeaders = true, fields("-")
		}), `127.0.0.1:42044 [30/Nov/2026:23:01:31.005] f b/s 0/0/0/1/1 200 96 - - ---- 1/1/0/0/0 0/0 {} "GET /abc?x=y HTTP/1.1"`},
		{"http, as soon as possible", model.LogHTTP, record(func(r *model.LogRecord) { r.ASAP, r.BeConn, r.SrvConn = true, 1, 1 }),
			`127.0.0.1:42044 [30/Nov/2026:23:01:31.005] f b/s 0/0/0/1/+1 200 +96 - - ---- 1/1/1/1/0 0/0 "GET /abc?x=y HTTP/1.1"`},
		{"http, redispatched", model.LogHTTP, record(func(r *model.LogRecord) { r.Redispatched, r.Retries, r.ServerName = true, 3, "s2" }),
			`127.0.0.1:42044 [30/Nov/2026:23:01:31.005] f b/s2 0/0/0/1/1 200 96 - - ---- 1/1/0/0/+3 0/0 "GET /abc?x=y HTTP/1.1"`},
		{"http, TLS and idle time", model.LogHTTP, record(func(r *model.LogRecord) {
			r.TLS, r.SrvQueue, r.BeQueue = true, 3, 9
			r.Timers = model.Timers{Handshake: ms(4), Idle: ms(50), Request: ms(10), Queue: ms(20), Connect: ms(30), Response: ms(69), Total: ms(54 + 139)}
		}), `127.0.0.1:42044 [30/Nov/2026:23:01:31.005] f~ b/s 10/20/30/69/139 200 96 - - ---- 1/1/0/0/0 3/9 "GET /abc?x=y HTTP/1.1"`},
		{"http, connection refused", model.LogHTTP, record(func(r *model.LogRecord) {
			r.Timers = model.Timers{Connect: -1, Response: -1, Total: ms(3003)}
			r.Status, r.BytesToClient, r.Retries, r.Termination = 503, 0, 3, [4]byte{'S', 'C', '-', '-'}
		}), `127.0.0.1:42044 [30/Nov/2026:23:01:31.005] f b/s 0/0/-1/-1/3003 503 0 - - SC-- 1/1/0/0/3 0/0 "GET /abc?x=y HTTP/1.1"`},
		{"http, client left", model.LogHTTP, record(func(r *model.LogRecord) {
			r.Status, r.BytesToClient, r.Termination = -1, 0, [4]byte{'C', 'C', '-', '-'}
		}), `127.0.0.1:42044 [30/Nov/2026:23:01:31.005] f b/s 0/0/0/1/1 -1 0 - - CC-- 1/1/0/0/0 0/0 "GET /abc?x=y HTTP/1.1"`},
		{"clf", model.LogHTTPCLF, record(),
			`127.0.0.1 - - [30/Nov/2026:23:01:31 +0000] "GET /abc?x=y HTTP/1.1" 200 96 "" "" 42044 005 "f" "b" "s" 0 0 0 1 1 ---- 1 1 0 0 0 0 0 "" "" `},
		{"clf, bad request", model.LogHTTPCLF, record(badRequest),
			`127.0.0.1 - - [30/Nov/2026:23:01:31 +0000] "<BADREQ>" 400 0 "" "" 42044 005 "f" "f" "<NOSRV>" -1 -1 -1 -1 0 PR-- 1 1 0 0 0 0 0 "" "" `},
		{"clf, captures", model.LogHTTPCLF, record(captured),
			`127.0.0.1 - - [30/Nov/2026:23:01:31 +0000] "GET /abc?x=y HTTP/1.1" 200 96 "" "" 42044 005 "f" "b" "s" 0 0 0 1 1 ---- 1 1 0 0 0 0 0 ` +
				`"SID=012345" "SID=resp" "example.org" "" "a#22b#23c#7Bd#7De#7Cf g#09h#C3#A9\]" "sr#7Cv#7B#7D#22#23x" ""`},
		{"clf, as soon as possible, unix", model.LogHTTPCLF, record(func(r *model.LogRecord) { r.ASAP, r.UnixClient, r.UnixID = true, true, 2 }),
			`unix - - [30/Nov/2026:23:01:31 +0000] "GET /abc?x=y HTTP/1.1" 200 +96 "" "" 2 005 "f" "b" "s" 0 0 0 1 +1 ---- 1 1 0 0 0 0 0 "" "" `},
		{"tcp", model.LogTCP, record(tcp), `127.0.0.1:42044 [30/Nov/2026:23:01:31.005] t tb/ts 1/0/1 97 -- 1/1/0/0/0 0/0`},
		{"tcp, as soon as possible", model.LogTCP, record(tcp, func(r *model.LogRecord) {
			r.ASAP, r.BytesToClient, r.Timers.Total = true, 0, 0
		}), `127.0.0.1:42044 [30/Nov/2026:23:01:31.005] t tb/ts 1/0/+0 +0 -- 1/1/0/0/0 0/0`},
		{"tcp, no server", model.LogTCP, record(tcp, func(r *model.LogRecord) {
			r.Backend, r.ServerName, r.Timers, r.BytesToClient = "", "", noTimers(0), 0
			r.Termination, r.ActConn = [4]byte{'S', 'C', '-', '-'}, 3
		}), `127.0.0.1:42044 [30/Nov/2026:23:01:31.005] t t/<NOSRV> -1/-1/0 0 SC 3/1/0/0/0 0/0`},
		{"tcp, unix, TLS", model.LogTCP, record(tcp, func(r *model.LogRecord) { r.UnixClient, r.UnixID, r.TLS = true, 2, true }),
			`unix:2 [30/Nov/2026:23:01:31.005] t~ tb/ts 1/0/1 97 -- 1/1/0/0/0 0/0`},
		{"tcp clf", model.LogTCPCLF, record(tcp),
			`127.0.0.1 - - [30/Nov/2026:23:01:31 +0000] "TCP " 000 97 "" "" 42044 005 "t" "tb" "ts" 0 1 0 1 128 ---- 1 1 0 0 0 0 0 "" "" `},
		{"tcp clf, timeout", model.LogTCPCLF, record(tcp, func(r *model.LogRecord) {
			r.BytesToClient, r.BytesToServer, r.Timers.Total, r.Termination = 0, 5, ms(1001), [4]byte{'c', 'D', '-', '-'}
		}), `127.0.0.1 - - [30/Nov/2026:23:01:31 +0000] "TCP " 000 0 "" "" 42044 005 "t" "tb" "ts" 0 1 0 1001 5 cD-- 1 1 0 0 0 0 0 "" "" `},
		{"default", model.LogDefault, record(), `Connect from 127.0.0.1:42044 to 127.0.0.1:18081 (f/HTTP)`},
		{"default, tcp, IPv6", model.LogDefault, record(tcp, func(r *model.LogRecord) {
			r.Client, r.ClientLocal = netip.MustParseAddrPort("[::1]:9"), netip.MustParseAddrPort("[fe80::1%7]:10")
		}), `Connect from ::1:9 to fe80::1:10 (t/TCP)`},
		{"default, unix", model.LogDefault, record(func(r *model.LogRecord) { r.UnixClient, r.UnixID = true, 77 }), `Connect to unix:77 (f/HTTP)`},
		{"failed connection", model.LogHTTP, record(func(r *model.LogRecord) {
			r.ErrorMessage, r.BindName, r.TLS = "Connection closed during SSL handshake", "foo", true
		}), `127.0.0.1:42044 [30/Nov/2026:23:01:31.005] f/foo: Connection closed during SSL handshake`},
		{"failed connection, unix", model.LogTCPCLF, record(func(r *model.LogRecord) {
			r.ErrorMessage, r.BindName, r.UnixClient, r.UnixID = "Truncated PROXY protocol header received", "3", true, 3
		}), `unix:3 [30/Nov/2026:23:01:31.005] f/3: Truncated PROXY protocol header received`},
	} {
		if got := string(newFormatter().Append(nil, tc.format, tc.rec)); got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.name, got, tc.want)
		}
	}
}

func TestRequestLineEncoding(t *testing.T) {
	for uri, want := range map[string]string{
		"/a{}|\\~":                   `"GET /a{}|\~ HTTP/1.1"`,
		"/a\"#":                      `"GET /a#22#23 HTTP/1.1"`,
		"/\xc3\xa9\x80\xff":          `"GET /#C3#A9#80#FF HTTP/1.1"`,
		"/\x00\x01\x1b[31m\x7f":      `"GET /#00#01#1B[31m#7F HTTP/1.1"`,
		"/\r\nfake line\n":           `"GET /#0D#0Afake line#0A HTTP/1.1"`,
		"http://h/x?y=%22":           `"GET http://h/x?y=%22 HTTP/1.1"`,
		"*":                          `"GET * HTTP/1.1"`,
		"/" + strings.Repeat(" ", 3): `"GET /    HTTP/1.1"`,
	} {
		r := record(func(r *model.LogRecord) { r.URI = []byte(uri) })
		got := string(newFormatter().Append(nil, model.LogHTTP, r))
		if !strings.HasSuffix(got, " "+want) {
			t.Errorf("%q: got %s, want %s", uri, got[strings.LastIndex(got, ` "`):], want)
		}
	}
}

// T122: whatever the network sends, a line holds printable ASCII only.
func TestLineNeverHoldsControlBytes(t *testing.T) {
	var all []byte
	for c := range 256 {
		all = append(all, byte(c))
	}
	r := record(func(r *model.LogRecord) {
		r.Method, r.URI = all, all
		r.CapturedReqCookie, r.CapturedResCookie = all, all
		r.CaptureReq, r.CaptureRes = true, true
		r.CapturedReqHeaders, r.CapturedResHeaders = [][]byte{all}, [][]byte{all}
	})
	failed := record(func(r *model.LogRecord) { r.ErrorMessage, r.BindName = string(all), "1" })
	f := New(65536)
	for _, format := range []model.LogFormat{model.LogDefault, model.LogTCP, model.LogHTTP, model.LogHTTPCLF, model.LogTCPCLF} {
		for _, r := range []*model.LogRecord{r, failed} {
			for i, c := range f.Append(nil, format, r) {
				if c < 32 || c > 126 {
					t.Fatalf("format %d: byte %#x at %d", format, c, i)
				}
			}
		}
	}
	if line := string(f.Append(nil, model.LogHTTP, r)); strings.Count(line, `"`) != 2 {
		t.Errorf("fields can be forged: %.300s", line)
	}
}

func TestRequestLineIsCut(t *testing.T) {
	long := []byte("/" + strings.Repeat("a", 2000))
	line := func(uri []byte, room int) string {
		f := New(room)
		r := record(func(r *model.LogRecord) { r.URI = uri })
		got := string(f.Append(nil, model.LogHTTP, r))
		got = got[strings.Index(got, ` "`)+2:]
		return strings.TrimSuffix(got, `"`)
	}
	if got := line(long, 0); got != "GET "+string(long[:1019]) {
		t.Errorf("default room: %d bytes, %.20s...%s", len(got), got, got[len(got)-12:])
	}
	exact := long[:1023-len("GET ")-len(" HTTP/1.1")]
	if got := line(exact, 0); len(got) != 1023 || !strings.HasSuffix(got, " HTTP/1.1") {
		t.Errorf("exact fit: %d bytes ending in %s", len(got), got[len(got)-12:])
	}
	if got := line(long[:len(exact)+1], 0); len(got) != 1023 || !strings.HasSuffix(got, " HTTP/1.") {
		t.Errorf("one too many: %d bytes ending in %s", len(got), got[len(got)-12:])
	}
	if got := line([]byte("/\"\"\"\"\"\"\"\"\"\"\"\"\"\"\""), 10); got != "GET /#22#22#22#22" {
		t.Errorf("the cut counts bytes received: %s", got)
	}
	if got := line(long, 3); got != "GE" {
		t.Errorf("shorter than the method: %s", got)
	}
}

func TestAddresses(t *testing.T) {
	for in, want := range map[string]string{
		"127.0.0.1": "127.0.0.1", "::1": "::1", "::": "::", "::ffff:127.0.0.1": "::ffff:127.0.0.1",
		"::102:304": "::1.2.3.4", "2001:db8:0:0:1:0:0:1": "2001:db8::1:0:0:1", "fe80::1%eth0": "fe80::1",
	} {
		if got := string(appendIP(nil, netip.MustParseAddr(in))); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	if got := string(appendIP(nil, netip.Addr{})); got != "-" {
		t.Errorf("no address: %s", got)
	}
}

func TestDatesUseZoneAndFollowTime(t *testing.T) {
	f := New(0)
	f.zone = time.FixedZone("EST", -5*3600)
	line := func(at time.Time) string {
		r := record(func(r *model.LogRecord) { r.Accept, r.Request = at, at })
		s := string(f.Append(nil, model.LogHTTP, r))
		c := string(f.Append(nil, model.LogHTTPCLF, r))
		return s[strings.Index(s, "["):strings.Index(s, "]")+1] + c[strings.Index(c, "["):strings.Index(c, "]")+1]
	}
	if got := line(utcAt); got != "[30/Nov/2026:18:01:31.005][30/Nov/2026:23:01:31 +0000]" {
		t.Error(got)
	}
	if got := line(utcAt.Add(time.Second)); got != "[30/Nov/2026:18:01:32.005][30/Nov/2026:23:01:32 +0000]" {
		t.Error(got)
	}
	if got := line(utcAt.Add(995 * time.Millisecond)); got != "[30/Nov/2026:18:01:32.000][30/Nov/2026:23:01:32 +0000]" {
		t.Error(got)
	}
}

func TestAppendAllocatesNothing(t *testing.T) {
	f := New(0)
	dst := make([]byte, 0, 4096)
	r := record(captured)
	failed := record(func(r *model.LogRecord) { r.ErrorMessage, r.BindName = "Connection closed", "1" })
	for _, format := range []model.LogFormat{model.LogDefault, model.LogTCP, model.LogHTTP, model.LogHTTPCLF, model.LogTCPCLF} {
		if n := testing.AllocsPerRun(500, func() {
			r.Accept = r.Accept.Add(300 * time.Millisecond)
			r.Request = r.Accept
			dst = f.Append(dst[:0], format, r)
			dst = f.Append(dst[:0], format, failed)
		}); n != 0 {
			t.Errorf("format %d: %v allocations a line", format, n)
		}
	}
}

func FuzzRequestLine(f *testing.F) {
	f.Add([]byte("GET"), []byte("/"), 1024)
	f.Add([]byte("\""), []byte("/\x00#"), 5)
	f.Fuzz(func(t *testing.T, method, uri []byte, room int) {
		if room < 1 || room > 1<<20 {
			return
		}
		r := record(func(r *model.LogRecord) { r.Method, r.URI = method, uri })
		fm := New(room)
		for _, c := range fm.requestLine(nil, r) {
			if c < 32 || c > 126 || c == '"' {
				t.Fatalf("byte %#x", c)
			}
		}
	})
}

func BenchmarkHTTP(b *testing.B) {
	f := New(0)
	dst := make([]byte, 0, 4096)
	r := record()
	b.ReportAllocs()
	for b.Loop() {
		dst = f.Append(dst[:0], model.LogHTTP, r)
	}
}

func BenchmarkHTTPCaptures(b *testing.B) {
	f := New(0)
	dst := make([]byte, 0, 4096)
	r := record(captured)
	b.ReportAllocs()
	for b.Loop() {
		dst = f.Append(dst[:0], model.LogHTTP, r)
	}
}
