package args

import (
	"fmt"
	"strings"
)

// usageLines are the options that the usage text lists, each with its help.
var usageLines = [][2]string{
	{"-f <file|folder>", "read this configuration; may be repeated; '-' is standard input"},
	{"-- <file>*", "all that follow are configurations too"},
	{"-C <folder>", "change to this folder first"},
	{"-c", "check the configuration and exit"},
	{"-cc <condition>", "evaluate a condition and exit with 0 (true), 1 (false) or 2 (error)"},
	{"-v, -vv", "show the version, with -vv what is built in"},
	{"-vq, -vqs, -vqb", "show the version alone, its number, its branch"},
	{"-V, -q", "say more, say nothing"},
	{"-D", "run in the background"},
	{"-d, -db", "stay in the foreground, with -d and show events"},
	{"-p <file>", "write the process number to this file (with -D)"},
	{"-n <number>", "maximum of connections of the process"},
	{"-N <number>", "default maximum of connections of a proxy"},
	{"-m <megabytes>", "memory to stay within"},
	{"-L <name>", "name of the local peer"},
	{"-sf <pid>*", "let these processes finish once this one is ready"},
	{"-st <pid>*", "stop these processes once this one is ready"},
	{"-4", "names resolve to IPv4 addresses only"},
	{"-dC[<key>][,line]", "show the configuration after its words were read"},
	{"-dD", "show hints about suspicious statements"},
	{"-dF", "no fast forwarding"},
	{"-dG", "no system resolver"},
	{"-dI", "allow to start programs"},
	{"-dK<class>[,...]", "list the registered keywords; '-dKhelp' lists the classes"},
	{"-dL", "list the object files of the process"},
	{"-dM[<byte>][,...]", "debug memory; '-dMhelp' lists the options"},
	{"-dR", "no SO_REUSEPORT on listening sockets"},
	{"-dS", "no splicing"},
	{"-dT", "no kernel TLS"},
	{"-dU", "no io_uring"},
	{"-dV", "no verification of servers' certificates"},
	{"-dW", "refuse to start after a warning"},
	{"-dZ", "no zero-copy forwarding"},
	{"-dc", "show how threads are placed on CPUs"},
	{"-de", "no epoll"},
	{"-dr", "ignore servers whose name does not resolve"},
}

// Usage returns the usage text for a program called that name.
func Usage(program string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage : %s -f <file|folder> [options] [-- <file>*]\n", program)
	if program != "haproxy" {
		fmt.Fprintf(&b, "        %s demo [-check]     try it: a small configuration that runs at once\n", program)
	}
	b.WriteByte('\n')
	for _, l := range usageLines {
		fmt.Fprintf(&b, "        %-18s %s\n", l[0], l[1])
	}
	b.WriteByte('\n')
	return b.String()
}
