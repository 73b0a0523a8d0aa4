package robust

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/test/scenario"
)

// The tests of this file are rows of the table of advisories as rules see them: what a rule decided is compared with what
// the origin got. What is expected is what the reference does, unless a test says otherwise.

// ask sends a request on a connection of its own; it returns the answer and the head that the origin got, "" if none.
func (s *scene) ask(request string) (answer, string) {
	s.Helper()
	s.o.reset()
	c := s.p.dial("l").send(request)
	defer c.Close()
	method, _, _ := strings.Cut(request, " ")
	a, err := c.answer(method)
	if err != nil {
		s.Errorf("%.200q: %v", request, err)
	}
	head, _, _ := strings.Cut(string(s.o.received()), "\r\n\r\n")
	return a, head
}

// An outcome is what comes of a request: a status, and "field: value" lines that the origin (sees) or the client (gets)
// must have; a value of "-" is a field that is absent. target "" is no request at the origin.
type outcome struct {
	request string // "GET / HTTP/1.1" and fields, without the last empty line
	status  string
	target  string
	sees    string
	gets    string
}

func (s *scene) play(outcomes ...outcome) {
	s.Helper()
	for _, o := range outcomes {
		a, head := s.ask(strings.ReplaceAll(o.request, "\n", "\r\n") + "\r\n\r\n")
		_, target, _ := strings.Cut(head, " ")
		if target, _, _ = strings.Cut(target, "\r\n"); head != "" {
			target = target[:max(0, strings.LastIndexByte(target, ' '))]
		}
		if a.status != o.status || target != o.target {
			s.Errorf("%.200q: %s, the origin got %.200q; want %s and %.200q", o.request, a.status, target, o.status, o.target)
		}
		s.fields(o.request, "the origin sees", head, o.sees)
		s.fields(o.request, "the client gets", a.head, o.gets)
	}
}

func (s *scene) fields(request, who, head, want string) {
	s.Helper()
	for text := range strings.SplitSeq(want, "\n") {
		name, value, _ := strings.Cut(text, ": ")
		if name == "" {
			continue
		}
		got := fieldOf(head, name)
		if !strings.Contains(strings.ToLower("\r\n"+head), "\r\n"+name+":") {
			got = "-"
		}
		if got != value {
			s.Errorf("%.200q: %s %s: %q, want %q", request, who, name, got, value)
		}
	}
}

// get is a GET with a Host and further fields.
func get(target string, fields ...string) string {
	return "GET " + target + " HTTP/1.1\nHost: a" + strings.Join(append([]string{""}, fields...), "\n")
}

// host is a GET with that Host.
func host(name string) string { return "GET / HTTP/1.1\nHost: " + name }

// rules makes the frontend's rules of lines.
func rules(lines ...string) parts { return parts{"FRONTEND": strings.Join(lines, "\n\t")} }

func TestAdvisory29HostAndAuthority(t *testing.T) {
	c := rules("http-request deny deny_status 403 if { hdr(host) -i -m beg secret }", `http-request set-header x-saw "%[hdr(host)]"`)
	advisory(t, c, func(s *scene) {
		s.play(
			outcome{request: "GET http://secret/x HTTP/1.1\nHost: open", status: "400"},
			outcome{request: "GET http://open/x HTTP/1.1\nHost: secret", status: "400"},
			outcome{request: "GET http://secret/x HTTP/1.1\nHost: secret", status: "403"},
			outcome{request: "GET http://secret:80/x HTTP/1.1\nHost: secret", status: "403"},
			outcome{request: "GET http://SECRET/x HTTP/1.1\nHost: secret", status: "403"},
			outcome{request: "GET http://open/x HTTP/1.1\nHost: open", status: "200", target: "http://open/x", sees: "x-saw: open\nhost: open"},
			outcome{request: "GET http://open:80/x HTTP/1.1\nHost: open", status: "200", target: "http://open/x", sees: "x-saw: open\nhost: open"},
			outcome{request: "GET http://open@secret/x HTTP/1.1\nHost: open", status: "400"},
			outcome{request: "GET /x HTTP/1.1\nHost: open\nHost: secret", status: "400"},
			outcome{request: "GET /x HTTP/1.1\nHost: open\nHost: open", status: "200", target: "/x"},
			outcome{request: "CONNECT secret:443 HTTP/1.1\nHost: open:443", status: "400"},
			outcome{request: "CONNECT secret:443 HTTP/1.1\nHost: secret:443", status: "403"},
			// A target is no Host.
			outcome{request: "GET http://secret/x HTTP/1.0", status: "200", target: "http://secret/x", sees: "x-saw: "},
		)
	})
}

