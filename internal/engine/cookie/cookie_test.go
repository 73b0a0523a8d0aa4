package cookie

import (
	"strings"
	"testing"
	"time"

	"weir/internal/model"
	"weir/internal/wire/msg"
)

// fields makes a message whose fields of that name are the lines of text.
func fields(m *msg.Message, name, text string) {
	for v := range strings.Lines(text) {
		m.AddString(name, strings.TrimSuffix(v, "\n"))
	}
}

// text is the opposite of fields.
func text(m *msg.Message, name string) string {
	var lines []string
	for i := m.Find(name, 0); i >= 0; i = m.Find(name, i+1) {
		lines = append(lines, string(m.Fields[i].Value))
	}
	return strings.Join(lines, "\n")
}

// What the reference leaves of a request in mode "insert indirect".
func TestStrip(t *testing.T) {
	for _, c := range [][2]string{
		{"SRV=s1", ""},
		{"a=b; SRV=s2; c=d", "a=b; c=d"},
		{"SRV=s2;c=d", "c=d"},
		{"a=b;SRV=s2", "a=b"},
		{"a=b ; SRV=s2 ; c=d", "a=b; c=d"},
		{"x=y\nSRV=s1", "x=y"},
		{"SRV=s1; SRV=s2", ""},
		{`SRV="s1"`, ""},
		{"SRV=s1, x=y", "x=y"},
		{"a=1,SRV=s1,b=2", "a=1, b=2"},
		{"srv=s1", "srv=s1"},
		{"SRV=", ""},
		{"SRV", "SRV"},
		{"SRV = s1 ; q=1", "q=1"},
		{"$Version=1; SRV=s1; $Path=/; a=b", "$Version=1; a=b"},
		{"SRV=s1; $a=1; $b=2; c=d", "c=d"},
		{"c=d; $a=1; SRV=s1; $p=2", "c=d; $a=1"},
		{"$a=1; SRV=s1", ""},
		{"SRV=s1; $a=1", ""},
		{"$a=1", "$a=1"},
		{"$a=1; b; SRV=s1", "$a=1; b"},
		{"SRV=zz; a=b; SRV=s3; SRV=s1; $Path=1; c=d", "a=b; c=d"},
		{"SRV=zz\nSRV=s1; z=1", "z=1"},
		{";;SRV=s1;;", ";; ;"},
		{"; a=1 ;SRV=s1; b=2 ;", "; a=1; b=2 ;"},
		{"a; SRV=s1; b", "a; b"},
		{"SRV=s1; a; b", "a; b"},
		{"a; b; SRV=s1", "a; b"},
		{"=x; SRV=s1", "=x"},
		{`x="a;SRV=b"; SRV=s2`, `x="a;SRV=b"`},
		{`x="a\";SRV=b"; SRV=s2`, `x="a\";SRV=b"`},
		{`x="never closed; SRV=s2`, `x="never closed; SRV=s2`},
	} {
		m := &msg.Message{}
		fields(m, "cookie", c[0])
		if Strip(m, "SRV"); text(m, "cookie") != c[1] {
			t.Errorf("%q: %q, want %q", c[0], text(m, "cookie"), c[1])
		}
	}
}

func TestUnprefix(t *testing.T) {
	for _, c := range [][2]string{
		{"SRV=s1~abc", "SRV=abc"},
		{"SRV=s1~", "SRV="},
		{"SRV=abc", "SRV=abc"},
		{"SRV=s2~a~b; x=y~z", "SRV=a~b; x=y~z"},
		{`SRV="s1~abc"`, `SRV=abc"`},
		{"SRV=~b", "SRV=b"},
		{"SRV= s1~b", "SRV=b"},
		{"SRV=s1 ~b", "SRV=b"},
		{"SRV=s3~a; SRV=s1~b; SRV=zz~c; $p=1; SRV = s2~d ; SRV=x", "SRV=a; SRV=b; SRV=c; $p=1; SRV=d ; SRV=x"},
	} {
		m := &msg.Message{}
		fields(m, "cookie", c[0])
		if Unprefix(m, "SRV"); text(m, "cookie") != c[1] {
			t.Errorf("%q: %q, want %q", c[0], text(m, "cookie"), c[1])
		}
	}
}

