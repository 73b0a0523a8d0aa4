package boot

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"weir/test/wait"
)

const patience = 10 * time.Second

// ask sends a request and returns the status line, "" when nobody answers.
func ask(port int) string {
	c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), patience)
	if err != nil {
		return ""
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	fmt.Fprint(c, "GET / HTTP/1.0\r\n\r\n")
	b, _ := io.ReadAll(c)
	line, _, _ := strings.Cut(string(b), "\r\n")
	return line
}

func awaitAnswer(t *testing.T, port int) {
	t.Helper()
	if !wait.Until(patience, func() bool { return strings.Contains(ask(port), " 503 ") }) {
		t.Fatalf("nobody answers at port %d", port)
	}
}

// spawn starts a process in the foreground; its errors go to a file.
func spawn(t *testing.T, path string, words ...string) (cmd *exec.Cmd, errs func() string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "stderr")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cmd = command(path, words...)
	cmd.Stderr = f
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, func() string { b, _ := os.ReadFile(file); return string(b) }
}

func TestSignalsInTheForeground(t *testing.T) {
	for _, c := range []struct {
		sig    syscall.Signal
		killed bool
	}{{syscall.SIGTERM, true}, {syscall.SIGINT, true}, {syscall.SIGUSR1, false}} {
		port := freePort(t)
		pid := filepath.Join(t.TempDir(), "pid")
		cmd, errs := spawn(t, write(t, serving(port, "")), "-d", "-f", "CFG", "-p", pid)
		awaitAnswer(t, port)
		for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGUSR2, syscall.SIGPIPE, c.sig} {
			if err := cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			if s == syscall.SIGHUP && !wait.Until(patience, func() bool { return strings.Contains(errs(), "SIGHUP: ") }) {
				t.Errorf("no answer to SIGHUP:\n%s", errs())
			}
		}
		_ = cmd.Wait()
		ws := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if ws.Signaled() != c.killed || c.killed && ws.Signal() != c.sig || !c.killed && ws.ExitStatus() != 0 {
			t.Errorf("%v: ended with %v\n%s", c.sig, cmd.ProcessState, errs())
		}
		if !strings.Contains(errs(), "Automatically setting global.maxconn to ") || !strings.Contains(errs(), "will use ") {
			t.Errorf("%v:\n%s", c.sig, errs())
		}
		if _, err := os.Stat(pid); err == nil {
			t.Error("a process in the foreground wrote its pid file")
		}
	}
}

func TestPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	r := runWeir(t, command(write(t, serving(port, "")), "-f", "CFG"))
	if r.code != 1 || !strings.Contains(r.err, "address already in use") || !strings.Contains(r.err, "Not all listeners could be started") {
		t.Errorf("got %s", r)
	}
}

// readPID reads a pid file.
func readPID(t *testing.T, path string) int {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSuffix(string(b), "\n"))
	if err != nil || pid < 2 {
		t.Fatalf("pid file %q", b)
	}
	return pid
}

// gone tells whether a process has ended. It may be a zombie that nobody
// collects.
func gone(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X")
}

// daemon starts one and returns its number.
func daemon(t *testing.T, cmd *exec.Cmd, pidfile string) int {
	t.Helper()
	r := runWeir(t, cmd)
	if r.code != 0 {
		t.Fatalf("got %s", r)
	}
	pid := readPID(t, pidfile)
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	return pid
}

func endBy(t *testing.T, pid int, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		t.Errorf("process %d: %v", pid, err)
	}
	if !wait.Until(patience, func() bool { return gone(pid) }) {
		t.Errorf("process %d did not end on %v", pid, s)
	}
}

