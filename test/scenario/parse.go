package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Load reads and parses one scenario file.
func Load(path string) (*Scenario, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, string(text))
}

// LoadAll parses every *.txt file of a folder, in name order.
func LoadAll(dir string) ([]*Scenario, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	var all []*Scenario
	for _, p := range paths {
		s, err := Load(p)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// A block is one line at the margin with the indented lines below it.
type block struct {
	line  int
	words []string
	body  []string // indented lines, blank ones included
}

// Parse parses the text of a scenario; file is used in messages only.
func Parse(file, text string) (*Scenario, error) {
	s := &Scenario{File: file, Files: map[string]string{}}
	blocks, err := s.split(text)
	if err != nil {
		return nil, err
	}
	for i := range blocks {
		if err := s.block(&blocks[i]); err != nil {
			return nil, err
		}
	}
	if s.Title == "" {
		return nil, s.errorAt(1, "the first line must be a comment that names the behaviour")
	}
	if s.Config == "" {
		return nil, s.errorAt(1, "no config block")
	}
	return s, nil
}

// split cuts the text into blocks. A '#' at the margin starts a comment.
func (s *Scenario) split(text string) ([]block, error) {
	var blocks []block
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "#"):
			if s.Title == "" {
				s.Title = strings.TrimSpace(strings.TrimLeft(line, "#"))
			}
		case strings.TrimSpace(line) == "" || line[0] == ' ' || line[0] == '\t':
			if len(blocks) > 0 {
				b := &blocks[len(blocks)-1]
				b.body = append(b.body, line)
			} else if strings.TrimSpace(line) != "" {
				return nil, s.errorAt(i+1, "indented line before the first block")
			}
		default:
			blocks = append(blocks, block{line: i + 1, words: strings.Fields(line)})
		}
	}
	return blocks, nil
}

// block interprets one block.
func (s *Scenario) block(b *block) error {
	rest := b.words[1:]
	switch b.words[0] {
	case "config":
		s.Config = dedent(b.body)
	case "file":
		if len(rest) != 1 {
			return s.errorAt(b.line, "file wants a name")
		}
		s.Files[rest[0]] = dedent(b.body)
	case "args":
		s.Args = append(s.Args, rest...)
	case "needs":
		if len(rest) != 1 {
			return s.errorAt(b.line, "needs wants a version")
		}
		s.Needs = rest[0]
	case "weir-only":
		s.WeirOnly = strings.Join(rest, " ")
		if s.WeirOnly == "" {
			return s.errorAt(b.line, "weir-only wants the reason")
		}
	case "log":
		return s.logBlock(b, rest)
	case "client", "server", "process":
		return s.actorBlock(b, rest)
	default:
		return s.errorAt(b.line, "unknown block %q", b.words[0])
	}
	return nil
}

// actorBlock parses "client NAME to LISTENER", "server NAME [refuse|blackhole]" and "process".
func (s *Scenario) actorBlock(b *block, rest []string) error {
	a := &Actor{Name: "process", Kind: Process, Line: b.line}
	switch {
	case b.words[0] == "process" && len(rest) == 0:
	case b.words[0] == "client" && len(rest) == 3 && rest[1] == "to":
		a.Kind, a.Name, a.Target = Client, rest[0], rest[2]
	case b.words[0] == "server" && len(rest) == 1:
		a.Kind, a.Name = Server, rest[0]
	case b.words[0] == "server" && len(rest) == 2 && (rest[1] == "refuse" || rest[1] == "blackhole"):
		a.Kind, a.Name, a.Mode = Server, rest[0], rest[1]
	default:
		return s.errorAt(b.line, "want 'client NAME to LISTENER', 'server NAME [refuse|blackhole]' or 'process'")
	}
	for _, other := range s.Actors {
		if other.Name == a.Name {
			return s.errorAt(b.line, "actor %q is defined twice", a.Name)
		}
	}
	for i, line := range b.body {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		verb, arg, _ := strings.Cut(line, " ")
		v, ok := verbs[verb]
		if !ok {
			return s.errorAt(b.line+1+i, "unknown verb %q", verb)
		}
		if v.kinds&(1<<a.Kind) == 0 {
			return s.errorAt(b.line+1+i, "verb %q is not for this kind of actor", verb)
		}
		a.Steps = append(a.Steps, Step{Line: b.line + 1 + i, Verb: verb, Arg: strings.TrimSpace(arg)})
	}
	s.Actors = append(s.Actors, a)
	return nil
}

// logBlock parses "log [NAME]" with its has, not and count lines.
func (s *Scenario) logBlock(b *block, rest []string) error {
	target := ""
	if len(rest) == 1 {
		target = rest[0]
	}
	for i, line := range b.body {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		r := LogRule{Line: b.line + 1 + i, Target: target}
		verb, arg, _ := strings.Cut(line, " ")
		r.Verb = verb
		switch verb {
		case "has", "not":
		case "count":
			num, after, _ := strings.Cut(strings.TrimSpace(arg), " ")
			n, err := strconv.Atoi(num)
			if err != nil {
				return s.errorAt(r.Line, "count wants a number and a pattern")
			}
			r.Count, arg = n, after
		default:
			return s.errorAt(r.Line, "log lines start with has, not or count")
		}
		r.Text = strings.TrimSpace(arg)
		if _, err := CompilePattern(varRE.ReplaceAllString(r.Text, "x")); err != nil {
			return s.errorAt(r.Line, "%v", err)
		}
		s.Logs = append(s.Logs, r)
	}
	return nil
}

// dedent removes the indentation of the first line from all lines.
func dedent(lines []string) string {
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	if len(lines) == 0 {
		return ""
	}
	first := lines[0]
	indent := first[:len(first)-len(strings.TrimLeft(first, " \t"))]
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(strings.TrimPrefix(line, indent))
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// Unescape turns the escapes of a step's text into bytes: \r \n \t \0 \s (a space) \\ \{ \} and
// \xHH.
func Unescape(s string) (string, error) {
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		if i == len(s) {
			return "", fmt.Errorf("text ends in a backslash")
		}
		if s[i] == 'x' {
			if i+2 >= len(s) {
				return "", fmt.Errorf(`\x wants two hexadecimal digits`)
			}
			v, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
			if err != nil {
				return "", fmt.Errorf(`\x wants two hexadecimal digits, not %q`, s[i+1:i+3])
			}
			b.WriteByte(byte(v))
			i += 2
			continue
		}
		c := strings.IndexByte(`rnt0s\{}|`, s[i])
		if c < 0 {
			return "", fmt.Errorf(`unknown escape \%c`, s[i])
		}
		b.WriteByte("\r\n\t\x00 \\{}|"[c])
	}
	return b.String(), nil
}
