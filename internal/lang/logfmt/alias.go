package logfmt

import (
	"net/netip"
	"os"

	"weir/docs/compat"
	"weir/internal/base/registry"
	"weir/internal/model"
)

// Alias is a named item of log formats (manual 8.2.6, the table of aliases).
type Alias struct {
	Name  string
	Help  string
	Needs model.LogNeeds
	get   func(s source) value
}

// Aliases is the table of the program, without the special %o.
var Aliases = registry.New[*Alias]("log alias")

// Ledger compares the table with the names that HAProxy knows.
func Ledger() compat.Ledger {
	names := []string{"%o"}
	Aliases.All(func(n string, _ *Alias) bool {
		names = append(names, "%"+n)
		return true
	})
	return compat.Compare(compat.LogAlias, names)
}

// form is how the value of an alias is written.
type form uint8

const (
	formNone      form = iota // absent
	formEmpty                 // nothing at all
	formStr                   // s
	formBytes                 // b, as it is
	formCookie                // b, encoded in lines
	formPieces                // s, encoded, as a string of pieces
	formURI                   // b, encoded, as a string of pieces
	formRequest               // the whole request line
	formInt                   // n
	formMS                    // n, three digits in texts, two with X
	formPlus                  // n, with a '+' in texts when it is not complete
	formHex                   // n, with X at least four digits
	formPort                  // n, likewise
	formIP                    // the address that n selects
	formDate                  // the date that n selects, local, with milliseconds
	formDateUTC               // likewise, with UTC's offset
	formDateLocal             // likewise, with the offset of the local zone
	formTerm                  // the termination state, n characters of it: never quoted
	formBraces                // the captured fields that n selects, in braces; null without any
	formList                  // likewise, one by one
)

// What n selects. Small values are copied less than structures.
const (
	atAccept   = 0 // dates
	atRequest  = 1
	ofRequest  = 0 // captured fields
	ofResponse = 1
	ofClient   = 0 // addresses
	ofLocal    = 1
	ofServer   = 2
	ofSource   = 3 // the one that the server was reached from
)

// value is what an alias gives.
type value struct {
	form form
	more bool // formPlus
	n    int64
	s    string
	b    []byte
}

// source is what aliases read.
type source struct {
	f      *Format
	tx     *model.Txn // may be nil
	r      *model.LogRecord
	origin string
}

// originUnspec is %OG where nothing is logged.
const originUnspec = "unspec"

// origin is what %OG shows (manual 8.2.6).
func origin(r *model.LogRecord) string {
	switch {
	case r.ErrorMessage != "":
		return "sess_killed"
	case r.Failed():
		return "sess_error"
	}
	switch s := r.At(); s {
	case model.StepAccept:
		return "txn_accept"
	case model.StepRequest:
		return "txn_request"
	case model.StepConnect:
		return "txn_connect"
	case model.StepResponse:
		return "txn_response"
	case model.StepClose:
		return "txn_close"
	default:
		return s.String()
	}
}

