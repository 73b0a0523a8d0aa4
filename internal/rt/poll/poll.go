// Package poll moves bytes between sockets and pool buffers for one event loop.
//
// There is one interface, shaped by completions: an operation is submitted, and either it is done at once, or its
// completion is delivered later by Poll. Three pollers implement it: io_uring, epoll, and a simulated network for
// deterministic tests. A receive that waits holds no buffer: one is chosen when data is there.
//
// Everything except Wake belongs to the loop's thread.
package poll

import (
	"fmt"
	"math"
	"net/netip"

	"weir/internal/base/buf"
	"weir/internal/base/counter"
	"weir/internal/rt/clock"
	"weir/internal/rt/sys"
)

// A Kind names a poller.
type Kind uint8

// The kinds. Auto takes io_uring where it works, else epoll.
const (
	Auto Kind = iota
	Uring
	Epoll
	Simulated
)

func (k Kind) String() string {
	return [...]string{"auto", "io_uring", "epoll", "simulated"}[k]
}

// Ops is a set of operations that a descriptor can have under way, one of each at a time.
type Ops uint8

// The operations.
const (
	OpRecv Ops = 1 << iota
	OpSend
	OpConnect
	OpAccept
	OpPollIn
	OpPollOut
)

// Pending is the result of an operation whose completion comes later.
const Pending = math.MinInt32

// Readable is the result of a receive on a poller that only knows that the descriptor is readable: the caller receives
// again.
const Readable = math.MinInt32 + 1

// napTime is how long a wait, in nanoseconds, keeps the Go processor: a busy loop waits shortly all the time, and handing
// the processor over and getting it back costs more than that. Stopping the world interrupts a nap with a signal.
const napTime = 200_000

// A Handler gets the completions of a descriptor, called from Poll. res is a count or a negated errno: bytes for
// OpRecv (0 = end of stream) and OpSend, the new descriptor for OpAccept, events for OpPollIn and OpPollOut. b is the
// received data, owned by the handler. After OpSend the handler looks at what is left of its queue and sends on.
type Handler interface {
	Complete(f *File, op Ops, res int, b *buf.Buf)
}

// File is the poller's view of one descriptor; it lives inside the object that handles it. The zero value is detached.
type File struct {
	H Handler
	// Last: the end of the stream follows what is sent now; its last packet waits a moment so that both travel in one.
	Last bool
	next *File // in a waiting list of the poller
	Fd   int32
	slot int32
	mark uint32 // io_uring: number of the submission of the last batched send
	len  int32  // io_uring: bytes of the send under way
	pend Ops
	st   state
	want buf.Class // of the receive under way
}

// state is what the poller knows about a descriptor.
type state uint16

const (
	stAdded  state = 1 << iota // epoll: in the set
	stOut                      // epoll: in the set for output too
	stGuess                    // epoll: it is not known whether there is input
	stRead                     // input is known or thought to be there
	stWrite                    // epoll: the socket takes data
	stHup                      // epoll: the other side has closed: a short read does not mean empty
	stEmpty                    // io_uring: the last receive left nothing
	stFull                     // io_uring: the last send did not fit
	stBatch                    // io_uring: the send under way reports failure only
	stQueued                   // in a waiting list
)

// Pending is the set of operations whose completion is still to come.
func (f *File) Pending() Ops { return f.pend }

// Config is what a poller is made of.
type Config struct {
	Pool  *buf.Pool
	Clock clock.Clock
	// Woke is called by Poll after it has looked at the kernel, before it delivers anything: the loop reads its clock.
	Woke func()
	Ring int // io_uring: submission queue entries, default 1024
}

// Stats counts what a poller does; readable from any thread.
type Stats struct {
	Enters    counter.Counter // system calls that wait for, or look for, events
	Sleeps    counter.Counter // of which that could block
	Deep      counter.Counter // sleeps of more than napTime
	Submits   counter.Counter // system calls that only hand over work
	Events    counter.Counter // completions or readiness events handled
	Recvs     counter.Counter // receives done by their own system call
	Sends     counter.Counter // sends done by their own system call
	NoBuffer  counter.Counter // receives that found no buffer
	QueueFull counter.Counter // submission queue full
	Overflow  counter.Counter // completion queue overflown
}

