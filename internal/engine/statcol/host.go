package statcol

import (
	"net/netip"
	"time"

	"weir/internal/engine/backend"
	"weir/internal/engine/frontend"
	"weir/internal/engine/server"
	"weir/internal/engine/stats"
	"weir/internal/model"
)

// Host is the process whose numbers are shown. Its methods may be called from any goroutine.
type Host interface {
	// Config is the configuration in use, Frontends and Backends what runs it, in the order of their declaration.
	Config() *model.Config
	Frontends() []*frontend.Frontend
	Backends() []*backend.Backend

	Info() ProcessInfo
	Uptime() time.Duration

	// Accepting tells how a frontend accepts.
	Accepting(f *frontend.Frontend) Accepting
	// MaxConn is the limit on client connections of the process, FrontMaxConn that of a frontend.
	MaxConn() int
	FrontMaxConn(f *frontend.Frontend) int
	// BindLine is what runs a bind line, nil without any.
	BindLine(b *model.Bind) *BindLine
	// AdminState is what was asked of a server, and how long ago its state changed.
	AdminState(s *server.Server) (State, time.Duration)
}

// Admin is what a Host lets administrators change.
type Admin interface {
	// SetAdminState puts a server in maintenance, drains it or makes it ready. It may block.
	SetAdminState(s *server.Server, st State) error
}

// hostKey is where a configuration keeps its process.
var hostKey = &model.SlotKey[Host]{Name: "process of the statistics"}

// Attach tells what runs the process in which cfg is built; before the generation starts.
func Attach(cfg *model.Config, h Host) { hostKey.Set(&cfg.Slots, h) }

// Of is the process that runs cfg, nil where none was attached.
func Of(cfg *model.Config) Host { return hostKey.Get(&cfg.Slots) }

// State is what a user or the configuration asks of a server.
type State uint8

// States of a server.
const (
	Ready State = iota
	Drain
	Maint       // by a command
	MaintConfig // by "disabled" in the configuration
)

// BindLine is a bind line at run time.
type BindLine struct {
	Conns *stats.Gauge
	Stats []stats.Proxy  // by loop; empty unless the line is counted (option socket-stats)
	Addr  netip.AddrPort // of an inherited socket (fd@); not valid for one of the unix domain
}

// Accepting is how a frontend takes connections.
type Accepting uint8

// Ways to take connections.
const (
	Open Accepting = iota
	Paused
	Stopped
)

// ProcessInfo are the numbers of the process that "show info" prints.
type ProcessInfo struct {
	Version, Released string
	PID               int
	Threads           int
	Start             time.Time
	Boot              time.Duration // from the start of the process until it accepts
	Files             int           // limit on open files
	MaxConn, HardMax  int
	Conns, CumConns   int64
	ConnRate, ConnMax int64 // connections a second, and the most
	SessRate, SessMax int64
	TLSConns, CumTLS  int64
	// TLSRate are the TLS connections of clients in the last second, TLSRateMax the most in a second.
	TLSRate, TLSRateMax int64
	// FrontKeys and BackKeys are the handshakes in the last second that resumed no session.
	FrontKeys, FrontKeysMax, BackKeys, BackKeysMax int64
	// Streams are those that exist, CumStreams all since the start.
	Streams, CumStreams int64
	// BytesOut are bytes sent on all sockets, SplicedOut those that went through pipes, OutRate those of the last second.
	BytesOut, SplicedOut, OutRate int64
	// Reached counts how often the limit on connections was reached.
	Reached     int64
	Listeners   int
	Stopping    bool
	Warnings    int64
	MemoryLimit int64 // bytes, 0: none
	PoolBytes   int64
	PoolUsed    int64
	PoolFailed  int64
	Pools       []Pool
}

// Pool is one pool of buffers.
type Pool struct {
	Name                    string
	Size                    int   // bytes of a buffer
	Allocated, Used, Failed int64 // buffers
}
