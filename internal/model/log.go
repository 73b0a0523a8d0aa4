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
	FormatPos    Position   // of the line that chose Format
	FormatLine   string     // what that line is called: "option httplog clf", "log-format"
	Custom       LineFormat // log-format, with Format LogCustom
	SD           LineFormat // log-format-sd; nil: no structured data
	Error        LineFormat // error-log-format; nil: as other lines
	Steps        LogSteps   // log-steps; 0: one line, as early as its fields are known
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
	LogCustom                   // log-format, option httpslog: LogConfig.Custom
)

// LineFormat is a compiled log-format (manual 8.2.6).
type LineFormat interface {
	// AppendLine appends the line for r, without a line feed. Expressions are evaluated on r.Tx; without one they
	// have no value.
	AppendLine(dst []byte, r *LogRecord) []byte
	// Needs tells what the line shows and when all of that is known.
	Needs() LogNeeds
}

// LogNeeds says what a format needs of the engine. The first four tell when its line is complete: with LogAtEnd when the
// stream has ended, else with LogAtResponse when the response (in TCP: the connection to the server) is there. A format with
// LogAtRequest alone is complete with the request. Without any of them it is complete from the start, and written with
// the response.
type LogNeeds uint16

// Needs of formats.
const (
	LogAtRequest LogNeeds = 1 << iota
	LogAtResponse
	LogAtEnd
	LogExpr   // expressions: r.Tx
	LogLocal  // r.ClientLocal
	LogServer // r.Server, r.ServerLocal
	LogUnique // the unique ID
)

// LogSteps is a set of moments at which lines are written (manual 4.2, log-steps): bits 1<<LogStep.
type LogSteps uint16

// Has reports whether the set has a step.
func (s LogSteps) Has(step LogStep) bool { return s&(1<<step) != 0 }

// LogStep is a moment of logging, as log-steps and log-profile name them.
type LogStep uint8

// Steps. StepError and StepAny are names in log-profile only; those from StepTCPReqConn on are the do-log action's.
const (
	StepAccept LogStep = iota
	StepRequest
	StepConnect
	StepResponse
	StepClose
	StepError
	StepAny
	StepTCPReqConn
	StepTCPReqSess
	StepTCPReqCont
	StepTCPResCont
	StepHTTPReq
	StepHTTPRes
	StepHTTPAfterRes
	NumLogSteps
)

var stepNames = [NumLogSteps]string{
	"accept", "request", "connect", "response", "close", "error", "any", "tcp-req-conn", "tcp-req-sess", "tcp-req-cont", "tcp-res-cont",
	"http-req", "http-res", "http-after-res",
}

// String is the step's name in configurations.
func (s LogStep) String() string { return stepNames[s] }

// LogStepByName finds a step; false for a name that is none.
func LogStepByName(name string) (LogStep, bool) {
	for i, n := range stepNames {
		if n == name {
			return LogStep(i), true
		}
	}
	return 0, false
}

// LogProfile is a log-profile section (manual 8.3.5).
type LogProfile struct {
	Pos  Position
	Name string
	Tag  string // log-tag; "": that of the section that logs
	On   [NumLogSteps]*LogOverride
}

// LogOverride is an "on" line of a profile.
type LogOverride struct {
	Drop     bool       // no line
	Text, SD LineFormat // nil: as the section that logs has it
}

// For is what the profile says for a step, its own line or that for any; nil for nothing.
func (p *LogProfile) For(step LogStep) *LogOverride {
	if p == nil {
		return nil
	}
	if o := p.On[step]; o != nil {
		return o
	}
	return p.On[StepAny]
}

// LogProfiles holds the log-profile sections of a configuration by name, in Config.Slots.
var LogProfiles = &SlotKey[map[string]*LogProfile]{Name: "log profiles"}

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
	SampleSize     int         // 0: no sampling
	ProfileName    string      // profile
	Profile        *LogProfile // set by the check stage
}

// SampleRange is a part of "sample": 1-based, inclusive.
type SampleRange struct{ Low, High int }

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
	Server, ServerLocal netip.AddrPort // the server's address and the one it was reached from; invalid without a connection
	UnixServer          bool           // the server is reached through a unix socket

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

	ErrorMessage string // connection errors (8.2.5): text after the bind name
	BindName     string
	Tx           *Txn        // where expressions of custom formats are evaluated; nil without a stream
	Step         string      // a LogStep's name; "": the line at the end
	Profile      *LogProfile // of the do-log action; nil: that of the target
	Level        int         // syslog level: 6 info, 3 err (log-separate-errors), 5 notice
	LogCount     uint32      // lines that the frontend has written before (%lc)
	TLSVersion   string      // "TLSv1.3"; "": no TLS
	TLSCipher    string
}

// Failed reports whether r tells of a connection that never became a stream, or of a request that never was one: what
// error-log-format and the step "error" are for.
func (r *LogRecord) Failed() bool { return r.ErrorMessage != "" || r.BadRequest && r.HTTP }

// At is the step at which r is logged.
func (r *LogRecord) At() LogStep {
	if r.Failed() {
		return StepError
	}
	if r.Step == "" {
		return StepClose
	}
	s, _ := LogStepByName(r.Step)
	return s
}

// LogEmitter writes log lines of one loop.
type LogEmitter interface {
	Emit(r *LogRecord)
	// Message writes a text that is no stream's line, at a level of syslog (0 to 7).
	Message(level int, text string)
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
