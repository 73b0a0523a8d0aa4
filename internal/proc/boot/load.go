package boot

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"weir/internal/lang/config"
	"weir/internal/model"
	"weir/internal/proc/args"
	"weir/internal/proc/limits"
)

// load reads the configuration and prints what is to be said about it. When
// it asks for the background, only errors are printed: the process in the
// background reads it again, and speaks.
func (r *run) load() error {
	stdin := r.stdin
	if slices.Contains(r.o.Files, "-") {
		text, err := io.ReadAll(io.LimitReader(r.stdin, config.MaxStdin+1))
		if err != nil {
			return fmt.Errorf("cannot read the configuration from standard input: %w", err)
		}
		r.input = text
		stdin = bytes.NewReader(text)
	}
	o := config.Options{
		Files: r.o.Files, Stdin: stdin, Environ: r.env, Facts: r.facts(), Diag: r.o.Diag, ZeroWarning: r.o.ZeroWarning,
	}
	var dump bytes.Buffer
	if r.o.Dump != nil {
		o.Dump, o.DumpKey = &dump, r.o.Dump.Key
	}
	cfg, l := r.Load(o)
	if cfg == nil {
		r.writeAll(dump.Bytes())
		r.con.list(l)
		return fail()
	}
	r.cfg = cfg
	if cfg.Global.Quiet && !r.o.Verbose {
		r.con.setQuiet(true)
	}
	if !r.wantsBackground(cfg.Global.Daemon) {
		r.writeAll(dump.Bytes())
		r.con.list(l)
		r.warnings = l.Warnings()
	}
	override(cfg, r.o)
	return nil
}

func (r *run) writeAll(b []byte) { _, _ = r.stdout.Write(b) } // an answer that nobody takes

// override lets the command line win over the configuration.
func override(cfg *model.Config, o *args.Options) {
	g := cfg.Global
	g.NoSplice = g.NoSplice || o.NoSplice || o.NoFastForward // -dF takes both ways to forward unseen
	g.NoReusePort = g.NoReusePort || o.NoReusePort
	g.NoUring = g.NoUring || o.NoUring
	g.NoEpoll = g.NoEpoll || o.NoEpoll
	g.InsecureForkWanted = g.InsecureForkWanted || o.InsecureFork
	g.Tune.DisableZeroCopyForwarding = g.Tune.DisableZeroCopyForwarding || o.NoZeroCopy || o.NoFastForward
	g.ZeroWarning = g.ZeroWarning || o.ZeroWarning
	if o.LocalPeer != "" {
		g.LocalPeer = o.LocalPeer
	}
	if o.PidFile != "" {
		g.PidFile = o.PidFile
	}
	if o.MaxConn > 0 {
		g.MaxConn = o.MaxConn
	}
	if o.Memory != nil && o.Memory.Fail && g.Tune.FailAlloc == 0 {
		g.Tune.FailAlloc = args.DefaultFailRate
	}
	if o.ProxyConn > 0 {
		for _, p := range cfg.Proxies {
			if p.IsFrontend() && p.MaxConn == 0 {
				p.MaxConn = o.ProxyConn
			}
		}
	}
}

// answer prints what was asked about the configuration, and ends a check.
func (r *run) answer() error {
	o := r.o
	if r.wantsBackground(r.cfg.Global.Daemon) {
		return nil // the process in the background answers
	}
	if len(o.Keywords) > 0 {
		dumpKeywords(r.stdout, o.Keywords)
	}
	if o.Libs {
		r.listFiles()
	}
	if o.CPUs {
		r.listCPUs()
	}
	if !o.Check {
		return nil
	}
	if r.warnings > 0 && !r.con.isQuiet() {
		fmt.Fprintln(r.stdout, "Warnings were found.")
	}
	if o.Verbose {
		fmt.Fprintln(r.stdout, "Configuration file is valid")
	}
	return done()
}

// listFiles names the object files of the process (-dL): the one there is.
func (r *run) listFiles() {
	path, err := os.Executable()
	if err != nil {
		path = r.argv[0]
	}
	if !r.con.isQuiet() {
		fmt.Fprintln(r.stdout, "List of loaded object files:")
	}
	fmt.Fprintln(r.stdout, path)
}

// listCPUs tells which CPUs the process may use and where its threads go (-dc).
func (r *run) listCPUs() {
	cpus := limits.AllowedCPUs()
	fmt.Fprintf(r.stdout, "CPUs of the process: %s\n", limits.FormatCPUs(cpus))
	n := limits.Threads(r.cfg.Global)
	fmt.Fprintln(r.stdout, "Thread CPU Bindings:")
	for t := 1; t <= n; t++ {
		set := limits.CPUsOf(r.cfg.Global.CPUMap, t)
		if set == nil {
			set = cpus
		}
		fmt.Fprintf(r.stdout, "  1/%-5d %d: %s\n", t, len(set), limits.FormatCPUs(set))
	}
}

// detachLate goes to the background when the configuration says so.
func (r *run) detachLate() error {
	if !r.wantsBackground(r.cfg.Global.Daemon) {
		return nil
	}
	if r.input != nil {
		return r.detach(bytes.NewReader(r.input))
	}
	return r.detach(r.stdin)
}

// keywordClasses are the classes of -dK, in the order of its help.
var keywordClasses = [][2]string{
	{"all", "all of them"},
	{"acl", "ACL keywords"},
	{"cfg", "configuration keywords"},
	{"cli", "commands of the runtime API"},
	{"cnv", "sample converters"},
	{"flt", "filters"},
	{"smp", "sample fetches"},
	{"svc", "services"},
}

// dumpKeywords answers -dK.
func dumpKeywords(w io.Writer, classes []string) {
	has := func(name string) bool { return slices.Contains(classes, name) }
	if has("help") {
		fmt.Fprintln(w, "# List of supported keyword classes:")
		for _, c := range keywordClasses {
			fmt.Fprintf(w, "%s: %s\n", c[0], c[1])
		}
	}
	if has("all") || has("cfg") {
		dumpConfigKeywords(w, config.Std)
	}
}

// dumpConfigKeywords lists keywords in the shape of a configuration: sections
// at the margin, their keywords below them.
func dumpConfigKeywords(w io.Writer, reg *config.Registry) {
	fmt.Fprintln(w, "# List of registered configuration keywords:")
	var b strings.Builder
	reg.Sections.All(func(name string, s *config.Section) bool {
		fmt.Fprintln(&b, name)
		s.Keywords.All(func(k *config.Keyword) bool {
			if k.In == 0 || k.In&s.Kind != 0 {
				fmt.Fprintf(&b, "\t%s\n", k.Name)
				switch k.Name {
				case "bind":
					dumpOptions(&b, "bind <addr>", reg.Bind)
				case "server":
					dumpOptions(&b, "server <name> <addr>", reg.Server)
				}
			}
			return true
		})
		return true
	})
	_, _ = io.WriteString(w, b.String())
}

// dumpOptions lists the options of a bind or server line, each after its line.
func dumpOptions(b *strings.Builder, line string, t *config.Table) {
	t.All(func(k *config.Keyword) bool {
		fmt.Fprintf(b, "\t%s %s\n", line, k.Name)
		return true
	})
}
