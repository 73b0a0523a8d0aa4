package statcol

// Form is a way to write rows.
type Form uint8

// The forms of "show stat" and of the statistics page's exports.
const (
	CSV Form = iota
	Typed
	JSON
)

// Begin appends what stands before the first row.
func (f Form) Begin(dst []byte) []byte {
	switch f {
	case CSV:
		return AppendHeader(dst)
	case JSON:
		return append(dst, '[')
	}
	return dst
}

// Row appends a row. first is true for the first one; desc adds descriptions to the typed form.
func (f Form) Row(dst []byte, r *Row, first, desc bool) []byte {
	switch f {
	case Typed:
		return r.AppendTyped(dst, desc)
	case JSON:
		if !first {
			dst = append(dst, ',')
		}
		return r.AppendJSON(dst)
	}
	return r.AppendCSV(dst)
}

// End appends what stands behind the last row.
func (f Form) End(dst []byte) []byte {
	if f == JSON {
		return append(dst, "]\n"...)
	}
	return dst
}
