package fetchcore_test

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	_ "weir/internal/kw/fetchcore"
	"weir/internal/lang/sample"
	"weir/internal/lang/sample/sampletest"
	"weir/internal/model"
)

// conn is a model.ConnState made of plain fields.
type conn struct {
	local, peer netip.AddrPort
	major, code int
	text        string
	reused      bool
	info        model.TCPInfo
	noInfo      bool
	syn, header []byte
}

func (c *conn) Local() netip.AddrPort          { return c.local }
func (c *conn) Peer() netip.AddrPort           { return c.peer }
func (c *conn) HTTPMajor() int                 { return c.major }
func (c *conn) Streams() int                   { return 3 }
func (c *conn) Reused() bool                   { return c.reused }
func (c *conn) TCPInfo() (model.TCPInfo, bool) { return c.info, !c.noInfo }
func (c *conn) ErrCode() int                   { return c.code }
func (c *conn) ErrText() string                { return c.text }
func (c *conn) Accepted() time.Time            { return time.Time{} }
func (c *conn) Glitches() int                  { return 2 }
func (c *conn) StreamLimit() int               { return 1 }
func (c *conn) ProxyHeader() ([]byte, bool)    { return c.header, c.header != nil }
func (c *conn) SavedSYN() ([]byte, bool)       { return c.syn, !c.noInfo }

// numbered is a connection of a protocol with numbered streams.
type numbered struct{ conn }

func (*numbered) StreamID() int64          { return 7 }
func (*numbered) ResetCode() (int64, bool) { return 8, true }

// proxy is a model.ProxyState: connections and rates of both sides, queue, usable servers.
type proxy [7]int64

func (p *proxy) FrontConns() int64   { return p[0] }
func (p *proxy) FrontRate() int64    { return p[1] }
func (p *proxy) FrontReqRate() int64 { return p[2] }
func (p *proxy) BackConns() int64    { return p[3] }
func (p *proxy) BackRate() int64     { return p[4] }
func (p *proxy) Queued() int64       { return p[5] }
func (p *proxy) Usable() int         { return int(p[6]) }

// srv is a model.ServerState.
type srv struct {
	conns, queued, rate, limit int64
	up, usable                 bool
	weight, first, user        int
}

func (s *srv) Conns() int64                   { return s.conns }
func (s *srv) Queued() int64                  { return s.queued }
func (s *srv) Rate() int64                    { return s.rate }
func (s *srv) Usable() bool                   { return s.usable }
func (s *srv) Up() bool                       { return s.up }
func (s *srv) MaxConn() int64                 { return s.limit }
func (s *srv) Weight() (current, initial int) { return s.weight, s.first }
func (s *srv) UserWeight() int                { return s.user }
func (s *srv) Idle() (used, idle int64)       { return 0, 0 }

type sock struct{ name string }

func (s *sock) ID() int      { return 7 }
func (s *sock) Name() string { return s.name }
func (s *sock) Conns() int64 { return 4 }

