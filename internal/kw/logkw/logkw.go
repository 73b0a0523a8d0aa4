// Package logkw holds the directives of logging: where lines go (log), how they
// start (log-tag, log-send-hostname), what they say and when (log-format and its kin, log-steps,
// log-profile sections), and what they capture for it (manual, chapters 3.1, 4.2, 8.2.6 and 8.3.5).
package logkw

import (
	"slices"
	"strconv"
	"strings"

	"weir/internal/base/addr"
	"weir/internal/lang/config"
	"weir/internal/model"
)

const anywhere = config.InDefaults | config.InFrontend | config.InBackend

const logArgs = "<target> [len <length>] [format <format>] [sample <ranges>:<size>] [profile <name>] <facility> [<level> [<minlevel>]]"

var (
	formats    = []string{"local", "rfc3164", "rfc5424", "priority", "short", "timed", "iso", "raw"}
	facilities = []string{
		"kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news",
		"uucp", "cron", "auth2", "ftp", "ntp", "audit", "alert", "cron2",
		"local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7",
	}
	levels = []string{"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"}
)

const (
	minLength, maxLength, defaultLength = 80, 65535, 1024
	defaultPort                         = 514
)

func init() {
	config.Global.Add(
		config.Keyword{Name: "log", No: true, Args: logArgs, Help: "where the process and proxies with 'log global' log to",
			Parse: config.On(func(l *config.Line, g *model.Global) { parseLog(l, &g.Log, true) })},
		config.Keyword{Name: "log-tag", Args: "<string>", Help: "program name in log lines",
			Parse: config.On(func(l *config.Line, g *model.Global) { parseTag(l, &g.Log) })},
		config.Keyword{Name: "log-send-hostname", Args: "[<string>]", Help: "host name in log lines",
			Parse: config.On(parseHostname)},
	)
	config.Proxy.Add(
		config.Keyword{Name: "log", No: true, In: anywhere, Args: "{ global | " + logArgs + " }", Help: "where the proxy logs to",
			Parse: config.On(func(l *config.Line, p *model.Proxy) { parseLog(l, &p.Log, false) })},
		config.Keyword{Name: "log-tag", In: anywhere, Args: "<string>", Help: "program name in log lines",
			Parse: config.On(func(l *config.Line, p *model.Proxy) { parseTag(l, &p.Log) })},
	)
}

func parseTag(l *config.Line, c *model.LogConfig) {
	if l.NeedArgs(1, 1) {
		c.Tag = l.Arg(0)
	}
}

func parseHostname(l *config.Line, g *model.Global) {
	switch {
	case !l.NeedArgs(0, 1):
	case g.Log.SendHostname != "":
		l.Warnf(config.KeywordArg, "'log-send-hostname' was given before; the first one counts.")
	case l.Has(0):
		g.Log.SendHostname = l.Arg(0)
	default:
		g.Log.SendHostname = "-"
	}
}

func parseLog(l *config.Line, c *model.LogConfig, global bool) {
	if l.No() {
		if l.NeedArgs(0, 0) {
			c.Targets, c.Global, c.None = nil, false, true
		}
		return
	}
	if l.Arg(0) == "global" {
		switch {
		case global:
			l.Errorf(0, "'log global' belongs in proxies: it refers to the targets given here.")
		case l.NeedArgs(1, 1):
			c.Global, c.None = true, false
		}
		return
	}
	if !l.Has(1) {
		usage := "'log' expects a target and a facility: log "
		if !global {
			usage = "'log' expects 'global', or a target and a facility: log "
		}
		l.Errorf(l.Len(), "%s%s", usage, logArgs)
		return
	}
	if t := parseTarget(l); t != nil {
		c.Targets, c.None = append(c.Targets, t), false
	}
}

