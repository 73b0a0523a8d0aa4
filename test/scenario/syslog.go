package scenario

import (
	"net"
	"regexp"
	"strings"
	"sync"
	"time"

	"weir/test/wait"
)

// A logSink receives syslog datagrams and keeps them.
type logSink struct {
	pc   net.PacketConn
	mu   sync.Mutex
	raw  []string
	done chan struct{}
}

func newLogSink() (*logSink, error) {
	pc, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &logSink{pc: pc, done: make(chan struct{})}
	go s.receive()
	return s, nil
}

func (s *logSink) receive() {
	defer close(s.done)
	buf := make([]byte, 64<<10)
	for {
		n, _, err := s.pc.ReadFrom(buf)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.raw = append(s.raw, strings.TrimRight(string(buf[:n]), "\n"))
		s.mu.Unlock()
	}
}

// lines returns all datagrams so far.
func (s *logSink) lines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.raw...)
}

// drain ends reception once the datagrams that are already in the socket were read.
func (s *logSink) drain() {
	if err := s.pc.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err == nil {
		<-s.done
	}
}

func (s *logSink) close() { s.pc.Close() }

// syslogHead is what the default (rfc3164) and the rfc5424 formats put before the message.
var syslogHead = regexp.MustCompile(`^<\d+>(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d (?:\S+ )??\S+?(?:\[\d+\])?: |1 \S+ \S+ \S+ \S+ \S+ \S+ )`)

// matches reports whether the whole datagram, or the message after its header, fits p.
func matches(p *Pattern, line string) bool {
	return p.Match(line) || p.Match(syslogHead.ReplaceAllString(line, ""))
}

// count returns how many lines fit p.
func countMatches(p *Pattern, lines []string) int {
	n := 0
	for _, l := range lines {
		if matches(p, l) {
			n++
		}
	}
	return n
}

// await waits until n datagrams fit p.
func (s *logSink) await(p *Pattern, n int, bound time.Duration) bool {
	return wait.Until(bound, func() bool { return countMatches(p, s.lines()) >= n })
}
