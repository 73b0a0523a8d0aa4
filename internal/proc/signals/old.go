package signals

import (
	"os"
	"strings"
	"syscall"
	"time"

	"weir/internal/base/diag"
)

// Old are the processes that a new one replaces (-sf, -st).
type Old struct {
	PIDs   []int
	Final  syscall.Signal // what they get in the end: SIGUSR1 or SIGTERM
	Kill   func(pid int, s syscall.Signal) error
	paused bool
}

// How long a port that is in use is tried for, once the old processes were
// asked to let go of it.
const (
	bindRetry = 10 * time.Millisecond
	bindTries = 200
)

// Tell sends a signal to those that are still there.
func (o *Old) Tell(s syscall.Signal) (reached int) {
	kill := o.Kill
	if kill == nil {
		kill = syscall.Kill
	}
	for _, pid := range o.PIDs {
		if pid > 0 && pid != os.Getpid() && kill(pid, s) == nil {
			reached++
		}
	}
	return reached
}

// Bind binds an instance. When a port is in use and there are old processes,
// they are asked to pause and the attempt is repeated for two seconds.
func (o *Old) Bind(inst Instance) *diag.List {
	l := inst.Bind()
	for range bindTries {
		if l.Errors() == 0 || !addressInUse(l) || o.Tell(syscall.SIGTTOU) == 0 {
			break
		}
		o.paused = true
		time.Sleep(bindRetry)
		l = inst.Bind()
	}
	if l.Errors() > 0 {
		o.Resume()
	}
	return l
}

// Resume undoes the pause that Bind may have asked for: this process gives up.
func (o *Old) Resume() {
	if o.paused {
		o.paused = false
		o.Tell(syscall.SIGTTIN)
	}
}

// Finish tells the old processes that this one has taken over.
func (o *Old) Finish() {
	o.paused = false
	o.Tell(o.Final)
}

// addressInUse tells whether an alert says that an address is taken: it ends
// with the system's own words.
func addressInUse(l *diag.List) bool {
	for _, m := range l.Messages() {
		if m.Severity == diag.Alert && strings.Contains(m.Text, syscall.EADDRINUSE.Error()) {
			return true
		}
	}
	return false
}
