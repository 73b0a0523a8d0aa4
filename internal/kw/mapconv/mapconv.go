// Package mapconv has the converters that look values up in maps (manual
// 7.3.1, map and map_<match>_<output>).
package mapconv

import (
	"fmt"

	"weir/internal/lang/pattern"
	"weir/internal/lang/regex"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	add("map", pattern.Str, pattern.OutStr)
	for _, m := range []pattern.Method{pattern.Str, pattern.Beg, pattern.Sub, pattern.Dir, pattern.Dom, pattern.End, pattern.Reg, pattern.Int, pattern.IP} {
		name := "map_" + m.String()
		add(name, m, pattern.OutStr)
		add(name+"_int", m, pattern.OutInt)
		add(name+"_ip", m, pattern.OutIP)
		add(name+"_key", m, pattern.OutKey)
	}
	sample.AddConv(sample.Conv{
		Name: "map_regm", Args: "string[,string]", In: model.TypeStr, Out: model.TypeStr,
		Help:  "value of the first regular expression that matches, with its back-references filled in",
		Check: check(pattern.Reg, pattern.OutStr), Run: regm,
	})
}

// add registers the converter for a match method and a type of values.
func add(name string, m pattern.Method, out pattern.Out) {
	c := sample.Conv{Name: name, Args: "string[,string]", In: m.Input(), Out: model.TypeStr, Help: "value that a map has for the input", Run: text}
	switch out {
	case pattern.OutInt:
		c.Args, c.Out, c.Run = "string[,integer]", model.TypeSint, number
	case pattern.OutIP:
		c.Out, c.Run = model.TypeAddr, address
	case pattern.OutKey:
		c.Args, c.Run, c.Help = "string", key, "key of the map that the input matches"
	}
	c.Check = check(m, out)
	sample.AddConv(c)
}

// check opens the map and keeps its view in the first argument.
func check(m pattern.Method, out pattern.Out) func(*sample.ArgCheck, []sample.Arg) error {
	return func(c *sample.ArgCheck, a []sample.Arg) error {
		if a[0].Str == "" {
			return fmt.Errorf("the name of a map is missing")
		}
		l, err := pattern.ListsOf(c.Scope.Config()).Open(c.Scope, a[0].Str, true)
		if err != nil {
			return err
		}
		v, err := l.View(m, false, out)
		if err != nil {
			return err
		}
		a[0].Data = v
		if out == pattern.OutIP && len(a) > 1 {
			ip, ok := sample.ParseAddr([]byte(a[1].Str))
			if !ok {
				return fmt.Errorf("the default '%s' is no address", a[1].Str)
			}
			a[1].Addr = ip
		}
		if out == pattern.OutStr && len(a) > 1 {
			a[1].Data = []byte(a[1].Str)
		}
		return nil
	}
}

// lookup finds v in the map.
func lookup(tx *model.Txn, a []sample.Arg, v *model.Value) (pattern.Match, bool) {
	return a[0].Data.(*pattern.View).Find(v, &tx.Steps)
}

func text(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	m, ok := lookup(tx, a, v)
	if !ok {
		return fallback(a, v)
	}
	v.SetStr(m.Value)
	return true
}

// fallback gives the default, if there is one.
func fallback(a []sample.Arg, v *model.Value) bool {
	if len(a) < 2 {
		return false
	}
	v.SetStr(a[1].Data.([]byte))
	v.Const = true
	return true
}

func number(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	m, ok := lookup(tx, a, v)
	switch {
	case ok:
		v.SetInt(sample.ParseInt(m.Value))
	case len(a) > 1:
		v.SetInt(a[1].Int)
	default:
		return false
	}
	return true
}

func address(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	if m, ok := lookup(tx, a, v); ok {
		ip, valid := sample.ParseAddr(m.Value)
		return valid && v.SetIP(ip)
	}
	return len(a) > 1 && v.SetIP(a[1].Addr)
}

func key(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	m, ok := lookup(tx, a, v)
	if !ok {
		return false
	}
	b, ok := tx.Scratch.Keep(m.AppendKey(tx.Scratch.Grab()))
	if ok {
		v.SetStr(b)
	}
	return ok
}

// groups is room for the places of capture groups: \0 to \9 can be named.
const groups = 20

func regm(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	m, ok := lookup(tx, a, v)
	if !ok {
		return fallback(a, v)
	}
	var room [groups]int
	loc, err := m.Re.FindWithin(room[:0], v.B, 0, &tx.Steps)
	if err != nil || loc == nil {
		return false
	}
	b, ok := tx.Scratch.Keep(regex.Expand(tx.Scratch.Grab(), string(m.Value), v.B, loc))
	if ok {
		v.SetStr(b)
	}
	return ok
}
