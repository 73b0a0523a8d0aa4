package proxyproto

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"strings"
	"testing"
)

func v2(cmd, fam byte, body ...[]byte) []byte {
	b := bytes.Join(body, nil)
	h := append([]byte(signature), cmd, fam, byte(len(b)>>8), byte(len(b)))
	return append(h, b...)
}

func tlv(id byte, v string) []byte { return AppendText(nil, id, v) }

var (
	a4 = []byte{1, 2, 3, 4, 5, 6, 7, 8, 0x04, 0x57, 0x08, 0xae}
	a6 = append(append(append(bytes.Repeat([]byte{1}, 16), bytes.Repeat([]byte{2}, 16)...), 0, 9), 0, 8)
)

const noFault = "1.2.3.4:1111>5.6.7.8:2222"

func sum(right bool) []byte {
	b := append(Begin(nil, netip.MustParseAddrPort("1.2.3.4:1111"), netip.MustParseAddrPort("5.6.7.8:2222")), CRC32C, 0, 4, 0, 0, 0, 0)
	b, _ = Finish(b, 0, len(b)-4)
	if !right {
		b[len(b)-1] ^= 1
	}
	return b
}

// TestAdvisoryHeaders (security rows 109 and 110): what the reference says to each header, and what it does not say: lines with numbers
// that are not canonical are refused here.
func TestAdvisoryHeaders(t *testing.T) {
	line := func(s string) []byte { return []byte(s) }
	for _, c := range []struct {
		in   []byte
		want Fault
		addr string
	}{
		{line("PROXY TCP4 1.2.3.4 5.6.7.8 1111 2222\r\n"), None, noFault},
		{line("PROXY TCP6 ::1 FFFF::2 1111 2222\r\n"), None, "[::1]:1111>[ffff::2]:2222"},
		{line("PROXY TCP6 ::ffff:1.2.3.4 ::ffff:5.6.7.8 1 2\r\n"), None, "[::ffff:1.2.3.4]:1>[::ffff:5.6.7.8]:2"},
		{line("PROXY TCP4 1.2.3.4 5.6.7.8 0 0\r\n"), None, "1.2.3.4:0>5.6.7.8:0"},
		{line("PROXY UNKNOWN\r\n"), None, "none"},
		{line("PROXY UNKNOWN blah blah\r\n"), BadProto, ""},
		{line("PROXY UNKNOWNX\r\n"), BadProto, ""},
		{line("PROXY UNKNOWN"), BadProto, ""},
		{line("PROXY UNKNOWN " + strings.Repeat("x", 91) + "\r\n"), BadProto, ""},
		{line("PROXY TCP5 1.2.3.4 5.6.7.8 1111 2222\r\n"), BadProto, ""},
		{line("PROXY  TCP4 1.2.3.4 5.6.7.8 1111 2222\r\n"), BadProto, ""},
		{line("PROXY TCP4 1.2.3.4  5.6.7.8 1111 2222\r\n"), Bad, ""},
		{line("PROXY TCP4 1.2.3.4 5.6.7.8 1111 2222\n"), Bad, ""},
		{line("PROXY TCP4 1.2.3.4 5.6.7.8 1111 2222 \r\n"), Bad, ""},
		{line("PROXY TCP4 1.2.3.4 5.6.7.8 1111 2222 x\r\n"), Bad, ""},
		{line("PROXY TCP4 1.2.3.4 5.6.7.8 1111\r\n"), Bad, ""},
		{line("PROXY TCP4 ::1 ::2 1111 2222\r\n"), Bad, ""},
		{line("PROXY TCP6 1.2.3.4 5.6.7.8 1111 2222\r\n"), Bad, ""},
		{line("PROXY TCP6 fe80::1%lo ::2 1 2\r\n"), Bad, ""},
		{line("PROXY TCP4 1.2.3.4 5.6.7.8 +111 2222\r\n"), Bad, ""},
		{line("PROXY TCP4 1.2.3.4 5.6.7.8 01111 2222\r\n"), Bad, ""},  // the reference takes it
		{line("PROXY TCP4 1.2.3.4 5.6.7.8 65536 2222\r\n"), Bad, ""},  // port 0 there
		{line("PROXY TCP4 256.2.3.4 5.6.7.8 1111 2222\r\n"), Bad, ""}, // 0.2.3.4 there
		{line("PROXY TCP4 1.2.3 5.6.7.8 1111 2222\r\n"), Bad, ""},     // 1.2.3.0 there
		{line("PROXY TCP4 1.2.3.4 5.6.7.8 1111 2222\r"), Truncated, ""},
		{line("PROXY TCP4 1.2.3.4 5.6"), Truncated, ""},
		{line("PROXY TCP6 " + strings.Repeat("0", 200)), Bad, ""},
		{line("PROXY "), Truncated, ""},
		{line("PROX"), Truncated, ""},
		{line(""), Truncated, ""},
		{line("GET /"), Truncated, ""},
		{line("GET / HTTP/1.0\r\n\r\n"), NotHeader, ""},
		{line("proxy TCP4 1.2.3.4 5.6.7.8 1111 2222\r\n"), NotHeader, ""},

		{v2(0x21, 0x11, a4), None, noFault},
		{v2(0x21, 0x21, a6), None, "[101:101:101:101:101:101:101:101]:9>[202:202:202:202:202:202:202:202]:8"},
		{v2(0x20, 0), None, "none"},
		{v2(0x20, 0x11), None, "none"},
		{v2(0x20, 0, tlv(2, "host")), None, "none"},
		{v2(0x20, 0x11, a4), Bad, ""}, // its addresses are read as values
		{v2(0x20, 0xff, []byte("xyz")), Bad, ""},
		{v2(0x22, 0x11, a4), Bad, ""},
		{v2(0x11, 0x11, a4), NotHeader, ""},
		{v2(0x21, 0x12, a4), Bad, ""},
		{v2(0x21, 0x31, make([]byte, 216)), Bad, ""},
		{v2(0x21, 0), Bad, ""},
		{v2(0x21, 0x01, a4), Bad, ""},
		{v2(0x21, 0x10, a4), Bad, ""},
		{v2(0x21, 0x41, a4), Bad, ""},
		{v2(0x21, 0x11, a4[:11]), Bad, ""},
		{v2(0x21, 0x21, a6[:35]), Bad, ""},
		{v2(0x21, 0x11), Bad, ""},
		{append(append([]byte(signature), 0x21, 0x11, 0xff, 0xff), a4...), Truncated, ""},
		{v2(0x21, 0x11, a4)[:20], Truncated, ""},
		{[]byte(signature)[:11], Truncated, ""},
		{v2(0x21, 0x11, a4, tlv(2, "example.com"), tlv(5, "12345"), tlv(0xe2, "")), None, noFault},
		{v2(0x21, 0x11, a4, tlv(2, strings.Repeat("a", 255))), None, noFault},
		{v2(0x21, 0x11, a4, tlv(2, strings.Repeat("a", 256))), Bad, noFault},
		{v2(0x21, 0x11, a4, tlv(5, strings.Repeat("a", 128))), None, noFault},
		{v2(0x21, 0x11, a4, tlv(5, strings.Repeat("a", 129))), Bad, noFault},
		{v2(0x21, 0x11, a4, tlv(0xe2, strings.Repeat("a", 1024))), None, noFault},
		{v2(0x21, 0x11, a4, tlv(0xe2, strings.Repeat("a", 1025))), Bad, noFault},
		{v2(0x21, 0x11, a4, []byte{2}), Bad, noFault},
		{v2(0x21, 0x11, a4, []byte{2, 0}), Bad, noFault},
		{v2(0x21, 0x11, a4, []byte("\x02\x00\x05abcd")), Bad, noFault},
		{v2(0x21, 0x11, a4, []byte("\x02\x00\x03abcd")), Bad, noFault},
		{v2(0x21, 0x11, a4, tlv(3, "abc")), Bad, noFault},
		{sum(true), None, noFault},
		{sum(false), Bad, noFault},
	} {
		var h Header
		n, f := Parse(append(bytes.Clone(c.in), "GET /"...)[:len(c.in)], &h)
		addr := "none"
		if h.Src.IsValid() {
			addr = h.Src.String() + ">" + h.Dst.String()
		}
		if c.addr == "" {
			c.addr = "none"
		}
		if f != c.want || addr != c.addr || f == None && n != len(c.in) {
			t.Errorf("%q: fault %d, %s, %d bytes", c.in, f, addr, n)
		}
		if f == None { // what follows is not looked at
			if m, _ := Parse(append(bytes.Clone(c.in), "\x02\x00\x05GET /"...), &h); m != n {
				t.Errorf("%q: %d bytes, then %d", c.in, n, m)
			}
		}
	}
}

