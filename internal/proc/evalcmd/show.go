package evalcmd

import (
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"weir/internal/lang/sample"
	"weir/internal/model"
)

// show writes a value with its type: str "abc", sint 5, bin 616263 (3 bytes).
func show(v *model.Value) string {
	switch v.Type {
	case model.TypeBool:
		return "bool " + strconv.FormatBool(v.Num != 0)
	case model.TypeStr:
		return "str " + strconv.Quote(string(v.B))
	case model.TypeBin:
		return fmt.Sprintf("bin %s (%s)", hex.EncodeToString(v.B), bytesOf(len(v.B)))
	}
	return v.Type.String() + " " + string(sample.AppendText(nil, v))
}

func bytesOf(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return strconv.Itoa(n) + " bytes"
}

// stepWriter prints steps in columns.
type stepWriter struct {
	w io.Writer
	t *tabwriter.Writer
}

func (s *stepWriter) step(name string, v *model.Value, ok bool) {
	if s.t == nil {
		s.t = tabwriter.NewWriter(s.w, 0, 8, 2, ' ', 0)
	}
	value := "no value"
	if ok {
		value = show(v)
	}
	fmt.Fprintf(s.t, "  %s\t%s\n", name, value)
}

// flush ends the columns. Writing to the output cannot be retried.
func (s *stepWriter) flush() {
	if s.t != nil {
		_ = s.t.Flush()
	}
}