// full is a stream of which everything is known.
func full() *sampletest.Stream {
	ap := netip.MustParseAddrPort
	s1 := &model.Server{Name: "s1", ID: 5, MaxConn: 10, MaxQueue: 4, Run: &srv{conns: 3, queued: 1, rate: 8, limit: 6, up: true, usable: true, weight: 9, first: 10, user: 11}}
	s2 := &model.Server{Name: "s2", ID: 6, MaxConn: 20, MaxQueue: 5, Run: &srv{queued: 2, limit: 20, up: true, usable: true}}
	s3 := &model.Server{Name: "s3", MaxConn: 1, MaxQueue: 1, Run: &srv{limit: 1}}
	fe := &model.Proxy{Name: "www", Sides: model.SideFrontend, ID: 2, DefaultBackend: "app", Retries: -1, Run: &proxy{11, 12, 13},
		Timeout: model.Timeouts{Client: 4 * time.Second, Connect: 9 * time.Second, Server: 9 * time.Second}}
	be := &model.Proxy{Name: "app", Sides: model.SideBackend, ID: 3, Retries: -1, Servers: []*model.Server{s1, s2, s3}, Run: &proxy{3: 14, 4: 15, 5: 5, 6: 2},
		Timeout: model.Timeouts{Connect: 7 * time.Second, Server: 6 * time.Second, Tunnel: 8500 * time.Microsecond}}
	return &sampletest.Stream{
		Date: time.Unix(1500000000, 123456789),
		Src:  ap("10.1.2.3:4000"), Dst: ap("[2001:db8::1]:443"),
		Front: &conn{local: ap("10.9.9.9:80"), peer: ap("10.1.2.3:4001"), major: 1, info: model.TCPInfo{RTT: 4321, RTTVar: 1234, Unacked: 1, Sacked: 2, Lost: 3, Retrans: 4, Fackets: 5, Reordering: 6}, syn: []byte("syn"), header: []byte("\x02\x00\x01n\xe1\x00\x01a\x05\x00\x02id\xe1\x00\x01b")},
		Back:  &numbered{conn{local: ap("10.9.9.9:5000"), peer: ap("10.8.8.8:8080"), major: 2, code: 47, reused: true, info: model.TCPInfo{RTT: 999, RTTVar: 50}}},
		Fe:    fe, Be: be, Srv: s1,
		Rec: model.LogRecord{Accept: time.Unix(1400000000, 5006007), Request: time.Unix(1400000001, 1e6), Status: 404, Termination: [4]byte{'s', 'Q', '-', '-'}, BeQueue: 21, SrvQueue: 22,
			Timers: model.Timers{Handshake: 1e6, Idle: 2e6, Request: 3e6, Queue: 4e6, Connect: 5e6, Response: 6e6, Total: 30e6}},
		Rule:     [2]*model.Position{{File: "a.cfg", Line: 12}, nil},
		Timeouts: map[model.TimeoutKind]time.Duration{model.TimeoutClient: time.Second, model.TimeoutServer: 2 * time.Second, model.TimeoutTarpit: 3 * time.Second},
		Tries:    2, Moved: true, Class: -3, Offset: 40, BytesIn: [2]int64{100, 300}, BytesOut: [2]int64{200, 400},
		Proc: &sampletest.Process{Conns: 77, Threads: 2, Host: "box", Up: 90 * time.Second, Local: func(a netip.Addr) bool { return a.Is4() }},
		Sock: &sock{"in"}, ThreadNum: 1, Num: 9, TryLimit: 6, Waiting: &model.Position{File: "w.cfg", Line: 3}, Gone: [2]bool{true, false},
	}
}

// config is what the arguments of expressions may name.
func config(s *sampletest.Stream) *model.Config {
	return &model.Config{Global: new(model.Global), Proxies: []*model.Proxy{s.Fe, s.Be}, Env: []string{"A=b", "EMPTY="}}
}

func eval(t *testing.T, s *sampletest.Stream, text string) string {
	t.Helper()
	e, err := sample.Parse(&sample.Scope{Conf: config(s), Proxy: s.Be}, text)
	if err != nil {
		return "error: " + err.Error()
	}
	b, ok := e.EvalStr(sampletest.New(s, "/"))
	if !ok {
		return "none"
	}
	return string(b)
}

