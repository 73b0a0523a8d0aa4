package args

import (
	"fmt"
	"strconv"
	"strings"
)

// debug reads an option of the -d family; rest is what follows "-d".
func (p *parser) debug(rest string) error {
	o := p.o
	if rest == "" {
		o.Debug = true
		return nil
	}
	if flag := o.switchFor(rest[0]); flag != nil {
		*flag = true
		return nil
	}
	switch arg := rest[1:]; rest[0] {
	case 'k', 'v': // kqueue and event ports: not on this system
	case 'A':
		if arg == "" {
			return &Error{Text: "-dA: the name of the file to write is missing"}
		}
		o.Archive = arg
	case 'C':
		key, lines := strings.CutSuffix(arg, "line")
		n, _ := strconv.ParseUint(strings.TrimSuffix(key, ","), 10, 32)
		o.Dump = &Dump{Key: uint32(n), Lines: lines}
	case 'K':
		o.Keywords = append(o.Keywords, strings.Split(arg, ",")...)
	case 'M':
		if o.Memory == nil {
			o.Memory = new(Memory)
		}
		return o.Memory.parse(arg)
	case 't':
		if arg == "" && len(p.rest) > 0 && !strings.HasPrefix(p.rest[0], "-") {
			arg = p.next()
		}
		o.Traces = &arg
	default:
		o.Debug = true
	}
	return nil
}

// switchFor returns what the option "-d" plus that letter turns on, or nil.
func (o *Options) switchFor(letter byte) *bool {
	switch letter {
	case 'b':
		return &o.Foreground
	case 'c':
		return &o.CPUs
	case 'D':
		return &o.Diag
	case 'F':
		return &o.NoFastForward
	case 'G':
		return &o.NoGetaddrinfo
	case 'I':
		return &o.InsecureFork
	case 'L':
		return &o.Libs
	case 'R':
		return &o.NoReusePort
	case 'S':
		return &o.NoSplice
	case 'T':
		return &o.NoKTLS
	case 'U':
		return &o.NoUring
	case 'V':
		return &o.NoServerVerify
	case 'W':
		return &o.ZeroWarning
	case 'Z':
		return &o.NoZeroCopy
	case 'e':
		return &o.NoEpoll
	case 'p':
		return &o.NoPoll
	case 'r':
		return &o.IgnoreResolve
	}
	return nil
}

// DefaultPoison is the byte that -dM fills fresh memory with.
const DefaultPoison = 0x50

// DefaultFailRate is the share of allocations in percent that "-dMfail" makes
// fail when tune.fail-alloc does not say.
const DefaultFailRate = 1

// Memory is what -dM asks for. Poison and Fail act on weir's pools; Integrity,
// Backup and Tag make them poison what is released and look at it again. The
// others describe how the reference lays out its pools and are accepted for
// the sake of scripts.
type Memory struct {
	Help   bool
	Poison bool
	Byte   byte // what fresh memory is filled with, when Poison is set

	Fail      bool // let allocations fail at random
	Integrity bool
	Backup    bool
	Tag       bool

	NoMerge, ColdFirst, NoGlobal, NoCache, Caller bool
}

// memoryFlag is one keyword of -dM with its opposite.
type memoryFlag struct {
	set, clear string
	help       string
	of         func(m *Memory) *bool
}

// memoryFlags are the keywords of -dM, in the order of its help text.
var memoryFlags = []memoryFlag{
	{"fail", "no-fail", "let allocations fail at random", func(m *Memory) *bool { return &m.Fail }},
	{"no-merge", "merge", "keep pools of like sizes apart (no effect here)", func(m *Memory) *bool { return &m.NoMerge }},
	{"cold-first", "hot-first", "hand out the oldest free object first (no effect here)", func(m *Memory) *bool { return &m.ColdFirst }},
	{"integrity", "no-integrity", "verify released memory when it is taken again", func(m *Memory) *bool { return &m.Integrity }},
	{"no-global", "global", "no cache shared by the threads (no effect here)", func(m *Memory) *bool { return &m.NoGlobal }},
	{"no-cache", "cache", "no cache of a thread (no effect here)", func(m *Memory) *bool { return &m.NoCache }},
	{"caller", "no-caller", "remember who released an object (no effect here)", func(m *Memory) *bool { return &m.Caller }},
	{"tag", "no-tag", "detect what is released twice", func(m *Memory) *bool { return &m.Tag }},
	{"poison", "no-poison", "fill fresh memory with a byte", func(m *Memory) *bool { return &m.Poison }},
	{"backup", "no-backup", "keep a copy of what is released, and compare", func(m *Memory) *bool { return &m.Backup }},
}

// parse reads what follows "-dM": a byte, a list of keywords, or both.
func (m *Memory) parse(arg string) error {
	if arg == "" {
		m.Poison, m.Byte = true, DefaultPoison
		return nil
	}
	if m.Byte == 0 && !m.Poison {
		m.Byte = DefaultPoison
	}
	for i, w := range strings.Split(arg, ",") {
		if i == 0 {
			if n, err := strconv.ParseInt(w, 0, 64); err == nil {
				m.Poison, m.Byte = true, byte(n)
				continue
			}
		}
		if err := m.keyword(w); err != nil {
			return err
		}
	}
	return nil
}

func (m *Memory) keyword(w string) error {
	switch w {
	case "":
		return nil
	case "help":
		m.Help = true
		return nil
	}
	for _, f := range memoryFlags {
		if w == f.set || w == f.clear {
			*f.of(m) = w == f.set
			return nil
		}
	}
	return &Error{Text: fmt.Sprintf("-dM: unknown option '%s'; '-dMhelp' lists them", w)}
}

// HelpText returns what "-dMhelp" prints: the keywords, the current setting of
// each marked with a star.
func (m *Memory) HelpText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "-dM fills fresh memory with the byte 0x%02x; -dM<byte> with another one, 0 included.\n"+
		"Options may follow, separated by commas. Each has an opposite; '*' marks what holds now:\n\n"+
		"    set               clear            description\n"+
		"  -----------------+-----------------+-----------------------------------------\n", DefaultPoison)
	for _, f := range memoryFlags {
		on, off := ' ', '*'
		if *f.of(m) {
			on, off = off, on
		}
		fmt.Fprintf(&b, "  %c %-15s|%c %-15s| %s\n", on, f.set, off, f.clear, f.help)
	}
	return b.String()
}
