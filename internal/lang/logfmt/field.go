package logfmt

import (
	"net/netip"
	"time"

	"weir/internal/base/ascii"
	"weir/internal/model"
)

// date keeps the text of a second, in local time or in UTC.
type date struct {
	sec   int64
	valid bool
	text  [20]byte // 30/Nov/2026:22:58:35
}

func (d *date) set(t time.Time, zone *time.Location) {
	sec := t.Unix()
	if d.valid && d.sec == sec {
		return
	}
	d.sec, d.valid = sec, true
	t = t.In(zone)
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	b := &d.text
	two(b[0:], day)
	b[2], b[6], b[11], b[14], b[17] = '/', '/', ':', ':', ':'
	copy(b[3:6], month.String())
	two(b[7:], year/100%100)
	two(b[9:], year%100)
	two(b[12:], hour)
	two(b[15:], minute)
	two(b[18:], second)
}

func two(b []byte, n int) { b[0], b[1] = byte('0'+n/10), byte('0'+n%10) }

func requestDate(r *model.LogRecord) time.Time {
	if r.Request.IsZero() { // no byte ever came
		return r.Accept
	}
	return r.Request
}

// bracketDate appends "[30/Nov/2026:22:58:35.465] " in local time.
func (f *Formatter) bracketDate(dst []byte, d *date, t time.Time) []byte {
	d.set(t, f.zone)
	dst = append(dst, '[')
	dst = append(dst, d.text[:]...)
	dst = append(dst, '.')
	dst = ascii.AppendPadded(dst, uint64(t.Nanosecond()/1e6), 3)
	return append(dst, "] "...)
}

// clfDate appends " - - [30/Nov/2026:22:58:35 +0000] ".
func (f *Formatter) clfDate(dst []byte, t time.Time) []byte {
	f.utc.set(t, time.UTC)
	dst = append(dst, " - - ["...)
	dst = append(dst, f.utc.text[:]...)
	return append(dst, " +0000] "...)
}

// appendClient appends the client's address and port and a space; for a unix
// socket the number of the listener stands for the port.
func appendClient(dst []byte, r *model.LogRecord) []byte {
	dst = append(appendIPOrUnix(dst, r), ':')
	return append(appendPort(dst, r), ' ')
}

func appendIPOrUnix(dst []byte, r *model.LogRecord) []byte {
	if r.UnixClient {
		return append(dst, "unix"...)
	}
	return appendIP(dst, r.Client.Addr())
}

func appendPort(dst []byte, r *model.LogRecord) []byte {
	if r.UnixClient {
		return ascii.AppendInt(dst, int64(r.UnixID))
	}
	return ascii.AppendUint(dst, uint64(r.Client.Port()))
}

func appendAddrPort(dst []byte, a netip.AddrPort) []byte {
	dst = append(appendIP(dst, a.Addr()), ':')
	return ascii.AppendUint(dst, uint64(a.Port()))
}

// appendIP appends an address without brackets and zone, as inet_ntop(3) does:
// an IPv6 address whose first 96 bits are zero ends in dotted form.
func appendIP(dst []byte, a netip.Addr) []byte {
	switch {
	case a.Is4():
		return a.AppendTo(dst)
	case !a.IsValid():
		return append(dst, '-')
	}
	b := a.As16()
	if [12]byte(b[:12]) == ([12]byte{}) && (b[12] != 0 || b[13] != 0) {
		dst = append(dst, "::"...)
		return netip.AddrFrom4([4]byte(b[12:])).AppendTo(dst)
	}
	if a.Zone() != "" {
		a = a.WithZone("")
	}
	return a.AppendTo(dst)
}

// appendNames appends "frontend backend/server ".
func appendNames(dst []byte, r *model.LogRecord) []byte {
	dst = append(dst, r.Frontend...)
	if r.TLS {
		dst = append(dst, '~')
	}
	dst = append(dst, ' ')
	dst = append(dst, backend(r)...)
	dst = append(dst, '/')
	dst = append(dst, serverName(r)...)
	return append(dst, ' ')
}

