package all

import (
	"strings"
	"testing"

	"weir/docs/compat"
	"weir/internal/lang/acl"
	"weir/internal/lang/config"
	"weir/internal/lang/logfmt"
	"weir/internal/lang/rule"
	"weir/internal/lang/sample"
)

// own are weir's names that the reference does not have.
var own = map[string]bool{"no-uring": true}

// TestLedger prints what of the reference's names is served, and fails on names that nobody has written down. What is missing
// is refused by name when a configuration uses it.
func TestLedger(t *testing.T) {
	list := config.Std.Ledger()
	list = append(list, sample.Ledger()...)
	list = append(list, acl.Ledger(), logfmt.Ledger())
	list = append(list, rule.Ledger()...)
	for _, l := range list {
		t.Logf("%-26s %4d served, %4d missing: %s", l.Kind, len(l.Done), len(l.Missing), strings.Join(l.Missing, " "))
		for _, n := range l.Own {
			if !own[n] && !compat.Known(l.Kind, n) {
				t.Logf("%-26s own name: %s", l.Kind, n)
			}
		}
	}
}

// TestSignatures holds every fetch and converter to a name that the reference knows.
func TestSignatures(t *testing.T) {
	for _, l := range sample.Ledger() {
		for _, n := range l.Own {
			t.Errorf("%s '%s' is not in the inventory", l.Kind, n)
		}
	}
}