func TestAdvisory32FragmentsAndRules(t *testing.T) {
	deny := "http-request deny deny_status 403 if { path_end .secret }"
	advisory(t, rules(deny), func(s *scene) {
		s.play(
			outcome{request: get("/x.secret"), status: "403"},
			outcome{request: get("/x.secret#.png"), status: "400"},
			outcome{request: get("/x#.secret"), status: "400"},
			outcome{request: get("/x?a#b"), status: "400"},
			outcome{request: get("http://a/#"), status: "400"},
			outcome{request: get("/x%23.secret"), status: "403"},
		)
	})
	t.Run("accepted", func(t *testing.T) {
		unsafe := rules("option accept-unsafe-violations-in-http-request", deny, `http-request set-header x-saw "%[path]"`)
		advisory(t, unsafe, func(s *scene) {
			s.play(
				// The path goes up to the question mark: what follows a fragment belongs to it.
				outcome{request: get("/x.secret#.png"), status: "200", target: "/x.secret#.png", sees: "x-saw: /x.secret#.png"},
				outcome{request: get("/x#.secret"), status: "403"},
				outcome{request: get("/x#?.secret"), status: "200", target: "/x#?.secret", sees: "x-saw: /x#"},
			)
		})
	})
}

func TestAdvisory33TargetsAndRules(t *testing.T) {
	c := rules("http-request deny deny_status 403 if { path_beg /admin }", `http-request set-header x-saw "%[path]"`)
	advisory(t, c, func(s *scene) {
		for _, start := range []string{
			"GET *x", "GET *", "GET admin", "GET admin/x", "GET http:/admin", "GET http:admin", "GET ?/admin", "GET \\admin",
			"CONNECT http://a:80", "CONNECT /admin", "CONNECT *", "OPTIONS *admin",
		} {
			s.play(outcome{request: start + " HTTP/1.1\nHost: a", status: "400"})
		}
		s.play(
			outcome{request: get("http://a/admin/x"), status: "403"},
			outcome{request: get("http://a"), status: "200", target: "http://a/", sees: "x-saw: /"},
			outcome{request: get("http://a?/admin"), status: "200", target: "http://a?/admin", sees: "x-saw: "},
			outcome{request: "OPTIONS * HTTP/1.1\nHost: a", status: "200", target: "*", sees: "x-saw: "},
			outcome{request: get("//admin"), status: "200", target: "//admin", sees: "x-saw: //admin"},
		)
	})
}

func TestAdvisory34HostBytesAndRules(t *testing.T) {
	c := rules(
		"http-request deny deny_status 403 if { hdr(host) a.example }",
		`http-request set-header host "%[urlp(h),url_dec]" if { urlp(h) -m found }`,
	)
	advisory(t, c, func(s *scene) {
		for _, name := range []string{"a.example\tb", "a.example b", "a.example\r", "a.example\x00", "a.exa\x01mple", "a\tb:80"} {
			s.play(outcome{request: host(name), status: "400"})
		}
		s.play(
			outcome{request: host("  a.example \t"), status: "403"},
			outcome{request: host("a.example, b"), status: "400"},
			// What a rule puts there itself stays within the line.
			outcome{request: get("/?h=b%0d%0aX-Evil:%20y"), status: "200", target: "/?h=b%0d%0aX-Evil:%20y", sees: "host: b%0D%0AX-Evil: y\nx-evil: -"},
		)
	})
}

