package logs

import (
	"bufio"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"weir/internal/lang/logfmt"
	"weir/internal/model"
	"weir/internal/wire/syslog"
)

// oracles are the HAProxy binaries to compare with: those of WEIR_ORACLE
// (separated by ':'), else the system's.
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

// origin answers every request of a connection with the same response.
func origin(t *testing.T, response string) net.Addr {
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
				r := bufio.NewReader(c)
				for {
					line, err := r.ReadString('\n')
					if err != nil {
						return
					}
					if line == "\r\n" {
						fmt.Fprint(c, response)
					}
				}
			}()
		}
	}()
	return l.Addr()
}

// oracle is a running HAProxy whose frontends listen on sockets of the test.
type oracle struct {
	old    bool // 2.x
	name   string
	pid    int
	logs   net.PacketConn
	fronts map[string]net.Listener
	dir    string
}

func old(t *testing.T, binary string) bool {
	t.Helper()
	version, err := exec.Command(binary, "-v").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(version), "version 2.")
}

const oracleResponse = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nSet-Cookie: SID=resp; path=/\r\nServer: sr|v{}\"#x\r\nX-A: a\r\n\r\nok"

// The number of the frontend is that of its descriptor.
const oracleConfig = `
defaults
	mode http
	log global
	timeout client 1s
	timeout server 1s
	timeout connect 1s
	retries 0
frontend f
	option httplog
	bind fd@3
	bind %[2]s/f.sock
	use_backend dead if { path /dead }
	default_backend b
frontend clf
	option httplog clf
	bind fd@4
	bind %[2]s/clf.sock
	default_backend b
frontend cap
	option httplog
	capture request header Host len 12
	capture request header X-N len 10
	capture request header User-Agent len 40
	capture response header Server len 30
	capture response header Zip len 10
	capture cookie SID= len 10
	bind fd@5
	default_backend b
frontend capclf
	option httplog clf
	capture request header Host len 12
	capture response header Server len 30
	capture response header Zip len 10
	capture cookie SID= len 10
	bind fd@6
	default_backend b
frontend asap
	option httplog
	option logasap
	bind fd@7
	default_backend b
frontend t
	mode tcp
	option tcplog
	bind fd@8
	default_backend tb
frontend tasap
	mode tcp
	option tcplog
	option logasap
	bind fd@9
	default_backend tb
frontend d
	bind fd@10
	bind %[2]s/d.sock id 77
	default_backend b
frontend px
	option httplog
	bind fd@11 accept-proxy name foo
	bind %[2]s/px.sock accept-proxy
	default_backend b
frontend reqclf
	option httplog clf
	capture request header Host len 12
	bind fd@12
	default_backend b
frontend resp
	option httplog
	capture response header Zip len 10
	bind fd@13
	default_backend b
backend b
	server s %[1]s
backend tb
	mode tcp
	server ts %[1]s
backend dead
	server s0 127.0.0.1:1
`

var oracleFronts = []string{"f", "clf", "cap", "capclf", "asap", "t", "tasap", "d", "px", "reqclf", "resp", "tclf"}

func startOracle(t *testing.T, binary, global string) *oracle {
	t.Helper()
	var err error
	o := &oracle{old: old(t, binary), name: filepath.Base(binary), fronts: make(map[string]net.Listener)}
	if o.dir, err = os.MkdirTemp("", "weir"); err != nil { // socket paths must be short
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(o.dir) })
	if o.logs, err = net.ListenPacket("udp4", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.logs.Close() })
	config := fmt.Sprintf("global\n\tlog %s len 9000 format raw local0\n%s", o.logs.LocalAddr(), global) +
		fmt.Sprintf(oracleConfig, origin(t, oracleResponse), o.dir)
	if !o.old {
		config += "frontend tclf\n\tmode tcp\n\toption tcplog clf\n\tbind fd@14\n\tdefault_backend tb\n"
	}
	file := filepath.Join(o.dir, "cfg")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "-db", "-q", "-f", file)
	for _, name := range oracleFronts {
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
		o.fronts[name] = l
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	o.pid = cmd.Process.Pid
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() && stderr.Len() > 0 {
			t.Log(stderr.String())
		}
	})
	return o
}

