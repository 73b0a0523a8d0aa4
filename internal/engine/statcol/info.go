package statcol

import (
	"fmt"
	"strconv"
	"time"
)

// infoFields are the values of "show info" in their order; numbers are free where the reference has values that weir lacks.
var infoFields = [...]Item{
	{0, "Name", "POSV:str", "", "name of the product"},
	{1, "Version", "POSV:str", "", "version"},
	{2, "Release_date", "POSV:str", "", "date of the sources"},
	{3, "Nbthread", "CGSV:u32", "", "threads"},
	{4, "Nbproc", "CGSV:u32", "", "processes, always 1"},
	{5, "Process_num", "KGPV:u32", "", "number of this process, always 1"},
	{6, "Pid", "SGPV:u32", "", "id of the process"},
	{7, "Uptime", "MDPV:str", "", "time since the start"},
	{8, "Uptime_sec", "MDPV:u32", "", "seconds since the start"},
	{9, "Memmax_MB", "CLPV:u32", "", "limit on memory in MB (-m)"},
	{10, "PoolAlloc_MB", "MGPV:u32", "", "memory of pools in MB"},
	{11, "PoolUsed_MB", "MGPV:u32", "", "memory of pools in use in MB"},
	{12, "PoolFailed", "MCPV:u32", "", "allocations of pools that failed"},
	{13, "Ulimit-n", "CLPV:u32", "", "limit on open files"},
	{14, "Maxsock", "CLPV:u32", "", "limit on sockets"},
	{15, "Maxconn", "CLPV:u32", "", "limit on client connections"},
	{16, "Hard_maxconn", "CLPV:u32", "", "limit on client connections that the system leaves"},
	{17, "CurrConns", "MGPV:u32", "", "client connections now"},
	{18, "CumConns", "MCPV:u32", "", "client connections since the start"},
	{19, "CumReq", "MCPV:u32", "", "requests since the start"},
	{20, "MaxSslConns", "MMPV:u32", "", "limit on TLS connections, 0 for none"},
	{21, "CurrSslConns", "MGPV:u32", "", "TLS connections now"},
	{22, "CumSslConns", "MCPV:u32", "", "TLS connections since the start"},
	{23, "Maxpipes", "CLPV:u32", "", "limit on pipes, 0 for none"},
	{24, "PipesUsed", "MGPV:u32", "", "pipes in use"},
	{25, "PipesFree", "MGPV:u32", "", "pipes at rest"},
	{26, "ConnRate", "MRPV:u32", "", "client connections in the last second"},
	{27, "ConnRateLimit", "CLPV:u32", "", "limit on client connections a second"},
	{28, "MaxConnRate", "MMPV:u32", "", "most client connections in a second"},
	{29, "SessRate", "MRPV:u32", "", "sessions in the last second"},
	{30, "SessRateLimit", "CLPV:u32", "", "limit on sessions a second"},
	{31, "MaxSessRate", "MRPV:u32", "", "most sessions in a second"},
	{32, "SslRate", "MRPV:u32", "", "TLS connections in the last second"},
	{33, "SslRateLimit", "CLPV:u32", "", "limit on TLS connections a second"},
	{34, "MaxSslRate", "MMPV:u32", "", "most TLS connections in a second"},
	{35, "SslFrontendKeyRate", "MGPV:u32", "", "TLS keys made for clients in the last second"},
	{36, "SslFrontendMaxKeyRate", "MMPV:u32", "", "most TLS keys made for clients in a second"},
	{37, "SslFrontendSessionReuse_pct", "MGPV:u32", "", "percentage of TLS connections of clients without a new key"},
	{38, "SslBackendKeyRate", "MRPV:u32", "", "TLS keys made for servers in the last second"},
	{39, "SslBackendMaxKeyRate", "MMPV:u32", "", "most TLS keys made for servers in a second"},
	{40, "SslCacheLookups", "MCPV:u32", "", "lookups in the cache of TLS sessions"},
	{41, "SslCacheMisses", "MCPV:u32", "", "lookups in the cache of TLS sessions that found nothing"},
	{42, "CompressBpsIn", "MRPV:u32", "", "bytes given to compression in the last second"},
	{43, "CompressBpsOut", "MRPV:u32", "", "bytes that compression produced in the last second"},
	{44, "CompressBpsRateLim", "CLPV:u32", "", "limit on what compression produces in a second"},
	{47, "Tasks", "MGPV:u32", "", "tasks"},
	{48, "Run_queue", "MGPV:u32", "", "tasks that wait to run"},
	{49, "Idle_pct", "MaPV:u32", "", "percentage of the last second spent waiting"},
	{50, "node", "COSV:str", "", "name of the machine"},
	{51, "description", "COSV:str", "", "description of the instance"},
	{52, "Stopping", "MGPV:u32", "", "1 while the process is stopping"},
	{53, "Jobs", "MGPV:u32", "", "client connections and listening sockets"},
	{54, "Unstoppable Jobs", "MGPV:u32", "", "jobs that a stop does not end"},
	{55, "Listeners", "MGPV:u32", "", "listening sockets"},
	{56, "ActivePeers", "MGPV:u32", "", "peers that take part"},
	{57, "ConnectedPeers", "MGPV:u32", "", "peers that are connected"},
	{58, "DroppedLogs", "MGPV:u32", "", "log messages that were lost"},
	{59, "BusyPolling", "MGPV:u32", "", "1 when loops never wait"},
	{60, "FailedResolutions", "MGPV:u32", "", "names that could not be resolved"},
	{61, "TotalBytesOut", "MGPV:u64", "", "bytes sent"},
	{62, "TotalSplicedBytesOut", "MGPV:u64", "", "bytes sent through pipes"},
	{63, "BytesOutRate", "MRPV:u64", "", "bytes sent in the last second"},
	{64, "DebugCommandsIssued", "MGPV:u32", "", "debug commands run"},
	{65, "CumRecvLogs", "MCPV:u32", "", "log messages received"},
	{66, "Build info", "POSV:str", "", "version of the build"},
	{67, "Memmax_bytes", "CLPV:u32", "", "limit on memory in bytes (-m)"},
	{68, "PoolAlloc_bytes", "MGPV:u64", "", "memory of pools in bytes"},
	{69, "PoolUsed_bytes", "MGPV:u64", "", "memory of pools in use in bytes"},
	{70, "Start_time_sec", "MDPV:u32", "", "time of the start"},
	{71, "Tainted", "SGPV:str", "", "what makes the process unlike others, 0 for nothing"},
	{72, "TotalWarnings", "MCPV:u32", "", "warnings since the start"},
	{73, "MaxconnReached", "MCPV:u32", "", "times that the limit on client connections was reached"},
	{74, "BootTime_ms", "MDPV:u32", "", "milliseconds from the start until the first connection could be accepted"},
	{75, "Niced_tasks", "MGPV:u32", "", "tasks with a priority that wait to run"},
	{76, "CurrStreams", "MGPV:u64", "", "streams now"},
	{77, "CumStreams", "MGPV:u64", "", "streams since the start"},
	{78, "BlockedTrafficWarnings", "MGPV:u32", "", "warnings about a busy thread"},
	{79, "PatternsAdded", "MGPV:u64", "", "patterns added"},
	{80, "PatternsFreed", "MGPV:u64", "", "patterns removed"},
	{81, "NbThreadGroups", "CGSV:u32", "", "groups of threads"},
}

