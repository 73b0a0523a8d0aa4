package logfmt

// What must be encoded depends on the place (manual 8.6).
const (
	escapeText   = 1 << iota // everywhere: outside 32..126, '"' and '#'
	escapeHeader             // captured fields: also '{', '|' and '}'
)

// escapes has the places in which a byte is encoded.
var escapes = func() (t [256]byte) {
	for c := range t {
		if c < 32 || c > 126 || c == '"' || c == '#' {
			t[c] = escapeText | escapeHeader
		}
	}
	t['{'], t['|'], t['}'] = escapeHeader, escapeHeader, escapeHeader
	return t
}()

// appendEncoded appends s with the bytes of that place as '#' and two digits.
func appendEncoded[T string | []byte](dst []byte, s T, place byte) []byte {
	const digits = "0123456789ABCDEF"
	clean := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if escapes[c]&place == 0 {
			continue
		}
		dst = append(dst, s[clean:i]...)
		dst = append(dst, '#', digits[c>>4], digits[c&15])
		clean = i + 1
	}
	return append(dst, s[clean:]...)
}
