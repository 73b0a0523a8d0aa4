package logfmt

import (
	"unsafe"

	"weir/internal/model"
)

// transient hides from the compiler that a value on the stack is given to functions of fetches and converters. They use it
// until they return and never keep the pointer; without this, each evaluation would allocate.
//
//go:nocheckptr
func transient(v *model.Value) *model.Value {
	return (*model.Value)(unsafe.Add(nil, uintptr(unsafe.Pointer(v))))
}
