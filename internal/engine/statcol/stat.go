package statcol

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
	"weir/internal/model"
	"weir/internal/rt/clock"
)

// Kinds of rows, as the filter of "show stat" numbers them.
const (
	Frontend = 1 << iota
	Backend
	Server
	Listener
)

// Row is one object of "show stat": a frontend, a backend, a server or a listener.
type Row struct {
	Kind  int // one of the bits above
	Proxy int // id of the proxy
	ID    int // id of the server or listener
	// Maint: a server in maintenance; Up: one that is not down.
	Maint, Up bool
	// Conf is the row's proxy; Front, Back, Server and Bind are what runs it, nil where the row is of another kind (Back is
	// set for servers too).
	Conf   *model.Proxy
	Front  *frontend.Frontend
	Back   *backend.Backend
	Server *server.Server
	Bind   *model.Bind

	cells [len(columns)]string
	have  [len(columns)]bool
}

// index finds a column by its name.
var index = func() map[string]int {
	m := make(map[string]int, len(columns))
	for i := range columns {
		m[columns[i].Name] = i
	}
	return m
}()

// Columns are the columns in their order; nobody may write them.
func Columns() []Column { return columns[:] }

// Index is the place of a column among Columns, -1 for a name that none has.
func Index(name string) int {
	if i, ok := index[name]; ok {
		return i
	}
	return -1
}

// Value is the text of column i; ok is false when the row has none.
func (r *Row) Value(i int) (text string, ok bool) { return r.cells[i], r.have[i] }

// Get is the text of a column, "" when the row has none.
func (r *Row) Get(name string) string { return r.cells[index[name]] }

// Int is the number in a column, 0 when the row has none.
func (r *Row) Int(name string) int64 {
	n, _ := strconv.ParseInt(r.Get(name), 10, 64) // what is empty or text counts as 0
	return n
}

func (r *Row) str(name, v string) {
	i := index[name]
	r.cells[i], r.have[i] = v, true
}

func (r *Row) num(name string, v int64) { r.str(name, strconv.FormatInt(v, 10)) }

func (r *Row) letter() string {
	switch r.Kind {
	case Frontend:
		return "F"
	case Backend:
		return "B"
	case Server:
		return "S"
	}
	return "L"
}

// zeros fills what the kind of row has and nothing has set. skip names the columns that stay empty.
func (r *Row) zeros(skip ...string) {
	for i := range columns {
		f := &columns[i]
		if !r.have[i] && strings.Contains(f.Kinds, r.letter()) && !slices.Contains(skip, f.Name) && !strings.HasSuffix(f.Tags, ":str") {
			r.cells[i], r.have[i] = "0", true
		}
	}
}

// AppendHeader appends the line of column names that CSV begins with.
func AppendHeader(out []byte) []byte {
	out = append(out, "# "...)
	for i := range columns {
		if i == Static {
			out = append(out, "-,"...)
		}
		out = append(append(out, columns[i].Name...), ',')
	}
	return append(out, '\n')
}

// AppendCSV appends the row as a line of CSV.
func (r *Row) AppendCSV(out []byte) []byte {
	for i := range columns {
		if i == Static {
			out = append(out, "-,"...)
		}
		out = append(appendCSV(out, r.cells[i]), ',')
	}
	return append(out, '\n')
}

// item is the value of column i.
func (r *Row) item(i int) Item {
	f := &columns[i]
	it := Item{i, f.Name, f.Tags, r.cells[i], f.Desc}
	if r.Kind == Backend && f.Back != "" {
		it.Tags = f.Back
	}
	return it
}

// AppendTyped appends the typed form: a line for each value.
func (r *Row) AppendTyped(out []byte, desc bool) []byte {
	for i := range columns {
		if !r.have[i] {
			continue
		}
		it := r.item(i)
		out = fmt.Appendf(out, "%s.%d.%d.%d.%s.1:%s:%s", r.letter(), r.Proxy, r.ID, it.Pos, it.Name, it.Tags, it.Text)
		if desc {
			out = fmt.Appendf(out, ":%q", it.Desc)
		}
		out = append(out, '\n')
	}
	return out
}

var jsonKinds = map[int]string{Frontend: "Frontend", Backend: "Backend", Server: "Server", Listener: "Listener"}

