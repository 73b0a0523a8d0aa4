package cliadmin

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"weir/internal/engine/server"
	"weir/internal/feat/cli"
)

// setAddr moves a server: "addr <ip> [port <port>]".
func setAddr(c *cli.Context, s *server.Server) {
	text := c.Arg(2)
	if text == "" {
		c.Err("set server <b>/<s> addr requires an address and optionally a port.")
		return
	}
	now := s.Addr()
	if !now.IsValid() || s.MapAddr {
		c.Err("Update for the current server address family is only supported through configuration file.")
		return
	}
	ip, err := netip.ParseAddr(text)
	if err != nil {
		c.Err("Invalid addr '%s'", text)
		return
	}
	port := now.Port()
	if c.Arg(3) == "port" {
		n, err := strconv.ParseUint(c.Arg(4), 10, 16)
		switch {
		case c.Arg(4) != "" && strings.IndexByte("+-", c.Arg(4)[0]) >= 0:
			c.Err("A port that follows the client's is known to HAProxy, not in weir yet.")
			return
		case err != nil:
			c.Err("problem converting port '%s' to an int", c.Arg(4))
			return
		}
		port = uint16(n)
	}
	to := netip.AddrPortFrom(ip.Unmap(), port)
	var changes []string
	if to.Addr() != now.Addr() {
		changes = append(changes, fmt.Sprintf("IP changed from '%s' to '%s'", now.Addr(), to.Addr()))
	}
	if to.Port() != now.Port() {
		changes = append(changes, fmt.Sprintf("port changed from '%d' to '%d'", now.Port(), to.Port()))
	}
	if changes == nil {
		c.Msg(cli.SevInfo, "nothing changed")
		return
	}
	s.SetAddr(to)
	c.Msg(cli.SevNotice, "%s by 'stats socket command'", strings.Join(changes, ", "))
}
