package cond_test

import (
	"net/netip"
	"strings"
	"testing"

	"weir/internal/base/diag"
	"weir/internal/lang/cond"
	"weir/internal/lang/config"
	"weir/internal/model"
)

// load parses the lines of one section "listen p", whose keywords are "acl"
// and "rule <condition>", and returns the conditions.
func load(lines string) ([]*model.Condition, *diag.List) {
	var conds []*model.Condition
	acls := new(cond.ACLs)
	scope := func() cond.Scope { return cond.Scope{Proxy: "p", Backend: true, ACLs: acls} }
	r := config.NewRegistry()
	r.AddProxySections(config.ProxyHooks{Open: func(p *config.Parser, h *config.ProxyHeader) any {
		cfg := p.Root().(*model.Config)
		cfg.Proxies = append(cfg.Proxies, &model.Proxy{Name: h.Name, Sides: model.SideBackend})
		return cfg
	}})
	r.Proxy.Add(
		config.Keyword{Name: "acl", Parse: func(l *config.Line, _ any) { acls.Add(l, scope()) }},
		config.Keyword{Name: "rule", Parse: func(l *config.Line, _ any) {
			if c := cond.Parse(l, 0, scope()); c != nil {
				conds = append(conds, c)
			}
		}},
	)
	_, diags := config.Load(config.Options{
		Files: []string{"t.cfg"}, Registry: r, Root: new(model.Config),
		ReadDir:  func(string) ([]string, bool, error) { return nil, false, nil },
		ReadFile: func(string) ([]byte, error) { return []byte("listen p\n" + lines + "\nbackend b\n"), nil },
	})
	return conds, diags
}

// compile returns the condition of a rule, after ACL lines.
func compile(t *testing.T, text, acls string) *model.Condition {
	t.Helper()
	conds, diags := load(acls + "\n rule " + text)
	if diags.Errors() > 0 {
		t.Fatalf("%s: %s", text, diags)
	}
	return conds[0]
}

// request is a transaction with fixed answers.
type request struct {
	method, path string
	headers      [][2]string
	src          string
	usable       map[string]int
}

