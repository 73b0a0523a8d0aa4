package act

import (
	"weir/internal/lang/rule"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	rule.Add(rule.Action{
		Name: "capture", In: 1<<rule.TCPContent | rule.AnyHTTP, Args: "<sample> { len <length> | id <id> }",
		Help: "keeps a value for the log and for later rules", Parse: parseCapture,
	})
}

func parseCapture(p *rule.Parser) rule.Runner {
	e := exprAs(p, "an expression", model.TypeStr)
	if e == nil {
		return nil
	}
	response := p.Kind.Dir() == model.DirRes
	switch {
	case p.Take("len"):
		if response {
			return p.Errorf(p.I-1, "'len' makes a slot, which '%s' cannot; use 'id' with a slot declared by 'declare capture response'.", p.Kind)
		}
		if p.Proxy.Sides&(model.SideFrontend|model.SideDefaults) == 0 {
			return p.Errorf(p.I-1, "'len' makes a slot, which a backend cannot; use 'id' with a slot of the frontend.")
		}
		n, ok := p.Int("a length in bytes: len <length>", 1, 65535)
		if !ok {
			return nil
		}
		slots := &p.Proxy.Captures.Req
		*slots = append(*slots, model.Capture{Len: int(n)})
		return &capture{e: e, slot: len(*slots) - 1, dir: model.DirReq}
	case p.Take("id"):
		n, ok := p.Int("the number of a slot: id <id>", 0, 65535)
		if !ok {
			return nil
		}
		at, px := p.I-1, p.Proxy
		if px.IsFrontend() {
			_ = p.Scope(at).Defer(func(*model.Config) error {
				slots := px.Captures.Req
				if response {
					slots = px.Captures.Res
				}
				if int(n) >= len(slots) {
					p.L.Errorf(at, "there is no capture slot %d: %s '%s' declares %d.", n, px.Kind, px.Name, len(slots))
				}
				return nil
			})
		}
		return &capture{e: e, slot: int(n), dir: p.Kind.Dir()}
	}
	return p.Errorf(p.I, "'capture' needs 'len <length>' or 'id <slot>' after the expression.")
}

// capture fills a slot.
type capture struct {
	e    *sample.Expr
	slot int
	dir  model.Dir
}

// Run leaves the slot alone when there is no value.
func (a *capture) Run(tx *model.Txn, c rule.Control) rule.Outcome {
	v := tx.Value()
	defer tx.Done()
	if a.e.EvalAs(tx, model.TypeStr, v) {
		c.SetCapture(a.dir, a.slot, v.B)
	}
	return rule.Next
}
