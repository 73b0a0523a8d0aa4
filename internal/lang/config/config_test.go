package config

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"weir/internal/base/diag"
)

func loadText(text string) (*Result, *diag.List, *toy) {
	o, root := toyOptions(map[string]string{"t.cfg": text}, "t.cfg")
	res, list := Load(o)
	return res, list, root
}

func TestDepthOfConditions(t *testing.T) {
	nest := func(n int) string {
		return strings.Repeat(".if 1\n", n) + ".notice x\n" + strings.Repeat(".endif\n", n)
	}
	if res, list, _ := loadText(nest(MaxDepth)); res.Failed {
		t.Errorf("depth %d: %s", MaxDepth, list)
	}
	for _, n := range []int{MaxDepth + 1, MaxDepth + 50} {
		res, list, _ := loadText(nest(n) + "global\n maxconn 1\n")
		if !res.Failed || !strings.Contains(list.String(), "too many nested") || len(list.Messages()) != 3 {
			t.Errorf("depth %d: failed %v\n%s", n, res.Failed, list)
		}
	}
}

func TestDepthOfParentheses(t *testing.T) {
	nest := func(n int) string { return strings.Repeat("(", n) + "1" + strings.Repeat(")", n) }
	if ok, err := EvalCondition(nest(maxParens), nil, Facts{}); !ok || err != nil {
		t.Errorf("%d: %v, %v", maxParens, ok, err)
	}
	if _, err := EvalCondition(nest(maxParens+1), nil, Facts{}); err == nil {
		t.Error("too many parentheses are accepted")
	}
	if ok, err := EvalCondition(strings.Repeat("!", 100000)+"0", nil, Facts{}); ok || err != nil {
		t.Errorf("many negations: %v, %v", ok, err)
	}
}

func TestLineBound(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	res, list, root := loadText("global\n words " + long + "\n")
	if res.Failed || len(root.log) != 1 || len(root.log[0]) < 1<<20 {
		t.Errorf("a line of 1 MiB: %s", list)
	}
	// Each expansion is as long as a variable: the bound is on their sum.
	text := "global\n setenv A " + strings.Repeat("x", 1<<16) + "\n words \"" + strings.Repeat("$A", 1<<9) + "\"\n"
	res, list, _ = loadText(text)
	if !res.Failed || !strings.Contains(list.String(), "after expansion") {
		t.Errorf("32 MiB after expansion: %.200s", list)
	}
}

type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '#'
	}
	e.read += len(p)
	return len(p), nil
}

func TestStandardInput(t *testing.T) {
	o, root := toyOptions(nil, "-")
	o.Stdin = strings.NewReader("global\n words a \"$.FILE\"\n")
	if res, list := Load(o); res.Failed || len(root.log) != 1 || root.log[0] != `["a" "-"]` {
		t.Errorf("%v %s", root.log, list)
	}
	e := new(endless)
	o, _ = toyOptions(nil, "-")
	o.Stdin = e
	if res, list := Load(o); !res.Failed || !strings.Contains(list.String(), "larger than the limit of 10485760 bytes") {
		t.Errorf("endless input: %s", list)
	}
	if e.read > 2*MaxStdin {
		t.Errorf("%d bytes were read", e.read)
	}
	o, _ = toyOptions(nil, "-")
	o.Stdin = io.MultiReader(strings.NewReader("global\n"), io.LimitReader(new(endless), MaxStdin-8), strings.NewReader("\n"))
	if res, list := Load(o); res.Failed {
		t.Errorf("exactly the limit: %.200s", list)
	}
	o, _ = toyOptions(nil, "-")
	if res, _ := Load(o); !res.Failed {
		t.Error("no standard input is accepted")
	}
}

