package sample

import (
	"bytes"
	"encoding/binary"
	"math"
	"net/netip"

	"weir/internal/base/ascii"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

// castable lists what each type can become besides itself (manual 7.1, the
// table of sample types and patterns). Any type can be passed on as it is.
var castable = map[model.Type][]model.Type{
	model.TypeBool: {model.TypeSint, model.TypeStr, model.TypeBin},
	model.TypeSint: {model.TypeBool, model.TypeAddr, model.TypeIPv4, model.TypeIPv6, model.TypeStr, model.TypeBin},
	model.TypeAddr: {model.TypeIPv4, model.TypeIPv6, model.TypeStr, model.TypeBin},
	model.TypeIPv4: {model.TypeSint, model.TypeAddr, model.TypeIPv6, model.TypeStr, model.TypeBin},
	model.TypeIPv6: {model.TypeAddr, model.TypeIPv4, model.TypeStr, model.TypeBin},
	model.TypeStr:  {model.TypeBool, model.TypeSint, model.TypeAddr, model.TypeIPv4, model.TypeIPv6, model.TypeBin, model.TypeMeth},
	model.TypeBin:  {model.TypeStr},
	model.TypeMeth: {model.TypeStr, model.TypeBin},
}

// Castable reports whether values of one type may be used where another is expected. Whether a given value can be
// converted shows at run time: not every string is an address.
func Castable(from, to model.Type) bool {
	if from == to || from == model.TypeAny || to == model.TypeAny {
		return true
	}
	for _, t := range castable[from] {
		if t == to {
			return true
		}
	}
	return false
}

// Cast converts v to type t. It reports false when v has no such form.
func Cast(tx *model.Txn, v *model.Value, t model.Type) bool {
	if v.Type == t || t == model.TypeAny {
		return true
	}
	switch t {
	case model.TypeBool:
		return toBool(v)
	case model.TypeSint:
		return toSint(v)
	case model.TypeAddr, model.TypeIPv4, model.TypeIPv6:
		return toAddr(v, t)
	case model.TypeStr:
		return toStr(tx, v)
	case model.TypeBin:
		return toBin(tx, v)
	case model.TypeMeth:
		if v.Type != model.TypeStr {
			return false
		}
		v.Type, v.Num = model.TypeMeth, int64(msg.LookupMethod(v.B))
		return true
	}
	return false
}

func toBool(v *model.Value) bool {
	switch v.Type {
	case model.TypeSint:
	case model.TypeStr:
		if !toSint(v) {
			return false
		}
	default:
		return false
	}
	v.SetBool(v.Num != 0)
	return true
}

func toSint(v *model.Value) bool {
	switch v.Type {
	case model.TypeBool:
		v.Type = model.TypeSint
	case model.TypeIPv4:
		a := v.IP.As4()
		v.SetInt(int64(binary.BigEndian.Uint32(a[:])))
	case model.TypeStr:
		if len(v.B) == 0 {
			return false
		}
		v.SetInt(ParseInt(v.B))
	default:
		return false
	}
	return true
}

// ParseInt reads the integer at the start of b: an optional sign and digits. What follows them does not count, no digits are
// zero, and values out of range become the nearest one, all as the reference reads numbers in traffic.
func ParseInt(b []byte) int64 {
	neg := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		neg = b[0] == '-'
		b = b[1:]
	}
	var n uint64
	for _, c := range b {
		if !ascii.IsDigit(c) {
			break
		}
		if n > (math.MaxUint64-9)/10 {
			n = math.MaxUint64
			break
		}
		n = n*10 + uint64(c-'0')
	}
	if neg {
		if n > math.MaxInt64 {
			return math.MinInt64
		}
		return -int64(n)
	}
	return int64(min(n, math.MaxInt64))
}

func toAddr(v *model.Value, t model.Type) bool {
	switch v.Type {
	case model.TypeSint:
		var a [4]byte
		binary.BigEndian.PutUint32(a[:], uint32(v.Num))
		setIP(v, netip.AddrFrom4(a))
	case model.TypeStr:
		a, ok := ParseAddr(v.B)
		if !ok {
			return false
		}
		setIP(v, a)
	case model.TypeIPv4, model.TypeIPv6:
	default:
		return false
	}
	switch {
	case t == model.TypeIPv4 && v.Type == model.TypeIPv6:
		a, ok := V4Of(v.IP)
		if !ok {
			return false
		}
		setIP(v, a)
	case t == model.TypeIPv6 && v.Type == model.TypeIPv4:
		v.Type, v.IP = model.TypeIPv6, netip.AddrFrom16(v.IP.As16())
	}
	return true
}

