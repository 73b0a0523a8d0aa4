package conv

import (
	"net/netip"

	"weir/internal/lang/sample"
	"weir/internal/model"
)

// ipmask treats an IPv6 address that stands for an IPv4 one as the latter.
func ipmask(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
	if ip, ok := sample.V4Of(v.IP); ok {
		x, m := ip.As4(), a[0].Addr.As4()
		for i := range x {
			x[i] &= m[i]
		}
		return v.SetIP(netip.AddrFrom4(x))
	}
	if len(a) < 2 {
		return false
	}
	x, m := v.IP.As16(), a[1].Addr.As16()
	for i := range x {
		x[i] &= m[i]
	}
	return v.SetIP(netip.AddrFrom16(x))
}
