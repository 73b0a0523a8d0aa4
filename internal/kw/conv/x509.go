package conv

import (
	"weir/internal/base/ascii"
	"weir/internal/lang/sample"
	"weir/internal/model"
	"weir/internal/wire/tlsname"
)

func init() {
	sample.AddConv(sample.Conv{Name: "x509_v_err_str", In: model.TypeSint, Out: model.TypeStr, Run: plain(verifyName),
		Help: "the name that OpenSSL has for the result of a certificate's verification, the number itself when there is none"})
}

func verifyName(tx *model.Txn, v *model.Value) bool {
	b := tx.Scratch.Grab()
	if name := tlsname.VerifyResult(v.Num); name != "" {
		return keep(tx, v, append(b, name...))
	}
	return keep(tx, v, ascii.AppendUint(b, uint64(v.Num)))
}
