package errors

import (
	"strings"

	"weir/internal/base/ascii"
	"weir/internal/lang/config"
	"weir/internal/model"
)

// reply is what an http-error line says.
type reply struct {
	status      int
	contentType string
	hasType     bool
	payload     string // the word that chose the payload, "" none
	at          int    // index of the payload's argument
	fields      [][2]string
}

func parseHTTPError(l *config.Line, p *model.Proxy) {
	r, ok := parseReply(l)
	if !ok {
		return
	}
	if r.hasType && (r.payload == "errorfile" || r.payload == "errorfiles" || r.payload == "default-errorfiles") {
		l.Warnf(config.KeywordArg, "'content-type' has no effect with '%s'.", r.payload)
	}
	switch r.payload {
	case "default-errorfiles":
		settle(p, r.status, nil)
	case "errorfile":
		if page := loadPage(l, r.at, r.status); page != nil {
			settle(p, r.status, page)
		}
	case "errorfiles":
		p.ErrorSections = append(p.ErrorSections, model.ErrorSection{
			Pos: l.Pos(), Name: l.Arg(r.at), Codes: []int{r.status}, Optional: true,
		})
	default:
		if page := r.page(l); page != nil {
			settle(p, r.status, page)
		}
	}
}

// parseReply reads the words of an http-error line.
func parseReply(l *config.Line) (r reply, ok bool) {
	ok = true
	value := func(i int, what string) bool {
		if !l.Has(i) {
			l.Errorf(i, "'%s' needs %s.", l.Arg(i-1), what)
			ok = false
		}
		return l.Has(i)
	}
	for i := 0; i < l.Len(); i++ {
		w := l.Arg(i)
		switch w {
		case "status":
			i++
			if value(i, "a status code") {
				n, good := statusArg(l, i)
				r.status, ok = n, ok && good
				if !good {
					r.status = -1 // reported
				}
			}
		case "content-type":
			i++
			if value(i, "a type, such as text/plain") {
				r.contentType, r.hasType = l.Arg(i), true
			}
		case "hdr":
			i += 2
			ok = r.header(l, i-1) && ok
		case "lf-file", "lf-string":
			l.NotYet(i, "http-error payload", w)
			return r, false
		case "default-errorfiles", "errorfile", "errorfiles", "file", "string":
			if r.payload != "" {
				l.Errorf(i, "'%s' after '%s': an answer has one payload.", w, r.payload)
				return r, false
			}
			r.payload = w
			if w != "default-errorfiles" {
				i++
				value(i, map[string]string{
					"errorfile": "a file", "file": "a file", "errorfiles": "the name of an http-errors section", "string": "a text",
				}[w])
				r.at = i
			}
		default:
			l.Unknown(i, "argument", []string{
				"content-type", "default-errorfiles", "errorfile", "errorfiles", "file", "hdr", "lf-file", "lf-string", "status", "string",
			})
			return r, false
		}
	}
	if r.status == 0 && ok {
		l.Errorf(config.KeywordArg, "'http-error' needs the status that it is for: http-error status <code> ...")
		ok = false
	}
	return r, ok && r.status > 0
}

// header reads "<name> <value>" at i.
func (r *reply) header(l *config.Line, i int) bool {
	name, value := l.Arg(i), l.Arg(i+1)
	switch {
	case !l.Has(i + 1):
		l.Errorf(i+1, "'hdr' needs a name and a value.")
		return false
	case !ascii.IsTokenBytes([]byte(name)):
		l.Errorf(i, "'%s' is no name of a header field.", name)
		return false
	case strings.Contains(value, "%"):
		l.NotYet(i+1, "log format in a header field", value)
		return false
	case ascii.IndexCtl([]byte(value)) >= 0:
		l.Errorf(i+1, "the value of '%s' contains a control character.", name)
		return false
	}
	lower := strings.ToLower(name)
	switch lower {
	case "content-length", "transfer-encoding", "connection":
		l.Errorf(i, "'%s' cannot be set here: it follows from the payload and the connection.", name)
		return false
	}
	r.fields = append(r.fields, [2]string{lower, value})
	return true
}

// page builds the answer of the payloads that are given as they are.
func (r *reply) page(l *config.Line) *model.ErrorPage {
	var body []byte
	switch r.payload {
	case "string":
		body = []byte(l.Arg(r.at))
	case "file":
		raw, ok := readFile(l, r.at)
		if !ok {
			return nil
		}
		checkSize(l, r.at, len(raw))
		body = raw
	}
	page := &model.ErrorPage{
		Pos: l.Pos(), Status: r.status, Code: r.status,
		Fields: r.fields, LengthAt: len(r.fields), Body: body,
	}
	if len(body) > 0 {
		if !r.hasType {
			l.Errorf(config.KeywordArg, "a payload needs its 'content-type'.")
			return nil
		}
		page.Fields = append(page.Fields, [2]string{"content-type", r.contentType})
	}
	return page
}
