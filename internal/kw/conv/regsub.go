package conv

import (
	"errors"
	"fmt"

	"weir/internal/lang/regex"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	sample.AddConv(sample.Conv{Name: "regsub", Args: "regex,string[,string]", In: model.TypeStr, Out: model.TypeStr, Check: checkRegsub, Run: regsub,
		Help: "the text with the first match of a regular expression replaced; flag 'g' replaces all, 'i' ignores case; \\0 to \\9 stand for groups"})
}

// substitution is a prepared regsub.
type substitution struct {
	re       *regex.Regex
	template string
	all      bool
}

func checkRegsub(_ *sample.ArgCheck, a []sample.Arg) error {
	if a[0].Str == "" {
		return errors.New("the regular expression is missing")
	}
	s := &substitution{template: a[1].Str}
	var flags regex.Flags
	if len(a) > 2 {
		for _, c := range a[2].Str {
			switch c {
			case 'i':
				flags |= regex.IgnoreCase
			case 'g':
				s.all = true
			default:
				return fmt.Errorf("unknown flag %q; there are 'i' to ignore case and 'g' to replace all matches", c)
			}
		}
	}
	if _, err := regex.ParseTemplate(s.template); err != nil {
		return err
	}
	var err error
	if s.re, err = regex.Compile(a[0].Str, flags); err != nil {
		return fmt.Errorf("regular expression '%s': %w", a[0].Str, err)
	}
	a[0].Data = s
	return nil
}

// regsub cuts what is longer than a value can be. A search that takes too many steps leaves no value: a text that is
// replaced in part only must not pass for one that was dealt with.
func regsub(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	s, _ := a[0].Data.(*substitution)
	b, err := s.re.Replace(tx.Scratch.Grab(), s.template, v.B, s.all, tx.Scratch.Limit(), &tx.Steps)
	return err == nil && keep(tx, v, b)
}
