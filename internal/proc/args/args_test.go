package args

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestParseOptions(t *testing.T) {
	text := func(s string) *string { return &s }
	for _, c := range []struct {
		line string
		want Options
	}{
		{"-f a", Options{Files: []string{"a"}}},
		{"-f a -f - -f dir", Options{Files: []string{"a", "-", "dir"}}},
		{"-f a -- b -c -d", Options{Files: []string{"a", "b", "-c", "-d"}}},
		{"-- a", Options{Files: []string{"a"}}},
		{"-c -f a", Options{Files: []string{"a"}, Check: true}},
		{"-cq -f a", Options{Files: []string{"a"}, Check: true}},
		{"-V -q -f a", Options{Files: []string{"a"}, Verbose: true, Quiet: true}},
		{"-cc 1&&0", Options{HasCondition: true, Condition: "1&&0"}},
		{"-d -f a -p pid", Options{Files: []string{"a"}, Debug: true, PidFile: "pid"}},
		{"-dx -f a", Options{Files: []string{"a"}, Debug: true}},
		{"-db -dbx -f a", Options{Files: []string{"a"}, Foreground: true}},
		{"-D -C /tmp -L peer -f a", Options{Files: []string{"a"}, Daemon: true, Dir: "/tmp", LocalPeer: "peer"}},
		{"-n 10 -N 20 -m 30 -f a", Options{Files: []string{"a"}, MaxConn: 10, ProxyConn: 20, MemoryMB: 30}},
		{"-n -5 -f a", Options{Files: []string{"a"}}},
		{"-Ws -S fd@3 -f a", Options{Files: []string{"a"}, Master: true, Systemd: true, MasterCLI: "fd@3"}},
		{"-W -f a", Options{Files: []string{"a"}, Master: true}},
		{"-f a -sf", Options{Files: []string{"a"}}},
		{"-f a -sf 12 13 -q", Options{Files: []string{"a"}, OldPids: []int{12, 13}, Quiet: true}},
		{"-f a -st 12", Options{Files: []string{"a"}, OldPids: []int{12}, OldSignal: Terminate}},
		{"-x /dev/null -f a", Options{Files: []string{"a"}, OldSocket: "/dev/null"}},
		{"-dC -f a", Options{Files: []string{"a"}, Dump: &Dump{}}},
		{"-dC17,line -f a", Options{Files: []string{"a"}, Dump: &Dump{Key: 17, Lines: true}}},
		{"-dCline -f a", Options{Files: []string{"a"}, Dump: &Dump{Lines: true}}},
		{"-dKcfg,smp -f a", Options{Files: []string{"a"}, Keywords: []string{"cfg", "smp"}}},
		{"-dtfoo -f a", Options{Files: []string{"a"}, Traces: text("foo")}},
		{"-dt h1 -f a", Options{Files: []string{"a"}, Traces: text("h1")}},
		{"-dt -f a", Options{Files: []string{"a"}, Traces: text("")}},
		{"-dA/tmp/x -dL -dc -f a", Options{Files: []string{"a"}, Archive: "/tmp/x", Libs: true, CPUs: true}},
		{"-dD -dW -4 -f a", Options{Files: []string{"a"}, Diag: true, ZeroWarning: true, IPv4Only: true}},
		{"-dF -dG -dI -dR -dS -dT -dU -dV -dZ -de -dp -dr -dk -dv -f a", Options{Files: []string{"a"},
			NoFastForward: true, NoGetaddrinfo: true, InsecureFork: true, NoReusePort: true, NoSplice: true, NoKTLS: true,
			NoUring: true, NoServerVerify: true, NoZeroCopy: true, NoEpoll: true, NoPoll: true, IgnoreResolve: true}},
		{"-v -z", Options{Version: VersionShort}},
		{"-vv", Options{Version: VersionFull}},
		{"-vq", Options{Version: VersionQuiet}},
		{"-vqs", Options{Version: VersionNumber}},
		{"-vqb", Options{Version: VersionBranch}},
	} {
		got, err := Parse(append([]string{"/usr/sbin/weir"}, strings.Fields(c.line)...))
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		c.want.Program = "weir"
		if !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.line, *got, c.want)
		}
	}
}

