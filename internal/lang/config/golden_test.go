package config

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/internal/base/diag"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

// The files testdata/*.golden hold cases: a line "=== name [flags]", the
// configuration, a line "--- want", and what the load says: its messages as
// the program prints them, "failed" or "ok", and after ">" what the toy
// keywords recorded. Flags: -dD, -dW, -dC, -dC<key>, tty. A configuration with
// lines "+++ name" is several files, all loaded in order.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.golden")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	malformed := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		for i, c := range strings.Split(string(data), "=== ") {
			if i == 0 {
				out.WriteString(c)
				continue
			}
			head, rest, _ := strings.Cut(c, "\n")
			input, want, _ := strings.Cut(rest, "--- want\n")
			got, failed := runCase(head, input)
			if failed {
				malformed++
			}
			fmt.Fprintf(&out, "=== %s\n%s--- want\n%s\n", head, input, got)
			if !*update && got != strings.TrimSuffix(want, "\n") {
				t.Errorf("%s: %s\ngot:\n%s\nwant:\n%s", file, head, got, want)
			}
		}
		if *update {
			if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if malformed < 100 {
		t.Errorf("only %d malformed cases", malformed)
	}
}

func runCase(head, input string) (string, bool) {
	// <EOF> at the end of a line drops its line feed.
	input = strings.NewReplacer(`<NUL>`, "\x00", `<CR>`, "\r", "<EOF>\n", "").Replace(input)
	files, names := map[string]string{}, []string{}
	for _, part := range strings.Split("+++ t.cfg\n"+input, "+++ ")[1:] {
		name, text, _ := strings.Cut(part, "\n")
		if name == "t.cfg" && text == "" && strings.Contains(input, "+++ ") {
			continue
		}
		files[name] = text
		names = append(names, name)
	}
	o, root := toyOptions(files, names...)
	var dump bytes.Buffer
	f := diag.Format{PID: 1}
	for _, flag := range strings.Fields(head) {
		switch {
		case flag == "-dD":
			f.Diag = true
		case flag == "-dW":
			o.ZeroWarning = true
		case flag == "tty":
			f.Terminal = true
		case strings.HasPrefix(flag, "-dC"):
			o.Dump = &dump
			o.DumpLines = strings.HasSuffix(flag, ",line")
			fmt.Sscanf(flag, "-dC%d", &o.DumpKey)
		}
	}
	res, list := Load(o)
	var out bytes.Buffer
	list.Write(&out, f)
	for _, line := range root.log {
		fmt.Fprintf(&out, "> %s\n", line)
	}
	for line := range strings.Lines(dump.String()) {
		out.WriteString("| " + strings.TrimRight(line, "\n") + "$\n")
	}
	if res.Failed {
		out.WriteString("failed\n")
	} else {
		out.WriteString("ok\n")
	}
	return out.String(), res.Failed
}