func TestAdvisory35HostBracketsAndRules(t *testing.T) {
	table := filepath.Join(t.TempDir(), "hosts.map")
	check(t, os.WriteFile(table, []byte("[::1] six\n::1 bare\nn name\n"), 0o600))
	c := rules(
		"http-request set-header x-acl six if { req.hdr(host),host_only [::1] }",
		`http-request set-header x-map "%[req.hdr(host),host_only,map(`+table+`,none)]"`,
		`http-request set-header x-port "%[req.hdr(host),port_only]"`,
		`use_backend %[req.hdr(host),host_only,map(`+table+`,b)]`,
	)
	c["MORE"] = "backend six\n\thttp-request deny deny_status 404\nbackend bare\n\thttp-request deny deny_status 410\nbackend name\n\thttp-request deny deny_status 429\n"
	advisory(t, c, func(s *scene) {
		s.play(
			outcome{request: host("[::1]"), status: "404"},
			outcome{request: host("[::1]:80"), status: "404"},
			outcome{request: host("n:80"), status: "429"},
			outcome{request: host("[::1"), status: "400"},
			outcome{request: host("::1]"), status: "400"},
			outcome{request: host("[n]:80"), status: "200", target: "/", sees: "x-acl: -\nx-map: none\nx-port: 80"},
			outcome{request: host("[::1%25lo]"), status: "200", target: "/", sees: "x-acl: -\nx-map: none\nx-port: 0"},
			outcome{request: host("[::1]x"), status: "400"},
			outcome{request: host("[::2]:90"), status: "200", target: "/", sees: "x-acl: -\nx-map: none\nx-port: 90"},
		)
	})
}

func TestAdvisory36NULAndRules(t *testing.T) {
	c := rules("http-request deny deny_status 403 if { hdr(x-role) root }", `http-request set-header x-copy "%[urlp(v),url_dec]"`,
		"http-request deny deny_status 404 if { hdr(x-copy) root }")
	advisory(t, c, func(s *scene) {
		for _, value := range []string{"root\x00", "\x00root", "ro\x00ot", "user, root\x00"} {
			s.play(outcome{request: get("/", "X-Role: "+value), status: "400"})
		}
		s.play(
			outcome{request: get("/?v=root%00x"), status: "200", target: "/?v=root%00x", sees: "x-copy: root%00x"},
			outcome{request: get("/?v=root"), status: "404"},
		)
	})
}

func TestAdvisory38DecodedBytesInFields(t *testing.T) {
	c := rules(
		`http-request set-var(txn.v) urlp(v),url_dec`,
		`http-request return status 200 hdr x-v "%[var(txn.v)]" string ok content-type text/plain if { path /return }`,
		`http-request redirect location "/to?%[var(txn.v)]" if { path /redirect }`,
		`http-request redirect code 301 prefix "http://b/%[var(txn.v)]" if { path /prefix }`,
		`http-request set-header x-v "%[var(txn.v)]"`,
		`http-request add-header x-w "<%[var(txn.v)]>"`,
		`http-response set-header x-v "%[var(txn.v)]"`,
		`http-after-response set-header x-after "%[var(txn.v)]"`,
	)
	const evil = "?v=a%0d%0aX-Evil:%20y%00z%09t%0d%0a%0d%0aGET%20/smuggled"
	const sent = "a%0D%0AX-Evil: y%00z\tt%0D%0A%0D%0AGET /smuggled"
	advisory(t, c, func(s *scene) {
		s.play(
			outcome{request: get("/" + evil), status: "200", target: "/" + evil, sees: "x-v: " + sent + "\nx-w: <" + sent + ">\nx-evil: -", gets: "x-v: " + sent + "\nx-after: " + sent + "\nx-evil: -"},
			outcome{request: get("/return" + evil), status: "200", gets: "x-v: " + sent + "\nx-evil: -"},
			outcome{request: get("/redirect" + evil), status: "302", gets: "location: /to?" + sent + "\nx-evil: -"},
			outcome{request: get("/prefix" + evil), status: "301", gets: "location: http://b/" + sent + "/prefix" + evil + "\nx-evil: -"},
		)
		s.only()
	})
}

