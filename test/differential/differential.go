// Package differential runs generated expressions and formats through weir and
// through HAProxy with the same requests and compares what both make of them.
//
// A batch of expressions becomes one configuration for both programs: each
// rule answers with up to twenty values in header fields. What one program
// refuses when it reads the configuration, the other must refuse too.
package differential

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"weir/test/wait"
)

// perRule is how many values one answer carries: a configuration line has 64 words.
const perRule = 16

// Program is one of the two that are compared.
type Program struct {
	Name string
	Path string
}

// Known asks the program which fetches and converters it has.
func (p *Program) Known() (func(name string) bool, error) {
	names := make(map[string]bool)
	for _, class := range []string{"-dKsmp", "-dKcnv"} {
		out, _ := exec.Command(p.Path, class, "-q", "-c", "-f", os.DevNull).Output()
		for _, m := range regexp.MustCompile(`(?m)^(?:\s*\[[^\]]*\])?\s*([a-z0-9_.-]+)(?:\(|:)`).FindAllSubmatch(out, -1) {
			names[string(m[1])] = true
		}
	}
	if len(names) < 100 {
		return nil, fmt.Errorf("%s lists %d fetches and converters", p.Name, len(names))
	}
	return func(name string) bool { return names[name] }, nil
}

// quote makes one word of a text.
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`).Replace(text) + `"`
}

// config writes the configuration for formats, one line per rule; line numbers start at first.
func config(port int, formats []string) (text string, first int) {
	var b strings.Builder
	b.WriteString("global\n\ttune.maxrewrite 60000\n\ttune.bufsize 131072\n\ttune.http.maxhdr 1000\n" +
		"defaults\n\tmode http\n\ttimeout client 10s\n\ttimeout server 10s\n\ttimeout connect 10s\n" +
		"frontend f\n")
	fmt.Fprintf(&b, "\tbind 127.0.0.1:%d\n", port)
	b.WriteString("\thttp-request set-var(txn.n) int(7)\n\thttp-request set-var(txn.s) str(seven)\n")
	first = strings.Count(b.String(), "\n") + 1
	for i := 0; i < len(formats); i += perRule {
		b.WriteString("\thttp-request return status 200")
		for k, f := range formats[i:min(i+perRule, len(formats))] {
			fmt.Fprintf(&b, " hdr x-%d %s", k, quote("["+f+"]"))
		}
		fmt.Fprintf(&b, " if { hdr(x-group) -m str %d }\n", i/perRule)
	}
	return b.String(), first
}

// Check returns for each format whether the program accepts it.
func (p *Program) Check(dir string, formats []string) ([]bool, error) {
	var all []bool
	const batch = 45 // the reference stops after 50 errors
	for i := 0; i < len(formats); i += batch {
		part := formats[i:min(i+batch, len(formats))]
		ok := make([]bool, len(part))
		left := make([]int, 0, len(part)) // those that no run has found fault with
		for k := range part {
			left = append(left, k)
		}
		for done := false; !done; { // the reference does not name all bad lines in one run
			var try []string
			for _, k := range left {
				try = append(try, part[k])
			}
			good, err := p.check(dir, try)
			if err != nil {
				return nil, err
			}
			done = true
			var still []int
			for j, k := range left {
				if good[j] {
					still = append(still, k)
				} else {
					done = false
				}
			}
			left = still
		}
		for _, k := range left {
			ok[k] = true
		}
		all = append(all, ok...)
	}
	return all, nil
}

func (p *Program) check(dir string, formats []string) ([]bool, error) {
	var b strings.Builder
	b.WriteString("defaults\n\tmode http\n\ttimeout client 10s\n\ttimeout server 10s\n\ttimeout connect 10s\n")
	const each = 20 // lines a section
	var lines []int
	n := strings.Count(b.String(), "\n")
	for i, f := range formats {
		if i%each == 0 {
			fmt.Fprintf(&b, "frontend f%d\n\tbind 127.0.0.1:1\n", i/each)
			n += 2
		}
		fmt.Fprintf(&b, "\thttp-request return status 200 hdr x %s if { always_true }\n", quote("["+f+"]"))
		n++
		lines = append(lines, n)
	}
	file := filepath.Join(dir, p.Name+"-check.cfg")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		return nil, err
	}
	out, _ := exec.Command(p.Path, "-c", "-f", file).CombinedOutput()
	bad := make(map[int]bool)
	re := regexp.MustCompile(`ALERT.*\[` + regexp.QuoteMeta(file) + `:(\d+)\]`)
	for _, m := range re.FindAllSubmatch(out, -1) {
		line, _ := strconv.Atoi(string(m[1]))
		bad[line] = true
	}
	ok := make([]bool, len(formats))
	for i := range formats {
		ok[i] = !bad[lines[i]]
	}
	if len(bad) == 0 && bytes.Contains(out, []byte("ALERT")) {
		return nil, fmt.Errorf("%s -c: %s", p.Name, out)
	}
	return ok, nil
}

// Run starts the program with the formats and asks for all values with one request.
func (p *Program) Run(dir string, formats []string, request func(group int) string) ([]string, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	text, _ := config(port, formats)
	file := filepath.Join(dir, p.Name+".cfg")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	var log bytes.Buffer
	cmd := exec.Command(p.Path, "-db", "-f", file)
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	addr := fmt.Sprintf("127.0.0.1:%d", port)
	if !wait.Until(20*time.Second, func() bool {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			c.Close()
		}
		return err == nil
	}) {
		return nil, fmt.Errorf("%s does not listen: %s", p.Name, log.String())
	}
	values := make([]string, len(formats))
	for g := 0; g*perRule < len(formats); g++ {
		fields, err := ask(addr, request(g))
		if err != nil {
			return nil, fmt.Errorf("%s, group %d: %w (%s)", p.Name, g, err, log.String())
		}
		for k := g * perRule; k < min((g+1)*perRule, len(formats)); k++ {
			values[k] = fields["x-"+strconv.Itoa(k-g*perRule)]
		}
	}
	return values, nil
}

// ask sends one request and returns the fields of the answer; values keep their blanks.
func ask(addr, request string) (map[string]string, error) {
	c, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := c.Write([]byte(request)); err != nil {
		return nil, err
	}
	r := textproto.NewReader(bufio.NewReaderSize(c, 1<<20))
	status, err := r.ReadLine()
	if err != nil {
		return nil, err
	}
	if !strings.Contains(status, " 200 ") {
		return nil, fmt.Errorf("answer %q", status)
	}
	fields := make(map[string]string)
	for {
		line, err := r.R.ReadString('\n')
		if err != nil {
			return nil, err
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			return fields, nil
		}
		name, value, _ := strings.Cut(line, ": ")
		fields[strings.ToLower(name)] = value
	}
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
