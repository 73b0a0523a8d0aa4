package fetchcore

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"weir/internal/base/ascii"
	"weir/internal/lang/sample"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

func init() {
	sample.AddFetch(
		truth("always_true", anywhere, "true", func(*model.Txn) (is, ok bool) { return true, true }),
		truth("always_false", anywhere, "false", func(*model.Txn) (is, ok bool) { return false, true }),
		sample.Fetch{Name: "str", Args: "string", Out: model.TypeStr, Valid: anywhere, Help: "the string itself",
			Check: keepText, Get: constText},
		sample.Fetch{Name: "int", Args: "integer", Out: model.TypeSint, Valid: anywhere, Help: "the integer itself",
			Get: func(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
				v.SetInt(a[0].Int)
				v.Const = true
				return true
			}},
		sample.Fetch{Name: "bool", Args: "string", Out: model.TypeBool, Valid: anywhere, Help: "the boolean itself: true, false, 1 or 0",
			Check: checkBool, Get: func(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
				v.SetBool(a[0].Int != 0)
				v.Const = true
				return true
			}},
		sample.Fetch{Name: "bin", Args: "string", Out: model.TypeBin, Valid: anywhere, Help: "the bytes given by hexadecimal digits",
			Check: checkBin, Get: func(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
				b, _ := a[0].Data.([]byte)
				v.SetBin(b)
				v.Const = true
				return true
			}},
		sample.Fetch{Name: "ipv4", Args: "IPv4 address", Out: model.TypeIPv4, Valid: anywhere, Help: "the address itself", Get: constAddr},
		sample.Fetch{Name: "ipv6", Args: "IPv6 address", Out: model.TypeIPv6, Valid: anywhere, Help: "the address itself",
			Check: func(_ *sample.ArgCheck, a []sample.Arg) error {
				a[0].Addr = a[0].Addr.WithZone("")
				return nil
			}, Get: constAddr},
		sample.Fetch{Name: "meth", Args: "string", Out: model.TypeMeth, Valid: anywhere, Help: "the HTTP method itself",
			Check: checkMeth, Get: func(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
				b, _ := a[0].Data.([]byte)
				v.Type, v.Const, v.Num, v.B = model.TypeMeth, true, a[0].Int, b
				return true
			}},
	)
}

func keepText(_ *sample.ArgCheck, a []sample.Arg) error {
	a[0].Data = []byte(a[0].Str)
	return nil
}

func constText(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
	b, _ := a[0].Data.([]byte)
	v.SetStr(b)
	v.Const = true
	return true
}

func constAddr(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
	v.Type, v.IP, v.Const = model.TypeIPv4, a[0].Addr, true
	if v.IP.Is6() {
		v.Type = model.TypeIPv6
	}
	return true
}

func checkBool(_ *sample.ArgCheck, a []sample.Arg) error {
	switch s := a[0].Str; {
	case s == "1", strings.EqualFold(s, "true"):
		a[0].Int = 1
	case s == "0", strings.EqualFold(s, "false"):
		a[0].Int = 0
	default:
		return fmt.Errorf("'%s' is none of 'true', 'false', '1' and '0'", s)
	}
	return nil
}

func checkBin(_ *sample.ArgCheck, a []sample.Arg) error {
	s := a[0].Str
	if s == "" {
		return errors.New("hexadecimal digits are missing")
	}
	for _, c := range []byte(s) {
		if !ascii.IsHex(c) {
			return fmt.Errorf("%q in '%s' is no hexadecimal digit", rune(c), s)
		}
	}
	b, err := hex.DecodeString(s)
	if err != nil {
		return fmt.Errorf("'%s' has an odd number of digits, and two make a byte", s)
	}
	a[0].Data = b
	return nil
}

func checkMeth(_ *sample.ArgCheck, a []sample.Arg) error {
	b := []byte(a[0].Str)
	if ascii.TokenLen(b) != len(b) {
		return fmt.Errorf("'%s' is no HTTP method", a[0].Str)
	}
	a[0].Int, a[0].Data = int64(msg.LookupMethod(b)), b
	return nil
}
