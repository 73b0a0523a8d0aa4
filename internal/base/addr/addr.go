// Package addr reads the addresses of a configuration (Configuration Manual
// section 2.9): IPv4, IPv6 and host names with ports, port ranges or offsets,
// socket paths, abstract names, file descriptors, and the prefixes that choose
// a family, a socket type or a protocol.
//
// Parsing does no I/O: host names are left to the caller, who finds them in
// Addr.Host, and variables must be expanded already.
package addr

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Family is the address family.
type Family uint8

const (
	// IP is IPv4 or IPv6, whatever the host turns out to be.
	IP Family = iota
	IPv4
	IPv6
	Unix     // path in the file system
	Abstract // Linux abstract name (abns@)
	// AbstractZ is an abstract name that ends with a zero byte (abnsz@).
	AbstractZ
	FD       // inherited file descriptor (fd@)
	SockPair // descriptor of a socket pair (sockpair@)
	RHTTP    // reverse HTTP (rhttp@)
)

var familyNames = [...]string{"IP", "IPv4", "IPv6", "UNIX socket", "abstract socket", "abstract socket", "file descriptor", "socket pair", "reverse HTTP"}

// String names the family for messages.
func (f Family) String() string { return familyNames[f] }

// IsIP tells whether the family has ports.
func (f Family) IsIP() bool { return f <= IPv6 }

// Proto is the transport that a prefix asks for.
type Proto uint8

const (
	// Default leaves the choice to the statement: stream for bind and server,
	// datagram for log and nameserver.
	Default  Proto = iota
	Stream         // stream+, tcp@, uxst@
	Datagram       // dgram+, udp@, uxdg@
	QUIC           // quic+, quic4@, quic6@
	MPTCP          // mptcp@, mptcp4@, mptcp6@
)

var protoNames = [...]string{"default", "stream", "datagram", "QUIC", "MPTCP"}

// String names the transport for messages.
func (p Proto) String() string { return protoNames[p] }

// PortKind tells how the port was written.
type PortKind uint8

const (
	NoPort    PortKind = iota // none, or an empty one
	FixedPort                 // 80
	PortRange                 // 80-90
	PortPlus                  // +80: added to the port of the connection
	PortMinus                 // -80: subtracted from it
)

// Addr is an address as written.
type Addr struct {
	Family Family
	Proto  Proto
	// Host is the text before the port: an address, a name, "" or "*".
	Host string
	// IP is the address that Host is. It is invalid for host names; for "" and
	// "*" it is the unspecified address (IPv6 when the family says so).
	IP netip.Addr
	// IsName tells that Host needs the resolver.
	IsName bool
	// Any tells that Host is empty or "*".
	Any bool
	// PortKind says how to read Port and PortEnd, the last port of a range
	// (equal to Port otherwise).
	PortKind PortKind
	Port     int
	PortEnd  int
	// Path is the socket path, the abstract name, or the argument of rhttp@.
	Path string
	// FD is the descriptor of fd@ and sockpair@.
	FD int
}

// Error tells what is wrong with an address.
type Error struct {
	Text   string // the address
	What   string // sentence without the address
	Prefix string // the word before '@', when it is what is unknown
}

// Error formats the sentence.
func (e *Error) Error() string {
	if e.Text == "" {
		return e.What
	}
	return fmt.Sprintf("%s in '%s'", e.What, e.Text)
}

// MaxPath is the longest socket path or abstract name that is accepted, in
// bytes: sun_path less the suffix that a bind uses for its temporary name.
const MaxPath = 97

type prefix struct {
	name   string
	family Family
	proto  Proto
}

// prefixes lists what may stand before '@'.
var prefixes = []prefix{
	{"ip", IP, Default}, {"ipv4", IPv4, Default}, {"ipv6", IPv6, Default},
	{"tcp", IP, Stream}, {"tcp4", IPv4, Stream}, {"tcp6", IPv6, Stream},
	{"udp", IP, Datagram}, {"udp4", IPv4, Datagram}, {"udp6", IPv6, Datagram},
	{"quic", IP, QUIC}, {"quic4", IPv4, QUIC}, {"quic6", IPv6, QUIC},
	{"mptcp", IP, MPTCP}, {"mptcp4", IPv4, MPTCP}, {"mptcp6", IPv6, MPTCP},
	{"unix", Unix, Default}, {"uxst", Unix, Stream}, {"uxdg", Unix, Datagram},
	{"abns", Abstract, Default}, {"abnsz", AbstractZ, Default},
	{"fd", FD, Default}, {"sockpair", SockPair, Default}, {"rhttp", RHTTP, Default},
}

