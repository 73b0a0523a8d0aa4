package acl

import "testing"

// TestVersion: a version without a dot is one of its own, in ranges as well (manual 7.1.2).
func TestVersion(t *testing.T) {
	for in, want := range map[string]string{"3": "3.0", "3:3.1": "3.0:3.1", ":3": ":3.0", "3:": "3.0:", "3.1": "3.1", "gt": "gt", "": ""} {
		if got := version(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
