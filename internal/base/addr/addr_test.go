package addr

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
)

func ip(s string) netip.Addr { return netip.MustParseAddr(s) }

func TestParse(t *testing.T) {
	any4, any6 := netip.IPv4Unspecified(), netip.IPv6Unspecified()
	for _, c := range []struct {
		in   string
		want Addr
	}{
		{":80", Addr{IP: any4, Any: true, PortKind: FixedPort, Port: 80, PortEnd: 80}},
		{"*:80", Addr{Host: "*", IP: any4, Any: true, PortKind: FixedPort, Port: 80, PortEnd: 80}},
		{"*", Addr{Host: "*", IP: any4, Any: true}},
		{"1.2.3.4", Addr{Host: "1.2.3.4", IP: ip("1.2.3.4")}},
		{"1.2.3.4:", Addr{Host: "1.2.3.4", IP: ip("1.2.3.4")}},
		{"1.2.3.4:80-90", Addr{Host: "1.2.3.4", IP: ip("1.2.3.4"), PortKind: PortRange, Port: 80, PortEnd: 90}},
		{"1.2.3.4:+10", Addr{Host: "1.2.3.4", IP: ip("1.2.3.4"), PortKind: PortPlus, Port: 10, PortEnd: 10}},
		{"1.2.3.4:-10", Addr{Host: "1.2.3.4", IP: ip("1.2.3.4"), PortKind: PortMinus, Port: 10, PortEnd: 10}},
		{"::1:80", Addr{Host: "::1", IP: ip("::1"), PortKind: FixedPort, Port: 80, PortEnd: 80}},
		{":::80", Addr{Host: "::", IP: any6, PortKind: FixedPort, Port: 80, PortEnd: 80}},
		{"[::1]:80", Addr{Host: "::1", IP: ip("::1"), PortKind: FixedPort, Port: 80, PortEnd: 80}},
		{"[::1]", Addr{Host: "::1", IP: ip("::1")}},
		{"[1.2.3.4]:80", Addr{Host: "1.2.3.4", IP: ip("1.2.3.4"), PortKind: FixedPort, Port: 80, PortEnd: 80}},
		{"0:80", Addr{Host: "0", IP: any4, PortKind: FixedPort, Port: 80, PortEnd: 80}},
		{"127.1", Addr{Host: "127.1", IP: ip("127.0.0.1")}},
		{"example.com:80", Addr{Host: "example.com", IsName: true, PortKind: FixedPort, Port: 80, PortEnd: 80}},
		{"[example.com]:80", Addr{Host: "example.com", IsName: true, PortKind: FixedPort, Port: 80, PortEnd: 80}},
		{"ip@1.2.3.4", Addr{Host: "1.2.3.4", IP: ip("1.2.3.4")}},
		{"ipv4@:80", Addr{Family: IPv4, IP: any4, Any: true, PortKind: FixedPort, Port: 80, PortEnd: 80}},
		{"ipv6@*:80", Addr{Family: IPv6, Host: "*", IP: any6, Any: true, PortKind: FixedPort, Port: 80, PortEnd: 80}},
		{"ipv6@::1", Addr{Family: IPv6, Host: ":", Any: false}},
		{"tcp@h", Addr{Proto: Stream, Host: "h", IsName: true}},
		{"tcp4@h", Addr{Family: IPv4, Proto: Stream, Host: "h", IsName: true}},
		{"tcp6@h", Addr{Family: IPv6, Proto: Stream, Host: "h", IsName: true}},
		{"udp@h", Addr{Proto: Datagram, Host: "h", IsName: true}},
		{"udp4@h", Addr{Family: IPv4, Proto: Datagram, Host: "h", IsName: true}},
		{"udp6@h", Addr{Family: IPv6, Proto: Datagram, Host: "h", IsName: true}},
		{"quic4@h", Addr{Family: IPv4, Proto: QUIC, Host: "h", IsName: true}},
		{"quic6@h", Addr{Family: IPv6, Proto: QUIC, Host: "h", IsName: true}},
		{"mptcp@h", Addr{Proto: MPTCP, Host: "h", IsName: true}},
		{"mptcp4@h", Addr{Family: IPv4, Proto: MPTCP, Host: "h", IsName: true}},
		{"mptcp6@h", Addr{Family: IPv6, Proto: MPTCP, Host: "h", IsName: true}},
		{"stream+ipv4@h", Addr{Family: IPv4, Proto: Stream, Host: "h", IsName: true}},
		{"dgram+ip@h", Addr{Proto: Datagram, Host: "h", IsName: true}},
		{"quic+ipv6@h", Addr{Family: IPv6, Proto: QUIC, Host: "h", IsName: true}},
		{"/tmp/a:b@c", Addr{Family: Unix, Path: "/tmp/a:b@c"}},
		{"unix@rel", Addr{Family: Unix, Path: "rel"}},
		{"uxst@/x", Addr{Family: Unix, Proto: Stream, Path: "/x"}},
		{"uxdg@/x", Addr{Family: Unix, Proto: Datagram, Path: "/x"}},
		{"stream+unix@/x", Addr{Family: Unix, Proto: Stream, Path: "/x"}},
		{"abns@n", Addr{Family: Abstract, Path: "n"}},
		{"abnsz@n", Addr{Family: AbstractZ, Path: "n"}},
		{"fd@3", Addr{Family: FD, FD: 3}},
		{"dgram+fd@0", Addr{Family: FD, Proto: Datagram}},
		{"sockpair@7", Addr{Family: SockPair, FD: 7}},
		{"rhttp@be/srv", Addr{Family: RHTTP, Path: "be/srv"}},
	} {
		got, err := Parse(c.in)
		if c.in == "ipv6@::1" { // the last colon starts the port
			if err == nil {
				t.Errorf("Parse(%q) = %+v", c.in, got)
			}
			continue
		}
		if c.want.Family != FD && c.want.Family != SockPair {
			c.want.FD = -1
		}
		if err != nil || got != c.want {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", c.in, got, err, c.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, in := range []string{
		"", "@", "foo@x", "stream@:80", "stream+foo@:80", "fd@", "fd@x", "fd@-1", "fd@+1", "fd@99999999999", "sockpair@x",
		":65536", ":80x", ":http", ":80-", ":80-x", ":90-80", ":80-65536", ":+x", ":+70000", "::1", "[::1", "[::1]80", "[]", "[]:80",
		"256.1.1.1", "1.2.3.4.5", "fe80::1%lo:80", "a b", "a/b:80", "a:b:80", "ipv4@[::1]:80", "ipv6@1.2.3.4", "unix@",
		"/" + strings.Repeat("x", 200), "abns@" + strings.Repeat("x", 200),
	} {
		if a, err := Parse(in); err == nil {
			t.Errorf("Parse(%q) = %+v, want an error", in, a)
		}
	}
	_, err := Parse("ip4@:80")
	var e *Error
	if !errors.As(err, &e) || e.Prefix != "ip4" {
		t.Errorf("Parse(ip4@:80): %v", err)
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		in   string
		need Need
		want string // part of the error, "" for none
	}{
		{":80", Bind, ""}, {":80-90", Bind, ""}, {"/x", Bind, ""}, {"fd@3", Bind, ""}, {"sockpair@3", Bind, ""},
		{":0", Bind, "port 0"}, {"1.2.3.4", Bind, "port is missing"}, {":+80", Bind, "offset"}, {"udp@:80", Bind, "datagram"},
		{"dgram+fd@3", Bind, "datagram"}, {"mptcp@:80", Bind, ""},
		{"1.2.3.4", Connect, ""}, {":0", Connect, ""}, {"h:+80", Connect, ""}, {"h:80-90", Connect, "range"}, {"fd@3", Connect, "descriptor"},
		{"udp@h:80", Connect, "datagram"}, {"h:514", Log, ""}, {"udp@h:514", Log, ""}, {"tcp@h:514", Log, ""}, {"/dev/log", Log, ""},
		{"fd@1", Log, ""}, {"sockpair@1", Log, "socket pair"}, {"1.2.3.4:1000-2000", Source, ""}, {"/x", Source, "UNIX"},
		{"rhttp@x", Log, "reverse"}, {"h:80", Need{Stream: true}, "a port is not"},
		{"udp@h", Need{Datagram: true}, ""}, {"tcp@h", Need{Datagram: true}, "stream"},
	} {
		a, err := Parse(c.in)
		if err != nil {
			t.Errorf("Parse(%q): %v", c.in, err)
			continue
		}
		err = a.Check(c.in, c.need)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("Check(%q) = %v, want %q", c.in, err, c.want)
		}
	}
}

