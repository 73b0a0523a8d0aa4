package clistat

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"weir/internal/engine/backend"
	"weir/internal/engine/frontend"
	"weir/internal/engine/server"
	"weir/internal/engine/stats"
	"weir/internal/feat/cli"
	"weir/internal/model"
	"weir/internal/rt/clock"
)

// Kinds of rows, as the filter of "show stat" numbers them.
const (
	kindFrontend = 1 << iota
	kindBackend
	kindServer
	kindListener
)

// row is one object of "show stat".
type row struct {
	kind  int
	proxy int // id of the proxy
	id    int // id of the server or listener
	cells [len(statFields)]string
	have  [len(statFields)]bool
	maint bool
	up    bool
}

// columns finds a column by its name.
var columns = func() map[string]int {
	m := make(map[string]int, len(statFields))
	for i := range statFields {
		m[statFields[i].name] = i
	}
	return m
}()

func (r *row) str(name, v string) {
	i := columns[name]
	r.cells[i], r.have[i] = v, true
}

func (r *row) num(name string, v int64) { r.str(name, strconv.FormatInt(v, 10)) }

func (r *row) letter() string {
	switch r.kind {
	case kindFrontend:
		return "F"
	case kindBackend:
		return "B"
	case kindServer:
		return "S"
	}
	return "L"
}

// zeros fills what the kind of row has and nothing has set. skip names the columns that stay empty.
func (r *row) zeros(skip ...string) {
	for i := range statFields {
		f := &statFields[i]
		if !r.have[i] && strings.Contains(f.kinds, r.letter()) && !slices.Contains(skip, f.name) && !strings.HasSuffix(f.tags, ":str") {
			r.cells[i], r.have[i] = "0", true
		}
	}
}

// filter is what "show stat" is asked for.
type filter struct {
	iid, kinds, sid int // -1: all
	up, noMaint     bool
	form            format
	desc            bool
}

func (f *filter) wants(r *row) bool {
	return (f.iid < 0 || f.iid == r.proxy) && f.kinds&r.kind != 0 && (f.sid < 0 || f.sid == r.id) &&
		!(f.noMaint && r.maint) && !(f.up && r.kind == kindServer && !r.up)
}

// parseFilter reads the arguments; false after an answer.
func parseFilter(c *cli.Context) (f filter, ok bool) {
	f = filter{iid: -1, kinds: -1, sid: -1}
	args := c.Args
	if len(args) > 0 && args[0] == "domain" {
		if len(args) < 2 || args[1] != "proxy" {
			c.Err("This domain of statistics has nothing to show; 'proxy' has.")
			return f, false
		}
		args = args[2:]
	}
	if len(args) >= 3 && !slices.Contains([]string{"typed", "json", "desc", "up", "no-maint"}, args[0]) {
		kinds, err1 := strconv.Atoi(args[1])
		sid, err2 := strconv.Atoi(args[2])
		if err1 == nil && err2 == nil {
			iid, err := strconv.Atoi(args[0])
			if err != nil {
				i := slices.IndexFunc(c.Host.Config().Proxies, func(p *model.Proxy) bool { return p.Name == args[0] })
				if i < 0 {
					c.Err("No such proxy.")
					return f, false
				}
				iid = c.Host.Config().Proxies[i].ID
			}
			f.iid, f.kinds, f.sid, args = iid, kinds, sid, args[3:]
		}
	}
	for _, a := range args {
		switch a {
		case "typed":
			f.form = typed
		case "json":
			f.form = jsonForm
		case "desc":
			f.desc = true
		case "up":
			f.up = true
		case "no-maint":
			f.noMaint = true
		}
	}
	return f, true
}

func showStat(c *cli.Context) {
	f, ok := parseFilter(c)
	if !ok {
		return
	}
	out := make([]byte, 0, 4096)
	switch f.form {
	case plain:
		out = appendHeader(out)
	case jsonForm:
		out = append(out, '[')
	}
	n := 0
	eachRow(c.Host, func(r *row) bool {
		if !f.wants(r) {
			return true
		}
		switch f.form {
		case plain:
			out = r.appendCSV(out)
		case typed:
			out = r.appendTyped(out, f.desc)
		case jsonForm:
			if n > 0 {
				out = append(out, ',')
			}
			out = r.appendJSON(out)
		}
		n++
		_, err := c.Write(out)
		out = out[:0]
		return err == nil
	})
	if f.form == jsonForm {
		out = append(out, "]\n"...)
	}
	_, _ = c.Write(out) // a failure ends the session
}

