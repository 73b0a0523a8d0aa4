// Package pattern holds values against patterns: the match methods of ACLs
// and maps, and the lists of patterns that files and runtime commands fill
// (manual, chapters 2.7 and 7.1).
//
// A Matcher is what one criterion has: its method, the patterns written on the
// line, and the lists that it names. Lists are shared by everything in a
// configuration that names them; each method that looks at a list has an index
// of its own over it. Indexes are flat: a few large allocations without
// pointers, whatever the number of entries. Readers take no lock; a change
// makes a small new layer over the old index.
package pattern

import (
	"fmt"
	"slices"
	"strings"

	"weir/internal/lang/sample"
	"weir/internal/model"
)

// Method is a way to hold a value against a pattern.
type Method uint8

// Match methods (manual 7.1, "-m").
const (
	Found Method = iota
	Bool
	Int
	IP
	Bin
	Len
	Str
	Beg
	Sub
	Dir
	Dom
	End
	Reg
	numMethods
)

var methodNames = [numMethods]string{"found", "bool", "int", "ip", "bin", "len", "str", "beg", "sub", "dir", "dom", "end", "reg"}

// String returns the name of the method.
func (m Method) String() string { return methodNames[m] }

// Methods lists the names of all methods.
func Methods() []string { return methodNames[:] }

// IsMethod reports whether a method of that name exists.
func IsMethod(name string) bool { return slices.Contains(methodNames[:], name) }

// LookupMethod finds a method by its name.
func LookupMethod(name string) (Method, bool) {
	i := slices.Index(methodNames[:], name)
	return Method(max(i, 0)), i >= 0
}

// Input is the type that the method works on; TypeAny: any.
func (m Method) Input() model.Type {
	switch m {
	case Found:
		return model.TypeAny
	case Bool:
		return model.TypeBool
	case Int:
		return model.TypeSint
	case IP:
		return model.TypeAddr
	case Bin:
		return model.TypeBin
	}
	return model.TypeStr
}

// accepts says whether values of type t can be matched by m (manual 7.1, the matrix of types and methods).
func (m Method) accepts(t model.Type) bool {
	if t == model.TypeAny {
		return true
	}
	switch m {
	case Found:
		return true
	case Bin:
		return t == model.TypeStr || t == model.TypeBin || t == model.TypeMeth
	case Bool:
		return t == model.TypeBool || t == model.TypeSint || t == model.TypeStr
	case Int:
		return sample.Castable(t, model.TypeSint) || t == model.TypeAddr
	case IP:
		return t != model.TypeMeth && (t == model.TypeBin || sample.Castable(t, model.TypeAddr))
	}
	return sample.Castable(t, model.TypeStr)
}

// File is a list named by "-f".
type File struct {
	Name  string
	Fold  bool // -i stood before it
	AsMap bool // -M stood before it
	Arg   int  // the argument that names it, for errors
}

// Spec is what a criterion says about its patterns.
type Spec struct {
	Method    string
	Type      model.Type // of the values
	Fold      bool       // -i
	NoResolve bool       // -n
	AsMap     bool       // -M
	Ended     bool       // -- was there
	ID        string     // -u
	Files     []File
	Values    []string
}

// Matcher is a compiled set of patterns under one method.
type Matcher struct {
	method Method
	in     model.Type
	inline index // patterns of the line itself; nil: none
	lists  []*View
}

// Method is how the matcher compares.
func (m *Matcher) Method() Method { return m.method }

// Compile compiles the patterns of a criterion. The index tells which of Values an error is about, -1 none of them.
func Compile(sc *sample.Scope, s *Spec) (*Matcher, int, error) {
	method, ok := LookupMethod(s.Method)
	if !ok {
		return nil, -1, fmt.Errorf("unknown match method '%s'", s.Method)
	}
	if !method.accepts(s.Type) {
		return nil, -1, fmt.Errorf("match method '%s' does not apply to values of type %s", method, s.Type)
	}
	m := &Matcher{method: method, in: method.Input()}
	lists := ListsOf(sc.Config())
	if s.ID != "" {
		l, err := lists.inline(s.ID)
		if err != nil {
			return nil, -1, err
		}
		v := l.view(method, s.Fold)
		if at, err := addValues(v, s); err != nil {
			return nil, at, err
		}
		m.lists = append(m.lists, v)
	} else if len(s.Values) > 0 && method != Bool {
		b := newBuilder(method, s.Fold)
		if at, err := addInline(b, s); err != nil {
			return nil, at, err
		}
		m.inline = b.build()
	}
	for _, f := range s.Files {
		l, err := lists.Open(sc, f.Name, f.AsMap)
		if err != nil {
			return nil, -1, err
		}
		v, err := l.View(method, f.Fold, OutStr)
		if err != nil {
			return nil, -1, err
		}
		m.lists = append(m.lists, v)
	}
	return m, 0, nil
}

// addInline adds the values of a line; those of integers may have an operator before them.
func addInline(b builder, s *Spec) (int, error) {
	op := ""
	for i, v := range s.Values {
		if b.method() == Int || b.method() == Len {
			if slices.Contains(operators, v) {
				op = v
				continue
			}
			v = withOperator(op, v)
		}
		if err := b.add([]byte(v), nil, s.NoResolve); err != nil {
			return i, err
		}
	}
	if op != "" && slices.Contains(operators, s.Values[len(s.Values)-1]) {
		return len(s.Values) - 1, fmt.Errorf("'%s' needs a number after it", op)
	}
	return 0, nil
}