// send plays one client and returns its address; half says that it ends its
// side at once.
func (o *oracle) send(t *testing.T, front, text string, half bool) netip.AddrPort {
	t.Helper()
	network, at := "tcp4", ""
	if l := o.fronts[front]; l != nil {
		at = l.Addr().String()
	} else {
		network, at = "unix", filepath.Join(o.dir, front)
	}
	c, err := dial(network, at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, text)
	if half {
		c.(interface{ CloseWrite() error }).CloseWrite()
	}
	c.SetReadDeadline(time.Now().Add(5 * time.Second))
	buf := make([]byte, 4096)
	for n := 1; n > 0 && err == nil; {
		n, err = c.Read(buf)
	}
	if a, ok := c.LocalAddr().(*net.TCPAddr); ok {
		return a.AddrPort()
	}
	return netip.AddrPort{}
}

// dial waits for a unix socket to appear; the others exist before the process.
func dial(network, at string) (c net.Conn, err error) {
	for end := time.Now().Add(5 * time.Second); ; {
		if c, err = net.Dial(network, at); err == nil || time.Now().After(end) {
			return c, err
		}
	}
}

var (
	oracleDate   = regexp.MustCompile(`\[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d(?:(\.)\d{3}|( \+0000))\]`)
	oracleMs     = regexp.MustCompile(`("" "" \d+ )\d{3} `)
	oracleTimers = regexp.MustCompile(`^(\S+ \[DATE\.\] \S+ \S+/\S+ )((?:-?\d+/){2,4}\+?\d+) `)
	oracleCLF    = regexp.MustCompile(`(mmm "\S+" "\S+" "\S+" )((?:-?\d+ ){3,4}\+?\d+) `)
	oracleConns  = regexp.MustCompile(`( [-A-Za-z]{2,4} )\d+([/ ])\d+([/ ]\d+[/ ]\d+[/ ]\+?\d+ \d+[/ ]\d+)`)
	oracleNumber = regexp.MustCompile(`-?\d+`)
)

// plain takes out of a line what differs from run to run: dates, durations
// that are no -1, and how many connections there were.
func plain(line string) string {
	line = oracleDate.ReplaceAllString(line, "[DATE$1$2]")
	line = oracleMs.ReplaceAllString(line, "${1}mmm ")
	for _, timers := range []*regexp.Regexp{oracleTimers, oracleCLF} {
		if m := timers.FindStringSubmatchIndex(line); m != nil {
			line = line[:m[4]] + oracleNumber.ReplaceAllStringFunc(line[m[4]:m[5]], func(n string) string {
				if n == "-1" {
					return n
				}
				return "N"
			}) + line[m[5]:]
		}
	}
	return oracleConns.ReplaceAllString(line, "${1}N${2}N$3")
}

// event is what a client does and what the record of it says.
type event struct {
	front, text string
	half        bool
	format      model.LogFormat
	rec         func(r *model.LogRecord)
	newOnly     bool // not in 2.x
}

func get(uri string) string {
	return "GET " + uri + " HTTP/1.1\r\nHost: example.org\r\nUser-Agent: a\"b#c{d}e|f g\th\xc3\xa9\\]\r\nCookie: SID=0123456789abc; x=1\r\nConnection: close\r\n\r\n"
}

func ok(front string, more ...func(*model.LogRecord)) func(*model.LogRecord) {
	return func(r *model.LogRecord) {
		r.Frontend, r.BytesToClient = front, 96
		for _, m := range more {
			m(r)
		}
	}
}

func failed(front string, status int, term string) func(*model.LogRecord) {
	return func(r *model.LogRecord) {
		r.Frontend, r.Backend, r.ServerName, r.Status, r.BadRequest = front, "", "", status, true
		copy(r.Termination[:], term)
		r.Timers = model.Timers{Idle: -1, Request: -1, Queue: -1, Connect: -1, Response: -1}
	}
}

func unixClient(id int) func(*model.LogRecord) {
	return func(r *model.LogRecord) { r.UnixClient, r.UnixID = true, id }
}

func tcpRecord(front string, bytes int64) func(*model.LogRecord) {
	return func(r *model.LogRecord) {
		r.Frontend, r.Backend, r.ServerName, r.HTTP = front, "tb", "ts", false
		r.BytesToClient, r.BytesToServer = bytes, int64(len(get("/")))
	}
}

func broken(id, text string) func(*model.LogRecord) {
	return func(r *model.LogRecord) { r.Frontend, r.BindName, r.ErrorMessage = "px", id, text }
}

