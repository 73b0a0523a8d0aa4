// Package logfmt writes text from what is known of a connection or a request.
//
// [Formatter] has the built-in formats of log lines (manual 8.2): default, TCP, HTTP, their CLF variants, and the line of a
// connection that failed before it carried anything. [Format] is a custom one (manual 8.2.6), compiled by [Parse] from
// text, aliases such as %ci and expressions such as %[src]; it makes log lines, and everything else that takes a format:
// header fields, variables, names of backends. Headers of syslog are put before lines by wire/syslog, and nothing is sent here.
//
// A line of a built-in format never holds a byte outside 32 to 126: what came from the network is
// encoded as manual 8.6 says, so that one line stays one line and a terminal
// shows what was sent. In custom lines, text of the configuration is written as it is, aliases are encoded likewise, and
// of the values of expressions the control bytes are; flag bin turns that off.
package logfmt

import (
	"time"

	"weir/internal/base/ascii"
	"weir/internal/model"
)

// NoServer stands for the server's name when no server was chosen.
const NoServer = "<NOSRV>"

// BadRequest stands for the request line when no valid one was received.
const BadRequest = "<BADREQ>"

// Formatter writes lines for one loop; it keeps the text of the current
// second. It is not safe for concurrent use.
type Formatter struct {
	room    int // of the request line, in bytes
	zone    *time.Location
	accept  date // local dates of accepts
	request date // and of requests
	utc     date
}

// New makes a formatter. logURI is "tune.http.logurilen": the room for the
// request line in bytes, its last byte unused; 0 for the default.
func New(logURI int) *Formatter {
	if logURI <= 0 {
		logURI = model.DefaultLogURI
	}
	return &Formatter{room: logURI - 1, zone: time.Local}
}

// Append appends the line for r, without a line feed. A record with an
// ErrorMessage gets the line of manual 8.2.5 whatever the format is. It
// allocates nothing when dst has room.
func (f *Formatter) Append(dst []byte, format model.LogFormat, r *model.LogRecord) []byte {
	if r.ErrorMessage != "" {
		return f.failure(dst, r)
	}
	switch format {
	case model.LogTCP:
		return f.tcp(dst, r)
	case model.LogHTTP:
		return f.http(dst, r)
	case model.LogHTTPCLF:
		return f.httpCLF(dst, r)
	case model.LogTCPCLF:
		return f.tcpCLF(dst, r)
	}
	return basic(dst, r)
}

// basic is the format of manual 8.2.1.
func basic(dst []byte, r *model.LogRecord) []byte {
	if r.UnixClient {
		dst = append(dst, "Connect to unix:"...)
		dst = ascii.AppendInt(dst, int64(r.UnixID))
	} else {
		dst = append(dst, "Connect from "...)
		dst = appendAddrPort(dst, r.Client)
		dst = append(dst, " to "...)
		dst = appendAddrPort(dst, r.ClientLocal)
	}
	dst = append(dst, " ("...)
	dst = append(dst, r.Frontend...)
	if r.HTTP {
		return append(dst, "/HTTP)"...)
	}
	return append(dst, "/TCP)"...)
}

// failure is the format of manual 8.2.5.
func (f *Formatter) failure(dst []byte, r *model.LogRecord) []byte {
	dst = appendClient(dst, r)
	dst = f.bracketDate(dst, &f.accept, r.Accept)
	dst = append(dst, r.Frontend...)
	dst = append(dst, '/')
	dst = append(dst, r.BindName...)
	dst = append(dst, ": "...)
	return appendEncoded(dst, r.ErrorMessage, escapeText)
}

// tcp is the format of manual 8.2.2.
func (f *Formatter) tcp(dst []byte, r *model.LogRecord) []byte {
	t := &r.Timers
	dst = appendClient(dst, r)
	dst = f.bracketDate(dst, &f.accept, r.Accept)
	dst = appendNames(dst, r)
	dst = append(appendMs(dst, t.Queue), '/')
	dst = append(appendMs(dst, t.Connect), '/')
	dst = append(appendPlus(dst, r.ASAP, t.Total/1e6), ' ')
	dst = append(appendPlus(dst, r.ASAP, r.BytesToClient), ' ')
	dst = append(dst, r.Termination[0], r.Termination[1], ' ')
	return appendCounts(dst, r, '/')
}

