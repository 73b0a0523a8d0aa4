package fetchbuf_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	_ "weir/internal/kw/fetchbuf"
	_ "weir/internal/kw/fetchhttp"
	"weir/internal/lang/sample"
	"weir/internal/lang/sample/sampletest"
	"weir/internal/model"
)

// The files of testdata are what HAProxy 3.5 does in a TCP proxy. A block is
// what the client has sent: "tcp" and a Go string when it says no more but stays, "fin"
// when it has closed. A row has an expression and a value, as a Go string, at
// the end of the inspection ("none" without one, "error" when it does not
// compile); or "? condition" and its result while more may come: "match", "none"
// or "wait". Rows that begin with "! " differ on purpose: they hold weir's result.

type row struct {
	line       int
	expr, want string
}

type block struct {
	closed bool
	data   []byte
	rows   []row
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
			blocks = append(blocks, block{closed: kind == "fin", data: []byte(raw)})
		}
	}
	return blocks
}

// newTxn is a TCP stream that has received data.
func newTxn(data []byte, closed bool) *model.Txn {
	s := &sampletest.Stream{Fe: &model.Proxy{Mode: model.ModeTCP}}
	s.Data[model.DirReq], s.Closed[model.DirReq] = data, closed
	tx := &model.Txn{S: s}
	tx.Scratch.Init(&model.ScratchPool{}, 0)
	return tx
}

// verdict evaluates "expression [-m method] value ..." while more may come.
func verdict(t *testing.T, tx *model.Txn, text string) string {
	t.Helper()
	words := strings.Fields(text)
	e, err := sample.Parse(&sample.Scope{}, words[0])
	if err != nil {
		t.Fatal(text, err)
	}
	method, patterns := "", words[1:]
	if len(patterns) > 0 && patterns[0] == "-m" {
		method, patterns = patterns[1], patterns[2:]
	}
	var v model.Value
	found := false
	tx.Wait = false
	for state, n := 0, 0; n < 100; n++ {
		if e.Fetch.Next != nil && !e.Next(tx, &v, &state) || e.Fetch.Next == nil && (n > 0 || !e.Eval(tx, &v)) {
			break
		}
		found = found || holds(tx, &v, method, patterns)
	}
	switch {
	case found:
		return "match"
	case tx.Wait:
		return "wait"
	}
	return "none"
}

// holds compares one value with patterns: numbers with an operator, versions such as 3.1:3.4, texts, bytes in hexadecimal.
func holds(tx *model.Txn, v *model.Value, method string, patterns []string) bool {
	if method == "found" {
		return true
	}
	if len(patterns) == 0 {
		return v.Bool()
	}
	if len(patterns) == 2 { // operator
		n, _ := strconv.ParseInt(patterns[1], 10, 64)
		switch patterns[0] {
		case "gt":
			return v.Num > n
		case "ge":
			return v.Num >= n
		case "lt":
			return v.Num < n
		}
	}
	if lo, hi, ok := strings.Cut(patterns[0], ":"); ok {
		return v.Num >= version(lo) && v.Num <= version(hi)
	}
	if v.Type == model.TypeSint && strings.Contains(patterns[0], ".") {
		return v.Num == version(patterns[0])
	}
	if method == "bin" {
		want := make([]byte, 0, 8)
		for i := 0; i+1 < len(patterns[0]); i += 2 {
			n, _ := strconv.ParseUint(patterns[0][i:i+2], 16, 8)
			want = append(want, byte(n))
		}
		return string(v.B) == string(want)
	}
	sample.Cast(tx, v, model.TypeStr)
	return string(v.B) == patterns[0]
}

func version(s string) int64 {
	major, minor, _ := strings.Cut(s, ".")
	a, _ := strconv.ParseInt(major, 10, 64)
	b, _ := strconv.ParseInt(minor, 10, 64)
	return a<<16 | b
}

func TestOracle(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	total := 0
	for _, name := range files {
		for _, b := range readBlocks(t, name) {
			for _, r := range b.rows {
				total++
				tx := newTxn(b.data, b.closed)
				tx.Final = b.closed
				if cond, ok := strings.CutPrefix(r.expr, "? "); ok {
					if got := verdict(t, tx, cond); got != r.want {
						t.Errorf("%s:%d: %s: %s, want %s", name, r.line, cond, got, r.want)
					}
					continue
				}
				text, raw := strings.CutPrefix(r.expr, "x ")
				e, err := sample.Parse(&sample.Scope{}, text)
				if err != nil || r.want == "error" {
					if (err != nil) != (r.want == "error") {
						t.Errorf("%s:%d: %s: %v", name, r.line, text, err)
					}
					continue
				}
				tx.Final = true
				if got := value(tx, e, raw); got != r.want {
					t.Errorf("%s:%d: %s = %s, want %s", name, r.line, text, got, r.want)
				}
				if tx.Wait {
					t.Errorf("%s:%d: %s waits at the end", name, r.line, text)
				}
			}
		}
	}
	if total < 1500 {
		t.Errorf("%d rows", total)
	}
}

// value evaluates an expression to the notation of the files.
func value(tx *model.Txn, e *sample.Expr, raw bool) string {
	var v model.Value
	if !e.Eval(tx, &v) || !raw && !sample.Cast(tx, &v, model.TypeStr) {
		return "none"
	}
	return quote(v.B)
}

// quote writes a string as the files have it.
func quote(b []byte) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, c := range b {
		switch {
		case c == '"' || c == '\\':
			out.WriteByte('\\')
			out.WriteByte(c)
		case c == '\r':
			out.WriteString(`\r`)
		case c == '\n':
			out.WriteString(`\n`)
		case c == '\t':
			out.WriteString(`\t`)
		case c >= 32 && c < 127:
			out.WriteByte(c)
		default:
			const hex = "0123456789abcdef"
			out.WriteString(`\x`)
			out.WriteByte(hex[c>>4])
			out.WriteByte(hex[c&15])
		}
	}
	out.WriteByte('"')
	return out.String()
}
