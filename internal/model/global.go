package model

import "time"

// Global is the global section (manual, chapter 3). Zero means "not set"
// unless said otherwise; defaults are applied when the generation is built.
type Global struct {
	Pos Position

	// Process.
	Daemon                             bool
	MasterWorker                       bool
	PidFile                            string
	Chroot                             string
	User, Group                        string // resolved to UID and GID by the check stage
	UID, GID                           int    // -1: not set
	UserPos, GroupPos                  Position
	UlimitN                            int
	FDHardLimit                        int // fd-hard-limit; 0: the default of 1048576
	StrictLimits                       Tristate
	NoUring                            bool
	NoEpoll, NoSplice, NoReusePort     bool
	Quiet                              bool
	ZeroWarning                        bool
	Node, Description, LocalPeer       string
	HardStopAfter                      time.Duration
	Grace                              time.Duration
	CloseSpreadTime                    time.Duration
	WarnBlockedAfter                   time.Duration // warn-blocked-traffic-after; 0: the default of 100 ms
	SetDumpable                        bool
	InsecureSetuid, InsecureForkWanted bool

	// Threads.
	NbThread     int // 0: as many as CPUs allowed
	ThreadGroups int
	CPUMap       []CPUMap

	// Limits.
	MaxConn     int // 0: worked out from the limits
	MaxConnRate int
	MaxSessRate int
	MaxSSLConn  int
	MaxSSLRate  int
	MaxPipes    int

	Tune Tune
	Log  LogConfig

	H1CaseAdjust       map[string]string // lower-case name -> name as sent
	H1PayloadAnyMethod bool              // h1-accept-payload-with-any-method
	H1KeepOnInsecureTE bool              // h1-do-not-close-on-insecure-transfer-encoding
	PreallocFD         bool              // prealloc-fd
	CloseSpreadForever bool              // close-spread-time infinite: connections are not closed on a soft stop
	UnixBind           UnixBind          // unix-bind; already applied to the binds by the check stage
	AnonKey            uint32
	Slots              Slots
}

// UnixBind is "unix-bind": what "bind" lines with unix addresses start from.
type UnixBind struct {
	Pos         Position
	Prefix      string // put in front of the paths
	PermMode    int    // -1: not set
	User, Group string // resolved to UID and GID by the check stage
	UID, GID    int    // -1: not set
}

// CPUMap is a part of a cpu-map line: threads of a group bound to a set of
// CPUs. Lines with "auto:", ranges of groups, "odd" and "even" are taken apart
// already; a later entry replaces an earlier one for the threads they share.
type CPUMap struct {
	Auto                  bool // threads and CPUs pair one by one; the parser takes such lines apart and never sets it
	Group                 int
	ThreadLow, ThreadHigh int // 1-based, inclusive; 0,0: all
	CPUs                  []int
}

// Tune holds the tune.* settings (manual 3.2). Zero means the default.
type Tune struct {
	BufSize, BufSizeSmall, BufSizeLarge    int // bytes
	MaxRewrite                             int // bytes kept free for header edits
	BuffersLimit, BuffersReserve           int // buffers
	MaxAccept                              int // connections accepted in a row; -1: no limit
	MaxPollEvents                          int
	RunQueueDepth                          int
	PipeSize                               int
	RecvEnough                             int
	RcvBufClient, RcvBufServer             int
	SndBufClient, SndBufServer             int
	NotSentLowatClient, NotSentLowatServer int
	PoolHighFDRatio, PoolLowFDRatio        int // percent
	IdlePoolShared                         Tristate
	ListenerMultiQueue                     string // "", "on", "fair", "off"
	DefaultShards                          int    // as Bind.Shards; 0: by-group, the default
	IdleTimer                              time.Duration
	IdleTimerSet                           bool
	HTTPMaxHdr                             int // default 101
	HTTPLogURI                             int // default 1024
	HTTPCookieLen                          int // default 63
	H1ZeroCopyRecv, H1ZeroCopySend         Tristate
	DisableZeroCopyForwarding              bool
	MemoryHotSize                          int
	FailAlloc                              int // percent of allocations made to fail
	Vars                                   VarLimits
}

// Defaults of the tune settings that the engine needs (manual 3.2).
const (
	DefaultBufSize    = 16384
	DefaultMaxRewrite = 1024
	DefaultMaxHdr     = 101
	DefaultLogURI     = 1024
)
