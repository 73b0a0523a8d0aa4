package sock

import "golang.org/x/sys/unix"

// DelayAck lets the acknowledgement of what was received travel with the answer (TCP_QUICKACK off). It is a hint: where
// it cannot be set, the connection works all the same.
func (c *Conn) DelayAck() {
	_ = unix.SetsockoptInt(int(c.file.Fd), unix.IPPROTO_TCP, unix.TCP_QUICKACK, 0)
}

// AckNow acknowledges what was received, once: the other side may wait for that before it sends more.
func (c *Conn) AckNow() {
	_ = unix.SetsockoptInt(int(c.file.Fd), unix.IPPROTO_TCP, unix.TCP_QUICKACK, 1)
}

// Acked is how many bytes the other side has acknowledged since the connection began, 0 where the kernel does not tell.
// It costs a system call and memory: it is for the moment in which a timeout is about to be applied.
func (c *Conn) Acked() uint64 {
	info, err := unix.GetsockoptTCPInfo(int(c.file.Fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return 0
	}
	return info.Bytes_acked
}
