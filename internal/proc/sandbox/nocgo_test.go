//go:build !cgo

package sandbox

const cgo = false
