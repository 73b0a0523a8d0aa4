package cli

import (
	"weir/internal/engine/backend"
	"weir/internal/engine/frontend"
	"weir/internal/engine/server"
	"weir/internal/engine/statcol"
)

// Host is the process as commands see it. Its methods may be called from any goroutine.
type Host interface {
	statcol.Host
	// Sockets are the stats sockets.
	Sockets() []*Socket

	// StartupLogs are the messages of the start, whole lines.
	StartupLogs() string

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

	// ClearCounters sets counters of events back to zero, those of one server or all for nil.
	ClearCounters(only *server.Server)
}

// What commands share with other views of the process.
type (
	State     = statcol.State
	Accepting = statcol.Accepting
	Info      = statcol.ProcessInfo
	Pool      = statcol.Pool
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
