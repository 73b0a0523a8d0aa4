package statspage

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"weir/internal/engine/statcol"
	"weir/internal/model"
)

// report is the page in HTML.
type report struct {
	*rows
	admin bool
	open  *model.Proxy // whose table is open
	form  bool         // the table stands in a form
}

// Append writes the next part; see rule.Source.
func (w *report) Append(dst []byte) ([]byte, bool) {
	if !w.begun {
		w.begun = true
		return w.head(dst), true
	}
	r, again := w.next()
	switch {
	case r != nil:
		if r.Conf != w.open {
			dst = w.section(w.closeTable(dst), r)
		}
		return w.row(dst, r), true
	case again:
		return dst, true
	}
	return append(w.closeTable(dst), "</body></html>\n"...), false
}

// esc appends text for HTML.
func esc(dst []byte, s string) []byte {
	for _, c := range s {
		switch c {
		case '&':
			dst = append(dst, "&amp;"...)
		case '<':
			dst = append(dst, "&lt;"...)
		case '>':
			dst = append(dst, "&gt;"...)
		case '"':
			dst = append(dst, "&quot;"...)
		case '\'':
			dst = append(dst, "&#39;"...)
		default:
			if c < ' ' || c == 0x7f {
				c = utf8.RuneError
			}
			dst = utf8.AppendRune(dst, c)
		}
	}
	return dst
}

// seconds is a duration in whole seconds, rounded up.
func seconds(d time.Duration) string { return strconv.FormatInt(int64(math.Ceil(d.Seconds())), 10) }

// href appends a link to the page with other options.
func (w *report) href(dst []byte, words, text string) []byte {
	dst = append(dst, `<a href="`...)
	dst = esc(esc(dst, w.URI), words)
	if w.scope != "" {
		dst = esc(append(dst, "?scope="...), w.scope)
	}
	dst = append(dst, `">`...)
	return append(esc(dst, text), "</a>"...)
}

// words are the options in force as they stand in links, without one of them.
func (w *report) words(without string) (s string) {
	for _, o := range []struct {
		on   bool
		word string
	}{{w.up, ";up"}, {w.noMaint, ";no-maint"}, {w.noRefresh, ";norefresh"}} {
		if o.on && o.word != without {
			s += o.word
		}
	}
	return s
}

func (w *report) head(dst []byte) []byte {
	info := make(map[string]string)
	statcol.Info(w.host, false, func(it *statcol.Item) bool {
		info[it.Name] = it.Text
		return true
	})
	node, desc := "", ""
	if w.ShowNode {
		if node = w.Node; node == "" {
			node = info["node"]
		}
	}
	if w.ShowDesc {
		if desc = w.Desc; desc == "" {
			desc = info["description"]
		}
	}
	dst = append(dst, `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex"><title>Statistics Report for weir`...)
	if node != "" {
		dst = esc(append(dst, " on "...), node)
	}
	dst = append(dst, "</title><link rel=\"icon\" href=\"data:,\"><style>"...)
	dst = append(append(dst, style...), "</style></head>\n<body><h1>weir"...)
	if w.ShowVersion {
		dst = esc(append(dst, ' '), info["Version"])
	}
	dst = esc(append(dst, "</h1><p>Statistics report for process "...), info["Pid"])
	if node != "" {
		dst = esc(append(dst, " on "...), node)
	}
	if desc != "" {
		dst = esc(append(dst, ": "...), desc)
	}
	dst = append(dst, "</p>\n"...)
	dst = w.message(dst)
	dst = append(dst, `<div class="top">`...)
	dst = process(dst, info)
	dst = append(dst, legend...)
	return append(w.choices(dst), "</div>\n"...)
}

// message says what an action led to.
func (w *report) message(dst []byte) []byte {
	if w.outcome == "" {
		return dst
	}
	o := &outcomes[len(outcomes)-1]
	for i := range outcomes {
		if outcomes[i].code == w.outcome {
			o = &outcomes[i]
		}
	}
	dst = append(append(append(dst, `<p class="msg `...), o.class...), `">`...)
	dst = append(esc(dst, o.text), ' ')
	return append(w.href(dst, w.words(""), "Hide this message"), "</p>\n"...)
}