// infoValues are the values of infoFields that are not zero.
func infoValues(h Host, float bool) map[string]string {
	i := h.Info()
	g := h.Config().Global
	up := h.Uptime()
	seconds := func(d time.Duration) string {
		if float {
			return strconv.FormatFloat(d.Seconds(), 'f', 6, 64)
		}
		return strconv.FormatInt(int64(d/time.Second), 10)
	}
	s := int64(up / time.Second)
	v := map[string]string{
		"Name": "HAProxy", "Version": i.Version, "Build info": i.Version, "Release_date": i.Released, "Nbproc": "1", "Process_num": "1",
		"Uptime":     fmt.Sprintf("%dd %dh%02dm%02ds", s/86400, s/3600%24, s/60%60, s%60),
		"Uptime_sec": seconds(up), "Start_time_sec": strconv.FormatInt(i.Start.Unix(), 10), "Tainted": "0", "NbThreadGroups": "1",
		"node": g.Node, "Idle_pct": "100",
	}
	if float {
		v["Start_time_sec"] = strconv.FormatFloat(float64(i.Start.UnixMicro())/1e6, 'f', 6, 64)
	}
	if g.Node == "" && h.Config().Run != nil {
		v["node"] = h.Config().Run.Hostname()
	}
	if g.Description != "" {
		v["description"] = g.Description
	}
	mb := func(n int64) int64 { return n >> 20 }
	for name, n := range map[string]int64{
		"Nbthread": int64(i.Threads), "Pid": int64(i.PID), "Memmax_MB": mb(i.MemoryLimit), "Memmax_bytes": i.MemoryLimit,
		"PoolAlloc_MB": mb(i.PoolBytes), "PoolUsed_MB": mb(i.PoolUsed), "PoolAlloc_bytes": i.PoolBytes, "PoolUsed_bytes": i.PoolUsed,
		"PoolFailed": i.PoolFailed, "Ulimit-n": int64(i.Files), "Maxsock": int64(i.Files), "Maxconn": int64(i.MaxConn), "Hard_maxconn": int64(i.HardMax),
		"CurrConns": i.Conns, "CumConns": i.CumConns, "CumReq": i.CumStreams, "MaxConnRate": i.ConnMax, "MaxSessRate": i.SessMax, "MaxconnReached": i.Reached, "ConnRate": i.ConnRate, "ConnRateLimit": int64(g.MaxConnRate),
		"SessRate": i.SessRate, "SessRateLimit": int64(g.MaxSessRate), "SslRateLimit": int64(g.MaxSSLRate), "MaxSslConns": int64(g.MaxSSLConn),
		"CurrSslConns": i.TLSConns, "CumSslConns": i.CumTLS, "SslRate": i.TLSRate, "MaxSslRate": i.TLSRateMax,
		"SslFrontendKeyRate": i.FrontKeys, "SslFrontendMaxKeyRate": i.FrontKeysMax, "SslFrontendSessionReuse_pct": reused(i.FrontKeys, i.TLSRate),
		"SslBackendKeyRate": i.BackKeys, "SslBackendMaxKeyRate": i.BackKeysMax,
		"Maxpipes": int64(g.MaxPipes), "Stopping": flag(i.Stopping), "Jobs": i.Conns + int64(i.Listeners), "Listeners": int64(i.Listeners),
		"TotalBytesOut": i.BytesOut, "TotalSplicedBytesOut": i.SplicedOut, "BytesOutRate": i.OutRate, "TotalWarnings": i.Warnings, "BootTime_ms": i.Boot.Milliseconds(), "CurrStreams": i.Streams, "CumStreams": i.CumStreams,
	} {
		v[name] = strconv.FormatInt(n, 10)
	}
	return v
}

// reused is how many of a hundred connections came without a new key.
func reused(keys, conns int64) int64 {
	if conns <= 0 || keys >= conns {
		return 0
	}
	return 100 - (100*keys+(conns-1)/2)/conns
}

// Info calls fn with the values of "show info", in their order. With float, times are fractions of seconds.
func Info(h Host, float bool, fn func(it *Item) bool) {
	values := infoValues(h, float)
	for n := range infoFields {
		it := infoFields[n]
		if it.Text = values[it.Name]; it.Text == "" {
			switch {
			case it.Name == "description":
				continue
			case !it.IsText():
				it.Text = "0"
			}
		}
		if !fn(&it) {
			return
		}
	}
}
