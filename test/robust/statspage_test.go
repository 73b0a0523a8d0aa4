package robust

import (
	"fmt"
	"strings"
	"testing"
)

// The statistics page shows texts of requests and of the configuration: none of them may become markup or a header field.
func TestStatsPageHostile(t *testing.T) {
	c := rules("stats enable", "stats uri /s", "stats admin if TRUE", "stats show-legends", `stats show-desc "<i>mark</i>"`, `stats show-node "<i>mark</i>"`)
	advisory(t, c, func(s *scene) {
		hostile := []string{
			"/s;st=<i>mark", "/s;st=DONE<i>mark", "/s?scope=<i>mark</i>", "/s;up?scope=\"><i>mark", "/s?scope=%3Ci%3Emark", "/s/<i>mark",
			"/s;csv?scope='<i>mark", "/s;json?scope=\\u003ci>mark", "/s;st=%0d%0aX-Mark:y?scope=a%0d%0aX-Mark:y",
		}
		for _, target := range hostile {
			a, _ := s.ask("GET " + target + " HTTP/1.1\r\nHost: a\r\nReferer: <i>mark</i>\r\nCookie: <i>mark</i>\r\n\r\n")
			if a.status != "200" || strings.Contains(a.body, "<i>mark") && !strings.Contains(target, "json") || strings.Contains(strings.ToLower(a.head), "x-mark") {
				s.Errorf("%s: %s, %.300q", target, a.status, a.body)
			}
		}
		a, _ := s.ask(get("/s") + "\r\n\r\n")
		if !strings.Contains(a.body, "&lt;i&gt;mark&lt;/i&gt;") || a.field("content-security-policy") == "" {
			s.Errorf("the description is not shown as text: %.2000q", a.body)
		}
		for _, p := range []struct{ target, fields, body, to string }{
			{"/s", "", "s=s1&b=b&action=maint&x=<i>mark", "/s;st=DONE"},
			{"/s", "", "s=s1&b=b&action=ready", "/s;st=DONE"},
			{"/s", "\r\nOrigin: http://evil", "s=s1&b=b&action=maint", "/s;st=DENY"},
			{"/s", "\r\nSec-Fetch-Site: cross-site", "s=s1&b=b&action=maint", "/s;st=DENY"},
			{"/s", "", "s=s1&b=b&action=maint&token=<i>mark", "/s;st=DENY"},
			{"/s", "", "s=nobody&b=b&action=maint", "/s;st=ERRP"},
			{"/s", "", "s=s1&b=b&action=<i>mark", "/s;st=ERRP"},
			{"/s", "", "s=s1&b=%00&action=maint", "/s;st=ERRP"},
			{"/s?scope=l%0d%0aX-Mark:y", "", "", "/s;st=NONE"},
			{"/s", "", strings.Repeat("s=s1&", 8000) + "b=b&action=maint", "/s;st=EXCD"},
		} {
			request := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: a%s\r\nContent-Length: %d\r\n\r\n%s", p.target, p.fields, len(p.body), p.body)
			if a, _ := s.ask(request); a.status != "303" || a.field("location") != p.to || strings.Contains(strings.ToLower(a.head), "x-mark") {
				s.Errorf("%.100q: %s %s, want %s", request, a.status, a.field("location"), p.to)
			}
		}
	})
}
