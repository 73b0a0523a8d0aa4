package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"sort"
)

// Globals reports package-level variables that change while the program runs: two configurations live in one
// process, so that whatever is not a frozen registry must belong to a generation or to the keeper.
//
// A variable is mutable when a function other than init assigns to it or to a part of it, takes its
// address, or when its type is one of package sync or sync/atomic. allowed holds "folder.name" entries.
func Globals(files []*File, allowed map[string]bool) []Finding {
	var found []Finding
	byDir := map[string][]*File{}
	for _, f := range files {
		if !f.Test() {
			byDir[path.Dir(f.Path)] = append(byDir[path.Dir(f.Path)], f)
		}
	}
	for dir, group := range byDir {
		vars := packageVars(group)
		for _, f := range group {
			found = append(found, stateful(f, dir, allowed)...)
			found = append(found, assigned(f, dir, vars, allowed)...)
		}
	}
	sort.Slice(found, func(i, j int) bool { return found[i].String() < found[j].String() })
	return found
}

// packageVars collects the names declared by var at package level.
func packageVars(group []*File) map[string]bool {
	vars := map[string]bool{}
	for _, f := range group {
		eachVar(f, func(spec *ast.ValueSpec) {
			for _, id := range spec.Names {
				vars[id.Name] = id.Name != "_"
			}
		})
	}
	return vars
}

func eachVar(f *File, fn func(*ast.ValueSpec)) {
	for _, d := range f.AST.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
			for _, s := range g.Specs {
				fn(s.(*ast.ValueSpec))
			}
		}
	}
}

// stateful reports variables whose type exists to be changed.
func stateful(f *File, dir string, allowed map[string]bool) (found []Finding) {
	eachVar(f, func(spec *ast.ValueSpec) {
		t := spec.Type
		if t == nil && len(spec.Values) == 1 {
			if lit, ok := spec.Values[0].(*ast.CompositeLit); ok {
				t = lit.Type
			}
		}
		if idx, ok := t.(*ast.IndexExpr); ok {
			t = idx.X
		}
		sel, ok := t.(*ast.SelectorExpr)
		if !ok {
			return
		}
		pkg, ok := sel.X.(*ast.Ident)
		if !ok || pkg.Name != "sync" && pkg.Name != "atomic" {
			return
		}
		for _, id := range spec.Names {
			if !allowed[dir+"."+id.Name] {
				found = append(found, Finding{f.Path, f.line(id),
					fmt.Sprintf("package-level %s.%s %q: state belongs to a generation, a loop or the keeper", pkg.Name, sel.Sel.Name, id.Name)})
			}
		}
	})
	return found
}

// assigned reports changes of package-level variables outside init.
func assigned(f *File, dir string, vars, allowed map[string]bool) (found []Finding) {
	var locals map[string]bool
	report := func(e ast.Expr, how string) {
		id := rootIdent(e)
		if id == nil || !vars[id.Name] || locals[id.Name] || allowed[dir+"."+id.Name] {
			return
		}
		found = append(found, Finding{f.Path, f.line(e),
			fmt.Sprintf("package-level variable %q %s outside init: state belongs to a generation, a loop or the keeper", id.Name, how)})
	}
	for _, d := range f.AST.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil || fn.Name.Name == "init" && fn.Recv == nil {
			continue
		}
		locals = localNames(fn)
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					for _, e := range n.Lhs {
						report(e, "is assigned to")
					}
				}
			case *ast.IncDecStmt:
				report(n.X, "is changed")
			case *ast.UnaryExpr:
				if id, ok := n.X.(*ast.Ident); ok && n.Op == token.AND {
					report(id, "has its address taken")
				}
			case *ast.CallExpr:
				if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "delete" || id.Name == "clear") && len(n.Args) > 0 {
					report(n.Args[0], "is changed")
				}
			}
			return true
		})
	}
	return found
}

// rootIdent is the variable that an assignable expression belongs to.
func rootIdent(e ast.Expr) *ast.Ident {
	for range 100 {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
	return nil
}

// localNames collects what a function declares itself: parameters, results, := and var, closures included. A
// local of the same name hides the package's variable in the whole function, which is close enough.
func localNames(fn *ast.FuncDecl) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, id := range n.Names {
				names[id.Name] = true
			}
		case *ast.ValueSpec:
			for _, id := range n.Names {
				names[id.Name] = true
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, e := range n.Lhs {
					if id, ok := e.(*ast.Ident); ok {
						names[id.Name] = true
					}
				}
			}
		case *ast.RangeStmt:
			if id, ok := n.Key.(*ast.Ident); ok && n.Tok == token.DEFINE {
				names[id.Name] = true
			}
			if id, ok := n.Value.(*ast.Ident); ok && n.Tok == token.DEFINE {
				names[id.Name] = true
			}
		}
		return true
	})
	return names
}
