// Package climisc holds the runtime commands about the process that are small:
// environment, variables, messages of the start, and the answers about
// features that a configuration does not use (Management Guide 9.3).
package climisc

import (
	"slices"
	"strconv"
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

// showErrors lists the captured messages that broke a protocol, all or those of one proxy: weir captures none.
func showErrors(c *cli.Context) {
	if name := c.Arg(0); name != "" && name != "-1" {
		id, err := strconv.Atoi(name)
		if !slices.ContainsFunc(c.Host.Config().Proxies, func(p *model.Proxy) bool { return p.Name == name || err == nil && p.ID == id }) && err != nil {
			c.Err("No such proxy.")
			return
		}
	}
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

const waitUsage = `Usage: wait {-h|<duration>} [condition [args...]]
  -h           prints this
  <duration>   how long to wait at most, in milliseconds or with a unit: us, ms, s, m, h, d
  <condition>  what to wait for, nothing if there is none:
    srv-removable <px>/<sv>  the server is in maintenance and has no connection left
    be-removable <px>        the backend is used by nothing any more
`

func wait(c *cli.Context) {
	switch {
	case c.Arg(0) == "":
		c.Err("Expects a duration in milliseconds.")
		return
	case c.Arg(0) == "-h" || c.Arg(1) == "-h":
		c.Msg(cli.SevInfo, "%s", waitUsage)
		return
	}
	d, err := units.Duration(c.Arg(0), units.Millisecond)
	if err != nil {
		c.Err("Invalid duration.")
		return
	}
	var removable func() (done bool, never string)
	switch c.Arg(1) {
	case "":
	case "srv-removable":
		removable = serverRemovable(c)
	case "be-removable":
		removable = backendRemovable(c)
	default:
		c.Err("%s", waitUsage)
		return
	}
	if removable == nil {
		if c.Arg(1) != "" {
			return // the answer was given
		}
		if !c.Wait(d) {
			c.Err("Interrupted.")
			return
		}
		c.Msg(cli.SevInfo, "Done.")
		return
	}
	waitFor(c, d, removable)
}

// askAgain is how often the condition of a wait is looked at.
const askAgain = 20 * time.Millisecond

// waitFor waits until cond holds or never can.
func waitFor(c *cli.Context, d time.Duration, cond func() (done bool, never string)) {
	for end := time.Now().Add(d); ; {
		done, never := cond()
		left := time.Until(end)
		switch {
		case never != "":
			c.Err("Failed. %s", never)
			return
		case done:
			c.Msg(cli.SevInfo, "Done.")
			return
		case left <= 0:
			c.Err("Wait delay expired.")
			return
		}
		if !c.Wait(min(left, askAgain)) {
			c.Err("Interrupted.")
			return
		}
	}
}

// serverRemovable is the condition srv-removable; nil after an answer.
func serverRemovable(c *cli.Context) func() (bool, string) {
	if c.Arg(2) == "" {
		c.Err("Missing server name (<backend>/<server>).")
		return nil
	}
	px, sv, ok := strings.Cut(c.Arg(2), "/")
	if !ok {
		c.Err("Require 'backend/server'.")
		return nil
	}
	return func() (bool, string) {
		for _, b := range c.Host.Backends() {
			if b.Name != px {
				continue
			}
			for _, s := range b.Servers {
				if s.Name != sv {
					continue
				}
				if st, _ := c.Host.AdminState(s); st != cli.Maint && st != cli.MaintConfig {
					return false, "Only servers in maintenance mode can be deleted."
				}
				return s.Cur.Cur() == 0 && s.Idle.Load() == 0 && s.Queue.Len() == 0, ""
			}
			return false, "No such server."
		}
		return false, "No such backend."
	}
}

// backendRemovable is the condition be-removable; nil after an answer.
func backendRemovable(c *cli.Context) func() (bool, string) {
	if c.Arg(2) == "" {
		c.Err("Missing backend name.")
		return nil
	}
	return func() (bool, string) {
		for _, b := range c.Host.Backends() {
			if b.Name == c.Arg(2) {
				return false, "This proxy cannot be removed at runtime due to other configuration elements pointing to it."
			}
		}
		return false, "No such backend."
	}
}
