package logkw

import (
	"strings"

	"weir/internal/base/ascii"
	"weir/internal/lang/config"
	"weir/internal/lang/logfmt"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

const frontend = config.InDefaults | config.InFrontend

// lineFormats are the keywords whose argument is the format of a line, and where each keeps it.
var lineFormats = []struct {
	name, help string
	set        func(c *model.LogConfig, f model.LineFormat)
}{
	{"log-format-sd", "format of the structured data of RFC 5424", func(c *model.LogConfig, f model.LineFormat) { c.SD = f }},
	{"error-log-format", "format of lines about failed connections", func(c *model.LogConfig, f model.LineFormat) { c.Error = f }},
}

func init() {
	for _, o := range []struct {
		name       string
		plain, clf model.LogFormat
	}{
		{"httplog", model.LogHTTP, model.LogHTTPCLF},
		{"tcplog", model.LogTCP, model.LogTCPCLF},
	} {
		config.Proxy.Add(config.Keyword{Name: "option " + o.name, In: frontend, Args: "[clf]", Help: "format of log lines",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				if !l.NeedArgs(0, 1) {
					return
				}
				format, name := o.plain, l.Name()
				if l.Has(0) {
					if l.OneOf(0, "variant", "clf") < 0 {
						return
					}
					format, name = o.clf, name+" clf"
				}
				warnOverride(l, p, name)
				inherited(p, func(p *model.Proxy) { choose(l, p, name, format, nil) })
			})})
	}
	config.Proxy.Add(
		config.Keyword{Name: "option httpslog", In: frontend, Help: "format of log lines",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				if !l.NeedArgs(0, 0) {
					return
				}
				warnOverride(l, p, l.Name())
				inherited(p, func(p *model.Proxy) { custom(l, p, config.KeywordArg, logfmt.HTTPS) })
			})},
		config.Keyword{Name: "log-format", In: frontend, Args: "<fmt>", Help: "format of log lines",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				if !oneFormat(l) {
					return
				}
				warnOverride(l, p, l.Name())
				inherited(p, func(p *model.Proxy) { custom(l, p, 0, l.Arg(0)) })
			})},
		config.Keyword{Name: "unique-id-format", In: frontend, Args: "<fmt>", Help: "what unique IDs are made of",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				if oneFormat(l) {
					inherited(p, func(p *model.Proxy) { uniqueID(l, p) })
				}
			})},
		config.Keyword{Name: "unique-id-header", In: frontend, Args: "<name>", Help: "field of requests that carries the unique ID",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				switch {
				case !l.NeedArgs(1, 1):
				case !ascii.IsTokenBytes([]byte(l.Arg(0))):
					l.Errorf(0, "'%s' is no name of a header field.", l.Arg(0))
				default:
					p.UniqueIDHeader = l.Arg(0)
				}
			})},
		config.Keyword{Name: "log-steps", In: frontend, Args: "{ all | <step>[,<step>]* }", Help: "when log lines are written",
			Parse: config.On(parseSteps)},
	)
	for _, k := range lineFormats {
		config.Proxy.Add(config.Keyword{Name: k.name, In: frontend, Args: "<fmt>", Help: k.help,
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				if !oneFormat(l) {
					return
				}
				inherited(p, func(p *model.Proxy) {
					if f := compile(&sample.Scope{Line: l, Proxy: p, Valid: sample.Logs}, 0, l.Arg(0), logfmt.ForLog); f != nil {
						k.set(&p.Log, lineFormat(f))
					}
				})
			})})
	}
}

// inherited applies a line to a proxy, and later to those that start with it as their defaults section: expressions mean the
// proxy that they are in. Lines do nothing in backends.
func inherited(p *model.Proxy, apply func(*model.Proxy)) {
	inFrontends := func(p *model.Proxy) {
		if p.IsFrontend() || p.Sides&model.SideDefaults != 0 {
			apply(p)
		}
	}
	inFrontends(p)
	if p.Sides&model.SideDefaults != 0 {
		p.Inherit = append(p.Inherit, inFrontends)
	}
}

func oneFormat(l *config.Line) bool {
	if l.Len() > 1 && !l.Quoted(0) {
		l.Errorf(1, "'%s' takes one argument; put the format into double quotes, or a backslash before its spaces.", l.Name())
		return false
	}
	return l.NeedArgs(1, 1)
}

// warnOverride warns of a second line that chooses the format in one defaults section.
func warnOverride(l *config.Line, p *model.Proxy, name string) {
	c, pos := &p.Log, l.Pos()
	if p.Sides&model.SideDefaults != 0 && c.FormatLine != "" && c.FormatPos.File == pos.File && c.FormatPos.Line > p.Pos.Line {
		l.Warnf(config.KeywordArg, "'%s' overrides '%s' at line %d of the same defaults section.", name, c.FormatLine, c.FormatPos.Line)
	}
}

func choose(l *config.Line, p *model.Proxy, name string, format model.LogFormat, custom model.LineFormat) {
	p.Log.Format, p.Log.FormatPos, p.Log.FormatLine, p.Log.Custom = format, l.Pos(), name, custom
}

func custom(l *config.Line, p *model.Proxy, arg int, text string) {
	f := compile(&sample.Scope{Line: l, Arg: arg, Proxy: p, Valid: sample.Logs}, arg, text, logfmt.ForLog)
	switch {
	case f == nil:
	case f.Empty(): // as without the line
		choose(l, p, l.Name(), model.LogDefault, nil)
	default:
		choose(l, p, l.Name(), model.LogCustom, f)
	}
}

// compile parses a format; nil after an error.
func compile(sc *sample.Scope, arg int, text string, use logfmt.Use) *logfmt.Format {
	f, err := logfmt.Parse(sc, text, logfmt.Options{Use: use})
	if err != nil {
		sc.Line.Errorf(arg, "'%s': %s.", sc.Line.Name(), err)
		return nil
	}
	return f
}

// lineFormat is f, or nil when it has no part.
func lineFormat(f *logfmt.Format) model.LineFormat {
	if f.Empty() {
		return nil
	}
	return f
}

func uniqueID(l *config.Line, p *model.Proxy) {
	sc := &sample.Scope{Line: l, Proxy: p, Valid: sample.FrontHTTPRequest | sample.FrontHTTPRequestBody}
	f := compile(sc, 0, l.Arg(0), logfmt.ForID)
	switch {
	case f == nil:
	case f.Empty():
		p.UniqueID = nil
	default:
		p.UniqueID = f
	}
}

// automatic are the steps at which lines can be written without an action.
const automatic = 1<<model.StepAccept | 1<<model.StepRequest | 1<<model.StepConnect | 1<<model.StepResponse | 1<<model.StepClose

func parseSteps(l *config.Line, p *model.Proxy) {
	if !l.NeedArgs(1, 1) {
		return
	}
	if l.Arg(0) == "all" {
		p.Log.Steps = automatic
		return
	}
	var steps model.LogSteps
	for name := range strings.SplitSeq(l.Arg(0), ",") {
		s, ok := model.LogStepByName(name)
		if !ok || s == model.StepError || s == model.StepAny {
			l.UnknownName(0, "log step", name, stepNames(func(s model.LogStep) bool { return s != model.StepError && s != model.StepAny }))
			return
		}
		steps |= 1 << s
	}
	p.Log.Steps = steps
}

func stepNames(want func(model.LogStep) bool) (names []string) {
	for s := range model.NumLogSteps {
		if want(s) {
			names = append(names, s.String())
		}
	}
	return names
}
