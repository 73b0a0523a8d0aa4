package cli

import (
	"time"

	"weir/internal/engine/backend"
	"weir/internal/engine/frontend"
	"weir/internal/engine/server"
	"weir/internal/model"
)

// Host is the process as commands see it. Its methods may be called from any goroutine.
type Host interface {
	// Config is the configuration in use, Frontends and Backends what runs it, in the order of their declaration.
	Config() *model.Config
	Frontends() []*frontend.Frontend
	Backends() []*backend.Backend
	// Sockets are the stats sockets.
	Sockets() []*Socket

	Info() Info
	Uptime() time.Duration
	// StartupLogs are the messages of the start, whole lines.
	StartupLogs() string

	// Accepting tells how a frontend accepts. Pause ends it until Resume, Stop for good.
	Accepting(f *frontend.Frontend) Accepting
	Pause(f *frontend.Frontend) error
	Resume(f *frontend.Frontend) error
	Stop(f *frontend.Frontend) error

	// MaxConn is the limit on client connections of the process, FrontMaxConn that of a frontend.
	MaxConn() int
	SetMaxConn(n int)
	FrontMaxConn(f *frontend.Frontend) int
	SetFrontMaxConn(f *frontend.Frontend, n int)

	// AdminState is what was asked of a server, and how long ago its state changed.
	AdminState(s *server.Server) (State, time.Duration)
	SetAdminState(s *server.Server, st State) error
	SetWeight(b *backend.Backend, s *server.Server, weight int) error
	SetServerMaxConn(s *server.Server, n int) error

	// ClearCounters sets counters of events back to zero, those of one server or all for nil.
	ClearCounters(only *server.Server)
}

// State is what a user or the configuration asks of a server.
type State uint8

// States of a server.
const (
	Ready State = iota
	Drain
	Maint       // by a command
	MaintConfig // by "disabled" in the configuration
)

// Accepting is how a frontend takes connections.
type Accepting uint8

// Ways to take connections.
const (
	Open Accepting = iota
	Paused
	Stopped
)

// Info are the numbers of the process that "show info" prints.
type Info struct {
	Version, Released string
	PID               int
	Threads           int
	Start             time.Time
	Boot              time.Duration // from the start of the process until it accepts
	Files             int           // limit on open files
	MaxConn, HardMax  int
	Conns, CumConns   int64
	ConnRate          int64
	SessRate          int64
	Listeners         int
	Stopping          bool
	Warnings          int64
	MemoryLimit       int64 // bytes, 0: none
	PoolBytes         int64
	PoolUsed          int64
	PoolFailed        int64
	Pools             []Pool
}

// Pool is one pool of buffers.
type Pool struct {
	Name                    string
	Size                    int   // bytes of a buffer
	Allocated, Used, Failed int64 // buffers
}
