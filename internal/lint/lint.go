// Package lint holds the project's style as a program: `go test ./internal/lint`.
//
// Every rule names what it forbids and what to use instead. Rules are few, cheap and syntactic: they look at
// one file at a time, without type checking, so that they never lag behind the build. What a rule
// cannot see is left to review.
//
// rules.go has the table of banned calls, globals.go the search for mutable package state, length.go the
// ratchet for long functions and files.
package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"sort"
	"strings"
)

// A Finding is one breach of a rule.
type Finding struct {
	Path string // relative to the module's root
	Line int
	Text string // what is forbidden and what to use instead
}

func (f Finding) String() string { return fmt.Sprintf("%s:%d: %s", f.Path, f.Line, f.Text) }

// A File is one parsed source file.
type File struct {
	Path string // relative to the module's root, with slashes
	Src  []byte
	Fset *token.FileSet
	AST  *ast.File
}

// Test reports whether the file is compiled for tests only or belongs to the test tools.
func (f *File) Test() bool {
	return strings.HasSuffix(f.Path, "_test.go") || strings.HasPrefix(f.Path, "test/") || f.in("internal/lint")
}

// in reports whether the file lies in or below one of the folders.
func (f *File) in(dirs ...string) bool {
	for _, d := range dirs {
		if strings.HasPrefix(f.Path, d+"/") {
			return true
		}
	}
	return false
}

func (f *File) line(n ast.Node) int { return f.Fset.Position(n.Pos()).Line }

// Root is the module's root folder.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

// ParseSource parses one file's text.
func ParseSource(path string, src []byte) (*File, error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, path, src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	return &File{Path: path, Src: src, Fset: fset, AST: tree}, nil
}

// skipDir names folders that hold no sources of the project.
func skipDir(name string) bool {
	return name == ".git" || name == "testdata" || name == "vendor" || name == "node_modules"
}

// walk calls fn for every file below root with the path relative to it.
func walk(root string, fn func(path string) error) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skipDir(d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return fn(filepath.ToSlash(rel))
	})
}

// Load parses all Go files of the module, in path order.
func Load(root string) ([]*File, error) {
	var files []*File
	err := walk(root, func(path string) error {
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		src, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return err
		}
		f, err := ParseSource(path, src)
		if err != nil {
			return err
		}
		files = append(files, f)
		return nil
	})
	sort.Slice(files, func(i, j int) bool { return files[i].Path < files[j].Path })
	return files, err
}

// Gofmt reports files that gofmt would change.
func Gofmt(f *File) []Finding {
	out, err := format.Source(f.Src)
	if err != nil || bytes.Equal(out, f.Src) {
		return nil
	}
	return []Finding{{f.Path, 1, "not formatted: run gofmt -w"}}
}

// PackageDoc reports packages without a package comment in the file that is named after them.
func PackageDoc(files []*File) []Finding {
	docs := map[string]bool{}
	for _, f := range files {
		if f.Test() {
			continue
		}
		dir := filepath.Dir(f.Path)
		name := f.AST.Name.Name
		ok := f.AST.Doc != nil && (filepath.Base(f.Path) == name+".go" || filepath.Base(f.Path) == filepath.Base(dir)+".go")
		docs[dir] = docs[dir] || ok
	}
	var found []Finding
	for dir, ok := range docs {
		if !ok {
			found = append(found, Finding{dir + "/" + filepath.Base(dir) + ".go", 1,
				"the file named after the package must exist and hold the package comment"})
		}
	}
	sort.Slice(found, func(i, j int) bool { return found[i].Path < found[j].Path })
	return found
}

// leftover matches notes that belong into an issue, not into the code. Built from parts, so that this
// file does not report itself.
var leftover = regexp.MustCompile(`\b(` + "TO" + "DO|FIX" + "ME|XX" + "X|HA" + `CK)\b`)

// machine matches paths of one machine.
var machine = regexp.MustCompile(`(^|[^\w./-])/(` + "wo" + "rk|ro" + "ot|ho" + `me/[a-z]+)/`)

// Words reports leftover notes and paths of one machine in any text file.
func Words(path string, text []byte) []Finding {
	var found []Finding
	for i, line := range bytes.Split(text, []byte("\n")) {
		if m := leftover.Find(line); m != nil {
			found = append(found, Finding{path, i + 1, string(m) + " is left over: do it, or open an issue and name it"})
		}
		if m := machine.Find(line); m != nil {
			found = append(found, Finding{path, i + 1, "path of one machine: " + strings.TrimSpace(string(m))})
		}
	}
	return found
}
