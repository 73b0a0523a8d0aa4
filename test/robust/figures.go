package robust

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"weir/test/wait"
)

// figures are what the process holds.
type figures struct {
	rss int64 // bytes
	fds int
}

// maxGrowth is how much larger a process may be after an attack, in bytes.
const maxGrowth = 50 << 20

// rings is how many buffers of each class a loop lends to io_uring once it has received into one.
var rings = [3]int{32, 32, 8}

// proc reads a file of /proc.
func (p *proxy) proc(name string) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", p.cmd.Process.Pid, name))
	if err != nil {
		return ""
	}
	return string(b)
}

var rssRE = regexp.MustCompile(`VmRSS:\s+(\d+) kB`)

func (p *proxy) rss() int64 {
	m := rssRE.FindStringSubmatch(p.proc("status"))
	if m == nil {
		return 0
	}
	n, _ := strconv.ParseInt(m[1], 10, 64)
	return n << 10
}

func (p *proxy) fds() int {
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid))
	if err != nil {
		return -1
	}
	return len(list)
}

// cpu is the processor time used so far, in ticks of 10 ms.
func (p *proxy) cpu() int {
	_, rest, _ := strings.Cut(p.proc("stat"), ") ")
	f := strings.Fields(rest)
	if len(f) < 13 {
		return -1
	}
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return user + system
}

// idle waits until the process has used at most 20 ms of processor time within 200 ms.
func (p *proxy) idle(within time.Duration) bool {
	since, used := time.Now(), p.cpu()
	return wait.Until(within, func() bool {
		if time.Since(since) < 200*time.Millisecond {
			return false
		}
		now := p.cpu()
		if now-used <= 2 {
			return true
		}
		since, used = time.Now(), now
		return false
	})
}

var usedRE = regexp.MustCompile(`Used:(\d+)`)

// buffers asks how many buffers of each class are lent (SIGQUIT).
func (p *proxy) buffers() (used [3]int) {
	for i, m := range p.dump(syscall.SIGQUIT, usedRE) {
		used[i%3], _ = strconv.Atoi(m[1])
	}
	return used
}

// lentTooMuch tells which buffers are lent although nothing happens, "" if none.
func (p *proxy) lentTooMuch() string {
	used := p.buffers()
	for i, n := range used {
		limit := 0
		if !slices.Contains(p.target.Args, "-dU") {
			limit = rings[i] * p.loops
			if p.busy { // rings have grown
				limit *= 32
			}
		}
		if n > limit {
			return fmt.Sprintf("%d buffers of class %d are lent, want at most %d", n, i, limit)
		}
	}
	return ""
}

var connRE = regexp.MustCompile(`Conn: (\d+) act`)

// sessions asks how many connections are open at proxies and servers (SIGHUP). -1: the process does not say.
func (p *proxy) sessions() int {
	out := p.dump(syscall.SIGHUP, connRE)
	if out == nil {
		return -1
	}
	sum := 0
	for _, m := range out {
		n, _ := strconv.Atoi(m[1])
		sum += n
	}
	return sum
}

// dump sends a signal and returns what a pattern finds in the answer.
func (p *proxy) dump(sig syscall.Signal, re *regexp.Regexp) [][]string {
	mark := len(p.stderr.all())
	if p.cmd.Process.Signal(sig) != nil {
		return nil
	}
	var found [][]string
	seen := -1
	wait.Until(bound, func() bool {
		out := p.stderr.all()[mark:]
		found = re.FindAllStringSubmatch(string(out), -1)
		done := len(found) > 0 && len(out) == seen && out[len(out)-1] == '\n' // twice the same
		seen = len(out)
		return done || p.ended()
	})
	return found
}

// rest waits until the process runs and notes its figures.
func (p *proxy) rest() {
	p.t.Helper()
	if p.target.Reference {
		wait.Until(bound, func() bool { return p.idle(bound) })
		p.base = figures{rss: p.rss(), fds: p.fds()}
		return
	}
	// With -V the pollers are shown, and from then on no signal is lost.
	running := func() bool { return bytes.Contains(p.stderr.all(), []byte("polling systems")) }
	if !wait.Until(bound, func() bool { return p.ended() || running() }) || p.ended() {
		p.t.Fatalf("the process does not start:\n%s", p.stderr.all())
	}
	p.buffers() // answered once it runs
	p.base = figures{rss: p.rss(), fds: p.fds()}
}

// settle checks that an attack left nothing behind: the process is alive, idle and of its former size; sessions,
// descriptors and buffers are back. All clients leave before; idle connections to the
// origins may stay.
func (p *proxy) settle(origins ...*origin) {
	p.t.Helper()
	if p.ended() {
		p.t.Error("the process has ended")
		return
	}
	p.mu.Lock()
	for _, c := range p.clients {
		c.Close()
	}
	p.clients = nil
	p.mu.Unlock()
	if !p.idle(bound) {
		p.t.Error("the process is busy although nobody asks")
	}
	grown := int64(0)
	if !p.large && !wait.Until(bound, func() bool { grown = p.rss() - p.base.rss; return grown < maxGrowth }) {
		p.t.Errorf("the process has grown by %d MiB", grown>>20)
	}
	if p.large {
		p.t.Logf("resident: %d MiB when all have left", p.rss()>>20)
	}
	kept := func() (n int) {
		for _, o := range origins {
			n += o.opened()
		}
		if p.target.Reference { // pipes for splicing are kept
			n += 10
		}
		return n
	}
	var fds int
	if !wait.Until(bound, func() bool { fds = p.fds(); return fds <= p.base.fds+kept() }) {
		p.t.Errorf("%d descriptors, had %d and there are %d server connections", fds, p.base.fds, kept())
	}
	if p.target.Reference {
		return
	}
	var sessions int
	if !wait.Until(bound, func() bool { sessions = p.sessions(); return sessions == 0 || p.ended() }) {
		p.t.Errorf("%d sessions are left", sessions)
	}
	var lent string
	if !wait.Until(bound, func() bool { lent = p.lentTooMuch(); return lent == "" || p.ended() }) {
		p.t.Error(lent)
	}
}
