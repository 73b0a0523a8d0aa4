//go:build !race

package conv_test

const race = false
