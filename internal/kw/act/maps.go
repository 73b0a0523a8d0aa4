package act

import (
	"weir/internal/lang/config"
	"weir/internal/lang/pattern"
	"weir/internal/lang/rule"
	"weir/internal/model"
)

func init() {
	rule.Add(
		rule.Action{Name: "set-map", In: rule.AnyHTTP, Paren: true, Args: "(<map>) <key fmt> <value fmt>", Help: "sets an entry of a map", Parse: parseSetMap},
		rule.Action{
			Name: "del-map", In: rule.AnyHTTP, Paren: true, Args: "(<map>) <key fmt>", Help: "removes an entry of a map",
			Parse: func(p *rule.Parser) rule.Runner { return parseListEdit(p, true, removeKey) },
		},
		rule.Action{
			Name: "add-acl", In: 1<<rule.HTTPRequest | 1<<rule.HTTPResponse, Paren: true, Args: "(<file>) <key fmt>", Help: "adds a pattern to an ACL's list",
			Parse: func(p *rule.Parser) rule.Runner { return parseListEdit(p, false, addKey) },
		},
		rule.Action{
			Name: "del-acl", In: 1<<rule.HTTPRequest | 1<<rule.HTTPResponse, Paren: true, Args: "(<file>) <key fmt>", Help: "removes a pattern from an ACL's list",
			Parse: func(p *rule.Parser) rule.Runner { return parseListEdit(p, false, removeKey) },
		},
	)
}

// editedList finds, once all is parsed, the list that the parentheses name: an ACL or a converter must have loaded it.
func editedList(p *rule.Parser, asMap bool) **pattern.List {
	l := new(*pattern.List)
	name, at := p.Paren, p.I-1
	what := "ACL"
	if asMap {
		what = "map"
	}
	p.L.Check(func(line *config.Line) {
		cfg := line.Parser().Root().(*model.Config)
		found := pattern.ListsOf(cfg).Named(name)
		if found == nil || asMap && !found.Map || !asMap && !found.ACL {
			line.Errorf(at, "there is no %s '%s' that something here has loaded.", what, name)
			return
		}
		*l = found
	})
	return l
}

func parseSetMap(p *rule.Parser) rule.Runner {
	l := editedList(p, true)
	key := p.Format("a key: <key fmt>")
	if key == nil {
		return nil
	}
	value := p.Format("a value: <value fmt>")
	if value == nil {
		return nil
	}
	return rule.RunFunc(func(tx *model.Txn, c rule.Control) rule.Outcome {
		k, ok := text(key, tx)
		if !ok {
			return rule.Next
		}
		v, ok := text(value, tx)
		if !ok {
			return rule.Next
		}
		ks, vs := string(k), string(v)
		c.Offload(func() { setKey(*l, ks, vs) })
		return rule.Next
	})
}

// setKey changes an entry or adds it.
func setKey(l *pattern.List, key, value string) {
	if l.Set(key, value) == pattern.ErrNoEntry {
		_ = l.Add(key, value) // what cannot be a pattern of this list is left out, as in the reference
	}
}

func addKey(l *pattern.List, key string) {
	if !l.Has(key) {
		_ = l.Add(key, "")
	}
}

func removeKey(l *pattern.List, key string) { _ = l.Del(key) }

func parseListEdit(p *rule.Parser, asMap bool, edit func(*pattern.List, string)) rule.Runner {
	l := editedList(p, asMap)
	key := p.Format("a key: <key fmt>")
	if key == nil {
		return nil
	}
	return rule.RunFunc(func(tx *model.Txn, c rule.Control) rule.Outcome {
		k, ok := text(key, tx)
		if !ok {
			return rule.Next
		}
		ks := string(k)
		c.Offload(func() { edit(*l, ks) })
		return rule.Next
	})
}
