// Weir is a load balancer and reverse proxy that speaks HAProxy: the same
// configuration files, command line, signals and logs.
//
//	weir -f haproxy.cfg        run
//	weir -c -f haproxy.cfg     check a configuration
//	weir demo                  try it
//	weir eval <expression>     evaluate an expression or a log format
//
// All of main is in package internal/proc/boot.
package main

import (
	"io"
	"os"

	_ "weir/internal/all"
	"weir/internal/feat/cli"
	"weir/internal/kw"
	"weir/internal/lang/config"
	"weir/internal/lang/logfmt"
	"weir/internal/lang/rule"
	"weir/internal/lang/sample"
	"weir/internal/proc/boot"
	"weir/internal/proc/demo"
	"weir/internal/proc/evalcmd"
	"weir/internal/proc/signals"
	"weir/internal/rt/poll"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "demo" {
		os.Exit(demo.Main(os.Args[2:], os.Stdout, os.Stderr, runDemo))
	}
	if len(os.Args) > 1 && os.Args[1] == "eval" {
		c := evalcmd.Command{Load: kw.Load, Environ: os.Environ()}
		os.Exit(c.Main(os.Args[2:], os.Stdout, os.Stderr))
	}
	p := program()
	code, signal := p.Main(os.Args, os.Environ(), os.Stdin, os.Stdout, os.Stderr)
	if signal != nil {
		signals.Die(signal) // whoever waits for this process sees the signal
	}
	os.Exit(code)
}

// program is what this binary is made of.
func program() *boot.Program {
	return &boot.Program{Load: kw.Load, New: boot.NewInstance, Freeze: freeze, Uring: poll.Probe}
}

// runDemo runs the configuration of the demonstration.
func runDemo(argv []string, stop <-chan os.Signal, stdout, stderr io.Writer) int {
	p := program()
	p.Signals = stop
	code, _ := p.Main(argv, os.Environ(), os.Stdin, stdout, stderr)
	return code
}

// freeze makes the tables of keywords read-only.
func freeze() {
	config.Std.Freeze()
	sample.Fetches.Freeze()
	sample.Convs.Freeze()
	rule.Actions.Freeze()
	logfmt.Aliases.Freeze()
	cli.Freeze()
}
