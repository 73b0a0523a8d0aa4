package conv

import (
	"bytes"
	"crypto/subtle"
	"errors"

	"weir/internal/lang/sample"
	"weir/internal/lang/vars"
	"weir/internal/model"
)

// Converters that bring the value together with a variable.

func init() {
	sample.AddConv(
		sample.Conv{Name: "concat", Args: "string[,string,string]", In: model.TypeStr, Out: model.TypeStr, Check: checkConcat, Run: concat,
			Help: "the text with a constant, a variable and another constant behind it"},
		sample.Conv{Name: "add_item", Args: "string,string[,string]", In: model.TypeStr, Out: model.TypeStr, Check: checkAddItem, Run: addItem,
			Help: "the text with a delimiter, a variable and a constant behind it; no delimiter when either side is empty"},
		sample.Conv{Name: "strcmp", Args: "string", In: model.TypeStr, Out: model.TypeSint, Check: checkVariable, Run: strcmp,
			Help: "0 when the text equals a variable, negative when it is smaller or a part of it, else positive"},
		sample.Conv{Name: "secure_memcmp", Args: "string", In: model.TypeBin, Out: model.TypeBool, Check: checkVariable, Run: secureMemcmp,
			Help: "whether the bytes equal those of a variable, found out in constant time"},
	)
}

func checkVariable(_ *sample.ArgCheck, a []sample.Arg) error { return variable(&a[0]) }

func checkConcat(_ *sample.ArgCheck, a []sample.Arg) error {
	keepBytes(a, 0, 2)
	if len(a) > 1 && a[1].Str != "" {
		return variable(&a[1])
	}
	return nil
}

func checkAddItem(_ *sample.ArgCheck, a []sample.Arg) error {
	keepBytes(a, 0, 2)
	if a[1].Str != "" {
		return variable(&a[1])
	}
	if len(a) < 3 || a[2].Str == "" {
		return errors.New("either the variable or the text after it must be given")
	}
	return nil
}

// textOf is the text of a variable, empty when it is not set. small has room for the text of a number or an address.
func textOf(tx *model.Txn, n *vars.Name, small []byte) []byte {
	if n == nil {
		return nil
	}
	var x model.Value
	if !vars.Get(tx, n, &x) {
		return nil
	}
	switch x.Type {
	case model.TypeBin: // text ends where a zero byte stands
		if i := bytes.IndexByte(x.B, 0); i >= 0 {
			return x.B[:i]
		}
		return x.B
	case model.TypeStr, model.TypeMeth:
		return x.B
	}
	return sample.AppendText(small[:0], &x)
}

// joined sets v to its own text with others behind it, cut at one byte less than the longest value.
func joined(tx *model.Txn, v *model.Value, p, q, r []byte) bool {
	most := tx.Scratch.Limit() - 1
	b := tx.Scratch.Grab()
	for _, part := range [...][]byte{v.B, p, q, r} {
		b = append(b, part[:min(len(part), most-len(b))]...)
	}
	return keep(tx, v, b)
}

func concat(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	var small [64]byte
	return joined(tx, v, bytesOf(a, 0), textOf(tx, nameOf(a, 1), small[:]), bytesOf(a, 2))
}

func addItem(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	var small [64]byte
	delim, item, suffix := bytesOf(a, 0), textOf(tx, nameOf(a, 1), small[:]), bytesOf(a, 2)
	if len(v.B) == 0 || len(item)+len(suffix) == 0 {
		delim = nil
	}
	return joined(tx, v, delim, item, suffix)
}

func strcmp(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	var x model.Value
	if !vars.Get(tx, nameOf(a, 0), &x) || !sample.Cast(tx, &x, model.TypeStr) {
		return false
	}
	v.SetInt(int64(compare(v.B, x.B)))
	return true
}

// compare is the difference of the first bytes that differ, else -1, 0 or 1 by length.
func compare(p, q []byte) int {
	for i := range min(len(p), len(q)) {
		if p[i] != q[i] {
			return int(p[i]) - int(q[i])
		}
	}
	switch {
	case len(p) < len(q):
		return -1
	case len(p) > len(q):
		return 1
	}
	return 0
}

func secureMemcmp(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	var x model.Value
	if !vars.Get(tx, nameOf(a, 0), &x) || !sample.Cast(tx, &x, model.TypeBin) {
		return false
	}
	v.SetBool(subtle.ConstantTimeCompare(v.B, x.B) == 1)
	return true
}
