package lint

import (
	"bufio"
	"bytes"
	"fmt"
	"go/ast"
	"sort"
	"strings"
)

// Limits of length, in lines. init functions, which are tables of registrations, are not counted; what else is
// rightly longer stands in testdata/ratchet.txt.
const (
	FuncMax     = 70   // a function of the product
	TestFuncMax = 100  // a function of a test: tables of cases
	FileMax     = 600  // a file of the product
	TestFileMax = 1000 // a test file: many small functions
)

// Lengths returns what is too long: "func PATH:NAME" or "file PATH" with the number of lines.
func Lengths(files []*File) map[string]int {
	long := map[string]int{}
	for _, f := range files {
		limit, funcLimit := FileMax, FuncMax
		if f.Test() {
			limit, funcLimit = TestFileMax, TestFuncMax
		}
		if n := bytes.Count(f.Src, []byte("\n")); n > limit {
			long["file "+f.Path] = n
		}
		for _, d := range f.AST.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || fn.Name.Name == "init" && fn.Recv == nil {
				continue
			}
			n := f.Fset.Position(fn.End()).Line - f.Fset.Position(fn.Pos()).Line + 1
			if n > funcLimit {
				long["func "+f.Path+":"+funcName(fn)] = n
			}
		}
	}
	return long
}

// funcName is Name or Type.Name.
func funcName(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	t := fn.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if idx, ok := t.(*ast.IndexExpr); ok {
		t = idx.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name + "." + fn.Name.Name
	}
	return fn.Name.Name
}

// ParseRatchet reads "func PATH:NAME LINES" and "file PATH LINES" lines; '#' starts a comment.
func ParseRatchet(text []byte) (map[string]int, error) {
	m := map[string]int{}
	sc := bufio.NewScanner(bytes.NewReader(text))
	for line := 1; sc.Scan(); line++ {
		t, _, _ := strings.Cut(sc.Text(), "#")
		f := strings.Fields(t)
		if len(f) == 0 {
			continue
		}
		var n int
		if len(f) != 3 || f[0] != "func" && f[0] != "file" {
			return nil, fmt.Errorf("line %d: want 'func PATH:NAME LINES' or 'file PATH LINES'", line)
		}
		if _, err := fmt.Sscanf(f[2], "%d", &n); err != nil {
			return nil, fmt.Errorf("line %d: %q is not a number of lines", line, f[2])
		}
		m[f[0]+" "+f[1]] = n
	}
	return m, sc.Err()
}

// Ratchet compares what is too long with what may be so. An entry that grew is an error; so is one that
// shrank or is gone, until the list says so: the list can only get shorter.
func Ratchet(long, may map[string]int) []string {
	var errs []string
	for what, n := range long {
		limit, ok := may[what]
		switch {
		case !ok:
			errs = append(errs, fmt.Sprintf("%s has %d lines: split it (functions %d, files %d; tests %d, %d)", what, n, FuncMax, FileMax, TestFuncMax, TestFileMax))
		case n > limit:
			errs = append(errs, fmt.Sprintf("%s grew from %d to %d lines: it may only shrink", what, limit, n))
		case n < limit:
			errs = append(errs, fmt.Sprintf("%s shrank from %d to %d lines: well done, run go test ./internal/lint -args -shrink", what, limit, n))
		}
	}
	for what := range may {
		if _, ok := long[what]; !ok {
			errs = append(errs, fmt.Sprintf("%s is no longer too long: well done, run go test ./internal/lint -args -shrink", what))
		}
	}
	sort.Strings(errs)
	return errs
}

// Shrink rewrites a ratchet list: lower numbers are taken over, entries that are fine now go, nothing is added
// and nothing rises. Comments stay.
func Shrink(text []byte, long map[string]int) []byte {
	var out bytes.Buffer
	for _, line := range strings.SplitAfter(string(text), "\n") {
		body, comment, hasComment := strings.Cut(line, "#")
		f := strings.Fields(body)
		if len(f) != 3 {
			out.WriteString(line)
			continue
		}
		n, ok := long[f[0]+" "+f[1]]
		if !ok {
			continue
		}
		var old int
		if _, err := fmt.Sscanf(f[2], "%d", &old); err == nil {
			n = min(n, old)
		}
		fmt.Fprintf(&out, "%s %s %d", f[0], f[1], n)
		if hasComment {
			out.WriteString(" #" + strings.TrimRight(comment, "\n"))
		}
		out.WriteByte('\n')
	}
	return out.Bytes()
}
