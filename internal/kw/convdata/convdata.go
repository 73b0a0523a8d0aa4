// Package convdata holds the converters on cryptography and on structured
// data: digests, AES, JSON Web Tokens, JSON, protocol buffers, MQTT, FIX and
// packet headers (manual, chapter 7.3.1).
//
// Input comes from the network. Every parser works on the given bytes only, in
// one pass or with a fixed depth, and answers what it cannot read with "no
// value", or with the code that the manual gives for it.
//
// Verifying and decrypting tokens can take a good part of a millisecond; what
// does so is a function without access to the transaction (verifier.verify,
// jweKey.decrypt, and parseJWK for a key in a variable), which may run on another
// goroutine.
package convdata

import (
	"errors"
	"fmt"
	"math"

	"weir/internal/lang/sample"
	"weir/internal/lang/vars"
	"weir/internal/model"
)

// operand is an argument that is either fixed bytes or the name of a variable.
type operand struct {
	name  *vars.Name // nil: fixed
	fixed []byte
}

// variableOr makes an operand: a variable if the text is the name of one, else the text itself.
func variableOr(text string) *operand {
	if n, err := vars.Parse(text); err == nil {
		return &operand{name: n}
	}
	return &operand{fixed: []byte(text)}
}

var errBase64 = errors.New("it must be a variable or encoded in base64")

// base64Operand makes an operand whose text, or the variable's content later, is base64. what names it in errors.
func base64Operand(what, text string) (*operand, error) {
	o := variableOr(text)
	if o.name == nil {
		var ok bool
		if o.fixed, ok = appendBase64(nil, o.fixed, math.MaxInt); !ok {
			return nil, fmt.Errorf("'%s' cannot be %s: %w", text, what, errBase64)
		}
	}
	return o, nil
}

// text returns the bytes of the operand; false when the variable is not set.
func (o *operand) text(tx *model.Txn) ([]byte, bool) {
	if o.name == nil {
		return o.fixed, true
	}
	var v model.Value
	if !vars.Get(tx, o.name, &v) || !sample.Cast(tx, &v, model.TypeStr) {
		return nil, false
	}
	return v.B, true
}

// decoded returns the decoded bytes of an operand made by base64Operand; false when the variable is not set or no base64.
func (o *operand) decoded(tx *model.Txn) ([]byte, bool) {
	b, ok := o.text(tx)
	if !ok || o.name == nil {
		return b, ok
	}
	b, ok = appendBase64(tx.Scratch.Grab(), b, tx.Scratch.Limit())
	if !ok {
		return nil, false
	}
	return tx.Scratch.Keep(b)
}

// optional returns the text of argument i, "" when it is not given.
func optional(a []sample.Arg, i int) string {
	if i < len(a) {
		return a[i].Str
	}
	return ""
}
