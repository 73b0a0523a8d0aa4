package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"strings"
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
	host Host
	sock *Socket

	level    Level
	modes    Mode
	severity severityMode
	interact interact
	timed    bool // the prompt tells the uptime
	timeout  time.Duration
	maxBody  int // bytes of a payload

	done <-chan struct{} // closed when the server cuts its sessions
	out  []byte
	last byte  // last byte of the answer so far, '\n' before its first one
	err  error // why nothing can be written any more
	quit bool
}

// Level is what the session may do.
func (s *Session) Level() Level { return s.level }

// Socket is the stats socket that the session came through.
func (s *Session) Socket() *Socket { return s.sock }

var errTooLong = errors.New("line too long")

// serve reads lines and answers them until the session ends.
func (s *Session) serve() {
	defer s.conn.Close()
	for !s.quit && s.err == nil {
		line, err := s.readLine()
		if err != nil {
			if errors.Is(err, errTooLong) {
				s.print("The command is too long for the buffer; a larger 'tune.bufsize' in the configuration allows longer ones.\n")
				s.flush()
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

// readLine reads one line without its end. What comes after the last line's end is no line.
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
			}
			s.quit = true
			return
		}
	}
	cmds := splitLine(line)
	for i, words := range cmds {
		s.last = '\n'
		c := &Context{Words: words, Session: s, Host: s.host}
		if has && i == len(cmds)-1 {
			c.Payload, c.HasPayload = body, true
		}
		s.run(c)
		if s.quit || s.err != nil {
			return
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
	cmd := find(c.Words)
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
		up := int64(s.host.Uptime() / time.Second)
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

// flush writes what was gathered. A peer that does not read for the time of the timeout ends the session.
func (s *Session) flush() {
	if s.err == nil && len(s.out) > 0 {
		_ = s.conn.SetWriteDeadline(time.Now().Add(s.timeout))
		_, s.err = s.conn.Write(s.out)
	}
	s.out = s.out[:0]
}
