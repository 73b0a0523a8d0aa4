// Package statcol has the columns of the statistics and the rows of all
// proxies, servers and listeners under them (Management Guide 9.1, 9.2), and
// the values of "show info". The runtime commands, the statistics page and the
// metrics print what it gives; none of them looks at counters by itself.
package statcol

import (
	"strconv"
	"strings"
)

// Item is one value and what is said about it.
type Item struct {
	Pos  int
	Name string
	Tags string // as in Column
	Text string
	Desc string
}

// IsText reports whether the value is text, not a number.
func (it *Item) IsText() bool { return strings.HasSuffix(it.Tags, ":str") }

// tagNames are the words of JSON for the letters of the typed form.
var tagNames = [3]map[byte]string{
	{'M': "Metric", 'S': "Status", 'K': "Key", 'C': "Config", 'P': "Product"},
	{
		'A': "Age", 'a': "Avg", 'C': "Counter", 'D': "Duration", 'G': "Gauge", 'L': "Limit", 'M': "Max", 'm': "Min",
		'N': "Name", 'O': "Output", 'R': "Rate", 'T': "Time",
	},
	{'C': "Cluster", 'P': "Process", 'S': "Service", 's': "System"},
}

// AppendJSON appends the members of a JSON object that describe an item.
func AppendJSON(dst []byte, it *Item) []byte {
	dst = append(dst, `"field":{"pos":`...)
	dst = strconv.AppendInt(dst, int64(it.Pos), 10)
	dst = append(dst, `,"name":`...)
	dst = appendString(dst, it.Name)
	dst = append(dst, `},"processNum":1,"tags":{"origin":"`...)
	dst = append(dst, tagNames[0][it.Tags[0]]...)
	dst = append(dst, `","nature":"`...)
	dst = append(dst, tagNames[1][it.Tags[1]]...)
	dst = append(dst, `","scope":"`...)
	dst = append(dst, tagNames[2][it.Tags[2]]...)
	dst = append(dst, `"},"value":{"type":"`...)
	typ := it.Tags[5:]
	dst = append(dst, typ...)
	dst = append(dst, `","value":`...)
	if typ == "str" {
		dst = appendString(dst, it.Text)
	} else {
		dst = append(dst, it.Text...)
	}
	return append(dst, "}"...)
}

// appendString appends a JSON string.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ':
			dst = append(dst, `\u00`...)
			dst = append(dst, hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// appendCSV appends a field of CSV, in quotes where it would be ambiguous.
func appendCSV(dst []byte, s string) []byte {
	if !strings.ContainsAny(s, "\",\n\r") {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	for i := range len(s) {
		if s[i] == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, s[i])
	}
	return append(dst, '"')
}
