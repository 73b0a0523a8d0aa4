package statspage

import (
	"encoding/base64"
	"slices"
	"testing"
	"time"

	"weir/internal/engine/statcol"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

func TestOptions(t *testing.T) {
	for uri, want := range map[string]options{
		"/s":                                 {html: true},
		"/s;csv":                             {},
		"/s;json;norefresh":                  {form: statcol.JSON, noRefresh: true},
		"/s;typed":                           {form: statcol.Typed},
		"/s;json-schema":                     {schema: true},
		"/s;up;no-maint":                     {html: true, up: true, noMaint: true},
		"/s;st=DONE?scope=web":               {html: true, outcome: "DONE", scope: "web"},
		"/s;st=<script>":                     {html: true, outcome: "<scr"},
		"/s?scope=web&x=y":                   {html: true, scope: "web"},
		"/s?scope=<b>":                       {html: true},
		"/s?scope=a%0d%0aX:y":                {html: true},
		"/s?scope=0123456789012345678901234": {html: true, scope: "01234567890123456789"},
	} {
		if got := parseOptions([]byte(uri)); got != want {
			t.Errorf("%s: %+v, want %+v", uri, got, want)
		}
	}
}

func TestForm(t *testing.T) {
	o := parseForm([]byte("s=a&s=b%20c&b=web&action=drain&token=x%2fy&other=1"))
	if !slices.Equal(o.servers, []string{"a", "b c"}) || o.backend != "web" || o.action != "drain" || o.token != "x/y" || !o.hasToken || o.empty {
		t.Errorf("%+v", o)
	}
	for body, empty := range map[string]bool{"": false, "s=&b=web": true, "b=": true, "action": true, "token=": false, "%=%&s=%zz": false} {
		if o := parseForm([]byte(body)); o.empty != empty {
			t.Errorf("%q: empty %v", body, o.empty)
		}
	}
}

// Forms of other sites change nothing.
func TestSameSite(t *testing.T) {
	for _, c := range []struct {
		fields [][2]string
		want   bool
	}{
		{nil, true},
		{[][2]string{{"origin", "http://a:8404"}}, true},
		{[][2]string{{"origin", "http://evil"}}, false},
		{[][2]string{{"origin", "null"}}, false},
		{[][2]string{{"origin", "http://a:8404.evil"}}, false},
		{[][2]string{{"referer", "http://a:8404/s"}}, true},
		{[][2]string{{"referer", "http://evil/?http://a:8404/"}}, false},
		{[][2]string{{"origin", "http://evil"}, {"referer", "http://a:8404/s"}}, false},
		{[][2]string{{"sec-fetch-site", "cross-site"}, {"origin", "http://a:8404"}}, false},
		{[][2]string{{"sec-fetch-site", "same-origin"}, {"origin", "http://a:8404"}}, true},
	} {
		m := &msg.Message{}
		m.AddString("host", "a:8404")
		for _, f := range c.fields {
			m.AddString(f[0], f[1])
		}
		if sameSite(m) != c.want {
			t.Errorf("%v: %v", c.fields, !c.want)
		}
	}
}

func TestTokens(t *testing.T) {
	x, y := &page{Conf: &Conf{}, px: &model.Proxy{Name: "p"}}, &page{Conf: &Conf{}, px: &model.Proxy{Name: "q"}}
	if err := x.newKey(); err != nil {
		t.Fatal(err)
	}
	y.key = x.key
	now := time.Unix(1700000000, 0)
	token := x.token(now)
	for age, want := range map[time.Duration]bool{0: true, tokenPeriod: true, 3 * tokenPeriod: false, -3 * tokenPeriod: false} {
		if x.valid(token, now.Add(age)) != want {
			t.Errorf("after %s: %v", age, !want)
		}
	}
	if y.valid(token, now) || x.valid("", now) || x.valid(token[:10], now) {
		t.Error("a token of another page, or a part of one, is accepted")
	}
}

func TestAccounts(t *testing.T) {
	x := &page{Conf: &Conf{Users: []User{{"admin", "pass:word"}, {"ops", "x"}}}}
	for text, want := range map[string]bool{
		"admin:pass:word": true, "ops:x": true, "admin:x": false, "admin": false, "": false, ":": false, "ops:x ": false, "OPS:x": false,
	} {
		for _, name := range []string{"authorization", "proxy-authorization"} {
			m := &msg.Message{}
			m.AddString(name, "basic "+base64.StdEncoding.EncodeToString([]byte(text)))
			if x.authorized(m) != want {
				t.Errorf("%s %q: %v", name, text, !want)
			}
		}
	}
	for _, v := range []string{"", "Basic", "Basic !", "Bearer b3BzOng=", "b3BzOng="} {
		m := &msg.Message{}
		m.AddString("authorization", v)
		if x.authorized(m) {
			t.Errorf("%q is accepted", v)
		}
	}
}
