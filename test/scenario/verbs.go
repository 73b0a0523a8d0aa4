package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// A verb is one word of the script language.
type verb struct {
	kinds uint // bit per Kind that may use it
	run   func(p *player, arg string) error
}

const (
	peers = 1<<Client | 1<<Server
	every = peers | 1<<Process
)

// verbs is the language; README.md has a line for each.
var verbs map[string]verb

func init() {
	verbs = map[string]verb{
		"accept":          {1 << Server, (*player).accept},
		"await":           {every, (*player).await},
		"await-log":       {every, (*player).awaitLog},
		"body":            {peers, (*player).body},
		"body-len":        {peers, (*player).bodyLen},
		"close":           {peers, (*player).closeConn},
		"connect":         {1 << Client, (*player).connect},
		"drain":           {peers, (*player).drain},
		"elapsed":         {every, (*player).elapsed},
		"exit":            {1 << Process, (*player).exit},
		"expect-close":    {peers, endVerb("close")},
		"expect-end":      {peers, endVerb("close", "reset")},
		"expect-reset":    {peers, endVerb("reset")},
		"field":           {peers, (*player).fieldIs},
		"framing":         {peers, (*player).framing},
		"get":             {1 << Client, (*player).get},
		"half-close":      {peers, (*player).halfClose},
		"head":            {peers, (*player).wholeHead},
		"kill":            {1 << Process, (*player).kill},
		"mark":            {every, (*player).mark},
		"no-accept":       {1 << Server, (*player).noAccept},
		"no-field":        {peers, (*player).noField},
		"output":          {1 << Process, (*player).output},
		"recv":            {peers, (*player).recv},
		"recv-body":       {peers, (*player).recvBody},
		"recv-head":       {peers, (*player).recvHead},
		"recv-repeat":     {peers, (*player).recvRepeat},
		"reset":           {peers, (*player).reset},
		"send":            {peers, (*player).send},
		"send-head":       {peers, (*player).sendHead},
		"send-repeat":     {peers, (*player).sendRepeat},
		"serve":           {1 << Server, (*player).serve},
		"signal":          {every, (*player).signal},
		"silence":         {peers, (*player).silence},
		"trailer":         {peers, (*player).trailer},
		"try-send-repeat": {peers, (*player).trySendRepeat},
		"use":             {peers, (*player).use},
	}
}

// --- waiting and time

func (p *player) signal(arg string) error { p.g.event(arg).fire(); return nil }

func (p *player) await(arg string) error {
	select {
	case <-p.g.event(arg).ch:
		return nil
	case <-p.g.ctx.Done():
		return fmt.Errorf("event %q never came", arg)
	}
}

func (p *player) awaitLog(arg string) error {
	pat, err := CompilePattern(arg)
	if err != nil {
		return err
	}
	if !p.g.sinks[""].await(pat, 1, p.g.left()) {
		return errors.New("no such log line")
	}
	return nil
}

func (p *player) mark(arg string) error {
	p.g.mu.Lock()
	defer p.g.mu.Unlock()
	p.g.marks[arg] = time.Now()
	return nil
}

// elapsed checks "MARK LO..HI", durations since a mark of any actor.
func (p *player) elapsed(arg string) error {
	name, bounds, _ := strings.Cut(arg, " ")
	p.g.mu.Lock()
	at, ok := p.g.marks[name]
	p.g.mu.Unlock()
	lo, hi, ok2 := strings.Cut(strings.TrimSpace(bounds), "..")
	l, err1 := time.ParseDuration(lo)
	h, err2 := time.ParseDuration(hi)
	if !ok || !ok2 || err1 != nil || err2 != nil {
		return fmt.Errorf("want 'elapsed MARK LO..HI' with a mark that was set, got %q", arg)
	}
	if d := time.Since(at); d < l || d > h {
		return fmt.Errorf("%v went by since %q, want %v to %v", d.Round(time.Millisecond), name, l, h)
	}
	return nil
}

// --- connections

func (p *player) connect(arg string) error {
	network, addr, err := p.g.address(p.a.Target)
	if err != nil {
		return err
	}
	d := net.Dialer{Timeout: p.g.left()}
	c, err := d.DialContext(p.g.ctx, network, addr)
	if err != nil {
		return err
	}
	return p.adopt(c, arg)
}

