package model

import "time"

// PersistMode is how a persistence cookie gets to the client.
type PersistMode uint8

// Modes of "cookie".
const (
	PersistNone    PersistMode = iota // without "indirect" besides: nothing is done
	PersistInsert                     // weir sets the cookie
	PersistRewrite                    // weir sets the value of the server's cookie
	PersistPrefix                     // weir puts the server's name before the value of the server's cookie
)

// Persistence is "cookie <name> ..." (manual 4.2): which cookie keeps a client on its server.
type Persistence struct {
	Name             string
	Mode             PersistMode
	Indirect         bool // servers do not see it, clients do not get what they have
	NoCache          bool // responses that set it are not to be shared
	PostOnly         bool // set on responses to POST only
	Preserve         bool // what the server sets itself stays
	Dynamic          bool // servers without a cookie get one made from their address and Proxy.DynamicCookieKey
	Attributes       string
	MaxIdle, MaxLife time.Duration // whole seconds; 0: any time
}

// Active reports whether p asks for anything; nil does not.
func (p *Persistence) Active() bool { return p != nil && (p.Mode != PersistNone || p.Indirect) }

// PersistRule is a force-persist or ignore-persist line; the first whose condition holds decides.
type PersistRule struct {
	Cond   *Condition
	Ignore bool
}
