package scenario

import (
	"fmt"
	"testing"
)

// TestBadConfig gives every malformed configuration to the binary.
func TestBadConfig(t *testing.T) {
	all, err := LoadBad("../badconfig")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 200 {
		t.Fatalf("only %d malformed configurations", len(all))
	}
	targets, err := Targets()
	if err != nil {
		t.Fatal(err)
	}
	target := targets[0] // nothing is polled while a configuration is checked
	for _, c := range all {
		t.Run(fmt.Sprintf("%s/%s", target.Name, c.Title), func(t *testing.T) {
			t.Parallel()
			if why := target.Skip(c.Needs, c.WeirOnly); why != "" {
				t.Skip(why)
			}
			if err := c.Run(target, t.TempDir()); err != nil {
				t.Error(err)
			}
		})
	}
}
