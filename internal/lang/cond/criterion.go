package cond

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"weir/docs/compat"
	"weir/internal/base/ascii"
	"weir/internal/lang/config"
	"weir/internal/model"
)

// criterion describes one fetch with its match method.
type criterion struct {
	// arg says what stands between parentheses: "" nothing.
	arg string
	// optional tells that arg may be left out.
	optional bool
	// values tells that patterns follow; a criterion without takes none.
	values bool
	build  func(c *args) (model.Predicate, bool)
}

// args is one use of a criterion.
type args struct {
	l        *config.Line
	sc       Scope
	name     string // criterion
	arg      string // between parentheses
	at       int    // index of the criterion
	from, to int    // values
	fold     bool   // -i
	ended    bool   // -- was given
}

var criteria = map[string]criterion{
	"always_true":  {build: func(*args) (model.Predicate, bool) { return constant(true), true }},
	"always_false": {build: func(*args) (model.Predicate, bool) { return constant(false), true }},
	"path":         {values: true, build: buildPath(matchExact)},
	"path_beg":     {values: true, build: buildPath(matchPrefix)},
	"path_end":     {values: true, build: buildPath(matchSuffix)},
	"method":       {values: true, build: buildMethod},
	"hdr":          {arg: "name of a header field", values: true, build: buildHeader(matchExact)},
	"hdr_beg":      {arg: "name of a header field", values: true, build: buildHeader(matchPrefix)},
	"src":          {values: true, build: buildSource},
	"nbsrv":        {arg: "backend", optional: true, values: true, build: buildServers},
}

