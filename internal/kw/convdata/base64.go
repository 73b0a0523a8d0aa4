package convdata

// Decoding tables: the value of a digit, or noDigit.
const noDigit = 0xff

var (
	stdDigits = digits('+', '/')
	urlDigits = digits('-', '_')
)

func digits(c62, c63 byte) *[256]byte {
	var t [256]byte
	for i := range t {
		t[i] = noDigit
	}
	for i := byte(0); i < 26; i++ {
		t['A'+i], t['a'+i] = i, i+26
	}
	for i := byte(0); i < 10; i++ {
		t['0'+i] = i + 52
	}
	t[c62], t[c63] = 62, 63
	return &t
}

// appendBase64 decodes padded base64 (RFC 4648, 4). Bits that do not make a whole byte are ignored, as the reference ignores them. It
// reports false for anything else than base64, and for more than limit bytes.
func appendBase64(dst, src []byte, limit int) ([]byte, bool) {
	if len(src)%4 != 0 {
		return nil, false
	}
	pad := 0
	for n := len(src); pad < 3 && pad < n && src[n-1-pad] == '='; {
		pad++
	}
	if len(src)/4*3-pad > limit {
		return nil, false
	}
	return appendDigits(dst, src[:len(src)-pad], stdDigits)
}

// appendBase64URL decodes base64url without padding (RFC 7515, 2). The reference takes '=' for a digit with the value 63: so
// does this, for the result is compared with something else in any case. It reports false for a wrong digit or length and for
// more than limit bytes.
func appendBase64URL(dst, src []byte, limit int) ([]byte, bool) {
	if len(src)%4 == 1 || len(src)/4*3+len(src)%4*6/8 > limit {
		return nil, false
	}
	return appendDigits(dst, src, urlDigits)
}

func appendDigits(dst, src []byte, table *[256]byte) ([]byte, bool) {
	var acc uint32
	bits := 0
	for _, c := range src {
		d := table[c]
		if d == noDigit {
			if c != '=' || table != urlDigits {
				return nil, false
			}
			d = 63
		}
		acc = acc<<6 | uint32(d)
		if bits += 6; bits >= 8 {
			bits -= 8
			dst = append(dst, byte(acc>>bits))
		}
	}
	return dst, true
}
