package regex

import (
	"errors"
	"strings"
	"testing"
)

// TestReplace is a table of what regsub makes.
func TestReplace(t *testing.T) {
	for _, c := range []struct {
		text, pattern, with, flags, want string
	}{
		{"abc", "b", "X", "", "aXc"}, {"abcabc", "b", "X", "", "aXcabc"}, {"abcabc", "b", "X", "g", "aXcaXc"}, {"abc", "x*", "X", "g", "XaXbXcX"}, {"abc", "b*", "X", "g", "XaXXcX"},
		{"abc", "$", "X", "g", "abcXX"}, {"abc", "^", "X", "g", "Xabc"}, {"aaa", "^a", "X", "g", "Xaa"}, {"aaa", "a$", "X", "g", "aaX"}, {"abab", "(?<=a)b", "X", "g", "aXaX"},
		{"aaa", "(?<=a)a", "X", "g", "aXa"}, {"aaa", `\Aa`, "-", "g", "---"}, {"aaa", "(?m)^a", "X", "g", "Xaa"}, {"aaa", `\Ba`, "X", "g", "aXa"}, {"abc", `\b`, "X", "g", "XaXbXc"},
		{"aaa", `\Ga`, "-", "g", "---"}, {"aaa", "(?!^)a", "X", "g", "aXX"}, {"aXbX", `\K`, "-", "g", "-a-X-b-X-"}, {"ab", "(?=b)", "-", "g", "a--b"}, {"aXbX", `\Gx?`, "-", "gi", "-a--b--"},
		{"abc", "(b)", `[\0\1\2]`, "", "a[bb]c"}, {"abc", "(b)", `\x41\x42`, "", "aABc"}, {"abc", "(b)", `\x4`, "", "a"}, {"abc", "(b)", `\xzz`, "", "aSc"}, {"abc", "(b)", `\n\q`, "", "anqc"},
		{"abc", "(b)", `\\`, "", `a\c`}, {"abc", "(b)", `\\1`, "", `a\1c`}, {"abc", "(b)", `x\\\1`, "", `ax\bc`}, {"abc", "(b)", `z\`, "", "a"}, {"abc", "(b)", "&$1", "", "a&$1c"},
		{"abc", "(a)|(b)", `<\1|\2>`, "g", "<a|><|b>c"}, {"abc", "(x)?b", `<\1>`, "", "a<>c"}, {"abc", "(((((((((((b)))))))))))", `<\1\9\10\11>`, "", "a<bbb0b1>c"},
		{"abc", "(b)", `\7`, "", "ac"}, {"abc", "(b)", `\x00`, "", "a\x00c"}, {"abc", "(b)", `\xg1`, "", "a\x01c"}, {"abc", "(b)", `\x1g`, "", "a\x20c"}, {"abc", "(b)", `\x-1`, "", "a\x61c"},
		{"abc", "(b)", `\x1-`, "", "a\x06c"}, {"abc", "(b)", `\x:1`, "", "a1c"}, {"abc", "(b)", `\x!!`, "", "a\x8ac"}, {"abc", "(b)", `\xGG`, "", "a\x10c"}, {"abc", "(b)", `\xaB`, "", "a\xabc"},
		{"abc", "(b)", `\X41`, "", "aX41c"}, {"abc", "(b)", `[\x4]`, "", "a[fc"}, {"abc", "B", "X", "i", "aXc"}, {"abc", `a\Kb`, "X", "", "aXc"}, {"abcabc", `a\Kb`, "X", "g", "aXcaXc"},
		{"a\nb\n", "b$", "X", "", "a\nX\n"}, {"a\nb\n", "a$", "X", "", "a\nb\n"}, {"a\nb\n", "a.b", "X", "", "a\nb\n"}, {"a\x00b\x00", "b", "X", "", "a\x00X\x00"},
		{"\xc3\x89", ".", "X", "", "X\x89"}, {"\xc3\x89", `\w`, "X", "", "\xc3\x89"}, {"\xc9", `(?i)\x{e9}`, "X", "", "\xc9"}, {"/////a///b/", "/+", "/", "g", "/a/b/"},
	} {
		var f Flags
		if strings.Contains(c.flags, "i") {
			f = IgnoreCase
		}
		r := compiled(t, c.pattern, f)
		got, err := r.Replace(nil, c.with, []byte(c.text), strings.Contains(c.flags, "g"), 16384, nil)
		if err != nil || string(got) != c.want {
			t.Errorf("%q: s/%s/%s/%s: %q %v, want %q", c.text, c.pattern, c.with, c.flags, got, err, c.want)
		}
	}
}

// TestReplaceLimits cuts results that are too long, without making them first.
func TestReplaceLimits(t *testing.T) {
	r := compiled(t, "a", 0)
	text := []byte(strings.Repeat("a", 100))
	got, err := r.Replace(nil, strings.Repeat("x", 190), text, true, 16384, nil)
	if err != nil || len(got) != 16384 || strings.Trim(string(got), "x") != "" {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	big := []byte(strings.Repeat("b", 10_000))
	got, err = compiled(t, "(.*)", 0).Replace(nil, strings.Repeat(`\1`, 5000), big, true, 16384, nil)
	if err != nil || len(got) != 16384 || cap(got) > 100_000 {
		t.Errorf("%d bytes of %d, %v", len(got), cap(got), err)
	}
	if out := ExpandMax(nil, `\0\0`, big, []int{0, len(big)}, 16384); out != nil {
		t.Errorf("ExpandMax made %d bytes", len(out))
	}
	if out := ExpandMax(nil, `\0`, big, []int{0, len(big)}, 16384); len(out) != len(big) {
		t.Errorf("ExpandMax made %d bytes", len(out))
	}
	if _, err := compiled(t, `(?R)`, 0).Replace(nil, "", text, true, 100, nil); !errors.Is(err, ErrLoop) {
		t.Errorf("an error of the match is lost: %v", err)
	}
}

func TestTemplate(t *testing.T) {
	text := []byte("abcd")
	loc := []int{1, 3, 1, 2, -1, -1}
	for _, c := range []struct{ template, want string }{
		{"", ""}, {"x", "x"}, {`\0`, "bc"}, {`\1-\2-\3`, "b--"}, {`a\x41\\\q`, `aA\q`}, {`\10`, "b0"},
	} {
		tpl, err := ParseTemplate(c.template)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(tpl.Append([]byte(">"), text, loc)); got != ">"+c.want {
			t.Errorf("%q: %q, want %q", c.template, got, ">"+c.want)
		}
		if got := Expand([]byte(">"), c.template, text, loc); string(got) != ">"+c.want {
			t.Errorf("%q: Expand makes %q, want %q", c.template, got, ">"+c.want)
		}
	}
	for _, bad := range []string{`\`, `a\`, `\x`, `\x4`, `a\\\`} {
		if _, err := ParseTemplate(bad); !errors.Is(err, ErrTemplate) {
			t.Errorf("%q: %v", bad, err)
		}
		if got := Expand(nil, bad, text, loc); got != nil {
			t.Errorf("%q: Expand makes %q", bad, got)
		}
	}
	if Expand(nil, "", text, loc) == nil {
		t.Error("an empty replacement is no failure")
	}
	tpl, err := ParseTemplate(`<\1>`)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 0, 64)
	if n := testing.AllocsPerRun(100, func() { tpl.Append(buf, text, loc); Expand(buf, `<\1>`, text, loc) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
