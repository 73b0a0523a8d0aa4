package counters

import (
	"fmt"
	"io"
	"strings"

	"weir/test/wait"
)

// listenHTTP is a listen section with one server.
const listenHTTP = `
listen $n
  bind "$l"
  server s $x
`

// split is a frontend and a backend.
const split = `
frontend $n
  bind "$l"
  default_backend $n-b
backend $n-b
  server s $x
`

func get(target string) string { return "GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n" }

func one(reqs ...string) func(c *client) {
	return func(c *client) {
		for _, r := range reqs {
			c.one(r)
		}
	}
}

// same sends the requests one after the other over one connection.
func same(reqs ...string) func(c *client) {
	return func(c *client) {
		n := c.dial()
		defer n.Close()
		for _, r := range reqs {
			n.do(r)
		}
	}
}

// rude sends data and closes.
func rude(data string) func(c *client) {
	return func(c *client) {
		n := c.dial()
		n.put(data)
		n.Close()
	}
}

// cases is the workload.
var cases = []kase{
	{"plain", listenHTTP, one(get("/n/100"))},
	{"plain-short", listenHTTP, one("GET / HTTP/1.1\r\nHost: a\r\n\r\n")},
	{"plain-headers", listenHTTP, one("GET /n/10 HTTP/1.1\r\nHost: a\r\nX-A: 12345\r\nX-B:    7890   \r\n\r\n")},
	{"plain-10", listenHTTP, one("GET /n/10 HTTP/1.0\r\n\r\n")},
	{"head", listenHTTP, one("HEAD /n/0 HTTP/1.1\r\nHost: a\r\n\r\n")},
	{"split", split, one(get("/n/100"))},
	{"keepalive", split, same(get("/n/10"), get("/n/20"), get("/n/30"))},
	{"post", listenHTTP, one("POST /n/5 HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n0123456789")},
	{"post-big", listenHTTP, one("POST /n/5 HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n" + strings.Repeat("y", 100000))},
	{"big", listenHTTP, one(get("/n/300000"))},
	{"post-chunked", listenHTTP, one("POST /n/5 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n3\r\n567\r\n0\r\n\r\n")},
	{"post-trailers", listenHTTP, one("POST /n/5 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n0\r\nX-T: 12\r\n\r\n")},
	{"chunked", listenHTTP, one(get("/chunked"))},
	{"trailers", listenHTTP, one(get("/trailers"))},
	{"chunked-10", listenHTTP, one("GET /chunked HTTP/1.0\r\n\r\n")},
	{"old", listenHTTP, one(get("/old"))},
	{"reason", listenHTTP, one(get("/reason"))},
	{"early", listenHTTP, one(get("/early"))},
	{"eager", listenHTTP, func(c *client) {
		n := c.dial()
		defer n.Close()
		n.put("POST /eager HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n")
		n.get(false)
		n.put("0123456789")
		n.rest()
	}},
	{"status", split, same(get("/s/200"), get("/s/204"), get("/s/302"), get("/s/404"), get("/s/500"), get("/s/503"), get("/s/600"), get("/s/777"))},
	{"status-listen", listenHTTP, same(get("/s/200"), get("/s/204"), get("/s/302"), get("/s/404"), get("/s/500"), get("/s/503"), get("/s/600"), get("/s/777"))},
	{"bad", split, one("BAD\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", "GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n")},
	{"bad-second", split, same(get("/n/1"), "BAD\r\n\r\n")},
	{"nothing", split, rude("")},
	{"partial", split, func(c *client) {
		n := c.dial()
		defer n.Close()
		n.put("GET / HTT")
		if err := n.closeWrite(); err != nil {
			c.fail(err)
		}
		n.rest()
	}},
	{"partial-reset", split, func(c *client) {
		n := c.dial()
		n.put("GET / HTT")
		c.seen("partial-reset", "scur", "1")
		n.reset()
	}},
	{"late", `
frontend $n
  bind "$l"
  timeout http-request 200ms
  default_backend $n-b
backend $n-b
  server s $x
`, func(c *client) {
		n := c.dial()
		defer n.Close()
		n.put("GET / HTT")
		n.rest()
	}},
	{"late-silent", `
frontend $n
  bind "$l"
  timeout http-request 200ms
  default_backend $n-b
backend $n-b
  server s $x
`, func(c *client) {
		n := c.dial()
		defer n.Close()
		n.rest()
	}},
	{"idle-late", `
frontend $n
  bind "$l"
  timeout http-keep-alive 200ms
  default_backend $n-b
backend $n-b
  server s $x
`, func(c *client) {
		n := c.dial()
		defer n.Close()
		n.do(get("/n/1"))
		n.rest()
	}},
	{"return", `
frontend $n
  bind "$l"
  http-request return status 200 content-type text/plain string "hello" if { path /ok }
  http-request return status 404 if { path /no }
  default_backend $n-b
backend $n-b
  server s $x
`, same(get("/ok"), get("/no"), get("/n/1"))},
	{"return-back", `
frontend $n
  bind "$l"
  default_backend $n-b
backend $n-b
  http-request return status 200 content-type text/plain string "hello" if { path /ok }
  http-request deny if { path /deny }
  http-request redirect location /x if { path /redir }
  server s $x
`, same(get("/ok"), get("/deny"), get("/redir"), get("/n/1"))},
	{"deny", `
frontend $n
  bind "$l"
  http-request deny if { path /deny }
  http-request deny deny_status 429 if { path /much }
  http-request reject if { path /reject }
  http-request silent-drop if { path /drop }
  default_backend $n-b
backend $n-b
  server s $x
`, one(get("/deny"), get("/much"), get("/reject"), get("/drop"))},
	{"deny-listen", `
listen $n
  bind "$l"
  http-request deny if { path /deny }
  http-request return status 200 if { path /ok }
  server s $x
`, one(get("/deny"), get("/ok"))},
	{"tarpit", `
frontend $n
  bind "$l"
  timeout tarpit 100ms
  http-request tarpit if { path /t }
  default_backend $n-b
backend $n-b
  server s $x
`, one(get("/t"))},
	{"auth", `
frontend $n
  bind "$l"
  http-request auth realm x unless FALSE
  default_backend $n-b
backend $n-b
  server s $x
`, one(get("/t"))},
	{"redirect", `
frontend $n
  bind "$l"
  redirect location /other if { path /a }
  redirect prefix http://x code 301 if { path /b }
  default_backend $n-b
backend $n-b
  server s $x
`, same(get("/a"), get("/b"))},
	{"redir-server", `
listen $n
  bind "$l"
  server s $x redir http://other
`, same(get("/a"), get("/b"))},
	{"monitor", `
frontend $n
  bind "$l"
  monitor-uri /mon
  default_backend $n-b
backend $n-b
  server s $x
`, same(get("/mon"), get("/mon"))},
	{"tcp-content-reject", `
frontend $n
  bind "$l"
  tcp-request content reject if { path /r }
  default_backend $n-b
backend $n-b
  tcp-request content reject if { path /rb }
  server s $x
`, one(get("/r"), get("/rb"), get("/n/1"))},
	{"conn-reject", `
frontend $n
  bind "$l"
  option socket-stats
  tcp-request connection reject
  default_backend $n-b
backend $n-b
  server s $x
`, one(get("/r"), get("/rb"))},
	{"sess-reject", `
frontend $n
  bind "$l"
  option socket-stats
  tcp-request session reject
  default_backend $n-b
backend $n-b
  server s $x
`, one(get("/r"))},
	{"socket-stats", `
frontend $n
  bind "$l" name one
  option socket-stats
  http-request deny if { path /deny }
  default_backend $n-b
backend $n-b
  server s $x
`, one(get("/n/10"), get("/deny"), "BAD\r\n\r\n")},
	{"response-deny", `
frontend $n
  bind "$l"
  http-response deny if { status 201 }
  default_backend $n-b
backend $n-b
  http-response deny if { status 202 }
  http-response return status 503 if { status 203 }
  tcp-response content reject if { status 205 }
  server s $x
`, one(get("/s/201"), get("/s/202"), get("/s/203"), get("/s/205"))},
	{"no-backend", `
frontend $n
  bind "$l"
`, one(get("/a"))},
	{"no-server", `
frontend $n
  bind "$l"
  default_backend $n-b
backend $n-b
`, one(get("/a"))},
	{"disabled", `
frontend $n
  bind "$l"
  default_backend $n-b
backend $n-b
  server s $x disabled
`, one(get("/a"))},
	{"refused", `
frontend $n
  bind "$l"
  default_backend $n-b
backend $n-b
  server s $dead
`, one(get("/a"))},
	{"retried", `
frontend $n
  bind "$l"
  default_backend $n-b
backend $n-b
  retries 2
  timeout connect 50ms
  server s $dead
`, one(get("/a"))},
	{"redispatched", `
frontend $n
  bind "$l"
  default_backend $n-b
backend $n-b
  retries 2
  option redispatch 1
  server s1 $dead
  server s2 $x
`, one(get("/n/1"), get("/n/2"))},
	{"redispatched-all", `
frontend $n
  bind "$l"
  default_backend $n-b
backend $n-b
  retries 3
  option redispatch 1
  server s1 $dead
  server s2 $dead
`, one(get("/n/1"))},
	{"retry-on", `
frontend $n
  bind "$l"
  default_backend $n-b
backend $n-b
  retries 2
  retry-on all-retryable-errors
  server s $x
`, one(get("/close"), get("/junk"), get("/s/503"), "POST /s/500 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n12345")},
	{"closed", split, one(get("/close"))},
	{"reset", split, one(get("/reset"))},
	{"junk", split, one(get("/junk"))},
	{"cut", split, one(get("/cut"))},
	{"cutchunk", split, one(get("/cutchunk"))},
	{"badchunk", split, one(get("/badchunk"))},
	{"server-late", `
frontend $n
  bind "$l"
  default_backend $n-b
backend $n-b
  timeout server 200ms
  server s $x
`, one(get("/slow"))},
	{"abort", `
listen $n
  bind "$l"
  option abortonclose
  server s $x
`, func(c *client) {
		n := c.dial()
		n.put(get("/slow"))
		c.seen("abort", "req_tot", "1")
		n.reset()
	}},
	{"abort-close", `
listen $n
  bind "$l"
  option abortonclose
  server s $x
`, func(c *client) {
		n := c.dial()
		n.put(get("/slow"))
		c.seen("abort-close", "req_tot", "1")
		n.Close()
	}},
	{"abort-post", split, func(c *client) {
		n := c.dial()
		n.put("POST /n/1 HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n12345")
		c.seen("abort-post-b", "scur", "1")
		n.Close()
	}},
	{"abort-data", split, func(c *client) {
		n := c.dial()
		n.put(get("/n/9000000"))
		_, _ = io.ReadFull(n.r, make([]byte, 100))
		n.reset()
	}},
	{"bad-body", split, one("POST /n/1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")},
	{"queue", `
frontend $n
  bind "$l"
  default_backend $n-b
backend $n-b
  timeout queue 10s
  timeout server 10s
  server s $x maxconn 1
`, func(c *client) {
		var list []*conn
		for i := range 3 {
			n := c.dial()
			n.put(get("/wait"))
			c.seen("queue-b", "scur", fmt.Sprint(i+1))
			list = append(list, n)
		}
		c.origin.let()
		for _, n := range list {
			n.get(false)
			n.Close()
		}
	}},
	{"queue-late", `
frontend $n
  bind "$l"
  default_backend $n-b
backend $n-b
  timeout queue 200ms
  timeout server 10s
  server s $x maxconn 1
`, func(c *client) {
		n := c.dial()
		defer n.Close()
		n.put(get("/wait"))
		c.seen("queue-late-b", "scur", "1")
		c.one(get("/n/1"))
		c.origin.let()
		n.get(false)
	}},
	{"queue-server", `
frontend $n
  bind "$l"
  default_backend $n-b
backend $n-b
  timeout queue 10s
  timeout server 10s
  option prefer-last-server
  server s1 $x maxconn 1
`, func(c *client) {
		var list []*conn
		for i := range 3 {
			n := c.dial()
			n.put(get("/wait"))
			c.seen("queue-server-b", "scur", fmt.Sprint(i+1))
			list = append(list, n)
		}
		c.origin.let()
		for _, n := range list {
			n.get(false)
			n.Close()
		}
	}},
	{"reuse", `
listen $n
  bind "$l"
  http-reuse always
  server s $x
`, one(get("/n/1"), get("/n/2"), get("/n/3"))},
	{"reuse-never", `
listen $n
  bind "$l"
  http-reuse never
  server s $x
`, same(get("/n/1"), get("/n/2"), get("/n/3"))},
	{"server-close", `
listen $n
  bind "$l"
  option http-server-close
  server s $x
`, same(get("/n/1"), get("/n/2"))},
	{"forwardfor", `
listen $n
  bind "$l"
  option forwardfor
  http-request set-header x-more things
  http-response set-header x-back else
  server s $x
`, one(get("/n/1"))},
	{"upgrade", split, func(c *client) {
		n := c.dial()
		defer n.Close()
		n.put("GET /upgrade HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: raw\r\n\r\n")
		n.get(false)
		_, _ = io.ReadFull(n.r, make([]byte, len("from the server")))
		n.put("from the client")
		_ = n.closeWrite()
		n.rest()
	}},
	{"tcp", `
frontend $n
  mode tcp
  bind "$l"
  default_backend $n-b
backend $n-b
  mode tcp
  server s $x
`, same(get("/n/100"), get("/n/200"))},
	{"tcp-listen", `
listen $n
  mode tcp
  bind "$l"
  server s $x
`, one(get("/n/100"), get("/n/200"))},
	{"tcp-refused", `
listen $n
  mode tcp
  bind "$l"
  server s $dead
`, one(get("/n/100"))},
	{"tcp-retried", `
listen $n
  mode tcp
  bind "$l"
  retries 2
  timeout connect 50ms
  server s $dead
`, one(get("/n/100"))},
	{"tcp-deny", `
listen $n
  mode tcp
  bind "$l"
  tcp-request content reject
  server s $x
`, one(get("/n/100"))},
	{"tcp-abort", `
listen $n
  mode tcp
  bind "$l"
  server s $x
`, func(c *client) {
		n := c.dial()
		n.put(get("/slow"))
		c.seen("tcp-abort", "scur", "1")
		n.reset()
	}},
	{"tcp-reset", `
listen $n
  mode tcp
  bind "$l"
  server s $x
`, one(get("/reset"))},
	{"tcp-late", `
listen $n
  mode tcp
  bind "$l"
  timeout server 200ms
  timeout client 200ms
  server s $x
`, one(get("/slow"))},
	{"upgraded", `
frontend $n
  mode tcp
  bind "$l"
  default_backend $n-b
backend $n-b
  mode http
  server s $x
`, same(get("/n/100"), get("/n/200"))},
	{"use-server", `
listen $n
  bind "$l"
  use-server s2 if { path /n/7 }
  server s1 $x
  server s2 $x
`, one(get("/n/7"), get("/n/7"), get("/n/1"))},
	{"use-backend", `
frontend $n
  bind "$l"
  use_backend $n-2 if { path /n/7 }
  default_backend $n-1
backend $n-1
  server s $x
backend $n-2
  server s $x
`, same(get("/n/7"), get("/n/1"), get("/n/7"))},
	{"backup", `
listen $n
  bind "$l"
  server s1 $x disabled
  server s2 $x backup
`, one(get("/n/7"))},
	{"interim", `
listen $n
  bind "$l"
  http-request early-hint link </a>
  server s $x
`, one(get("/n/7"))},
	{"expect", listenHTTP, func(c *client) {
		n := c.dial()
		defer n.Close()
		n.do("POST /n/5 HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n12345")
	}},
	{"pipelined", split, func(c *client) {
		n := c.dial()
		defer n.Close()
		n.put(get("/n/1") + get("/n/2") + get("/n/3"))
		n.get(false)
		n.get(false)
		n.get(false)
	}},
	{"errorfile", `
frontend $n
  bind "$l"
  http-error status 503 content-type text/plain string "sorry" hdr x-a b
  default_backend $n-b
backend $n-b
`, one(get("/a"))},
	{"after-response", `
frontend $n
  bind "$l"
  http-after-response set-header x-after 12345
  http-request return status 200 if { path /ok }
  default_backend $n-b
backend $n-b
  server s $x
`, one(get("/ok"), get("/n/5"))},
	{"close-header", split, one("GET /n/5 HTTP/1.1\r\nHost: a\r\nConnection: close\r\nKeep-Alive: 300\r\n\r\n")},
	{"absolute", split, one("GET http://a.example/n/5 HTTP/1.1\r\nHost: a.example\r\n\r\n")},
	{"options", split, one("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n")},
	{"cookie-dup", split, one("GET /n/5 HTTP/1.1\r\nHost: a\r\nCookie: a=b; c=d\r\nCookie: e=f\r\n\r\n")},
}

// seen waits until a proxy's row (its backend's where it has both) shows a value.
func (c *client) seen(proxy, column, value string) {
	ok := wait.Until(patience, func() bool {
		rows, _, err := (&program{sock: c.sock}).stat()
		if err != nil {
			return false
		}
		for _, r := range rows {
			if r["pxname"] == proxy && (r["svname"] == "BACKEND" || r["svname"] == "FRONTEND") && r[column] == value {
				return true
			}
		}
		return false
	})
	if !ok {
		c.fail(fmt.Errorf("%s never was %s=%s", proxy, column, value))
	}
}

// closeWrite ends the sending side.
func (n *conn) closeWrite() error {
	if t, ok := n.Conn.(interface{ CloseWrite() error }); ok {
		return t.CloseWrite()
	}
	return nil
}
