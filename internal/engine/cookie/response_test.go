package cookie

import (
	"testing"
	"time"

	"weir/internal/model"
	"weir/internal/wire/msg"
)

var (
	insert  = model.Persistence{Name: "SRV", Mode: model.PersistInsert}
	rewrite = model.Persistence{Name: "SRV", Mode: model.PersistRewrite}
	prefix  = model.Persistence{Name: "SRV", Mode: model.PersistPrefix}
)

func with(p model.Persistence, change func(*model.Persistence)) *model.Persistence {
	change(&p)
	return &p
}

// What the reference does to a response that sets the given cookies.
func TestRespond(t *testing.T) {
	indirect := with(insert, func(p *model.Persistence) { p.Indirect = true })
	preserve := with(insert, func(p *model.Persistence) { p.Preserve = true })
	postOnly := with(insert, func(p *model.Persistence) { p.PostOnly = true })
	dates := with(insert, func(p *model.Persistence) { p.MaxIdle, p.MaxLife = time.Minute, time.Hour })
	lives := with(insert, func(p *model.Persistence) { p.MaxLife = time.Hour })
	idles := with(insert, func(p *model.Persistence) { p.MaxIdle = time.Hour })
	attrs := with(insert, func(p *model.Persistence) { p.Attributes = "; domain=a.com; HttpOnly; SameSite=Lax" })
	hidden := with(model.Persistence{Name: "SRV"}, func(p *model.Persistence) { p.Indirect = true })
	prefixHidden := with(prefix, func(p *model.Persistence) { p.Indirect = true })
	absent := Given{Server: "s2", State: Absent}
	valid := Given{Server: "s2", State: Valid, Pinned: true}
	again := Given{Server: "s2", State: Valid, Pinned: true, Stale: true, First: now - 40}
	expired := Given{Server: "s2", State: Expired, First: now - 40}
	down := Given{Server: "s2", State: Down, Pinned: true}
	apart := Given{Server: "s2", State: Unused, Apart: true}
	bare := Given{State: Absent}
	post := Given{Server: "s2", State: Absent, Method: msg.POST}
	for _, c := range []struct {
		p          *model.Persistence
		g          Given
		in, out    string
		wantChange Change
	}{
		{&insert, absent, "", "SRV=s2; path=/", Inserted},
		{&insert, absent, "SRV=own", "SRV=s2; path=/", Inserted},
		{&insert, absent, "SRV=a\nSRV=b\nx=y", "x=y\nSRV=s2; path=/", Inserted},
		{&insert, absent, "SRV=a, x=b", "SRV=s2; path=/", Inserted},
		{&insert, absent, "x=y, SRV=b", "x=y, SRV=b\nSRV=s2; path=/", Inserted},
		{&insert, absent, "SRV", "SRV\nSRV=s2; path=/", Inserted},
		{&insert, valid, "", "", None},
		{&insert, valid, "x=y", "x=y", None},
		{&insert, valid, "SRV=own", "", Deleted},
		{&insert, down, "", "", None},
		{&insert, apart, "", "", None},
		{&insert, bare, "", "SRV=; Expires=Thu, 01-Jan-1970 00:00:01 GMT; path=/", Inserted},
		{indirect, valid, "SRV=own", "", Deleted},
		{indirect, expired, "SRV=own", "SRV=s2; path=/", Inserted},
		{preserve, absent, "SRV=own", "SRV=own", Passed},
		{preserve, valid, "SRV=", "SRV=", Passed},
		{preserve, absent, "", "SRV=s2; path=/", Inserted},
		{postOnly, absent, "", "", None},
		{postOnly, post, "", "SRV=s2; path=/", Inserted},
		{attrs, absent, "", "SRV=s2; path=/; domain=a.com; HttpOnly; SameSite=Lax", Inserted},
		{dates, absent, "", "SRV=s2|" + date(now) + "|" + date(now) + "; path=/", Inserted},
		{dates, expired, "", "SRV=s2|" + date(now) + "|" + date(now) + "; path=/", Inserted},
		{dates, again, "", "SRV=s2|" + date(now) + "|" + date(now-40) + "; path=/", Updated},
		{lives, again, "", "SRV=s2|" + date(now) + "|" + date(now-40) + "; path=/", Updated},
		{idles, again, "", "SRV=s2|" + date(now) + "; path=/", Updated},
		{&insert, again, "", "SRV=s2; path=/", Updated},
		{&rewrite, absent, "", "", None},
		{&rewrite, absent, "SRV=own; path=/", "SRV=s2; path=/", Rewritten},
		{&rewrite, absent, "SRV = x ; path=/", "SRV=s2 ; path=/", Rewritten},
		{&rewrite, absent, `SRV="a b"; path=/`, "SRV=s2; path=/", Rewritten},
		{&rewrite, absent, "SRV=a, SRV=b", "SRV=s2, SRV=b", Rewritten},
		{&rewrite, absent, "SRV=a\nsrv=b\nSRV=c", "SRV=s2\nsrv=b\nSRV=s2", Rewritten},
		{&rewrite, absent, "x=1; SRV=2", "x=1; SRV=2", None},
		{&rewrite, absent, "SRV=", "SRV=s2", Rewritten},
		{&rewrite, absent, "SRV", "SRV", None},
		{&rewrite, valid, "SRV=x", "SRV=s2", Rewritten},
		{&rewrite, bare, "SRV=x", "SRV=x", Passed},
		{&prefix, absent, "SRV=own; path=/", "SRV=s2~own; path=/", Rewritten},
		{&prefix, absent, "SRV = x ; path=/", "SRV=s2~x ; path=/", Rewritten},
		{&prefix, absent, "SRV=a, SRV=b", "SRV=s2~a, SRV=b", Rewritten},
		{&prefix, absent, `SRV="v"`, `SRV=s2~"v"`, Rewritten},
		{&prefix, bare, "SRV=x", "SRV=x", Passed},
		{prefixHidden, valid, "SRV=y", "", Deleted},
		{prefixHidden, absent, "SRV=y", "SRV=s2~y", Rewritten},
		{hidden, absent, "SRV=own", "SRV=own", Passed},
		{hidden, valid, "SRV=own", "", Deleted},
		{hidden, absent, "", "", None},
	} {
		m := &msg.Message{IsResponse: true, Status: 200}
		fields(m, "set-cookie", c.in)
		c.g.Now = now
		got := Respond(c.p, m, &c.g)
		if text(m, "set-cookie") != c.out || got != c.wantChange {
			t.Errorf("%+v on %q: %q %c, want %q %c", *c.p, c.in, text(m, "set-cookie"), got, c.out, c.wantChange)
		}
	}
}

