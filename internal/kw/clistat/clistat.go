// Package clistat holds the runtime commands that report numbers: "show stat",
// "show info", "show servers", "show backend" and what goes with them
// (Management Guide 9.1 to 9.3).
package clistat

import (
	"weir/internal/engine/statcol"
	"weir/internal/feat/cli"
)

func init() {
	for _, c := range []cli.Command{
		{Words: []string{"show", "stat"}, Usage: "show stat [desc|json|no-maint|typed|up]*", Help: "counters of proxies, servers and listeners", Run: showStat},
		{Words: []string{"show", "info"}, Usage: "show info [desc|json|typed|float]*", Help: "numbers of the process", Run: showInfo},
		{Words: []string{"show", "schema", "json"}, Usage: "show schema json", Help: "JSON schema of what 'show stat json' and 'show info json' print",
			Run: func(c *cli.Context) { c.Print(statcol.Schema() + "\n") }},
		{Words: []string{"show", "version"}, Usage: "show version", Help: "version of the program",
			Run: func(c *cli.Context) { c.Msg(cli.SevInfo, "%s", c.Host.Info().Version) }},
		{Words: []string{"show", "servers", "state"}, Usage: "show servers state [<backend>]", Help: "what changes about servers, for server-state-file", Run: serversState},
		{Words: []string{"show", "servers", "conn"}, Usage: "show servers conn [<backend>]", Help: "connections to servers", Run: serversConn},
		{Words: []string{"show", "backend"}, Usage: "show backend", Help: "names of the backends", Run: showBackend},
		{Words: []string{"show", "pools"}, Usage: "show pools [by*] [match <pfx>] [nb]", Help: "use of the pools of buffers", Run: showPools},
		{Words: []string{"show", "activity"}, Usage: "show activity [-1|0|thread_num]", Help: "what the threads do", Level: cli.Operator, Run: showActivity},
		{Words: []string{"show", "threads"}, Usage: "show threads", Help: "the threads", Run: showThreads},
		{Words: []string{"clear", "counters"}, Usage: "clear counters [all|server <bk>/<srv> [force]]", Help: "sets counters back to zero", Level: cli.Operator, Run: clearCounters},
	} {
		cli.Register(c)
	}
}
