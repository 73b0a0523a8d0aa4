package fetchbuf

import (
	"weir/internal/lang/sample"
	"weir/internal/model"
)

// waitEnd is true when no more data will come before the decision; until then there is no value.
func waitEnd(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	if !tx.Final {
		return wait(tx, true)
	}
	v.SetBool(true)
	return true
}
