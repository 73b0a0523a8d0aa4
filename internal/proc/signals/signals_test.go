package signals

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"weir/internal/base/diag"
)

// fake is an instance that writes down what it is told.
type fake struct {
	mu    sync.Mutex
	calls []string
	start time.Time
	done  chan struct{}
	once  sync.Once
	// endOnSoft and endOnStop say how long it takes to be done; below 0: for ever.
	endOnSoft, endOnStop time.Duration
	binds                []*diag.List
	pauseErr             error
}

func newFake() *fake {
	return &fake{done: make(chan struct{}), start: time.Now(), endOnSoft: -1}
}

func (f *fake) note(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, fmt.Sprintf("%v ", time.Since(f.start).Round(time.Millisecond))+fmt.Sprintf(format, args...))
}

func (f *fake) end(after time.Duration) {
	if after >= 0 {
		time.AfterFunc(after, func() { f.once.Do(func() { close(f.done) }) })
	}
}

func (f *fake) Bind() *diag.List {
	f.note("bind")
	if len(f.binds) == 0 {
		return new(diag.List)
	}
	l := f.binds[0]
	f.binds = f.binds[1:]
	return l
}
func (f *fake) Start() error            { f.note("start"); return nil }
func (f *fake) SoftStop()               { f.note("soft stop"); f.end(f.endOnSoft) }
func (f *fake) Stop()                   { f.note("stop"); f.end(f.endOnStop) }
func (f *fake) Pause() error            { f.note("pause"); return f.pauseErr }
func (f *fake) Resume() error           { f.note("resume"); return f.pauseErr }
func (f *fake) DumpServers(w io.Writer) { fmt.Fprint(w, "Server a/b is UP.\nProxy a is fine.\n") }
func (f *fake) DumpPools(w io.Writer)   { fmt.Fprintln(w, "pools") }
func (f *fake) Done() <-chan struct{}   { return f.done }
func (f *fake) Jobs() int               { return 3 }
func (f *fake) BeginStopping()          { f.note("stopping") }

// event is a signal at a time.
type event struct {
	at  time.Duration
	sig os.Signal
}

