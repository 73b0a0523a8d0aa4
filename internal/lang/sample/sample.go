// Package sample is the expression language's core: typed values are fetched
// from a transaction and go through converters (manual, chapter 7.3).
//
// Fetches and converters register themselves in init, each from the file that
// implements it. Parse compiles a text such as
//
//	req.hdr(host),lower,word(1,:)
//
// once to a flat program that Expr.Eval runs without allocating. Values are
// views: of the message, of the configuration, or of the transaction's scratch
// memory; see [model.Value].
package sample

import (
	"fmt"
	"strings"

	"weir/docs/compat"
	"weir/internal/base/registry"
	"weir/internal/model"
)

// Fetch describes a sample fetch.
type Fetch struct {
	Name string
	Args string // as in the reference's keyword dump: "string[,integer]"
	// Out is the type of the result; TypeAny when it is known at run time only.
	Out   model.Type
	Valid Places
	Help  string
	// Check, if set, judges the arguments once and may prepare Arg.Data.
	Check func(c *ArgCheck, a []Arg) error
	// Get makes the value; false: there is none. When more data could change that, it sets tx.Wait, unless tx.Final.
	Get func(tx *model.Txn, a []Arg, v *model.Value) bool
	// Next, if set, makes the fetch iterable: conditions try each occurrence. It is called with the state that it left
	// in it, 0 at first; false: there are no more.
	Next func(tx *model.Txn, a []Arg, v *model.Value, state *int) bool

	sig signature
}

// Conv describes a converter.
type Conv struct {
	Name    string
	Args    string
	In, Out model.Type // Out TypeAny: known at run time; In TypeAny: takes what comes
	Help    string
	Check   func(c *ArgCheck, a []Arg) error
	// Run changes v; false: there is no value. v.B must not be written through.
	Run func(tx *model.Txn, a []Arg, v *model.Value) bool
	// Same: the type that goes in comes out (In and Out are TypeAny).
	Same bool

	sig signature
}

var (
	// Fetches and Convs are the tables of the program.
	Fetches = registry.New[*Fetch]("sample fetch")
	Convs   = registry.New[*Conv]("converter")
)

// AddFetch registers fetches; it is meant for init functions.
func AddFetch(list ...Fetch) {
	for i := range list {
		f := &list[i]
		f.sig = mustSignature(f.Name, f.Args)
		Fetches.Register(f.Name, f, 1)
	}
}

// AddConv registers converters; it is meant for init functions.
func AddConv(list ...Conv) {
	for i := range list {
		c := &list[i]
		c.sig = mustSignature(c.Name, c.Args)
		Convs.Register(c.Name, c, 1)
	}
}

// Places is a set of places where a fetch can find its data.
type Places uint32

// The places, in the order of the reference's keyword dump.
const (
	FrontTCPConnection Places = 1 << iota // tcp-request connection
	FrontTCPSession                       // tcp-request session
	FrontTCPContent                       // frontend tcp-request content
	FrontHTTPRequest                      // frontend http-request
	FrontHTTPRequestBody
	FrontUseBackend
	BackTCPContent
	BackHTTPRequest
	BackHTTPRequestBody
	BackUseServer // use-server, balance, stick match
	BackSource    // server source selection
	BackTCPResponse
	BackHTTPResponse
	BackHTTPResponseBody
	BackStickStore
	FrontTCPResponse
	FrontHTTPResponse
	FrontHTTPResponseBody
	Logs
	BackCheck
	ConfigParser
	Runtime // runtime commands
	placeEnd
)

var placeNames = [...]string{
	"tcp-request connection", "tcp-request session", "tcp-request content of a frontend", "http-request of a frontend",
	"http-request of a frontend with the body", "use_backend", "tcp-request content of a backend", "http-request of a backend",
	"http-request of a backend with the body", "server selection", "source address selection", "tcp-response content of a backend",
	"http-response of a backend", "http-response of a backend with the body", "storing in stick tables",
	"tcp-response content of a frontend", "http-response of a frontend", "http-response of a frontend with the body", "logs",
	"tcp-check", "the configuration parser", "runtime commands",
}

// String names the places of the set.
func (p Places) String() string {
	var names []string
	for i, n := range placeNames {
		if p&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return strings.Join(names, ", ")
}

// ParsePlaces reads the reference's notation: 22 characters, Y for a place of the set.
func ParsePlaces(s string) Places {
	var p Places
	for i := range len(s) {
		if s[i] == 'Y' {
			p |= 1 << i
		}
	}
	return p
}

// Sets of places that many fetches share.
const (
	Always  Places = placeEnd - 1                                   // internal state that never depends on traffic
	AnyConn        = Always &^ (ConfigParser)                       // needs the process
	Client         = Always &^ (BackCheck | ConfigParser | Runtime) // needs a client connection, up to the log
	// Request and Response: needs the message, while it is there.
	Request  = FrontTCPContent | FrontHTTPRequest | FrontHTTPRequestBody | FrontUseBackend | BackTCPContent | BackHTTPRequest | BackHTTPRequestBody | BackUseServer | BackSource
	Response = BackTCPResponse | BackHTTPResponse | BackHTTPResponseBody | BackStickStore | FrontTCPResponse | FrontHTTPResponse | FrontHTTPResponseBody
)

// MustSet reads the notation of the inventory for use in tables of fetches; it panics on a wrong length, in init.
func MustSet(s string) Places {
	if len(s) != len(placeNames) {
		panic(fmt.Sprintf("places %q: want %d characters", s, len(placeNames)))
	}
	return ParsePlaces(s)
}

// Ledger compares the registered fetches and converters with the names that HAProxy knows.
func Ledger() []compat.Ledger {
	return []compat.Ledger{compat.Compare(compat.Fetch, Fetches.Names()), compat.Compare(compat.Converter, Convs.Names())}
}
