package statspage

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strconv"
	"time"

	"weir/internal/base/ascii"
	"weir/internal/engine/backend"
	"weir/internal/engine/server"
	"weir/internal/engine/statcol"
	"weir/internal/lang/rule"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

// outcomes are what the page says about an action: the code that the redirect carries, and the text.
var outcomes = [...]struct{ code, class, text string }{
	{"DONE", "good", "The action was carried out."},
	{"NONE", "note", "Nothing has changed."},
	{"PART", "note", "The action was carried out for some servers only: the others are unknown, or their names are not unique in the backend."},
	{"ERRP", "bad", "The action was not carried out: the action, the backend or all of the servers are unknown, or a name is not unique."},
	{"EXCD", "bad", "The action was not carried out: the form does not fit the buffer. Try fewer servers at a time."},
	{"DENY", "bad", "The action was refused."},
	{"UNKN", "bad", "The outcome is not known."},
}

// actions are what the form offers: the values are those of the reference, which scripts send.
var actions = [...]struct{ name, text string }{
	{"ready", "ready: the server takes traffic"},
	{"drain", "drain: no new sessions"},
	{"maint", "maintenance: no traffic at all"},
}

// states are what actions ask of a server. The names of the past say when nothing was to be done.
var states = map[string]struct {
	to  statcol.State
	old bool
}{
	"ready": {statcol.Ready, false}, "enable": {statcol.Ready, true}, "start": {statcol.Ready, true},
	"drain": {statcol.Drain, false}, "stop": {statcol.Drain, true},
	"maint": {statcol.Maint, false}, "disable": {statcol.Maint, true},
}

// order is what a form asks for.
type order struct {
	action, backend string
	servers         []string
	token           string
	hasToken        bool
	empty           bool // a field has no value
}

// parseForm reads fields of a form, decoded.
func parseForm(body []byte) (o order) {
	for _, pair := range bytes.Split(body, []byte{'&'}) {
		name, value, _ := bytes.Cut(pair, []byte{'='})
		v := unescape(value)
		o.empty = o.empty || v == "" && (string(name) == "s" || string(name) == "b" || string(name) == "action")
		switch string(name) {
		case "s":
			o.servers = append(o.servers, v)
		case "b":
			o.backend = v
		case "action":
			o.action = v
		case "token":
			o.token, o.hasToken = v, true
		}
	}
	return o
}

// unescape decodes the value of a field of a form.
func unescape(v []byte) string {
	out := make([]byte, 0, len(v))
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case c == '+':
			out = append(out, ' ')
		case c == '%' && i+2 < len(v):
			n, err := strconv.ParseUint(string(v[i+1:i+3]), 16, 8)
			if err != nil {
				out = append(out, c)
				continue
			}
			out = append(out, byte(n))
			i += 2
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

// post carries out what a form asks for and sends the browser back to the page; false when the stream has another answer.
func (x *page) post(tx *model.Txn, c rule.Control, host statcol.Host, head *msg.Message) bool {
	wait := c.Timeout(model.TimeoutHTTPRequest)
	if wait <= 0 {
		wait = c.Timeout(model.TimeoutClient)
	}
	if !c.WaitBody(model.DirReq, wait, 0) {
		return false
	}
	code := "DENY"
	body, complete := c.Body(model.DirReq)
	switch o := parseForm(body); {
	case !x.isAdmin(tx) || !sameSite(tx.Req) || o.hasToken && !x.valid(o.token, time.Now()):
	case !complete:
		code = "EXCD"
	default:
		c.Offload(func() { code = x.execute(host, &o) })
	}
	head.SetStatus(303)
	head.SetReason([]byte("See Other"))
	head.AddString("cache-control", "no-cache")
	head.AddString("content-type", "text/plain")
	head.AddString("content-length", "0")
	head.Framing, head.HasCL, head.ContentLength = msg.Length, true, 0
	to := x.URI + ";st=" + code
	if s := scopeOf(uriOf(tx.Req)); s != "" {
		to += "?scope=" + s
	}
	head.AddString("location", to)
	return true
}

// sameSite reports whether a request comes from a page of this site, or from no page: browsers say where a form was, and a
// script says nothing.
func sameSite(m *msg.Message) bool {
	if v, ok := m.Get("sec-fetch-site"); ok && !ascii.EqualFoldString(v, "same-origin") && !ascii.EqualFoldString(v, "none") {
		return false
	}
	from, ok := m.Get("origin")
	if !ok {
		from, ok = m.Get("referer")
	}
	if !ok {
		return true
	}
	host, _ := m.Get("host")
	n := msg.SchemeLen(from)
	if n == 0 || len(host) == 0 {
		return false
	}
	from = from[n+len("://"):]
	return ascii.EqualFold(from[:msg.AuthorityLen(from)], host)
}

// execute changes the servers and returns the code of the outcome.
func (x *page) execute(host statcol.Host, o *order) string {
	state, known := states[o.action]
	admin, can := host.(statcol.Admin)
	var b *backend.Backend
	if o.backend != "" {
		b = find(host, o.backend)
	}
	switch {
	case o.empty, o.action != "" && !known, o.backend != "" && b == nil, !can:
		return "ERRP"
	case o.action == "", o.backend == "":
		return "NONE"
	}
	if !x.inScope(b.Name) {
		return "DENY"
	}
	changed, failed := 0, 0
	for _, name := range o.servers {
		s := serverOf(b, name)
		if s == nil {
			failed++
			continue
		}
		now, _ := host.AdminState(s)
		switch there := now == state.to || state.to == statcol.Maint && now == statcol.MaintConfig; {
		case there && state.old:
		case !there && admin.SetAdminState(s, state.to) != nil:
			failed++
		default:
			changed++
		}
	}
	switch {
	case failed > 0 && failed == len(o.servers):
		return "ERRP"
	case failed > 0:
		return "PART"
	case changed == 0:
		return "NONE"
	}
	return "DONE"
}

// find returns the backend of a name, or of an id behind '#'; nil when there is none or the name is not unique.
func find(host statcol.Host, name string) (found *backend.Backend) {
	id := 0
	if name[0] == '#' {
		id, _ = strconv.Atoi(name[1:]) // no proxy has the id 0
	}
	for _, b := range host.Backends() {
		if id > 0 && b.Conf.ID == id || id == 0 && b.Name == name {
			if found != nil {
				return nil
			}
			found = b
		}
	}
	return found
}

// serverOf returns the server of a name; nil when there is none or the name is not unique.
func serverOf(b *backend.Backend, name string) *server.Server {
	i := slices.IndexFunc(b.Servers, func(s *server.Server) bool { return s.Name == name })
	if i < 0 || slices.ContainsFunc(b.Servers[i+1:], func(s *server.Server) bool { return s.Name == name }) {
		return nil
	}
	return b.Servers[i]
}

// Tokens say that a form was part of a page of this process. A page is good for one to two periods.
const tokenPeriod = 12 * time.Hour

func (x *page) newKey() error {
	_, err := rand.Read(x.key[:])
	return err
}

// token is the token of a form made at now.
func (x *page) token(now time.Time) string {
	mac := hmac.New(sha256.New, x.key[:])
	var period [8]byte
	binary.BigEndian.PutUint64(period[:], uint64(now.Unix()/int64(tokenPeriod/time.Second)))
	mac.Write(period[:])
	mac.Write([]byte(x.px.Name))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:18])
}

func (x *page) valid(token string, now time.Time) bool {
	return hmac.Equal([]byte(token), []byte(x.token(now))) || hmac.Equal([]byte(token), []byte(x.token(now.Add(-tokenPeriod))))
}
