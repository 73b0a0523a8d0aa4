// Package cliadmin holds the runtime commands that change what a process does:
// states and weights of servers, frontends, limits (Management Guide 9.3).
package cliadmin

import (
	"strconv"
	"strings"

	"weir/internal/engine/backend"
	"weir/internal/engine/frontend"
	"weir/internal/engine/server"
	"weir/internal/feat/cli"
)

func init() {
	for _, c := range []cli.Command{
		{Words: []string{"disable", "server"}, Level: cli.Admin, Usage: "disable server <bk>/<srv>", Help: "puts a server in maintenance (as 'set server')", Run: state(cli.Maint)},
		{Words: []string{"enable", "server"}, Level: cli.Admin, Usage: "enable server <bk>/<srv>", Help: "takes a server out of maintenance (as 'set server')", Run: state(cli.Ready)},
		{Words: []string{"set", "server"}, Level: cli.Admin, Usage: "set server <bk>/<srv> [opts]", Help: "changes the state or weight of a server", Run: setServer},
		{Words: []string{"get", "weight"}, Usage: "get weight <bk>/<srv>", Help: "tells the weight of a server", Run: getWeight},
		{Words: []string{"set", "weight"}, Level: cli.Admin, Usage: "set weight <bk>/<srv> <weight>", Help: "changes the weight of a server (as 'set server')",
			Run: func(c *cli.Context) {
				if b, s, ok := find(c); ok {
					setWeight(c, b, s, c.Arg(1))
				}
			}},
		{Words: []string{"enable", "health"}, Level: cli.Admin, Usage: "enable health <bk>/<srv>", Help: "starts the checks of a server", Run: noCheck("Health check", "enable")},
		{Words: []string{"disable", "health"}, Level: cli.Admin, Usage: "disable health <bk>/<srv>", Help: "stops the checks of a server", Run: noCheck("", "")},
		{Words: []string{"enable", "agent"}, Level: cli.Admin, Usage: "enable agent <bk>/<srv>", Help: "starts the agent checks of a server", Run: noCheck("Agent", "enable")},
		{Words: []string{"disable", "agent"}, Level: cli.Admin, Usage: "disable agent <bk>/<srv>", Help: "stops the agent checks of a server", Run: noCheck("", "")},
		{Words: []string{"disable", "frontend"}, Level: cli.Admin, Usage: "disable frontend <frontend>", Help: "stops accepting, for a while", Run: disableFrontend},
		{Words: []string{"enable", "frontend"}, Level: cli.Admin, Usage: "enable frontend <frontend>", Help: "accepts again", Run: enableFrontend},
		{Words: []string{"shutdown", "frontend"}, Level: cli.Admin, Usage: "shutdown frontend <frontend>", Help: "stops accepting, for good", Run: shutdownFrontend},
		{Words: []string{"set", "maxconn", "global"}, Level: cli.Admin, Usage: "set maxconn global <value>", Help: "changes the limit on connections of the process", Run: maxconnGlobal},
		{Words: []string{"set", "maxconn", "frontend"}, Level: cli.Admin, Usage: "set maxconn frontend <frontend> <value>", Help: "changes the limit on connections of a frontend", Run: maxconnFrontend},
		{Words: []string{"set", "maxconn", "server"}, Level: cli.Admin, Usage: "set maxconn server <bk>/<srv> <value>", Help: "changes the limit on requests of a server", Run: maxconnServer},
	} {
		cli.Register(c)
	}
}

// find returns the server that the first argument names, "backend/server"; ok is false after an answer.
func find(c *cli.Context) (*backend.Backend, *server.Server, bool) {
	name := c.Arg(0)
	i := strings.LastIndexByte(name, '/')
	if i < 0 {
		c.Err("Require 'backend/server'.")
		return nil, nil, false
	}
	for _, b := range c.Host.Backends() {
		if b.Name != name[:i] {
			continue
		}
		for _, s := range b.Servers {
			if s.Name == name[i+1:] {
				return b, s, true
			}
		}
		c.Err("No such server.")
		return nil, nil, false
	}
	c.Err("No such backend.")
	return nil, nil, false
}

// said answers an error, if there is one.
func said(c *cli.Context, err error) {
	if err != nil {
		c.Err("%s", err)
	}
}

// state returns a command that puts a server in a state.
func state(to cli.State) func(*cli.Context) {
	return func(c *cli.Context) {
		if _, s, ok := find(c); ok {
			said(c, c.Host.SetAdminState(s, to))
		}
	}
}

const setServerUsage = "usage: set server <backend>/<server> addr | agent | agent-addr | agent-port | agent-send | check-addr | check-port | fqdn | " +
	"health | name | ssl | state | weight"

