package kw_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"weir/internal/base/addr"
	"weir/internal/model"
)

func TestGlobalValues(t *testing.T) {
	g := good(t, `
global
 daemon
 quiet
 no strict-limits
 chroot /var/empty
 pidfile /run/weir.pid
 nbthread 4
 thread-groups 2
 maxconn 1000
 maxconnrate 11
 maxsessrate 12
 maxpipes 13
 ulimit-n 5000
 fd-hard-limit 6000
 no-uring
 noepoll
 nosplice
 noreuseport
 node lb-1
 description two words
 localpeer me
 hard-stop-after 30s
 grace 500
 close-spread-time 2m
 warn-blocked-traffic-after 50ms
 set-dumpable
 insecure-fork-wanted
 h1-case-adjust content-type Content-Type
 h1-accept-payload-with-any-method
 h1-do-not-close-on-insecure-transfer-encoding
 log-send-hostname
 log-tag gate
 anonkey 77
 tune.bufsize 20001
 tune.maxrewrite 99999
 tune.maxaccept -1
 tune.rcvbuf.client 64k
 tune.idle-pool.shared full
 tune.h1.zero-copy-fwd-send off
 tune.listener.multi-queue fair
 tune.listener.default-shards by-thread
 tune.idletimer 2s
`).Global
	want := map[string]any{
		"Daemon": true, "Quiet": true, "StrictLimits": model.Off, "Chroot": "/var/empty", "PidFile": "/run/weir.pid",
		"NbThread": 4, "ThreadGroups": 2, "MaxConn": 1000, "MaxConnRate": 11, "MaxSessRate": 12, "MaxPipes": 13,
		"UlimitN": 5000, "FDHardLimit": 6000, "NoUring": true, "NoEpoll": true, "NoSplice": true, "NoReusePort": true,
		"Node": "lb-1", "Description": "two words", "LocalPeer": "me", "HardStopAfter": 30 * time.Second,
		"Grace": 500 * time.Millisecond, "CloseSpreadTime": 2 * time.Minute, "WarnBlockedAfter": 50 * time.Millisecond,
		"SetDumpable": true, "InsecureForkWanted": true, "H1PayloadAnyMethod": true, "H1KeepOnInsecureTE": true,
		"H1CaseAdjust": map[string]string{"content-type": "Content-Type"}, "AnonKey": uint32(77), "UID": -1,
	}
	compareFields(t, "global", reflect.ValueOf(*g), want)
	if g.Log.SendHostname != "-" || g.Log.Tag != "gate" {
		t.Errorf("%+v", g.Log)
	}
	compareFields(t, "tune", reflect.ValueOf(g.Tune), map[string]any{
		"BufSize": 20016, "MaxRewrite": 10008, "MaxAccept": -1, "RcvBufClient": 65536, "IdlePoolShared": model.On,
		"H1ZeroCopySend": model.Off, "H1ZeroCopyRecv": model.Unset, "ListenerMultiQueue": "fair", "DefaultShards": -1,
		"IdleTimer": 2 * time.Second,
	})
}

// compareFields compares fields by name.
func compareFields(t *testing.T, what string, v reflect.Value, want map[string]any) {
	t.Helper()
	for name, w := range want {
		f := v.FieldByName(name)
		if !f.IsValid() {
			t.Errorf("%s has no field %s", what, name)
		} else if got := f.Interface(); !reflect.DeepEqual(got, w) {
			t.Errorf("%s: %s is %v, want %v", what, name, got, w)
		}
	}
}

