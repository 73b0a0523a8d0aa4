package act

import (
	"net/netip"

	"weir/internal/lang/rule"
	"weir/internal/lang/sample"
	"weir/internal/model"
	"weir/internal/wire/syslog"
)

const (
	// requests are the places where a client's address may be changed.
	requests = rule.AnyTCPRequest | 1<<rule.HTTPRequest
	// streams are those where a stream exists.
	streams = 1<<rule.TCPContent | 1<<rule.TCPResponse | 1<<rule.HTTPRequest | 1<<rule.HTTPResponse
	// upstream are those before a server is chosen.
	upstream = 1<<rule.TCPContent | 1<<rule.HTTPRequest
)

func init() {
	for _, side := range []struct {
		name, what string
		get        func(rule.Control) netip.AddrPort
		set        func(rule.Control, netip.AddrPort)
	}{
		{"src", "the client's address", rule.Control.Client, rule.Control.SetClient},
		{"dst", "the address that the client connected to", rule.Control.ClientLocal, rule.Control.SetClientLocal},
	} {
		rule.Add(
			rule.Action{
				Name: "set-" + side.name, In: requests, Args: "<expr>", Help: "changes " + side.what,
				Parse: func(p *rule.Parser) rule.Runner {
					e := exprAs(p, "an expression that gives an address", model.TypeAddr)
					if e == nil {
						return nil
					}
					return &setAddr{e, side.get, side.set}
				},
			},
			rule.Action{
				Name: "set-" + side.name + "-port", In: requests, Args: "<expr>", Help: "changes the port of " + side.what,
				Parse: func(p *rule.Parser) rule.Runner {
					e := exprAs(p, "an expression that gives a port", model.TypeSint)
					if e == nil {
						return nil
					}
					return &setPort{e, side.get, side.set}
				},
			},
		)
	}
	const fc = rule.AnyTCP | 1<<rule.HTTPRequest | 1<<rule.HTTPResponse
	for name, o := range map[string]struct {
		in   rule.Kinds
		back bool
		tos  bool
	}{
		"set-fc-mark": {in: fc}, "set-mark": {in: fc}, "set-bc-mark": {in: upstream, back: true},
		"set-fc-tos": {in: fc, tos: true}, "set-tos": {in: fc, tos: true}, "set-bc-tos": {in: upstream, back: true, tos: true},
	} {
		a := rule.Action{Name: name, In: o.in, Args: "{ <mark> | <expr> }", Help: "marks the packets of a connection"}
		if o.tos {
			a.Args, a.Help = "{ <tos> | <expr> }", "sets the type of service of a connection's packets"
		}
		a.Parse = func(p *rule.Parser) rule.Runner { return parseMark(p, o.back, o.tos) }
		rule.Add(a)
	}
	rule.Add(
		rule.Action{
			Name: "set-timeout", In: 1<<rule.HTTPRequest | 1<<rule.HTTPResponse, Args: "{ client | connect | queue | server | tarpit | tunnel } { <timeout> | <expr> }",
			Help: "changes a timeout of this stream", Parse: parseSetTimeout,
		},
		rule.Action{
			Name: "set-log-level", In: streams | 1<<rule.HTTPAfterResponse, Args: "<level>", Help: "changes the level of the log line; 'silent' writes none",
			Parse: parseLogLevel,
		},
		rule.Action{Name: "set-nice", In: streams, Args: "<nice>", Help: "lets other streams go first", Parse: parseNice},
		rule.Action{
			Name: "set-priority-class", In: upstream, Args: "<expr>", Help: "places the stream in queues: lower classes go first",
			Parse: parsePriority(2047, func(c rule.Control, n int) {
				_, offset := c.Priority()
				c.SetPriority(n, offset)
			}),
		},
		rule.Action{
			Name: "set-priority-offset", In: upstream, Args: "<expr>", Help: "moves the stream in queues by milliseconds",
			Parse: parsePriority(524287, func(c rule.Control, n int) {
				class, _ := c.Priority()
				c.SetPriority(class, n)
			}),
		},
		rule.Action{Name: "set-retries", In: upstream, Args: "{ <int> | <expr> }", Help: "changes how often connecting is tried again", Parse: parseRetries},
	)
}

// setAddr is set-src and set-dst.
type setAddr struct {
	e   *sample.Expr
	get func(rule.Control) netip.AddrPort
	set func(rule.Control, netip.AddrPort)
}

// Run keeps the port as far as there is one.
func (a *setAddr) Run(tx *model.Txn, c rule.Control) rule.Outcome {
	v := tx.Value()
	defer tx.Done()
	if a.e.EvalAs(tx, model.TypeAddr, v) {
		a.set(c, netip.AddrPortFrom(v.IP, a.get(c).Port()))
	}
	return rule.Next
}

// setPort is set-src-port and set-dst-port.
type setPort struct {
	e   *sample.Expr
	get func(rule.Control) netip.AddrPort
	set func(rule.Control, netip.AddrPort)
}

// Run keeps the address, or takes 0.0.0.0 where there is none.
func (a *setPort) Run(tx *model.Txn, c rule.Control) rule.Outcome {
	v := tx.Value()
	defer tx.Done()
	if !a.e.EvalAs(tx, model.TypeSint, v) {
		return rule.Next
	}
	ip := a.get(c).Addr()
	if !ip.IsValid() {
		ip = netip.IPv4Unspecified()
	}
	a.set(c, netip.AddrPortFrom(ip, uint16(v.Num)))
	return rule.Next
}

