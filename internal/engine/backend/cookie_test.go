package backend

import (
	"net/netip"
	"testing"

	"weir/internal/engine/server"
	"weir/internal/model"
)

// Values that the reference makes for the same addresses and keys: clients keep their cookies when the program changes.
func TestDynamicCookie(t *testing.T) {
	for addr, want := range map[string]string{"127.0.0.1:46745": "21901d3f17a13461", "127.0.0.1:45847": "01041accc75bd021", "127.0.0.1:18084": "36c9ba385d885743"} {
		if got := dynamicCookie(netip.MustParseAddrPort(addr), "abc"); got != want {
			t.Errorf("%s: %s, want %s", addr, got, want)
		}
	}
}

func TestCookiesOfServers(t *testing.T) {
	list := []*server.Server{server.New(&model.Server{Name: "a"}, 1), server.New(&model.Server{Name: "b", Cookie: "bb"}, 1)}
	for _, s := range list {
		s.Connect.Addr = netip.MustParseAddrPort("127.0.0.1:18084")
	}
	b := New(&model.Proxy{Persist: &model.Persistence{Dynamic: true}}, list, 1)
	check := func(step, want string) {
		t.Helper()
		if got := list[0].Cookie(); got != want || list[1].Cookie() != "bb" {
			t.Errorf("%s: %q and %q, want %q and bb", step, got, list[1].Cookie(), want)
		}
		if want != "" && b.ByCookie([]byte(want)) != list[0] || b.ByCookie([]byte("bb")) != list[1] || b.ByCookie(nil) != nil {
			t.Errorf("%s: cookies are not found", step)
		}
	}
	check("without a key", "")
	b.SetCookieKey("abc")
	check("with a key", "36c9ba385d885743")
	list[0].Connect.Addr = netip.MustParseAddrPort("127.0.0.1:46745")
	b.RenewCookie(list[0])
	check("at another address", "21901d3f17a13461")
	b.SetDynamicCookies(false)
	check("turned off", "")
	b.SetDynamicCookies(true)
	check("turned on", "21901d3f17a13461")
}
