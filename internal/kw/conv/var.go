package conv

import (
	"weir/internal/lang/sample"
	"weir/internal/lang/vars"
	"weir/internal/model"
)

func init() {
	sample.AddConv(
		sample.Conv{Name: "set-var", Args: "string[,string,string,string,string]", In: model.TypeAny, Out: model.TypeAny, Check: checkSetVar, Run: setVar,
			Help: "stores the value in a variable when all conditions hold; no value when one does not"},
		sample.Conv{Name: "unset-var", Args: "string", In: model.TypeAny, Out: model.TypeAny, Check: checkVariable, Run: unsetVar,
			Help: "removes a variable, the value stays"},
	)
	sample.AddFetch(sample.Fetch{Name: "var", Args: "string[,string]", Out: model.TypeAny, Valid: sample.Always, Check: checkVar, Get: getVar,
		Help: "the content of a variable, or a default text where the variable's scope exists but the variable is not set"})
}

func checkSetVar(_ *sample.ArgCheck, a []sample.Arg) error {
	if err := variable(&a[0]); err != nil {
		return err
	}
	a[0].Int = 0
	for i := 1; i < len(a); i++ {
		c, err := vars.ParseCond(a[i].Str)
		if err != nil {
			return err
		}
		a[0].Int |= int64(c)
	}
	return nil
}

func setVar(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	n := nameOf(a, 0)
	if !vars.SetIf(tx, n, v, vars.Cond(a[0].Int)) {
		return false
	}
	// The value may have been a view of the variable itself.
	if len(v.B) > 0 && !v.Const {
		return vars.Get(tx, n, v)
	}
	return true
}

func unsetVar(tx *model.Txn, a []sample.Arg, _ *model.Value) bool {
	return vars.Unset(tx, nameOf(a, 0))
}

func checkVar(_ *sample.ArgCheck, a []sample.Arg) error {
	keepBytes(a, 1)
	return variable(&a[0])
}

func getVar(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	n := nameOf(a, 0)
	if vars.Get(tx, n, v) {
		return true
	}
	return len(a) > 1 && vars.Reachable(tx, n) && setConst(v, bytesOf(a, 1))
}
