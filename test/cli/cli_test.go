// Package cli asks the real binary over its stats sockets, and HAProxy beside it where that is installed.
package cli

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"weir/docs/compat"
	_ "weir/internal/all"
	"weir/internal/feat/cli"
	"weir/test/scenario"
)

func TestMain(m *testing.M) {
	code := m.Run()
	scenario.Cleanup()
	os.Exit(code)
}

// patience bounds each wait.
const patience = 15 * time.Second

// proc is a running program.
type proc struct {
	t    *testing.T
	cmd  *exec.Cmd
	dir  string
	sock string
	errs *bytes.Buffer
}

// config has a frontend, servers in several states and lists; %s are the folder and what to add to the global section.
const config = `
global
  stats socket %[1]s/s level admin expose-fd listeners
  stats socket %[1]s/user level user mode 600
  stats timeout 10s
  nbthread 2
  %[2]s
defaults
  mode http
  timeout client 5s
  timeout server 5s
  timeout connect 5s
frontend fe
  bind unix@%[1]s/fe
  acl listed src -f %[1]s/acl
  http-request set-header x-map %%[path,map(%[1]s/map,none)]
  http-request return status 200 hdr x-map %%[path,map(%[1]s/map,none)]
  default_backend be
listen li
  bind unix@%[1]s/li
  mode tcp
  server s1 127.0.0.1:9 weight 5 maxconn 10
backend be
  balance roundrobin
  server a 127.0.0.1:9 weight 10
  server b 127.0.0.1:9 backup disabled
`

// run starts a program on config and waits until its stats socket answers.
func run(t *testing.T, bin, global string, extra ...*os.File) *proc {
	t.Helper()
	p := &proc{t: t, dir: t.TempDir(), errs: new(bytes.Buffer)}
	p.sock = filepath.Join(p.dir, "s")
	for name, text := range map[string]string{
		"cfg": fmt.Sprintf(config, p.dir, global), "acl": "10.0.0.0/8\n", "map": "/a one\n/b two words\n",
	} {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.cmd = exec.Command(bin, "-f", filepath.Join(p.dir, "cfg"))
	p.cmd.Stderr, p.cmd.ExtraFiles = p.errs, extra
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.stop)
	for end := time.Now().Add(patience); ; {
		if c, err := net.Dial("unix", p.sock); err == nil {
			c.Close()
			return p
		}
		if time.Now().After(end) {
			t.Fatalf("no answer from %s:\n%s", bin, p.errs)
		}
		<-time.After(5 * time.Millisecond)
	}
}

func (p *proc) stop() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		_ = p.cmd.Wait()
	}
}

// ask sends a line, and what follows it, to the stats socket.
func (p *proc) ask(line string) string {
	p.t.Helper()
	c, err := net.Dial("unix", p.sock)
	if err != nil {
		p.t.Fatal(err)
	}
	return talk(p.t, c, line)
}

func talk(t *testing.T, c net.Conn, line string) string {
	t.Helper()
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c, line+"\n"); err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(c)
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return string(out)
}

