package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The tests start this test binary again, which is weir then.
func TestMain(m *testing.M) {
	if os.Getenv("WEIR_CHILD") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func weir(words ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], words...)
	cmd.Args[0] = "weir"
	cmd.Env = append(os.Environ(), "WEIR_CHILD=1")
	return cmd
}

func TestDemo(t *testing.T) {
	out, err := weir("demo", "-check").CombinedOutput()
	if err != nil || !strings.HasSuffix(string(out), "weir demo: all answers are right\n") {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := strings.Count(string(out), " www servers/"); n != 6 {
		t.Errorf("%d lines of log for 6 requests:\n%s", n, out)
	}
}

func TestVersionTellsPollers(t *testing.T) {
	out, err := weir("-vv").Output()
	if err != nil || !strings.Contains(string(out), "io_uring : pref=400,  test result ") || !strings.Contains(string(out), "will use ") {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestExitCode(t *testing.T) {
	cmd := weir("-cc", "nosuch(1)")
	_ = cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != 2 {
		t.Errorf("exit code %d", code)
	}
}