func setIP(v *model.Value, a netip.Addr) {
	v.Type, v.Const, v.IP = model.TypeIPv6, false, a
	if a.Is4() {
		v.Type = model.TypeIPv4
	}
}

// V4Of returns the IPv4 address that an IPv6 one stands for: 2002:IPV4::, ::IPV4 or ::ffff:IPV4 (manual 7.1.6).
func V4Of(a netip.Addr) (netip.Addr, bool) {
	if a.Is4() {
		return a, true
	}
	b := a.As16()
	zero := true
	for _, c := range b[:10] {
		zero = zero && c == 0
	}
	switch {
	case zero && (b[10] == 0 && b[11] == 0 || b[10] == 0xff && b[11] == 0xff):
		return netip.AddrFrom4([4]byte(b[12:16])), true
	case b[0] == 0x20 && b[1] == 0x02:
		return netip.AddrFrom4([4]byte(b[2:6])), true
	}
	return netip.Addr{}, false
}

// maxAddr bounds the text of an address: the longest IPv6 form with a port.
const maxAddr = 64

// ParseAddr reads an address as a value of traffic may hold it: IPv4 or IPv6, the latter with or without brackets, and a port
// that is ignored.
func ParseAddr(b []byte) (netip.Addr, bool) {
	if len(b) == 0 || len(b) > maxAddr {
		return netip.Addr{}, false
	}
	if b[0] == '[' {
		end := bytes.IndexByte(b, ']')
		if end < 0 {
			return netip.Addr{}, false
		}
		return parseAddr(b[1:end])
	}
	if i := bytes.LastIndexByte(b, ':'); i >= 0 && bytes.IndexByte(b, ':') == i {
		b = b[:i]
	}
	return parseAddr(b)
}

func parseAddr(b []byte) (netip.Addr, bool) {
	if a, ok := parseIPv4(b); ok {
		return a, true
	}
	if bytes.IndexByte(b, ':') < 0 || bytes.IndexByte(b, '%') >= 0 {
		return netip.Addr{}, false
	}
	a, err := netip.ParseAddr(string(b)) // does not escape: no allocation
	return a, err == nil
}

func parseIPv4(b []byte) (netip.Addr, bool) {
	var a [4]byte
	part, digits, n := 0, 0, 0
	for _, c := range b {
		switch {
		case ascii.IsDigit(c):
			if n = n*10 + int(c-'0'); n > 255 || digits == 3 {
				return netip.Addr{}, false
			}
			digits++
		case c == '.' && digits > 0 && part < 3:
			a[part] = byte(n)
			part, digits, n = part+1, 0, 0
		default:
			return netip.Addr{}, false
		}
	}
	if part != 3 || digits == 0 {
		return netip.Addr{}, false
	}
	a[3] = byte(n)
	return netip.AddrFrom4(a), true
}

func toStr(tx *model.Txn, v *model.Value) bool {
	switch v.Type {
	case model.TypeMeth:
		v.Type = model.TypeStr
		return true
	case model.TypeBin: // text ends where a zero byte stands
		if i := bytes.IndexByte(v.B, 0); i >= 0 {
			v.B = v.B[:i]
		}
		v.Type = model.TypeStr
		return true
	}
	b, ok := tx.Scratch.Keep(AppendText(tx.Scratch.Grab(), v))
	if ok {
		v.SetStr(b)
	}
	return ok
}

// AppendText writes v as a string, in any type's usual form.
func AppendText(dst []byte, v *model.Value) []byte {
	switch v.Type {
	case model.TypeBool, model.TypeSint:
		return ascii.AppendInt(dst, v.Num)
	case model.TypeAddr, model.TypeIPv4, model.TypeIPv6:
		return v.IP.AppendTo(dst)
	}
	return append(dst, v.B...)
}

func toBin(tx *model.Txn, v *model.Value) bool {
	switch v.Type {
	case model.TypeStr, model.TypeMeth:
		v.Type = model.TypeBin
		return true
	case model.TypeBool, model.TypeSint:
		b := tx.Scratch.Alloc(8)
		binary.BigEndian.PutUint64(b, uint64(v.Num))
		v.SetBin(b)
	case model.TypeIPv4:
		a := v.IP.As4()
		v.SetBin(tx.Scratch.Copy(a[:]))
	case model.TypeIPv6:
		a := v.IP.As16()
		v.SetBin(tx.Scratch.Copy(a[:]))
	default:
		return false
	}
	return true
}
