// Package vars holds the directives of the global section that set variables
// of the process and limit the memory of variables (manual 2.8, 3.1 and 3.2).
package vars

import (
	"math"

	"weir/internal/lang/config"
	"weir/internal/lang/eval"
	"weir/internal/lang/logfmt"
	"weir/internal/lang/sample"
	"weir/internal/lang/vars"
	"weir/internal/model"
)

func init() {
	for _, t := range []struct {
		name, help string
		field      func(v *model.VarLimits) *int64
	}{
		{"global", "bytes of all variables together", func(v *model.VarLimits) *int64 { return &v.Global }},
		{"proc", "bytes of the variables of the process, those of sessions included", func(v *model.VarLimits) *int64 { return &v.Proc }},
		{"sess", "bytes of the variables of a session, those of its transactions included", func(v *model.VarLimits) *int64 { return &v.Sess }},
		{"txn", "bytes of the variables of a transaction, those of its request or response included", func(v *model.VarLimits) *int64 { return &v.Txn }},
		{"reqres", "bytes of the variables of a request or a response", func(v *model.VarLimits) *int64 { return &v.ReqRes }},
		{"check", "bytes of the variables of a health check", func(v *model.VarLimits) *int64 { return &v.Check }},
	} {
		config.Global.Add(config.Keyword{
			Name: "tune.vars." + t.name + "-max-size", Args: "<size>", Help: t.help,
			Parse: config.On(func(l *config.Line, g *model.Global) {
				if !l.NeedArgs(1, 1) {
					return
				}
				if n, ok := l.Size(0, 0, math.MaxInt64); ok {
					*t.field(&g.Tune.Vars) = n
				}
			}),
		})
	}
	config.Global.Add(config.Keyword{
		Name: "set-var", Args: "<proc.name> <expression>", Help: "sets a variable of the process to the value that an expression has now",
		Parse: config.On(func(l *config.Line, _ *model.Global) { set(l, expression) }),
	}, config.Keyword{
		Name: "set-var-fmt", Args: "<proc.name> <format>", Help: "sets a variable of the process to the text that a log format makes now",
		Parse: config.On(func(l *config.Line, _ *model.Global) { set(l, format) }),
	})
}

// maker makes the value of argument 1: found is false when there is none. It returns ok false after an error that it has
// reported.
type maker func(l *config.Line, tx *model.Txn, sc *sample.Scope, v *model.Value) (found, ok bool)

// set reads "<name> <value>" and sets the variable at once, so that the lines below see it. A value that does not exist
// leaves the variable as it is, as in the reference.
func set(l *config.Line, value maker) {
	if !l.NeedArgs(2, 2) {
		return
	}
	n, err := vars.Parse(l.Arg(0))
	if err != nil {
		l.Errorf(0, "%s.", err)
		return
	}
	if n.Scope != model.ScopeProc {
		l.Errorf(0, "variable '%s' cannot be set in the global section: only those of the process (proc.) live then.", l.Arg(0))
		return
	}
	cfg, _ := l.Parser().Root().(*model.Config)
	if cfg.ProcVars == nil {
		cfg.ProcVars = new(model.ProcVars)
	}
	tx, _ := eval.New(cfg)
	var v model.Value
	found, ok := value(l, tx, &sample.Scope{Line: l, Arg: 1, Conf: cfg, Valid: sample.ConfigParser}, &v)
	if found && ok && !vars.Set(tx, n, &v) {
		l.Errorf(1, "variable '%s' would need more memory than tune.vars.proc-max-size or tune.vars.global-max-size allow.", l.Arg(0))
	}
}

func expression(l *config.Line, tx *model.Txn, sc *sample.Scope, v *model.Value) (found, ok bool) {
	e, err := sample.Parse(sc, l.Arg(1))
	if err != nil {
		l.Errorf(1, "%s.", err)
		return false, false
	}
	return e.Eval(tx, v), true
}

func format(l *config.Line, tx *model.Txn, sc *sample.Scope, v *model.Value) (found, ok bool) {
	f, err := logfmt.Parse(sc, l.Arg(1), logfmt.Options{Use: logfmt.ForText})
	if err != nil {
		l.Errorf(1, "%s.", err)
		return false, false
	}
	v.SetStr(f.Append(nil, tx))
	return true, true
}