// values are the results of all fetches that do not depend on chance, over the stream of full.
var values = [][2]string{
	{"always_true", "1"}, {"always_false", "0"}, {"str(a b)", "a b"}, {"str()", ""}, {"str", ""}, {"int(-5)", "-5"}, {"int(010)", "10"}, {"bool(True)", "1"}, {"bool(0)", "0"},
	{"bool(FALSE)", "0"}, {"bin(4142)", "AB"}, {"bin(4a4B)", "JK"}, {"ipv4(1.2.3.4)", "1.2.3.4"}, {"ipv6(::ffff:1.2.3.4)", "::ffff:1.2.3.4"},
	{"meth(GET)", "GET"}, {"meth(get)", "get"}, {"meth()", ""},

	{"act_conn", "77"}, {"stopping", "0"}, {"uptime", "90"}, {"hostname", "box"}, {"proc", "1"}, {"nbproc", "1"}, {"thread", "1"}, {"tgroup", "0"},
	{"date", "1500000000"}, {"date()", "1500000000"}, {"date(-5)", "1499999995"}, {"date(0,ms)", "1500000000123"}, {"date(5,us)", "1500000000123461"}, {"date(1,s)", "1500000001"},
	{"date(9223372036854775807)", "-9223372035354775809"}, {"date_us", "123456"},
	{"env(A)", "b"}, {"env(EMPTY)", ""}, {"env(NONE)", "none"}, {"rand(1)", "0"}, {"rand(0)", "0"}, {"rand(-1)", "4294967295"},

	{"fe_conn(www)", "11"}, {"fe_sess_rate(www)", "12"}, {"fe_req_rate(www)", "13"}, {"be_conn", "14"}, {"be_conn()", "14"}, {"be_conn(app)", "14"}, {"be_sess_rate()", "15"}, {"nbsrv(app)", "2"},
	{"queue", "5"}, {"avg_queue()", "3"}, {"be_conn_free()", "23"}, {"connslots()", "33"},
	{"srv_conn(s1)", "3"}, {"srv_conn(app/s1)", "3"}, {"srv_conn_free(s1)", "3"}, {"srv_queue(s1)", "1"}, {"srv_sess_rate(s1)", "8"}, {"srv_weight(s1)", "9"},
	{"srv_iweight(s1)", "10"}, {"srv_uweight(s1)", "11"}, {"srv_is_up(s1)", "1"}, {"srv_is_up(s3)", "0"},

	{"src", "10.1.2.3"}, {"src_port", "4000"}, {"src_is_local", "1"}, {"dst", "2001:db8::1"}, {"dst_port", "443"}, {"dst_is_local", "0"}, {"dst_conn", "4"}, {"so_id", "7"}, {"so_name", "in"},
	{"fc_src", "10.1.2.3"}, {"fc_src_port", "4001"}, {"fc_dst", "10.9.9.9"}, {"fc_dst_port", "80"}, {"fc_src_is_local", "1"}, {"fc_dst_is_local", "1"},
	{"bc_src", "10.9.9.9"}, {"bc_src_port", "5000"}, {"bc_dst", "10.8.8.8"}, {"bc_dst_port", "8080"}, {"bc_reused", "1"},
	{"fc_err", "0"}, {"fc_err_name", ""}, {"fc_err_str", "Success"}, {"bc_err", "47"}, {"bc_err_name", "EREFUSED"}, {"bc_err_str", "ECONNREFUSED returned by OS"},
	{"fc_http_major", "1"}, {"bc_http_major", "2"}, {"fc_nb_streams", "3"}, {"bc_nb_streams", "3"}, {"fc_pp_authority", "n"}, {"fc_pp_unique_id", "id"}, {"fc_pp_tlv(0xe1)", "a"}, {"fc_pp_tlv(225)", "a"}, {"fc_pp_tlv(AUTHORITY)", "n"}, {"fc_rcvd_proxy", "1"}, {"fc_glitches", "2"}, {"bc_glitches", "2"},
	{"fc_settings_streams_limit", "1"}, {"bc_settings_streams_limit", "1"},
	{"fc_rtt", "4"}, {"fc_rtt(ms)", "4"}, {"fc_rtt(us)", "4321"}, {"fc_rttvar", "1"}, {"bc_rtt", "0"}, {"bc_rtt(us)", "999"}, {"bc_rttvar(us)", "50"},
	{"fc_unacked", "1"}, {"fc_sacked", "2"}, {"fc_lost", "3"}, {"fc_lost(any)", "3"}, {"fc_retrans", "4"}, {"fc_fackets", "5"}, {"fc_reordering", "6"}, {"fc_saved_syn", "syn"},
	{"accept_date", "1400000000"}, {"accept_date(ms)", "1400000000005"}, {"accept_date(us)", "1400000000005006"}, {"request_date(ms)", "1400000001001"},

	{"fe_name", "www"}, {"fe_id", "2"}, {"fe_defbe", "app"}, {"be_name", "app"}, {"be_id", "3"}, {"srv_name", "s1"}, {"srv_id", "5"},
	{"req.bytes_in", "100"}, {"bytes_in", "100"}, {"req.bytes_out", "200"}, {"res.bytes_in", "300"}, {"bytes_out", "300"}, {"res.bytes_out", "400"},
	{"txn.conn_retries", "2"}, {"txn.redispatched", "1"}, {"txn.sess_term_state", "sQ"}, {"txn.status", "404"}, {"txn.id32", "9"}, {"prio_class", "-3"}, {"prio_offset", "40"},
	{"bc_be_queue", "21"}, {"bc_srv_queue", "22"}, {"last_rule_file", "a.cfg"}, {"last_rule_line", "12"}, {"last_entity", "a.cfg:12"}, {"waiting_entity", "w.cfg:3"},
	{"fs.aborted", "1"}, {"bs.aborted", "0"}, {"fs.id", "0"}, {"bs.id", "7"}, {"fs.rst_code", "none"}, {"bs.rst_code", "8"},

	{"fc.timer.handshake", "1"}, {"req.timer.idle", "2"}, {"req.timer.hdr", "3"}, {"req.timer.tq", "6"}, {"req.timer.queue", "4"}, {"bc.timer.connect", "5"}, {"res.timer.hdr", "6"},
	{"res.timer.data", "9"}, {"txn.timer.total", "27"}, {"txn.timer.user", "28"}, {"fc.timer.total", "30"},
	{"fe_client_timeout", "4000"}, {"fe_tarpit_timeout", "0"}, {"be_server_timeout", "6000"}, {"be_connect_timeout", "7000"}, {"be_queue_timeout", "7000"}, {"be_tarpit_timeout", "7000"},
	{"be_tunnel_timeout", "8"}, {"be_max_retries", "3"}, {"cur_max_retries", "6"}, {"cur_client_timeout", "1000"}, {"cur_server_timeout", "2000"}, {"cur_tarpit_timeout", "3000"},
	{"cur_tunnel_timeout", "0"}, {"cur_connect_timeout", "0"}, {"cur_queue_timeout", "0"},
}

