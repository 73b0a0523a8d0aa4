package cli

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"weir/internal/lang/config"
)

// TestLikeReference are answers of HAProxy 3.5, byte by byte.
func TestLikeReference(t *testing.T) {
	path := start(t, Config{}, admin())
	for _, c := range []struct{ in, out string }{
		{"echo\n", "\n\n"},
		{"echo; echo a\n", "\n\na\n\n"},
		{"\n", "\n"},
		{";\n", "\n\n"},
		{";;echo a;\n", "\n\na\n\n\n"},
		{"echo a\\\\\n", "a\\\n\n"},
		{"echo a\\\nb\n", "a\nb\n\n"},
		{"echo \"a  b\" c\n", "\"a b\" c\n\n"},
		{"echo a'b c\n", "a'b c\n\n"},
		{"echo a\\;b\n", "a;b\n\n"},
		{"prompt i\necho a\necho b\n", "\na\n\nb\n\n"},
		{"prompt p\necho a;echo b\n\n", "\n> a\n\nb\n\n> \n> "},
		{"prompt\necho <<\nabc\n\n", "\n> \n\n> "},
		{"echo <<EOF foo\n", "<<EOF foo\n\n"},
		{"echo a<<\n", "a<<\n\n"},
		{"set severity-output number;echo;show cli level\n", "\n[6]: \n\n[6]: admin\n\n"},
		{"set severity-output number;user;operator;show cli level\n", "\n\n[3]: Permission denied\n\n[6]: user\n\n"},
		{"show anon; set anon on 77; show anon; set anon off; show anon\n",
			"Anonymized mode disabled\n\n\nAnonymized mode enabled\nKey : 77\n\n\nAnonymized mode disabled\n\n"},
		{"show cli level", ""},
	} {
		if got := ask(t, path, c.in, true); got != c.out {
			t.Errorf("%q: got %q, want %q", c.in, got, c.out)
		}
	}
	// What HAProxy shows for the backend "be" and the server "a" with the key 77.
	if got := config.AnonID(77, "be") + config.AnonID(77, "a"); got != "59875cb520f9" {
		t.Errorf("names are hidden as %s", got)
	}
}

// TestSlowReader reads a little at a time, each long before the timeout but all of it far beyond: it is not cut.
func TestSlowReader(t *testing.T) {
	path := start(t, Config{Timeout: 300 * time.Millisecond, MaxPayload: 1 << 20}, admin())
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body := strings.Repeat("0123456789abcde\n", 40000)
	go func() { _, _ = io.WriteString(c, "test body <<end\n"+body+"end\n") }()
	total := 0
	b := make([]byte, 16<<10)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		<-tick.C
		_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
		n, err := c.Read(b)
		total += n
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if want := len(body) + len(body)/16; total < want {
		t.Errorf("cut after %d bytes of more than %d", total, want)
	}
}

// TestWaitEnds waits no longer than the peer is there.
func TestWaitEnds(t *testing.T) {
	for _, what := range []string{"close", "input"} {
		a, b := net.Pipe()
		s := NewServer(fakeHost{}, &Config{Timeout: time.Minute}, 0)
		waited := make(chan bool, 1)
		go s.ServeConn(b, admin(), Rights{Level: Admin, Interactive: true})
		done := make(chan struct{})
		waitHook = func(c *Context) { waited <- c.Wait(time.Minute) }
		go func() { _, _ = io.Copy(io.Discard, a); close(done) }()
		if _, err := io.WriteString(a, "test wait\n"); err != nil {
			t.Fatal(err)
		}
		if what == "close" {
			a.Close()
		} else if _, err := io.WriteString(a, "x"); err != nil {
			t.Fatal(err)
		}
		if <-waited {
			t.Errorf("%s: waited to the end", what)
		}
		a.Close()
		<-done
	}
}

// waitHook is what "test wait" does.
var waitHook func(c *Context)
