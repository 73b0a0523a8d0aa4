package statcol

import (
	"net/netip"
	"strconv"

	"weir/internal/base/addr"
	"weir/internal/engine/server"
	"weir/internal/model"
)

// serverAddr is the column "addr" of a server.
func serverAddr(s *server.Server) string {
	if f := s.Conf.Addr.Family; f == addr.Unix || f == addr.Abstract {
		return "unix"
	}
	if a := s.Addr(); a.IsValid() {
		return a.String()
	}
	return addrPort(s.Conf.Addr, s.Conf.Addr.Port)
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

// bound is the address of a bind line, its first one; not valid in the unix domain. own may be nil.
func bound(b *model.Bind, own *BindLine) netip.AddrPort {
	a := b.Addrs[0]
	switch {
	case a.Family.IsIP():
		return netip.AddrPortFrom(a.IP, uint16(a.Port))
	case own != nil:
		return own.Addr
	}
	return netip.AddrPort{}
}

func bindAddr(a netip.AddrPort) string {
	if !a.IsValid() {
		return "unix"
	}
	return a.String()
}

func bindProto(a netip.AddrPort) string {
	switch {
	case !a.IsValid():
		return "unix_stream"
	case a.Addr().Is6():
		return "tcpv6"
	}
	return "tcpv4"
}
