package robust

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"weir/test/scenario"
	"weir/test/wait"
)

// soakConfig keeps everybody for long and logs each request.
const soakConfig = `
global
	log stdout format raw local0
	nbthread 2
	maxconn 12000
	ulimit-n 19900
	no strict-limits
	tune.rcvbuf.server 65536
	tune.sndbuf.client 65536
defaults
	mode http
	log global
	option httplog
	timeout connect 10s
	timeout client 2m
	timeout http-keep-alive 15m
	timeout server 2m
	http-reuse always
listen l
	bind "fd@${l}"
	server s1 ${s1}
`

// A soak is the size of a run.
type soak struct {
	during              time.Duration
	idle, slow, clients int
}

// TestSoak holds idle and slow clients under load for a while: memory stays flat, descriptors come back, nobody gets a
// wrong answer, and the log has a line for each request. WEIR_SOAK is how long the full form runs on each target.
func TestSoak(t *testing.T) {
	size := soak{during: 5 * time.Second, idle: 500, slow: 100, clients: 4}
	full := os.Getenv("WEIR_SOAK")
	if full == "" {
		if testing.Short() {
			t.Skip("takes seconds")
		}
		each(t, func(t *testing.T, target *scenario.Target) { size.run(t, target) })
		return
	}
	during, err := time.ParseDuration(full)
	check(t, err)
	size = soak{during: during, idle: 8000, slow: 2000, clients: 8}
	targets, err := scenario.Targets()
	check(t, err)
	for _, target := range targets { // one after the other: descriptors are limited
		t.Run(target.Name, func(t *testing.T) { size.run(t, target) })
	}
}

func (s soak) run(t *testing.T, target *scenario.Target) {
	o := newOrigin(t)
	var streamed atomic.Int64
	o.on(func(x *exchange) {
		if x.target == "/slow" {
			x.stream(&streamed)
			return
		}
		repeating(x)
	})
	p := start(t, setup{target: target, config: soakConfig, vars: map[string]string{"s1": o.addr}})
	p.busy, p.large = true, true
	idle := s.connectIdle(p)
	slow := newReaders(p, s.slow)
	full := 0
	if !wait.Until(bound, func() bool { full = p.fds(); return full >= p.base.fds+s.idle+2*s.slow }) {
		t.Errorf("%d descriptors, but %d idle clients and %d slow ones", full, s.idle, s.slow)
	}
	samples := make(chan []int64, 1)
	go func() { samples <- p.sample(s.during) }()
	r := load{p: p, listener: "l", clients: s.clients, during: s.during}.run()
	r.check(p, 100)
	p.flat(<-samples)
	t.Logf("%d descriptors at work, %d at rest; slow readers got %d of %d MB", full, p.base.fds, slow.stop()>>20, streamed.Load()>>20)
	for i, c := range idle {
		target := fmt.Sprintf("/bye-%d", i)
		if a := c.get(target); a.body != target {
			t.Fatalf("an idle client asked for %s and got %q %q", target, a.head, a.body)
		}
		c.Close()
	}
	want := r.sent.Load() + int64(2*len(idle)) + int64(s.slow)
	var lines map[string]int64
	if !wait.Until(bound, func() bool { lines = p.countLines(); return lines["all"] == want }) {
		t.Errorf("%d log lines for %d requests: %v", lines["all"], want, lines)
	}
	if normal := want - int64(s.slow); lines["200 ----"] != normal || lines["200 CD--"] != int64(s.slow) {
		t.Errorf("%d right requests and %d aborted ones are logged as %v", normal, s.slow, lines)
	}
	p.settle(o)
	p.totals(want)
}

// connectIdle opens connections that ask once and rest then.
func (s soak) connectIdle(p *proxy) []*client {
	idle := make([]*client, s.idle)
	for i := range idle {
		idle[i] = p.dial("l")
		target := fmt.Sprintf("/idle-%d", i)
		if a := idle[i].get(target); a.body != target {
			p.t.Fatalf("%s: %q %q", target, a.head, a.body)
		}
	}
	return idle
}

