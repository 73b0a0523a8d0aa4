package logfmt

import (
	"weir/internal/lang/sample"
	"weir/internal/model"
)

// Use is where the text of a format goes. It decides how absent values and
// dangerous bytes look.
type Use uint8

// Uses of formats.
const (
	// ForHTTP is a part of a message or a name: control bytes of expressions become '%' and two digits, what is absent is
	// empty. The flags json and cbor have no effect, Q and M none on expressions.
	ForHTTP Use = iota
	// ForText is a value of its own: a variable, the body of an answer. Bytes stay as they are, what is absent is empty.
	ForText
	// ForLog is a line: what is absent is '-', spaces are merged, control bytes of expressions other than tabs become '#'
	// and two digits, so that one line stays one line.
	ForLog
	// ForID is a unique ID: as ForHTTP, with spaces merged.
	ForID
)

// Options say how a format is to be compiled.
type Options struct{ Use Use }

// encoding is how a value is written.
type encoding uint8

const (
	plain encoding = iota
	asJSON
	asCBOR
)

// Flags of items (manual 8.2.6).
const (
	flagQ    = 1 << iota // quote
	flagX                // hexadecimal
	flagE                // escape for structured data
	flagM                // '-' for what is absent
	flagBin              // keep binary data
	flagJSON             // encode
	flagCBOR
)

// partKind tells the parts of a format apart.
type partKind uint8

const (
	partText partKind = iota
	partSpace
	partExpr
	partAlias
)

// part is an item of a format, or the text between two.
type part struct {
	kind  partKind
	text  string // partText: what to write; others: as it stands in the format
	name  string
	typ   model.Type // forced: TypeStr, TypeSint, TypeBool, TypeBin for "raw"; TypeAny
	flags uint8
	enc   encoding
	alias *Alias
	expr  *sample.Expr
}

// Format is a compiled log format. It is immutable, and safe for concurrent
// use after the check stage of its configuration.
type Format struct {
	text   string
	parts  []part
	use    Use
	merge  bool // spaces
	enc    encoding
	bin    bool // raw CBOR, binary values as they are
	exprs  bool
	record bool // an alias reads the log record
	valid  sample.Places
	needs  model.LogNeeds
	global *model.Global // has the room for the request line; nil: the default
	fixed  []byte        // constant: what is written always
	isFix  bool
}

var (
	_ model.Format     = (*Format)(nil)
	_ model.LineFormat = (*Format)(nil)
)

// String is the format as it was written.
func (f *Format) String() string { return f.text }

// Empty reports whether the format has no part at all: "%o" alone.
func (f *Format) Empty() bool { return len(f.parts) == 0 }

// Const returns the text of a format without aliases and expressions; false for others.
func (f *Format) Const() (string, bool) { return string(f.fixed), f.isFix }

// Expressions reports whether any part is an expression.
func (f *Format) Expressions() bool { return f.exprs }

// Valid is where all of the format's expressions can find their data.
func (f *Format) Valid() sample.Places { return f.valid }

// Needs tells what the format shows, and when all of that is known.
func (f *Format) Needs() model.LogNeeds { return f.needs }

// Append appends the text for a transaction. It allocates nothing when dst has
// room. dst may be what tx.Scratch.Grab has lent.
func (f *Format) Append(dst []byte, tx *model.Txn) []byte {
	if f.isFix {
		return append(dst, f.fixed...)
	}
	var r *model.LogRecord
	if f.record {
		r = tx.S.Record()
	}
	return f.run(dst, tx, r, originUnspec)
}

// AppendLine appends the line for a log record, without a line feed. Expressions are evaluated on r.Tx; without one they
// have no value. It allocates nothing when dst has room.
func (f *Format) AppendLine(dst []byte, r *model.LogRecord) []byte {
	if f.isFix {
		return append(dst, f.fixed...)
	}
	return f.run(dst, r.Tx, r, origin(r))
}

func (f *Format) run(dst []byte, tx *model.Txn, r *model.LogRecord, origin string) []byte {
	w := out{dst: dst, f: f, tx: tx, r: r, origin: origin}
	if !f.exprs || tx == nil {
		w.all()
		return w.dst
	}
	final, wait, m := tx.Final, tx.Wait, tx.Scratch.Mark()
	tx.Final = true
	tx.Scratch.Alloc(tx.Scratch.Limit()) // dst may lie there
	w.all()
	tx.Scratch.Release(m)
	tx.Final, tx.Wait = final, wait
	return w.dst
}

// Trace calls step for each part but text, with what it gives alone.
func (f *Format) Trace(tx *model.Txn, step func(item string, value []byte)) {
	for i := range f.parts {
		p := &f.parts[i]
		if p.kind == partText || p.kind == partSpace {
			continue
		}
		one := *f
		one.parts, one.merge, one.enc, one.isFix = f.parts[i:i+1], false, plain, false
		step(p.text, one.Append(nil, tx))
	}
}