func TestCPUMap(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"1 0-3", "1:0-0=0,1,2,3"},
		{"1/2 5", "1:2-2=5"},
		{"1/1-4 0 2-3,7", "1:1-4=0,2,3,7"},
		{"1/odd 0", "1:1-1=0 1:3-3=0"},
		{"auto:1/1-3 4-6", "1:1-1=4 1:2-2=5 1:3-3=6"},
		{"auto:1/1-3 6,5,4", "1:1-1=4 1:2-2=5 1:3-3=6"},
		{"auto:1-2/3 0-1", "1:3-3=0 2:3-3=1"},
		{"auto:1-2 0-1", "1:0-0=0 2:0-0=1"},
		{"2-1 1", "1:0-0=1 2:0-0=1"},
	} {
		var got []string
		for _, m := range good(t, "global\n cpu-map "+c.line+"\n").Global.CPUMap {
			cpus := strings.ReplaceAll(strings.Trim(fmt.Sprint(m.CPUs), "[]"), " ", ",")
			got = append(got, fmt.Sprintf("%d:%d-%d=%s", m.Group, m.ThreadLow, m.ThreadHigh, cpus))
		}
		if s := strings.Join(got, " "); s != c.want && !strings.HasPrefix(s, c.want+" ") {
			t.Errorf("cpu-map %s: got %s, want %s", c.line, s, c.want)
		}
	}
}

func TestBindValues(t *testing.T) {
	p := oneProxy(t, ` bind 192.0.2.1:80-82,[::]:443,/s.sock,abns@x,fd@5 name web interface lo maxconn 7 backlog 8 nice -9 mss -10 tfo defer-accept transparent v6only v4v6 tcp-ut 3s cc reno tcp-ss 1 user root gid 9 mode 640 thread 1-2,4- shards by-group proto h1 label l guid-prefix g`)
	b := p.Binds[1]
	compareFields(t, "bind", reflect.ValueOf(*b), map[string]any{
		"Name": "web", "Interface": "lo", "MaxConn": 7, "Backlog": 8, "Nice": -9, "MSS": -10, "TFO": true,
		"DeferAccept": true, "Transparent": true, "V6Only": true, "V4V6": true, "TCPUserTimeout": 3 * time.Second,
		"CC": "reno", "TCPSS": "1", "UID": 0, "GID": 9, "PermMode": 0o640, "Shards": -2, "Proto": "h1", "Label": "l",
		"GUIDPrefix": "g",
		"Threads":    []model.ThreadSet{{Low: 1, High: 2}, {Low: 4, High: 1024}},
	})
	var kinds []addr.Family
	for _, a := range b.Addrs {
		kinds = append(kinds, a.Family)
	}
	if len(b.Addrs) != 5 || b.Addrs[0].PortEnd != 82 || b.Addrs[4].FD != 5 {
		t.Errorf("%v %+v", kinds, b.Addrs)
	}
	first := p.Binds[0]
	if first.UID != -1 || first.GID != -1 || first.PermMode != -1 || first.Shards != 0 {
		t.Errorf("%+v", first)
	}
}

func TestServerValues(t *testing.T) {
	p := oneProxy(t, ` default-server backup disabled
 server a 192.0.2.1:8000 no-backup enabled weight 0 maxconn 20 minconn 5 maxqueue 3 strict-maxconn pool-max-conn 4 pool-low-conn 2 pool-purge-delay 7s max-reuse 100 tcp-ut 1s cc reno source 192.0.2.9:1000 interface lo proto h1 cookie c redir http://x id 33 guid u no-check
 server b 192.0.2.2:+5 minconn 9 maxconn 4 source 0.0.0.0 usesrc clientip
 server c /run/s.sock
 server-template t 2-4 192.0.2.3:80 id 50`)
	compareFields(t, "server", reflect.ValueOf(*p.Servers[0]), map[string]any{
		"Backup": false, "Disabled": false, "Weight": 0, "MaxConn": 20, "MinConn": 5, "MaxQueue": 3, "StrictMaxConn": true,
		"PoolMaxConn": 4, "PoolLowConn": 2, "PoolPurgeDelay": 7 * time.Second, "MaxReuse": 100, "TCPUserTimeout": time.Second,
		"CC": "reno", "Proto": "h1", "Cookie": "c", "Redir": "http://x", "ID": 33, "GUID": "u",
	})
	if s := p.Servers[0].Source; s.Addr.Port != 1000 || s.Interface != "lo" {
		t.Errorf("%+v", s)
	}
	b := p.Servers[1]
	if !b.Backup || !b.Disabled || b.MaxConn != 9 || b.MinConn != 0 || b.Addr.PortKind != addr.PortPlus || b.Source.UseSrc != "clientip" {
		t.Errorf("%+v %+v", b, b.Source)
	}
	if p.Servers[2].Addr.Family != addr.Unix {
		t.Errorf("%+v", p.Servers[2].Addr)
	}
	var names []string
	for _, s := range p.Servers[3:] {
		names = append(names, fmt.Sprint(s.Name, "=", s.ID))
	}
	if got := strings.Join(names, " "); got != "t2=50 t3=51 t4=52" {
		t.Errorf("template: %s", got)
	}
}

