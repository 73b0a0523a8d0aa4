package statcol

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestCSV(t *testing.T) {
	for in, want := range map[string]string{"a": "a", "": "", "a b": "a b", "a,b": `"a,b"`, `a"b`: `"a""b"`} {
		if got := string(appendCSV(nil, in)); got != want {
			t.Errorf("%q: %s", in, got)
		}
	}
}

// Every value of the typed form has four letters and a type, and what JSON calls them.
func TestTags(t *testing.T) {
	check := func(name, tags string) {
		if len(tags) < 8 || tags[4] != ':' || !strings.Contains("s32 s64 u32 u64 str", tags[5:]) {
			t.Errorf("%s: %q", name, tags)
			return
		}
		for i, m := range tagNames {
			if m[tags[i]] == "" {
				t.Errorf("%s: %q", name, tags)
			}
		}
	}
	for _, f := range columns {
		check(f.Name, f.Tags)
		if f.Back != "" {
			check(f.Name, f.Back)
		}
		if f.Desc == "" || strings.Trim(f.Kinds, "LFBS") != "" {
			t.Errorf("%+v", f)
		}
	}
	for i, f := range infoFields {
		check(f.Name, f.Tags)
		if f.Desc == "" || i > 0 && f.Pos <= infoFields[i-1].Pos {
			t.Errorf("%+v", f)
		}
	}
	if len(index) != len(columns) || columns[Static-1].Name != "cache_hint_hits" {
		t.Error("columns")
	}
}

func TestJSON(t *testing.T) {
	r := new(Row)
	r.Kind = Server
	r.str("pxname", "a\"b\\\x01")
	r.num("scur", 3)
	r.zeros()
	out := r.AppendJSON(nil)
	var v []struct {
		ObjType string `json:"objType"`
		Value   struct{ Value any }
	}
	if err := json.Unmarshal(out, &v); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if v[0].ObjType != "Server" || v[0].Value.Value != "a\"b\\\x01" {
		t.Errorf("%+v", v[0])
	}
}
