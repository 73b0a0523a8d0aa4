package scenario

import (
	"fmt"
	"net"
	"syscall"
	"time"
)

// rawPort binds a TCP socket of 127.0.0.1 to a port of the kernel's choice.
func rawPort() (fd, port int, err error) {
	fd, err = syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, 0, err
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		syscall.Close(fd)
		return 0, 0, err
	}
	sa, err := syscall.Getsockname(fd)
	if err != nil {
		syscall.Close(fd)
		return 0, 0, err
	}
	return fd, sa.(*syscall.SockaddrInet4).Port, nil
}

// refusingPort holds a port without listening on it: connections are refused, and nobody else
// gets the port meanwhile.
func refusingPort() (*listener, error) {
	fd, port, err := rawPort()
	if err != nil {
		return nil, err
	}
	return &listener{mode: "refuse", addr: fmt.Sprintf("127.0.0.1:%d", port), close: func() { syscall.Close(fd) }}, nil
}

// Refusing returns an address that refuses connections until close is called; for other tests.
func Refusing() (addr string, close func(), err error) {
	l, err := refusingPort()
	if err != nil {
		return "", nil, err
	}
	return l.addr, l.close, nil
}

// blackholePort listens with a full backlog, so that the kernel drops further SYNs.
func blackholePort() (*listener, error) {
	fd, port, err := rawPort()
	if err != nil {
		return nil, err
	}
	if err := syscall.Listen(fd, 0); err != nil {
		syscall.Close(fd)
		return nil, err
	}
	l := &listener{mode: "blackhole", addr: fmt.Sprintf("127.0.0.1:%d", port)}
	var held []net.Conn
	l.close = func() {
		for _, c := range held {
			c.Close()
		}
		syscall.Close(fd)
	}
	for range 16 {
		c, err := net.DialTimeout("tcp4", l.addr, 60*time.Millisecond)
		if err != nil {
			return l, nil
		}
		held = append(held, c)
	}
	l.close()
	return nil, fmt.Errorf("port %d still accepts after %d connections", port, len(held))
}
