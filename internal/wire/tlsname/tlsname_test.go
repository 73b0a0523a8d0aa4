package tlsname

import (
	"crypto/tls"
	"testing"
)

// TestAllSuites: every suite of crypto/tls has a name and a size.
func TestAllSuites(t *testing.T) {
	for _, list := range [][]*tls.CipherSuite{tls.CipherSuites(), tls.InsecureCipherSuites()} {
		for _, c := range list {
			if s, a := Bits(c.ID); Cipher(c.ID) == "" || s < 112 || a < s {
				t.Errorf("%s: %q %d %d", c.Name, Cipher(c.ID), s, a)
			}
		}
	}
	for _, v := range []uint16{tls.VersionTLS10, tls.VersionTLS11, tls.VersionTLS12, tls.VersionTLS13} {
		if Version(v) == "" {
			t.Error(v)
		}
	}
	for _, g := range []tls.CurveID{tls.CurveP256, tls.CurveP384, tls.CurveP521, tls.X25519, tls.X25519MLKEM768, tls.SecP256r1MLKEM768, tls.SecP384r1MLKEM1024} {
		if Group(uint16(g)) == "" {
			t.Error(g)
		}
	}
}
