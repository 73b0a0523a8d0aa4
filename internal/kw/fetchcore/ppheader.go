package fetchcore

import (
	"fmt"
	"strconv"
	"strings"

	"weir/internal/lang/sample"
	"weir/internal/model"
	"weir/internal/wire/proxyproto"
)

// tlvNames are the types of values that have a name (manual 7.3.3, fc_pp_tlv).
var tlvNames = map[string]byte{
	"ALPN": proxyproto.ALPN, "AUTHORITY": proxyproto.Authority, "CRC32": proxyproto.CRC32C, "NETNS": proxyproto.NetNS, "NOOP": proxyproto.Noop,
	"SSL": proxyproto.SSL, "SSL_CIPHER": proxyproto.Cipher, "SSL_CN": proxyproto.CN, "SSL_KEY_ALG": proxyproto.KeyAlg,
	"SSL_SIG_ALG": proxyproto.SigAlg, "SSL_VERSION": proxyproto.Version, "UNIQUE_ID": proxyproto.UniqueID,
}

func init() {
	sample.AddFetch(
		sample.Fetch{Name: "fc_pp_authority", Out: model.TypeStr, Valid: connected, Help: "the name in the client's PROXY header", Get: tlv(proxyproto.Authority)},
		sample.Fetch{Name: "fc_pp_unique_id", Out: model.TypeStr, Valid: connected, Help: "the unique ID in the client's PROXY header", Get: tlv(proxyproto.UniqueID)},
		sample.Fetch{
			Name: "fc_pp_tlv", Args: "string", Out: model.TypeStr, Valid: session, Help: "a value of the client's PROXY header by its type", Check: checkTLV,
			Get: func(tx *model.Txn, a []sample.Arg, v *model.Value) bool { return nthTLV(tx, byte(a[0].Int), v, 0) },
			Next: func(tx *model.Txn, a []sample.Arg, v *model.Value, state *int) bool {
				*state++
				return nthTLV(tx, byte(a[0].Int), v, *state-1)
			},
		},
		truth("fc_rcvd_proxy", connected, "the connection began with a PROXY header", func(tx *model.Txn) (is, ok bool) {
			_, is = proxyHeader(tx)
			return is, true
		}),
	)
}

// proxyHeader is what the client's PROXY header had besides addresses, and whether there was one.
func proxyHeader(tx *model.Txn) (proxyproto.TLVs, bool) {
	if c, ok := tx.S.FrontConn().(model.ProxiedConn); ok {
		return c.ProxyHeader()
	}
	return nil, false
}

func tlv(id byte) getter {
	return func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool { return nthTLV(tx, id, v, 0) }
}

// nthTLV finds the value of a type that n others of it precede.
func nthTLV(tx *model.Txn, id byte, v *model.Value, n int) bool {
	t, _ := proxyHeader(tx)
	for {
		b, rest, ok := t.Find(id)
		if !ok {
			return false
		}
		if n == 0 {
			v.SetStr(b)
			return true
		}
		t, n = rest, n-1
	}
}

// checkTLV reads a type: a name or a number.
func checkTLV(_ *sample.ArgCheck, a []sample.Arg) error {
	if id, ok := tlvNames[strings.ToUpper(a[0].Str)]; ok {
		a[0].Int = int64(id)
		return nil
	}
	n, err := strconv.ParseUint(a[0].Str, 0, 32)
	if err != nil || n > 255 {
		return fmt.Errorf("'%s' is no type of a PROXY value: a number from 0 to 255 or a name such as AUTHORITY is", a[0].Str)
	}
	a[0].Int = int64(n)
	return nil
}
