package logkw

import (
	"maps"
	"slices"
	"strings"

	"weir/internal/base/registry"
	"weir/internal/lang/config"
	"weir/internal/lang/logfmt"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

// profileSection is the table of the log-profile section (manual 8.3.5).
var profileSection = config.NewTable("log-profile")

func init() {
	profileSection.Add(
		config.Keyword{Name: "log-tag", Args: "<string>", Help: "program name in log lines",
			Parse: config.On(func(l *config.Line, p *model.LogProfile) {
				if l.NeedArgs(1, 1) {
					p.Tag = l.Arg(0)
				}
			})},
		config.Keyword{Name: "on", Args: "<step> { drop | [format <fmt>] [sd <fmt>] }", Help: "what is logged at a step",
			Parse: config.On(parseOn)},
	)
	config.AddSection(config.Section{
		Name: "log-profile", Kind: config.InOther, Args: "<name>", Help: "what is logged, for some 'log' lines",
		Keywords: profileSection, Open: openProfile,
	})
	config.AddCheck(config.Check{Name: "log formats and profiles", Order: 95, Run: check})
}

func root(p *config.Parser) *model.Config { return p.Root().(*model.Config) }

func openProfile(l *config.Line) any {
	p := &model.LogProfile{Pos: l.Pos(), Name: l.Arg(0)}
	if !l.NeedArgs(1, 1) || !l.CheckName(0, "log-profile section") {
		return p
	}
	cfg := root(l.Parser())
	all := model.LogProfiles.Get(&cfg.Slots)
	if all == nil {
		all = make(map[string]*model.LogProfile)
		model.LogProfiles.Set(&cfg.Slots, all)
	}
	if old := all[p.Name]; old != nil {
		l.Errorf(0, "there is a log-profile section '%s' already, at %s.", p.Name, old.Pos.Where())
		return p
	}
	all[p.Name] = p
	return p
}

func parseOn(l *config.Line, p *model.LogProfile) {
	if !l.Has(0) {
		l.Errorf(0, "'on' needs a log step: %s.", strings.Join(stepNames(anyStep), ", "))
		return
	}
	step, ok := model.LogStepByName(l.Arg(0))
	if !ok {
		l.Unknown(0, "log step", stepNames(anyStep))
		return
	}
	if !l.Has(1) {
		l.Errorf(1, "'on %s' needs 'drop', or a format after 'format' or 'sd'.", step)
		return
	}
	var o model.LogOverride
	if old := p.On[step]; old != nil { // lines of one step add up
		o = *old
		o.Drop = false
	}
	i := 1
	if l.Arg(i) == "drop" { // formats after it are of no use
		o.Drop = true
		i++
	}
	for ; l.Has(i); i += 2 {
		text, sd := l.Arg(i) == "format", l.Arg(i) == "sd"
		switch {
		case !text && !sd:
			l.Unknown(i, "word after a log step", []string{"drop", "format", "sd"})
			return
		case !l.Has(i + 1):
			l.Errorf(i+1, "'on %s %s' needs a format.", step, l.Arg(i))
			return
		}
		f := compile(&sample.Scope{Line: l, Arg: i + 1, Valid: sample.Logs}, i+1, l.Arg(i+1), logfmt.ForLog)
		switch {
		case f == nil:
			return
		case sd:
			o.SD = lineFormat(f)
		default:
			o.Text = lineFormat(f)
		}
	}
	p.On[step] = &o
}

func anyStep(model.LogStep) bool { return true }

// check settles formats when the modes of all proxies are known, and finds the profiles of log lines.
func check(p *config.Parser) {
	cfg := root(p)
	profiles := model.LogProfiles.Get(&cfg.Slots)
	linkProfiles(p, &cfg.Global.Log, profiles)
	for _, px := range cfg.Proxies {
		linkProfiles(p, &px.Log, profiles)
		if !px.IsFrontend() {
			continue
		}
		settle(p, px)
		if px.Mode != model.ModeHTTP && px.Captures.Cookie.Name != "" && !px.Disabled {
			p.Warnf(px.Pos, "'capture cookie' has no effect in %s '%s', which is not in mode http.", px.Kind, px.Name)
			px.Captures.Cookie = model.CookieCapture{}
		}
	}
}

func linkProfiles(p *config.Parser, c *model.LogConfig, profiles map[string]*model.LogProfile) {
	for _, t := range c.Targets {
		if t.ProfileName == "" {
			continue
		}
		if t.Profile = profiles[t.ProfileName]; t.Profile == nil {
			names := slices.Sorted(maps.Keys(profiles))
			hint := "."
			if near := registry.Nearest(t.ProfileName, names); near != "" {
				hint = "; did you mean '" + near + "'?"
			}
			p.Errorf(t.Pos, "'log': there is no log-profile section '%s'%s", t.ProfileName, hint)
		}
	}
}

// settle replaces formats that are the text of a built-in one by that, which is faster, and those that need mode http.
func settle(p *config.Parser, px *model.Proxy) {
	f, ok := px.Log.Custom.(*logfmt.Format)
	if !ok {
		return
	}
	http := px.Mode == model.ModeHTTP
	if !http && px.Log.FormatLine == "option httpslog" {
		if !px.Disabled {
			p.Warnf(px.Log.FormatPos, "'option httpslog' cannot be used in %s '%s', which is not in mode http; 'option tcplog' takes its place.", px.Kind, px.Name)
		}
		px.Log.Format, px.Log.Custom = model.LogTCP, nil
		return
	}
	for name, format := range map[string]model.LogFormat{
		"HAPROXY_HTTP_LOG_FMT": model.LogHTTP, "HAPROXY_HTTP_CLF_LOG_FMT": model.LogHTTPCLF, "HAPROXY_TCP_LOG_FMT": model.LogTCP, "HAPROXY_TCP_CLF_LOG_FMT": model.LogTCPCLF,
	} {
		forHTTP := format == model.LogHTTP || format == model.LogHTTPCLF
		if f.String() == logfmt.Variables()[name] && (http || !forHTTP) {
			px.Log.Format, px.Log.Custom = format, nil
			return
		}
	}
}
