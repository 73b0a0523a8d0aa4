package statcol

import (
	"strconv"

	"weir/internal/base/addr"
	"weir/internal/model"
)

// serverAddr is the column "addr" of a server.
func serverAddr(s *model.Server) string {
	if s.Addr.Family == addr.Unix || s.Addr.Family == addr.Abstract {
		return "unix"
	}
	return addrPort(s.Addr, s.Addr.Port)
}

func addrPort(a addr.Addr, port int) string {
	if !a.IP.IsValid() {
		return ""
	}
	if a.IP.Is6() {
		return "[" + a.IP.String() + "]:" + strconv.Itoa(port)
	}
	return a.IP.String() + ":" + strconv.Itoa(port)
}

func bindAddr(b *model.Bind) string {
	a := b.Addrs[0]
	if !a.Family.IsIP() {
		return "unix"
	}
	return addrPort(a, a.Port)
}

func bindProto(b *model.Bind) string {
	switch a := b.Addrs[0]; {
	case !a.Family.IsIP():
		return "unix_stream"
	case a.IP.Is6():
		return "tcpv6"
	}
	return "tcpv4"
}