func asap(r *model.LogRecord) { r.ASAP, r.BeConn, r.SrvConn = true, 1, 1 }

func captures(req, res [][]byte) func(*model.LogRecord) {
	return func(r *model.LogRecord) {
		r.CaptureReq, r.CaptureRes = req != nil, res != nil
		r.CapturedReqHeaders, r.CapturedResHeaders = req, res
	}
}

func cookies(r *model.LogRecord) {
	r.CapturedReqCookie, r.CapturedResCookie = []byte("SID=012345"), []byte("SID=resp")
}

func bytesOf(s ...string) (out [][]byte) {
	for _, v := range s {
		out = append(out, []byte(v))
	}
	return out
}

var oracleEvents = []event{
	{front: "f", text: get("/"), format: model.LogHTTP, rec: ok("f")},
	{front: "f", text: get("/{}|\\~^"), format: model.LogHTTP, rec: ok("f", func(r *model.LogRecord) { r.URI = []byte("/{}|\\~^") })},
	{front: "f", text: get("/" + strings.Repeat("a", 2000)), format: model.LogHTTP, rec: ok("f", func(r *model.LogRecord) { r.URI = []byte("/" + strings.Repeat("a", 2000)) })},
	{front: "f", text: "G\x01T / HTTP/1.1\r\n\r\n", format: model.LogHTTP, rec: failed("f", 400, "PR--")},
	{front: "f", half: true, format: model.LogHTTP, rec: failed("f", 400, "CR--")},
	{front: "f", text: "GET / ", format: model.LogHTTP, rec: failed("f", 408, "cR--")},
	{front: "f", text: get("/dead"), format: model.LogHTTP, newOnly: true, rec: func(r *model.LogRecord) {
		r.Frontend, r.Backend, r.ServerName, r.Status, r.URI = "f", "dead", "s0", 503, []byte("/dead")
		r.Timers.Connect, r.Timers.Response, r.Termination = -1, -1, [4]byte{'S', 'C', '-', '-'}
	}},
	{front: "f.sock", text: get("/"), format: model.LogHTTP, rec: ok("f", unixClient(2))},
	{front: "clf", text: get("/"), format: model.LogHTTPCLF, rec: ok("clf")},
	{front: "clf", text: "junk\r\n\r\n", format: model.LogHTTPCLF, rec: failed("clf", 400, "PR--")},
	{front: "clf.sock", text: get("/"), format: model.LogHTTPCLF, rec: ok("clf", unixClient(2))},
	{front: "cap", text: get("/"), format: model.LogHTTP, rec: ok("cap", cookies,
		captures(bytesOf("example.org", "", "a\"b#c{d}e|f g\th\xc3\xa9\\]"), bytesOf("sr|v{}\"#x", "")))},
	{front: "cap", text: "junk\r\n\r\n", format: model.LogHTTP, rec: failed("cap", 400, "PR--")},
	{front: "capclf", text: get("/"), format: model.LogHTTPCLF, rec: ok("capclf", cookies,
		captures(bytesOf("example.org"), bytesOf("sr|v{}\"#x", "")))},
	{front: "reqclf", text: get("/"), format: model.LogHTTPCLF, rec: ok("reqclf", captures(bytesOf("example.org"), nil))},
	{front: "resp", text: get("/"), format: model.LogHTTP, rec: ok("resp", captures(nil, bytesOf("")))},
	{front: "asap", text: get("/"), format: model.LogHTTP, rec: ok("asap", asap)},
	{front: "t", text: get("/"), half: true, format: model.LogTCP, rec: tcpRecord("t", int64(len(oracleResponse)))},
	{front: "tasap", text: get("/"), half: true, format: model.LogTCP, rec: func(r *model.LogRecord) { tcpRecord("tasap", 0)(r); asap(r) }},
	{front: "tclf", text: get("/"), half: true, format: model.LogTCPCLF, rec: tcpRecord("tclf", int64(len(oracleResponse))), newOnly: true},
	{front: "d", text: get("/"), format: model.LogDefault, rec: ok("d")},
	{front: "d.sock", text: get("/"), format: model.LogDefault, rec: ok("d", unixClient(77))},
	{front: "px", text: "GET / HTTP/1.0\r\n\r\n", format: model.LogHTTP, rec: broken("foo", "Received something which does not look like a PROXY protocol header")},
	{front: "px", half: true, format: model.LogHTTP, rec: broken("foo", "Connection closed while waiting for PROXY protocol header")},
	{front: "px.sock", text: "PROXY ", half: true, format: model.LogHTTP, rec: func(r *model.LogRecord) {
		broken("2", "Truncated PROXY protocol header received")(r)
		unixClient(2)(r)
	}},
}