// parseTarget reads a target with its options, which have a fixed order. It
// goes on after an error where that makes sense.
func parseTarget(l *config.Line) *model.LogTarget {
	t := &model.LogTarget{Pos: l.Pos(), Length: defaultLength, Level: len(levels) - 1}
	ok := parseAddress(l, t)
	i := 1
	if l.Arg(i) == "len" {
		ok = parseLength(l, i+1, t) && ok
		i += 2
	}
	if l.Arg(i) == "format" {
		if t.Format = l.Arg(i + 1); !slices.Contains(formats, t.Format) {
			missingOrUnknown(l, i+1, "log format", formats)
			ok = false
		}
		i += 2
	}
	if l.Arg(i) == "sample" {
		ok = parseSample(l, i+1, t) && ok
		i += 2
	}
	if l.Arg(i) == "profile" {
		if t.ProfileName = l.Arg(i + 1); t.ProfileName == "" {
			l.Errorf(i+1, "'profile' needs the name of a log-profile section.")
			return nil
		}
		i += 2
	}
	if !l.Has(i) {
		if ok {
			l.Errorf(i, "'log' needs a facility after the target, such as 'local0' or 'daemon'.")
		}
		return nil
	}
	if t.Facility = slices.Index(facilities, l.Arg(i)); t.Facility < 0 {
		if w := l.Arg(i); w == "len" || w == "format" || w == "sample" || w == "profile" {
			l.Errorf(i, "'%s' is in the wrong place: options come in the order len, format, sample, profile, each once, before the facility.", w)
		} else {
			l.Unknown(i, "log facility", facilities)
		}
		return nil
	}
	ok = level(l, i+1, "log level", &t.Level) && ok
	ok = level(l, i+2, "minimum log level", &t.MinLevel) && ok
	if l.Has(i + 3) {
		l.Errorf(i+3, "'%s' is too much: nothing follows the levels.", l.Arg(i+3))
		ok = false
	}
	if !ok {
		return nil
	}
	return t
}

func level(l *config.Line, i int, what string, to *int) bool {
	if !l.Has(i) {
		return true
	}
	n := slices.Index(levels, l.Arg(i))
	if n < 0 {
		l.Unknown(i, what, levels)
		return false
	}
	*to = n
	return true
}

func missingOrUnknown(l *config.Line, i int, what string, valid []string) {
	if l.Has(i) {
		l.Unknown(i, what, valid)
		return
	}
	l.Errorf(i, "'%s' needs a %s: %s.", l.Arg(i-1), what, strings.Join(valid, ", "))
}

func parseLength(l *config.Line, i int, t *model.LogTarget) bool {
	n, err := strconv.Atoi(l.Arg(i))
	if err != nil || n < minLength || n > maxLength {
		l.Errorf(i, "'len' needs the length of log lines, from %d to %d.", minLength, maxLength)
		return false
	}
	t.Length = n
	return true
}

// parseAddress reads the target itself.
func parseAddress(l *config.Line, t *model.LogTarget) bool {
	text := l.Arg(0)
	switch {
	case text == "stdout":
		t.Stdout = true
		return true
	case text == "stderr":
		t.Stderr = true
		return true
	case strings.HasPrefix(text, "ring@"), strings.HasPrefix(text, "backend@"):
		l.NotYet(0, "log target", text[:strings.IndexByte(text, '@')+1])
		return false
	}
	a, ok := l.Addr(0, addr.Log)
	if !ok {
		return false
	}
	switch {
	case a.Proto == addr.Stream || a.Proto == addr.MPTCP:
		l.NotYet(0, "stream log target", text)
		return false
	case a.Family.IsIP() && a.PortKind == addr.NoPort:
		a.PortKind, a.Port, a.PortEnd = addr.FixedPort, defaultPort, defaultPort
	}
	t.Addr = a
	return true
}

// parseSample reads "<low>[-<high>][,...]:<size>".
func parseSample(l *config.Line, i int, t *model.LogTarget) bool {
	text := l.Arg(i)
	bad := func(format string, args ...any) bool {
		l.Errorf(i, "'sample': "+format, args...)
		return false
	}
	ranges, sizeText, found := strings.Cut(text, ":")
	if !found {
		return bad("the sample size is missing; write the ranges, ':' and the size, as in 1-2,5:10.")
	}
	size, err := strconv.Atoi(sizeText)
	if err != nil || size < 1 {
		return bad("'%s' is no sample size.", sizeText)
	}
	for _, part := range strings.Split(ranges, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		lo, err1 := strconv.Atoi(low)
		hi, err2 := strconv.Atoi(high)
		if err1 != nil || err2 != nil || lo < 1 || hi < lo {
			return bad("'%s' is no range; messages are numbered from 1.", part)
		}
		t.SampleRanges = append(t.SampleRanges, model.SampleRange{Low: lo, High: hi})
	}
	slices.SortFunc(t.SampleRanges, func(a, b model.SampleRange) int { return a.Low - b.Low })
	for j, r := range t.SampleRanges {
		if j > 0 && r.Low <= t.SampleRanges[j-1].High {
			return bad("the ranges of '%s' overlap.", ranges)
		}
	}
	if last := t.SampleRanges[len(t.SampleRanges)-1].High; last > size {
		return bad("size %d is below %d, the end of the last range.", size, last)
	}
	t.SampleSize = size
	return true
}
