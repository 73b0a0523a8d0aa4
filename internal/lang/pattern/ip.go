package pattern

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"weir/internal/base/budget"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

// ipIndex finds addresses in hosts and networks of both families; the longest network decides, of equal ones the first.
//
// IPv4 hosts, of which lists may have millions, are kept by their upper half:
// the lower halves lie sorted in one slice, two bytes an address. Networks are
// few: one sorted slice for each length.
type ipIndex struct {
	start []uint32 // by upper half: where its lower halves begin; 65537 entries, nil without hosts
	low   []uint16
	hostV []uint32 // by place in low: the value, nil in ACLs

	v4, v6   []network // longest first
	values   []byte    // texts of values
	valueEnd []uint32  // where value i ends; value 0 is the empty one
	n        int
}

// network are the networks of one length.
type network struct {
	bits int
	keys []u128 // sorted
	vals []uint32
}

type u128 struct{ hi, lo uint64 }

func (a u128) compare(b u128) int {
	switch {
	case a.hi != b.hi:
		if a.hi < b.hi {
			return -1
		}
		return 1
	case a.lo < b.lo:
		return -1
	case a.lo > b.lo:
		return 1
	}
	return 0
}

func v4key(a netip.Addr) u128 {
	b := a.As4()
	return u128{lo: uint64(binary.BigEndian.Uint32(b[:]))}
}

func v6key(a netip.Addr) u128 {
	b := a.As16()
	return u128{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])}
}

// mask clears all but the first n of size bits.
func (a u128) mask(n, size int) u128 {
	if size == 32 {
		a.lo &= ^uint64(0) << (32 - n) & 0xffffffff
		return a
	}
	switch {
	case n <= 64:
		return u128{hi: a.hi & (^uint64(0) << (64 - n))}
	default:
		return u128{a.hi, a.lo & (^uint64(0) << (128 - n))}
	}
}

// few is up to how many hosts an index by upper halves does not pay.
const few = 4096

// chunk is how many addresses are collected at a time.
const chunk = 1 << 20

type ipBuilder struct {
	hosts    [][]uint32
	hostVals [][]uint32 // beside hosts; nil while no entry has a value
	v4, v6   map[int][]netEntry
	values   []byte
	valueEnd []uint32
	n        int
}

type netEntry struct {
	key u128
	val uint32
	seq int
}

func newIPBuilder() *ipBuilder {
	return &ipBuilder{v4: map[int][]netEntry{}, v6: map[int][]netEntry{}, valueEnd: []uint32{0}}
}

func (b *ipBuilder) method() Method { return IP }

// value keeps the text of a value and returns its number.
func (b *ipBuilder) value(text []byte) uint32 {
	if len(text) == 0 {
		return 0
	}
	b.values = append(b.values, text...)
	b.valueEnd = append(b.valueEnd, uint32(len(b.values)))
	return uint32(len(b.valueEnd) - 1)
}

func (b *ipBuilder) add(text, value []byte, noResolve bool) error {
	if a, ok := parseHost(text); ok {
		b.addHost(a, b.value(value))
		return nil
	}
	p, err := parseNetwork(string(text), noResolve)
	if err != nil {
		return err
	}
	v := b.value(value)
	for _, p := range p {
		a := p.Addr()
		switch {
		case a.Is4() && p.Bits() == 32:
			b.addHost(uint32(v4key(a).lo), v)
			continue
		case a.Is4():
			b.v4[p.Bits()] = append(b.v4[p.Bits()], netEntry{v4key(a), v, b.n})
		default:
			b.v6[p.Bits()] = append(b.v6[p.Bits()], netEntry{v6key(a), v, b.n})
		}
		b.n++
	}
	return nil
}

