package robust

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"weir/test/scenario"
)

// The rest of the rows of policy_test.go, and rules whose cost an attacker or a configuration could drive up.

func TestAdvisory47SpellingsOfAHost(t *testing.T) {
	names := []string{"hdr(host) a.example", "hdr(host) -i a.example", "hdr_dom(host) -i a.example", "hdr_beg(host) -i a.ex", "hdr_end(host) -i .example",
		"hdr(host),host_only a.example", "hdr(host),lower a.example", "hdr(host),lower,field(1,:) a.example", "hdr(host),host_only,lower,rtrim(.) a.example", "hdr_dir(host) -i a.example"}
	c := rules(`http-request set-header x-port "%[hdr(host),port_only]"`)
	saw := ""
	for i, name := range names {
		c["FRONTEND"] += fmt.Sprintf("\n\tacl n%d %s", i, name)
		saw += fmt.Sprintf("%%[acl(n%d)]", i)
	}
	c["FRONTEND"] += "\n\thttp-request set-header x-acl " + saw + "\n\tuse_backend %[hdr(host),host_only,lower,rtrim(.)]"
	c["MORE"] = "backend a.example\n\thttp-request set-header x-inside 1\n\tserver s1 ${s1}\n"
	advisory(t, c, func(s *scene) {
		for _, x := range []struct{ host, acl, port, inside string }{
			{"a.example", "1111111111", "0", "1"},
			{"A.Example", "0111111111", "0", "1"},
			{"a.example:80", "0011010110", "80", "1"},
			{"A.EXAMPLE:8080", "0011010110", "8080", "1"},
			{"a.example.", "0011000010", "0", "1"},
			{"a.example.:80", "0011000010", "80", "1"},
			{"a.example..", "0011000010", "0", "1"},
			{"x.a.example", "0010100000", "0", "-"},
			{"a.examplex", "0001000000", "0", "-"},
			{"a.example:", "0011010110", "0", "1"},
			{"a.example:x", "0011010110", "72", "1"},
			{"a.example:80:80", "0011000100", "80", "-"},
		} {
			s.play(outcome{request: host(x.host), status: "200", target: "/", sees: "x-acl: " + x.acl + "\nx-port: " + x.port + "\nx-inside: " + x.inside})
		}
	})
}

func TestAdvisory48QueriesInRules(t *testing.T) {
	c := rules(
		"http-request deny deny_status 403 if { urlp(user) admin }",
		`http-request set-header x-saw "<%[urlp(a)]|%[urlp(a,;)]|%[url_param(a,,i)]|%[query]|%[urlp(a),url_dec]>"`,
		`http-request set-header x-n "%[urlp_val(n)]|%[urlp_val(z)]"`,
	)
	advisory(t, c, func(s *scene) {
		for query, saw := range map[string]string{
			"?": "<||||>", "?a=1&a=2&A=3": "<1||1|a=1&a=2&A=3|1>", "?a;b=c;d": "<|||a;b=c;d|>", "?;a=1": "<1|1|1|;a=1|1>", "?a=1;b": "<1||1|a=1;b|1>",
			"?%": "<|||%|>", "?%zz&&&=&a": "<|||%zz&&&=&a|>", "?a=%zz": "<%zz||%zz|a=%zz|>", "?x&a": "<|||x&a|>", "?x&a=": "<|||x&a=|>",
			"??a=1": "<1||1|?a=1|1>", "?A=3": "<||3|A=3|>", "?%61=1": "<|||%61=1|>", "?xa=1": "<|||xa=1|>", "?a=b=c": "<b=c||b=c|a=b=c|b=c>",
			"?a=1?b": "<1||1|a=1?b|1>", "?a[]=1": "<|||a[]=1|>", "?a=%26b": "<%26b||%26b|a=%26b|&b>",
		} {
			s.play(outcome{request: get("/q" + query), status: "200", target: "/q" + query, sees: "x-saw: " + saw})
		}
		many := strings.Repeat("p=1&", 3000)
		s.play(
			outcome{request: get("/?user=admin"), status: "403"},
			outcome{request: get("/?" + many + "user=admin"), status: "403"},
			outcome{request: get("/?user=x&user=admin"), status: "403"}, // a condition tries each
			outcome{request: get("/?user=x;user=admin"), status: "403"},
			outcome{request: get("/?user=%61dmin"), status: "200", target: "/?user=%61dmin"},
			outcome{request: get("/?x;user=admin"), status: "403"},
			outcome{request: get("/?n=99999999999999999999&z=-3x"), status: "200", target: "/?n=99999999999999999999&z=-3x", sees: "x-n: 1661992959|-3"},
		)
	})
}

