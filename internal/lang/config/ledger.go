package config

import "weir/docs/compat"

// Ledger compares the registered sections and keywords with the names that
// HAProxy knows, one ledger a table.
func (r *Registry) Ledger() []compat.Ledger {
	out := []compat.Ledger{compat.Compare(compat.Section, r.Sections.Names())}
	tables := []*Table{r.Global, r.Proxy, r.Bind, r.Server}
	seen := map[*Table]bool{r.Global: true, r.Proxy: true}
	r.Sections.All(func(_ string, s *Section) bool {
		if !seen[s.Keywords] {
			seen[s.Keywords] = true
			tables = append(tables, s.Keywords)
		}
		return true
	})
	for _, t := range tables {
		out = append(out, compat.Compare(t.kind, t.Names()))
	}
	return out
}