func init() {
	const (
		early = model.LogNeeds(0)
		req   = model.LogAtRequest
		res   = model.LogAtResponse
		end   = model.LogAtEnd
	)
	for _, a := range []Alias{
		{"T", "date of the accept, UTC", early, func(source) value { return value{form: formDateUTC, n: atAccept} }},
		{"Tl", "date of the accept, local", early, func(source) value { return value{form: formDateLocal, n: atAccept} }},
		{"Ts", "date of the accept, seconds since 1970", early, func(s source) value { return value{form: formHex, n: s.r.Accept.Unix()} }},
		{"t", "date of the accept, local, with milliseconds", early, func(source) value { return value{form: formDate, n: atAccept} }},
		{"ms", "milliseconds of the accept's date", early, func(s source) value { return value{form: formMS, n: int64(s.r.Accept.Nanosecond() / 1e6)} }},
		{"tr", "date of the request, local, with milliseconds", early, func(source) value { return value{form: formDate, n: atRequest} }},
		{"trg", "date of the request, UTC", early, func(source) value { return value{form: formDateUTC, n: atRequest} }},
		{"trl", "date of the request, local", early, func(source) value { return value{form: formDateLocal, n: atRequest} }},

		{"Ta", "active time of the request, ms", end, func(s source) value { return plus(s.r.ASAP, active(&s.r.Timers)) }},
		{"Tc", "time to connect, ms", end, func(s source) value { return timer(s.r.Timers.Connect) }},
		{"Td", "time to transfer the data, ms", end, func(s source) value { return timer(transfer(s.r)) }},
		{"Th", "time of the handshakes, ms", end, func(s source) value { return timer(s.r.Timers.Handshake) }},
		{"Ti", "idle time before the request, ms", end, func(s source) value { return timer(s.r.Timers.Idle) }},
		{"Tq", "time from the accept to the end of the request, ms", end, func(s source) value { return timer(untilRequest(&s.r.Timers)) }},
		{"TR", "time to receive the request, ms", end, func(s source) value { return timer(s.r.Timers.Request) }},
		{"Tr", "time of the server to respond, ms", end, func(s source) value { return timer(s.r.Timers.Response) }},
		{"Tt", "total time, ms", end, func(s source) value { return plus(s.r.ASAP, s.r.Timers.Total/1e6) }},
		{"Tu", "time as the user sees it, ms", end, func(s source) value {
			return plus(s.r.ASAP, max(s.r.Timers.Total-max(s.r.Timers.Idle, 0), 0)/1e6)
		}},
		{"Tw", "time in queues, ms", end, func(s source) value { return timer(s.r.Timers.Queue) }},

		{"B", "bytes sent to the client", end, func(s source) value { return plus(s.r.ASAP, s.r.BytesToClient) }},
		{"U", "bytes received from the client", end, func(s source) value { return number(s.r.BytesToServer) }},
		{"CC", "captured cookie of the request", res, func(s source) value { return cookie(s.r.CapturedReqCookie) }},
		{"CS", "captured cookie of the response", res, func(s source) value { return cookie(s.r.CapturedResCookie) }},
		{"H", "name of the host", early, hostname},
		{"HM", "method", req, func(s source) value { return request(s, s.method) }},
		{"HP", "URI without its query", req, func(s source) value { return request(s, s.uriPath) }},
		{"HPO", "path", req, func(s source) value { return request(s, s.path) }},
		{"HQ", "query with its question mark", req, func(s source) value { return request(s, s.query) }},
		{"HU", "URI", req, func(s source) value { return request(s, s.uri) }},
		{"HV", "version of HTTP", req, version},
		{"ID", "unique ID", end | model.LogUnique, uniqueID},
		{"ST", "status", res, status},
		{"ac", "connections of the process", end, func(s source) value { return number(s.r.ActConn) }},
		{"b", "name of the backend", early, func(s source) value { return value{form: formStr, s: backend(s.r)} }},
		{"bc", "connections of the backend", end, func(s source) value { return number(s.r.BeConn) }},
		{"bi", "address that the server was reached from", res | model.LogServer, func(s source) value { return s.address(ofSource) }},
		{"bp", "port that the server was reached from", res | model.LogServer, func(s source) value { return s.port(ofSource) }},
		{"bq", "requests before this one in the queue of the backend", end, func(s source) value { return number(s.r.BeQueue) }},
		{"ci", "address of the client", res, func(s source) value { return s.address(ofClient) }},
		{"cp", "port of the client", res, func(s source) value { return s.port(ofClient) }},
		{"f", "name of the frontend", early, func(s source) value { return value{form: formStr, s: s.r.Frontend} }},
		{"fc", "connections of the frontend", end, func(s source) value { return number(s.r.FeConn) }},
		{"fi", "address that the client connected to", res | model.LogLocal, func(s source) value { return s.address(ofLocal) }},
		{"fp", "port that the client connected to", res | model.LogLocal, func(s source) value { return s.port(ofLocal) }},
		{"ft", "name of the frontend, '~' after it with TLS", early, func(s source) value {
			return value{form: formPieces, s: s.r.Frontend, more: s.r.TLS}
		}},
		{"lc", "lines that the frontend has written", early, func(s source) value { return value{form: formHex, n: int64(s.r.LogCount)} }},
		{"hr", "captured fields of the request", res, func(source) value { return value{form: formBraces, n: ofRequest} }},
		{"hrl", "captured fields of the request, CLF", res, func(source) value { return value{form: formList, n: ofRequest} }},
		{"hs", "captured fields of the response", res, func(source) value { return value{form: formBraces, n: ofResponse} }},
		{"hsl", "captured fields of the response, CLF", res, func(source) value { return value{form: formList, n: ofResponse} }},
		{"OG", "what made the line", early, func(s source) value { return value{form: formStr, s: s.origin} }},
		{"pid", "number of the process", early, func(source) value { return value{form: formHex, n: int64(os.Getpid())} }},
		{"r", "request line", req, requestLine},
		{"rc", "repeated attempts to connect", end, func(s source) value { return plus(s.r.Redispatched, int64(s.r.Retries)) }},
		{"rt", "number of the request", req, serial},
		{"s", "name of the server", res, func(s source) value { return value{form: formStr, s: serverName(s.r)} }},
		{"sc", "connections of the server", end, func(s source) value { return number(s.r.SrvConn) }},
		{"si", "address of the server", res | model.LogServer, func(s source) value { return s.address(ofServer) }},
		{"sp", "port of the server", res | model.LogServer, func(s source) value { return s.port(ofServer) }},
		{"sq", "requests before this one in the queue of the server", end, func(s source) value { return number(s.r.SrvQueue) }},
		{"sslc", "cipher of TLS", res, func(s source) value { return optional(s.r.TLSCipher) }},
		{"sslv", "version of TLS", res, func(s source) value { return optional(s.r.TLSVersion) }},
		{"ts", "termination state", end, func(s source) value { return value{form: formTerm, n: 2} }},
		{"tsc", "termination state with the cookies'", early, func(s source) value { return value{form: formTerm, n: 4} }},
	} {
		Aliases.Register(a.Name, &a, 1)
	}
}