func TestFilesAndFolders(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []string{"b.cfg", "a.cfg", "B.cfg", ".hidden.cfg", "c.CFG", "d.cfg.old"} {
		write(n, "global\n words "+n+"\n")
	}
	if err := os.Mkdir(filepath.Join(dir, "sub.cfg"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a.cfg", filepath.Join(dir, "l.cfg")); err != nil {
		t.Fatal(err)
	}
	load := func(dirOption string, files ...string) (*Result, *diag.List, []string) {
		root := new(toy)
		res, list := Load(Options{Files: files, Dir: dirOption, Root: root, Registry: newToy()})
		return res, list, root.log
	}
	res, list, log := load("", dir)
	want := []string{`["B.cfg"]`, `["a.cfg"]`, `["b.cfg"]`, `["a.cfg"]`}
	if res.Failed || !slices.Equal(log, want) {
		t.Errorf("folder: %v\n%s", log, list)
	}
	if wantFiles := []string{dir + "/B.cfg", dir + "/a.cfg", dir + "/b.cfg", dir + "/l.cfg"}; !slices.Equal(res.Files, wantFiles) {
		t.Errorf("files: %v", res.Files)
	}
	if v, _ := res.Env.Get("HAPROXY_CFGFILES"); v != strings.Join(res.Files, ";") {
		t.Errorf("HAPROXY_CFGFILES = %q", v)
	}
	res, list, log = load(dir, "b.cfg", "a.cfg")
	if res.Failed || !slices.Equal(log, []string{`["b.cfg"]`, `["a.cfg"]`}) || !slices.Equal(res.Files, []string{"b.cfg", "a.cfg"}) {
		t.Errorf("with -C: %v %v\n%s", log, res.Files, list)
	}
	res, list, _ = load("", dir+"/none.cfg", dir+"/a.cfg")
	if !res.Failed || !strings.Contains(list.String(), "none.cfg: no such file or directory") {
		t.Errorf("missing file: %s", list)
	}
	res, list, _ = load("", dir+"/sub.cfg")
	if !res.Failed || !strings.Contains(list.String(), "no configuration file") {
		t.Errorf("empty folder: %s", list)
	}
	if res, _, _ = load(""); !res.Failed {
		t.Error("no file at all is accepted")
	}
}

func TestPathWithDir(t *testing.T) {
	o, root := toyOptions(map[string]string{"/etc/w/a/x.cfg": "global\n file m\n default-path config\n file m\n default-path origin o\n file m\n file /m\n"}, "a/x.cfg")
	o.Dir = "/etc/w"
	o.ReadDir = func(path string) ([]string, bool, error) { return nil, path == "/etc/w/o", nil }
	if res, list := Load(o); res.Failed {
		t.Fatal(list)
	}
	want := []string{"file /etc/w/m", "file /etc/w/a/m", "file /etc/w/o/m", "file /m"}
	if !slices.Equal(root.log, want) {
		t.Errorf("%q, want %q", root.log, want)
	}
}

// The values come from running the same expressions through the reference,
// its version and libraries put aside.
func TestEvalCondition(t *testing.T) {
	facts := Facts{
		Features: []string{"OPENSSL", "THREAD"}, Enabled: map[string]bool{"EPOLL": true, "SPLICE": false},
		SSLLib: "OpenSSL", SSLVersion: "3.0.22", AWSLCAPI: 30, FIPS: true,
	}
	env := []string{"HOME=/root", "EMPTY=", "A=1"}
	for _, c := range []struct {
		text string
		want string // true, false, error
	}{
		{"", "false"}, {"  ", "false"}, {"1", "true"}, {"0", "false"}, {" 1 ", "true"}, {"007", "true"}, {"-1", "true"}, {"+1", "true"},
		{"-0", "false"}, {"0x1", "true"}, {"0x0", "false"}, {"99999999999999999999", "true"}, {"1x", "error"}, {"08", "error"}, {"0x", "error"},
		{"1 && 0", "false"}, {"0 || 1", "true"}, {"1&&1", "true"}, {"1||0", "true"}, {"0 && 0 || 1", "true"}, {"1 || 0 && 0", "true"},
		{"(1 || 0) && 0", "false"}, {"!0", "true"}, {"!!1", "true"}, {"! 1", "false"}, {"!(1)", "false"}, {"!(1 && 0)", "true"}, {"((1))", "true"},
		{"(1) && (0)", "false"}, {"1||x", "error"}, {"0&&x", "error"}, {"foo", "error"}, {"()", "error"}, {"(1", "error"}, {"1)", "error"}, {"1 #x", "error"},
		{"defined(HOME)", "true"}, {"defined(EMPTY)", "true"}, {"defined(NOPE)", "false"}, {"defined( HOME)", "false"}, {"defined()", "false"},
		{"defined", "false"}, {"defined(.FILE)", "false"}, {"defined(HAPROXY_BRANCH)", "true"}, {"defined(HOME)&&1", "true"}, {"defined(HOME)x", "error"},
		{`streq("$A",1)`, "true"}, {`streq("$A",2)`, "false"}, {"streq(a, a)", "false"}, {`streq("a b","a b")`, "true"}, {`streq(\"a,b\",\"a,b\")`, "true"},
		{"streq(,)", "true"}, {"streq()", "error"}, {"streq(a)", "error"}, {`streq(\x41,A)`, "true"}, {"streq (a,a)", "error"},
		{`streq('a,b','a,b')`, "error"}, {"strneq(a,b)", "true"}, {"strneq(a,a)", "false"}, {"strstr(abc,b)", "true"}, {"strstr(abc,)", "true"}, {"strstr(abc,d)", "false"},
		{"feature(OPENSSL)", "true"}, {"feature(openssl)", "false"}, {"feature(O)", "false"}, {"feature(QUIC)", "false"},
		{"enabled(EPOLL)", "true"}, {"enabled(SPLICE)", "false"}, {"enabled(epoll)", "false"}, {"enabled(FOO)", "false"},
		{"version_atleast(3.5)", "true"}, {"version_atleast(3.5.0)", "true"}, {"version_atleast(3.5.1)", "false"}, {"version_atleast(3.5-dev5)", "true"},
		{"version_atleast(3.6-dev0)", "false"}, {"version_before(3.6-dev0)", "true"}, {"version_before(3.5)", "false"}, {"version_before(3.5.1)", "true"},
		{"version_atleast(3)", "true"}, {"version_atleast(4)", "false"}, {"version_atleast()", "true"}, {"version_atleast(x)", "true"},
		{"version_atleast(2.4-dev19)", "true"}, {"version_atleast(3.5-rc1)", "true"}, {"version_atleast(3.4.9-12ab-77)", "true"},
		{"openssl_version_atleast(3.0.0)", "true"}, {"openssl_version_atleast(3.0.22)", "true"}, {"openssl_version_atleast(3.0.23)", "false"},
		{"openssl_version_before(3.0.23)", "true"}, {"openssl_version_before(3.0.22)", "false"}, {"openssl_version_atleast(1.1.1a)", "true"},
		{"openssl_version_atleast(3.1.0-alpha1)", "false"}, {"openssl_version_atleast(3.0.22-beta1)", "true"}, {"openssl_version_atleast(foo)", "error"},
		{"ssllib_name_startswith(Open)", "true"}, {"ssllib_name_startswith(open)", "false"},
		{"awslc_api_atleast(30)", "true"}, {"awslc_api_atleast(31)", "false"}, {"awslc_api_before(31)", "true"}, {"awslc_api_before(30)", "false"}, {"awslc_api_before(x)", "error"},
		{"fips_mode()", "true"}, {"fips_mode", "true"}, {"fips_mode(x)", "error"}, {`"unclosed`, "error"}, {`streq("${A",1)`, "error"},
	} {
		ok, err := EvalCondition(c.text, env, facts)
		got := fmt.Sprint(ok)
		if err != nil {
			got = "error"
		}
		if got != c.want {
			t.Errorf("%s: %s (%v), want %s", c.text, got, err, c.want)
		}
	}
}

func TestVersionOrder(t *testing.T) {
	order := []string{"", "1.4", "2.4-dev1", "2.4-dev19", "2.4-pre1", "2.4-rc1", "2.4-rc2", "2.4", "2.4.1", "2.4.1-abc-3", "2.4.2", "2.10", "3"}
	for i, a := range order {
		for j, b := range order {
			got := compareVersions(parseVersion(a), parseVersion(b))
			if want := i - j; (got < 0) != (want < 0) || (got > 0) != (want > 0) {
				t.Errorf("compare(%s, %s) = %d", a, b, got)
			}
		}
	}
}

// Two loads do not see each other, and the process's environment is not
// touched.
func TestLoadsSideBySide(t *testing.T) {
	reg := newToy()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				o, root := toyOptions(map[string]string{"t.cfg": fmt.Sprintf("global\n setenv WEIR_TEST v%d\n words \"$WEIR_TEST\" \"${OTHER-none}\"\n setenv OTHER x\nlisten l%d\n bad\n", i, i)}, "t.cfg")
				o.Registry = reg
				res, list := Load(o)
				if want := fmt.Sprintf(`["v%d" "none"]`, i); root.log[0] != want || !res.Failed || list.Errors() != 3 {
					t.Errorf("load %d: %v %s", i, root.log, list)
				}
				if v, _ := res.Env.Get("OTHER"); v != "x" {
					t.Errorf("load %d: OTHER = %q", i, v)
				}
			}
		})
	}
	wg.Wait()
	if _, ok := os.LookupEnv("WEIR_TEST"); ok {
		t.Error("the environment of the process was changed")
	}
}

