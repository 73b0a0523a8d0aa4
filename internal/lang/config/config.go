// Package config reads configuration files: the language of chapter 2 of the
// Configuration Manual.
//
// [Load] takes the files through two stages. Parse cuts lines into words,
// follows conditional blocks, opens sections and hands each line to the
// keyword it starts with. Check then runs what needs the whole: references
// between objects, consistency. All messages of all files are collected in one
// [diag.List]; nothing is printed, no process state is changed, so that two
// loads may run side by side.
//
// The package knows no directive except those of the language itself. Others
// register their keywords in init, in one of the shared tables:
//
//	func init() {
//		config.Proxy.Add(config.Keyword{
//			Name: "timeout client",
//			In:   config.InDefaults | config.InFrontend,
//			Args: "<timeout>",
//			Help: "maximum inactivity on the client side",
//			Parse: config.On(func(l *config.Line, p *model.Proxy) {
//				if !l.NeedArgs(1, 1) {
//					return
//				}
//				if d, ok := l.Duration(0, units.Millisecond); ok {
//					p.Timeouts.Client = d
//				}
//			}),
//		}, config.Keyword{
//			Name: "default_backend",
//			In:   config.InDefaults | config.InFrontend,
//			Args: "<backend>",
//			Help: "backend for requests that no rule sends elsewhere",
//			Parse: config.On(func(l *config.Line, p *model.Proxy) {
//				if !l.NeedArgs(1, 1) {
//					return
//				}
//				p.DefaultBackendName = l.Arg(0)
//				l.Check(func(l *config.Line) { // when all files are parsed
//					cfg := l.Parser().Root().(*model.Config)
//					if cfg.Backend(l.Arg(0)) == nil {
//						l.Unknown(0, "backend", cfg.BackendNames())
//					}
//				})
//			}),
//		})
//	}
//
// The objects that sections fill come from functions registered the same way:
//
//	func init() {
//		config.AddGlobalSection(func(p *config.Parser) any {
//			return &p.Root().(*model.Config).Global
//		})
//		config.AddProxySections(config.ProxyHooks{
//			Open: func(p *config.Parser, h *config.ProxyHeader) any {
//				// h.Kind, h.Name, h.From (the target of the defaults section)
//				return p.Root().(*model.Config).NewProxy(h.Kind, h.Name, h.From)
//			},
//		})
//	}
//
// Options on bind and server lines are tables of the same kind, walked by
// [Line.Options]; a keyword with Params: 1 there finds its value in l.Arg(0).
package config

import (
	"io"
	"slices"
	"strings"

	"weir/internal/base/diag"
)

// Version is the version of HAProxy whose language is spoken: what
// version_atleast and version_before compare with. Branch is its branch.
const (
	Version = "3.5.0"
	Branch  = "3.5"
)

// Limits of what is read; each is an error when passed.
const (
	// MaxStdin bounds a configuration from standard input, in bytes.
	MaxStdin = 10 << 20
	// MaxFile bounds a regular configuration file, in bytes.
	MaxFile = 1 << 30
	// MaxLine bounds one line after expansion, in bytes.
	MaxLine = 16 << 20
	// MaxWords bounds the words of one line.
	MaxWords = 64
	// MaxDepth bounds the nesting of .if blocks.
	MaxDepth = 1024
)

