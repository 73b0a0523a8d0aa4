// Package clistat holds the runtime commands that report numbers: "show stat",
// "show info", "show servers", "show backend" and what goes with them
// (Management Guide 9.1 to 9.3).
package clistat

import (
	"strconv"
	"strings"

	"weir/internal/feat/cli"
)

// format is a way to write values.
type format uint8

const (
	plain format = iota
	typed
	jsonForm
)

// item is one value and what is said about it.
type item struct {
	pos  int
	name string
	tags string // as in statField
	text string
	desc string
}

// tagNames are the words of JSON for the letters of the typed form.
var tagNames = [3]map[byte]string{
	{'M': "Metric", 'S': "Status", 'K': "Key", 'C': "Config", 'P': "Product"},
	{
		'A': "Age", 'a': "Avg", 'C': "Counter", 'D': "Duration", 'G': "Gauge", 'L': "Limit", 'M': "Max", 'm': "Min",
		'N': "Name", 'O': "Output", 'R': "Rate", 'T': "Time",
	},
	{'C': "Cluster", 'P': "Process", 'S': "Service", 's': "System"},
}

// appendJSON appends the members of a JSON object that describe an item.
func appendJSON(dst []byte, it *item) []byte {
	dst = append(dst, `"field":{"pos":`...)
	dst = strconv.AppendInt(dst, int64(it.pos), 10)
	dst = append(dst, `,"name":`...)
	dst = appendString(dst, it.name)
	dst = append(dst, `},"processNum":1,"tags":{"origin":"`...)
	dst = append(dst, tagNames[0][it.tags[0]]...)
	dst = append(dst, `","nature":"`...)
	dst = append(dst, tagNames[1][it.tags[1]]...)
	dst = append(dst, `","scope":"`...)
	dst = append(dst, tagNames[2][it.tags[2]]...)
	dst = append(dst, `"},"value":{"type":"`...)
	typ := it.tags[5:]
	dst = append(dst, typ...)
	dst = append(dst, `","value":`...)
	if typ == "str" {
		dst = appendString(dst, it.text)
	} else {
		dst = append(dst, it.text...)
	}
	return append(dst, "}"...)
}

// appendString appends a JSON string.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ':
			dst = append(dst, `\u00`...)
			dst = append(dst, hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// appendCSV appends a field of CSV, in quotes where it would be ambiguous.
func appendCSV(dst []byte, s string) []byte {
	if !strings.ContainsAny(s, "\",\n\r") {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	for i := range len(s) {
		if s[i] == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, s[i])
	}
	return append(dst, '"')
}

func init() {
	for _, c := range []cli.Command{
		{Words: []string{"show", "stat"}, Usage: "show stat [desc|json|no-maint|typed|up]*", Help: "counters of proxies, servers and listeners", Run: showStat},
		{Words: []string{"show", "info"}, Usage: "show info [desc|json|typed|float]*", Help: "numbers of the process", Run: showInfo},
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
