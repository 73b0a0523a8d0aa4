package fetchhttp_test

import (
	"bytes"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	_ "weir/internal/kw/fetchbuf"
	_ "weir/internal/kw/fetchhttp"
	"weir/internal/lang/config"
	"weir/internal/lang/sample"
	"weir/internal/lang/sample/sampletest"
	"weir/internal/model"
	"weir/internal/wire/h1"
	"weir/internal/wire/msg"
)

// The files of testdata are what HAProxy 3.5 answers. A block is a message,
//
//	req "GET / HTTP/1.1\r\n..."      or      res "HTTP/1.1 200 OK\r\n..."
//
// and rows of an expression and its value as a Go string, or "none" without
// one, or "error" when it does not compile. "x " before an expression: the value
// is bytes. "? " before one: it is a condition, true or none. "#" starts a comment;
// rows that begin with "! " are differences, kept on purpose: the value is weir's.

// block is a message of an oracle file.
type block struct {
	kind, raw string
	line      int
	rows      []row
}

type row struct {
	line       int
	expr, want string
}

func readBlocks(t *testing.T, name string) (blocks []block) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '\t':
			expr, want, ok := strings.Cut(strings.TrimPrefix(line[1:], "! "), "\t")
			if !ok {
				t.Fatalf("%s:%d: no value", name, i+1)
			}
			b := &blocks[len(blocks)-1]
			b.rows = append(b.rows, row{i + 1, expr, want})
		default:
			kind, quoted, _ := strings.Cut(line, " ")
			raw, err := strconv.Unquote(quoted)
			if err != nil {
				t.Fatalf("%s:%d: %v", name, i+1, err)
			}
			blocks = append(blocks, block{kind: kind, raw: raw, line: i + 1})
		}
	}
	return blocks
}

// transaction parses the message of a block.
func transaction(t *testing.T, b *block) *model.Txn {
	t.Helper()
	s := &sampletest.Stream{Src: netip.MustParseAddrPort("127.0.0.1:1234"), Fe: &model.Proxy{Mode: model.ModeHTTP}}
	tx := &model.Txn{S: s, Final: true}
	tx.Scratch.Init(&model.ScratchPool{}, 65536)
	raw := []byte(b.raw)
	if b.kind == "res" {
		tx.Dir = model.DirRes
		raw = []byte("GET /q HTTP/1.1\r\nHost: h\r\n\r\n")
	}
	tx.Req = new(msg.Message)
	var p h1.Parser
	n, e := p.ParseRequest(raw, tx.Req, &h1.Options{})
	if e != nil || n == 0 {
		t.Fatalf("line %d: the request is refused: %v", b.line, e)
	}
	fillBody(s, model.DirReq, tx.Req, raw[n:])
	s.Rec = model.LogRecord{HTTP: true, Method: tx.Req.MethodName, URI: tx.Req.Target, Status: -1}
	if b.kind == "res" {
		tx.Res = new(msg.Message)
		raw = []byte(b.raw)
		n, e := p.ParseResponse(raw, tx.Res, tx.Req.Method, &h1.Options{})
		if e != nil || n == 0 {
			t.Fatalf("line %d: the response is refused: %v", b.line, e)
		}
		fillBody(s, model.DirRes, tx.Res, raw[n:])
		s.Rec.Status = tx.Res.Status
	}
	return tx
}

// fillBody gives the stream a body that has arrived.
func fillBody(s *sampletest.Stream, d model.Dir, m *msg.Message, rest []byte) {
	switch m.Framing {
	case msg.Length:
		n := min(int64(len(rest)), m.ContentLength)
		s.Bodies[d], s.Complete[d], s.Size[d] = rest[:n], n == m.ContentLength, m.ContentLength
	case msg.UntilClose:
		s.Bodies[d], s.Size[d] = rest, int64(len(rest))
	case msg.Chunked:
		var dec h1.ChunkDecoder
		dec.Reset(nil)
		for len(rest) > 0 {
			p, err := dec.Next(rest, m)
			if err != nil || p.Used == 0 {
				break
			}
			s.Bodies[d] = append(s.Bodies[d], p.Data...)
			rest = rest[p.Used:]
			s.Complete[d] = s.Complete[d] || p.Done
		}
		s.Size[d] = int64(len(s.Bodies[d]))
	default:
		s.Complete[d] = true
	}
}

