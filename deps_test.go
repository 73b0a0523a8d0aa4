package weir_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// order is the import order of the whole program.
//
// A line is a floor. A package may import every package of the floors above its line, and on its own floor
// those that stand before it: "a < b" means that b may import a. Packages in braces are peers: they may
// not import each other. "*" stands for all packages of the floor that are not named. What is not written here does not
// build: a new package needs a place first.
const order = `
data:   docs/compat
base:   ascii < budget < hash < xxh < assert < units < addr < diag < registry < counter < buf
rt:     clock < sys < poll < loop < sock < offload
wire:   msg < { h1 syslog proxyproto tlsname clienthello httpcache } < h1/corpus
link:   conn < tlsconn < mux < { tcpmux h1mux }
model:  .
lang:   config < { sample regex } < vars < pattern < logfmt < acl < rule < eval
engine: applet < stats < cookie < queue < server < balance < backend < frontend < statcol < stream < session < listen
feat:   { * }
kw:     guid < errors < { * } < .
all:    .
proc:   { args limits sandbox signals } < keeper < generation < { * } < boot
cmd:    weir
`

// pairs are edges between peers that are wanted nevertheless, with the reason.
var pairs = map[string]string{}

// never are imports that no package, or no package below one of the folders, may have.
var never = []struct {
	path   string   // import path; a trailing /... takes those below it
	in     []string // folders below internal; none: everywhere
	except []string // folders below internal or cmd
	reason string
}{
	{path: "net/http/...", reason: "it rewrites names, drops trailers and interim answers, and reorders fields: it cannot carry traffic"},
	{path: "net/url", reason: "it refuses and rewrites targets that the reference passes on; use wire/msg"},
	{path: "log/...", reason: "messages go through base/diag at start and through feat/logs after"},
	{path: "encoding/gob", reason: "formats are those of the reference"},
	{path: "html/template", reason: "it brings reflection and most of text/template"},
	{path: "testing/...", reason: "product code does not know that it is tested"},
	{path: "os/exec", except: []string{"proc"}, reason: "nothing is executed once traffic runs"},
	{path: "reflect", in: []string{"base", "rt", "wire", "link", "engine"}, reason: "the data path neither allocates nor guesses types"},
	{path: "context", in: []string{"base", "rt", "wire", "link", "engine"}, reason: "a fiber is cancelled by its loop; contexts allocate and start goroutines"},
	{path: "os/...", in: []string{"base", "wire", "link", "engine"}, except: []string{"wire/h1/corpus"}, reason: "no file is touched while traffic runs"},
	{path: "net", in: []string{"base", "wire", "link", "model", "engine"}, reason: "sockets belong to rt; addresses are net/netip"},
	{path: "syscall", in: []string{"base", "wire"}, reason: "these floors know no operating system"},
	{path: "golang.org/x/sys/...", in: []string{"base", "wire", "link", "lang", "engine", "model"}, reason: "system calls belong to rt and proc"},
	{path: "weir/internal/link/h1mux", in: []string{"engine/stream"}, reason: "the stream knows no mux, only their contract"},
	{path: "weir/internal/link/tcpmux", in: []string{"engine/stream"}, reason: "the stream knows no mux, only their contract"},
}

// modules are the only ones outside the standard library.
var modules = []string{"golang.org/x/sys/"}

// rank is a package's place in the order.
type rank struct{ floor, step int }

// places is the parsed order.
type places struct {
	names []string        // floors, lowest first
	known map[string]rank // "floor/pkg", or "floor" for "."
	rest  map[string]rank // floor -> place of "*"
}

// parseOrder reads the text above.
func parseOrder(text string) (*places, error) {
	p := &places{known: map[string]rank{}, rest: map[string]rank{}}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		floor, list, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("no floor in %q", line)
		}
		p.names = append(p.names, floor)
		for step, group := range strings.Split(list, "<") {
			r := rank{len(p.names), step}
			for _, name := range strings.Fields(strings.Trim(strings.TrimSpace(group), "{}")) {
				key := floor + "/" + name
				switch name {
				case "*":
					p.rest[floor] = r
					continue
				case ".":
					key = floor
				}
				if _, twice := p.known[key]; twice {
					return nil, fmt.Errorf("%s stands twice in the order", key)
				}
				p.known[key] = r
			}
		}
	}
	return p, nil
}

