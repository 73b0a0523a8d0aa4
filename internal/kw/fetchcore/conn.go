package fetchcore

import (
	"net/netip"
	"strconv"
	"time"

	"weir/internal/lang/sample"
	"weir/internal/model"
)

// side is one of the two connections of a stream.
type side struct {
	prefix, what string
	valid        sample.Places
	conn         func(tx *model.Txn) model.ConnState
}

func front(tx *model.Txn) model.ConnState { return tx.S.FrontConn() }
func back(tx *model.Txn) model.ConnState  { return tx.S.BackConn() }

func init() {
	fc := side{"fc_", "the client's connection", connected, front}
	bc := side{"bc_", "the server's connection", answered, back}
	fs, bs := side{prefix: "fs.", conn: front}, side{prefix: "bs.", conn: back}
	for _, s := range []side{fc, bc} {
		sample.AddFetch(s.common()...)
		sample.AddFetch(
			s.tcp(s.prefix+"rtt", true, "its round-trip time in 'ms' or 'us'", func(i model.TCPInfo) int64 { return i.RTT }),
			s.tcp(s.prefix+"rttvar", true, "the variance of its round-trip time in 'ms' or 'us'", func(i model.TCPInfo) int64 { return i.RTTVar }),
		)
	}
	sample.AddFetch(
		fc.tcp("fc_unacked", false, "packets not acknowledged", func(i model.TCPInfo) int64 { return i.Unacked }),
		fc.tcp("fc_sacked", false, "packets acknowledged selectively", func(i model.TCPInfo) int64 { return i.Sacked }),
		fc.tcp("fc_lost", false, "packets lost", func(i model.TCPInfo) int64 { return i.Lost }),
		fc.tcp("fc_retrans", false, "packets sent again", func(i model.TCPInfo) int64 { return i.Retrans }),
		fc.tcp("fc_fackets", false, "packets acknowledged forward", func(i model.TCPInfo) int64 { return i.Fackets }),
		fc.tcp("fc_reordering", false, "tolerance for packets out of order", func(i model.TCPInfo) int64 { return i.Reordering }),
		sample.Fetch{Name: "fc_saved_syn", Out: model.TypeBin, Valid: connected, Help: "the packet that began the client's connection (bind option tcp-ss)",
			Get: func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
				c := front(tx)
				if c == nil {
					return false
				}
				b, ok := c.SavedSYN()
				if ok {
					v.SetBin(b)
				}
				return ok
			}},
		sample.Fetch{Name: "fs.id", Out: model.TypeStr, Valid: session, Help: "number of the stream on the client's connection, 0 for TCP and HTTP/1",
			Get: func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
				c := front(tx)
				if c == nil {
					return false
				}
				b, ok := tx.Scratch.Keep(strconv.AppendInt(tx.Scratch.Grab(), streamID(c), 10))
				if ok {
					v.SetStr(b)
				}
				return ok
			}},
		bs.maybe("id", answered, "number of the stream on the server's connection, 0 for TCP and HTTP/1", func(c model.ConnState) (int64, bool) { return streamID(c), true }),
		fs.maybe("rst_code", session, "reason that the client gave when it reset the stream", resetCode),
		bs.maybe("rst_code", answered, "reason that the server gave when it reset the stream", resetCode),
		local("fc_src_is_local", "the client's address, unaltered, is one of this system", peer(front)),
		local("fc_dst_is_local", "the address connected to, unaltered, is one of this system", own(front)),
		truth("bc_reused", answered, "the server's connection served other requests before", func(tx *model.Txn) (is, ok bool) {
			c := back(tx)
			return c != nil && c.Reused(), true
		}),
	)
}

func init() {
	sample.AddFetch(
		address("src", connected, "the client's address", clientAddr),
		port("src_port", connected, "the client's port", clientAddr),
		local("src_is_local", "the client's address is one of this system", clientAddr),
		address("dst", connected, "the address that the client connected to", clientDst),
		port("dst_port", connected, "the port that the client connected to", clientDst),
		local("dst_is_local", "the address that the client connected to is one of this system", clientDst),
		listener("dst_conn", "connections of the socket that the client came through", model.ListenerState.Conns),
		listener("so_id", "number of that socket", func(l model.ListenerState) int64 { return int64(l.ID()) }),
		text("so_name", client, "name of that socket", func(tx *model.Txn) (string, bool) {
			l := tx.S.Listener()
			if l == nil || l.Name() == "" {
				return "", false
			}
			return l.Name(), true
		}),
		sample.Fetch{Name: "accept_date", Args: "[string]", Out: model.TypeSint, Valid: connected, Check: unit(0, dateUnits...),
			Help: "when the connection was accepted, or was ready for the request: seconds, 'ms' or 'us' since the epoch",
			Get:  recordDate(func(r *model.LogRecord) time.Time { return r.Accept })},
		sample.Fetch{Name: "request_date", Args: "[string]", Out: model.TypeSint, Valid: request, Check: unit(0, dateUnits...),
			Help: "when the request's first byte came: seconds, 'ms' or 'us' since the epoch",
			Get: recordDate(func(r *model.LogRecord) time.Time {
				if r.Request.IsZero() {
					return r.Accept
				}
				return r.Request
			})},
	)
}