// clfOrigin appends the fields that both CLF formats have after the size:
// empty referrer and agent, port, milliseconds of the accept date, names.
func clfOrigin(dst []byte, r *model.LogRecord) []byte {
	dst = append(dst, " \"\" \"\" "...)
	dst = append(appendPort(dst, r), ' ')
	dst = ascii.AppendPadded(dst, uint64(r.Accept.Nanosecond()/1e6), 3)
	dst = append(dst, " \""...)
	dst = append(dst, r.Frontend...)
	if r.TLS {
		dst = append(dst, '~')
	}
	dst = append(dst, "\" \""...)
	dst = append(dst, backend(r)...)
	dst = append(dst, "\" \""...)
	dst = append(dst, serverName(r)...)
	return append(dst, "\" "...)
}

func backend(r *model.LogRecord) string {
	if r.Backend == "" {
		return r.Frontend
	}
	return r.Backend
}

func serverName(r *model.LogRecord) string {
	if r.ServerName == "" {
		return NoServer
	}
	return r.ServerName
}

// active is Ta of manual 8.4: the total without handshake and idle time.
func active(t *model.Timers) int64 {
	return max(t.Total-max(t.Handshake, 0)-max(t.Idle, 0), 0) / 1e6
}

// appendMs appends a timer in milliseconds, -1 when the event did not happen.
func appendMs(dst []byte, ns int64) []byte {
	if ns < 0 {
		return append(dst, "-1"...)
	}
	return ascii.AppendUint(dst, uint64(ns)/1e6)
}

// appendPlus appends n, with a '+' when it is going to grow.
func appendPlus(dst []byte, more bool, n int64) []byte {
	if more {
		dst = append(dst, '+')
	}
	return ascii.AppendInt(dst, n)
}

// appendCounts appends "actconn/feconn/beconn/srv_conn/retries srv_queue/backend_queue".
func appendCounts(dst []byte, r *model.LogRecord, sep byte) []byte {
	dst = append(ascii.AppendInt(dst, r.ActConn), sep)
	dst = append(ascii.AppendInt(dst, r.FeConn), sep)
	dst = append(ascii.AppendInt(dst, r.BeConn), sep)
	dst = append(ascii.AppendInt(dst, r.SrvConn), sep)
	dst = append(appendPlus(dst, r.Redispatched, int64(r.Retries)), ' ')
	dst = append(ascii.AppendInt(dst, r.SrvQueue), sep)
	return ascii.AppendInt(dst, r.BeQueue)
}

func appendCookie(dst, value []byte) []byte {
	if len(value) == 0 {
		return append(dst, '-')
	}
	return appendEncoded(dst, value, escapeText)
}

// appendBraces appends captured fields in the default style: {a|b}.
func appendBraces(dst []byte, values [][]byte) []byte {
	dst = append(dst, '{')
	for i, v := range values {
		if i > 0 {
			dst = append(dst, '|')
		}
		dst = appendEncoded(dst, v, escapeHeader)
	}
	return append(dst, '}')
}

// appendQuoted appends captured fields in the CLF style: "a" "b".
func appendQuoted(dst []byte, values [][]byte) []byte {
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, '"')
		dst = appendEncoded(dst, v, escapeHeader)
		dst = append(dst, '"')
	}
	return dst
}

// requestLine appends method, URI and version as received, cut to the room
// that tune.http.logurilen leaves, then encoded.
func (f *Formatter) requestLine(dst []byte, r *model.LogRecord) []byte {
	if r.BadRequest || len(r.Method) == 0 {
		return append(dst, BadRequest...)
	}
	version := [...]byte{' ', 'H', 'T', 'T', 'P', '/', '0' + r.Version[0]%10, '.', '0' + r.Version[1]%10}
	room := f.room
	if len(r.Method)+1+len(r.URI)+len(version) <= room {
		dst = append(appendEncoded(dst, r.Method, escapeText), ' ')
		dst = appendEncoded(dst, r.URI, escapeText)
		return append(dst, version[:]...)
	}
	space := [...]byte{' '}
	for _, part := range [...][]byte{r.Method, space[:], r.URI, version[:]} {
		part = part[:min(len(part), room)]
		room -= len(part)
		dst = appendEncoded(dst, part, escapeText)
	}
	return dst
}
