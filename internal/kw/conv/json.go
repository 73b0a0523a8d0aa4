package conv

import (
	"fmt"

	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	sample.AddConv(sample.Conv{Name: "json", Args: "string", In: model.TypeStr, Out: model.TypeStr, Check: checkJSON, Run: json,
		Help: "the text escaped for a JSON string; the input is read as ascii (any bytes), utf8, utf8s (errors left out), utf8p (overlong forms taken), utf8ps"})
}

// Ways to read the input of json.
const (
	jsonUTF8       = 1 << iota // else each byte is a character
	jsonSilent                 // what is wrong is left out
	jsonPermissive             // overlong forms are right
)

var jsonModes = map[string]int64{"": 0, "ascii": 0, "utf8": jsonUTF8, "utf8s": jsonUTF8 | jsonSilent, "utf8p": jsonUTF8 | jsonPermissive,
	"utf8ps": jsonUTF8 | jsonSilent | jsonPermissive}

func checkJSON(_ *sample.ArgCheck, a []sample.Arg) error {
	mode, ok := jsonModes[a[0].Str]
	if !ok {
		return fmt.Errorf("the input can be ascii, utf8, utf8s, utf8p or utf8ps, not '%s'", a[0].Str)
	}
	a[0].Int = mode
	return nil
}

func json(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	mode, most := a[0].Int, tx.Scratch.Limit()
	b := tx.Scratch.Grab()
	for src := v.B; len(src) > 0; {
		c, n := uint32(src[0]), 1
		if mode&jsonUTF8 != 0 && c >= 0x80 {
			var good bool
			c, n, good = decodeUTF8(src, mode&jsonPermissive != 0)
			if !good {
				if mode&jsonSilent == 0 {
					return false
				}
				src = src[n:]
				continue
			}
		}
		src = src[n:]
		if len(b)+6 > most && len(b)+jsonSize(c) > most {
			return false
		}
		b = appendJSON(b, c)
	}
	return keep(tx, v, b)
}

// decodeUTF8 reads one character that begins with a byte from 0x80 on: up to six bytes, as UTF-8 once had. n is how many
// bytes belong together, right or wrong.
func decodeUTF8(src []byte, permissive bool) (c uint32, n int, ok bool) {
	lead := src[0]
	size := 0
	for size < 8 && lead&(0x80>>size) != 0 {
		size++
	}
	if size < 2 || size > 6 {
		return 0, 1, false
	}
	c = uint32(lead) & (0x7f >> size)
	for n = 1; n < size; n++ {
		if n == len(src) || src[n]&0xc0 != 0x80 {
			return 0, n, false
		}
		c = c<<6 | uint32(src[n]&0x3f)
	}
	// \u has four digits; surrogates and the last two codes are no characters.
	if c > 0xffff || c >= 0xd800 && c <= 0xdfff || c >= 0xfffe {
		return 0, n, false
	}
	if !permissive && (c < 0x80 || size > 2 && c < 0x800 || size > 3) {
		return 0, n, false
	}
	return c, n, true
}

// jsonShort holds what follows the backslash of characters that have a short escape.
var jsonShort = [128]byte{'"': '"', '\\': '\\', '/': '/', '\b': 'b', '\f': 'f', '\r': 'r', '\n': 'n', '\t': 't'}

// jsonSize is the length of a character's form.
func jsonSize(c uint32) int {
	switch {
	case c < 128 && jsonShort[c] != 0:
		return 2
	case c >= 0x20 && c < 0x7f:
		return 1
	}
	return 6
}

func appendJSON(b []byte, c uint32) []byte {
	switch jsonSize(c) {
	case 1:
		return append(b, byte(c))
	case 2:
		return append(b, '\\', jsonShort[c])
	}
	const digits = "0123456789abcdef"
	return append(b, '\\', 'u', digits[c>>12&15], digits[c>>8&15], digits[c>>4&15], digits[c&15])
}
