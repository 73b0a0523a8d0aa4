package h1

import (
	"weir/internal/base/ascii"
	"weir/internal/wire/msg"
)

const (
	maxChunk       = 1<<52 - 1 // largest size of a chunk, as in the reference
	defaultWaste   = 16384
	wasteAllowance = 16 // framing bytes that each chunk may have for free
)

// ChunkLimits bounds what a chunked body may spend on other things than data.
// Zero values mean the defaults.
type ChunkLimits struct {
	// Waste bounds the framing bytes (sizes, zeros before them, extensions) in
	// excess of 16 a chunk and twice the data, so that extensions cannot be
	// used to keep a connection busy for nothing. Default 16384.
	Waste int
	// Trailers bounds the bytes of the trailer section, which must fit in the
	// receive buffer. Default 16384.
	Trailers int
	// Fields bounds the number of trailers. Default 100.
	Fields int
	// Response gives errors the status of an answer.
	Response bool
	// Unsafe relaxes trailers like the fields of a head (Options.Unsafe).
	Unsafe bool
}

// Piece is what ChunkDecoder.Next found: framing bytes, then data.
type Piece struct {
	Data []byte // view of body data, which starts at offset Skip of the input
	Skip int    // framing bytes consumed before Data
	Used int    // bytes consumed in all: Skip + len(Data)
	Done bool   // the body and its trailers are complete
}

type chunkState uint8

const (
	chunkSize   chunkState = iota // before the first digit of a size
	chunkDigits                   // inside a size
	chunkBlank                    // blanks after a size
	chunkExt                      // inside an extension
	chunkQuoted                   // inside a quoted string of an extension
	chunkEscape                   // behind a backslash there
	chunkLF                       // line feed of a size line
	chunkData                     // inside the data
	chunkEndCR                    // line break after the data
	chunkEndLF
	chunkTrailer // after the last chunk
	chunkDone
)

// ChunkDecoder reads a chunked body. Reset it before each body.
type ChunkDecoder struct {
	left  uint64 // data bytes of the current chunk that have not come
	waste int    // framing bytes in excess
	state chunkState
	limit ChunkLimits
	opt   Options
	p     Parser // reads the trailers
}

// Reset prepares for a body. limits may be nil.
func (d *ChunkDecoder) Reset(limits *ChunkLimits) {
	*d = ChunkDecoder{}
	if limits != nil {
		d.limit = *limits
	}
	if d.limit.Waste <= 0 {
		d.limit.Waste = defaultWaste
	}
	if d.limit.Trailers <= 0 {
		d.limit.Trailers = DefaultMaxRaw
	}
	if d.limit.Fields <= 0 {
		d.limit.Fields = DefaultMaxFields - 1
	}
	d.opt = Options{Unsafe: d.limit.Unsafe, MaxFields: d.limit.Fields + 1, MaxRaw: d.limit.Trailers}
	d.p.resp = d.limit.Response
	d.p.started = true
}

// Left returns how many data bytes of the current chunk have not come yet.
func (d *ChunkDecoder) Left() uint64 { return d.left }

// Done reports whether the body is complete.
func (d *ChunkDecoder) Done() bool { return d.state == chunkDone }

// Next consumes the framing at the start of buf and the data that follows it
// directly. When it consumes nothing and is not done, it needs more bytes
// behind those. Trailers go to m.Trailers (copied), all at once at the end; a
// trailer section must fit in one buffer.
func (d *ChunkDecoder) Next(buf []byte, m *msg.Message) (pc Piece, err *Error) {
	i := 0
	for i < len(buf) {
		switch d.state {
		case chunkData:
			n := int(min(d.left, uint64(len(buf)-i)))
			if d.left -= uint64(n); d.left == 0 {
				d.state = chunkEndCR
			}
			return Piece{Data: buf[i : i+n], Skip: i, Used: i + n}, nil
		case chunkTrailer:
			n, err := d.trailers(buf[i:], m)
			if err != nil {
				err.Offset += i
				return pc, err
			}
			if n > 0 {
				d.state = chunkDone
			}
			return Piece{Skip: i + n, Used: i + n, Done: n > 0}, nil
		case chunkDone:
			return Piece{Done: true}, nil
		}
		if k, text := d.step(buf[i]); text != "" {
			return pc, d.p.fail(k, i, text)
		}
		i++
	}
	return Piece{Skip: i, Used: i, Done: d.state == chunkDone}, nil
}

