package errors

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"weir/internal/model"
)

func TestParseResponse(t *testing.T) {
	for _, c := range []struct{ raw, want string }{
		{"HTTP/1.1 503 No\r\n\r\n", ""},
		{"HTTP/1.0 200\n\n", ""},
		{"HTTP/1.1 503 No\r\nX: y\r\nContent-Length: 2\r\nZ:\r\n\r\nab", ""},
		{"HTTP/1.1 503 No\r\nConnection: close\r\n\r\nab", ""},
		{"HTTP/1.1 103 Hints\r\n\r\n", ""},
		{"HTTP/1.1", "status line does not end"},
		{"HTTP/2.0 200 OK\r\n\r\n", "does not start with"},
		{"ICY 200 OK\r\n\r\n", "does not start with"},
		{"HTTP/1.1 20 OK\r\n\r\n", "no status of three digits"},
		{"HTTP/1.1 +20 OK\r\n\r\n", "no status of three digits"},
		{"HTTP/1.1 abc OK\r\n\r\n", "no status of three digits"},
		{"HTTP/1.1 200 O\x01K\r\n\r\n", "control character"},
		{"HTTP/1.1 200 OK\r\nX: y\r\n", "empty line"},
		{"HTTP/1.1 200 OK\r\nno field\r\n\r\n", "line 2 is no header field"},
		{"HTTP/1.1 200 OK\r\nX : y\r\n\r\n", "line 2 is no header field"},
		{"HTTP/1.1 200 OK\r\nX: y\r\n z\r\n\r\n", "line 3 is no header field"},
		{"HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n", "control character"},
		{"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", "its content-length is 3"},
		{"HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nab", "no length that fits"},
		{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nab", "no length that fits"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "not supported"},
		{"HTTP/1.1 304 OK\r\n\r\nab", "allows no body"},
	} {
		var page model.ErrorPage
		err := parseResponse([]byte(c.raw), &page)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: %v, want %q", c.raw, err, c.want)
		}
	}
}

// FuzzErrorFile checks that what is accepted means the same when it is written
// out and read again.
func FuzzErrorFile(f *testing.F) {
	f.Add([]byte("HTTP/1.0 503 Service Unavailable\r\nContent-Length: 2\r\nX: y\r\n\r\nok"))
	f.Add([]byte("HTTP/1.1 200\n\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		a := model.ErrorPage{LengthAt: -1}
		if parseResponse(raw, &a) != nil {
			return
		}
		var out bytes.Buffer
		minor := 1
		if a.HTTP10 {
			minor = 0
		}
		fmt.Fprintf(&out, "HTTP/1.%d %03d %s\r\n", minor, a.Code, a.Reason)
		for i, h := range a.Fields {
			if i == a.LengthAt {
				fmt.Fprintf(&out, "content-length: %d\r\n", len(a.Body))
			}
			fmt.Fprintf(&out, "%s: %s\r\n", h[0], h[1])
		}
		if a.LengthAt == len(a.Fields) {
			fmt.Fprintf(&out, "content-length: %d\r\n", len(a.Body))
		}
		out.WriteString("\r\n")
		out.Write(a.Body)
		b := model.ErrorPage{LengthAt: -1}
		if err := parseResponse(out.Bytes(), &b); err != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%q: written as %q: %v\n%+v\n%+v", raw, out.Bytes(), err, a, b)
		}
	})
}