func (p *player) accept(arg string) error {
	c, err := p.g.servers[p.a.Name].accept(p.g.left())
	if err != nil {
		return fmt.Errorf("no connection came: %w", err)
	}
	return p.adopt(c, arg)
}

func (p *player) noAccept(arg string) error {
	d, err := time.ParseDuration(arg)
	if err != nil {
		return err
	}
	c, err := p.g.servers[p.a.Name].accept(d)
	if err == nil {
		c.Close()
		return errors.New("a connection came")
	}
	return nil
}

func (p *player) use(arg string) error {
	c, ok := p.conns[arg]
	if !ok {
		return fmt.Errorf("no connection named %q", arg)
	}
	p.c = c
	return nil
}

func (p *player) closeConn(string) error { return p.c.Close() }
func (p *player) reset(string) error     { return p.c.reset() }

func (p *player) halfClose(string) error {
	w, ok := p.c.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.New("this kind of connection cannot be half closed")
	}
	return w.CloseWrite()
}

// endVerb waits for the end of the stream, of one of the kinds, without a byte before it. Its
// argument bounds the wait.
func endVerb(kinds ...string) func(p *player, arg string) error {
	return func(p *player, arg string) error {
		d, err := p.bound(arg)
		if err != nil {
			return err
		}
		got, err := p.c.next(d)
		for _, k := range kinds {
			if got == k {
				return nil
			}
		}
		return fmt.Errorf("want %s, got %s (%v)", strings.Join(kinds, " or "), got, err)
	}
}

// silence checks that neither a byte nor an end comes for the given time.
func (p *player) silence(arg string) error {
	d, err := time.ParseDuration(arg)
	if err != nil {
		return err
	}
	got, err := p.c.next(d)
	if got != "silence" {
		return fmt.Errorf("want nothing for %v, got %s (%v)", d, got, err)
	}
	return nil
}

// drain reads and drops everything until the stream ends in any way.
func (p *player) drain(string) error {
	p.deadline()
	_, err := io.Copy(io.Discard, p.c.r)
	if err != nil && ending(err) != "reset" {
		return err
	}
	return nil
}

// --- sending

func (p *player) send(arg string) error {
	text, err := Unescape(arg)
	if err != nil {
		return err
	}
	return p.write(text)
}

// sendHead sends lines parted by " | " with CRLF after each and an empty line.
func (p *player) sendHead(arg string) error {
	var b strings.Builder
	for _, line := range strings.Split(arg, " | ") {
		text, err := Unescape(line)
		if err != nil {
			return err
		}
		b.WriteString(text + "\r\n")
	}
	b.WriteString("\r\n")
	return p.write(b.String())
}

func (p *player) sendRepeat(arg string) error {
	text, err := repeatArg(arg)
	if err != nil {
		return err
	}
	return p.write(text)
}

// trySendRepeat is sendRepeat to a peer that may end the connection meanwhile.
func (p *player) trySendRepeat(arg string) error {
	text, err := repeatArg(arg)
	if err != nil {
		return err
	}
	if err := p.write(text); err != nil && ending(err) != "reset" {
		return err
	}
	return nil
}

// repeatArg expands "N TEXT", at most 64 MiB.
func repeatArg(arg string) (string, error) {
	num, text, _ := strings.Cut(arg, " ")
	n, err := strconv.Atoi(num)
	if err != nil {
		return "", fmt.Errorf("want a number and a text, got %q", arg)
	}
	text, err = Unescape(text)
	if err != nil {
		return "", err
	}
	if n < 1 || text == "" || n*len(text) > 64<<20 {
		return "", fmt.Errorf("%d times %d bytes is not between 1 byte and 64 MiB", n, len(text))
	}
	return strings.Repeat(text, n), nil
}

// --- receiving

func (p *player) recv(arg string) error {
	text, err := Unescape(arg)
	if err != nil {
		return err
	}
	return p.recvExactly(text)
}

func (p *player) recvRepeat(arg string) error {
	text, err := repeatArg(arg)
	if err != nil {
		return err
	}
	return p.recvExactly(text)
}

func (p *player) recvExactly(want string) error {
	p.deadline()
	got := make([]byte, len(want))
	n, err := io.ReadFull(p.c.r, got)
	if err != nil {
		return fmt.Errorf("got %d bytes of %d (%.200q), then %v", n, len(want), got[:n], err)
	}
	if want != string(got) {
		return fmt.Errorf("got  %.300q\n\twant %.300q", got, want)
	}
	return nil
}

