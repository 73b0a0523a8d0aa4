package global

import (
	"math"
	"strconv"

	"weir/internal/lang/config"
	"weir/internal/model"
)

// parseUnixBind reads pairs of a word and its value.
func parseUnixBind(l *config.Line, g *model.Global) {
	u := g.UnixBind
	u.Pos = l.Pos()
	ok := true
	for i := 0; i < l.Len(); i += 2 {
		w := l.Arg(i)
		switch w {
		case "prefix", "mode", "user", "uid", "group", "gid":
		default:
			l.Unknown(i, "argument", []string{"prefix", "mode", "user", "uid", "group", "gid"})
			return
		}
		if !l.Has(i + 1) {
			l.Errorf(i+1, "'%s' needs a value.", w)
			return
		}
		good := true
		var n int64
		switch w {
		case "prefix":
			u.Prefix = l.Arg(i + 1)
		case "mode":
			m, err := strconv.ParseUint(l.Arg(i+1), 8, 32)
			if good = err == nil && m <= 0o7777; !good {
				l.Errorf(i+1, "'%s' is no octal mode such as 660.", l.Arg(i+1))
			}
			u.PermMode = int(m)
		case "user":
			u.User, u.UID = l.Arg(i+1), -1
		case "group":
			u.Group, u.GID = l.Arg(i+1), -1
		case "uid":
			n, good = l.Int(i+1, 0, math.MaxInt32)
			u.User, u.UID = "", int(n)
		case "gid":
			n, good = l.Int(i+1, 0, math.MaxInt32)
			u.Group, u.GID = "", int(n)
		}
		ok = ok && good
	}
	if ok {
		g.UnixBind = u
	}
}
