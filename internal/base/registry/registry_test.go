package registry

import (
	"slices"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	tab := New[int]("thing")
	tab.Register("b", 2, 0)
	tab.Register("a", 1, 0)
	if d, ok := tab.Lookup("a"); !ok || d != 1 {
		t.Errorf("Lookup(a) = %d, %v", d, ok)
	}
	if _, ok := tab.Lookup("c"); ok {
		t.Error("c found")
	}
	if got := tab.Names(); !slices.Equal(got, []string{"a", "b"}) || tab.Len() != 2 {
		t.Errorf("Names() = %v, Len() = %d", got, tab.Len())
	}
	if w := tab.Where("a"); !strings.HasPrefix(w, "registry/registry_test.go:") {
		t.Errorf("Where(a) = %q", w)
	}
	var seen []string
	tab.All(func(name string, _ int) bool { seen = append(seen, name); return false })
	if !slices.Equal(seen, []string{"a"}) {
		t.Errorf("All stopped after %v", seen)
	}
}

func TestRegisterPanics(t *testing.T) {
	mustPanic := func(want []string, fn func()) {
		t.Helper()
		defer func() {
			t.Helper()
			msg, _ := recover().(string)
			for _, w := range want {
				if !strings.Contains(msg, w) {
					t.Errorf("panic %q does not mention %q", msg, w)
				}
			}
		}()
		fn()
	}
	tab := New[int]("thing")
	tab.Register("a", 1, 0)
	first := tab.Where("a")
	mustPanic([]string{"thing", `"a"`, "twice", first, "registry_test.go"}, func() { tab.Register("a", 2, 0) })
	mustPanic([]string{"without a name"}, func() { tab.Register("", 2, 0) })
	tab.Freeze()
	mustPanic([]string{"too late", `"b"`}, func() { tab.Register("b", 2, 0) })
	if !tab.Frozen() {
		t.Error("not frozen")
	}
}

func TestNearest(t *testing.T) {
	names := []string{"maxconn", "maxconnrate", "mode", "timeout", "bind", "daemon", "option nolinger", "TCP"}
	for _, c := range []struct{ name, want string }{
		{"maxcon", "maxconn"}, {"maxocnn", "maxconn"}, {"MAXCONN", "maxconn"}, {"maxconnrat", "maxconnrate"},
		{"mod", "mode"}, {"mdoe", "mode"}, {"timout", "timeout"}, {"bnd", "bind"}, {"dæmon", "daemon"},
		{"option nolingr", "option nolinger"}, {"tpc", "TCP"},
		{"", ""}, {"x", ""}, {"xyzzy", ""}, {"bind", ""}, {strings.Repeat("m", 200), ""},
	} {
		if got := Nearest(c.name, names); got != c.want {
			t.Errorf("Nearest(%q) = %q, want %q", c.name, got, c.want)
		}
	}
	tab := New[int]("thing")
	tab.Register("maxconn", 0, 0)
	if got := tab.Suggest("maxcom"); got != "maxconn" {
		t.Errorf("Suggest = %q", got)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"ab", "ba", 1}, {"kitten", "sitting", 3}, {"abc", "abc", 0}, {"ca", "abc", 3}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := distance(c.b, c.a); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.b, c.a, got, c.want)
		}
	}
}
