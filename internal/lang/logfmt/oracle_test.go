package logfmt

import (
	"bufio"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"weir/internal/lang/sample/sampletest"
	"weir/internal/model"
)

// These tests let HAProxy log real traffic in formats that show every alias
// with every flag, and compare the lines with those for a record of the same
// event. What cannot be known beforehand - ports, dates, times - stands plainly
// at the beginning of each line and is put into the record.

// oracles are the HAProxy binaries to compare with: those of WEIR_ORACLE (separated by ':'), else the system's.
func oracles(t *testing.T) []string {
	if list := os.Getenv("WEIR_ORACLE"); list != "" {
		return strings.Split(list, ":")
	}
	for _, name := range []string{"haproxy", "/usr/sbin/haproxy"} {
		if path, err := exec.LookPath(name); err == nil {
			return []string{path}
		}
	}
	t.Skip("no haproxy here to compare with")
	return nil
}

const (
	itemSep = "~|~"
	// told is the beginning of each line.
	told = "%Ts %ms %tr %cp %bp %fp %lc %rt %ac %fc %bc %sc %sq %bq %B %U %ST %tsc %Tw %Tc %Tr %Th %Ti %TR %Tt %Ta %Td %Tu %Tq"
)

// scenario is a request, and what the record of it says besides.
type scenario struct {
	name    string
	tcp     bool
	unix    bool
	front   string // lines of the frontend
	request string
	rec     func(r *model.LogRecord)
}

const caps = "\tcapture request header Host len 12\n\tcapture request header Nope len 10\n\tcapture request header X-A len 40\n" +
	"\tcapture response header Server len 30\n\tcapture response header Zip len 10\n\tcapture cookie SID= len 14\n\tunique-id-format \"u\\\"#]\\\\%ci\"\n"

var scenarios = []scenario{
	{name: "http", front: caps, request: "GET /p/q\"\"]\\e|\x80?x=\"1] HTTP/1.1\r\nHost: ex.org\r\nCookie: SID=ab]\\c\r\nX-A: \"va|{x}]\\#\x80\r\nConnection: close\r\n\r\n",
		rec: func(r *model.LogRecord) {
			r.URI = []byte("/p/q\"\"]\\e|\x80?x=\"1]")
			r.CaptureReq, r.CapturedReqHeaders = true, fields("ex.org", "-", "\"va|{x}]\\#\x80")
			r.CaptureRes, r.CapturedResHeaders = true, fields("sr|v{}\"#\\]x", "-")
			r.CapturedReqCookie, r.CapturedResCookie = []byte("SID=ab]\\c"), []byte("SID=resp")
		}},
	{name: "no captures", request: "GET http://ex.org/?a HTTP/1.0\r\nHost: ex.org\r\n\r\n", rec: func(r *model.LogRecord) {
		r.URI, r.Version = []byte("http://ex.org/?a"), [2]uint8{1, 0}
	}},
	{name: "bad request", front: caps, request: "GARB\x01\r\n\r\n", rec: func(r *model.LogRecord) {
		badRequest(r)
		r.Termination = [4]byte{'P', 'R', '-', '-'}
		r.ServerLocal, r.Server = netip.AddrPort{}, netip.AddrPort{}
	}},
	{name: "tcp", tcp: true, request: "GET / HTTP/1.1\r\nConnection: close\r\n\r\n", rec: func(r *model.LogRecord) { r.HTTP, r.Method, r.URI = false, nil, nil }},
	{name: "unix", unix: true, request: "GET / HTTP/1.0\r\n\r\n", rec: func(r *model.LogRecord) {
		r.URI, r.Version = []byte("/"), [2]uint8{1, 0}
		r.UnixClient, r.UnixID = true, 300
	}},
}

