package cli

import (
	"time"

	"weir/internal/engine/backend"
	"weir/internal/engine/frontend"
	"weir/internal/engine/server"
	"weir/internal/engine/statcol"
)

// Main is what sessions ask of any process, that of a master too. Its methods may be called from any goroutine.
type Main interface {
	Uptime() time.Duration
	// Sockets are the stats sockets.
	Sockets() []*Socket
	// Environ is the environment as the configuration left it, one NAME=value each.
	Environ() []string
	// StartupLogs are the messages of the start, whole lines.
	StartupLogs() string
	// Version of the program.
	Version() string
	// Anon is the key that hides names where a session has none of its own; 0 for none. SetAnon changes it.
	Anon() uint32
	SetAnon(key uint32)
	// Reload reads the configuration again and switches to it. The text are its messages.
	Reload(hard bool) (text string, ok bool)
}

// Host is the process as commands see it. Its methods may be called from any goroutine.
type Host interface {
	statcol.Host
	Main
	Inspector

	// Pause ends the accepting of a frontend until Resume, Stop for good.
	Pause(f *frontend.Frontend) error
	Resume(f *frontend.Frontend) error
	Stop(f *frontend.Frontend) error

	// SetMaxConn and SetFrontMaxConn change limits on client connections.
	SetMaxConn(n int)
	SetFrontMaxConn(f *frontend.Frontend, n int)

	SetAdminState(s *server.Server, st State) error
	SetWeight(b *backend.Backend, s *server.Server, weight int) error
	SetServerMaxConn(s *server.Server, n int) error

	// ClearPeaks forgets maxima.
	ClearPeaks()
	// ClearCounters sets counters of events back to zero, those of one server or all for nil.
	ClearCounters(only *server.Server)
}

// What commands share with other views of the process.
type (
	State     = statcol.State
	Accepting = statcol.Accepting
	Info      = statcol.ProcessInfo
	Pool      = statcol.Pool
	BindLine  = statcol.BindLine
)

// States of a server.
const (
	Ready       = statcol.Ready
	Drain       = statcol.Drain
	Maint       = statcol.Maint
	MaintConfig = statcol.MaintConfig
)

// Ways to take connections.
const (
	Open    = statcol.Open
	Paused  = statcol.Paused
	Stopped = statcol.Stopped
)