func number(n int64) value          { return value{form: formInt, n: n} }
func plus(more bool, n int64) value { return value{form: formPlus, n: n, more: more} }

// timer is a time in milliseconds, -1 when the event did not happen.
func timer(ns int64) value {
	if ns < 0 {
		return number(-1)
	}
	return number(ns / 1e6)
}

func optional(s string) value {
	if s == "" {
		return value{}
	}
	return value{form: formStr, s: s}
}

func cookie(b []byte) value {
	if len(b) == 0 {
		return value{}
	}
	return value{form: formCookie, b: b}
}

// untilRequest is Tq of manual 8.4.
func untilRequest(t *model.Timers) int64 {
	if t.Handshake < 0 || t.Idle < 0 || t.Request < 0 {
		return -1
	}
	return t.Handshake + t.Idle + t.Request
}

// transfer is Td of manual 8.4.
func transfer(r *model.LogRecord) int64 {
	t := &r.Timers
	if r.HTTP && t.Response < 0 || t.Connect < 0 {
		return -1
	}
	return max(t.Total-max(t.Handshake, 0)-max(t.Idle, 0)-max(t.Request, 0)-max(t.Queue, 0)-t.Connect-max(t.Response, 0), 0)
}

func status(s source) value {
	n := int64(s.r.Status)
	if !s.r.HTTP || s.r.ErrorMessage != "" {
		n = max(n, 0)
	}
	return number(n)
}

func hostname(s source) value {
	if s.tx == nil {
		return value{}
	}
	return optional(s.tx.S.Process().Hostname())
}

func serial(s source) value {
	if s.tx == nil {
		return value{form: formHex}
	}
	return value{form: formHex, n: int64(s.tx.S.Serial())}
}

func uniqueID(s source) value {
	if s.tx == nil || s.f.use == ForID {
		return value{}
	}
	id := s.tx.S.UniqueID()
	if len(id) == 0 {
		return value{}
	}
	return value{form: formBytes, b: id}
}

// at is the address that a number selects, invalid without one.
func (s source) at(which int64) netip.AddrPort {
	switch which {
	case ofClient:
		return s.r.Client
	case ofServer:
		return s.r.Server
	case ofSource:
		return s.r.ServerLocal
	}
	if !s.r.ClientLocal.IsValid() && s.tx != nil {
		return s.tx.S.ClientLocal()
	}
	return s.r.ClientLocal
}

// unix reports whether a side is reached through a unix socket.
func (s source) unix(which int64) bool {
	if which <= ofLocal {
		return s.r.UnixClient
	}
	return s.r.UnixServer
}

func (s source) address(which int64) value {
	switch {
	case s.unix(which):
		return value{form: formStr, s: "unix"}
	case !s.at(which).IsValid():
		return value{}
	}
	return value{form: formIP, n: which}
}

// port is a port; for a client on a unix socket the number of the listener stands for it.
func (s source) port(which int64) value {
	a := s.at(which)
	switch {
	case s.unix(which) && which <= ofLocal:
		return number(int64(s.r.UnixID))
	case s.unix(which):
		return number(0)
	case !a.IsValid():
		return value{}
	}
	return value{form: formPort, n: int64(a.Port())}
}

func (a *Alias) value(f *Format, tx *model.Txn, r *model.LogRecord, origin string) value {
	return a.get(source{f, tx, r, origin})
}
