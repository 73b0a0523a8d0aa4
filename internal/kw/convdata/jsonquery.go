package convdata

import (
	"bytes"
	"errors"
	"fmt"

	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	sample.AddConv(
		sample.Conv{Name: "json_query", Args: "string[,string]", In: model.TypeStr, Out: model.TypeAny,
			Help: "value that a path leads to in JSON", Check: checkJSONQuery, Run: runJSONQuery},
	)
}

// jsonQuery is a compiled query.
type jsonQuery struct {
	path *jsonPath
	ints bool // numbers become integers
}

func parseJSONQuery(a []sample.Arg) (*jsonQuery, error) {
	q := &jsonQuery{path: compilePath(optional(a, 0))}
	switch t := optional(a, 1); t {
	case "":
	case "int":
		q.ints = true
	default:
		return nil, fmt.Errorf("the type of the result can be 'int' or left out, not '%s'", t)
	}
	return q, nil
}

func checkJSONQuery(_ *sample.ArgCheck, a []sample.Arg) error {
	if a[0].Str == "" {
		return errors.New("the path is empty")
	}
	q, err := parseJSONQuery(a)
	a[0].Data = q
	return err
}

func runJSONQuery(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	return a[0].Data.(*jsonQuery).run(tx, v.B, v)
}

// run evaluates the query on text. Strings, numbers without the type int, and arrays become strings.
func (q *jsonQuery) run(tx *model.Txn, text []byte, v *model.Value) bool {
	kind, b := q.path.find(text)
	switch kind {
	case jsonString:
		if bytes.IndexByte(b, '\\') >= 0 {
			s, ok := appendJSONString(tx.Scratch.Grab(), b)
			if !ok {
				return false
			}
			if b, ok = tx.Scratch.Keep(s); !ok {
				return false
			}
		}
		v.SetStr(b)
	case jsonArray:
		v.SetStr(b)
	case jsonTrue, jsonFalse:
		v.SetBool(kind == jsonTrue)
	case jsonNumber:
		return q.number(tx, b, v)
	default:
		return false
	}
	return true
}

func (q *jsonQuery) number(tx *model.Txn, b []byte, v *model.Value) bool {
	if q.ints {
		n, ok := parseJSONInt(b)
		if ok {
			v.SetInt(n)
		}
		return ok
	}
	f, lame := parseJSONNumber(b, 0)
	if lame {
		f = 0
	}
	s, ok := tx.Scratch.Keep(appendFloat(tx.Scratch.Grab(), f))
	if ok {
		v.SetStr(s)
	}
	return ok
}
