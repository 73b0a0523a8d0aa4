package act

import (
	"strconv"
	"strings"

	"weir/internal/base/ascii"
	"weir/internal/lang/rule"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

func init() {
	const request = 1 << rule.HTTPRequest
	for name, set := range map[string]func(*msg.Message, []byte){
		"set-path": (*msg.Message).SetPath, "set-pathq": (*msg.Message).SetPathQuery, "set-query": (*msg.Message).SetQuery, "set-uri": setURI,
	} {
		rule.Add(rule.Action{
			Name: name, In: request, Args: "<fmt>", Help: "changes the " + partNames[name[4:]] + " of the request",
			Parse: func(p *rule.Parser) rule.Runner { return parseSetURI(p, set) },
		})
	}
	for name, part := range map[string]part{
		"replace-path":  {func(m *msg.Message) []byte { return m.URI().Path }, (*msg.Message).SetPath},
		"replace-pathq": {func(m *msg.Message) []byte { return m.URI().PathQuery }, (*msg.Message).SetPathQuery},
		"replace-uri":   {func(m *msg.Message) []byte { return m.Target }, setURI},
	} {
		rule.Add(rule.Action{
			Name: name, In: request, Args: "<match-regex> <replace-fmt>", Help: "rewrites the " + partNames[name[8:]] + " of the request",
			Parse: func(p *rule.Parser) rule.Runner { return parseReplaceURI(p, part) },
		})
	}
	rule.Add(
		rule.Action{Name: "set-method", In: request, Args: "<fmt>", Help: "changes the method of the request", Parse: parseSetMethod},
		rule.Action{
			Name: "set-status", In: 1<<rule.HTTPResponse | 1<<rule.HTTPAfterResponse, Args: "<status> [ reason <str> ]", Help: "changes the status of the response",
			Parse: parseSetStatus,
		},
	)
}

var partNames = map[string]string{"path": "path", "pathq": "path and query", "query": "query", "uri": "target"}

// setURI replaces the target; with an authority in it the Host field follows.
func setURI(m *msg.Message, target []byte) {
	m.SetTarget(target)
	if u := m.URI(); len(u.Authority) > 0 && m.HasHost {
		m.ReplaceFirst("host", u.Authority)
	}
}

// badTarget reports bytes that would end the target, or the line, early.
func badTarget(b []byte) bool {
	for _, c := range b {
		if c <= ' ' || c == 0x7f {
			return true
		}
	}
	return false
}

func parseSetURI(p *rule.Parser, set func(*msg.Message, []byte)) rule.Runner {
	f := p.Format("a format")
	if f == nil {
		return nil
	}
	return rule.RunFunc(func(tx *model.Txn, c rule.Control) rule.Outcome {
		v, ok := text(f, tx)
		if !ok || badTarget(v) || !roomFor(tx, c, tx.Req, len(v)) {
			return rule.Failed
		}
		set(tx.Req, v)
		return failed(len(tx.Req.Target) > 0)
	})
}

// part is a part of the request's target.
type part struct {
	get func(*msg.Message) []byte
	set func(*msg.Message, []byte)
}

func parseReplaceURI(p *rule.Parser, what part) rule.Runner {
	re, f := parseReplacement(p)
	if re == nil {
		return nil
	}
	return rule.RunFunc(func(tx *model.Txn, c rule.Control) rule.Outcome {
		v, changed, ok := replace(tx, c, re, f, what.get(tx.Req))
		switch {
		case !ok:
			return rule.Failed
		case !changed:
			return rule.Next
		case badTarget(v) || !roomFor(tx, c, tx.Req, len(v)):
			return rule.Failed
		}
		what.set(tx.Req, v)
		return failed(len(tx.Req.Target) > 0)
	})
}

func parseSetMethod(p *rule.Parser) rule.Runner {
	f := p.Format("a format that gives a method")
	if f == nil {
		return nil
	}
	return rule.RunFunc(func(tx *model.Txn, _ rule.Control) rule.Outcome {
		v, ok := text(f, tx)
		if !ok || !ascii.IsTokenBytes(v) {
			return rule.Failed
		}
		tx.Req.SetMethod(v)
		return rule.Next
	})
}

func parseSetStatus(p *rule.Parser) rule.Runner {
	status, ok := p.Int("a status from 100 to 999", 100, 999)
	if !ok {
		return nil
	}
	reason := ""
	if p.Take("reason") {
		if reason, _, ok = p.Word("a text: reason <str>"); !ok {
			return nil
		}
		if ascii.IndexCtl([]byte(reason)) >= 0 {
			return p.Errorf(p.I-1, "the reason contains a control character.")
		}
	}
	return rule.RunFunc(func(tx *model.Txn, _ rule.Control) rule.Outcome {
		tx.Res.SetStatus(int(status))
		if reason != "" {
			tx.Res.SetReason([]byte(reason))
		}
		return rule.Next
	})
}

// parseHex reads a number in decimal or, after 0x, in hexadecimal.
func parseHex(s string) (int64, error) {
	if h, ok := strings.CutPrefix(strings.ToLower(s), "0x"); ok {
		return strconv.ParseInt(h, 16, 64)
	}
	return strconv.ParseInt(s, 10, 64)
}
