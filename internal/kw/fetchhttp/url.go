package fetchhttp

import (
	"encoding/binary"
	"errors"
	"net/netip"

	"weir/internal/base/ascii"
	"weir/internal/base/hash"
	"weir/internal/lang/sample"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

func init() {
	const s, i, b, a = model.TypeStr, model.TypeSint, model.TypeBin, model.TypeIPv4
	add(
		fetch{names: names("url"), out: s, places: reqPlaces, help: "the request target as it was received", get: url},
		fetch{names: names("path"), out: s, places: reqPlaces, help: "the path, up to the question mark", get: path},
		fetch{names: names("pathq"), out: s, places: reqPlaces, help: "the path with the query string", get: pathq},
		fetch{names: names("query"), args: nameArgs, out: s, places: reqPlaces, help: "the query string", check: checkQuery, get: query},
		fetch{names: names("base"), out: s, places: reqPlaces, help: "host and path", get: base(false)},
		fetch{names: names("baseq"), out: s, places: reqPlaces, help: "host, path and query string", get: base(true)},
		fetch{names: names("base32"), out: i, places: reqPlaces, help: "hash of base", get: hashed(false)},
		fetch{names: names("url32"), out: i, places: reqPlaces, help: "hash of host, path and query string", get: hashed(true)},
		fetch{names: names("base32+src"), out: b, places: reqPlaces, help: "base32 and the client's address", get: hashedSrc(false)},
		fetch{names: names("url32+src"), out: b, places: reqPlaces, help: "url32 and the client's address", get: hashedSrc(true)},
		fetch{names: names("url_ip"), out: a, places: reqPlaces, help: "the IPv4 address in the request target", get: urlIP},
		fetch{names: names("url_port"), out: i, places: reqPlaces, help: "the port in the request target", get: urlPort},
	)
}

func url(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	m := request(tx)
	if m == nil {
		return false
	}
	v.SetStr(m.Target)
	return len(m.Target) > 0
}

// uri returns the parts of a target that has a path, maybe an empty one; nil without.
func uri(tx *model.Txn) *msg.URI {
	m := request(tx)
	if m == nil {
		return nil
	}
	if u := m.URI(); u.Form == msg.FormOrigin || u.Form == msg.FormAbsolute {
		return u
	}
	return nil
}

func path(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	u := uri(tx)
	if u == nil {
		return false
	}
	v.SetStr(u.Path)
	return true
}

func pathq(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	u := uri(tx)
	if u == nil {
		return false
	}
	v.SetStr(u.PathQuery)
	return true
}

func checkQuery(_ *sample.ArgCheck, a []sample.Arg) error {
	if s := first(a); s != "" && s != "with_qm" {
		return errors.New("the only option is 'with_qm'")
	}
	return nil
}

// query is what follows the question mark; with_qm puts the mark before it, unless it is empty.
func query(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	u := uri(tx)
	if u == nil || !u.HasQuery {
		return false
	}
	v.SetStr(u.Query)
	if first(a) != "" && len(u.Query) > 0 {
		v.SetStr(u.PathQuery[len(u.Path):])
	}
	return true
}

// baseParts returns the host, as the first Host field has it, and the path when it starts with a slash.
func baseParts(tx *model.Txn, withQuery bool) (host, path []byte, ok bool) {
	m := request(tx)
	if m == nil {
		return nil, nil, false
	}
	if w := (values{m: m, name: "host"}); w.next() {
		host = w.v
	}
	if u := uri(tx); u != nil && len(u.Path) > 0 && u.Path[0] == '/' {
		if path = u.Path; withQuery {
			path = u.PathQuery
		}
	}
	return host, path, true
}

func base(withQuery bool) get {
	return func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
		host, path, ok := baseParts(tx, withQuery)
		if !ok || len(host)+len(path) == 0 {
			return false
		}
		b, ok := tx.Scratch.Keep(append(append(tx.Scratch.Grab(), host...), path...))
		v.SetStr(b)
		return ok
	}
}

func hashOf(tx *model.Txn, withQuery bool) (uint32, bool) {
	host, path, ok := baseParts(tx, withQuery)
	return hash.Avalanche(hash.SDBM(hash.SDBM(0, host), path)), ok
}

func hashed(withQuery bool) get {
	return func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
		h, ok := hashOf(tx, withQuery)
		v.SetInt(int64(h))
		return ok
	}
}

// hashedSrc is 8 or 20 bytes: the hash and the client's address.
func hashedSrc(withQuery bool) get {
	return func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
		h, ok := hashOf(tx, withQuery)
		src := tx.S.Client().Addr()
		if !ok || !src.IsValid() {
			return false
		}
		b := binary.BigEndian.AppendUint32(tx.Scratch.Grab(), h)
		if src.Is4() {
			a := src.As4()
			b = append(b, a[:]...)
		} else {
			a := src.As16()
			b = append(b, a[:]...)
		}
		b, ok = tx.Scratch.Keep(b)
		v.SetBin(b)
		return ok
	}
}

// urlAddr reads "http://1.2.3.4:80" at the start of the target. As in the reference, the address ends at the first byte that
// belongs to none, and only a colon there starts a port, of which 16 bits count.
func urlAddr(tx *model.Txn) (ip netip.Addr, port uint16, ok bool) {
	m := request(tx)
	if m == nil || m.URI().Form != msg.FormAbsolute {
		return ip, 0, false
	}
	u := m.URI()
	switch {
	case ascii.EqualFoldString(u.Scheme, "http"):
		port = 80
	case ascii.EqualFoldString(u.Scheme, "https"):
		port = 443
	default:
		return ip, 0, false
	}
	ip, rest, ok := leadingIPv4(u.Authority)
	if !ok {
		return ip, 0, false
	}
	if len(rest) > 0 && rest[0] == ':' {
		port = uint16(int32Of(rest[1:]))
	}
	return ip, port, true
}

// leadingIPv4 reads an address at the start of b and returns what follows.
func leadingIPv4(b []byte) (ip netip.Addr, rest []byte, ok bool) {
	var parts [4]byte
	for i := range parts {
		if i > 0 {
			if len(b) == 0 || b[0] != '.' {
				return ip, nil, false
			}
			b = b[1:]
		}
		n, digits := 0, 0
		for digits < len(b) && ascii.IsDigit(b[digits]) {
			if n = n*10 + int(b[digits]-'0'); n > 255 {
				return ip, nil, false
			}
			digits++
		}
		if digits == 0 {
			return ip, nil, false
		}
		parts[i], b = byte(n), b[digits:]
	}
	if len(b) > 0 && (b[0] == '.' || b[0] == '@') {
		return ip, nil, false
	}
	return netip.AddrFrom4(parts), b, true
}

func urlIP(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	ip, _, ok := urlAddr(tx)
	return ok && v.SetIP(ip)
}

func urlPort(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	_, port, ok := urlAddr(tx)
	v.SetInt(int64(port))
	return ok
}