func TestProxyValues(t *testing.T) {
	p := oneProxy(t, ` maxconn 5
 backlog 6
 fullconn 7
 retries 0
 retry-on conn-failure 503
 max-keep-alive-queue 8
 rate-limit sessions 9
 http-reuse always
 balance first
 monitor-uri /up
 monitor fail if { nbsrv lt 1 }
 id 44
 guid g
 description some words
 clitcpka-cnt 3
 clitcpka-idle 4
 srvtcpka-intvl 5m
 timeout http-request 5s
 timeout client-fin 1m
 option httpclose
 option http-restrict-req-hdr-names reject
 option forwarded host by by_port for
 option originalto header X-To
 option tcpka
 option nolinger
 option redispatch
 option logasap
 default option logasap
 no option abortonclose
 source 192.0.2.1:99 interface lo`)
	compareFields(t, "proxy", reflect.ValueOf(*p), map[string]any{
		"MaxConn": 5, "Backlog": 6, "FullConn": 7, "Retries": 0, "RetryOn": model.RetryConnFailure | model.Retry503,
		"MaxKeepAliveQueue": 8, "RateLimitSessions": 9, "Reuse": model.ReuseAlways, "MonitorURI": "/up", "ID": 44,
		"GUID": "g", "Description": "some words", "Close": model.Close, "HdrNames": model.HdrNamesReject, "Redispatch": -1,
		"ClientKA":   model.Keepalive{Count: 3, Idle: 4 * time.Second},
		"ServerKA":   model.Keepalive{Interval: 5 * time.Minute},
		"Forwarded":  model.Forwarded{Enabled: true, Host: true, By: true, ByPort: true, For: true},
		"OriginalTo": model.ForwardFor{Enabled: true, Header: "X-To"},
	})
	if p.Balance.Algorithm != "first" || len(p.MonitorFail) != 1 || p.Timeout.HTTPRequest != 5*time.Second {
		t.Errorf("%+v", p)
	}
	on := model.OptClitcpka | model.OptSrvtcpka | model.OptNoLingerFrontend | model.OptNoLingerBackend
	if !p.Has(on) || p.Has(model.OptLogASAP) || p.Has(model.OptAbortOnClose) || p.OptSet&model.OptLogASAP != 0 {
		t.Errorf("options %x, set %x", p.Opt, p.OptSet)
	}
}

func TestCloseModes(t *testing.T) {
	for lines, want := range map[string]model.HTTPClose{
		" option httpclose":                                  model.Close,
		" option httpclose\n option http-server-close":       model.ServerClose,
		" option httpclose\n no option http-server-close":    model.Close,
		" option httpclose\n no option httpclose":            model.KeepAlive,
		" option http-server-close\n option http-keep-alive": model.KeepAlive,
	} {
		if p := oneProxy(t, lines); p.Close != want {
			t.Errorf("%q: %d, want %d", lines, p.Close, want)
		}
	}
}

func TestLogValues(t *testing.T) {
	c := good(t, `global
 log 192.0.2.1 local3
 log [::1]:99 len 2000 format rfc5424 sample 2,4-5:8 daemon err alert
 log /dev/log format short kern
 log fd@3 user
 log stdout format raw daemon
 log localhost mail
`)
	l := c.Global.Log.Targets
	if l[0].Addr.Port != 514 || l[0].Facility != 19 || l[0].Level != 7 || l[0].MinLevel != 0 || l[0].Length != 1024 || l[0].Format != "" {
		t.Errorf("%+v", l[0])
	}
	if l[1].Addr.Port != 99 || l[1].Length != 2000 || l[1].Format != "rfc5424" || l[1].Level != 3 || l[1].MinLevel != 1 ||
		l[1].SampleSize != 8 || !slices.Equal(l[1].SampleRanges, []model.SampleRange{{Low: 2, High: 2}, {Low: 4, High: 5}}) {
		t.Errorf("%+v", l[1])
	}
	if l[2].Addr.Family != addr.Unix || l[3].Addr.FD != 3 || !l[4].Stdout || l[5].Addr.IP.String() != "127.0.0.1" {
		t.Errorf("%+v %+v %+v %+v", l[2], l[3], l[4], l[5])
	}
}

