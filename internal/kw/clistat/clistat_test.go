package clistat

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
	for _, f := range statFields {
		check(f.name, f.tags)
		if f.back != "" {
			check(f.name, f.back)
		}
		if f.desc == "" || strings.Trim(f.kinds, "LFBS") != "" {
			t.Errorf("%+v", f)
		}
	}
	for i, f := range infoFields {
		check(f.name, f.tags)
		if f.desc == "" || i > 0 && f.pos <= infoFields[i-1].pos {
			t.Errorf("%+v", f)
		}
	}
	if len(columns) != len(statFields) || statFields[static-1].name != "cache_hint_hits" {
		t.Error("columns")
	}
}

func TestJSON(t *testing.T) {
	r := new(row)
	r.kind = kindServer
	r.str("pxname", "a\"b\\\x01")
	r.num("scur", 3)
	r.zeros()
	out := r.appendJSON(nil)
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