func appendHeader(out []byte) []byte {
	out = append(out, "# "...)
	for i := range statFields {
		if i == static {
			out = append(out, "-,"...)
		}
		out = append(append(out, statFields[i].name...), ',')
	}
	return append(out, '\n')
}

func (r *row) appendCSV(out []byte) []byte {
	for i := range statFields {
		if i == static {
			out = append(out, "-,"...)
		}
		out = append(appendCSV(out, r.cells[i]), ',')
	}
	return append(out, '\n')
}

// item is the value of column i.
func (r *row) item(i int) item {
	f := &statFields[i]
	it := item{i, f.name, f.tags, r.cells[i], f.desc}
	if r.kind == kindBackend && f.back != "" {
		it.tags = f.back
	}
	return it
}

func (r *row) appendTyped(out []byte, desc bool) []byte {
	for i := range statFields {
		if !r.have[i] {
			continue
		}
		it := r.item(i)
		out = fmt.Appendf(out, "%s.%d.%d.%d.%s.1:%s:%s", r.letter(), r.proxy, r.id, it.pos, it.name, it.tags, it.text)
		if desc {
			out = fmt.Appendf(out, ":%q", it.desc)
		}
		out = append(out, '\n')
	}
	return out
}

var jsonKinds = map[int]string{kindFrontend: "Frontend", kindBackend: "Backend", kindServer: "Server", kindListener: "Listener"}

