//go:build weirdebug

package assert

// On tells whether this is an assertion build.
const On = true
