package cookie

import (
	"weir/internal/model"
	"weir/internal/wire/httpcache"
	"weir/internal/wire/msg"
)

// Change is what happened to the cookie in a response: the fourth letter of a termination state (manual 8.5).
type Change byte

// Changes.
const (
	None      Change = 'N'
	Passed    Change = 'P' // the server set it, and it stayed
	Deleted   Change = 'D'
	Rewritten Change = 'R' // or given a prefix
	Inserted  Change = 'I'
	Updated   Change = 'U'
)

// Given is what a response is edited by.
type Given struct {
	Server string // the server's cookie, "" without one
	State  State  // of the request's cookie
	Pinned bool   // that cookie has chosen the server
	Stale  bool   // it must be set again all the same
	Apart  bool   // something else has chosen the server: nothing is set
	First  int64  // when the client's cookie was set first; 0: now
	Now    int64  // seconds of the epoch
	Method msg.Method
}

// Respond edits the cookie in a server's response.
func Respond(p *model.Persistence, res *msg.Message, g *Given) Change {
	change := own(p, res, g)
	if p.Mode != model.PersistInsert || g.Apart || change == Passed ||
		g.Pinned && !g.Stale || p.PostOnly && g.Method != msg.POST {
		return change
	}
	shared := p.NoCache && httpcache.Shared(g.Method, res)
	room := len(p.Name) + len(g.Server) + len(p.Attributes) + 64 // for the rest
	res.AddView(res.CopyString("set-cookie"), value(p, res.Alloc(room)[:0], g))
	if shared {
		res.AddString("cache-control", "private")
	}
	if g.State == Valid {
		return Updated
	}
	return Inserted
}

// value makes a Set-Cookie value. A server without a cookie takes away what the client has.
func value(p *model.Persistence, dst []byte, g *Given) []byte {
	dst = append(append(dst, p.Name...), '=')
	if g.Server == "" {
		dst = append(dst, "; Expires=Thu, 01-Jan-1970 00:00:01 GMT"...)
	} else {
		dst = append(dst, g.Server...)
		if p.MaxIdle > 0 || p.MaxLife > 0 {
			dst = appendDate(append(dst, dateMark), g.Now)
		}
		if p.MaxLife > 0 {
			first := g.First
			if first == 0 || g.State != Valid {
				first = g.Now
			}
			dst = appendDate(append(dst, dateMark), first)
		}
	}
	return append(append(dst, "; path=/"...), p.Attributes...)
}

// own treats the cookies of that name that the server sets itself.
func own(p *model.Persistence, res *msg.Message, g *Given) Change {
	change := None
	for i := res.Find("set-cookie", 0); i >= 0; i = res.Find("set-cookie", i+1) {
		v := res.Fields[i].Value
		c := cut(v, 0)
		if !c.is(v, p.Name) {
			continue
		}
		switch {
		case p.Preserve:
			change = Passed
		case p.Mode == model.PersistInsert, p.Indirect && g.State == Valid:
			res.DelAt(i)
			i--
			change = Deleted
		case p.Mode == model.PersistRewrite && g.Server != "":
			res.Fields[i].Value = join(res, v[c.name:c.nameEnd], g.Server, "", v[c.valEnd:])
			change = Rewritten
		case p.Mode == model.PersistPrefix && g.Server != "":
			res.Fields[i].Value = join(res, v[c.name:c.nameEnd], g.Server, string(prefixEnd), v[c.val:])
			change = Rewritten
		default:
			change = Passed
		}
	}
	return change
}

// join makes "name=server" followed by mark and rest, in memory of m.
func join(m *msg.Message, name []byte, server, mark string, rest []byte) []byte {
	b := m.Alloc(len(name) + len(server) + len(mark) + len(rest) + 1)[:0]
	b = append(append(append(b, name...), '='), server...)
	return append(append(b, mark...), rest...)
}
