package httpcache

import (
	"strings"
	"testing"

	"weir/internal/wire/msg"
)

// Responses, and whether the reference takes them for cacheable.
func TestShared(t *testing.T) {
	for _, c := range []struct {
		method msg.Method
		status int
		fields string
		want   bool
	}{
		{msg.GET, 200, "", false},
		{msg.GET, 200, "cache-control: public", false},
		{msg.GET, 200, "cache-control: must-revalidate", false},
		{msg.GET, 200, "cache-control: max-age=5", true},
		{msg.GET, 200, "cache-control: MAX-AGE=5", true},
		{msg.GET, 200, "cache-control: max-age", true},
		{msg.GET, 200, "cache-control: xmax-age=5", false},
		{msg.GET, 200, "cache-control: public,max-age=5", true},
		{msg.GET, 200, "cache-control: s-maxage=00", true},
		{msg.GET, 200, "cache-control: s-maxage=0", false},
		{msg.GET, 200, "cache-control: max-age=0|etag: x", false},
		{msg.GET, 200, "cache-control: max-age=5|cache-control: max-age=0", false},
		{msg.GET, 200, "cache-control: max-age=5, no-store", false},
		{msg.GET, 200, "cache-control: max-age=5|cache-control: private", false},
		{msg.GET, 200, `cache-control: max-age=5|cache-control: private="x"`, false},
		{msg.GET, 200, `cache-control: max-age=5|cache-control: no-cache="x"`, false},
		{msg.GET, 200, `cache-control: max-age=5|cache-control: no-cache="set-cookie"`, true},
		{msg.GET, 200, "cache-control: max-age=5|pragma: No-Cache", false},
		{msg.GET, 200, "cache-control: max-age=5|pragma: x, no-cache", true},
		{msg.GET, 200, "cache-control: max-age=5|vary: *", true},
		{msg.GET, 200, "expires: 0", true},
		{msg.GET, 200, "etag: x", true},
		{msg.GET, 200, "last-modified: x", true},
		{msg.HEAD, 200, "etag: x", true},
		{msg.OPTIONS, 200, "etag: x", true},
		{msg.TRACE, 200, "etag: x", true},
		{msg.POST, 200, "etag: x|cache-control: public", true},
		{msg.GET, 302, "cache-control: public, max-age=5", true},
		{msg.GET, 302, "cache-control: public", false},
		{msg.GET, 200, "cache-control: public, private, max-age=5", false},
		{msg.POST, 200, "etag: x", false},
		{msg.PUT, 200, "etag: x", false},
		{msg.GET, 203, "etag: x", true}, {msg.GET, 204, "etag: x", true}, {msg.GET, 206, "etag: x", true}, {msg.GET, 300, "etag: x", true},
		{msg.GET, 301, "etag: x", true}, {msg.GET, 404, "etag: x", true}, {msg.GET, 405, "etag: x", true}, {msg.GET, 410, "etag: x", true},
		{msg.GET, 414, "etag: x", true}, {msg.GET, 501, "etag: x", true},
		{msg.GET, 201, "etag: x", false}, {msg.GET, 302, "etag: x", false}, {msg.GET, 304, "etag: x", false}, {msg.GET, 403, "etag: x", false},
		{msg.GET, 416, "etag: x", false}, {msg.GET, 500, "etag: x", false}, {msg.GET, 503, "etag: x", false},
	} {
		m := &msg.Message{IsResponse: true, Status: c.status}
		for _, f := range strings.Split(c.fields, "|") {
			if name, value, ok := strings.Cut(f, ": "); ok {
				m.AddString(name, value)
			}
		}
		if got := Shared(c.method, m); got != c.want {
			t.Errorf("%s %d %s: %v", c.method, c.status, c.fields, got)
		}
		if SharesCookie(c.method, m) {
			t.Errorf("%s: there is no cookie", c.fields)
		}
		m.AddString("set-cookie", "a=b")
		if got, want := SharesCookie(c.method, m), c.want && !strings.Contains(c.fields, "no-cache="); got != want {
			t.Errorf("%s %d %s with a cookie: %v", c.method, c.status, c.fields, got)
		}
	}
}
