package lint

import (
	"fmt"
	"go/ast"
	"path"
	"strconv"
	"strings"
)

// A ban forbids a call or a name of a package, such as time.Sleep, outside some folders.
type ban struct {
	pkg, name string   // import path and identifier; a '*' at the end of name stands for any rest
	tests     bool     // tests too, not only the product
	only      []string // when set: the ban holds in these folders only
	except    []string // folders where it is right
	instead   string
}

// cold is where no connection waits: start-up, shutdown and tools.
var cold = []string{"cmd", "internal/proc"}

// hot is where connections are served: nothing there may block, spawn or ask the kernel for the time.
var hot = []string{"internal/base", "internal/wire", "internal/link", "internal/model", "internal/engine"}

// seeded is what replaces the shared random source.
const seeded = "rand.New with a seed that a failing test prints"

// mayPanic lists where a broken rule of the program itself ends in a panic: the assertions, the registries while they
// are filled, and the runtime, whose callers are all in this module.
var mayPanic = []string{"internal/base/assert", "internal/base/registry", "internal/lang/config", "internal/rt", "internal/lang/sample", "internal/feat/cli", "docs/compat"}

// bans is the list of forbidden names.
var bans = []ban{
	{pkg: "time", name: "Sleep", tests: true, except: []string{"internal/proc"}, instead: "test/wait.Until in tests, a loop.Timer or Fiber.Park with a deadline in the product"},
	{pkg: "time", name: "Tick", tests: true, instead: "test/wait.Until in tests, a loop.Timer in the product"},
	{pkg: "time", name: "Now", only: hot, instead: "Loop.Now or Loop.Wall, which cost no system call and can be simulated"},
	{pkg: "time", name: "Since", only: hot, instead: "a difference of Loop.Now"},
	{pkg: "time", name: "After", only: hot, instead: "a loop.Timer"},
	{pkg: "time", name: "AfterFunc", only: hot, instead: "a loop.Timer"},
	{pkg: "fmt", name: "Print*", except: cold, instead: "a diagnostic (base/diag) or a log message"},
	{pkg: "os", name: "Exit", except: cold, instead: "an error that proc turns into an exit code"},
	{pkg: "log", name: "*", tests: true, instead: "a diagnostic (base/diag) or a log message"},
	{pkg: "runtime", name: "LockOSThread", except: []string{"internal/rt", "internal/proc"}, instead: "nothing: the loop locks its thread, once (fiber law 1)"},
	{pkg: "iter", name: "Pull*", tests: false, except: []string{"internal/rt/loop"}, instead: "Loop.Go (fiber law 1)"},
	{pkg: "math/rand", name: "Int*", tests: true, instead: seeded},
	{pkg: "math/rand", name: "Perm", tests: true, instead: seeded},
	{pkg: "math/rand", name: "Shuffle", tests: true, instead: seeded},
	{pkg: "math/rand", name: "Seed", tests: true, instead: seeded},
	{pkg: "math/rand/v2", name: "Int*", tests: true, instead: seeded},
	{pkg: "math/rand/v2", name: "N", tests: true, instead: seeded},
	{pkg: "math/rand/v2", name: "Perm", tests: true, instead: seeded},
	{pkg: "math/rand/v2", name: "Shuffle", tests: true, instead: seeded},
}

// match reports whether the ban holds in f for a name of its package.
func (b *ban) match(f *File, name string) bool {
	if f.Test() && !b.tests || f.in(b.except...) || len(b.only) > 0 && !f.in(b.only...) {
		return false
	}
	if rest, ok := strings.CutSuffix(b.name, "*"); ok {
		return strings.HasPrefix(name, rest)
	}
	return name == b.name
}

// imports maps the names under which packages are known in a file to their paths.
func imports(f *File) map[string]string {
	m := map[string]string{}
	for _, spec := range f.AST.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(p)
		if name == "v2" {
			name = path.Base(path.Dir(p))
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		m[name] = p
	}
	return m
}

// Banned reports forbidden names and statements of one file.
func Banned(f *File) []Finding {
	found := unsafeImport(f)
	names := imports(f)
	add := func(n ast.Node, format string, args ...any) {
		found = append(found, Finding{f.Path, f.line(n), fmt.Sprintf(format, args...)})
	}
	ast.Inspect(f.AST, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok || names[x.Name] == "" {
				return true
			}
			for i := range bans {
				if bans[i].pkg == names[x.Name] && bans[i].match(f, n.Sel.Name) {
					add(n, "%s.%s is forbidden here: use %s", bans[i].pkg, n.Sel.Name, bans[i].instead)
				}
			}
		case *ast.GoStmt:
			if f.in(hot...) && !f.Test() {
				add(n, "go statement on the data path: use Loop.Go, or Fiber.Offload for what blocks")
			}
		case *ast.CallExpr:
			builtin(f, n, add)
		}
		return true
	})
	return found
}

// builtin reports calls of built-in functions that have a place of their own.
func builtin(f *File, n *ast.CallExpr, add func(ast.Node, string, ...any)) {
	id, ok := n.Fun.(*ast.Ident)
	if !ok || f.Test() {
		return
	}
	switch id.Name {
	case "panic":
		if !f.in(mayPanic...) {
			add(n, "panic is forbidden here: use base/assert for what cannot happen, an error for what can")
		}
	case "recover":
		if !f.in("internal/rt/loop", "internal/proc") {
			add(n, "recover is forbidden here: a panic surfaces in the loop and nowhere else (fiber law 2)")
		}
	case "print", "println":
		add(n, "%s is forbidden: use a diagnostic (base/diag) or a log message", id.Name)
	}
}

// unsafeImport reports package unsafe in a file whose name does not say so.
func unsafeImport(f *File) []Finding {
	for _, spec := range f.AST.Imports {
		if spec.Path.Value == `"unsafe"` && !strings.Contains(path.Base(f.Path), "_unsafe") {
			return []Finding{{f.Path, f.line(spec), "package unsafe: only in files named *_unsafe.go"}}
		}
	}
	return nil
}
