package lint

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var shrink = flag.Bool("shrink", false, "rewrite testdata/ratchet.txt with lower numbers")

// tree parses the module once.
var tree = sync.OnceValues(func() ([]*File, error) { return Load(Root()) })

func files(t *testing.T) []*File {
	t.Helper()
	f, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFormatted(t *testing.T) {
	for _, f := range files(t) {
		report(t, Gofmt(f))
	}
}

func TestNothingForbidden(t *testing.T) {
	for _, f := range files(t) {
		report(t, Banned(f))
	}
}

func TestPackageComments(t *testing.T) { report(t, PackageDoc(files(t))) }

func TestNoMutablePackageState(t *testing.T) {
	report(t, Globals(files(t), allowList(t, "testdata/globals.txt")))
}

// TestNothingLeftOver looks at all text files of the repository.
func TestNothingLeftOver(t *testing.T) {
	root := Root()
	err := walk(root, func(path string) error {
		switch filepath.Ext(path) {
		case ".go", ".md", ".txt", ".sh", ".cfg", ".mod", ".yml", "":
		default:
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil || len(text) > 4<<20 || strings.ContainsRune(string(text), 0) {
			return err
		}
		report(t, Words(path, text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDocumentsNameWhatExists keeps names of tests, files and pages in documents true.
func TestDocumentsNameWhatExists(t *testing.T) {
	root, tests := Root(), Tests(files(t))
	err := walk(root, func(path string) error {
		if filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		if err == nil {
			report(t, Mentions(root, path, text, tests))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestLengthRatchet(t *testing.T) {
	const list = "testdata/ratchet.txt"
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	long := Lengths(files(t))
	if *shrink {
		if err := os.WriteFile(list, Shrink(text, long), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	may, err := ParseRatchet(text)
	if err != nil {
		t.Fatalf("%s: %v", list, err)
	}
	for _, e := range Ratchet(long, may) {
		t.Error(e)
	}
}

// TestAllowListIsUsed keeps reasons for variables that are gone out of the list.
func TestAllowListIsUsed(t *testing.T) {
	declared := map[string]bool{}
	for _, f := range files(t) {
		for name := range packageVars([]*File{f}) {
			declared[filepath.ToSlash(filepath.Dir(f.Path))+"."+name] = true
		}
	}
	for name := range allowList(t, "testdata/globals.txt") {
		if !declared[name] {
			t.Errorf("testdata/globals.txt allows %s, which does not exist", name)
		}
	}
}

func report(t *testing.T, found []Finding) {
	t.Helper()
	for _, f := range found {
		t.Error(f)
	}
}

// allowList reads "folder.name reason" lines; the reason is required.
func allowList(t *testing.T, path string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]bool{}
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		name, reason, ok := strings.Cut(line, " ")
		if !ok || strings.TrimSpace(reason) == "" {
			t.Fatalf("%s:%d: want 'folder.name reason'", path, i+1)
		}
		m[name] = true
	}
	return m
}

// TestRulesFire shows each rule a piece of code that breaks it.
func TestRulesFire(t *testing.T) {
	f := func(path, src, want string) {
		t.Helper()
		file, err := ParseSource(path, []byte("package p\n"+src))
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		var all []string
		for _, x := range append(Banned(file), Globals([]*File{file}, nil)...) {
			all = append(all, x.Text)
		}
		got := strings.Join(all, "\n")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %s\n\tgot  %s\n\twant %s", path, src, got, want)
		}
	}
	const product, hotFile = "internal/lang/x/x.go", "internal/engine/x/x.go"
	f("internal/lang/x/x_test.go", `import "time"; func f() { time.Sleep(1) }`, "test/wait.Until")
	f(product, `import t "time"; func f() { t.Sleep(1) }`, "time.Sleep is forbidden")
	f(product, `import "time"; func f() { _ = time.Now() }`, "")
	f(hotFile, `import "time"; func f() { _ = time.Now() }`, "Loop.Now")
	f(hotFile, `func f() { go f() }`, "go statement")
	f(product, `func f() { go f() }`, "")
	f(product, `import "fmt"; func f() { fmt.Println() }`, "fmt.Println is forbidden")
	f(product, `import "fmt"; func f() { _ = fmt.Sprint() }`, "")
	f("cmd/weir/main.go", `import "fmt"; func f() { fmt.Println() }`, "")
	f(product, `import "os"; func f() { os.Exit(1) }`, "os.Exit is forbidden")
	f("internal/engine/y/y.go", `func f() { panic(1) }`, "panic is forbidden")
	f("internal/base/assert/assert.go", `func f() { panic(1) }`, "")
	f(product, `func f() { recover() }`, "recover is forbidden")
	f(product, `import "unsafe"; var x = unsafe.Sizeof(1)`, "*_unsafe.go")
	f("internal/rt/sys/ring_unsafe.go", `import "unsafe"; var x = unsafe.Sizeof(1)`, "")
	f(product, `import "math/rand"; func f() int { return rand.Int() }`, "seed")
	f(product, `import "math/rand/v2"; func f() int { return rand.IntN(3) }`, "seed")
	f(product, `var m = map[int]int{}; func f() { m[1] = 2 }`, `"m" is assigned to`)
	f(product, `var m = map[int]int{}; func init() { m[1] = 2 }`, "")
	f(product, `var m = map[int]int{}; func f() { delete(m, 1) }`, `"m" is changed`)
	f(product, `var n int; func f() { n++ }`, `"n" is changed`)
	f(product, `var n struct{ a int }; func f() { n.a = 1 }`, `"n" is assigned to`)
	f(product, `var n int; func f() { n := 1; n++ }`, "")
	f(product, `var n int; func f(n int) { n++ }`, "")
	f(product, `import "sync"; var mu sync.Mutex`, "package-level sync.Mutex")
	f(product, `import "sync/atomic"; var p atomic.Pointer[int]`, "package-level atomic.Pointer")
}

func TestMentions(t *testing.T) {
	tests := map[string]bool{"TestOne": true}
	for text, want := range map[string]int{
		"see TestOne":                     0,
		"see Test" + "Two":                1,
		"all of Test" + "O...":            0,
		"in `internal/lint` and `docs/x`": 1,
		"a [page](no/such.md)":            1,
	} {
		if got := Mentions(Root(), "README.md", []byte(text), tests); len(got) != want {
			t.Errorf("%q: %v, want %d findings", text, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	for _, bad := range []string{"// TO" + "DO later", "see /wo" + "rk/x", "# FIX" + "ME"} {
		if len(Words("x", []byte(bad))) != 1 {
			t.Errorf("%q was not reported", bad)
		}
	}
	for _, good := range []string{"a todo list", "net/work/x", "https://example/home/x/y"} {
		if got := Words("x", []byte(good)); len(got) != 0 {
			t.Errorf("%q was reported: %v", good, got)
		}
	}
}

func TestRatchetOnlyShrinks(t *testing.T) {
	may, err := ParseRatchet([]byte("# c\nfunc a.go:F 100\nfile b.go 700 # table\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		long map[string]int
		errs int
	}{
		{map[string]int{"func a.go:F": 100, "file b.go": 700}, 0},
		{map[string]int{"func a.go:F": 101, "file b.go": 700}, 1},
		{map[string]int{"func a.go:F": 99, "file b.go": 700}, 1},
		{map[string]int{"file b.go": 700}, 1},
		{map[string]int{"func a.go:F": 100, "file b.go": 700, "file c.go": 601}, 1},
	} {
		if got := Ratchet(c.long, may); len(got) != c.errs {
			t.Errorf("%v: %q, want %d errors", c.long, got, c.errs)
		}
	}
	got := Shrink([]byte("# c\nfunc a.go:F 100\nfile b.go 700 # table\n"), map[string]int{"file b.go": 650, "file c.go": 900})
	if want := "# c\nfile b.go 650 # table\n"; string(got) != want {
		t.Errorf("Shrink gives %q, want %q", got, want)
	}
}
