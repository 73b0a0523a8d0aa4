package logfmt

// What must be encoded depends on the place (manual 8.6).
const (
	escapeText    = 1 << iota // aliases everywhere: outside 32..126, '"' and '#'
	escapeHeader              // captured fields: also '{', '|' and '}'
	escapeControl             // values of expressions: what ends a line or moves a terminal's cursor, but not the tab
	escapeSD                  // flag E: '"', '\' and ']', for values of structured data
	escapeJSON                // '"' and '\'
)

// escapes has the places in which a byte is encoded.
var escapes = func() (t [256]byte) {
	for c := range t {
		if c < 32 || c > 126 || c == '"' || c == '#' {
			t[c] = escapeText | escapeHeader
		}
		if c < 32 && c != '\t' || c == 127 {
			t[c] |= escapeControl
		}
	}
	t['{'], t['|'], t['}'] = escapeHeader, escapeHeader, escapeHeader
	t['"'] |= escapeSD | escapeJSON
	t['\\'] |= escapeSD | escapeJSON
	t[']'] |= escapeSD
	return t
}()

const upperDigits = "0123456789ABCDEF"

// appendEncoded appends s with the bytes of that place as '#' and two digits.
func appendEncoded[T string | []byte](dst []byte, s T, place byte) []byte {
	clean := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if escapes[c]&place == 0 {
			continue
		}
		dst = append(dst, s[clean:i]...)
		dst = append(dst, '#', upperDigits[c>>4], upperDigits[c&15])
		clean = i + 1
	}
	return append(dst, s[clean:]...)
}

// appendEscaped appends s with a backslash before the bytes of one place, and with those of escapeControl, if mark is not 0,
// as mark and two digits, or as JSON has them for the mark 'u'.
func appendEscaped[T string | []byte](dst []byte, s T, place, mark byte) []byte {
	which := place
	if mark != 0 {
		which |= escapeControl
	}
	clean := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if escapes[c]&which == 0 {
			continue
		}
		dst = append(dst, s[clean:i]...)
		clean = i + 1
		switch {
		case escapes[c]&place != 0:
			dst = append(dst, '\\', c)
			continue
		case mark == 'u':
			dst = append(dst, `\u00`...)
		default:
			dst = append(dst, mark)
		}
		dst = append(dst, upperDigits[c>>4], upperDigits[c&15])
	}
	return append(dst, s[clean:]...)
}
