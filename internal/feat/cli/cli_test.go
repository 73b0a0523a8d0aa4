package cli

import (
	"bufio"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"weir/docs/compat"
	"weir/internal/engine/backend"
	"weir/internal/engine/frontend"
	"weir/internal/engine/server"
	"weir/internal/model"
)

func TestMain(m *testing.M) {
	for _, c := range []Command{
		{Words: []string{"test", "version"}, Usage: "test version", Help: "h", Run: func(c *Context) { c.Msg(SevInfo, "V") }},
		{Words: []string{"test", "admin"}, Level: Admin, Run: func(c *Context) { c.Msg(SevInfo, "done") }},
		{Words: []string{"test", "operator"}, Level: Operator, Run: func(c *Context) { c.Msg(SevInfo, "done") }},
		{Words: []string{"test", "expert"}, Needs: Expert, Run: func(c *Context) { c.Print("done\n") }},
		{Words: []string{"test", "experimental"}, Needs: Experimental, Run: func(c *Context) { c.Print("done\n") }},
		{Words: []string{"test", "error"}, Run: func(c *Context) { c.Err("No such %s.", "thing") }},
		{Words: []string{"test", "body"}, Run: func(c *Context) { c.Printf("%v%q%q\n", c.HasPayload, c.Args, c.Payload) }},
		{Words: []string{"test", "blank"}, Run: func(c *Context) { c.Print("\n\na\n\n\n"); c.Print("\nb\n") }},
		{Words: []string{"test", "panic"}, Run: func(c *Context) { panic("fault") }},
		{Words: []string{"test", "wait"}, Run: func(c *Context) { waitHook(c) }},
		{Words: []string{"test", "open"}, Run: func(c *Context) { c.Print("no newline") }},
		{Words: []string{"test", "endless"}, Run: func(c *Context) {
			for !c.Failed() {
				c.Print(strings.Repeat("x", 100) + "\n")
			}
		}},
	} {
		Register(c)
	}
	os.Exit(m.Run())
}

// fakeHost is a process that has nothing but an age.
type fakeHost struct {
	Host
	sockets []*Socket
}

func (fakeHost) Uptime() time.Duration                                { return 26*time.Hour + 3*time.Minute + 4*time.Second }
func (fakeHost) Anon() uint32                                         { return 0 }
func (h fakeHost) Sockets() []*Socket                                 { return h.sockets }
func (fakeHost) Config() *model.Config                                { return new(model.Config) }
func (fakeHost) Frontends() []*frontend.Frontend                      { return nil }
func (fakeHost) Backends() []*backend.Backend                         { return nil }
func (fakeHost) AdminState(*server.Server) (_ State, _ time.Duration) { return }

// start serves a unix socket and returns its path.
func start(t *testing.T, conf Config, sock *Socket) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(fakeHost{sockets: []*Socket{sock}}, &conf, 0)
	s.Serve(ln, sock)
	t.Cleanup(func() { s.Close(false) })
	return path
}

// ask sends text, ends the sending side when shut is set, and returns all that comes back.
func ask(t *testing.T, path, text string, shut bool) string {
	t.Helper()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	if shut {
		_ = c.(*net.UnixConn).CloseWrite()
	}
	out, _ := io.ReadAll(c) // an end by reset is an end
	return string(out)
}

func admin() *Socket {
	s := NewSocket()
	s.Level = Admin
	return s
}

