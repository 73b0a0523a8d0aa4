package fetchssl

import (
	"bytes"
	"crypto/x509"
	"encoding/asn1"
	"fmt"
	"slices"
	"strings"

	"weir/internal/lang/sample"
	"weir/internal/model"
)

// name makes a fetch of a distinguished name: the whole, in one of two notations, or a part of it.
func (p party) name(name, help string, get func(tx *model.Txn, c *x509.Certificate) []byte) sample.Fetch {
	return sample.Fetch{Name: p.prefix + name, Args: "[string,integer,string]", Out: model.TypeStr, Valid: p.valid, Help: p.what + ": " + help,
		Check: func(_ *sample.ArgCheck, a []sample.Arg) error {
			if len(a) > 2 && a[2].Str != "" && a[2].Str != "rfc2253" {
				return fmt.Errorf("'%s' is no notation of a name: rfc2253 is", a[2].Str)
			}
			return nil
		},
		Get: func(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
			c := p.cert(tx)
			if c == nil {
				return false
			}
			raw := get(tx, c)
			switch {
			case raw == nil:
				return false
			case len(a) > 0 && a[0].Str != "":
				nth := 1
				if len(a) > 1 && a[1].Int != 0 {
					nth = int(a[1].Int)
				}
				return part(raw, a[0].Str, nth, v)
			case len(a) > 2 && a[2].Str != "":
				return setText(v, rfc2253(raw))
			}
			return setText(v, oneline(raw))
		}}
}

// attribute is one part of a name: its type, as OpenSSL calls it for short, and its value.
type attribute struct {
	kind  string
	value []byte
	first bool // of its set
}

// attributes cuts a name; nil for one with a NUL in a value, which is not to be trusted.
func attributes(raw []byte) (list []attribute) {
	var seq asn1.RawValue
	if _, err := asn1.Unmarshal(raw, &seq); err != nil {
		return nil
	}
	for rest := seq.Bytes; len(rest) > 0; {
		var set asn1.RawValue
		var err error
		if rest, err = asn1.Unmarshal(rest, &set); err != nil {
			return nil
		}
		first := true
		for in := set.Bytes; len(in) > 0; first = false {
			var a struct {
				Type  asn1.ObjectIdentifier
				Value asn1.RawValue
			}
			if in, err = asn1.Unmarshal(in, &a); err != nil {
				return nil
			}
			if bytes.IndexByte(text(a.Value), 0) >= 0 {
				return nil
			}
			list = append(list, attribute{kindName(a.Type), text(a.Value), first})
		}
	}
	return list
}

// text is the value of an attribute in UTF-8.
func text(v asn1.RawValue) []byte {
	if v.Tag != asn1.TagBMPString || len(v.Bytes)%2 != 0 {
		return v.Bytes
	}
	var out []byte
	for i := 0; i < len(v.Bytes); i += 2 {
		out = append(out, string(rune(v.Bytes[i])<<8|rune(v.Bytes[i+1]))...)
	}
	return out
}

// kindNames are OpenSSL's short names of attributes.
var kindNames = map[string]string{
	"2.5.4.3": "CN", "2.5.4.4": "SN", "2.5.4.5": "serialNumber", "2.5.4.6": "C", "2.5.4.7": "L", "2.5.4.8": "ST", "2.5.4.9": "street",
	"2.5.4.10": "O", "2.5.4.11": "OU", "2.5.4.12": "title", "2.5.4.13": "description", "2.5.4.15": "businessCategory", "2.5.4.17": "postalCode",
	"2.5.4.20": "telephoneNumber", "2.5.4.41": "name", "2.5.4.42": "GN", "2.5.4.43": "initials", "2.5.4.44": "generationQualifier",
	"2.5.4.45": "x500UniqueIdentifier", "2.5.4.46": "dnQualifier", "2.5.4.65": "pseudonym", "2.5.4.72": "role", "2.5.4.97": "organizationIdentifier",
	"0.9.2342.19200300.100.1.1": "UID", "0.9.2342.19200300.100.1.25": "DC", "0.9.2342.19200300.100.1.3": "mail",
	"1.2.840.113549.1.9.1": "emailAddress", "1.2.840.113549.1.9.2": "unstructuredName", "1.2.840.113549.1.9.8": "unstructuredAddress",
	"1.3.6.1.4.1.311.60.2.1.1": "jurisdictionL", "1.3.6.1.4.1.311.60.2.1.2": "jurisdictionST", "1.3.6.1.4.1.311.60.2.1.3": "jurisdictionC",
}

func kindName(id asn1.ObjectIdentifier) string {
	s := id.String()
	if n, ok := kindNames[s]; ok {
		return n
	}
	return s
}

// part finds the nth attribute of a kind, from the end for a negative number.
func part(raw []byte, kind string, nth int, v *model.Value) bool {
	list := attributes(raw)
	if nth < 0 {
		slices.Reverse(list)
		nth = -nth
	}
	for _, a := range list {
		if a.kind != kind {
			continue
		}
		if nth--; nth == 0 {
			v.SetStr(a.value)
			return len(a.value) > 0
		}
	}
	return false
}

// oneline writes a name in OpenSSL's own notation.
func oneline(raw []byte) string {
	var out strings.Builder
	for _, a := range attributes(raw) {
		out.WriteByte('/')
		out.WriteString(a.kind)
		out.WriteByte('=')
		out.Write(a.value)
	}
	return out.String()
}

// rfc2253 writes a name from its end, as LDAP does.
func rfc2253(raw []byte) string {
	list := attributes(raw)
	var out strings.Builder
	for i := len(list) - 1; i >= 0; i-- {
		a := &list[i]
		out.WriteString(a.kind)
		out.WriteByte('=')
		escape(&out, a.value)
		switch {
		case i == 0:
		case a.first:
			out.WriteByte(',')
		default:
			out.WriteByte('+')
		}
	}
	return out.String()
}

// escape writes a value as RFC 2253 wants it.
func escape(out *strings.Builder, v []byte) {
	for i, c := range v {
		switch {
		case strings.IndexByte(`,+"\<>;`, c) >= 0, c == '#' && i == 0, c == ' ' && (i == 0 || i == len(v)-1):
			out.WriteByte('\\')
			out.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(out, `\%02X`, c)
		default:
			out.WriteByte(c)
		}
	}
}

// printable keeps what a certificate says from forging what is printed around it.
func printable(b []byte) string {
	var out strings.Builder
	for _, c := range b {
		if c < ' ' || c >= 0x7f {
			fmt.Fprintf(&out, `\x%02X`, c)
		} else {
			out.WriteByte(c)
		}
	}
	return out.String()
}
