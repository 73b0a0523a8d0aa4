// Package frontend is the run-time side of a frontend: what its connections
// share, its limits, and how it chooses a backend.
package frontend

import (
	"sync/atomic"

	"weir/internal/engine/backend"
	"weir/internal/engine/stats"
	"weir/internal/lang/rule"
	"weir/internal/link/h1mux"
	"weir/internal/model"
)

// Frontend is one frontend, shared by all loops.
type Frontend struct {
	Conf  *model.Proxy
	Name  string
	Cur   stats.Gauge // connections
	Rate  stats.Rate  // sessions a second
	Stats []stats.Proxy
	Pages model.PageTable
	Logs  []model.LogEmitter // by loop; nil entries: nothing is logged
	H1    *h1mux.Options     // for connections of clients

	MaxConn    int              // from the configuration or the process
	LogURI     int              // tune.http.logurl
	LogNeeds   model.LogNeeds   // what the log's formats ask for
	LogCount   atomic.Uint32    // lines written
	Default    *backend.Backend // default_backend; nil: none
	Own        *backend.Backend // of a listen section; nil for a frontend
	Switch     []SwitchRule
	Rules      *rule.Sets // never nil
	ForwardFor backend.Forward
	OriginalTo backend.Forward
	Backends   func(name string) *backend.Backend

	Draining atomic.Bool // a newer generation has taken over: connections are not kept
}

// SwitchRule is a use_backend line bound to its backend.
type SwitchRule struct {
	Cond *model.Condition
	To   *backend.Backend
	Name model.Format // names the backend at run time; nil: To
}

// Choose returns the backend for a transaction: that of the first use_backend rule whose condition holds, the default one,
// the frontend's own, or nil. Backends that are disabled or unpublished are passed over unless a force-be-switch rule holds.
func (f *Frontend) Choose(t *model.Txn) *backend.Backend {
	for i := range f.Switch {
		r := &f.Switch[i]
		if !Holds(r.Cond, t) {
			continue
		}
		to := r.To
		if r.Name != nil {
			mark := t.Scratch.Mark()
			to = f.Backends(string(r.Name.Append(t.Scratch.Grab(), t)))
			t.Scratch.Release(mark)
			if to == nil { // an unknown name leads to the default backend
				break
			}
		}
		if to.Eligible() || f.forced(t) {
			return to
		}
	}
	if f.Default != nil && (f.Default.Eligible() || f.forced(t)) {
		return f.Default
	}
	return f.Own
}

// forced reports whether a force-be-switch rule holds.
func (f *Frontend) forced(t *model.Txn) bool {
	for _, c := range f.Conf.ForceSwitch {
		if c.Match(t) == model.Pass {
			return true
		}
	}
	return false
}

// MayUse reports whether some rule leads to b.
func (f *Frontend) MayUse(b *backend.Backend) bool {
	for i := range f.Switch {
		if f.Switch[i].To == b || f.Switch[i].Name != nil {
			return true
		}
	}
	return f.Default == b || f.Default == nil && f.Own == b
}

// Holds evaluates a condition; no condition holds.
func Holds(c *model.Condition, t *model.Txn) bool { return c == nil || c.Match(t) == model.Pass }
