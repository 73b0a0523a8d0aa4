package model

import (
	"net/netip"
	"time"

	"weir/internal/base/addr"
)

// LogConfig is what log lines of a section need: targets, tag and format.
type LogConfig struct {
	Targets      []*LogTarget
	Global       bool   // "log global"
	None         bool   // "no log"
	Tag          string // log-tag; "": the process's name
	SendHostname string // log-send-hostname; global only; "-": the system's name
	Format       LogFormat
	FormatPos    Position // of the line that chose Format
}

// LogFormat selects one of the built-in formats (manual, chapter 8.2).
type LogFormat uint8

// Built-in log formats.
const (
	LogDefault LogFormat = iota // 8.2.1
	LogTCP                      // 8.2.2, option tcplog
	LogHTTP                     // 8.2.3, option httplog
	LogHTTPCLF                  // option httplog clf
	LogTCPCLF                   // option tcplog clf
)

// LogTarget is one "log" line (manual 3.1 and 4.2).
type LogTarget struct {
	Pos            Position
	Addr           addr.Addr // udp, unix datagram, fd@; Stdout and Stderr below
	Stdout, Stderr bool
	Ring           string // ring@NAME
	Length         int    // len, default 1024
	Format         string // "", rfc3164, rfc5424, priority, short, timed, iso, raw, local
	Facility       int    // 0..23
	Level          int    // 0..7, highest severity number sent; default 7
	MinLevel       int    // lower bound: more severe ones are sent as this one; default 0
	SampleRanges   []SampleRange
	SampleSize     int // 0: no sampling
}

// SampleRange is a part of "sample": 1-based, inclusive.
type SampleRange struct{ Low, High int }

// Transaction is what a condition may look at; engine's stream implements it.
type Transaction interface {
	Method() []byte
	Path() []byte
	// Header returns the value of the first field of that name, nil if there is none.
	Header(name string) []byte
	ClientAddr() netip.AddrPort
	// UsableServers counts the servers of a backend that can take traffic; -1: no such backend.
	UsableServers(backend string) int
}

// HeaderLister is what a Transaction may offer besides: all fields of a name.
type HeaderLister interface {
	// HeaderAt returns the value of the n-th field of that name, counted from
	// 0 in the order of arrival, nil past the last one.
	HeaderAt(name string, n int) []byte
}

// Timers of a stream in nanoseconds (manual 8.4); -1: the event did not happen.
type Timers struct {
	Handshake, Idle, Request int64 // Th, Ti, TR
	Queue, Connect           int64 // Tw, Tc
	Response                 int64 // Tr
	Total                    int64 // Tt, from accept or end of the previous request
}

// LogRecord is what a finished stream (or a failed session) tells the log
// (manual, chapter 8). It is filled by the stream, read by the formatter on
// the same loop, and reused: slices are valid during the call only.
type LogRecord struct {
	Client, ClientLocal netip.AddrPort // ClientLocal: the address that was connected to
	UnixClient          bool           // Client came over a unix socket: logged as "unix:ID"
	UnixID              int
	Server, ServerLocal netip.AddrPort

	Accept  time.Time // date of accept
	Request time.Time // date of the request's first byte (8.2.3's date field, %tr)

	Frontend, Backend, ServerName string
	TLS                           bool
	HTTP                          bool
	ASAP                          bool // logged before the end: times and bytes get a '+'

	Timers                           Timers
	Status                           int // -1: none
	BytesToClient, BytesToServer     int64
	Termination                      [4]byte // "----"
	ActConn, FeConn, BeConn, SrvConn int64
	Retries                          int
	Redispatched                     bool
	SrvQueue, BeQueue                int64

	CapturedReqCookie, CapturedResCookie   []byte
	CapturedReqHeaders, CapturedResHeaders [][]byte // nil entries: no value
	CaptureReq, CaptureRes                 bool     // any captures declared on that side

	Method, URI []byte // URI cut to tune.http.logurl by the formatter
	Version     [2]uint8
	BadRequest  bool // "<BADREQ>"

	ErrorMessage string // connection errors (8.2.6): text after the bind name
	BindName     string
	Level        int // syslog level: 6 info, 3 err (log-separate-errors), 5 notice
}

// LogEmitter writes log lines of one loop.
type LogEmitter interface {
	Emit(r *LogRecord)
}

// PageTable gives the answer that stands for a status: one of the proxy's own or the built-in one; nil for a status without.
type PageTable interface {
	Page(status int) *ErrorPage
	// Raw is the whole HTTP/1 response for input that never became a request.
	Raw(status int) []byte
}

// Clone returns a copy that shares nothing with c.
func (c LogConfig) Clone() LogConfig {
	var targets []*LogTarget
	for _, t := range c.Targets {
		n := *t
		n.SampleRanges = append([]SampleRange(nil), t.SampleRanges...)
		targets = append(targets, &n)
	}
	c.Targets = targets
	return c
}
