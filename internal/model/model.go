// Package model holds the types that the configuration language and the
// engine share: configuration objects, log records, and the small interfaces
// through which each knows the other without importing it.
//
// It has types only: parsing lives in lang and kw, behaviour in engine and
// feat. A configuration object is written while a file is parsed and checked,
// and is read-only from the moment its generation is built.
package model

import "weir/internal/base/diag"

// Config is one parsed configuration: everything a generation is built from.
type Config struct {
	Global  *Global
	Proxies []*Proxy // frontends, backends and listens in file order; defaults sections are not kept here
	// HTTPErrors are the http-errors sections by name.
	HTTPErrors map[string]*HTTPErrors
	// Env is the environment at the end of the parse, "NAME=value".
	Env []string
	// ZeroWarning tells that warnings count as errors (-dW, zero-warning).
	ZeroWarning bool
	// ProcVars are the variables of the process scope; the keeper hands them from generation to generation.
	ProcVars *ProcVars
	// Run is set when the generation is built.
	Run   Runner
	Slots Slots
}

// Frontend returns the proxy of that name which has a frontend side, or nil.
func (c *Config) Frontend(name string) *Proxy { return c.find(name, Proxy.IsFrontend) }

// Backend returns the proxy of that name which has a backend side, or nil.
func (c *Config) Backend(name string) *Proxy { return c.find(name, Proxy.IsBackend) }

func (c *Config) find(name string, side func(Proxy) bool) *Proxy {
	for _, p := range c.Proxies {
		if p.Name == name && side(*p) {
			return p
		}
	}
	return nil
}

// Position is where an object was declared.
type Position = diag.Position

// Tristate is a setting that may be left unset.
type Tristate uint8

// The three values of a Tristate.
const (
	Unset Tristate = iota
	Off
	On
)

// Slots carries the per-object state of features: each feature owns a typed
// key, so that the core's structs never grow a field for one.
type Slots struct{ m map[any]any }

// SlotKey is a typed key into Slots; its address is its identity.
type SlotKey[T any] struct{ Name string }

// Get returns the value stored under k, or the zero value.
func (k *SlotKey[T]) Get(s *Slots) (v T) {
	if s.m != nil {
		v, _ = s.m[k].(T)
	}
	return v
}

// Set stores v under k.
func (k *SlotKey[T]) Set(s *Slots, v T) {
	if s.m == nil {
		s.m = make(map[any]any)
	}
	s.m[k] = v
}

// Clone copies the slots; the values themselves are shared.
func (s *Slots) Clone() Slots {
	if s.m == nil {
		return Slots{}
	}
	c := Slots{m: make(map[any]any, len(s.m))}
	for k, v := range s.m {
		c.m[k] = v
	}
	return c
}