func (b *ipBuilder) addHost(a, value uint32) {
	k := len(b.hosts)
	if k == 0 || len(b.hosts[k-1]) == chunk {
		// The first piece is small: most lists are.
		size := chunk
		if k == 0 {
			size = 0
		}
		b.hosts = append(b.hosts, make([]uint32, 0, size))
		if b.hostVals != nil {
			b.hostVals = append(b.hostVals, make([]uint32, 0, size))
		}
		k++
	}
	b.hosts[k-1] = append(b.hosts[k-1], a)
	if value != 0 && b.hostVals == nil {
		for _, h := range b.hosts[:k] {
			b.hostVals = append(b.hostVals, make([]uint32, len(h), cap(h)))
		}
		b.hostVals[k-1] = b.hostVals[k-1][:len(b.hosts[k-1])-1]
	}
	if b.hostVals != nil {
		b.hostVals[k-1] = append(b.hostVals[k-1], value)
	}
	b.n++
}

func (b *ipBuilder) build() index {
	x := &ipIndex{values: b.values, valueEnd: b.valueEnd, n: b.n}
	switch {
	case len(b.hosts) == 1 && len(b.hosts[0]) < few:
		for i, a := range b.hosts[0] {
			e := netEntry{key: u128{lo: uint64(a)}, seq: i}
			if b.hostVals != nil {
				e.val = b.hostVals[0][i]
			}
			b.v4[32] = append(b.v4[32], e)
		}
	case len(b.hosts) > 0:
		if b.hostVals == nil {
			b.buildHosts(x)
		} else {
			b.buildHostMap(x)
		}
	}
	b.hosts, b.hostVals = nil, nil
	x.v4, x.v6 = networks(b.v4), networks(b.v6)
	return x
}

// buildHosts sorts addresses by counting their upper halves.
func (b *ipBuilder) buildHosts(x *ipIndex) {
	start := make([]uint32, 1<<16+1)
	total := 0
	for _, h := range b.hosts {
		total += len(h)
		for _, a := range h {
			start[a>>16+1]++
		}
	}
	for i := 1; i < len(start); i++ {
		start[i] += start[i-1]
	}
	low := make([]uint16, total)
	next := slices.Clone(start[:1<<16])
	for i, h := range b.hosts {
		for _, a := range h {
			low[next[a>>16]] = uint16(a)
			next[a>>16]++
		}
		b.hosts[i] = nil // give the memory back piece by piece
	}
	out := uint32(0)
	for i := range 1 << 16 {
		part := low[start[i]:start[i+1]]
		slices.Sort(part)
		begin := out
		for j, v := range part {
			if j == 0 || v != part[j-1] {
				low[out] = v
				out++
			}
		}
		start[i] = begin
	}
	start[1<<16] = out
	x.start, x.low = start, low[:out:out]
}

// buildHostMap sorts addresses with their values; the first of equal addresses counts.
func (b *ipBuilder) buildHostMap(x *ipIndex) {
	var all []uint64 // address, then its place in the order of arrival
	var vals []uint32
	for i, h := range b.hosts {
		for j, a := range h {
			all = append(all, uint64(a)<<32|uint64(len(all)))
			vals = append(vals, b.hostVals[i][j])
		}
	}
	slices.Sort(all)
	x.start = make([]uint32, 1<<16+1)
	last := uint64(1 << 63)
	for _, e := range all {
		a := e >> 32
		if a == last {
			continue
		}
		last = a
		x.low = append(x.low, uint16(a))
		x.hostV = append(x.hostV, vals[uint32(e)])
		x.start[a>>16+1] = uint32(len(x.low))
	}
	for i := 1; i < len(x.start); i++ {
		x.start[i] = max(x.start[i], x.start[i-1])
	}
}

func networks(m map[int][]netEntry) []network {
	var list []network
	for n, entries := range m {
		slices.SortFunc(entries, func(a, b netEntry) int {
			if c := a.key.compare(b.key); c != 0 {
				return c
			}
			return a.seq - b.seq
		})
		w := network{bits: n}
		for i, e := range entries {
			if i == 0 || e.key != entries[i-1].key {
				w.keys, w.vals = append(w.keys, e.key), append(w.vals, e.val)
			}
		}
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b network) int { return b.bits - a.bits })
	return list
}