func TestRun(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name    string
		o       Options
		fake    *fake
		events  []event
		calls   string
		reports string // severities and parts of the sentences
		took    time.Duration
		ended   os.Signal
	}{
		{
			name: "soft stop", fake: &fake{endOnSoft: 50 * ms},
			events: []event{{10 * ms, syscall.SIGUSR1}},
			calls:  "10ms stopping; 10ms soft stop", took: 60 * ms,
		}, {
			name: "second soft stop", fake: &fake{endOnSoft: 50 * ms},
			events: []event{{10 * ms, syscall.SIGUSR1}, {20 * ms, syscall.SIGUSR1}},
			calls:  "10ms stopping; 10ms soft stop", took: 60 * ms,
		}, {
			name: "terminate", events: []event{{10 * ms, syscall.SIGTERM}},
			calls: "10ms stop", took: 10 * ms, ended: syscall.SIGTERM,
		}, {
			name: "interrupt", events: []event{{0, syscall.SIGINT}},
			calls: "0s stop", ended: syscall.SIGINT,
		}, {
			name: "terminate during a soft stop", fake: &fake{endOnSoft: -1},
			events: []event{{10 * ms, syscall.SIGUSR1}, {30 * ms, syscall.SIGTERM}},
			calls:  "10ms stopping; 10ms soft stop; 30ms stop", took: 30 * ms, ended: syscall.SIGTERM,
		}, {
			name: "grace", o: Options{Grace: time.Second}, fake: &fake{endOnSoft: 0},
			events:  []event{{0, syscall.SIGUSR1}, {500 * ms, syscall.SIGUSR1}},
			calls:   "0s stopping; 1s soft stop",
			reports: "NOTICE begins in 1000 ms; NOTICE grace period is over", took: time.Second,
		}, {
			name: "hard stop", o: Options{HardStopAfter: 2 * time.Second}, fake: &fake{endOnSoft: -1},
			events:  []event{{0, syscall.SIGUSR1}},
			calls:   "0s stopping; 0s soft stop; 2s stop",
			reports: "WARNING too long: what is left is stopped (3 jobs)", took: 2 * time.Second,
		}, {
			name: "grace, then hard stop", o: Options{Grace: time.Second, HardStopAfter: time.Second}, fake: &fake{endOnSoft: -1},
			events:  []event{{0, syscall.SIGUSR1}},
			calls:   "0s stopping; 1s soft stop; 2s stop",
			reports: "NOTICE begins; NOTICE grace; WARNING too long", took: 2 * time.Second,
		}, {
			name: "in time", o: Options{HardStopAfter: 2 * time.Second}, fake: &fake{endOnSoft: time.Second},
			events: []event{{0, syscall.SIGUSR1}},
			calls:  "0s stopping; 0s soft stop", took: time.Second,
		}, {
			name: "an instance that does not stop", o: Options{StopWait: 5 * time.Second}, fake: &fake{endOnStop: -1},
			events: []event{{0, syscall.SIGTERM}},
			calls:  "0s stop", reports: "WARNING 3 jobs did not end", took: 5 * time.Second, ended: syscall.SIGTERM,
		}, {
			name:   "pause, resume, and what is ignored",
			events: []event{{1 * ms, syscall.SIGTTOU}, {2 * ms, syscall.SIGTTIN}, {3 * ms, syscall.SIGUSR2}, {4 * ms, syscall.SIGTERM}},
			calls:  "1ms pause; 2ms resume; 4ms stop", took: 4 * ms, ended: syscall.SIGTERM,
		}, {
			name: "pause fails", fake: &fake{pauseErr: errors.New("no")},
			events:  []event{{1 * ms, syscall.SIGTTOU}, {2 * ms, syscall.SIGTTIN}, {4 * ms, syscall.SIGTERM}},
			calls:   "1ms pause; 2ms resume; 4ms stop",
			reports: "WARNING could be paused: no; WARNING could be resumed: no", took: 4 * ms, ended: syscall.SIGTERM,
		}, {
			name:    "dumps",
			events:  []event{{1 * ms, syscall.SIGHUP}, {2 * ms, syscall.SIGQUIT}, {3 * ms, syscall.SIGTERM}},
			calls:   "3ms stop",
			reports: "WARNING SIGHUP received; WARNING SIGHUP: Server a/b is UP.; WARNING SIGHUP: Proxy a is fine.", took: 3 * ms, ended: syscall.SIGTERM,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := c.fake
				if f == nil {
					f = new(fake)
				}
				f.done, f.start = make(chan struct{}), time.Now()
				ch := make(chan os.Signal, 8)
				for _, e := range c.events {
					time.AfterFunc(e.at, func() { ch <- e.sig })
				}
				var reports []string
				var pools bytes.Buffer
				c.o.Signals, c.o.Pools = ch, &pools
				c.o.Report = func(s diag.Severity, text string) { reports = append(reports, s.String()+" "+text) }
				ended := Run(f, c.o)
				if took := time.Since(f.start); took != c.took || ended != c.ended {
					t.Errorf("took %v, ended by %v; want %v, %v", took, ended, c.took, c.ended)
				}
				if got := strings.Join(f.calls, "; "); got != c.calls {
					t.Errorf("calls: %s\nwant:  %s", got, c.calls)
				}
				checkReports(t, reports, c.reports)
				if wants := slices.ContainsFunc(c.events, func(e event) bool { return e.sig == syscall.SIGQUIT }); wants != (pools.String() == "pools\n") {
					t.Errorf("pools: %q", pools.String())
				}
			})
		})
	}
}

func checkReports(t *testing.T, got []string, want string) {
	t.Helper()
	var parts []string
	if want != "" {
		parts = strings.Split(want, "; ")
	}
	if len(got) != len(parts) {
		t.Errorf("reports %q, want %q", got, parts)
		return
	}
	for i, p := range parts {
		sev, text, _ := strings.Cut(p, " ")
		if !strings.HasPrefix(got[i], sev+" ") || !strings.Contains(got[i], text) {
			t.Errorf("report %q, want %q", got[i], p)
		}
	}
}

func TestRunEndsWithTheInstance(t *testing.T) {
	f := newFake()
	close(f.done)
	if s := Run(f, Options{}); s != nil {
		t.Errorf("ended by %v", s)
	}
}

func inUse() *diag.List {
	l := new(diag.List)
	l.Alertf(diag.Position{}, "cannot bind (%v) for [:80]", syscall.EADDRINUSE)
	return l
}

func denied() *diag.List {
	l := new(diag.List)
	l.Alertf(diag.Position{}, "cannot bind (%v) for [:80]", syscall.EACCES)
	return l
}

