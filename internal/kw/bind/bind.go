// Package bind holds "bind" lines and their options (manual, chapters 4.2 and
// 5.1).
package bind

import (
	"fmt"
	"os"
	"strings"

	"weir/internal/base/addr"
	"weir/internal/lang/config"
	"weir/internal/model"
)

func init() {
	config.Proxy.Add(config.Keyword{
		Name: "bind", In: config.InFrontend, Args: "<address>[:<port>[-<port>]][, ...] [option ...]",
		Help:  "addresses on which connections are accepted",
		Parse: config.On(parse),
	})
}

func parse(l *config.Line, p *model.Proxy) {
	if !l.Has(0) {
		l.Errorf(0, "'bind' expects one or several addresses: bind <address>[:<port>[-<port>]][, ...] [option ...]")
		return
	}
	b := &model.Bind{Pos: l.Pos(), Text: l.Arg(0), UID: -1, GID: -1, PermMode: -1}
	sockets := 0
	for _, text := range addr.SplitList(l.Arg(0)) {
		a, ok := l.AddrText(0, text, addr.Bind)
		if ok && (a.Family == addr.SockPair || a.Family == addr.AbstractZ) {
			l.NotYet(0, "address form", text[:strings.IndexByte(text, '@')+1])
		}
		if ok && a.Family == addr.FD && !inherited(a.FD) {
			l.Errorf(0, "descriptor %d was not inherited: nothing is open under that number.", a.FD)
		}
		b.Addrs = append(b.Addrs, a)
		sockets += 1 + a.PortEnd - a.Port
	}
	l.Options(1, config.Bind, b)
	if b.ID != 0 && sockets > 1 {
		l.Errorf(0, "'id' numbers a single socket; this line has %d.", sockets)
	}
	p.Binds = append(p.Binds, b)
}

// inherited reports whether a descriptor is open in this process.
func inherited(fd int) bool {
	_, err := os.Stat(fmt.Sprintf("/proc/self/fd/%d", fd))
	return err == nil
}

// describe names a bind line in messages about ids.
func describe(b *model.Bind) string { return fmt.Sprintf("'bind %s'", b.Text) }