func TestDaemon(t *testing.T) {
	for _, c := range []struct {
		name, global, stdin string
		words               []string
	}{
		{"-D", "", "", []string{"-D", "-f", "CFG", "-p", "PID"}},
		{"keyword", " daemon", "", []string{"-f", "CFG", "-p", "PID"}},
		{"keywords", " daemon\n pidfile PID", "", []string{"-f", "CFG"}},
		{"-D, stdin", "", "yes", []string{"-D", "-f", "-", "-p", "PID"}},
		{"keyword, stdin", " daemon", "yes", []string{"-f", "-", "-p", "PID"}},
		{"-D, quiet", "", "", []string{"-D", "-q", "-f", "CFG", "-p", "PID"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			port := freePort(t)
			pidfile := filepath.Join(t.TempDir(), "pid")
			text := strings.ReplaceAll(serving(port, c.global), "PID", pidfile)
			var words []string
			for _, w := range c.words {
				words = append(words, strings.ReplaceAll(w, "PID", pidfile))
			}
			cmd := command(write(t, text), words...)
			if c.stdin != "" {
				cmd.Stdin = strings.NewReader(text)
			}
			pid := daemon(t, cmd, pidfile)
			if !strings.Contains(ask(port), " 503 ") { // it is ready: no wait
				t.Error("the process that is ready does not answer")
			}
			for fd := range 3 {
				if to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, fd)); err != nil || to != os.DevNull {
					t.Errorf("descriptor %d is %s, %v", fd, to, err)
				}
			}
			env, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if f := strings.Fields(string(env)); err != nil || len(f) < 6 || f[5] != strconv.Itoa(pid) {
				t.Errorf("the process is in session %v, %v", f[5], err)
			}
			endBy(t, pid, syscall.SIGUSR1)
		})
	}
}

func TestDaemonFails(t *testing.T) {
	for name, c := range map[string]struct{ global, words, want string }{
		"pid file":      {"", "-D -p /nonexistent/pid", "cannot create the pid file /nonexistent/pid: no such file or directory"},
		"configuration": {" blah", "-D", "'blah'"},
		"chroot":        {" chroot /nonexistent\n daemon", "", "cannot chroot"},
	} {
		r := runWeir(t, command(write(t, serving(freePort(t), c.global)), append(strings.Fields(c.words), "-f", "CFG")...))
		if r.code != 1 || !strings.Contains(r.err, c.want) || !strings.Contains(r.err, "exited with code 1.") {
			t.Errorf("%s: got %s", name, r)
		}
	}
}

func TestSoftStopOfOldProcess(t *testing.T) {
	dir := t.TempDir()
	port := freePort(t)
	path := write(t, serving(port, ""))
	one, two, three := filepath.Join(dir, "1"), filepath.Join(dir, "2"), filepath.Join(dir, "3")
	first := daemon(t, command(path, "-D", "-f", "CFG", "-p", one), one)
	second := daemon(t, command(path, "-D", "-f", "CFG", "-p", two, "-sf", strconv.Itoa(first)), two)
	if !wait.Until(patience, func() bool { return gone(first) }) {
		t.Errorf("the old process %d is still there", first)
	}
	awaitAnswer(t, port)
	if r := runWeir(t, command(write(t, serving(port, " chroot /nonexistent")), "-f", "CFG", "-sf", strconv.Itoa(second))); r.code != 1 {
		t.Errorf("got %s", r)
	}
	if gone(second) {
		t.Error("the old process ended, though the new one failed")
	}
	third := daemon(t, command(path, "-D", "-f", "CFG", "-p", three, "-st", strconv.Itoa(second)), three)
	if !wait.Until(patience, func() bool { return gone(second) }) {
		t.Errorf("the old process %d is still there", second)
	}
	awaitAnswer(t, port)
	endBy(t, third, syscall.SIGTERM)
}

func TestConfinement(t *testing.T) {
	if os.Geteuid() != 0 {
		if os.Getenv("CI") != "" {
			t.Fatal("this test needs root, and this is a build machine")
		}
		t.Skip("this test needs root")
	}
	port := freePort(t)
	pidfile := filepath.Join(t.TempDir(), "pid")
	path := write(t, serving(port, " chroot auto\n uid 65534\n gid 65534\n set-dumpable\n nbthread 2"))
	pid := daemon(t, command(path, "-D", "-f", "CFG", "-p", pidfile), pidfile)
	if !strings.Contains(ask(port), " 503 ") {
		t.Error("no answer")
	}
	root, err := os.Readlink(fmt.Sprintf("/proc/%d/root", pid))
	if err != nil || !strings.HasSuffix(root, " (deleted)") {
		t.Errorf("the root is %s, %v", root, err)
	}
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(tasks) < 3 {
		t.Fatalf("threads: %v, %v", tasks, err)
	}
	for _, task := range tasks {
		b, err := os.ReadFile(task)
		if err != nil {
			continue // the thread has ended
		}
		fields := strings.Join(strings.Fields(string(b)), " ")
		for _, want := range []string{"Uid: 65534 65534 65534 65534", "Gid: 65534 65534 65534 65534", "Groups: NStgid", "CapEff: 0000000000000000"} {
			if !strings.Contains(fields, want) {
				t.Errorf("%s lacks %q: %s", task, want, fields)
			}
		}
	}
	endBy(t, pid, syscall.SIGTERM)
}