func TestOldBind(t *testing.T) {
	many := func(n int) (l []*diag.List) {
		for range n {
			l = append(l, inUse())
		}
		return l
	}
	for _, c := range []struct {
		name    string
		pids    []int
		binds   []*diag.List
		signals string // sent, in order, counted
		errors  int
		took    time.Duration
	}{
		{"free", []int{10}, nil, "", 0, 0},
		{"in use, nobody to ask", nil, many(1), "", 1, 0},
		{"in use, released at once", []int{10, 11}, many(1), "2 stopped (tty output)", 0, 10 * time.Millisecond},
		{"in use, released later", []int{10}, many(3), "3 stopped (tty output)", 0, 30 * time.Millisecond},
		{"denied", []int{10}, []*diag.List{denied()}, "", 1, 0},
		{"in use, then denied", []int{10}, []*diag.List{inUse(), denied()}, "1 stopped (tty output), 1 stopped (tty input)", 1, 10 * time.Millisecond},
		{"never released", []int{10}, many(500), "200 stopped (tty output), 1 stopped (tty input)", 1, 2 * time.Second},
		{"old ones are gone", []int{666}, many(1), "", 1, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			f.binds = c.binds
			var sent []string
			o := Old{PIDs: c.pids, Final: syscall.SIGUSR1, Kill: func(pid int, s syscall.Signal) error {
				if pid == 666 {
					return syscall.ESRCH
				}
				sent = append(sent, s.String())
				return nil
			}}
			l := o.Bind(f)
			if got := count(sent); got != c.signals || l.Errors() != c.errors || time.Since(f.start) != c.took {
				t.Errorf("%s: sent %q, %d errors, took %v; want %q, %d, %v", c.name, got, l.Errors(), time.Since(f.start), c.signals, c.errors, c.took)
			}
		})
	}
}

// count folds equal neighbours.
func count(words []string) string {
	var out []string
	for i := 0; i < len(words); {
		n := 1
		for i+n < len(words) && words[i+n] == words[i] {
			n++
		}
		out = append(out, fmt.Sprintf("%d %s", n, words[i]))
		i += n
	}
	return strings.Join(out, ", ")
}

func TestOldFinishAndResume(t *testing.T) {
	var sent []string
	o := Old{PIDs: []int{10, -1, 0, os.Getpid()}, Final: syscall.SIGTERM, Kill: func(pid int, s syscall.Signal) error {
		sent = append(sent, fmt.Sprint(pid, " ", s))
		return nil
	}}
	o.Resume() // nothing was paused
	o.Finish()
	if got := strings.Join(sent, "; "); got != "10 terminated" {
		t.Errorf("sent %s", got)
	}
	f := newFake()
	f.binds, sent = []*diag.List{inUse()}, nil
	o.Bind(f)
	o.Resume()
	o.Resume()
	if got := strings.Join(sent, "; "); got != "10 stopped (tty output); 10 stopped (tty input)" {
		t.Errorf("sent %s", got)
	}
}

// TestProcess sends real signals to a process of its own: this test binary.
func TestProcess(t *testing.T) {
	if os.Getenv("SIGNALS_CHILD") != "" {
		c, stop := Subscribe()
		defer stop()
		fmt.Println("ready")
		s := Run(newFake(), Options{Signals: c, Report: func(s diag.Severity, text string) { fmt.Println(text) }})
		Die(s)
		fmt.Println("still alive")
		return
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestProcess$")
		cmd.Env = append(os.Environ(), "SIGNALS_CHILD=1")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		word := make([]byte, len("ready\n"))
		if _, err := io.ReadFull(out, word); err != nil || string(word) != "ready\n" {
			t.Fatalf("%q, %v", word, err)
		}
		for _, s := range []syscall.Signal{syscall.SIGPIPE, syscall.SIGUSR2, syscall.SIGTTOU, syscall.SIGTTIN, syscall.SIGQUIT, syscall.SIGHUP} {
			if err := cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
		}
		// The answer to SIGHUP proves that the process lives.
		const want = "SIGHUP received, the state of the servers follows.\n"
		line := make([]byte, len(want))
		if _, err := io.ReadFull(out, line); err != nil || string(line) != want {
			t.Fatalf("%q, %v", line, err)
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		rest, _ := io.ReadAll(out)
		err = cmd.Wait()
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			t.Fatalf("%v: ended with %v\n%s", sig, err, rest)
		}
		if ws := exit.Sys().(syscall.WaitStatus); !ws.Signaled() || ws.Signal() != sig {
			t.Errorf("%v: ended with %v\n%s", sig, err, rest)
		}
	}
}