const userlists = `
userlist L1
 group G1 users tiger,scott
 group G2 users xdb,scott
 user tiger password $6$k6y3o.eP$BwJA8U.5GUwTa.ZFugoycGBvxfaM2lT8q4ePH.nq8T8pcRYDx2peTnGVfI7unh.DH0So8YGHwItjT4x8pkizG/
 user scott insecure-password elgato
 user xdb insecure-password hello
 user m5 password $1$abcdefgh$IQtUouv7y7Q9dRWkQEPCc. groups G1
 user s2 password $5$saltsalt$0rl.MZtoLLPP3X0Rdl8riRnphIcAXJY27/aOAyK2hB5
 user des password abzlUXK5ed5rs
 user bc password $2b$04$abcdefghijklmnopqrstuuyvPXIbu7xe6/CED2DzX8z6Si09MlzlW
 user nopass
userlist L2
 group G1
 group G2
 user tiger password $6$k6y3o.eP$BwJA8U.5GUwTa.ZFugoycGBvxfaM2lT8q4ePH.nq8T8pcRYDx2peTnGVfI7unh.DH0So8YGHwItjT4x8pkizG/ groups G1
 user scott insecure-password 'elgato' groups G1,G2
`

// lists loads the userlists.
func lists(t testing.TB) *model.Config {
	t.Helper()
	cfg := &model.Config{Global: &model.Global{}}
	res, diags := config.Load(config.Options{
		Files: []string{"t.cfg"}, Root: cfg,
		ReadDir:  func(string) ([]string, bool, error) { return nil, false, nil },
		ReadFile: func(string) ([]byte, error) { return []byte(userlists), nil },
	})
	if res.Failed {
		t.Fatal(diags)
	}
	return cfg
}

// value evaluates an expression to the notation of the files.
func value(tx *model.Txn, e *sample.Expr, raw bool) string {
	var v model.Value
	m := tx.Scratch.Mark()
	defer tx.Scratch.Release(m)
	if !e.Eval(tx, &v) {
		return "none"
	}
	if !raw && !sample.Cast(tx, &v, model.TypeStr) {
		return "none"
	}
	return strconv.Quote(string(v.B))
}

// holds evaluates "expression [-m method] value ...".
func holds(t *testing.T, tx *model.Txn, sc *sample.Scope, text string) bool {
	t.Helper()
	words := strings.Fields(text)
	e, err := sample.Parse(sc, words[0])
	if err != nil {
		t.Fatal(err)
	}
	method, patterns := "", words[1:]
	if len(patterns) > 0 && patterns[0] == "-m" {
		method, patterns = patterns[1], patterns[2:]
	}
	var v model.Value
	found := false
	m := tx.Scratch.Mark()
	defer tx.Scratch.Release(m)
	for state, n := 0, 0; n < 1000; n++ {
		if e.Fetch.Next != nil && !e.Next(tx, &v, &state) || e.Fetch.Next == nil && (n > 0 || !e.Eval(tx, &v)) {
			break
		}
		found = found || method == "found" || len(patterns) == 0 && v.Bool()
		if method == "len" {
			found = found || strconv.Itoa(len(v.B)) == patterns[0]
			continue
		}
		is6 := v.Type == model.TypeIPv6 && v.IP.Is4In6()
		sample.Cast(tx, &v, model.TypeStr)
		for _, p := range patterns {
			found = found || string(v.B) == p || is6 && strings.TrimPrefix(string(v.B), "::ffff:") == p
		}
	}
	return found
}

func TestOracle(t *testing.T) {
	cfg := lists(t)
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	total := 0
	for _, name := range files {
		for _, b := range readBlocks(t, name) {
			tx := transaction(t, &b)
			for _, r := range b.rows {
				total++
				sc := &sample.Scope{Conf: cfg, Valid: sample.FrontHTTPRequest}
				if b.kind == "res" {
					sc.Valid = sample.FrontHTTPResponse
				}
				if cond, ok := strings.CutPrefix(r.expr, "? "); ok {
					if got := holds(t, tx, sc, cond); got != (r.want != "none") {
						t.Errorf("%s:%d: %s is %v", name, r.line, cond, got)
					}
					continue
				}
				text, raw := strings.CutPrefix(r.expr, "x ")
				e, err := sample.Parse(sc, text)
				if err != nil {
					if r.want != "error" {
						t.Errorf("%s:%d: %v", name, r.line, err)
					}
					continue
				}
				if r.want == "error" {
					t.Errorf("%s:%d: %s compiles", name, r.line, text)
					continue
				}
				if got := value(tx, e, raw); !sameValue(got, r.want) {
					t.Errorf("%s:%d: %s = %s, want %s", name, r.line, text, got, r.want)
				}
			}
		}
	}
	if total < 4000 {
		t.Errorf("%d rows", total)
	}
}

func sameValue(got, want string) bool {
	if got == want {
		return true
	}
	g, err1 := strconv.Unquote(got)
	w, err2 := strconv.Unquote(want)
	return err1 == nil && err2 == nil && bytes.Equal([]byte(g), []byte(w))
}