func TestAdvisory49MappedSourceInRules(t *testing.T) {
	each(t, func(t *testing.T, target *scenario.Target) {
		o := newOrigin(t)
		f, addr := mappedListener(t)
		table := filepath.Join(t.TempDir(), "nets")
		check(t, os.WriteFile(table, []byte("127.0.0.0/8 four\n::ffff:0:0/96 six\n10.0.0.0/8 ten\n"), 0o600))
		c := rules()
		c["MORE"] = strings.Join([]string{
			"frontend mapped", `bind "fd@$FILE0"`, "option forwardfor",
			`http-request set-src hdr(x-src) if { hdr(x-src) -m found }`,
			`http-request set-header x-saw "%[src]|%[src,map_ip(` + table + `,no)]|%[src,ipmask(8,32)]"`,
			"http-request deny deny_status 403 if { src 10.0.0.0/8 }",
			"http-request deny deny_status 404 if !{ src 127.0.0.0/8 } { src ::ffff:10.0.0.0/104 }",
			"default_backend b\n",
		}, "\n\t")
		s := &scene{T: t, o: o, p: start(t, setup{target: target, config: c.config(), vars: map[string]string{"s1": o.addr}, files: []*os.File{f}})}
		s.p.addr["mapped"], s.p.addr["plain"] = addr, s.p.addr["l"]
		s.p.addr["l"] = addr
		saw := "x-saw: 127.0.0.1|four|127.0.0.0\nx-forwarded-for: 127.0.0.1"
		if target.Reference { // it matches the address as well, but writes it in the long form
			saw = "x-saw: ::ffff:127.0.0.1|six|127.0.0.0"
		}
		s.play(
			outcome{request: get("/"), status: "200", target: "/", sees: saw},
			outcome{request: get("/", "X-Src: 10.1.2.3"), status: "403"},
			outcome{request: get("/", "X-Src: ::ffff:10.1.2.3"), status: "403"},
			outcome{request: get("/", "X-Src: ::ffff:11.1.2.3"), status: "200", target: "/", sees: "x-saw: ::ffff:11.1.2.3|six|11.0.0.0"},
			outcome{request: get("/", "X-Src: 2001::1"), status: "200", target: "/", sees: "x-saw: 2001::1|no|2001::"},
			outcome{request: get("/", "X-Src: nonsense"), status: "200", target: "/", sees: saw},
		)
		s.p.victim("mapped")
		s.p.settle(o)
	})
}

