package boot

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"weir/internal/base/diag"
)

// console writes messages to standard error. The version and the path of the
// executable go before the first that matters. It is safe for concurrent use.
type console struct {
	mu     sync.Mutex
	w      io.Writer
	format diag.Format
	said   bool         // the preamble was written
	kept   bytes.Buffer // messages of the start
	ended  bool         // the start is over
}

func newConsole(w io.Writer) *console {
	c := &console{w: w}
	path, err := os.Executable()
	if err != nil {
		path = "unknown"
	}
	c.format = diag.Format{PID: os.Getpid(), Terminal: isTerminal(w), Preamble: []string{
		fmt.Sprintf("weir version is %s (HAProxy %s)", Version, Compatible),
		"path to executable is " + path,
	}}
	return c
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

func (c *console) setQuiet(q bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.format.Quiet = q
}

func (c *console) isQuiet() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.format.Quiet
}

// list writes all messages of a list.
func (c *console) list(l *diag.List) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.format
	if c.said {
		f.Preamble = nil
	}
	for _, m := range l.Messages() {
		c.said = c.said || !f.Quiet && m.Severity > diag.Notice
	}
	_ = l.Write(c.w, f) // nowhere to complain
	if !c.ended && c.kept.Len() < maxKept {
		f.Terminal, f.Quiet = false, false
		_ = l.Write(&c.kept, f) // never fails
	}
}

// maxKept bounds what is kept of the messages of the start, in bytes.
const maxKept = 64 << 10

// endStart tells that what follows is no message of the start.
func (c *console) endStart() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
}

// logs are the messages of the start.
func (c *console) logs() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kept.String()
}

// say writes one sentence.
func (c *console) say(s diag.Severity, text string) {
	l := new(diag.List)
	l.Add(diag.Message{Severity: s, Bare: true, Text: text})
	c.list(l)
}

// raw writes text that is not a message.
func (c *console) raw(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.format.Quiet {
		_, _ = io.WriteString(c.w, text) // nowhere to complain
	}
}
