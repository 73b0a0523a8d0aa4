package limits

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"weir/internal/model"
)

// MaxThreads bounds nbthread.
const MaxThreads = 1024

// Threads is the number of loops to run: nbthread, or as many as there are
// CPUs that the process may use. A CPU quota of its control group counts too:
// the Go runtime derives its own parallelism from it.
func Threads(g *model.Global) int {
	if g.NbThread > 0 {
		return min(g.NbThread, MaxThreads)
	}
	n := runtime.GOMAXPROCS(0)
	if cpus := AllowedCPUs(); len(cpus) > 0 {
		n = min(n, len(cpus))
	}
	return max(1, min(n, MaxThreads))
}

// AllowedCPUs lists the CPUs that the calling thread may run on, in order; nil
// when the system does not tell.
func AllowedCPUs() []int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil
	}
	var cpus []int
	for i := 0; len(cpus) < set.Count(); i++ {
		if set.IsSet(i) {
			cpus = append(cpus, i)
		}
	}
	return cpus
}

// CPUsOf returns the CPUs that cpu-map lines give a thread, in order; nil when
// they leave it alone. Threads count from 1. A later line replaces an earlier
// one for the threads that both name.
func CPUsOf(m []model.CPUMap, thread int) []int {
	var cpus []int
	for _, line := range m {
		low, high := line.ThreadLow, line.ThreadHigh
		if high == 0 {
			low, high = 1, MaxThreads
		}
		if thread < low || thread > high || line.Group > 1 {
			continue
		}
		set := slices.Clone(line.CPUs)
		slices.Sort(set)
		set = slices.Compact(set)
		if line.Auto {
			if i := thread - low; i < len(set) {
				set = set[i : i+1]
			} else {
				continue
			}
		}
		cpus = set
	}
	return cpus
}

// PinThread binds the calling OS thread to the CPUs that cpu-map lines give to
// a thread, which counts from 1; without such a line it does nothing. The
// goroutine must be locked to its OS thread already: the runtime then starts
// further OS threads from an unpinned one.
func PinThread(m []model.CPUMap, thread int) error {
	cpus := CPUsOf(m, thread)
	if len(cpus) == 0 {
		return nil
	}
	var set unix.CPUSet
	for _, c := range cpus {
		set.Set(c)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("thread %d cannot be bound to CPU %s: %w", thread, FormatCPUs(cpus), err)
	}
	return nil
}

// FormatCPUs writes a sorted set of CPUs as ranges: "0-3,6".
func FormatCPUs(cpus []int) string {
	var b strings.Builder
	for i := 0; i < len(cpus); {
		j := i
		for j+1 < len(cpus) && cpus[j+1] == cpus[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(cpus[i]))
		if j > i {
			b.WriteString("-" + strconv.Itoa(cpus[j]))
		}
		i = j + 1
	}
	return b.String()
}

// Crowded tells whether cpu-map lines put more threads on some CPUs than there
// are: the number of distinct CPUs they use, and true, when it is less than
// the number of threads.
func Crowded(m []model.CPUMap, threads int) (cpus int, crowded bool) {
	used := make(map[int]bool)
	for t := 1; t <= threads; t++ {
		set := CPUsOf(m, t)
		if set == nil {
			return 0, false
		}
		for _, c := range set {
			used[c] = true
		}
	}
	return len(used), len(m) > 0 && len(used) < threads
}