func TestAdvisory38DecodedBytesInTheStartLine(t *testing.T) {
	c := rules(
		`http-request set-var(txn.v) urlp(v),url_dec`,
		`http-request set-path "/p/%[var(txn.v)]" if { path /path }`,
		`http-request set-query "%[var(txn.v)]" if { path /query }`,
		`http-request set-uri "/u/%[var(txn.v)]" if { path /uri }`,
		`http-request set-method "%[var(txn.v)]" if { path /method }`,
	)
	const evil = "?v=a%0d%0aX-Evil:y%00z"
	advisory(t, c, func(s *scene) {
		const text = "a%0D%0AX-Evil:y%00z"
		s.play(
			outcome{request: get("/path" + evil), status: "200", target: "/p/" + text + evil, sees: "x-evil: -"},
			outcome{request: get("/query" + evil), status: "200", target: "/query?" + text, sees: "x-evil: -"},
			outcome{request: get("/uri" + evil), status: "200", target: "/u/" + text, sees: "x-evil: -"},
		)
		weirOnly(s, s.p.target, "it writes what is no method, and a space in the middle of a target")
		s.play(
			outcome{request: get("/method" + evil), status: "500"},
			outcome{request: get("/path?v=a%20b"), status: "500"},
			outcome{request: get("/query?v=a%20b"), status: "500"},
			outcome{request: get("/uri?v=a%20b"), status: "500"},
		)
	})
}

