package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseRefusesWhatItDoesNotKnow(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		_, err := Parse("x.txt", text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q) = %v, want an error with %q", text, err, want)
		}
	}
	f("config\n  global\n", "must be a comment")
	f("# t\n", "no config")
	f("# t\nconfig\n  global\nwhat\n", "x.txt:4: unknown block")
	f("# t\nconfig\n  global\nclient c\n", "x.txt:4: want 'client NAME to LISTENER'")
	f("# t\nconfig\n  global\nserver s\n  fly\n", "x.txt:5: unknown verb")
	f("# t\nconfig\n  global\nserver s\n  get / 200\n", "x.txt:5: verb \"get\" is not for this kind")
	f("# t\nconfig\n  global\nserver s\nserver s\n", "defined twice")
	f("# t\nconfig\n  global\nlog\n  has {what}\n", "unknown placeholder")
	f("# t\nconfig\n  global\nlog\n  perhaps x\n", "log lines start with")
	f("  x\n", "before the first block")
}

func TestParseKeepsTheConfiguration(t *testing.T) {
	s, err := Parse("x.txt", "# title\nconfig\n    global\n\n        # a comment\n        maxconn 1\n\nargs -d -V\n")
	if err != nil {
		t.Fatal(err)
	}
	if want := "global\n\n    # a comment\n    maxconn 1\n"; s.Config != want {
		t.Errorf("config is %q, want %q", s.Config, want)
	}
	if s.Title != "title" || len(s.Args) != 2 {
		t.Errorf("title %q, args %q", s.Title, s.Args)
	}
}

func TestPatterns(t *testing.T) {
	f := func(pattern, text string, want bool) {
		t.Helper()
		p, err := CompilePattern(pattern)
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
		} else if got := p.Match(text); got != want {
			t.Errorf("%s on %q: %v", pattern, text, got)
		}
	}
	f("a.b", "a.b", true)
	f("a.b", "axb", false)
	f("a{n}b", "a12b", true)
	f("a{n}b", "ab", false)
	f("{10..20}/{ms}", "15/-1", true)
	f("{10..20}/{ms}", "9/-1", false)
	f("{10..20}", "+12", true)
	f(`\{x\}\r\n`, "{x}\r\n", true)
	f("{~a{2,3}|b}", "aaa", true)
	f("{~a{2,3}|b}", "aaaa", false)
	f("{client} {date} x", "127.0.0.1:80 [30/Nov/2026:22:45:01.123] x", true)
	f("x{*}", "x\ny", true)
	f("x", "xx", false)
}

func TestSyslogHeadIsSkipped(t *testing.T) {
	p, err := CompilePattern("hello {n}")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"hello 1",
		"<134>Nov  3 22:45:01 haproxy[12]: hello 1",
		"<134>Nov 30 22:45:01 host haproxy[12]: hello 1",
		"<134>1 2026-11-30T22:45:01.123456+00:00 host haproxy 12 - - hello 1",
	} {
		if !matches(p, line) {
			t.Errorf("%q does not fit", line)
		}
	}
}

// TestVerbsAreDocumented holds README.md and the tables to the same names.
func TestVerbsAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range verbs {
		if !strings.Contains(string(doc), "| `"+name+" ") && !strings.Contains(string(doc), "| `"+name+"`") {
			t.Errorf("README.md does not document the verb %q", name)
		}
	}
	for name := range placeholders {
		if !strings.Contains(string(doc), "`{"+name+"}`") {
			t.Errorf("README.md does not document the placeholder {%s}", name)
		}
	}
}

// TestExampleParses keeps the example of README.md true.
func TestExampleParses(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(doc), "    # A keep-alive client")
	if !ok {
		t.Fatal("README.md has no example")
	}
	text, _, _ := strings.Cut(after, "\n\n| block")
	text = "# A keep-alive client" + strings.ReplaceAll(text, "\n    ", "\n")
	s, err := Parse("README.md", text)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Actors) != 2 || len(s.Logs) != 1 {
		t.Errorf("the example has %d actors and %d log rules", len(s.Actors), len(s.Logs))
	}
}
