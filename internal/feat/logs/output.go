package logs

import (
	"golang.org/x/sys/unix"

	"weir/internal/rt/sys"
	"weir/internal/wire/syslog"
)

const (
	// bufferSize is how many bytes of lines a loop gathers for a destination
	// before it sends them. The longest line fits.
	bufferSize = syslog.MaxLength + 1 + 4096
	// batchSize is how many lines go into one system call at most.
	batchSize = 128
	// pipeChunk is what a pipe takes whole or not at all (PIPE_BUF on Linux).
	pipeChunk = 4096
)

// output is a destination as one loop sees it: a socket, and the lines that
// are to be sent to it.
type output struct {
	*dest
	sock   int  // -1: not open
	stream bool // lines are written, not sent as datagrams
	chunk  int  // stream: bytes of one write at most; 0: any number
	send   func(fd int, p []byte) int
	cut    bool // stream: the last write ended inside a line

	buf   []byte
	ends  []int // where the lines in buf end
	batch *sys.Batch
	addr  *sys.SockAddr // of the destination; nil when connected
	peer  unixAddr      // kindUnix
	dirty bool
}

func newOutput(d *dest) *output {
	o := &output{dest: d, sock: -1}
	switch d.kind {
	case kindUDP:
		o.addr = new(sys.SockAddr)
		o.addr.SetIP(d.to)
	case kindUnix:
		o.peer.set(d.path)
	}
	return o
}

// open makes the socket, if it can: what fails is tried again with the next lines.
func (o *output) open() bool {
	if o.sock >= 0 {
		return true
	}
	switch o.kind {
	case kindUDP:
		family := unix.AF_INET
		if !o.to.Addr().Is4() {
			family = unix.AF_INET6
		}
		o.socket(family)
	case kindUnix:
		if o.socket(unix.AF_UNIX) {
			o.connect()
		}
	case kindFD:
		o.sock = o.fd
		o.examine()
	}
	return o.sock >= 0
}

func (o *output) socket(family int) bool {
	if fd := sys.RawSocket(family, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0); fd >= 0 {
		o.sock = fd
	}
	return o.sock >= 0
}

// connect joins a unix socket to its receiver. A receiver that restarted has a
// new socket under the old name.
func (o *output) connect() bool { return o.peer.connect(o.sock) }

func (o *output) close() {
	if o.sock >= 0 && o.kind != kindFD {
		sys.RawClose(o.sock)
	}
	o.sock = -1
}

// examine finds out what a given descriptor is, and how to write to it
// without blocking.
func (o *output) examine() {
	o.stream, o.send = true, sys.RawWrite
	var st unix.Stat_t
	if unix.Fstat(o.fd, &st) != nil {
		return // every write will fail, and count
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFSOCK:
		o.send = sendStream
		t, _ := sys.RawGetInt(o.fd, unix.SOL_SOCKET, unix.SO_TYPE)
		o.stream = t == unix.SOCK_STREAM
	case unix.S_IFREG:
		o.send = writeFile
	case unix.S_IFIFO:
		o.chunk = pipeChunk
		fallthrough
	default:
		sys.RawNonblock(o.fd, true)
	}
}

func sendStream(fd int, p []byte) int { return sys.RawSend(fd, p, 0) }

// writeFile may wait for a disk: the Go scheduler is told.
func writeFile(fd int, p []byte) int {
	n, err := unix.Write(fd, p)
	if e, ok := err.(unix.Errno); ok {
		return -int(e)
	}
	return n
}

// full reports whether a text of n bytes may not fit any more.
func (o *output) full(n int) bool {
	if o.buf == nil {
		o.buf, o.ends = make([]byte, 0, bufferSize), make([]int, 0, batchSize)
	}
	return len(o.ends) == batchSize || len(o.buf) > 0 && len(o.buf)+n+headerRoom > bufferSize
}

// headerRoom is what a header takes at most: host and tag are short names.
const headerRoom = 1024

// flush sends the lines and empties the buffer. It returns how many lines were
// not taken.
func (o *output) flush() (dropped int) {
	if len(o.ends) == 0 {
		return 0
	}
	if !o.open() {
		dropped = len(o.ends)
	} else if o.stream {
		dropped = o.flushStream()
	} else {
		dropped = o.flushDatagrams()
	}
	o.buf, o.ends = o.buf[:0], o.ends[:0]
	return dropped
}

// line is the i-th line.
func (o *output) line(i int) []byte { return o.buf[o.start(i):o.ends[i]] }

func (o *output) start(i int) int {
	if i == 0 {
		return 0
	}
	return o.ends[i-1]
}

func (o *output) flushDatagrams() (dropped int) {
	if o.batch == nil {
		o.batch = sys.NewBatch(batchSize)
	}
	reconnected := false
	for i := 0; i < len(o.ends); {
		for j := i; j < len(o.ends) && o.batch.Add(o.line(j), o.addr); j++ {
		}
		switch r := o.batch.Send(o.sock); {
		case r > 0:
			i += r
		case r == -int(unix.EMSGSIZE): // larger than the path or the socket takes
			dropped++
			i++
		case o.kind == kindUnix && !reconnected && gone(r):
			if reconnected = true; o.connect() {
				continue
			}
			fallthrough
		default:
			return dropped + len(o.ends) - i
		}
	}
	return dropped
}

// gone reports whether a result means that the receiver's socket is not there
// (any more).
func gone(r int) bool {
	switch unix.Errno(-r) {
	case unix.ECONNREFUSED, unix.ENOTCONN, unix.ECONNRESET, unix.EPIPE, unix.EDESTADDRREQ:
		return true
	}
	return false
}

// flushStream writes the lines to a descriptor, as many in one call as it
// takes whole.
func (o *output) flushStream() (dropped int) {
	if o.cut { // end the half line that is there, or wait until that is possible
		if o.send(o.sock, []byte{'\n'}) != 1 {
			return len(o.ends)
		}
		o.cut = false
	}
	for i := 0; i < len(o.ends); {
		next := i + 1
		for next < len(o.ends) && (o.chunk == 0 || o.ends[next]-o.start(i) <= o.chunk) {
			next++
		}
		first := o.start(i)
		p := o.buf[first:o.ends[next-1]]
		r := o.send(o.sock, p)
		if r == len(p) {
			i = next
			continue
		}
		if r > 0 {
			for i < next && o.ends[i]-first <= r {
				i++
			}
			o.cut = o.start(i)-first != r
		}
		return len(o.ends) - i
	}
	return 0
}