func build(t *testing.T) string {
	t.Helper()
	bin, err := scenario.Build()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// reference finds HAProxy.
func reference(t *testing.T) string {
	t.Helper()
	name := os.Getenv("WEIR_REF")
	if name == "" {
		name = "haproxy"
	}
	bin, err := exec.LookPath(name)
	if err != nil {
		t.Skip("no haproxy")
	}
	return bin
}

// get asks the frontend for a path and returns the value of the header that the map fills.
func (p *proc) get(path string) string {
	p.t.Helper()
	c, err := net.Dial("unix", filepath.Join(p.dir, "fe"))
	if err != nil {
		p.t.Fatal(err)
	}
	for line := range strings.Lines(talk(p.t, c, "GET "+path+" HTTP/1.0\r\n\r")) {
		if v, ok := strings.CutPrefix(line, "x-map: "); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// TestCommands holds answers whose text HAProxy 3.5 gives too.
func TestCommands(t *testing.T) {
	p := run(t, build(t), "")
	for _, c := range []struct{ in, out string }{
		{"show backend", "# name\nli\nbe\n\n"},
		{"show cli level", "admin\n\n"},
		{"get weight be/a", "10 (initial 10)\n\n"},
		{"get weight be/x", "No such server.\n\n"},
		{"get weight x/a", "No such backend.\n\n"},
		{"get weight x", "Require 'backend/server'.\n\n"},
		{"set weight be/a abc", "Empty weight string empty or preceded by garbage\n\n"},
		{"set weight be/a 9x", "Trailing garbage in weight string\n\n"},
		{"set weight be/a 999", "Absolute weight can only be between 0 and 256 inclusive.\n\n"},
		{"set server be/a state x", "'set server <srv> state' expects 'ready', 'drain' and 'maint'.\n\n"},
		{"disable frontend x", "No such frontend.\n\n"},
		{"enable frontend fe", "All sockets are already enabled.\n\n"},
		{"set maxconn frontend fe -1", "Value out of range.\n\n"},
		{"set maxconn global", "Expects an integer value.\n\n"},
		{"show map x", "Unknown map identifier. Please use #<id> or <file>.\n\n"},
		{"show acl x", "Unknown ACL identifier. Please use #<id> or <file>.\n\n"},
		{"del map", "This command expects two parameters: map identifier and key.\n\n"},
		{"get map " + p.dir + "/map /a", "type=str, case=sensitive, found=yes, idx=tree, key=\"/a\", value=\"one\", type=\"str\"\n\n"},
		{"get map " + p.dir + "/map /z", "type=str, case=sensitive, found=no\n\n"},
		{"get acl " + p.dir + "/acl 10.1.1.1", "type=ip, case=sensitive, match=yes, idx=tree, pattern=\"10.0.0.0/8\"\n\n"},
		{"add map " + p.dir + "/map <<\nkey\n", "Missing value for key 'key'.\n\n"},
		{"commit map " + p.dir + "/map", "Missing version number.\n\n"},
		{"commit map @9 " + p.dir + "/map", "Version number out of range.\n\n"},
		{"add map @9 " + p.dir + "/map a b", "Version number in the future, please use 'prepare map' before.\n\n"},
		{"experimental-mode on;set var proc.x expr str(a),upper;get var proc.x", "\n\nproc.x: type=str value=<A>\n\n"},
		{"experimental-mode on;set var proc.y fmt a%[int(3)];get var proc.y", "\n\nproc.y: type=str value=<a3>\n\n"},
		{"get var proc.z", "Variable not found.\n\n"},
		{"show table", "\n"}, {"show table x", "No such table\n\n"}, {"show peers", "\n"},
		{"show cli sockets", "# socket lvl processes\nunix@" + p.sock + " admin all\nunix@" + p.dir + "/user user all\n\n"},
	} {
		if got := p.ask(c.in); got != c.out {
			t.Errorf("%q:\n got %q\nwant %q", c.in, got, c.out)
		}
	}
}

// TestBlankInWord: a word with a blank in it is no command, and the process goes on.
func TestBlankInWord(t *testing.T) {
	p := run(t, build(t), "")
	for _, line := range []string{`show\ version`, `show\ cli level`, `help\ `, `\ `, `set\ severity-output none`} {
		if out := p.ask(line); out == "" {
			t.Errorf("%s: no answer", line)
		}
	}
	if out := p.ask(`show cli level`); out != "admin\n\n" {
		t.Errorf("afterwards: %q\n%s", out, p.errs)
	}
}

// TestMaps changes a map and sees requests follow.
func TestMaps(t *testing.T) {
	p := run(t, build(t), "")
	m := p.dir + "/map"
	step := func(command, path, want string) {
		t.Helper()
		out := p.ask(command)
		if got := p.get(path); got != want {
			t.Errorf("after %q (answer %q): %s is %q, want %q", command, out, path, got, want)
		}
	}
	step("show map "+m, "/a", "one")
	step("add map "+m+" /c three", "/c", "three")
	step("set map "+m+" /c four", "/c", "four")
	step("del map "+m+" /c", "/c", "none")
	step("add map "+m+" <<\n/d five 5\n/e six\n", "/d", "five 5")
	if out := p.ask("prepare map " + m); out != "New version created: 1\n\n" {
		t.Errorf("%q", out)
	}
	step("add map @1 "+m+" /f seven", "/f", "none")
	step("commit map @1 "+m, "/f", "seven")
	step("show map", "/a", "none")
	lines := strings.Split(p.ask("show map "+m), "\n")
	ref, rest, _ := strings.Cut(lines[0], " ")
	if rest != "/f seven" || !strings.HasPrefix(ref, "0x") {
		t.Errorf("%q", lines)
	}
	step("set map "+m+" #"+ref+" eight", "/f", "eight")
	step("clear map "+m, "/f", "none")
}

func TestServersAndFrontends(t *testing.T) {
	p := run(t, build(t), "")
	column := func(row, name string) string {
		t.Helper()
		lines := strings.Split(p.ask("show stat"), "\n")
		i := slices.Index(strings.Split(strings.TrimPrefix(lines[0], "# "), ","), name)
		for _, l := range lines[1:] {
			if strings.HasPrefix(l, row+",") {
				return strings.Split(l, ",")[i]
			}
		}
		return "no row " + row
	}
	check := func(row, name, want string) {
		t.Helper()
		if got := column(row, name); got != want {
			t.Errorf("%s of %s is %q, want %q", name, row, got, want)
		}
	}
	check("be,a", "status", "no check")
	check("be,b", "status", "MAINT")
	p.ask("disable server be/a;enable server be/b")
	check("be,a", "status", "MAINT")
	check("be,b", "status", "no check")
	check("be,BACKEND", "bck", "1")
	if out := p.ask("show servers state be"); !strings.Contains(out, " a 127.0.0.1 0 1 10 10 ") || !strings.Contains(out, " b 127.0.0.1 2 0 1 1 ") {
		t.Errorf("%s", out)
	}
	p.ask("set server be/a state ready")
	check("be,a", "status", "no check")
	p.get("/a")
	check("fe,FRONTEND", "hrsp_2xx", "1")
	check("fe,FRONTEND", "req_tot", "1")
	check("fe,FRONTEND", "stot", "1")
	p.ask("clear counters all")
	check("fe,FRONTEND", "hrsp_2xx", "0")
	check("fe,FRONTEND", "stot", "0")
	if out := p.ask("clear counters server be/a force"); out != "Server counters cleared.\n\n" {
		t.Errorf("%q", out)
	}
	p.ask("set maxconn frontend fe 7")
	check("fe,FRONTEND", "slim", "7")
	p.ask("disable frontend fe")
	check("fe,FRONTEND", "status", "PAUSED")
	p.ask("enable frontend fe")
	check("fe,FRONTEND", "status", "OPEN")
	if v := p.get("/a"); v != "one" {
		t.Errorf("after enabling: %q", v)
	}
	p.ask("shutdown frontend fe")
	check("fe,FRONTEND", "status", "STOP")
	if c, err := net.Dial("unix", p.dir+"/fe"); err == nil {
		c.Close()
		t.Error("a frontend that was shut down still listens")
	}
}

// TestInherited gives the process a listening socket, as the regression runner does.
func TestInherited(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	f, err := ln.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	name := fmt.Sprintf("weir-cli-test-%d", os.Getpid())
	p := run(t, build(t), "stats socket fd@3 level admin\n  stats socket abns@"+name, f)
	for _, c := range []struct{ network, addr, want string }{
		{"tcp", ln.Addr().String(), "admin\n\n"}, {"unix", "@" + name, "operator\n\n"}, {"unix", p.dir + "/user", "user\n\n"},
	} {
		conn, err := net.Dial(c.network, c.addr)
		if err != nil {
			t.Fatal(err)
		}
		if got := talk(t, conn, "show cli level"); got != c.want {
			t.Errorf("%s %s: %q", c.network, c.addr, got)
		}
	}
	if st, err := os.Stat(p.dir + "/user"); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", st.Mode(), err)
	}
	p.stop()
	for _, path := range []string{p.sock, p.dir + "/user"} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is left behind", path)
		}
	}
}