func TestErrorPages(t *testing.T) {
	text := `http-errors site
 errorfile 404 lf.http
 errorfile 503 503.http
 errorfile 500 empty.http
defaults
 mode http
 timeout client 1s
frontend all
 bind :80
 errorloc303 404 /gone
 errorfiles site
frontend some
 bind :81
 errorfiles site 404 503
 errorloc 503 /later
frontend back
 bind :82
 errorfile 503 503.http
 http-error status 503 default-errorfiles
 http-error status 404 errorfiles site
 http-error status 429 content-type text/plain string "slow down" hdr Retry-After 5 hdr X-B c
 http-error status 400
`
	c, diags := load(text, "testdata/files")
	if c == nil {
		t.Fatal(diags)
	}
	show := func(p *model.Proxy, code int) string {
		e := p.Errors[code]
		if e == nil {
			return "none"
		}
		return fmt.Sprintf("%d %q 1.0=%v %v @%d %q empty=%v", e.Code, e.Reason, e.HTTP10, e.Fields, e.LengthAt, e.Body, e.Empty)
	}
	for _, w := range []struct {
		proxy string
		code  int
		want  string
	}{
		{"all", 404, `404 "NF" 1.0=true [[content-type x]] @-1 "hello" empty=false`},
		{"all", 503, `503 "Service Unavailable" 1.0=true [[cache-control no-cache] [content-type text/html]] @-1 "hello" empty=false`},
		{"all", 500, `0 "" 1.0=false [] @-1 "" empty=true`},
		{"some", 404, `404 "NF" 1.0=true [[content-type x]] @-1 "hello" empty=false`},
		{"some", 503, `302 "Found" 1.0=false [[cache-control no-cache] [location /later]] @1 "" empty=false`},
		{"some", 500, "none"},
		{"back", 503, "none"},
		{"back", 404, `404 "NF" 1.0=true [[content-type x]] @-1 "hello" empty=false`},
		{"back", 429, `429 "" 1.0=false [[retry-after 5] [x-b c] [content-type text/plain]] @2 "slow down" empty=false`},
		{"back", 400, `400 "" 1.0=false [] @0 "" empty=false`},
	} {
		if got := show(proxy(t, c, w.proxy), w.code); got != w.want {
			t.Errorf("%s %d:\n got %s\nwant %s", w.proxy, w.code, got, w.want)
		}
	}
}

func TestThreadSets(t *testing.T) {
	for _, c := range []struct{ global, threads, want string }{
		{"nbthread 4", "1-2,4", "[{0 1 2} {0 4 4}]"},
		{"nbthread 4", "all", "[{0 1 0}]"},
		{"nbthread 4", "-3", "[{0 1 3}]"},
		{"nbthread 4", "3-2", "[{0 2 3}]"},
		{"nbthread 4\n thread-groups 2", "2/1", "[{0 3 3}]"},
		{"nbthread 4\n thread-groups 2", "1/all,2/2-", "[{0 1 2} {0 4 4}]"},
		{"quiet", "1/2-", "[{1 2 64}]"},
	} {
		cfg := good(t, "global\n "+c.global+"\nfrontend f\n timeout client 1s\n bind :80 thread "+c.threads+"\n")
		if got := fmt.Sprint(cfg.Proxies[0].Binds[0].Threads); got != c.want {
			t.Errorf("%s, thread %s: %s, want %s", c.global, c.threads, got, c.want)
		}
	}
	odd := oneProxy(t, " bind :81 thread even").Binds[1].Threads
	if len(odd) != 512 || odd[1] != (model.ThreadSet{Low: 4, High: 4}) {
		t.Errorf("even: %d sets", len(odd))
	}
}