func TestFind(t *testing.T) {
	var h Header
	Parse(v2(0x21, 0x11, a4, tlv(4, "pad"), tlv(2, "a"), tlv(0xe2, ""), tlv(2, "b")), &h)
	v, rest, ok := h.TLVs.Find(Authority)
	w, rest, ok2 := rest.Find(Authority)
	_, _, ok3 := rest.Find(Authority)
	e, _, ok4 := h.TLVs.Find(0xe2)
	if string(v) != "a" || string(w) != "b" || !ok || !ok2 || ok3 || !ok4 || len(e) != 0 {
		t.Errorf("%q %q %v %v %v %v", v, w, ok, ok2, ok3, ok4)
	}
}

func TestEncode(t *testing.T) {
	p := netip.MustParseAddrPort
	for _, c := range []struct{ from, to, line, bin string }{
		{"1.2.3.4:1111", "5.6.7.8:2222", "PROXY TCP4 1.2.3.4 5.6.7.8 1111 2222\r\n", noFault},
		{"[::1]:0", "[2001:db8::a]:65535", "PROXY TCP6 ::1 2001:db8::a 0 65535\r\n", "[::1]:0>[2001:db8::a]:65535"},
		{"1.2.3.4:5", "[::1]:9", "PROXY TCP6 ::ffff:1.2.3.4 ::1 5 9\r\n", "[::ffff:1.2.3.4]:5>[::1]:9"},
	} {
		if got := string(AppendLine(nil, p(c.from), p(c.to))); got != c.line {
			t.Errorf("%q", got)
		}
		b := append(Begin([]byte("xx"), p(c.from), p(c.to)), CRC32C, 0, 4, 0, 0, 0, 0)
		b, ok := Finish(AppendTLV(b, Authority, []byte("n")), 2, len(b)-4)
		var h Header
		n, f := Parse(b[2:], &h)
		if name, _, _ := h.TLVs.Find(Authority); !ok || f != None || n != len(b)-2 || h.Src.String()+">"+h.Dst.String() != c.bin || string(name) != "n" {
			t.Errorf("%x: %d %v", b, f, h)
		}
	}
	if got := string(AppendLine(nil, netip.AddrPort{}, netip.AddrPort{})); got != "PROXY UNKNOWN\r\n" {
		t.Error(got)
	}
	if _, ok := Finish(AppendTLV(AppendTLV(Begin(nil, netip.AddrPort{}, netip.AddrPort{}), 1, make([]byte, 40000)), 1, make([]byte, 40000)), 0, 0); ok {
		t.Error("a header longer than its length can tell")
	}
}

