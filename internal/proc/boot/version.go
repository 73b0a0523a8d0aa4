package boot

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"weir/internal/lang/config"
	"weir/internal/lang/logfmt"
	"weir/internal/model"
	"weir/internal/proc/args"
	"weir/internal/proc/limits"
)

const (
	// Version is weir's own version.
	Version = "0.1.0"
	// Compatible is the version of HAProxy that weir speaks.
	Compatible = config.Version
	// released is the date of Version, for builds that know no better.
	released = "2026/08/21"
)

// features is the list that feature() and -vv know: the reference's names, and
// weir's own IO_URING. On means that this program has it.
var features = []struct {
	name string
	on   bool
}{
	{"51DEGREES", false}, {"ACCEPT4", true}, {"ACME", false}, {"BACKTRACE", true}, {"CLOSEFROM", false},
	{"CPU_AFFINITY", true}, {"CRYPT_H", false}, {"DEVICEATLAS", false}, {"DL", false}, {"ECH", false},
	{"ENGINE", false}, {"EPOLL", true}, {"EVPORTS", false}, {"FCGI", false}, {"GETADDRINFO", false},
	{"H2", false}, {"HAVE_TCP_MD5SIG", false}, {"IO_URING", true}, {"KQUEUE", false}, {"KTLS", false},
	{"LIBATOMIC", false}, {"LIBCRYPT", false}, {"LINUX_CAP", false}, {"LINUX_SPLICE", true},
	{"LINUX_TPROXY", true}, {"LUA", false}, {"MATH", false}, {"MEMORY_PROFILING", false},
	{"NETFILTER", false}, {"NS", false}, {"OBSOLETE_LINKER", false}, {"OPENSSL", true},
	{"OPENSSL_AWSLC", false}, {"OPENSSL_WOLFSSL", false}, {"PCRE", false}, {"PCRE2", false},
	{"PCRE2_JIT", false}, {"PCRE_JIT", false}, {"POLL", false}, {"PRCTL", true}, {"PROCCTL", false},
	{"PROMEX", true}, {"PTHREAD_EMULATION", false}, {"QUIC", false}, {"QUIC_OPENSSL_COMPAT", false},
	{"RT", false}, {"SHM_OPEN", false}, {"SLZ", false}, {"SPOE", false}, {"SSL", false},
	{"STATIC_PCRE", false}, {"STATIC_PCRE2", false}, {"TFO", true}, {"THREAD", true},
	{"THREAD_DUMP", true}, {"TPROXY", true}, {"TRACE", false}, {"WURFL", false}, {"ZLIB", false},
}

// facts is what conditions may ask about the program.
func (r *run) facts() config.Facts {
	// Configurations name ciphers, curves and versions as OpenSSL does; those that ask for its version want TLSv1.3 and what
	// came with it. The library is that of Go.
	f := config.Facts{SSLLib: "OpenSSL", SSLVersion: "3.0.0", Enabled: make(map[string]bool), LogFormats: logfmt.Variables()}
	for _, x := range features {
		if x.on {
			f.Features = append(f.Features, x.name)
		}
	}
	if o := r.o; o != nil {
		f.LocalPeer = localPeer(o)
		f.Enabled = map[string]bool{
			"EPOLL": !o.NoEpoll, "SPLICE": !o.NoSplice, "REUSEPORT": !o.NoReusePort,
			"FAST-FORWARD": !o.NoFastForward, "SERVER-SSL-VERIFY-NONE": o.NoServerVerify,
		}
	}
	return f
}

// localPeer is the name of the local peer: -L, or the host's name.
func localPeer(o *args.Options) string {
	if o.LocalPeer != "" {
		return o.LocalPeer
	}
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "localhost"
	}
	return unix.ByteSliceToString(u.Nodename[:])
}

// version formats what -v and its kin print.
func (r *run) version(mode args.VersionMode) string {
	switch mode {
	case args.VersionQuiet:
		return fmt.Sprintf("%s-weir%s\n", Compatible, Version)
	case args.VersionNumber:
		return Compatible + "\n"
	case args.VersionBranch:
		return config.Branch + "\n"
	case args.VersionFull:
		return r.head() + r.buildInfo()
	}
	return r.head()
}

