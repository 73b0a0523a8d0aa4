package prometheus

import (
	"strconv"
	"strings"

	"weir/internal/engine/statcol"
)

// family is one metric of a kind of object.
type family struct {
	name    string
	counter bool   // else a gauge
	column  string // of the statistics that it shows
	help    string
	code    string   // label of one class of responses; the classes after the first share its head
	millis  bool     // the column is in milliseconds, the metric in seconds
	states  []string // one value for each of them
	servers bool     // the states are those of a backend's servers, counted
}

// kinds are the kinds of objects in the order of the output.
var kinds = [...]struct {
	name     string
	scope    scope
	families []family
}{
	{"frontend", frontends, concat(sessions, bytesMoved, denials, requestErrors, state("UP"), frontRates, responses, frontHTTP, compression, frontConns, interception, refusals, rewrites, cache, internal)},
	{"listener", listeners, concat(sessions, bytesMoved, denials, requestErrors, listenerState, refusals, rewrites, internal)},
	{"backend", backends, concat(queues, sessions, bytesMoved, denials, serverErrors, state("UP"), weights, backServers, checks, balanced, backRate, responses, requestsTotal, aborts, compression,
		lastSession, times, rewrites, attempts, cache, maxTimes, internal, userWeight, aggregated)},
	{"server", servers, concat(queues, sessions, bytesMoved, denials[1:], serverErrors, serverStates, weights[:1], serverChecks, limits, balanced, backRate, responses, aborts, lastSession, times, rewrites,
		attempts, idle, maxTimes, internal, connections, userWeight)},
}

func concat(parts ...[]family) (list []family) {
	for _, p := range parts {
		list = append(list, p...)
	}
	return list
}

func count(name, column, help string) family {
	return family{name: name + "_total", counter: true, column: column, help: help}
}
func gauge(name, column, help string) family { return family{name: name, column: column, help: help} }
func seconds(name, column, help string) family {
	return family{name: name + "_seconds", column: column, help: help, millis: true}
}

var (
	queues   = []family{gauge("current_queue", "qcur", "requests that wait now"), gauge("max_queue", "qmax", "most requests that waited at once")}
	sessions = []family{
		gauge("current_sessions", "scur", "sessions now"), gauge("max_sessions", "smax", "most sessions at once"), gauge("limit_sessions", "slim", "limit on sessions"),
		count("sessions", "stot", "sessions since the start"),
	}
	bytesMoved    = []family{count("bytes_in", "bin", "bytes of requests"), count("bytes_out", "bout", "bytes of responses")}
	denials       = []family{count("requests_denied", "dreq", "requests that rules denied"), count("responses_denied", "dresp", "responses that rules denied")}
	requestErrors = []family{count("request_errors", "ereq", "requests that were faulty or broken off")}
	serverErrors  = []family{
		count("connection_errors", "econ", "requests whose connection to a server failed"), count("response_errors", "eresp", "responses that were faulty or broken off"),
		count("retry_warnings", "wretr", "repeated attempts to connect"), count("redispatch_warnings", "wredis", "requests sent to another server"),
	}
	frontRates = []family{gauge("limit_session_rate", "rate_lim", "limit on sessions a second"), gauge("max_session_rate", "rate_max", "most sessions in a second")}
	backRate   = []family{gauge("max_session_rate", "rate_max", "most sessions in a second")}
	responses  = func() (list []family) {
		for _, code := range []string{"1xx", "2xx", "3xx", "4xx", "5xx", "other"} {
			f := count("http_responses", "hrsp_"+code, "responses by the class of their status")
			f.code = code
			list = append(list, f)
		}
		return list
	}()
	requestsTotal = []family{count("http_requests", "req_tot", "requests of HTTP")}
	frontHTTP     = []family{gauge("http_requests_rate_max", "req_rate_max", "most requests of HTTP in a second"), requestsTotal[0]}
	compression   = []family{
		count("http_comp_bytes_in", "comp_in", "bytes given to compression"), count("http_comp_bytes_out", "comp_out", "bytes that compression produced"),
		count("http_comp_bytes_bypassed", "comp_byp", "bytes that compression passed by"), count("http_comp_responses", "comp_rsp", "responses compressed"),
	}
	frontConns   = []family{gauge("connections_rate_max", "conn_rate_max", "most connections in a second"), count("connections", "conn_tot", "connections since the start")}
	interception = []family{count("intercepted_requests", "intercepted", "requests answered without a server")}
	refusals     = []family{count("denied_connections", "dcon", "connections that rules refused"), count("denied_sessions", "dses", "sessions that rules refused")}
	rewrites     = []family{count("failed_header_rewriting", "wrew", "changes of headers that did not fit")}
	cache        = []family{count("http_cache_lookups", "cache_lookups", "lookups in the cache"), count("http_cache_hits", "cache_hits", "lookups in the cache that found something")}
	internal     = []family{count("internal_errors", "eint", "faults of the program itself")}
	weights      = []family{gauge("weight", "weight", "effective weight")}
	userWeight   = []family{gauge("uweight", "uweight", "weight as set by users")}
	backServers  = []family{gauge("active_servers", "act", "active servers that are up"), gauge("backup_servers", "bck", "backup servers that are up")}
	checks       = []family{count("check_up_down", "chkdown", "changes from up to down"), gauge("check_last_change_seconds", "lastchg", "seconds since the last change of state"), count("downtime_seconds", "downtime", "seconds spent down")}
	serverChecks = append([]family{count("check_failures", "chkfail", "failed checks while the server was up")}, checks...)
	limits       = []family{gauge("queue_limit", "qlimit", "limit on requests that wait"), gauge("current_throttle", "throttle", "percentage of the weight that a slow start allows")}
	balanced     = []family{count("loadbalanced", "lbtot", "times that balancing chose it")}
	aborts       = []family{count("client_aborts", "cli_abrt", "exchanges that clients broke off"), count("server_aborts", "srv_abrt", "exchanges that servers broke off")}
	lastSession  = []family{gauge("last_session_seconds", "lastsess", "seconds since the last session, -1 without any")}
	times        = []family{
		seconds("queue_time_average", "qtime", "mean time in queues, of the last requests"), seconds("connect_time_average", "ctime", "mean time to connect, of the last requests"),
		seconds("response_time_average", "rtime", "mean time to the response, of the last requests"), seconds("total_time_average", "ttime", "mean time of whole exchanges, of the last requests"),
	}
	maxTimes = []family{
		seconds("max_queue_time", "qtime_max", "longest time in a queue"), seconds("max_connect_time", "ctime_max", "longest time to connect"),
		seconds("max_response_time", "rtime_max", "longest time to a response"), seconds("max_total_time", "ttime_max", "longest exchange"),
	}
	attempts = []family{count("connection_attempts", "connect", "attempts to connect"), count("connection_reuses", "reuse", "requests on connections that were there")}
	idle     = []family{gauge("idle_connections_current", "srv_icur", "connections at rest"), gauge("idle_connections_limit", "src_ilim", "limit on connections at rest")}

	connections = []family{
		gauge("unsafe_idle_connections_current", "idle_conn_cur", "connections at rest that have carried one request"), gauge("safe_idle_connections_current", "safe_conn_cur", "connections at rest that have carried several"),
		gauge("used_connections_current", "used_conn_cur", "connections in use"), gauge("need_connections_current", "need_conn_est", "connections that the traffic needs, an estimate"),
	}
	listenerState = []family{{name: "status", column: "status", help: "state, 1 for the one that holds", states: []string{"WAITING", "OPEN", "FULL"}}}
	serverNames   = []string{"DOWN", "UP", "MAINT", "DRAIN", "NOLB"}
	outcomes      = []string{
		"HANA", "SOCKERR", "L4OK", "L4TOUT", "L4CON", "L6OK", "L6TOUT", "L6RSP", "L7TOUT", "L7RSP", "L7OK", "L7OKC", "L7STS", "PROCERR", "PROCTOUT", "PROCOK",
	}
	serverStates = []family{{name: "status", column: "status", help: "state, 1 for the one that holds", states: serverNames}}
	aggregated   = []family{
		{name: "agg_server_status", help: "servers in each state", states: serverNames, servers: true},
		{name: "agg_server_check_status", help: "the same by its former name", states: serverNames, servers: true},
		{name: "agg_check_status", help: "checked servers by the outcome of their last check", states: outcomes, servers: true},
	}
)