// itemsFor are all items that a version can show.
func itemsFor(old bool, sc scenario) (items []string) {
	skip := map[string]bool{"pid": true, "Ta": true, "Td": true, "Tu": true, "Tq": true, "OG": old}
	flags := []string{"", "{+Q}", "{+E}", "{+Q,+E}", "{+X}", "{+Q,+X}", "{-M}", "{+Q,-M}"}
	if !old {
		flags = append(flags, "{+json}", "{+cbor}", "{+json,+Q}", "{+json,+X,+E}", "{+cbor,+X}", "(n:str){+json}", "(n:bool){+json}", "(n:bool){+cbor}", "(n:str){+cbor}", "(n:raw){+json}")
	}
	for _, name := range Aliases.Names() {
		for _, f := range flags {
			address := name == "ci" || name == "fi"
			if !skip[name] && !(sc.unix && address && strings.Contains(f, "+X")) { // the reference gives up the rest of the line
				items = append(items, "%"+f+name)
			}
		}
	}
	return items
}

// formatsFor puts the items into formats of lines that old versions can read.
func formatsFor(items []string) (formats []string) {
	var b strings.Builder
	for _, it := range items {
		if b.Len() == 0 {
			b.WriteString(told)
		}
		b.WriteString(itemSep + it)
		if b.Len() > 1200 {
			formats = append(formats, b.String())
			b.Reset()
		}
	}
	if b.Len() > 0 {
		formats = append(formats, b.String())
	}
	return formats
}

const originResponse = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\nSet-Cookie: SID=resp; path=/\r\nServer: sr|v{}\"#\\]x\r\n\r\nok"

func origin200(t *testing.T) net.Addr {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for r := bufio.NewReader(c); ; {
					line, err := r.ReadString('\n')
					if err != nil {
						return
					}
					if line == "\r\n" {
						fmt.Fprint(c, originResponse)
						return
					}
				}
			}()
		}
	}()
	return l.Addr()
}

// process is a running HAProxy.
type process struct {
	dir    string
	logs   net.PacketConn
	fronts []net.Listener
}

// start runs HAProxy with a frontend for each of the texts, which hold "%s" for where to listen.
func start(t *testing.T, binary, config string, n int) *process {
	t.Helper()
	p := new(process)
	var err error
	if p.dir, err = os.MkdirTemp("", "weir"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(p.dir) })
	if p.logs, err = net.ListenPacket("udp4", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.logs.Close() })
	config = strings.NewReplacer("LOGS", p.logs.LocalAddr().String(), "DIR", p.dir).Replace(config)
	file := filepath.Join(p.dir, "cfg")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "-db", "-q", "-f", file)
	for range n {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		f, err := l.(*net.TCPListener).File()
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		cmd.ExtraFiles = append(cmd.ExtraFiles, f)
		p.fronts = append(p.fronts, l)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() && stderr.Len() > 0 {
			t.Log(stderr.String())
		}
	})
	return p
}

// ask sends a request to the n-th frontend and waits for the end of the answer.
func (p *process) ask(t *testing.T, n int, sc scenario) {
	t.Helper()
	var c net.Conn
	var err error
	if sc.unix {
		for end := time.Now().Add(5 * time.Second); time.Now().Before(end); {
			if c, err = net.Dial("unix", filepath.Join(p.dir, fmt.Sprintf("u%d", n))); err == nil {
				break
			}
		}
	} else {
		c, err = net.Dial("tcp4", p.fronts[n].Addr().String())
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, sc.request)
	c.SetReadDeadline(time.Now().Add(5 * time.Second))
	for buf, n := make([]byte, 4096), 1; n > 0 && err == nil; {
		n, err = c.Read(buf)
	}
}

func (p *process) line(t *testing.T) string {
	t.Helper()
	b := make([]byte, 1<<16)
	p.logs.SetReadDeadline(time.Now().Add(5 * time.Second))
	n, _, err := p.logs.ReadFrom(b)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(b[:n]), "\n")
}

func quoteWord(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`).Replace(s) + `"`
}