// head is the short version text. Programs that look for HAProxy's line find
// it; it comes first for those that call the program by that name.
func (r *run) head() string {
	date := buildDate()
	own := fmt.Sprintf("weir version %s %s - a load balancer that speaks HAProxy\n", Version, date)
	theirs := fmt.Sprintf("HAProxy version %s-weir%s %s - what this weir is compatible with\n", Compatible, Version, date)
	if strings.HasPrefix(r.o.Program, "haproxy") {
		own, theirs = theirs, own
	}
	return own + theirs + "Running on: " + system() + "\n"
}

// system names the kernel, as uname does.
func system() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return runtime.GOOS
	}
	s := unix.ByteSliceToString
	return strings.Join([]string{s(u.Sysname[:]), s(u.Release[:]), s(u.Version[:]), s(u.Machine[:])}, " ")
}

// buildDate is the date of the sources that the program was built from.
func buildDate() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.time" && len(s.Value) >= len("2026-08-21") {
				return strings.ReplaceAll(s.Value[:len("2026-08-21")], "-", "/")
			}
		}
	}
	return released
}

// buildInfo is what -vv adds.
func (r *run) buildInfo() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Build options : \n  TARGET  = %s-%s\n  CC      = %s\n", runtime.GOOS, runtime.GOARCH, runtime.Version())
	if info, ok := debug.ReadBuildInfo(); ok {
		var opts []string
		for _, s := range info.Settings {
			if (strings.HasPrefix(s.Key, "-") || s.Key == "CGO_ENABLED" || s.Key == "GOAMD64" || s.Key == "vcs.revision") && s.Value != "" {
				opts = append(opts, s.Key+"="+s.Value)
			}
		}
		slices.Sort(opts)
		fmt.Fprintf(&b, "  OPTIONS = %s\n", strings.Join(opts, " "))
	}
	b.WriteString("\nFeature list :")
	for _, f := range features {
		sign := '-'
		if f.on {
			sign = '+'
		}
		fmt.Fprintf(&b, " %c%s", sign, f.name)
	}
	fmt.Fprintf(&b, "\n\nDefault settings :\n  bufsize = %d, maxrewrite = %d, maxpollevents = 200\n\n", model.DefaultBufSize, model.DefaultMaxRewrite)
	fmt.Fprintf(&b, "Built with multi-threading support (MAX_TGROUPS=1, MAX_THREADS=%d, default=%d).\n", limits.MaxThreads, limits.Threads(&model.Global{}))
	b.WriteString("Built with transparent proxy support using: IP_TRANSPARENT IPV6_TRANSPARENT IP_FREEBIND\n\n")
	text, _ := r.pollers(false, false)
	b.WriteString(text)
	b.WriteString("\nAvailable multiplexer protocols :\n(protocols marked as <default> cannot be specified using 'proto' keyword)\n" +
		"  <default> : mode=HTTP  side=FE|BE  mux=H1    flags=HTX\n" +
		"         h1 : mode=HTTP  side=FE|BE  mux=H1    flags=HTX|NO_UPG\n" +
		"  <default> : mode=TCP   side=FE|BE  mux=PASS  flags=\n" +
		"       none : mode=TCP   side=FE|BE  mux=PASS  flags=NO_UPG\n\n" +
		"Available services : none\n\nAvailable filters : none\n\n")
	return b.String()
}

// pollers formats the ways to wait for the network and names the one that is
// used, "" when there is none.
func (r *run) pollers(noUring, noEpoll bool) (text, use string) {
	type poller struct {
		name string
		pref int
		off  bool
		err  error
	}
	list := []poller{{"io_uring", 400, noUring, nil}, {"epoll", 300, noEpoll, nil}}
	if r.Uring != nil {
		list[0].err = r.Uring()
	}
	var b strings.Builder
	b.WriteString("Available polling systems :\n")
	total, usable := 0, 0
	for _, p := range list {
		if p.off {
			fmt.Fprintf(&b, "%11s : disabled,  test result %s\n", p.name, verdict(p.err))
			continue
		}
		total++
		fmt.Fprintf(&b, "%11s : pref=%d,  test result %s\n", p.name, p.pref, verdict(p.err))
		if p.err == nil {
			usable++
			if use == "" {
				use = p.name
			}
		}
	}
	fmt.Fprintf(&b, "Total: %d (%d usable), will use %s.\n", total, usable, cmp.Or(use, "none"))
	return b.String(), use
}

func verdict(err error) string {
	if err != nil {
		return fmt.Sprintf("FAILED (%v)", err)
	}
	return "OK"
}
