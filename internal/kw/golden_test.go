package kw_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden loads the configurations of testdata/*.txt. A file is a list of
// cases: a line "### name", the configuration, a line "=> ok" or "=> refused",
// and the messages as file:line without file. Relative file names in the
// configurations start in testdata/files.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	cases, lines := 0, 0
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			for _, c := range strings.Split("\n"+string(data), "\n### ")[1:] {
				name, body, _ := strings.Cut(c, "\n")
				text, want, _ := strings.Cut(body, "\n=> ")
				text = strings.TrimSuffix(text, "\n") + "\n"
				got := verdict(text)
				cases++
				lines += strings.Count(got, "ALERT")
				fmt.Fprintf(&out, "### %s\n%s=> %s\n", name, text, got)
				if want = strings.TrimSuffix(want, "\n"); !*update && got != want {
					t.Errorf("%s: %s: got\n%s\nwant\n%s", file, name, got, want)
				}
			}
			if *update {
				if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	t.Logf("%d configurations, %d errors", cases, lines)
}

// verdict loads a configuration and formats what comes of it.
func verdict(text string) string {
	cfg, diags := load(text, "testdata/files")
	v := "ok"
	if cfg == nil {
		v = "refused"
	}
	msgs := strings.ReplaceAll(diags.String(), "t.cfg:", "")
	return strings.TrimSuffix(v+"\n"+msgs, "\n")
}
