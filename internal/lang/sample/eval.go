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
	v := tx.Value()
	defer tx.Done()
	if !e.EvalAs(tx, model.TypeStr, v) {
		return nil, false
	}
	return v.B, true
}

// Next evaluates an iterable fetch for its next occurrence that has a value; state is 0 at first and belongs to Next. It
// reports false when there are no more.
func (e *Expr) Next(tx *model.Txn, v *model.Value, state *int) bool {
	for e.Fetch.Next(tx, e.Args, v, state) {
		if e.convert(tx, v) {
			return true
		}
	}
	return false
}

// Calls calls fn for the fetch and for each converter, with their arguments.
func (e *Expr) Calls(fn func(name string, args []Arg)) {
	fn(e.Fetch.Name, e.Args)
	for i := range e.steps {
		fn(e.steps[i].conv.Name, e.steps[i].args)
	}
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
