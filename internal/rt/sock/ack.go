package sock

import "golang.org/x/sys/unix"

// DelayAck lets the acknowledgement of what was received travel with the answer (TCP_QUICKACK off). It is a hint: where
// it cannot be set, the connection works all the same.
func (c *Conn) DelayAck() {
	_ = unix.SetsockoptInt(int(c.file.Fd), unix.IPPROTO_TCP, unix.TCP_QUICKACK, 0)
}