func (r *row) appendJSON(out []byte) []byte {
	out = append(out, '[')
	first := true
	for i := range statFields {
		if !r.have[i] {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = fmt.Appendf(out, `{"objType":"%s","proxyId":%d,"id":%d,`, jsonKinds[r.kind], r.proxy, r.id)
		it := r.item(i)
		out = append(appendJSON(out, &it), '}')
	}
	return append(out, ']')
}

// eachRow makes the rows of all proxies, in the order of their declaration.
func eachRow(h cli.Host, fn func(r *row) bool) {
	fronts := make(map[*model.Proxy]*frontend.Frontend)
	for _, f := range h.Frontends() {
		fronts[f.Conf] = f
	}
	backs := make(map[*model.Proxy]*backend.Backend)
	for _, b := range h.Backends() {
		backs[b.Conf] = b
	}
	for _, p := range h.Config().Proxies {
		if p.Disabled {
			continue
		}
		if f := fronts[p]; f != nil {
			if !fn(frontRow(h, f)) {
				return
			}
			if p.Has(model.OptSocketStats) {
				for i, b := range p.Binds {
					if !fn(bindRow(p, b, i)) {
						return
					}
				}
			}
		}
		if b := backs[p]; b != nil {
			for _, s := range b.Servers {
				if !fn(serverRow(h, b, s)) {
					return
				}
			}
			if !fn(backRow(h, b)) {
				return
			}
		}
	}
}

// httpOnly are the columns that stay empty for a proxy in another mode than HTTP; those of servers and backends more.
var (
	httpOnly     = []string{"hrsp_1xx", "hrsp_2xx", "hrsp_3xx", "hrsp_4xx", "hrsp_5xx", "hrsp_other", "intercepted", "cache_lookups", "cache_hits", "cache_hint_hits"}
	httpOnlyBack = append(slices.Clone(httpOnly), "req_tot")
)

func (r *row) head(kind int, p *model.Proxy, name string, id, typ int) {
	r.kind, r.proxy, r.id = kind, p.ID, id
	r.str("pxname", p.Name)
	r.str("svname", name)
	r.num("pid", 1)
	r.num("iid", int64(p.ID))
	r.num("sid", int64(id))
	r.num("type", int64(typ))
	r.str("mode", modeName(p.Mode))
}

func modeName(m model.Mode) string {
	switch m {
	case model.ModeTCP:
		return "tcp"
	case model.ModeHTTP:
		return "http"
	case model.ModeLog:
		return "syslog"
	case model.ModeSPOP:
		return "spop"
	}
	return "unknown"
}

// counts fills the columns that every side of a proxy and every server counts.
func (r *row) counts(shards []stats.Proxy, http bool) {
	sum := func(name string, f func(s *stats.Proxy) *stats.Counter) { r.num(name, stats.Sum(shards, f)) }
	sum("bin", func(s *stats.Proxy) *stats.Counter { return &s.BytesIn })
	sum("bout", func(s *stats.Proxy) *stats.Counter { return &s.BytesOut })
	sum("reqbin", func(s *stats.Proxy) *stats.Counter { return &s.BytesIn })
	sum("resbout", func(s *stats.Proxy) *stats.Counter { return &s.BytesOut })
	sum("dresp", func(s *stats.Proxy) *stats.Counter { return &s.DeniedResponses })
	sum("wrew", func(s *stats.Proxy) *stats.Counter { return &s.FailedRewrites })
	sum("eint", func(s *stats.Proxy) *stats.Counter { return &s.InternalErrors })
	if !http {
		return
	}
	for i, name := range []string{"hrsp_other", "hrsp_1xx", "hrsp_2xx", "hrsp_3xx", "hrsp_4xx", "hrsp_5xx"} {
		sum(name, func(s *stats.Proxy) *stats.Counter { return &s.Responses[i] })
	}
	sum("req_tot", func(s *stats.Proxy) *stats.Counter { return &s.Requests })
}

// serverSide fills what backends and servers count besides.
func (r *row) serverSide(shards []stats.Proxy) {
	for name, f := range map[string]func(s *stats.Proxy) *stats.Counter{
		"econ":     func(s *stats.Proxy) *stats.Counter { return &s.FailedConnects },
		"eresp":    func(s *stats.Proxy) *stats.Counter { return &s.FailedResponses },
		"wretr":    func(s *stats.Proxy) *stats.Counter { return &s.Retries },
		"wredis":   func(s *stats.Proxy) *stats.Counter { return &s.Redispatches },
		"cli_abrt": func(s *stats.Proxy) *stats.Counter { return &s.ClientAborts },
		"srv_abrt": func(s *stats.Proxy) *stats.Counter { return &s.ServerAborts },
		"connect":  func(s *stats.Proxy) *stats.Counter { return &s.Connects },
		"reuse":    func(s *stats.Proxy) *stats.Counter { return &s.Reuses },
		"lbtot":    func(s *stats.Proxy) *stats.Counter { return &s.Sessions },
	} {
		r.num(name, stats.Sum(shards, f))
	}
	r.num("rate", stats.SumRate(shards, clock.Nanos(), func(s *stats.Proxy) *stats.Rate { return &s.SessRate }))
	r.num("lastsess", -1)
}

func sessions(shards []stats.Proxy) int64 {
	return stats.Sum(shards, func(s *stats.Proxy) *stats.Counter { return &s.Sessions })
}

func frontRow(h cli.Host, f *frontend.Frontend) *row {
	r := new(row)
	p := f.Conf
	http := p.Mode == model.ModeHTTP
	r.head(kindFrontend, p, "FRONTEND", 0, 0)
	r.counts(f.Stats, http)
	total := sessions(f.Stats)
	r.num("scur", f.Cur.Cur())
	r.num("smax", f.Cur.Peak())
	r.num("stot", total)
	r.num("slim", int64(cmp.Or(h.FrontMaxConn(f), h.MaxConn())))
	r.num("dreq", stats.Sum(f.Stats, func(s *stats.Proxy) *stats.Counter { return &s.DeniedRequests }))
	r.num("ereq", stats.Sum(f.Stats, func(s *stats.Proxy) *stats.Counter { return &s.FailedRequests }))
	r.num("dcon", stats.Sum(f.Stats, func(s *stats.Proxy) *stats.Counter { return &s.DeniedConns }))
	r.num("dses", stats.Sum(f.Stats, func(s *stats.Proxy) *stats.Counter { return &s.DeniedSessions }))
	requests := stats.Sum(f.Stats, func(s *stats.Proxy) *stats.Counter { return &s.Requests })
	if r.num("req_tot", requests); http {
		r.num("h1req", requests)
		r.num("h1sess", total)
	} else {
		r.num("sess_other", total)
	}
	now := clock.Nanos()
	r.num("rate", f.Rate.Read(now))
	r.num("conn_rate", f.Rate.Read(now))
	r.num("req_rate", stats.SumRate(f.Stats, now, func(s *stats.Proxy) *stats.Rate { return &s.ReqRate }))
	r.num("rate_lim", int64(p.RateLimitSessions))
	r.num("conn_tot", total)
	r.str("status", [...]string{cli.Open: "OPEN", cli.Paused: "PAUSED", cli.Stopped: "STOP"}[h.Accepting(f)])
	if http {
		r.zeros()
	} else {
		r.zeros(httpOnly...)
	}
	return r
}

// bindRow is the row of a bind line (option socket-stats).
func bindRow(p *model.Proxy, b *model.Bind, i int) *row {
	r := new(row)
	r.head(kindListener, p, cmp.Or(b.Name, fmt.Sprintf("sock-%d", i+1)), cmp.Or(b.ID, i+1), 3)
	r.num("slim", int64(b.MaxConn))
	r.str("status", "OPEN")
	if len(b.Addrs) > 0 {
		r.str("addr", bindAddr(b))
		r.str("proto", bindProto(b))
	}
	r.zeros()
	return r
}

func serverRow(h cli.Host, b *backend.Backend, s *server.Server) *row {
	r := new(row)
	p := b.Conf
	http := p.Mode == model.ModeHTTP
	r.head(kindServer, p, s.Name, s.Conf.ID, 2)
	r.counts(s.Stats, http)
	r.serverSide(s.Stats)
	r.num("qcur", s.Queue.Len())
	r.num("qmax", s.Queue.Peak())
	r.num("scur", s.Cur.Cur())
	r.num("smax", s.Cur.Peak())
	r.num("stot", sessions(s.Stats))
	skip := []string{"slim", "chkfail", "chkdown", "downtime", "qlimit", "throttle", "check_code", "check_duration", "hanafail",
		"agent_code", "agent_duration", "check_rise", "check_fall", "check_health", "agent_rise", "agent_fall", "agent_health", "src_ilim"}
	if s.Conf.MaxConn > 0 {
		r.num("slim", int64(s.Conf.MaxConn))
	}
	if s.Conf.MaxQueue > 0 {
		r.num("qlimit", int64(s.Conf.MaxQueue))
	}
	if s.Conf.PoolMaxConn >= 0 {
		r.num("src_ilim", int64(s.Conf.PoolMaxConn))
	}
	st, since := h.AdminState(s)
	r.num("lastchg", int64(since/time.Second))
	r.maint = st == cli.Maint || st == cli.MaintConfig
	r.up = !r.maint
	r.str("status", map[cli.State]string{cli.Ready: "no check", cli.Drain: "DRAIN", cli.Maint: "MAINT", cli.MaintConfig: "MAINT"}[st])
	r.num("weight", int64(s.Weight()))
	r.num("uweight", int64(s.Weight()))
	r.num("act", flag(!s.Conf.Backup))
	r.num("bck", flag(s.Conf.Backup))
	r.str("addr", serverAddr(s.Conf))
	if s.Conf.Cookie != "" {
		r.str("cookie", s.Conf.Cookie)
	}
	idle := s.Idle.Load()
	r.num("srv_icur", idle)
	r.num("safe_conn_cur", idle)
	r.num("used_conn_cur", max(s.Conns.Cur()-idle, 0))
	if !http {
		skip = append(skip, httpOnlyBack...)
	}
	r.zeros(skip...)
	return r
}

func flag(on bool) int64 {
	if on {
		return 1
	}
	return 0
}

func backRow(h cli.Host, b *backend.Backend) *row {
	r := new(row)
	p := b.Conf
	http := p.Mode == model.ModeHTTP
	r.head(kindBackend, p, "BACKEND", 0, 1)
	r.counts(b.Stats, http)
	r.serverSide(b.Stats)
	queued, full := b.Queue.Len(), int64(p.FullConn)
	usable, weight, active, backup := 0, 0, 0, 0
	for _, s := range b.Servers {
		queued += s.Queue.Len()
		full = max(full, s.FullConn)
		switch {
		case !s.Usable():
		case s.Conf.Backup:
			backup++
		default:
			active++
			weight += s.Weight()
		}
	}
	if active == 0 {
		for _, s := range b.Servers {
			if s.Usable() && (weight == 0 || p.Has(model.OptAllBackups)) {
				weight += s.Weight()
			}
		}
	}
	usable = active + backup
	r.num("qcur", queued)
	r.num("qmax", b.Queue.Peak())
	r.num("scur", b.Cur.Cur())
	r.num("smax", b.Cur.Peak())
	r.num("stot", sessions(b.Stats))
	r.num("slim", max(full, 1))
	r.num("dreq", stats.Sum(b.Stats, func(s *stats.Proxy) *stats.Counter { return &s.DeniedRequests }))
	r.str("status", "UP")
	if usable == 0 && len(b.Servers) > 0 {
		r.str("status", "DOWN")
	}
	r.num("weight", int64(weight))
	r.num("uweight", int64(weight))
	r.num("act", int64(active))
	r.num("bck", int64(backup))
	r.num("lastchg", int64(h.Uptime()/time.Second))
	r.str("algo", "unknown")
	if a := p.Balance.Algorithm; a != "" && a != "random" {
		r.str("algo", a)
	}
	skip := []string{}
	if len(b.Servers) == 0 {
		skip = append(skip, "downtime")
	}
	if !http {
		skip = append(skip, httpOnlyBack...)
	}
	r.zeros(skip...)
	return r
}
