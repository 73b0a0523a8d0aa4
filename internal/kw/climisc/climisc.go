// Package climisc holds the runtime commands about the process that are small:
// environment, variables, messages of the start, and the answers about
// features that a configuration does not use (Management Guide 9.3).
package climisc

import (
	"strings"
	"time"

	"weir/internal/base/units"
	"weir/internal/feat/cli"
	"weir/internal/lang/eval"
	"weir/internal/lang/logfmt"
	"weir/internal/lang/sample"
	"weir/internal/lang/vars"
	"weir/internal/model"
)

func init() {
	for _, c := range []cli.Command{
		{Words: []string{"show", "env"}, Level: cli.Operator, Usage: "show env [var]", Help: "environment of the process", Run: showEnv},
		{Words: []string{"show", "startup-logs"}, Level: cli.Operator, Usage: "show startup-logs", Help: "messages of the start",
			Run: func(c *cli.Context) { c.Print(c.Host.StartupLogs()) }},
		{Words: []string{"get", "var"}, Level: cli.Operator, Usage: "get var <name>", Help: "value of a variable of the process", Run: getVar},
		{Words: []string{"set", "var"}, Level: cli.Operator, Needs: cli.Experimental, Usage: "set var <name> {expr <expr>|fmt <fmt>}", Help: "sets a variable of the process", Run: setVar},
		{Words: []string{"show", "errors"}, Level: cli.Operator, Usage: "show errors [<px>] [request|response]", Help: "last faulty messages", Run: showErrors},
		{Words: []string{"show", "events"}, Usage: "show events [<sink>] [-w] [-n] [-0]", Help: "buffers of events",
			Run: named("", "No such event sink", "Supported events sinks are listed below. Add -0(zero), -w(wait), -n(new). Any key to stop.\n")},
		{Words: []string{"show", "table"}, Usage: "show table [<table> [<filter>]*]", Help: "stick tables", Run: named("", "No such table", "")},
		{Words: []string{"clear", "table"}, Usage: "clear table <table> [<filter>]*", Help: "removes entries of a stick table",
			Run: named(`Required arguments: <table> "data.<store_data_type>" <operator> <value> or <table> key <key> or <table> ptr <ptr>`, "No such table", "")},
		{Words: []string{"set", "table"}, Usage: "set table <table> key <k> [data.* <v>]*", Help: "changes an entry of a stick table",
			Run: named("Required arguments: <table> key <key> [data.<store_data_type> <value>]* or <table> ptr <ptr> [data.<store_data_type> <value>]*", "No such table", "")},
		{Words: []string{"show", "peers"}, Usage: "show peers [dict|-] [section]", Help: "state of the peers", Run: showPeers},
		{Words: []string{"show", "resolvers"}, Usage: "show resolvers [id]", Help: "counters of the name servers", Run: named("", "Can't find that resolvers section", "")},
		{Words: []string{"show", "cache"}, Level: cli.Admin, Usage: "show cache", Help: "caches", Run: nothing},
		{Words: []string{"show", "tls-keys"}, Level: cli.Admin, Usage: "show tls-keys [id|*]", Help: "keys of TLS tickets",
			Run: func(c *cli.Context) { c.Print("# id (file)\n") }},
		{Words: []string{"show", "anon"}, Usage: "show anon", Help: "whether names are made unreadable",
			Run: func(c *cli.Context) { c.Msg(cli.SevInfo, "Anonymized mode disabled") }},
		{Words: []string{"wait"}, Level: cli.Admin, Usage: "wait {-h|<delay_ms>}", Help: "waits", Run: wait},
	} {
		cli.Register(c)
	}
}

// nothing is the answer about something that there is none of.
func nothing(*cli.Context) {}

// named answers about a kind of things that no configuration has: the list of all is text, each one named is unknown. missing
// is the answer where a name is needed.
func named(missing, unknown, text string) func(*cli.Context) {
	return func(c *cli.Context) {
		switch {
		case c.Arg(0) != "":
			c.Err("%s", unknown)
		case missing != "":
			c.Err("%s", missing)
		default:
			c.Print(text)
		}
	}
}

