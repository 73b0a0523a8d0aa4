package sys

import (
	"encoding/binary"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"weir/internal/base/buf"
)

func nativeU16(b []byte) uint16       { return binary.NativeEndian.Uint16(b) }
func putNativeU16(b []byte, v uint16) { binary.NativeEndian.PutUint16(b, v) }
func putNativeU32(b []byte, v uint32) { binary.NativeEndian.PutUint32(b, v) }

// Addr is the address of the first byte of b, for kernel structures. b must not be empty, and must stay reachable
// until the kernel is done with it.
func Addr(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

// Addr is the address of s, for kernel structures.
func (s *SockAddr) Addr() uint64 { return uint64(uintptr(unsafe.Pointer(&s.b))) }

// Len is the length of the address in bytes.
func (s *SockAddr) Len() uint32 { return s.len }

// Room makes s ready to be filled in by the kernel and returns the address of its length.
func (s *SockAddr) Room() uint64 {
	s.len = uint32(len(s.b))
	return uint64(uintptr(unsafe.Pointer(&s.len)))
}

func result(r uintptr, e unix.Errno) int {
	if e != 0 {
		return -int(e)
	}
	return int(r)
}

// RawRecv receives into b without blocking.
func RawRecv(fd int, b []byte, flags int) int {
	r, _, e := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), uintptr(flags|unix.MSG_DONTWAIT), 0, 0)
	return result(r, e)
}

// RawSend sends b without blocking and without SIGPIPE.
func RawSend(fd int, b []byte, flags int) int {
	r, _, e := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), uintptr(flags|unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL), 0, 0)
	return result(r, e)
}

// RawSendTo sends one datagram to an address without blocking; a nil address means that the socket is connected.
func RawSendTo(fd int, b []byte, to *SockAddr, flags int) int {
	var p unsafe.Pointer
	var n uint32
	if to != nil {
		p, n = unsafe.Pointer(&to.b), to.len
	}
	r, _, e := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), uintptr(flags|unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL), uintptr(p), uintptr(n))
	runtime.KeepAlive(to)
	return result(r, e)
}

// RawRead and RawWrite are read(2) and write(2) on a non-blocking descriptor.
func RawRead(fd int, b []byte) int {
	r, _, e := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	return result(r, e)
}

// RawWrite is write(2) on a non-blocking descriptor.
func RawWrite(fd int, b []byte) int {
	r, _, e := unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	return result(r, e)
}

// MaxVec is how many buffers one Vec holds.
const MaxVec = 16

// Vec is a message header with its vector. It is passed to the kernel by address, so it must live in the heap or in
// mapped memory; it must not change before the kernel has consumed it.
type Vec struct {
	hdr unix.Msghdr
	iov [MaxVec]unix.Iovec
}

// Fill points v at the unread bytes of b and of the buffers queued after it, MaxVec at most, and returns their number
// and the number of bytes. Empty buffers are skipped.
func (v *Vec) Fill(b *buf.Buf) (n, bytes int) {
	for ; b != nil && n < MaxVec; b = b.Next() {
		p := b.Bytes()
		if len(p) == 0 {
			continue
		}
		v.iov[n].Base = unsafe.SliceData(p)
		v.iov[n].SetLen(len(p))
		bytes += len(p)
		n++
	}
	v.hdr.Iov = &v.iov[0]
	v.hdr.SetIovlen(n)
	return n, bytes
}

// Addr is the address of the message header.
func (v *Vec) Addr() uint64 { return uint64(uintptr(unsafe.Pointer(&v.hdr))) }

// RawSendVec is sendmsg(2) with v, without blocking and without SIGPIPE.
func RawSendVec(fd int, v *Vec, flags int) int {
	r, _, e := unix.RawSyscall(unix.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(&v.hdr)), uintptr(flags|unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL))
	return result(r, e)
}

// RawReadv and RawWritev are readv(2) and writev(2) on a non-blocking descriptor.
func RawReadv(fd int, v *Vec) int {
	r, _, e := unix.RawSyscall(unix.SYS_READV, uintptr(fd), uintptr(unsafe.Pointer(&v.iov[0])), uintptr(v.hdr.Iovlen))
	return result(r, e)
}

// RawWritev is writev(2) on a non-blocking descriptor.
func RawWritev(fd int, v *Vec) int {
	r, _, e := unix.RawSyscall(unix.SYS_WRITEV, uintptr(fd), uintptr(unsafe.Pointer(&v.iov[0])), uintptr(v.hdr.Iovlen))
	return result(r, e)
}