func (x *ipIndex) len() int { return x.n }

func (x *ipIndex) valueOf(i uint32) []byte {
	if i == 0 {
		return nil
	}
	return x.values[x.valueEnd[i-1]:x.valueEnd[i]:x.valueEnd[i]]
}

func (x *ipIndex) each(fn func(key, value []byte) bool) {
	var buf [64]byte
	for up := range min(len(x.start), 1<<16) {
		for i := x.start[up]; i < x.start[up+1]; i++ {
			a := uint32(up)<<16 | uint32(x.low[i])
			v := []byte(nil)
			if x.hostV != nil {
				v = x.valueOf(x.hostV[i])
			}
			if !fn(v4addr(uint64(a)).AppendTo(buf[:0]), v) {
				return
			}
		}
	}
	for _, w := range x.v4 {
		for i, k := range w.keys {
			if !fn(appendV4(buf[:0], k, w.bits), x.valueOf(w.vals[i])) {
				return
			}
		}
	}
	for _, w := range x.v6 {
		for i, k := range w.keys {
			if !fn(appendV6(buf[:0], k, w.bits), x.valueOf(w.vals[i])) {
				return
			}
		}
	}
}

func v4addr(k uint64) netip.Addr {
	return netip.AddrFrom4([4]byte{byte(k >> 24), byte(k >> 16), byte(k >> 8), byte(k)})
}

func appendV4(dst []byte, k u128, n int) []byte {
	if n == 32 {
		return v4addr(k.lo).AppendTo(dst)
	}
	return netip.PrefixFrom(v4addr(k.lo), n).AppendTo(dst)
}

func v6addr(k u128) netip.Addr {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], k.hi)
	binary.BigEndian.PutUint64(b[8:], k.lo)
	return netip.AddrFrom16(b)
}

func appendV6(dst []byte, k u128, n int) []byte {
	if n == 128 {
		return v6addr(k).AppendTo(dst)
	}
	return netip.PrefixFrom(v6addr(k), n).AppendTo(dst)
}

// find looks in the family of the address first, then in the other one (manual 7.1.6).
func (x *ipIndex) find(v *model.Value, left *budget.Steps) (m Match, ok bool) {
	if v.IP.Is4() {
		if m, ok = x.find4(v.IP); ok || len(x.v6) == 0 {
			return m, ok
		}
		return x.find6(netip.AddrFrom16(v.IP.As16()))
	}
	if m, ok = x.find6(v.IP); ok || len(x.start) == 0 && len(x.v4) == 0 {
		return m, ok
	}
	if a, is4 := sample.V4Of(v.IP); is4 {
		return x.find4(a)
	}
	return m, false
}

func (x *ipIndex) find4(a netip.Addr) (m Match, ok bool) {
	k := v4key(a)
	if x.start != nil {
		from, to := x.start[k.lo>>16], x.start[k.lo>>16+1]
		if i, ok := slices.BinarySearch(x.low[from:to], uint16(k.lo)); ok {
			m.Net, m.rank = netip.PrefixFrom(a, 32), 32
			if x.hostV != nil {
				m.Value = x.valueOf(x.hostV[from+uint32(i)])
			}
			return m, true
		}
	}
	for i := range x.v4 {
		w := &x.v4[i]
		key := k.mask(w.bits, 32)
		if j, ok := w.search(key); ok {
			return Match{Net: netip.PrefixFrom(v4addr(key.lo), w.bits), Value: x.valueOf(w.vals[j]), rank: w.bits}, true
		}
	}
	return m, false
}

func (x *ipIndex) find6(a netip.Addr) (m Match, ok bool) {
	k := v6key(a)
	for i := range x.v6 {
		w := &x.v6[i]
		key := k.mask(w.bits, 128)
		if j, ok := w.search(key); ok {
			return Match{Net: netip.PrefixFrom(v6addr(key), w.bits), Value: x.valueOf(w.vals[j]), rank: w.bits}, true
		}
	}
	return m, false
}