func TestAdvisory50NoSecondExpansionInRules(t *testing.T) {
	table := filepath.Join(t.TempDir(), "table")
	check(t, os.WriteFile(table, []byte(`k %[src]\1$HOME`+"\n"), 0o600))
	c := rules(
		`http-request set-var(txn.v) hdr(x-v)`,
		`http-request set-var-fmt(txn.f) "<%[var(txn.v)]>"`,
		`http-request set-header x-set "%[hdr(x-v)]|%[var(txn.v)]|%[var(txn.f)]|%[str(k),map(`+table+`)]"`,
		`http-request replace-header x-r ^(.)(.*)$ "\2%[hdr(x-v)]\1"`,
		`http-request set-header x-reg "%[hdr(x-v),regsub(z,\\0-,g)]|%[str(aZb),regsub(Z,\"%[hdr(x-v)]\")]"`,
		`http-request replace-path ^/rp/(.*) "/\1/%[hdr(x-v)]"`,
		`http-request return status 200 content-type text/plain lf-string "%[hdr(x-v)]" hdr x-got "%[hdr(x-v)]" if { path_beg /return }`,
		`http-request redirect location "/%[hdr(x-v)]" if { path_beg /redirect }`,
		`http-request set-path "/%[urlp(p)]" if { urlp(p) -m found }`,
	)
	const v = `%[env(HOME)]%{+Q}o%ci\1\2\0$HOME${HOME}%%`
	advisory(t, c, func(s *scene) {
		s.play(
			outcome{request: get("/", "X-V: "+v), status: "200", target: "/", sees: "x-set: " + v + "|" + v + "|<" + v + `>|%[src]\1$HOME`},
			// A replacement is a format whose result may refer to groups, whoever wrote it; regsub takes no format.
			outcome{request: get("/", "X-V: "+v, "X-R: ab"), status: "200", target: "/", sees: "x-r: b%[env(HOME)]%{+Q}o%ciabab$HOME${HOME}%%a"},
			outcome{request: get("/rp/x", "X-V: "+v), status: "200", target: "/x/%[env(HOME)]%{+Q}o%cix/rp/x$HOME${HOME}%%"},
			outcome{request: get("/", "X-V: z"+v), status: "200", target: "/", sees: "x-reg: z-" + v + "|a%[hdr(x-v)]b"},
			outcome{request: get("/return", "X-V: "+v), status: "200", gets: "x-got: " + v},
			outcome{request: get("/redirect", "X-V: "+v), status: "302", gets: "location: /" + v},
			outcome{request: get("/?p=" + v), status: "200", target: "/" + v + "?p=" + v},
		)
		if a, _ := s.ask("GET /return HTTP/1.1\r\nHost: a\r\nX-V: " + v + "\r\n\r\n"); a.body != v {
			s.Errorf("body %q", a.body)
		}
	})
}

func TestAdvisory51EachLineInRules(t *testing.T) {
	c := rules(
		"http-request deny deny_status 403 if { req.hdr(x-role) root }",
		"http-request deny deny_status 404 if { req.fhdr(x-role) -m str full,list }",
		`http-request set-header x-saw "%[req.hdr(x-role)]|%[req.hdr(x-role,1)]|%[req.fhdr(x-role)]|%[req.fhdr(x-role,1)]|%[req.hdr_cnt(x-role)]|%[req.fhdr_cnt(x-role)]"`,
		`http-request replace-header x-rh ^a(.*) b\1`, `http-request replace-value x-rv ^a(.*) b\1`,
		"http-request del-header x-gone", "http-request set-header x-one set",
	)
	advisory(t, c, func(s *scene) {
		role := func(values ...string) string { return get("/", "X-Role: "+strings.Join(values, "\nx-role: ")) }
		s.play(
			outcome{request: role("root"), status: "403"},
			outcome{request: role("user", "root"), status: "403"},
			outcome{request: role("root", "user"), status: "403"},
			outcome{request: role("user,root,x"), status: "403"},
			outcome{request: role("a", "b", "c , root"), status: "403"},
			outcome{request: role(`"x,root"`), status: "200", target: "/", sees: "x-saw: \"x,root\"|\"x,root\"|\"x,root\"|\"x,root\"|1|1"},
			outcome{request: role("x", "full,list"), status: "404"},
			outcome{request: role("full", "list"), status: "200", target: "/", sees: "x-saw: list|full|list|full|2|2"},
			outcome{request: role("a, b", "c"), status: "200", target: "/", sees: "x-saw: c|a|c|a, b|3|2"},
			outcome{request: role("a,,", ""), status: "200", target: "/", sees: "x-saw: |a||a,,|4|2"},
			outcome{request: get("/", "X-Rh: a1, a2", "x-rh: a3", "X-Rv: a1, a2", "X-RV: a3"), status: "200", target: "/", sees: "x-rh: b1, a2 & b3\nx-rv: b1,b2 & b3"},
			outcome{request: get("/", "X-Gone: 1", "x-GONE: 2", "X-One: 1", "X-ONE: 2"), status: "200", target: "/", sees: "x-gone: -\nx-one: set"},
		)
	})
}

