// Package args reads the command line: the options of chapter 3 of the
// Management Guide, with the reference's meaning.
//
// [Parse] looks at the words only. It opens no file, changes no state and
// prints nothing: what is wrong comes back as an [*Error], and whether the
// usage text belongs beside it is for the caller to see in Error.Usage.
//
// As in the reference an option is told by its first letters and further ones
// are ignored ("-cq" is "-c"), and an unknown "-d" option is plain debug mode.
// Two things are stricter: a limit that is not a number is refused, and an
// option whose value is missing is named.
package args

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// VersionMode says which of the version texts was asked for.
type VersionMode uint8

// The version texts: -v, -vv, -vq, -vqs, -vqb.
const (
	NoVersion VersionMode = iota
	VersionShort
	VersionFull
	VersionQuiet
	VersionNumber
	VersionBranch
)

// OldSignal says what the old processes are told once this one is in charge.
type OldSignal uint8

// What -sf and -st send.
const (
	Finish    OldSignal = iota // SIGUSR1: finish and leave
	Terminate                  // SIGTERM: leave now
)

// Options is a command line that was understood. Zero values stand for "not
// given".
type Options struct {
	Program string // last element of argv[0]

	Files []string // configuration files, folders and "-", in order (-f and --)
	Dir   string   // -C

	Version      VersionMode
	Check        bool   // -c
	HasCondition bool   // -cc
	Condition    string // its expression, which may be empty

	Debug      bool // -d: foreground, events on the screen
	Foreground bool // -db
	Daemon     bool // -D
	Master     bool // -W or -Ws
	Systemd    bool // -Ws
	MasterCLI  string
	Quiet      bool // -q; Verbose wins
	Verbose    bool // -V

	PidFile   string // -p
	LocalPeer string // -L
	MaxConn   int    // -n, connections of the process
	ProxyConn int    // -N, default maxconn of a proxy
	MemoryMB  int    // -m, megabytes

	OldPids   []int // -sf, -st
	OldSignal OldSignal
	OldSocket string // -x

	Dump     *Dump    // -dC
	Keywords []string // -dK: classes
	Memory   *Memory  // -dM
	Traces   *string  // -dt: its argument
	Archive  string   // -dA: file for the archive
	Libs     bool     // -dL
	CPUs     bool     // -dc

	Diag        bool // -dD
	ZeroWarning bool // -dW
	IPv4Only    bool // -4

	NoFastForward  bool // -dF
	NoGetaddrinfo  bool // -dG
	InsecureFork   bool // -dI
	NoReusePort    bool // -dR
	NoSplice       bool // -dS
	NoKTLS         bool // -dT
	NoUring        bool // -dU, weir's own: forbids io_uring
	NoServerVerify bool // -dV
	NoZeroCopy     bool // -dZ
	NoEpoll        bool // -de
	NoPoll         bool // -dp
	IgnoreResolve  bool // -dr
}

// Dump is what -dC asks for.
type Dump struct {
	Key   uint32 // other than 0: hide what is confidential, with this key
	Lines bool   // precede each line with its number
}

// Error is a command line that cannot be used. Every one makes the process
// exit with status 1.
type Error struct {
	Text  string // the sentence; "" when only the usage text is due
	Usage bool   // the usage text helps
}

func (e *Error) Error() string {
	if e.Text == "" {
		return "usage"
	}
	return e.Text
}

// parser walks over the words after argv[0].
type parser struct {
	o    *Options
	rest []string
}

// Parse reads a command line, argv[0] included. The options are never nil;
// with an error they hold what was read before it.
func Parse(argv []string) (*Options, error) {
	p := &parser{o: &Options{Program: "weir"}}
	if len(argv) > 0 {
		p.o.Program, p.rest = filepath.Base(argv[0]), argv[1:]
	}
	for len(p.rest) > 0 {
		if err := p.option(p.next()); err != nil {
			return p.o, err
		}
		if p.o.Version != NoVersion || p.o.Memory != nil && p.o.Memory.Help {
			return p.o, nil // answered at once, whatever else is written
		}
	}
	if len(p.o.Files) == 0 && !p.o.HasCondition {
		return p.o, &Error{Usage: true}
	}
	if p.o.MasterCLI != "" && !p.o.Master {
		return p.o, &Error{Text: "a socket for the master is given (-S), but master-worker mode (-W) is not asked for"}
	}
	return p.o, nil
}

func (p *parser) next() string {
	w := p.rest[0]
	p.rest = p.rest[1:]
	return w
}