// AppendJSON appends the row as a JSON array of values.
func (r *Row) AppendJSON(out []byte) []byte {
	out = append(out, '[')
	first := true
	for i := range columns {
		if !r.have[i] {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = fmt.Appendf(out, `{"objType":"%s","proxyId":%d,"id":%d,`, jsonKinds[r.Kind], r.Proxy, r.ID)
		it := r.item(i)
		out = append(AppendJSON(out, &it), '}')
	}
	return append(out, ']')
}

// httpOnly are the columns that stay empty for a proxy in another mode than HTTP; those of servers and backends more.
var (
	httpOnly     = []string{"hrsp_1xx", "hrsp_2xx", "hrsp_3xx", "hrsp_4xx", "hrsp_5xx", "hrsp_other", "intercepted", "cache_lookups", "cache_hits", "cache_hint_hits"}
	httpOnlyBack = append(slices.Clone(httpOnly), "req_tot")
)

func (r *Row) head(kind int, p *model.Proxy, name string, id, typ int) {
	r.Kind, r.Proxy, r.ID, r.Conf = kind, p.ID, id, p
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
func (r *Row) counts(shards []stats.Proxy, http bool) {
	sum := func(name string, f func(s *stats.Proxy) *stats.Counter) { r.num(name, stats.Sum(shards, f)) }
	sum("bin", func(s *stats.Proxy) *stats.Counter { return &s.ReqIn })
	sum("bout", func(s *stats.Proxy) *stats.Counter { return &s.ResIn })
	sum("reqbin", func(s *stats.Proxy) *stats.Counter { return &s.ReqIn })
	sum("reqbout", func(s *stats.Proxy) *stats.Counter { return &s.ReqOut })
	sum("resbin", func(s *stats.Proxy) *stats.Counter { return &s.ResIn })
	sum("resbout", func(s *stats.Proxy) *stats.Counter { return &s.ResOut })
	sum("stot", func(s *stats.Proxy) *stats.Counter { return &s.Sessions })
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

// listening fills what frontends and listeners count besides.
func (r *Row) listening(shards []stats.Proxy) {
	for name, f := range map[string]func(s *stats.Proxy) *stats.Counter{
		"dreq":     func(s *stats.Proxy) *stats.Counter { return &s.DeniedRequests },
		"ereq":     func(s *stats.Proxy) *stats.Counter { return &s.FailedRequests },
		"dcon":     func(s *stats.Proxy) *stats.Counter { return &s.DeniedConns },
		"dses":     func(s *stats.Proxy) *stats.Counter { return &s.DeniedSessions },
		"conn_tot": func(s *stats.Proxy) *stats.Counter { return &s.Conns },
	} {
		r.num(name, stats.Sum(shards, f))
	}
}

// serverSide fills what backends and servers count besides.
func (r *Row) serverSide(shards []stats.Proxy) {
	for name, f := range map[string]func(s *stats.Proxy) *stats.Counter{
		"econ":     func(s *stats.Proxy) *stats.Counter { return &s.FailedConnects },
		"eresp":    func(s *stats.Proxy) *stats.Counter { return &s.FailedResponses },
		"wretr":    func(s *stats.Proxy) *stats.Counter { return &s.Retries },
		"wredis":   func(s *stats.Proxy) *stats.Counter { return &s.Redispatches },
		"cli_abrt": func(s *stats.Proxy) *stats.Counter { return &s.ClientAborts },
		"srv_abrt": func(s *stats.Proxy) *stats.Counter { return &s.ServerAborts },
		"connect":  func(s *stats.Proxy) *stats.Counter { return &s.Connects },
		"reuse":    func(s *stats.Proxy) *stats.Counter { return &s.Reuses },
		"lbtot":    func(s *stats.Proxy) *stats.Counter { return &s.Chosen },
	} {
		r.num(name, stats.Sum(shards, f))
	}
	for name, f := range map[string]func(s *stats.Proxy) *stats.Mean{
		"qtime": func(s *stats.Proxy) *stats.Mean { return &s.QueueTime },
		"ctime": func(s *stats.Proxy) *stats.Mean { return &s.ConnectTime },
		"rtime": func(s *stats.Proxy) *stats.Mean { return &s.ResponseTime },
		"ttime": func(s *stats.Proxy) *stats.Mean { return &s.TotalTime },
	} {
		mean, most := stats.MeanOf(shards, f)
		r.num(name, mean)
		r.num(name+"_max", most)
	}
	now := clock.Nanos()
	r.num("rate", stats.SumRate(shards, now, stats.SessRate))
	r.num("rate_max", stats.PeakRate(shards, stats.SessRate))
	last := int64(-1)
	if at := stats.Last(shards); at != 0 {
		last = (now - at) / int64(time.Second)
	}
	r.num("lastsess", last)
}

func frontRow(h Host, f *frontend.Frontend) *Row {
	r := new(Row)
	r.Front = f
	p := f.Conf
	http := p.Mode == model.ModeHTTP
	r.head(Frontend, p, "FRONTEND", 0, 0)
	r.counts(f.Stats, http)
	r.listening(f.Stats)
	r.num("scur", f.Cur.Cur())
	r.num("smax", f.Cur.Peak())
	r.num("slim", int64(cmp.Or(h.FrontMaxConn(f), h.MaxConn())))
	requests := stats.Sum(f.Stats, func(s *stats.Proxy) *stats.Counter { return &s.Requests })
	r.num("req_tot", requests)
	r.num("h1req", requests)
	r.num("h1sess", stats.Sum(f.Stats, func(s *stats.Proxy) *stats.Counter { return &s.HTTPSessions }))
	r.num("sess_other", stats.Sum(f.Stats, func(s *stats.Proxy) *stats.Counter { return &s.OtherSessions }))
	r.num("intercepted", stats.Sum(f.Stats, func(s *stats.Proxy) *stats.Counter { return &s.Intercepted }))
	now := clock.Nanos()
	for name, rate := range map[string]func(s *stats.Proxy) *stats.LoopRate{"rate": stats.SessRate, "req_rate": stats.ReqRate, "conn_rate": stats.ConnRate} {
		r.num(name, stats.SumRate(f.Stats, now, rate))
		r.num(name+"_max", stats.PeakRate(f.Stats, rate))
	}
	r.num("rate_lim", int64(p.RateLimitSessions))
	r.str("status", [...]string{Open: "OPEN", Paused: "PAUSED", Stopped: "STOP"}[h.Accepting(f)])
	if http {
		r.zeros()
	} else {
		r.hide("intercepted")
		r.zeros(httpOnly...)
	}
	return r
}

// hide empties a column.
func (r *Row) hide(name string) {
	i := index[name]
	r.cells[i], r.have[i] = "", false
}

// bindRow is the row of a bind line (option socket-stats).
func bindRow(h Host, p *model.Proxy, b *model.Bind, i int) *Row {
	r := new(Row)
	r.Bind = b
	r.head(Listener, p, cmp.Or(b.Name, fmt.Sprintf("sock-%d", i+1)), cmp.Or(b.ID, i+1), 3)
	own := h.BindLine(b)
	if own != nil {
		r.counts(own.Stats, false)
		r.listening(own.Stats)
		r.num("scur", own.Conns.Cur())
		r.num("smax", own.Conns.Peak())
	}
	r.num("slim", int64(b.MaxConn))
	r.str("status", "OPEN")
	if len(b.Addrs) > 0 {
		a := bound(b, own)
		r.str("addr", bindAddr(a))
		r.str("proto", bindProto(a))
	}
	r.zeros()
	return r
}

func serverRow(h Host, b *backend.Backend, s *server.Server) *Row {
	r := new(Row)
	r.Back, r.Server = b, s
	p := b.Conf
	http := p.Mode == model.ModeHTTP
	r.head(Server, p, s.Name, s.Conf.ID, 2)
	r.counts(s.Stats, http)
	r.serverSide(s.Stats)
	r.num("qcur", s.Queue.Len())
	r.num("qmax", s.Queue.Peak())
	r.num("scur", s.Cur.Cur())
	r.num("smax", s.Busy.Load())
	skip := []string{"slim", "chkfail", "chkdown", "downtime", "qlimit", "throttle", "check_code", "check_duration", "hanafail",
		"agent_code", "agent_duration", "check_rise", "check_fall", "check_health", "agent_rise", "agent_fall", "agent_health", "src_ilim"}
	if n := s.MaxConn(); n > 0 {
		r.num("slim", n)
	}
	if s.Conf.MaxQueue > 0 {
		r.num("qlimit", int64(s.Conf.MaxQueue))
	}
	if s.Conf.PoolMaxConn >= 0 {
		r.num("src_ilim", int64(s.Conf.PoolMaxConn))
	}
	st, since := h.AdminState(s)
	r.num("lastchg", int64(since/time.Second))
	r.Maint = st == Maint || st == MaintConfig
	r.Up = !r.Maint
	r.str("status", map[State]string{Ready: "no check", Drain: "DRAIN", Maint: "MAINT", MaintConfig: "MAINT"}[st])
	r.num("weight", int64(s.Weight()))
	r.num("uweight", int64(s.Weight()))
	r.num("act", flag(!s.Conf.Backup))
	r.num("bck", flag(s.Conf.Backup))
	r.str("addr", serverAddr(s))
	if s.Conf.Cookie != "" {
		r.str("cookie", s.Conf.Cookie)
	}
	idle := s.Idle.Load()
	r.num("srv_icur", idle)
	safe := s.Safe.Load()
	r.num("safe_conn_cur", safe)
	r.num("idle_conn_cur", idle-safe)
	r.num("used_conn_cur", max(s.Conns.Cur()-idle, 0))
	r.num("need_conn_est", s.Needed())
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

func backRow(h Host, b *backend.Backend) *Row {
	r := new(Row)
	r.Back = b
	p := b.Conf
	http := p.Mode == model.ModeHTTP
	r.head(Backend, p, "BACKEND", 0, 1)
	r.counts(b.Stats, http)
	r.serverSide(b.Stats)
	usable, weight, active, backup := 0, 0, 0, 0
	for _, s := range b.Servers {
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
	r.num("qcur", b.Queue.Len())
	r.num("qmax", b.Queue.Peak())
	r.num("scur", b.Cur.Cur())
	r.num("smax", b.Cur.Peak())
	r.num("slim", max(b.FullConn, 1))
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
