// Package act has the actions of rule sets (manual 4.4) whose subsystems are
// part of the engine: verdicts, waits, edits of messages and connections,
// variables, captures, answers.
package act

import (
	"time"

	"weir/internal/base/units"
	"weir/internal/lang/rule"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

// number is an argument that is a constant or an expression.
type number struct {
	n int64
	e *sample.Expr
}

// value evaluates the number; false when the expression has none.
func (v *number) value(tx *model.Txn) (int64, bool) {
	if v.e == nil {
		return v.n, true
	}
	x := tx.Value()
	defer tx.Done()
	if !v.e.EvalAs(tx, model.TypeSint, x) {
		return 0, false
	}
	return x.Num, true
}

// parseNumber takes an integer from lo to hi, or an expression.
func parseNumber(p *rule.Parser, what string, lo, hi int64) (v number, ok bool) {
	if rule.IsExpr(p.Peek()) {
		v.e = exprAs(p, what, model.TypeSint)
		return v, v.e != nil
	}
	v.n, ok = p.Int(what, lo, hi)
	return v, ok
}

// parseTime takes a time, or an expression that gives milliseconds; the number is in milliseconds.
func parseTime(p *rule.Parser, what string) (v number, ok bool) {
	if rule.IsExpr(p.Peek()) {
		v.e = exprAs(p, what, model.TypeSint)
		return v, v.e != nil
	}
	d, ok := p.Duration(what)
	v.n = d.Milliseconds()
	return v, ok
}

// exprAs takes an expression whose value can become the given type.
func exprAs(p *rule.Parser, what string, t model.Type) *sample.Expr {
	e := p.Expr(what)
	if e != nil && !sample.Castable(e.Out, t) {
		p.L.Errorf(p.I-1, "'%s' gives a value of type %s, which cannot become the %s that is needed here.", e.Text, e.Out, t)
		return nil
	}
	return e
}

// milliseconds turns the value of a time into a duration; what is negative or beyond the longest timer is no time.
func milliseconds(n int64) (time.Duration, bool) {
	d := time.Duration(n) * time.Millisecond
	return d, n >= 0 && n <= int64(units.MaxTimer/time.Millisecond)
}

// always is a parse function for actions without arguments.
func always(run rule.RunFunc) func(*rule.Parser) rule.Runner {
	return func(*rule.Parser) rule.Runner { return run }
}

// outcome is an action that only decides.
func outcome(o rule.Outcome) func(*rule.Parser) rule.Runner {
	return always(func(*model.Txn, rule.Control) rule.Outcome { return o })
}

// failed is rule.Failed when something could not be done.
func failed(ok bool) rule.Outcome {
	if ok {
		return rule.Next
	}
	return rule.Failed
}
