package config

import (
	"io"
	"strconv"
	"strings"
)

// dumper writes the configuration after word splitting (-dC).
type dumper struct {
	w     io.Writer
	key   uint32
	lines bool
	reg   *Registry
	err   error
}

// line writes one line: sections at the margin, the rest indented.
func (d *dumper) line(p *Parser, words []Arg) {
	if d.err != nil {
		return
	}
	var b strings.Builder
	if d.lines {
		b.WriteString(strconv.Itoa(p.line) + "\t")
	}
	isSection := false
	if len(words) > 0 {
		_, isSection = d.reg.Sections.Lookup(words[0].Text)
	}
	if !isSection {
		b.WriteByte('\t')
	}
	if d.key != 0 {
		anonymise(&b, d.key, words, isSection)
	} else {
		for _, w := range words {
			b.WriteString(requote(w.Text))
			b.WriteByte(' ')
		}
	}
	b.WriteByte('\n')
	_, d.err = io.WriteString(d.w, b.String())
}

// requote writes a word so that it reads back as itself.
func requote(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\r\n\\\"'#") {
		return s
	}
	if !strings.ContainsAny(s, "'\r\n") {
		return "'" + s + "'"
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"', '\\', '$':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
