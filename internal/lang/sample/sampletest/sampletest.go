// Package sampletest gives tests of the expression language a transaction
// whose every fact can be set.
package sampletest

import (
	"net/netip"
	"testing"
	"time"

	"weir/internal/lang/sample"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

// Stream is a model.Stream made of plain fields.
type Stream struct {
	Mono              int64
	Date              time.Time
	Rec               model.LogRecord
	Src, Dst          netip.AddrPort
	Front, Back       model.ConnState
	Fe, Be            *model.Proxy
	Srv               *model.Server
	Data, Bodies      [2][]byte // by direction
	Closed, Complete  [2]bool
	Size              [2]int64
	Slots             [2][][]byte
	ID                []byte
	Rule              [2]*model.Position
	Timeouts          map[model.TimeoutKind]time.Duration
	Tries             int
	Moved             bool
	Class, Offset     int
	BytesIn, BytesOut [2]int64
	MaxCapture        int
	Proc              model.Runner
	Sock              model.ListenerState
	ThreadNum, Group  int
	Num               uint32
	TryLimit          int
	Waiting           *model.Position
	Gone              [2]bool
}

// New returns a transaction over s with a request made of the target and of
// name, value pairs, and with variables in all scopes.
func New(s *Stream, target string, fields ...string) *model.Txn {
	tx := &model.Txn{S: s, Final: true}
	if target != "" {
		m := new(msg.Message)
		m.Major, m.Minor = 1, 1
		m.SetMethod([]byte("GET"))
		m.SetTarget([]byte(target))
		for i := 0; i+1 < len(fields); i += 2 {
			m.AddString(fields[i], fields[i+1])
		}
		tx.Req = m
	}
	sess := new(model.Vars)
	txn := &model.Vars{Up: sess}
	tx.Vars = model.VarScopes{Proc: new(model.ProcVars), Sess: sess, Txn: txn, Flow: &model.Vars{Up: txn}, Check: new(model.Vars), Limits: new(model.VarLimits)}
	return tx
}

// Respond gives tx a response with a status and name, value pairs.
func Respond(tx *model.Txn, status int, fields ...string) {
	m := &msg.Message{IsResponse: true, Major: 1, Minor: 1}
	m.SetStatus(status)
	for i := 0; i+1 < len(fields); i += 2 {
		m.AddString(fields[i], fields[i+1])
	}
	tx.Res, tx.Dir = m, model.DirRes
}

// Parse compiles an expression or fails the test.
func Parse(t testing.TB, text string) *sample.Expr {
	t.Helper()
	e, err := sample.Parse(&sample.Scope{}, text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return e
}

// Text evaluates an expression to text as a log format would, "" and false without a value.
func Text(t testing.TB, tx *model.Txn, text string) (string, bool) {
	t.Helper()
	e := Parse(t, text)
	m := tx.Scratch.Mark()
	defer tx.Scratch.Release(m)
	b, ok := e.EvalStr(tx)
	return string(b), ok
}

// Value evaluates an expression; its bytes are copied.
func Value(t testing.TB, tx *model.Txn, text string) (model.Value, bool) {
	t.Helper()
	e := Parse(t, text)
	var v model.Value
	m := tx.Scratch.Mark()
	defer tx.Scratch.Release(m)
	ok := e.Eval(tx, &v)
	v.B = append([]byte(nil), v.B...)
	return v, ok
}

// ParseError returns the error of an expression that must not compile.
func ParseError(t testing.TB, text string) string {
	t.Helper()
	_, err := sample.Parse(&sample.Scope{}, text)
	if err == nil {
		t.Fatalf("%s: no error", text)
	}
	return err.Error()
}

// The methods of model.Stream.

func (s *Stream) Now() int64                  { return s.Mono }
func (s *Stream) Wall() time.Time             { return s.Date }
func (s *Stream) Record() *model.LogRecord    { return &s.Rec }
func (s *Stream) Client() netip.AddrPort      { return s.Src }
func (s *Stream) ClientLocal() netip.AddrPort { return s.Dst }
func (s *Stream) FrontConn() model.ConnState  { return s.Front }
func (s *Stream) BackConn() model.ConnState   { return s.Back }
func (s *Stream) Frontend() *model.Proxy      { return s.Fe }
func (s *Stream) Backend() *model.Proxy       { return s.Be }
func (s *Stream) Server() *model.Server       { return s.Srv }

func (s *Stream) Peek(d model.Dir) ([]byte, bool)           { return s.Data[d], s.Closed[d] }
func (s *Stream) Body(d model.Dir) ([]byte, bool)           { return s.Bodies[d], s.Complete[d] }
func (s *Stream) BodySize(d model.Dir) int64                { return s.Size[d] }
func (s *Stream) Captures(d model.Dir) [][]byte             { return s.Slots[d] }
func (s *Stream) UniqueID() []byte                          { return s.ID }
func (s *Stream) Retries() (int, bool)                      { return s.Tries, s.Moved }
func (s *Stream) Priority() (int, int)                      { return s.Class, s.Offset }
func (s *Stream) Bytes(d model.Dir) (in, out int64)         { return s.BytesIn[d], s.BytesOut[d] }
func (s *Stream) Timeout(k model.TimeoutKind) time.Duration { return s.Timeouts[k] }
func (s *Stream) Listener() model.ListenerState             { return s.Sock }
func (s *Stream) Thread() (thread, group int)               { return s.ThreadNum, s.Group }
func (s *Stream) Serial() uint32                            { return s.Num }
func (s *Stream) MaxRetries() int                           { return s.TryLimit }
func (s *Stream) Aborted(d model.Dir) bool                  { return s.Gone[d] }

func (s *Stream) Process() model.Runner {
	if s.Proc == nil {
		return new(Process)
	}
	return s.Proc
}

func (s *Stream) WaitingRule() (model.Position, bool) {
	if s.Waiting == nil {
		return model.Position{}, false
	}
	return *s.Waiting, true
}

// Process is a model.Runner made of plain fields.
type Process struct {
	Conns, Threads int
	Stop           bool
	Host           string
	Up             time.Duration
	Local          func(a netip.Addr) bool // nil: none is
}

func (p *Process) ActConn() int64            { return int64(p.Conns) }
func (p *Process) Stopping() bool            { return p.Stop }
func (p *Process) NbThread() int             { return p.Threads }
func (p *Process) Hostname() string          { return p.Host }
func (p *Process) Uptime() time.Duration     { return p.Up }
func (p *Process) IsLocal(a netip.Addr) bool { return p.Local != nil && p.Local(a) }

func (s *Stream) SetCapture(d model.Dir, slot int, value []byte) bool {
	if slot < 0 || slot >= len(s.Slots[d]) {
		return false
	}
	if s.MaxCapture > 0 && len(value) > s.MaxCapture {
		value = value[:s.MaxCapture]
	}
	s.Slots[d][slot] = append([]byte(nil), value...)
	return true
}

func (s *Stream) LastRule(d model.Dir) (model.Position, bool) {
	if s.Rule[d] == nil {
		return model.Position{}, false
	}
	return *s.Rule[d], true
}

var _ model.Stream = (*Stream)(nil)
