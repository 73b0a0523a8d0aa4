package bind

import (
	"strconv"
	"strings"

	"weir/internal/lang/config"
	"weir/internal/model"
)

// Limits of thread numbers.
const (
	maxThreads      = 1024
	maxGroups       = 32
	maxGroupThreads = 64
)

// parseThreads reads "[group/]{all|odd|even|[n][-[m]]}[,...]". Absolute and
// group-relative parts cannot be mixed on one line.
func parseThreads(l *config.Line, b *model.Bind) {
	for _, part := range strings.Split(l.Arg(0), ",") {
		if part == "" {
			l.Errorf(0, "an element of the list '%s' is empty.", l.Arg(0))
			return
		}
		sets, ok := threadSets(l, part)
		if !ok {
			return
		}
		if len(b.Threads) > 0 && (b.Threads[0].Group != 0) != (sets[0].Group != 0) {
			l.Errorf(0, "'%s': numbers within a thread group and absolute ones cannot be mixed on a line.", part)
			return
		}
		b.Threads = append(b.Threads, sets...)
	}
}

// threadSets reads one element. "odd" and "even" become as many sets as they
// have threads.
func threadSets(l *config.Line, part string) ([]model.ThreadSet, bool) {
	limit, in := maxThreads, 0
	if group, rest, relative := strings.Cut(part, "/"); relative {
		n, err := strconv.Atoi(group)
		if err != nil || n < 1 || n > maxGroups {
			l.Errorf(0, "'%s' is no thread group; groups are numbered from 1 to %d.", group, maxGroups)
			return nil, false
		}
		in, part, limit = n, rest, maxGroupThreads
	}
	switch part {
	case "all", "":
		return []model.ThreadSet{{Group: in, Low: 1}}, true
	case "odd", "even":
		var sets []model.ThreadSet
		for n := 1; n <= limit; n++ {
			if (n%2 == 1) == (part == "odd") {
				sets = append(sets, model.ThreadSet{Group: in, Low: n, High: n})
			}
		}
		return sets, true
	}
	low, high, isRange := strings.Cut(part, "-")
	bound := func(s string, missing int) (int, bool) {
		if s == "" && isRange {
			return missing, true
		}
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > limit {
			l.Errorf(0, "'%s' is no thread number; threads are numbered from 1 to %d, and 'all', 'odd', 'even' stand for several.", s, limit)
			return 0, false
		}
		return n, true
	}
	lo, ok := bound(low, 1)
	hi := lo
	if ok && isRange {
		hi, ok = bound(high, limit)
	}
	if !ok {
		return nil, false
	}
	return []model.ThreadSet{{Group: in, Low: min(lo, hi), High: max(lo, hi)}}, true
}
