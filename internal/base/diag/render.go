package diag

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Format says how messages are written.
type Format struct {
	// PID is the process number shown in each line.
	PID int
	// Preamble is written as notices before the first message that is more
	// than a notice: the version, the path of the executable.
	Preamble []string
	// Quiet (-q) writes nothing.
	Quiet bool
	// Diag (-dD) shows messages of severity Diag too.
	Diag bool
	// Terminal shows the line of each message with its word underlined.
	Terminal bool
}

// Line formats the message without its "[TAG] (pid) : config : " prefix.
func (m Message) Line() string {
	if m.Pos.IsZero() {
		return m.Text
	}
	return "parsing [" + m.Pos.Where() + "] : " + m.Text
}

// prefix formats the tag and the process number. The reference pads the tag to
// ten columns.
func prefix(s Severity, pid int) string {
	return fmt.Sprintf("%-10s (%d) : ", "["+s.String()+"]", pid)
}

// Write writes the messages in order. Its output is a function of the list and
// the format only.
func (l *List) Write(w io.Writer, f Format) error {
	if f.Quiet {
		return nil
	}
	var b bytes.Buffer
	preamble := f.Preamble
	for _, m := range l.msgs {
		if m.Severity == Diag && !f.Diag {
			continue
		}
		if m.Severity != Notice {
			for _, line := range preamble {
				b.WriteString(prefix(Notice, f.PID) + line + "\n")
			}
			preamble = nil
		}
		m.write(&b, f)
	}
	if l.dropped > 0 {
		b.WriteString(prefix(Notice, f.PID))
		fmt.Fprintf(&b, "config : %d further messages are not shown.\n", l.dropped)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (m Message) write(b *bytes.Buffer, f Format) {
	b.WriteString(prefix(m.Severity, f.PID))
	if !m.Bare {
		b.WriteString("config : ")
	}
	b.WriteString(printable(m.Line()))
	b.WriteByte('\n')
	if m.Pos.Text != "" && (m.Caret || f.Terminal && m.Pos.End > m.Pos.Col) {
		b.WriteString(excerpt(m.Pos, !m.Caret))
	}
}

// maxExcerpt is how many bytes of a long line an excerpt shows.
const maxExcerpt = 120

// excerpt shows the line of a position, its blanks at the start cut, and marks
// the word: with a caret under its first byte, or underlined whole.
func excerpt(p Position, whole bool) string {
	text, col, end := p.Text, min(max(p.Col, 0), len(p.Text)), min(max(p.End, 0), len(p.Text))
	cut := min(len(text)-len(strings.TrimLeft(text, " \t")), col)
	lead, tail := "", ""
	if col-cut > maxExcerpt*2/3 {
		cut, lead = col-maxExcerpt/3, "..."
		for cut < col && !utf8.RuneStart(text[cut]) {
			cut++
		}
	}
	stop := len(text)
	if stop-cut > maxExcerpt {
		stop, tail = cut+maxExcerpt, "..."
		for stop < len(text) && !utf8.RuneStart(text[stop]) {
			stop++
		}
	}
	before := lead + printable(text[cut:min(col, stop)])
	mark := "^"
	if whole {
		n := utf8.RuneCountInString(printable(text[min(col, stop):min(max(end, col), stop)]))
		mark = "^" + strings.Repeat("~", max(n-1, 0))
	}
	return "  " + lead + printable(text[cut:stop]) + tail + "\n" +
		"  " + strings.Repeat(" ", utf8.RuneCountInString(before)) + mark + "\n"
}

// printable replaces control characters and broken UTF-8, so that a message
// cannot move a terminal's cursor; tabs become one space to keep columns.
func printable(s string) string {
	clean := true
	for i := 0; i < len(s) && clean; i++ {
		clean = s[i] >= 0x20 && s[i] < 0x7f
	}
	if clean {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r < 0x20, r >= 0x7f && r < 0xa0, r == utf8.RuneError:
			return '?'
		case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return '?' // marks that reorder text
		}
		return r
	}, s)
}