func TestSplitLine(t *testing.T) {
	for line, want := range map[string][][]string{
		"":                      {nil},
		"a":                     {{"a"}},
		"  a \t b ":             {{"a", "b"}},
		"a;b c":                 {{"a"}, {"b", "c"}},
		"a;":                    {{"a"}, nil},
		";;":                    {nil, nil, nil},
		`a\ b c\;d e\\f`:        {{"a b", "c;d", `e\f`}},
		`a\nb`:                  {{"anb"}},
		`a "b c" 'd e'`:         {{"a", `"b`, `c"`, "'d", "e'"}},
		`a\`:                    {{`a\`}},
		"show version\r":        {{"show", "version"}},
		"a #b":                  {{"a", "#b"}},
		`\ `:                    {{" "}},
		"set map x y a\\;b ; c": {{"set", "map", "x", "y", "a;b"}, {"c"}},
	} {
		if got := splitLine(line); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestPayloadMark(t *testing.T) {
	long := strings.Repeat("m", 65)
	for _, c := range []struct {
		line, cmd, mark string
		ok              bool
	}{
		{"add map x <<", "add map x ", "", true},
		{"add map x <<%EOF%", "add map x ", "%EOF%", true},
		{"add map x << \r", "add map x ", "", true},
		{"add map x<<", "add map x<<", "", false},
		{"add map x <<;b", "add map x <<;b", "", false},
		{"a << b", "a << b", "", false},
		{"<<", "", "", true},
		{"a <<" + long[:64], "a ", long[:64], true},
		{"a <<" + long, "a <<" + long, "", false},
	} {
		if cmd, mark, ok := payloadMark(c.line); cmd != c.cmd || mark != c.mark || ok != c.ok {
			t.Errorf("%q: %q %q %v", c.line, cmd, mark, ok)
		}
	}
}

func FuzzSplitLine(f *testing.F) {
	f.Add(`a\ b;c <<x`)
	f.Add(`show\ cli\ level`)
	f.Fuzz(func(t *testing.T, line string) {
		n := 0
		for _, words := range splitLine(line) {
			if c := find(words, InWorker); c != nil && len(c.Words) > len(words) {
				t.Fatalf("%q is taken for %q", line, c.Name())
			}
			unserved(words)
			for _, w := range words {
				n += len(w)
				if w == "" {
					t.Fatalf("%q has an empty word", line)
				}
			}
		}
		if n > len(line) {
			t.Fatalf("%q has more bytes than it had", line)
		}
		payloadMark(line)
	})
}

// TestSession holds answers that HAProxy gives byte by byte, with the test's commands in place of its own.
func TestSession(t *testing.T) {
	path := start(t, Config{}, admin())
	for _, c := range []struct {
		in, out string
		shut    bool
	}{
		{in: "test version\n", out: "V\n\n"},
		{in: "\n", out: "\n"},
		{in: ";;\n", out: "\n\n\n"},
		{in: "test version;\n", out: "V\n\n\n"},
		{in: "test version;test version\n", out: "V\n\nV\n\n"},
		{in: "test version\ntest version\n", out: "V\n\n"},
		{in: "test version", shut: true},
		{in: "", shut: true},
		{in: "quit\ntest version\n"},
		{in: "test open\n", out: "no newline\n\n"},
		{in: "test blank\n", out: "a\nb\n\n"},
		{in: "test error\n", out: "No such thing.\n\n"},
		{in: "echo a  b \"c d\" \\\\\n", out: "a b \"c d\" \\\n\n"},
		{in: "prompt\ntest version\nquit\n", out: "\n> V\n\n> "},
		{in: "prompt\n\n\ntest version;test version\nprompt\n", out: "\n> \n> \n> V\n\nV\n\n> \n"},
		{in: "prompt\ntest version", shut: true, out: "\n> "},
		{in: "prompt i\ntest version\nquit\n", out: "\nV\n\n"},
		{in: "prompt i\ntest version\ntest version", shut: true, out: "\nV\n\n"},
		{in: "prompt timed\nquit\n", out: "\n[1:02:03:04]> "},
		{in: "prompt n\n", out: "\n"},
		{in: "prompt i\nprompt n\ntest version\n", out: "\n\n"},
		{in: "prompt\nprompt i\ntest version\nquit\n", out: "\n> \nV\n\n"},
		{in: "test body\n", out: "false[]\"\"\n\n"},
		{in: "test body a <<\nk v\n  x\n\n", out: "true[\"a\"]\"k v\\n  x\\n\"\n\n"},
		{in: "test body <<EOT\na\n\nb\nEOT\n", out: "true[]\"a\\n\\nb\\n\"\n\n"},
		{in: "test body <<\n\n", out: "true[]\"\"\n\n"},
		{in: "test version;test body <<\na\n\n", out: "V\n\ntrue[]\"a\\n\"\n\n"},
		{in: "test body <<\na", shut: true},
		{in: "set severity-output number;test error;test version\n", out: "\n[3]: No such thing.\n\n[6]: V\n\n"},
		{in: "set severity-output string;test error\n", out: "\n[err]: No such thing.\n\n"},
		{in: "set severity-output\n", out: "one of 'none', 'number', 'string' is a required argument\n\n"},
		{in: "show cli level\n", out: "admin\n\n"},
		{in: "operator;show cli level;test admin;test operator\n", out: "\noperator\n\nPermission denied\n\ndone\n\n"},
		{in: "user;operator;test operator;show cli level\n", out: "\nPermission denied\n\nPermission denied\n\nuser\n\n"},
		{in: "user;expert-mode on\n", out: "\nPermission denied\n\n"},
		{in: "test expert\n", out: "This command is restricted to expert mode only.\n\n"},
		{in: "test experimental\n", out: "This command is restricted to experimental mode only.\n\n"},
		{in: "expert-mode on;test expert;expert-mode;expert-mode off;expert-mode\n", out: "\ndone\n\nexpert-mode is ON\n\n\nexpert-mode is OFF\n\n"},
		{in: "experimental-mode on;test experimental\n", out: "\ndone\n\n"},
		{in: "set timeout\n", out: "'set timeout' only supports 'cli'.\n\n"},
		{in: "set timeout cli\n", out: "Expects an integer value.\n\n"},
		{in: "set timeout cli 0\n", out: "Invalid timeout value.\n\n"},
		{in: "set timeout cli x\n", out: "Invalid timeout value.\n\n"},
		{in: "set timeout cli 10s\n", out: "\n"},
		{in: "debug dev panic\n", out: "'debug dev panic' is known to HAProxy, not in weir yet.\n\n"},
	} {
		if got := ask(t, path, c.in, c.shut); got != c.out {
			t.Errorf("%q:\n got %q\nwant %q", c.in, got, c.out)
		}
	}
}

// An interactive session with a prompt asks for the lines of a payload with another one.
func TestPayloadPrompt(t *testing.T) {
	path := start(t, Config{}, admin())
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := bufio.NewReader(c)
	for _, step := range []struct{ send, want string }{
		{"prompt\n", "\n> "}, {"test body <<\n", "+ "}, {"a\n", "+ "}, {"\n", "true[]\"a\\n\"\n\n> "},
	} {
		if _, err := io.WriteString(c, step.send); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(step.want))
		if _, err := io.ReadFull(r, got); err != nil || string(got) != step.want {
			t.Fatalf("after %q: %q %v, want %q", step.send, got, err, step.want)
		}
	}
}

func TestLimits(t *testing.T) {
	path := start(t, Config{MaxPayload: 8}, admin())
	if got := ask(t, path, "echo "+strings.Repeat("x", 20000)+"\n", false); !strings.Contains(got, "too long") {
		t.Errorf("a command that is too long: %q", got)
	}
	if got := ask(t, path, "test body <<\n12345\n6789\n\n", false); !strings.Contains(got, "too long") {
		t.Errorf("a payload that is too long: %q", got)
	}
}

// A client that does not read does not hold its session for longer than the timeout.
func TestWriteDeadline(t *testing.T) {
	conf := Config{Timeout: 50 * time.Millisecond}
	s := NewServer(fakeHost{}, &conf, 0)
	path := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s.Serve(ln, admin())
	defer s.Close(false)
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "test endless\n"); err != nil {
		t.Fatal(err)
	}
	end := time.After(10 * time.Second)
	for {
		if now, total := s.Sessions(); total == 1 && now == 0 {
			return
		}
		select {
		case <-end:
			t.Fatal("the session still writes")
		case <-time.After(time.Millisecond):
		}
	}
}

// A session that rests for too long is closed.
func TestIdle(t *testing.T) {
	path := start(t, Config{Timeout: 20 * time.Millisecond}, admin())
	if got := ask(t, path, "prompt\n", false); got != "\n> " {
		t.Errorf("%q", got)
	}
}

func TestDefaultLevel(t *testing.T) {
	path := start(t, Config{}, NewSocket())
	if got := ask(t, path, "show cli level;test admin\n", false); got != "operator\n\nPermission denied\n\n" {
		t.Errorf("%q", got)
	}
}

func TestHelp(t *testing.T) {
	path := start(t, Config{}, admin())
	got := ask(t, path, "help\n", false)
	if !strings.HasPrefix(got, "The following commands are valid at this level:\n") {
		t.Errorf("%q", got)
	}
	if want := "  test version                            : h\n"; !strings.Contains(got, want) {
		t.Errorf("%q lacks %q", got, want)
	}
	if !strings.Contains(got, "\n  quit") || strings.Index(got, "\n  quit") < strings.Index(got, "\n  user") {
		t.Errorf("the commands of the session do not come last: %q", got)
	}
	got = ask(t, path, "test nothing\n", false)
	if !strings.HasPrefix(got, "Unknown command: 'test', but maybe one of the following ones is a better match:\n  test version") {
		t.Errorf("%q", got)
	}
	if got = ask(t, path, "help show cli\n", false); strings.Count(got, "\n  show cli") != 2 || strings.Contains(got, "test") {
		t.Errorf("%q", got)
	}
}

// TestLedger prints how much of the inventory the engine's own commands cover; the rest registers elsewhere.
func TestLedger(t *testing.T) {
	for _, name := range []string{"help", "prompt", "quit", "user", "operator", "expert-mode", "experimental-mode", "set timeout"} {
		if find(strings.Fields(name), InWorker) == nil {
			t.Errorf("%s is not registered", name)
		}
	}
	own := slices.DeleteFunc(Names(), func(n string) bool { return strings.HasPrefix(n, "test ") })
	l := compat.Compare(compat.CLI, own)
	for _, n := range l.Own {
		if n != "expert-mode" {
			t.Errorf("%s is no command of the reference", n)
		}
	}
}
