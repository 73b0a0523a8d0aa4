package counters

import (
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"weir/test/scenario"
	"weir/test/wait"
)

var (
	update = flag.Bool("update", false, "write the table from what the program counts")
	only   = flag.String("only", "", "the one case to play")
	show   = flag.Bool("show", false, "print the rows")
)

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	scenario.Cleanup()
	os.Exit(code)
}

func target(t *testing.T) string {
	t.Helper()
	if ref := os.Getenv("WEIR_REF"); ref != "" {
		bin, err := exec.LookPath(ref)
		if err != nil {
			t.Fatal(err)
		}
		return bin
	}
	bin, err := scenario.Build()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

const base = `
global
  stats socket %s level admin
  nbthread 1
defaults
  mode http
  timeout client 3s
  timeout server 3s
  timeout connect 1s
  retries 0
  balance roundrobin
`

// stage is a running program with what the cases need.
type stage struct {
	*program
	origin  *origin
	clients map[string]*client
}

func setUp(t *testing.T, list []kase) *stage {
	t.Helper()
	dir := t.TempDir()
	o, err := newOrigin()
	if err != nil {
		t.Fatal(err)
	}
	nobody, free, err := scenario.Refusing()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(free)
	st := &stage{origin: o, clients: make(map[string]*client)}
	conf := fmt.Sprintf(base, filepath.Join(dir, "s"))
	var files []*os.File
	for _, k := range list {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		f, err := ln.(*net.TCPListener).File()
		if err != nil {
			t.Fatal(err)
		}
		own, err := newOrigin()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(own.close)
		st.clients[k.name] = &client{addr: ln.Addr().String(), origin: own}
		ln.Close()
		files = append(files, f)
		conf += strings.NewReplacer("$l", fmt.Sprintf("fd@%d", 2+len(files)), "$x", own.addr(), "$dead", nobody, "$n", k.name).Replace(k.conf)
	}
	p, err := start(target(t), dir, conf, []string{"-db"}, files)
	if err != nil {
		t.Fatal(err)
	}
	st.program = p
	t.Cleanup(func() { p.stop(); o.close() })
	for _, f := range files {
		f.Close()
	}
	if !wait.Until(patience, func() bool {
		c, err := net.Dial("unix", p.sock)
		if err == nil {
			c.Close()
		}
		return err == nil
	}) {
		p.stop()
		t.Fatalf("no answer:\n%s\n%s", p.errs.String(), conf)
	}
	for _, c := range st.clients {
		c.sock = p.sock
	}
	return st
}

// settled waits until no session is left.
func (st *stage) settled() bool {
	return wait.Until(patience, func() bool {
		rows, _, err := st.stat()
		for _, r := range rows {
			if r["svname"] == "FRONTEND" && r["scur"] != "0" || r["svname"] == "BACKEND" && r["scur"] != "0" {
				return false
			}
		}
		return err == nil
	})
}

func TestCounters(t *testing.T) {
	list := cases
	if *only != "" {
		list = nil
		for _, k := range cases {
			if strings.HasPrefix(k.name, *only) {
				list = append(list, k)
			}
		}
	}
	st := setUp(t, list)
	var wg sync.WaitGroup
	for _, k := range list {
		wg.Add(1)
		go func() {
			defer wg.Done()
			k.run(st.clients[k.name])
		}()
	}
	wg.Wait()
	for _, k := range list {
		if err := st.clients[k.name].err; err != nil {
			t.Errorf("%s: %v", k.name, err)
		}
	}
	if !st.settled() {
		t.Error("sessions are left")
	}
	rows, columns, err := st.stat()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		got = append(got, r.text(columns))
	}
	compare(t, "stat.txt", got)
}

// compare holds lines to a file of testdata, by their first words.
func compare(t *testing.T, file string, got []string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *show {
		fmt.Println(strings.Join(got, "\n"))
	}
	if *update && *only == "" {
		if err := os.WriteFile(path, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := make(map[string]string)
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		name, _, _ := strings.Cut(line, " ")
		want[name] = line
	}
	if os.Getenv("WEIR_REF") == "" {
		explain(t, want)
	}
	for _, line := range got {
		name, _, _ := strings.Cut(line, " ")
		if !equal(want[name], line) {
			t.Errorf("%s:\n got %s\nwant %s", name, diff(line, want[name]), diff(want[name], line))
		}
		delete(want, name)
	}
	if *only == "" {
		for name := range want {
			t.Errorf("%s: no such row", name)
		}
	}
}

// explain puts the columns of explained.txt into the rows of the reference.
func explain(t *testing.T, rows map[string]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "explained.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		row, ok := rows[words[0]]
		if !ok {
			t.Errorf("%s: explained, but there is no such row", words[0])
		}
		for _, w := range words[1:] {
			column, value, _ := strings.Cut(w, "=")
			row = with(row, column, value)
		}
		rows[words[0]] = row
	}
}

// with is a row with another value in one column, in whose place it stays; a new column comes last.
func with(row, column, value string) string {
	words := strings.Fields(row)
	at := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, column+"=") })
	switch {
	case at < 0:
		words = append(words, column+"="+value)
	case value == "":
		words = slices.Delete(words, at, at+1)
	default:
		words[at] = column + "=" + value
	}
	return strings.Join(words, " ")
}

// equal reports whether two rows have the same words, in any order.
func equal(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// diff are the words of a that b does not have.
func diff(a, b string) string {
	other := strings.Fields(b)
	var out []string
	for _, w := range strings.Fields(a) {
		found := false
		for _, o := range other {
			found = found || o == w
		}
		if !found {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}