func addValues(v *View, s *Spec) (int, error) {
	for i, text := range s.Values {
		if err := v.list.Add(text, ""); err != nil {
			return i, err
		}
	}
	return 0, nil
}

// Match reports whether v fits one of the patterns. v may be changed to the type that the method works on.
func (m *Matcher) Match(tx *model.Txn, v *model.Value) bool {
	switch m.method {
	case Found:
		return true
	case Bool:
		return sample.Cast(tx, v, model.TypeBool) && v.Num != 0 || v.Type == model.TypeSint && v.Num != 0
	}
	if !m.cast(tx, v) {
		return false
	}
	if m.inline != nil {
		if _, ok := m.inline.find(v, &tx.Steps); ok {
			return true
		}
	}
	for _, l := range m.lists {
		if _, ok := l.Find(v, &tx.Steps); ok {
			return true
		}
	}
	return false
}

func (m *Matcher) cast(tx *model.Txn, v *model.Value) bool { return castFor(tx, v, m.method) }

// castFor brings a value into the form that a method works on.
func castFor(tx *model.Txn, v *model.Value, m Method) bool {
	switch in := m.Input(); in {
	case model.TypeAny:
		return true
	case model.TypeAddr:
		if v.Type == model.TypeIPv4 || v.Type == model.TypeIPv6 {
			return true
		}
		if v.Type == model.TypeBin {
			return binAddr(v)
		}
		return sample.Cast(tx, v, in)
	case model.TypeSint:
		if v.Type == model.TypeIPv4 || v.Type == model.TypeBool || v.Type == model.TypeStr || v.Type == model.TypeSint {
			return v.Type == in || sample.Cast(tx, v, in)
		}
		return false
	case model.TypeStr:
		// Binary data is compared whole: a zero byte ends nothing here.
		if v.Type == model.TypeStr || v.Type == model.TypeMeth {
			return true
		}
		return sample.Cast(tx, v, in)
	default:
		return v.Type == in || sample.Cast(tx, v, in)
	}
}

// Lists are the named lists of a configuration.
type Lists struct {
	byName map[string]*List
	order  []*List
}

var listsKey = model.SlotKey[*Lists]{Name: "patterns"}

// ListsOf returns the lists of a configuration, never nil.
func ListsOf(cfg *model.Config) *Lists {
	if cfg == nil {
		return &Lists{byName: map[string]*List{}}
	}
	l := listsKey.Get(&cfg.Slots)
	if l == nil {
		l = &Lists{byName: map[string]*List{}}
		listsKey.Set(&cfg.Slots, l)
	}
	return l
}

// Get finds a list by its name, or by its number after a '#'; nil when there is none.
func (ls *Lists) Get(name string) *List {
	if l := ls.byName[name]; l != nil {
		return l
	}
	if id, ok := strings.CutPrefix(name, "#"); ok {
		for _, l := range ls.order {
			if fmt.Sprint(l.ID) == id {
				return l
			}
		}
	}
	return nil
}

// All returns the lists in the order of their declaration.
func (ls *Lists) All() []*List { return ls.order }

func (ls *Lists) add(name string) *List {
	l := &List{Name: name, ID: len(ls.order)}
	ls.byName[name] = l
	ls.order = append(ls.order, l)
	return l
}

// inline makes the list of an ACL that "-u" gives an identity.
func (ls *Lists) inline(id string) (*List, error) {
	if ls.byName["#"+id] != nil {
		return nil, fmt.Errorf("the id '%s' is taken by another list", id)
	}
	return ls.add("#" + id), nil
}

// maxUses bounds how many places are remembered that name a list.
const maxUses = 100

// Open returns the list of a name (manual 2.7): file@NAME or NAME for a file, opt@NAME for one that may be missing, virt@NAME
// for none. asMap says that lines hold a key and a value. What the file holds is read by each view.
func (ls *Lists) Open(sc *sample.Scope, name string, asMap bool) (*List, error) {
	optional := false
	path := name
	switch {
	case strings.HasPrefix(name, "file@"):
		path = name[5:]
	case strings.HasPrefix(name, "opt@"):
		path, optional = name[4:], true
	case strings.HasPrefix(name, "virt@"):
		if name == "virt@" {
			return nil, fmt.Errorf("'virt@' needs a name after it")
		}
		path = ""
	}
	key := path
	if path == "" {
		key = name
	}
	l := ls.byName[key]
	if l == nil {
		l = ls.add(key)
		if path != "" {
			l.path = sc.Path(path)
		}
		l.optional = optional
	}
	l.optional = l.optional && optional
	kind := "acl"
	if asMap {
		l.Map, kind = true, "map"
	} else {
		l.ACL = true
	}
	if sc.Line != nil && len(l.uses) < maxUses {
		pos := sc.Line.Pos()
		l.uses = append(l.uses, fmt.Sprintf("%s at file '%s' line %d", kind, pos.File, pos.Line))
	}
	return l, nil
}

// Named finds a list by a name as the configuration writes it: with or without file@ or opt@; nil when there is none.
func (ls *Lists) Named(name string) *List {
	for _, prefix := range []string{"file@", "opt@"} {
		name = strings.TrimPrefix(name, prefix)
	}
	return ls.byName[name]
}
