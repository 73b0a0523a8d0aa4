package scenario

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A BadCase is one malformed configuration: what the binary must say about it and how it must exit.
type BadCase struct {
	File     string
	Line     int
	Title    string
	Exit     int
	Wants    []Message
	Args     []string          // command line; nil: -c -f ${cfg}
	Stdin    bool              // the configuration goes to standard input, -f -
	Files    map[string]string // test.cfg and further ones
	Needs    string
	WeirOnly string
}

// A Message is one diagnostic that must appear.
type Message struct {
	Severity string // ALERT or WARNING
	Line     int    // in test.cfg, 0: any place or none
	Word     string // part of the message, compared without case
}

// LoadBad parses all files of a folder.
func LoadBad(dir string) ([]*BadCase, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	var all []*BadCase
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			return nil, err
		}
		cases, err := ParseBad(p, string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, cases...)
	}
	return all, nil
}

// ParseBad parses one file: cases start with "== title", files within them with "-- [name]".
func ParseBad(file, text string) ([]*BadCase, error) {
	var cases []*BadCase
	var c *BadCase
	var name string // file being collected, "" = the head of a case
	var body []string
	flush := func() {
		if c != nil && name != "" {
			c.Files[name] = dedent(body)
		}
		name, body = "", nil
	}
	for i, line := range strings.Split(text, "\n") {
		switch title, isCase := strings.CutPrefix(line, "== "); {
		case isCase:
			flush()
			c = &BadCase{File: file, Line: i + 1, Title: title, Exit: 1, Files: map[string]string{}}
			cases = append(cases, c)
		case line == "--" || strings.HasPrefix(line, "-- "):
			flush()
			if name = strings.TrimSpace(line[2:]); name == "" {
				name = "test.cfg"
			}
		case name != "":
			body = append(body, repeated(line)...)
		case strings.TrimSpace(line) == "" || line[0] == '#':
		case c == nil:
			return nil, fmt.Errorf("%s:%d: text before the first case", file, i+1)
		default:
			if err := c.directive(line); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
			}
		}
	}
	flush()
	return cases, nil
}

// repeated expands "@repeat N TEXT" to N lines, so that deep nesting does not fill the file.
func repeated(line string) []string {
	var n int
	text := strings.TrimSpace(line)
	if _, err := fmt.Sscanf(text, "@repeat %d ", &n); err != nil || n < 1 || n > 100_000 {
		return []string{line}
	}
	words := strings.SplitN(text, " ", 3)
	lines := make([]string, n)
	for i := range lines {
		lines[i] = line[:len(line)-len(strings.TrimLeft(line, " "))] + words[2]
	}
	return lines
}

// directive parses one line of a case's head.
func (c *BadCase) directive(line string) error {
	verb, arg, _ := strings.Cut(line, " ")
	var err error
	switch verb {
	case "exit":
		c.Exit, err = strconv.Atoi(arg)
	case "alert", "warning":
		at, word, _ := strings.Cut(arg, " ")
		m := Message{Severity: strings.ToUpper(verb), Word: word}
		if at != "-" {
			m.Line, err = strconv.Atoi(at)
		}
		c.Wants = append(c.Wants, m)
	case "args":
		c.Args = strings.Fields(arg)
	case "stdin":
		c.Stdin = true
	case "needs":
		c.Needs = arg
	case "weir-only":
		c.WeirOnly = arg
	default:
		err = fmt.Errorf("unknown directive %q", verb)
	}
	return err
}

// Run writes the files to dir, runs the binary and compares exit code and messages.
func (c *BadCase) Run(target *Target, dir string) error {
	vars := strings.NewReplacer("${tmp}", dir, "${cfg}", filepath.Join(dir, "test.cfg"))
	for name, text := range c.Files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(vars.Replace(text)), 0o644); err != nil {
			return err
		}
	}
	args := []string{"-c", "-f", "${cfg}"}
	if c.Args != nil {
		args = c.Args
	} else if c.Stdin {
		args = []string{"-c", "-f", "-"}
	}
	for i := range args {
		args[i] = vars.Replace(args[i])
	}
	ctx, cancel := context.WithTimeout(context.Background(), Bound)
	defer cancel()
	cmd := exec.CommandContext(ctx, target.Binary, args...)
	cmd.WaitDelay = time.Second
	if c.Stdin {
		cmd.Stdin = strings.NewReader(vars.Replace(c.Files["test.cfg"]))
	}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		return err
	}
	return c.judge(cmd.ProcessState.ExitCode(), out)
}

// judge compares what came with what was wanted.
func (c *BadCase) judge(code int, out []byte) error {
	var errs []string
	if code != c.Exit {
		errs = append(errs, fmt.Sprintf("exit code %d, want %d", code, c.Exit))
	}
	for _, m := range c.Wants {
		if !m.in(string(out)) {
			errs = append(errs, fmt.Sprintf("no [%s] for line %d with %q", m.Severity, m.Line, m.Word))
		}
	}
	if bytes.Contains(out, []byte("goroutine ")) || bytes.Contains(out, []byte("panic:")) {
		errs = append(errs, "it crashed")
	}
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("%s:%d: %s: %s\n%s", c.File, c.Line, c.Title, strings.Join(errs, "; "), out)
}

// in reports whether a message of the right severity points at the line and holds the word.
func (m *Message) in(out string) bool {
	for _, line := range strings.Split(out, "\n") {
		if !strings.Contains(line, "["+m.Severity+"]") {
			continue
		}
		if m.Line > 0 && !strings.Contains(line, fmt.Sprintf(":%d]", m.Line)) {
			continue
		}
		if strings.Contains(strings.ToLower(line), strings.ToLower(m.Word)) {
			return true
		}
	}
	return false
}
