package rule

import (
	"strings"

	"weir/docs/compat"
)

// Ledger compares the registered actions with those that HAProxy knows, one ledger a kind of rules.
func Ledger() []compat.Ledger {
	var out []compat.Ledger
	for k := range NumKinds {
		var served []string
		Actions.All(func(n string, _ *Action) bool {
			if name, ok := strings.CutPrefix(n, k.String()+" "); ok {
				served = append(served, name)
			}
			return true
		})
		out = append(out, compat.Compare(k.String(), served))
	}
	return out
}