func TestAdvisory39NamesInAnswersAndRules(t *testing.T) {
	c := parts{"BACKEND": `http-response set-header x-names "%[res.hdr_names]"` + "\n\thttp-response del-header x-secret -m beg"}
	advisory(t, c, func(s *scene) {
		for field, want := range map[string]string{
			"X-Secret: y": "200", "x-SECRET-b: y": "200", "X Secret: y": "502", "X-Secret : y": "502", ": y": "502",
			"X-Sec\x00ret: y": "502", "X-Secret\x80: y": "502", "X(Secret): y": "502", "X-Secret": "502",
		} {
			s.o.once("/x", func(x *exchange) { x.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n" + field + "\r\n\r\n") })
			a, _ := s.ask("GET /x HTTP/1.1\r\nHost: a\r\n\r\n")
			if a.status != want || strings.Contains(strings.ToLower(a.head), "secret: y") {
				s.Errorf("%q: %s %q, want %s", field, a.status, a.head, want)
			}
		}
	})
}

func TestAdvisory40NoHostInRules(t *testing.T) {
	c := rules(
		`http-request set-var(txn.h) req.hdr(host),lower,host_only`,
		`http-request set-header x-h "<%[req.hdr(host)]|%[var(txn.h)]|%[req.hdr(host),port_only]|%[req.hdr(host),field(1,.)]|%[base]|%[hdr_cnt(host)]>"`,
		`http-request redirect location "http://%[req.hdr(host)]/%[req.hdr(host),regsub(a,b,g)]" if { path /redirect }`,
		`http-request return status 200 content-type text/plain lf-string "<%[req.hdr(host)]>" if { path /return }`,
		`http-request deny deny_status 403 if { req.hdr(host),length gt 0 } { path /length }`,
		`http-request deny deny_status 404 if !{ hdr(host) a } { hdr_dom(host) x } || !{ hdr(host) a } { hdr_end(host) -i .x } || !{ hdr(host) a } { hdr_reg(host) . }`,
		`unique-id-format "id-%[req.hdr(host)]"`, "unique-id-header x-id", "declare capture request len 20",
		"http-request capture req.hdr(host) id 0", `use_backend %[req.hdr(host)] if { path /dyn }`,
	)
	advisory(t, c, func(s *scene) {
		for end, saw := range map[string]string{" HTTP/1.1": "<||||/x|0>", " HTTP/1.0": "<||||/x|0>", " HTTP/1.1\nHost:": "<||0||/x|1>", " HTTP/1.1\nHost: ": "<||0||/x|1>"} {
			s.play(
				outcome{request: "GET /x" + end, status: "200", target: "/x", sees: "x-h: " + saw + "\nx-id: id-"},
				outcome{request: "GET /redirect" + end, status: "302", gets: "location: http:///"},
				outcome{request: "GET /return" + end, status: "200"},
				outcome{request: "GET /length" + end, status: "200", target: "/length"},
				outcome{request: "GET /dyn" + end, status: "200", target: "/dyn"},
			)
		}
	})
}

func TestAdvisory41RedirectRules(t *testing.T) {
	c := rules(
		"http-request redirect prefix / if { path_beg /evil }",
		"http-request redirect prefix / drop-query append-slash if { path_beg /slash }",
		`http-request redirect location "%[path]/" if { path_end /.. } !{ hdr(x-merge) 1 }`,
		"http-request normalize-uri path-merge-slashes if { hdr(x-merge) 1 }",
		`http-request redirect location "%[path]" if { hdr(x-merge) 1 }`,
		`http-request redirect scheme https if { path_beg /s }`,
	)
	c["GLOBAL"] = "expose-experimental-directives"
	advisory(t, c, func(s *scene) {
		s.play(
			outcome{request: get("/evil.example/"), status: "302", gets: "location: /evil.example/"},
			outcome{request: get("/slash"), status: "302", gets: "location: /slash/"},
			outcome{request: get("/x/.."), status: "302", gets: "location: /x/../"},
			outcome{request: get("///evil.example/..", "X-Merge: 1"), status: "302", gets: "location: /evil.example/.."},
			outcome{request: get("/s//evil.example"), status: "302", gets: "location: https://a/s//evil.example"},
			outcome{request: "GET http://a/s//evil.example HTTP/1.1\nHost: a", status: "302", gets: "location: https://a/s//evil.example"},
		)
	})
}

func TestAdvisory42NormalizedPaths(t *testing.T) {
	c := rules(
		"http-request deny deny_status 403 if { path_beg /admin }",
		"http-request normalize-uri fragment-strip if { hdr(x-n) frag all }",
		"http-request normalize-uri percent-decode-unreserved if { hdr(x-n) dec all }",
		"http-request normalize-uri percent-decode-unreserved strict if { hdr(x-n) strict }",
		"http-request normalize-uri percent-to-uppercase if { hdr(x-n) up all }",
		"http-request normalize-uri path-merge-slashes if { hdr(x-n) slash all }",
		"http-request normalize-uri path-strip-dot if { hdr(x-n) dot all }",
		"http-request normalize-uri path-strip-dotdot if { hdr(x-n) dotdot }",
		"http-request normalize-uri path-strip-dotdot full if { hdr(x-n) full all }",
		"http-request normalize-uri query-sort-by-name if { hdr(x-n) sort all }",
		`http-request set-header x-saw "%[pathq]"`,
		"http-request deny deny_status 404 if { path_beg /admin }",
	)
	c["GLOBAL"] = "expose-experimental-directives"
	advisory(t, c, func(s *scene) {
		weirOnly(s, s.p.target, "a normaliser with a condition but without its optional word does nothing there")
		for _, path := range []string{"/public/../admin", "/./admin", "/%61dmin", "//admin", "/admin%2f..", "/x/../../admin"} {
			want := "200"
			if strings.HasPrefix(path, "/admin") {
				want = "403"
			} else {
				s.play(outcome{request: get(path), status: want, target: path, sees: "x-saw: " + path})
				want = "404"
			}
			s.play(outcome{request: get(path, "X-N: all"), status: want})
		}
		for _, x := range [][3]string{
			{"dec", "/%61%2e%2E/%2f%7e?%61", "/a../%2f~?a"}, {"dec", "/%", "/%"}, {"dec", "/%zz%2", "/%zz%2"},
			{"strict", "/%61%2e", "/a."}, {"strict", "/%", ""}, {"strict", "/%zz", ""}, {"strict", "/?%6", ""},
			{"up", "/%2f%Ab%zz", "/%2F%AB%zz"}, {"up", "/%2f%aB?%c3", "/%2F%AB?%C3"},
			{"slash", "//a///b?c//d", "/a/b?c//d"}, {"dot", "/./a/./b/.", "/a/b/"}, {"dot", "/a/.b/..", "/a/.b/.."},
			{"dotdot", "/a/../../b", "/../b"}, {"dotdot", "/a/b/..", "/a/"}, {"dotdot", "/a//../b", "/a/b"},
			{"full", "/a/../../admim", "/admim"}, {"full", "/..", "/"}, {"full", "/a/%2e%2e/b", "/a/%2e%2e/b"},
			{"sort", "/?b=1&a=2&b=0", "/?a=2&b=1&b=0"}, {"all", "/x/%2e%2E//./y?b&%61", "/y?a&b"},
			{"dot", "/..;/.;/a", "/..;/.;/a"}, {"full", "/x/..;/a", "/x/..;/a"}, {"full", "/x\\..\\a", "/x\\..\\a"},
		} {
			o := outcome{request: get(x[1], "X-N: "+x[0]), status: "200", target: x[2], sees: "x-saw: " + x[2]}
			if x[2] == "" {
				o.status, o.sees = "400", ""
			}
			s.play(o)
		}
	})
}

func TestAdvisory43DecodedForARule(t *testing.T) {
	c := rules(
		"http-request deny deny_status 403 if { path,url_dec -m beg /admin }",
		"http-request deny deny_status 404 if { path,url_dec,url_dec -m sub .. }",
		`http-request set-header x-dec "%[path,url_dec]"`,
		`http-request set-header x-all "%[path,url_dec(1),url_dec,hex]%[path,ltrim(/),b64dec]%[path,regsub(%,%25)]%[path,json(utf8s)]"`,
	)
	advisory(t, c, func(s *scene) {
		s.play(
			outcome{request: get("/%61dmin"), status: "403"},
			outcome{request: get("/%2561dmin"), status: "200", target: "/%2561dmin", sees: "x-dec: /%61dmin"},
			outcome{request: get("/%252e%252e/x"), status: "404"},
			outcome{request: get("/%2Fadmin"), status: "200", target: "/%2Fadmin", sees: "x-dec: //admin"},
			outcome{request: get("/x%5c..%5cadmin"), status: "404"},
			outcome{request: get("/%00admin"), status: "200", target: "/%00admin", sees: "x-dec: /%00admin"},
			outcome{request: get("/%C0%AEadmin"), status: "200", target: "/%C0%AEadmin", sees: "x-dec: /\xc0\xaeadmin"},
			outcome{request: get("/a+b%2Bc"), status: "200", target: "/a+b%2Bc", sees: "x-dec: /a+b+c"},
		)
		for _, path := range []string{"/%", "/%2", "/%zz", "/a%%41", "/%u0061", "/%6%31dmin", "/admi%6"} {
			if a, head := s.ask("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n"); a.status != "200" || !strings.HasPrefix(head, "GET "+path+" ") {
				s.Errorf("%s: %s, the origin got %q", path, a.status, head)
			} else if saw := fieldOf(head, "x-dec"); strings.HasPrefix(saw, "/admin") {
				s.Errorf("%s: decoded to %q behind the rule", path, saw)
			}
		}
	})
}

func TestAdvisory44ReplacedPaths(t *testing.T) {
	c := rules(
		"http-request deny deny_status 403 if { path_beg /internal }",
		`http-request replace-path ^/api(/.*)?$ \1`,
		`http-request replace-path ^/loose(.*) \1 if { path_beg /loose }`,
		`http-request replace-pathq ^/q/(.*) /internal/\1`,
		`http-request set-path "%[path,regsub(^/strip,,)]" if { path_beg /strip }`,
		`http-request set-header x-saw "%[path]"`,
		"http-request deny deny_status 404 if { path_beg /internal }",
		"use_backend inside if { path_beg /inside }",
	)
	c["MORE"] = "backend inside\n\thttp-request deny deny_status 410\n"
	advisory(t, c, func(s *scene) {
		same := func(path string) outcome {
			return outcome{request: get(path), status: "200", target: path, sees: "x-saw: " + path}
		}
		to := func(path, want string) outcome {
			return outcome{request: get(path), status: "200", target: want, sees: "x-saw: " + want}
		}
		s.play(
			to("/api/x", "/x"), to("/api/api/x", "/api/x"), same("/api../x"), same("/%61pi/internal"), same("/API/x"), same("/apix"),
			to("/api/../internal", "/../internal"), to("/api//internal", "//internal"),
			to("/strip/strip/x", "/strip/x"), to("/strip/a%2fb", "/a%2fb"),
			// What begins with no slash is no path for later rules.
			outcome{request: get("/loose../x"), status: "200", target: "../x", sees: "x-saw: "},
			outcome{request: get("/loosely"), status: "200", target: "ly", sees: "x-saw: "},
			outcome{request: get("/internal"), status: "403"},
			outcome{request: get("/api/internal"), status: "404"},
			outcome{request: get("/strip/internal"), status: "404"},
			outcome{request: get("/q/a?b"), status: "404"},
			outcome{request: get("/api/inside"), status: "410"},
			outcome{request: get("/api/x?/api/y"), status: "200", target: "/x?/api/y"},
			outcome{request: "GET http://a/api/internal HTTP/1.1\nHost: a", status: "404"},
			outcome{request: "GET http://a/api/x HTTP/1.1\nHost: a", status: "200", target: "http://a/x"},
		)
	})
}

func TestAdvisory45CaseOfEscapesInRules(t *testing.T) {
	c := rules(
		"http-request normalize-uri percent-to-uppercase if { hdr(x-n) 1 }",
		"http-request deny deny_status 403 if { path_beg -i /Deny%2f }",
		"http-request deny deny_status 403 if { path_reg -i ^/Re%2fx }",
		"http-request deny deny_status 403 if { path -m sub -i Mid%2Fdle }",
		"http-request deny deny_status 404 if { path_beg /Exact%2F }",
	)
	c["GLOBAL"] = "expose-experimental-directives"
	advisory(t, c, func(s *scene) {
		weirOnly(s, s.p.target, "see row 42")
		for path, status := range map[string]string{
			"/deny%2F": "403", "/DENY%2f": "403", "/re%2FX": "403", "/x/miD%2fDLE/": "403", "/deny/": "200", "/d%65ny%2f": "200",
			"/Exact%2F": "404", "/Exact%2f": "200", "/exact%2F": "200",
		} {
			if a, _ := s.ask("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n"); a.status != status {
				s.Errorf("%s: %s, want %s", path, a.status, status)
			}
		}
		s.play(
			outcome{request: get("/Exact%2f", "X-N: 1"), status: "404"},
			outcome{request: get("/exact%2f", "X-N: 1"), status: "200", target: "/exact%2F"},
		)
	})
}

func TestAdvisory46MapsOfAnySize(t *testing.T) {
	each(t, func(t *testing.T, target *scenario.Target) {
		for _, size := range []int{1, 100, 101, 10000} {
			var list, table strings.Builder
			for i := range size {
				fmt.Fprintf(&list, "Host%d.example\n", i)
				fmt.Fprintf(&table, "host%d.example b%d\n", i, i)
			}
			dir := t.TempDir()
			check(t, os.WriteFile(dir+"/list", []byte(list.String()), 0o600))
			check(t, os.WriteFile(dir+"/table", []byte(table.String()), 0o600))
			o := newOrigin(t)
			c := rules(
				"acl listed hdr(host) -i -f "+dir+"/list", "acl exact hdr(host) -f "+dir+"/list",
				"acl dom hdr_dom(host) -i -f "+dir+"/list", "acl reg hdr(host) -m reg -i ^host0.example$",
				"http-request set-header x-acl %[acl(listed)]%[acl(exact)]%[acl(dom)]%[acl(reg)]",
				`http-request set-header x-map "%[hdr(host),map(`+dir+`/table,no)]|%[hdr(host),lower,map(`+dir+`/table,no)]|%[hdr(host),map_dom(`+dir+`/table,no)]|%[hdr(host),map_beg(`+dir+`/table,no)]|%[hdr(host),map_end(`+dir+`/table,no)]"`,
			)
			s := &scene{T: t, o: o, p: start(t, setup{target: target, config: c.config(), vars: map[string]string{"s1": o.addr}})}
			last := size - 1
			for _, x := range []struct{ host, acl, table string }{
				{"host0.example", "1011", "b0|b0|b0|b0|b0"},
				{"Host0.example", "1111", "no|b0|no|no|no"},
				{"HOST0.EXAMPLE", "1011", "no|b0|no|no|no"},
				{fmt.Sprintf("Host%d.example", last), "111" + fmt.Sprint(1-min(last, 1)), fmt.Sprintf("no|b%d|no|no|no", last)},
				{fmt.Sprintf("host%d.example", size), "0000", "no|no|no|no|no"},
				{"host0.example.", "0010", "no|no|b0|b0|no"},
				{"xhost0.example", "0000", "no|no|no|no|b0"},
				{"x.host0.example:80", "0010", "no|no|b0|no|no"},
				{"host0.exampl", "0000", "no|no|no|no|no"},
			} {
				s.play(outcome{request: host(x.host), status: "200", target: "/", sees: "x-acl: " + x.acl + "\nx-map: " + x.table})
			}
			s.p.victim("l")
		}
	})
}