func TestChecks(t *testing.T) {
	o, _ := toyOptions(map[string]string{"t.cfg": "listen a\n mode bad\n"}, "t.cfg")
	var order []string
	add := func(name string, pos int) {
		o.Registry.AddCheck(Check{Name: name, Order: pos, Run: func(p *Parser) {
			order = append(order, name)
			p.Errorf(p.Sections()[0].Pos, "from %s", name)
			p.Warnf(diag.Position{}, "from %s", name)
		}})
	}
	add("z", 1)
	add("b", 2)
	add("a", 2)
	res, list := Load(o)
	if !slices.Equal(order, []string{"z", "a", "b"}) {
		t.Errorf("order %v", order)
	}
	if !res.Failed || !strings.Contains(list.String(), "t.cfg:1: from z") || list.Warnings() != 3 {
		t.Errorf("%s", list)
	}
	if len(res.Sections) != 1 || res.Sections[0].Name != "a" || res.Sections[0].Kind != InListen || res.Sections[0].Target.(*toyProxy).name != "a" {
		t.Errorf("sections: %+v", res.Sections)
	}
}

func TestPanicsOfRegistration(t *testing.T) {
	mustPanic := func(want string, fn func()) {
		t.Helper()
		defer func() {
			t.Helper()
			if msg := fmt.Sprint(recover()); !strings.Contains(msg, want) {
				t.Errorf("panic %q, want %q", msg, want)
			}
		}()
		fn()
	}
	tab := NewTable("global")
	parse := func(*Line, any) {}
	tab.Add(Keyword{Name: "x y", Parse: parse})
	mustPanic("config_test.go", func() { tab.Add(Keyword{Name: "x y", Parse: parse}) })
	mustPanic("unusable", func() { tab.Add(Keyword{Name: "x"}) })
	mustPanic("unusable", func() { tab.Add(Keyword{Name: " x", Parse: parse}) })
	mustPanic("unusable", func() { tab.Add(Keyword{Parse: parse}) })
	mustPanic("unusable", func() { NewRegistry().AddSection(Section{Name: "x"}) })
	r := newToy()
	mustPanic("twice", func() { r.AddGlobalSection(func(*Parser) any { return nil }) })
	r.Freeze()
	mustPanic("too late", func() { r.Global.Add(Keyword{Name: "late", Parse: parse}) })
	mustPanic("wants a target", func() {
		r := NewRegistry()
		r.AddGlobalSection(func(*Parser) any { return 1 })
		r.Global.Add(Keyword{Name: "k", Parse: On(func(*Line, string) {})})
		Load(Options{Registry: r, Files: []string{"-"}, Stdin: strings.NewReader("global\n k\n")})
	})
}

