package act

import (
	"weir/internal/kw/errors"
	"weir/internal/lang/rule"
	"weir/internal/model"
)

func init() {
	const (
		args  = "[ status <code> ] [ content-type <type> ] [ <payload> ] [ hdr <name> <fmt> ] ..."
		both  = 1<<rule.HTTPRequest | 1<<rule.HTTPResponse
		reqOf = 1 << rule.HTTPRequest
	)
	rule.Add(
		rule.Action{
			Name: "return", In: both, Final: true, Args: args, Help: "answers with a response made here",
			Parse: func(p *rule.Parser) rule.Runner {
				return parseAnswer(p, []string{"status"}, 200, func(c rule.Control, page *model.ErrorPage) { c.Respond(page, rule.EndLocal) })
			},
		},
		rule.Action{
			Name: "deny", In: both, Final: true, Args: args, Help: "refuses the message",
			Parse: func(p *rule.Parser) rule.Runner {
				status := 403
				if p.Kind == rule.HTTPResponse {
					status = 502
				}
				return parseAnswer(p, []string{"status", "deny_status"}, status, func(c rule.Control, page *model.ErrorPage) { c.Respond(page, rule.EndDenied) })
			},
		},
		rule.Action{
			Name: "tarpit", In: reqOf, Final: true, Args: args, Help: "refuses the request after a wait",
			Parse: func(p *rule.Parser) rule.Runner {
				return parseAnswer(p, []string{"status", "deny_status"}, 500, rule.Control.Tarpit)
			},
		},
		rule.Action{Name: "auth", In: reqOf, Final: true, Args: "[ realm <realm> ]", Help: "asks for a user name and a password", Parse: parseAuth},
	)
}

// parseAnswer reads a reply and makes the action that gives it.
func parseAnswer(p *rule.Parser, words []string, status int, give func(rule.Control, *model.ErrorPage)) rule.Runner {
	at := p.I
	r := errors.ParseReply(p, words, 200, 599)
	if r == nil {
		return nil
	}
	if r.Status != 0 {
		status = r.Status
	}
	if p.Name != "return" && r.Bare {
		r.Payload = "default-errorfiles" // what the manual says is implied
	}
	switch r.Payload {
	case "default-errorfiles", "errorfile", "errorfiles":
		if !errors.HasPage(status) {
			return p.Errorf(at, "there is no page for status %d; %s have one.", status, errors.Statuses())
		}
	}
	page := r.Page(status)
	if page == nil && r.Payload != "default-errorfiles" {
		return nil // reported
	}
	return rule.RunFunc(func(_ *model.Txn, c rule.Control) rule.Outcome {
		answer := page
		if answer == nil {
			answer = c.Page(status)
		}
		give(c, answer)
		return rule.Done
	})
}

func parseAuth(p *rule.Parser) rule.Runner {
	realm := p.Proxy.Name
	if p.Take("realm") {
		w, _, ok := p.Word("a text: realm <realm>")
		if !ok {
			return nil
		}
		realm = w
	}
	return rule.RunFunc(func(tx *model.Txn, c rule.Control) rule.Outcome {
		c.Respond(rule.Challenge(tx, c, realm), rule.EndChallenge)
		return rule.Done
	})
}
