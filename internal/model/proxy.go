package model

import (
	"time"

	"weir/internal/wire/msg"
)

// Side tells which sides a proxy has.
type Side uint8

// The sides of a proxy; a listen section has both.
const (
	SideFrontend Side = 1 << iota
	SideBackend
	SideDefaults // a defaults section: never runs
)

// Mode is the proxy's protocol (manual 4.2, "mode").
type Mode uint8

// Modes.
const (
	ModeTCP Mode = iota
	ModeHTTP
	ModeLog
	ModeSPOP
	ModeHAterm
)

// Option is a bit of "option NAME" (manual 4.2).
type Option uint64

// Options of a proxy.
const (
	OptAbortOnClose Option = 1 << iota
	OptAllBackups
	OptAcceptUnsafeRequest
	OptAcceptUnsafeResponse
	OptClitcpka
	OptSrvtcpka
	OptContStats
	OptDontLogNormal
	OptDontLogNull
	OptH1CaseAdjustClient
	OptH1CaseAdjustServer
	OptHTTPBufferRequest
	OptHTTPDropRequestTrailers
	OptHTTPDropResponseTrailers
	OptHTTPIgnoreProbes
	OptHTTPNoDelay
	OptHTTPPretendKeepalive
	OptHTTPUseProxyHeader
	OptIdleCloseOnResponse
	OptIndependentStreams
	OptLogASAP
	OptLogSeparateErrors
	OptNoLingerFrontend
	OptNoLingerBackend
	OptPersist
	OptPreferLastServer
	OptSocketStats
	OptSpliceAuto
	OptSpliceRequest
	OptSpliceResponse
	OptTCPSmartAccept
	OptTCPSmartConnect
	OptTransparent
	OptUseSmallBuffers
	OptDisableH2Upgrade
	OptCheckCache
)

// HTTPClose is the connection mode between requests (manual 4.2, "option httpclose" and friends).
type HTTPClose uint8

// Connection modes.
const (
	KeepAlive   HTTPClose = iota // option http-keep-alive, the default
	ServerClose                  // option http-server-close
	Close                        // option httpclose
)

// HdrNames is "option http-restrict-req-hdr-names".
type HdrNames uint8

// Restriction modes.
const (
	HdrNamesDefault HdrNames = iota
	HdrNamesPreserve
	HdrNamesDelete
	HdrNamesReject
)

// Reuse is "http-reuse".
type Reuse uint8

// Reuse strategies; the default is safe.
const (
	ReuseSafe Reuse = iota
	ReuseNever
	ReuseAggressive
	ReuseAlways
)

// RetryOn is a bit of "retry-on".
type RetryOn uint32

// Conditions on which a request is retried.
const (
	RetryConnFailure  RetryOn = 1 << iota // conn-failure, the default
	RetryDisconnected                     // empty-response
	RetryJunk                             // junk-response
	RetryTimeout                          // response-timeout
	Retry0RTT
	Retry401
	Retry403
	Retry404
	Retry408
	Retry421
	Retry425
	Retry429
	Retry500
	Retry501
	Retry502
	Retry503
	Retry504
)

// Timeouts of a proxy (manual 4.2, "timeout ..."); 0: none.
type Timeouts struct {
	Client, ClientFin, ClientHS time.Duration
	Server, ServerFin           time.Duration
	Connect, Queue, Tunnel      time.Duration
	Check                       time.Duration
	HTTPRequest, HTTPKeepAlive  time.Duration
	Tarpit                      time.Duration
}

// ForwardFor is "option forwardfor" or "option originalto".
type ForwardFor struct {
	Enabled bool
	Header  string // default X-Forwarded-For or X-Original-To
	Except  string // network in CIDR form, "" for none
	IfNone  bool
}