func TestValues(t *testing.T) {
	s := full()
	seen := map[string]bool{"pid": true, "rand": true, "uuid": true}
	for _, c := range values {
		if got := eval(t, s, c[0]); got != c[1] {
			t.Errorf("%s = %q, want %q", c[0], got, c[1])
		}
		name, _, _ := strings.Cut(c[0], "(")
		seen[name] = true
	}
	for _, name := range sample.Fetches.Names() {
		if !seen[name] {
			t.Errorf("%s is not tested", name)
		}
	}
	if got := eval(t, s, "pid"); got != fmt.Sprint(os.Getpid()) {
		t.Errorf("pid = %s", got)
	}
}

// TestNothingThere: a stream that has only just begun.
func TestNothingThere(t *testing.T) {
	fe := &model.Proxy{Name: "f", Sides: model.SideFrontend, ID: 2, Retries: -1, Timeout: model.Timeouts{Connect: time.Second, Tarpit: 2 * time.Second}}
	s := &sampletest.Stream{Fe: fe, Be: nil, Rec: model.LogRecord{Status: -1, Timers: model.Timers{Idle: -1, Request: -1, Queue: -1, Connect: -1, Response: -1}}}
	for _, c := range [][2]string{
		{"src", "none"}, {"src_port", "none"}, {"src_is_local", "none"}, {"dst", "none"}, {"fc_src", "none"}, {"fc_err", "none"}, {"fc_err_name", "none"}, {"fc_http_major", "none"},
		{"fc_rtt", "none"}, {"fc_saved_syn", "none"}, {"bc_src", "none"}, {"bc_dst_port", "none"}, {"bc_err_str", "none"}, {"bc_rtt(us)", "none"}, {"bc_reused", "0"}, {"bc_nb_streams", "none"},
		{"so_id", "none"}, {"so_name", "none"}, {"dst_conn", "none"}, {"srv_name", "none"}, {"srv_id", "none"}, {"be_name", "f"}, {"be_id", "2"}, {"fe_defbe", "none"},
		{"accept_date", "none"}, {"request_date", "none"}, {"last_rule_file", "none"}, {"last_rule_line", "none"}, {"last_entity", "none"}, {"waiting_entity", "none"},
		{"txn.status", "none"}, {"txn.sess_term_state", "--"}, {"txn.conn_retries", "0"}, {"txn.redispatched", "0"}, {"bc.timer.connect", "-1"}, {"req.timer.tq", "-1"}, {"req.timer.idle", "-1"},
		{"res.timer.data", "-1"}, {"txn.timer.total", "0"}, {"be_connect_timeout", "0"}, {"be_tarpit_timeout", "2000"}, {"be_queue_timeout", "0"}, {"be_max_retries", "3"}, {"cur_max_retries", "0"},
		{"stopping", "0"}, {"fs.aborted", "0"},
	} {
		e, err := sample.Parse(&sample.Scope{Proxy: fe}, c[0])
		if err != nil {
			t.Fatal(err)
		}
		got := "none"
		if b, ok := e.EvalStr(sampletest.New(s, "/")); ok {
			got = string(b)
		}
		if got != c[1] {
			t.Errorf("%s = %q, want %q", c[0], got, c[1])
		}
	}
	for _, text := range []string{"fe_conn()", "fe_conn(f)"} { // nothing runs yet
		e, err := sample.Parse(&sample.Scope{Proxy: fe, Conf: &model.Config{Proxies: []*model.Proxy{fe}}}, text)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.EvalStr(sampletest.New(s, "/")); ok {
			t.Errorf("%s has a value", text)
		}
	}
}

