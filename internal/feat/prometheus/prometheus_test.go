package prometheus

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"weir/internal/engine/statcol"
)

// The names and types of the metrics are those of the reference, in its order.
func TestFamilies(t *testing.T) {
	var got strings.Builder
	line := func(name string, counter bool) {
		typ := "gauge"
		if counter {
			typ = "counter"
		}
		fmt.Fprintln(&got, "haproxy_"+name, typ)
	}
	for i := range process {
		line("process_"+process[i].name, process[i].counter)
	}
	for i := range kinds {
		for j := range kinds[i].families {
			if f := &kinds[i].families[j]; f.code == "" || f.code == "1xx" {
				line(kinds[i].name+"_"+f.name, f.counter)
			}
		}
	}
	want, err := os.ReadFile("testdata/families.txt")
	if err != nil {
		t.Fatal(err)
	}
	g, w := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		var a, b string
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			t.Fatalf("line %d: %q, want %q", i+1, a, b)
		}
	}
}

// What metrics show is there: columns of the statistics, fields of the process.
func TestColumnsExist(t *testing.T) {
	for i := range kinds {
		for _, f := range kinds[i].families {
			if f.column != "" && statcol.Index(f.column) < 0 {
				t.Errorf("%s_%s: there is no column %q", kinds[i].name, f.name, f.column)
			}
		}
	}
}

func TestParse(t *testing.T) {
	for query, want := range map[string]options{
		"":                              {scope: everything},
		"no-maint":                      {everything, true},
		"scope=":                        {},
		"scope=global":                  {scope: global},
		"scope=frontend&scope=backend":  {scope: frontends | backends},
		"scope=server&no-maint&other=1": {servers, true},
		"scope=*":                       {scope: everything},
		"scope=sticktable":              {},
	} {
		if got, ok := parse([]byte(query)); !ok || got != want {
			t.Errorf("%q: %+v %v, want %+v", query, got, ok, want)
		}
	}
	for _, query := range []string{"scope", "scope=none", "scope=frontend,backend", "no-maint&scope"} {
		if _, ok := parse([]byte(query)); ok {
			t.Errorf("%q is accepted", query)
		}
	}
}

func TestLabelsAreEscaped(t *testing.T) {
	if got := escape("a\"b\\c\nd"); got != `a\"b\\c\nd` {
		t.Error(got)
	}
}

// Many rows are written in pieces, each family with one head.
func TestPieces(t *testing.T) {
	x := &export{}
	for i := range 100 {
		x.rows[0] = append(x.rows[0], row{labels: fmt.Sprintf(`proxy="p%d"`, i), values: make([]string, len(kinds[0].families))})
	}
	var text []byte
	for more := true; more; {
		var piece []byte
		if piece, more = x.Append(nil); strings.Count(string(piece), "\n") > rowsAtOnce*2+2 {
			t.Fatalf("a piece has %d lines", strings.Count(string(piece), "\n"))
		}
		text = append(text, piece...)
	}
	if n := strings.Count(string(text), "# TYPE haproxy_frontend_current_sessions gauge\n"); n != 1 {
		t.Errorf("%d heads", n)
	}
	if n := strings.Count(string(text), "\nhaproxy_frontend_http_responses_total{"); n != 600 {
		t.Errorf("%d values of responses, want 600", n)
	}
}