// common are the fetches that both connections have.
func (s side) common() []sample.Fetch {
	streamLimit := s.valid
	if s.prefix == "fc_" {
		streamLimit = session
	}
	return []sample.Fetch{
		address(s.prefix+"src", s.valid, s.source(), s.srcAddr()),
		port(s.prefix+"src_port", s.valid, s.source()+": its port", s.srcAddr()),
		address(s.prefix+"dst", s.valid, s.target(), s.dstAddr()),
		port(s.prefix+"dst_port", s.valid, s.target()+": its port", s.dstAddr()),
		s.maybe("err", s.valid, "number of what went wrong with "+s.what, func(c model.ConnState) (int64, bool) { return int64(c.ErrCode()), true }),
		s.text("err_name", "name of what went wrong with "+s.what, func(c model.ConnState) string {
			name, _ := connError(c)
			return name
		}),
		s.text("err_str", "what went wrong with "+s.what, func(c model.ConnState) string {
			_, text := connError(c)
			return text
		}),
		s.maybe("http_major", s.valid, "HTTP version on "+s.what, func(c model.ConnState) (int64, bool) { return int64(c.HTTPMajor()), isHTTP(c) }),
		s.maybe("glitches", s.valid, "small anomalies of the protocol on "+s.what, func(c model.ConnState) (int64, bool) { return int64(c.Glitches()), isHTTP(c) }),
		s.maybe("nb_streams", s.valid, "streams on "+s.what, func(c model.ConnState) (int64, bool) { return int64(c.Streams()), c.Streams() > 0 }),
		s.maybe("settings_streams_limit", streamLimit, "streams that may be on "+s.what+" at once", func(c model.ConnState) (int64, bool) {
			return int64(c.StreamLimit()), c.StreamLimit() > 0
		}),
	}
}

// The client is the peer of the front connection; weir is the source of the back one.
func (s side) srcAddr() func(tx *model.Txn) netip.AddrPort {
	if s.prefix == "fc_" {
		return peer(s.conn)
	}
	return own(s.conn)
}

func (s side) dstAddr() func(tx *model.Txn) netip.AddrPort {
	if s.prefix == "fc_" {
		return own(s.conn)
	}
	return peer(s.conn)
}

func (s side) source() string { return "source address of " + s.what }
func (s side) target() string { return "destination address of " + s.what }

func peer(conn func(tx *model.Txn) model.ConnState) func(tx *model.Txn) netip.AddrPort {
	return func(tx *model.Txn) (a netip.AddrPort) {
		if c := conn(tx); c != nil {
			a = c.Peer()
		}
		return a
	}
}

func own(conn func(tx *model.Txn) model.ConnState) func(tx *model.Txn) netip.AddrPort {
	return func(tx *model.Txn) (a netip.AddrPort) {
		if c := conn(tx); c != nil {
			a = c.Local()
		}
		return a
	}
}

func clientAddr(tx *model.Txn) netip.AddrPort { return tx.S.Client() }
func clientDst(tx *model.Txn) netip.AddrPort  { return tx.S.ClientLocal() }

// streamID is the number of the present stream on its connection.
func streamID(c model.ConnState) int64 {
	if n, ok := c.(model.NumberedStream); ok {
		return n.StreamID()
	}
	return 0
}

func resetCode(c model.ConnState) (int64, bool) {
	if n, ok := c.(model.NumberedStream); ok {
		return n.ResetCode()
	}
	return 0, false
}

// isHTTP: connections of TCP proxies have neither an HTTP version nor anomalies of it.
func isHTTP(c model.ConnState) bool { return c.HTTPMajor() > 0 }

// maybe makes a fetch of a number that not every connection has.
func (s side) maybe(name string, where sample.Places, help string, get func(model.ConnState) (int64, bool)) sample.Fetch {
	return number(s.prefix+name, where, help, func(tx *model.Txn) (int64, bool) {
		c := s.conn(tx)
		if c == nil {
			return 0, false
		}
		return get(c)
	})
}

func (s side) text(name, help string, get func(model.ConnState) string) sample.Fetch {
	return text(s.prefix+name, s.valid, help, func(tx *model.Txn) (string, bool) {
		c := s.conn(tx)
		if c == nil {
			return "", false
		}
		return get(c), true
	})
}

// tcp makes a fetch of what the kernel measures. The argument of those that are no times has no meaning, as in the
// reference.
func (s side) tcp(name string, isTime bool, help string, get func(model.TCPInfo) int64) sample.Fetch {
	f := sample.Fetch{Name: name, Args: "[string]", Out: model.TypeSint, Valid: connected, Help: s.what + ": " + help,
		Get: func(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
			c := s.conn(tx)
			if c == nil {
				return false
			}
			info, ok := c.TCPInfo()
			if !ok {
				return false
			}
			n := get(info)
			if isTime && (len(a) == 0 || a[0].Int == 0) {
				n /= 1000
			}
			v.SetInt(n)
			return true
		}}
	if isTime {
		f.Check = unit(0, "ms", "us")
	}
	return f
}

// local makes a fetch that tells whether an address is one of this system, as those of clients on unix sockets are.
func local(name, help string, get func(tx *model.Txn) netip.AddrPort) sample.Fetch {
	return truth(name, connected, help, func(tx *model.Txn) (is, ok bool) {
		a := get(tx)
		if !a.IsValid() {
			unix := tx.S.FrontConn() != nil && tx.S.Record().UnixClient
			return unix, unix
		}
		return tx.S.Process().IsLocal(a.Addr()), true
	})
}

// listener makes a fetch of a number of the client's socket.
func listener(name, help string, get func(model.ListenerState) int64) sample.Fetch {
	return number(name, client, help, func(tx *model.Txn) (int64, bool) {
		l := tx.S.Listener()
		if l == nil {
			return 0, false
		}
		return get(l), true
	})
}

func recordDate(get func(r *model.LogRecord) time.Time) getter {
	return func(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
		t := get(tx.S.Record())
		if t.IsZero() {
			return false
		}
		var i int64
		if len(a) > 0 {
			i = a[0].Int
		}
		v.SetInt(inUnit(t, i))
		return true
	}
}
