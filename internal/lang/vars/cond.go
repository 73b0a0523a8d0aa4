package vars

import (
	"fmt"

	"weir/internal/model"
)

// Cond is a set of conditions of set-var, all of which must hold (manual 7.3.1, converter set-var).
type Cond uint8

// The conditions.
const (
	IfExists Cond = 1 << iota
	IfNotExists
	IfEmpty
	IfNotEmpty
	IfSet
	IfNotSet
	IfGT // the variable is greater than the new value
	IfLT // the variable is less than the new value
)

// MaxConds is how many conditions may be given.
const MaxConds = 4

var condNames = [...]string{"ifexists", "ifnotexists", "ifempty", "ifnotempty", "ifset", "ifnotset", "ifgt", "iflt"}

// ParseCond reads the name of one condition.
func ParseCond(word string) (Cond, error) {
	for i, name := range condNames {
		if name == word {
			return 1 << i, nil
		}
	}
	return 0, fmt.Errorf("unknown condition '%s'; it can be ifexists, ifnotexists, ifempty, ifnotempty, ifset, ifnotset, ifgt or iflt", word)
}

// ParseConds reads up to MaxConds names.
func ParseConds(words []string) (Cond, error) {
	if len(words) > MaxConds {
		return 0, fmt.Errorf("at most %d conditions can be given", MaxConds)
	}
	var c Cond
	for _, w := range words {
		one, err := ParseCond(w)
		if err != nil {
			return 0, err
		}
		c |= one
	}
	return c, nil
}

// SetIf is Set when all conditions hold; else it reports false.
func SetIf(tx *model.Txn, n *Name, v *model.Value, c Cond) bool {
	if !Reachable(tx, n) || c != 0 && !c.hold(tx, n, v) {
		return false
	}
	return Set(tx, n, v)
}

// hold reports whether the conditions are met by the variable as it is and the value v that it would get.
func (c Cond) hold(tx *model.Txn, n *Name, v *model.Value) bool {
	if c&(IfEmpty|IfNotEmpty) != 0 {
		empty := len(v.B) == 0 && (v.Type == model.TypeStr || v.Type == model.TypeBin)
		if empty && c&IfNotEmpty != 0 || !empty && c&IfEmpty != 0 {
			return false
		}
	}
	if c&^(IfEmpty|IfNotEmpty) == 0 {
		return true
	}
	var old model.Value
	m := tx.Scratch.Mark()
	set := Get(tx, n, &old)
	tx.Scratch.Release(m) // no byte of old is looked at
	if set && c&IfNotSet != 0 || !set && c&IfSet != 0 {
		return false
	}
	exists := set || n.Scope == model.ScopeProc // those are made when the configuration is read
	if exists && c&IfNotExists != 0 || !exists && c&IfExists != 0 {
		return false
	}
	// Only integers are compared; the conditions hold for everything else.
	if !set || old.Type != model.TypeSint || v.Type != model.TypeSint {
		return true
	}
	return !(c&IfGT != 0 && old.Num <= v.Num || c&IfLT != 0 && old.Num >= v.Num)
}
