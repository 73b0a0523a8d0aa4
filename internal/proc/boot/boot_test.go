package boot

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	_ "weir/internal/all"
	"weir/internal/base/diag"
	"weir/internal/kw"
	"weir/internal/lang/config"
	"weir/internal/model"
	"weir/internal/proc/args"
	"weir/internal/proc/limits"
	"weir/internal/proc/signals"
)

// The tests run the real program in processes of its own: this test binary,
// which is weir when BOOT_CHILD is set.
func TestMain(m *testing.M) {
	if os.Getenv("BOOT_CHILD") == "" {
		os.Exit(m.Run())
	}
	p := &Program{Load: kw.Load, New: NewInstance}
	code, sig := p.Main(os.Args, os.Environ(), os.Stdin, os.Stdout, os.Stderr)
	if sig != nil {
		signals.Die(sig)
	}
	os.Exit(code)
}

// result is what a process left.
type result struct {
	out, err string
	code     int // 128 plus the number of a signal
	killed   bool
}

func (r result) String() string {
	return fmt.Sprintf("code %d\nstdout: %s\nstderr: %s", r.code, r.out, r.err)
}

// command makes a process with the name "weir"; CFG in an argument is path.
func command(path string, words ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Args = []string{"weir"}
	for _, w := range words {
		cmd.Args = append(cmd.Args, strings.ReplaceAll(w, "CFG", path))
	}
	cmd.Env = append(os.Environ(), "BOOT_CHILD=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// run runs a process to its end.
func runWeir(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	r := result{out: out.String(), err: errs.String()}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		ws := exit.Sys().(syscall.WaitStatus)
		r.code, r.killed = ws.ExitStatus(), ws.Signaled()
		if r.killed {
			r.code = 128 + int(ws.Signal())
		}
	} else if err != nil {
		t.Fatal(err)
	}
	return r
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.cfg")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// freePort returns a loopback port that was free a moment ago.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

const timeouts = "defaults\n mode http\n timeout client 5s\n timeout server 5s\n timeout connect 5s\n"

// serving is a configuration that answers 503 at a port.
func serving(port int, global string) string {
	return fmt.Sprintf("global\n%s\n%slisten a\n bind 127.0.0.1:%d\n", global, timeouts, port)
}

func TestExitCodesAndOutput(t *testing.T) {
	valid := serving(freePort(t), "")
	for _, c := range []struct {
		name, cfg, line string
		code            int
		out, err        string // regular expressions; "": nothing at all
	}{
		{"check", valid, "-c -f CFG", 0, "", ""},
		{"check, verbose", valid, "-c -V -f CFG", 0, `^Configuration file is valid\n$`, ""},
		{"verbose wins", valid, "-c -V -q -f CFG", 0, `^Configuration file is valid\n$`, ""},
		{"error", "global\n blah\n", "-c -f CFG", 1, "", `(?s)^\[NOTICE\]   \(\d+\) : weir version is .*\n\[NOTICE\]   \(\d+\) : path to executable is /.*\n` +
			`\[ALERT\]    \(\d+\) : config : parsing \[.*test.cfg:2\] : .*'blah'.*\n` +
			`.*cannot be used`},
		{"error when starting", "global\n blah\n", "-f CFG", 1, "", `'blah'`},
		{"error, quiet", "global\n blah\n", "-c -q -f CFG", 1, "", ""},
		{"missing file", valid, "-c -f /nonexistent/x", 1, "", `\[ALERT\] .*/nonexistent/x`},
		{"warning", "global\n.warning 'look'\n" + valid, "-c -f CFG", 0, `^Warnings were found.\n$`, `\[WARNING\]  \(\d+\) : config : parsing .*:2\] : 'look'`},
		{"warning, verbose", "global\n.warning 'look'\n" + valid, "-c -V -f CFG", 0, `^Warnings were found.\nConfiguration file is valid\n$`, `look`},
		{"warning, quiet", "global\n.warning 'look'\n" + valid, "-c -q -f CFG", 0, "", ""},
		{"warning, quiet by keyword", "global\n quiet\n.warning 'look'\n" + valid, "-c -f CFG", 0, "", ""},
		{"warning is fatal", "global\n.warning 'look'\n" + valid, "-c -dW -f CFG", 1, "", `\[ALERT\] .*'zero-warning'`},
		{"warning is fatal, quiet", "global\n.warning 'look'\n" + valid, "-c -q -dW -f CFG", 1, "", ""},
		{"warning is fatal by keyword", "global\n zero-warning\n.warning 'look'\n" + valid, "-f CFG", 1, "", `\[ALERT\] .*'zero-warning'`},
		{"hint", "global\n.diag 'hint'\n" + valid, "-c -f CFG", 0, "", ""},
		{"hint, shown", "global\n.diag 'hint'\n" + valid, "-c -dD -f CFG", 0, "", `\[DIAG\]     \(\d+\) : .*'hint'`},
		{"master mode, checked", valid, "-Ws -S /tmp/x -c -f CFG", 0, "", ""},
		{"master mode", valid, "-W -f CFG", 1, "", `-W is known to HAProxy, but not in weir yet`},
		{"old sockets", valid, "-x /tmp/x -f CFG", 1, "", `-x is known to HAProxy, but not in weir yet`},
		{"traces", valid, "-c -dt h1 -f CFG", 1, "", `-dt is known`},
		{"unresolved servers", valid, "-c -dr -f CFG", 1, "", `-dr is known`},
		{"archive", valid, "-c -dA/tmp/x -f CFG", 1, "", `-dA is known`},
		{"unknown option", valid, "-Q -f CFG", 1, `^weir version`, `(?s)unknown option '-Q'.*Usage : weir`},
		{"no option", "", "", 1, `^weir version`, `^Usage : weir`},
		{"option without value", valid, "-c -f CFG -n", 1, "", `-n needs`},
		{"folder that is not there", valid, "-C /nonexistent -c -f CFG", 1, "", `cannot change to the folder /nonexistent: no such file or directory`},
		{"true", "", "-cc 1", 0, "", ""},
		{"false", "", "-cc 0", 1, "", ""},
		{"feature", "", "-cc feature(THREAD)&&feature(OPENSSL)&&openssl_version_atleast(1.1.1)&&!feature(QUIC)&&enabled(EPOLL)", 0, "", ""},
		{"enabled", "", "-de -cc enabled(EPOLL)", 1, "", ""},
		{"version", "", "-cc version_atleast(3.5)", 0, "", ""},
		{"not a condition", "", "-cc bla(", 2, "", `\[ALERT\] .* : The condition cannot be evaluated: .*bla`},
		{"-v", "", "-v", 0, `^weir version \d+\.\d+\.\d+ \d{4}/\d\d/\d\d - .*\nHAProxy version 3\.5\.\d+-weir\d+\.\d+\.\d+ \d{4}/\d\d/\d\d - .*\nRunning on: Linux .*\n$`, ""},
		{"-vv", "", "-vv", 0, `(?s)Feature list :.* \+THREAD .*will use .*\n.*mux=H1 `, ""},
		{"-vq", "", "-vq", 0, `^3\.5\.\d+-weir\d+\.\d+\.\d+\n$`, ""},
		{"-vqs", "", "-vqs", 0, `^3\.5\.\d+\n$`, ""},
		{"-vqb", "", "-vqb", 0, `^3\.5\n$`, ""},
		{"-dMhelp", "", "-dMhelp", 0, `no-fail`, ""},
		{"-dKhelp", valid, "-c -dKhelp -f CFG", 0, `(?m)^cfg: `, ""},
		{"-dKcfg", valid, "-c -dKcfg -f CFG", 0, `(?s)\nfrontend\n.*\tbind .*\nglobal\n.*\tmaxconn\n`, ""},
		{"-dC", valid, "-c -dC -f CFG", 0, `(?m)^listen a \n\tbind 127.0.0.1:`, ""},
		{"-dL", valid, "-c -q -dL -f CFG", 0, `^/.*boot\.test\n$`, ""},
		{"-dc", serving(1, " nbthread 2\n cpu-map 1/1 0"), "-c -dc -f CFG", 0, `(?m)^  1/1     1: 0$`, ""},
		{"nothing to listen on", timeouts + "backend b\n", "-f CFG", 1, "", `(?s)\[ALERT\] .*nothing to listen on`},
		{"no poller", valid, "-dU -de -f CFG", 1, "", `epoll is disabled`},
		{"too many connections", valid, "-n 2000000000 -f CFG", 1, "", `cannot raise the limit on open files to`},
		{"chroot fails", serving(freePort(t), " chroot /nonexistent"), "-f CFG", 1, "", `\[weir.main\(\)\] cannot chroot to /nonexistent: no such`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := runWeir(t, command(write(t, c.cfg), strings.Fields(c.line)...))
			if r.code != c.code {
				t.Errorf("exit code %d, want %d", r.code, c.code)
			}
			for _, x := range []struct{ what, got, want string }{{"stdout", r.out, c.out}, {"stderr", r.err, c.err}} {
				if x.want == "" && x.got != "" || !regexp.MustCompile(x.want).MatchString(x.got) {
					t.Errorf("%s: want %q", x.what, x.want)
				}
			}
			if t.Failed() {
				t.Log(r)
			}
		})
	}
}

func TestVersionForCallersOfHAProxy(t *testing.T) {
	cmd := command("", "-v")
	cmd.Args[0] = "/usr/sbin/haproxy"
	if r := runWeir(t, cmd); !strings.HasPrefix(r.out, "HAProxy version 3.5.") || !strings.Contains(r.out, "\nweir version ") {
		t.Errorf("got %s", r)
	}
}

func TestConditionSeesEnvironment(t *testing.T) {
	cmd := command("", "-cc", `defined(TESTVAR) && streq("$TESTVAR","1")`)
	cmd.Env = append(cmd.Env, "TESTVAR=1")
	if r := runWeir(t, cmd); r.code != 0 {
		t.Errorf("got %s", r)
	}
}

// inProcess runs Main here, with the stages before start alone.
func inProcess(p *Program, stdin string, words ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code, _ = p.Main(append([]string{"weir"}, words...), []string{"PATH=/bin"}, strings.NewReader(stdin), &o, &e)
	return code, o.String(), e.String()
}

func TestCommandLineWins(t *testing.T) {
	var got *model.Config
	var rt Runtime
	p := &Program{
		Load: func(o config.Options) (*model.Config, *diag.List) { return kw.Load(o) },
		New: func(cfg *model.Config, r Runtime) (signals.Instance, error) {
			got, rt = cfg, r
			return nil, errors.New("built nothing")
		},
	}
	code, out, errs := inProcess(p, "global\n maxconn 10\n localpeer x\n"+timeouts+"frontend f\n bind :1\n maxconn 7\nfrontend g\n bind :2\n",
		"-f", "-", "-n", "50", "-N", "20", "-m", "64", "-L", "me", "-dS", "-dR", "-dZ", "-dI", "-dMfail", "-p", "pid", "-db", "-dU")
	if code != 1 || !strings.Contains(errs, "[ALERT]    (") || !strings.HasSuffix(errs, ") : built nothing\n") {
		t.Fatalf("code %d\n%s\n%s", code, out, errs)
	}
	g := got.Global
	if !g.NoSplice || !g.NoReusePort || !g.NoUring || !g.InsecureForkWanted || !g.Tune.DisableZeroCopyForwarding ||
		g.Tune.FailAlloc != args.DefaultFailRate || g.PidFile != "pid" || g.LocalPeer != "me" || g.MaxConn != 50 {
		t.Errorf("global section: %+v", g)
	}
	if got.Proxies[0].MaxConn != 7 || got.Proxies[1].MaxConn != 20 {
		t.Errorf("maxconn of the proxies: %d, %d", got.Proxies[0].MaxConn, got.Proxies[1].MaxConn)
	}
	if rt.Limits.MaxConn != 50 || rt.Limits.MemoryBytes != 64<<20 || rt.Limits.Threads < 1 || !rt.Args.Foreground || rt.Report == nil {
		t.Errorf("runtime: %+v", rt)
	}
}

func TestStdinIsBounded(t *testing.T) {
	p := &Program{Load: kw.Load}
	text := "global\n# " + strings.Repeat("x", config.MaxStdin) + "\n"
	if code, _, errs := inProcess(p, text, "-c", "-f", "-"); code != 1 || !strings.Contains(errs, "ALERT") {
		t.Errorf("code %d\n%s", code, errs)
	}
	if code, _, errs := inProcess(p, "global\n maxconn 1\n", "-c", "-f", "-"); code != 0 || errs != "" {
		t.Errorf("code %d\n%s", code, errs)
	}
	p.Load = nil
	var o, e bytes.Buffer
	if code, _ := p.Main([]string{"weir", "-f", "-"}, nil, failing{}, &o, &e); code != 1 || !strings.Contains(e.String(), "cannot read the configuration from standard input: broken") {
		t.Errorf("code %d\n%s", code, e.String())
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("broken") }

func TestConsole(t *testing.T) {
	var b bytes.Buffer
	c := newConsole(&b)
	c.say(diag.Notice, "first")
	if strings.Contains(b.String(), "version is") {
		t.Errorf("a notice alone brings the preamble:\n%s", &b)
	}
	c.say(diag.Warning, "second")
	c.say(diag.Alert, "third")
	if n := strings.Count(b.String(), "version is"); n != 1 {
		t.Errorf("the preamble appears %d times:\n%s", n, &b)
	}
	c.setQuiet(true)
	before := b.Len()
	c.say(diag.Alert, "fourth")
	c.raw("fifth")
	if b.Len() != before {
		t.Errorf("not quiet:\n%s", &b)
	}
	pid := fmt.Sprintf("(%d) : ", os.Getpid())
	for _, want := range []string{"[NOTICE]   " + pid + "first\n", "[WARNING]  " + pid + "second\n", "[ALERT]    " + pid + "third\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}

func TestFeaturesAreSorted(t *testing.T) {
	for i := 1; i < len(features); i++ {
		if features[i-1].name >= features[i].name {
			t.Errorf("%s stands before %s", features[i-1].name, features[i].name)
		}
	}
}

func TestBuffers(t *testing.T) {
	for _, c := range []struct {
		tune           model.Tune
		memory         int64
		debug          *args.Memory
		limit, reserve int
		poison         bool
	}{
		{model.Tune{}, 0, nil, 0, 2, false},
		{model.Tune{BuffersLimit: 100, BuffersReserve: 5}, 0, nil, 100, 5, false},
		{model.Tune{}, 64 << 20, nil, 3072, 2, false},
		{model.Tune{BuffersLimit: 100}, 64 << 20, nil, 100, 2, false},
		{model.Tune{BuffersLimit: 10000, BufSize: 32768}, 64 << 20, nil, 1536, 2, false},
		{model.Tune{}, 0, &args.Memory{Tag: true}, 0, 2, true},
		{model.Tune{}, 0, &args.Memory{Fail: true}, 0, 2, false},
	} {
		b := buffers(c.tune, limits.Plan{MemoryBytes: c.memory}, c.debug)
		if b.Limit != c.limit || b.Reserve != c.reserve || b.Poison != c.poison {
			t.Errorf("%+v, %d bytes: %+v", c.tune, c.memory, b)
		}
	}
}