// Prefixes returns the words that may stand before '@'.
func Prefixes() []string {
	names := make([]string, len(prefixes))
	for i, p := range prefixes {
		names[i] = p.name
	}
	return names
}

// Parse reads one address. It accepts every form of the manual; what a
// statement allows is checked with the methods of [Need].
func Parse(s string) (Addr, error) {
	a := Addr{FD: -1}
	rest := s
	fail := func(format string, args ...any) (Addr, error) {
		return a, &Error{Text: s, What: fmt.Sprintf(format, args...)}
	}
	if s == "" {
		return a, &Error{What: "the address is empty (an environment variable may be missing)"}
	}
	explicit := false
	for _, t := range []struct {
		word  string
		proto Proto
	}{{"stream+", Stream}, {"dgram+", Datagram}, {"quic+", QUIC}} {
		if strings.HasPrefix(rest, t.word) {
			a.Proto, rest, explicit = t.proto, rest[len(t.word):], true
			break
		}
	}
	known := false
	if word, tail, ok := strings.Cut(rest, "@"); ok && !strings.HasPrefix(rest, "/") {
		for _, p := range prefixes {
			if p.name == word {
				a.Family, known, rest = p.family, true, tail
				if !explicit {
					a.Proto = p.proto
				}
			}
		}
		if !known {
			return a, &Error{Text: s, What: fmt.Sprintf("unknown address prefix '%s@'", word), Prefix: word}
		}
	}
	if !known && strings.HasPrefix(rest, "/") {
		a.Family = Unix
	}
	switch a.Family {
	case Unix, Abstract, AbstractZ:
		a.Path = rest
		if len(rest) > MaxPath {
			return fail("the socket path is too long (%d bytes, the limit is %d)", len(rest), MaxPath)
		}
		if rest == "" && a.Family == Unix {
			return fail("the socket path is missing")
		}
		return a, nil
	case RHTTP:
		a.Path = rest
		return a, nil
	case FD, SockPair:
		n, err := strconv.ParseUint(rest, 10, 31)
		if err != nil || rest[0] == '+' {
			return fail("'%s' is no file descriptor number", rest)
		}
		a.FD = int(n)
		return a, nil
	}
	return a, a.hostPort(s, rest)
}

// hostPort reads host and port; the last colon separates them, unless the
// rest is a bracketed address.
func (a *Addr) hostPort(whole, s string) error {
	host, port, hasPort := s, "", false
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		switch {
		case end < 0:
			return &Error{Text: whole, What: "the bracket is not closed"}
		case end == 1:
			return &Error{Text: whole, What: "nothing stands between the brackets"}
		}
		host = s[1:end]
		if end+1 < len(s) {
			if s[end+1] != ':' {
				return &Error{Text: whole, What: "only ':' and a port may follow the closing bracket"}
			}
			port, hasPort = s[end+2:], true
		}
	} else if i := strings.LastIndexByte(s, ':'); i >= 0 {
		host, port, hasPort = s[:i], s[i+1:], true
	}
	a.Host = host
	if err := a.host(whole); err != nil {
		return err
	}
	if !hasPort || port == "" {
		return nil
	}
	return a.port(whole, port)
}

func (a *Addr) host(whole string) error {
	if a.Host == "" || a.Host == "*" {
		a.Any = true
		a.IP = netip.IPv4Unspecified()
		if a.Family == IPv6 {
			a.IP = netip.IPv6Unspecified()
		}
		return nil
	}
	ip, ok := parseIP(a.Host)
	switch {
	case !ok && !hostBytes(a.Host), !ok && numeric(a.Host):
		return &Error{Text: whole, What: fmt.Sprintf("invalid address '%s'", a.Host)}
	case !ok:
		a.IsName = true
	case a.Family == IPv4 && !ip.Is4(), a.Family == IPv6 && !ip.Is6():
		return &Error{Text: whole, What: fmt.Sprintf("'%s' is no %s address", a.Host, a.Family)}
	default:
		a.IP = ip
	}
	return nil
}