// step consumes one byte of framing. A text means an error.
func (d *ChunkDecoder) step(c byte) (Kind, string) {
	switch d.state {
	case chunkSize, chunkDigits:
		v := ascii.HexVal(c)
		switch {
		case v < 16:
			d.left = d.left<<4 | uint64(v)
			d.state = chunkDigits
			if d.left > maxChunk {
				return ErrChunkSize, "chunk size too large"
			}
		case d.state == chunkSize:
			return ErrChunkSize, "chunk size missing"
		case c == '\r':
			d.state = chunkLF
		case ascii.IsBlank(c):
			d.state = chunkBlank
		case c == ';':
			d.state = chunkExt
		default:
			return ErrChunkSize, "forbidden byte in a chunk size"
		}
	case chunkBlank:
		switch {
		case ascii.IsBlank(c):
		case c == '\r':
			d.state = chunkLF
		case c == ';':
			d.state = chunkExt
		default:
			return ErrChunkSize, "forbidden byte after a chunk size"
		}
	case chunkExt, chunkQuoted, chunkEscape:
		if !d.extension(c) {
			return ErrChunkExt, "forbidden byte in a chunk extension"
		}
	case chunkLF:
		if c != '\n' {
			return ErrChunkSize, "chunk size not followed by CR LF"
		}
		d.waste -= wasteAllowance + int(min(2*d.left, uint64(d.limit.Waste)))
		d.waste = max(d.waste, 0)
		d.state = chunkData
		if d.left == 0 {
			d.state = chunkTrailer
		}
	case chunkEndCR:
		if c != '\r' {
			return ErrChunkEnd, "chunk data not followed by CR LF"
		}
		d.state = chunkEndLF
	case chunkEndLF:
		if c != '\n' {
			return ErrChunkEnd, "chunk data not followed by CR LF"
		}
		d.state = chunkSize
	}
	if d.waste++; d.waste > d.limit.Waste+wasteAllowance {
		return ErrChunkExt, "too many bytes around the data of chunks"
	}
	return 0, ""
}

// extension consumes one byte of an extension and reports whether it may be
// there.
func (d *ChunkDecoder) extension(c byte) bool {
	switch {
	case c == '\r' && d.state == chunkExt:
		d.state = chunkLF
	case ascii.IsCtl(c) && c != '\t':
		return false
	case d.state == chunkEscape:
		d.state = chunkQuoted
	case c == '"' && d.state == chunkExt:
		d.state = chunkQuoted
	case c == '"':
		d.state = chunkExt
	case c == '\\':
		if d.state == chunkExt {
			return false
		}
		d.state = chunkEscape
	}
	return true
}

// trailers reads the trailer section at the start of buf, the empty line
// included. It returns 0 when it is incomplete.
func (d *ChunkDecoder) trailers(buf []byte, m *msg.Message) (int, *Error) {
	if n := skipOneEmpty(buf); n > 0 && d.p.scan == 0 {
		return n, nil
	}
	whole, err := d.p.advance(buf, &d.opt)
	if err != nil {
		return 0, d.p.fail(ErrTrailer, err.Offset, err.Text)
	}
	if !whole {
		return 0, nil
	}
	i, fields := 0, 0
	var f rawField
	for {
		if n := skipOneEmpty(buf[i:]); n > 0 {
			return i + n, nil
		}
		if err := d.p.field(&f, buf, i, &d.opt); err != nil {
			return 0, d.p.fail(ErrTrailer, err.Offset, err.Text)
		}
		if f.next == 0 {
			return 0, d.p.fail(ErrTrailer, i, "malformed trailer")
		}
		if fields++; fields > d.limit.Fields {
			return 0, d.p.fail(ErrTrailer, i, "too many trailers")
		}
		i = f.next
		if f.drop || ascii.EqualFoldString(f.name, "content-length") {
			continue
		}
		value := buf[f.value:f.end]
		if f.folded {
			value = unfold(m, value)
		}
		m.AddTrailer(f.name, value)
	}
}

// skipOneEmpty returns the length of the empty line at the start of buf, or 0.
func skipOneEmpty(buf []byte) int {
	switch {
	case len(buf) > 0 && buf[0] == '\n':
		return 1
	case len(buf) > 1 && buf[0] == '\r' && buf[1] == '\n':
		return 2
	}
	return 0
}
