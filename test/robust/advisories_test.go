package robust

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"weir/test/scenario"
	"weir/test/wait"
)

// The tests of this file are named after the rows of the project's table of public advisories, like those of the
// codec, and show what the whole binary does.

const smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"

func TestAdvisory06TinyChunksWithLongExtensions(t *testing.T) {
	advisory(t, nil, func(s *scene) {
		weirOnly(s, s.p.target, "the reference passes extensions of any number")
		c := s.p.dial("l").send("POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
		chunk := strings.Repeat("1;"+strings.Repeat("x", 8000)+"\r\na\r\n", 8)
		sent := 0
		c.SetWriteDeadline(time.Now().Add(bound))
		for sent < 100<<20 {
			n, err := io.WriteString(c.Conn, chunk)
			sent += n
			if err != nil {
				break
			}
		}
		if sent > 16<<20 { // what the kernel's buffers hold
			s.Errorf("took %d MB", sent>>20)
		}
		if n := s.o.receivedTotal(); n > 64<<10 {
			s.Errorf("the origin got %d bytes", n)
		}
		s.p.wantLog(c.port, "400 P[HD]--")
		// Tiny chunks alone are no crime.
		c = s.p.dial("l").send("POST /y HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1\r\na\r\n", 20000) + "0\r\n\r\n")
		c.want("POST", "200")
	})
}

func TestAdvisory08ChunksInHTTP10(t *testing.T) {
	advisory(t, nil, func(s *scene) {
		c, _ := s.exchange("POST /x HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"+smuggled, "200")
		c.wantClose()
		s.only("POST /x HTTP/1.0")
	})
}

func TestAdvisory09BothLengths(t *testing.T) {
	advisory(t, nil, func(s *scene) {
		c, _ := s.exchange("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"+smuggled, "200")
		c.wantClose()
		s.only("POST /x HTTP/1.1")
		if got := string(s.o.received()); strings.Contains(got, "content-length") {
			s.Errorf("both lengths are forwarded: %q", got)
		}
	})
}

func TestAdvisory11BodyOfALocalAnswer(t *testing.T) {
	c := parts{
		"FRONTEND": "use_backend none if { path_beg /none }\n\tuse_backend moved if { path_beg /moved }\n\toption http-restrict-req-hdr-names reject\n\tmonitor-uri /alive",
		"MORE":     "backend none\nbackend moved\n\terrorloc303 503 /there\n",
	}
	advisory(t, c, func(s *scene) {
		for _, x := range []struct{ target, field, status string }{
			{"/none", "", "503"}, {"/moved", "", "303"}, {"/r", "X_Y: z\r\n", "403"}, {"/alive", "", "200"},
		} {
			for _, body := range []string{"", "Expect: 100-continue\r\n"} {
				c := s.p.dial("l")
				c.send(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: a\r\n%s%sContent-Length: %d\r\n\r\n%s", x.target, x.field, body, len(smuggled), smuggled))
				c.send("GET /after HTTP/1.1\r\nHost: a\r\n\r\n")
				a, err := c.answer("POST")
				if err == nil && a.status == "100" {
					a, err = c.answer("POST")
				}
				if err != nil || a.status != x.status {
					s.Errorf("%s: %s %q %v, want %s", x.target, a.status, a.head, err, x.status)
				}
				// Either the connection is over, or exactly the body was skipped.
				if a, err = c.answer("GET"); err == nil && a.body != "/after" {
					s.Errorf("%s: the next answer is %q %q", x.target, a.head, a.body)
				}
				c.Close()
			}
		}
		if strings.Contains(string(s.o.received()), "smuggled") {
			s.Errorf("the body was served: %q", s.o.received())
		}
	})
}

func TestAdvisory13ExpectationUnanswered(t *testing.T) {
	advisory(t, nil, func(s *scene) {
		for _, status := range []string{"200 OK", "417 No", "403 No"} {
			used := s.remember("/x", func(x *exchange) { // a final answer; the body never comes
				x.read = true
				x.send("HTTP/1.1 " + status + "\r\nContent-Length: 0\r\n\r\n")
			})
			c, _ := s.exchange(fmt.Sprintf("POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", len(smuggled)), status[:3])
			s.p.victim("l")
			c.Close()
			s.cutOff(used)
		}
		// What is no expectation of 100 is only passed on.
		s.o.reset()
		s.o.on(nil)
		_, a := s.exchange("POST /y HTTP/1.1\r\nHost: a\r\nExpect: y 100-continue\r\nContent-Length: 2\r\n\r\nab", "200")
		if got := string(s.o.received()); a.body != "/y" || !strings.Contains(got, "expect: y 100-continue") {
			s.Errorf("%q at the origin, body %q", got, a.body)
		}
	})
}

func TestAdvisory16EarlyAnswerWhileTheClientLeaves(t *testing.T) {
	advisory(t, nil, func(s *scene) {
		s.o.once("/x", func(x *exchange) {
			x.read = true
			x.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + strings.Repeat("x", x.req*1000))
			x.Close()
		})
		for i := range 60 {
			c := s.p.dial("l").send("POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 100000\r\n\r\n")
			if i%3 > 0 {
				c.send(strings.Repeat("y", i*100))
			}
			if i%2 == 0 {
				c.r.Peek(1)
			}
			c.reset()
		}
	})
}

