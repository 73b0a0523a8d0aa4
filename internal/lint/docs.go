package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	testName = regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)[A-Z]\w+(\.\.\.)?`)
	repoPath = regexp.MustCompile("`((?:internal|docs|test|cmd)/[\\w./-]+|deps_test\\.go)`")
	mdLink   = regexp.MustCompile(`\]\(([\w./-]+\.md)\)`)
)

// Tests returns the names of all test, fuzz and benchmark functions.
func Tests(files []*File) map[string]bool {
	names := map[string]bool{}
	for _, f := range files {
		for _, d := range f.AST.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && testName.MatchString(fn.Name.Name) {
				names[fn.Name.Name] = true
			}
		}
	}
	return names
}

// Mentions reports tests, files and pages that a document names and that do not exist. A name that ends in three
// dots stands for all that begin with it.
func Mentions(root, path string, text []byte, tests map[string]bool) []Finding {
	var found []Finding
	for i, line := range bytes.Split(text, []byte("\n")) {
		add := func(format string, args ...any) {
			found = append(found, Finding{path, i + 1, fmt.Sprintf(format, args...)})
		}
		for _, name := range testName.FindAllString(string(line), -1) {
			if !known(name, tests) {
				add("there is no %s", name)
			}
		}
		for _, m := range repoPath.FindAllSubmatch(line, -1) {
			if _, err := os.Stat(filepath.Join(root, string(m[1]))); err != nil {
				add("there is no %s", m[1])
			}
		}
		for _, m := range mdLink.FindAllSubmatch(line, -1) {
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(path), string(m[1]))); err != nil {
				add("the link to %s is broken", m[1])
			}
		}
	}
	return found
}

func known(name string, tests map[string]bool) bool {
	prefix, all := strings.CutSuffix(name, "...")
	if !all {
		return tests[name]
	}
	for t := range tests {
		if strings.HasPrefix(t, prefix) {
			return true
		}
	}
	return false
}
