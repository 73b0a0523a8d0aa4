//go:build cgo

package sandbox

// cgo tells that the test binary is linked with the C library, where the Go
// runtime cannot make a system call on all threads.
const cgo = true
