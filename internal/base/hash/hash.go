// Package hash holds the short hashes that requests are balanced by and that converters offer.
package hash

import "math/bits"

// DJB2 is Dan Bernstein's hash of strings, with multiplication by 33 and addition.
func DJB2(b []byte) uint32 {
	h := uint32(5381)
	for _, c := range b {
		h = h*33 + uint32(c)
	}
	return h
}

// SDBM goes on with the hash of the database library of that name, which begins with 0.
func SDBM(h uint32, b []byte) uint32 {
	for _, c := range b {
		h = h*65599 + uint32(c)
	}
	return h
}

// WT6 keeps two words that each byte inverts and changes, and that then are rotated into each other's place by amounts
// taken from themselves.
func WT6(b []byte) uint32 {
	x, y := uint32(0xa53c965a), uint32(0x5ca6953a)
	left, right := 6, 18
	for _, c := range b {
		x, y = ^(x ^ uint32(c)), ^(y + uint32(c))
		x, y = bits.RotateLeft32(y, left), bits.RotateLeft32(x, right)
		mix := x>>16 ^ y&0xffff
		left, right = int(mix&31), int(mix>>11)
	}
	return x ^ y
}

// Avalanche is Bob Jenkins' hash of an integer in six shifts, spread further by a factor near three quarters of 2^32.
func Avalanche(h uint32) uint32 {
	h += 0x7ed55d16 + h<<12
	h ^= 0xc761c23c ^ h>>19
	h += 0x165667b1 + h<<5
	h = (h + 0xd3a2646c) ^ h<<9
	h += 0xfd7046c5 + h<<3
	h ^= 0xb55a4f09 ^ h>>16
	return h * 0xc0000001
}
