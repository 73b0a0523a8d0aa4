// Package registry holds the tables into which keywords, functions and
// algorithms register themselves.
//
// A table maps a name to a descriptor of any type. Entries are added while the
// program initialises; Freeze ends that phase, after which the table is read
// only and safe for concurrent use. Two entries of one name are a programming
// error: Register panics and names both places.
package registry

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
)

// Table maps names to descriptors of type D.
type Table[D any] struct {
	kind   string
	items  map[string]item[D]
	frozen atomic.Bool
}

type item[D any] struct {
	d     D
	where string
}

// New returns an empty table. The kind ("converter", "global keyword") is
// what panics and messages call its entries.
func New[D any](kind string) *Table[D] {
	return &Table[D]{kind: kind, items: make(map[string]item[D])}
}

// Kind returns what the entries of the table are called.
func (t *Table[D]) Kind() string { return t.kind }

// Register adds an entry. It panics when the name is empty or taken, and when
// the table is frozen. skip is the number of callers between the place to be
// named in such a panic and this function: 0 names the direct caller.
func (t *Table[D]) Register(name string, d D, skip int) {
	where := caller(skip + 2)
	if name == "" {
		panic(fmt.Sprintf("registry: %s without a name, at %s", t.kind, where))
	}
	if t.frozen.Load() {
		panic(fmt.Sprintf("registry: %s %q registered too late, at %s", t.kind, name, where))
	}
	if old, dup := t.items[name]; dup {
		panic(fmt.Sprintf("registry: %s %q registered twice: at %s and at %s", t.kind, name, old.where, where))
	}
	t.items[name] = item[D]{d, where}
}

// caller formats the file and line of the n-th caller.
func caller(n int) string {
	_, file, line, ok := runtime.Caller(n)
	if !ok {
		return "unknown place"
	}
	return fmt.Sprintf("%s:%d", filepath.Join(filepath.Base(filepath.Dir(file)), filepath.Base(file)), line)
}

// Freeze makes the table read only. Freezing twice is harmless.
func (t *Table[D]) Freeze() { t.frozen.Store(true) }

// Frozen tells whether Freeze was called.
func (t *Table[D]) Frozen() bool { return t.frozen.Load() }

// Lookup returns the entry of that exact name.
func (t *Table[D]) Lookup(name string) (D, bool) {
	it, ok := t.items[name]
	return it.d, ok
}

// Where returns the file and line that registered the name, "" when unknown.
func (t *Table[D]) Where(name string) string { return t.items[name].where }

// Len returns the number of entries.
func (t *Table[D]) Len() int { return len(t.items) }

// Names returns all names in byte order.
func (t *Table[D]) Names() []string {
	names := make([]string, 0, len(t.items))
	for n := range t.items {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// All calls fn for each entry in the byte order of the names, until it
// returns false.
func (t *Table[D]) All(fn func(name string, d D) bool) {
	for _, n := range t.Names() {
		if !fn(n, t.items[n].d) {
			return
		}
	}
}

// Suggest returns the registered name that is nearest to the given one, ""
// when none is near enough to be what was meant.
func (t *Table[D]) Suggest(name string) string { return Nearest(name, t.Names()) }

// Nearest returns the candidate that is nearest to name by edit distance, or
// "" when none is near enough to be a likely misspelling. Of equally near
// candidates the first one wins. Names longer than 64 bytes get no suggestion.
func Nearest(name string, candidates []string) string {
	if name == "" || len(name) > maxSuggest {
		return ""
	}
	lower := strings.ToLower(name)
	best, bestDist := "", 0
	for _, c := range candidates {
		limit := allowance(min(len(name), len(c)))
		if c == "" || c == name || len(c) > maxSuggest || abs(len(c)-len(name)) > limit {
			continue
		}
		d := distance(lower, strings.ToLower(c))
		if d <= limit && (best == "" || d < bestDist) {
			best, bestDist = c, d
		}
	}
	return best
}

const maxSuggest = 64

// allowance is the edit distance up to which two names, the shorter one of n
// bytes, count as alike.
func allowance(n int) int {
	switch {
	case n <= 2:
		return 0
	case n <= 4:
		return 1
	case n <= 8:
		return 2
	}
	return n / 4
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// distance is the optimal string alignment distance: insertions, deletions,
// substitutions and swaps of neighbours count one each.
func distance(a, b string) int {
	var rows [3][maxSuggest + 1]int
	before, last, cur := &rows[0], &rows[1], &rows[2]
	for j := 0; j <= len(b); j++ {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(last[j]+1, cur[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, last, cur = last, cur, before
	}
	return last[len(b)]
}
