package prometheus

// metric is one metric of the process.
type metric struct {
	name, field, help string // field of "show info"
	counter           bool
}

// process are the metrics of the process in the order of the output.
var process = []metric{
	{"nbthread", "Nbthread", "threads", false},
	{"nbproc", "Nbproc", "processes, always 1", false},
	{"relative_process_id", "Process_num", "number of this process, always 1", false},
	{"uptime_seconds", "Uptime_sec", "seconds since the start", false},
	{"pool_failures_total", "PoolFailed", "allocations that failed", true},
	{"max_fds", "Ulimit-n", "limit on descriptors", false},
	{"max_sockets", "Maxsock", "limit on sockets", false},
	{"max_connections", "Maxconn", "limit on client connections", false},
	{"hard_max_connections", "Hard_maxconn", "limit on client connections that the system leaves", false},
	{"current_connections", "CurrConns", "client connections now", false},
	{"connections_total", "CumConns", "client connections since the start", true},
	{"requests_total", "CumReq", "requests since the start", true},
	{"max_ssl_connections", "MaxSslConns", "limit on TLS connections, 0 for none", false},
	{"current_ssl_connections", "CurrSslConns", "TLS connections now", false},
	{"ssl_connections_total", "CumSslConns", "TLS connections since the start", true},
	{"max_pipes", "Maxpipes", "limit on pipes, 0 for none", false},
	{"pipes_used_total", "PipesUsed", "pipes in use", true},
	{"pipes_free_total", "PipesFree", "pipes at rest", true},
	{"current_connection_rate", "ConnRate", "client connections in the last second", false},
	{"limit_connection_rate", "ConnRateLimit", "limit on client connections a second", false},
	{"max_connection_rate", "MaxConnRate", "most client connections in a second", false},
	{"current_session_rate", "SessRate", "sessions in the last second", false},
	{"limit_session_rate", "SessRateLimit", "limit on sessions a second", false},
	{"max_session_rate", "MaxSessRate", "most sessions in a second", false},
	{"current_ssl_rate", "SslRate", "TLS connections in the last second", false},
	{"limit_ssl_rate", "SslRateLimit", "limit on TLS connections a second", false},
	{"max_ssl_rate", "MaxSslRate", "most TLS connections in a second", false},
	{"current_frontend_ssl_key_rate", "SslFrontendKeyRate", "TLS keys made for clients in the last second", false},
	{"max_frontend_ssl_key_rate", "SslFrontendMaxKeyRate", "most TLS keys made for clients in a second", false},
	{"frontend_ssl_reuse", "SslFrontendSessionReuse_pct", "percentage of TLS connections of clients without a new key", false},
	{"current_backend_ssl_key_rate", "SslBackendKeyRate", "TLS keys made for servers in the last second", false},
	{"max_backend_ssl_key_rate", "SslBackendMaxKeyRate", "most TLS keys made for servers in a second", false},
	{"ssl_cache_lookups_total", "SslCacheLookups", "lookups in the cache of TLS sessions", true},
	{"ssl_cache_misses_total", "SslCacheMisses", "lookups in the cache of TLS sessions that found nothing", true},
	{"http_comp_bytes_in_total", "CompressBpsIn", "bytes given to compression in the last second", true},
	{"http_comp_bytes_out_total", "CompressBpsOut", "bytes that compression produced in the last second", true},
	{"limit_http_comp", "CompressBpsRateLim", "limit on what compression produces in a second", false},
	{"current_zlib_memory", "", "memory of zlib, which is not used", false},
	{"max_zlib_memory", "", "limit on the memory of zlib, which is not used", false},
	{"current_tasks", "Tasks", "tasks", false},
	{"current_run_queue", "Run_queue", "tasks that wait to run", false},
	{"idle_time_percent", "Idle_pct", "percentage of the last second spent waiting", false},
	{"stopping", "Stopping", "1 while the process is stopping", false},
	{"jobs", "Jobs", "client connections and listening sockets", false},
	{"unstoppable_jobs", "Unstoppable Jobs", "jobs that a stop does not wait for", false},
	{"listeners", "Listeners", "listening sockets", false},
	{"active_peers", "ActivePeers", "peers that take part", false},
	{"connected_peers", "ConnectedPeers", "peers that are connected", false},
	{"dropped_logs_total", "DroppedLogs", "log messages that were lost", true},
	{"busy_polling_enabled", "BusyPolling", "1 when loops never wait", false},
	{"failed_resolutions", "FailedResolutions", "names that could not be resolved", true},
	{"bytes_out_total", "TotalBytesOut", "bytes sent", true},
	{"spliced_bytes_out_total", "TotalSplicedBytesOut", "bytes sent through pipes", true},
	{"bytes_out_rate", "BytesOutRate", "bytes sent in the last second", false},
	{"recv_logs_total", "CumRecvLogs", "log messages received", true},
	{"build_info", "Version", "the version, as a label", false},
	{"max_memory_bytes", "Memmax_bytes", "limit on memory in bytes, 0 for none", false},
	{"pool_allocated_bytes", "PoolAlloc_bytes", "memory of pools in bytes", false},
	{"pool_used_bytes", "PoolUsed_bytes", "memory of pools in use in bytes", false},
	{"start_time_seconds", "Start_time_sec", "time of the start, in seconds of the epoch", false},
}

func (x *export) appendProcess(dst []byte, m *metric) []byte {
	name, value := "haproxy_process_"+m.name, x.info[m.field]
	dst = append(appendHead(dst, name, m.help, m.counter), name...)
	switch {
	case m.name == "build_info":
		dst = append(append(append(dst, `{version="`...), escape(value)...), `"}`...)
		value = "1"
	case value == "":
		value = "NaN"
	}
	return append(append(append(dst, ' '), value...), '\n')
}
