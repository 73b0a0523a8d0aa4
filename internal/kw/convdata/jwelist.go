package convdata

import (
	"fmt"
	"strings"

	"weir/internal/lang/config"
	"weir/internal/model"
)

func init() { config.Global.Add(jweKeywords()...) }

// jweKeywords are the directives of the global section (manual, chapter 3.1).
func jweKeywords() []config.Keyword {
	return []config.Keyword{
		{Name: "jwt.decrypt_alg_list", Args: "<list>", Help: "key algorithms of encrypted tokens that are accepted",
			Parse: config.On(func(l *config.Line, _ *model.Global) {
				setPolicy(l, algNumber, func(p *jwePolicy) *uint32 { return &p.algs })
			})},
		{Name: "jwt.decrypt_enc_list", Args: "<list>", Help: "content algorithms of encrypted tokens that are accepted",
			Parse: config.On(func(l *config.Line, _ *model.Global) {
				setPolicy(l, encNumber, func(p *jwePolicy) *uint32 { return &p.encs })
			})},
	}
}

// algNumber and encNumber find an algorithm in its table; -1: there is none.
func algNumber(name string) int {
	for i := range jweAlgs {
		if jweAlgs[i].name == name {
			return i
		}
	}
	return -1
}

func encNumber(name string) int {
	for i := range jweEncs {
		if jweEncs[i].name == name {
			return i
		}
	}
	return -1
}

// setPolicy reads the list of a line into one part of the configuration's policy.
func setPolicy(l *config.Line, find func(string) int, part func(*jwePolicy) *uint32) {
	if !l.NeedArgs(1, 1) {
		return
	}
	set, err := parseAlgorithms(l.Arg(0), find)
	if err != nil {
		l.Errorf(0, "%v.", err)
		return
	}
	cfg, ok := l.Parser().Root().(*model.Config)
	if !ok {
		return
	}
	p := policyOf.Get(&cfg.Slots)
	if p == nil {
		p = new(jwePolicy)
		*p = jweDefault
		policyOf.Set(&cfg.Slots, p)
	}
	*part(p) = set
}

// parseAlgorithms reads names between colons: ALL stands for all of them, '!' before a name takes it out again. The last word on a
// name counts.
func parseAlgorithms(list string, find func(string) int) (set uint32, err error) {
	for word := range strings.SplitSeq(list, ":") {
		name, out := strings.CutPrefix(word, "!")
		if name == "ALL" && !out {
			set = jweEvery
			continue
		}
		i := find(name)
		switch {
		case i < 0:
			return 0, fmt.Errorf("'%s' is no algorithm of this list", name)
		case out:
			set &^= 1 << i
		default:
			set |= 1 << i
		}
	}
	return set, nil
}
