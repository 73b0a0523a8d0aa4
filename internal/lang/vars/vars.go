// Package vars reads and writes the variables of the expression language
// (manual, chapter 2.8): their names, the scopes that exist where an
// expression runs, the conditions of set-var, and the limits of tune.vars.
package vars

import (
	"errors"
	"fmt"
	"strings"

	"weir/internal/base/ascii"
	"weir/internal/model"
)

// Name is the name of a variable.
type Name struct {
	model.VarName
	// Parent: the variable belongs to the stream that the present one works for
	// (scopes psess, ptxn, preq, pres). Such a variable can be read, never set.
	Parent bool
}

// scopes are the words before the first dot of a name.
var scopes = map[string]Name{
	"proc":  {VarName: model.VarName{Scope: model.ScopeProc}},
	"sess":  {VarName: model.VarName{Scope: model.ScopeSess}},
	"txn":   {VarName: model.VarName{Scope: model.ScopeTxn}},
	"req":   {VarName: model.VarName{Scope: model.ScopeReq}},
	"res":   {VarName: model.VarName{Scope: model.ScopeRes}},
	"check": {VarName: model.VarName{Scope: model.ScopeCheck}},
	"psess": {VarName: model.VarName{Scope: model.ScopeSess}, Parent: true},
	"ptxn":  {VarName: model.VarName{Scope: model.ScopeTxn}, Parent: true},
	"preq":  {VarName: model.VarName{Scope: model.ScopeReq}, Parent: true},
	"pres":  {VarName: model.VarName{Scope: model.ScopeRes}, Parent: true},
}

// ErrEmpty is the error for a name that is missing.
var ErrEmpty = errors.New("the name of a variable is missing; it looks like txn.name")

// Parse reads a name such as "txn.host". Names are case-sensitive; besides letters, digits and '_' the reference
// takes '.' in them.
func Parse(text string) (*Name, error) {
	if text == "" {
		return nil, ErrEmpty
	}
	word, rest, _ := strings.Cut(text, ".")
	n, known := scopes[word]
	if !known {
		return nil, fmt.Errorf("'%s' is no name of a variable: it must start with its scope, one of proc., (p)sess., (p)txn., (p)req., (p)res. and check.", text)
	}
	if rest == "" {
		return nil, fmt.Errorf("'%s' has no name after its scope", text)
	}
	for i := range len(rest) {
		if c := rest[i]; !ascii.IsAlnum(c) && c != '_' && c != '.' {
			return nil, fmt.Errorf("'%s': a variable's name consists of letters, digits, '_' and '.', not of %q", text, c)
		}
	}
	n.Name = rest
	return &n, nil
}

// String is the name as it is written in a configuration.
func (n *Name) String() string {
	for word, s := range scopes {
		if s.Scope == n.Scope && s.Parent == n.Parent {
			return word + "." + n.Name
		}
	}
	return n.Name
}

// scope returns where the variable lives, nil when that does not exist here. ScopeProc has no Vars.
func (n *Name) scope(tx *model.Txn) *model.Vars {
	if n.Parent {
		return nil
	}
	switch n.Scope {
	case model.ScopeSess:
		return tx.Vars.Sess
	case model.ScopeTxn:
		return tx.Vars.Txn
	case model.ScopeReq:
		if tx.Dir == model.DirReq {
			return tx.Vars.Flow
		}
	case model.ScopeRes:
		if tx.Dir == model.DirRes {
			return tx.Vars.Flow
		}
	case model.ScopeCheck:
		return tx.Vars.Check
	}
	return nil
}

// Reachable reports whether the variable's scope exists where tx runs: "req." on the request's side only, "check." in
// health checks only, and so on. The variable itself need not exist.
func Reachable(tx *model.Txn, n *Name) bool {
	if n.Scope == model.ScopeProc && !n.Parent {
		return tx.Vars.Proc != nil
	}
	return n.scope(tx) != nil
}

// Get reads a variable into v and reports whether it is set. The bytes of v are valid until the transaction sets the
// variable again; those of variables that others may set meanwhile are copied to the scratch memory.
func Get(tx *model.Txn, n *Name, v *model.Value) bool {
	if n.Scope == model.ScopeProc && !n.Parent {
		return tx.Vars.Proc.Get(n.Name, v, &tx.Scratch)
	}
	e := n.scope(tx).Get(n.Name)
	if e == nil {
		return false
	}
	*v = *e
	if n.Scope == model.ScopeSess && len(v.B) > 0 {
		v.B = tx.Scratch.Copy(v.B)
		return v.B != nil
	}
	return true
}

// Set stores a copy of v. It reports false, and the variable keeps its value, when its scope does not exist here or one
// of the limits of tune.vars would be passed.
func Set(tx *model.Txn, n *Name, v *model.Value) bool {
	if !Reachable(tx, n) {
		return false
	}
	var l model.VarLimits
	if tx.Vars.Limits != nil {
		l = *tx.Vars.Limits
	}
	// A limit includes the scopes inside: one session cannot take more than all of the process may.
	proc := lower(l.Proc, l.Global)
	sess := lower(l.Sess, proc)
	switch n.Scope {
	case model.ScopeProc:
		return tx.Vars.Proc.Set(n.Name, v, proc)
	case model.ScopeSess:
		return tx.Vars.Sess.Set(n.Name, v, sess, proc)
	case model.ScopeTxn:
		return tx.Vars.Txn.Set(n.Name, v, l.Txn, sess, proc)
	case model.ScopeCheck:
		return tx.Vars.Check.Set(n.Name, v, lower(l.Check, l.Global), sess, proc)
	}
	return tx.Vars.Flow.Set(n.Name, v, l.ReqRes, l.Txn, sess, proc)
}

// lower is the smaller of two limits, of which 0 means none.
func lower(a, b int64) int64 {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// Unset removes a variable. It reports false when its scope does not exist here; a variable that is not set is none
// the less.
func Unset(tx *model.Txn, n *Name) bool {
	if !Reachable(tx, n) {
		return false
	}
	if n.Scope == model.ScopeProc {
		tx.Vars.Proc.Unset(n.Name)
		return true
	}
	n.scope(tx).Unset(n.Name)
	return true
}
