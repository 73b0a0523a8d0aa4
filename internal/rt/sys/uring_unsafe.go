package sys

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Ring is one io_uring instance. Everything but NewRing must be called on one thread, the one that calls Enable.
type Ring struct {
	fd      int
	enterFd uintptr
	flags   uintptr // of every enter
	p       ringParams

	mem, sqeMem []byte
	sqes        []SQE
	cqes        []CQE
	sqHead      *uint32
	sqTail      *uint32
	sqFlags     *uint32
	cqHead      *uint32
	cqTail      *uint32
	cqOver      *uint32
	sqMask      uint32
	cqMask      uint32
	tail        uint32 // entries handed out
	sent        uint32 // of which the kernel has consumed
	head        uint32 // completions consumed

	ts  unix.Timespec
	arg struct {
		sigmask   uint64
		sigmaskSz uint32
		minWait   uint32
		ts        uint64
	}
}

// needed is what a ring must be able to do.
const needed = featSingleMmap | featNoDrop | featSubmitStable | featExtArg | featCQESkip

// NewRing makes a ring with room for the given numbers of submissions and completions, disabled until Enable. It
// fails where the kernel lacks, or forbids, what is needed.
func NewRing(sq, cq uint32) (*Ring, error) {
	r := &Ring{}
	base := uint32(SetupCQSize | SetupClamp | SetupRDisabled | SetupSubmitAll | SetupTaskrunFlag | SetupSingleIssuer | SetupDeferTaskrun)
	fd, err := -1, error(nil)
	for _, extra := range []uint32{SetupNoSQArray, 0} {
		r.p = ringParams{flags: base | extra, cqEntries: cq}
		n, _, e := unix.Syscall(sysSetup, uintptr(sq), uintptr(unsafe.Pointer(&r.p)), 0)
		if e == 0 {
			fd, err = int(n), nil
			break
		}
		if err = fmt.Errorf("io_uring_setup: %w", e); e != unix.EINVAL {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	r.fd = fd
	if r.p.features&needed != needed {
		unix.Close(fd)
		return nil, fmt.Errorf("io_uring: kernel features %#x are not enough, need %#x", r.p.features, needed)
	}
	if err := r.mapMemory(); err != nil {
		r.Close()
		return nil, fmt.Errorf("io_uring: mapping the ring: %w", err)
	}
	r.enterFd, r.flags = uintptr(fd), enterGetEvents
	return r, nil
}

func (r *Ring) mapMemory() (err error) {
	size := max(int(r.p.cq.cqes+r.p.cqEntries*16), int(r.p.sq.array+r.p.sqEntries*4))
	if r.mem, err = unix.Mmap(r.fd, offSQRing, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE); err != nil {
		return err
	}
	if r.sqeMem, err = unix.Mmap(r.fd, offSQEs, int(r.p.sqEntries)*64, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE); err != nil {
		return err
	}
	word := func(off uint32) *uint32 { return (*uint32)(unsafe.Pointer(&r.mem[off])) }
	r.sqes = unsafe.Slice((*SQE)(unsafe.Pointer(&r.sqeMem[0])), r.p.sqEntries)
	r.cqes = unsafe.Slice((*CQE)(unsafe.Pointer(&r.mem[r.p.cq.cqes])), r.p.cqEntries)
	r.sqHead, r.sqTail, r.sqFlags = word(r.p.sq.head), word(r.p.sq.tail), word(r.p.sq.flags)
	r.cqHead, r.cqTail, r.cqOver = word(r.p.cq.head), word(r.p.cq.tail), word(r.p.cq.overflow)
	r.sqMask, r.cqMask = *word(r.p.sq.mask), *word(r.p.cq.mask)
	if r.p.flags&SetupNoSQArray == 0 {
		arr := unsafe.Slice(word(r.p.sq.array), r.p.sqEntries)
		for i := range arr {
			arr[i] = uint32(i)
		}
	}
	r.tail = *r.sqTail
	r.sent = r.tail
	r.head = *r.cqHead
	return nil
}

// Probe asks whether the kernel knows all of the given operation codes.
func (r *Ring) Probe(ops ...uint8) error {
	var p struct {
		last, n uint8
		_       uint16
		_       [3]uint32
		ops     [64]struct {
			op, _ uint8
			flags uint16
			_     uint32
		}
	}
	if err := r.register(regProbe, unsafe.Pointer(&p), uint32(len(p.ops))); err != nil {
		return err
	}
	for _, op := range ops {
		if op > p.last || p.ops[op].flags&1 == 0 {
			return fmt.Errorf("io_uring: operation %d is not supported", op)
		}
	}
	return nil
}

// Enable binds the ring to the calling thread and lets it run.
func (r *Ring) Enable() error {
	if err := r.register(regEnableRings, nil, 0); err != nil {
		return err
	}
	up := struct {
		offset, _ uint32
		data      uint64
	}{offset: ^uint32(0), data: uint64(r.fd)}
	// A registered ring descriptor spares a reference count at each entry; it is not essential.
	n, _, e := unix.Syscall6(sysRegister, uintptr(r.fd), regRingFds, uintptr(unsafe.Pointer(&up)), 1, 0, 0)
	if e == 0 && n == 1 {
		r.enterFd = uintptr(up.offset)
		r.flags |= enterRegistered
	}
	return nil
}

func (r *Ring) register(op uintptr, arg unsafe.Pointer, n uint32) error {
	_, _, e := unix.Syscall6(sysRegister, uintptr(r.fd), op, uintptr(arg), uintptr(n), 0, 0)
	if e != 0 {
		return fmt.Errorf("io_uring_register %d: %w", op, e)
	}
	return nil
}

// Close frees the ring. The caller has made sure that no operation is under way.
func (r *Ring) Close() error {
	var err error
	for _, m := range []*[]byte{&r.mem, &r.sqeMem} {
		if *m != nil {
			err = errors.Join(err, unix.Munmap(*m))
			*m = nil
		}
	}
	r.sqes, r.cqes = nil, nil
	return errors.Join(err, unix.Close(r.fd))
}

// Slots is the size of the submission queue.
func (r *Ring) Slots() uint32 { return r.p.sqEntries }

// Next hands out the next submission entry, cleared, or nil when the queue is full.
func (r *Ring) Next() *SQE {
	if r.tail-r.sent >= r.p.sqEntries {
		return nil
	}
	s := &r.sqes[r.tail&r.sqMask]
	*s = SQE{}
	r.tail++
	return s
}

// Pending is how many entries wait to be submitted.
func (r *Ring) Pending() uint32 { return r.tail - r.sent }

// Mark is the running number of the next entry; Consumed tells whether the kernel has taken the entry with number n.
func (r *Ring) Mark() uint32 { return r.tail }

// Consumed tells whether the kernel has taken the entry that had running number n.
func (r *Ring) Consumed(n uint32) bool { return int32(r.sent-n) > 0 }

// Enter submits what is pending and collects completions without waiting. It returns a negated errno or 0.
func (r *Ring) Enter() int {
	n := r.tail - r.sent
	atomic.StoreUint32(r.sqTail, r.tail)
	got, _, e := unix.RawSyscall6(sysEnter, r.enterFd, uintptr(n), 0, r.flags, 0, 0)
	return r.entered(got, e)
}

// Submit hands what is pending to the kernel without running completion work.
func (r *Ring) Submit() int {
	n := r.tail - r.sent
	if n == 0 {
		return 0
	}
	atomic.StoreUint32(r.sqTail, r.tail)
	got, _, e := unix.RawSyscall6(sysEnter, r.enterFd, uintptr(n), 0, r.flags&^enterGetEvents, 0, 0)
	return r.entered(got, e)
}

// Wait submits what is pending and waits for one completion, for ns nanoseconds at most, without end when ns is
// negative. It returns a negated errno (ETIME when the time passed) or 0.
func (r *Ring) Wait(ns int64) int {
	n := r.limit(ns)
	got, _, e := unix.Syscall6(sysEnter, r.enterFd, n, 1, r.flags|enterExtArg, uintptr(unsafe.Pointer(&r.arg)), unsafe.Sizeof(r.arg))
	return r.entered(got, e)
}

// Nap is Wait for a short time, without telling the Go scheduler.
func (r *Ring) Nap(ns int64) int {
	n := r.limit(ns)
	got, _, e := unix.RawSyscall6(sysEnter, r.enterFd, n, 1, r.flags|enterExtArg, uintptr(unsafe.Pointer(&r.arg)), unsafe.Sizeof(r.arg))
	return r.entered(got, e)
}

// limit publishes the submissions and sets the time limit; it returns the number to submit.
func (r *Ring) limit(ns int64) uintptr {
	n := r.tail - r.sent
	atomic.StoreUint32(r.sqTail, r.tail)
	r.arg.ts = 0
	if ns >= 0 {
		r.ts = unix.NsecToTimespec(ns)
		r.arg.ts = uint64(uintptr(unsafe.Pointer(&r.ts)))
	}
	return uintptr(n)
}

func (r *Ring) entered(_ uintptr, e unix.Errno) int {
	// The kernel's head says what it consumed also when it reports an error.
	r.sent = atomic.LoadUint32(r.sqHead)
	if e != 0 {
		return -int(e)
	}
	return 0
}

// Work tells whether the kernel has completion work that only Enter performs.
func (r *Ring) Work() bool { return atomic.LoadUint32(r.sqFlags)&(sqTaskrun|sqCQOverflow) != 0 }

// Overflown tells whether completions wait outside of the full queue, for the next Enter to bring them in.
func (r *Ring) Overflown() bool { return atomic.LoadUint32(r.sqFlags)&sqCQOverflow != 0 }

// Ready is how many completions can be read.
func (r *Ring) Ready() uint32 { return atomic.LoadUint32(r.cqTail) - r.head }

// CQE is the i-th completion that can be read.
func (r *Ring) CQE(i uint32) CQE { return r.cqes[(r.head+i)&r.cqMask] }

// Seen gives n completion entries back to the kernel.
func (r *Ring) Seen(n uint32) {
	r.head += n
	atomic.StoreUint32(r.cqHead, r.head)
}

// BufRing is a ring of buffers from which the kernel picks one when data is there.
type BufRing struct {
	mem  []byte
	ents []bufEntry
	tail uint16
	mask uint16
	r    *Ring
	id   uint16
}

type bufEntry struct {
	addr uint64
	len  uint32
	bid  uint16
	tail uint16 // of the ring, in the first entry only
}

// NewBufRing registers a ring of n buffers, a power of two, under the group number id.
func (r *Ring) NewBufRing(id uint16, n int) (*BufRing, error) {
	mem, err := unix.Mmap(-1, 0, n*16, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANONYMOUS|unix.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	b := &BufRing{mem: mem, mask: uint16(n - 1), r: r, id: id}
	b.ents = unsafe.Slice((*bufEntry)(unsafe.Pointer(&mem[0])), n)
	reg := struct {
		addr     uint64
		entries  uint32
		bgid     uint16
		flags    uint16
		reserved [3]uint64
	}{addr: uint64(uintptr(unsafe.Pointer(&mem[0]))), entries: uint32(n), bgid: id}
	if err := r.register(regPbufRing, unsafe.Pointer(&reg), 1); err != nil {
		unix.Munmap(mem)
		return nil, err
	}
	return b, nil
}

// Add offers the whole of p as buffer number bid. It becomes visible to the kernel with Commit.
func (b *BufRing) Add(bid uint16, p []byte) {
	e := &b.ents[b.tail&b.mask]
	e.addr, e.len, e.bid = Addr(p), uint32(len(p)), bid
	b.tail++
}

// Commit makes the added buffers visible.
func (b *BufRing) Commit() {
	// The tail shares a 32-bit word with the buffer number of the first entry.
	e := &b.ents[0]
	atomic.StoreUint32((*uint32)(unsafe.Pointer(&e.bid)), packPair(e.bid, b.tail))
}

func packPair(lo, hi uint16) uint32 {
	v := [2]uint16{lo, hi}
	return *(*uint32)(unsafe.Pointer(&v))
}

// Close takes the buffers back. No receive may be armed.
func (b *BufRing) Close() {
	reg := struct {
		addr     uint64
		entries  uint32
		bgid     uint16
		flags    uint16
		reserved [3]uint64
	}{bgid: b.id}
	_ = b.r.register(unregPbufRing, unsafe.Pointer(&reg), 1)
	_ = unix.Munmap(b.mem)
	b.mem, b.ents = nil, nil
}
