package clistat

import (
	"slices"
	"strconv"

	"weir/internal/engine/statcol"
	"weir/internal/feat/cli"
	"weir/internal/model"
)

// filter is what "show stat" is asked for.
type filter struct {
	iid, kinds, sid int // -1: all
	up, noMaint     bool
	form            statcol.Form
	desc            bool
}

func (f *filter) wants(r *statcol.Row) bool {
	return (f.iid < 0 || f.iid == r.Proxy) && f.kinds&r.Kind != 0 && (f.sid < 0 || f.sid == r.ID) &&
		!(f.noMaint && r.Maint) && !(f.up && r.Kind == statcol.Server && !r.Up)
}

// parseFilter reads the arguments; false after an answer.
func parseFilter(c *cli.Context) (f filter, ok bool) {
	f = filter{iid: -1, kinds: -1, sid: -1}
	args := c.Args
	if len(args) > 0 && args[0] == "domain" {
		if len(args) < 2 || args[1] != "proxy" {
			c.Err("This domain of statistics has nothing to show; 'proxy' has.")
			return f, false
		}
		args = args[2:]
	}
	if len(args) >= 3 && !slices.Contains([]string{"typed", "json", "desc", "up", "no-maint"}, args[0]) {
		kinds, err1 := strconv.Atoi(args[1])
		sid, err2 := strconv.Atoi(args[2])
		if err1 == nil && err2 == nil {
			iid, err := strconv.Atoi(args[0])
			if err != nil {
				i := slices.IndexFunc(c.Host.Config().Proxies, func(p *model.Proxy) bool { return p.Name == args[0] })
				if i < 0 {
					c.Err("No such proxy.")
					return f, false
				}
				iid = c.Host.Config().Proxies[i].ID
			}
			f.iid, f.kinds, f.sid, args = iid, kinds, sid, args[3:]
		}
	}
	for _, a := range args {
		switch a {
		case "typed":
			f.form = statcol.Typed
		case "json":
			f.form = statcol.JSON
		case "desc":
			f.desc = true
		case "up":
			f.up = true
		case "no-maint":
			f.noMaint = true
		}
	}
	return f, true
}

func showStat(c *cli.Context) {
	f, ok := parseFilter(c)
	if !ok {
		return
	}
	out := f.form.Begin(make([]byte, 0, 4096))
	first := true
	statcol.EachRow(c.Host, func(r *statcol.Row) bool {
		if !f.wants(r) {
			return true
		}
		out = f.form.Row(out, r, first, f.desc)
		first = false
		_, err := c.Write(out)
		out = out[:0]
		return err == nil
	})
	_, _ = c.Write(f.form.End(out)) // a failure ends the session
}
