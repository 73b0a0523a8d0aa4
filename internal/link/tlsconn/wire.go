package tlsconn

import (
	"encoding/binary"
	"errors"

	"weir/internal/rt/sock"
)

// wire is what crypto/tls takes for the network. It hands out one record at a time, so that those that bring no data are
// noticed once the handshake is over: each new key that the other side announces costs this side one too.
type wire struct {
	sock.NetConn
	head    [recordHeader]byte
	have    uint8 // bytes of head
	heard   bool  // something was received
	counted bool  // the handshake is over
	left    int   // bytes of the record that were not handed out yet
	useless int   // records handed out lately that brought no data
	since   int64 // the loop's clock
}

const (
	recordHeader = 5
	// maxUseless is how many records without data one second may bring.
	maxUseless  = 100
	uselessTime = int64(1e9)
)

// ErrUseless ends connections that keep this side busy without sending data.
var ErrUseless = errors.New("too many TLS records without data")

// Read hands out what is there of one record.
func (w *wire) Read(p []byte) (int, error) {
	if w.left == 0 {
		if err := w.begin(); err != nil {
			return 0, err
		}
	}
	n, err := w.NetConn.Read(p[:min(len(p), w.left)])
	w.left -= n
	return n, err
}

// begin looks at the header of the next record, as far as it is there.
func (w *wire) begin() error {
	b, err := w.Peek()
	if err != nil {
		return err
	}
	w.heard = true
	n := copy(w.head[w.have:], b)
	w.have += uint8(n)
	w.left = n
	if w.have < recordHeader {
		return nil
	}
	w.have = 0
	w.left += int(binary.BigEndian.Uint16(w.head[3:]))
	w.useless++
	if !w.counted || w.useless <= maxUseless {
		return nil
	}
	if now := w.Conn().Loop().Now(); now-w.since > uselessTime {
		w.since, w.useless = now, 0
		return nil
	}
	return ErrUseless
}

// useful notes that a record brought data.
func (w *wire) useful() {
	if w.useless > 0 {
		w.useless--
	}
}
