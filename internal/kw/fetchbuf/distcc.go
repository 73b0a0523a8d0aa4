package fetchbuf

import (
	"errors"

	"weir/internal/base/ascii"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

// The distcc protocol is a list of tokens: a name of four letters, a parameter
// of eight hexadecimal digits, and for some names a body of that many bytes.
const (
	distccName  = 4
	distccToken = distccName + 8
)

// hasBody tells the tokens whose parameter is the length of a body: all that are not known to have none.
func hasBody(name []byte) bool {
	switch string(name) {
	case "ARGC", "DIST", "DONE", "STAT":
		return false
	}
	return true
}

// token is what findToken has found out.
type token struct {
	param uint64
	body  []byte
	found bool // it is there, maybe with a part of its body only
	whole bool // ... and all of its body
	over  bool // more bytes do not change that
}

// findToken looks for occurrence occ (0: any) of a token in b, of which more than limit bytes are never there.
func findToken(b []byte, name string, occ int64, limit int) (t token) {
	total := len(b)
	for len(b) >= distccToken {
		n, ok := ascii.ParseHex(b[distccName:distccToken])
		if !ok {
			return token{over: true} // another protocol
		}
		match := string(b[:distccName]) == name
		if match && occ != 0 {
			occ--
			match = occ == 0
		}
		size := uint64(0)
		if hasBody(b[:distccName]) {
			size = n
		}
		b = b[distccToken:]
		over := size > uint64(limit-(total-len(b)))
		have := size <= uint64(len(b))
		switch {
		case match && have:
			return token{param: n, body: b[:size], found: true, whole: true, over: true}
		case match:
			return token{param: n, found: true, over: over}
		case !have:
			return token{over: over}
		}
		b = b[size:]
	}
	return token{}
}

func checkToken(_ *sample.ArgCheck, a []sample.Arg) error {
	if len(a[0].Str) != distccName {
		return errors.New("the name of a token has 4 characters")
	}
	return nil
}

func occurrence(a []sample.Arg, i int) int64 {
	if len(a) > i {
		return a[i].Int
	}
	return 0
}

func distccParam(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	data, more, ok := raw(tx, tx.Dir)
	if !ok {
		return false
	}
	t := findToken(data, a[0].Str, occurrence(a, 1), tx.Scratch.Limit())
	if !t.found {
		return wait(tx, more && !t.over)
	}
	v.SetInt(int64(t.param))
	return true
}

func distccBody(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	data, more, ok := raw(tx, tx.Dir)
	if !ok {
		return false
	}
	t := findToken(data, a[0].Str, occurrence(a, 1), tx.Scratch.Limit())
	if !t.whole {
		return wait(tx, more && !t.over)
	}
	v.SetBin(t.body)
	return true
}
