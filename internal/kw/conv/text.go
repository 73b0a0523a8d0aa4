package conv

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"weir/internal/base/ascii"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	str := func(name, help string, fn noArgs) {
		sample.AddConv(sample.Conv{Name: name, In: model.TypeStr, Out: model.TypeStr, Help: help, Run: plain(fn)})
	}
	str("lower", "the text with ASCII letters in lower case", lower)
	str("upper", "the text with ASCII letters in upper case", upper)
	str("reverse", "the bytes of the text in reverse order", reverse)
	str("reverse_dom", "the labels of a host name in reverse order; no value when one is empty", reverseDom)
	str("cut_crlf", "the text before the first CR or LF", cutCRLF)
	sample.AddConv(
		sample.Conv{Name: "length", In: model.TypeStr, Out: model.TypeSint, Help: "the length in bytes", Run: plain(length)},
		sample.Conv{Name: "ltrim", Args: "string", In: model.TypeStr, Out: model.TypeStr, Help: "the text without the given characters at its start",
			Check: charsetArg(0), Run: ltrim},
		sample.Conv{Name: "rtrim", Args: "string", In: model.TypeStr, Out: model.TypeStr, Help: "the text without the given characters at its end",
			Check: charsetArg(0), Run: rtrim},
		sample.Conv{Name: "iif", Args: "string,string", In: model.TypeBool, Out: model.TypeStr, Help: "the first text when true, the second when false",
			Check: allBytes, Run: iif},
		sample.Conv{Name: "has_ctl", Args: "[string]", In: model.TypeBin, Out: model.TypeBool, Check: checkCtl, Run: hasCtl,
			Help: "whether there are control characters: those of a mask of 33 bits, 'any', 'http', by default all but TAB"},
	)
}

func lower(tx *model.Txn, v *model.Value) bool {
	b := room(tx, len(v.B))
	if b == nil {
		return false
	}
	v.SetStr(ascii.AppendLower(b[:0], v.B))
	return true
}

func upper(tx *model.Txn, v *model.Value) bool {
	b := room(tx, len(v.B))
	if b == nil {
		return false
	}
	for i, c := range v.B {
		if c-'a' <= 'z'-'a' {
			c -= 'a' - 'A'
		}
		b[i] = c
	}
	v.SetStr(b)
	return true
}

func reverse(tx *model.Txn, v *model.Value) bool {
	b := room(tx, len(v.B))
	if b == nil {
		return false
	}
	for i, c := range v.B {
		b[len(b)-1-i] = c
	}
	v.SetStr(b)
	return true
}

func reverseDom(tx *model.Txn, v *model.Value) bool {
	src := bytes.TrimSuffix(v.B, []byte{'.'})
	b := room(tx, len(v.B))
	if b == nil || len(src) == 0 {
		return false
	}
	at, end := 0, len(src)
	for {
		start := bytes.LastIndexByte(src[:end], '.') + 1
		if start == end {
			return false
		}
		at += copy(b[at:], src[start:end])
		if start == 0 {
			break
		}
		b[at] = '.'
		at++
		end = start - 1
	}
	v.SetStr(b[:at:at])
	return true
}

func cutCRLF(_ *model.Txn, v *model.Value) bool {
	for i, c := range v.B {
		if c == '\r' || c == '\n' {
			v.B = v.B[:i:i]
			break
		}
	}
	return true
}

func length(_ *model.Txn, v *model.Value) bool {
	v.SetInt(int64(len(v.B)))
	return true
}

// charset is a set of bytes.
type charset [256]bool

func newCharset(s string) *charset {
	set := new(charset)
	for i := range len(s) {
		set[s[i]] = true
	}
	return set
}

// charsetArg makes charsetOf work for an argument.
func charsetArg(n int) func(*sample.ArgCheck, []sample.Arg) error {
	return func(_ *sample.ArgCheck, a []sample.Arg) error {
		a[n].Data = newCharset(a[n].Str)
		return nil
	}
}

func charsetOf(a *sample.Arg) *charset {
	set, _ := a.Data.(*charset)
	return set
}

func ltrim(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
	set := charsetOf(&a[0])
	for len(v.B) > 0 && set[v.B[0]] {
		v.B = v.B[1:]
	}
	return true
}

func rtrim(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
	set := charsetOf(&a[0])
	n := len(v.B)
	for n > 0 && set[v.B[n-1]] {
		n--
	}
	v.B = v.B[:n:n]
	return true
}

func iif(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
	if v.Bool() {
		return setConst(v, bytesOf(a, 0))
	}
	return setConst(v, bytesOf(a, 1))
}

// Masks of control characters: a bit for each of 0x00 to 0x1F, bit 32 for DEL.
const (
	ctlAny     = 1<<33 - 1
	ctlDefault = ctlAny &^ (1 << '\t')
	ctlHTTP    = 1<<'\r' | 1<<'\n' | 1<<0
)

func checkCtl(_ *sample.ArgCheck, a []sample.Arg) error {
	if len(a) == 0 {
		return nil
	}
	switch a[0].Str {
	case "":
		a[0].Int = ctlDefault
	case "any":
		a[0].Int = ctlAny
	case "http":
		a[0].Int = ctlHTTP
	default:
		s := strings.TrimLeft(a[0].Str, " \t")
		base := 10
		if len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' {
			s, base = s[2:], 16
		}
		n, err := strconv.ParseInt(s, base, 64)
		if errors.Is(err, strconv.ErrSyntax) {
			return fmt.Errorf("'%s' is no mask: it must be a number (decimal, or hexadecimal after '0x'), 'any' or 'http'", a[0].Str)
		}
		if n&^ctlAny != 0 {
			return fmt.Errorf("the mask %s has more than 33 bits", a[0].Str)
		}
		a[0].Int = n
	}
	return nil
}

func hasCtl(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
	mask := uint64(ctlDefault)
	if len(a) > 0 {
		mask = uint64(a[0].Int)
	}
	found := false
	for _, c := range v.B {
		if c < 0x20 && mask>>c&1 != 0 || c == 0x7f && mask>>32 != 0 {
			found = true
			break
		}
	}
	v.SetBool(found)
	return true
}