// TestLinesAgainstHAProxy makes HAProxy log real traffic, and compares each
// line with the one for a record of the same event.
func TestLinesAgainstHAProxy(t *testing.T) {
	for _, binary := range oracles(t) {
		t.Run(filepath.Base(binary), func(t *testing.T) {
			o := startOracle(t, binary, "")
			for _, ev := range oracleEvents {
				if ev.newOnly && o.old {
					continue
				}
				r := &model.LogRecord{
					Backend: "b", ServerName: "s", HTTP: true, Status: 200, Termination: [4]byte{'-', '-', '-', '-'},
					Method: []byte("GET"), URI: []byte("/"), Version: [2]uint8{1, 1}, ActConn: 1, FeConn: 1,
					Accept: time.Now(), Request: time.Now(), Level: syslog.Info,
				}
				ev.rec(r)
				r.Client = o.send(t, ev.front, ev.text, ev.half)
				if l := o.fronts[ev.front]; l != nil {
					r.ClientLocal = l.Addr().(*net.TCPAddr).AddrPort()
				}
				want := strings.TrimSuffix(next(t, o.logs), "\n")
				got := string(logfmt.New(0).Append(nil, ev.format, r))
				if plain(got) != plain(want) {
					t.Errorf("%s %.20q:\n weir     %s\n haproxy  %s\n compared %s\n     with %s", ev.front, ev.text, got, want, plain(got), plain(want))
				}
			}
		})
	}
}

// TestHeadersAgainstHAProxy compares the headers of every format, with and
// without log-send-hostname, the default format included.
func TestHeadersAgainstHAProxy(t *testing.T) {
	iso := regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}[+-]\d\d:\d\d`)
	short := regexp.MustCompile(`[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d`)
	stamp := func(s string) string { return short.ReplaceAllString(iso.ReplaceAllString(s, "ISO"), "DATE") }
	for _, binary := range oracles(t) {
		for _, host := range []string{"", "my.host"} {
			t.Run(filepath.Base(binary)+"/"+host, func(t *testing.T) {
				length := 80 // 2.x does not count the line feed
				if old(t, binary) {
					length--
				}
				global, theirs, ours := "", []net.PacketConn{}, []net.PacketConn{}
				lc := model.LogConfig{Format: model.LogDefault, SendHostname: host}
				if host != "" {
					global += "\tlog-send-hostname " + host + "\n"
				}
				for _, f := range append([]string{""}, syslog.Formats()...) {
					c, _ := udp(t, "udp4", "127.0.0.1:0")
					theirs = append(theirs, c)
					word := ""
					if f != "" {
						word = "format " + f
					}
					global += fmt.Sprintf("\tlog %s len %d %s local3 info notice\n", c.LocalAddr(), length+1, word)
					c, a := udp(t, "udp4", "127.0.0.1:0")
					ours = append(ours, c)
					lc.Targets = append(lc.Targets, aim(a, func(m *model.LogTarget) {
						m.Format, m.Length, m.Facility, m.Level, m.MinLevel = f, 81, 19, syslog.Info, syslog.Notice
					}))
				}
				o := startOracle(t, binary, global)
				cfg := &model.Config{Global: &model.Global{Log: lc}}
				g, err := New(Options{Config: cfg, Tag: o.name, PID: o.pid})
				if err != nil {
					t.Fatal(err)
				}
				client := o.send(t, "d", get("/"), false)
				d := g.Direct()
				defer d.Close()
				d.For(&cfg.Global.Log).Emit(&model.LogRecord{
					Client: client, ClientLocal: o.fronts["d"].Addr().(*net.TCPAddr).AddrPort(), Frontend: "d", HTTP: true, Level: syslog.Info,
				})
				for i := range theirs {
					want, got := next(t, theirs[i]), next(t, ours[i])
					if stamp(got) != stamp(want) || len(got) != len(want) {
						t.Errorf("format %q:\n weir    %q\n haproxy %q", lc.Targets[i].Format, got, want)
					}
				}
			})
		}
	}
}
