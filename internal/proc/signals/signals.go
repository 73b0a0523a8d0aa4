// Package signals drives a running instance by the signals that the reference
// documents (Management Guide, chapters 4 and 12):
//
//	SIGUSR1  soft stop: unbind, let connections end (grace, hard-stop-after)
//	SIGTERM  stop now; SIGINT likewise
//	SIGHUP   tell the state of all servers
//	SIGQUIT  tell the use of the pools, and give free memory back
//	SIGTTOU  pause: unbind, for another process to bind
//	SIGTTIN  resume after a pause
//	SIGUSR2  is for a master process; ignored here, as is SIGPIPE
//
// The package knows an instance by what can be asked of it; the generations of
// a process are such instances.
package signals

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"weir/internal/base/diag"
)

// Instance is what runs: everything made of one configuration.
type Instance interface {
	// Bind opens all listening sockets. After a failure it may be called
	// again: sockets that are open stay so, the others are tried anew.
	Bind() *diag.List
	// Start begins to accept connections. It is called after privileges were
	// dropped.
	Start() error
	// SoftStop closes the listening sockets and lets connections end, spread
	// over close-spread-time. It does not wait.
	SoftStop()
	// Stop ends everything now. It does not wait. It may follow SoftStop.
	Stop()
	// Pause stops listening, so that another process can bind; Resume undoes it.
	Pause() error
	Resume() error
	// DumpServers and DumpPools write the state, a fact a line.
	DumpServers(w io.Writer)
	DumpPools(w io.Writer)
	// Done is closed when nothing is left to do after SoftStop or Stop.
	Done() <-chan struct{}
	// Jobs counts what still runs: connections and listeners.
	Jobs() int
}

// Graceful is an instance that wants to know of a soft stop before its grace
// period begins, when listeners still accept: the "stopping" fetch turns true.
type Graceful interface{ BeginStopping() }

// Options are the times of the global section and the ways out.
type Options struct {
	Grace         time.Duration // from SIGUSR1 to the soft stop
	HardStopAfter time.Duration // from the soft stop to a hard one; 0: never
	// StopWait bounds the wait for Done after Stop; 0: 2 seconds.
	StopWait time.Duration
	// Signals delivers what Subscribe subscribed to.
	Signals <-chan os.Signal
	// Report takes sentences for the operator.
	Report func(s diag.Severity, text string)
	// Pools gets the answer to SIGQUIT.
	Pools io.Writer
}

// defaultStopWait is how long a stopped instance may take to let go.
const defaultStopWait = 2 * time.Second

// Subscribe makes the signals arrive in a channel from now on, instead of what
// they do by default. Signals that come before Run are kept. The function ends
// the subscription.
func Subscribe() (<-chan os.Signal, func()) {
	signal.Ignore(syscall.SIGPIPE)
	c := make(chan os.Signal, 64)
	signal.Notify(c, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP,
		syscall.SIGQUIT, syscall.SIGTTOU, syscall.SIGTTIN)
	return c, func() { signal.Stop(c) }
}

// runner is the state of Run.
type runner struct {
	inst     Instance
	o        Options
	grace    <-chan time.Time
	hard     <-chan time.Time
	stopping bool // a soft stop was asked for
}

// Run handles signals until the instance is done. It returns the signal that
// ended it at once, nil after a soft stop or an end of its own.
func Run(inst Instance, o Options) os.Signal {
	r := &runner{inst: inst, o: o}
	if r.o.StopWait == 0 {
		r.o.StopWait = defaultStopWait
	}
	for {
		select {
		case <-inst.Done():
			return nil
		case s := <-o.Signals:
			if r.handle(s) {
				r.stop()
				return s
			}
		case <-r.grace:
			r.grace = nil
			r.report(diag.Notice, "The grace period is over: the soft stop begins now.")
			r.softStop()
		case <-r.hard:
			r.report(diag.Warning, fmt.Sprintf("The soft stop takes too long: what is left is stopped (%d jobs).", inst.Jobs()))
			r.stop()
			return nil
		}
	}
}

func (r *runner) report(s diag.Severity, text string) {
	if r.o.Report != nil {
		r.o.Report(s, text)
	}
}

// handle obeys a signal; true means to stop at once.
func (r *runner) handle(s os.Signal) bool {
	switch s {
	case syscall.SIGTERM, syscall.SIGINT:
		return true
	case syscall.SIGUSR1:
		r.beginSoftStop()
	case syscall.SIGHUP:
		r.report(diag.Warning, "SIGHUP received, the state of the servers follows.")
		var b bytes.Buffer
		r.inst.DumpServers(&b)
		for line := range bytes.Lines(b.Bytes()) {
			r.report(diag.Warning, "SIGHUP: "+string(bytes.TrimRight(line, "\n")))
		}
	case syscall.SIGQUIT:
		if r.o.Pools != nil {
			r.inst.DumpPools(r.o.Pools)
		}
		go debug.FreeOSMemory() // a full collection takes time
	case syscall.SIGTTOU:
		if err := r.inst.Pause(); err != nil {
			r.report(diag.Warning, fmt.Sprintf("Not everything could be paused: %v.", err))
		}
	case syscall.SIGTTIN:
		if err := r.inst.Resume(); err != nil {
			r.report(diag.Warning, fmt.Sprintf("Not everything could be resumed: %v.", err))
		}
	}
	return false
}

// beginSoftStop starts the grace period, or the soft stop without one. Only
// the first request counts.
func (r *runner) beginSoftStop() {
	if r.stopping {
		return
	}
	r.stopping = true
	if g, ok := r.inst.(Graceful); ok {
		g.BeginStopping()
	}
	if r.o.Grace <= 0 {
		r.softStop()
		return
	}
	r.report(diag.Notice, fmt.Sprintf("A soft stop begins in %d ms.", r.o.Grace.Milliseconds()))
	r.grace = time.After(r.o.Grace)
}

func (r *runner) softStop() {
	r.inst.SoftStop()
	if r.o.HardStopAfter > 0 {
		r.hard = time.After(r.o.HardStopAfter)
	}
}

// stop ends the instance and waits for it, but not for ever.
func (r *runner) stop() {
	r.inst.Stop()
	select {
	case <-r.inst.Done():
	case <-time.After(r.o.StopWait):
		r.report(diag.Warning, fmt.Sprintf("%d jobs did not end in time and are abandoned.", r.inst.Jobs()))
	}
}

// Die ends the process by a signal, as one that never handled it: whoever
// waits for the process sees the signal.
func Die(s os.Signal) {
	n, ok := s.(syscall.Signal)
	if !ok {
		return
	}
	signal.Reset(n)
	if syscall.Kill(os.Getpid(), n) == nil {
		time.Sleep(time.Second) // delivery is not immediate
	}
}
