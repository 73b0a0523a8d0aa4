package sample

import "weir/internal/model"

// Eval evaluates the expression. It reports false when there is no value; tx.Wait tells then whether more data may bring one.
func (e *Expr) Eval(tx *model.Txn, v *model.Value) bool {
	return e.Fetch.Get(tx, e.Args, v) && e.convert(tx, v)
}

func (e *Expr) convert(tx *model.Txn, v *model.Value) bool {
	for i := range e.steps {
		s := &e.steps[i]
		if s.in != model.TypeAny && v.Type != s.in && !Cast(tx, v, s.in) {
			return false
		}
		if !s.conv.Run(tx, s.args, v) {
			return false
		}
	}
	return true
}

// EvalAs evaluates the expression and casts the result.
func (e *Expr) EvalAs(tx *model.Txn, t model.Type, v *model.Value) bool {
	return e.Eval(tx, v) && (v.Type == t || Cast(tx, v, t))
}

// EvalStr evaluates the expression to text.
func (e *Expr) EvalStr(tx *model.Txn) ([]byte, bool) {
	var v model.Value
	if !e.EvalAs(tx, model.TypeStr, &v) {
		return nil, false
	}
	return v.B, true
}

// Each evaluates an iterable fetch once for every occurrence, until yield returns false; other fetches once. It reports
// whether there was any value.
func (e *Expr) Each(tx *model.Txn, v *model.Value, yield func(v *model.Value) bool) bool {
	if e.Fetch.Next == nil {
		if !e.Eval(tx, v) {
			return false
		}
		yield(v)
		return true
	}
	state, some := 0, false
	for e.Fetch.Next(tx, e.Args, v, &state) {
		if !e.convert(tx, v) {
			continue
		}
		some = true
		if !yield(v) {
			break
		}
	}
	return some
}

// Traced is Eval with a call after each step: the name of the fetch or converter, and its value or ok false.
func (e *Expr) Traced(tx *model.Txn, v *model.Value, step func(name string, v *model.Value, ok bool)) bool {
	ok := e.Fetch.Get(tx, e.Args, v)
	step(e.Fetch.Name, v, ok)
	for i := range e.steps {
		if !ok {
			return false
		}
		s := &e.steps[i]
		ok = s.in == model.TypeAny || v.Type == s.in || Cast(tx, v, s.in)
		ok = ok && s.conv.Run(tx, s.args, v)
		step(s.conv.Name, v, ok)
	}
	return ok
}
