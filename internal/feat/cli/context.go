package cli

import (
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"weir/internal/lang/config"
)

// Severity is how important an answer is, as syslog numbers it.
type Severity int

// Severities of answers.
const (
	SevErr     Severity = 3
	SevWarning Severity = 4
	SevNotice  Severity = 5
	SevInfo    Severity = 6
)

var severityNames = [...]string{"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"}

// Context is one command being run.
type Context struct {
	// Args are the words after those of the command, Words all of them.
	Args, Words []string
	// Payload is what followed the line after "<<"; HasPayload tells an empty one from none.
	Payload    string
	HasPayload bool

	Session *Session
	Host    Host // nil in a master
	Main    Main
}

// Arg returns argument i, "" when there is none.
func (c *Context) Arg(i int) string {
	if i < len(c.Args) {
		return c.Args[i]
	}
	return ""
}

// Write adds to the answer. It fails once the peer does not take it any more; the command should end then.
func (c *Context) Write(p []byte) (int, error) { return c.Session.write(p) }

// Printf adds to the answer.
func (c *Context) Printf(format string, a ...any) { fmt.Fprintf(c, format, a...) }

// Print adds a text to the answer.
func (c *Context) Print(s string) { _, _ = io.WriteString(c, s) }

// Conn is the connection of the session, for an answer that is not text: what was written so far is sent, and nothing of
// the session's own follows.
func (c *Context) Conn() net.Conn {
	c.Session.flush()
	c.Session.handed = true
	return c.Session.conn
}

// Failed reports that nobody reads the answer.
func (c *Context) Failed() bool { return c.Session.failed() }

// Msg answers with a sentence, after its severity when the session wants it ("set severity-output").
func (c *Context) Msg(s Severity, format string, a ...any) {
	switch c.Session.severity {
	case sevNumber:
		c.Printf("[%d]: ", s)
	case sevString:
		c.Printf("[%s]: ", severityNames[s])
	}
	text := fmt.Sprintf(format, a...)
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if text == "\n" { // a sentence without a word is a line all the same
		c.Session.print(text)
		c.Session.last = '\n'
		return
	}
	c.Print(text)
}

// Err answers that the command cannot be done.
func (c *Context) Err(format string, a ...any) { c.Msg(SevErr, format, a...) }

// Wait waits. It reports false when that ended early, because the peer sent something or went away, or the server of the
// session ends.
func (c *Context) Wait(d time.Duration) bool { return c.Session.rest(d) }

// ID is a name as the session may show it: itself, or a hash in the anonymised mode ("set anon on").
func (c *Context) ID(name string) string { return config.AnonID(c.Session.anonKey, name) }

// Path is the name of a file as the session may show it.
func (c *Context) Path(name string) string { return config.AnonPath(c.Session.anonKey, name) }

// Addr is an address as the session may show it.
func (c *Context) Addr(text string) string { return config.AnonAddr(c.Session.anonKey, text) }

// Allowed reports whether the session has a level; if not, that is the answer.
func (c *Context) Allowed(l Level) bool {
	if c.Session.level >= l {
		return true
	}
	c.Err("%s", denied)
	return false
}

const denied = "Permission denied\n"
