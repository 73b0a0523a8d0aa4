package acl

import (
	"errors"
	"strings"

	"weir/docs/compat"
	"weir/internal/lang/config"
	"weir/internal/lang/pattern"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

// words are the words of a criterion and where they stand.
type words struct {
	l     *config.Line
	at    int // argument of the first word
	list  []string
	fixed bool // the words are a predefined ACL's: errors point at its name
}

func (w *words) pos(i int) int {
	if w.fixed {
		return w.at
	}
	return w.at + i
}

func (w *words) errorf(i int, format string, args ...any) { w.l.Errorf(w.pos(i), format, args...) }

// term is an expression held against patterns.
type term struct {
	expr *sample.Expr
	m    *pattern.Matcher
}

// Match tries each value of the expression.
func (t *term) Match(tx *model.Txn) model.Verdict {
	v := tx.Value()
	mark := tx.Scratch.Mark()
	wait := tx.Wait
	tx.Wait = false
	result := model.Fail
	if t.expr.Fetch.Next == nil {
		if t.expr.Eval(tx, v) && t.m.Match(tx, v) {
			result = model.Pass
		}
	} else {
		for state := tx.Iter(); result != model.Pass && t.expr.Next(tx, v, state); {
			if t.m.Match(tx, v) {
				result = model.Pass
			}
		}
	}
	if result == model.Fail && tx.Wait && !tx.Final {
		result = model.Missing
	}
	tx.Wait = wait || tx.Wait
	tx.Scratch.Release(mark)
	tx.Done()
	return result
}

// keyword is an ACL-specific criterion: a fetch and how it is matched.
type keyword struct{ fetch, method string }

// keywords are the ACL-specific criteria (manual 7.3, "ACL derivatives"). Of each base all the suffixed forms exist.
var keywords = map[string]keyword{
	"http_auth_group": {"http_auth_group", "str"}, "method": {"method", "str"},
	"payload": {"req.payload", "bin"}, "payload_lv": {"req.payload_lv", "bin"},
	"req.ssl_ver": {"req.ssl_ver", "int"}, "req_ssl_ver": {"req.ssl_ver", "int"}, "req_ssl_sni": {"req.ssl_sni", "str"},
	"req_rdp_cookie": {"req.rdp_cookie", "str"}, "req_rdp_cookie_cnt": {"req.rdp_cookie_cnt", "int"},
	"req_ver": {"req.ver", "str"}, "resp_ver": {"res.ver", "str"},
	"ssl_fc_sni_end": {"ssl_fc_sni", "end"}, "ssl_fc_sni_reg": {"ssl_fc_sni", "reg"},
}

func init() {
	for name, fetch := range map[string]string{
		"base": "base", "cook": "req.cook", "hdr": "req.hdr", "path": "path", "scook": "res.cook", "shdr": "res.hdr", "url": "url", "urlp": "urlp",
	} {
		keywords[name] = keyword{fetch, "str"}
		for _, m := range []string{"beg", "dir", "dom", "end", "len", "reg", "sub"} {
			keywords[name+"_"+m] = keyword{fetch, m}
		}
	}
}

// Ledger compares the criteria with those that HAProxy knows.
func Ledger() compat.Ledger {
	var names []string
	for n, k := range keywords {
		if _, ok := sample.Fetches.Lookup(k.fetch); ok {
			names = append(names, n)
		}
	}
	return compat.Compare(compat.ACL, append(names, "acl"))
}

// parseCriterion reads "expression [flags] [operator] [values]". After an error, which it reports, it returns nil.
func parseCriterion(w *words, sc *sample.Scope) *term {
	if len(w.list) == 0 {
		w.errorf(0, "a criterion is expected between the braces, such as 'path_beg /static'.")
		return nil
	}
	text, method := w.list[0], ""
	name := text
	if i := strings.IndexAny(text, "(,"); i >= 0 {
		name = text[:i]
	}
	if k, ok := keywords[name]; ok {
		text = k.fetch + text[len(name):]
		method = k.method
	}
	inner := *sc
	inner.Arg, inner.Valid = w.pos(0), 0 // where a term is of no use it warns, see checkPlace
	e, err := sample.Parse(&inner, text)
	if err != nil {
		reportExpr(w, name, err)
		return nil
	}
	e.Text = w.list[0]
	if e.Converters() > 0 {
		method = "" // the type of the last converter decides
	}
	f := flags{w: w, i: 1, method: method}
	if !f.parse() {
		return nil
	}
	if e.Fetch.Name == "req.ssl_ver" && method != "" && !f.given {
		for i := f.i; i < len(w.list); i++ {
			w.list[i] = version(w.list[i])
		}
	}
	m := f.matcher(&inner, e)
	if m == nil {
		return nil
	}
	return &term{e, m}
}

// version writes the bounds of a range of versions with their dot: 3:3.1 is 3.0:3.1.
func version(v string) string {
	parts := strings.Split(v, ":")
	for i, p := range parts {
		if strings.Trim(p, "0123456789") == "" && p != "" {
			parts[i] = p + ".0"
		}
	}
	return strings.Join(parts, ":")
}

func reportExpr(w *words, name string, err error) {
	var unknown *sample.UnknownError
	if errors.As(err, &unknown) {
		if unknown.What == "sample fetch" {
			w.l.UnknownName(w.pos(0), "criterion", name, criteria(), compat.Fetch, compat.ACL)
		} else {
			w.l.UnknownName(w.pos(0), unknown.What, unknown.Name, sample.Convs.Names(), compat.Converter)
		}
		return
	}
	w.errorf(0, "%s.", err)
}

// criteria are the names of everything that can begin a criterion.
func criteria() []string {
	names := sample.Fetches.Names()
	for n := range keywords {
		names = append(names, n)
	}
	return names
}

// flags are the words between the expression and the values.
type flags struct {
	w      *words
	i      int
	method string // "": by the type of the expression
	given  bool   // -m was there
	spec   pattern.Spec
}

// parse reads flags; a list named by -f takes the case flag that stands before it.
func (f *flags) parse() bool {
	for f.i < len(f.w.list) {
		word := f.w.list[f.i]
		if len(word) < 2 || word[0] != '-' || word == "--" {
			if word == "--" {
				f.i++
				f.spec.Ended = true
			}
			return true
		}
		switch word {
		case "-i":
			f.spec.Fold = true
		case "-n":
			f.spec.NoResolve = true
		case "-M":
			f.spec.AsMap = true
		case "-m", "-f", "-u":
			if f.i+1 >= len(f.w.list) {
				f.w.errorf(f.i, "'%s' needs a word after it.", word)
				return false
			}
			f.i++
			if !f.valued(word, f.w.list[f.i]) {
				return false
			}
		default:
			if word[1] >= '0' && word[1] <= '9' { // a negative number
				return true
			}
			f.w.errorf(f.i, "unknown flag '%s'; -i, -n, -M, -m <method>, -f <file> and -u <id> exist, and '--' ends the flags.", word)
			return false
		}
		f.i++
	}
	return true
}

func (f *flags) valued(flag, value string) bool {
	switch flag {
	case "-m":
		switch {
		case f.given:
			f.w.errorf(f.i, "'-m' stands twice; a criterion has one match method.")
			return false
		case len(f.spec.Files) > 0:
			f.w.errorf(f.i, "'-m' must stand before '-f': the method says how the file is read.")
			return false
		case !pattern.IsMethod(value):
			f.w.l.UnknownName(f.w.pos(f.i), "match method", value, pattern.Methods())
			return false
		}
		f.given, f.method = true, value
	case "-f":
		f.spec.Files = append(f.spec.Files, pattern.File{Name: value, Fold: f.spec.Fold, AsMap: f.spec.AsMap, Arg: f.w.pos(f.i)})
	case "-u":
		f.spec.ID = value
	}
	return true
}

// matcher compiles the patterns.
func (f *flags) matcher(sc *sample.Scope, e *sample.Expr) *pattern.Matcher {
	if f.method == "" {
		if f.method = defaultMethod(e.Out); f.method == "" {
			f.w.errorf(0, "'%s' gives a value of type %s, for which '-m' must say how it is matched; one of: %s.",
				f.w.list[0], e.Out, strings.Join(pattern.Methods(), ", "))
			return nil
		}
	}
	f.spec.Method = f.method
	f.spec.Values = f.w.list[f.i:]
	f.spec.Type = e.Out
	if f.method != "found" && f.method != "bool" && len(f.spec.Values) == 0 && len(f.spec.Files) == 0 && !f.spec.Ended {
		f.w.l.Warnf(f.w.pos(f.i), "no value to compare '%s' with is given, so that it will never match; an explicit '--' says that this is meant.", f.w.list[0])
	}
	m, at, err := pattern.Compile(sc, &f.spec)
	if err != nil {
		i := f.i + at
		if at < 0 {
			i = 0
		}
		f.w.errorf(i, "%s.", err)
		return nil
	}
	return m
}

// defaultMethod is how values of a type are matched without -m (manual 7.1); "" for a type that has none.
func defaultMethod(t model.Type) string {
	switch t {
	case model.TypeBool:
		return "bool"
	case model.TypeSint:
		return "int"
	case model.TypeAddr, model.TypeIPv4, model.TypeIPv6:
		return "ip"
	case model.TypeStr, model.TypeMeth:
		return "str"
	}
	return ""
}