func TestAdvisory17BodyThatNeverComes(t *testing.T) {
	c := parts{
		"DEFAULTS": "timeout http-request 300ms",
		"FRONTEND": "use_backend none if { path_beg /none }",
		"MORE":     "backend none\n",
	}
	advisory(t, c, func(s *scene) {
		weirOnly(s, s.p.target, "there it is timeout client")
		since := time.Now()
		c, _ := s.exchange("POST /none HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n", "503")
		c.wantClose()
		if d := time.Since(since); d > 3*time.Second {
			s.Errorf("freed after %v", d)
		}
	})
}

func TestAdvisory18BodyOfAnotherLength(t *testing.T) {
	advisory(t, nil, func(s *scene) {
		for _, end := range []string{"close", "reset", "half"} {
			used := s.remember("/short", func(*exchange) {})
			c := s.p.dial("l").send("POST /short HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n" + smuggled)
			if !wait.Until(bound, func() bool { return strings.Contains(string(s.o.received()), "/smuggled") }) {
				s.Error("the body did not arrive")
			}
			switch end {
			case "close":
				c.Close()
			case "reset":
				c.reset()
			case "half":
				c.CloseWrite()
				c.rest()
			}
			s.cutOff(used)
			s.p.victim("l")
			s.o.reset()
		}
		s.o.on(nil)
		c, _ := s.exchange("POST /long HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n\r\nGET", "200")
		c.send(" /next HTTP/1.1\r\nHost: a\r\n\r\n")
		if a := c.want("GET", "200"); a.body != "/next" {
			s.Errorf("body %q", a.body)
		}
		s.only("POST /long HTTP/1.1", "GET /next HTTP/1.1")
	})
}

func TestAdvisory21BytesBehindAnAnswer(t *testing.T) {
	const more = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
	advisory(t, nil, func(s *scene) {
		for _, first := range []string{
			"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
			"HTTP/1.1 204 No\r\n\r\n",
		} {
			used := s.remember("/x", func(x *exchange) { x.send(first + more) })
			c, a := s.exchange("GET /x HTTP/1.1\r\nHost: a\r\n\r\n", first[9:12])
			if a.status == "200" && a.body != "ok" {
				s.Errorf("body %q", a.body)
			}
			if a := c.get("/again"); a.body != "/again" {
				s.Errorf("the next answer is %q", a.body)
			}
			s.p.victim("l")
			s.cutOff(used)
		}
		// Bytes that come later, on a connection that rests.
		late := make(chan *exchange, 1)
		s.o.once("/late", func(x *exchange) {
			echo(x)
			late <- x
		})
		s.exchange("GET /late HTTP/1.1\r\nHost: a\r\n\r\n", "200")
		x := <-late
		x.send(more)
		s.p.victim("l")
		if !s.o.closed(x.conn) {
			s.Error("a connection with unasked bytes is kept")
		}
	})
}