// Forwarded is "option forwarded" (RFC 7239).
type Forwarded struct {
	Enabled      bool
	Proto, Host  bool
	By, ByPort   bool
	For, ForPort bool
	// Expressions that stand for what the connection tells; nil: none.
	HostExpr, ByExpr, ByPortExpr, ForExpr, ForPortExpr Format
}

// Keepalive is the tcpka family; zero fields leave the system's values.
type Keepalive struct {
	Count          int
	Idle, Interval time.Duration
}

// SwitchRule is one use_backend line.
type SwitchRule struct {
	Pos     Position
	Backend string     // the name; with Name it is the text of the format
	Name    Format     // nil: Backend is a constant
	Cond    *Condition // nil: always
}

// ServerRule is one use-server line.
type ServerRule struct {
	Pos    Position
	Server *Server // set by the check stage; nil with Name
	Text   string  // as written
	Name   Format  // nil: a constant
	Cond   *Condition
}

// Captures are what a frontend's requests and responses leave for the log and for later rules (manual 8.7, 8.8).
type Captures struct {
	Req, Res []Capture // the slots of each side, in order of declaration
	Cookie   CookieCapture
}

// Capture is one capture slot.
type Capture struct {
	Header string // captured by itself (capture request header); "": filled by rules (declare capture)
	Len    int    // longest value in bytes; longer ones are cut
}

// CookieCapture is "capture cookie".
type CookieCapture struct {
	Name   string // "": none
	Prefix bool   // Name is the beginning of the cookie's name
	Len    int
}

// Format is a compiled log format: text with the values of expressions in it (manual 8.2.6).
type Format interface {
	// Append appends the text to dst, as headers and names need it.
	Append(dst []byte, tx *Txn) []byte
}

// Condition is "if ..." or "unless ...".
type Condition struct {
	Pos    Position
	Unless bool
	Test   Test
}

// Match evaluates c, negation included; nil always passes.
func (c *Condition) Match(tx *Txn) Verdict {
	if c == nil {
		return Pass
	}
	v := c.Test.Match(tx)
	if c.Unless {
		v = v.Not()
	}
	return v
}

// Balance is how a server is chosen: "balance", "hash-type" and their kin (manual 4.2).
type Balance struct {
	Algorithm  string // "": roundrobin; names as in the manual
	Pos        Position
	Draws      int        // of random; 0: the default of 2
	Key        BalanceKey // what a request is balanced by; nil: nothing
	Body       bool       // Key may stand in the body of a request
	Consistent bool       // a ring instead of a map
	Hash       HashFunc   // "": sdbm, with the avalanche on a ring
	Avalanche  bool
	Factor     int // hash-balance-factor, in percent of the average load; 0: no bound
	Affinity   Affinity
}

// HashFunc names the function of "hash-type".
type HashFunc string

// Affinity is "hash-preserve-affinity": when a request leaves the server that its key means.
type Affinity uint8

// Affinities.
const (
	AffinityAlways   Affinity = iota // never
	AffinityMaxConn                  // when it is full
	AffinityMaxQueue                 // when its queue is full too
)

// BalanceKey finds what a request is balanced by.
type BalanceKey interface {
	// Key returns the text that is hashed, which may lie in the scratch memory; ok is false when the request has none, so
	// that it goes to any server. Where raw is true, the four bytes of text are the hash.
	Key(tx *Txn) (text []byte, raw, ok bool)
}