func (r *request) Method() []byte { return bytesOrNil(r.method) }
func (r *request) Path() []byte   { return bytesOrNil(r.path) }
func (r *request) Header(name string) []byte {
	return r.HeaderAt(name, 0)
}
func (r *request) HeaderAt(name string, n int) []byte {
	for _, h := range r.headers {
		if h[0] == name {
			if n == 0 {
				return []byte(h[1])
			}
			n--
		}
	}
	return nil
}
func (r *request) ClientAddr() netip.AddrPort {
	if r.src == "" {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(netip.MustParseAddr(r.src), 1234)
}
func (r *request) UsableServers(b string) int {
	if n, ok := r.usable[b]; ok {
		return n
	}
	return -1
}

func bytesOrNil(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}

// oneField hides HeaderAt: all that the engine must offer.
type oneField struct{ model.Transaction }

func holds(c *model.Condition, t model.Transaction) bool { return c.Expr.Match(t) != c.Unless }

// conditions are expressions and the requests on which they hold.
var conditions = []struct {
	cond           string
	get, post, raw bool
}{
	{"if TRUE", true, true, true},
	{"if FALSE", false, false, false},
	{"unless FALSE", true, true, true},
	{"if !TRUE", false, false, false},
	{"if ! TRUE", false, false, false},
	{"if !!TRUE", true, true, true},
	{"if { always_true }", true, true, true},
	{"if HTTP", true, true, false},
	{"if METH_GET", true, false, false},
	{"if METH_POST HTTP_CONTENT", false, true, false},
	{"if METH_GET or METH_POST", true, true, false},
	{"if METH_GET FALSE || METH_POST", false, true, false},
	{"if !METH_GET", false, true, true},
	{"if LOCALHOST", false, true, true},
	{"if { path /img/logo.PNG }", true, false, false},
	{"if { path -i /IMG/LOGO.png }", true, false, false},
	{"if { path /img }", false, false, false},
	{"if { path_beg /static /img }", true, false, false},
	{"if { path_end .png }", false, false, false},
	{"if { path_end -i .png }", true, false, false},
	{"if { path_end -- -i }", false, false, false},
	{"if { method GET }", true, false, false},
	{"if { method get }", false, false, false},
	{"if { method -i get }", false, false, false},
	{"if { method -- GET POST }", true, true, false},
	{"if { path_beg }", false, false, false},
	{"if { hdr(host) www.Example.com }", true, false, false},
	{"if { hdr(host) www.example.com }", false, false, false},
	{"if { hdr_beg(host) -i WWW. }", true, false, false},
	{"if { hdr(accept) b }", true, false, false},
	{"if { hdr(accept) c }", true, false, false},
	{"if { hdr(accept) '\"x,y\"' }", true, false, false},
	{"if { hdr(accept) x }", false, false, false},
	{"if { src 192.0.2.0/24 }", true, false, false},
	{"if { src 192.0.2.0/255.255.255.0 }", true, false, false},
	{"if { src 127.0.0.0/8 }", false, false, true},
	{"if { src ::1 10.0.0.1 }", false, true, false},
	{"if { nbsrv lt 2 }", true, false, false},
	{"if { nbsrv(b) 3 }", true, false, false},
	{"if { nbsrv(b) eq 1 3 }", true, false, false},
	{"if { nbsrv(b) gt 3 }", false, false, false},
	{"if { nbsrv(b) ge 3 }", true, false, false},
	{"if { nbsrv(b) le 2 }", false, false, false},
	{"if { nbsrv(b) 2:4 }", true, false, false},
	{"if { nbsrv(b) 4: }", false, false, false},
	{"if { nbsrv(b) :3 }", true, false, false},
	{"if { nbsrv(b) gt 9 lt 4 }", true, false, false},
}

func TestConditions(t *testing.T) {
	get := &request{
		method: "GET", path: "/img/logo.PNG", src: "192.0.2.7",
		headers: [][2]string{{"host", "www.Example.com"}, {"accept", "a, \"x,y\" , b"}, {"accept", "c"}},
		usable:  map[string]int{"p": 1, "b": 3},
	}
	post := &request{method: "POST", path: "/", src: "::1", headers: [][2]string{{"content-length", "12"}}}
	raw := &request{src: "::ffff:127.0.0.9"}
	for _, c := range conditions {
		p := compile(t, c.cond, "")
		for _, r := range []struct {
			name string
			req  model.Transaction
			want bool
		}{{"get", get, c.get}, {"post", post, c.post}, {"raw", raw, c.raw}} {
			if got := holds(p, r.req); got != r.want {
				t.Errorf("%s: %s: got %v, want %v", c.cond, r.name, got, r.want)
			}
		}
	}
}

func TestNamedACLs(t *testing.T) {
	img := &request{method: "GET", path: "/img/a"}
	css := &request{method: "GET", path: "/b.css"}
	acls := " acl static path_beg /img\n acl static path_end .css\n acl TRUE path_beg /img"
	if c := compile(t, "if static", acls); !holds(c, img) || !holds(c, css) {
		t.Error("lines of one name must widen the ACL")
	}
	if c := compile(t, "if TRUE", acls); !holds(c, img) || holds(c, css) {
		t.Error("a named ACL must hide the predefined one")
	}
	// A rule sees the whole ACL, lines below it included.
	conds, _ := load(" acl a path_beg /img\n rule if a\n acl a path_end .css\n rule if a")
	if !holds(conds[0], css) || !holds(conds[1], css) {
		t.Error("a rule must see all lines of an ACL")
	}
}

func TestHeaderWithoutLister(t *testing.T) {
	r := oneField{&request{method: "GET", headers: [][2]string{{"accept", "a,b"}, {"accept", "c"}}}}
	if !holds(compile(t, "if { hdr(accept) b }", ""), r) || holds(compile(t, "if { hdr(accept) c }", ""), r) {
		t.Error("the first field only is seen through Header")
	}
}

func TestMatchAllocatesNothing(t *testing.T) {
	r := &request{method: "GET", path: "/img/logo.png", src: "192.0.2.7", usable: map[string]int{"b": 1}}
	r.headers = nil
	c := compile(t, "if METH_POST or { path_end -i .PNG } { src 192.0.2.0/24 } !{ nbsrv(b) gt 2 }", "")
	tx := fixed{r, []byte("GET"), []byte("/img/logo.png"), r.ClientAddr()}
	if !holds(c, &tx) {
		t.Fatal("the condition must hold")
	}
	if n := testing.AllocsPerRun(100, func() { holds(c, &tx) }); n != 0 {
		t.Errorf("%v allocations per evaluation", n)
	}
}

// fixed answers without allocating.
type fixed struct {
	*request
	method, path []byte
	src          netip.AddrPort
}

func (f *fixed) Method() []byte             { return f.method }
func (f *fixed) Path() []byte               { return f.path }
func (f *fixed) ClientAddr() netip.AddrPort { return f.src }

func TestErrors(t *testing.T) {
	for _, c := range []struct{ lines, want string }{
		{"rule if", "'if' needs a condition after it"},
		{"rule when TRUE", "'if' or 'unless'"},
		{"rule if nobody", "unknown ACL 'nobody'"},
		{"rule if METH_GE", "did you mean 'METH_GET'"},
		{"rule if TRUE or", "'or' needs a condition after it"},
		{"rule if or TRUE", "there is none before it"},
		{"rule if !", "'!' needs a condition after it"},
		{"rule if ! or TRUE", "not 'or'"},
		{"rule if { path_beg /a", "not closed"},
		{"rule if { }", "a criterion is expected"},
		{"rule if { nothing }", "unknown criterion 'nothing'"},
		{"rule if { url_beg /a }", "known to HAProxy, not in weir yet"},
		{"rule if { req.hdr(host) a }", "known to HAProxy, not in weir yet"},
		{"rule if { path,lower a }", "known to HAProxy, not in weir yet"},
		{"rule if { hdr(host),lower a }", "known to HAProxy, not in weir yet"},
		{"rule if { path -m beg /a }", "known to HAProxy, not in weir yet"},
		{"rule if { path -f file }", "known to HAProxy, not in weir yet"},
		{"rule if HTTP_1.1", "known to HAProxy, not in weir yet"},
		{"rule if { hdr a }", "known to HAProxy, not in weir yet"},
		{"rule if { hdr(a,-1) a }", "known to HAProxy, not in weir yet"},
		{"rule if { hdr(a a }", "not closed"},
		{"rule if { hdr(a:) a }", "no name of a header field"},
		{"rule if { path(x) a }", "takes no argument in parentheses"},
		{"rule if { always_true 1 }", "too much"},
		{"rule if { src 1.2.3 }", "no IPv4 or IPv6 address"},
		{"rule if { src 1.2.3.4/33 }", "no IPv4 or IPv6 address"},
		{"rule if { src 1.2.3.4/255.0.255.0 }", "no IPv4 or IPv6 address"},
		{"rule if { nbsrv lt }", "'lt' needs a number"},
		{"rule if { nbsrv 3:1 }", "neither a number"},
		{"rule if { nbsrv : }", "neither a number"},
		{"rule if { nbsrv(zz) 1 }", "unknown backend 'zz'"},
		{"acl", "expects a name"},
		{"acl a", "needs a criterion"},
		{"acl or path /", "cannot be the name"},
		{"acl a/b path /", "not allowed in the name"},
		{"acl a nothing\n rule if a", "unknown criterion"},
	} {
		_, diags := load(" " + c.lines)
		if n := diags.Errors(); n == 0 || n > 3 || !strings.Contains(diags.String(), c.want) {
			t.Errorf("%s: got\n%swant %q", c.lines, diags, c.want)
		}
	}
	if _, diags := load(" rule if { path_beg }"); diags.Errors() != 0 || diags.Warnings() != 1 {
		t.Errorf("a criterion without values is a warning: %s", diags)
	}
	if _, diags := load(" rule if { path_beg -- }"); diags.Warnings() != 0 {
		t.Errorf("'--' says that no value is meant: %s", diags)
	}
}
