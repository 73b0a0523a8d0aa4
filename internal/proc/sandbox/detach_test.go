package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// childDetach is the process in the foreground: it starts the service and
// tells how that went.
func childDetach() error {
	env := append(slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "SANDBOX_CHILD=") }), "SANDBOX_CHILD=service")
	pid, err := Detach(Command{Args: os.Args, Env: env, Stdin: strings.NewReader("from stdin"), Stdout: os.Stdout, Stderr: os.Stderr})
	var exit *ExitError
	if errors.As(err, &exit) {
		fmt.Printf("exit %d: %v\n", exit.Code, strings.Replace(exit.Error(), strconv.Itoa(pid), "PID", 1))
		return nil
	}
	fmt.Println("ready", pid)
	return err
}

// childService is the process in the background. It ends when somebody writes
// to the named pipe STOP, or after a minute.
func childService() error {
	env, d := FromEnvironment(os.Environ())
	if d == nil {
		return errors.New("not detached")
	}
	if slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, marker) }) || os.Getenv(marker) != "" {
		return errors.New("the marker is still there")
	}
	in, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	fmt.Printf("service in session %d, stdin %q\n", mustSid(), in)
	switch os.Getenv("END") {
	case "exit":
		os.Exit(7)
	case "zero":
		os.Exit(0)
	case "signal":
		if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
			return err
		}
		select {}
	}
	if fd, err := strconv.Atoi(os.Getenv("INHERITED")); err == nil {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil {
			return fmt.Errorf("descriptor %d did not arrive: %w", fd, err)
		}
	}
	if err := d.Ready(); err != nil {
		return err
	}
	fmt.Println("this must not be seen")
	time.AfterFunc(time.Minute, func() { os.Exit(1) }) // nobody came
	_, err = os.ReadFile(os.Getenv("STOP"))
	return err
}

func mustSid() int {
	sid, err := unix.Getsid(0)
	if err != nil {
		panic(err)
	}
	return sid
}

func TestDetach(t *testing.T) {
	stop := filepath.Join(t.TempDir(), "stop")
	if err := unix.Mkfifo(stop, 0o600); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SANDBOX_CHILD=detach", "STOP="+stop, "INHERITED=3")
	cmd.ExtraFiles = []*os.File{w} // descriptor 3
	out, err := cmd.CombinedOutput()
	w.Close()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var sid, pid int
	lines := strings.Split(string(out), "\n")
	if n, err := fmt.Sscanf(lines[0], "service in session %d, stdin \"from stdin\"", &sid); n != 1 || err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n, err := fmt.Sscanf(lines[1], "ready %d", &pid); n != 1 || err != nil || pid != sid {
		t.Fatalf("%v, session %d, process %d\n%s", err, sid, pid, out)
	}
	if strings.Contains(string(out), "must not") {
		t.Errorf("output after the detach:\n%s", out)
	}
	for fd := range 3 {
		if to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, fd)); err != nil || to != os.DevNull {
			t.Errorf("descriptor %d is %s, %v", fd, to, err)
		}
	}
	if err := os.WriteFile(stop, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// The service holds the other end of the pipe: end of file is its end.
	if _, err := r.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the service did not end: %v", err)
	}
}

func TestDetachFailures(t *testing.T) {
	for end, want := range map[string]string{
		"exit":   "exit 7: process PID exited with code 7",
		"zero":   "exit 1: process PID exited with code 1",
		"signal": "exit 137: process PID was ended by signal 9 (killed)",
	} {
		out, err := runChild(t, "detach", "END="+end)
		if err != nil || !strings.HasSuffix(out, want+"\n") {
			t.Errorf("%s: %v\n%s\nwant %s", end, err, out, want)
		}
	}
}

func TestFromEnvironmentIgnoresStrangers(t *testing.T) {
	for _, v := range []string{"", "1", "x:y", "1:2", fmt.Sprintf("%d:0", os.Getppid()), fmt.Sprintf("%d:9999", os.Getppid())} {
		env := []string{"A=1", marker + "=" + v, "B=2"}
		got, d := FromEnvironment(env)
		if d != nil && v != fmt.Sprintf("%d:0", os.Getppid()) {
			t.Errorf("%q was taken for a marker", v)
		}
		if !slices.Equal(got, []string{"A=1", "B=2"}) || len(env) != 3 {
			t.Errorf("%q: environment %v", v, got)
		}
	}
	if env, d := FromEnvironment([]string{"A=1"}); d != nil || len(env) != 1 {
		t.Error("no marker, but an answer")
	}
}
