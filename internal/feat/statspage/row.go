package statspage

import (
	"fmt"
	"strconv"
	"strings"

	"weir/internal/base/addr"
	"weir/internal/engine/statcol"
	"weir/internal/model"
)

// cells writes the cells of one row.
type cells struct {
	out []byte
	r   *statcol.Row
}

// detail is one line behind a value: what, the value, and what a percentage is of.
type detail struct{ what, value, more string }

// number groups the digits of an integer.
func number(s string) string {
	if len(s) < 5 || strings.Trim(s, "0123456789") != "" {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteString("\u202f") // a narrow space that no line breaks at
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// td writes a cell with a text and what is behind it.
func (c *cells) td(class, text string, more ...detail) {
	c.out = append(c.out, "<td"...)
	if class != "" {
		c.out = append(append(append(c.out, ` class="`...), class...), '"')
	}
	c.out = append(c.out, '>')
	c.tip(func() { c.out = esc(c.out, text) }, more)
	c.out = append(c.out, "</td>"...)
}

// tip writes something with lines behind it.
func (c *cells) tip(write func(), more []detail) {
	if len(more) == 0 {
		write()
		return
	}
	c.out = append(c.out, `<div class="t" tabindex="0">`...)
	write()
	c.out = append(c.out, `<div class="tip"><table>`...)
	for _, d := range more {
		c.out = append(esc(append(c.out, "<tr><th>"...), d.what), "</th><td>"...)
		c.out = esc(c.out, number(d.value))
		if d.more != "" {
			c.out = append(esc(append(c.out, " ("...), d.more), ')')
		}
		c.out = append(c.out, "</td></tr>"...)
	}
	c.out = append(c.out, "</table></div></div>"...)
}

// num writes the values of columns, one cell each.
func (c *cells) num(names ...string) {
	for _, n := range names {
		c.td("", number(c.r.Get(n)))
	}
}

// limit writes a limit: "-" when there is none.
func (c *cells) limit(name string) {
	v := c.r.Get(name)
	if v == "" || v == "0" && name != "slim" {
		v = "-"
	}
	c.td("", number(v))
}

// span writes an empty cell over n columns.
func (c *cells) span(n int) { c.out = fmt.Appendf(c.out, `<td colspan="%d"></td>`, n) }

// of appends lines for columns: pairs of a text and a column's name.
func (c *cells) of(list []detail, pairs ...string) []detail {
	for i := 0; i < len(pairs); i += 2 {
		if v := c.r.Get(pairs[i+1]); v != "" {
			list = append(list, detail{what: pairs[i], value: v})
		}
	}
	return list
}

// row writes the row of a frontend, listener, server or backend.
func (w *report) row(dst []byte, r *statcol.Row) []byte {
	c := &cells{dst, r}
	c.out = append(c.out, `<tr class="`...)
	c.out = append(append(c.out, class(r)...), `"><td>`...)
	if w.form && r.Kind == statcol.Server {
		c.out = esc(append(c.out, `<input type="checkbox" name="s" aria-label="`...), r.Get("svname"))
		c.out = esc(append(c.out, `" value="`...), r.Get("svname"))
		c.out = append(c.out, `">`...)
	}
	c.out = append(c.out, "</td>"...)
	w.name(c)
	c.queue()
	c.rate()
	c.sessions()
	c.traffic()
	c.state()
	if w.Modules {
		c.modules()
	}
	return append(c.out, "</tr>\n"...)
}

// class is the colour of a row.
func class(r *statcol.Row) string {
	switch r.Kind {
	case statcol.Frontend:
		return "frontend"
	case statcol.Listener:
		return "socket"
	case statcol.Backend:
		return "backend"
	}
	side := "active"
	if r.Get("bck") == "1" {
		side = "backup"
	}
	status, progress, _ := strings.Cut(r.Get("status"), " ")
	switch {
	case r.Maint || status == "MAINT":
		return "maintain"
	case status == "DRAIN":
		return side + "_draining"
	case status == "NOLB":
		return side + "_nolb"
	case status == "no":
		return side + "_no_check"
	case status == "UP" && progress != "" && !strings.HasPrefix(progress, "("):
		return side + "_going_down"
	case status == "UP":
		return side + "_up"
	case status == "DOWN" && progress != "" && !strings.HasPrefix(progress, "("):
		return side + "_going_up"
	}
	return side + "_down"
}

// name writes the name, which can be linked to, and with show-legends what the row stands for.
func (w *report) name(c *cells) {
	r := c.r
	name, id := r.Get("svname"), r.Get("svname")
	switch r.Kind {
	case statcol.Frontend:
		name, id = "Frontend", "Frontend"
	case statcol.Backend:
		name, id = "Backend", "Backend"
	case statcol.Listener:
		id = "+" + name
	}
	id = r.Get("pxname") + "/" + id
	c.out = esc(append(c.out, `<td id="`...), id)
	c.out = append(c.out, `">`...)
	var more []detail
	if w.Legends {
		more = w.legend(c)
	}
	c.tip(func() {
		c.out = esc(append(c.out, `<a href="#`...), id)
		c.out = append(c.out, `">`...)
		c.out = append(esc(c.out, name), "</a>"...)
	}, more)
	c.out = append(c.out, "</td>"...)
}

// legend is what show-legends adds to a name.
func (w *report) legend(c *cells) (list []detail) {
	r := c.r
	switch r.Kind {
	case statcol.Listener:
		list = append(list, detail{what: "address", value: r.Get("addr")}, detail{what: "proto", value: r.Get("proto")}, detail{what: "id", value: strconv.Itoa(r.ID)})
	case statcol.Server:
		list = append(list, detail{what: family(r), value: r.Get("addr")}, detail{what: "id", value: strconv.Itoa(r.ID)}, detail{what: "rid", value: r.Get("srid")})
	case statcol.Backend:
		list = append(list, detail{what: "balancing", value: r.Get("algo")})
	}
	if v := r.Get("cookie"); v != "" {
		list = append(list, detail{what: "cookie", value: v})
	}
	return list
}

// family says what kind of address a server has.
func family(r *statcol.Row) string {
	if s := r.Server; s != nil {
		switch a := &s.Conf.Addr; {
		case a.Family == addr.Unix || a.Family == addr.Abstract:
			return "unix"
		case a.IP.Is6():
			return "IPv6"
		case a.IP.Is4():
			return "IPv4"
		}
	}
	return "address"
}

func (c *cells) queue() {
	switch c.r.Kind {
	case statcol.Frontend, statcol.Listener:
		c.span(3)
	case statcol.Backend:
		c.num("qcur", "qmax")
		c.td("", "")
	default:
		c.num("qcur", "qmax")
		c.limit("qlimit")
	}
}

func (c *cells) rate() {
	switch c.r.Kind {
	case statcol.Listener:
		c.span(3)
	case statcol.Frontend:
		c.td("", number(c.r.Get("rate")), c.of(nil, "Connections a second", "conn_rate", "Sessions a second", "rate", "Requests a second", "req_rate")...)
		c.td("", number(c.r.Get("rate_max")), c.of(nil, "Most connections a second", "conn_rate_max", "Most sessions a second", "rate_max", "Most requests a second", "req_rate_max")...)
		c.limit("rate_lim")
	default:
		c.num("rate", "rate_max")
		c.td("", "")
	}
}

func (c *cells) sessions() {
	r := c.r
	if r.Kind == statcol.Server {
		c.td("", number(r.Get("scur")), c.of(nil, "Connections in use", "used_conn_cur", "Idle connections", "srv_icur", "- unsafe", "idle_conn_cur",
			"- safe", "safe_conn_cur", "Connections needed, estimated", "need_conn_est", "Idle connections of one client", "priv_idle_cur",
			"Limit on active sessions", "slim", "Limit on idle connections", "src_ilim")...)
	} else {
		c.num("scur")
	}
	c.num("smax")
	c.limit("slim")
	c.td("", number(r.Get("stot")), c.totals()...)
	switch r.Kind {
	case statcol.Server, statcol.Backend:
		c.num("lbtot")
		last := "?"
		if n := r.Int("lastsess"); n >= 0 {
			last = age(n)
		}
		c.td("", last)
	default:
		c.span(2)
	}
}

// totals are what is behind the number of sessions.
func (c *cells) totals() []detail {
	r := c.r
	if r.Kind == statcol.Listener {
		return nil
	}
	list := c.of(nil, "Connections", "conn_tot", "Sessions", "stot", "- HTTP/1", "h1sess", "- HTTP/2", "h2sess", "- HTTP/3", "h3sess", "- other", "sess_other",
		"New connections", "connect")
	if v := r.Get("reuse"); v != "" {
		list = append(list, detail{"Reused connections", v, percent(r.Int("reuse"), r.Int("reuse")+r.Int("connect"))})
	}
	if r.Conf.Mode == model.ModeHTTP {
		list = c.of(list, "Requests", "req_tot", "- HTTP/1", "h1req", "- HTTP/2", "h2req", "- HTTP/3", "h3req", "- other", "req_other")
		total := r.Int("req_tot")
		for _, k := range [...]string{"1xx", "2xx", "3xx", "4xx", "5xx", "other"} {
			n := r.Int("hrsp_" + k)
			list = append(list, detail{"- responses " + k, r.Get("hrsp_" + k), percent(n, total)})
			if k == "2xx" && r.Get("comp_rsp") != "" {
				list = append(list, detail{"  compressed", r.Get("comp_rsp"), percent(r.Int("comp_rsp"), n)})
			}
		}
		list = c.of(list, "Intercepted requests", "intercepted", "Cache lookups", "cache_lookups")
		if v := r.Get("cache_hits"); v != "" {
			list = append(list, detail{"Cache hits", v, percent(r.Int("cache_hits"), r.Int("cache_lookups"))})
		}
		list = c.of(list, "Cache hint hits", "cache_hint_hits")
	}
	list = c.of(list, "Failed header rewrites", "wrew", "Internal errors", "eint")
	if r.Kind != statcol.Frontend {
		for _, t := range [...][2]string{{"Queue time, max / avg", "qtime"}, {"Connect time, max / avg", "ctime"}, {"Response time, max / avg", "rtime"}, {"Total time, max / avg", "ttime"}} {
			list = append(list, detail{what: t[0], value: r.Get(t[1]+"_max") + " / " + r.Get(t[1]) + " ms"})
		}
	}
	return list
}

func percent(n, of int64) string {
	if of <= 0 {
		return "0 %"
	}
	return strconv.FormatInt(100*n/of, 10) + " %"
}

// traffic writes bytes, refusals, errors and warnings.
func (c *cells) traffic() {
	r := c.r
	c.td("", number(r.Get("bin")), c.of(nil, "Requests, bytes in", "reqbin", "Requests, bytes out", "reqbout")...)
	more := c.of(nil, "Responses, bytes in", "resbin", "Responses, bytes out", "resbout", "Compression in", "comp_in", "Compression out", "comp_out", "Compression bypass", "comp_byp")
	if r.Get("comp_in") != "" {
		saved := r.Int("comp_in") - r.Int("comp_out")
		more = append(more, detail{"Bytes saved", strconv.FormatInt(saved, 10), percent(saved, r.Int("bout")+saved)})
	}
	c.td("", number(r.Get("bout")), more...)
	c.td("", number(r.Get("dreq")), c.of(nil, "Connections denied", "dcon", "Sessions denied", "dses")...)
	c.num("dresp", "ereq", "econ")
	c.td("", number(r.Get("eresp")), c.of(nil, "Transfers broken off by clients", "cli_abrt", "Transfers broken off by servers", "srv_abrt")...)
	c.num("wretr", "wredis")
}

// state writes the columns of the group "Server".
func (c *cells) state() {
	r := c.r
	switch r.Kind {
	case statcol.Frontend, statcol.Listener:
		c.td("m", r.Get("status"))
		c.span(8)
		return
	}
	status := r.Get("status")
	if status != "no check" {
		status = age(r.Int("lastchg")) + " " + status
	}
	if v := r.Get("tracked"); v != "" {
		status += " via " + v
	}
	c.td("m", status)
	c.lastCheck()
	weight := r.Get("weight")
	if u := r.Get("uweight"); u != "" {
		weight += "/" + u
	}
	c.td("m", weight)
	if r.Kind == statcol.Server {
		c.td("m", yes(r.Get("act")))
		c.td("m", yes(r.Get("bck")))
	} else {
		c.td("m", r.Get("act"))
		c.td("m", r.Get("bck"))
	}
	c.td("", number(r.Get("chkfail")), c.of(nil, "Failed checks", "chkfail", "Details of failed checks", "hanafail")...)
	c.num("chkdown")
	down := ""
	if v := r.Get("downtime"); v != "" {
		down = age(r.Int("downtime"))
	}
	c.td("", down)
	throttle := ""
	if v := r.Get("throttle"); v != "" {
		throttle = v + " %"
	}
	c.td("m", throttle)
}

// lastCheck writes the outcome of the last check of a server and of its agent.
func (c *cells) lastCheck() {
	r := c.r
	text := r.Get("check_status")
	if v := r.Get("check_code"); v != "" && v != "0" {
		text += "/" + v
	}
	if v := r.Get("check_duration"); v != "" && text != "" {
		text += " in " + v + " ms"
	}
	var more []detail
	for _, p := range [...][2]string{{"Check", "check_desc"}, {"Answer", "last_chk"}, {"Agent", "agent_status"}, {"Agent check", "agent_desc"}, {"Agent answer", "last_agt"}} {
		more = c.of(more, p[0], p[1])
	}
	c.td("m", text, more...)
}

func yes(v string) string {
	if v == "1" {
		return "Y"
	}
	return "-"
}

// modules writes the values of the columns behind the common ones.
func (c *cells) modules() {
	var more []detail
	for i := statcol.Static; i < len(statcol.Columns()); i++ {
		if v, ok := c.r.Value(i); ok {
			more = append(more, detail{what: statcol.Columns()[i].Name, value: v})
		}
	}
	text := ""
	if len(more) > 0 {
		text = "…"
	}
	c.td("m", text, more...)
}

// age is a number of seconds as its two largest units.
func age(n int64) string {
	switch {
	case n < 60:
		return fmt.Sprintf("%ds", n)
	case n < 3600:
		return fmt.Sprintf("%dm%02ds", n/60, n%60)
	case n < 86400:
		return fmt.Sprintf("%dh%02dm", n/3600, n%3600/60)
	}
	return fmt.Sprintf("%dd%dh", n/86400, n%86400/3600)
}