func TestAdvisory22DataAfterReset(t *testing.T) {
	advisory(t, nil, func(s *scene) {
		gone := make(chan bool)
		done := make(chan bool)
		s.o.once("/x", func(x *exchange) {
			x.send("HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n" + strings.Repeat("x", 5000))
			<-gone
			for range 50 {
				x.send(strings.Repeat("x", 10000))
			}
			done <- true
		})
		c := s.p.dial("l").send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n")
		c.r.Peek(100)
		c.reset()
		gone <- true
		<-done
		s.p.wantLog(c.port, "200 [CS]D--")
		// The server resets, the client goes on sending.
		s.o.once("/y", func(x *exchange) {
			x.reset()
		})
		c = s.p.dial("l").send("POST /y HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\n")
		for range 50 {
			c.send(strings.Repeat("y", 10000))
		}
		if rest, _ := c.rest(); len(rest) > 0 && !strings.HasPrefix(string(rest), "HTTP/1.1 502 ") {
			s.Errorf("got %.200q", rest)
		}
		s.p.wantLog(c.port, "502 SH--")
	})
}

func TestAdvisory23InterimAnswerAndNoMore(t *testing.T) {
	advisory(t, nil, func(s *scene) {
		for _, interim := range []string{"100 Continue", "103 Early"} {
			s.o.once("/x", func(x *exchange) {
				x.send("HTTP/1.1 " + interim + "\r\n\r\n")
				x.Close()
			})
			c, _ := s.exchange("GET /x HTTP/1.1\r\nHost: a\r\n\r\n", interim[:3])
			if a, err := c.answer("GET"); err == nil && a.status != "502" {
				s.Errorf("then %q", a.head)
			}
			c.Close()
			s.p.wantLog(c.port, "502 SH--|-1 SH--")
		}
		// Endless ones end too.
		s.o.once("/y", func(x *exchange) {
			for range 2000 {
				x.send("HTTP/1.1 103 Early\r\nA: " + strings.Repeat("a", 1000) + "\r\n\r\n")
			}
			x.Close()
		})
		c := s.p.dial("l").send("GET /y HTTP/1.1\r\nHost: a\r\n\r\n")
		c.rest()
	})
}

