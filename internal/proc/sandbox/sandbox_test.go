package sandbox

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// What is given up cannot be taken back: each case runs in a process of its
// own, this test binary started again.
var children = map[string]func() error{
	"drop":       childDrop,
	"drop-uid":   func() error { return enter(Plan{UID: nobody, GID: -1}) },
	"caps":       childCaps,
	"jail":       childJail,
	"auto":       func() error { return enter(Plan{Chroot: "auto", UID: nobody, GID: nobody}) },
	"dumpable":   func() error { return enter(Plan{UID: nobody, GID: nobody, Dumpable: true}) },
	"undumpable": func() error { return enter(Plan{UID: nobody, GID: nobody}) },
	"no-setuid":  func() error { return twice(Plan{UID: nobody, GID: nobody}, Plan{UID: 12345, GID: -1}) },
	"no-setgid":  func() error { return twice(Plan{UID: nobody, GID: nobody}, Plan{UID: -1, GID: 12345}) },
	"no-chroot":  func() error { return twice(Plan{UID: nobody, GID: nobody}, Plan{UID: -1, GID: -1, Chroot: "/"}) },
	"detach":     childDetach,
	"service":    childService,
}

const nobody = 65534

func TestMain(m *testing.M) {
	if fn := children[os.Getenv("SANDBOX_CHILD")]; fn != nil {
		if err := fn(); err != nil {
			fmt.Println("error:", err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// runChild runs a case and returns what it printed.
func runChild(t *testing.T, name string, env ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "SANDBOX_CHILD="+name), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// needRoot skips on a laptop; a build machine runs as root.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() == 0 {
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatal("this test needs root, and this is a build machine")
	}
	t.Skip("this test needs root")
}

// enter carries out a plan and prints the state of every thread.
func enter(p Plan) error {
	var wg sync.WaitGroup
	for range 4 { // some threads that exist before
		wg.Add(1)
		go func() {
			runtime.LockOSThread()
			wg.Done()
			select {}
		}()
	}
	wg.Wait()
	// /proc may be out of sight afterwards
	dir, err := os.Open("/proc/self/task")
	if err != nil {
		return err
	}
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return err
	}
	var files []*os.File
	for _, n := range names {
		f, err := os.Open("/proc/self/task/" + n + "/status")
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	warnings, err := Enter(p)
	for _, w := range warnings {
		fmt.Println("warning:", w)
	}
	if err != nil {
		return err
	}
	for _, f := range files {
		fmt.Println(status(f))
	}
	wd, err := os.Getwd()
	fmt.Println("wd:", wd, err)
	dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	fmt.Println("dumpable:", dumpable, err)
	return nil
}

// status picks the lines about rights from a thread's status, on one line.
func status(f io.Reader) string {
	var out []string
	for sc := bufio.NewScanner(f); sc.Scan(); {
		for _, k := range []string{"Uid:", "Gid:", "Groups:", "CapPrm:", "CapEff:", "NoNewPrivs:"} {
			if strings.HasPrefix(sc.Text(), k) {
				out = append(out, strings.Join(strings.Fields(sc.Text()), " "))
			}
		}
	}
	return "thread: " + strings.Join(out, " | ")
}

func twice(a, b Plan) error {
	if _, err := Enter(a); err != nil {
		return fmt.Errorf("the first step: %w", err)
	}
	_, err := Enter(b)
	return err
}

func childDrop() error {
	if err := unix.Setgroups([]int{1, 2, 3}); err != nil {
		return err
	}
	return enter(Plan{UID: nobody, GID: nobody, NoNewPrivs: true})
}

func childCaps() error {
	return enter(Plan{UID: nobody, GID: nobody, Caps: []string{"cap_net_bind_service", "cap_net_raw"}})
}

func childJail() error {
	if err := enter(Plan{Chroot: os.Getenv("JAIL"), UID: -1, GID: -1}); err != nil {
		return err
	}
	entries, err := os.ReadDir("/")
	if err != nil {
		return err
	}
	for _, e := range entries {
		fmt.Println("entry:", e.Name())
	}
	return nil
}

func threads(t *testing.T, out string) []string {
	t.Helper()
	var l []string
	for _, line := range strings.Split(out, "\n") {
		if strings.HasPrefix(line, "thread: ") {
			l = append(l, line)
		}
	}
	if len(l) < 5 {
		t.Fatalf("only %d threads told:\n%s", len(l), out)
	}
	return l
}

func TestEnterDropsEverythingOnAllThreads(t *testing.T) {
	needRoot(t)
	out, err := runChild(t, "drop")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const want = "thread: Uid: 65534 65534 65534 65534 | Gid: 65534 65534 65534 65534 | Groups: | " +
		"CapPrm: 0000000000000000 | CapEff: 0000000000000000"
	for _, l := range threads(t, out) {
		if !strings.HasPrefix(l, want) {
			t.Errorf("got %s\nwant %s", l, want)
		}
		if !cgo && !strings.HasSuffix(l, "NoNewPrivs: 1") {
			t.Errorf("set-uid programs still work: %s", l)
		}
	}
}

func TestEnterUserAlone(t *testing.T) {
	needRoot(t)
	out, err := runChild(t, "drop-uid")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, l := range threads(t, out) {
		if !strings.HasPrefix(l, "thread: Uid: 65534 65534 65534 65534 | Gid: 0 0 0 0 | Groups: |") || !strings.HasSuffix(l, "NoNewPrivs: 0") {
			t.Errorf("got %s", l)
		}
	}
}

func TestEnterKeepsCapabilities(t *testing.T) {
	needRoot(t)
	if cgo {
		t.Skip("a program built with cgo sets the capabilities of one thread only")
	}
	out, err := runChild(t, "caps")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, l := range threads(t, out) {
		if !strings.Contains(l, "Uid: 65534") || !strings.Contains(l, "CapPrm: 0000000000002400 | CapEff: 0000000000002400") {
			t.Errorf("got %s", l)
		}
	}
}

func TestEnterJail(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "inside"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := runChild(t, "jail", "JAIL="+dir)
	if err != nil || !strings.Contains(out, "entry: inside\n") || strings.Count(out, "entry:") != 1 || !strings.Contains(out, "wd: / <nil>") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = runChild(t, "jail", "JAIL=/nonexistent")
	if err == nil || !strings.Contains(out, "error: cannot chroot to /nonexistent: no such file or directory") {
		t.Errorf("%v\n%s", err, out)
	}
	before, _ := filepath.Glob(filepath.Join(os.TempDir(), "weir.*"))
	out, err = runChild(t, "auto")
	after, _ := filepath.Glob(filepath.Join(os.TempDir(), "weir.*"))
	if err != nil || !strings.Contains(out, "wd:  stat .: permission denied") { // nobody may even look
		t.Errorf("auto: %v\n%s", err, out)
	}
	if len(after) > len(before) {
		t.Errorf("auto left %v behind", after)
	}
}

func TestEnterDumpable(t *testing.T) {
	needRoot(t)
	for name, want := range map[string]string{"dumpable": "dumpable: 1", "undumpable": "dumpable: 0"} {
		if out, err := runChild(t, name); err != nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

func TestEnterErrors(t *testing.T) {
	needRoot(t)
	for name, want := range map[string]string{
		"no-setuid": "error: cannot set uid 12345: operation not permitted",
		"no-setgid": "error: cannot set gid 12345: operation not permitted",
		"no-chroot": "error: cannot chroot to /: operation not permitted",
	} {
		if out, err := runChild(t, name); err == nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v\n%s\nwant %s", name, err, out, want)
		}
	}
	if _, err := Enter(Plan{UID: -1, GID: -1, Caps: []string{"cap_foo"}}); err == nil || !strings.Contains(err.Error(), "cap_net_raw") {
		t.Errorf("an unknown capability: %v", err)
	}
}

func TestWritePID(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pid")
	if err := os.WriteFile(path, []byte("a longer text than a number\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := WritePID(path); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path); string(b) != fmt.Sprintf("%d\n", os.Getpid()) {
		t.Errorf("the file holds %q", b)
	}
	if err := WritePID("/nonexistent/pid"); err == nil || err.Error() != "cannot create the pid file /nonexistent/pid: no such file or directory" {
		t.Errorf("got %v", err)
	}
}