func TestIter(t *testing.T) {
	m := &msg.Message{}
	fields(m, "cookie", "a=b; SRV=1, SRV = 2 ;SRV\nb=SRV=3\n"+`SRV="4;5"; SRV=`)
	var got []string
	for it := Of(m, "SRV"); it.Next(); {
		got = append(got, string(it.Value))
	}
	if want := `1|2|"4;5"|`; strings.Join(got, "|") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

const now = 1764590000 // a multiple of 4

func date(seconds int64) string { return string(appendDate(nil, seconds)) }

func TestDates(t *testing.T) {
	if d := date(now); d != "aV5Q8" && parseDate([]byte(d)) != now {
		t.Errorf("%s is %d, want %d", d, parseDate([]byte(d)), now)
	}
	for text, want := range map[string]int64{"": 0, "AAAA": 0, "AAAAA": 0, "AAAAB": 4, "AAAAB and more": 4, "////!": 0, "/////": 1<<32 - 4} {
		if got := parseDate([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// What the reference makes of dates: the state, and whether a valid cookie is set again.
func TestAge(t *testing.T) {
	idle := &model.Persistence{Mode: model.PersistInsert, MaxIdle: time.Minute}
	life := &model.Persistence{Mode: model.PersistInsert, MaxLife: 1000 * time.Second}
	both := &model.Persistence{Mode: model.PersistInsert, MaxIdle: time.Minute, MaxLife: 1000 * time.Second}
	none := &model.Persistence{Mode: model.PersistInsert}
	rewrite := &model.Persistence{Mode: model.PersistRewrite, MaxIdle: time.Minute}
	for _, c := range []struct {
		p           *model.Persistence
		value, want string
	}{
		{both, "s1", "V again"},
		{both, "s1|" + date(now), "V again"},
		{both, "s1|" + date(now) + "|" + date(now), "V"},
		{both, "s1|" + date(now-8) + "|" + date(now-8), "V again"},
		{both, "s1|" + date(now-500) + "|" + date(now-500), "E"},
		{both, "s1|" + date(now) + "|" + date(now-5000), "O"},
		{both, "s1|" + date(now-5000) + "|" + date(now-5000), "O"},
		{both, "s1|" + date(now+5000) + "|" + date(now), "V"},
		{both, "s1|" + date(now+90000) + "|" + date(now), "E"},
		{both, "s1|" + date(now) + "|" + date(now+90000), "O"},
		{both, "s1|xx", "V again"},
		{both, "s1|!!!!!|!!!!!", "V again"},
		{idle, "s1", "V again"},
		{idle, "s1|" + date(now), "V"},
		{idle, "s1|" + date(now) + "junk", "V"},
		{idle, "s1|" + date(now) + "|zz", "V"},
		{idle, "s1|" + date(now) + "|" + date(now), "V again"},
		{idle, "s1|" + date(now+8), "V"},
		{idle, "s1|" + date(now-60), "V again"},
		{idle, "s1|" + date(now-64), "E"},
		{life, "s1", "V again"},
		{life, "s1||" + date(now), "V"},
		{life, "s1|" + date(now+90000) + "|" + date(now), "V"},
		{life, "s1|" + date(now-500) + "|" + date(now-500), "V again"},
		{life, "s1||" + date(now-1004), "O"},
		{none, "s1|zzz", "V"},
		{none, "s1|" + date(now-4), "V again"},
		{none, "s1||" + date(now-400), "V again"},
		{rewrite, "s1", "V"},
		{rewrite, "s1|" + date(now-64), "E"},
	} {
		server, last, first := Server(c.p, []byte(c.value))
		got := string(rune(Age(c.p, last, first, now)))
		if got == "V" && Stale(c.p, last, first, now) {
			got += " again"
		}
		if got != c.want || string(server) != "s1" {
			t.Errorf("%q with maxidle %s and maxlife %s: %s (%s), want %s", c.value, c.p.MaxIdle, c.p.MaxLife, got, server, c.want)
		}
	}
}

func TestServer(t *testing.T) {
	prefix := &model.Persistence{Mode: model.PersistPrefix}
	for value, want := range map[string]string{"s1~x": "s1", "s1": "", "~x": "", "s1|AAAAB~x": "s1|AAAAB", "a~b~c": "a"} {
		if got, last, first := Server(prefix, []byte(value)); string(got) != want || last|first != 0 {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}
