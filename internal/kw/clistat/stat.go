package clistat

import (
	"slices"
	"strconv"

	"weir/internal/engine/statcol"
	"weir/internal/feat/cli"
	"weir/internal/model"
)

// format is a way to write values.
type format uint8

const (
	plain format = iota
	typed
	jsonForm
)

// filter is what "show stat" is asked for.
type filter struct {
	iid, kinds, sid int // -1: all
	up, noMaint     bool
	form            format
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
			f.form = typed
		case "json":
			f.form = jsonForm
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
	out := make([]byte, 0, 4096)
	switch f.form {
	case plain:
		out = statcol.AppendHeader(out)
	case jsonForm:
		out = append(out, '[')
	}
	n := 0
	statcol.EachRow(c.Host, func(r *statcol.Row) bool {
		if !f.wants(r) {
			return true
		}
		switch f.form {
		case plain:
			out = r.AppendCSV(out)
		case typed:
			out = r.AppendTyped(out, f.desc)
		case jsonForm:
			if n > 0 {
				out = append(out, ',')
			}
			out = r.AppendJSON(out)
		}
		n++
		_, err := c.Write(out)
		out = out[:0]
		return err == nil
	})
	if f.form == jsonForm {
		out = append(out, "]\n"...)
	}
	_, _ = c.Write(out) // a failure ends the session
}
