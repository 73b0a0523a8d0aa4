package hash

import "testing"

// TestAvalancheIsOneToOne: every step can be undone, so no two numbers share a hash.
func TestAvalancheIsOneToOne(t *testing.T) {
	seen := map[uint32]uint32{}
	for i := range uint32(1 << 16) {
		h := Avalanche(i * 65537)
		if j, twice := seen[h]; twice {
			t.Fatalf("%d and %d", i, j)
		}
		seen[h] = i
	}
}
