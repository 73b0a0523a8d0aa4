package proxy

import (
	"slices"

	"weir/internal/lang/config"
	"weir/internal/model"
)

func init() {
	config.Proxy.Add(
		config.Keyword{
			Name: "http-reuse", In: backend, Args: "{ never | safe | aggressive | always }",
			Help: "which requests may use idle server connections",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				if !l.NeedArgs(1, 1) {
					return
				}
				switch l.OneOf(0, "strategy", "never", "safe", "aggressive", "always") {
				case 0:
					p.Reuse = model.ReuseNever
				case 1:
					p.Reuse = model.ReuseSafe
				case 2:
					p.Reuse = model.ReuseAggressive
				case 3:
					p.Reuse = model.ReuseAlways
				}
			}),
		},
		config.Keyword{
			Name: "retry-on", In: backend, Strict: true, Args: "<event> ...",
			Help:  "failures after which a request is sent again",
			Parse: config.On(parseRetryOn),
		},
	)
}

// retryEvents are the words of retry-on.
var retryEvents = []struct {
	name string
	bits model.RetryOn
}{
	{"none", 0},
	{"conn-failure", model.RetryConnFailure},
	{"empty-response", model.RetryDisconnected},
	{"junk-response", model.RetryJunk},
	{"response-timeout", model.RetryTimeout},
	{"0rtt-rejected", model.Retry0RTT},
	{"401", model.Retry401}, {"403", model.Retry403}, {"404", model.Retry404}, {"408", model.Retry408},
	{"421", model.Retry421}, {"425", model.Retry425}, {"429", model.Retry429},
	{"500", model.Retry500}, {"501", model.Retry501}, {"502", model.Retry502}, {"503", model.Retry503}, {"504", model.Retry504},
	{"all-retryable-errors", model.RetryConnFailure | model.RetryDisconnected | model.RetryJunk | model.RetryTimeout |
		model.Retry0RTT | model.Retry500 | model.Retry502 | model.Retry503 | model.Retry504},
}

func parseRetryOn(l *config.Line, p *model.Proxy) {
	if !l.NeedArgs(1, -1) {
		return
	}
	names := make([]string, len(retryEvents))
	for i, e := range retryEvents {
		names[i] = e.name
	}
	var bits model.RetryOn
	ok := true
	for i := range l.Len() {
		n := slices.Index(names, l.Arg(i))
		switch {
		case n < 0:
			l.Unknown(i, "retry-on event", names)
			ok = false
		case n == 0 && l.Len() > 1:
			l.Errorf(i, "'none' stands alone: it cannot be combined with other events.")
			return
		default:
			bits |= retryEvents[n].bits
		}
	}
	if ok {
		p.RetryOn = bits
	}
}