func (w *network) search(k u128) (int, bool) {
	lo, hi := 0, len(w.keys)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		switch c := w.keys[mid].compare(k); {
		case c == 0:
			return mid, true
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return 0, false
}

// parseHost reads a plain dotted IPv4 address fast.
func parseHost(s []byte) (uint32, bool) {
	var a, n uint32
	part, digits := 0, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			if n = n*10 + uint32(c-'0'); n > 255 || digits == 3 {
				return 0, false
			}
			digits++
		case c == '.' && digits > 0 && part < 3:
			a = a<<8 | n
			part, digits, n = part+1, 0, 0
		default:
			return 0, false
		}
	}
	return a<<8 | n, part == 3 && digits > 0
}

// resolveTimeout bounds the search for the address of a name in a pattern.
const resolveTimeout = 10 * time.Second

// parseNetwork reads an address or a network: IPv4 with its zero octets left out, a mask in bits or dotted, IPv6 with a mask in
// bits, or a host name.
func parseNetwork(text string, noResolve bool) ([]netip.Prefix, error) {
	bad := fmt.Errorf("'%s' is no IPv4 or IPv6 address or network, such as 192.0.2.0/24", text)
	host, mask, masked := strings.Cut(text, "/")
	if strings.Contains(host, ":") {
		a, err := netip.ParseAddr(host)
		n := 128
		if err == nil && masked {
			n, err = strconv.Atoi(mask)
		}
		if err != nil || a.Zone() != "" || n < 0 || n > 128 {
			return nil, bad
		}
		p := netip.PrefixFrom(netip.AddrFrom16(a.As16()), n)
		return []netip.Prefix{netip.PrefixFrom(p.Masked().Addr(), n)}, nil
	}
	n := 32
	if masked {
		var ok bool
		if n, ok = maskBits(mask); !ok {
			return nil, bad
		}
	}
	if a, ok := shortIPv4(host); ok {
		return []netip.Prefix{netip.PrefixFrom(a, n).Masked()}, nil
	}
	if noResolve || !strings.ContainsFunc(host, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }) {
		return nil, bad
	}
	ctx, cancel := context.WithTimeout(context.Background(), resolveTimeout)
	defer cancel()
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip4", host)
	if err != nil || len(addrs) == 0 {
		return nil, fmt.Errorf("'%s' is no address, and no host of that name can be found", text)
	}
	return []netip.Prefix{netip.PrefixFrom(addrs[0].Unmap(), n).Masked()}, nil
}

// maskBits reads a netmask of IPv4.
func maskBits(s string) (int, bool) {
	if n, err := strconv.Atoi(s); err == nil {
		return n, n >= 0 && n <= 32
	}
	a, err := netip.ParseAddr(s)
	if err != nil || !a.Is4() {
		return 0, false
	}
	m := uint32(v4key(a).lo)
	n := bits.LeadingZeros32(^m)
	return n, m == ^uint32(0)<<(32-n) || n == 32
}

// shortIPv4 reads an IPv4 address of which octets may be left out: 10.1 is 10.0.0.1.
func shortIPv4(s string) (netip.Addr, bool) {
	parts := strings.Split(s, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var a [4]byte
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 8)
		if err != nil || len(p) > 3 {
			return netip.Addr{}, false
		}
		at := i
		if i == len(parts)-1 {
			at = 3
		}
		a[at] = byte(n)
	}
	if len(parts) == 3 { // 192.168.1 is 192.168.0.1
		a[2] = 0
	}
	return netip.AddrFrom4(a), true
}

// binAddr reads binary data of 4 or 16 bytes as an address.
func binAddr(v *model.Value) bool {
	switch len(v.B) {
	case 4:
		v.Type, v.IP = model.TypeIPv4, netip.AddrFrom4([4]byte(v.B))
	case 16:
		v.Type, v.IP = model.TypeIPv6, netip.AddrFrom16([16]byte(v.B))
	default:
		return false
	}
	return true
}
