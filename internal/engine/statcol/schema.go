package statcol

import (
	"fmt"
	"strings"
)

// Schema is the JSON schema of what "show info json" and "show stat json" print, without the newline behind it. Its text is an
// interface as well: tools compare it.
func Schema() string {
	ref := func(name string) string { return fmt.Sprintf(`"%s":{"$ref":"#/definitions/%s"}`, name, name) }
	number := func(lo string) string { return `{"type":"integer","minimum":` + lo + `}` }
	words := func(list ...string) string { return `"enum":["` + strings.Join(list, `","`) + `"]` }
	required := func(list ...string) string { return `"required":["` + strings.Join(list, `","`) + `"]` }
	items := func(title, properties, need string) string {
		return `{"title":"` + title + `","type":"array","items":{"title":"InfoItem","type":"object","properties":{` + properties + `},` + need + `}}`
	}
	info := items("Info", ref("field")+","+ref("processNum")+","+ref("tags")+`,"value":{"$ref":"#/definitions/typedValue"}`,
		required("field", "processNum", "tags", "value"))
	stat := items("Stat", `"objType":{`+words("Frontend", "Backend", "Listener", "Server", "Unknown")+`},"proxyId":`+number("0")+`,"id":`+number("0")+","+
		ref("field")+","+ref("processNum")+","+ref("tags")+","+ref("typedValue"),
		required("objType", "proxyId", "id", "field", "processNum", "tags", "value"))
	failed := `{"title":"Error","type":"object","properties":{"errorStr":{"type":"string"}},` + required("errorStr") + `}`
	field := `"field":{"type":"object","pos":` + number("0") + `,"name":{"type":"string"},` + required("pos", "name") + `}`
	natures := strings.Replace(words("Gauge", "Limit", "Min", "Max", "Rate", "Counter", "Duration", "Age", "Time", "Name", "Output", "Avg", "Unknown"),
		`"Avg",`, `"Avg", `, 1) // the blank is part of the text
	tags := `"tags":{"type":"object","origin":{"type":"string",` + words("Metric", "Status", "Key", "Config", "Product", "Unknown") +
		`},"nature":{"type":"string",` + natures + `},"scope":{"type":"string",` +
		words("Cluster", "Process", "Service", "System", "Unknown") + `},` + required("origin", "nature", "scope") + `}`
	var refs, values []string
	value := func(name, typ, val string) {
		values = append(values, `"`+name+`Value":{"properties":{"type":`+typ+`,"value":`+val+`},`+required("type", "value")+`}`)
	}
	for _, v := range []struct{ name, rest string }{
		{"s32", `"integer","minimum":-2147483648,"maximum":2147483647`},
		{"s64", `"integer","minimum":-9007199254740991,"maximum":9007199254740991`},
		{"u32", `"integer","minimum":0,"maximum":4294967295`},
		{"u64", `"integer","minimum":0,"maximum":9007199254740991`},
		{"str", `"string"`},
	} {
		refs = append(refs, `{"$ref":"#/definitions/typedValue/definitions/`+v.name+`Value"}`)
		value(v.name, `{"type":"string",`+words(v.name)+`}`, `{"type":`+v.rest+`}`)
	}
	value("unknown", number("0"), `{"type":"string",`+words("unknown")+`}`)
	typed := `"typedValue":{"type":"object","oneOf":[` + strings.Join(refs, ",") + `],"definitions":{` + strings.Join(values, ",") + `}}`
	return `{"$schema":"http://json-schema.org/draft-04/schema#","oneOf":[` + info + "," + stat + "," + failed + `],"definitions":{` +
		field + `,"processNum":{"type":"integer","minimum":1},` + tags + "," + typed + "}}"
}