func (p *player) recvHead(arg string) error {
	p.deadline()
	if err := p.c.readHead(); err != nil {
		return err
	}
	p.say("head: %s", strings.Join(p.c.head, " | "))
	if arg == "" {
		return nil
	}
	if len(p.c.head) == 0 {
		return errors.New("empty head")
	}
	return p.fits(arg, p.c.head[0])
}

func (p *player) recvBody(string) error {
	if len(p.c.head) == 0 {
		return errors.New("recv-body needs recv-head before it")
	}
	p.deadline()
	err := p.c.readBody()
	p.say("body: %s, %d bytes: %.100q", p.c.framing, len(p.c.body), p.c.body)
	return err
}

// --- checks of what was received

// fits compiles a pattern and matches it.
func (p *player) fits(pattern, got string) error {
	pat, err := CompilePattern(pattern)
	if err != nil {
		return err
	}
	if !pat.Match(got) {
		return fmt.Errorf("got  %s\n\twant %s", got, pattern)
	}
	return nil
}

func (p *player) wholeHead(arg string) error { return p.fits(arg, strings.Join(p.c.head, " | ")) }

func (p *player) fieldIs(arg string) error {
	name, pattern, ok := strings.Cut(arg, ":")
	if !ok {
		return errors.New("want 'field NAME: PATTERN'")
	}
	vals := p.c.field(name)
	if len(vals) == 0 {
		return fmt.Errorf("no field %q in: %s", name, strings.Join(p.c.head, " | "))
	}
	return p.fits(strings.TrimSpace(pattern), strings.Join(vals, " & "))
}

func (p *player) noField(arg string) error {
	if vals := p.c.field(arg); len(vals) > 0 {
		return fmt.Errorf("field %q is there: %q", arg, vals)
	}
	return nil
}

func (p *player) trailer(arg string) error {
	name, pattern, _ := strings.Cut(arg, ":")
	vals := fieldOf(p.c.trailers, name)
	if len(vals) == 0 {
		return fmt.Errorf("no trailer %q in %q", name, p.c.trailers)
	}
	return p.fits(strings.TrimSpace(pattern), strings.Join(vals, " & "))
}

func (p *player) framing(arg string) error {
	if p.c.framing != arg {
		return fmt.Errorf("body framing is %q, want %q", p.c.framing, arg)
	}
	return nil
}

func (p *player) body(arg string) error { return p.fits(arg, string(p.c.body)) }

func (p *player) bodyLen(arg string) error {
	if strconv.Itoa(len(p.c.body)) != arg {
		return fmt.Errorf("body has %d bytes, want %s", len(p.c.body), arg)
	}
	return nil
}

// get does one whole exchange: "PATH STATUS [BODY-PATTERN]".
func (p *player) get(arg string) error {
	f := strings.SplitN(arg, " ", 3)
	if len(f) < 2 {
		return errors.New("want 'get PATH STATUS [BODY]'")
	}
	if err := p.write("GET " + f[0] + " HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		return err
	}
	if err := p.recvHead("HTTP/1.1 " + f[1] + "{*}"); err != nil {
		return err
	}
	if err := p.recvBody(""); err != nil {
		return err
	}
	if len(f) == 3 {
		return p.body(f[2])
	}
	return nil
}

// --- the process

func (p *player) kill(arg string) error { return p.g.proc.signal(arg) }

func (p *player) exit(arg string) error {
	code, err := strconv.Atoi(arg)
	if err != nil {
		return err
	}
	select {
	case <-p.g.proc.done:
	case <-p.g.ctx.Done():
		return errors.New("the process did not exit")
	}
	if got := p.g.proc.code(); got != code {
		return fmt.Errorf("exit code %d, want %d", got, code)
	}
	return nil
}

// output waits until a line of standard output or error fits.
func (p *player) output(arg string) error {
	pat, err := CompilePattern(arg)
	if err != nil {
		return err
	}
	if !p.g.proc.awaitLine(pat, p.g.left()) {
		return fmt.Errorf("no line of output fits; it was:\n%s", bytes.TrimSpace(p.g.proc.out.bytes()))
	}
	return nil
}
