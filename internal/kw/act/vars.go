package act

import (
	"strings"

	"weir/internal/lang/rule"
	"weir/internal/lang/sample"
	"weir/internal/lang/vars"
	"weir/internal/model"
)

func init() {
	const in = rule.AnyKind
	rule.Add(
		rule.Action{Name: "set-var", In: in, Paren: true, Args: "(<var>[,<cond>...]) <expr>", Help: "sets a variable to the value of an expression", Parse: parseSetVar},
		rule.Action{Name: "set-var-fmt", In: in, Paren: true, Args: "(<var>[,<cond>...]) <fmt>", Help: "sets a variable to a text", Parse: parseSetVarFmt},
		rule.Action{Name: "unset-var", In: in, Paren: true, Args: "(<var>)", Help: "removes a variable", Parse: parseUnsetVar},
	)
}

// variable reads what stands between the parentheses: a name that may be set here, and conditions.
func variable(p *rule.Parser, conds bool) (*vars.Name, vars.Cond, bool) {
	at := p.I - 1
	parts := strings.Split(p.Paren, ",")
	n, err := vars.Parse(strings.TrimSpace(parts[0]))
	if err != nil {
		p.L.Errorf(at, "%s.", err)
		return nil, 0, false
	}
	if n.Parent {
		p.L.Errorf(at, "'%s' belongs to a parent stream: it can be read only.", n)
		return nil, 0, false
	}
	if !conds && len(parts) > 1 {
		p.L.Errorf(at, "'%s' takes the name of a variable and nothing else.", p.Name)
		return nil, 0, false
	}
	for i := range parts[1:] {
		parts[i+1] = strings.TrimSpace(parts[i+1])
	}
	c, err := vars.ParseConds(parts[1:])
	if err != nil {
		p.L.Errorf(at, "%s.", err)
		return nil, 0, false
	}
	if p.Kind <= rule.TCPSession && n.Scope != model.ScopeProc && n.Scope != model.ScopeSess {
		p.L.Errorf(at, "'%s' does not exist yet when '%s' rules run: only variables of the scopes proc and sess do.", n, p.Kind)
		return nil, 0, false
	}
	return n, c, true
}

// setVar is set-var and set-var-fmt.
type setVar struct {
	name *vars.Name
	cond vars.Cond
	expr *sample.Expr
	text model.Format
}

// Run leaves the variable alone when there is no value; set-var of an expression without one changes nothing.
func (a *setVar) Run(tx *model.Txn, _ rule.Control) rule.Outcome {
	v := tx.Value()
	defer tx.Done()
	if a.expr != nil {
		if !a.expr.Eval(tx, v) {
			if tx.Wait && !tx.Final {
				return rule.Again
			}
			return rule.Next
		}
	} else {
		b, ok := text(a.text, tx)
		if !ok {
			return rule.Next
		}
		v.SetStr(b)
	}
	vars.SetIf(tx, a.name, v, a.cond)
	return rule.Next
}

func parseSetVar(p *rule.Parser) rule.Runner {
	n, c, ok := variable(p, true)
	if !ok {
		return nil
	}
	e := p.Expr("an expression")
	if e == nil {
		return nil
	}
	return &setVar{name: n, cond: c, expr: e}
}

func parseSetVarFmt(p *rule.Parser) rule.Runner {
	n, c, ok := variable(p, true)
	if !ok {
		return nil
	}
	w, i, ok := p.Word("a format")
	if !ok {
		return nil
	}
	f := p.ValueText(i, w)
	if f == nil {
		return nil
	}
	return &setVar{name: n, cond: c, text: f}
}

func parseUnsetVar(p *rule.Parser) rule.Runner {
	n, _, ok := variable(p, false)
	if !ok {
		return nil
	}
	return rule.RunFunc(func(tx *model.Txn, _ rule.Control) rule.Outcome {
		vars.Unset(tx, n)
		return rule.Next
	})
}
