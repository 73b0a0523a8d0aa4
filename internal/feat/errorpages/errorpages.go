// Package errorpages has the answers that weir gives by itself (manual 1.4.1):
// the built-in pages, those of monitor-uri included, and the choice between
// them and what a configuration put in their place with errorfile, errorloc,
// errorfiles and http-error (manual 4.2 and 12.4).
package errorpages

import (
	"slices"

	"weir/internal/model"
)

// Table answers which page stands for a status in one proxy. It is immutable
// and safe for concurrent use.
type Table struct {
	own     map[int]*model.ErrorPage
	builtin bool
}

var _ model.PageTable = (*Table)(nil)

// Resolve makes the table of a proxy: its own pages, those of the http-errors
// sections that it imports, then the built-in ones. A proxy that is no
// frontend has no built-in pages: its frontend is asked next.
func Resolve(p *model.Proxy, cfg *model.Config) *Table {
	t := Backend(p, cfg)
	t.builtin = p.IsFrontend() || !p.IsBackend()
	return t
}

// Backend makes the table of a proxy in its role of a backend, without
// built-in pages: a listen section too leaves to the frontend that chose it
// what it does not replace itself.
func Backend(p *model.Proxy, cfg *model.Config) *Table {
	t := &Table{own: make(map[int]*model.ErrorPage, len(p.Errors))}
	for status, page := range p.Errors {
		t.own[status] = page
	}
	for _, use := range p.ErrorSections { // in file order, the last one counts
		section := cfg.HTTPErrors[use.Name]
		if section == nil {
			continue // reported when the configuration was checked
		}
		for status, page := range section.Pages {
			wanted := len(use.Codes) == 0 || slices.Contains(use.Codes, status)
			if wanted && !slices.Contains(use.Except, status) {
				t.own[status] = page
			}
		}
	}
	return t
}

// Raw returns the whole HTTP/1 response for input that never became a request;
// nil for a page that is silent.
func (t *Table) Raw(status int) []byte {
	if p := t.Page(status); p != nil {
		return AppendHTTP1(nil, p)
	}
	return nil
}

// Page returns the page for a status; nil when the table has none. The page
// is shared and must not be changed.
func (t *Table) Page(status int) *model.ErrorPage {
	if p := t.own[status]; p != nil {
		return p
	}
	if t.builtin {
		return Builtin(status)
	}
	return nil
}

// Statuses lists the statuses that have a built-in page, in ascending order.
// They are those that a configuration may replace.
func Statuses() []int {
	out := make([]int, 0, len(builtins))
	for status := range builtins {
		out = append(out, status)
	}
	slices.Sort(out)
	return out
}

// Builtin returns the built-in page of a status, nil if there is none. It is
// shared and must not be changed. That of status 200 answers monitor-uri.
func Builtin(status int) *model.ErrorPage { return builtins[status] }
