package clienthello

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"net"
	"testing"
	"time"
)

// sink is a connection that keeps what is written and has nothing to read.
type sink struct{ bytes.Buffer }

var errStop = errors.New("stop")

func (s *sink) Read([]byte) (int, error)         { return 0, errStop }
func (s *sink) Close() error                     { return nil }
func (s *sink) LocalAddr() net.Addr              { return nil }
func (s *sink) RemoteAddr() net.Addr             { return nil }
func (s *sink) SetDeadline(time.Time) error      { return nil }
func (s *sink) SetReadDeadline(time.Time) error  { return nil }
func (s *sink) SetWriteDeadline(time.Time) error { return nil }

// realHello is what crypto/tls sends.
func realHello(t testing.TB, c *tls.Config) []byte {
	t.Helper()
	var s sink
	if err := tls.Client(&s, c).Handshake(); !errors.Is(err, errStop) {
		t.Fatal(err)
	}
	return s.Bytes()
}

// split spreads the handshake message of a hello over records of n bytes.
func split(hello []byte, n int) (out []byte) {
	for body := hello[recordHeader:]; len(body) > 0; {
		k := min(n, len(body))
		out = append(out, recordHandshake, 3, 1)
		out = binary.BigEndian.AppendUint16(out, uint16(k))
		out = append(out, body[:k]...)
		body = body[k:]
	}
	return out
}

func parse(buf []byte) (h Hello, st Status) {
	var room []byte
	if n := Joined(buf); n > 0 {
		room = make([]byte, n)
	}
	st = Parse(buf, room, &h)
	return h, st
}

// check holds what a real hello says.
func check(t *testing.T, what string, buf []byte) {
	t.Helper()
	h, st := parse(buf)
	if st != Complete {
		t.Errorf("%s: status %d", what, st)
		return
	}
	sni, _ := h.SNI()
	alpn, _ := h.ALPN()
	groups, ok := h.Groups()
	sigs, ok2 := h.SigAlgs()
	shares, ok3 := h.AppendKeyShareGroups(nil)
	if string(sni) != "www.example.com" || string(alpn) != "h2" || h.Version != 0x0303 || len(h.Random) != 32 || !ok || !ok2 || !ok3 {
		t.Errorf("%s: %q %q %#x %x %x", what, sni, alpn, h.Version, groups, sigs)
	}
	if len(h.Ciphers) < 2 || !bytes.HasPrefix(groups, shares[:2]) && !bytes.Contains(groups, shares[:2]) {
		t.Errorf("%s: ciphers %x groups %x shares %x", what, h.Ciphers, groups, shares)
	}
	if _, found, known := h.Ticket(); found || !known {
		t.Errorf("%s: ticket %v %v", what, found, known)
	}
	if n, st := Type(buf); n != 1 || st != Complete {
		t.Errorf("%s: type %d %d", what, n, st)
	}
	if v, st := Version(buf); v != 0x30003 || st != Complete {
		t.Errorf("%s: version %#x %d", what, v, st)
	}
}

// TestRealHello reads what crypto/tls sends: whole, byte by byte, and in records of every size.
func TestRealHello(t *testing.T) {
	buf := realHello(t, &tls.Config{ServerName: "www.example.com", NextProtos: []string{"h2", "http/1.1"}})
	check(t, "whole", buf)
	check(t, "with more behind it", append(bytes.Clone(buf), 0x17, 3, 3, 0, 1, 0))
	for n := range buf {
		if _, st := parse(buf[:n]); st != Incomplete {
			t.Errorf("%d bytes of %d: status %d", n, len(buf), st)
		}
		if _, st := Type(buf[:n]); st != Incomplete {
			t.Errorf("%d bytes of %d: type has status %d", n, len(buf), st)
		}
	}
	for n := 1; n < len(buf)-recordHeader; n++ {
		b := split(buf, n)
		check(t, "split", b)
		if _, st := parse(b[:len(b)-1]); st != Incomplete {
			t.Errorf("split by %d: complete without its last byte", n)
		}
		other := bytes.Clone(b)
		other[recordHeader+n] = 0x17 // the second record is no handshake
		if _, st := parse(other); st != Invalid {
			t.Errorf("split by %d: another record between is accepted: %d", n, st)
		}
	}
}

