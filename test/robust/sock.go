package robust

import (
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
)

// mappedListener is a TCP socket of the IPv6 family that is bound to ::ffff:127.0.0.1, so that IPv4 clients appear with
// mapped addresses. The address is what they connect to.
func mappedListener(t testing.TB) (*os.File, string) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET6, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Skip("no IPv6 here: ", err)
	}
	f := os.NewFile(uintptr(fd), "mapped")
	t.Cleanup(func() { f.Close() })
	check(t, syscall.SetsockoptInt(fd, syscall.IPPROTO_IPV6, syscall.IPV6_V6ONLY, 0))
	mapped := &syscall.SockaddrInet6{}
	copy(mapped.Addr[:], net.IPv4(127, 0, 0, 1).To16())
	check(t, syscall.Bind(fd, mapped))
	check(t, syscall.Listen(fd, 100))
	sa, err := syscall.Getsockname(fd)
	check(t, err)
	return f, fmt.Sprintf("127.0.0.1:%d", sa.(*syscall.SockaddrInet6).Port)
}