func state(up string) []family {
	return []family{{name: "status", column: "status", help: "state, 1 for the one that holds", states: []string{"DOWN", up}}}
}

// serverState is the state of a server as the metrics name it.
func serverState(r *statcol.Row) string {
	switch s := r.Get("status"); {
	case r.Maint:
		return "MAINT"
	case strings.HasPrefix(s, "DRAIN"):
		return "DRAIN"
	case strings.HasPrefix(s, "NOLB"):
		return "NOLB"
	case strings.HasPrefix(s, "DOWN"):
		return "DOWN"
	}
	return "UP"
}

// value is the text of the value in a row; of a state, its name.
func (f *family) value(r *statcol.Row) string {
	text := r.Get(f.column)
	switch {
	case f.servers:
		return ""
	case f.states != nil:
		switch r.Kind {
		case statcol.Server:
			return serverState(r)
		case statcol.Listener:
			return text
		}
		if text == "OPEN" || strings.HasPrefix(text, "UP") {
			return "UP"
		}
		return "DOWN"
	case text == "":
		return "NaN"
	case f.millis:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return "NaN"
		}
		return strconv.FormatFloat(float64(n)/1000, 'f', 6, 64)
	}
	return text
}

// appendHead writes what comes before the values.
func (f *family) appendHead(dst []byte, kind string) []byte {
	if f.code != "" && f.code != "1xx" {
		return dst
	}
	return appendHead(dst, "haproxy_"+kind+"_"+f.name, f.help, f.counter)
}

func appendHead(dst []byte, name, help string, counter bool) []byte {
	typ := " gauge\n"
	if counter {
		typ = " counter\n"
	}
	dst = append(append(append(append(dst, "# HELP "...), name...), ' '), help...)
	return append(append(append(dst, "\n# TYPE "...), name...), typ...)
}

// appendRow writes the values of one object.
func (f *family) appendRow(dst []byte, kind string, r *row, value string) []byte {
	line := func(label, of, value string) {
		dst = append(append(append(append(dst, "haproxy_"...), kind...), '_'), f.name...)
		dst = append(append(dst, '{'), r.labels...)
		if label != "" {
			dst = append(append(append(append(append(dst, ','), label...), `="`...), of...), '"')
		}
		dst = append(append(append(dst, "} "...), value...), '\n')
	}
	switch {
	case f.servers:
		for _, s := range f.states {
			if r.states != nil {
				line("state", s, strconv.Itoa(r.states[s]))
			}
		}
	case f.states != nil:
		for _, s := range f.states {
			line("state", s, map[bool]string{true: "1", false: "0"}[s == value])
		}
	case f.code != "":
		line("code", f.code, value)
	default:
		line("", "", value)
	}
	return dst
}