func cip(std bool, size uint32, parts ...[]byte) []byte {
	b := binary.BigEndian.AppendUint32([]byte{0x12, 0x34, 0x56, 0x78}, size)
	if std {
		b = append(b, 0, 1, byte(size>>8), byte(size))
	}
	return append(b, bytes.Join(parts, nil)...)
}

func TestNetScaler(t *testing.T) {
	ip := func(first, proto byte) []byte {
		return append([]byte{first, 0, 0, 0, 0, 0, 0, 0, 64, proto, 0, 0}, a4[:8]...)
	}
	ip6 := append([]byte{0x60, 0, 0, 0, 0, 20, 6, 64}, a6[:32]...)
	tcp := append([]byte{0x04, 0x57, 0x08, 0xae}, make([]byte, 16)...)
	for _, c := range []struct {
		in   []byte
		want Fault
		addr string
	}{
		{cip(false, 40, ip(0x45, 6), tcp), None, noFault},
		{cip(true, 40, ip(0x45, 6), tcp), None, noFault},
		{cip(false, 44, ip(0x46, 6), []byte("opts"), tcp), None, noFault},
		{cip(false, 60, ip6, tcp), None, "[101:101:101:101:101:101:101:101]:1111>[202:202:202:202:202:202:202:202]:2222"},
		{cip(false, 40, ip(0x45, 17), tcp), BadProto, ""},
		{cip(false, 40, ip(0x75, 6), tcp), BadProto, ""},
		{cip(false, 40, ip(0x44, 6), tcp), Bad, ""}, // the reference reads ports from the addresses
		{cip(false, 0, ip(0x45, 6), tcp), Bad, ""},  // and takes the headers for data here
		{cip(false, 1000, ip(0x45, 6), tcp), Truncated, ""},
		{cip(false, 0xffffffff, ip(0x45, 6), tcp), Truncated, ""},
		{cip(false, 20, ip(0x45, 6)), Truncated, ""},
		{cip(false, 40, ip(0x45, 6), tcp)[:30], Truncated, ""},
		{cip(false, 40), Truncated, ""},
		{[]byte("GET "), Truncated, ""},
		{[]byte("GET / HTTP/1.0\r\nHost: a.example\r\n\r\n"), NotHeader, ""},
	} {
		var h Header
		n, f := ParseCIP(c.in, 0x12345678, &h)
		if f != c.want || f == None && (n != len(c.in) || h.Src.String()+">"+h.Dst.String() != c.addr) {
			t.Errorf("%x: fault %d, %v, %d", c.in, f, h, n)
		}
	}
}

