package act

import (
	"weir/internal/lang/rule"
	"weir/internal/model"
)

func init() {
	rule.Add(
		rule.Action{Name: "accept", In: rule.AnyTCP, Final: true, Help: "ends the rule set and lets traffic pass", Parse: outcome(rule.Stop)},
		rule.Action{Name: "allow", In: rule.AnyHTTP, Final: true, Help: "ends the rule set and lets the message pass", Parse: outcome(rule.Stop)},
		rule.Action{
			Name: "reject", In: rule.AnyTCP | 1<<rule.HTTPRequest, Final: true, Help: "closes the connection without an answer",
			Parse: always(func(_ *model.Txn, c rule.Control) rule.Outcome {
				c.Reject()
				return rule.Done
			}),
		},
		rule.Action{
			Name: "expect-proxy", In: 1 << rule.TCPConnection, Args: "layer4", Help: "a PROXY header comes before the connection's data",
			Parse: layer4(rule.Control.ExpectProxy),
		},
		rule.Action{
			Name: "expect-netscaler-cip", In: 1 << rule.TCPConnection, Args: "layer4", Help: "a client-IP header of NetScaler comes before the connection's data",
			Parse: layer4(rule.Control.ExpectNetScaler),
		},
		rule.Action{
			Name: "silent-drop", In: rule.AnyTCP | 1<<rule.HTTPRequest | 1<<rule.HTTPResponse, Final: true, Args: "[ rst-ttl <ttl> ]",
			Help: "lets the client's connection vanish without telling the client", Parse: parseSilentDrop,
		},
		rule.Action{
			Name: "close", In: 1 << rule.TCPResponse, Final: true, Help: "closes the connection to the server at once",
			Parse: always(func(_ *model.Txn, c rule.Control) rule.Outcome {
				c.CloseServer()
				return rule.Done
			}),
		},
		rule.Action{
			Name: "pause", In: 1<<rule.HTTPRequest | 1<<rule.HTTPResponse, Args: "{ <timeout> | <expr> }",
			Help: "holds the message back for a while", Parse: parsePause,
		},
		rule.Action{
			Name: "wait-for-body", In: 1<<rule.HTTPRequest | 1<<rule.HTTPResponse, Args: "time <time> [ at-least <bytes> ]",
			Help: "waits for the body of the message", Parse: parseWaitBody,
		},
		rule.Action{
			Name: "wait-for-handshake", In: 1 << rule.HTTPRequest, Help: "waits for the end of the TLS handshake: early data is never taken before it",
			Parse: outcome(rule.Next),
		},
		rule.Action{
			Name: "switch-mode", In: 1 << rule.TCPContent, Final: true, Args: "http [ proto <name> ]",
			Help: "treats what the client sends as HTTP from here on", Parse: parseSwitchMode,
		},
		rule.Action{
			Name: "disable-l7-retry", In: 1 << rule.HTTPRequest, Help: "never sends the request a second time",
			Parse: always(func(_ *model.Txn, c rule.Control) rule.Outcome {
				c.DisableRetry()
				return rule.Next
			}),
		},
	)
}

func parseSilentDrop(p *rule.Parser) rule.Runner {
	ttl := int64(0)
	if p.Take("rst-ttl") {
		var ok bool
		if ttl, ok = p.Int("the time to live of the reset: rst-ttl <ttl>", 1, 255); !ok {
			return nil
		}
	}
	return rule.RunFunc(func(_ *model.Txn, c rule.Control) rule.Outcome {
		c.SilentDrop(int(ttl))
		return rule.Done
	})
}

func parsePause(p *rule.Parser) rule.Runner {
	t, ok := parseTime(p, "a time or an expression that gives milliseconds")
	if !ok {
		return nil
	}
	return rule.RunFunc(func(tx *model.Txn, c rule.Control) rule.Outcome {
		n, ok := t.value(tx)
		if !ok {
			return rule.Next
		}
		if d, ok := milliseconds(n); ok && d > 0 {
			c.Pause(d)
		}
		return rule.Next
	})
}

func parseWaitBody(p *rule.Parser) rule.Runner {
	if !p.Take("time") {
		return p.Errorf(p.I, "'wait-for-body' needs to know how long to wait: time <time>.")
	}
	limit, ok := p.Duration("how long to wait: time <time>")
	if !ok {
		return nil
	}
	least := int64(0)
	for p.More() {
		switch {
		case p.Take("at-least"):
			if _, i, ok := p.Word("a size: at-least <bytes>"); !ok {
				return nil
			} else if least, ok = p.L.Size(i, 0, 1<<40); !ok {
				return nil
			}
		case p.Peek() == "use-large-buffer":
			p.L.NotYet(p.I, "option of wait-for-body", "use-large-buffer")
			return nil
		default:
			return p.Errorf(p.I, "unknown option '%s' of 'wait-for-body'; it takes 'time' and 'at-least'.", p.Peek())
		}
	}
	dir := p.Kind.Dir()
	return rule.RunFunc(func(_ *model.Txn, c rule.Control) rule.Outcome {
		if !c.WaitBody(dir, limit, least) {
			return rule.Done
		}
		return rule.Next
	})
}

func parseSwitchMode(p *rule.Parser) rule.Runner {
	if !p.Take("http") {
		return p.Errorf(p.I, "'switch-mode' expects 'http'.")
	}
	proto := ""
	if p.Take("proto") {
		w, i, ok := p.Word("the name of a protocol: proto <name>")
		if !ok {
			return nil
		}
		switch w {
		case "h1":
		case "h2":
			p.L.NotYet(i, "protocol", w)
			return nil
		default:
			return p.Errorf(i, "unknown protocol '%s'; 'h1' exists.", w)
		}
		proto = w
	}
	if !p.Proxy.IsFrontend() && p.Proxy.Sides&model.SideDefaults == 0 {
		return p.Errorf(p.I-1, "'switch-mode' needs a frontend; '%s' is none.", p.Proxy.Name)
	}
	return rule.RunFunc(func(_ *model.Txn, c rule.Control) rule.Outcome {
		c.SwitchMode(proto)
		return rule.Stop
	})
}

// layer4 is an action that changes what a connection begins with.
func layer4(do func(rule.Control)) func(*rule.Parser) rule.Runner {
	return func(p *rule.Parser) rule.Runner {
		w, i, ok := p.Word("'layer4'")
		if !ok {
			return nil
		}
		if w != "layer4" {
			return p.Errorf(i, "'%s' is no layer for '%s'; 'layer4' is the only one.", w, p.Name)
		}
		return rule.RunFunc(func(_ *model.Txn, c rule.Control) rule.Outcome {
			do(c)
			return rule.Next
		})
	}
}
