package cli

import (
	"net/netip"
	"time"

	"weir/internal/rt/loop"
)

// Inspector is what commands for those who look into a running process ask of it. Its methods may be called from any
// goroutine.
type Inspector interface {
	// Loops are the event loops, in the order of their threads.
	Loops() []*loop.Loop
	// OnLoop runs fn on a loop and waits for it, but not longer than a second: false.
	OnLoop(l *loop.Loop, fn func()) bool
	// Listening are the sockets that accept: those of frontends and the stats sockets.
	Listening() []Listening
	// Files calls fn for each connection of a loop; on that loop.
	Files(l *loop.Loop, fn func(f File))
	// Blocked are the reports of loops that did not turn in time, the latest last, and how many there were.
	Blocked() (reports []string, total int64)
	// Limits are numbers about the process that "show dev" tells.
	Limits() []string
	// Say writes to the logs of the process ("debug dev log").
	Say(text string)
}

// Listening is a socket that accepts.
type Listening struct {
	FD        int
	Name      string // of the frontend; GLOBAL for a stats socket
	Family    string // ipv4, ipv6, unix
	Port      int
	Interface string
	Threads   uint64 // bit 0 is the first thread
	Paused    bool
}

// File is an open connection.
type File struct {
	FD       int
	Back     bool // to a server
	Proxy    string
	Server   string
	Mux      string
	Peer     netip.AddrPort
	Since    time.Duration
	Idle     bool
	HasFiber bool
}