// hostBytes tells whether a name has only bytes that host names may have.
func hostBytes(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c == 0x7f || strings.IndexByte(":[]%/@,+'\"\\", c) >= 0 {
			return false
		}
	}
	return true
}

// numeric tells whether a name is made of digits and dots only.
func numeric(s string) bool { return strings.Trim(s, "0123456789.") == "" }

// parseIP reads an address, also in the short IPv4 forms of inet_aton ("0",
// "127.1").
func parseIP(s string) (netip.Addr, bool) {
	if ip, err := netip.ParseAddr(s); err == nil {
		return ip, ip.Zone() == ""
	}
	if !numeric(s) {
		return netip.Addr{}, false
	}
	parts := strings.Split(s, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var v uint64
	for i, p := range parts {
		base, bits := 10, 8
		if len(p) > 1 && p[0] == '0' {
			base = 8
		}
		if i == len(parts)-1 {
			bits = 8 * (4 - i)
		}
		n, err := strconv.ParseUint(p, base, bits)
		if err != nil {
			return netip.Addr{}, false
		}
		v = v<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}), true
}

func (a *Addr) port(whole, s string) error {
	first, last, isRange := s, "", false
	switch s[0] {
	case '+':
		a.PortKind, first = PortPlus, s[1:]
	case '-':
		a.PortKind, first = PortMinus, s[1:]
	default:
		a.PortKind = FixedPort
		first, last, isRange = strings.Cut(s, "-")
	}
	var err error
	if a.Port, err = portNumber(whole, first); err != nil {
		return err
	}
	a.PortEnd = a.Port
	if !isRange {
		return nil
	}
	a.PortKind = PortRange
	if a.PortEnd, err = portNumber(whole, last); err != nil {
		return err
	}
	if a.PortEnd < a.Port {
		return &Error{Text: whole, What: fmt.Sprintf("port range '%s' ends before it starts", s)}
	}
	return nil
}

func portNumber(whole, s string) (int, error) {
	if s == "" {
		return 0, &Error{Text: whole, What: "a port number is missing"}
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, &Error{Text: whole, What: fmt.Sprintf("invalid character '%c' in port number '%s'", s[i], s)}
		}
	}
	n, err := strconv.Atoi(s)
	if err != nil || n > 65535 {
		return 0, &Error{Text: whole, What: fmt.Sprintf("port '%s' is above 65535", s)}
	}
	return n, nil
}

// Need says what a statement accepts; the zero value accepts no port at all,
// no prefix for another transport and no descriptor.
type Need struct {
	Port       bool // a port may be given
	PortNeeded bool // a port must be given, and must not be 0 (IP families)
	Range      bool // a range of ports may be given
	Offset     bool // +port and -port may be given
	FD         bool // fd@ is acceptable
	SockPair   bool // sockpair@ is acceptable
	RHTTP      bool // rhttp@ is acceptable
	Stream     bool // stream sockets are acceptable
	Datagram   bool // datagram sockets are acceptable
	Unix       bool // socket paths and abstract names are acceptable
}

// Bind, Connect and Log are the needs of the common statements.
var (
	Bind    = Need{Port: true, PortNeeded: true, Range: true, FD: true, SockPair: true, RHTTP: true, Stream: true, Unix: true}
	Connect = Need{Port: true, Offset: true, SockPair: true, RHTTP: true, Stream: true, Unix: true}
	Log     = Need{Port: true, FD: true, Stream: true, Datagram: true, Unix: true}
	Source  = Need{Port: true, Range: true, Stream: true}
)

