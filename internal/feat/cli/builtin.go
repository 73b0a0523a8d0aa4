package cli

import (
	"math/rand/v2"
	"strconv"
	"strings"

	"weir/internal/base/addr"
	"weir/internal/base/units"
)

// The commands that concern the session itself.

func init() {
	for _, c := range []Command{
		{Words: []string{"help"}, Usage: "help [<command>]", Help: "lists all commands, or those that begin so", Run: help},
		{Words: []string{"prompt"}, Usage: "prompt [help | n | i | p | timed ]*", Help: "changes how the session goes on after a line", Run: setPrompt},
		{Words: []string{"quit"}, Usage: "quit", Help: "ends the session", Run: func(c *Context) { c.Session.quit = true }},
		{Words: []string{"user"}, Usage: "user", Help: "gives up all rights but those of a user", Run: lower(User)},
		{Words: []string{"operator"}, Usage: "operator", Help: "gives up the rights of an administrator", Run: lower(Operator)},
		{Words: []string{"echo"}, Usage: "echo <text>", Help: "answers the text",
			Run: func(c *Context) { c.Msg(SevInfo, "%s", strings.Join(c.Args, " ")) }},
		{Words: []string{"expert-mode"}, Level: Admin, Run: mode("expert-mode", Expert)},
		{Words: []string{"experimental-mode"}, Level: Admin, Run: mode("experimental-mode", Experimental)},
		{Words: []string{"show", "cli", "level"}, Usage: "show cli level", Help: "tells the rights of this session",
			Run: func(c *Context) { c.Msg(SevInfo, "%s", c.Session.level) }},
		{Words: []string{"show", "cli", "sockets"}, Usage: "show cli sockets", Help: "lists the stats sockets", Run: showSockets},
		{Words: []string{"show", "env"}, Level: Operator, Usage: "show env [var]", Help: "environment of the process", Run: showEnv},
		{Words: []string{"show", "startup-logs"}, Usage: "show startup-logs", Help: "messages of the start",
			Run: func(c *Context) { c.Print(c.Main.StartupLogs()) }},
	} {
		c.Place = InBoth
		Register(c)
	}
	for _, c := range []Command{
		{Words: []string{"set", "severity-output"}, Usage: "set severity-output [none|number|string]", Help: "puts severities before messages", Run: setSeverity},
		{Words: []string{"set", "timeout"}, Usage: "set timeout [cli] <delay>", Help: "changes how long this session may rest", Run: setTimeout},
		{Words: []string{"show", "anon"}, Usage: "show anon", Help: "whether names are made unreadable", Run: showAnon},
		{Words: []string{"set", "anon", "on"}, Usage: "set anon on [value]", Help: "makes names unreadable in this session", Run: anonOn},
		{Words: []string{"set", "anon", "off"}, Usage: "set anon off", Help: "shows names again", Run: func(c *Context) { c.Session.anonKey = 0 }},
		{Words: []string{"set", "anon", "global-key"}, Level: Admin, Usage: "set anon global-key <value>", Help: "the key of sessions that name none", Run: anonGlobal},
	} {
		Register(c)
	}
}

func showAnon(c *Context) {
	if k := c.Session.anonKey; k != 0 {
		c.Msg(SevInfo, "Anonymized mode enabled\nKey : %d", k)
		return
	}
	c.Msg(SevInfo, "Anonymized mode disabled")
}

// anonOn hides names with a key that is given, that of the process, or a new one.
func anonOn(c *Context) {
	key := c.Main.Anon()
	if c.Arg(0) != "" {
		n, err := strconv.ParseUint(c.Arg(0), 10, 32)
		if err != nil || n == 0 {
			c.Err("The key must be between 1 and 4294967295.")
			return
		}
		key = uint32(n)
	}
	for key == 0 {
		key = rand.Uint32()
	}
	c.Session.anonKey = key
}

func anonGlobal(c *Context) {
	n, err := strconv.ParseUint(c.Arg(0), 10, 32)
	if err != nil {
		c.Err("The key must be between 0 and 4294967295; 0 is no key.")
		return
	}
	c.Main.SetAnon(uint32(n))
}

func showEnv(c *Context) {
	name := c.Arg(0)
	for _, e := range c.Main.Environ() {
		switch {
		case name == "":
			c.Printf("%s\n", e)
		case strings.HasPrefix(e, name+"="):
			c.Printf("%s\n", e)
			return
		}
	}
	if name != "" {
		c.Err("Variable not found")
	}
}

const promptUsage = `Usage: prompt [help | n | i | p | timed]*
How the session goes on after a line:
  help    prints this
  n       it ends (the default)
  i       another line is read, without a prompt
  p       another line is read, after a prompt
  timed   the prompt tells the uptime, or no longer does
Without an argument, p follows n and i, and n follows p.
`

func setPrompt(c *Context) {
	s := c.Session
	next, timed := s.interact, s.timed
	if len(c.Args) == 0 {
		if next = prompt; s.interact == prompt {
			next = single
		}
	}
	for _, a := range c.Args {
		switch a {
		case "n":
			next = single
		case "i":
			next = multi
		case "p":
			next = prompt
		case "timed":
			next, timed = prompt, !timed
		default:
			c.Err("%s", promptUsage)
			return
		}
	}
	s.interact, s.timed = next, timed
}

// lower returns a command that takes rights away from the session.
func lower(to Level) func(*Context) {
	return func(c *Context) {
		if c.Session.level >= to {
			c.Session.level = to
			c.Session.modes &^= Expert
			return
		}
		c.Err("%s", denied)
	}
}

func mode(name string, bit Mode) func(*Context) {
	return func(c *Context) {
		s := c.Session
		switch c.Arg(0) {
		case "":
			state := "OFF"
			if s.modes&bit != 0 {
				state = "ON"
			}
			c.Msg(SevInfo, "%s is %s", name, state)
		case "on":
			s.modes |= bit
		default:
			s.modes &^= bit
		}
	}
}

func setSeverity(c *Context) {
	m, ok := parseSeverity(c.Arg(0))
	if !ok {
		c.Err("one of 'none', 'number', 'string' is a required argument")
		return
	}
	c.Session.severity = m
}

func setTimeout(c *Context) {
	if c.Arg(0) != "cli" {
		c.Err("'set timeout' only supports 'cli'.")
		return
	}
	if len(c.Args) < 2 {
		c.Err("Expects an integer value.")
		return
	}
	d, err := units.Duration(c.Arg(1), units.Second)
	if err != nil || d <= 0 {
		c.Err("Invalid timeout value.")
		return
	}
	c.Session.timeout = d
}

func showSockets(c *Context) {
	c.Print("# socket lvl processes\n")
	for _, s := range c.Main.Sockets() {
		c.Printf("%s %s all\n", s.Where(), s.Level)
	}
}

// Where is the address of the socket with the name of its family before it.
func (s *Socket) Where() string {
	if s.Bound != "" {
		return s.Bound
	}
	switch s.Addr.Family {
	case addr.Unix:
		return "unix@" + s.Addr.Path
	case addr.Abstract:
		return "abns@" + s.Addr.Path
	case addr.FD:
		return "sockpair@" + strings.TrimPrefix(s.Text, "fd@")
	}
	family := "ipv4@"
	if s.Addr.IP.Is6() {
		family = "ipv6@"
	}
	for _, p := range []string{"ipv4@", "ipv6@", "tcp@", "tcp4@", "tcp6@"} {
		if t, ok := strings.CutPrefix(s.Text, p); ok {
			return family + t
		}
	}
	return family + s.Text
}
