package backend

import (
	"encoding/binary"
	"net/netip"
	"strconv"
	"sync"

	"weir/internal/base/xxh"
	"weir/internal/engine/server"
)

// dynamicCookies are how servers without a cookie of their own get one (manual 4.2, "cookie ... dynamic").
type dynamicCookies struct {
	mu      sync.Mutex
	dynamic bool
	key     string
}

// ByCookie returns the server that a cookie's value stands for, nil if there is none.
func (b *Backend) ByCookie(value []byte) *server.Server {
	if len(value) == 0 {
		return nil
	}
	for _, s := range b.Servers {
		if c := s.Cookie(); len(c) == len(value) && c == string(value) {
			return s
		}
	}
	return nil
}

// RenewCookie works out the cookie of s again, when its address has changed.
func (b *Backend) RenewCookie(s *server.Server) {
	b.cookies.mu.Lock()
	defer b.cookies.mu.Unlock()
	b.renewCookie(s)
}

func (b *Backend) renewCookie(s *server.Server) {
	value := s.Conf.Cookie
	if c := &b.cookies; value == "" && c.dynamic && c.key != "" && s.Addr().IsValid() {
		value = dynamicCookie(s.Addr(), c.key)
	}
	s.SetCookie(value)
}

// dynamicCookie is the cookie of a server at an address: the same for all processes that have the key.
func dynamicCookie(addr netip.AddrPort, key string) string {
	b := append([]byte(key), addr.Addr().Unmap().AsSlice()...)
	b = binary.BigEndian.AppendUint32(b, uint32(addr.Port()))
	hash := strconv.FormatUint(xxh.Sum64(b, 0), 16)
	return "0000000000000000"[len(hash):] + hash
}

// SetDynamicCookies turns dynamic cookies on or off.
func (b *Backend) SetDynamicCookies(on bool) {
	b.changeCookies(func(c *dynamicCookies) { c.dynamic = on })
}

// SetCookieKey changes the key that dynamic cookies are made with, which invalidates those that clients have.
func (b *Backend) SetCookieKey(key string) {
	b.changeCookies(func(c *dynamicCookies) { c.key = key })
}

func (b *Backend) changeCookies(change func(*dynamicCookies)) {
	b.cookies.mu.Lock()
	defer b.cookies.mu.Unlock()
	change(&b.cookies)
	for _, s := range b.Servers {
		b.renewCookie(s)
	}
}
