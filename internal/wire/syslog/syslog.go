// Package syslog writes the headers of syslog messages: one form for each
// "format" of the "log" directive (manual 4.2), with the tables of facilities
// and levels. It is pure: the time comes in through a Clock, nothing is sent.
//
// A message is a header, a text and one line feed, at most "len" bytes long
// with the line feed included:
//
//	h := syslog.NewHeader(syslog.RFC5424, facility, host, tag, pid)
//	start := len(dst)
//	dst = h.Append(dst, level, &clock)
//	dst = append(dst, text...)
//	dst = syslog.End(dst, start, length)
package syslog

import "strconv"

// Format is the shape of a header.
type Format uint8

// The formats of manual 4.2. Local is the default; with "log-send-hostname"
// the default is RFC3164.
const (
	Local    Format = iota // <PRI>Mmm dd hh:mm:ss tag[pid]: TEXT
	RFC3164                // <PRI>Mmm dd hh:mm:ss host tag[pid]: TEXT
	RFC5424                // <PRI>1 ISO-DATE host tag pid - - TEXT
	Priority               // <PRI>TEXT
	Short                  // <LEVEL>TEXT
	Timed                  // <LEVEL>ISO-DATE TEXT
	ISO                    // ISO-DATE TEXT
	Raw                    // TEXT
)

var formats = [...]string{"local", "rfc3164", "rfc5424", "priority", "short", "timed", "iso", "raw"}

// Formats lists the names of the formats.
func Formats() []string { return formats[:] }

// FormatByName finds a format; false for a name that is none.
func FormatByName(name string) (Format, bool) {
	i, ok := index(formats[:], name)
	return Format(i), ok
}

// String is the format's name in configurations.
func (f Format) String() string { return formats[f] }

// The severities of RFC 5424, most severe first.
const (
	Emerg = iota
	Alert
	Crit
	Err
	Warning
	Notice
	Info
	Debug
)

var levels = [...]string{"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"}

// Levels lists the names of the levels; the place of a name is its number.
func Levels() []string { return levels[:] }

// LevelByName finds the number of a level, 0 to 7.
func LevelByName(name string) (int, bool) { return index(levels[:], name) }

var facilities = [...]string{
	"kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news",
	"uucp", "cron", "auth2", "ftp", "ntp", "audit", "alert", "cron2",
	"local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7",
}

// Facilities lists the names of the facilities; the place of a name is its number.
func Facilities() []string { return facilities[:] }

// FacilityByName finds the number of a facility, 0 to 23.
func FacilityByName(name string) (int, bool) { return index(facilities[:], name) }

func index(names []string, name string) (int, bool) {
	for i, n := range names {
		if n == name {
			return i, true
		}
	}
	return 0, false
}

// DefaultLength is the limit of a message in bytes when "len" is not given;
// MinLength and MaxLength are the bounds of "len".
const (
	DefaultLength = 1024
	MinLength     = 80
	MaxLength     = 65535
)

// Header writes the headers of one sender. It is immutable after NewHeader
// and safe for concurrent use.
type Header struct {
	format Format
	level  [8]string // what comes before the date, by level
	after  string    // what comes after it
}

// NewHeader prepares a header. facility is 0 to 23. host is the name that the
// header shows, "" for none: the RFC 3164 form then says "localhost" and the
// RFC 5424 form "-". tag is the program's name and pid its process number.
func NewHeader(f Format, facility int, host, tag string, pid int) *Header {
	h := &Header{format: f}
	for l := range h.level {
		pri := "<" + strconv.Itoa(facility<<3|l) + ">"
		switch f {
		case Local, RFC3164, Priority:
			h.level[l] = pri
		case RFC5424:
			h.level[l] = pri + "1 "
		case Short, Timed:
			h.level[l] = "<" + strconv.Itoa(l) + ">"
		}
	}
	id := strconv.Itoa(pid)
	switch f {
	case Local:
		h.after = " " + tag + "[" + id + "]: "
	case RFC3164:
		h.after = " " + or(host, "localhost") + " " + tag + "[" + id + "]: "
	case RFC5424:
		h.after = " " + or(host, "-") + " " + or(tag, "-") + " " + id + " - - "
	case Timed, ISO:
		h.after = " "
	}
	return h
}

func or(s, nothing string) string {
	if s == "" {
		return nothing
	}
	return s
}

// Append appends the header of a message of the given level (0 to 7).
func (h *Header) Append(dst []byte, level int, c *Clock) []byte {
	dst = append(dst, h.level[level&7]...)
	switch h.format {
	case Local, RFC3164:
		dst = c.AppendShort(dst)
	case RFC5424, Timed, ISO:
		dst = c.AppendISO(dst)
	}
	return append(dst, h.after...)
}

// End ends the message that begins at start: it cuts it so that it has at most
// max bytes (0: DefaultLength), the line feed included, and appends that.
func End(dst []byte, start, max int) []byte {
	if max <= 0 {
		max = DefaultLength
	}
	if len(dst)-start >= max {
		dst = dst[:start+max-1]
	}
	return append(dst, '\n')
}
