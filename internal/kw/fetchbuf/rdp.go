package fetchbuf

import (
	"weir/internal/base/ascii"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

// The RDP cookie stands behind the headers of TPKT and X.224, which are not
// looked at, on one line: "Cookie: mstshash=user\r\n".
const (
	rdpHeader      = 11
	rdpCookieField = "Cookie:"
	rdpShortest    = rdpHeader + len(rdpCookieField) + 1
)

// rdpState is what is known of the cookie.
type rdpState uint8

const (
	rdpMore   rdpState = iota // too few bytes to tell
	rdpAbsent                 // it is not there
	rdpFound
)

// parseRDP looks for the cookie of that name, letter case aside, or for any with an empty name.
func parseRDP(b []byte, name string) ([]byte, rdpState) {
	if len(b) < rdpShortest {
		return nil, rdpMore
	}
	b = b[rdpHeader:]
	if !ascii.HasPrefixFold(b, rdpCookieField) {
		return nil, rdpAbsent
	}
	b = b[len(rdpCookieField):]
	for len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	if name != "" {
		switch {
		case len(b) < len(name)+1:
			return nil, rdpMore
		case !ascii.HasPrefixFold(b, name) || b[len(name)] != '=':
			return nil, rdpAbsent
		}
		b = b[len(name)+1:]
	} else {
		i := 0
		for i < len(b) && b[i] != '=' {
			if b[i] == '\r' || b[i] == '\n' {
				return nil, rdpAbsent
			}
			i++
		}
		if i == len(b) {
			return nil, rdpMore
		}
		b = b[i+1:]
	}
	for i, c := range b {
		if c != '\r' {
			continue
		}
		switch {
		case i+1 == len(b):
			return nil, rdpMore
		case b[i+1] != '\n':
			return nil, rdpAbsent
		}
		return b[:i], rdpFound
	}
	return nil, rdpMore
}

func cookieName(a []sample.Arg) string {
	if len(a) == 0 {
		return ""
	}
	return a[0].Str
}

func rdpCookie(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	data, more, ok := raw(tx, model.DirReq)
	if !ok {
		return false
	}
	value, st := parseRDP(data, cookieName(a))
	if st != rdpFound {
		return wait(tx, more && st == rdpMore)
	}
	v.SetStr(value)
	return true
}

// rdpCookieCount is 1 or 0; there is no value while nobody can tell.
func rdpCookieCount(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	data, more, ok := raw(tx, model.DirReq)
	if !ok {
		v.SetInt(0)
		return true
	}
	_, st := parseRDP(data, cookieName(a))
	if st == rdpMore {
		return wait(tx, more)
	}
	v.SetInt(0)
	if st == rdpFound {
		v.SetInt(1)
	}
	return true
}