// value returns the word that an option needs.
func (p *parser) value(opt, what string) (string, error) {
	if len(p.rest) == 0 {
		return "", &Error{Text: fmt.Sprintf("option %s needs %s after it", opt, what)}
	}
	return p.next(), nil
}

// number stores the number that an option needs.
func (p *parser) number(opt, what string, to *int) error {
	v, err := p.value(opt, what)
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(v, 10, 32)
	if err != nil {
		return &Error{Text: fmt.Sprintf("option %s needs %s, and '%s' is not a number in its range", opt, what, v)}
	}
	*to = max(int(n), 0) // as in the reference, below zero is "not set"
	return nil
}

// text stores the word that an option needs.
func (p *parser) text(opt, what string, to *string) (err error) {
	*to, err = p.value(opt, what)
	return err
}

// option reads one option and its values.
func (p *parser) option(w string) error {
	o := p.o
	if len(w) < 2 || w[0] != '-' || w == "--help" {
		return &Error{Text: unexpected(w), Usage: true}
	}
	second := byte(0)
	if len(w) > 2 {
		second = w[2]
	}
	switch w[1] {
	case '-':
		if w != "--" {
			return &Error{Text: unexpected(w), Usage: true}
		}
		o.Files, p.rest = append(o.Files, p.rest...), nil
	case '4':
		o.IPv4Only = true
	case 'f':
		v, err := p.value("-f", "a file or folder")
		o.Files = append(o.Files, v)
		return err
	case 'c':
		if second != 'c' {
			o.Check = true
			return nil
		}
		o.HasCondition = true
		if len(p.rest) == 0 {
			return &Error{Text: "option -cc needs a condition after it", Usage: true}
		}
		o.Condition = p.next()
	case 'C':
		return p.text("-C", "a folder", &o.Dir)
	case 'd':
		return p.debug(w[2:])
	case 'D':
		o.Daemon = true
	case 'L':
		return p.text("-L", "the name of the local peer", &o.LocalPeer)
	case 'm':
		return p.number("-m", "a number of megabytes", &o.MemoryMB)
	case 'n':
		return p.number("-n", "a number of connections", &o.MaxConn)
	case 'N':
		return p.number("-N", "a number of connections", &o.ProxyConn)
	case 'p':
		return p.text("-p", "a file", &o.PidFile)
	case 'q':
		o.Quiet = true
	case 's':
		return p.pids(w, second)
	case 'S':
		return p.text("-S", "an address", &o.MasterCLI)
	case 'v':
		o.Version = versionMode(w)
	case 'V':
		o.Verbose = true
	case 'W':
		o.Master = true
		o.Systemd = o.Systemd || second == 's'
	case 'x':
		if len(p.rest) == 0 || p.rest[0] == "" || p.rest[0][0] == '-' {
			return &Error{Text: "option -x needs the path of a unix socket after it", Usage: true}
		}
		o.OldSocket = p.next()
	default:
		return &Error{Text: unexpected(w), Usage: true}
	}
	return nil
}

// unexpected words the error about a word that is no option.
func unexpected(w string) string {
	switch {
	case w == "-h" || w == "--help":
		return ""
	case w == "":
		return "an empty word is not an option"
	case w[0] != '-':
		return fmt.Sprintf("'%s' is not an option; a configuration file is given with -f", w)
	}
	return fmt.Sprintf("unknown option '%s'", w)
}

func versionMode(w string) VersionMode {
	switch {
	case strings.HasPrefix(w, "-vv"):
		return VersionFull
	case w == "-vq":
		return VersionQuiet
	case w == "-vqs":
		return VersionNumber
	case w == "-vqb":
		return VersionBranch
	}
	return VersionShort
}

// pids reads the numbers after -sf and -st, up to the next option. The list
// may be empty.
func (p *parser) pids(w string, kind byte) error {
	if kind != 'f' && kind != 't' {
		return &Error{Text: unexpected(w), Usage: true}
	}
	p.o.OldSignal = Finish
	if kind == 't' {
		p.o.OldSignal = Terminate
	}
	for len(p.rest) > 0 && !strings.HasPrefix(p.rest[0], "-") {
		v := p.next()
		pid, err := strconv.ParseInt(v, 10, 32)
		if err != nil || pid <= 0 {
			return &Error{Text: fmt.Sprintf("-s%c: '%s' is not a process number", kind, v), Usage: v == "" || pid == 0 && err == nil}
		}
		p.o.OldPids = append(p.o.OldPids, int(pid))
	}
	return nil
}