// process tells of the process.
func process(dst []byte, info map[string]string) []byte {
	limit := func(name, unit string) string {
		if v := info[name]; v != "0" {
			return v + unit
		}
		return "unlimited"
	}
	dst = append(dst, "<section><h2>Process</h2><dl>"...)
	for _, v := range [][2]string{
		{"pid", info["Pid"] + " (process #" + info["Process_num"] + ", nbproc = " + info["Nbproc"] + ", nbthread = " + info["Nbthread"] + ")"},
		{"uptime", info["Uptime"]},
		{"warnings", info["TotalWarnings"]},
		{"memory limit", limit("Memmax_MB", " MB")},
		{"ulimit-n", info["Ulimit-n"]},
		{"maxsock", info["Maxsock"]},
		{"maxconn", info["Maxconn"] + " (reached " + info["MaxconnReached"] + " times)"},
		{"maxpipes", info["Maxpipes"]},
		{"connections", info["CurrConns"] + ", " + info["ConnRate"] + "/s"},
		{"pipes", info["PipesUsed"] + " used, " + info["PipesFree"] + " free"},
		{"bit rate", bitRate(info["BytesOutRate"])},
		{"tasks", info["Run_queue"] + " to run of " + info["Tasks"] + " (" + info["Niced_tasks"] + " niced)"},
		{"idle", info["Idle_pct"] + " %"},
	} {
		dst = append(esc(append(dst, "<dt>"...), v[0]), "</dt><dd>"...)
		dst = append(esc(dst, v[1]), "</dd>"...)
	}
	return append(dst, "</dl></section>\n"...)
}

// bitRate is a number of bytes a second in kilobits a second.
func bitRate(bytes string) string {
	n, _ := strconv.ParseFloat(bytes, 64) // a number that was made here
	return strconv.FormatFloat(n*8/1000, 'f', 3, 64) + " kbit/s"
}

const legend = `<section><h2>Colours</h2><div class="key"><i class="active_up"></i><span>active, up</span><i class="backup_up"></i><span>backup, up</span>
<i class="active_going_down"></i><span>active, up, going down</span><i class="backup_going_down"></i><span>backup, up, going down</span>
<i class="active_going_up"></i><span>active, down, going up</span><i class="backup_going_up"></i><span>backup, down, going up</span>
<i class="active_down"></i><span>active or backup, down</span><i class="active_no_check"></i><span>not checked</span>
<i class="maintain"></i><span>in maintenance (MAINT)</span><i class="active_draining"></i><span>up, without load balancing (DRAIN, NOLB)</span></div></section>
`

// choices are the ways to show the report.
func (w *report) choices(dst []byte) []byte {
	dst = append(dst, `<section><h2>Display</h2><ul>`...)
	item := func(words, text string) {
		dst = append(w.href(append(dst, "<li>"...), words, text), "</li>"...)
	}
	toggle := func(on bool, word, show, hide string) {
		if on {
			item(w.words(word), show)
		} else {
			item(word+w.words(word), hide)
		}
	}
	toggle(w.up, ";up", "Show servers that are down", "Hide servers that are down")
	toggle(w.noMaint, ";no-maint", "Show servers in maintenance", "Hide servers in maintenance")
	still := ""
	if w.Refresh > 0 {
		toggle(w.noRefresh, ";norefresh", "Refresh every "+seconds(w.Refresh)+" s", "Stop refreshing")
		still = ";norefresh"
	}
	item(w.words(""), "Refresh now")
	item(";csv"+still, "CSV export")
	item(";json"+still, "JSON export")
	item(";json-schema", "JSON schema")
	return append(w.scopeForm(append(dst, "</ul>"...)), "</section>"...)
}