// TestColumns compares the names of columns and fields with HAProxy's; newer versions add some behind.
func TestColumns(t *testing.T) {
	ref := run(t, reference(t), "")
	p := run(t, build(t), "")
	header := func(p *proc) []string {
		line, _, _ := strings.Cut(p.ask("show stat"), "\n")
		cols := strings.Split(strings.TrimPrefix(line, "# "), ",")
		if i := slices.Index(cols, "-"); i >= 0 {
			cols = cols[:i]
		}
		return cols
	}
	theirs, ours := header(ref), header(p)
	for i, name := range theirs {
		if i >= len(ours) || ours[i] != name {
			t.Errorf("column %d is %q, want %q", i, ours[min(i, len(ours)-1)], name)
		}
	}
	fields := func(p *proc) (names []string) {
		for line := range strings.Lines(p.ask("show info")) {
			if name, _, ok := strings.Cut(line, ": "); ok {
				names = append(names, strings.Replace(name, "Splicded", "Spliced", 1)) // older versions have a slip there
			}
		}
		return names
	}
	have, at := fields(p), 0
	for _, name := range fields(ref) {
		i := slices.Index(have[at:], name)
		if i < 0 {
			t.Errorf("show info lacks %q, or has it elsewhere", name)
			continue
		}
		at += i + 1
	}
}

// TestLedger counts the commands that are served against the inventory.
func TestLedger(t *testing.T) {
	l := compat.Compare(compat.CLI, cli.Names())
	t.Logf("runtime commands: %d done, %d missing", len(l.Done), len(l.Missing))
	for _, n := range l.Own {
		t.Logf("not in the inventory: %s", n)
	}
	if len(l.Done) < 60 {
		t.Errorf("only %d commands are served", len(l.Done))
	}
}