// RawAccept accepts a connection from a non-blocking listener; flags are SOCK_NONBLOCK and SOCK_CLOEXEC. peer, if not
// nil, gets the other side's address.
func RawAccept(fd int, peer *SockAddr, flags int) int {
	var p, n unsafe.Pointer
	if peer != nil {
		peer.len = uint32(len(peer.b))
		p, n = unsafe.Pointer(&peer.b), unsafe.Pointer(&peer.len)
	}
	r, _, e := unix.RawSyscall6(unix.SYS_ACCEPT4, uintptr(fd), uintptr(p), uintptr(n), uintptr(flags), 0, 0)
	runtime.KeepAlive(peer)
	return result(r, e)
}

// RawConnect is connect(2) on a non-blocking socket.
func RawConnect(fd int, a *SockAddr) int {
	r, _, e := unix.RawSyscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&a.b)), uintptr(a.len))
	runtime.KeepAlive(a)
	return result(r, e)
}

// RawBind is bind(2).
func RawBind(fd int, a *SockAddr) int {
	r, _, e := unix.RawSyscall(unix.SYS_BIND, uintptr(fd), uintptr(unsafe.Pointer(&a.b)), uintptr(a.len))
	runtime.KeepAlive(a)
	return result(r, e)
}

// RawPeer asks for the other side's address.
func RawPeer(fd int, a *SockAddr) int { return name(unix.SYS_GETPEERNAME, fd, a) }

// RawName asks for the socket's own address.
func RawName(fd int, a *SockAddr) int { return name(unix.SYS_GETSOCKNAME, fd, a) }

func name(call uintptr, fd int, a *SockAddr) int {
	a.len = uint32(len(a.b))
	r, _, e := unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(&a.b)), uintptr(unsafe.Pointer(&a.len)))
	runtime.KeepAlive(a)
	if e != 0 {
		a.len = 0
	}
	return result(r, e)
}

// RawShutdown is shutdown(2).
func RawShutdown(fd, how int) int {
	r, _, e := unix.RawSyscall(unix.SYS_SHUTDOWN, uintptr(fd), uintptr(how), 0)
	return result(r, e)
}

// RawClose is close(2), for descriptors whose closing does not block (sockets without SO_LINGER, pipes).
func RawClose(fd int) int {
	r, _, e := unix.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0)
	return result(r, e)
}

// RawSocket is socket(2).
func RawSocket(family, kind, proto int) int {
	r, _, e := unix.RawSyscall(unix.SYS_SOCKET, uintptr(family), uintptr(kind), uintptr(proto))
	return result(r, e)
}

// RawSetInt sets a socket option with a 32-bit value.
func RawSetInt(fd, level, opt, value int) int {
	v := int32(value)
	r, _, e := unix.RawSyscall6(unix.SYS_SETSOCKOPT, uintptr(fd), uintptr(level), uintptr(opt), uintptr(unsafe.Pointer(&v)), 4, 0)
	return result(r, e)
}

// RawGetInt reads a socket option with a 32-bit value; err is 0 or a negated errno.
func RawGetInt(fd, level, opt int) (value, err int) {
	var v int32
	n := uint32(4)
	_, _, e := unix.RawSyscall6(unix.SYS_GETSOCKOPT, uintptr(fd), uintptr(level), uintptr(opt), uintptr(unsafe.Pointer(&v)), uintptr(unsafe.Pointer(&n)), 0)
	return int(v), result(0, e)
}

// RawLingerZero sets SO_LINGER to zero seconds: closing resets the connection.
func RawLingerZero(fd int) int {
	l := unix.Linger{Onoff: 1}
	r, _, e := unix.RawSyscall6(unix.SYS_SETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_LINGER, uintptr(unsafe.Pointer(&l)), unsafe.Sizeof(l), 0)
	return result(r, e)
}

// RawNonblock sets or clears O_NONBLOCK.
func RawNonblock(fd int, on bool) int {
	r, _, e := unix.RawSyscall(unix.SYS_FCNTL, uintptr(fd), unix.F_GETFL, 0)
	if e != 0 {
		return -int(e)
	}
	fl := r &^ unix.O_NONBLOCK
	if on {
		fl |= unix.O_NONBLOCK
	}
	if fl == r {
		return 0
	}
	_, _, e = unix.RawSyscall(unix.SYS_FCNTL, uintptr(fd), unix.F_SETFL, fl)
	return result(0, e)
}

