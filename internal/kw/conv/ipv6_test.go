package conv

import (
	"net/netip"
	"strings"
	"testing"
)

// FuzzIPv6 compares the parser with that of the standard library.
func FuzzIPv6(f *testing.F) {
	for _, s := range []string{"", ":", "::", ":::", "::1", "1::", "1::2", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8:9", "1:2:3:4::5:6:7:8",
		"12345::", "1::2::3", "1:", ":1", "abcd:EF01::", "1:2:3:4:5:6:7:", "::1:", ":1::2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.Trim(s, "0123456789abcdefABCDEF:") != "" {
			return
		}
		want, err := netip.ParseAddr(s)
		got, ok := parseIPv6([]byte(s))
		if ok != (err == nil) || ok && got != want {
			t.Errorf("%q = %v %v, want %v %v", s, got, ok, want, err)
		}
	})
}
