// Package scenario runs behaviour scripts against a load balancer's real binary.
//
// A scenario is one text file: a configuration, what servers and clients send and expect, and
// the log lines that must come out of it. The same file runs on weir with io_uring, on weir with
// epoll and, when WEIR_REF names it, on the reference itself: that is how an expectation is
// shown to be the truth and not an opinion. README.md beside this file documents the language.
//
// Order of reading: scenario.go (what a file holds), parse.go (how it is read), verbs.go (what
// each step does), run.go (how a scenario is played).
package scenario

import "fmt"

// A Scenario is one parsed file.
type Scenario struct {
	File     string            // path of the file, for messages
	Title    string            // first comment line: the behaviour in one sentence
	Config   string            // configuration, variables not yet replaced
	Files    map[string]string // further files, written to ${tmp}
	Actors   []*Actor          // servers, clients and the process, in file order
	Logs     []LogRule         // what the log must and must not hold
	Args     []string          // further arguments of the command line
	Needs    string            // oldest version of the reference that behaves so, "" = any
	WeirOnly string            // why the reference is not asked, "" = it is
}

// Kind tells what an actor stands for.
type Kind int

// The kinds of actors.
const (
	Client  Kind = iota // connects to one of the listeners
	Server              // accepts what the load balancer opens
	Process             // the load balancer itself: signals, exit code, output
)

// An Actor runs its steps one after another, beside all others.
type Actor struct {
	Kind   Kind
	Name   string
	Target string // client: the listener that it connects to
	Mode   string // server: "" accepts, "refuse" has no listener, "blackhole" never answers a SYN
	Steps  []Step
	Line   int
}

// A Step is one line of an actor's script.
type Step struct {
	Line int
	Verb string
	Arg  string
}

// A LogRule is one line of a log block.
type LogRule struct {
	Line    int
	Target  string // receiver's name, "" = the default one
	Verb    string // has, not, count
	Count   int    // for count
	Text    string // the pattern, variables not yet replaced
	Pattern *Pattern
}

// errorAt builds an error that points at a line of the scenario.
func (s *Scenario) errorAt(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", s.File, line, fmt.Sprintf(format, args...))
}