// Check tells whether an address meets a need; text is how it was written.
func (a *Addr) Check(text string, n Need) error {
	bad := func(what string) error { return &Error{Text: text, What: what} }
	switch {
	case a.Proto == Datagram && !n.Datagram:
		return bad("a datagram address is not acceptable here,")
	case (a.Proto == Stream || a.Proto == MPTCP || a.Proto == QUIC) && !n.Stream:
		return bad("a stream address is not acceptable here,")
	case a.Family == FD && !n.FD:
		return bad("a file descriptor is not acceptable here,")
	case a.Family == SockPair && !n.SockPair:
		return bad("a socket pair is not acceptable here,")
	case a.Family == RHTTP && !n.RHTTP:
		return bad("a reverse HTTP address is not acceptable here,")
	case (a.Family == Unix || a.Family == Abstract || a.Family == AbstractZ) && !n.Unix:
		return bad("a UNIX socket is not acceptable here,")
	case a.Proto == MPTCP && !a.Family.IsIP(), a.Proto == QUIC && !a.Family.IsIP():
		return bad(a.Proto.String() + " works with IP addresses only,")
	case !a.Family.IsIP():
		return nil
	case a.PortKind != NoPort && !n.Port:
		return bad("a port is not acceptable here,")
	case (a.PortKind == PortPlus || a.PortKind == PortMinus) && !n.Offset:
		return bad("a port offset is not acceptable here,")
	case a.PortKind == PortRange && !n.Range:
		return bad("a port range is not acceptable here,")
	case a.PortKind == NoPort && n.PortNeeded:
		return bad("the port is missing")
	case a.Port == 0 && n.PortNeeded:
		return bad("port 0 is not acceptable")
	}
	return nil
}

// Resolver turns a host name into addresses, in order of preference.
type Resolver func(host string) ([]netip.Addr, error)

// Resolve returns the first address of a name that fits the family; for an
// address that is none it returns IP.
func (a *Addr) Resolve(r Resolver) (netip.Addr, error) {
	if !a.IsName {
		return a.IP, nil
	}
	if r == nil {
		return netip.Addr{}, &Error{Text: a.Host, What: "host names cannot be resolved here,"}
	}
	ips, err := r(a.Host)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("cannot resolve '%s': %w", a.Host, err)
	}
	for _, ip := range ips {
		ip = ip.Unmap()
		if a.Family == IPv4 && !ip.Is4() || a.Family == IPv6 && !ip.Is6() {
			continue
		}
		return ip, nil
	}
	return netip.Addr{}, fmt.Errorf("host name '%s' has no %s address", a.Host, a.Family)
}

// Unserved names what HAProxy serves and weir does not yet: reverse HTTP, QUIC
// and datagram binds. It is "" for all else.
func (a *Addr) Unserved() string {
	switch {
	case a.Family == RHTTP:
		return "rhttp@"
	case a.Proto == QUIC:
		return "quic+"
	}
	return ""
}

// String writes the address with its prefix, as a configuration would.
func (a Addr) String() string {
	var b strings.Builder
	name := ""
	for _, p := range prefixes {
		if p.family == a.Family && p.proto == a.Proto {
			name = p.name
			break
		}
	}
	switch {
	case a.Proto == Default && a.Family == IP, a.Proto == Default && a.Family == Unix && strings.HasPrefix(a.Path, "/"):
	case name != "":
		b.WriteString(name + "@")
	default: // a descriptor or abstract name with a forced type
		b.WriteString(map[Proto]string{Stream: "stream+", Datagram: "dgram+", QUIC: "quic+"}[a.Proto])
		for _, p := range prefixes {
			if p.family == a.Family && p.proto == Default {
				b.WriteString(p.name + "@")
				break
			}
		}
	}
	switch a.Family {
	case Unix, Abstract, AbstractZ, RHTTP:
		b.WriteString(a.Path)
	case FD, SockPair:
		b.WriteString(strconv.Itoa(a.FD))
	default:
		a.writeHostPort(&b)
	}
	return b.String()
}

func (a *Addr) writeHostPort(b *strings.Builder) {
	switch {
	case a.Any && a.PortKind == NoPort:
		b.WriteByte('*')
	case strings.Contains(a.Host, ":"):
		b.WriteString("[" + a.Host + "]")
	default:
		b.WriteString(a.Host)
	}
	switch a.PortKind {
	case FixedPort:
		fmt.Fprintf(b, ":%d", a.Port)
	case PortRange:
		fmt.Fprintf(b, ":%d-%d", a.Port, a.PortEnd)
	case PortPlus:
		fmt.Fprintf(b, ":+%d", a.Port)
	case PortMinus:
		fmt.Fprintf(b, ":-%d", a.Port)
	}
}

// SplitList cuts a comma-separated list of addresses as bind lines take it.
// Empty elements at the end are dropped.
func SplitList(s string) []string {
	list := strings.Split(s, ",")
	for len(list) > 1 && list[len(list)-1] == "" {
		list = list[:len(list)-1]
	}
	return list
}