// http is the format of manual 8.2.3.
func (f *Formatter) http(dst []byte, r *model.LogRecord) []byte {
	t := &r.Timers
	dst = appendClient(dst, r)
	dst = f.bracketDate(dst, &f.request, requestDate(r))
	dst = appendNames(dst, r)
	dst = append(appendMs(dst, t.Request), '/')
	dst = append(appendMs(dst, t.Queue), '/')
	dst = append(appendMs(dst, t.Connect), '/')
	dst = append(appendMs(dst, t.Response), '/')
	dst = append(appendPlus(dst, r.ASAP, active(t)), ' ')
	dst = append(ascii.AppendInt(dst, int64(r.Status)), ' ')
	dst = append(appendPlus(dst, r.ASAP, r.BytesToClient), ' ')
	dst = append(appendCookie(dst, r.CapturedReqCookie), ' ')
	dst = append(appendCookie(dst, r.CapturedResCookie), ' ')
	dst = append(dst, r.Termination[:]...)
	dst = append(appendCounts(append(dst, ' '), r, '/'), ' ')
	if r.CaptureReq && len(r.CapturedReqHeaders) > 0 {
		dst = append(appendBraces(dst, r.CapturedReqHeaders), ' ')
	}
	if r.CaptureRes && len(r.CapturedResHeaders) > 0 {
		dst = append(appendBraces(dst, r.CapturedResHeaders), ' ')
	}
	dst = append(dst, '"')
	dst = f.requestLine(dst, r)
	return append(dst, '"')
}

// httpCLF is the CLF form of the HTTP format.
func (f *Formatter) httpCLF(dst []byte, r *model.LogRecord) []byte {
	t := &r.Timers
	dst = appendIPOrUnix(dst, r)
	dst = f.clfDate(dst, requestDate(r))
	dst = append(dst, '"')
	dst = f.requestLine(dst, r)
	dst = append(dst, "\" "...)
	dst = append(ascii.AppendInt(dst, int64(r.Status)), ' ')
	dst = appendPlus(dst, r.ASAP, r.BytesToClient)
	dst = clfOrigin(dst, r)
	dst = append(appendMs(dst, t.Request), ' ')
	dst = append(appendMs(dst, t.Queue), ' ')
	dst = append(appendMs(dst, t.Connect), ' ')
	dst = append(appendMs(dst, t.Response), ' ')
	dst = append(appendPlus(dst, r.ASAP, active(t)), ' ')
	dst = append(dst, r.Termination[:]...)
	dst = appendCounts(append(dst, ' '), r, ' ')
	dst = append(dst, " \""...)
	dst = appendEncoded(dst, r.CapturedReqCookie, escapeText)
	dst = append(dst, "\" \""...)
	dst = appendEncoded(dst, r.CapturedResCookie, escapeText)
	dst = append(dst, "\" "...)
	if r.CaptureReq && len(r.CapturedReqHeaders) > 0 {
		dst = append(appendQuoted(dst, r.CapturedReqHeaders), ' ')
	}
	if r.CaptureRes && len(r.CapturedResHeaders) > 0 {
		dst = appendQuoted(dst, r.CapturedResHeaders)
	}
	return dst
}

// tcpCLF is the CLF form of the TCP format.
func (f *Formatter) tcpCLF(dst []byte, r *model.LogRecord) []byte {
	t := &r.Timers
	dst = appendIPOrUnix(dst, r)
	dst = f.clfDate(dst, r.Accept)
	dst = append(dst, "\"TCP \" 000 "...)
	dst = appendPlus(dst, r.ASAP, r.BytesToClient)
	dst = clfOrigin(dst, r)
	dst = append(appendMs(dst, t.Handshake), ' ')
	dst = append(appendMs(dst, t.Queue), ' ')
	dst = append(appendMs(dst, t.Connect), ' ')
	dst = append(appendPlus(dst, r.ASAP, t.Total/1e6), ' ')
	dst = append(ascii.AppendInt(dst, r.BytesToServer), ' ')
	dst = append(dst, r.Termination[0], r.Termination[1])
	dst = append(dst, "-- "...)
	dst = appendCounts(dst, r, ' ')
	return append(dst, " \"\" \"\" "...)
}