// recordOf makes the record of a scenario from what a line tells.
func recordOf(t *testing.T, sc scenario, toldText string, server netip.AddrPort) *model.LogRecord {
	t.Helper()
	words := strings.Fields(toldText)
	names := strings.Fields(strings.ReplaceAll(told, "%", ""))
	if len(words) != len(names) {
		t.Fatalf("%q does not begin with %q", toldText, told)
	}
	v := make(map[string]int64)
	text := make(map[string]string)
	for i, n := range names {
		text[n] = words[i]
		v[n], _ = strconv.ParseInt(words[i], 10, 64)
	}
	loopback := netip.MustParseAddr("127.0.0.1")
	r := record()
	r.Backend, r.ServerName = "b", "s"
	r.Client, r.ClientLocal = netip.AddrPortFrom(loopback, uint16(v["cp"])), netip.AddrPortFrom(loopback, uint16(v["fp"]))
	r.Server, r.ServerLocal = server, netip.AddrPortFrom(loopback, uint16(v["bp"]))
	r.Accept = time.Unix(v["Ts"], v["ms"]*1e6)
	var err error
	if r.Request, err = time.ParseInLocation("02/Jan/2006:15:04:05.000", text["tr"], time.Local); err != nil {
		t.Fatal(err)
	}
	timer := func(name string) int64 {
		if v[name] < 0 {
			return -1
		}
		return v[name] * 1e6
	}
	r.Timers = model.Timers{Handshake: timer("Th"), Idle: timer("Ti"), Request: timer("TR"), Queue: timer("Tw"), Connect: timer("Tc"), Response: timer("Tr"), Total: timer("Tt")}
	r.ActConn, r.FeConn, r.BeConn, r.SrvConn, r.SrvQueue, r.BeQueue = v["ac"], v["fc"], v["bc"], v["sc"], v["sq"], v["bq"]
	r.BytesToClient, r.BytesToServer, r.Status, r.LogCount = v["B"], v["U"], int(v["ST"]), uint32(v["lc"])
	timers := r.Timers
	sc.rec(r)
	r.Timers = timers
	r.Status = int(v["ST"])
	copy(r.Termination[:], text["tsc"])
	s := &sampletest.Stream{Rec: *r, Num: uint32(v["rt"]), Proc: &sampletest.Process{}}
	if sc.front != "" && !r.BadRequest {
		s.ID = []byte(`u"#]\127.0.0.1`)
	}
	s.Proc = new(sampletest.Process)
	host, _ := os.Hostname()
	s.Proc.(*sampletest.Process).Host = host
	r = &s.Rec
	r.Tx = &model.Txn{S: s, Final: true}
	for name, got := range map[string]int64{"Ta": active(&r.Timers), "Tu": (r.Timers.Total - max(r.Timers.Idle, 0)) / 1e6, "Td": timer2(transfer(r)), "Tq": timer2(untilRequest(&r.Timers))} {
		if d := got - v[name]; d < -2 || d > 2 {
			t.Errorf("%s: %%%s is %d, haproxy has %d in %q", sc.name, name, got, v[name], toldText)
		}
	}
	return r
}

func timer2(ns int64) int64 {
	if ns < 0 {
		return -1
	}
	return ns / 1e6
}

func isOld(t *testing.T, binary string) bool {
	t.Helper()
	version, err := exec.Command(binary, "-v").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(version), "version 2.")
}

func defaultsText(sc scenario, server net.Addr) string {
	mode := "http"
	if sc.tcp {
		mode = "tcp"
	}
	return "defaults\n\tmode " + mode + "\n\ttimeout client 2s\n\ttimeout server 2s\n\ttimeout connect 2s\n" +
		"\tlog LOGS len 60000 format raw local0\n\toption accept-invalid-http-request\nbackend b\n\tserver s " + server.String() + "\n"
}

func bindText(sc scenario, i int) string {
	if sc.unix {
		return fmt.Sprintf("\tbind DIR/u%d id 300\n", i)
	}
	return fmt.Sprintf("\tbind fd@%d\n", i+3)
}