// Options are the inputs of a load. The zero value loads nothing.
type Options struct {
	// Files are files and folders in the order of the command line; "-" is
	// standard input. A folder stands for its files named *.cfg that are not
	// hidden, in byte order.
	Files []string
	// Dir is the folder against which relative paths are taken (-C), ""
	// the current one.
	Dir string
	// Stdin is read for the file "-".
	Stdin io.Reader
	// ReadFile reads one file; nil: from the disk. ReadDir lists the names in
	// a folder, or returns ok == false for what is no folder; nil: disk.
	ReadFile func(path string) ([]byte, error)
	ReadDir  func(path string) (names []string, ok bool, err error)
	// Environ is the initial environment, as of os.Environ.
	Environ []string
	// Root is what Parser.Root returns: the object that the load fills.
	Root any
	// Registry defaults to Std, which is frozen by the first load.
	Registry *Registry
	// Facts is what conditions ask about the program.
	Facts Facts
	// Diag asks for the messages of the diagnostic mode (-dD).
	Diag bool
	// ZeroWarning is -dW: warnings make the load fail.
	ZeroWarning bool
	// Dump writes the configuration after word splitting (-dC) to that
	// writer; a DumpKey other than 0 anonymises it, DumpLines numbers lines.
	Dump      io.Writer
	DumpKey   uint32
	DumpLines bool
}

// Facts are properties of the program and its libraries that conditional
// blocks test (manual section 2.4).
type Facts struct {
	// Features lists what "feature(X)" finds, upper case: "OPENSSL".
	Features []string
	// Enabled tells for the run-time options of "enabled(X)".
	Enabled map[string]bool
	// SSLLib is the name of the TLS library, SSLVersion its version as
	// OpenSSL writes one ("3.5.0"), AWSLCAPI the AWS-LC API number.
	SSLLib     string
	SSLVersion string
	AWSLCAPI   int
	// FIPS tells whether the TLS library runs in FIPS mode.
	FIPS bool
	// LocalPeer is the name of the local peer (HAPROXY_LOCALPEER).
	LocalPeer string
	// LogFormats are the values of HAPROXY_HTTP_LOG_FMT and its kin, by the
	// name of the variable.
	LogFormats map[string]string
}

// Opened is one section that was read, in file order.
type Opened struct {
	Section *Section
	Kind    Sections
	Name    string // "" for a section without name
	Target  any
	Pos     diag.Position
}

// Result is what a load leaves.
type Result struct {
	Root     any
	Sections []Opened
	// Env is the environment at the end of the parse.
	Env *Env
	// Files are the files read, folders expanded.
	Files []string
	// ZeroWarning is set when -dW or the keyword zero-warning ask for it.
	ZeroWarning bool
	// Failed tells that the configuration must not be used: there are errors,
	// or warnings under ZeroWarning.
	Failed bool
}

// Load reads and checks a configuration. The result is never nil; it is fit
// for use when Failed is false. The list holds all messages in the order in
// which they were found.
func Load(o Options) (*Result, *diag.List) {
	if o.Registry == nil {
		o.Registry = Std
	}
	o.Registry.Freeze()
	p := newParser(o)
	p.parseFiles()
	p.check()
	res := &Result{
		Root: o.Root, Sections: p.opened, Env: p.env, Files: p.files,
		ZeroWarning: p.zeroWarning,
	}
	switch {
	case p.diags.Errors() > 0:
		res.Failed = true
		p.diags.Alertf(diag.Position{}, "the configuration has errors and cannot be used.")
	case p.zeroWarning && p.diags.Warnings() > 0:
		res.Failed = true
		p.diags.Add(diag.Message{
			Severity: diag.Alert, Bare: true,
			Text: "There are warnings, and 'zero-warning' makes them errors.",
		})
	}
	return res, p.diags
}

// check runs the check stage: deferred checks of lines in file order, then
// the registered checks.
func (p *Parser) check() {
	for i := 0; i < len(p.deferred); i++ { // a check may add further ones
		d := p.deferred[i]
		d.fn(d.line)
	}
	p.deferred = nil
	var all []*Check
	p.reg.Checks.All(func(_ string, c *Check) bool {
		all = append(all, c)
		return true
	})
	slices.SortStableFunc(all, func(a, b *Check) int {
		if a.Order != b.Order {
			return a.Order - b.Order
		}
		return strings.Compare(a.Name, b.Name)
	})
	for _, c := range all {
		c.Run(p)
	}
	for i := 0; i < len(p.deferred); i++ {
		d := p.deferred[i]
		d.fn(d.line)
	}
	p.deferred = nil
}