// A Poller is the I/O side of one loop.
type Poller interface {
	Kind() Kind
	// Start binds the poller to the calling thread, before the first Poll.
	Start() error
	// Attach takes charge of f.Fd; f.H must be set. fresh tells that the descriptor was just made for this kind of
	// poller; others have their blocking mode put right.
	Attach(f *File, fresh bool) error
	// Detach forgets f, whose descriptor stays open if Close was not called. Nothing may be pending.
	Detach(f *File)
	// Recv receives into a buffer of class c when input is there: (b, n) with n bytes, (nil, 0) at the end of the
	// stream, (nil, -errno), or (nil, Pending) with the receive armed.
	Recv(f *File, c buf.Class) (*buf.Buf, int)
	// Send sends the unread bytes of b and of buffers queued after it: bytes sent, -errno, or Pending; the buffers then
	// stay untouched until the completion. The kernel may take fewer bytes than given. Unless notify is set the
	// completion of a whole send does not end a sleep.
	Send(f *File, b *buf.Buf, notify bool) int
	// Connect starts connecting: 0, -errno or Pending.
	Connect(f *File, a *sys.SockAddr) int
	// Accept has connections delivered until it is cancelled or fails.
	Accept(f *File)
	// Accepted is the address of the other side of the connection being delivered, if the poller knows it.
	Accepted() netip.AddrPort
	// Await completes OpPollIn or OpPollOut when f becomes readable or writable, after the caller saw EAGAIN.
	Await(f *File, op Ops)
	// Cancel gives up operations: it reports the ones whose completion, usually ECANCELED, still comes.
	Cancel(f *File, ops Ops) Ops
	// Close closes the descriptor, which has no send under way, with a reset if abort is set, and cancels what is
	// pending. It reports the operations whose completion still comes, before which f must not be detached.
	Close(f *File, abort bool) Ops
	// Shutdown closes the sending direction: 0 or -errno.
	Shutdown(f *File) int
	// Poll submits, waits for at most timeout nanoseconds (0 = not, negative = without end) and delivers at most
	// budget completions. It returns their number.
	Poll(timeout int64, budget int) int
	// Submit hands pending work to the kernel; completions wait for the next Poll.
	Submit()
	// Idle tells whether Poll would find nothing to do without a system call.
	Idle() bool
	// Nudge makes the next Poll not sleep.
	Nudge()
	// Wake ends a sleep. Any thread.
	Wake()
	// Destroy cancels everything, delivers the last completions and frees the poller, on the loop's thread.
	Destroy() error
	Stats() *Stats
	// Attached is the number of files in charge.
	Attached() int
}

// New makes a poller. For Auto, warn tells why it is not io_uring.
func New(k Kind, cfg Config, warn func(string)) (Poller, error) {
	if cfg.Clock == nil {
		cfg.Clock = clock.Real()
	}
	if cfg.Woke == nil {
		cfg.Woke = func() {}
	}
	switch k {
	case Uring:
		return newUring(cfg)
	case Epoll:
		return newEpoll(cfg)
	case Auto:
		p, err := newUring(cfg)
		if err == nil {
			return p, nil
		}
		if warn != nil {
			warn("io_uring cannot be used here, using epoll instead: " + err.Error())
		}
		return newEpoll(cfg)
	}
	return nil, fmt.Errorf("poll: no poller of kind %v can be made", k)
}

// Probe tells whether io_uring can be used here, with everything that the poller needs: nil, or the reason.
func Probe() error {
	r, err := sys.NewRing(8, 16)
	if err != nil {
		return err
	}
	defer r.Close()
	return probeRing(r)
}

// table numbers the files of a poller. Numbers of detached files rest until the next Poll, because completions read
// earlier may still name them.
type table struct {
	files []*File
	free  []int32
	limbo []int32
	n     int
}

func (t *table) add(f *File) {
	if f.slot != 0 {
		panic("poll: file attached twice")
	}
	t.n++
	if k := len(t.free); k > 0 {
		f.slot = t.free[k-1]
		t.free = t.free[:k-1]
		t.files[f.slot] = f
		return
	}
	if len(t.files) == 0 {
		t.files = append(t.files, nil) // number 0 means detached
	}
	f.slot = int32(len(t.files))
	t.files = append(t.files, f)
}

func (t *table) remove(f *File) {
	if f.slot == 0 || t.files[f.slot] != f {
		panic("poll: file not attached")
	}
	t.files[f.slot] = nil
	t.limbo = append(t.limbo, f.slot)
	f.slot = 0
	t.n--
}

func (t *table) settle() {
	if len(t.limbo) > 0 {
		t.free = append(t.free, t.limbo...)
		t.limbo = t.limbo[:0]
	}
}

// fileList is a list of files linked through them.
type fileList struct{ head, tail *File }

func (l *fileList) push(f *File) {
	if f.st&stQueued != 0 {
		return
	}
	f.st |= stQueued
	if l.tail == nil {
		l.head = f
	} else {
		l.tail.next = f
	}
	l.tail = f
}

func (l *fileList) pop() *File {
	f := l.head
	if f == nil {
		return nil
	}
	l.head = f.next
	if l.head == nil {
		l.tail = nil
	}
	f.next = nil
	f.st &^= stQueued
	return f
}

func (l *fileList) drop(f *File) {
	if f.st&stQueued == 0 {
		return
	}
	var prev *File
	for p := l.head; p != nil; prev, p = p, p.next {
		if p != f {
			continue
		}
		if prev == nil {
			l.head = f.next
		} else {
			prev.next = f.next
		}
		if l.tail == f {
			l.tail = prev
		}
		f.next = nil
		f.st &^= stQueued
		return
	}
}

// A Maker makes a poller for a loop, as the simulated network does.
type Maker func(Config) (Poller, error)

// Blocked tells whether a send is under way that waits for the socket to take more.
func (f *File) Blocked() bool { return f.pend&OpSend != 0 && f.st&stBatch == 0 }

// Net is what a poller with a network of its own offers instead of system calls.
type Net interface {
	// Socket makes a socket, bound to from if that is valid.
	Socket(from netip.AddrPort) (fd int, err error)
	// Name is an address of a socket: the other side's, or its own.
	Name(fd int, peer bool) netip.AddrPort
	// CloseFd closes a descriptor that is not attached.
	CloseFd(fd int)
}
