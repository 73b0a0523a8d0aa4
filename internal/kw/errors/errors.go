// Package errors holds the directives that replace weir's own answers:
// errorfile, errorloc, errorfiles, http-error and the http-errors section
// (manual, chapters 4.2 and 12.4).
package errors

import (
	"slices"
	"strconv"

	"weir/internal/lang/config"
	"weir/internal/model"
)

const anywhere = config.InDefaults | config.InFrontend | config.InBackend

// statuses are the ones that can be replaced.
var statuses = []int{
	200, 400, 401, 403, 404, 405, 407, 408, 410, 413, 414, 421, 422, 425, 429, 431, 500, 501, 502, 503, 504,
}

// section is the table of the http-errors section.
var section = config.NewTable("http-errors")

func init() {
	config.Proxy.Add(
		config.Keyword{Name: "errorfile", In: anywhere, Args: "<code> <file>", Help: "answers with the contents of a file",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				if page := parseErrorFile(l); page != nil {
					settle(p, page.Status, page)
				}
			})},
		config.Keyword{Name: "errorfiles", In: anywhere, Args: "<name> [<code> ...]", Help: "answers with the pages of an http-errors section",
			Parse: config.On(parseErrorFiles)},
		config.Keyword{Name: "http-error", In: anywhere, Args: "status <code> [content-type <type>] [<payload>] [hdr <name> <value>] ...",
			Help: "answers with a message put together here", Parse: config.On(parseHTTPError)},
	)
	for _, loc := range []struct {
		name string
		code int
	}{{"errorloc", 302}, {"errorloc302", 302}, {"errorloc303", 303}} {
		config.Proxy.Add(config.Keyword{Name: loc.name, In: anywhere, Args: "<code> <url>", Help: "answers with a redirection",
			Parse: config.On(func(l *config.Line, p *model.Proxy) {
				if !l.NeedArgs(2, 2) {
					return
				}
				if status, ok := statusArg(l, 0); ok {
					settle(p, status, redirect(l, status, loc.code))
				}
			})})
	}
	section.Add(config.Keyword{Name: "errorfile", Args: "<code> <file>", Help: "page for a status",
		Parse: config.On(func(l *config.Line, s *model.HTTPErrors) {
			if page := parseErrorFile(l); page != nil {
				s.Pages[page.Status] = page
			}
		})})
	config.AddSection(config.Section{
		Name: "http-errors", Kind: config.InOther, Args: "<name>", Help: "a group of error pages",
		Keywords: section, Open: openSection,
	})
}

func openSection(l *config.Line) any {
	s := &model.HTTPErrors{Pos: l.Pos(), Name: l.Arg(0), Pages: make(map[int]*model.ErrorPage)}
	if !l.NeedArgs(1, 1) || !l.CheckName(0, "http-errors section") {
		return s
	}
	all := l.Parser().Root().(*model.Config).HTTPErrors
	if old := all[s.Name]; old != nil {
		l.Errorf(0, "there is an http-errors section '%s' already, at %s.", s.Name, old.Pos.Where())
		return s
	}
	all[s.Name] = s
	return s
}

// settle makes page the answer for a status, nil for weir's own; what earlier
// "errorfiles" lines say about that status no longer counts.
func settle(p *model.Proxy, status int, page *model.ErrorPage) {
	if page == nil {
		delete(p.Errors, status)
	} else {
		p.Errors[status] = page
	}
	for i := range p.ErrorSections {
		s := &p.ErrorSections[i]
		if !slices.Contains(s.Except, status) {
			s.Except = append(s.Except, status)
		}
	}
}

// statusArg reads argument i as a status that can be replaced.
func statusArg(l *config.Line, i int) (int, bool) {
	n, err := strconv.Atoi(l.Arg(i))
	if err != nil || !slices.Contains(statuses, n) {
		l.Errorf(i, "'%s' is no status that can be replaced; %s are.", l.Arg(i), listStatuses())
		return 0, false
	}
	return n, true
}

func listStatuses() string {
	var b []byte
	for i, s := range statuses {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendInt(b, int64(s), 10)
	}
	return string(b)
}

func redirect(l *config.Line, status, code int) *model.ErrorPage {
	reason := "Found"
	if code == 303 {
		reason = "See Other"
	}
	return &model.ErrorPage{
		Pos: l.Pos(), Status: status, Code: code, Reason: reason,
		Fields:   [][2]string{{"cache-control", "no-cache"}, {"location", l.Arg(1)}},
		LengthAt: 1,
	}
}

func parseErrorFiles(l *config.Line, p *model.Proxy) {
	if !l.NeedArgs(1, -1) {
		return
	}
	use, ok := model.ErrorSection{Pos: l.Pos(), Name: l.Arg(0)}, true
	for i := 1; i < l.Len(); i++ {
		code, good := statusArg(l, i)
		ok = ok && good
		use.Codes = append(use.Codes, code)
	}
	if ok {
		p.ErrorSections = append(p.ErrorSections, use)
	}
}