// TestPlain: a listener without a name, a connection that is not TCP, an error of a number that nobody knows.
func TestPlain(t *testing.T) {
	s := full()
	s.Sock = &sock{}
	s.Front = &conn{noInfo: true, code: 999, text: "odd"}
	s.Rec.Request = time.Time{}
	s.Src, s.Rec.UnixClient = netip.AddrPort{}, true
	for _, c := range [][2]string{
		{"so_name", "none"}, {"fc_rtt", "none"}, {"fc_lost", "none"}, {"fc_saved_syn", "none"}, {"fc_src", "none"}, {"fc_src_port", "none"}, {"fc_http_major", "none"},
		{"fc_err", "999"}, {"fc_err_name", ""}, {"fc_err_str", "odd"}, {"request_date", "1400000000"},
		{"fc_glitches", "none"}, {"fc_nb_streams", "3"}, {"fc_settings_streams_limit", "1"}, {"src", "none"}, {"src_is_local", "1"}, {"fc_src_is_local", "1"},
	} {
		if got := eval(t, s, c[0]); got != c[1] {
			t.Errorf("%s = %q, want %q", c[0], got, c[1])
		}
	}
}

// TestServers holds the reference's results for servers of all kinds.
func TestServers(t *testing.T) {
	one := func(name string, backup bool, maxconn, limit, maxqueue int, up, usable bool) *model.Server {
		return &model.Server{Name: name, Backup: backup, MaxConn: maxconn, MaxQueue: maxqueue, Run: &srv{up: up, usable: usable, limit: int64(limit)}}
	}
	for _, c := range []struct {
		name    string
		servers []*model.Server
		opt     model.Option
		usable  int64
		queued  int64
		want    string // be_conn_free, connslots, avg_queue
	}{
		{"none", nil, 0, 0, 0, "0 0 0"},
		{"none usable, some waiting", nil, 0, 0, 3, "0 0 6"},
		{"unlimited", []*model.Server{one("a", false, 0, 0, 0, true, true)}, 0, 1, 0, "-1 -1 0"},
		{"no weight, and disabled", []*model.Server{one("a", false, 10, 10, 5, true, true), one("b", false, 7, 7, 2, true, false), one("c", false, 0, 0, 0, false, false)}, 0, 1, 0, "10 24 0"},
		{"backups", []*model.Server{one("a", true, 3, 3, 4, true, true), one("b", true, 5, 5, 1, true, true)}, 0, 1, 1, "3 13 1"},
		{"all backups", []*model.Server{one("a", true, 3, 3, 4, true, true), one("b", true, 5, 5, 1, true, true)}, model.OptAllBackups, 2, 3, "8 13 2"},
		{"backups at rest", []*model.Server{one("a", true, 3, 3, 4, true, true), one("b", false, 5, 5, 1, true, true)}, model.OptAllBackups, 1, 4, "5 13 4"},
		{"minconn", []*model.Server{one("a", false, 100, 4, 10, true, true)}, 0, 1, 0, "4 110 0"},
		{"no queue limit", []*model.Server{one("a", false, 100, 100, 0, true, true)}, 0, 3, 4, "100 -1 2"},
	} {
		s := full()
		s.Be.Servers, s.Be.Opt, s.Be.Run = c.servers, c.opt, &proxy{5: c.queued, 6: c.usable}
		got := eval(t, s, "be_conn_free()") + " " + eval(t, s, "connslots()") + " " + eval(t, s, "avg_queue()")
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	s := full()
	s.Be.Servers[0].Run.(*srv).conns = 30
	if got := eval(t, s, "srv_conn_free(s1)"); got != "0" {
		t.Errorf("more connections than allowed: %s", got)
	}
}

// TestDefaultsLine: in a defaults section objects without a name are those of the section that runs the line.
func TestDefaultsLine(t *testing.T) {
	s := full()
	d := &model.Proxy{Sides: model.SideDefaults}
	for _, c := range [][2]string{{"be_conn()", "14"}, {"fe_conn()", "11"}, {"srv_conn(s1)", "3"}, {"srv_conn(none)", "none"}, {"srv_is_up(s2)", "1"}} {
		e, err := sample.Parse(&sample.Scope{Proxy: d, Conf: config(s)}, c[0])
		if err != nil {
			t.Fatal(err)
		}
		got := "none"
		if b, ok := e.EvalStr(sampletest.New(s, "/")); ok {
			got = string(b)
		}
		if got != c[1] {
			t.Errorf("%s = %q, want %q", c[0], got, c[1])
		}
	}
}

func TestErrors(t *testing.T) {
	s := full()
	for _, c := range []struct{ expr, want string }{
		{"int(0x10)", "not an integer"}, {"int(5x)", "not an integer"}, {"int()", "int"}, {"bool(yes)", "none of 'true', 'false', '1' and '0'"}, {"bool(2)", "none of"}, {"bool()", "none of"},
		{"bin(414)", "odd number of digits"}, {"bin(0x41)", `'x' in '0x41' is no hexadecimal digit`}, {"bin()", "digits are missing"}, {"bin(41 42)", "no hexadecimal digit"},
		{"ipv4(1.2.3)", "1.2.3"}, {"ipv4(localhost)", "localhost"}, {"ipv4(1.2.3.4/24)", "1.2.3.4/24"}, {"ipv4(::1)", "::1"}, {"ipv6(1.2.3.4)", "1.2.3.4"}, {"ipv6([::1])", "[::1]"},
		{"meth(G T)", "no HTTP method"}, {"date(5,m)", "unit 'm' is none of 's', 'ms' and 'us'"}, {"date(5,MS)", "unit 'MS'"}, {"date(x)", "not an integer"}, {"date(5,)", "unit ''"},
		{"accept_date(x)", "unit 'x'"}, {"request_date(S)", "unit 'S'"}, {"fc_rtt(s)", "unit 's' is none of 'ms' and 'us'"}, {"bc_rttvar(m)", "unit 'm'"},
		{"uuid(1)", "UUIDs of version 1 are not made"}, {"uuid(x)", "not an integer"}, {"nbsrv(none)", "no backend 'none'"}, {"fe_conn(app)", "no frontend 'app'"}, {"srv_conn(app/x)", "no server 'x'"},
		{"always_true(x)", "takes no argument"}, {"hostname(x)", "takes no argument"},
	} {
		if got := eval(t, s, c.expr); !strings.HasPrefix(got, "error: ") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want an error with %q", c.expr, got, c.want)
		}
	}
}

