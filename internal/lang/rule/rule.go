// Package rule holds rule sets: lists of conditions and actions that a proxy
// runs on connections, requests and responses (manual 4.2 to 4.4, the
// tcp-request, tcp-response and http-* families).
//
// Actions register themselves in init, each from the file that implements it;
// the keywords of the rule families live in kw. The engine runs sets at the
// moments that their kinds name and offers, as Control, what actions may do
// to a stream.
package rule

import (
	"net/netip"
	"time"

	"weir/internal/base/registry"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

// Kind is a family of rules.
type Kind uint8

// Kinds of rule sets.
const (
	TCPConnection Kind = iota
	TCPSession
	TCPContent
	TCPResponse
	HTTPRequest
	HTTPResponse
	HTTPAfterResponse
	NumKinds
)

var kindNames = [NumKinds]string{
	"tcp-request connection", "tcp-request session", "tcp-request content", "tcp-response content",
	"http-request", "http-response", "http-after-response",
}

// String returns the keyword that begins rules of the kind.
func (k Kind) String() string { return kindNames[k] }

// Set returns the set that holds k alone.
func (k Kind) Set() Kinds { return 1 << k }

// HTTP reports whether rules of the kind see HTTP messages.
func (k Kind) HTTP() bool { return k >= HTTPRequest }

// Dir is the side of a stream whose messages the kind's rules see.
func (k Kind) Dir() model.Dir {
	if k == TCPResponse || k == HTTPResponse || k == HTTPAfterResponse {
		return model.DirRes
	}
	return model.DirReq
}

// Places says where a sample fetch must be valid to be used by rules of the kind in a proxy of those sides.
func (k Kind) Places(s model.Side) sample.Places {
	fe, be := [NumKinds]sample.Places{
		sample.FrontTCPConnection, sample.FrontTCPSession, sample.FrontTCPContent, sample.FrontTCPResponse,
		sample.FrontHTTPRequest, sample.FrontHTTPResponse, sample.FrontHTTPResponse,
	}[k], [NumKinds]sample.Places{
		0, 0, sample.BackTCPContent, sample.BackTCPResponse, sample.BackHTTPRequest, sample.BackHTTPResponse, sample.BackHTTPResponse,
	}[k]
	var p sample.Places
	if s&(model.SideFrontend|model.SideDefaults) != 0 {
		p |= fe
	}
	if s&(model.SideBackend|model.SideDefaults) != 0 {
		p |= be
	}
	return p
}

// Kinds is a set of kinds.
type Kinds uint8

// Sets that many actions share.
const (
	AnyTCPRequest = 1<<TCPConnection | 1<<TCPSession | 1<<TCPContent
	AnyTCP        = AnyTCPRequest | 1<<TCPResponse
	AnyHTTP       = 1<<HTTPRequest | 1<<HTTPResponse | 1<<HTTPAfterResponse
	AnyKind       = AnyTCP | AnyHTTP
)

// Outcome is what an action, or a rule set, leads to.
type Outcome uint8

const (
	// Next: the rules after this one decide.
	Next Outcome = iota
	// Stop: the set is done, the stream goes on (accept, allow).
	Stop
	// Done: the stream has its answer, or its end; nothing else is to happen.
	Done
	// Again: data is missing; the engine waits for more and calls again.
	Again
	// Failed: the action could not be carried out (a value that does not
	// exist or does not fit). In strict mode that is an internal error, else
	// it is counted and the next rule runs.
	Failed
	// Fault: an internal error; the stream answers 500.
	Fault
	// Invalid: the message is not acceptable; the stream answers 400.
	Invalid
)

// Runner is a compiled action.
type Runner interface {
	Run(tx *model.Txn, c Control) Outcome
}

// RunFunc is a function as a Runner.
type RunFunc func(tx *model.Txn, c Control) Outcome

// Run calls f.
func (f RunFunc) Run(tx *model.Txn, c Control) Outcome { return f(tx, c) }

// Action describes an action of rule sets.
type Action struct {
	// Name is the action's word; of words with parentheses, such as
	// set-var(txn.a), what stands before them.
	Name string
	In   Kinds
	// Paren: the name is followed by parentheses, whose text Parser.Paren has.
	Paren bool
	// Args sketches the arguments, Help says in one line what the action does.
	Args, Help string
	// Parse reads the arguments. It returns nil after an error, which it has reported.
	Parse func(p *Parser) Runner
	// Final actions end the set whenever their condition holds: rules after an unconditional one are never reached.
	Final bool
}

// Actions is the table of the program.
var Actions = registry.New[*Action]("action")

// Add registers actions; it is meant for init functions. One name may be registered once for each kind.
func Add(list ...Action) {
	for i := range list {
		a := &list[i]
		for k := range NumKinds {
			if a.In&k.Set() != 0 {
				Actions.Register(k.String()+" "+a.Name, a, 1)
			}
		}
	}
}

// End says how an answer made by a rule ends the stream, for the log and the counters.
type End uint8

// Ends.
const (
	EndLocal     End = iota // answered here on purpose: "LR", "LH"
	EndDenied               // refused: "PR", "PH"; counted as denied
	EndTarpit               // refused after a wait: "PT"
	EndChallenge            // credentials are asked for: "PR"; counted as answered on purpose
)

// Control is what an action may do to the stream it runs on. The engine
// implements it. Calls that wait park the stream's fiber; the loop goes on.
type Control interface {
	model.Stream

	// Page returns the answer that stands for a status here: the proxy's own or the built-in one.
	Page(status int) *model.ErrorPage
	// Respond answers with a page and ends the stream; the caller returns Done.
	Respond(p *model.ErrorPage, how End)
	// Tarpit waits for "timeout tarpit" and then answers; the caller returns Done.
	Tarpit(p *model.ErrorPage)
	// Reject closes the client's connection without an answer; the caller returns Done.
	Reject()
	// SilentDrop lets the client's connection vanish without a packet; ttl above 0 sends a reset that dies on the way
	// instead. The caller returns Done.
	SilentDrop(ttl int)
	// CloseServer closes the server's connection at once (tcp-response content close); the caller returns Done.
	CloseServer()
	// Interim sends an informational response (1xx) with one field.
	Interim(status int, name string, value []byte)

	// Pause waits.
	Pause(d time.Duration)
	// WaitBody waits until a body is complete, or until at least n bytes of it have come (n > 0), or as much as fits the
	// buffer, for d at most. False: the time is over; an answer has been given and the caller returns Done.
	WaitBody(dir model.Dir, d time.Duration, n int64) bool
	// Buffered is how much of a body is held back, in bytes: it shares the buffer with the head.
	Buffered(dir model.Dir) int64
	// Offload runs fn on another thread while the stream waits.
	Offload(fn func())

	SetClient(a netip.AddrPort)
	SetClientLocal(a netip.AddrPort)
	SetTimeout(k model.TimeoutKind, d time.Duration)
	SetLogLevel(level int) // syslog level 0 to 7; -1: nothing is logged
	SetNice(n int)
	// SetMark and SetTOS set a socket option of the client's connection, or of the server connections to come (back).
	SetMark(back bool, mark uint32)
	SetTOS(back bool, tos uint8)
	SetRetries(n int)
	SetPriority(class, offset int)
	DisableRetry()
	// Log writes a log line now (do-log), as that step of the profile says; nil: of each target's own.
	Log(step model.LogStep, profile *model.LogProfile)
	// SwitchMode turns a TCP stream into an HTTP one (switch-mode http); false when it is one already or data is gone.
	SwitchMode(proto string) bool
	// ExpectProxy and ExpectNetScaler ask for a header before a new connection's data (expect-proxy, expect-netscaler-cip).
	ExpectProxy()
	ExpectNetScaler()
	// Config is the configuration that the stream runs under.
	Config() *model.Config
	// Serve lets an applet answer the request; the caller returns Done.
	Serve(a Applet)
	// RunSet runs a rule set of the request's that stands outside of the proxy's own: Next and Stop let the stream go on,
	// with Done it has its answer.
	RunSet(set Set) Outcome
}

// Rule is one compiled line.
type Rule struct {
	Pos    model.Position
	Action string
	Cond   *model.Condition // nil: always
	Run    Runner
}

// Set is a compiled rule set of one kind.
type Set []Rule

// Result is how the run of a set ended.
type Result struct {
	Outcome Outcome // Next: all rules were run; Stop, Done, Again, Fault
	Rule    *Rule   // the rule that ended it; nil for Next
	Failed  int     // actions that failed and did not matter
}

// Run evaluates the rules from *at on. A rule whose regular expressions cost more than the transaction may spend is a fault,
// whatever strict-mode says: it is not known whether it holds. After Again, which leaves *at at the rule that needs more data, the caller waits and
// calls again; with tx.Final set there is no Again.
func (s Set) Run(tx *model.Txn, c Control, at *int) (r Result) {
	strict := true
	for ; *at < len(s); *at++ {
		u := &s[*at]
		mark := tx.Scratch.Mark()
		tx.Wait = false
		if u.Cond != nil {
			v := u.Cond.Match(tx)
			if tx.Steps.Spent() {
				return unknown(tx, u, r)
			}
			switch v {
			case model.Missing:
				tx.Scratch.Release(mark)
				if !tx.Final {
					r.Outcome, r.Rule = Again, u
					return r
				}
				continue
			case model.Fail:
				tx.Scratch.Release(mark)
				continue
			}
		}
		if m, ok := u.Run.(strictMode); ok {
			strict = bool(m)
			tx.Scratch.Release(mark)
			continue
		}
		o := u.Run.Run(tx, c)
		tx.Scratch.Release(mark)
		if tx.Steps.Spent() {
			return unknown(tx, u, r)
		}
		switch o {
		case Next:
		case Failed:
			if strict {
				r.Outcome, r.Rule = Fault, u
				return r
			}
			r.Failed++
		case Again:
			if tx.Final {
				continue
			}
			r.Outcome, r.Rule = Again, u
			return r
		default:
			r.Outcome, r.Rule = o, u
			return r
		}
	}
	return r
}

// unknown ends a run at a rule whose outcome was too costly to find out. The answer that follows has a stock of its own.
func unknown(tx *model.Txn, u *Rule, r Result) Result {
	tx.Steps.Refill()
	r.Outcome, r.Rule = Fault, u
	return r
}

// Sets are the rule sets of a proxy. They lie in its slots.
type Sets struct {
	Of [NumKinds]Set
	// Redirect are the "redirect" lines, which run after the http-request rules.
	Redirect Set
	// Intercept are asked between the http-request rules and the redirects.
	Intercept []Interceptor
	// InspectDelay bounds how long content rules wait for data (tcp-request inspect-delay, tcp-response inspect-delay).
	InspectDelay, ResponseInspectDelay time.Duration
}

// Key finds the rule sets of a proxy.
var Key = model.SlotKey[*Sets]{Name: "rules"}

// Of returns the rule sets of a proxy, never nil.
func Of(p *model.Proxy) *Sets {
	s := Key.Get(&p.Slots)
	if s == nil {
		s = new(Sets)
		Key.Set(&p.Slots, s)
	}
	return s
}