func TestUnserved(t *testing.T) {
	for in, want := range map[string]string{"quic4@:443": "quic+", "rhttp@x": "rhttp@", ":80": "", "mptcp@:80": ""} {
		a, err := Parse(in)
		if err != nil || a.Unserved() != want {
			t.Errorf("%q: Unserved() = %q, %v", in, a.Unserved(), err)
		}
	}
}

func TestResolve(t *testing.T) {
	r := func(host string) ([]netip.Addr, error) {
		if host != "both" {
			return nil, errors.New("unknown")
		}
		return []netip.Addr{ip("::1"), ip("::ffff:1.2.3.4")}, nil
	}
	for _, c := range []struct{ in, want string }{
		{"both", "::1"}, {"ipv4@both", "1.2.3.4"}, {"ipv6@both", "::1"}, {"1.1.1.1:80", "1.1.1.1"}, {"none", "invalid IP"},
	} {
		a, err := Parse(c.in)
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.Resolve(r)
		if got.String() != c.want || (err != nil) != (c.want == "invalid IP") {
			t.Errorf("Resolve(%q) = %v, %v", c.in, got, err)
		}
	}
	a, _ := Parse("h")
	if _, err := a.Resolve(nil); err == nil {
		t.Error("resolved without a resolver")
	}
}