func TestAdvisory24BodiesWhereNoneBelong(t *testing.T) {
	const evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
	advisory(t, nil, func(s *scene) {
		for _, x := range []struct{ method, answer, status string }{
			{"GET", "HTTP/1.1 204 No\r\nContent-Length: 45\r\n\r\n" + evil, "204"},
			{"GET", "HTTP/1.1 304 No\r\nContent-Length: 45\r\n\r\n" + evil, "304"},
			{"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 45\r\n\r\n" + evil, "200"},
			{"HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + evil, "200"},
			{"GET", "HTTP/1.1 2000 OK\r\nContent-Length: 45\r\n\r\n" + evil, "502"},
			{"GET", "HTTP/1.1 101 Up\r\nContent-Length: 45\r\n\r\n" + evil, "502"},
		} {
			used := s.remember("/x", func(e *exchange) { e.send(x.answer) })
			c, a := s.exchange(x.method+" /x HTTP/1.1\r\nHost: a\r\n\r\n", x.status)
			if strings.Contains(a.body, "evil") {
				s.Errorf("%q: body %q", x.answer, a.body)
			}
			if a := c.get("/again"); a.body != "/again" {
				s.Errorf("%q: the next answer is %q", x.answer, a.body)
			}
			s.p.victim("l")
			s.cutOff(used)
		}
	})
}

func TestAdvisory40NoHost(t *testing.T) {
	c := parts{"DEFAULTS": "option forwardfor", "BACKEND": "option forwarded proto by for host", "FRONTEND": "use_backend h if { hdr(host) secret }", "MORE": "backend h\n"}
	advisory(t, c, func(s *scene) {
		s.exchange("GET /x HTTP/1.1\r\n\r\n", "200")
		s.exchange("GET /y HTTP/1.0\r\n\r\n", "200")
		s.exchange("GET /z HTTP/1.1\r\nHost:\r\n\r\n", "200")
		s.only("GET /x HTTP/1.1", "GET /y HTTP/1.0", "GET /z HTTP/1.1")
	})
}

// admin has a backend that a rule guards; everything else goes to the open one.
func admin(rule string) parts {
	return parts{"FRONTEND": "use_backend admin if " + rule, "MORE": "backend admin\n\terrorloc303 503 /denied\n"}
}

// TestAdvisory42NoHiddenNormalisation and the next one: rule and server see the same bytes.
func TestAdvisory42NoHiddenNormalisation(t *testing.T) {
	advisory(t, admin("{ path_beg /admin }"), func(s *scene) {
		s.exchange("GET /admin/x HTTP/1.1\r\nHost: a\r\n\r\n", "303")
		for _, path := range []string{"/public/../admin", "/./admin", "/public/./..//admin/.", "//admin", "/x/../../admin"} {
			if _, a := s.exchange("GET "+path+" HTTP/1.1\r\nHost: a\r\n\r\n", "200"); a.body != path {
				s.Errorf("%s is %q at the server", path, a.body)
			}
		}
	})
}

func TestAdvisory43EscapesAreKept(t *testing.T) {
	advisory(t, admin("{ path_beg /admin }"), func(s *scene) {
		for _, path := range []string{"/%61dmin", "/%2Fadmin", "/%2e%2e/admin", "/x%5c..%5cadmin", "/%00admin", "/%", "/%zz", "/%2", "/a%0d%0aX:%20y", "/ADMIN"} {
			if _, a := s.exchange("GET "+path+" HTTP/1.1\r\nHost: a\r\n\r\n", "200"); a.body != path {
				s.Errorf("%s is %q at the server", path, a.body)
			}
		}
	})
}

func TestAdvisory45CaseOfEscapes(t *testing.T) {
	advisory(t, admin("{ path_beg -i /Admin%2f /other }"), func(s *scene) {
		for path, status := range map[string]string{
			"/admin%2Fx": "303", "/ADMIN%2fx": "303", "/OTHER": "303", "/admin/x": "200", "/adm%69n%2f": "200",
		} {
			s.exchange("GET "+path+" HTTP/1.1\r\nHost: a\r\n\r\n", status)
		}
	})
}

func TestAdvisory46ListsOfAnySize(t *testing.T) {
	each(t, func(t *testing.T, target *scenario.Target) {
		for _, size := range []int{1, 100, 101, 10000} {
			var acl strings.Builder
			for i := range size {
				if i%50 == 0 {
					acl.WriteString("\n\tacl listed hdr(host) -i")
				}
				fmt.Fprintf(&acl, " Host%d.example", i)
			}
			o := newOrigin(t)
			c := parts{"FRONTEND": acl.String() + "\n\tuse_backend admin if listed", "MORE": "backend admin\n\terrorloc303 503 /denied\n"}
			s := &scene{T: t, o: o, p: start(t, setup{target: target, config: c.config(), vars: map[string]string{"s1": o.addr}})}
			for host, status := range map[string]string{
				"host0.example": "303", "HOST0.EXAMPLE": "303", fmt.Sprintf("hOst%d.example", size-1): "303",
				fmt.Sprintf("host%d.example", size): "200", "host0.example.": "200", "xhost0.example": "200", "host0.exampl": "200",
			} {
				s.exchange("GET / HTTP/1.1\r\nHost: "+host+"\r\n\r\n", status)
			}
			s.p.victim("l")
		}
	})
}

func TestAdvisory48QueriesAreKept(t *testing.T) {
	advisory(t, admin("{ path /x }"), func(s *scene) {
		s.exchange("GET /x?a=b HTTP/1.1\r\nHost: a\r\n\r\n", "303")
		for _, query := range []string{"?", "??", "?a;b=c;d", "?%", "?%zz&&&=&a", "?a=1&a=2&A=3", "?" + strings.Repeat("a=&", 5000), "?x[]=\"'", "?a=/../x"} {
			if _, a := s.exchange("GET /q"+query+" HTTP/1.1\r\nHost: a\r\n\r\n", "200"); a.body != "/q"+query {
				s.Errorf("%.60q is %.60q at the server", query, a.body)
			}
		}
	})
}

func TestAdvisory49MappedSource(t *testing.T) {
	each(t, func(t *testing.T, target *scenario.Target) {
		o := newOrigin(t)
		f, addr := mappedListener(t)
		c := admin("{ src 127.0.0.0/8 }")
		c["MORE"] += "frontend mapped\n\tbind \"fd@$FILE0\"\n\tuse_backend b if { src 127.0.0.0/8 }\n"
		p := start(t, setup{target: target, config: c.config(), vars: map[string]string{"s1": o.addr}, files: []*os.File{f}})
		p.addr["mapped"] = addr
		if a := p.dial("l").get("/x"); a.status != "303" {
			t.Errorf("plain address: %s", a.status)
		}
		p.victim("mapped")
		p.settle(o)
	})
}

func TestAdvisory50NoSecondExpansion(t *testing.T) {
	advisory(t, parts{"DEFAULTS": "option forwardfor header X-Src\n\toption forwarded"}, func(s *scene) {
		const path = "/%[env(HOME)]%{+Q}o\\1$HOME${HOME}%ci"
		c, a := s.exchange("GET "+path+" HTTP/1.1\r\nHost: a\r\nX-Src: %[src]\r\n\r\n", "200")
		if a.body != path {
			s.Errorf("%q at the server", a.body)
		}
		if l := s.p.logOf(c.port, 1)[0]; !strings.Contains(l.request, "%[env(HOME)]") || !strings.Contains(l.request, "$HOME") {
			s.Errorf("logged %q", l.raw)
		}
	})
}

func TestAdvisory51EachLineOfAField(t *testing.T) {
	advisory(t, admin("{ hdr(X-Role) -i root }"), func(s *scene) {
		for fields, status := range map[string]string{
			"X-Role: root\r\n": "303", "X-Role: root\r\nx-role: user\r\n": "303",
			"X-Role: user, Root\r\n": "303",
			"X-Role: user\r\n":       "200", "X-Role: rooter\r\n": "200", "X_Role: root\r\n": "200", "X-Role:\r\n root\r\n": "303",
		} {
			if _, a := s.exchange("GET / HTTP/1.1\r\nHost: a\r\n"+fields+"\r\n", status); a.status != status {
				s.Errorf("fields %q", fields)
			}
		}
	})
}

func TestAdvisory52ConnectionNamesAField(t *testing.T) {
	advisory(t, parts{"DEFAULTS": "option forwardfor"}, func(s *scene) {
		for _, conn := range []string{"close, X-Forwarded-For", "x-forwarded-for", "X-FORWARDED-FOR, keep-alive", ""} {
			s.o.reset()
			s.exchange("GET / HTTP/1.1\r\nHost: a\r\nConnection: "+conn+"\r\nConnection: x-forwarded-for\r\n\r\n", "200")
			if got := string(s.o.received()); !strings.Contains(strings.ToLower(got), "\r\nx-forwarded-for: 127.0.0.1\r\n") {
				s.Errorf("Connection: %s: %q", conn, got)
			}
		}
	})
}

func TestAdvisory54TrailersStayTrailers(t *testing.T) {
	c := admin("{ hdr(authorization) secret }")
	c["DEFAULTS"] = "option forwardfor if-none"
	advisory(t, c, func(s *scene) {
		s.exchange("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"+
			"X-Forwarded-For: 9.9.9.9\r\nAuthorization: secret\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\nHost: b\r\n\r\n", "200")
		head, body, _ := strings.Cut(strings.ToLower(string(s.o.received())), "\r\n\r\n")
		if !strings.Contains(head, "x-forwarded-for: 127.0.0.1") || strings.Contains(head, "secret") || strings.Contains(head, "9.9.9.9") || strings.Contains(head, "host: b") {
			s.Errorf("head %q", head)
		}
		if !strings.Contains(body, "authorization: secret") {
			s.Errorf("body %q", body)
		}
	})
}

func TestAdvisory57ForwardedForIsAdded(t *testing.T) {
	advisory(t, parts{"DEFAULTS": "option forwardfor"}, func(s *scene) {
		s.exchange("GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 9.9.9.9\r\n\r\n", "200")
		got := strings.ToLower(string(s.o.received()))
		theirs, ours := strings.Index(got, "x-forwarded-for: 9.9.9.9\r\n"), strings.Index(got, "x-forwarded-for: 127.0.0.1\r\n")
		if theirs < 0 || ours < theirs {
			s.Errorf("%q", got)
		}
	})
}

const upgrade = "GET /up HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n"

func TestAdvisory59UpgradeRefused(t *testing.T) {
	advisory(t, nil, func(s *scene) {
		c, a := s.exchange(upgrade, "200")
		if a.body != "/up" {
			s.Errorf("body %q", a.body)
		}
		if a := c.get("/next"); a.body != "/next" {
			s.Errorf("then %q", a.body)
		}
		s.only("GET /up HTTP/1.1", "GET /next HTTP/1.1")
	})
}

func TestAdvisory60BytesBehindAnUpgrade(t *testing.T) {
	advisory(t, nil, func(s *scene) {
		early := make(chan string, 1)
		s.o.once("/up", func(x *exchange) {
			x.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
			b, _ := x.r.Peek(1)
			early <- string(b)
			x.SetReadDeadline(time.Time{})
			echo(x)
		})
		c, _ := s.exchange(upgrade+"GET /next HTTP/1.1\r\nHost: a\r\n\r\n", "200")
		if b := <-early; b != "" {
			s.Errorf("%q was sent before the answer", b)
		}
		if a := c.want("GET", "200"); a.body != "/next" {
			s.Errorf("then %q", a.body)
		}
		s.only("GET /up HTTP/1.1", "GET /next HTTP/1.1")
	})
}

func TestAdvisory61EarlyDataOfConnect(t *testing.T) {
	advisory(t, nil, func(s *scene) {
		for _, status := range []string{"200", "403"} {
			got := make(chan string, 1)
			s.o.on(func(x *exchange) {
				if x.method != "CONNECT" {
					echo(x)
					return
				}
				x.SetReadDeadline(time.Now().Add(bound))
				if status != "200" {
					x.send("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n")
					return
				}
				x.send("HTTP/1.1 200 OK\r\n\r\n")
				text := make([]byte, 5)
				io.ReadFull(x.r, text)
				got <- string(text)
				x.Close()
			})
			c := s.p.dial("l").send("CONNECT b:443 HTTP/1.1\r\nHost: b:443\r\n\r\nhello")
			if text, err := c.r.ReadString('\n'); err != nil || !strings.HasPrefix(text, "HTTP/1.1 "+status) {
				s.Errorf("got %q %v, want %s", text, err, status)
			}
			if status == "200" {
				if text := <-got; text != "hello" {
					s.Errorf("the tunnel brought %q", text)
				}
			}
			c.Close()
		}
	})
}

func TestAdvisory62NoHTTP2Upgrade(t *testing.T) {
	advisory(t, nil, func(s *scene) {
		for _, fields := range []string{
			"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n",
			"Connection: Upgrade\r\nConnection: HTTP2-Settings\r\nUpgrade: h2c\r\nUpgrade: H2C\r\n",
			"Connection: upgrade\r\nUpgrade: foo, h2c\r\n",
		} {
			s.o.reset()
			c, a := s.exchange("GET /h2 HTTP/1.1\r\nHost: a\r\n"+fields+"\r\n", "200")
			if got := strings.ToLower(string(s.o.received())); strings.Contains(got, "h2c") || a.body != "/h2" {
				s.Errorf("%q: %q", fields, got)
			}
			if a := c.get("/next"); a.body != "/next" {
				s.Errorf("%q: then %q", fields, a.body)
			}
		}
	})
}

func TestAdvisory63HalfClosedTunnel(t *testing.T) {
	const size = 3 << 20
	advisory(t, parts{"DEFAULTS": "timeout tunnel 5s\n\ttimeout client-fin 400ms\n\ttimeout server-fin 400ms"}, func(s *scene) {
		ended := make(chan string, 1)
		s.o.once("/up", func(x *exchange) {
			x.read = true
			x.send("HTTP/1.1 101 Up\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n")
			b, _ := io.ReadAll(x.r) // up to the client's half-close
			ended <- string(b)
			x.send(strings.Repeat("x", size))
			x.Close()
		})
		c := s.p.dial("l").send(upgrade)
		c.want("GET", "101")
		c.send("hello")
		c.CloseWrite()
		if b := <-ended; b != "hello" {
			s.Errorf("the server got %q", b)
		}
		if b, err := c.rest(); len(b) != size {
			s.Errorf("%d bytes of %d after the half-close, %v", len(b), size, err)
		}
		// The other side is closed, and this one never closes: client-fin ends it.
		s.o.once("/up", func(x *exchange) {
			x.read = true
			x.send("HTTP/1.1 101 Up\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\nbye")
			x.Close()
		})
		since := time.Now()
		c = s.p.dial("l").send(upgrade)
		c.want("GET", "101")
		if b, err := c.rest(); string(b) != "bye" {
			s.Errorf("%q %v", b, err)
		}
		s.p.logOf(c.port, 1)
		if d := time.Since(since); d > 3*time.Second {
			s.Errorf("ended after %v", d)
		}
	})
}

func TestAdvisory86NumberOfFields(t *testing.T) {
	advisory(t, nil, func(s *scene) {
		for _, x := range []struct {
			n      int
			status string
		}{{98, "200"}, {99, "200"}, {100, "200"}, {101, "400|431"}, {102, "400|431"}, {3000, "400|431"}, {10000, "400|431"}} {
			c := s.p.dial("l").send("GET / HTTP/1.1\r\nHost: a\r\n" + strings.Repeat("a: b\r\n", x.n-1) + "\r\n")
			a, err := c.answer("GET")
			if err != nil || !strings.Contains(x.status, a.status) || a.status == "" {
				s.Errorf("%d fields: %s %v, want %s", x.n, a.status, err, x.status)
			}
			s.o.once("/many", func(e *exchange) {
				e.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n" + strings.Repeat("a: b\r\n", x.n-1) + "\r\n")
			})
			want := "502"
			if x.status == "200" {
				want = "200"
			}
			s.exchange("GET /many HTTP/1.1\r\nHost: a\r\n\r\n", want)
			s.o.on(nil)
		}
	})
}

func TestAdvisory87HeadOfMegabytes(t *testing.T) {
	advisory(t, nil, func(s *scene) {
		for _, head := range []string{"GET / HTTP/1.1\r\nA: " + strings.Repeat("a", 7<<20), "GET /" + strings.Repeat("a", 7<<20), strings.Repeat("\r\n", 1<<20), "GET / HTTP/1.1\r\n" + strings.Repeat("a:\r\n", 1<<20)} {
			c := s.p.dial("l")
			go c.send(head)
			b, err := c.rest()
			// The rest of the head is not read, so a reset may overtake the answer.
			if status := statusOf(b); err != nil || len(b) > 0 && status != "400" && status != "414" && status != "431" {
				s.Errorf("%.40q: %.100q %v", head, b, err)
			}
			s.p.wantLog(c.port, "4(00|14|31) PR--")
		}
		if n := s.o.receivedTotal(); n > 0 {
			s.Errorf("%d bytes were forwarded", n)
		}
	})
}

func TestAdvisory88CookieBomb(t *testing.T) {
	advisory(t, admin("{ hdr(cookie) x }"), func(s *scene) {
		s.o.reset()
		cookies := strings.Repeat("a=;", 4500)
		for range 100 {
			s.exchange("GET / HTTP/1.1\r\nHost: a\r\nCookie: "+cookies+"\r\n\r\n", "200")
		}
		if n := strings.Count(string(s.o.received()), cookies); n < 60 { // the record is bounded
			s.Errorf("%d cookie fields are as sent", n)
		}
	})
}

func TestAdvisory122OneLineStaysOneLine(t *testing.T) {
	advisory(t, nil, func(s *scene) {
		for target, want := range map[string]string{"/\x1b[31m": "#1B", "/a\"b": `#22`, "/\x80\xff": "#80#FF", "/\x7f": "#7F", "/%0d%0aX": "%0d%0aX"} {
			c := s.p.dial("l").send("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n")
			a, _ := c.answer("GET")
			l := s.p.logOf(c.port, 1)[0]
			if a.status == "200" && !strings.Contains(l.raw, want) || strings.ContainsAny(l.raw, "\x1b\r\x00") {
				s.Errorf("%q: %s, logged %q", target, a.status, l.raw)
			}
		}
	})
}

func TestAdvisory41RedirectFromThePath(t *testing.T) {
	each(t, func(t *testing.T, target *scenario.Target) {
		o := newOrigin(t)
		c := parts{"FRONTEND": "use_backend moved if { path_end /.. }", "MORE": "backend moved\n\tserver s1 ${s1} redir http://good.example\n"}
		p := start(t, setup{target: target, config: c.config(), vars: map[string]string{"s1": o.addr}})
		a := p.dial("l").get("//evil.example/..")
		if a.status != "302" || a.field("location") != "http://good.example//evil.example/.." {
			t.Errorf("%s %q", a.status, a.head)
		}
		p.victim("l")
		p.settle(o)
	})
}
