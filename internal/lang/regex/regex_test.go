package regex

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

func compiled(t testing.TB, pattern string, f Flags) *Regex {
	t.Helper()
	r, err := Compile(pattern, f)
	if err != nil {
		t.Fatalf("%q: %v", pattern, err)
	}
	return r
}

// answer is the outcome of a search in the words of the table.
func answer(loc []int, err error) string {
	switch {
	case err != nil:
		return "X"
	case loc == nil:
		return "N"
	}
	return "M " + strings.Trim(fmt.Sprint(loc), "[]")
}

// unsupported are constructs of PCRE2 that are errors here.
var unsupported = []string{
	`\X`, "(*UTF", "(*CRLF)", "(*THEN)", "(*MARK:", "(*:", "(*COMMIT:", "(*sr:", "(*napla:", "(?*", "(?<*", `(?C"`, "(?C255", "(*UCP",
}

// TestPCRE2 compares with a table of what PCRE2 does.
func TestPCRE2(t *testing.T) {
	f, err := os.Open("testdata/pcre2.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if strings.HasPrefix(sc.Text(), "#") {
			continue
		}
		n++
		c := strings.Split(sc.Text(), "\t")
		flags, err := strconv.Atoi(c[0])
		if err != nil {
			t.Fatal(err)
		}
		pattern, err1 := strconv.Unquote(c[1])
		text, err2 := strconv.Unquote(c[2])
		from, err3 := strconv.Atoi(c[3])
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		checkCase(t, pattern, text, from, flags, c[4])
	}
	if n < 2000 {
		t.Errorf("only %d cases", n)
	}
}

func checkCase(t *testing.T, pattern, text string, from, flags int, want string) {
	t.Helper()
	r, err := Compile(pattern, Flags(flags&3))
	if err != nil {
		var e *Error
		if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(pattern) || e.Msg == "" {
			t.Errorf("%q: a poor error %v", pattern, err)
		}
		if want == "E" {
			return
		}
		for _, u := range unsupported {
			if strings.Contains(pattern, u) && strings.Contains(err.Error(), "not supported") {
				return
			}
		}
		t.Errorf("%q: %v, want %s", pattern, err, want)
		return
	}
	for _, patience := range []int{256, 0} { // without and with the memory of states
		r.prog.patience = patience
		got := answer(r.search(nil, []byte(text), from, flags&4 != 0, nil))
		if got != want {
			t.Errorf("%q on %q from %d, flags %d: %s, want %s", pattern, text, from, flags, got, want)
		}
	}
	if from == 0 && flags&4 == 0 {
		if got := r.Match([]byte(text)); got != (want[0] == 'M') {
			t.Errorf("%q on %q, %s: Match says %v, want %s", pattern, text, r.Engine(), got, want)
		}
	}
}