// RawSplice moves up to n bytes between a pipe and a socket without blocking.
func RawSplice(from, to, n int) int {
	r, _, e := unix.RawSyscall6(unix.SYS_SPLICE, uintptr(from), 0, uintptr(to), 0, uintptr(n), unix.SPLICE_F_MOVE|unix.SPLICE_F_NONBLOCK)
	return result(r, e)
}

// RawEpollAdd, RawEpollMod and RawEpollDel change an epoll set; data comes back with the events.
func RawEpollAdd(ep, fd int, events uint32, data int32) int {
	return epollCtl(ep, unix.EPOLL_CTL_ADD, fd, events, data)
}

// RawEpollMod changes the events of a descriptor.
func RawEpollMod(ep, fd int, events uint32, data int32) int {
	return epollCtl(ep, unix.EPOLL_CTL_MOD, fd, events, data)
}

// RawEpollDel takes a descriptor out.
func RawEpollDel(ep, fd int) int { return epollCtl(ep, unix.EPOLL_CTL_DEL, fd, 0, 0) }

func epollCtl(ep, op, fd int, events uint32, data int32) int {
	ev := unix.EpollEvent{Events: events, Fd: data}
	r, _, e := unix.RawSyscall6(unix.SYS_EPOLL_CTL, uintptr(ep), uintptr(op), uintptr(fd), uintptr(unsafe.Pointer(&ev)), 0, 0)
	return result(r, e)
}

// RawEpollWait collects events without waiting.
func RawEpollWait(ep int, ev []unix.EpollEvent) int {
	r, _, e := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(ep), uintptr(unsafe.Pointer(unsafe.SliceData(ev))), uintptr(len(ev)), 0, 0, 0)
	return result(r, e)
}

// sysEpollPwait2 waits with nanoseconds; Linux 5.11.
const sysEpollPwait2 = 441

// EpollNap waits for events for a short time, without telling the Go scheduler; ENOSYS on old kernels.
func EpollNap(ep int, ev []unix.EpollEvent, ns int64) int {
	ts := unix.NsecToTimespec(ns)
	r, _, e := unix.RawSyscall6(sysEpollPwait2, uintptr(ep), uintptr(unsafe.Pointer(unsafe.SliceData(ev))), uintptr(len(ev)), uintptr(unsafe.Pointer(&ts)), 0, 0)
	return result(r, e)
}

// EpollWait waits for events, msec milliseconds at most, -1 = without end.
func EpollWait(ep int, ev []unix.EpollEvent, msec int) int {
	r, _, e := unix.Syscall6(unix.SYS_EPOLL_PWAIT, uintptr(ep), uintptr(unsafe.Pointer(unsafe.SliceData(ev))), uintptr(len(ev)), uintptr(msec), 0, 0)
	return result(r, e)
}

// mmsghdr is the element of the array that sendmmsg(2) walks over.
type mmsghdr struct {
	hdr unix.Msghdr
	n   uint32
	_   [4]byte
}

// Batch collects datagrams for one sendmmsg(2). It must live in the heap.
type Batch struct {
	hdr []mmsghdr
	iov []unix.Iovec
}

// NewBatch makes a batch for up to n datagrams.
func NewBatch(n int) *Batch {
	return &Batch{hdr: make([]mmsghdr, 0, n), iov: make([]unix.Iovec, n)}
}

// Add appends a datagram to the given address (nil on a connected socket) and reports whether there was room. p and to
// must stay unchanged until Send.
func (b *Batch) Add(p []byte, to *SockAddr) bool {
	i := len(b.hdr)
	if i == cap(b.hdr) || len(p) == 0 {
		return false
	}
	b.hdr = b.hdr[:i+1]
	b.iov[i].Base = unsafe.SliceData(p)
	b.iov[i].SetLen(len(p))
	h := &b.hdr[i]
	*h = mmsghdr{}
	h.hdr.Iov = &b.iov[i]
	h.hdr.SetIovlen(1)
	if to != nil {
		h.hdr.Name = (*byte)(unsafe.Pointer(&to.b))
		h.hdr.Namelen = to.len
	}
	return true
}

// Send sends what was added, without blocking, and empties the batch. It returns how many datagrams the kernel took.
func (b *Batch) Send(fd int) int {
	if len(b.hdr) == 0 {
		return 0
	}
	r, _, e := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(fd), uintptr(unsafe.Pointer(&b.hdr[0])), uintptr(len(b.hdr)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
	b.hdr = b.hdr[:0]
	return result(r, e)
}
