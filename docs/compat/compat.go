// Package compat is the inventory of the names that HAProxy 3.5 knows.
//
// The lists hold names only, one "kind<TAB>name" a line. They tell a word that
// weir does not serve yet from a word that nobody knows, and they are what the
// ledger of supported names counts against.
package compat

import (
	"embed"
	"slices"
	"sort"
	"strings"
	"sync"
)

//go:embed *.tsv
var files embed.FS

// Kinds of names, beside the names of sections ("peers", "ring", ...), whose
// directives are listed under the name of their section, and of rule sets
// ("http-request", "tcp-request content", ...), whose actions are.
const (
	Section   = "section"
	Global    = "global"
	Proxy     = "proxy"
	Bind      = "bind"
	Server    = "server"
	CrtList   = "crt-list"
	Fetch     = "fetch"
	Converter = "converter"
	ACL       = "acl"
	Filter    = "filter"
	LogAlias  = "log-alias"
	CLI       = "cli"
)

// lists maps each kind to its sorted names. It is read only once made.
var lists = sync.OnceValue(func() map[string][]string {
	m := make(map[string][]string)
	entries, err := files.ReadDir(".")
	if err != nil {
		panic("compat: " + err.Error())
	}
	for _, e := range entries {
		data, err := files.ReadFile(e.Name())
		if err != nil {
			panic("compat: " + err.Error())
		}
		for line := range strings.SplitSeq(string(data), "\n") {
			if kind, name, ok := strings.Cut(line, "\t"); ok {
				m[kind] = append(m[kind], name)
			}
		}
	}
	for kind, names := range m {
		sort.Strings(names)
		m[kind] = slices.Compact(names)
	}
	return m
})

// Known tells whether HAProxy knows the name as one of that kind.
func Known(kind, name string) bool {
	_, ok := slices.BinarySearch(lists()[kind], name)
	return ok
}

// Names returns the names of a kind in byte order. The slice is the caller's.
func Names(kind string) []string { return slices.Clone(lists()[kind]) }

// Kinds returns all kinds in byte order.
func Kinds() []string {
	var out []string
	for k := range lists() {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// Ledger compares names that are served with the inventory of one kind.
type Ledger struct {
	Kind    string
	Done    []string // in the inventory and served
	Missing []string // in the inventory, not served
	Own     []string // served, not in the inventory: weir's own names
}

// Compare makes the ledger of a kind. A served name of several words ("option
// httplog") also covers the inventory's shorter form of it ("option").
func Compare(kind string, served []string) Ledger {
	have := make(map[string]bool)
	for _, s := range served {
		have[s] = true
	}
	l := Ledger{Kind: kind}
	for _, n := range lists()[kind] {
		if have[n] || slices.ContainsFunc(served, func(s string) bool { return strings.HasPrefix(s, n+" ") }) {
			l.Done = append(l.Done, n)
		} else {
			l.Missing = append(l.Missing, n)
		}
	}
	for _, s := range served {
		if !knownPart(kind, s) {
			l.Own = append(l.Own, s)
		}
	}
	sort.Strings(l.Own)
	return l
}

// knownPart tells whether the name, or a shorter form made of its first
// words, is in the inventory.
func knownPart(kind, name string) bool {
	for {
		if Known(kind, name) {
			return true
		}
		i := strings.LastIndexByte(name, ' ')
		if i < 0 {
			return false
		}
		name = name[:i]
	}
}
