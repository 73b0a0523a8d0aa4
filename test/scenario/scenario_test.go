package scenario

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	m.Run() // the exit code is kept by package testing
	Cleanup()
}

// TestScenarios plays every file of test/scenarios on every target.
func TestScenarios(t *testing.T) {
	all, err := LoadAll("../scenarios")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no scenarios found")
	}
	targets, err := Targets()
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range targets {
		for _, s := range all {
			name := strings.TrimSuffix(filepath.Base(s.File), ".txt")
			t.Run(target.Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				if why := target.Skip(s.Needs, s.WeirOnly); why != "" {
					t.Skip(why)
				}
				err := Run(s, target, t.TempDir())
				for again := 0; err != nil && target.Reference && again < 2; again++ {
					// The reference is not under test: it shows that an expectation is true, and a slow machine does not disprove it.
					err = Run(s, target, t.TempDir())
				}
				if err != nil {
					t.Error(s.Title + "\n" + err.Error())
				}
			})
		}
	}
}
