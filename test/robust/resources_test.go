package robust

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"weir/test/scenario"
	"weir/test/wait"
)

// streamForEver serves descriptor 3: "/silent" is never answered, anything else with a body that goes on and on.
func streamForEver() {
	l, err := net.FileListener(os.NewFile(3, "listener"))
	if err != nil {
		return
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			head, err := bufio.NewReader(c).ReadString('\n')
			if err != nil || strings.Contains(head, "/silent") {
				return
			}
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
			tick := time.NewTicker(5 * time.Millisecond)
			defer tick.Stop()
			for range 20000 {
				if _, err := io.WriteString(c, strings.Repeat("x", 1000)); err != nil {
					return
				}
				<-tick.C
			}
		}()
	}
}

// TestServerKilled kills a server's process in the middle of its answers; the streams of another server go on.
func TestServerKilled(t *testing.T) {
	each(t, func(t *testing.T, target *scenario.Target) {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		check(t, err)
		f, err := l.(*net.TCPListener).File()
		check(t, err)
		l.Close()
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "ROBUST_STREAM=1")
		child.ExtraFiles = []*os.File{f}
		child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		check(t, child.Start())
		f.Close()
		reaped := sync.OnceFunc(func() {
			child.Process.Kill()
			child.Wait()
		})
		t.Cleanup(reaped)

		o := newOrigin(t)
		c := parts{"FRONTEND": "use_backend doomed if { path_beg /doomed } || { path_beg /silent }", "MORE": "backend doomed\n\tserver s2 " + l.Addr().String() + "\n"}
		p := start(t, setup{target: target, config: c.config(), vars: map[string]string{"s1": o.addr}})
		release := make(chan bool)
		o.once("/other", func(x *exchange) {
			x.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
			<-release
			x.send("world")
		})
		other := p.dial("l").send("GET /other HTTP/1.1\r\nHost: a\r\n\r\n")
		streams := make([]*client, 5)
		for i := range streams {
			streams[i] = p.dial("l").send("GET /doomed HTTP/1.1\r\nHost: a\r\n\r\n")
		}
		silent := p.dial("l").send("GET /silent HTTP/1.1\r\nHost: a\r\n\r\n")
		for _, c := range append(streams, other) {
			c.SetReadDeadline(time.Now().Add(bound))
			if _, err := c.r.Peek(20); err != nil {
				t.Fatal(err)
			}
		}
		reaped()
		for _, c := range streams {
			if a, err := c.answer("GET"); err == nil || a.status != "200" {
				t.Errorf("%q %v; want an answer that is cut", a.head, err)
			}
			p.wantLog(c.port, "200 SD--")
		}
		silent.want("GET", "502")
		p.wantLog(silent.port, "502 SH--")
		c2 := p.dial("l").send("GET /doomed HTTP/1.1\r\nHost: a\r\n\r\n")
		c2.want("GET", "503")
		p.wantLog(c2.port, "503 SC--")
		close(release)
		if a := other.want("GET", "200"); a.body != "helloworld" {
			t.Errorf("the other stream: %q", a.body)
		}
		p.wantLog(other.port, "200 ----")
		p.victim("l")
		p.settle(o)
	})
}

// TestDescriptorsExhausted lets clients take all descriptors that the process may have.
func TestDescriptorsExhausted(t *testing.T) {
	each(t, func(t *testing.T, target *scenario.Target) {
		o := newOrigin(t)
		c := parts{"GLOBAL": "ulimit-n 60\n\tmaxconn 1000\n\tno strict-limits", "DEFAULTS": "timeout http-request 20s\n\ttimeout client 20s"}
		p := start(t, setup{target: target, config: c.config(), vars: map[string]string{"s1": o.addr}})
		p.victim("l")
		idle := make([]*client, 100)
		for i := range idle {
			idle[i] = p.dial("l")
		}
		if !wait.Until(bound, func() bool { return p.fds() >= 55 }) {
			t.Errorf("%d descriptors are used, wanted the limit to be reached", p.fds())
		}
		if !p.idle(bound) {
			t.Error("busy while descriptors are missing")
		}
		// Those that are in are served, as far as the server connection that is there goes.
		if a := idle[0].get("/in"); a.status != "200" || a.body != "/in" {
			t.Errorf("%q", a.head)
		}
		for _, c := range idle[:60] {
			c.Close()
		}
		for i, c := range idle[60:] { // they were in the kernel's queue
			target := fmt.Sprintf("/later-%d", i)
			if a := c.get(target); a.status != "200" || a.body != target {
				t.Errorf("%s: %q", target, a.head)
			}
		}
		o.on(repeating)
		load{p: p, listener: "l", clients: 10, requests: 20, statuses: "503"}.run().check(p, 20)
		for _, c := range idle[60:] {
			c.Close()
		}
		o.on(nil)
		p.victim("l")
		p.settle(o)
	})
}