func TestStringReadsBack(t *testing.T) {
	for _, in := range []string{
		":80", "*", "*:80", "1.2.3.4", "1.2.3.4:80-90", "h:+1", "h:-1", "[::1]:80", "ipv4@:80", "ipv6@[::1]:80", "tcp@h:1", "udp6@h:1",
		"quic4@h:1", "mptcp@h:1", "/x", "unix@x", "uxst@/x", "uxdg@x", "abns@x", "abnsz@x", "stream+abns@x", "dgram+fd@3", "fd@3",
		"sockpair@3", "rhttp@x",
	} {
		a, err := Parse(in)
		if err != nil {
			t.Errorf("Parse(%q): %v", in, err)
			continue
		}
		if a.String() != in {
			t.Errorf("Parse(%q).String() = %q", in, a)
		}
		if b, err := Parse(a.String()); err != nil || a != b {
			t.Errorf("%q reads back as %+v, %v", a, b, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{":80", "[::1]:80-90", "quic+ip@h:1", "fd@3", "unix@x", "127.1:+3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := Parse(s)
		if err != nil {
			return
		}
		_ = a.Check(s, Bind)
		b, err := Parse(a.String())
		if err != nil {
			t.Fatalf("%q gives %q: %v", s, a, err)
		}
		if a.Port != b.Port || a.Path != b.Path || a.FD != b.FD || a.Family != b.Family || a.Proto != b.Proto || a.IP != b.IP {
			t.Fatalf("%q gives %q: %+v and %+v", s, a, a, b)
		}
	})
}

func TestSplitList(t *testing.T) {
	for in, want := range map[string]int{"": 1, ":80": 1, ":80,:81": 2, ":80,": 1, ",": 1, ":80,,:81": 3} {
		if got := SplitList(in); len(got) != want {
			t.Errorf("SplitList(%q) = %q", in, got)
		}
	}
}
