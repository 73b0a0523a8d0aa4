// Package demo is "weir demo": a small configuration that runs at once, with
// nothing else installed. Weir itself plays the two servers, and balances
// between them.
//
// With -check it asks itself a few questions and ends: exit code 0 when the
// answers are right.
package demo

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Run runs weir with a command line until a signal arrives in stop, or one
// that the process gets when stop is nil. It returns the exit code.
type Run func(argv []string, stop <-chan os.Signal, stdout, stderr io.Writer) int

//go:embed demo.cfg
var config string

// Usage is what a wrong use is told.
const Usage = "Usage : weir demo [-check]\n"

// origins are the names of the two servers.
var origins = [...]string{"one", "two"}

// setup is one demonstration.
type setup struct {
	Dir   string // of its files
	Port  int    // of the balancer
	Ports [2]int // of the servers
}

// Main carries out "weir demo" with the words after it.
func Main(words []string, stdout, stderr io.Writer, run Run) int {
	check := len(words) == 1 && words[0] == "-check"
	if len(words) > 0 && !check {
		fmt.Fprint(stderr, Usage)
		return 1
	}
	dir, err := os.MkdirTemp("", "weir-demo.")
	if err != nil {
		fmt.Fprintf(stderr, "weir demo: no folder for its files: %v\n", err)
		return 1
	}
	defer os.RemoveAll(dir)
	s, err := prepare(dir, firstPort)
	if err != nil {
		fmt.Fprintf(stderr, "weir demo: %v\n", err)
		return 1
	}
	argv := []string{"weir", "-db", "-f", filepath.Join(dir, "demo.cfg")}
	if check {
		return s.check(argv, stdout, stderr, run)
	}
	fmt.Fprintf(stdout, "weir demo: two servers and a balancer, all played by this process. Try, in another terminal:\n\n"+
		"    curl -i http://127.0.0.1:%[1]d/          the servers take turns\n"+
		"    curl -i http://127.0.0.1:%[1]d/alive     the balancer answers itself\n"+
		"    curl -i http://127.0.0.1:%[2]d/          the first server alone\n"+
		"    curl -i -H 'Bad Name: x' http://127.0.0.1:%[1]d/   a request that is refused\n\n"+
		"The configuration is %[3]s. Each request is a line of log below. Ctrl-C ends.\n\n",
		s.Port, s.Ports[0], filepath.Join(dir, "demo.cfg"))
	code := run(argv, nil, stdout, stderr)
	if code == 128+int(syscall.SIGINT) { // the advertised end
		return 0
	}
	return code
}

// firstPort is where the balancer listens when it can.
const firstPort = 8080

// asRoot is what the configuration of root needs besides.
const asRoot = `
    # Root and the whole file system: right for a demonstration only.
    user root
    chroot /`

// prepare writes the files.
func prepare(dir string, port int) (*setup, error) {
	ports, err := freePorts(port)
	if err != nil {
		return nil, err
	}
	s := &setup{Dir: dir, Port: ports[0], Ports: [2]int{ports[1], ports[2]}}
	for _, name := range origins {
		body := fmt.Sprintf("hello from server %s\n", name)
		page := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n"+
			"Cache-Control: no-store\r\nX-Server: %s\r\n\r\n%s", len(body), name, body)
		if err := os.WriteFile(filepath.Join(dir, name+".http"), []byte(page), 0o644); err != nil {
			return nil, err
		}
	}
	root := ""
	if os.Geteuid() == 0 {
		root = asRoot
	}
	text := strings.NewReplacer("@PORT@", fmt.Sprint(s.Port), "@ONE@", fmt.Sprint(s.Ports[0]), "@TWO@", fmt.Sprint(s.Ports[1]),
		"@DIR@", dir, "@ROOT@", root).Replace(config)
	return s, os.WriteFile(filepath.Join(dir, "demo.cfg"), []byte(text), 0o644)
}

// freePorts returns three loopback ports that nobody listens on, the first
// one the wanted one if possible.
func freePorts(wanted int) (ports [3]int, err error) {
	for i := range ports {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", wanted))
		if err != nil && wanted != 0 {
			l, err = net.Listen("tcp", "127.0.0.1:0")
		}
		if err != nil {
			return ports, fmt.Errorf("no port to listen on: %w", err)
		}
		defer l.Close() // at the end: no port is given out twice
		ports[i] = l.Addr().(*net.TCPAddr).Port
		wanted = 0
	}
	return ports, nil
}

// patience bounds the whole of -check.
const patience = 10 * time.Second

// check runs weir, asks, and stops it.
func (s *setup) check(argv []string, stdout, stderr io.Writer, run Run) int {
	stop := make(chan os.Signal, 1)
	ended := make(chan int, 1)
	go func() { ended <- run(argv, stop, stdout, stderr) }()
	err := s.ask(ended)
	stop <- syscall.SIGUSR1
	select {
	case code := <-ended:
		if err == nil && code != 0 {
			err = fmt.Errorf("it ended with exit code %d", code)
		}
	case <-time.After(patience):
		if err == nil {
			err = fmt.Errorf("it did not end within %v", patience)
		}
	}
	if err != nil {
		fmt.Fprintf(stderr, "weir demo: %v\n", err)
		return 1
	}
	fmt.Fprintln(stdout, "weir demo: all answers are right")
	return 0
}

// requests is how many -check sends to the balancer.
const requests = 6

// ask sends requests and looks at the answers.
func (s *setup) ask(ended chan int) error {
	deadline := time.Now().Add(patience)
	for {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.Port))
		if err == nil {
			c.Close()
			break
		}
		select {
		case code := <-ended:
			ended <- code
			return fmt.Errorf("it did not start: exit code %d", code)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("nobody answers: %w", err)
		}
	}
	seen := make(map[string]int)
	for range requests {
		status, body, err := get(s.Port, "/", deadline)
		if err != nil {
			return err
		}
		if status != 200 {
			return fmt.Errorf("the status of an answer is %d, not 200", status)
		}
		seen[strings.TrimSpace(body)]++
	}
	for _, name := range origins {
		if n := seen["hello from server "+name]; n != requests/len(origins) {
			return fmt.Errorf("server %s has answered %d of %d requests: %v", name, n, requests, seen)
		}
	}
	if status, _, err := get(s.Port, "/alive", deadline); err != nil || status != 200 {
		return fmt.Errorf("the monitor has answered %d, %v", status, err)
	}
	return nil
}

// get sends a request on a connection of its own.
func get(port int, path string, deadline time.Time) (status int, body string, err error) {
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return 0, "", err
	}
	defer c.Close()
	if err := c.SetDeadline(deadline); err != nil {
		return 0, "", err
	}
	if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n", path, port); err != nil {
		return 0, "", err
	}
	b, err := io.ReadAll(bufio.NewReader(c))
	if err != nil {
		return 0, "", err
	}
	head, body, _ := strings.Cut(string(b), "\r\n\r\n")
	if _, err := fmt.Sscanf(head, "HTTP/1.1 %d", &status); err != nil {
		return 0, "", fmt.Errorf("this is no answer: %q", head)
	}
	return status, body, nil
}
