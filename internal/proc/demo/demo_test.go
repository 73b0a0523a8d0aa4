package demo

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// answering is a weir of sorts: it listens where the configuration says and
// lets answer decide on each request, counted from 0.
func answering(t *testing.T, answer func(n int, path string) string, code int) Run {
	return func(argv []string, stop <-chan os.Signal, stdout, stderr io.Writer) int {
		text, err := os.ReadFile(argv[len(argv)-1])
		if err != nil {
			t.Error(err)
			return 1
		}
		var port int
		_, rest, _ := strings.Cut(string(text), "frontend www\n")
		if _, err := fmt.Sscanf(strings.TrimSpace(rest), "bind 127.0.0.1:%d", &port); err != nil {
			t.Error(err)
			return 1
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Error(err)
			return 1
		}
		go func() {
			for n := 0; ; {
				c, err := l.Accept()
				if err != nil {
					return
				}
				b := make([]byte, 4096)
				if k, _ := c.Read(b); k > 0 {
					_, path, _ := strings.Cut(string(b[:k]), " ")
					path, _, _ = strings.Cut(path, " ")
					io.WriteString(c, answer(n, path))
					n++
				}
				c.Close()
			}
		}()
		s := <-stop
		l.Close()
		if s != syscall.SIGUSR1 {
			t.Errorf("stopped by %v", s)
		}
		return code
	}
}

func ok(body string) string { return "HTTP/1.1 200 OK\r\n\r\n" + body }

func TestCheck(t *testing.T) {
	right := func(n int, path string) string {
		if path == "/alive" {
			return ok("alive")
		}
		return ok("hello from server " + origins[n%2] + "\n")
	}
	for _, c := range []struct {
		name   string
		answer func(n int, path string) string
		exit   int
		want   string // empty: success
	}{
		{"right", right, 0, ""},
		{"one server does it all", func(int, string) string { return ok("hello from server one\n") }, 0, "server one has answered 6 of 6"},
		{"wrong status", func(int, string) string { return "HTTP/1.1 503 No\r\n\r\n" }, 0, "status of an answer is 503"},
		{"no answer", func(int, string) string { return "" }, 0, "this is no answer"},
		{"wrong monitor", func(n int, path string) string {
			if path == "/alive" {
				return "HTTP/1.1 404 No\r\n\r\n"
			}
			return right(n, path)
		}, 0, "monitor has answered 404"},
		{"wrong exit code", right, 3, "exit code 3"},
	} {
		var out, errs bytes.Buffer
		code := Main([]string{"-check"}, &out, &errs, answering(t, c.answer, c.exit))
		if c.want == "" && (code != 0 || errs.Len() > 0) || c.want != "" && (code != 1 || !strings.Contains(errs.String(), c.want)) {
			t.Errorf("%s: code %d\n%s\n%s", c.name, code, &out, &errs)
		}
	}
	var out, errs bytes.Buffer
	failing := func([]string, <-chan os.Signal, io.Writer, io.Writer) int { return 1 }
	if code := Main([]string{"-check"}, &out, &errs, failing); code != 1 || !strings.Contains(errs.String(), "did not start") {
		t.Errorf("code %d\n%s", code, &errs)
	}
}

func TestMainRunsAndCleansUp(t *testing.T) {
	var dir string
	var argv []string
	for _, c := range []struct{ code, want int }{{130, 0}, {0, 0}, {1, 1}, {143, 143}} {
		var out, errs bytes.Buffer
		code := Main(nil, &out, &errs, func(a []string, stop <-chan os.Signal, _, _ io.Writer) int {
			argv, dir = a, filepath.Dir(a[len(a)-1])
			for _, name := range []string{"demo.cfg", "one.http", "two.http"} {
				if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
					t.Error(err)
				}
			}
			if stop != nil {
				t.Error("the demonstration ends by the signals of the process")
			}
			return c.code
		})
		if code != c.want || errs.Len() > 0 || !strings.Contains(out.String(), "curl -i http://127.0.0.1:") {
			t.Errorf("code %d for %d\n%s\n%s", code, c.code, &out, &errs)
		}
	}
	if strings.Join(argv[:3], " ") != "weir -db -f" {
		t.Errorf("command line %q", argv)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("%s is still there", dir)
	}
	var errs bytes.Buffer
	if code := Main([]string{"-x"}, io.Discard, &errs, nil); code != 1 || errs.String() != Usage {
		t.Errorf("code %d\n%s", code, &errs)
	}
}

func TestPages(t *testing.T) {
	dir := t.TempDir()
	s, err := prepare(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	if s.Port == s.Ports[0] || s.Ports[0] == s.Ports[1] {
		t.Errorf("ports %d, %v", s.Port, s.Ports)
	}
	page, err := os.ReadFile(filepath.Join(dir, "one.http"))
	if err != nil {
		t.Fatal(err)
	}
	head, body, found := strings.Cut(string(page), "\r\n\r\n")
	if !found || body != "hello from server one\n" || strings.Contains(strings.ReplaceAll(head, "\r\n", ""), "\n") ||
		!strings.Contains(head, fmt.Sprintf("\r\nContent-Length: %d\r\n", len(body))) {
		t.Errorf("page %q", page)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	if ports, err := freePorts(port); err != nil || ports[0] == port {
		t.Errorf("%v, %v", ports, err)
	}
}
