// Package keeper holds by name what outlives a configuration: listening
// sockets and the counts of the process. Generations borrow from it; what
// nobody borrows any more is closed.
package keeper

import (
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
	// ConnRate and SessRate are the process's rates (maxconnrate, maxsessrate).
	ConnRate, SessRate stats.Rate

	mu      sync.Mutex
	sockets map[string]*socket
}

type socket struct {
	fd    int
	users int
}

// New returns an empty keeper.
func New() *Keeper {
	k := &Keeper{sockets: make(map[string]*socket)}
	k.Process = listen.NewLimit(&k.Conns, 0)
	return k
}

// Borrow returns the socket of that name, which open makes when there is none. Each Borrow is given back by Return.
func (k *Keeper) Borrow(name string, open func() (int, error)) (fd int, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.sockets[name]; s != nil {
		s.users++
		return s.fd, nil
	}
	fd, err = open()
	if err != nil {
		return -1, err
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