// stream sends a body that is larger than anybody waits for.
func (x *exchange) stream(sent *atomic.Int64) {
	x.Conn.(*net.TCPConn).SetWriteBuffer(32 << 10) // the kernel would keep megabytes for each
	x.send("HTTP/1.1 200 OK\r\nContent-Length: 100000000000\r\n\r\n")
	x.SetWriteDeadline(time.Time{})
	part := bytes.Repeat([]byte("x"), 16<<10)
	for {
		n, err := x.Conn.Write(part)
		sent.Add(int64(n))
		if err != nil {
			x.Close()
			return
		}
	}
}

// readers are clients that take a few bytes now and then.
type readers struct {
	group sync.WaitGroup
	quit  chan struct{}
	got   atomic.Int64
}

func newReaders(p *proxy, n int) *readers {
	r := &readers{quit: make(chan struct{})}
	for i := range n {
		c := p.dial("l")
		c.Conn.(*net.TCPConn).SetReadBuffer(8 << 10)
		c.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
		r.group.Go(func() {
			defer c.Close()
			tick := time.NewTicker(time.Second + time.Duration(i)*time.Millisecond/4)
			defer tick.Stop()
			buf := make([]byte, 4096)
			for {
				c.SetReadDeadline(time.Now().Add(3 * bound))
				k, err := c.Conn.Read(buf)
				r.got.Add(int64(k))
				if err != nil || len(bytes.Trim(buf[:k], "x")) > 0 && !bytes.HasPrefix(buf, []byte("HTTP/1.1 200")) {
					p.t.Errorf("slow reader: %v, %.40q", err, buf[:k])
					return
				}
				select {
				case <-r.quit:
					return
				case <-tick.C:
				}
			}
		})
	}
	return r
}

// stop lets the readers leave and returns how many bytes they have read.
func (r *readers) stop() int64 {
	close(r.quit)
	r.group.Wait()
	return r.got.Load()
}

// sample notes the process's size 60 times.
func (p *proxy) sample(during time.Duration) []int64 {
	var all []int64
	tick := time.NewTicker(during / 60)
	defer tick.Stop()
	for range 60 {
		<-tick.C
		all = append(all, p.rss())
	}
	return all
}

// flat checks that a process does not grow once it is warm: between the last sixth and the one before by less than three
// percent and 8 MiB.
func (p *proxy) flat(samples []int64) {
	p.t.Helper()
	mean := func(part []int64) (sum int64) {
		for _, n := range part {
			sum += n
		}
		return sum / int64(len(part))
	}
	third := len(samples) / 3
	first, middle, last := mean(samples[:third]), mean(samples[third:2*third]), mean(samples[2*third:])
	p.t.Logf("resident: %.1f MiB at rest, then %.1f, %.1f, %.1f by thirds of the run", mib(p.base.rss), mib(first), mib(middle), mib(last))
	sixth := len(samples) / 6
	before, after := mean(samples[4*sixth:5*sixth]), mean(samples[5*sixth:])
	if after-before > before*3/100+8<<20 {
		p.t.Errorf("the process grows: %.1f MiB, then %.1f MiB", mib(before), mib(after))
	}
}

func mib(n int64) float64 { return float64(n) / (1 << 20) }

// countLines counts the log lines by status and state, without keeping them.
func (p *proxy) countLines() map[string]int64 {
	n := map[string]int64{}
	f, err := os.Open(p.stdout.path)
	if err != nil {
		return n
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		w := strings.Fields(sc.Text())
		if len(w) > 9 && strings.HasSuffix(w[1], "]") {
			n[w[5]+" "+w[9]]++
			n["all"]++
		}
	}
	return n
}

var totalRE = regexp.MustCompile(`Server l/s1 .* (\d+) tot`)

// totals checks that the server's counter agrees with the requests that were sent.
func (p *proxy) totals(want int64) {
	p.t.Helper()
	if p.target.Reference {
		return
	}
	found := p.dump(syscall.SIGHUP, totalRE)
	if len(found) == 0 {
		p.t.Error("the process does not tell its counters")
		return
	}
	if n, _ := strconv.ParseInt(found[len(found)-1][1], 10, 64); n != want {
		p.t.Errorf("the server counts %d requests, %d were sent", n, want)
	}
}
