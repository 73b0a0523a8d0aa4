package eval_test

import (
	"net/netip"
	"testing"
	"time"

	"weir/internal/lang/eval"
	"weir/internal/model"
)

func TestNew(t *testing.T) {
	tx, s := eval.New(nil)
	if tx.S != s || !tx.Final || tx.Req != nil || tx.Vars.Proc == nil || s.FrontConn() != nil || s.BackConn() != nil || s.Listener() != nil {
		t.Errorf("%+v", tx)
	}
	if since := time.Since(s.Wall()); since < 0 || since > time.Minute {
		t.Errorf("the clock says %v", s.Wall())
	}
	r := s.Record()
	if r.Status != -1 || r.Timers.Request != -1 || string(r.Termination[:]) != "----" || !r.Accept.Equal(s.Date) {
		t.Errorf("%+v", r)
	}
	p := s.Process()
	if p.ActConn() != 0 || p.Stopping() || p.NbThread() != 1 || p.Hostname() == "" || p.Uptime() != 0 {
		t.Error("a process at rest")
	}
	for addr, want := range map[string]bool{"127.0.0.1": true, "127.9.9.9": true, "192.0.2.77": false, "2001:db8::77": false} {
		if got := p.IsLocal(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s is local: %v", addr, got)
		}
	}
}

func TestConfiguration(t *testing.T) {
	cfg := &model.Config{Global: &model.Global{NbThread: 3, Tune: model.Tune{BufSize: 4096, Vars: model.VarLimits{Txn: 70}}}, ProcVars: new(model.ProcVars)}
	tx, s := eval.New(cfg)
	var v model.Value
	v.SetStr([]byte("0123456789"))
	if tx.Vars.Proc != cfg.ProcVars || tx.Vars.Limits.Txn != 70 || tx.Scratch.Limit() != 4096 || s.Process().NbThread() != 3 {
		t.Errorf("%+v", tx.Vars)
	}
	s.Fe = &model.Proxy{Timeout: model.Timeouts{Client: 1, ClientFin: 2, HTTPRequest: 3, HTTPKeepAlive: 4, Tarpit: 5}}
	if d := s.Timeout(model.TimeoutTarpit); d != 5 {
		t.Errorf("tarpit of the frontend: %d", d)
	}
	s.Be = &model.Proxy{Timeout: model.Timeouts{Server: 6, ServerFin: 7, Tunnel: 8, Connect: 9}}
	want := [model.NumTimeouts]time.Duration{1, 6, 8, 9, 9, 9, 3, 4, 2, 7}
	for k := range model.NumTimeouts {
		if got := s.Timeout(k); got != want[k] {
			t.Errorf("timeout %d: %d, want %d", k, got, want[k])
		}
	}
}

func TestStream(t *testing.T) {
	_, s := eval.New(nil)
	s.Src = netip.MustParseAddrPort("10.0.0.1:5")
	c := s.FrontConn()
	if c == nil || c.Peer() != s.Src || c.Local().IsValid() || c.HTTPMajor() != 1 || c.StreamLimit() != 1 || c.Streams() != 1 || !c.Accepted().Equal(s.Date) {
		t.Errorf("%+v", c)
	}
	if _, ok := c.TCPInfo(); ok {
		t.Error("the kernel knows the connection")
	}
	if _, ok := c.SavedSYN(); ok {
		t.Error("the kernel knows the first packet")
	}
	s.Slots[model.DirReq] = make([][]byte, 1)
	if s.SetCapture(model.DirReq, 1, nil) || s.SetCapture(model.DirRes, 0, nil) || !s.SetCapture(model.DirReq, 0, []byte("x")) || string(s.Captures(model.DirReq)[0]) != "x" {
		t.Error("captures")
	}
	s.Bodies[model.DirRes] = []byte("body")
	if b, all := s.Body(model.DirRes); string(b) != "body" || !all || s.BodySize(model.DirRes) != 4 {
		t.Error("body")
	}
}
