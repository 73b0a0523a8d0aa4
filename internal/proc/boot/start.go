package boot

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"weir/internal/base/diag"
	"weir/internal/feat/cli"
	"weir/internal/model"
	"weir/internal/proc/args"
	"weir/internal/proc/limits"
	"weir/internal/proc/sandbox"
	"weir/internal/proc/signals"
)

// start brings the instance up, runs it, and returns when it has ended.
func (r *run) start() error {
	caught := r.Signals
	if caught == nil {
		c, stop := signals.Subscribe() // from here on none is lost
		defer stop()
		caught = c
	}
	plan, err := r.limits()
	if err != nil {
		return err
	}
	if err := r.choosePoller(); err != nil {
		return err
	}
	if !listens(r.cfg) {
		return fmt.Errorf("[%s.main()] there is nothing to listen on: no enabled proxy has a 'bind' line", r.o.Program)
	}
	inst, err := r.New(r.cfg, Runtime{Args: r.o, Limits: *plan, Report: r.con.say, Logs: r.con.logs})
	if err != nil {
		return err
	}
	old := &signals.Old{PIDs: r.o.OldPids, Final: syscall.SIGUSR1}
	if r.o.OldSignal == args.Terminate {
		old.Final = syscall.SIGTERM
	}
	if err := r.bring(inst, old, plan); err != nil {
		old.Resume()
		inst.Stop()
		return err
	}
	r.con.endStart()
	g := r.cfg.Global
	ended := signals.Run(inst, signals.Options{
		Grace: g.Grace, HardStopAfter: g.HardStopAfter, Signals: caught, Report: r.con.say, Pools: &rawConsole{r.con},
	})
	if s, ok := ended.(syscall.Signal); ok {
		return &exit{code: 128 + int(s), signal: ended}
	}
	return nil
}

// rawConsole writes to standard error beside the messages.
type rawConsole struct{ c *console }

func (w *rawConsole) Write(p []byte) (int, error) {
	w.c.raw(string(p))
	return len(p), nil
}

// limits works out what the process may use.
func (r *run) limits() (*limits.Plan, error) {
	have, err := limits.Files()
	if err != nil {
		return nil, fmt.Errorf("the limit on open files is unknown: %w", err)
	}
	g := r.cfg.Global
	plan := limits.Compute(limits.Input{
		Config: r.cfg, MaxConn: r.o.MaxConn, MemoryMB: r.o.MemoryMB, Threads: limits.Threads(g), Rlimit: have,
	})
	if plan.Automatic && plan.MemoryBytes == 0 {
		r.con.say(diag.Notice, fmt.Sprintf("Automatically setting global.maxconn to %d.", plan.MaxConn))
	}
	if cpus, crowded := limits.Crowded(g.CPUMap, plan.Threads); crowded {
		r.con.say(diag.Warning, fmt.Sprintf("%d threads share %d CPUs by the 'cpu-map' lines: "+
			"threads that wait for one another's CPU are slow. Either 'cpu-map' or 'nbthread' wants another value.", plan.Threads, cpus))
	}
	if r.o.MemoryMB > 0 && plan.Automatic && plan.MaxConn <= limits.MinMaxConn {
		r.con.say(diag.Warning, fmt.Sprintf("%d MB leave no room for more than %d connections.", r.o.MemoryMB, plan.MaxConn))
	}
	return &plan, nil
}

// choosePoller fails when everything is forbidden, and tells those who want to
// know what is used.
func (r *run) choosePoller() error {
	text, use := r.pollers(r.cfg.Global.NoUring, r.cfg.Global.NoEpoll)
	if use == "" {
		return errors.New("no way to wait for the network is left: epoll is disabled, and io_uring is disabled or does not work here")
	}
	if (r.o.Verbose || r.o.Debug) && !r.con.isQuiet() {
		r.con.raw(text + "\n")
		fmt.Fprintf(r.stdout, "Using %s as the polling mechanism.\n", use)
	}
	return nil
}

// listens tells whether anything is bound.
func listens(cfg *model.Config) bool {
	for _, p := range cfg.Proxies {
		if p.IsFrontend() && !p.Disabled && len(p.Binds) > 0 {
			return true
		}
	}
	return len(cli.Of(cfg.Global).Sockets) > 0
}

// bring binds, confines and starts.
func (r *run) bring(inst signals.Instance, old *signals.Old, plan *limits.Plan) error {
	g := r.cfg.Global
	if err := r.print(plan.Apply(g.StrictLimits != model.Off, r.o.Program, limits.SetFiles)); err != nil {
		return err
	}
	if err := r.print(old.Bind(inst)); err != nil {
		r.con.say(diag.Alert, fmt.Sprintf("[%s.main()] Not all listeners could be started: giving up.", r.o.Program))
		return err
	}
	if r.background != nil && g.PidFile != "" {
		if err := sandbox.WritePID(g.PidFile); err != nil {
			return fmt.Errorf("[%s.main()] %w", r.o.Program, err)
		}
	}
	if err := r.confine(old.Finish); err != nil {
		return err
	}
	if err := inst.Start(); err != nil {
		return fmt.Errorf("[%s.main()] cannot start: %w", r.o.Program, err)
	}
	if r.background != nil {
		return r.background.Ready()
	}
	return nil
}

// print writes a list; with alerts in it the process ends.
func (r *run) print(l *diag.List) error {
	r.con.list(l)
	if l.Errors() > 0 {
		return fail()
	}
	return nil
}

// confine enters the jail and drops privileges. The old processes are told in
// between, while there is still the right to.
func (r *run) confine(tellOld func()) error {
	g := r.cfg.Global
	if os.Geteuid() == 0 {
		if g.Chroot == "" {
			r.con.say(diag.Warning, fmt.Sprintf("[%s.main()] weir runs as root without a 'chroot': an intruder would see the whole file system. "+
				"'chroot auto' in the global section hides it at no cost; 'chroot /' says that this is wanted.", r.o.Program))
		}
		if g.UID < 0 {
			r.con.say(diag.Warning, fmt.Sprintf("[%s.main()] weir stays root, for neither 'user' nor 'uid' names somebody else: an intruder would be root too. "+
				"It needs these rights at the start only; 'user root' says that this is wanted.", r.o.Program))
		}
	}
	if g.SetDumpable {
		if err := limits.EnableCore(); err != nil {
			r.con.say(diag.Warning, fmt.Sprintf("[%s.main()] the limit on core files cannot be raised: %v.", r.o.Program, err))
		}
	}
	warnings, err := sandbox.Enter(sandbox.Plan{
		Chroot: g.Chroot, UID: g.UID, GID: g.GID, Dumpable: g.SetDumpable, NoNewPrivs: !g.InsecureSetuid, BeforeDrop: tellOld,
	})
	for _, w := range warnings {
		r.con.say(diag.Warning, fmt.Sprintf("[%s.main()] %s.", r.o.Program, w))
	}
	if err != nil {
		return fmt.Errorf("[%s.main()] %w", r.o.Program, err)
	}
	return nil
}
