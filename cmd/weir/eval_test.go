package main

import (
	"os"
	"strings"
	"testing"
)

// TestEvalManual runs the examples of docs/manual/eval.md.
func TestEvalManual(t *testing.T) {
	text, err := os.ReadFile("../../docs/manual/eval.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```\n")
	examples := 0
	for i := 1; i < len(blocks); i += 2 {
		for _, c := range strings.Split("\n"+blocks[i], "\n$ weir ")[1:] {
			line, want, _ := strings.Cut(c, "\n")
			cmd := weir(words(line)...)
			out, _ := cmd.CombinedOutput() // exit codes above 0 are examples too
			if got := strings.TrimSuffix(string(out), "\n"); got != strings.TrimSuffix(want, "\n") {
				t.Errorf("weir %s: got\n%s\nwant\n%s", line, got, want)
			}
			examples++
		}
	}
	if examples == 0 {
		t.Error("no examples")
	}
}

// words takes a command line apart; single quotes protect spaces.
func words(line string) (list []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			list = append(list, part)
		} else {
			list = append(list, strings.Fields(part)...)
		}
	}
	return list
}
