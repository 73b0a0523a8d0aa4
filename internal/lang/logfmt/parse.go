package logfmt

import (
	"fmt"
	"slices"
	"strings"

	"weir/internal/base/ascii"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

// Parse compiles a format. sc says where its expressions stand. Errors say what
// is wrong and where, without a full stop.
func Parse(sc *sample.Scope, text string, o Options) (*Format, error) {
	p := &parser{
		sc: sc, text: text,
		f: &Format{text: text, use: o.Use, merge: o.Use == ForLog || o.Use == ForID, valid: sample.Always},
	}
	if o.Use == ForLog {
		p.flags = flagM
	}
	if cfg := sc.Config(); cfg != nil {
		p.f.global = cfg.Global
	}
	for p.i < len(text) {
		if text[p.i] != '%' {
			p.lit = append(p.lit, text[p.i])
			p.i++
			continue
		}
		if err := p.item(); err != nil {
			return nil, err
		}
	}
	p.flush()
	p.finish()
	return p.f, nil
}

type parser struct {
	sc    *sample.Scope
	f     *Format
	text  string
	i     int
	lit   []byte // text before the next item
	flags uint8  // those of %o
}

// flush makes parts of the text since the last item.
func (p *parser) flush() {
	text := string(p.lit)
	p.lit = p.lit[:0]
	if !p.f.merge {
		p.addText(text)
		return
	}
	for text != "" {
		n := strings.IndexByte(text, ' ')
		if n < 0 {
			n = len(text)
		}
		p.addText(text[:n])
		if text = text[n:]; text != "" {
			text = strings.TrimLeft(text, " ")
			p.f.parts = append(p.f.parts, part{kind: partSpace, text: " "})
		}
	}
}

func (p *parser) addText(text string) {
	if text != "" {
		p.f.parts = append(p.f.parts, part{kind: partText, text: text})
	}
}

// item reads what begins with the '%' at i.
func (p *parser) item() error {
	start := p.i
	p.i++
	it := part{flags: p.flags}
	if p.at('(') {
		if err := p.name(&it); err != nil {
			return err
		}
	}
	args := p.at('{')
	if args {
		if err := p.args(&it); err != nil {
			return err
		}
	}
	var c byte
	if p.i < len(p.text) {
		c = p.text[p.i]
	}
	switch {
	case c == '[':
		if err := p.expr(&it); err != nil {
			return err
		}
	case ascii.IsAlpha(c):
		if err := p.alias(&it); err != nil || it.kind == partText {
			return err
		}
	case args:
		return fmt.Errorf("an alias or an expression must follow '%s'", p.text[start:p.i])
	case p.i == len(p.text):
		return fmt.Errorf("the format ends with an incomplete item '%s'; '%%%%' stands for a percent sign", p.text[start:])
	case ascii.IsDigit(c) || ascii.IsBlank(c):
		return fmt.Errorf("'%s' is no item; '%%%%' stands for a percent sign", p.text[start:p.i+1])
	default: // the percent sign of other characters is dropped, and "%%" gives one
		p.lit = append(p.lit, c)
		p.i++
		return nil
	}
	it.text = p.text[start:p.i]
	p.flush()
	p.f.parts = append(p.f.parts, it)
	return nil
}

func (p *parser) at(c byte) bool { return p.i < len(p.text) && p.text[p.i] == c }

var types = map[string]model.Type{"str": model.TypeStr, "sint": model.TypeSint, "bool": model.TypeBool, "raw": model.TypeBin}

// name reads "(name:type)".
func (p *parser) name(it *part) error {
	start := p.i + 1
	n := strings.IndexByte(p.text[start:], ')')
	if n < 0 {
		return fmt.Errorf("the parenthesis of the name '%s' is not closed", p.text[start:])
	}
	name, typ, typed := strings.Cut(p.text[start:start+n], ":")
	for i := range len(name) {
		if c := name[i]; !ascii.IsAlnum(c) && c != '_' && c != '-' {
			return fmt.Errorf("character %q is not allowed in the name '%s'; letters, digits, '_' and '-' are", c, name)
		}
	}
	if typed {
		var ok bool
		if it.typ, ok = types[typ]; !ok {
			return fmt.Errorf("'%s' is no type of an item; str, sint, bool and raw are", typ)
		}
	}
	it.name = name
	p.i = start + n + 1
	return nil
}

// args reads "{+Q,-E,...}". Flags that nobody knows have no effect.
func (p *parser) args(it *part) error {
	start := p.i + 1
	n := strings.IndexByte(p.text[start:], '}')
	if n < 0 {
		return fmt.Errorf("the brace of '%s' is not closed", p.text[start-1:])
	}
	p.i = start + n + 1
	for word := range strings.SplitSeq(p.text[start:start+n], ",") {
		word = strings.TrimLeft(word, " \t")
		flag := strings.TrimLeft(word, "+-")
		signs := word[:len(word)-len(flag)]
		bit, known := flagNames[flag]
		switch {
		case signs == "" || !known:
		case signs[len(signs)-1] == '-':
			it.flags &^= bit
		case bit == flagJSON && it.flags&flagCBOR != 0, bit == flagCBOR && it.flags&flagJSON != 0:
		default:
			it.flags |= bit
		}
	}
	return nil
}

var flagNames = map[string]uint8{"Q": flagQ, "X": flagX, "E": flagE, "M": flagM, "bin": flagBin, "json": flagJSON, "cbor": flagCBOR}

// alias reads the name of an alias. "%o" makes no part: its flags are those of what follows; it.kind is partText then.
func (p *parser) alias(it *part) error {
	start := p.i
	for p.i < len(p.text) && ascii.IsAlnum(p.text[p.i]) {
		p.i++
	}
	name := p.text[start:p.i]
	if name == "o" {
		p.flags = it.flags
		p.flush()
		return nil
	}
	a, ok := Aliases.Lookup(name)
	if !ok {
		hint := ""
		if near := Aliases.Suggest(name); near != "" {
			hint = "; did you mean '%" + near + "'?"
		}
		return fmt.Errorf("there is no alias '%%%s'%s ('%%%%' stands for a percent sign)", name, hint)
	}
	it.kind, it.alias = partAlias, a
	p.f.record = true
	p.f.needs |= a.Needs
	return nil
}

// expr reads "[expression]".
func (p *parser) expr(it *part) error {
	n, err := exprEnd(p.text[p.i+1:])
	if err != nil {
		return err
	}
	e, err := sample.Parse(p.sc, p.text[p.i+1:p.i+1+n])
	if err != nil {
		return err
	}
	p.i += n + 2
	if id, ok := Aliases.Lookup("ID"); ok && p.f.use == ForID && e.Fetch.Name == "unique-id" { // no ID is made of itself: absent, as the alias
		it.kind, it.alias = partAlias, id
		p.f.record = true
		return nil
	}
	it.kind, it.expr = partExpr, e
	p.f.exprs = true
	p.f.valid &= e.Valid()
	p.f.needs |= model.LogExpr | model.LogAtResponse
	if e.Valid()&sample.BackCheck == 0 { // known at the end only
		p.f.needs |= model.LogAtEnd
	}
	return nil
}

// exprEnd finds the ']' that ends the expression at the start of s.
func exprEnd(s string) (int, error) {
	for i := 0; ; i++ {
		for i < len(s) && (ascii.IsAlnum(s[i]) || strings.IndexByte("._-", s[i]) >= 0) {
			i++
		}
		if i < len(s) && s[i] == '(' {
			n := closing(s[i:])
			if n < 0 {
				return 0, fmt.Errorf("a parenthesis of the expression '%s' is not closed", s)
			}
			i += n + 1
		}
		switch {
		case i >= len(s):
			return 0, fmt.Errorf("']' is missing after the expression '%s'", s)
		case s[i] == ']':
			return i, nil
		case s[i] != ',':
			return 0, fmt.Errorf("']' is expected after '%s', found '%c'", s[:i], s[i])
		}
	}
}

// closing finds the parenthesis that closes the one at s[0]; -1 when there is none.
func closing(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i+1 < len(s) && s[i+1] != ')' {
				i++
			}
		case '\'':
			n := strings.IndexByte(s[i+1:], '\'')
			if n < 0 {
				return -1
			}
			i += n + 1
		case '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		case ')':
			return i
		}
	}
	return -1
}

// finish settles what depends on the whole format: the encoding is that of the last %o, and holds for all items.
func (p *parser) finish() {
	f := p.f
	http := f.use == ForHTTP || f.use == ForID
	f.bin = p.flags&flagBin != 0
	f.enc = encodingOf(p.flags, http)
	fixed := f.enc == plain
	for i := range f.parts {
		it := &f.parts[i]
		if it.enc = f.enc; it.enc == plain {
			it.enc = encodingOf(it.flags, http)
		}
		if http && it.kind == partExpr {
			it.flags &^= flagQ | flagM
		}
		fixed = fixed && it.kind < partExpr
	}
	if fixed {
		w := out{f: f}
		w.all()
		f.fixed, f.isFix = w.dst, true
	}
	f.parts = slices.Clip(f.parts)
}

func encodingOf(flags uint8, http bool) encoding {
	switch {
	case http:
		return plain
	case flags&flagJSON != 0:
		return asJSON
	case flags&flagCBOR != 0:
		return asCBOR
	}
	return plain
}