func parseMark(p *rule.Parser, back, tos bool) rule.Runner {
	hi := int64(1<<32 - 1)
	if tos {
		hi = 255
	}
	n, ok := markNumber(p, hi)
	if !ok {
		return nil
	}
	return rule.RunFunc(func(tx *model.Txn, c rule.Control) rule.Outcome {
		v, ok := n.value(tx)
		switch {
		case !ok:
		case tos:
			c.SetTOS(back, uint8(v))
		default:
			c.SetMark(back, uint32(v))
		}
		return rule.Next
	})
}

// markNumber takes a number in decimal or, after 0x, in hexadecimal, or an expression.
func markNumber(p *rule.Parser, hi int64) (v number, ok bool) {
	if rule.IsExpr(p.Peek()) {
		return parseNumber(p, "a number or an expression", 0, hi)
	}
	w, i, ok := p.Word("a number or an expression")
	if !ok {
		return v, false
	}
	n, err := parseHex(w)
	if err != nil || n < 0 || n > hi {
		p.L.Errorf(i, "'%s' is no number from 0 to %d.", w, hi)
		return v, false
	}
	return number{n: n}, true
}

func parseSetTimeout(p *rule.Parser) rule.Runner {
	w, i, ok := p.Word("the name of a timeout: client, connect, queue, server, tarpit or tunnel")
	if !ok {
		return nil
	}
	kinds := map[string]model.TimeoutKind{
		"client": model.TimeoutClient, "connect": model.TimeoutConnect, "queue": model.TimeoutQueue, "server": model.TimeoutServer,
		"tarpit": model.TimeoutTarpit, "tunnel": model.TimeoutTunnel,
	}
	k, ok := kinds[w]
	if !ok {
		return p.Errorf(i, "'set-timeout' cannot change '%s'; client, connect, queue, server, tarpit and tunnel can be changed.", w)
	}
	sides := p.Proxy.Sides &^ model.SideDefaults
	switch {
	case sides == 0 || w == "tarpit":
	case w == "client" && sides&model.SideFrontend == 0:
		return p.Errorf(i, "'set-timeout client' needs a frontend; '%s' is none.", p.Proxy.Name)
	case w != "client" && sides&model.SideBackend == 0:
		return p.Errorf(i, "'set-timeout %s' needs a backend; '%s' is none.", w, p.Proxy.Name)
	}
	t, ok := parseTime(p, "a time or an expression that gives milliseconds")
	if !ok {
		return nil
	}
	if t.e == nil && t.n == 0 {
		return p.Errorf(p.I-1, "'set-timeout' needs a time above 0.")
	}
	return rule.RunFunc(func(tx *model.Txn, c rule.Control) rule.Outcome {
		n, ok := t.value(tx)
		if !ok {
			return rule.Next
		}
		if d, ok := milliseconds(n); ok && d > 0 {
			c.SetTimeout(k, d)
		}
		return rule.Next
	})
}

func parseLogLevel(p *rule.Parser) rule.Runner {
	w, i, ok := p.Word("a syslog level or 'silent'")
	if !ok {
		return nil
	}
	level := -1
	if w != "silent" {
		n, known := syslog.LevelByName(w)
		if !known {
			return p.Errorf(i, "unknown log level '%s'; emerg, alert, crit, err, warning, notice, info, debug and silent exist.", w)
		}
		level = int(n)
	}
	return rule.RunFunc(func(_ *model.Txn, c rule.Control) rule.Outcome {
		c.SetLogLevel(level)
		return rule.Next
	})
}

func parseNice(p *rule.Parser) rule.Runner {
	n, ok := p.Int("a number from -1024 to 1024", -1<<31, 1<<31-1)
	if !ok {
		return nil
	}
	n = min(max(n, -1024), 1024)
	return rule.RunFunc(func(_ *model.Txn, c rule.Control) rule.Outcome {
		c.SetNice(int(n))
		return rule.Next
	})
}

func parsePriority(limit int64, set func(rule.Control, int)) func(*rule.Parser) rule.Runner {
	return func(p *rule.Parser) rule.Runner {
		e := exprAs(p, "an expression that gives an integer", model.TypeSint)
		if e == nil {
			return nil
		}
		return rule.RunFunc(func(tx *model.Txn, c rule.Control) rule.Outcome {
			v := tx.Value()
			defer tx.Done()
			if e.EvalAs(tx, model.TypeSint, v) {
				set(c, int(min(max(v.Num, -limit), limit)))
			}
			return rule.Next
		})
	}
}

func parseRetries(p *rule.Parser) rule.Runner {
	if p.Proxy.Sides&model.SideBackend == 0 {
		return p.Errorf(p.I-1, "'set-retries' needs a backend; %s '%s' is none.", p.Proxy.Kind, p.Proxy.Name)
	}
	n, ok := parseNumber(p, "a number from 0 to 100 or an expression", 0, 100)
	if !ok {
		return nil
	}
	return rule.RunFunc(func(tx *model.Txn, c rule.Control) rule.Outcome {
		if v, ok := n.value(tx); ok && v >= 0 && v <= 100 {
			c.SetRetries(int(v))
		}
		return rule.Next
	})
}
