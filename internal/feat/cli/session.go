package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// interact is how a session goes on after a line.
type interact uint8

const (
	single interact = iota // one line, then the connection is closed
	multi                  // line after line, without a prompt
	prompt                 // line after line, with a prompt
)

type severityMode uint8

const (
	sevNone severityMode = iota
	sevNumber
	sevString
)

// parseSeverity finds a form of severities by its name.
func parseSeverity(name string) (severityMode, bool) {
	switch name {
	case "none":
		return sevNone, true
	case "number":
		return sevNumber, true
	case "string":
		return sevString, true
	}
	return sevNone, false
}

// flushAt is how much of an answer is gathered before it is written, in bytes.
const flushAt = 16 << 10

// Session is one connection to a stats socket.
type Session struct {
	conn net.Conn
	in   *bufio.Reader
	host Host // nil in a master
	main Main
	sock *Socket

	level    Level
	modes    Mode
	severity severityMode
	interact interact
	timed    bool // the prompt tells the uptime
	timeout  time.Duration
	maxBody  int // bytes of a payload

	anonKey uint32 // hides names in answers ("set anon on"); 0: shows them

	sent *atomic.Int64   // bytes of all sessions
	done <-chan struct{} // closed when the server cuts its sessions
	out  []byte
	last byte  // last byte of the answer so far, '\n' before its first one
	err  error // why nothing can be written any more
	quit bool

	handed bool // the command wrote to the connection itself
}

// Level is what the session may do.
func (s *Session) Level() Level { return s.level }

// Socket is the stats socket that the session came through.
func (s *Session) Socket() *Socket { return s.sock }

// place is the kind of process that the session is in.
func (s *Session) place() Place {
	if s.host == nil {
		return InMaster
	}
	return InWorker
}

var errTooLong = errors.New("line too long")

// serve reads lines and answers them until the session ends.
func (s *Session) serve() {
	defer s.conn.Close()
	for !s.quit && s.err == nil {
		line, err := s.readCommands()
		if err != nil {
			if errors.Is(err, errTooLong) {
				s.print("The command is too long for the buffer; a larger 'tune.bufsize' in the configuration allows longer ones.\n")
				s.flush()
				s.drop()
			}
			return
		}
		s.line(line)
		if s.interact == single {
			s.quit = true
		}
		if s.interact == prompt && !s.quit {
			s.prompt()
		}
		s.flush()
	}
}

// readLine reads one line without its end. What comes after the last line's end is no line. The deadline is one for the whole
// line: who sends it byte by byte does not hold the session for ever.
func (s *Session) readLine() (string, error) {
	if s.in.Buffered() == 0 {
		_ = s.conn.SetReadDeadline(time.Now().Add(s.timeout))
	}
	line, err := s.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return "", errTooLong
	}
	if err != nil {
		return "", err
	}
	return string(line[:len(line)-1]), nil
}

// readCommands reads a line of commands. A backslash at its end joins the next one to it: the end of the line is a
// character of a word then.
func (s *Session) readCommands() (string, error) {
	line, err := s.readLine()
	for err == nil && escaped(line) {
		var next string
		if next, err = s.readLine(); err == nil {
			line += "\n" + next
		}
		if len(line) > s.in.Size() {
			return "", errTooLong
		}
	}
	return line, err
}

