package sys

import (
	"net/netip"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"weir/internal/base/buf"
)

func TestSockAddr(t *testing.T) {
	for _, s := range []string{"127.0.0.1:80", "0.0.0.0:0", "255.254.253.252:65535", "[::1]:443", "[2001:db8::ff]:1", "[::ffff:10.0.0.1]:8080"} {
		ap := netip.MustParseAddrPort(s)
		var a SockAddr
		a.SetIP(ap)
		if got := a.IP(); got != ap {
			t.Errorf("%v became %v", ap, got)
		}
		if v6 := a.Family() == unix.AF_INET6; v6 == ap.Addr().Is4() {
			t.Errorf("%v has family %d", ap, a.Family())
		}
	}
	for _, s := range []string{"/tmp/x", "@abstract", "/" + strings.Repeat("x", 106)} {
		var a SockAddr
		if !a.SetUnix(s) || a.Unix() != s || a.IP().IsValid() {
			t.Errorf("%q became %q", s, a.Unix())
		}
	}
	var a SockAddr
	if a.SetUnix("") || a.SetUnix(strings.Repeat("x", 108)) || a.Unix() != "" || a.Family() != unix.AF_UNSPEC {
		t.Error("an unusable name was taken")
	}
}

func TestVecAndBatch(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fds[0])
	defer unix.Close(fds[1])
	p := buf.NewShared(buf.Config{}).NewPool()
	var q buf.Queue
	for _, s := range []string{"a", "", "bc", "def"} {
		b := p.Get(buf.Small)
		b.Append([]byte(s))
		q.Push(b)
	}
	v := new(Vec)
	if n, size := v.Fill(q.Front()); n != 3 || size != 6 {
		t.Fatal(n, size)
	}
	if n := RawSendVec(fds[0], v, 0); n != 6 {
		t.Fatal(n)
	}
	got := make([]byte, 100)
	if n := RawRecv(fds[1], got, 0); n != 6 || string(got[:n]) != "abcdef" {
		t.Fatal(n, string(got))
	}
	if n := RawRecv(fds[1], got, 0); n != -int(unix.EAGAIN) {
		t.Fatal(n)
	}
	bt := NewBatch(2)
	if !bt.Add([]byte("one"), nil) || !bt.Add([]byte("two"), nil) || bt.Add([]byte("three"), nil) || bt.Add(nil, nil) {
		t.Fatal("room for two")
	}
	if n := bt.Send(fds[0]); n != 2 {
		t.Fatal(n)
	}
	for _, want := range []string{"one", "two"} {
		if n := RawRecv(fds[1], got, 0); string(got[:max(n, 0)]) != want {
			t.Fatal(n, want)
		}
	}
	if bt.Send(fds[0]) != 0 {
		t.Fatal("an empty batch")
	}
	q.Clear()
}

func TestDatagramsToAddresses(t *testing.T) {
	from, to := RawSocket(unix.AF_INET, unix.SOCK_DGRAM, 0), RawSocket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if from < 0 || to < 0 {
		t.Fatal(from, to)
	}
	defer RawClose(from)
	defer RawClose(to)
	at := new(SockAddr)
	at.SetIP(netip.MustParseAddrPort("127.0.0.1:0"))
	if r := RawBind(to, at); r < 0 {
		t.Fatal(Errno(r))
	}
	if r := RawName(to, at); r < 0 {
		t.Fatal(Errno(r))
	}
	if n := RawSendTo(from, []byte("x"), at, 0); n != 1 {
		t.Fatal(n)
	}
	b := NewBatch(4)
	b.Add([]byte("yy"), at)
	if n := b.Send(from); n != 1 {
		t.Fatal(n)
	}
	p := make([]byte, 10)
	if RawRecv(to, p, 0) != 1 || RawRecv(to, p, 0) != 2 {
		t.Fatal("datagrams lost")
	}
}

func TestRing(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r, err := NewRing(4, 8)
	if err != nil {
		t.Skip(err)
	}
	defer r.Close()
	if err := r.Probe(OpRecv, OpSend, OpAccept); err != nil {
		t.Fatal(err)
	}
	if r.Probe(255) == nil {
		t.Fatal("operation 255 exists")
	}
	if err := r.Enable(); err != nil {
		t.Fatal(err)
	}
	for r.Next() != nil { // operation 0 does nothing and completes
	}
	if r.Pending() != r.Slots() {
		t.Fatal(r.Pending(), r.Slots())
	}
	if e := r.Wait(1e9); e != 0 || r.Ready() != r.Slots() || !r.Consumed(r.Mark()-1) || r.Consumed(r.Mark()) {
		t.Fatal(e, r.Ready())
	}
	r.Seen(r.Ready())
	if e := r.Nap(1000); e != -int(unix.ETIME) {
		t.Fatal(e)
	}
}