// TestMessages pins what errors say.
func TestMessages(t *testing.T) {
	for pattern, want := range map[string]string{
		"(a":          "a group without its closing parenthesis (at offset 2)",
		"a)":          "a closing parenthesis without an opening one (at offset 1)",
		"[a":          "a class without its closing bracket (at offset 2)",
		"*a":          "a quantifier without something to repeat (at offset 0)",
		`(a)\2`:       "a reference to a group that does not exist (at offset 4)",
		`\i`:          `\i is not known (at offset 1)`,
		"a{70000}":    "a quantifier above 65535 (at offset 7)",
		"(?<=a+)b":    "a look-behind whose length is not fixed (at offset 0)",
		"[[:foo:]]":   "the named class [:foo:] is not known (at offset 1)",
		"[z-a]":       "the ends of the range are in the wrong order (at offset 4)",
		"(*UTF8)a":    "(*UTF8) is not supported: patterns match bytes (at offset 0)",
		"(*UCP)a":     "(*UCP) is not supported: patterns match bytes (at offset 0)",
		"(*CRLF)a":    "(*CRLF) is not supported: lines end in line feed (at offset 0)",
		`\X`:          `\X (grapheme clusters) is not supported (at offset 2)`,
		"(*THEN)":     "the verb (*THEN) is not supported (at offset 0)",
		"(*MARK:a)":   "the verb (*MARK:...), with a name, is not supported (at offset 0)",
		"(?*a)":       "a look-around that can be entered again, (?*, is not supported (at offset 0)",
		`(?C"x")`:     "callouts with text are not supported (at offset 0)",
		`\p{Foo}`:     `the property "Foo" is not known (at offset 7)`,
		`\x{100}`:     "a character above 255: patterns match bytes (at offset 5)",
		"(?<n>a)(?<n": "the name of a group does not end in '>' (at offset 11)",
		"(?z)":        "(?z is not known (at offset 2)",
		`a\`:          "a backslash at the end of the pattern (at offset 2)",
	} {
		if _, err := Compile(pattern, 0); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", pattern, err, want)
		}
	}
	for _, pattern := range []string{
		strings.Repeat("(", 251) + strings.Repeat(")", 251), strings.Repeat("a", maxPattern+1), "((((a{1,500}b){1,500}){1,500}){1,500})",
	} {
		if _, err := Compile(pattern, 0); err == nil {
			t.Errorf("%.20q: no error", pattern)
		}
	}
}

func TestEngines(t *testing.T) {
	for pattern, want := range map[string]string{
		"abc": "literal", "^abc$": "literal", `^/admin/`: "literal", `\.php$`: "literal", "(?i)^abc": "literal", "foo|bar|b": "literal", "(foo|bar)": "literal",
		"(?i)abc": "literal", "a+b": "re2", `^/(api|img)/v[0-9]+`: "re2", `\bfoo\b`: "re2", "(?m)^a$": "re2", "a{2,300}": "re2", `a$\n`: "backtrack", "$": "literal",
		`(a)\1`: "backtrack", "(?=a)b": "backtrack", "(?>a)b": "backtrack", "a++b": "backtrack", `\Ga`: "backtrack", `a\Kb`: "backtrack", "(?R)?a": "backtrack",
		"(*NOTEMPTY)a*": "backtrack",
	} {
		if got := compiled(t, pattern, 0).Engine(); got != want {
			t.Errorf("%q: %s, want %s", pattern, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	r := compiled(t, `(?<year>\d+)-(\d+)-(?P<day>\d+)`, 0)
	if r.Groups() != 3 || r.Name(0) != "" || r.Name(1) != "year" || r.Name(2) != "" || r.Name(3) != "day" || r.String() == "" {
		t.Errorf("%d groups, %q %q %q", r.Groups(), r.Name(1), r.Name(2), r.Name(3))
	}
	if r := compiled(t, `(a)(?<n>b)`, NoCapture); r.Groups() != 1 || r.Name(1) != "n" {
		t.Errorf("%d groups without plain ones", r.Groups())
	}
	if r.Match(nil) || !r.Match([]byte("2024-05-06")) {
		t.Error("Match is wrong")
	}
}

// TestSearchFrom looks at the begin of a search and its range.
func TestSearchFrom(t *testing.T) {
	text := []byte("aab aab")
	for _, c := range []struct {
		pattern string
		from    int
		want    string
	}{
		{`aab`, 1, "M 4 7"}, {`\baab`, 4, "M 4 7"}, {`\Baab`, 0, "N"}, {`^a`, 0, "M 0 1"}, {`^a`, 1, "N"}, {`(?<=a)a`, 1, "M 1 2"}, {`\Ga`, 1, "M 1 2"},
		{`\Gb`, 1, "N"}, {`$`, 7, "M 7 7"}, {`a`, 8, "N"}, {`a`, -1, "N"}, {`a*`, 7, "M 7 7"},
	} {
		if got := answer(compiled(t, c.pattern, 0).FindSubmatchIndex(nil, text, c.from)); got != c.want {
			t.Errorf("%q from %d: %s, want %s", c.pattern, c.from, got, c.want)
		}
	}
	rest := compiled(t, `^a|\Aa`, 0)
	if got := answer(rest.FindRest(nil, text)); got != "M 0 1" {
		t.Errorf(`FindRest with \A: %s`, got)
	}
	if got := answer(compiled(t, `^a`, 0).FindRest(nil, text)); got != "N" {
		t.Errorf("FindRest with ^: %s", got)
	}
}

// TestNoAllocations holds once pools and tables are warm.
func TestNoAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes pools forget")
	}
	for _, c := range benches {
		r := compiled(t, c.pattern, 0)
		text := []byte(c.text)
		var fixed [20]int
		for name, run := range map[string]func(){
			"Match":             func() { r.Match(text) },
			"FindSubmatchIndex": func() { r.FindSubmatchIndex(fixed[:0], text, 0) },
		} {
			run()
			if n := testing.AllocsPerRun(200, run); n != 0 {
				t.Errorf("%s, %s: %v allocations", c.name, name, n)
			}
		}
	}
}

// TestThreads uses the same expressions from several threads while their tables are made.
func TestThreads(t *testing.T) {
	for _, c := range benches {
		r := compiled(t, c.pattern, 0)
		twin := compiled(t, c.pattern, 0)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for i := range 200 {
					text := []byte(c.text[:len(c.text)-i%len(c.text)])
					loc, err := r.FindSubmatchIndex(nil, text, 0)
					if r.Match(text) != (loc != nil) || err != nil {
						t.Errorf("%s: %q: Match and Find disagree, %v", c.name, text, err)
						return
					}
				}
			})
		}
		wg.Wait()
		if r.Match([]byte(c.text)) != twin.Match([]byte(c.text)) {
			t.Errorf("%s: the table is wrong after use by threads", c.name)
		}
	}
}
