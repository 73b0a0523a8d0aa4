package fetchhttp_test

import (
	"net/netip"
	"strings"
	"testing"

	"weir/internal/lang/sample"
	"weir/internal/lang/sample/sampletest"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

// TestAllocations: no fetch allocates.
func TestAllocations(t *testing.T) {
	s := &sampletest.Stream{ID: []byte("id"), Src: netip.MustParseAddrPort("127.0.0.1:1"), Front: conn{}}
	s.Bodies[model.DirReq], s.Size[model.DirReq] = []byte("a=1&b=2"), 7
	s.Bodies[model.DirRes], s.Size[model.DirRes] = []byte("hello"), 5
	s.Slots[model.DirReq], s.Slots[model.DirRes] = [][]byte{[]byte("x")}, [][]byte{[]byte("x")}
	s.Rec = model.LogRecord{HTTP: true, Method: []byte("GET"), URI: []byte("/p?a=1")}
	tx := sampletest.New(s, "http://1.2.3.4:80/p?a=1&b=2", "Host", "1.2.3.4", "X", "1.2.3.4, 5, \"a,b\"", "Cookie", "a=1; b=2", "Cookie", "a=3",
		"Authorization", "Basic dGlnZXI6cHc=", "X-Tok", "Bearer abc")
	tx.Scratch.Init(&model.ScratchPool{}, 0)
	res := &msg.Message{IsResponse: true, Major: 1, Minor: 1}
	res.SetStatus(200)
	res.AddString("Set-Cookie", "a=1; Path=/")
	res.AddString("X", "a, b")
	tx.Res = res
	cfg := lists(t)
	for _, text := range strings.Fields(`base baseq base32 base32+src url32 url32+src url path pathq query query(with_qm) url_ip url_port
		urlp(a) urlp(A,,i) urlp urlp_val(b) req.body_param(b) req.body req.body_len req.body_size method req.ver req.proto_http http_first_req unique-id
		capture.req.method capture.req.uri capture.req.ver capture.res.ver capture.req.hdr(0) capture.res.hdr(0)
		req.hdr(x) req.hdr(x,1) req.hdr(x,-2) req.fhdr(x) req.hdr_cnt req.hdr_cnt(x) req.fhdr_cnt req.hdr_val(x,2) req.hdr_ip(x,1) req.hdr_names req.hdrs req.hdrs_bin
		req.cook(a) req.cook req.cook_cnt req.cook_val(a) req.cook_names cookie(a) hdr(x) http_auth(L1) http_auth_group(L1) http_auth_user http_auth_pass http_auth_type http_auth_bearer(x-tok)
		status res.ver res.hdr(x) res.fhdr(x) res.hdr_cnt res.cook(a) res.cook_cnt res.cook_names res.hdrs res.body res.body_len res.body_size`) {
		e, err := sample.Parse(&sample.Scope{Conf: cfg}, text)
		if err != nil {
			t.Error(err)
			continue
		}
		var v model.Value
		if !e.Eval(tx, &v) {
			t.Errorf("%s has no value", text)
			continue
		}
		if n := testing.AllocsPerRun(20, func() {
			m := tx.Scratch.Mark()
			if !e.Eval(tx, &v) {
				t.Fatalf("%s has no value", text)
			}
			tx.Scratch.Release(m)
		}); n != 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
		if e.Fetch.Next == nil {
			continue
		}
		state := 0
		if n := testing.AllocsPerRun(20, func() {
			m := tx.Scratch.Mark()
			state = 0
			for range 100 {
				if !e.Fetch.Next(tx, e.Args, &v, &state) {
					break
				}
			}
			tx.Scratch.Release(m)
		}); n != 0 {
			t.Errorf("iteration of %s: %v allocations", text, n)
		}
	}
}
