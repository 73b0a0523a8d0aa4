package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"weir/test/wait"
)

// A lockedBuffer collects the output of a process.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.b.Len() > 4<<20 { // a runaway child must not eat the test's memory
		return len(p), nil
	}
	return l.b.Write(p)
}

func (l *lockedBuffer) bytes() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.b.Bytes())
}

// A process is the load balancer under test.
type process struct {
	cmd     *exec.Cmd
	out     lockedBuffer
	done    chan struct{} // closed once it was reaped
	waitErr error         // valid after done
}

// startProcess runs binary with args; files become descriptors 3 and up.
func startProcess(binary string, args, env []string, files []*os.File) (*process, error) {
	p := &process{cmd: exec.Command(binary, args...), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	p.cmd.ExtraFiles = files
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.waitErr = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// signal sends one of the signals that the manual gives a meaning.
func (p *process) signal(name string) error {
	sig, ok := map[string]syscall.Signal{
		"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP, "USR1": syscall.SIGUSR1,
		"USR2": syscall.SIGUSR2, "TTIN": syscall.SIGTTIN, "TTOU": syscall.SIGTTOU, "QUIT": syscall.SIGQUIT,
		"PIPE": syscall.SIGPIPE,
	}[name]
	if !ok {
		return fmt.Errorf("unknown signal %q", name)
	}
	return p.cmd.Process.Signal(sig)
}

// code is the exit code, 128+n for death by signal n. Only valid after done.
func (p *process) code() int {
	st, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && st.Signaled() {
		return 128 + int(st.Signal())
	}
	return p.cmd.ProcessState.ExitCode()
}

// stop ends the process; an error means that it had to be killed.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	end := time.NewTimer(5 * time.Second)
	defer end.Stop()
	select {
	case <-p.done:
		return nil
	case <-end.C:
		p.cmd.Process.Kill()
		<-p.done
		return errors.New("the process ignored SIGTERM for 5 seconds")
	}
}

// awaitLine waits until a line of the output fits.
func (p *process) awaitLine(pat *Pattern, bound time.Duration) bool {
	return wait.Until(bound, func() bool {
		for _, line := range strings.Split(string(p.out.bytes()), "\n") {
			if pat.Match(line) {
				return true
			}
		}
		return false
	})
}

// crash returns the lines that show a Go panic or a fatal error of the runtime, "" if none.
func (p *process) crash() string {
	out := p.out.bytes()
	for _, mark := range []string{"panic:", "fatal error:", "WARNING: DATA RACE", "SIGSEGV"} {
		if i := bytes.Index(out, []byte(mark)); i >= 0 {
			return string(out[i:min(len(out), i+4000)])
		}
	}
	return ""
}
