package acl

import (
	"fmt"
	"strings"

	"weir/internal/lang/pattern"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	sample.AddFetch(sample.Fetch{
		Name: "acl", Args: "string[" + strings.Repeat(",string", maxNames-1) + "]",
		Out: model.TypeBool, Valid: sample.Always, Help: "whether all of the named ACLs match",
		Check: checkNames, Get: getNames,
	})
}

// maxNames is how many ACLs the acl() fetch takes.
const maxNames = 12

// namedTests are the ACLs of one use of the fetch.
type namedTests struct{ all allOf }

func checkNames(c *sample.ArgCheck, args []sample.Arg) error {
	t := new(namedTests)
	args[0].Data = t
	px := c.Scope.Proxy
	if px == nil {
		return fmt.Errorf("there is no section here whose ACLs could be meant")
	}
	acls := Key.Get(&px.Slots) // those of the lines that are being read: a defaults section keeps its own
	owner, _ := c.Scope.Within.(*acl)
	words := make([]string, len(args))
	for i := range args {
		words[i] = args[i].Str
	}
	return c.Scope.Defer(func(*model.Config) error {
		list := acls
		if list == nil {
			list = Key.Get(&px.Slots)
		}
		for _, w := range words {
			name, negate := strings.CutPrefix(w, "!")
			name = strings.TrimSpace(name)
			var test model.Test
			if a := list.get(name); a != nil && a.valid {
				if owner != nil {
					if err := owner.use(a); err != nil {
						return err
					}
				}
				test = a
			}
			if words, ok := predefined[name]; test == nil && ok {
				t, err := fixed(words)
				if err != nil {
					return err
				}
				test = t
			}
			if test == nil {
				return fmt.Errorf("there is no ACL '%s' here", name)
			}
			t.all = append(t.all, maybeNot(test, negate))
		}
		return nil
	})
}

// fixed compiles a predefined ACL.
func fixed(words []string) (*term, error) {
	text, spec := words[0], pattern.Spec{Values: words[1:], Ended: true, NoResolve: true}
	if k, ok := keywords[text]; ok {
		text, spec.Method = k.fetch, k.method
	}
	if len(words) > 2 && words[1] == "-m" {
		spec.Method, spec.Values = words[2], words[3:]
	}
	sc := new(sample.Scope)
	e, err := sample.Parse(sc, text)
	if err != nil {
		return nil, err
	}
	if spec.Type = e.Out; spec.Method == "" {
		spec.Method = defaultMethod(e.Out)
	}
	m, _, err := pattern.Compile(sc, &spec)
	return &term{e, m}, err
}

func getNames(tx *model.Txn, args []sample.Arg, v *model.Value) bool {
	switch args[0].Data.(*namedTests).all.Match(tx) {
	case model.Missing:
		tx.Wait = true
		return false
	case model.Pass:
		v.SetBool(true)
	default:
		v.SetBool(false)
	}
	return true
}
