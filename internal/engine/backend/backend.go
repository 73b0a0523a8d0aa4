// Package backend is the run-time side of a backend: its servers, how one is
// chosen, and the queue of streams that wait for any of them.
package backend

import (
	"net/netip"
	"sync"
	"sync/atomic"

	"weir/internal/engine/balance"
	"weir/internal/engine/queue"
	"weir/internal/engine/server"
	"weir/internal/engine/stats"
	"weir/internal/lang/rule"
	"weir/internal/link/h1mux"
	"weir/internal/model"
)

// Backend is one backend, shared by all loops.
type Backend struct {
	Conf    *model.Proxy
	Name    string
	Servers []*server.Server
	Queue   queue.Queue[server.Server]
	Cur     stats.Gauge   // streams
	Stats   []stats.Proxy // by loop
	Pages   model.PageTable
	H1      *h1mux.Options // for connections to servers

	ForwardFor, OriginalTo Forward
	Rules                  *rule.Sets // never nil

	Unpublished atomic.Bool // no rule chooses it (be-unpublished)
	FullConn    int64       // fullconn, or what the frontends give rise to

	cookies        dynamicCookies
	updating       sync.Mutex
	hasher         balance.Hasher
	active, backup balance.Algorithm
	backups        []*server.Server
}

// New makes the run-time side of conf over the given servers, for n loops.
func New(conf *model.Proxy, servers []*server.Server, n int) *Backend {
	b := &Backend{Conf: conf, Name: conf.Name, Servers: servers, Stats: make([]stats.Proxy, n)}
	var active []*server.Server
	for _, s := range servers {
		s.Freed, s.Changed, s.Load, s.FullConn = b.freed, b.Update, &b.Cur, int64(conf.FullConn)
		if s.Conf.Backup {
			b.backups = append(b.backups, s)
		} else {
			active = append(active, s)
		}
	}
	b.Unpublished.Store(conf.Unpublished)
	b.FullConn = int64(conf.FullConn)
	b.cookies.dynamic, b.cookies.key = conf.Persist != nil && conf.Persist.Dynamic, conf.DynamicCookieKey
	for _, s := range servers {
		b.RenewCookie(s)
	}
	b.hasher = balance.NewHasher(&conf.Balance)
	b.active = balance.New(&conf.Balance, active)
	b.backup = balance.New(&conf.Balance, b.backups)
	return b
}

// Choice works out what the choice of a server for tx depends on, at a time of the loop.
func (b *Backend) Choice(tx *model.Txn, avoid *server.Server, now int64) (c balance.Choice) {
	c = balance.Choice{Avoid: avoid, Now: now}
	if key := b.Conf.Balance.Key; key != nil {
		mark := tx.Scratch.Mark()
		text, raw, ok := key.Key(tx)
		if c.Keyed = ok; ok {
			c.Hash = b.hasher.Sum(text, raw)
		}
		tx.Scratch.Release(mark)
	}
	return c
}

// Pick chooses a server. With full it has no room, and the request waits for it; without a server, full tells that some are
// up and that the request waits for any.
func (b *Backend) Pick(c balance.Choice) (s *server.Server, full bool) {
	s, full = b.active.Pick(c)
	if s != nil || full {
		return s, full
	}
	if b.Conf.Has(model.OptAllBackups) {
		return b.backup.Pick(c)
	}
	for _, s := range b.backups { // only the first usable backup server takes over
		if s.Usable() {
			if s.HasRoom() {
				return s, false
			}
			return nil, true
		}
	}
	return nil, false
}

// Update follows changes of the weights and states of servers.
func (b *Backend) Update() {
	b.updating.Lock()
	defer b.updating.Unlock()
	b.active.Update()
	b.backup.Update()
	for _, s := range b.Servers { // one may have moved
		b.RenewCookie(s)
	}
}

// Static reports whether the algorithm lays servers out once, so that weights do not change while it runs.
func (b *Backend) Static() bool {
	switch b.Conf.Balance.Algorithm {
	case "", "roundrobin", "leastconn", "random", "first", "sticky":
		return false
	case "static-rr":
		return true
	}
	return !b.Conf.Balance.Consistent
}

// Eligible reports whether rules may choose b: it is neither disabled nor unpublished.
func (b *Backend) Eligible() bool { return !b.Conf.Disabled && !b.Unpublished.Load() }

// Owns reports whether s is a server of b.
func (b *Backend) Owns(s *server.Server) bool {
	for _, o := range b.Servers {
		if o == s {
			return true
		}
	}
	return false
}

// Usable counts the servers that can take traffic.
func (b *Backend) Usable() (n int) {
	for _, s := range b.Servers {
		if s.Usable() {
			n++
		}
	}
	return n
}

// Enqueue lets p wait for any server; it returns how many wait before it.
func (b *Backend) Enqueue(p *queue.Pending[server.Server]) int64 {
	before := b.Queue.Push(p)
	// A slot may have become free between the refusal and the push: nobody else would tell.
	for _, s := range b.Servers {
		if s.Usable() && s.HasRoom() {
			b.freed(s)
		}
	}
	return before
}

// EnqueueFor lets p wait for s; it returns how many wait before it.
func (b *Backend) EnqueueFor(s *server.Server, p *queue.Pending[server.Server]) int64 {
	before := s.Queue.Push(p)
	if s.HasRoom() { // see Enqueue
		b.freed(s)
	}
	return before
}

// freed gives the free slots of s to those who wait for it, then to those who wait for any server.
func (b *Backend) freed(s *server.Server) {
	for s.Queue.Len() > 0 || b.Queue.Len() > 0 && b.inTurn(s) {
		if !s.Serve() {
			return
		}
		if !s.Queue.Assign(s) && !(b.inTurn(s) && b.Queue.Assign(s)) {
			s.Unserve()
			return
		}
	}
}

// inTurn reports whether balancing may send waiting streams to s.
func (b *Backend) inTurn(s *server.Server) bool {
	return s.Usable() && (!s.Conf.Backup || b.Conf.Has(model.OptAllBackups) || b.activeDown())
}

func (b *Backend) activeDown() bool {
	for _, s := range b.Servers {
		if !s.Conf.Backup && s.Usable() {
			return false
		}
	}
	return true
}

// Forward is a compiled "option forwardfor" or "originalto".
type Forward struct {
	Enabled bool
	Header  string
	IfNone  bool
	Except  netip.Prefix // not valid: none
}

// Applies reports whether the header is to be added for addr.
func (w *Forward) Applies(addr netip.Addr) bool {
	return w.Enabled && addr.IsValid() && !(w.Except.IsValid() && w.Except.Contains(addr.Unmap()))
}
