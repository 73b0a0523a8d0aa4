package cond

import (
	"net/netip"
	"slices"

	"weir/internal/lang/config"
	"weir/internal/model"
)

// ACLs are the named ACLs of one section. The zero value is empty; a nil
// pointer is empty too, but takes no additions.
type ACLs struct {
	list []*acl
}

// acl is a named ACL. Conditions keep a pointer to it: a line that widens it
// widens the rules above that line too, as in the reference.
type acl struct {
	anyOf // one member a line
	name  string
	valid bool
}

// ACLsOf is the slot of a proxy in which its named ACLs are kept.
var ACLsOf = &model.SlotKey[*ACLs]{Name: "acl"}

// Add reads "<name> <criterion> [flags] [values]" from argument 0 on. A name
// that exists already is widened by the line.
func (a *ACLs) Add(l *config.Line, sc Scope) {
	if !l.Has(0) {
		l.Errorf(0, "'acl' expects a name, a criterion and the values to match: acl <name> <criterion> [flags] [operator] <value> ...")
		return
	}
	name := l.Arg(0)
	if isOr(name) {
		l.Errorf(0, "'%s' cannot be the name of an ACL: conditions read it as the operator.", name)
		return
	}
	if !l.CheckName(0, "ACL") {
		return
	}
	if !l.Has(1) {
		l.Errorf(1, "ACL '%s' needs a criterion, such as 'path_beg' or 'src'.", name)
		return
	}
	p, ok := parseCriterion(l, 1, l.Len(), sc)
	old := a.get(name)
	if old == nil {
		old = &acl{name: name, valid: true}
		a.list = append(a.list, old)
	}
	// A bad ACL is remembered, so that its uses are not reported again.
	old.valid = old.valid && ok
	if ok {
		old.anyOf = append(old.anyOf, p)
	}
}

func (a *ACLs) get(name string) *acl {
	if a == nil {
		return nil
	}
	for _, e := range a.list {
		if e.name == name {
			return e
		}
	}
	return nil
}

// names lists what a condition can refer to, for suggestions.
func (a *ACLs) names() []string {
	var names []string
	if a != nil {
		for _, e := range a.list {
			names = append(names, e.name)
		}
	}
	for n := range predefined {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// predefined are the ACLs of manual section 7.4 that these criteria express.
var predefined = map[string]model.Predicate{
	"TRUE":         constant(true),
	"FALSE":        constant(false),
	"WAIT_END":     constant(true),
	"HTTP":         isHTTP{},
	"HTTP_CONTENT": hasContent{},
	"LOCALHOST": &source{nets: []netip.Prefix{
		netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"),
	}},
	"METH_CONNECT": &method{names: []string{"CONNECT"}},
	"METH_DELETE":  &method{names: []string{"DELETE"}},
	"METH_GET":     &method{names: []string{"GET", "HEAD"}},
	"METH_HEAD":    &method{names: []string{"HEAD"}},
	"METH_OPTIONS": &method{names: []string{"OPTIONS"}},
	"METH_POST":    &method{names: []string{"POST"}},
	"METH_PUT":     &method{names: []string{"PUT"}},
	"METH_TRACE":   &method{names: []string{"TRACE"}},
}

// predefinedLater are those that wait for the expression language.
var predefinedLater = map[string]struct{}{
	"HTTP_1.0": {}, "HTTP_1.1": {}, "HTTP_2.0": {}, "HTTP_3.0": {},
	"HTTP_URL_ABS": {}, "HTTP_URL_SLASH": {}, "HTTP_URL_STAR": {},
	"RDP_COOKIE": {}, "REQ_CONTENT": {},
}
