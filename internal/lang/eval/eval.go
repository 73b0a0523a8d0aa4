// Package eval stands in for the engine where expressions are evaluated
// without traffic: while a configuration is read, for runtime commands, and by
// weir eval.
//
// [New] makes a transaction over a [Stream] at rest. It has no connection and
// no message until its fields say otherwise; what a running process would know
// is taken from the configuration, or is zero.
package eval

import (
	"net"
	"net/netip"
	"os"
	"time"

	"weir/internal/model"
)

// Stream is a model.Stream made of plain fields. It serves one evaluation at a time.
type Stream struct {
	Date     time.Time      // the wall clock, which stands still
	Src, Dst netip.AddrPort // the client's address and the one it connected to; zero: no connection
	Fe, Be   *model.Proxy
	Srv      *model.Server
	Rec      model.LogRecord
	Bodies   [2][]byte   // complete ones, by direction
	Slots    [2][][]byte // captures, by direction
	ID       []byte      // the unique ID

	process model.Runner
	front   conn
}

// New returns a transaction that reaches the variables of the process of cfg,
// which may be nil, and variables of its own in the other scopes.
func New(cfg *model.Config) (*model.Txn, *Stream) {
	s := &Stream{Date: time.Now(), Rec: model.LogRecord{
		Status: -1, Termination: [4]byte{'-', '-', '-', '-'},
		Timers: model.Timers{Idle: -1, Request: -1, Queue: -1, Connect: -1, Response: -1},
	}}
	s.Rec.Accept = s.Date
	tx := &model.Txn{S: s, Final: true}
	sess := new(model.Vars)
	txn := &model.Vars{Up: sess}
	tx.Vars = model.VarScopes{Proc: new(model.ProcVars), Sess: sess, Txn: txn, Flow: &model.Vars{Up: txn}, Check: new(model.Vars), Limits: new(model.VarLimits)}
	p := &process{threads: 1}
	s.process = p
	if cfg == nil {
		return tx, s
	}
	if cfg.ProcVars != nil {
		tx.Vars.Proc = cfg.ProcVars
	}
	if g := cfg.Global; g != nil {
		tx.Vars.Limits = &g.Tune.Vars
		tx.Scratch.Init(nil, g.Tune.BufSize)
		p.threads = max(g.NbThread, 1)
	}
	if cfg.Run != nil {
		s.process = cfg.Run
	}
	return tx, s
}

// The methods of model.Stream.

func (s *Stream) Now() int64                          { return s.Date.UnixNano() }
func (s *Stream) Wall() time.Time                     { return s.Date }
func (s *Stream) Record() *model.LogRecord            { return &s.Rec }
func (s *Stream) Client() netip.AddrPort              { return s.Src }
func (s *Stream) ClientLocal() netip.AddrPort         { return s.Dst }
func (s *Stream) BackConn() model.ConnState           { return nil }
func (s *Stream) Frontend() *model.Proxy              { return s.Fe }
func (s *Stream) Backend() *model.Proxy               { return s.Be }
func (s *Stream) Server() *model.Server               { return s.Srv }
func (s *Stream) Peek(d model.Dir) ([]byte, bool)     { return s.Bodies[d], true }
func (s *Stream) Body(d model.Dir) ([]byte, bool)     { return s.Bodies[d], true }
func (s *Stream) BodySize(d model.Dir) int64          { return int64(len(s.Bodies[d])) }
func (s *Stream) UniqueID() []byte                    { return s.ID }
func (s *Stream) Retries() (int, bool)                { return 0, false }
func (s *Stream) Priority() (class, offset int)       { return 0, 0 }
func (s *Stream) Bytes(model.Dir) (in, out int64)     { return 0, 0 }
func (s *Stream) Process() model.Runner               { return s.process }
func (s *Stream) Listener() model.ListenerState       { return nil }
func (s *Stream) Thread() (thread, group int)         { return 0, 0 }
func (s *Stream) Serial() uint32                      { return 0 }
func (s *Stream) MaxRetries() int                     { return 0 }
func (s *Stream) WaitingRule() (model.Position, bool) { return model.Position{}, false }
func (s *Stream) Aborted(model.Dir) bool              { return false }