func TestNoCache(t *testing.T) {
	p := with(insert, func(p *model.Persistence) { p.NoCache = true })
	for cc, want := range map[string]string{"max-age=5": "max-age=5\nprivate", "no-store": "no-store", "": ""} {
		m := &msg.Message{IsResponse: true, Status: 200}
		fields(m, "cache-control", cc)
		Respond(p, m, &Given{Server: "s", State: Absent, Method: msg.GET})
		if got := text(m, "cache-control"); got != want {
			t.Errorf("cache-control %q: %q, want %q", cc, got, want)
		}
	}
}

// A request and its response in the steady state: read, stripped, answered without memory.
func TestAllocatesNothing(t *testing.T) {
	p := with(insert, func(p *model.Persistence) { p.Indirect = true })
	req, res := &msg.Message{}, &msg.Message{}
	if n := testing.AllocsPerRun(100, func() {
		req.Reset()
		res.Reset()
		res.IsResponse, res.Status = true, 200
		req.AddString("cookie", "a=b; SRV=s1; c=d")
		for it := Of(req, p.Name); it.Next(); {
			Server(p, it.Value)
		}
		Strip(req, p.Name)
		Respond(p, res, &Given{Server: "s2", State: Invalid, Method: msg.GET})
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzRequest(f *testing.F) {
	f.Add("a=b; SRV=s1~x; c=d")
	f.Add(`SRV="a;b\"c"; $x=1; SRV=s1|AAAAA|AAAAA,SRV`)
	f.Fuzz(func(t *testing.T, v string) {
		m := &msg.Message{}
		m.AddString("cookie", v)
		Unprefix(m, "SRV")
		Strip(m, "SRV")
		for it := Of(m, "SRV"); it.Next(); {
			t.Fatalf("%q: %q is left of %q", it.Value, text(m, "cookie"), v)
		}
	})
}