// scopeForm asks for a scope. A browser replaces the query of the form's address, so that what the page's own has stands in
// the form.
func (w *report) scopeForm(dst []byte) []byte {
	path, query, _ := strings.Cut(w.URI, "?")
	dst = esc(append(dst, `<form method="get" action="`...), path)
	dst = append(dst, `"><p>`...)
	for _, pair := range strings.Split(query, "&") {
		if name, value, _ := strings.Cut(pair, "="); name != "" {
			dst = esc(append(dst, `<input type="hidden" name="`...), name)
			dst = esc(append(dst, `" value="`...), value)
			dst = append(dst, `">`...)
		}
	}
	dst = append(dst, `<label>Scope <input name="scope" size="10" maxlength="20" value="`...)
	return append(esc(dst, w.scope), `"></label></p></form>`...)
}

// closeTable ends the table of a proxy.
func (w *report) closeTable(dst []byte) []byte {
	if w.open == nil {
		return dst
	}
	w.open = nil
	dst = append(dst, "</tbody></table></div>\n"...)
	if w.form {
		w.form = false
		dst = append(dst, `<p class="act"><label>Checked servers: <select name="action"><option value=""></option>`...)
		for _, a := range actions {
			dst = append(append(append(dst, `<option value="`...), a.name...), `">`...)
			dst = append(append(dst, a.text...), "</option>"...)
		}
		dst = append(dst, "</select></label> <button>Apply</button></p></form>\n"...)
	}
	return dst
}

// section begins the table of a proxy.
func (w *report) section(dst []byte, r *statcol.Row) []byte {
	p := r.Conf
	w.open = p
	w.form = w.admin && p.IsBackend() && len(p.Servers) > 0
	dst = esc(append(dst, `<h2 id="`...), p.Name)
	dst = esc(append(dst, `"><a href="#`...), p.Name)
	dst = append(dst, `">`...)
	dst = append(esc(dst, p.Name), "</a>"...)
	if w.Legends {
		dst = append(dst, " <small>"...)
		dst = esc(dst, "cap: "+capabilities(p)+", mode: "+r.Get("mode")+", id: "+strconv.Itoa(p.ID))
		dst = append(dst, "</small>"...)
	}
	if p.Description != "" {
		dst = append(esc(append(dst, " <small>"...), p.Description), "</small>"...)
	}
	dst = append(dst, "</h2>\n"...)
	if w.form {
		dst = append(dst, `<form method="post"><input type="hidden" name="b" value="#`...)
		dst = strconv.AppendInt(dst, int64(p.ID), 10)
		dst = append(append(dst, `"><input type="hidden" name="token" value="`...), w.token(time.Now())...)
		dst = append(dst, `">`...)
	}
	dst = append(dst, `<div class="scroll"><table class="px"><thead><tr><th rowspan="2"></th><th rowspan="2"></th><th colspan="3">Queue</th><th colspan="3">Session rate</th><th colspan="6">Sessions</th><th colspan="2">Bytes</th><th colspan="2">Denied</th><th colspan="3">Errors</th><th colspan="2">Warnings</th><th colspan="9">Server</th>`...)
	if w.Modules {
		dst = append(dst, `<th rowspan="2">Modules</th>`...)
	}
	dst = append(dst, "</tr><tr>"...)
	for _, name := range [...]string{"Cur", "Max", "Limit", "Cur", "Max", "Limit", "Cur", "Max", "Limit", "Total", "LbTot", "Last", "In", "Out", "Req", "Resp", "Req", "Conn", "Resp", "Retr", "Redis", "Status", "LastChk", "Wght", "Act", "Bck", "Chk", "Dwn", "Dwntme", "Thrtle"} {
		dst = append(append(append(dst, "<th>"...), name...), "</th>"...)
	}
	return append(dst, "</tr></thead><tbody>\n"...)
}

func capabilities(p *model.Proxy) string {
	switch {
	case p.IsFrontend() && p.IsBackend():
		return "proxy"
	case p.IsFrontend():
		return "frontend"
	}
	return "backend"
}
