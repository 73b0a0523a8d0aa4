package conv

import (
	"bytes"
	"fmt"

	"weir/internal/base/ascii"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	sample.AddConv(
		sample.Conv{Name: "url_enc", Args: "string", In: model.TypeStr, Out: model.TypeStr, Check: checkURLEnc, Run: urlEnc,
			Help: "the text percent-encoded for a query: all but letters, digits and -._~"},
		sample.Conv{Name: "url_dec", Args: "[integer]", In: model.TypeStr, Out: model.TypeStr, Run: urlDec,
			Help: "the text that percent-encoding stands for; '+' becomes a space after '?', or everywhere with 1"},
		sample.Conv{Name: "param", Args: "string[,string]", In: model.TypeStr, Out: model.TypeStr, Check: checkParam, Run: param,
			Help: "the value of the first parameter of that name in a list delimited by '&' or another character"},
	)
}

func checkURLEnc(_ *sample.ArgCheck, a []sample.Arg) error {
	if a[0].Str != "" && a[0].Str != "query" {
		return fmt.Errorf("the kind of encoding can only be 'query', not '%s'", a[0].Str)
	}
	return nil
}

// urlEnc cuts a result that is too long where plain characters stop to fit; an escape that does not fit leaves no value.
func urlEnc(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	most := tx.Scratch.Limit() - 1
	b := tx.Scratch.Grab()
	for _, c := range v.B {
		if len(b) >= most {
			break
		}
		if ascii.IsAlnum(c) || c == '-' || c == '.' || c == '_' || c == '~' {
			b = append(b, c)
			continue
		}
		if len(b)+3 >= most {
			return false
		}
		b = append(b, '%', upperHex[c>>4], upperHex[c&15])
	}
	return keep(tx, v, b)
}

func urlDec(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	b := room(tx, len(v.B))
	if b == nil {
		return false
	}
	src, at, form := v.B, 0, intArg(a, 0) != 0
	for i := 0; i < len(src); i++ {
		c := src[i]
		switch {
		case c == '+' && form:
			c = ' '
		case c == '?':
			form = true
		case c == '%':
			if i+2 >= len(src) || !ascii.IsHex(src[i+1]) || !ascii.IsHex(src[i+2]) {
				return false
			}
			c = ascii.HexVal(src[i+1])<<4 | ascii.HexVal(src[i+2])
			i += 2
		}
		b[at] = c
		at++
	}
	v.SetStr(b[:at:at])
	return true
}

func checkParam(_ *sample.ArgCheck, a []sample.Arg) error {
	keepBytes(a, 0)
	if len(a) < 2 {
		return nil
	}
	d := a[1].Str
	switch {
	case len(d) == 1:
		a[1].Int = int64(d[0])
	case len(d) == 4 && d[:2] == "0x" && ascii.IsHex(d[2]) && ascii.IsHex(d[3]):
		a[1].Int = int64(ascii.HexVal(d[2])<<4 | ascii.HexVal(d[3]))
	default:
		return fmt.Errorf("the delimiter must be one character, or its code as 0xHH, not '%s'", d)
	}
	return nil
}

// param looks for the name at the start of each segment; the name may contain the delimiter.
func param(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
	name, delim := bytesOf(a, 0), byte('&')
	if len(a) > 1 {
		delim = byte(a[1].Int)
	}
	for rest := v.B; len(rest) > 0; {
		after, found := bytes.CutPrefix(rest, name)
		if found && (len(after) == 0 || after[0] == delim || after[0] == '=') {
			if len(after) > 0 && after[0] == '=' {
				after = after[1:]
				if i := bytes.IndexByte(after, delim); i >= 0 {
					after = after[:i]
				}
			} else {
				after = after[:0]
			}
			v.B = after[:len(after):len(after)]
			return true
		}
		i := bytes.IndexByte(rest, delim)
		if i < 0 {
			break
		}
		rest = rest[i+1:]
	}
	return false
}