// escaped reports whether a line ends with a backslash that nothing takes the meaning off.
func escaped(line string) bool {
	n := 0
	for n < len(line) && line[len(line)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// line runs the commands of a line.
func (s *Session) line(line string) {
	line, mark, has := payloadMark(line)
	body := ""
	if has {
		var err error
		if body, err = s.payload(mark); err != nil {
			if errors.Is(err, errTooLong) {
				s.print("The payload is too long.\n\n")
				s.flush()
				s.drop()
			}
			s.quit = true
			return
		}
	}
	cmds := splitLine(line)
	for i, words := range cmds {
		s.last = '\n'
		s.handed = false
		c := &Context{Words: words, Session: s, Host: s.host, Main: s.main}
		if has && i == len(cmds)-1 {
			c.Payload, c.HasPayload = body, true
		}
		s.run(c)
		if s.quit || s.err != nil {
			return
		}
		if s.handed {
			continue // no answer follows what is not text
		}
		if s.last != '\n' {
			s.out = append(s.out, '\n')
		}
		s.out = append(s.out, '\n')
	}
}

// payload reads lines until the one that is the mark.
func (s *Session) payload(mark string) (string, error) {
	var b strings.Builder
	for {
		if s.interact == prompt && s.in.Buffered() == 0 {
			s.print("+ ")
			s.flush()
		}
		line, err := s.readLine()
		if err != nil {
			return "", err
		}
		if strings.TrimSuffix(line, "\r") == mark {
			return b.String(), nil
		}
		if b.Len()+len(line) >= s.maxBody {
			return "", errTooLong
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
}

// run finds a command and runs it, if the session may.
func (s *Session) run(c *Context) {
	if len(c.Words) == 0 {
		return
	}
	cmd := find(c.Words, s.place())
	if cmd == nil {
		c.unknown()
		return
	}
	c.Args = c.Words[len(cmd.Words):]
	switch {
	case cmd.Needs&Expert&^s.modes != 0:
		c.Err("This command is restricted to expert mode only.")
	case cmd.Needs&Experimental&^s.modes != 0:
		c.Err("This command is restricted to experimental mode only.")
	case s.level < cmd.Level:
		c.Err("%s", denied)
	default:
		cmd.Run(c)
	}
}

// prompt asks for the next line.
func (s *Session) prompt() {
	if s.timed {
		up := int64(s.main.Uptime() / time.Second)
		s.out = fmt.Appendf(s.out, "[%d:%02d:%02d:%02d]", up/86400, up/3600%24, up/60%60, up%60)
	}
	s.out = append(s.out, "> "...)
}

// write adds to the answer. Empty lines end an answer, so that none can stand in it.
func (s *Session) write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 && s.err == nil {
		if p[0] == '\n' && s.last == '\n' {
			p = p[1:]
			continue
		}
		end := len(p)
		if i := bytes.Index(p, []byte("\n\n")); i >= 0 {
			end = i + 1
		}
		s.out = append(s.out, p[:end]...)
		s.last = p[end-1]
		p = p[end:]
		if len(s.out) >= flushAt {
			s.flush()
		}
	}
	return n, s.err
}

func (s *Session) print(text string) { s.out = append(s.out, text...) }

func (s *Session) failed() bool { return s.err != nil }

// Answers go out in pieces, and room for the next one is asked for again and again: the system tells of room only once most
// of what it holds was read, and a reader that is slow would look like one that is gone.
const (
	pieceBytes = 4 << 10
	askEvery   = 50 * time.Millisecond
)

// flush writes what was gathered. A peer that takes nothing for the time of the timeout ends the session.
func (s *Session) flush() {
	for p, limit := s.out, time.Now().Add(s.timeout); s.err == nil && len(p) > 0; {
		now := time.Now()
		_ = s.conn.SetWriteDeadline(earlier(limit, now.Add(askEvery)))
		n, err := s.conn.Write(p[:min(len(p), pieceBytes)])
		p = p[n:]
		s.sent.Add(int64(n))
		switch {
		case n > 0:
			limit = time.Now().Add(s.timeout)
		case errors.Is(err, os.ErrDeadlineExceeded) && now.Before(limit):
			err = nil
		}
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) || n == 0 && err != nil {
			s.err = err
		}
	}
	s.out = s.out[:0]
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// Bounds of what is read of a peer that is being refused: closing on what it still sends would take the answer away from it.
const (
	dropBytes = 4 << 20
	dropTime  = time.Second
)

// drop reads what a refused peer still sends.
func (s *Session) drop() {
	if w, ok := s.conn.(interface{ CloseWrite() error }); ok {
		_ = w.CloseWrite()
	}
	_ = s.conn.SetReadDeadline(time.Now().Add(min(dropTime, s.timeout)))
	_, _ = io.CopyN(io.Discard, s.in, dropBytes) // whatever ends it
}

// rest waits for d. It ends early when the peer sends something or goes away, or the server cuts its sessions: false.
func (s *Session) rest(d time.Duration) bool {
	s.flush()
	until := time.Now().Add(d)
	if s.in.Buffered() > 0 { // what came before is for later
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return true
		case <-s.done:
			return false
		}
	}
	_ = s.conn.SetReadDeadline(until)
	_, err := s.in.Peek(1)
	return errors.Is(err, os.ErrDeadlineExceeded)
}
