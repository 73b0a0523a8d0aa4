package clistat

import (
	"fmt"
	"slices"

	"weir/internal/engine/statcol"
	"weir/internal/feat/cli"
)

func showInfo(c *cli.Context) {
	form := statcol.CSV
	switch {
	case slices.Contains(c.Args, "json"):
		form = statcol.JSON
	case slices.Contains(c.Args, "typed"):
		form = statcol.Typed
	}
	desc := slices.Contains(c.Args, "desc")
	out := make([]byte, 0, 8192)
	if form == statcol.JSON {
		out = append(out, '[')
	}
	statcol.Info(c.Host, slices.Contains(c.Args, "float"), func(it *statcol.Item) bool {
		switch form {
		case statcol.CSV:
			out = fmt.Appendf(out, "%s: %s", it.Name, it.Text)
		case statcol.Typed:
			out = fmt.Appendf(out, "%d.%s.1:%s:%s", it.Pos, it.Name, it.Tags, it.Text)
		case statcol.JSON:
			if it.Pos > 0 {
				out = append(out, ',')
			}
			out = append(statcol.AppendJSON(append(out, '{'), it), '}')
			return true
		}
		if desc {
			out = fmt.Appendf(out, ":%q", it.Desc)
		}
		out = append(out, '\n')
		return true
	})
	if form == statcol.JSON {
		out = append(out, "]\n"...)
	}
	_, _ = c.Write(out) // a failure ends the session
}
