package cli

import (
	"net"
	"path/filepath"
	"testing"
)

// A panic in a command is the guard's, and the next session is served.
func TestGuard(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	caught := make(chan any, 1)
	s := NewServer(fakeHost{}, &Config{MaxConn: 1}, 0)
	s.Guard = func(session func()) {
		defer func() {
			if v := recover(); v != nil {
				caught <- v
			}
		}()
		session()
	}
	s.Serve(ln, admin())
	defer s.Close(false)
	if got := ask(t, path, "test panic\n", false); got != "" {
		t.Errorf("%q", got)
	}
	if v := <-caught; v != "fault" {
		t.Errorf("%v", v)
	}
	if got := ask(t, path, "test version\n", false); got != "V\n\n" {
		t.Errorf("the session after: %q", got)
	}
}

// A blank that is part of a word makes no name of a command: nothing may be run with fewer words than its name has.
func TestBlankInWord(t *testing.T) {
	for _, words := range [][]string{{"test version"}, {"show cli", "level"}, {"show", "cli level"}, {"test version", "x"}, {"set timeout"}} {
		if c := find(words, InWorker); c != nil {
			t.Errorf("%q is %q", words, c.Name())
		}
		if name := unserved(words); name != "" {
			t.Errorf("%q is unserved %q", words, name)
		}
	}
	for _, words := range [][]string{{"show", "cli", "level"}, {"test", "version", "a b"}} {
		if find(words, InWorker) == nil {
			t.Errorf("%q is unknown", words)
		}
	}
	path := start(t, Config{}, admin())
	for _, line := range []string{`test\ version`, `show\ cli\ level`, `debug\ dev\ panic`, `set\ timeout cli 1`} {
		if got := ask(t, path, line+"\n", false); got == "" {
			t.Errorf("%s: no answer", line)
		}
	}
}