func TestAliasesAgainstHAProxy(t *testing.T) {
	for _, binary := range oracles(t) {
		old := isOld(t, binary)
		for _, sc := range scenarios {
			if old && sc.tcp { // aliases of HTTP are refused there
				continue
			}
			t.Run(filepath.Base(binary)+"/"+sc.name, func(t *testing.T) {
				server := origin200(t)
				config := defaultsText(sc, server)
				formats := formatsFor(itemsFor(old, sc))
				for i, f := range formats {
					config += fmt.Sprintf("frontend f%d\n", i) + bindText(sc, i) + sc.front + "\tdefault_backend b\n\tlog-format " + quoteWord(f) + "\n"
				}
				p := start(t, binary, config, len(formats))
				compared := 0
				for i, f := range formats {
					p.ask(t, i, sc)
					want := strings.Split(p.line(t), itemSep)
					r := recordOf(t, sc, want[0], server.(*net.TCPAddr).AddrPort())
					r.Frontend = fmt.Sprintf("f%d", i)
					if r.BadRequest {
						r.Backend, r.ServerName = "", ""
					}
					items := strings.Split(f, itemSep)
					if len(items) != len(want) {
						t.Fatalf("%d items, haproxy has %d:\n%q\n%q", len(items), len(want), f, want)
					}
					for j := 1; j < len(items); j++ {
						got := string(parse(t, ForLog, items[j]).AppendLine(nil, r))
						if strings.HasSuffix(items[j], "OG") {
							continue // when a line is written is not for the format to say
						}
						compared++
						if got != want[j] {
							t.Errorf("%s:\n weir    %q\n haproxy %q", items[j], got, want[j])
						}
					}
				}
				t.Logf("%d items compared", compared)
			})
		}
	}
}

// oracleValues are the values of the expressions of the format tests, as HAProxy's own expressions.
var oracleValues = map[string]string{
	"a": "str(a)", "q": `'str("a]b#c\"d\\e{f|g}h")'`, "e": "str()", "b": "bin(80ff7f1f20250a0d09)", "z": "bin(00010241)", "i": "int(255)", "n": "int(-3)",
	"t": "bool(true)", "f": "bool(false)", "v4": "ipv4(1.2.3.4)", "v6": "ipv6(::1)", "m": "method", "bz": "bin(41424300)", "eb": "str(x),bytes(5)",
}