// Proxy is a frontend, backend or listen section (manual, chapter 4), or the
// settings of a defaults section.
type Proxy struct {
	Pos         Position
	Name        string
	Sides       Side
	Kind        string // the section's own word: "frontend", "backend", "listen", "defaults"
	From        string // name of the defaults section it inherits, "" if none
	ID          int    // "id", 0: automatic
	GUID        string
	Description string

	Mode     Mode
	Disabled bool

	Opt      Option
	OptSet   Option // options that some line has set or cleared; the others have their default
	Close    HTTPClose
	HdrNames HdrNames

	Timeout Timeouts

	ForwardFor         ForwardFor
	OriginalTo         ForwardFor
	Forwarded          Forwarded
	ClientKA, ServerKA Keepalive

	// Frontend side.
	Binds             []*Bind
	MaxConn           int // 0: the global one
	Backlog           int
	RateLimitSessions int
	MonitorURI        string
	MonitorFail       []*Condition
	DefaultBackend    string
	DefaultBackendPos Position
	Switch            []*SwitchRule
	ForceSwitch       []*Condition // force-be-switch
	UseServer         []*ServerRule
	Captures          Captures
	UniqueID          Format // unique-id-format; nil: none
	UniqueIDHeader    string // unique-id-header

	// Backend side.
	Servers           []*Server
	DefaultServer     *Server // template for later server lines; never nil after Open
	Balance           Balance
	FullConn          int
	Retries           int // -1: the default of 3
	RetryOn           RetryOn
	Redispatch        int // option redispatch interval; 0: off
	Reuse             Reuse
	Source            *Source
	MaxKeepAliveQueue int    // -1: no limit
	SendNameHeader    string // http-send-name-header
	Persist           *Persistence
	PersistRules      []PersistRule // force-persist and ignore-persist
	DynamicCookieKey  string        // dynamic-cookie-key
	Unpublished       bool          // be-unpublished

	Errors map[int]*ErrorPage // by status
	// ErrorSections are "errorfiles NAME [codes]" lines, resolved by the check stage.
	ErrorSections []ErrorSection

	Log   LogConfig
	Slots Slots
	Run   ProxyState // set when the generation is built
	// Inherit are lines of a defaults section that are read again for each proxy that takes them over: rules and formats,
	// whose expressions mean the proxy they run in.
	Inherit []func(*Proxy)
	// HasRules: a defaults section has rules; RuledSides are the sides of the proxies that took them over.
	HasRules   bool
	ForFronts  bool // some of them are for frontends only, or
	ForBacks   bool // for backends only
	RuledSides Side
}

// IsFrontend reports whether p accepts connections.
func (p Proxy) IsFrontend() bool { return p.Sides&SideFrontend != 0 }

// IsBackend reports whether p has servers.
func (p Proxy) IsBackend() bool { return p.Sides&SideBackend != 0 }

// Has reports whether all options of o are set.
func (p *Proxy) Has(o Option) bool { return p.Opt&o == o }

// PageFiller makes the variable parts of an answer.
type PageFiller interface {
	// Fill adds fields to m and returns the body, which may lie in the scratch memory; false when a part has no value.
	Fill(tx *Txn, m *msg.Message) (body []byte, ok bool)
}

// ErrorSection is one "errorfiles" line.
type ErrorSection struct {
	Pos      Position
	Name     string
	Codes    []int // empty: all of the section
	Except   []int // codes that lines after this one settle otherwise
	Optional bool  // no warning about codes that the section lacks (http-error ... errorfiles)
}

// HTTPErrors is an http-errors section.
type HTTPErrors struct {
	Pos   Position
	Name  string
	Pages map[int]*ErrorPage
}

// ErrorPage is an answer that replaces one of weir's own: errorfile, errorloc, http-error.
type ErrorPage struct {
	Pos    Position
	Status int         // the status it stands for
	Code   int         // the status it sends
	Reason string      // reason phrase; "": the usual one of Code
	HTTP10 bool        // its status line says HTTP/1.0
	Fields [][2]string // header fields in order, names in lower case, without content-length
	// Fill, when set, makes the fields (besides those above) and the body at run time; Body is not used then.
	Fill PageFiller
	// FillAfter: what Fill adds stands behind the fields above; it keeps the body.
	FillAfter bool
	// LengthAt is where content-length goes: before the field of that index,
	// at the end for len(Fields); -1: there is none, as in a file without one.
	LengthAt int
	Body     []byte
	Empty    bool // an empty file: the connection is closed without an answer
	Close    bool // the client's connection is closed after it, and the answer says so
}
