package logs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"weir/internal/base/addr"
	"weir/internal/model"
)

func fdTarget(fd int) *model.LogTarget { return aim(addr.Addr{Family: addr.FD, FD: fd}) }

// A full disk under the log loses lines and disturbs nothing.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	s := build(t, to(fdTarget(int(full.Fd()))), model.LogConfig{})
	for range 10 {
		s.Emit(record("/"))
		s.Emit(record("/"))
		s.end()
	}
	if n := s.g.Dropped(); n != 20 {
		t.Errorf("%d dropped, want 20", n)
	}
}

func TestFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := build(t, to(fdTarget(int(f.Fd()))), model.LogConfig{})
	for i := range 1000 {
		s.Emit(record(fmt.Sprint("/", i)))
	}
	s.end()
	b, _ := os.ReadFile(name)
	got := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	if len(got) != 1000 || !strings.HasSuffix(got[999], `"GET /999 HTTP/1.1"`) {
		t.Errorf("%d lines, last %q", len(got), got[len(got)-1])
	}
	if n := s.g.Dropped(); n != 0 {
		t.Errorf("%d dropped", n)
	}
}

// A pipe that nobody reads takes whole lines or none.
func TestPipeIsNeverBlockedAndLinesStayWhole(t *testing.T) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(p[0])
	defer unix.Close(p[1])
	s := build(t, to(fdTarget(p[1])), model.LogConfig{})
	const lines = 5000
	for i := range lines {
		s.Emit(record(fmt.Sprint("/", i)))
		if i%100 == 99 {
			s.end()
		}
	}
	dropped := s.g.Dropped()
	if dropped == 0 {
		t.Fatal("nothing dropped: the pipe is larger than the test")
	}
	b := make([]byte, 1<<20)
	n, err := unix.Read(p[0], b)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.SplitAfter(string(b[:n]), "\n")
	for _, line := range got[:len(got)-1] {
		if !strings.HasPrefix(line, "192.0.2.1:1024 [") || !strings.HasSuffix(line, " HTTP/1.1\"\n") {
			t.Fatalf("cut line %q", line)
		}
	}
	if kept := uint64(len(got) - 1); kept+dropped != lines || got[len(got)-1] != "" {
		t.Errorf("%d kept and %d dropped of %d", kept, dropped, lines)
	}
	unix.Close(p[0])
	s.Emit(record("/nobody")) // EPIPE, not a signal
	s.end()
	if n := s.g.Dropped(); n != dropped+1 {
		t.Errorf("closed pipe: %d dropped, want %d", n, dropped+1)
	}
}

func TestDatagramAndStreamDescriptors(t *testing.T) {
	for _, kind := range []int{unix.SOCK_DGRAM, unix.SOCK_STREAM} {
		p, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(p[0])
		s := build(t, to(fdTarget(p[1])), model.LogConfig{})
		s.Emit(record("/1"))
		s.Emit(record("/2"))
		s.end()
		b := make([]byte, 4096)
		n, err := unix.Read(p[0], b)
		if want := map[int]int{unix.SOCK_DGRAM: 1, unix.SOCK_STREAM: 2}[kind]; err != nil || strings.Count(string(b[:n]), "\n") != want {
			t.Errorf("kind %d: %q, %v", kind, b[:n], err)
		}
		unix.Close(p[1])
		s.Emit(record("/3"))
		s.end()
		if n := s.g.Dropped(); n != 1 {
			t.Errorf("closed descriptor: %d dropped, want 1", n)
		}
	}
}

// A write that ends inside a line is followed by a line feed, so that only
// that line is damaged.
func TestStreamCuts(t *testing.T) {
	for _, tc := range []struct {
		room    int
		dropped int
		cut     bool
	}{{0, 3, false}, {2, 3, true}, {4, 2, false}, {6, 2, true}, {8, 1, false}, {11, 1, true}, {12, 0, false}} {
		var wrote strings.Builder
		room := tc.room
		o := &output{dest: &dest{kind: kindFD}, sock: 9, stream: true, send: func(_ int, p []byte) int {
			n := min(room, len(p))
			room -= n
			wrote.Write(p[:n])
			if n == 0 {
				return -int(unix.ENOSPC)
			}
			return n
		}}
		o.full(0)
		o.buf = append(o.buf, "aaa\nbbb\nccc\n"...)
		o.ends = append(o.ends, 4, 8, 12)
		if n := o.flush(); n != tc.dropped || o.cut != tc.cut {
			t.Errorf("room %d: %d dropped, cut %v", tc.room, n, o.cut)
		}
		room = 100
		o.buf, o.ends = append(o.buf, "ddd\n"...), append(o.ends, 4)
		if n := o.flush(); n != 0 || o.cut {
			t.Errorf("room %d: then %d dropped, cut %v", tc.room, n, o.cut)
		}
		if lines := strings.Split(wrote.String(), "\n"); lines[len(lines)-2] != "ddd" {
			t.Errorf("room %d: %q", tc.room, wrote.String())
		}
	}
}
