package evalcmd

import (
	"fmt"
	"io"

	"weir/internal/lang/logfmt"
)

// format evaluates the text as a log format, for a rule or for a log line.
func (b *bench) format(w io.Writer) (int, error) {
	var use logfmt.Options
	if b.o.log {
		use.Use = logfmt.ForLog
	}
	f, err := logfmt.Parse(b.scope, b.o.text, use)
	if err != nil {
		return exitError, err
	}
	line := f.Append(nil, b.tx)
	if b.o.raw {
		fmt.Fprintf(w, "%s\n", line)
	} else {
		fmt.Fprintf(w, "format %q\n", line)
	}
	return exitValue, nil
}
