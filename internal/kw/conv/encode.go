package conv

import (
	"encoding/base64"
	"errors"
	"fmt"

	"weir/internal/base/ascii"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	sample.AddConv(
		sample.Conv{Name: "hex", In: model.TypeBin, Out: model.TypeStr, Help: "two hexadecimal digits for each byte", Run: plain(hex)},
		sample.Conv{Name: "hex2i", In: model.TypeStr, Out: model.TypeSint, Help: "the number that hexadecimal digits stand for", Run: plain(hex2i)},
		sample.Conv{Name: "base2", In: model.TypeBin, Out: model.TypeStr, Help: "eight binary digits for each byte", Run: plain(base2)},
		sample.Conv{Name: "base64", In: model.TypeBin, Out: model.TypeStr, Help: "the bytes in base64", Run: plain(encode64(base64.StdEncoding))},
		sample.Conv{Name: "ub64enc", In: model.TypeBin, Out: model.TypeStr, Help: "the bytes in base64url, without padding", Run: plain(encode64(base64.RawURLEncoding))},
		sample.Conv{Name: "b64dec", In: model.TypeStr, Out: model.TypeBin, Help: "the bytes that base64 stands for", Run: plain(b64dec)},
		sample.Conv{Name: "ub64dec", In: model.TypeStr, Out: model.TypeBin, Help: "the bytes that base64url without padding stands for", Run: plain(ub64dec)},
		sample.Conv{Name: "htonl", In: model.TypeSint, Out: model.TypeBin, Help: "the lower 32 bits as bytes in network order", Run: plain(htonl)},
		sample.Conv{Name: "be2dec", Args: "string[,integer,integer]", In: model.TypeBin, Out: model.TypeStr, Check: checkChunks(8), Run: be2dec,
			Help: "the decimal numbers that each 1 to 8 bytes make, the highest byte first, with a separator; 1 to drop an incomplete one"},
		sample.Conv{Name: "le2dec", Args: "string[,integer,integer]", In: model.TypeBin, Out: model.TypeStr, Check: checkChunks(8), Run: le2dec,
			Help: "the decimal numbers that each 1 to 8 bytes make, the lowest byte first, with a separator; 1 to drop an incomplete one"},
		sample.Conv{Name: "be2hex", Args: "string[,integer,integer]", In: model.TypeBin, Out: model.TypeStr, Check: checkChunks(0), Run: be2hex,
			Help: "two hexadecimal digits for each byte, with a separator after each so many; 1 to drop an incomplete chunk"},
	)
}

const upperHex = "0123456789ABCDEF"

func appendHex(dst, src []byte) []byte {
	for _, c := range src {
		dst = append(dst, upperHex[c>>4], upperHex[c&15])
	}
	return dst
}

func hex(tx *model.Txn, v *model.Value) bool {
	b := tx.Scratch.Alloc(2 * len(v.B))
	if b == nil {
		return false
	}
	v.SetStr(appendHex(b[:0], v.B))
	return true
}

// hex2i keeps the lower 64 bits. What is no digit leaves no value; the manual says 0.
func hex2i(_ *model.Txn, v *model.Value) bool {
	var n uint64
	for _, c := range v.B {
		if !ascii.IsHex(c) {
			return false
		}
		n = n<<4 | uint64(ascii.HexVal(c))
	}
	v.SetInt(int64(n))
	return true
}

func base2(tx *model.Txn, v *model.Value) bool {
	b := tx.Scratch.Alloc(8 * len(v.B))
	if b == nil {
		return false
	}
	for i, c := range v.B {
		for bit := range 8 {
			b[8*i+bit] = '0' + c>>(7-bit)&1
		}
	}
	v.SetStr(b)
	return true
}

func htonl(tx *model.Txn, v *model.Value) bool {
	n := uint32(v.Num)
	b := tx.Scratch.Alloc(4)
	b[0], b[1], b[2], b[3] = byte(n>>24), byte(n>>16), byte(n>>8), byte(n)
	v.SetBin(b)
	return true
}

// encode64 needs room for the padded form, whether there is padding or not.
func encode64(enc *base64.Encoding) noArgs {
	return func(tx *model.Txn, v *model.Value) bool {
		b := room(tx, base64.StdEncoding.EncodedLen(len(v.B)))
		if b == nil {
			return false
		}
		b = b[:enc.EncodedLen(len(v.B))]
		enc.Encode(b, v.B)
		v.SetStr(b)
		return true
	}
}

// Values of base64 digits: both alphabets share all but two.
var digits64, digitsURL = alphabet('+', '/'), alphabet('-', '_')

const badDigit = 0xff

func alphabet(c62, c63 byte) (t [256]byte) {
	for i := range t {
		t[i] = badDigit
	}
	for i := range 26 {
		t['A'+i], t['a'+i] = byte(i), byte(26+i)
	}
	for i := range 10 {
		t['0'+i] = byte(52 + i)
	}
	t[c62], t[c63] = 62, 63
	return t
}

