// Package diag holds diagnostics: what is wrong in a configuration, where, and
// what would be right.
//
// A List collects the messages of one load; nothing is printed before the
// caller writes the list, in the shape that the reference uses:
//
//	[ALERT]    (4711) : config : parsing [haproxy.cfg:12] : unknown keyword ...
//
// Severities, prefixes and their spacing are an interface that scripts parse;
// the sentences are weir's own.
package diag

import (
	"fmt"
	"strings"
)

// Severity orders messages by their consequence.
type Severity uint8

const (
	// Diag messages hint at suspicious but valid statements. They are shown
	// in diagnostic mode (-dD) only and never change an exit code.
	Diag Severity = iota
	// Notice messages inform.
	Notice
	// Warning messages are harmless unless zero-warning (-dW) is set.
	Warning
	// Alert messages are errors: the configuration is refused.
	Alert
)

// String returns the tag of the severity as printed between brackets.
func (s Severity) String() string {
	switch s {
	case Diag:
		return "DIAG"
	case Notice:
		return "NOTICE"
	case Warning:
		return "WARNING"
	}
	return "ALERT"
}

// Kind tells apart the classes of messages that callers treat specially.
type Kind uint8

const (
	// General is any message without a special class.
	General Kind = iota
	// NotYet marks a keyword, option or format that HAProxy knows and weir
	// does not serve yet.
	NotYet
	// Unknown marks a word that nobody knows.
	Unknown
)

// Position is a place in a configuration: a file and line, and possibly the
// range of one word in that line. The zero value means no place at all.
type Position struct {
	File    string // name as given on the command line, "-" for standard input
	Line    int    // from 1; 0 unknown
	Section string // name of the section, or its type when it has no name
	Text    string // the line as read, without its end; "" unknown
	Col     int    // first byte of the word in Text
	End     int    // byte after the word; End <= Col: no particular word
}

// IsZero tells whether the position names no place.
func (p Position) IsZero() bool { return p.File == "" && p.Line == 0 }

// Where formats the position as "file:line".
func (p Position) Where() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// Message is one diagnostic.
type Message struct {
	Severity Severity
	Kind     Kind
	Pos      Position
	Text     string // the sentence, without prefix and without line end
	Caret    bool   // always show the line and a caret, on terminals or not
	// Bare leaves out "config : ": the message is not about configuration.
	Bare bool
}

// MaxText is how many bytes of a message's sentence a List keeps.
const MaxText = 4096

// MaxMessages is how many messages a List keeps; later ones are counted only.
const MaxMessages = 1000

// List collects messages in the order in which they are found. The zero value
// is ready to use. It is not safe for concurrent use.
type List struct {
	msgs    []Message
	count   [Alert + 1]int
	dropped int
}

// Add appends a message.
func (l *List) Add(m Message) {
	l.count[m.Severity]++
	if len(l.msgs) >= MaxMessages {
		l.dropped++
		return
	}
	if len(m.Text) > MaxText {
		m.Text = strings.Clone(m.Text[:MaxText]) + "..."
	}
	l.msgs = append(l.msgs, m)
}

// Alertf adds an error at a position, which may be zero.
func (l *List) Alertf(p Position, format string, args ...any) { l.addf(Alert, p, format, args) }

// Warnf adds a warning at a position, which may be zero.
func (l *List) Warnf(p Position, format string, args ...any) { l.addf(Warning, p, format, args) }

// Noticef adds a notice at a position, which may be zero.
func (l *List) Noticef(p Position, format string, args ...any) { l.addf(Notice, p, format, args) }

// Diagf adds a message for the diagnostic mode at a position.
func (l *List) Diagf(p Position, format string, args ...any) { l.addf(Diag, p, format, args) }

func (l *List) addf(s Severity, p Position, format string, args []any) {
	l.Add(Message{Severity: s, Pos: p, Text: fmt.Sprintf(format, args...)})
}

// Messages returns the messages kept, in order. The slice belongs to the list.
func (l *List) Messages() []Message { return l.msgs }

// Errors returns the number of alerts, Warnings that of warnings; both count
// messages beyond MaxMessages too.
func (l *List) Errors() int { return l.count[Alert] }

// Warnings returns the number of warnings.
func (l *List) Warnings() int { return l.count[Warning] }

// Dropped returns the number of messages counted but not kept.
func (l *List) Dropped() int { return l.dropped }

// Err returns nil without alerts, else an error that sums them up.
func (l *List) Err() error {
	for _, m := range l.msgs {
		if m.Severity == Alert {
			if n := l.Errors(); n > 1 {
				return fmt.Errorf("%s (and %d more)", m.Line(), n-1)
			}
			return fmt.Errorf("%s", m.Line())
		}
	}
	return nil
}

// String formats all messages one a line as "SEVERITY file:line: text", a
// form for tests and logs.
func (l *List) String() string {
	var b strings.Builder
	for _, m := range l.msgs {
		fmt.Fprintf(&b, "%s %s: %s\n", m.Severity, m.Pos.Where(), m.Text)
	}
	return b.String()
}
