package msg

import (
	"bytes"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

func fields(pairs ...string) *Message {
	m := new(Message)
	for i := 0; i < len(pairs); i += 2 {
		m.AddView([]byte(pairs[i]), []byte(pairs[i+1]))
	}
	return m
}

func dump(m *Message) string {
	var b strings.Builder
	for _, f := range m.Fields {
		fmt.Fprintf(&b, "%s=%s;", f.Name, f.Value)
	}
	return b.String()
}

func TestFieldEdits(t *testing.T) {
	start := []string{"A", "1", "b", "2", "a", "3", "C", "4"}
	for name, c := range map[string]struct {
		edit func(*Message)
		want string
	}{
		"add":           {func(m *Message) { m.AddString("a", "9") }, "A=1;b=2;a=3;C=4;a=9;"},
		"set":           {func(m *Message) { m.SetString("A", "9") }, "b=2;C=4;A=9;"},
		"set new":       {func(m *Message) { m.Set("d", []byte("9")) }, "A=1;b=2;a=3;C=4;d=9;"},
		"replace first": {func(m *Message) { m.ReplaceFirst("a", []byte("9")) }, "A=9;b=2;C=4;"},
		"replace none":  {func(m *Message) { m.ReplaceFirst("d", []byte("9")) }, "A=1;b=2;a=3;C=4;d=9;"},
		"replace":       {func(m *Message) { m.Replace(1, []byte("9")) }, "A=1;b=9;a=3;C=4;"},
		"prepend":       {func(m *Message) { m.Prepend("x", []byte("9")) }, "x=9;A=1;b=2;a=3;C=4;"},
		"del":           {func(m *Message) { m.Del("a") }, "b=2;C=4;"},
		"del last":      {func(m *Message) { m.Del("c") }, "A=1;b=2;a=3;"},
		"del none":      {func(m *Message) { m.Del("z") }, "A=1;b=2;a=3;C=4;"},
		"del at":        {func(m *Message) { m.DelAt(0) }, "b=2;a=3;C=4;"},
		"del func":      {func(m *Message) { m.DelFunc(func(f *Field) bool { return f.Value[0] > '2' }) }, "A=1;b=2;"},
	} {
		m := fields(start...)
		c.edit(m)
		if got := dump(m); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	m := fields(start...)
	if v, ok := m.Get("B"); !ok || string(v) != "2" || m.Count("a") != 2 || m.Find("a", 1) != 2 || m.FindLast("a", len(m.Fields)) != 2 ||
		m.FindLast("a", 2) != 0 || m.FindLast("z", 4) != -1 || m.Has("z") || m.Del("a") != 2 {
		t.Error("lookups")
	}
}

func TestEditsDoNotTouchTheViews(t *testing.T) {
	buf := []byte("aaaabbbb")
	m := new(Message)
	m.AddView(buf[:4], buf[4:])
	m.Replace(0, []byte("longer than before"))
	m.AddString("x", "y")
	if string(buf) != "aaaabbbb" {
		t.Errorf("%q", buf)
	}
	m.Detach()
	clear(buf)
	if dump(m) != "aaaa=longer than before;x=y;" {
		t.Error(dump(m))
	}
}

func TestLists(t *testing.T) {
	m := fields("Accept", `a, b;q="x,y" ,, "c\",d"`, "x", "no", "accept", "", "ACCEPT", " e ,")
	var got []string
	for it := m.List("accept"); it.Next(); {
		got = append(got, fmt.Sprintf("%d:%s", it.Index, it.Value))
	}
	if want := []string{"0:a", `0:b;q="x,y"`, `0:"c\",d"`, "3:e"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if !m.HasToken("accept", "E") || m.HasToken("accept", "f") {
		t.Error("HasToken")
	}
	if n := ListElem([]byte(`"open, quote`)); n != 12 {
		t.Errorf("open quote: %d", n)
	}
}

func TestDelToken(t *testing.T) {
	m := fields("Connection", "close", "connection", "a, Close , b", "Connection", "x")
	if n := m.DelToken("connection", "close"); n != 2 || dump(m) != "connection=a, b;Connection=x;" {
		t.Errorf("%d %s", n, dump(m))
	}
}

func TestCookies(t *testing.T) {
	for in, want := range map[string]string{
		`a=1; b=2`:              "a=1|b=2|",
		`a=1;b=2`:               "a=1|b=2|",
		`a=1,b=2`:               "a=1|b=2|",
		`a = 1 ; b = 2`:         "a=1|b=2|",
		`a="x;y"; b=2`:          `a="x;y"|b=2|`,
		`a="x; b=2`:             `a="x; b=2|`,
		`a; b=2`:                "b=2|",
		`=1; b=2`:               "b=2|",
		`a=; b=2`:               "a=|b=2|",
		`; ;a=1;;b=2;`:          "a=1|b=2|",
		`a=1=2; b=x y z `:       "a=1=2|b=x y z|",
		`a=\";b=2`:              `a=\";b=2|`,
		`a=1; $b=2; b=3`:        "a=1|b=3|",
		`a="x\"; b=3"; c=4`:     `a="x\"; b=3"|c=4|`,
		`a='x;b=2'`:             "a='x|b=2'|",
		"a=1\tb=2":              "a=1\tb=2|",
		``:                      "",
		`a="x\`:                 `a="x\|`,
		"a=1\x00; b=2 |cookie2": "a=1\x00|b=2 |cookie2|",
	} {
		m := fields("Cookie", in)
		got := ""
		for it := m.Cookies(); it.Next(); {
			got += string(it.Name) + "=" + string(it.Value) + "|"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	m := fields("Cookie", "a=1; b=2", "x", "y", "cookie", "a=3; c=4")
	if v, ok := m.GetCookie("c"); !ok || string(v) != "4" {
		t.Error("second field")
	}
	if v, _ := m.GetCookie("a"); string(v) != "1" {
		t.Error("first of two")
	}
	if _, ok := m.GetCookie("A"); ok {
		t.Error("names have a case")
	}
}

func TestSetCookies(t *testing.T) {
	m := fields("Set-Cookie", "a=1; Path=/; b=2", "Cookie", "z=1", "set-cookie", "c=3; Expires=Wed, 21-Oct-2025 07:28:00 GMT, d=4", "Set-Cookie", "e")
	m.IsResponse = true
	got := ""
	for it := m.Cookies(); it.Next(); {
		got += fmt.Sprintf("%d:%s=%s[%s]|", it.Index, it.Name, it.Value, it.Attributes)
	}
	if want := "0:a=1[ Path=/; b=2]|2:c=3[ Expires=Wed]|2:d=4[]|"; got != want {
		t.Errorf("%s", got)
	}
}

func TestURI(t *testing.T) {
	for in, want := range map[string]string{
		"/a/b?c=d":               "1|||||/a/b|c=d|true|/a/b?c=d|",
		"/":                      "1|||||/||false|/|",
		"/?":                     "1|||||/||true|/?|",
		"//x/y":                  "1|||||//x/y||false|//x/y|",
		"*":                      "4||||||" + "|false||",
		"http://u:p@h:81/p?q":    "2|http|u:p|h|81|/p|q|true|/p?q|",
		"http://h":               "2|http||h||||false||",
		"http://h?q":             "2|http||h|||q|true|?q|",
		"http://h#f":             "2|http||h||#f||false|#f|f",
		"http://[::1]:80/":       "2|http||[::1]|80|/||false|/|",
		"http://[::1]/":          "2|http||[::1]||/||false|/|",
		"/p#f?q":                 "1|||||/p#f|q|true|/p#f?q|f?q",
		"admin":                  "0||||||" + "|false||",
		"http:/x":                "0||||||" + "|false||",
		"1http://a/":             "0||||||" + "|false||",
		"http://a@b@c:9/":        "2|http|a@b|c|9|/||false|/|",
		"http://h:/":             "2|http||h||/||false|/|",
		"http://h:8x/":           "2|http||h:8x||/||false|/|",
		"ht+tp-1.0://h/x/../y%2": "2|ht+tp-1.0||h||/x/../y%2||false|/x/../y%2|",
	} {
		u := ParseURI([]byte(in), false)
		got := fmt.Sprintf("%d|%s|%s|%s|%s|%s|%s|%v|%s|%s", u.Form, u.Scheme, u.UserInfo, u.Host, u.Port, u.Path, u.Query, u.HasQuery, u.PathQuery, u.Fragment)
		if got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	if u := ParseURI([]byte("h:443"), true); u.Form != FormAuthority || string(u.Host) != "h" || string(u.Port) != "443" || u.Path != nil {
		t.Errorf("%+v", u)
	}
	if u := ParseURI(nil, false); u.Form != FormUnknown {
		t.Error("empty target")
	}
}

func TestTrimDefaultPort(t *testing.T) {
	for in, want := range map[[2]string]string{
		{"http", "h:80"}: "h", {"http", "h:8080"}: "h:8080", {"https", "h:443"}: "h", {"https", "h:80"}: "h:80", {"HTTP", "h:"}: "h",
		{"http", "[::1]:80"}: "[::1]", {"http", "[::1]"}: "[::1]", {"ftp", "h:21"}: "h:21", {"http", "u@h:80"}: "u@h", {"http", "h:080"}: "h:080",
	} {
		if got := TrimDefaultPort([]byte(in[0]), []byte(in[1])); string(got) != want {
			t.Errorf("%v: %s", in, got)
		}
	}
}

func TestTargetEdits(t *testing.T) {
	path := func(s string) func(*Message) { return func(m *Message) { m.SetPath([]byte(s)) } }
	query := func(s string) func(*Message) { return func(m *Message) { m.SetQuery([]byte(s)) } }
	for _, c := range []struct {
		in   string
		edit func(*Message)
		want string
	}{
		{"/a?b", path("/x"), "/x?b"},
		{"/a", path("/x"), "/x"},
		{"/a?", path("/x"), "/x?"},
		{"http://h:81/a?b", path("/x"), "http://h:81/x?b"},
		{"http://h", path("/x"), "http://h/x"},
		{"*", path("/x"), "/x"},
		{"/a?b", query("c"), "/a?c"},
		{"/a", query("c"), "/a?c"},
		{"/a?b", query(""), "/a?"},
		{"/a?b", func(m *Message) { m.SetQuery(nil) }, "/a"},
		{"http://h/a?b", func(m *Message) { m.SetPathQuery([]byte("/x?y")) }, "http://h/x?y"},
		{"/a?b", func(m *Message) { m.SetTarget([]byte("http://z/y")) }, "http://z/y"},
		{"/a?b", func(m *Message) { m.URI(); path("/x")(m); query("y")(m) }, "/x?y"},
	} {
		m := &Message{Target: []byte(c.in)}
		if c.edit(m); string(m.Target) != c.want {
			t.Errorf("%s: %s, want %s", c.in, m.Target, c.want)
		}
		if u := m.URI(); string(u.Path)+string(u.PathQuery) == "" && c.want != "*" {
			t.Errorf("%s: stale parts", c.want)
		}
	}
}

func TestHost(t *testing.T) {
	m := fields("Host", "a:81")
	m.Target = []byte("http://b/")
	if string(m.Host()) != "a:81" {
		t.Errorf("%s", m.Host())
	}
	m.Del("host")
	for target, want := range map[string]string{"http://u@b:82/": "b:82", "http://b/": "b", "/": "", "http://b:/": "b:"} {
		if m.SetTarget([]byte(target)); string(m.Host()) != want {
			t.Errorf("%s: %s", target, m.Host())
		}
	}
}

func TestStartLineEdits(t *testing.T) {
	m := new(Message)
	for k := GET; k <= PATCH; k++ {
		if m.SetMethod([]byte(k.String())); m.Method != k || string(m.MethodName) != k.String() {
			t.Errorf("%v", k)
		}
	}
	if m.SetMethod([]byte("get")); m.Method != MethodOther {
		t.Error("methods have a case")
	}
	for status, want := range map[int]string{100: "Continue", 199: "Informational", 200: "OK", 299: "Success", 302: "Found", 399: "Redirection",
		404: "Not Found", 499: "client has closed connection", 498: "Client Error", 502: "Bad Gateway or Proxy Error", 520: "Web server is returning an unknown error", 599: "Server Error", 600: "Other", 0: "Other", 999: "Other"} {
		if m.SetStatus(status); m.Status != status || string(m.Reason) != want {
			t.Errorf("%d %s", status, m.Reason)
		}
	}
	if m.SetReason([]byte("x")); string(m.Reason) != "x" {
		t.Error("reason")
	}
	if (&Message{Major: 1}).AtLeast11() || !(&Message{Major: 1, Minor: 1}).AtLeast11() || !(&Message{Major: 3}).AtLeast11() {
		t.Error("versions")
	}
	if (&Message{}).HasBody() || (&Message{Framing: Length}).HasBody() || !(&Message{Framing: Chunked}).HasBody() {
		t.Error("bodies")
	}
}

func TestResetKeepsBoundedMemory(t *testing.T) {
	m := fields("a", "b")
	m.AddString("x", strings.Repeat("y", 100000))
	m.Expect100, m.Status, m.Target = true, 200, []byte("/")
	m.Reset()
	if len(m.Fields) != 0 || m.Expect100 || m.Status != 0 || m.Target != nil || cap(m.arena.cur) > arenaKeep {
		t.Errorf("%+v", m)
	}
	if f := m.Fields[:1]; f[0].Name != nil {
		t.Error("a view is kept alive")
	}
	m.AddString("x", "y")
	target := []byte("/a?b")
	if n := testing.AllocsPerRun(100, func() {
		m.Reset()
		m.SetTargetView(target)
		for i := 0; i < 10; i++ {
			m.AddString("x-name", "a value of some bytes")
		}
		m.SetPath([]byte("/longer/path"))
		m.SetString("x-name", "other")
		m.DelToken("x-name", "other")
		m.GetCookie("none")
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestArenaPieces checks that pieces never overlap nor move.
func TestArenaPieces(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	var m Message
	for round := 0; round < 20; round++ {
		m.Reset()
		var got [][]byte
		for i := 0; i < 200; i++ {
			b := m.Alloc(r.Intn(60))
			if len(b) != cap(b) {
				t.Fatal("room behind a piece")
			}
			for k := range b {
				b[k] = byte(i)
			}
			got = append(got, b)
		}
		for i, b := range got {
			if !bytes.Equal(b, bytes.Repeat([]byte{byte(i)}, len(b))) {
				t.Fatalf("piece %d was written to", i)
			}
		}
	}
}