// maxStall is how long others may wait while somebody's expression is evaluated, slow machines included.
const maxStall = 2 * time.Second

// underAttack asks on a connection of its own every few milliseconds while the attackers, each on a connection of its own,
// send their request until the time is over, and returns the longest wait.
func (s *scene) underAttack(attackers int, request string, lasts time.Duration) (longest time.Duration) {
	s.Helper()
	var over atomic.Bool
	var answered atomic.Int64
	var all sync.WaitGroup
	c := s.p.dial("l")
	for range attackers {
		attacker := s.p.dial("l")
		all.Go(func() {
			for !over.Load() {
				if _, err := attacker.send(request).answer("GET"); err != nil {
					attacker.Close()
					attacker, err = s.p.tryDial("l")
					if err != nil {
						return
					}
				}
				answered.Add(1)
			}
		})
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	asked := 0
	for since := time.Now(); time.Since(since) < lasts; <-tick.C {
		began := time.Now()
		if a := c.get("/quick"); a.status != "200" || a.body != "/quick" {
			s.Errorf("the victim got %s %.100q", a.status, a.body)
			break
		}
		longest = max(longest, time.Since(began))
		asked++
	}
	over.Store(true)
	all.Wait()
	s.Logf("asked %d times, waited up to %v; %d attacks were answered", asked, longest, answered.Load())
	return longest
}

const hostileLine = "X-Evil: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\r\n"

// hostileItems is one field with n such values.
func hostileItems(n int) string {
	return strings.Replace(hostileLine, "\r", strings.Repeat(",aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", n-1)+"\r", 1)
}

// TestHostileExpressions: an attacker's field meets expressions that backtrack without end, on one thread. Matches that take
// long leave the loop, and all matches of a request share a stock of steps.
func TestHostileExpressions(t *testing.T) {
	const evil = `^(?<x>a+)+\k<x>$`
	const deny = "http-request deny if { req.fhdr(x-evil) -m reg " + evil + " }"
	const variable = "http-request set-var(txn.v) req.fhdr(x-evil)\n\t"
	for name, x := range map[string]struct {
		rule, fields string
	}{
		"acl":      {rule: deny, fields: hostileLine},
		"long":     {rule: "http-request deny if { req.fhdr(x-evil) -m reg (?<x>a*)*(?<y>a*)*\\k<x>\\k<y>x }", fields: "X-Evil: " + strings.Repeat("a", 8000) + "\r\n"},
		"regsub":   {rule: `http-request set-header x-o "%[req.hdr(x-evil),regsub('(?<x>a+)+\\k<x>c',b)]"`, fields: hostileLine},
		"replace":  {rule: "http-request replace-value x-evil " + evil + " x", fields: hostileItems(100)},
		"variable": {rule: variable + "http-request set-header x-m 1 if { var(txn.v) -m reg " + evil + " }", fields: hostileLine},
		"response": {rule: variable + "http-response deny if { var(txn.v) -m reg " + evil + " }", fields: hostileLine},
		"backend":  {rule: "use_backend none if { req.fhdr(x-evil) -m reg " + evil + " }", fields: hostileLine},
		"lines":    {rule: deny, fields: strings.Repeat(hostileLine, 90)},
		"items":    {rule: strings.Replace(deny, "fhdr", "hdr", 1), fields: hostileItems(300)},
		"log":      {rule: variable + `log-format "%[var(txn.v),regsub('(?<x>a+)+\\k<x>c',b)]"`, fields: hostileLine},
		"rules":    {rule: strings.Repeat(deny+"\n\t", 50), fields: hostileLine},
	} {
		t.Run(name, func(t *testing.T) {
			c := rules(x.rule)
			c["MORE"] = "backend none\n"
			advisory(t, c, func(s *scene) {
				weirOnly(s, s.p.target, "its watchdog ends the process")
				if longest := s.underAttack(4, "GET /attack HTTP/1.1\r\nHost: a\r\n"+x.fields+"\r\n", time.Second); longest > maxStall {
					s.Errorf("others were kept waiting for %v", longest)
				}
			})
		})
	}
}

// TestHostilePasswords: checking a password against an expensive hash holds nobody up but the one who sent it.
func TestHostilePasswords(t *testing.T) {
	c := rules(`http-request auth if { path /attack } !{ http_auth(users) }`)
	c["MORE"] = "userlist users\n\tuser root password $6$rounds=200000$saltsalt$xpcNLPLnLMCxFSMX7gQR5BB6QhEqBE8xqFYfn/zTw1tQPdUJhzPsnZkG6ElTVwNjIkBM2.MfEgjyIvNCIE7zK1\n"
	advisory(t, c, func(s *scene) {
		weirOnly(s, s.p.target, "hashes on its event loop")
		if longest := s.underAttack(4, "GET /attack HTTP/1.1\r\nHost: a\r\nAuthorization: Basic cm9vdDp3cm9uZw==\r\n\r\n", time.Second); longest > maxStall {
			s.Errorf("others were kept waiting for %v", longest)
		}
	})
}

// sizeRules copy a field, change it and make it longer.
var sizeRules = []string{
	`http-request set-header x-copy "%[req.fhdr(x-v),lower]" if { path /copy }`,
	`http-request set-header x-v "%[req.fhdr(x-v)]%[req.fhdr(x-v)]" if { path /double }`,
	`http-request replace-header x-v (a*) \1\1\1\1\1\1\1\1 if { path /replace }`,
	`http-request set-header x-r "%[req.fhdr(x-v),regsub(a,bbbbbbbb,g)]" if { path /regsub }`,
	`http-request set-var(txn.v) req.fhdr(x-v),hex if { path /hex }`,
	`http-request set-header x-len "%[var(txn.v),length]" if { path /hex }`,
	`http-request set-path "/%[req.fhdr(x-v)]" if { path /path }`,
	`http-request redirect location "/%[req.fhdr(x-v)]%[req.fhdr(x-v)]" if { path /redirect }`,
	`http-request return status 200 content-type text/plain lf-string "%[req.fhdr(x-v)]%[req.fhdr(x-v)]%[req.fhdr(x-v)]" if { path /return }`,
	"http-request deny deny_status 403 if { req.fhdr(x-v) -m reg ^a+$ } { path /reg }",
	"http-request deny deny_status 404 if { req.fhdr(x-v) -m sub aab } { path /sub }",
	`http-request set-header x-b "%[req.fhdr(x-v),base64]" if { path /base64 }`,
}

// TestHostileFieldSizes: a value that fills a head, in rules. What does not fit is an error of that request alone.
func TestHostileFieldSizes(t *testing.T) {
	advisory(t, rules(sizeRules...), func(s *scene) {
		// Answers with 1000, 7000, 14000 and 15000 bytes; with more the head itself is too large.
		for path, statuses := range map[string]string{
			"/copy": "200 200 500 500", "/double": "200 500 500 500", "/replace": "200 500 500 500", "/regsub": "200 500 500 500",
			"/hex": "200 200 200 200", "/path": "200 200 500 500", "/redirect": "302 302 500 500", "/return": "200 500 500 500",
			"/reg": "403 403 403 403", "/sub": "200 200 200 200", "/base64": "200 500 200 200", "/plain": "200 200 200 200",
		} {
			want := append(strings.Fields(statuses), "431", "431")
			if path == "/double" && s.p.target.Reference {
				want[1] = "200" // it frees the old value before it writes the new one
			}
			for i, n := range []int{1000, 7000, 14000, 15000, 20000, 1 << 20} {
				c := s.p.dial("l")
				go c.send("GET " + path + " HTTP/1.1\r\nHost: a\r\nX-V: " + strings.Repeat("a", n) + "\r\n\r\n")
				// The rest of a head that is too large is not read, so a reset may overtake the answer.
				if a, err := c.answer("GET"); a.status != want[i] && !(err != nil && n == 1<<20) {
					s.Errorf("%s with %d bytes: %s %v, want %s", path, n, a.status, err, want[i])
				}
				c.Close()
			}
			s.p.victim("l")
		}
	})
}

// TestHostileMegabytes: the same with buffers in which a value of a megabyte has its place; others do not wait.
func TestHostileMegabytes(t *testing.T) {
	c := rules(sizeRules...)
	c["GLOBAL"] = "tune.bufsize 3145728"
	advisory(t, c, func(s *scene) {
		s.p.large = true
		value := strings.Repeat("a", 1_000_000)
		for path, status := range map[string]string{
			"/copy": "200", "/double": "200", "/replace": "500", "/regsub": "500", "/hex": "200", "/path": "200",
			"/redirect": "302", "/return": "200", "/reg": "403", "/sub": "200", "/base64": "200", "/plain": "200",
		} {
			request := "GET " + path + " HTTP/1.1\r\nHost: a\r\nX-V: " + value + "\r\n\r\n"
			c := s.p.dial("l")
			go c.send(request)
			if a, err := c.answer("GET"); err != nil || a.status != status {
				s.Errorf("%s: %s %v, want %s", path, a.status, err, status)
			}
			c.Close()
			if longest := s.underAttack(1, request, 200*time.Millisecond); longest > maxStall {
				s.Errorf("%s: others were kept waiting for %v", path, longest)
			}
		}
	})
}

// TestHostileNumberOfRules: a configuration of ten thousand rules loads, and the last one decides.
func TestHostileNumberOfRules(t *testing.T) {
	const n = 10000
	var text strings.Builder
	for i := range n {
		switch i % 5 {
		case 0:
			fmt.Fprintf(&text, "acl a%d path_beg /p%d/\n\t", i, i)
		case 1:
			fmt.Fprintf(&text, "http-request set-header x-%d v if a%d\n\t", i%7, i-1)
		case 2:
			fmt.Fprintf(&text, "http-request deny deny_status 403 if { path /p%d } { hdr(x-no) -m reg ^%d$ }\n\t", i, i)
		case 3:
			fmt.Fprintf(&text, "http-request set-var(txn.v%d) int(%d) if { path_sub /v%d- }\n\t", i%3, i, i)
		case 4:
			fmt.Fprintf(&text, "use_backend last if { path /b%d }\n\t", i)
		}
	}
	// Rules come in any order in the file; the warnings about that are no matter here.
	c := rules(text.String())
	c["MORE"] = "backend last\n\thttp-request return status 200 hdr x-last 1\n"
	since := time.Now()
	advisory(t, c, func(s *scene) {
		if d := time.Since(since); d > 3*bound {
			s.Errorf("loading took %v", d)
		}
		s.play(
			outcome{request: get(fmt.Sprintf("/b%d", n-1)), status: "200", gets: "x-last: 1"},
			outcome{request: get("/b4"), status: "200", gets: "x-last: 1"},
			outcome{request: get(fmt.Sprintf("/p%d", n-3), fmt.Sprintf("X-No: %d", n-3)), status: "403"},
			outcome{request: get("/p0/x"), status: "200", target: "/p0/x", sees: "x-1: v"},
			outcome{request: get("/none"), status: "200", target: "/none", sees: "x-1: -"},
		)
	})
}

// checkConfig has the binary check a configuration, which must end in time with that exit code and say what is wrong.
func checkConfig(t *testing.T, target *scenario.Target, config string, code int, says string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.cfg")
	check(t, os.WriteFile(path, []byte(config), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	cmd := exec.CommandContext(ctx, target.Binary, append([]string{"-c", "-f", path}, target.Args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, _ := cmd.CombinedOutput()
	switch got := cmd.ProcessState.ExitCode(); {
	case ctx.Err() != nil:
		t.Fatalf("%.200q: no end in %v", config, bound)
	case got != code || !strings.Contains(string(out), says) || strings.Contains(string(out), "goroutine "):
		t.Errorf("%.200q: exit code %d, want %d and %q: %.2000s", config, got, code, says, out)
	}
}

const checkHead = "defaults\n\tmode http\n\ttimeout client 5s\nfrontend f\n\tbind 127.0.0.1:1\n\t"

// TestHostileConditions: conditions up to the limit of words, and one term more; long chains; circles.
func TestHostileConditions(t *testing.T) {
	const most = 14 // of four words each, in a line of 64
	term := " { hdr(x-a) 1 }"
	var chain strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&chain, "acl c%d acl(c%d)\n\t", i+1, i)
	}
	c := rules(
		"http-request deny deny_status 403 if"+strings.Repeat(term, most),
		"http-request deny deny_status 404 if"+strings.Repeat(" { hdr(x-a) 2 } ||", most-4)+" { hdr(x-a) 3 }",
		"acl c0 hdr(x-a) 4", chain.String()+"http-request deny deny_status 410 if c3000",
		"http-request deny deny_status 429 if { hdr(x-a)"+strings.Repeat(",lower", 400)+" e }",
	)
	advisory(t, c, func(s *scene) {
		for value, status := range map[string]string{"1": "403", "2": "404", "3": "404", "4": "410", "E": "429", "5": "200"} {
			if a, _ := s.ask("GET / HTTP/1.1\r\nHost: a\r\nX-A: " + value + "\r\n\r\n"); a.status != status {
				s.Errorf("%s: %s, want %s", value, a.status, status)
			}
		}
	})
}

func TestHostileConditionsRefused(t *testing.T) {
	each(t, func(t *testing.T, target *scenario.Target) {
		weirOnly(t, target, "the messages are its own")
		checkConfig(t, target, checkHead+"http-request deny if"+strings.Repeat(" { path /x }", 16)+"\n", 1, "more than 64 words")
		checkConfig(t, target, ".if "+strings.Repeat("!(", 1<<17)+"1"+strings.Repeat(")", 1<<17)+"\n.endif\n"+checkHead, 1, "nested parentheses")
		checkConfig(t, target, checkHead+"http-request deny if { path /x\n", 1, "}")
		checkConfig(t, target, checkHead+"http-request deny if { path_reg "+strings.Repeat("(", 2000)+"a"+strings.Repeat(")", 2000)+" }\n", 1, "'((((")
		checkConfig(t, target, checkHead+"http-request deny if { path_reg (((a{1,999}){1,999}){1,999}) }\n", 1, "'(((a{1,999}")
	})
}

// TestHostileCircularACLs: an ACL that asks for itself can have no value; that is an error of the configuration.
func TestHostileCircularACLs(t *testing.T) {
	each(t, func(t *testing.T, target *scenario.Target) {
		checkConfig(t, target, checkHead+"acl a acl(a)\n\thttp-request deny if a\n", 1, "refers to itself")
		checkConfig(t, target, checkHead+"acl a acl(b)\n\tacl b acl(c)\n\tacl c acl(a)\n\thttp-request deny if a\n", 1, "refers to itself")
	})
}

// hostileFiles makes the files that are no good lists, by name, and returns their folder.
func hostileFiles(t *testing.T) string {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"ints": "a 1\nb x\n", "addrs": "10.0.0.0/8 v\nnonsense v\n", "masks": "1.2.3.4 v\n1.2.3.4/33 v\n", "exprs": "a v\na(b v\n", "toaddr": "a 300.1.1.1\n",
		"hex": "00\nzz\n", "ports": "80\n1:x\n", "line": strings.Repeat("x", 3<<20),
	} {
		check(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	check(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	check(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	check(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	check(t, os.Symlink("gone", filepath.Join(dir, "dangling")))
	check(t, os.Symlink("/dev/zero", filepath.Join(dir, "endless")))
	return dir + "/"
}

// TestHostileLists: maps and lists that cannot be read, or whose lines are no good.
func TestHostileLists(t *testing.T) {
	each(t, func(t *testing.T, target *scenario.Target) {
		weirOnly(t, target, "the messages are its own, and the reference waits for a FIFO's writer")
		d := hostileFiles(t)
		for _, name := range []string{"missing", "folder", "fifo", "dangling", "loop", "endless"} {
			checkConfig(t, target, checkHead+"http-request deny if { path -f "+d+name+" }\n", 1, name)
			checkConfig(t, target, checkHead+`http-request set-header x "%[path,map(`+d+name+`)]"`+"\n", 1, name)
			checkConfig(t, target, checkHead+"http-request deny if { path_reg -i -f "+d+name+" }\n", 1, name)
			checkConfig(t, target, checkHead+"use_backend %[path,map_reg("+d+name+",b)]\nbackend b\n", 1, name)
		}
		checkConfig(t, target, checkHead+"http-request deny if { path -f /dev/zero }\n", 1, "/dev/zero")
		checkConfig(t, target, checkHead+"http-request deny if { path -f }\n", 1, "-f")
		for conv, at := range map[string]string{
			"path,map_str_int(" + d + "ints)": "line 2", "src,map_ip(" + d + "addrs)": "line 2", "src,map_ip(" + d + "masks)": "line 2",
			"path,map_reg(" + d + "exprs)": "line 2", "path,map_str_ip(" + d + "toaddr)": "line 1", "path,map(" + d + "line)": "bytes",
		} {
			checkConfig(t, target, checkHead+`http-request set-header x "%[`+conv+`]"`+"\n", 1, at)
		}
		for acl, at := range map[string]string{
			"src -f " + d + "addrs": "line 1", "path_reg -f " + d + "exprs": "line 2", "path -m bin -f " + d + "hex": "line 2", "dst_port -f " + d + "ports": "line 2",
		} {
			checkConfig(t, target, checkHead+"http-request deny if { "+acl+" }\n", 1, at)
		}
	})
}

// TestHostilePayloadFiles: the same for the files that answers are made of.
func TestHostilePayloadFiles(t *testing.T) {
	each(t, func(t *testing.T, target *scenario.Target) {
		weirOnly(t, target, "the reference waits for a FIFO's writer")
		d := hostileFiles(t)
		for _, name := range []string{"missing", "folder", "fifo", "dangling", "loop", "endless"} {
			for _, rule := range []string{
				"http-request return status 200 content-type text/plain file ", "http-request return status 200 content-type text/plain lf-file ",
				"http-request deny deny_status 403 content-type text/plain file ", "errorfile 503 ", "http-request return errorfile ",
			} {
				checkConfig(t, target, checkHead+rule+d+name+"\n", 1, name)
			}
		}
	})
}

// TestHostileVanishedFiles: what was read stays in force when its file is gone or has become something else.
func TestHostileVanishedFiles(t *testing.T) {
	each(t, func(t *testing.T, target *scenario.Target) {
		dir := t.TempDir()
		files := []string{dir + "/list", dir + "/table", dir + "/body"}
		for i, text := range []string{"/denied\n", "/k v\n", "text"} {
			check(t, os.WriteFile(files[i], []byte(text), 0o600))
		}
		c := rules(
			"http-request deny deny_status 403 if { path -f "+files[0]+" }", `http-request set-header x-m "%[path,map(`+files[1]+`,none)]"`,
			"http-request return status 200 content-type text/plain file "+files[2]+" if { path /body }",
		)
		o := newOrigin(t)
		s := &scene{T: t, o: o, p: start(t, setup{target: target, config: c.config(), vars: map[string]string{"s1": o.addr}})}
		for range 2 {
			s.play(
				outcome{request: get("/denied"), status: "403"},
				outcome{request: get("/k"), status: "200", target: "/k", sees: "x-m: v"},
				outcome{request: get("/x"), status: "200", target: "/x", sees: "x-m: none"},
				outcome{request: get("/body"), status: "200", gets: "content-length: 4"},
			)
			for _, file := range files {
				os.Remove(file)
				check(t, syscall.Mkfifo(file, 0o600))
			}
			files = nil
		}
		s.p.victim("l")
		s.p.settle(o)
	})
}
