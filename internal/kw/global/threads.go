package global

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"weir/internal/lang/config"
	"weir/internal/model"
)

// Limits of thread, group and CPU numbers.
const (
	maxThreads = 1024
	maxGroups  = 32
	perGroup   = bits.UintSize // threads of a group, and groups that cpu-map accepts
	maxCPU     = 1023
)

func init() {
	config.Global.Add(
		config.Keyword{Name: "nbthread", Args: "<number>", Help: "threads of the process",
			Parse: config.On(func(l *config.Line, g *model.Global) {
				if !l.NeedArgs(1, 1) {
					return
				}
				if n, ok := l.Int(0, 1, maxThreads); ok {
					g.NbThread = int(n)
				}
			})},
		config.Keyword{Name: "thread-groups", Args: "<number>", Help: "groups that the threads form",
			Parse: config.On(func(l *config.Line, g *model.Global) {
				if !l.NeedArgs(1, 1) {
					return
				}
				if n, ok := l.Int(0, 1, maxGroups); ok {
					g.ThreadGroups = int(n)
				}
			})},
		config.Keyword{Name: "cpu-map", Args: "[auto:]<group>[/<threads>] <cpus>[,...] ...", Help: "binds threads to CPUs",
			Parse: config.On(parseCPUMap)},
	)
}

// parseCPUMap reads one line and takes it apart, see [model.CPUMap].
func parseCPUMap(l *config.Line, g *model.Global) {
	if l.Len() < 2 {
		l.Errorf(l.Len(), "'cpu-map' expects threads and CPUs: cpu-map [auto:]<group>[/<threads>] <cpus>[,...] ...")
		return
	}
	spec, auto := strings.CutPrefix(l.Arg(0), "auto:")
	groupSpec, threadSpec, relative := strings.Cut(spec, "/")
	groups, ok1 := numbers(l, groupSpec, "thread group")
	threads, ok2 := []int(nil), true
	if relative {
		threads, ok2 = numbers(l, threadSpec, "thread")
	}
	cpus, ok3 := cpuSet(l)
	if !ok1 || !ok2 || !ok3 {
		return
	}
	if auto {
		g.CPUMap = append(g.CPUMap, autoMap(l, groups, threads, cpus)...)
		return
	}
	for _, gr := range groups {
		if threads == nil {
			g.CPUMap = append(g.CPUMap, model.CPUMap{Group: gr, CPUs: cpus})
			continue
		}
		for _, r := range runs(threads) {
			g.CPUMap = append(g.CPUMap, model.CPUMap{Group: gr, ThreadLow: r[0], ThreadHigh: r[1], CPUs: cpus})
		}
	}
}

// autoMap pairs threads of one group, or groups, with CPUs one by one.
func autoMap(l *config.Line, groups, threads, cpus []int) []model.CPUMap {
	if len(groups) > 1 && len(threads) > 1 {
		l.Errorf(0, "'auto:' numbers either groups or threads: one of the two ranges must be a single number.")
		return nil
	}
	var out []model.CPUMap
	switch {
	case len(groups) == 1:
		if threads == nil {
			threads = upTo(perGroup)
		}
		for i, t := range threads {
			if i < len(cpus) {
				out = append(out, model.CPUMap{Group: groups[0], ThreadLow: t, ThreadHigh: t, CPUs: cpus[i : i+1]})
			}
		}
		if len(threads) == len(cpus) {
			return out
		}
	default:
		threads = append(threads, 0)[:1]
		for i, gr := range groups {
			if i < len(cpus) {
				out = append(out, model.CPUMap{Group: gr, ThreadLow: threads[0], ThreadHigh: threads[0], CPUs: cpus[i : i+1]})
			}
		}
		if threads = groups; len(groups) == len(cpus) {
			return out
		}
	}
	l.Errorf(0, "'auto:' needs as many CPUs as threads or groups: %d are given for %d.", len(cpus), len(threads))
	return nil
}

// numbers reads "all", "odd", "even" or "[n][-[m]]" with numbers from 1 to 64.
func numbers(l *config.Line, s, what string) ([]int, bool) {
	switch s {
	case "all":
		return upTo(perGroup), true
	case "odd", "even":
		var out []int
		for n := 1; n <= perGroup; n++ {
			if (n%2 == 1) == (s == "odd") {
				out = append(out, n)
			}
		}
		return out, true
	}
	low, high, isRange := strings.Cut(s, "-")
	lo, ok1 := bound(l, low, what, 1, isRange, 1, perGroup)
	hi := lo
	if ok1 && isRange {
		hi, ok1 = bound(l, high, what, perGroup, true, 1, perGroup)
	}
	if !ok1 {
		return nil, false
	}
	return span(lo, hi), true
}

func bound(l *config.Line, s, what string, missing int, optional bool, lo, hi int) (int, bool) {
	if s == "" && optional {
		return missing, true
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < lo || n > hi {
		l.Errorf(0, "'cpu-map': '%s' is no number of a %s; it must be between %d and %d, or 'all', 'odd' or 'even'.", s, what, lo, hi)
		return 0, false
	}
	return n, true
}

// cpuSet reads the CPUs of all arguments after the first, in ascending order.
func cpuSet(l *config.Line) ([]int, bool) {
	var out []int
	for i := 1; i < l.Len(); i++ {
		for _, part := range strings.Split(l.Arg(i), ",") {
			if part == "" {
				continue
			}
			low, high, isRange := strings.Cut(part, "-")
			lo, err := strconv.Atoi(low)
			hi := lo
			if err == nil && isRange {
				if hi = lo/perGroup*perGroup + perGroup - 1; high != "" {
					hi, err = strconv.Atoi(high)
				}
			}
			if err != nil || lo < 0 || hi < 0 || lo > maxCPU || hi > maxCPU {
				l.Errorf(i, "'cpu-map': '%s' is no CPU or range of CPUs; they are numbered from 0 to %d.", part, maxCPU)
				return nil, false
			}
			out = append(out, span(lo, hi)...)
		}
	}
	slices.Sort(out)
	if out = slices.Compact(out); len(out) == 0 {
		l.Errorf(1, "'cpu-map': '%s' names no CPU.", l.Arg(1))
		return nil, false
	}
	return out, true
}

func upTo(n int) []int { return span(1, n) }

// span returns the numbers between two, in ascending order.
func span(a, b int) []int {
	if b < a {
		a, b = b, a
	}
	out := make([]int, 0, b-a+1)
	for n := a; n <= b; n++ {
		out = append(out, n)
	}
	return out
}

// runs cuts ascending numbers into ranges without gaps.
func runs(nums []int) [][2]int {
	var out [][2]int
	for _, n := range nums {
		if k := len(out) - 1; k >= 0 && out[k][1] == n-1 {
			out[k][1] = n
		} else {
			out = append(out, [2]int{n, n})
		}
	}
	return out
}
