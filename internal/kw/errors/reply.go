package errors

import (
	"bytes"
	"slices"
	"strings"

	"weir/internal/base/ascii"
	"weir/internal/lang/config"
	"weir/internal/lang/rule"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

// Reply is an answer described by the arguments of "return", "deny", "tarpit" and "http-error".
type Reply struct {
	Status  int    // as given; 0: not given
	Payload string // the word that chose the payload, "" none
	Bare    bool   // nothing is given but perhaps a status as "deny_status", of old configurations
	// Named is the http-errors section of an "errorfiles" payload; its pages are known after the check stage.
	Named string

	l           *config.Line
	at          int // index of the payload's argument
	contentType string
	hasType     bool
	fields      []replyField
	body        []byte
	format      model.Format // of lf-file and lf-string
}

// replyField is a field of "hdr"; its value is a constant unless there is a format.
type replyField struct {
	name, text string
	value      model.Format
}

// ParseReply reads the arguments of a reply as far as they belong to the action. After an error, which it reports, it returns
// nil. status says how a status may be given: by which words and in which range; errorfile-like payloads ask for one that has
// a page.
func ParseReply(p *rule.Parser, words []string, lo, hi int) *Reply {
	r := &Reply{l: p.L, Bare: true}
	ok := true
	for p.More() {
		w, i, _ := p.Word("")
		r.Bare = r.Bare && w == "deny_status"
		switch w {
		case "status", "deny_status":
			ok = r.parseStatus(p, w, words, i, lo, hi) && ok
		case "content-type":
			v, _, good := p.Word("a type, such as text/plain: content-type <type>")
			r.contentType, r.hasType, ok = v, good, ok && good
		case "hdr":
			ok = r.parseField(p) && ok
		case "default-errorfiles", "errorfile", "errorfiles", "file", "lf-file", "string", "lf-string":
			if r.Payload != "" {
				p.L.Errorf(i, "'%s' after '%s': an answer has one payload.", w, r.Payload)
				return nil
			}
			r.Payload = w
			ok = r.parsePayload(p) && ok
		default:
			p.L.Unknown(i, "argument", append([]string{"content-type", "default-errorfiles", "errorfile", "errorfiles", "file", "hdr", "lf-file", "lf-string", "string"}, words...))
			return nil
		}
	}
	if !ok || !r.complete(p) {
		return nil
	}
	return r
}

func (r *Reply) parseStatus(p *rule.Parser, w string, words []string, i, lo, hi int) bool {
	known := false
	for _, v := range words {
		known = known || v == w
	}
	if !known {
		p.L.Unknown(i, "argument", words)
		return false
	}
	n, ok := p.Int("a status code: "+w+" <code>", int64(lo), int64(hi))
	r.Status = int(n)
	return ok
}

func (r *Reply) parsePayload(p *rule.Parser) bool {
	if r.Payload == "default-errorfiles" {
		return true
	}
	w, i, ok := p.Word(map[string]string{
		"errorfile": "a file", "file": "a file", "lf-file": "a file", "errorfiles": "the name of an http-errors section", "string": "a text", "lf-string": "a format",
	}[r.Payload])
	if !ok {
		return false
	}
	r.at = i
	switch r.Payload {
	case "errorfiles":
		r.Named = w
	case "string":
		r.body = []byte(w)
	case "lf-string":
		r.format = p.ValueText(i, w)
		return r.format != nil
	case "file", "lf-file":
		raw, ok := readFile(p.L, i)
		if !ok {
			return false
		}
		if r.Payload == "lf-file" {
			r.format = p.ValueText(i, string(raw))
			return r.format != nil
		}
		checkSize(p.L, i, len(raw))
		r.body = raw
	}
	return true
}

// parseField reads "<name> <fmt>" after "hdr".
func (r *Reply) parseField(p *rule.Parser) bool {
	name, i, ok := p.Word("a name and a value: hdr <name> <fmt>")
	if !ok {
		return false
	}
	if !ascii.IsTokenBytes([]byte(name)) {
		p.L.Errorf(i, "'%s' is no name of a header field.", name)
		return false
	}
	lower := strings.ToLower(name)
	switch lower {
	case "content-length", "transfer-encoding", "connection":
		p.L.Errorf(i, "'%s' cannot be set here: it follows from the payload and the connection.", name)
		return false
	}
	v, i, ok := p.Word("a value: hdr <name> <fmt>")
	if !ok {
		return false
	}
	f := replyField{name: lower, text: v}
	if strings.Contains(v, "%") {
		f.value = p.FormatText(i, v)
		ok = f.value != nil
	} else if ascii.IndexCtl([]byte(v)) >= 0 {
		p.L.Errorf(i, "the value of '%s' contains a control character.", name)
		ok = false
	}
	r.fields = append(r.fields, f)
	return ok
}

// complete finds what does not go together.
func (r *Reply) complete(p *rule.Parser) bool {
	switch r.Payload {
	case "errorfile", "errorfiles", "default-errorfiles":
		if r.hasType {
			p.L.Warnf(p.I, "'content-type' has no effect with '%s'.", r.Payload)
		}
	case "file", "string", "lf-file", "lf-string":
		if !r.hasType && (len(r.body) > 0 || r.format != nil) {
			p.L.Errorf(r.at, "a payload needs its 'content-type'.")
			return false
		}
	case "":
		if r.hasType {
			p.L.Warnf(p.I, "'content-type' has no effect without a payload.")
		}
	}
	return true
}

// Page returns the answer for a status, nil for the proxy's own page of that status. An errorfile is read here; one of an
// http-errors section is found by the check stage, and until then the page is empty.
func (r *Reply) Page(status int) *model.ErrorPage {
	switch r.Payload {
	case "default-errorfiles":
		return nil
	case "errorfile":
		return loadPage(r.l, r.at, status)
	case "errorfiles":
		page := &model.ErrorPage{Pos: r.l.Pos(), Status: status}
		name, at := r.Named, r.at
		r.l.Check(func(l *config.Line) {
			s := l.Parser().Root().(*model.Config).HTTPErrors[name]
			switch {
			case s == nil:
				l.Errorf(at, "there is no http-errors section '%s'.", name)
			case s.Pages[status] == nil:
				l.Errorf(at, "the http-errors section '%s' has no page for status %d.", name, status)
			default:
				*page = *s.Pages[status]
			}
		})
		return page
	}
	page := &model.ErrorPage{Pos: r.l.Pos(), Status: status, Code: status, Body: r.body}
	if r.varies() {
		page.Fill = r
	} else {
		for _, f := range r.fields {
			page.Fields = append(page.Fields, [2]string{f.name, f.text})
		}
		page.LengthAt = len(r.fields)
	}
	if len(r.body) > 0 || r.format != nil {
		page.Fields = append(page.Fields, [2]string{"content-type", r.contentType})
	}
	return page
}

// varies reports whether a part of the answer depends on the request.
func (r *Reply) varies() bool {
	return r.format != nil || slices.ContainsFunc(r.fields, func(f replyField) bool { return f.value != nil })
}

// Fill adds the fields of "hdr" and makes the body.
func (r *Reply) Fill(tx *model.Txn, m *msg.Message) ([]byte, bool) {
	for i := range r.fields {
		f := &r.fields[i]
		if f.value == nil {
			m.AddString(f.name, f.text)
			continue
		}
		mark := tx.Scratch.Mark()
		v, ok := tx.Scratch.Keep(f.value.Append(tx.Scratch.Grab(), tx))
		if !ok || bytes.ContainsAny(v, "\r\n\x00") {
			return nil, false
		}
		if len(v) > 0 { // a field without a value is left out, as in the reference
			m.Add(f.name, v)
		}
		tx.Scratch.Release(mark)
	}
	if r.format == nil {
		return r.body, true
	}
	return tx.Scratch.Keep(r.format.Append(tx.Scratch.Grab(), tx))
}
