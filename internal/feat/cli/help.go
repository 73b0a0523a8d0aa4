package cli

import (
	"slices"
	"strings"

	"weir/docs/compat"
)

// usageWidth is where the help of a command begins.
const usageWidth = 40

func (c *Context) list(cmds []*Command) {
	for _, cmd := range cmds {
		if len(cmd.Usage) > usageWidth {
			c.Printf("  %s : %s\n", cmd.Usage, cmd.Help)
		} else {
			c.Printf("  %-*s: %s\n", usageWidth, cmd.Usage, cmd.Help)
		}
	}
}

// visible leaves out what the modes of the session hide.
func (c *Context) visible() []*Command {
	return slices.DeleteFunc(all(c.Session.place()), func(cmd *Command) bool { return cmd.Needs&^c.Session.modes != 0 })
}

// isSession tells the commands that every list ends with.
func isSession(cmd *Command) bool {
	return cmd.Words[0] == "help" || cmd.Words[0] == "prompt" || cmd.Words[0] == "quit"
}

// maxClose is how many commands are offered for one that does not exist.
const maxClose = 5

// near returns the commands that the words may have meant: those that begin with them, or the ones that look most alike.
func near(cmds []*Command, words []string) []*Command {
	type scored struct {
		cmd        *Command
		same, cost int // words that are the same, bytes of the next one that are not
	}
	var prefixed []*Command
	var list []scored
	for _, cmd := range cmds {
		n := 0
		for n < len(words) && n < len(cmd.Words) && words[n] == cmd.Words[n] {
			n++
		}
		if n == len(words) {
			prefixed = append(prefixed, cmd)
		}
		if n < len(cmd.Words) && !isSession(cmd) {
			rest := ""
			if n < len(words) {
				rest = words[n]
			}
			list = append(list, scored{cmd, n, unlike(rest, cmd.Words[n])})
		}
	}
	if len(prefixed) > 0 {
		return prefixed
	}
	best := 0
	for _, s := range list {
		best = max(best, s.same)
	}
	list = slices.DeleteFunc(list, func(s scored) bool { return s.same < best })
	slices.SortStableFunc(list, func(a, b scored) int { return a.cost - b.cost })
	list = list[:min(len(list), maxClose)]
	out := make([]*Command, len(list))
	for i, s := range list {
		out[i] = s.cmd
	}
	slices.SortFunc(out, func(a, b *Command) int { return strings.Compare(a.Name(), b.Name()) })
	return out
}

// unlike grows with the number of bytes that two words do not share.
func unlike(a, b string) int {
	var count [256]int
	for i := range len(a) {
		count[a[i]]++
	}
	for i := range len(b) {
		count[b[i]]--
	}
	d := 0
	for _, n := range count {
		d += max(n, -n)
	}
	if a != "" && b != "" && a[0] == b[0] {
		d--
	}
	return d
}

// unserved is the longest beginning of words that is a command of the reference; "" for none.
func unserved(words []string) string {
	for n := nameable(words); n > 0; n-- {
		if name := strings.Join(words[:n], " "); compat.Known(compat.CLI, name) {
			return name
		}
	}
	return ""
}

// unknown answers a line that begins with no command.
func (c *Context) unknown() {
	if name := unserved(c.Words); name != "" && find(c.Words, InWorker) == nil && find(c.Words, InMaster) == nil {
		c.Err("'%s' is known to HAProxy, not in weir yet.", name)
		return
	}
	c.Msg(SevInfo, "Unknown command: '%s', but maybe one of the following ones is a better match:", c.Words[0])
	cmds := c.visible()
	c.list(slices.DeleteFunc(near(cmds, c.Words), isSession))
	c.list(slices.DeleteFunc(cmds, func(cmd *Command) bool { return !isSession(cmd) }))
}

// help lists the commands that begin with some words, or all.
func help(c *Context) {
	cmds := c.visible()
	c.Msg(SevInfo, "The following commands are valid at this level:")
	if len(c.Args) == 0 {
		c.list(cmds)
		return
	}
	c.list(slices.DeleteFunc(near(cmds, c.Args), isSession))
	c.list(slices.DeleteFunc(cmds, func(cmd *Command) bool { return !isSession(cmd) }))
}
