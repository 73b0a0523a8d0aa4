package model

import (
	"time"

	"weir/internal/base/addr"
)

// Bind is one "bind" line (manual, chapter 5.1). One line may hold several addresses.
type Bind struct {
	Pos   Position
	Text  string // the addresses as written
	Addrs []addr.Addr

	Name, Interface, Namespace string
	ID                         int
	MaxConn                    int
	Backlog                    int
	MSS                        int
	Nice                       int
	TFO                        bool
	DeferAccept                bool
	Transparent                bool
	V6Only, V4V6               bool
	TCPUserTimeout             time.Duration
	CC                         string // congestion control
	TCPSS                      string
	User, Group                string
	UID, GID                   int // -1: not set
	PermMode                   int // -1: not set
	Threads                    []ThreadSet
	Shards                     int    // 0: default, -1: by-thread, -2: by-group
	Proto                      string // mux protocol: "", "h1", "none"
	ExposeFD                   bool
	GUIDPrefix, Label          string
	TLS                        *TLSListener // nil: clear text
	AcceptProxy                bool         // connections begin with a PROXY header
	NetScaler                  uint32       // magic number of the client-IP header that they begin with; 0: none
	Slots                      Slots
}

// ThreadSet is a part of "thread": threads Low..High of Group (0: absolute
// numbers); High 0: all.
type ThreadSet struct{ Group, Low, High int }

// Server is one "server" line (manual, chapter 5.2), or the default-server template.
type Server struct {
	Pos  Position
	Name string
	ID   int
	GUID string
	Text string    // address as written
	Addr addr.Addr // port offsets: Addr.PortOffset
	Host string    // when the address was a name
	// NoAddr tells that the name could not be resolved at start and that
	// init-addr lets the server start without an address, that is down.
	NoAddr bool

	Weight         int // default 1, 0..256
	Backup         bool
	Disabled       bool
	MaxConn        int
	MinConn        int
	MaxQueue       int
	StrictMaxConn  bool
	PoolMaxConn    int // -1: no limit, the default; 0: no idle pool
	PoolLowConn    int
	PoolPurgeDelay time.Duration // default 5 s
	MaxReuse       int           // -1: no limit, the default
	TFO            bool
	TCPUserTimeout time.Duration
	CC             string
	Source         *Source // nil: the backend's
	Namespace      string
	Proto          string
	InitAddr       string
	Redir          string
	HashKey        string     // what its points on the ring are made from: "id", "id32", "guid", "addr", "addr-port"
	Cookie         string     // value of the persistence cookie, "" for none
	TLS            *TLSServer // nil: clear text
	SendProxy      SendProxy
	Socks4         addr.Addr // the proxy that connections go through; see HasSocks4
	HasSocks4      bool
	PoolName       Evaluator // what idle connections are told apart by instead of the SNI (pool-conn-name); nil: nothing
	Slots          Slots
	Proxy          *Proxy      // the section it stands in
	Run            ServerState // set when the generation is built
}

// Source is a "source" line: the local address of outgoing connections.
type Source struct {
	Pos       Position
	Addr      addr.Addr // Port..PortEnd: range to use
	Interface string
	UseSrc    string // "", "client", "clientip", or an address
}

// Clone returns a copy that shares nothing with s but the values in its slots.
func (s *Server) Clone() *Server {
	if s == nil {
		return nil
	}
	n := *s
	n.Source = s.Source.Clone()
	n.Slots = s.Slots.Clone()
	return &n
}

// Clone returns a copy; that of nil is nil.
func (s *Source) Clone() *Source {
	if s == nil {
		return nil
	}
	n := *s
	return &n
}

// SendProxy is which PROXY header connections to a server begin with.
type SendProxy struct {
	V1, V2 bool // V2 wins
	Opt    ProxyOption
	Values []ProxyValue // set-proxy-v2-tlv-fmt
}

// Active reports whether a header is sent.
func (p *SendProxy) Active() bool { return p.V1 || p.V2 }

// ProxyOption is a set of what "proxy-v2-options" adds to a header.
type ProxyOption uint8

// Options.
const (
	ProxySSL ProxyOption = 1 << iota
	ProxyCertCN
	ProxyCertKey
	ProxyCertSig
	ProxySSLCipher
	ProxyAuthority
	ProxyCRC32C
	ProxyUniqueID
)

// ProxyValue is one value of a header.
type ProxyValue struct {
	ID     byte
	Format Format // nil: empty
}
