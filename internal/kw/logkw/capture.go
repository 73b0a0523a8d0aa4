package logkw

import (
	"math"
	"strings"

	"weir/internal/base/ascii"
	"weir/internal/lang/config"
	"weir/internal/model"
)

// defaultCookieLen is the longest captured cookie unless tune.http.cookielen says otherwise, in bytes.
const defaultCookieLen = 63

func init() {
	config.Proxy.Add(
		config.Keyword{Name: "capture cookie", In: config.InFrontend, Args: "<name> len <length>", Help: "shows a cookie in log lines",
			Parse: config.On(parseCookie)},
		config.Keyword{Name: "capture request header", In: config.InFrontend, Args: "<name> len <length>", Help: "shows a field of requests in log lines",
			Parse: config.On(func(l *config.Line, p *model.Proxy) { parseCapture(l, &p.Captures.Req) })},
		config.Keyword{Name: "capture response header", In: config.InFrontend, Args: "<name> len <length>", Help: "shows a field of responses in log lines",
			Parse: config.On(func(l *config.Line, p *model.Proxy) { parseCapture(l, &p.Captures.Res) })},
		config.Keyword{Name: "declare capture", In: config.InFrontend, Strict: true, Args: "{ request | response } len <length>", Help: "makes a slot that rules fill",
			Parse: config.On(parseDeclare)},
	)
}

// length reads "len <length>" at argument i.
func length(l *config.Line, i int, least int64) (int, bool) {
	if l.Arg(i) != "len" {
		l.Errorf(i, "'len' and a length are expected here, not '%s'.", l.Arg(i))
		return 0, false
	}
	n, ok := l.Int(i+1, least, math.MaxInt32)
	return int(n), ok
}

func parseCookie(l *config.Line, p *model.Proxy) {
	if !l.NeedArgs(3, 3) {
		return
	}
	n, ok := length(l, 1, 0)
	name, exact := strings.CutSuffix(l.Arg(0), "=")
	if name == "" {
		l.Errorf(0, "'capture cookie' needs the name of a cookie before the '='.")
		return
	}
	if !ok {
		return
	}
	p.Captures.Cookie = model.CookieCapture{Name: name, Prefix: !exact, Len: n}
	l.Check(func(l *config.Line) {
		limit := root(l.Parser()).Global.Tune.HTTPCookieLen
		if limit == 0 {
			limit = defaultCookieLen
		}
		if n > limit {
			l.Warnf(2, "captured cookies are cut to %d bytes, which 'tune.http.cookielen' allows.", limit)
			p.Captures.Cookie.Len = min(p.Captures.Cookie.Len, limit)
		}
	})
}

func parseCapture(l *config.Line, slots *[]model.Capture) {
	if !l.NeedArgs(3, 3) {
		return
	}
	n, ok := length(l, 1, 0)
	if !ascii.IsTokenBytes([]byte(l.Arg(0))) {
		l.Errorf(0, "'%s' is no name of a header field.", l.Arg(0))
		return
	}
	if ok {
		*slots = append(*slots, model.Capture{Header: l.Arg(0), Len: n})
	}
}

func parseDeclare(l *config.Line, p *model.Proxy) {
	if !l.NeedArgs(3, 3) {
		return
	}
	slots := &p.Captures.Req
	switch l.OneOf(0, "direction", "request", "response") {
	case -1:
		return
	case 1:
		slots = &p.Captures.Res
	}
	if n, ok := length(l, 1, 1); ok {
		*slots = append(*slots, model.Capture{Len: n})
	}
}
