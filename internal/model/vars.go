package model

import (
	"bytes"
	"sync"
)

// VarScope is how long a variable lives (manual, chapter 2.8).
type VarScope uint8

// Scopes: the process, a session, a transaction, the request or the response
// side of one, a health check.
const (
	ScopeProc VarScope = iota
	ScopeSess
	ScopeTxn
	ScopeReq
	ScopeRes
	ScopeCheck
)

// VarName is a variable's name, resolved when the configuration is read.
type VarName struct {
	Scope VarScope
	Name  string // without the scope's prefix
}

// VarScopes are the variables that a transaction reaches. Entries are nil where a scope does not exist.
type VarScopes struct {
	Proc                   *ProcVars
	Sess, Txn, Flow, Check *Vars // Flow: those of the request or the response, whichever runs
	Limits                 *VarLimits
}

// VarLimits are the tune.vars.* settings in bytes; 0: no limit.
type VarLimits struct{ Global, Proc, Sess, Txn, ReqRes, Check int64 }

// VarOverhead is what a variable counts besides its own bytes.
const VarOverhead = 64

// Vars are the variables of one scope. They belong to one loop.
type Vars struct {
	list []variable
	size int64
	// Up is the scope whose accounting includes this one (flow -> txn -> sess -> proc), nil for none.
	Up *Vars
}

type variable struct {
	name string
	v    Value
	own  []byte // backing memory of v.B, kept for reuse
	set  bool
}

// Get returns a variable, nil when it is not set. The value is valid until the variable changes.
func (vs *Vars) Get(name string) *Value {
	if vs == nil {
		return nil
	}
	for i := range vs.list {
		if e := &vs.list[i]; e.name == name && e.set {
			return &e.v
		}
	}
	return nil
}

// Size is what the variables of the scope and of those inside it take, in bytes.
func (vs *Vars) Size() int64 { return vs.size }

// grow accounts for n more bytes in vs and the scopes around it, unless a limit forbids it.
func (vs *Vars) grow(n int64, max ...int64) bool {
	if n > 0 {
		i := 0
		for s := vs; s != nil; s = s.Up {
			if i < len(max) && max[i] > 0 && s.size+n > max[i] {
				return false
			}
			i++
		}
	}
	for s := vs; s != nil; s = s.Up {
		s.size += n
	}
	return true
}

// Set stores a copy of v. max are the limits in bytes of vs and of the scopes around it, inner ones first. It reports false
// when one of them would be passed; the variable keeps its former value then.
func (vs *Vars) Set(name string, v *Value, max ...int64) bool {
	var e *variable
	for i := range vs.list {
		if vs.list[i].name == name {
			e = &vs.list[i]
			break
		}
	}
	before := int64(0)
	if e != nil && e.set {
		before = VarOverhead + int64(len(e.v.B))
	}
	if !vs.grow(VarOverhead+int64(len(v.B))-before, max...) {
		return false
	}
	if e == nil {
		vs.list = append(vs.list, variable{name: name})
		e = &vs.list[len(vs.list)-1]
	}
	e.own = append(e.own[:0], v.B...)
	e.v, e.set = *v, true
	e.v.B, e.v.Const = e.own, false
	return true
}

// Unset removes a variable and reports whether it was there.
func (vs *Vars) Unset(name string) bool {
	if vs == nil {
		return false
	}
	for i := range vs.list {
		if e := &vs.list[i]; e.name == name && e.set {
			vs.grow(-(VarOverhead + int64(len(e.v.B))))
			e.set, e.v = false, Value{}
			return true
		}
	}
	return false
}

// Reset removes all variables; their memory is kept up to a bound.
func (vs *Vars) Reset() {
	for s := vs.Up; s != nil; s = s.Up {
		s.size -= vs.size
	}
	vs.size = 0
	const keepVars, keepBytes = 16, 4 << 10
	if len(vs.list) > keepVars {
		vs.list = nil
		return
	}
	for i := range vs.list {
		e := &vs.list[i]
		e.set, e.v = false, Value{}
		if cap(e.own) > keepBytes {
			e.own = nil
		}
	}
	// The names of one configuration repeat from stream to stream: the entries stay.
}

// Each calls fn for every variable that is set.
func (vs *Vars) Each(fn func(name string, v *Value)) {
	if vs == nil {
		return
	}
	for i := range vs.list {
		if e := &vs.list[i]; e.set {
			fn(e.name, &e.v)
		}
	}
}

// ProcVars are the variables of the process, shared by all loops and by the generations that follow each other.
type ProcVars struct {
	mu   sync.RWMutex
	vars map[string]*Value
	size int64
}

// Get copies a variable into v; its bytes go to the scratch memory. It reports false when it is not set or too long.
func (p *ProcVars) Get(name string, v *Value, s *Scratch) bool {
	if p == nil {
		return false
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	e := p.vars[name]
	if e == nil {
		return false
	}
	*v = *e
	if v.B != nil {
		if v.B = s.Copy(e.B); v.B == nil {
			return false
		}
	}
	return true
}

// Set stores a copy of v, unless the variables of the process would take more than max bytes (0: no limit).
func (p *ProcVars) Set(name string, v *Value, max int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := VarOverhead + int64(len(v.B))
	if e := p.vars[name]; e != nil {
		n -= VarOverhead + int64(len(e.B))
	}
	if max > 0 && n > 0 && p.size+n > max {
		return false
	}
	p.size += n
	c := *v
	c.B, c.Const = bytes.Clone(v.B), false
	if p.vars == nil {
		p.vars = make(map[string]*Value)
	}
	p.vars[name] = &c
	return true
}

// Unset removes a variable and reports whether it was there.
func (p *ProcVars) Unset(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.vars[name]
	if e == nil {
		return false
	}
	p.size -= VarOverhead + int64(len(e.B))
	delete(p.vars, name)
	return true
}

// Names returns the names of all variables, in no order.
func (p *ProcVars) Names() []string {
	p.mu.RLock()
	defer p.mu.RUnlock()
	names := make([]string, 0, len(p.vars))
	for n := range p.vars {
		names = append(names, n)
	}
	return names
}
