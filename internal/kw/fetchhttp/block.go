package fetchhttp

import (
	"weir/internal/base/ascii"
	"weir/internal/lang/sample"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

func init() {
	const s, b = model.TypeStr, model.TypeBin
	for _, d := range []struct {
		prefix, places string
		of             side1
	}{{"req", reqPlaces, request}, {"res", resPlaces, response}} {
		add(
			fetch{names: names(d.prefix + ".hdr_names"), args: nameArgs, out: s, places: d.places, help: "names of the headers", get: withMessage(d.of, s, appendNames)},
			fetch{names: names(d.prefix + ".hdrs"), out: b, places: d.places, help: "all headers, as text", get: withMessage(d.of, b, appendHeaders)},
			fetch{names: names(d.prefix + ".hdrs_bin"), out: b, places: d.places, help: "all headers, as lengths and bytes", get: withMessage(d.of, b, appendBinary)},
		)
	}
}

// withMessage makes a fetch of something that is written to the scratch memory.
func withMessage(of side1, out model.Type, write func(dst []byte, m *msg.Message, a []sample.Arg) []byte) get {
	return func(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
		m := of(tx)
		if m == nil {
			return false
		}
		b, ok := tx.Scratch.Keep(write(tx.Scratch.Grab(), m, a))
		v.SetBin(b)
		v.Type = out
		return ok
	}
}

// delimiter is the first byte of an optional argument, a comma without it.
func delimiter(a []sample.Arg) byte {
	switch {
	case len(a) == 0:
		return ','
	case a[0].Str == "":
		return 0
	}
	return a[0].Str[0]
}

// appendNames lists the names of the headers, in lower case as they are sent.
func appendNames(dst []byte, m *msg.Message, a []sample.Arg) []byte {
	n, sep := len(dst), delimiter(a)
	for i := range m.Fields {
		if len(dst) > n {
			dst = append(dst, sep)
		}
		dst = ascii.AppendLower(dst, m.Fields[i].Name)
	}
	return dst
}

func appendHeaders(dst []byte, m *msg.Message, _ []sample.Arg) []byte {
	for i := range m.Fields {
		dst = ascii.AppendLower(dst, m.Fields[i].Name)
		dst = append(dst, ": "...)
		dst = append(dst, m.Fields[i].Value...)
		dst = append(dst, "\r\n"...)
	}
	return append(dst, "\r\n"...)
}

func appendBinary(dst []byte, m *msg.Message, _ []sample.Arg) []byte {
	for i := range m.Fields {
		dst = appendVarint(dst, uint64(len(m.Fields[i].Name)))
		dst = ascii.AppendLower(dst, m.Fields[i].Name)
		dst = appendVarint(dst, uint64(len(m.Fields[i].Value)))
		dst = append(dst, m.Fields[i].Value...)
	}
	return append(dst, 0, 0)
}

// appendVarint writes a length in the encoding of SPOE.txt, section 3.1: up to 239 in one byte, else 4 bits in the first one
// and 7 in each that follows.
func appendVarint(dst []byte, n uint64) []byte {
	if n < 240 {
		return append(dst, byte(n))
	}
	dst = append(dst, byte(n)|240)
	for n = (n - 240) >> 4; n >= 128; n = (n - 128) >> 7 {
		dst = append(dst, byte(n)|128)
	}
	return append(dst, byte(n))
}