func TestParseMemory(t *testing.T) {
	for _, c := range []struct {
		opt  string
		want Memory
	}{
		{"-dM", Memory{Poison: true, Byte: 0x50}},
		{"-dM0", Memory{Poison: true, Byte: 0}},
		{"-dM0x41", Memory{Poison: true, Byte: 0x41}},
		{"-dMfail", Memory{Fail: true, Byte: 0x50}},
		{"-dM80,fail,tag,", Memory{Poison: true, Byte: 80, Fail: true, Tag: true}},
		{"-dM80,no-poison,integrity,backup", Memory{Byte: 80, Integrity: true, Backup: true}},
		{"-dMno-merge,cold-first,no-global,no-cache,caller,merge", Memory{Byte: 0x50, ColdFirst: true, NoGlobal: true, NoCache: true, Caller: true}},
		{"-dMhelp", Memory{Byte: 0x50, Help: true}},
	} {
		o, err := Parse([]string{"weir", c.opt, "-f", "a"})
		if err != nil {
			t.Errorf("%s: %v", c.opt, err)
		} else if *o.Memory != c.want {
			t.Errorf("%s: got %+v, want %+v", c.opt, *o.Memory, c.want)
		}
	}
	m := &Memory{Fail: true}
	if h := m.HelpText(); !strings.Contains(h, "* fail           |  no-fail ") || !strings.Contains(h, "  tag            |* no-tag") {
		t.Errorf("help text does not mark the settings:\n%s", h)
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		line  string
		text  string // part of the sentence
		usage bool
	}{
		{"", "", true},
		{"-h", "", true},
		{"--help", "", true},
		{"-c", "", true},
		{"-z", "unknown option '-z'", true},
		{"-5 -f a", "unknown option '-5'", true},
		{"-sd -f a", "unknown option '-sd'", true},
		{"-", "unknown option", true},
		{"a.cfg -c", "-f", true},
		{"-f", "-f needs", false},
		{"-n", "-n needs", false},
		{"-n abc -f a", "'abc' is not a number", false},
		{"-n -f a", "'-f' is not a number", false},
		{"-m 10M -f a", "'10M' is not a number", false},
		{"-N 99999999999 -f a", "not a number in its range", false},
		{"-C", "-C needs", false},
		{"-L", "-L needs", false},
		{"-p", "-p needs", false},
		{"-cc", "-cc needs", true},
		{"-x", "unix socket", true},
		{"-x -f a", "unix socket", true},
		{"-S /tmp/x -f a", "-W", false},
		{"-sf 12x -f a", "'12x'", false},
		{"-sf abc -f a", "'abc'", false},
		{"-st 99999999999999999999 -f a", "not a process number", false},
		{"-sf 0 -f a", "'0'", true},
		{"-dA -f a", "missing", false},
		{"-dMfoo -f a", "'foo'", false},
		{"-dM5,6 -f a", "'6'", false},
	} {
		_, err := Parse(append([]string{"weir"}, strings.Fields(c.line)...))
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q: error %v, want an *Error", c.line, err)
			continue
		}
		if !strings.Contains(e.Text, c.text) || c.text == "" && e.Text != "" || e.Usage != c.usage {
			t.Errorf("%q: got %+v, want %q, usage %v", c.line, e, c.text, c.usage)
		}
		if e.Error() == "" {
			t.Errorf("%q: an error without words", c.line)
		}
	}
	if _, err := Parse([]string{"weir", ""}); err == nil {
		t.Error("an empty word was accepted")
	}
	if _, err := Parse(nil); err == nil {
		t.Error("no words at all were accepted")
	}
}

// TestAgainstReference compares which command lines are accepted with what a
// HAProxy found on this machine accepts (WEIR_HAPROXY, or haproxy in the path).
func TestAgainstReference(t *testing.T) {
	ref := os.Getenv("WEIR_HAPROXY")
	if ref == "" {
		var err error
		if ref, err = exec.LookPath("haproxy"); err != nil {
			t.Skip("no haproxy here; set WEIR_HAPROXY to its path")
		}
	}
	cfg := filepath.Join(t.TempDir(), "ok.cfg")
	if err := os.WriteFile(cfg, []byte("defaults\n timeout client 1s\n timeout server 1s\n timeout connect 1s\n"+
		"listen a\n bind 127.0.0.1:1\n server s 127.0.0.1:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"-c -f CFG", "-cq -f CFG", "-c -- CFG", "-c -q -V -f CFG", "-c -f CFG --", "-c -f CFG -db -dbx -dx",
		"-c -f CFG -dM", "-c -f CFG -dM0", "-c -f CFG -dMfail,no-merge", "-c -f CFG -dMfoo", "-c -f CFG -dR -dS -dV -dW -dD",
		"-c -f CFG -sf", "-c -f CFG -sf 12 13", "-c -f CFG -st 1 2 -sf 3", "-c -f CFG -sf 0", "-c -f CFG -sf abc", "-c -f CFG -sf 12x",
		"-c -f CFG -n 10 -N 10 -m 1024", "-c -f CFG -n -5", "-c -f CFG -L a", "-c -f CFG -L", "-c -f CFG -n", "-c -f", "-c", "",
		"-c CFG", "-z", "-c -f CFG -5", "-c -f CFG -s", "-c -f CFG -sd", "-c -f CFG -", "--help", "-h", "-v", "-vv", "-vx", "-v -z", "-z -v",
		"-c -f CFG -x", "-c -f CFG -x /dev/null", "-c -f CFG -S", "-c -f CFG -W", "-c -f CFG -Ws", "-c -f CFG -p x", "-c -f CFG -p",
		"-dMhelp", "-dMhelp -z",
	} {
		words := strings.Fields(strings.ReplaceAll(line, "CFG", cfg))
		want := exec.Command(ref, words...).Run() == nil
		_, err := Parse(append([]string{"weir"}, words...))
		if got := err == nil; got != want {
			t.Errorf("%q: accepted %v (%v), the reference says %v", line, got, err, want)
		}
	}
}

func TestUsage(t *testing.T) {
	u := Usage("weir")
	for _, want := range []string{"Usage : weir", "-sf", "-dU", "demo"} {
		if !strings.Contains(u, want) {
			t.Errorf("usage text lacks %q", want)
		}
	}
	for _, l := range strings.Split(u, "\n") {
		if len(l) > 110 {
			t.Errorf("line too long: %s", l)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("-f a -c")
	f.Add("-dM80,fail -sf 1 2 -- x")
	f.Add("-dC1,line -dKall -S x")
	f.Fuzz(func(t *testing.T, line string) {
		o, err := Parse(append([]string{"weir"}, strings.Split(line, " ")...))
		if o == nil {
			t.Fatal("no options")
		}
		if err == nil && len(o.Files) == 0 && o.Version == NoVersion && !o.HasCondition && (o.Memory == nil || !o.Memory.Help) {
			t.Fatal("accepted with nothing to do")
		}
	})
}
