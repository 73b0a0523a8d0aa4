package sock

import (
	"golang.org/x/sys/unix"
)

// Info asks the kernel what it knows of a TCP connection; false when it does not say.
func (c *Conn) Info() (*unix.TCPInfo, bool) {
	info, err := unix.GetsockoptTCPInfo(int(c.file.Fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	return info, err == nil
}

// SetMark marks the packets of the connection (SO_MARK); it needs CAP_NET_ADMIN.
func (c *Conn) SetMark(mark uint32) {
	unix.SetsockoptInt(int(c.file.Fd), unix.SOL_SOCKET, unix.SO_MARK, int(mark))
}

// SetTOS sets the type of service, or traffic class, of the connection's packets.
func (c *Conn) SetTOS(tos uint8) {
	fd := int(c.file.Fd)
	if p := c.Peer(); p.Addr().Is4() || p.Addr().Is4In6() {
		unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_TOS, int(tos))
		return
	}
	unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_TCLASS, int(tos))
}

// Vanish prepares the connection to be closed without telling the peer: in repair mode, where the process may, else with a
// reset whose packets have a time to live of ttl hops (0: one) and do not get far.
func (c *Conn) Vanish(ttl int) {
	fd := int(c.file.Fd)
	if ttl == 0 && unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_REPAIR, 1) == nil {
		return
	}
	if ttl == 0 {
		ttl = 1
	}
	unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_TTL, ttl)
	unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_UNICAST_HOPS, ttl)
	unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
}

// SavedSYN is the packet that began the connection, when the listening socket was told to keep it (TCP_SAVE_SYN); false
// for another protocol than TCP.
func (c *Conn) SavedSYN() ([]byte, bool) {
	s, err := unix.GetsockoptString(int(c.file.Fd), unix.IPPROTO_TCP, unix.TCP_SAVED_SYN)
	return []byte(s), err == nil
}
