package fetchssl

import (
	"encoding/binary"
	"fmt"

	"weir/internal/base/xxh"
	"weir/internal/lang/sample"
	"weir/internal/model"
	"weir/internal/wire/clienthello"
	"weir/internal/wire/tlsname"
)

// extVersions and extFormats are extensions of a hello that have no name in its codec.
const (
	extFormats  = 11
	extVersions = 43
)

func init() {
	sample.AddFetch(
		list("ssl_fc_cipherlist_bin", model.TypeStr, "cipher suites, two bytes each", ciphers),
		list("ssl_fc_eclist_bin", model.TypeStr, "groups, two bytes each", (*clienthello.Hello).Groups),
		list("ssl_fc_sigalgs_bin", model.TypeBin, "signature algorithms, two bytes each", (*clienthello.Hello).SigAlgs),
		list("ssl_fc_extlist_bin", model.TypeStr, "numbers of the extensions, two bytes each", extensions),
		list("ssl_fc_supported_versions_bin", model.TypeBin, "versions, two bytes each", versions),
		sample.Fetch{Name: "ssl_fc_cipherlist_hex", Args: "[integer]", Out: model.TypeBin, Valid: session, Help: "the client's hello: cipher suites in hexadecimal", Check: filterArg,
			Get: func(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
				b, ok := listOf(tx, a, ciphers)
				if ok {
					v.SetBin(fmt.Appendf(nil, "%X", b))
				}
				return ok
			}},
		sample.Fetch{Name: "ssl_fc_cipherlist_str", Args: "[integer]", Out: model.TypeStr, Valid: session, Help: "the client's hello: names of the cipher suites", Check: filterArg,
			Get: func(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
				b, ok := listOf(tx, a, ciphers)
				if ok {
					v.SetStr(names(b))
				}
				return ok
			}},
		sample.Fetch{Name: "ssl_fc_cipherlist_xxh", Out: model.TypeSint, Valid: session, Help: "the client's hello: XXH64 of the cipher suites",
			Get: func(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
				b, ok := listOf(tx, nil, ciphers)
				if ok {
					v.SetInt(int64(xxh.Sum64(b, 0)))
				}
				return ok
			}},
		sample.Fetch{Name: "ssl_fc_ecformats_bin", Out: model.TypeStr, Valid: session, Help: "the client's hello: point formats, a byte each",
			Get: func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
				var h clienthello.Hello
				if !captured(tx) || !hello(tx, &h) {
					return false
				}
				b, _, _ := h.Extension(extFormats)
				if len(b) < 2 || int(b[0]) != len(b)-1 {
					return false
				}
				v.SetStr(b[1:])
				return true
			}},
		sample.Fetch{Name: "ssl_fc_protocol_hello_id", Out: model.TypeSint, Valid: session, Help: "the client's hello: its version",
			Get: func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
				var h clienthello.Hello
				if !captured(tx) || !hello(tx, &h) {
					return false
				}
				v.SetInt(int64(h.Version))
				return true
			}},
	)
}

// filterArg checks the argument of a list: 1 leaves values out that mean nothing (GREASE, RFC 8701).
func filterArg(_ *sample.ArgCheck, a []sample.Arg) error {
	if len(a) > 0 && a[0].Int != 0 && a[0].Int != 1 {
		return fmt.Errorf("the filter is 0 or 1, not %d", a[0].Int)
	}
	return nil
}

// list makes a fetch of a list of two-byte values.
func list(name string, out model.Type, help string, get func(*clienthello.Hello) ([]byte, bool)) sample.Fetch {
	return sample.Fetch{Name: name, Args: "[integer]", Out: out, Valid: session, Help: "the client's hello: " + help, Check: filterArg,
		Get: func(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
			b, ok := listOf(tx, a, get)
			if ok {
				v.Type, v.B = out, b
			}
			return ok
		}}
}

// captured reports whether the bind line keeps hellos (tune.ssl.capture-buffer-size).
func captured(tx *model.Txn) bool {
	c, ok := tx.S.FrontConn().(model.SecureConn)
	return ok && c.Under() != nil && c.Under().Capture > 0
}

// listOf is a list of the hello, filtered if the argument says so, and no longer than what the bind line keeps.
func listOf(tx *model.Txn, a []sample.Arg, get func(*clienthello.Hello) ([]byte, bool)) ([]byte, bool) {
	var h clienthello.Hello
	if !captured(tx) || !hello(tx, &h) {
		return nil, false
	}
	b, ok := get(&h)
	if !ok || len(b) < 2 {
		return nil, false
	}
	b = b[:min(len(b), tx.S.FrontConn().(model.SecureConn).Under().Capture)]
	if len(a) == 0 || a[0].Int == 0 {
		return b, true
	}
	var out []byte
	for ; len(b) >= 2; b = b[2:] {
		if b[0] != b[1] || b[0]&15 != 10 {
			out = append(out, b[0], b[1])
		}
	}
	return out, len(out) > 0
}

func ciphers(h *clienthello.Hello) ([]byte, bool) { return h.Ciphers, len(h.Ciphers) > 0 }

func extensions(h *clienthello.Hello) (out []byte, ok bool) {
	for b := h.Extensions; len(b) >= 4; {
		out = append(out, b[0], b[1])
		n := 4 + int(binary.BigEndian.Uint16(b[2:]))
		if len(b) < n {
			break
		}
		b = b[n:]
	}
	return out, len(out) > 0
}

func versions(h *clienthello.Hello) ([]byte, bool) {
	b, found, _ := h.Extension(extVersions)
	if !found || len(b) < 3 || int(b[0]) != len(b)-1 {
		return nil, false
	}
	return b[1:], true
}

// names are the names of cipher suites.
func names(b []byte) (out []byte) {
	for ; len(b) >= 2; b = b[2:] {
		if len(out) > 0 {
			out = append(out, ',')
		}
		id := binary.BigEndian.Uint16(b)
		if n := tlsname.AnyCipher(id); n != "" {
			out = append(out, n...)
		} else {
			out = fmt.Appendf(out, "UNKNOWN(%04x)", id)
		}
	}
	return out
}
