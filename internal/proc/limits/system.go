package limits

import (
	"runtime"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// Files returns the limit on open files that is in force.
func Files() (Rlimit, error) {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		return Rlimit{}, err
	}
	return Rlimit{Soft: r.Cur, Hard: r.Max}, nil
}

// SetFiles sets the limit on open files and raises the hard limit with it
// where the process may. It returns what is in force afterwards.
func SetFiles(files uint64) (Rlimit, error) {
	now, err := Files()
	if err != nil {
		return now, err
	}
	want := unix.Rlimit{Cur: files, Max: max(files, now.Hard)}
	if err = unix.Setrlimit(unix.RLIMIT_NOFILE, &want); err != nil && now.Hard > now.Soft {
		best := unix.Rlimit{Cur: min(files, now.Hard), Max: now.Hard}
		if unix.Setrlimit(unix.RLIMIT_NOFILE, &best) == nil {
			now, _ = Files()
			return now, err
		}
	}
	if err != nil {
		return now, err
	}
	return Files()
}

// EnableCore lifts the limit on core files as far as the process may
// (set-dumpable).
func EnableCore() error {
	inf := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
	if unix.Setrlimit(unix.RLIMIT_CORE, &inf) == nil {
		return nil
	}
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &r); err != nil {
		return err
	}
	r.Cur = r.Max
	return unix.Setrlimit(unix.RLIMIT_CORE, &r)
}

// Runtime is what the Go runtime is told. A zero field leaves its own choice.
type Runtime struct {
	Procs       int   // goroutines that run at once
	GCPercent   int   // heap growth in percent between two collections
	MemoryBytes int64 // soft limit of everything the runtime holds, in bytes
}

// ApplyRuntime sets the runtime's knobs and returns what they were.
func ApplyRuntime(r Runtime) (before Runtime) {
	before.Procs = runtime.GOMAXPROCS(r.Procs) // below 1 only reads
	if r.GCPercent != 0 {
		before.GCPercent = debug.SetGCPercent(r.GCPercent)
	}
	if r.MemoryBytes > 0 {
		before.MemoryBytes = debug.SetMemoryLimit(r.MemoryBytes)
	}
	return before
}
