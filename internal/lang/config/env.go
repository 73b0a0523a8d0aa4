package config

import (
	"slices"
	"strings"
)

// Env is a set of environment variables. A parse works on its own copy: the
// setenv family of keywords changes that copy and never the process.
type Env struct {
	vars map[string]string
	size int // bytes of all names and values
}

// MaxEnv bounds the environment that a configuration builds, in bytes.
const MaxEnv = 64 << 20

// NewEnv makes an environment from "NAME=value" strings, as os.Environ gives
// them. Of equal names the last one wins.
func NewEnv(environ []string) *Env {
	e := &Env{vars: make(map[string]string, len(environ))}
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok && name != "" {
			e.Set(name, value)
		}
	}
	return e
}

// Clone returns an independent copy. The clone of nil is empty.
func (e *Env) Clone() *Env {
	c := &Env{vars: make(map[string]string)}
	if e != nil {
		for k, v := range e.vars {
			c.Set(k, v)
		}
	}
	return c
}

// Get returns the value of a variable and whether it exists.
func (e *Env) Get(name string) (string, bool) {
	v, ok := e.vars[name]
	return v, ok
}

// Set creates or overwrites a variable.
func (e *Env) Set(name, value string) {
	e.Unset(name)
	e.vars[name] = value
	e.size += len(name) + len(value)
}

// Preset creates a variable unless it exists.
func (e *Env) Preset(name, value string) {
	if _, ok := e.vars[name]; !ok {
		e.Set(name, value)
	}
}

// Unset removes a variable.
func (e *Env) Unset(name string) {
	if old, ok := e.vars[name]; ok {
		e.size -= len(name) + len(old)
		delete(e.vars, name)
	}
}

// Size returns the bytes of all names and values.
func (e *Env) Size() int { return e.size }

// Reset removes all variables but those named.
func (e *Env) Reset(keep ...string) {
	for name := range e.vars {
		if !slices.Contains(keep, name) {
			e.Unset(name)
		}
	}
}

// Environ returns all variables as "NAME=value" in the byte order of names.
func (e *Env) Environ() []string {
	out := make([]string, 0, len(e.vars))
	for k, v := range e.vars {
		out = append(out, k+"="+v)
	}
	slices.Sort(out)
	return out
}
