// Package boot takes the process from its command line to a running instance
// and back: [Program.Main] is all of main.
//
// The stages, in order: read the command line, change folder (-C), evaluate a
// condition (-cc), go to the background (-D), read and check the
// configuration, answer what was asked about it (-c, -dC, -dK ...), work out
// limits, build, bind, write the pid file, enter the jail, tell the old
// processes, drop privileges, start, release the terminal, obey signals. The
// one that fails ends the process with its own message and nothing half done.
//
// Messages have the reference's shape, [ALERT] (pid) : ..., and go to standard
// error; answers go to standard output. Exit codes are the reference's: 0; 1
// for errors; 2 for a condition that cannot be read; the signal that stopped
// the process.
package boot

import (
	"errors"
	"fmt"
	"io"
	"os"

	"weir/internal/base/diag"
	"weir/internal/lang/config"
	"weir/internal/model"
	"weir/internal/proc/args"
	"weir/internal/proc/limits"
	"weir/internal/proc/sandbox"
	"weir/internal/proc/signals"
)

// Program is what a binary is made of. Load and New are required.
type Program struct {
	// Load reads and checks a configuration. The configuration is nil when it
	// must not be used.
	Load func(o config.Options) (*model.Config, *diag.List)
	// New builds the instance of a configuration. It has no effect outside
	// of what it returns.
	New func(cfg *model.Config, rt Runtime) (signals.Instance, error)
	// Freeze ends registration, before anything is parsed.
	Freeze func()
	// Uring tells why io_uring cannot be used, nil when it can.
	Uring func() error
	// Signals replaces the signals of the process.
	Signals <-chan os.Signal
}

// Runtime is what an instance is told about its process.
type Runtime struct {
	Args   *args.Options
	Limits limits.Plan
	// Report takes sentences for the operator, from any thread.
	Report func(s diag.Severity, text string)
	// Logs are the messages of the start; nil: none.
	Logs func() string
}

// run is one call of Main.
type run struct {
	*Program
	o              *args.Options
	env            []string
	argv           []string
	stdin          io.Reader
	input          []byte // what was read of stdin, when it holds a configuration
	stdout, stderr io.Writer
	con            *console
	background     *sandbox.Detached // this process was started by Detach
	cfg            *model.Config
	warnings       int // of the configuration
}

// exit is an exit code as an error. The message, if any, was printed already.
type exit struct {
	code   int
	signal os.Signal
}

func (e *exit) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// fail is the exit after an error.
func fail() error { return &exit{code: 1} }

// Main runs the program and returns its exit code. When a signal stopped it,
// that is 128 plus its number, and the signal is returned too: a process that
// is to end the same way calls signals.Die.
func (p *Program) Main(argv, env []string, stdin io.Reader, stdout, stderr io.Writer) (code int, signal os.Signal) {
	r := &run{Program: p, argv: argv, stdin: stdin, stdout: stdout, stderr: stderr}
	r.env, r.background = sandbox.FromEnvironment(env)
	r.con = newConsole(stderr)
	err := r.stages()
	var e *exit
	switch {
	case err == nil:
		return 0, nil
	case errors.As(err, &e):
		return e.code, e.signal
	}
	r.con.say(diag.Alert, err.Error())
	return 1, nil
}

// stages runs them all. An error that is no exit is printed by Main.
func (r *run) stages() error {
	for _, stage := range []func() error{
		r.readCommandLine, r.changeFolder, r.evaluateCondition, r.detachEarly, r.load, r.answer, r.detachLate, r.start,
	} {
		if err := stage(); err != nil {
			return err
		}
	}
	return nil
}

// done ends the process well.
func done() error { return &exit{} }

// readCommandLine parses the words and answers those that want only that.
func (r *run) readCommandLine() error {
	if r.Freeze != nil {
		r.Freeze()
	}
	o, err := args.Parse(r.argv)
	r.o = o
	r.con.setQuiet(o.Quiet && !o.Verbose)
	r.con.format.Diag = o.Diag
	var wrong *args.Error
	switch {
	case errors.As(err, &wrong):
		return r.refuse(wrong)
	case o.Version != args.NoVersion:
		fmt.Fprint(r.stdout, r.version(o.Version))
		return done()
	case o.Memory != nil && o.Memory.Help:
		fmt.Fprint(r.stdout, o.Memory.HelpText())
		return done()
	}
	if what := r.notYet(); what != "" {
		return errors.New(what)
	}
	return nil
}

// refuse answers a command line that cannot be used.
func (r *run) refuse(wrong *args.Error) error {
	if wrong.Usage {
		fmt.Fprint(r.stdout, r.version(args.VersionShort))
	}
	if wrong.Text != "" {
		r.con.say(diag.Alert, wrong.Text+".")
	}
	if wrong.Usage {
		fmt.Fprint(r.stderr, args.Usage(r.o.Program))
	}
	return fail()
}

// notYet names an option that asks for what weir does not do yet.
func (r *run) notYet() string {
	const what = "option %s is known to HAProxy, but not in weir yet%s."
	o := r.o
	switch {
	case o.Archive != "":
		return fmt.Sprintf(what, "-dA", ": weir is one file and needs no library")
	case o.Traces != nil:
		return fmt.Sprintf(what, "-dt", "")
	case o.IgnoreResolve:
		return fmt.Sprintf(what, "-dr", ": give the servers 'init-addr none'")
	case o.Dump != nil && o.Dump.Lines:
		return fmt.Sprintf(what, "-dC with ',line'", "")
	case o.Check: // the rest is about running
		return ""
	case o.Master:
		return fmt.Sprintf(what, "-W", ": start without a master, and reload with -sf")
	case o.OldSocket != "" && o.OldSocket != os.DevNull:
		return fmt.Sprintf(what, "-x", ": listening sockets are shared by SO_REUSEPORT during a reload")
	}
	return ""
}

func (r *run) changeFolder() error {
	if r.o.Dir == "" {
		return nil
	}
	if err := os.Chdir(r.o.Dir); err != nil {
		var pe *os.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return fmt.Errorf("cannot change to the folder %s: %w", r.o.Dir, err)
	}
	return nil
}

func (r *run) evaluateCondition() error {
	if !r.o.HasCondition {
		return nil
	}
	ok, err := config.EvalCondition(r.o.Condition, r.env, r.facts())
	if err != nil {
		r.con.say(diag.Alert, fmt.Sprintf("The condition cannot be evaluated: %v", err))
		return &exit{code: 2}
	}
	if !ok {
		return fail()
	}
	return done()
}

// wantsBackground tells whether the process is to leave the foreground.
func (r *run) wantsBackground(asked bool) bool {
	return asked && r.background == nil && !r.o.Check && !r.o.Debug && !r.o.Foreground
}

// detachEarly goes to the background when the command line says so, before
// anything is read: the process that stays reads it all itself.
func (r *run) detachEarly() error {
	if !r.wantsBackground(r.o.Daemon) {
		return nil
	}
	return r.detach(r.stdin)
}

// detach starts the background process and ends this one once it is ready.
func (r *run) detach(stdin io.Reader) error {
	_, err := sandbox.Detach(sandbox.Command{Args: r.argv, Env: r.env, Stdin: stdin, Stdout: r.stdout, Stderr: r.stderr})
	var ended *sandbox.ExitError
	switch {
	case err == nil:
		return done()
	case errors.As(err, &ended):
		r.con.say(diag.Alert, ended.Error()+".")
		return &exit{code: ended.Code}
	}
	return err
}
