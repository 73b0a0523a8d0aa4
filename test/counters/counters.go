// Package counters plays a scripted workload on the real binary, or on HAProxy, and compares what "show stat" and
// "show info" count with a table.
//
// Each case has proxies of its own, so that its rows show what it did. The table in testdata was written by HAProxy 3.5
// (WEIR_REF=haproxy go test ./test/counters -update) and holds for weir.
package counters

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// patience bounds each wait.
const patience = 15 * time.Second

// kase is one part of the workload.
type kase struct {
	name string
	// conf are the case's sections. $x is the address of the origin, $dead one where nobody listens, $l the descriptor that
	// clients of the case reach.
	conf string
	run  func(c *client)
}

// client does what a case's clients do.
type client struct {
	addr   string
	origin *origin
	sock   string
	err    error
}

// conn is one connection of a client.
type conn struct {
	c *client
	net.Conn
	r *bufio.Reader
}

func (c *client) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *client) dial() *conn {
	n, err := net.Dial("tcp", c.addr)
	if err != nil {
		if !errors.Is(err, syscall.ECONNRESET) { // refused at once
			c.fail(err)
		}
		n, _ = net.Pipe()
		n.Close()
	}
	_ = n.SetDeadline(time.Now().Add(patience))
	return &conn{c: c, Conn: n, r: bufio.NewReader(n)}
}

// do sends a request and reads its answer; the status line is returned.
func (n *conn) do(req string) string {
	n.put(req)
	return n.get(strings.HasPrefix(req, "HEAD "))
}

func (n *conn) put(s string) { send(n, s) }

// get reads one answer, interim ones before it included.
func (n *conn) get(noBody bool) string {
	for {
		h, err := readHead(n.r)
		if err != nil {
			return ""
		}
		if strings.Contains(h.first, " 1") && strings.HasPrefix(strings.SplitN(h.first, " ", 2)[1], "1") && !strings.Contains(h.first, " 101 ") {
			continue
		}
		_, hasLen := h.fields["content-length"]
		switch {
		case noBody || strings.Contains(h.first, " 101 ") || strings.Contains(h.first, " 204 "):
		case !hasLen && h.fields["transfer-encoding"] == "":
			_, _ = io.Copy(io.Discard, n.r)
		default:
			_ = h.skipBody(n.r)
		}
		return h.first
	}
}

// rest reads until the connection ends.
func (n *conn) rest() { _, _ = io.Copy(io.Discard, n.r) }

// reset ends the connection with a reset.
func (n *conn) reset() {
	if t, ok := n.Conn.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	n.Close()
}

// one sends one request over a connection of its own.
func (c *client) one(req string) string {
	n := c.dial()
	defer n.Close()
	return n.do(req)
}

// program is a running load balancer.
type program struct {
	cmd  *exec.Cmd
	sock string
	errs bytes.Buffer
}

func start(bin, dir, conf string, args []string, files []*os.File) (*program, error) {
	p := &program{sock: filepath.Join(dir, "s")}
	file := filepath.Join(dir, "cfg")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		return nil, err
	}
	p.cmd = exec.Command(bin, append([]string{"-f", file}, args...)...)
	p.cmd.Stderr, p.cmd.ExtraFiles = &p.errs, files
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return p, p.cmd.Start()
}

func (p *program) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	_ = p.cmd.Wait()
}

// ask sends a line to the stats socket.
func (p *program) ask(line string) string {
	c, err := net.Dial("unix", p.sock)
	if err != nil {
		return err.Error()
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	send(c, line+"\n")
	out, _ := io.ReadAll(c)
	return string(out)
}

// row is one row of "show stat" by column.
type row map[string]string

// stat asks for all rows.
func (p *program) stat() (rows []row, columns []string, err error) {
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(p.ask("show stat"), "# ")))
	r.FieldsPerRecord = -1
	all, err := r.ReadAll()
	if err != nil || len(all) == 0 {
		return nil, nil, fmt.Errorf("show stat: %w", err)
	}
	columns = all[0]
	for _, cells := range all[1:] {
		m := make(row, len(columns))
		for i, v := range cells {
			if i < len(columns) {
				m[columns[i]] = v
			}
		}
		rows = append(rows, m)
	}
	return rows, columns, nil
}

// vague are the columns that depend on the time or say nothing about the workload.
var vague = []string{
	"pxname", "svname", "lastchg", "qtime", "ctime", "rtime", "ttime", "qtime_max", "ctime_max", "rtime_max", "ttime_max", "lastsess", "rate", "rate_max",
	"req_rate", "req_rate_max", "conn_rate", "conn_rate_max", "pid", "iid", "sid", "slim", "addr", "algo", "mode", "type", "need_conn_est", "downtime",
	"srv_icur", "idle_conn_cur", "safe_conn_cur", "used_conn_cur",
}

// loose are columns that depend on the moment in some cases: how far data had come, and who was first.
var loose = map[string][]string{
	"abort-data":  {"bin", "bout", "reqbin", "reqbout", "resbin", "resbout"},
	"tcp-refused": {"bin", "reqbin"},
	"tcp-retried": {"bin", "reqbin"},
	"reset":       {"srv_abrt"},
}

// text is what a row has that is neither empty nor zero, in the order of the columns.
func (m row) text(columns []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%s", m["pxname"], m["svname"])
	name := strings.TrimSuffix(m["pxname"], "-b")
	for _, c := range columns {
		v := m[c]
		switch {
		case v == "" || v == "0" || c == "-", slices.Contains(vague, c), slices.Contains(loose[name], c):
		case strings.HasPrefix(c, "h2_"), strings.HasPrefix(c, "h1_"):
		case c == "smax" && !strings.HasPrefix(name, "queue"): // a connection may go after the next one has come
		default:
			fmt.Fprintf(&b, " %s=%s", c, v)
		}
	}
	return b.String()
}