func TestSocks4(t *testing.T) {
	b, ok := AppendSocks4(nil, netip.MustParseAddrPort("10.1.2.3:8080"), "HAProxy")
	if !ok || string(b) != "\x04\x01\x1f\x90\x0a\x01\x02\x03HAProxy\x00" {
		t.Errorf("%x", b)
	}
	if _, ok := AppendSocks4(nil, netip.MustParseAddrPort("[::1]:8080"), ""); ok {
		t.Error("IPv6")
	}
	if !Socks4Granted([]byte{0, 90, 0, 0, 0, 0, 0, 0}) || Socks4Granted([]byte{0, 91, 0, 0, 0, 0, 0, 0}) || Socks4Granted([]byte{0, 90}) {
		t.Error("answers")
	}
}

func TestAllocations(t *testing.T) {
	in := v2(0x21, 0x11, a4, tlv(2, "example.com"))
	out := make([]byte, 0, 256)
	var h Header
	if n := testing.AllocsPerRun(100, func() {
		Parse(in, &h)
		out = AppendLine(out[:0], h.Src, h.Dst)
		out, _ = Finish(Begin(out[:0], h.Src, h.Dst), 0, 0)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("PROXY TCP4 1.2.3.4 5.6.7.8 1111 2222\r\nGET"))
	f.Add(v2(0x21, 0x11, a4, tlv(2, "x"), tlv(3, "0000")))
	f.Add(sum(true))
	f.Add(cip(true, 40, make([]byte, 40)))
	f.Fuzz(func(t *testing.T, b []byte) {
		var h, again Header
		n, fault := Parse(b, &h)
		if fault == None {
			if n <= 0 || n > len(b) {
				t.Fatalf("%d of %d bytes", n, len(b))
			}
			if h.Src.IsValid() { // what is understood can be said again
				out, _ := Finish(Begin(nil, h.Src, h.Dst), 0, 0)
				if _, f := Parse(out, &again); f != None || again.Src != h.Src || again.Dst != h.Dst {
					t.Fatalf("%v, then %v", h, again)
				}
			}
			if _, f := Parse(b[:n], &again); f != None {
				t.Fatal("what follows matters")
			}
		} else if n != 0 {
			t.Fatal("a length beside a fault")
		}
		if n, f := ParseCIP(b, 0x12345678, &h); f == None && (n <= 0 || n > len(b)) || f != None && n != 0 {
			t.Fatalf("%d of %d bytes", n, len(b))
		}
	})
}
