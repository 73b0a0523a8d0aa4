package scenario

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

// A Target is what the scenarios run against: a binary with the arguments that select a variant.
type Target struct {
	Name      string // uring, epoll, or the reference's name and version
	Binary    string
	Args      []string
	Reference bool
	version   []int
}

// Build compiles cmd/weir once per test process and returns the binary's path. WEIR_BUILD_FLAGS
// adds flags to go build (such as -race); WEIR_BIN names a binary that is taken as it is.
var Build = sync.OnceValues(func() (string, error) {
	if bin := os.Getenv("WEIR_BIN"); bin != "" {
		return bin, nil
	}
	dir, err := os.MkdirTemp("", "weir-scenario-")
	if err != nil {
		return "", err
	}
	buildDir = dir
	bin := filepath.Join(dir, "weir")
	args := append([]string{"build", "-o", bin}, strings.Fields(os.Getenv("WEIR_BUILD_FLAGS"))...)
	cmd := exec.Command("go", append(args, "./cmd/weir")...)
	cmd.Dir = moduleRoot()
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build ./cmd/weir: %w\n%s", err, out)
	}
	return bin, nil
})

// buildDir is the folder that Build made; Cleanup removes it.
var buildDir string

// Cleanup removes the binary that Build made. Call it from TestMain.
func Cleanup() {
	if buildDir != "" {
		os.RemoveAll(buildDir)
	}
}

// moduleRoot is the folder of go.mod, found from this source file.
func moduleRoot() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

// Targets returns what to run on: the reference when WEIR_REF names it ("haproxy" or a path),
// else weir with io_uring and with epoll.
func Targets() ([]*Target, error) {
	if ref := os.Getenv("WEIR_REF"); ref != "" {
		t, err := reference(ref)
		return []*Target{t}, err
	}
	bin, err := Build()
	if err != nil {
		return nil, err
	}
	return []*Target{
		{Name: "uring", Binary: bin},
		{Name: "epoll", Binary: bin, Args: []string{"-dU"}},
	}, nil
}

var versionRE = regexp.MustCompile(`(?i)version (\d+)\.(\d+)`)

// reference finds the binary and asks for its version.
func reference(name string) (*Target, error) {
	bin, err := exec.LookPath(name)
	if err != nil {
		return nil, err
	}
	out, err := exec.Command(bin, "-v").Output()
	if err != nil {
		return nil, fmt.Errorf("%s -v: %w", bin, err)
	}
	m := versionRE.FindSubmatch(out)
	if m == nil {
		return nil, errors.New(bin + " -v prints no version")
	}
	return &Target{Name: "ref" + string(m[1]) + "." + string(m[2]), Binary: bin, Reference: true,
		version: parseVersion(string(m[1]) + "." + string(m[2]))}, nil
}

func parseVersion(s string) []int {
	var v []int
	for _, part := range strings.Split(s, ".") {
		n, _ := strconv.Atoi(part)
		v = append(v, n)
	}
	return v
}

// Skip returns why a scenario does not concern this target, "" if it does.
func (t *Target) Skip(needs, weirOnly string) string {
	if !t.Reference {
		return ""
	}
	if weirOnly != "" {
		return "weir only: " + weirOnly
	}
	want := parseVersion(needs)
	for i := 0; needs != "" && i < min(len(want), len(t.version)); i++ {
		if t.version[i] != want[i] {
			if t.version[i] < want[i] {
				return "needs the reference in version " + needs
			}
			break
		}
	}
	return ""
}