func setServer(c *cli.Context) {
	b, s, ok := find(c)
	if !ok {
		return
	}
	switch what := c.Arg(1); what {
	case "state":
		states := map[string]cli.State{"ready": cli.Ready, "drain": cli.Drain, "maint": cli.Maint}
		to, known := states[c.Arg(2)]
		if !known {
			c.Err("'set server <srv> state' expects 'ready', 'drain' and 'maint'.")
			return
		}
		said(c, c.Host.SetAdminState(s, to))
	case "weight":
		setWeight(c, b, s, c.Arg(2))
	case "agent":
		c.Err("agent checks are not enabled on this server.")
	case "agent-addr", "agent-port", "agent-send":
		c.Err("agent checks are not enabled on this server")
	case "check-addr", "check-port":
		c.Err("health checks are not enabled on this server")
	case "fqdn":
		c.Err("set server <b>/<s> fqdn failed because no resolution is configured.")
	case "addr":
		setAddr(c, s)
	case "health", "name", "ssl":
		c.Err("'set server <b>/<s> %s' is known to HAProxy, not in weir yet.", what)
	default:
		c.Err("%s", setServerUsage)
	}
}

func getWeight(c *cli.Context) {
	if _, s, ok := find(c); ok {
		c.Msg(cli.SevInfo, "%d (initial %d)", s.Weight(), s.Conf.Weight)
	}
}

// setWeight reads a weight, absolute or in percent of the configured one, and sets it.
func setWeight(c *cli.Context, b *backend.Backend, s *server.Server, text string) {
	if text == "" {
		c.Err("Require <weight> or <weight%%>.")
		return
	}
	digits, percent := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(digits)
	if err != nil {
		if len(digits) > 0 && digits[0] >= '0' && digits[0] <= '9' {
			c.Err("Trailing garbage in weight string")
		} else {
			c.Err("Empty weight string empty or preceded by garbage")
		}
		return
	}
	switch {
	case percent && (n < 0 || n > 100*256):
		c.Err("Relative weight must be positive.")
		return
	case percent:
		n = min(s.Conf.Weight*n/100, 256)
	case n < 0 || n > 256:
		c.Err("Absolute weight can only be between 0 and 256 inclusive.")
		return
	}
	said(c, c.Host.SetWeight(b, s, n))
}

// noCheck answers commands about checks, which no server has.
func noCheck(what, verb string) func(*cli.Context) {
	return func(c *cli.Context) {
		if _, _, ok := find(c); ok && what != "" {
			c.Err("%s was not configured on this server, cannot %s.", what, verb)
		}
	}
}

// front returns the frontend that the first argument names; nil after an answer.
func front(c *cli.Context) *frontend.Frontend {
	if c.Arg(0) == "" {
		c.Err("A frontend name is expected.")
		return nil
	}
	for _, f := range c.Host.Frontends() {
		if f.Name == c.Arg(0) {
			return f
		}
	}
	c.Err("No such frontend.")
	return nil
}

func disableFrontend(c *cli.Context) {
	f := front(c)
	if f == nil {
		return
	}
	switch c.Host.Accepting(f) {
	case cli.Stopped:
		c.Msg(cli.SevNotice, "Frontend was previously shut down, cannot disable.")
	case cli.Paused:
		c.Msg(cli.SevNotice, "All sockets are already disabled.")
	default:
		if err := c.Host.Pause(f); err != nil {
			c.Err("Failed to pause frontend: %v.", err)
		}
	}
}

func enableFrontend(c *cli.Context) {
	f := front(c)
	if f == nil {
		return
	}
	switch c.Host.Accepting(f) {
	case cli.Stopped:
		c.Msg(cli.SevNotice, "Frontend was previously shut down, cannot enable.")
	case cli.Open:
		c.Msg(cli.SevNotice, "All sockets are already enabled.")
	default:
		if err := c.Host.Resume(f); err != nil {
			c.Err("Failed to resume frontend, check logs for precise cause (port conflict?): %v.", err)
		}
	}
}

func shutdownFrontend(c *cli.Context) {
	f := front(c)
	if f == nil {
		return
	}
	if c.Host.Accepting(f) == cli.Stopped {
		c.Msg(cli.SevNotice, "Frontend was already shut down.")
		return
	}
	said(c, c.Host.Stop(f))
}

// number reads argument i as digits at its beginning, 0 without any, as the reference does.
func number(c *cli.Context, i int) int {
	text := c.Arg(i)
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || end == 0 && text[end] == '-') {
		end++
	}
	n, _ := strconv.Atoi(text[:end])
	return n
}

func maxconnGlobal(c *cli.Context) {
	if c.Arg(0) == "" {
		c.Err("Expects an integer value.")
		return
	}
	n, most := number(c, 0), c.Host.Info().HardMax
	switch {
	case n < 0 || most > 0 && n > most:
		c.Err("Value out of range.")
	case n == 0: // back to what it was
		c.Host.SetMaxConn(most)
	default:
		c.Host.SetMaxConn(n)
	}
}

func maxconnFrontend(c *cli.Context) {
	f := front(c)
	if f == nil {
		return
	}
	if c.Arg(1) == "" {
		c.Err("Integer value expected.")
		return
	}
	n := number(c, 1)
	if n < 0 {
		c.Err("Value out of range.")
		return
	}
	c.Host.SetFrontMaxConn(f, n)
}

func maxconnServer(c *cli.Context) {
	_, s, ok := find(c)
	if !ok {
		return
	}
	n, err := strconv.Atoi(c.Arg(1))
	switch {
	case c.Arg(1) == "":
		c.Err("Require <maxconn>.")
	case err != nil || n < 0:
		c.Err("maxconn string empty or preceded by garbage")
	default:
		said(c, c.Host.SetServerMaxConn(s, n))
	}
}
