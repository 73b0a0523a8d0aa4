package differential

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"weir/test/scenario"
)

func TestMain(m *testing.M) {
	code := m.Run()
	scenario.Cleanup()
	os.Exit(code)
}

// reference finds the program to compare with: WEIR_DIFF, or haproxy on the path.
func reference(t *testing.T) *Program {
	name := os.Getenv("WEIR_DIFF")
	if name == "" {
		name = "haproxy"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("haproxy is needed to compare with")
		}
		t.Skip("haproxy is not here to compare with")
	}
	return &Program{Name: "haproxy", Path: path}
}

// request asks for the values of a group.
func request(group int) string {
	return fmt.Sprintf("GET /a/B/c.html?a=1&b=two%%20words&c=&empty=&b=3 HTTP/1.1\r\nHost: www.Example.COM:8080\r\nX-Group: %d\r\n"+
		"X-List: one, \"two, quoted\",  three\r\nX-List: four\r\nX-One: single value\r\nX-Empty: \r\nX-Num: 42\r\nX-IP: 10.1.2.3\r\n"+
		"Cookie: a=1; b=22; q=\"quoted\"\r\nConnection: close\r\n\r\n", group)
}

func compare(t *testing.T, ref *Program, formats []string, unlike func(format, ref, got string) string) {
	bin, err := scenario.Build()
	if err != nil {
		t.Fatal(err)
	}
	weir := &Program{Name: "weir", Path: bin}
	dir := t.TempDir()
	theirs, err := ref.Check(dir, formats)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := weir.Check(dir, formats)
	if err != nil {
		t.Fatal(err)
	}
	var both []string
	explained := 0
	for i, f := range formats {
		switch {
		case theirs[i] && ours[i]:
			both = append(both, f)
		case theirs[i] != ours[i]:
			if unlike(f, fmt.Sprint(theirs[i]), fmt.Sprint(ours[i])) != "" {
				explained++
				continue
			}
			t.Errorf("%s: accepted by haproxy %v, by weir %v", f, theirs[i], ours[i])
		}
	}
	want, err := ref.Run(dir, both, request)
	if err != nil {
		t.Fatal(err)
	}
	got, err := weir.Run(dir, both, request)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range both {
		if want[i] == got[i] {
			continue
		}
		if unlike(f, want[i], got[i]) != "" {
			explained++
			continue
		}
		t.Errorf("%s\n\thaproxy %q\n\tweir    %q", f, want[i], got[i])
	}
	t.Logf("%d compared, %d accepted by both, %d explained differences", len(formats), len(both), explained)
}

func TestExpressions(t *testing.T) {
	ref := reference(t)
	compare(t, ref, Generate(1, count(3000), known(t, ref)), explain)
}

func TestFormats(t *testing.T) {
	ref := reference(t)
	compare(t, ref, Formats(2, count(1500), known(t, ref)), explain)
}

func known(t *testing.T, p *Program) func(string) bool {
	t.Helper()
	f, err := p.Known()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// count lets WEIR_DIFF_COUNT ask for another number.
func count(n int) int {
	if s := os.Getenv("WEIR_DIFF_COUNT"); s != "" {
		fmt.Sscan(s, &n)
	}
	return n
}

// explain returns why weir differs from the reference on purpose, or from its older versions; docs/compat/differences.md says
// the former too.
func explain(format, ref, got string) string {
	for _, e := range []struct{ has, ref, why string }{
		{`\bsha2[],]`, "", "3.5 reads a random number where sha2 has no bits"},
		{`\bbytes\(\d+,0\)`, "true", "3.5 refuses a length of 0, 2.6 does not"},
		{`(\bsrc|_ip\([^)]*\)|\bipmask\([^)]*\)),(add|sub|mul|div|mod|and|or|xor|neg|cpl|not|even|odd|bool|htonl|nbsrv|iif|(u|l)time|http_date)`, "true",
			"3.5 refuses integers made of addresses whose family is not known, 2.6 does not"},
		{`\bsub\(-?\d+\)`, "9223372036854775807", "2.6 saturates wrongly"},
		{`\bmqtt_is_valid`, "", "2.6 says false of what 3.5 has no value for"},
		{`\b(bool(\((true|1)\))?|odd|even|not|is_valid),(add|sub|mul|div|mod|and|or|xor|cpl|neg)`, "", "2.6 goes on with a boolean, so that 8 is 1"},
		{`\bipv6\(.*\bipmask\(`, "", "2.6 masks as IPv6 what 3.5 masks as the IPv4 address it stands for"},
		{`\b(word|field)\(`, "", "2.6 goes on with an empty string where 3.5 has no value"},
		{`(9223372036854775807|9223372036854775808).*\b(u|l)time\(`, "", "2.6 reads other bits of times beyond the calendar"},
	} {
		if regexp.MustCompile(e.has).MatchString(format) && strings.Contains(ref, e.ref) {
			return e.why
		}
	}
	return ""
}
