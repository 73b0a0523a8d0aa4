package statcol

import (
	"weir/internal/engine/backend"
	"weir/internal/engine/frontend"
	"weir/internal/model"
)

// Cursor walks the rows of all proxies in the order of their declaration: the frontend, its listeners, the servers, the
// backend. It makes one row at a time, so that whoever prints them decides how many a turn may cost.
type Cursor struct {
	h       Host
	proxies []*model.Proxy
	fronts  []*frontend.Frontend // those of the proxies that come
	backs   []*backend.Backend
	at      step
	n       int // listener or server within the step
	front   *frontend.Frontend
	back    *backend.Backend
}

// step is where the cursor is within a proxy.
type step uint8

const (
	atFront step = iota
	atBinds
	atServers
	atBack
)

// NewCursor returns a cursor before the first row.
func NewCursor(h Host) *Cursor {
	c := &Cursor{h: h, proxies: h.Config().Proxies, fronts: h.Frontends(), backs: h.Backends()}
	c.enter()
	return c
}

// enter finds what runs the proxy that the cursor has come to.
func (c *Cursor) enter() {
	c.at, c.n, c.front, c.back = atFront, 0, nil, nil
	if len(c.proxies) == 0 {
		return
	}
	p := c.proxies[0]
	if len(c.fronts) > 0 && c.fronts[0].Conf == p {
		c.front, c.fronts = c.fronts[0], c.fronts[1:]
	}
	if len(c.backs) > 0 && c.backs[0].Conf == p {
		c.back, c.backs = c.backs[0], c.backs[1:]
	}
	if p.Disabled {
		c.front, c.back = nil, nil
	}
}

// Proxy is the proxy whose row comes next, nil at the end.
func (c *Cursor) Proxy() *model.Proxy {
	if len(c.proxies) == 0 {
		return nil
	}
	return c.proxies[0]
}

// SkipProxy goes to the proxy after the one whose row comes next.
func (c *Cursor) SkipProxy() {
	if len(c.proxies) > 0 {
		c.proxies = c.proxies[1:]
		c.enter()
	}
}

// Next makes the next row; nil at the end.
func (c *Cursor) Next() *Row {
	for len(c.proxies) > 0 {
		switch c.at {
		case atFront:
			if c.at = atBinds; c.front != nil {
				return frontRow(c.h, c.front)
			}
		case atBinds:
			if p := c.proxies[0]; c.front != nil && p.Has(model.OptSocketStats) && c.n < len(p.Binds) {
				c.n++
				return bindRow(c.h, p, p.Binds[c.n-1], c.n-1)
			}
			c.at, c.n = atServers, 0
		case atServers:
			if c.back != nil && c.n < len(c.back.Servers) {
				c.n++
				return serverRow(c.h, c.back, c.back.Servers[c.n-1])
			}
			c.at = atBack
		case atBack:
			b := c.back
			c.SkipProxy()
			if b != nil {
				return backRow(c.h, b)
			}
		}
	}
	return nil
}

// EachRow calls fn with all rows until it returns false.
func EachRow(h Host, fn func(r *Row) bool) {
	c := NewCursor(h)
	for r := c.Next(); r != nil && fn(r); r = c.Next() {
	}
}
