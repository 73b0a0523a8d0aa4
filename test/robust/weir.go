package robust

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"weir/test/scenario"
	"weir/test/wait"
)

// bound is the longest that a single expected event may take. Machines are slow.
const bound = 10 * time.Second

// A proxy is the running binary with its listeners, logs and figures at rest.
type proxy struct {
	t      testing.TB
	target *scenario.Target
	cmd    *exec.Cmd
	addr   map[string]string // listeners by name
	stderr *tail
	stdout *tail // where "log stdout" goes
	done   chan struct{}
	lines  []line // of stdout, parsed so far
	mark   int    // lines before it are about earlier connections
	base   figures
	loops  int
	busy   bool // many connections at once
	large  bool // so many that the pools keep more than maxGrowth afterwards

	mu      sync.Mutex
	clients []net.Conn
}

// setup is what start needs.
type setup struct {
	target  *scenario.Target
	config  string            // fd@${name} is a listener, ${name} an origin or another value
	vars    map[string]string // what ${name} stands for
	args    []string
	prefix  []string   // a command that runs the binary
	files   []*os.File // further descriptors, after those of the listeners
	stdout  *os.File   // instead of the log file
	settled bool       // measure the figures only when settle is called first
}

var listenerRE = regexp.MustCompile(`fd@\$\{(\w+)\}`)

// each runs a test on every target, in parallel.
func each(t *testing.T, fn func(t *testing.T, target *scenario.Target)) {
	t.Helper()
	targets, err := scenario.Targets()
	if err != nil {
		t.Fatal(err)
	}
	t.Parallel()
	for _, target := range targets {
		t.Run(target.Name, func(t *testing.T) {
			t.Parallel()
			fn(t, target)
		})
	}
}

// weirOnly skips what is asked of weir alone.
func weirOnly(t testing.TB, target *scenario.Target, why string) {
	t.Helper()
	if target.Reference {
		t.Skip("weir only: " + why)
	}
}

// start runs the binary until the end of the test.
func start(t testing.TB, s setup) *proxy {
	t.Helper()
	dir := t.TempDir()
	p := &proxy{t: t, target: s.target, addr: map[string]string{}, done: make(chan struct{})}
	config, files := p.listeners(s.config)
	for name, value := range s.vars {
		config = strings.ReplaceAll(config, "${"+name+"}", value)
	}
	for i, f := range s.files {
		config = strings.ReplaceAll(config, fmt.Sprintf("$FILE%d", i), fmt.Sprint(3+len(files)))
		files = append(files, f)
	}
	if n, err := fmt.Sscanf(config[max(0, strings.Index(config, "nbthread")):], "nbthread %d", &p.loops); n != 1 {
		t.Fatalf("the configuration sets no nbthread: %v", err)
	}
	path := filepath.Join(dir, "test.cfg")
	check(t, os.WriteFile(path, []byte(config), 0o600))
	args := append(append(s.prefix, s.target.Binary, "-db", "-V", "-f", path), s.target.Args...)
	args = append(args, s.args...)
	p.cmd = exec.Command(args[0], args[1:]...)
	p.cmd.ExtraFiles = files
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var outFile *os.File
	p.stdout, outFile = newTail(t, filepath.Join(dir, "stdout"))
	if s.stdout != nil {
		outFile = s.stdout
	}
	var errFile *os.File
	p.stderr, errFile = newTail(t, filepath.Join(dir, "stderr"))
	p.cmd.Stdout, p.cmd.Stderr = outFile, errFile
	err := p.cmd.Start()
	for _, f := range append(files[:len(p.addr)], errFile) {
		f.Close()
	}
	check(t, err)
	t.Cleanup(p.end)
	go func() {
		p.cmd.Wait()
		close(p.done)
	}()
	if !s.settled {
		p.rest()
	}
	return p
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// listeners opens a socket for every fd@${name}.
func (p *proxy) listeners(config string) (string, []*os.File) {
	var files []*os.File
	config = listenerRE.ReplaceAllStringFunc(config, func(m string) string {
		name := m[5 : len(m)-1]
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		check(p.t, err)
		defer l.Close()
		f, err := l.(*net.TCPListener).File()
		check(p.t, err)
		p.addr[name] = l.Addr().String()
		files = append(files, f)
		return fmt.Sprintf("fd@%d", 2+len(files))
	})
	return config, files
}

// end stops the process and fails the test when it had died or shows a panic.
func (p *proxy) end() {
	select {
	case <-p.done:
		p.t.Errorf("the process ended by itself: %v", p.cmd.ProcessState)
	default:
		p.cmd.Process.Signal(syscall.SIGTERM)
		if !wait.Until(bound, p.ended) {
			p.t.Error("the process ignored SIGTERM")
			p.cmd.Process.Kill()
			<-p.done
		}
	}
	if crash := p.crash(); crash != "" {
		p.t.Errorf("the process crashed:\n%s", crash)
	}
	if p.t.Failed() {
		p.t.Logf("standard error:\n%.4000s", p.stderr.all())
		all := p.stdout.all()
		p.t.Logf("end of the log:\n%s", all[max(0, len(all)-4000):])
	}
}

func (p *proxy) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// crash returns what shows a Go panic, a fatal error of the runtime or a data race.
func (p *proxy) crash() string {
	out := p.stderr.all()
	for _, mark := range []string{"panic", "fatal error:", "DATA RACE", "SIGSEGV"} {
		if i := bytes.Index(out, []byte(mark)); i >= 0 {
			return string(out[max(0, i-200):min(len(out), i+4000)])
		}
	}
	return ""
}

// A tail reads a file that grows.
type tail struct {
	path string
	mu   sync.Mutex
	off  int64
	rest []byte
}

func newTail(t testing.TB, path string) (*tail, *os.File) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	check(t, err)
	return &tail{path: path}, f
}

