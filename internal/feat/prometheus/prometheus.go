// Package prometheus is the service "prometheus-exporter" (manual 4.4, "use-service"): the statistics in the text format of
// Prometheus, version 0.0.4, under the names that HAProxy's exporter gives them.
package prometheus

import (
	"bytes"
	"strings"

	"weir/internal/engine/applet"
	"weir/internal/engine/statcol"
	"weir/internal/lang/rule"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

func init() {
	applet.Register(applet.Service{Name: "prometheus-exporter", Help: "the statistics for Prometheus", Applet: exporter{}})
}

type exporter struct{}

// LogName stands for the exporter in logs.
func (exporter) LogName() string { return "<PROMEX>" }

// scope is a set of kinds of metrics.
type scope uint8

const (
	global scope = 1 << iota
	frontends
	listeners
	backends
	servers
	everything = global | frontends | listeners | backends | servers
)

// scopes are the values of the parameter "scope"; those whose metrics weir does not have yet are known as well.
var scopes = map[string]scope{
	"*": everything, "global": global, "frontend": frontends, "listener": listeners, "backend": backends, "server": servers,
	"sticktable": 0, "resolver": 0, "": 0,
}

// options are what a query asks for.
type options struct {
	scope   scope
	noMaint bool
}

// parse reads a query; false for one that makes no sense.
func parse(query []byte) (o options, ok bool) {
	o.scope = everything
	first := true
	for part := range bytes.SplitSeq(query, []byte{'&'}) {
		name, value, given := strings.Cut(string(part), "=")
		switch name {
		case "no-maint":
			o.noMaint = true
		case "scope":
			s, known := scopes[value]
			if !given || !known {
				return o, false
			}
			if first {
				o.scope, first = 0, false
			}
			if o.scope |= s; value == "" {
				o.scope = 0
			}
		}
	}
	return o, true
}

// Open answers a request for the metrics; see rule.Applet.
func (exporter) Open(tx *model.Txn, c rule.Control, head *msg.Message) (rule.Source, bool) {
	query, _ := tx.Req.Query()
	o, ok := parse(query)
	host := statcol.Of(c.Config())
	switch {
	case tx.Req.Method != msg.GET && tx.Req.Method != msg.HEAD:
		c.Respond(c.Page(405), rule.EndLocal)
		return nil, false
	case !ok:
		c.Respond(c.Page(400), rule.EndLocal)
		return nil, false
	case host == nil:
		c.Respond(c.Page(503), rule.EndLocal)
		return nil, false
	}
	head.AddString("cache-control", "no-cache")
	head.AddString("content-type", "text/plain; version=0.0.4")
	x := &export{options: o}
	if o.scope != 0 && tx.Req.Method == msg.GET {
		c.Offload(func() { x.take(host) })
	}
	return x, true
}

// export is one answer: what the counters were at one moment, written family by family.
type export struct {
	options
	info map[string]string
	rows [4][]row // frontends, listeners, backends, servers

	kind   int // of the family that comes next: -1 for the process
	family int
	next   int // row of it
}

// row are the values of one object, by family, and its labels.
type row struct {
	labels string
	values []string
	states map[string]int // of the servers of a backend
}

// take notes the counters. It does not run on a loop.
func (x *export) take(host statcol.Host) {
	x.kind = -1
	if x.scope&global != 0 {
		x.info = make(map[string]string)
		statcol.Info(host, false, func(it *statcol.Item) bool {
			x.info[it.Name] = it.Text
			return true
		})
	}
	states := make(map[string]int)
	for cursor := statcol.NewCursor(host); ; {
		p := cursor.Proxy()
		if p == nil {
			return
		}
		r := cursor.Next()
		if r == nil {
			continue
		}
		k := kindOf(r)
		if r.Kind == statcol.Server {
			states[serverState(r)]++
		}
		if x.scope&kinds[k].scope != 0 && !(x.noMaint && r.Kind == statcol.Server && r.Maint) {
			one := newRow(k, r)
			if r.Kind == statcol.Backend && len(states) > 0 {
				one.states = states
			}
			x.rows[k] = append(x.rows[k], one)
		}
		if r.Kind == statcol.Backend {
			states = make(map[string]int)
		}
	}
}

func kindOf(r *statcol.Row) int {
	switch r.Kind {
	case statcol.Frontend:
		return 0
	case statcol.Listener:
		return 1
	case statcol.Backend:
		return 2
	}
	return 3
}

// newRow keeps what the families of a kind need.
func newRow(k int, r *statcol.Row) row {
	one := row{labels: `proxy="` + escape(r.Get("pxname")) + `"`, values: make([]string, len(kinds[k].families))}
	switch r.Kind {
	case statcol.Listener:
		one.labels += `,listener="` + escape(r.Get("svname")) + `"`
	case statcol.Server:
		one.labels += `,server="` + escape(r.Get("svname")) + `"`
	}
	for i := range kinds[k].families {
		one.values[i] = kinds[k].families[i].value(r)
	}
	return one
}

// escape makes a text fit for the value of a label.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s)
}

// rowsAtOnce is how many rows a piece has at most.
const rowsAtOnce = 32

// Append writes the next piece; see rule.Source.
func (x *export) Append(dst []byte) ([]byte, bool) {
	if x.kind < 0 {
		if x.family < len(process) && x.scope&global != 0 {
			dst = x.appendProcess(dst, &process[x.family])
			x.family++
			return dst, true
		}
		x.kind, x.family = 0, 0
	}
	for x.kind < len(kinds) {
		k := &kinds[x.kind]
		if x.family == len(k.families) || len(x.rows[x.kind]) == 0 {
			x.kind, x.family, x.next = x.kind+1, 0, 0
			continue
		}
		f := &k.families[x.family]
		if x.next == 0 {
			dst = f.appendHead(dst, k.name)
		}
		rows := x.rows[x.kind][x.next:]
		rows = rows[:min(len(rows), rowsAtOnce)]
		for i := range rows {
			dst = f.appendRow(dst, k.name, &rows[i], rows[i].values[x.family])
		}
		if x.next += len(rows); x.next == len(x.rows[x.kind]) {
			x.family, x.next = x.family+1, 0
		}
		return dst, true
	}
	return dst, false
}