func TestRandom(t *testing.T) {
	s := full()
	v4 := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	for _, text := range []string{"uuid", "uuid()", "uuid(4)"} {
		if id := eval(t, s, text); !v4.MatchString(id) || id == eval(t, s, text) {
			t.Errorf("%s = %s", text, id)
		}
	}
	v7 := regexp.MustCompile(`^015d3ef7-987b-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	if id := eval(t, s, "uuid(7)"); !v7.MatchString(id) {
		t.Errorf("uuid(7) = %s", id)
	}
	for range 100 {
		var v model.Value
		if e := sampletest.Parse(t, "rand(10)"); !e.Eval(sampletest.New(s, ""), &v) || v.Num < 0 || v.Num > 9 {
			t.Fatalf("rand(10) = %d", v.Num)
		}
		if e := sampletest.Parse(t, "rand"); !e.Eval(sampletest.New(s, ""), &v) || v.Num < 0 || v.Num >= 1<<32 {
			t.Fatalf("rand = %d", v.Num)
		}
	}
}

// TestConst: values of the configuration stay valid as long as it does.
func TestConst(t *testing.T) {
	for _, text := range []string{"str(a)", "int(1)", "bool(1)", "bin(41)", "ipv4(1.2.3.4)", "ipv6(::1)", "meth(GET)"} {
		v, ok := sampletest.Value(t, sampletest.New(full(), ""), text)
		if e := sampletest.Parse(t, text); !ok || !v.Const || !e.Const() || v.Type != e.Out {
			t.Errorf("%s: %+v %v", text, v, ok)
		}
	}
	v, _ := sampletest.Value(t, sampletest.New(full(), ""), "meth(GET)")
	if w, _ := sampletest.Value(t, sampletest.New(full(), ""), "meth(get)"); v.Num == w.Num {
		t.Error("methods are told apart by case")
	}
}

// TestSignatures compares arguments, types and places with the reference's keyword dump.
func TestSignatures(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "fetches.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(data)) {
		name, _, _ := strings.Cut(line, "\t")
		name, _, _ = strings.Cut(name, "(")
		want[name] = strings.TrimSpace(line)
	}
	for _, name := range sample.Fetches.Names() {
		f, _ := sample.Fetches.Lookup(name)
		got := name
		if f.Args != "" {
			got += "(" + f.Args + ")"
		}
		got += "\t" + f.Out.String() + "\t"
		for i := range 22 {
			if f.Valid&(1<<i) != 0 {
				got += "Y"
			} else {
				got += "."
			}
		}
		if got != want[name] {
			t.Errorf("%s, want %s", got, want[name])
		}
		if f.Help == "" {
			t.Errorf("%s has no help", name)
		}
	}
}

func TestAllocates0(t *testing.T) {
	s := full()
	tx := sampletest.New(s, "/")
	tx.Scratch.Init(new(model.ScratchPool), 0)
	for _, c := range append(values, [2]string{"uuid"}, [2]string{"uuid(7)"}, [2]string{"rand"}, [2]string{"pid"}) {
		e, err := sample.Parse(&sample.Scope{Conf: config(s), Proxy: s.Be}, c[0])
		if err != nil {
			t.Fatal(err)
		}
		var v model.Value
		if n := testing.AllocsPerRun(20, func() {
			m := tx.Scratch.Mark()
			e.Eval(tx, &v)
			tx.Scratch.Release(m)
		}); n != 0 {
			t.Errorf("%s: %v allocations", c[0], n)
		}
	}
}

// TestStatus: what is about to be sent counts before it was.
func TestStatus(t *testing.T) {
	s := full()
	s.Rec.Status = -1
	tx := sampletest.New(s, "/")
	if got, ok := sampletest.Text(t, tx, "txn.status"); ok {
		t.Errorf("a status without a response: %s", got)
	}
	sampletest.Respond(tx, 204)
	if got, _ := sampletest.Text(t, tx, "txn.status"); got != "204" {
		t.Errorf("status %s", got)
	}
}
