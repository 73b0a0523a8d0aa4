// Package statspage is the statistics page of a proxy (manual 4.2, "stats
// uri" and the keywords beside it): the report in HTML, CSV, JSON and the
// typed form, and the form by which administrators change the state of
// servers. It is an applet: the page is made row by row while the client takes
// it, and is never in memory whole.
package statspage

import (
	"bytes"
	"crypto/subtle"
	"encoding/base64"
	"time"

	"weir/internal/base/ascii"
	"weir/internal/lang/rule"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

// Conf is what the "stats" lines of a proxy say.
type Conf struct {
	Owner *model.Proxy // whose lines these are: a defaults section may be shared
	URI   string       // prefix of the URIs that are answered
	Realm string       // "": the default
	Users []User       // stats auth
	Scope []string     // stats scope; "." is the proxy itself
	// Refresh is what browsers are asked to wait before they load the page again; 0: they are not.
	Refresh time.Duration

	ShowVersion, Legends, Modules bool
	ShowNode, ShowDesc            bool
	Node, Desc                    string             // texts of their own; "": the global section's
	Admin                         []*model.Condition // stats admin: the first that holds gives the right to change servers
	Rules                         rule.Set           // stats http-request
	key                           [32]byte           // of the tokens in forms
}

// User is one account of "stats auth".
type User struct{ Name, Password string }

// Defaults (manual 4.2, "stats enable").
const (
	DefaultURI   = "/haproxy?stats"
	DefaultRealm = "HAProxy Statistics"
)

// Key is where a proxy keeps its Conf.
var Key = &model.SlotKey[*Conf]{Name: "stats"}

// Of returns the statistics of a proxy, for writing: those of a defaults section are left behind whole, as the reference
// does, by the first line of the proxy's own.
func Of(p *model.Proxy) *Conf {
	c := Key.Get(&p.Slots)
	if c == nil || c.Owner != p {
		c = &Conf{Owner: p, URI: DefaultURI}
		Key.Set(&p.Slots, c)
	}
	return c
}

// Attach makes p answer requests for its statistics, if it has any; at the end of the check stage.
func Attach(p *model.Proxy) error {
	c := Key.Get(&p.Slots)
	if c == nil || p.Mode != model.ModeHTTP {
		return nil
	}
	x := &page{Conf: c, px: p}
	if err := x.newKey(); err != nil {
		return err
	}
	s := rule.Of(p)
	s.Intercept = append(s.Intercept, x)
	return nil
}

// page is the statistics page of one proxy.
type page struct {
	*Conf
	px *model.Proxy
}

// Intercept answers requests for the page; see rule.Interceptor.
func (x *page) Intercept(tx *model.Txn, c rule.Control) rule.Outcome {
	m := tx.Req
	if m.Method != msg.GET && m.Method != msg.HEAD && m.Method != msg.POST {
		return rule.Next
	}
	if !bytes.HasPrefix(uriOf(m), []byte(x.URI)) {
		return rule.Next
	}
	if len(x.Users) > 0 && !x.authorized(m) {
		c.Respond(rule.Challenge(tx, c, x.realm()), rule.EndLocal)
		return rule.Done
	}
	if c.RunSet(x.Rules) == rule.Done {
		return rule.Done
	}
	c.Serve(x)
	return rule.Done
}

// LogName stands for the page in logs.
func (x *page) LogName() string { return "<STATS>" }

func (x *page) realm() string {
	if x.Realm != "" {
		return x.Realm
	}
	return DefaultRealm
}

// uriOf is the target without a scheme and an authority.
func uriOf(m *msg.Message) []byte {
	if p := m.URI().PathQuery; len(p) > 0 {
		return p
	}
	return m.Target
}

// authorized checks the name and password of a request against the accounts.
func (x *page) authorized(m *msg.Message) bool {
	v, ok := m.Get("authorization")
	if !ok {
		v, ok = m.Get("proxy-authorization")
	}
	if !ok || !ascii.HasPrefixFold(v, "basic ") {
		return false
	}
	text, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(v[len("basic "):])))
	if err != nil {
		return false
	}
	right := 0
	for _, u := range x.Users {
		right |= subtle.ConstantTimeCompare(text, []byte(u.Name+":"+u.Password))
	}
	return right == 1
}
