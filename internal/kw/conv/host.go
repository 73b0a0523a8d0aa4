package conv

import (
	"weir/internal/base/ascii"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	sample.AddConv(
		sample.Conv{Name: "host_only", In: model.TypeStr, Out: model.TypeStr, Help: "a Host header's value without its port, in lower case", Run: plain(hostOnly)},
		sample.Conv{Name: "port_only", In: model.TypeStr, Out: model.TypeSint, Help: "the port of a Host header's value, 0 without one", Run: plain(portOnly)},
		sample.Conv{Name: "ipmask", Args: "IPv4 mask[,IPv6 mask]", In: model.TypeAddr, Out: model.TypeAddr, Run: ipmask,
			Help: "the address with a mask applied; IPv6 addresses that stand for no IPv4 one need a mask of their own"},
	)
}

// portColon finds the colon before the port: the last one, unless a bracket follows it. -1: there is none.
func portColon(b []byte) int {
	for i := len(b) - 1; i >= 0; i-- {
		switch b[i] {
		case ':':
			return i
		case ']':
			return -1
		}
	}
	return -1
}

func hostOnly(tx *model.Txn, v *model.Value) bool {
	host := v.B
	b := room(tx, len(host))
	if b == nil {
		return false
	}
	if i := portColon(host); i >= 0 {
		host = host[:i]
	}
	v.SetStr(ascii.AppendLower(b[:0], host))
	return true
}

// portOnly takes whatever follows the colon for digits, as the reference does: bad ones make odd numbers, not errors.
func portOnly(_ *model.Txn, v *model.Value) bool {
	var port uint32
	if i := portColon(v.B); i >= 0 {
		for _, c := range v.B[i+1:] {
			port = port*10 + (uint32(c) - '0')
		}
	}
	v.SetInt(int64(port))
	return true
}
