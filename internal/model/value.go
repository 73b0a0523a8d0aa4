package model

import "net/netip"

// Type is the type of a value of the expression language (manual, chapter 7.3).
type Type uint8

// Types. TypeAny stands in signatures only, TypeAddr for either address family.
const (
	TypeAny Type = iota
	TypeBool
	TypeSint
	TypeAddr
	TypeIPv4
	TypeIPv6
	TypeStr
	TypeBin
	TypeMeth
)

var typeNames = [...]string{"any", "bool", "sint", "addr", "ipv4", "ipv6", "str", "bin", "meth"}

// String returns the name that the reference's keyword dump has for the type.
func (t Type) String() string { return typeNames[t] }

// Value is one value of the expression language. Its bytes are a view: of the
// configuration when Const is set, else of a message or of the transaction's
// scratch memory. They must never be written through.
type Value struct {
	Type  Type
	Const bool       // B stays valid and unchanged as long as the configuration
	Num   int64      // TypeBool (0 or 1), TypeSint, TypeMeth (a msg.Method)
	IP    netip.Addr // TypeIPv4, TypeIPv6: without zone, never an IPv4 in IPv6 form under TypeIPv4
	B     []byte     // TypeStr, TypeBin; TypeMeth: the method's name
}

// Bool reports whether a TypeBool or TypeSint value is not zero.
func (v *Value) Bool() bool { return v.Num != 0 }

// SetBool makes v a boolean.
func (v *Value) SetBool(b bool) {
	v.Type, v.Const, v.Num = TypeBool, false, 0
	if b {
		v.Num = 1
	}
}

// SetInt makes v a signed integer.
func (v *Value) SetInt(n int64) { v.Type, v.Const, v.Num = TypeSint, false, n }

// SetStr makes v a string whose bytes are a view.
func (v *Value) SetStr(b []byte) { v.Type, v.Const, v.B = TypeStr, false, b }

// SetBin makes v a block of bytes, a view.
func (v *Value) SetBin(b []byte) { v.Type, v.Const, v.B = TypeBin, false, b }

// SetIP makes v an address of its own family. It reports false, and changes nothing,
// for an address that is not valid.
func (v *Value) SetIP(a netip.Addr) bool {
	if !a.IsValid() {
		return false
	}
	a = a.WithZone("")
	v.Type, v.Const, v.IP = TypeIPv6, false, a
	if a.Is4() {
		v.Type = TypeIPv4
	}
	return true
}