// TestLargeHello reads a hello of more than one full record.
func TestLargeHello(t *testing.T) {
	buf := realHello(t, &tls.Config{ServerName: "www.example.com", NextProtos: []string{"h2"}})
	body := bytes.Clone(buf[recordHeader:])
	pad := make([]byte, 20000)
	body = append(append(body, 0xfa, 0xfa), byte(len(pad)>>8), byte(len(pad)&255))
	body = append(body, pad...)
	extra := len(pad) + 4
	n := int(body[1])<<16 | int(body[2])<<8 | int(body[3]) + extra
	body[1], body[2], body[3] = byte(n>>16), byte(n>>8), byte(n)
	at := hsHeader + helloFixed
	at += 1 + int(body[at])
	at += 2 + int(binary.BigEndian.Uint16(body[at:]))
	at += 1 + int(body[at])
	binary.BigEndian.PutUint16(body[at:], binary.BigEndian.Uint16(body[at:])+uint16(extra))
	check(t, "two records", split(append(make([]byte, recordHeader), body...), 16384))
}

func TestInvalid(t *testing.T) {
	hello := realHello(t, &tls.Config{ServerName: "www.example.com"})
	change := func(at int, c byte) []byte {
		b := bytes.Clone(hello)
		b[at] = c
		return b
	}
	for name, b := range map[string][]byte{
		"HTTP": []byte("GET / HTTP/1.1\r\n\r\n"), "alert": {0x15, 3, 1, 0, 2, 2, 40}, "record version": change(1, 2), "message type": change(5, 2),
		"one byte of no record": {0x80}, "empty record": {0x16, 3, 1, 0, 0, 1, 0, 0},
	} {
		if _, st := parse(b); st != Invalid {
			t.Errorf("%s: status %d", name, st)
		}
	}
	if h, st := parse(change(9, 2)); st != Complete || h.Ciphers != nil || h.HasExtensions {
		t.Error("a hello of SSLv2's version has ciphers")
	}
}

// TestOldVersions reads hellos of SSLv2.
func TestOldVersions(t *testing.T) {
	old := append([]byte{0x80, 0x2e, 1, 3, 1, 0, 0x15, 0, 0, 0, 0x10}, make([]byte, 37)...)
	if v, st := Version(old); v != 0x30001 || st != Complete {
		t.Errorf("%#x %d", v, st)
	}
	for n := range old {
		if _, st := Version(old[:n]); st != Incomplete {
			t.Errorf("%d bytes: status %d", n, st)
		}
	}
	old[2] = 2
	if _, st := Version(old); st != Invalid {
		t.Errorf("another message of SSLv2: status %d", st)
	}
}

func TestAllocations(t *testing.T) {
	buf := realHello(t, &tls.Config{ServerName: "www.example.com", NextProtos: []string{"h2"}})
	parts := split(buf, 100)
	room := make([]byte, 4096)
	if n := testing.AllocsPerRun(100, func() {
		for _, b := range [][]byte{buf, parts} {
			var h Hello
			if Joined(b) > len(room) || Parse(b, room, &h) != Complete {
				t.Fatal("refused")
			}
			if name, ok := h.SNI(); !ok || len(name) == 0 {
				t.Fatal("no name")
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzParse holds that a hello is the same however it arrives: never complete
// before its last byte, and equal in one record and in several.
func FuzzParse(f *testing.F) {
	f.Add(realHello(f, &tls.Config{ServerName: "www.example.com", NextProtos: []string{"h2"}}), 7)
	f.Add(split(realHello(f, &tls.Config{ServerName: "a.b"}), 60), 1)
	f.Add([]byte{0x80, 0x2e, 1, 3, 1, 0, 0x15, 0, 0, 0, 0x10}, 1)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		Version(b)
		h, st := parse(b)
		typ, tst := Type(b)
		if st == Complete && (tst != Complete || typ != 1) {
			t.Fatalf("a hello of type %d %d", typ, tst)
		}
		if st == Incomplete && tst == Complete || st == Invalid && tst == Incomplete && len(b) <= recordHeader {
			t.Fatalf("status %d, type has %d", st, tst)
		}
		if st != Complete {
			return
		}
		sni, _ := h.SNI()
		h.ALPN()
		h.Groups()
		h.AppendKeyShareGroups(nil)
		size, _, _, _ := measure(b)
		room := make([]byte, size)
		whole := join(room, b, size)
		one := append([]byte{recordHandshake, 3, 1, 0, 0}, whole...)
		if n = n & 0xff; n == 0 {
			n = 1
		}
		parts := split(one, n)
		h2, st2 := parse(parts)
		sni2, _ := h2.SNI()
		if st2 != Complete || !bytes.Equal(sni, sni2) || !bytes.Equal(h.Ciphers, h2.Ciphers) || !bytes.Equal(h.Extensions, h2.Extensions) {
			t.Fatalf("in records of %d bytes: %d %q, in one %q", n, st2, sni2, sni)
		}
		if _, st := parse(parts[:len(parts)-1]); st != Incomplete {
			t.Fatalf("without the last byte: %d", st)
		}
	})
}