// wholeFormats are formats whose parts depend on each other.
func wholeFormats(old bool) []string {
	list := []string{
		"a  b", " a", "a ", " a  b ", "x\ty", "%f  %f", " %[$a] %[$a]  ", "a\t \tb", "%o a", "a %o b", "a%o b", "%f%o%f", "%f %o %f", "%% %%", "%f_x", "%f-x",
		"a#b\"c{|}d", "\xc3\xa9x", "%[$q],x", "%[$a]]", "a %hr b", "[%{+Q}hr]", "a %{-M}[$nope] b", "%hr a", "%{+Q}o %{-Q}f %f",
		"%{-Q}o %f", "%f %{+Q}o %f", "%{-M}o %[$nope]|%f", "%{+X,-X}ci", "%{+Q,+E}o [ex@1 a=%[$q] b=%[$nope]]",
		"x%[$a]%{+Q}[$a]%{+E}[$q]%{+Q,+E}[$q]%[$q]|%[$e]|%{+Q}[$e]|%[$z]|%{+Q}[$z]|%[$i]|%{+Q}[$i]|%[$n]|%[$t]|%{+Q}[$f]|%[$v4]|%{+Q}[$v6]|%[$m]|%[$bz]|%[$nope]|%{+Q}[$nope]",
	}
	if old {
		return list
	}
	for _, enc := range []string{"%{+json}o", "%{+cbor}o"} {
		for _, typ := range []string{"", ":str", ":sint", ":bool", ":raw"} {
			f := enc
			for _, v := range []string{"a", "q", "e", "z", "i", "n", "t", "f", "v4", "v6", "m", "bz", "eb", "nope"} {
				f += fmt.Sprintf(" %%(%s%s)[$%s]", v, typ, v)
			}
			list = append(list, f)
		}
		list = append(list, enc+" x %(a)f %f %(b)[$i] %% %(c)hrl %(d)r", enc+" %(a)f "+strings.Replace(enc, "+", "-", 1)+" %(b)f", "%(a)f "+enc, enc+" %(a){+Q,+X,+E}ft")
	}
	return append(list,
		"a %{-M}ID b", "%{+json}f", "%{+json}[$q]", "%{+json}[$i]", "%{+json}[$nope]", "%(a){+json}[$q]", "%(:str){+json}[$i]", "%(:sint){+json}[$a]", "%(:bool){+json}[$i]", "x=%{+json}hrl",
		"%{+cbor}f", "%{+cbor}[$q]", "%{+cbor}[$nope]", "%{+json}o %{+cbor}[$i] %(b)f", "%{+json}o %(b){+cbor}f", "%{+cbor}o %(b){+json}f", "%{+json,+cbor}o %(b)f",
		"%{+cbor,+json}o %(b)f", "%{+cbor}o %{+json}o %(b)f", "%{+cbor,+bin}o %(b)f %(c)[$b]", "%{+bin}o %[$z]", "%{+bin,+Q}o %[$z] %[$e] %[$nope] %[$i] %[$a]", "%{+bin,+E}o %[$b] %[$q]",
		"%{+bin,+json}o %(a)[$z] %(b)[$i] %(c)[$eb]", "%{+json}o x %f %{-json}o y %f", "%{+cbor}o %(n)[$b] %(m:str)[$b]", "%(n:bool)%|x", "%| x", "%-x",
		"%{+Q ,+E}[$q]", "%{+Q,,+E}[$q]", "%{++Q}f", "%{+-Q}f", "%{-+Q}f", "%{+ Q}f", "%{ +Q}f", "%{+json}o %()f", "%{+json}o %(a)f %(a)f", "%{+json}o %(a_b-9Z)f")
}

func TestFormatsAgainstHAProxy(t *testing.T) {
	sc := scenario{name: "formats", request: "GET /p HTTP/1.1\r\nConnection: close\r\n\r\n", rec: func(r *model.LogRecord) { r.URI = []byte("/p") }}
	for name, v := range oracleValues {
		sc.front += "\thttp-request set-var(txn." + name + ") " + v + "\n"
	}
	for _, binary := range oracles(t) {
		t.Run(filepath.Base(binary), func(t *testing.T) {
			server := origin200(t)
			config := defaultsText(sc, server)
			formats := wholeFormats(isOld(t, binary))
			for i, f := range formats {
				theirs := f
				for name := range values {
					theirs = strings.ReplaceAll(theirs, "[$"+name+"]", "[var(txn."+name+")]")
				}
				config += fmt.Sprintf("frontend f%d\n", i) + bindText(sc, i) + sc.front + "\tdefault_backend b\n\tlog-format " + quoteWord(theirs) + "\n"
			}
			p := start(t, binary, config, len(formats))
			for i, f := range formats {
				p.ask(t, i, sc)
				want := p.line(t)
				r := record(func(r *model.LogRecord) {
					r.URI, r.Frontend = []byte("/p"), fmt.Sprintf("f%d", i)
				})
				s := txn(r).S.(*sampletest.Stream)
				s.ID = nil
				s.Rec.Server, s.Rec.ServerLocal = netip.AddrPort{}, netip.AddrPort{}
				got := string(parse(t, ForLog, expand(f)).AppendLine(nil, s.Record()))
				if strings.Contains(f, "$b]") && !strings.Contains(f, "+bin") && !strings.Contains(f, "cbor") {
					continue
				}
				if got != want {
					t.Errorf("%q:\n weir    %q\n haproxy %q", f, got, want)
				}
			}
		})
	}
}