func TestLedger(t *testing.T) {
	for _, l := range newToy().Ledger() {
		switch l.Kind {
		case "proxy":
			if !slices.Contains(l.Done, "timeout client") || !slices.Contains(l.Missing, "balance") || !slices.Equal(l.Own, []string{"hint"}) {
				t.Errorf("proxy: done %v, own %v", l.Done, l.Own)
			}
		case "global":
			if !slices.Contains(l.Done, "setenv") || !slices.Contains(l.Own, "trick") {
				t.Errorf("global: %+v", l)
			}
		case "section":
			if len(l.Done) != 6 || !slices.Contains(l.Missing, "resolvers") {
				t.Errorf("sections: %+v", l)
			}
		}
	}
}

func TestDumpStopsAtErrors(t *testing.T) {
	o, _ := toyOptions(map[string]string{"t.cfg": "global\n words a\n"}, "t.cfg")
	o.Dump = failingWriter{}
	if res, list := Load(o); !res.Failed || !strings.Contains(list.String(), "dump") {
		t.Errorf("%s", list)
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// What a dump shows reads back as the same words.
func TestDumpReadsBack(t *testing.T) {
	for _, words := range [][]string{
		{"a"}, {"a b"}, {"#"}, {"it's"}, {`"x"`}, {`it's "x"`}, {`\`}, {`'\`}, {"$HOME"}, {"'$HOME"}, {"a\nb"}, {"a\tb'"}, {"\r"}, {"${A[*]}"}, {"é"}, {"x", "y z"}, {"\x01'\n"},
	} {
		var b strings.Builder
		for _, w := range words {
			b.WriteString(requote(w) + " ")
		}
		got, err := lex(b.String(), true, func(string) (string, bool) { return "expanded", true })
		var texts []string
		for _, w := range got {
			texts = append(texts, w.Text)
		}
		if err != nil || !slices.Equal(texts, words) {
			t.Errorf("%q is dumped as %s and reads back as %q, %v", words, b.String(), texts, err)
		}
	}
}

func TestXXH32(t *testing.T) {
	for _, c := range []struct {
		in   string
		seed uint32
		want uint32
	}{
		{"", 0, 0x02cc5d05}, {"a", 0, 0x550d7456}, {"abc", 0, 0x32d153ff},
		{"Nobody inspects the spammish repetition", 0, 0xe2293b2f}, {"u", 1234, 0xe5f56a84},
	} {
		if got := xxh32([]byte(c.in), c.seed); got != c.want {
			t.Errorf("xxh32(%q, %d) = %08x, want %08x", c.in, c.seed, got, c.want)
		}
	}
}

func TestEnv(t *testing.T) {
	e := NewEnv([]string{"A=1", "A=2", "B=x=y", "=bad", "bad"})
	c := e.Clone()
	c.Set("A", "3")
	c.Unset("B")
	if got := e.Environ(); !slices.Equal(got, []string{"A=2", "B=x=y"}) {
		t.Errorf("%q", got)
	}
	if got := c.Environ(); !slices.Equal(got, []string{"A=3"}) {
		t.Errorf("clone: %q", got)
	}
	if n := len((*Env)(nil).Clone().Environ()); n != 0 {
		t.Errorf("clone of nil has %d", n)
	}
}

func TestWordPositions(t *testing.T) {
	raw := `  a "b c"d  ${x} "$V"e # f`
	words, err := lex(raw, true, func(string) (string, bool) { return "long value", true })
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range words {
		got = append(got, raw[w.Col:w.End])
	}
	if want := []string{"a", `"b c"d`, "${x}", `"$V"e`}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzConfig(f *testing.F) {
	golden, _ := filepath.Glob("testdata/*.golden")
	for _, name := range golden {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for i, c := range bytes.Split(data, []byte("=== ")) {
			_, rest, _ := bytes.Cut(c, []byte("\n"))
			input, _, _ := bytes.Cut(rest, []byte("--- want"))
			if i > 0 {
				f.Add(input)
			}
		}
	}
	reg := newToy()
	f.Fuzz(func(t *testing.T, data []byte) {
		o, _ := toyOptions(nil, "-")
		o.Registry = reg
		o.Stdin = bytes.NewReader(data)
		var dump bytes.Buffer
		o.Dump = &dump
		o.DumpKey = uint32(len(data)) % 2
		res, list := Load(o)
		if res.Failed != (list.Errors() > 0) {
			t.Fatalf("failed %v with %d errors", res.Failed, list.Errors())
		}
		for _, m := range list.Messages() {
			if m.Pos.Line < 0 || m.Pos.End < m.Pos.Col && m.Pos.End != 0 || m.Text == "" {
				t.Fatalf("odd message %+v", m)
			}
		}
		if err := list.Write(io.Discard, diag.Format{Terminal: true, Diag: true}); err != nil {
			t.Fatal(err)
		}
		if text, ok := strings.CutPrefix(string(data), "?"); ok {
			_, _ = EvalCondition(text, o.Environ, o.Facts)
		}
	})
}

func TestEnvironmentBound(t *testing.T) {
	var b strings.Builder
	b.WriteString("global\n setenv A " + strings.Repeat("x", 1<<20) + "\n")
	for i := range 10 {
		fmt.Fprintf(&b, " setenv B%d \"$A$A$A$A$A$A$A$A\"\n", i)
	}
	res, list, _ := loadText(b.String())
	if !res.Failed || !strings.Contains(list.String(), "environment would be larger") || res.Env.Size() > MaxEnv {
		t.Errorf("%d bytes, %.300s", res.Env.Size(), list)
	}
}