// LastRule tells that no rule has run.
func (s *Stream) LastRule(model.Dir) (model.Position, bool) { return model.Position{}, false }

// FrontConn is the client's connection, nil while no address of it is known.
func (s *Stream) FrontConn() model.ConnState {
	if !s.Src.IsValid() && !s.Dst.IsValid() {
		return nil
	}
	s.front = conn{s}
	return &s.front
}

// Captures are the slots of a side.
func (s *Stream) Captures(d model.Dir) [][]byte { return s.Slots[d] }

// SetCapture fills a slot that is there.
func (s *Stream) SetCapture(d model.Dir, slot int, value []byte) bool {
	if slot < 0 || slot >= len(s.Slots[d]) {
		return false
	}
	s.Slots[d][slot] = append(s.Slots[d][slot][:0], value...)
	return true
}

// Timeout is what the configuration says, 0 without one.
func (s *Stream) Timeout(k model.TimeoutKind) time.Duration {
	var t model.Timeouts
	if p := s.Fe; p != nil {
		t.Client, t.ClientFin, t.HTTPRequest, t.HTTPKeepAlive = p.Timeout.Client, p.Timeout.ClientFin, p.Timeout.HTTPRequest, p.Timeout.HTTPKeepAlive
		t.Tarpit = p.Timeout.Tarpit
	}
	if p := s.Be; p != nil {
		t.Server, t.ServerFin, t.Tunnel, t.Connect, t.Queue, t.Tarpit = p.Timeout.Server, p.Timeout.ServerFin, p.Timeout.Tunnel, p.Timeout.Connect, p.Timeout.Queue, p.Timeout.Tarpit
		if t.Queue == 0 {
			t.Queue = t.Connect
		}
		if t.Tarpit == 0 {
			t.Tarpit = t.Connect
		}
	}
	return [model.NumTimeouts]time.Duration{t.Client, t.Server, t.Tunnel, t.Connect, t.Queue, t.Tarpit, t.HTTPRequest, t.HTTPKeepAlive, t.ClientFin, t.ServerFin}[k]
}

// conn is the client's connection, of which the addresses are known.
type conn struct{ s *Stream }

func (c *conn) Local() netip.AddrPort          { return c.s.Dst }
func (c *conn) Peer() netip.AddrPort           { return c.s.Src }
func (c *conn) HTTPMajor() int                 { return 1 }
func (c *conn) Streams() int                   { return 1 }
func (c *conn) Reused() bool                   { return false }
func (c *conn) TCPInfo() (model.TCPInfo, bool) { return model.TCPInfo{}, false }
func (c *conn) ErrCode() int                   { return 0 }
func (c *conn) ErrText() string                { return "" }
func (c *conn) Accepted() time.Time            { return c.s.Rec.Accept }
func (c *conn) Glitches() int                  { return 0 }
func (c *conn) StreamLimit() int               { return 1 }
func (c *conn) SavedSYN() ([]byte, bool)       { return nil, false }

// process is a process that serves nobody.
type process struct{ threads int }

func (p *process) ActConn() int64        { return 0 }
func (p *process) Stopping() bool        { return false }
func (p *process) NbThread() int         { return p.threads }
func (p *process) Uptime() time.Duration { return 0 }

func (p *process) Hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}

func (p *process) IsLocal(a netip.Addr) bool {
	list, err := net.InterfaceAddrs()
	if err != nil {
		return a.IsLoopback()
	}
	for _, n := range list {
		ip, ok := n.(*net.IPNet)
		if !ok {
			continue
		}
		if own, ok := netip.AddrFromSlice(ip.IP); ok && own.Unmap() == a.Unmap().WithZone("") {
			return true
		}
	}
	return a.Is4() && a.IsLoopback() // the whole block is
}
