package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Go program cannot fork: it has threads by the time main runs. Detach
// starts the program again in a session of its own and waits at a pipe until
// that process says that it is ready, or ends.

// marker names the variable that tells the new process the descriptor of the
// pipe. It is taken out of the environment first thing.
const marker = "WEIR_DETACHED"

// ready is what the new process writes.
const ready = "ready"

// Command is the program to start again.
type Command struct {
	Args, Env      []string
	Stdin          io.Reader // nil: nothing to read
	Stdout, Stderr io.Writer // files are handed over as they are
}

// Detach starts the command in the background. It returns the process's
// number once that process is ready. When it ends before that, the error is an
// *ExitError.
func Detach(c Command) (pid int, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return 0, fmt.Errorf("cannot start in the background: %w", err)
	}
	defer r.Close()
	// The descriptor keeps its number: the ones that the process was started
	// with (fd@N) must keep theirs too.
	fd := w.Fd()
	if _, err := unix.FcntlInt(fd, unix.F_SETFD, 0); err != nil {
		w.Close()
		return 0, fmt.Errorf("cannot start in the background: %w", err)
	}
	cmd := &exec.Cmd{
		Path: "/proc/self/exe", Args: c.Args,
		Env:   append(slices.Clone(c.Env), fmt.Sprintf("%s=%d:%d", marker, os.Getpid(), fd)),
		Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	err = cmd.Start()
	w.Close()
	if err != nil {
		return 0, fmt.Errorf("cannot start in the background: %w", err)
	}
	var word [len(ready)]byte
	if n, _ := io.ReadFull(r, word[:]); string(word[:n]) == ready {
		return cmd.Process.Pid, nil
	}
	return cmd.Process.Pid, exitError(cmd)
}

// ExitError tells how the background process ended before it was ready.
type ExitError struct {
	PID    int
	Code   int            // exit status, 128 plus the number of a signal
	Signal syscall.Signal // 0: none
}

func (e *ExitError) Error() string {
	if e.Signal != 0 {
		return fmt.Sprintf("process %d was ended by signal %d (%s)", e.PID, int(e.Signal), e.Signal)
	}
	return fmt.Sprintf("process %d exited with code %d", e.PID, e.Code)
}

func exitError(cmd *exec.Cmd) error {
	e := &ExitError{PID: cmd.Process.Pid, Code: 1}
	var exit *exec.ExitError
	if err := cmd.Wait(); errors.As(err, &exit) {
		if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			e.Signal, e.Code = ws.Signal(), 128+int(ws.Signal())
		} else if c := exit.ExitCode(); c > 0 {
			e.Code = c
		}
	}
	return e
}

// Detached is the background side of a Detach.
type Detached struct {
	pipe *os.File
	null *os.File // opened early: no jail has it
	err  error    // why there is none
}

// FromEnvironment returns the environment without the marker and, in a process
// that Detach has started, the way to answer it. Otherwise the second result
// is nil.
func FromEnvironment(env []string) ([]string, *Detached) {
	i := slices.IndexFunc(env, func(kv string) bool { return strings.HasPrefix(kv, marker+"=") })
	if i < 0 {
		return env, nil
	}
	value := strings.TrimPrefix(env[i], marker+"=")
	env = slices.Delete(slices.Clone(env), i, i+1)
	os.Unsetenv(marker)
	parent, number, _ := strings.Cut(value, ":")
	fd, err := strconv.Atoi(number)
	if err != nil || parent != strconv.Itoa(os.Getppid()) {
		return env, nil // not ours: somebody exported the variable
	}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFIFO {
		return env, nil
	}
	unix.CloseOnExec(fd)
	d := &Detached{pipe: os.NewFile(uintptr(fd), "detach")}
	d.null, d.err = os.OpenFile(os.DevNull, os.O_RDWR, 0)
	return env, d
}

// Ready lets go of the terminal: standard input, output and error become
// /dev/null, and the waiting process is told that it may leave.
func (d *Detached) Ready() error {
	if d.err != nil {
		return fmt.Errorf("cannot detach from the terminal: %w", d.err)
	}
	defer d.null.Close()
	for fd := range 3 {
		if err := unix.Dup3(int(d.null.Fd()), fd, 0); err != nil {
			return fmt.Errorf("cannot detach from the terminal: %w", err)
		}
	}
	_, err := d.pipe.WriteString(ready)
	if cerr := d.pipe.Close(); err == nil {
		err = cerr
	}
	if errors.Is(err, syscall.EPIPE) {
		return nil // nobody waits any more
	}
	return err
}
