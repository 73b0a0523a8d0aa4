package userlist

import (
	"strings"
	"sync"
	"testing"

	"weir/internal/lang/config"
	"weir/internal/model"
)

const pwHash = "$5$rounds=1000$roundstoolow$UqnC91tASOHypFO20yTbX5ekrr3pqsyytXNLs/IGZ9B" // of "pw"

// load reads userlist sections and returns the configuration and its messages.
func load(t *testing.T, text string) (*model.Config, string, bool) {
	t.Helper()
	cfg := &model.Config{Global: &model.Global{}}
	res, diags := config.Load(config.Options{
		Files: []string{"t.cfg"}, Root: cfg,
		ReadDir:  func(string) ([]string, bool, error) { return nil, false, nil },
		ReadFile: func(string) ([]byte, error) { return []byte(text), nil },
	})
	return cfg, diags.String(), !res.Failed
}

func TestSection(t *testing.T) {
	_, diags, ok := load(t, `
userlist L1
  group G1 users tiger,scott
  group G2 users xdb,,scott
  group G3
  user tiger password `+pwHash+`
  user scott insecure-password 'elgato' groups G3 groups G1
  user xdb insecure-password hello
  user nobody
  user odd password x insecure-password "one two"
userlist L2
  user tiger insecure-password other
`)
	if ok {
		t.Fatal("a password that is no hash was accepted")
	}
	if !strings.Contains(diags, "insecure-password") {
		t.Error(diags)
	}
	var cfg *model.Config
	cfg, diags, ok = load(t, `
userlist L1
  group G1 users tiger,scott
  group G2 users xdb,,scott
  group G3
  user tiger password `+pwHash+`
  user scott insecure-password 'elgato' groups G3 groups G1
  user xdb insecure-password hello
  user nobody
userlist L2
  user tiger insecure-password other
`)
	if !ok {
		t.Fatal(diags)
	}
	l := Find(cfg, "L1")
	if l == nil || Find(cfg, "L2") == nil || Find(cfg, "L3") != nil {
		t.Fatal("lists are not found by their names")
	}
	for _, c := range []struct {
		user, password, groups string
		ok                     bool
	}{
		{"tiger", "pw", "G1", true}, {"tiger", "pw2", "", false}, {"tiger", "", "", false}, {"scott", "elgato", "G1 G2 G3", true}, {"scott", "elgat", "", false},
		{"xdb", "hello", "G2", true}, {"XDB", "hello", "", false}, {"nobody", "", "", false}, {"nobody", "x", "", false}, {"who", "x", "", false},
		{"tiger", strings.Repeat("p", 600), "", false},
	} {
		u := l.Check([]byte(c.user), []byte(c.password))
		if (u != nil) != c.ok {
			t.Errorf("%s %s: %v", c.user, c.password, u)
			continue
		}
		if u == nil {
			continue
		}
		for _, g := range []string{"G1", "G2", "G3"} {
			member := false
			for _, have := range u.Groups {
				member = member || have == g
			}
			if member != strings.Contains(c.groups, g) {
				t.Errorf("%s: groups %v, want %s", c.user, u.Groups, c.groups)
			}
		}
	}
}

// TestSectionMessages holds what is refused and what only warned of.
func TestSectionMessages(t *testing.T) {
	for _, c := range []struct {
		text, want string
		ok         bool
	}{
		{"userlist L\n user a insecure-password x\n user a insecure-password y\n", "exists already", true},
		{"userlist L\n user b\nuserlist L\n user a\n", "exists already", true},
		{"userlist L\n", "nobody can authenticate", true},
		{"userlist L\n group g users nobody\n user a\n", "no user 'nobody'", false},
		{"userlist L\n user a insecure-password x groups nog\n", "no group 'nog'", false},
		{"userlist L\n group g users a\n group g users a\n user a\n", "exists already", true},
		{"userlist L\n user a password\n", "needs a value", false},
		{"userlist L\n user a password x\n", "insecure-password", false},
		{"userlist L\n user a password $y$j75$abcdefgh$ucNXpbrNU2P3.RvS.JhIZXR6f2/HEKzl78QXiIdPQ76\n", "yescrypt", false},
		{"userlist L\n user a password $6$rounds=999999$k6y3o.eP$BwJA8U.5GUwTa.ZFugoycGBvxfaM2lT8q4ePH.nq8T8pcRYDx2peTnGVfI7unh.DH0So8YGHwItjT4x8pkizG/\n", "milliseconds", true},
		{"userlist L\n user a foo bar\n", "'foo' is not expected", false},
		{"userlist\n user a\n", "expects", false},
		{"userlist L x\n user a\n", "too much", false},
		{"userlist L/x\n user a\n", "not allowed", false},
		{"userlist L\n user\n", "expects", false},
		{"userlist L\n group\n user a\n", "expects", false},
		{"userlist L\n group g foo\n user a\n", "'foo' is not expected", false},
		{"userlist L\n group g users\n user a\n", "needs names", false},
		{"userlist L\n group g users a users b\n user a\n user b\n", "stands twice", false},
		{"userlist L\n group g users a b\n user a\n", "'b' is not expected", false},
		{"userlist L\n group g/h\n user a\n", "not allowed", false},
		{"userlist L\n foo\n user a\n", "foo", false},
		{"userlist L\n user a/b:c insecure-password x\n", "", true},
	} {
		_, diags, ok := load(t, c.text)
		if ok != c.ok || !strings.Contains(diags, c.want) || c.want == "" && diags != "" {
			t.Errorf("%q: accepted %v, messages:\n%s", c.text, ok, diags)
		}
	}
}

// TestHeavy: only what has to be worked out is heavy, and a password that was right once is not.
func TestHeavy(t *testing.T) {
	cfg, diags, ok := load(t, "userlist L\n user a password "+pwHash+"\n user b insecure-password pw\n")
	if !ok {
		t.Fatal(diags)
	}
	l := Find(cfg, "L")
	a, b, pw := []byte("a"), []byte("b"), []byte("pw")
	if !l.Heavy(a, pw) || l.Heavy(b, pw) || l.Heavy([]byte("c"), pw) || l.Heavy(a, make([]byte, 512)) {
		t.Error("wrong checks are called heavy")
	}
	if l.Check(a, []byte("no")) != nil || !l.Heavy(a, pw) {
		t.Error("a wrong password was remembered")
	}
	if l.Check(a, pw) == nil || l.Heavy(a, pw) || !l.Heavy(a, []byte("no")) {
		t.Error("a right password was not remembered")
	}
	if n := testing.AllocsPerRun(100, func() {
		if l.Check(a, pw) == nil || l.Check(b, pw) == nil || l.Heavy(a, pw) {
			t.Fatal("refused")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestConcurrentChecks runs checks of one list from several goroutines, as loops do.
func TestConcurrentChecks(t *testing.T) {
	cfg, diags, ok := load(t, "userlist L\n user a password "+pwHash+"\n")
	if !ok {
		t.Fatal(diags)
	}
	l := Find(cfg, "L")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 20 {
				if l.Check([]byte("a"), []byte("pw")) == nil {
					t.Error("refused")
				}
				if j == 0 && i%2 == 0 && l.Check([]byte("a"), []byte("px")) != nil {
					t.Error("accepted")
				}
			}
		})
	}
	wg.Wait()
}