// TestMaxConn limits the process on the command line: what is over the limit waits.
func TestMaxConn(t *testing.T) {
	each(t, func(t *testing.T, target *scenario.Target) {
		o := newOrigin(t)
		p := start(t, setup{target: target, config: parts{"GLOBAL": "ulimit-n 200"}.config(), vars: map[string]string{"s1": o.addr}, args: []string{"-n", "10"}})
		in := make([]*client, 10)
		for i := range in {
			in[i] = p.dial("l")
			in[i].get("/in")
		}
		waiting := make([]*client, 20)
		for i := range waiting {
			waiting[i] = p.dial("l").send(fmt.Sprintf("GET /waits-%d HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", i))
		}
		if !p.idle(bound) {
			t.Error("busy while the limit is reached")
		}
		if strings.Contains(string(o.received()), "waits") {
			t.Error("more connections are served than the limit allows")
		}
		for _, c := range in {
			c.Close()
		}
		for i, c := range waiting {
			if a := c.want("GET", "200"); a.body != fmt.Sprintf("/waits-%d", i) {
				t.Errorf("%d got %q", i, a.body)
			}
		}
		p.victim("l")
		p.settle(o)
	})
}

// TestMemoryLimit gives the process few buffers and clients that want many.
func TestMemoryLimit(t *testing.T) {
	for name, x := range map[string]struct {
		global string
		args   []string
		least  int64 // of 80 requests, once those that hold buffers are gone
	}{
		"buffers":   {"tune.buffers.limit 12\n\ttune.buffers.reserve 2", nil, 60},
		"few":       {"tune.buffers.limit 4\n\ttune.buffers.reserve 2", nil, 1},
		"megabytes": {"maxconn 200", []string{"-m", "8"}, 80},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, target *scenario.Target) {
				o := newOrigin(t)
				o.on(repeating)
				p := start(t, setup{target: target, config: parts{"GLOBAL": x.global, "DEFAULTS": "timeout client 2s\n\ttimeout server 2s"}.config(), vars: map[string]string{"s1": o.addr}, args: x.args})
				p.busy = true
				// Readers that do not read hold what they can.
				slow := make([]*client, 20)
				for i := range slow {
					slow[i] = p.dial("l").send("GET /slow?repeat=100000 HTTP/1.1\r\nHost: a\r\n\r\n")
				}
				load{p: p, listener: "l", clients: 20, requests: 20, statuses: "400 408 500 502 503 504", ends: true}.run().check(p, 0)
				for _, c := range slow {
					c.Close()
				}
				load{p: p, listener: "l", clients: 4, requests: 20, statuses: "500 502 503", ends: true}.run().check(p, x.least)
				o.on(nil)
				p.victim("l")
				p.settle(o)
				t.Log(p.states())
			})
		})
	}
}

// TestLogDiskFull logs to a device that is full.
func TestLogDiskFull(t *testing.T) {
	each(t, func(t *testing.T, target *scenario.Target) {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		check(t, err)
		defer full.Close()
		o := newOrigin(t)
		o.on(repeating)
		c := parts{"GLOBAL": "log fd@$FILE0 format raw local0"}
		p := start(t, setup{target: target, config: c.config(), vars: map[string]string{"s1": o.addr}, files: []*os.File{full}})
		load{p: p, listener: "l", clients: 5, requests: 100}.run().check(p, 500)
		o.on(nil)
		p.victim("l")
		p.settle(o)
	})
}

// TestLogNobodyReads logs to a pipe that is never read: lines are lost, requests are not.
func TestLogNobodyReads(t *testing.T) {
	each(t, func(t *testing.T, target *scenario.Target) {
		r, w, err := os.Pipe()
		check(t, err)
		defer r.Close()
		defer w.Close()
		o := newOrigin(t)
		o.on(repeating)
		p := start(t, setup{target: target, config: parts{}.config(), vars: map[string]string{"s1": o.addr}, stdout: w})
		load{p: p, listener: "l", clients: 5, requests: 400}.run().check(p, 2000) // more lines than a pipe holds
		o.on(nil)
		p.victim("l")
		p.settle(o)
	})
}

// TestAllocationFailures makes every hundredth and every tenth allocation fail.
func TestAllocationFailures(t *testing.T) {
	for _, percent := range []int{1, 10} {
		t.Run(fmt.Sprint(percent), func(t *testing.T) {
			each(t, func(t *testing.T, target *scenario.Target) {
				weirOnly(t, target, "the reference needs a build of its own")
				o := newOrigin(t)
				o.on(repeating)
				c := parts{"GLOBAL": fmt.Sprintf("tune.fail-alloc %d", percent), "DEFAULTS": "timeout server 2s\n\ttimeout client 2s"}
				p := start(t, setup{target: target, config: c.config(), vars: map[string]string{"s1": o.addr}, args: []string{"-dMfail"}})
				p.busy = true
				load{p: p, listener: "l", clients: 10, requests: 60, statuses: "400 408 500 502 503 504", ends: true}.run().check(p, 300)
				p.settle(o)
				t.Log(p.states())
			})
		})
	}
}