// short is the name of a package in the order: "floor/pkg". ok is false for what has no place by design.
func short(path string) (name string, ok bool) {
	path = strings.TrimPrefix(path, "weir/")
	switch {
	case path == "docs/compat":
		return "data/docs/compat", true
	case strings.HasPrefix(path, "cmd/"):
		return path, true
	case path == "internal/lint", path == "internal/lang/sample/sampletest", path == "internal/feat/certs/certstest", !strings.HasPrefix(path, "internal/"):
		return path, false
	}
	return strings.TrimPrefix(path, "internal/"), true
}

// find gives the rank of a short name.
func (p *places) find(name string) (rank, bool) {
	if r, ok := p.known[name]; ok {
		return r, true
	}
	floor, _, _ := strings.Cut(name, "/")
	r, ok := p.rest[floor]
	return r, ok
}

// pkg is what go list tells.
type pkg struct {
	ImportPath string
	Imports    []string
}

func list(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var all []pkg
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// TestImportOrder fails on every import that order does not allow.
func TestImportOrder(t *testing.T) {
	p, err := parseOrder(order)
	if err != nil {
		t.Fatal(err)
	}
	for _, pk := range list(t) {
		from, placed := short(pk.ImportPath)
		r, ok := p.find(from)
		if placed && !ok {
			t.Errorf("%s has no place in the import order", from)
			continue
		}
		for _, imp := range pk.Imports {
			if why := p.edge(from, r, placed, imp); why != "" {
				t.Errorf("%s imports %s: %s", from, imp, why)
			}
		}
	}
}

// edge says why an import is not allowed, "" when it is.
func (p *places) edge(from string, r rank, placed bool, imp string) string {
	if !strings.HasPrefix(imp, "weir/") {
		first, _, _ := strings.Cut(imp, "/")
		if strings.Contains(first, ".") && !slices.ContainsFunc(modules, func(m string) bool { return strings.HasPrefix(imp, m) }) {
			return "a module that the project does not use"
		}
		return ""
	}
	if !placed {
		return "" // tools may import what they test
	}
	to, ok := short(imp)
	if !ok {
		return "the product does not import its tools"
	}
	q, ok := p.find(to)
	switch {
	case !ok:
		return "it has no place in the import order"
	case pairs[from+" -> "+to] != "":
		return ""
	case q.floor > r.floor:
		return "it stands on a higher floor"
	case q.floor == r.floor && q.step > r.step:
		return "it comes later on the same floor"
	case q.floor == r.floor && q.step == r.step:
		return "they are peers"
	}
	return ""
}

// TestNeverImported fails on imports that have a written reason against them.
func TestNeverImported(t *testing.T) {
	for _, pk := range list(t) {
		from, placed := short(pk.ImportPath)
		if !placed {
			continue
		}
		for _, imp := range pk.Imports {
			for _, n := range never {
				if below(imp, n.path) && (len(n.in) == 0 || under(from, n.in)) && !under(from, n.except) {
					t.Errorf("%s imports %s: %s", from, imp, n.reason)
				}
			}
		}
	}
}

// below reports whether path is pattern, or below it when it ends in /...
func below(path, pattern string) bool {
	if dir, ok := strings.CutSuffix(pattern, "/..."); ok {
		return path == dir || strings.HasPrefix(path, dir+"/")
	}
	return path == pattern
}

func under(name string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return name == d || strings.HasPrefix(name, d+"/") })
}

// TestOrderMeansWhatItSays shows the rules on a small order.
func TestOrderMeansWhatItSays(t *testing.T) {
	p, err := parseOrder("base: a < b\nfeat: { * }\nkw: . < { x y } < z")
	if err != nil {
		t.Fatal(err)
	}
	f := func(from, to string, allowed bool) {
		t.Helper()
		r, ok := p.find(from)
		if !ok {
			t.Fatalf("%s has no place", from)
		}
		if why := p.edge(from, r, true, "weir/internal/"+to); (why == "") != allowed {
			t.Errorf("%s -> %s: %q, allowed should be %v", from, to, why, allowed)
		}
	}
	f("base/b", "base/a", true)
	f("base/a", "base/b", false)
	f("feat/one", "base/a", true)
	f("base/a", "feat/one", false)
	f("feat/one", "feat/two", false)
	f("kw/x", "kw", true)
	f("kw/x", "kw/y", false)
	f("kw/z", "kw/y", true)
	f("kw/z", "base/nobody", false)
	f("kw/z", "lint", false)
	if _, err := parseOrder("a: x\nb: x < x"); err == nil {
		t.Error("a package that stands twice was accepted")
	}
}