func (t *tail) all() []byte {
	b, _ := os.ReadFile(t.path)
	return b
}

// more returns the whole lines that came since the last call.
func (t *tail) more() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	f, err := os.Open(t.path)
	if err != nil {
		return nil
	}
	defer f.Close()
	buf := make([]byte, 256<<10)
	for {
		n, err := f.ReadAt(buf, t.off)
		t.off += int64(n)
		t.rest = append(t.rest, buf[:n]...)
		if err != nil || n == 0 {
			break
		}
	}
	end := bytes.LastIndexByte(t.rest, '\n')
	if end < 0 {
		return nil
	}
	lines := strings.Split(string(t.rest[:end]), "\n")
	t.rest = append(t.rest[:0], t.rest[end+1:]...)
	return lines
}

// A line is one line of the HTTP log.
type line struct {
	port                              string // of the client
	fe, server, timers, status, state string
	bytes                             int
	request, raw                      string
}

var lineRE = regexp.MustCompile(`^[\d.]+:(\d+) \[[^]]*\] (\S+) (\S+) (\S+) (\S+) \+?(\d+) - - (\S{4}) \S+ \S+ "?(.*?)"?$`)

// log returns all lines of the HTTP log so far. One goroutine may use it.
func (p *proxy) log() []line {
	for _, text := range p.stdout.more() {
		m := lineRE.FindStringSubmatch(text)
		if m == nil {
			p.lines = append(p.lines, line{raw: text})
			continue
		}
		n, _ := strconv.Atoi(m[6])
		p.lines = append(p.lines, line{port: m[1], fe: m[2], server: m[3], timers: m[4], status: m[5], bytes: n, state: m[7], request: m[8], raw: text})
	}
	return p.lines
}

// logOf waits for n lines about the client with that port.
func (p *proxy) logOf(port string, n int) []line {
	p.t.Helper()
	var found []line
	if !wait.Until(bound, func() bool {
		found = nil
		for _, l := range p.log()[p.mark:] {
			if l.port == port {
				found = append(found, l)
			}
		}
		return len(found) >= n
	}) {
		p.t.Errorf("%d log lines of client %s, want %d", len(found), port, n)
		return append(found, make([]line, n)...)
	}
	return found
}

// forget makes logOf look at later lines only: ports are used again.
func (p *proxy) forget() { p.mark = len(p.log()) }

// wantLog checks the only line about a client: "STATUS STATE", regular expressions.
func (p *proxy) wantLog(port, want string) {
	p.t.Helper()
	l := p.logOf(port, 1)[0]
	if got := l.status + " " + l.state; !regexp.MustCompile("^(?:" + want + ")$").MatchString(got) {
		p.t.Errorf("logged %q, want %q: %s", got, want, l.raw)
	}
}

// states counts the log lines by status and termination state, such as "200 ----".
func (p *proxy) states() map[string]int {
	n := map[string]int{}
	for _, l := range p.log() {
		if l.port != "" {
			n[l.status+" "+l.state]++
		}
	}
	return n
}
