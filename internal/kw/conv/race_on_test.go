//go:build race

package conv_test

// race: pools forget at random, so that what comes from one may allocate.
const race = true