func showPeers(c *cli.Context) {
	args := c.Args
	if len(args) > 0 && (args[0] == "dict" || args[0] == "-") {
		args = args[1:]
	}
	if len(args) > 0 {
		c.Err("No such peers")
	}
}

func showEnv(c *cli.Context) {
	env := c.Host.Config().Env
	name := c.Arg(0)
	if name == "" {
		for _, e := range env {
			c.Printf("%s\n", e)
		}
		return
	}
	for _, e := range env {
		if strings.HasPrefix(e, name+"=") {
			c.Printf("%s\n", e)
			return
		}
	}
	c.Err("Variable not found")
}

func showErrors(c *cli.Context) {
	c.Printf("Total events captured on [%s] : 0\n", time.Now().Format("02/Jan/2006:15:04:05.000"))
}

// procVar reads the name of a variable of the process; nil after an answer.
func procVar(c *cli.Context) *vars.Name {
	n, err := vars.Parse(c.Arg(0))
	if err != nil || n.Scope != model.ScopeProc || n.Parent {
		return nil
	}
	return n
}

func getVar(c *cli.Context) {
	if c.Arg(0) == "" {
		c.Err("Missing process-wide variable identifier.")
		return
	}
	tx, _ := eval.New(c.Host.Config())
	v := tx.Value()
	defer tx.Done()
	n := procVar(c)
	if n == nil || !vars.Get(tx, n, v) {
		c.Err("Variable not found.")
		return
	}
	typ := v.Type
	if !sample.Cast(tx, v, model.TypeStr) {
		c.Msg(cli.SevInfo, "%s: type=%s value=(undisplayable)", c.Arg(0), typ)
		return
	}
	c.Msg(cli.SevInfo, "%s: type=%s value=<%s>", c.Arg(0), typ, v.B)
}

func setVar(c *cli.Context) {
	form, text := c.Arg(1), c.Arg(2)
	if form != "expr" && form != "fmt" {
		form, text = "expr", form
	}
	if c.Arg(0) == "" || text == "" {
		c.Err("'set var' expects a variable of the process and 'expr <expression>' or 'fmt <format>'.")
		return
	}
	n := procVar(c)
	if n == nil {
		c.Err("'%s' is no variable of the process: its name must begin with 'proc.'.", c.Arg(0))
		return
	}
	cfg := c.Host.Config()
	tx, _ := eval.New(cfg)
	sc := &sample.Scope{Conf: cfg, Valid: sample.Runtime}
	v := tx.Value()
	defer tx.Done()
	if form == "fmt" {
		f, err := logfmt.Parse(sc, text, logfmt.Options{Use: logfmt.ForText})
		if err != nil {
			c.Err("%s.", err)
			return
		}
		v.SetStr(f.Append(nil, tx))
	} else {
		e, err := sample.Parse(sc, text)
		if err != nil {
			c.Err("%s.", err)
			return
		}
		if !e.Eval(tx, v) {
			return // a value that does not exist leaves the variable as it is
		}
	}
	if !vars.Set(tx, n, v) {
		c.Err("The variable would need more memory than tune.vars.proc-max-size or tune.vars.global-max-size allow.")
	}
}

const waitUsage = `Usage: wait {-h|<duration>}
  -h          prints this
  <duration>  how long to wait, in milliseconds or with a unit: us, ms, s, m, h, d
`

func wait(c *cli.Context) {
	switch {
	case c.Arg(0) == "":
		c.Err("Expects a duration in milliseconds.")
		return
	case c.Arg(0) == "-h":
		c.Msg(cli.SevInfo, "%s", waitUsage)
		return
	case c.Arg(1) != "":
		c.Err("'wait' with the condition '%s' is known to HAProxy, not in weir yet.", c.Arg(1))
		return
	}
	d, err := units.Duration(c.Arg(0), units.Millisecond)
	if err != nil {
		c.Err("Invalid duration.")
		return
	}
	c.Wait(d)
	c.Msg(cli.SevInfo, "Done.")
}
