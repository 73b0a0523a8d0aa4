package conv

import (
	"errors"
	"fmt"
	"os"

	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	sample.AddConv(sample.Conv{Name: "debug", Args: "[string,string]", In: model.TypeAny, Out: model.TypeAny, Same: true, Check: checkDebug, Run: debug,
		Help: "writes the value with a prefix to stderr or stdout, and leaves it as it is"})
}

// Destinations, in Arg.Int of the second argument.
const (
	toStderr = iota
	toStdout
)

func checkDebug(_ *sample.ArgCheck, a []sample.Arg) error {
	keepBytes(a, 0)
	if len(a) < 2 {
		return errors.New("the destination must be named, stderr or stdout: the ring buf0 that HAProxy uses without one comes with rings")
	}
	switch a[1].Str {
	case "stderr":
		a[1].Int = toStderr
	case "stdout":
		a[1].Int = toStdout
	default:
		return fmt.Errorf("the destination can be stderr or stdout, not '%s': rings come later", a[1].Str)
	}
	return nil
}

// debug writes one line in one call. What cannot be written is lost: tracing must not change what is traced.
func debug(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	m := tx.Scratch.Mark()
	x := *v
	if x.Type != model.TypeAny && !sample.Cast(tx, &x, model.TypeStr) {
		x.B = nil
	}
	line := tx.Scratch.Grab()
	line = append(append(append(line, "[debug] "...), bytesOf(a, 0)...), ": type="...)
	line = append(append(append(line, v.Type.String()...), " <"...), x.B[:min(len(x.B), max(tx.Scratch.Limit()-len(line)-2, 0))]...)
	for i := len(line) - 1; i >= 0; i-- {
		if line[i] < ' ' || line[i] > '~' {
			line[i] = '.'
		}
	}
	line = append(line, ">\n"...)
	out := os.Stderr
	if a[1].Int == toStdout {
		out = os.Stdout
	}
	_, _ = out.Write(line) // nobody is there to be told
	tx.Scratch.Release(m)
	return true
}