func criteriaNames() []string {
	names := make([]string, 0, len(criteria))
	for n := range criteria {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// parseCriterion reads "name[(arg)] [flags] values..." in [from, to).
func parseCriterion(l *config.Line, from, to int, sc Scope) (model.Predicate, bool) {
	if from >= to {
		l.Errorf(from, "a criterion is expected between the braces, such as 'path_beg /static'.")
		return nil, false
	}
	word := l.Arg(from)
	name, arg, hasArg := strings.Cut(word, "(")
	if hasArg {
		if !strings.HasSuffix(arg, ")") {
			if strings.Contains(arg, ")") {
				l.NotYet(from, "expression with converters", word)
			} else {
				l.Errorf(from, "the parenthesis in '%s' is not closed; an argument with spaces needs quotes.", word)
			}
			return nil, false
		}
		arg = arg[:len(arg)-1]
	}
	if base, _, conv := strings.Cut(name, ","); conv {
		l.NotYet(from, "expression with converters", base+",...")
		return nil, false
	}
	c, ok := criteria[name]
	if !ok {
		l.UnknownName(from, "criterion", name, criteriaNames(), compat.Fetch, compat.ACL)
		return nil, false
	}
	switch {
	case c.arg == "" && arg != "":
		l.Errorf(from, "'%s' takes no argument in parentheses.", name)
		return nil, false
	case c.arg != "" && arg == "" && !c.optional:
		if strings.HasPrefix(name, "hdr") {
			l.NotYet(from, "criterion without the name of a field", name)
		} else {
			l.Errorf(from, "'%s' needs an argument in parentheses: %s(<%s>).", name, name, c.arg)
		}
		return nil, false
	}
	a := &args{l: l, sc: sc, name: name, arg: arg, at: from, from: from + 1, to: to}
	if !a.flags() {
		return nil, false
	}
	if !c.values && a.from < a.to {
		l.Errorf(a.from, "'%s' is compared with nothing; '%s' is too much.", name, l.Arg(a.from))
		return nil, false
	}
	if c.values && a.from == a.to && !a.ended {
		l.Warnf(a.from, "no value to compare '%s' with is given, so that it will never match; an explicit '--' says that this is meant.", word)
	}
	return c.build(a)
}

// flags consumes the flags before the values.
func (a *args) flags() bool {
	for a.from < a.to {
		switch w := a.l.Arg(a.from); w {
		case "-i":
			a.fold = true
			a.from++
		case "--":
			a.from++
			a.ended = true
			return true
		case "-f", "-m", "-n", "-M", "-u":
			a.l.NotYet(a.from, "flag of a criterion", w)
			return false
		default:
			return true
		}
	}
	return true
}

// strings returns the values; patterns are kept in lower case under -i.
func (a *args) strings() []string {
	var out []string
	for i := a.from; i < a.to; i++ {
		v := a.l.Arg(i)
		if a.fold {
			v = string(ascii.AppendLower(nil, []byte(v)))
		}
		out = append(out, v)
	}
	return out
}

func buildPath(how matchFunc) func(*args) (model.Predicate, bool) {
	return func(a *args) (model.Predicate, bool) {
		return &pathMatch{words{how, a.strings(), a.fold}}, true
	}
}

func buildMethod(a *args) (model.Predicate, bool) {
	return &method{names: a.strings(), fold: a.fold}, true
}

func buildHeader(how matchFunc) func(*args) (model.Predicate, bool) {
	return func(a *args) (model.Predicate, bool) {
		name, occ, hasOcc := strings.Cut(a.arg, ",")
		if hasOcc {
			a.l.NotYet(a.at, "occurrence number of a header field", occ)
			return nil, false
		}
		if !ascii.IsTokenBytes([]byte(name)) {
			a.l.Errorf(a.at, "'%s' is no name of a header field.", name)
			return nil, false
		}
		return &header{name, words{how, a.strings(), a.fold}}, true
	}
}

func buildSource(a *args) (model.Predicate, bool) {
	s, ok := &source{}, true
	for i := a.from; i < a.to; i++ {
		n, good := parseNet(a.l.Arg(i))
		if !good {
			a.l.Errorf(i, "'%s' is no IPv4 or IPv6 address or network, such as 192.0.2.0/24.", a.l.Arg(i))
			ok = false
			continue
		}
		s.nets = append(s.nets, n)
	}
	return s, ok
}

// parseNet reads an address, a network in CIDR form, or one with an IPv4 mask.
func parseNet(s string) (netip.Prefix, bool) {
	host, mask, hasMask := strings.Cut(s, "/")
	ip, err := netip.ParseAddr(host)
	if err != nil || ip.Zone() != "" {
		return netip.Prefix{}, false
	}
	if !hasMask {
		return netip.PrefixFrom(ip, ip.BitLen()), true
	}
	bits, err := strconv.Atoi(mask)
	if err != nil {
		m, err := netip.ParseAddr(mask)
		if err != nil || !m.Is4() || !ip.Is4() {
			return netip.Prefix{}, false
		}
		v := m.As4()
		word := uint32(v[0])<<24 | uint32(v[1])<<16 | uint32(v[2])<<8 | uint32(v[3])
		for bits = 0; bits < 32 && word&(1<<31) != 0; bits++ {
			word <<= 1
		}
		if word != 0 { // holes
			return netip.Prefix{}, false
		}
	}
	n, err := ip.Prefix(bits)
	return n, err == nil
}

func buildServers(a *args) (model.Predicate, bool) {
	s := &servers{backend: a.arg}
	if a.arg == "" {
		s.backend = a.sc.Proxy
		if !a.sc.Backend {
			a.l.Errorf(a.at, "'nbsrv' without a name counts the servers of its own section, which has none here; write nbsrv(<backend>).")
			return nil, false
		}
	} else {
		name, at := a.arg, a.at
		a.l.Check(func(l *config.Line) {
			cfg := l.Parser().Root().(*model.Config)
			if cfg.Backend(name) == nil {
				l.UnknownName(at, "backend", name, backendNames(cfg))
			}
		})
	}
	var ok bool
	s.ranges, ok = parseRanges(a)
	return s, ok
}

func backendNames(cfg *model.Config) []string {
	var names []string
	for _, p := range cfg.Proxies {
		if p.IsBackend() {
			names = append(names, p.Name)
		}
	}
	return names
}
