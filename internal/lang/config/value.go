package config

import (
	"errors"
	"math"
	"strings"
	"time"

	"weir/internal/base/addr"
	"weir/internal/base/units"
)

// badUnit reports a number that units refused. It returns true when the value
// is usable nevertheless.
func (l *Line) badUnit(i int, err *units.Error) bool {
	switch err.Kind {
	case units.Empty:
		l.Errorf(i, "'%s' expects a number%s.", l.Name(), usageHint(l.usage()))
	case units.Trailing:
		l.Warnf(i, "'%s': %s. Later versions will refuse this.", l.Name(), err)
		return true
	default:
		l.Errorf(i, "'%s': %s.", l.Name(), err)
	}
	return false
}

func usageHint(usage string) string {
	if usage == "" {
		return ""
	}
	return ": " + usage
}

// Int reads argument i as an integer between lo and hi.
func (l *Line) Int(i int, lo, hi int64) (int64, bool) {
	v, err := units.Int(l.Arg(i), lo, hi)
	if err != nil {
		return 0, l.badUnit(i, err)
	}
	return v, true
}

// Duration reads argument i as a time; def is its unit when none is written,
// and its resolution.
func (l *Line) Duration(i int, def units.Unit) (time.Duration, bool) {
	d, err := units.Duration(l.Arg(i), def)
	if err != nil {
		return d, l.badUnit(i, err)
	}
	return d, true
}

// Size reads argument i as a number of bytes between lo and hi.
func (l *Line) Size(i int, lo, hi int64) (int64, bool) {
	n, err := units.Size(l.Arg(i))
	if err != nil {
		return 0, l.badUnit(i, err)
	}
	if n < lo || n > hi {
		l.Errorf(i, "'%s': '%s' is out of range; it must be between %d and %d bytes.", l.Name(), l.Arg(i), lo, hi)
		return 0, false
	}
	return n, true
}

// Percent reads argument i as a percentage between lo and hi; '%' is optional.
func (l *Line) Percent(i int, lo, hi int64) (int64, bool) {
	v, err := units.Percent(l.Arg(i), lo, hi)
	if err != nil {
		return 0, l.badUnit(i, err)
	}
	return v, true
}

// Uint reads argument i as an integer from 0 to MaxInt64.
func (l *Line) Uint(i int) (int64, bool) { return l.Int(i, 0, math.MaxInt64) }

// OnOff reads argument i as "on" or "off".
func (l *Line) OnOff(i int) (on, ok bool) {
	n := l.OneOf(i, "setting", "on", "off")
	return n == 0, n >= 0
}

// Addr reads argument i as an address that meets the need. A form that weir
// does not serve yet is reported as such.
func (l *Line) Addr(i int, need addr.Need) (addr.Addr, bool) {
	return l.AddrText(i, l.Arg(i), need)
}

// AddrText is Addr for an address that is a part of argument i.
func (l *Line) AddrText(i int, text string, need addr.Need) (addr.Addr, bool) {
	a, err := addr.Parse(text)
	if err == nil {
		err = a.Check(text, need)
	}
	if err != nil {
		hint := "."
		var e *addr.Error
		if errors.As(err, &e) && e.Prefix != "" {
			if s := suggestion(e.Prefix, addr.Prefixes()); s != "" {
				hint = s
			}
		}
		l.Errorf(i, "'%s': %v%s", l.Name(), err, hint)
		return a, false
	}
	if what := a.Unserved(); what != "" {
		l.NotYet(i, "address form", what)
		return a, false
	}
	return a, true
}

// Options parses the arguments from start on as options of the table, each
// with its values: those of bind and server lines. Parse functions get a line
// that starts at the option: Arg(0) is the option's first value.
func (l *Line) Options(start int, t *Table, target any) {
	for i := l.at + l.nkw + start; i < len(l.words); {
		kw := t.match(func(k int) (string, bool) { return l.word(i + k), i+k < len(l.words) })
		if kw == nil {
			l.unknownOption(i, t)
			return // without its arity the rest cannot be read
		}
		sub := &Line{p: l.p, pos: l.pos, words: l.words, kw: kw, at: i, nkw: len(kw.words)}
		if kw.Params > 0 && sub.Len() < kw.Params {
			sub.Errorf(sub.Len(), "'%s' expects %s%s, %s.", kw.Name, plural(kw.Params, "argument"), usageHint(kw.Args), given(sub.Len()))
			return
		}
		n := kw.Params
		if l.admitOption(sub) {
			if n >= 0 {
				cut := *sub
				cut.words = l.words[:i+sub.nkw+n]
				kw.Parse(&cut, target)
			} else {
				kw.Parse(sub, target)
			}
		}
		if n < 0 {
			n = min(sub.taken, sub.Len())
		}
		i += sub.nkw + n
	}
}

// Paren is the text in parentheses behind the keyword; false when they are missing or not closed.
func (l *Line) Paren() (string, bool) {
	_, text, ok := strings.Cut(l.word(l.at), "(")
	text, closed := strings.CutSuffix(text, ")")
	return text, ok && closed
}

// Take says, in the parse function of an option whose Params is negative, how
// many of the following words belong to it.
func (l *Line) Take(n int) { l.taken = max(n, 0) }

func (l *Line) admitOption(sub *Line) bool {
	kw := sub.kw
	if kw.In != 0 && kw.In&l.p.kind == 0 {
		sub.Errorf(KeywordArg, "option '%s' is not allowed in a %s section.", kw.Name, l.p.section.Name)
		return false
	}
	if kw.Experimental && !l.p.experimental {
		sub.Errorf(KeywordArg, "'%s' is experimental: it needs 'expose-experimental-directives' in the global section.", kw.Name)
		return false
	}
	if kw.Deprecated && !l.p.deprecated {
		sub.Warnf(KeywordArg, "'%s' is deprecated; 'expose-deprecated-directives' in the global section silences this.", kw.Name)
	}
	return true
}

func (l *Line) unknownOption(i int, t *Table) {
	l.UnknownName(i-l.at-l.nkw, t.kind+" option", l.word(i), t.Names(), t.kind)
}