// b64dec reads groups of four digits, the last one to three of which may be padding; any group may be padded. Bits that
// padding leaves over do not count.
func b64dec(tx *model.Txn, v *model.Value) bool {
	src := v.B
	if len(src)%4 != 0 {
		return false
	}
	b := tx.Scratch.Alloc(len(src) / 4 * 3)
	if b == nil {
		return false
	}
	at := 0
	for ; len(src) > 0; src = src[4:] {
		bits, pad := uint32(0), 0
		for _, c := range src[:4] {
			d := digits64[c]
			switch {
			case c == '=':
				pad++
				d = 0
			case d == badDigit || pad > 0:
				return false
			}
			bits = bits<<6 | uint32(d)
		}
		if pad == 4 {
			return false
		}
		b[at], b[at+1], b[at+2] = byte(bits>>16), byte(bits>>8), byte(bits)
		at += 3 - pad
	}
	v.SetBin(b[:at:at])
	return true
}

// ub64dec reads '=' as the last digit of the alphabet, as the reference does.
func ub64dec(tx *model.Txn, v *model.Value) bool {
	src := v.B
	if len(src)%4 == 1 {
		return false
	}
	b := tx.Scratch.Alloc((len(src) + 3) / 4 * 3)
	if b == nil {
		return false
	}
	at, bits, held := 0, uint32(0), 0
	for _, c := range src {
		d := digitsURL[c]
		if c == '=' {
			d = 63
		}
		if d == badDigit {
			return false
		}
		bits, held = bits<<6|uint32(d), held+6
		if held >= 8 {
			held -= 8
			b[at] = byte(bits >> held)
			at++
		}
	}
	v.SetBin(b[:at:at])
	return true
}

// checkChunks judges separator, size of a chunk and the flag that drops an incomplete one. most is the largest chunk;
// 0: any, and 0 bytes when there is no separator.
func checkChunks(most int64) func(*sample.ArgCheck, []sample.Arg) error {
	return func(_ *sample.ArgCheck, a []sample.Arg) error {
		size := intArg(a, 1)
		switch {
		case most > 0 && (size < 1 || size > most):
			return fmt.Errorf("the size of a chunk must be 1 to %d bytes, not %d", most, size)
		case most == 0 && size <= 0 && (size < 0 || len(a) > 0 && a[0].Str != ""):
			return errors.New("a separator needs the size of a chunk, in bytes above 0")
		}
		if f := intArg(a, 2); f != 0 && f != 1 {
			return fmt.Errorf("the last argument says with 1 that an incomplete chunk is dropped, with 0 that it is not; it is %d", f)
		}
		keepBytes(a, 0)
		return nil
	}
}

// whole drops the incomplete chunk at the end when the arguments say so.
func whole(a []sample.Arg, b []byte, size int) []byte {
	if size > 0 && intArg(a, 2) == 1 {
		b = b[:len(b)-len(b)%size]
	}
	return b
}

func be2dec(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	return decimals(tx, a, v, func(chunk []byte) (n uint64) {
		for _, c := range chunk {
			n = n<<8 | uint64(c)
		}
		return n
	})
}

// le2dec does what the manual says. The reference loses bits of chunks above four bytes, and the sign, in a way that
// depends on the compiler.
func le2dec(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	return decimals(tx, a, v, func(chunk []byte) (n uint64) {
		for i := len(chunk) - 1; i >= 0; i-- {
			n = n<<8 | uint64(chunk[i])
		}
		return n
	})
}

// decimals writes as many numbers as there is room for.
func decimals(tx *model.Txn, a []sample.Arg, v *model.Value, value func([]byte) uint64) bool {
	size, sep := int(a[1].Int), bytesOf(a, 0)
	src := whole(a, v.B, size)
	b := tx.Scratch.Grab()
	for at := 0; at < len(src); at += size {
		n := value(src[at:min(at+size, len(src))])
		var digits [20]byte
		text := ascii.AppendUint(digits[:0], n)
		if at == 0 {
			b = append(b, text...)
			continue
		}
		if len(b)+len(sep)+len(text) >= tx.Scratch.Limit() {
			break
		}
		b = append(append(b, sep...), text...)
	}
	return keep(tx, v, b)
}

// be2hex with a separator writes as many chunks as there is room for, each counted as a whole one with separator;
// without a separator what does not fit has no value.
func be2hex(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	size, sep := int(intArg(a, 1)), bytesOf(a, 0)
	src := whole(a, v.B, size)
	most := tx.Scratch.Limit()
	if len(sep) == 0 {
		v.SetBin(src)
		return hex(tx, v)
	}
	need := len(sep) + 2*size
	if size > most || need > most {
		return false
	}
	b := tx.Scratch.Grab()
	for at := 0; at < len(src) && len(b)+need <= most; at += size {
		if at > 0 {
			b = append(b, sep...)
		}
		b = appendHex(b, src[at:min(at+size, len(src))])
	}
	return keep(tx, v, b)
}
