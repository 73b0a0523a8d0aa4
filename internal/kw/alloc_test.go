package kw_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"weir/internal/kw"
	"weir/internal/lang/config"
	"weir/internal/lang/rule"
	"weir/internal/lang/sample/sampletest"
	"weir/internal/model"
)

// busy is a frontend with 60 lines of conditions, edits of headers and 20 choices of a backend.
func busy() string {
	var b strings.Builder
	b.WriteString("defaults\n mode http\n timeout client 1s\n timeout server 1s\n timeout connect 1s\nfrontend f\n bind 127.0.0.1:1\n")
	for i := range 20 {
		fmt.Fprintf(&b, " acl app%d path_beg /app%d/\n acl host%d hdr(host) -i host%d.example.com\n http-request deny if host%d { src 10.%d.0.0/16 }\n", i, i, i, i, i, i)
	}
	b.WriteString(" http-request set-header X-Client %[src]:%[src_port]\n http-request set-header X-Sid %[req.cook(sid)]\n http-request del-header X-Evil\n" +
		" http-request set-var(txn.p) path,lower\n http-request deny if { hdr_reg(user-agent) -i (curl|wget)/[0-9]+ }\n")
	for i := range 20 {
		fmt.Fprintf(&b, " use_backend b%d if app%d\n", i, i)
	}
	for i := range 20 {
		fmt.Fprintf(&b, "backend b%d\n", i)
	}
	return b.String()
}

// frontend loads busy.
func frontend(t testing.TB) *model.Proxy {
	cfg, diags := kw.Load(config.Options{
		Files:    []string{"t.cfg"},
		ReadDir:  func(string) ([]string, bool, error) { return nil, false, nil },
		ReadFile: func(string) ([]byte, error) { return []byte(busy()), nil },
	})
	if cfg == nil {
		t.Fatal(diags)
	}
	return cfg.Proxies[0]
}

// control has no data beside the request.
type control struct{ rule.Control }

func (control) Buffered(model.Dir) int64 { return 0 }

// evaluate runs the rules of a frontend on a request.
func evaluate(t testing.TB, p *model.Proxy, tx *model.Txn) (backend string) {
	at := 0
	if r := rule.Of(p).Of[rule.HTTPRequest].Run(tx, control{}, &at); r.Outcome != rule.Next {
		t.Fatalf("the request is refused: %v", r.Outcome)
	}
	for _, s := range p.Switch {
		if s.Cond.Match(tx) == model.Pass {
			return s.Backend
		}
	}
	return ""
}

func request() *model.Txn {
	tx := sampletest.New(&sampletest.Stream{Src: netip.MustParseAddrPort("127.0.0.1:4711")}, "/app19/x")
	tx.Final = true
	tx.Scratch.Init(new(model.ScratchPool), model.DefaultBufSize)
	fill(tx)
	return tx
}

// fill makes the request anew.
func fill(tx *model.Txn) {
	tx.Scratch.Release(model.ScratchMark{})
	m := tx.Req
	m.Reset()
	m.SetMethod(get)
	m.SetTarget(target)
	m.Major, m.Minor = 1, 1
	m.AddString("host", "127.0.0.1:28200")
	m.AddString("cookie", "a=b; sid=12345")
	m.AddString("user-agent", "Mozilla/5.0 bench")
}

var get, target = []byte("GET"), []byte("/app19/x")

// Rules are evaluated without memory from the heap.
func TestRulesAllocateNothing(t *testing.T) {
	p, tx := frontend(t), request()
	if b := evaluate(t, p, tx); b != "b19" {
		t.Fatalf("the backend is %q", b)
	}
	if v, _ := tx.Req.Get("x-sid"); string(v) != "12345" {
		t.Fatalf("x-sid is %q", v)
	}
	if n := testing.AllocsPerRun(200, func() { fill(tx); evaluate(t, p, tx) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkRules(b *testing.B) {
	p, tx := frontend(b), request()
	b.ReportAllocs()
	for b.Loop() {
		fill(tx)
		evaluate(b, p, tx)
	}
}
