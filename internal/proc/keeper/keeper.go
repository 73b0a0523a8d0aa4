// Package keeper holds by name what outlives a configuration: listening
// sockets and the counts of the process. Generations borrow from it; what
// nobody borrows any more is closed.
package keeper

import (
	"net/netip"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"weir/internal/engine/listen"
	"weir/internal/engine/stats"
)

// Keeper is the memory of the process across configurations.
type Keeper struct {
	// Conns are the client connections of all generations.
	Conns stats.Gauge
	// Process is the limit on them (global maxconn); it follows the current generation.
	Process *listen.Limit
	// Loops are the counters of the process by loop.
	Loops []stats.Loop
	// ConnRate and SessRate are the process's rates (maxconnrate, maxsessrate).
	ConnRate, SessRate stats.Rate
	// TLS is the limit on TLS connections of both sides (maxsslconn), TLSRate counts those of clients (maxsslrate).
	TLS     *listen.Limit
	TLSRate stats.Rate
	// FrontKeys and BackKeys count handshakes that resumed no session, of clients and with servers.
	FrontKeys, BackKeys stats.Rate

	mu      sync.Mutex
	sockets map[string]*socket
	left    []Leave
}

type socket struct {
	fd    int
	users int
}

// New returns an empty keeper.
func New() *Keeper {
	k := &Keeper{sockets: make(map[string]*socket)}
	k.Process = listen.NewLimit(&k.Conns, 0)
	k.TLS = listen.NewLimit(new(stats.Gauge), 0)
	return k
}

// Want describes a socket well enough to find it among those that another process has left.
type Want struct {
	Addr      netip.AddrPort
	Unix      string // path, or name after '@'
	Interface string
	V6Only    bool
}

// Leave is a listening socket that another process has handed over.
type Leave struct {
	FD int
	Want
}

// Inherit takes over what another process has left. Borrow prefers these sockets to new ones.
func (k *Keeper) Inherit(list []Leave) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.left = append(k.left, list...)
}

// Disinherit closes what nobody has borrowed, and returns how many sockets that were.
func (k *Keeper) Disinherit() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := len(k.left)
	for _, l := range k.left {
		_ = unix.Close(l.FD)
	}
	k.left = nil
	return n
}

// inherited takes a socket out of those that were left; -1 for none.
func (k *Keeper) inherited(w Want) int {
	if !w.Addr.IsValid() && w.Unix == "" {
		return -1
	}
	i := slices.IndexFunc(k.left, func(l Leave) bool { return l.Want == w })
	if i < 0 {
		return -1
	}
	fd := k.left[i].FD
	k.left = slices.Delete(k.left, i, i+1)
	return fd
}

// Borrow returns the socket of that name; when there is none, one that was inherited and is like w, or else what open
// makes. Each Borrow is given back by Return.
func (k *Keeper) Borrow(name string, w Want, open func() (int, error)) (fd int, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.sockets[name]; s != nil {
		s.users++
		return s.fd, nil
	}
	if fd = k.inherited(w); fd < 0 {
		if fd, err = open(); err != nil {
			return -1, err
		}
	}
	k.sockets[name] = &socket{fd: fd, users: 1}
	return fd, nil
}

// Return gives a borrowed socket back; the last one closes it.
func (k *Keeper) Return(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.sockets[name]
	if s == nil {
		return
	}
	if s.users--; s.users == 0 {
		delete(k.sockets, name)
		_ = unix.Close(s.fd)
	}
}

// Sockets is how many listening sockets are held.
func (k *Keeper) Sockets() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.sockets)
}
