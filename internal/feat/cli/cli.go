// Package cli is the runtime API (manual: Management Guide 9.3): the registry
// of commands, and the sessions that read command lines from a stats socket
// and write the answers.
//
// A session is a goroutine, for nothing here is on the data path. Commands
// read counters that are shared, or ask the process (see [Host]) to do
// something on its loops. A command adds itself with [Register] in init; the
// longest command whose words a line begins with is run.
package cli

import (
	"slices"
	"strings"

	"weir/internal/base/registry"
)

// Level is what a session may do (manual 5.1, "level").
type Level uint8

// Levels, each with the rights of those before it.
const (
	User Level = iota
	Operator
	Admin
)

// String returns the name of the level.
func (l Level) String() string { return [...]string{"user", "operator", "admin"}[l] }

// ParseLevel finds a level by its name.
func ParseLevel(name string) (Level, bool) {
	i := slices.Index([]string{"user", "operator", "admin"}, name)
	return Level(max(i, 0)), i >= 0
}

// Mode is a restriction on when a command can be used.
type Mode uint8

// Modes that a session turns on with the command of that name.
const (
	Expert       Mode = 1 << iota // expert-mode on
	Experimental                  // experimental-mode on
)

// Place is the kind of process that serves a command.
type Place uint8

// Places.
const (
	InWorker Place = iota // where the traffic is
	InMaster              // where workers are supervised (manual: Management Guide 9.4)
	InBoth
)

// Command is one command.
type Command struct {
	// Place is where it is served.
	Place Place
	// Words are the command's words: "show", "map".
	Words []string
	// Level is the least level that may run it.
	Level Level
	// Needs are the modes that must be on.
	Needs Mode
	// Usage is the whole command with its arguments, Help a short line; both are listed by "help". A command without a
	// usage is not listed.
	Usage, Help string
	// Run answers. It is called on the goroutine of a session.
	Run func(c *Context)
}

// Name is the words of the command with spaces between them.
func (c *Command) Name() string { return strings.Join(c.Words, " ") }

var commands = registry.New[*Command]("runtime command")

// Register adds a command; from init functions only. It panics when the words are taken.
func Register(c Command) {
	commands.Register(strings.Join(c.Words, " "), &c, 1)
}

// Freeze ends registration.
func Freeze() { commands.Freeze() }

// Names are the names of all commands, in byte order.
func Names() []string { return commands.Names() }

// find returns the command with the most words that words begin with, nil when there is none.
func find(words []string, at Place) *Command {
	for n := nameable(words); n > 0; n-- {
		if c, ok := commands.Lookup(strings.Join(words[:n], " ")); ok && (c.Place == at || c.Place == InBoth) {
			return c
		}
	}
	return nil
}

// nameable is how many of the words may belong to the name of a command. A word with a blank in it never does.
func nameable(words []string) (n int) {
	for n < min(len(words), maxWords) && !strings.Contains(words[n], " ") {
		n++
	}
	return n
}

// maxWords is how many words the name of a command has at most.
const maxWords = 5

// Lookup finds a command by its name.
func Lookup(name string) (*Command, bool) { return commands.Lookup(name) }

// all returns the commands in byte order, those of the session itself last, as the reference lists them.
func all(at Place) (list []*Command) {
	var last []*Command
	commands.All(func(name string, c *Command) bool {
		switch {
		case c.Usage == "" || c.Place != at && c.Place != InBoth:
		case name == "help" || name == "prompt" || name == "quit":
			last = append(last, c)
		default:
			list = append(list, c)
		}
		return true
	})
	return append(list, last...)
}
