// Package conv holds the converters of the expression language that work on
// the value alone or on the transaction's own state: arithmetic, strings,
// encodings, hashes, dates, variables, captures (manual, chapter 7.3.1); and
// the var() fetch.
//
// Each file registers its own in init. Results are those of the reference, bit
// for bit, wherever a working configuration can depend on them; where the
// manual says something else than the reference does, the comment at the
// converter says which of the two is followed.
package conv

import (
	"errors"
	"fmt"
	"strconv"

	"weir/internal/lang/sample"
	"weir/internal/lang/vars"
	"weir/internal/model"
)

// noArgs is the type of a converter that has no arguments: its function sees the value only.
type noArgs = func(tx *model.Txn, v *model.Value) bool

// plain adapts a function without arguments.
func plain(fn noArgs) func(*model.Txn, []sample.Arg, *model.Value) bool {
	return func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool { return fn(tx, v) }
}

// intArg is the n-th argument as a number, 0 when it is not given.
func intArg(a []sample.Arg, n int) int64 {
	if n >= len(a) {
		return 0
	}
	return a[n].Int
}

// operand prepares an argument that is a number or the name of a variable: Data holds the name, nil for a number.
func operand(a *sample.Arg) error {
	a.Data = nil
	if n, ok := number(a.Str); ok {
		a.Int = n
		return nil
	}
	n, err := vars.Parse(a.Str)
	if err != nil {
		return fmt.Errorf("'%s' is neither an integer nor the name of a variable: %w", a.Str, err)
	}
	a.Data = n
	return nil
}

// number reads an integer that is all of s. Nothing, or a sign alone, is 0; numbers out of range become the nearest one.
func number(s string) (int64, bool) {
	digits := s
	if s != "" && (s[0] == '-' || s[0] == '+') {
		digits = s[1:]
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return 0, false
		}
	}
	if digits == "" {
		return 0, true
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil || errors.Is(err, strconv.ErrRange)
}

// operandValue is the number that a prepared argument stands for; false when its variable is not set or is no number.
func operandValue(tx *model.Txn, a *sample.Arg) (int64, bool) {
	n, _ := a.Data.(*vars.Name)
	if n == nil {
		return a.Int, true
	}
	var v model.Value
	if !vars.Get(tx, n, &v) || !sample.Cast(tx, &v, model.TypeSint) {
		return 0, false
	}
	return v.Num, true
}

// variable prepares an argument that must be the name of a variable.
func variable(a *sample.Arg) error {
	n, err := vars.Parse(a.Str)
	if err != nil {
		return err
	}
	a.Data = n
	return nil
}

// nameOf is the variable that the n-th argument names, nil when it is not given.
func nameOf(a []sample.Arg, n int) *vars.Name {
	if n >= len(a) {
		return nil
	}
	name, _ := a[n].Data.(*vars.Name)
	return name
}

// bytesOf is the n-th argument as bytes that Check has made of it (see keepBytes); nil when it is not given.
func bytesOf(a []sample.Arg, n int) []byte {
	if n >= len(a) {
		return nil
	}
	b, _ := a[n].Data.([]byte)
	return b
}

// keepBytes makes bytesOf work for an argument.
func keepBytes(a []sample.Arg, list ...int) {
	for _, n := range list {
		if n < len(a) {
			a[n].Data = []byte(a[n].Str)
		}
	}
}

// allBytes is the Check of converters whose arguments are plain text.
func allBytes(_ *sample.ArgCheck, a []sample.Arg) error {
	for n := range a {
		keepBytes(a, n)
	}
	return nil
}

// room takes n bytes that a result is written to; nil when it cannot exist. Like the reference it keeps a byte in reserve.
func room(tx *model.Txn, n int) []byte {
	if n >= tx.Scratch.Limit() {
		return nil
	}
	return tx.Scratch.Alloc(n)
}

// keep makes b, appended to what Grab gave, the value as a string.
func keep(tx *model.Txn, v *model.Value, b []byte) bool {
	b, ok := tx.Scratch.Keep(b)
	if ok {
		v.SetStr(b)
	}
	return ok
}

// setConst makes v a string of the configuration.
func setConst(v *model.Value, b []byte) bool {
	v.SetStr(b)
	v.Const = true
	return true
}
